//! What may be typed about published files.

use std::num::NonZero;
use std::path::PathBuf;

use sitemill::{BaseUrl, ScopeRule};

/// `sitemill check`.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// Directories with a published set, or parents of those of several sites, or single files, gzip or plain
    #[arg(required = true)]
    pub path: Vec<PathBuf>,

    /// URL of the directory that the files are published in [default: a directory's robots-sitemaps.txt tells]
    #[arg(long, value_name = "URL")]
    pub base_url: Option<BaseUrl>,

    /// Which URLs may be listed: those below the base URL, on its host, or any [default: what a directory's set was built with,
    /// else directory]
    #[arg(long, value_name = "directory|host|any")]
    pub scope: Option<ScopeRule>,

    /// One JSON object a line: each finding, and at last what was seen
    #[arg(long)]
    pub json: bool,

    /// Findings that are told, at most 10,000 a file; all are counted
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub limit_findings: u64,

    /// Threads that work at the same time, at most 1,024 [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZero<usize>>,

    /// Say nothing but findings and errors
    #[arg(long, short)]
    pub quiet: bool,
}

/// `sitemill urls`.
#[derive(Debug, clap::Args)]
pub struct UrlsArgs {
    /// Sitemaps, index files, directories, or parents of the directories of several sites, gzip or plain
    #[arg(required = true)]
    pub path: Vec<PathBuf>,

    /// Tab-separated, with every tag, below a header: build reads it
    #[arg(long)]
    pub tsv: bool,

    /// One JSON object per line, with every tag: build reads it
    #[arg(long, conflicts_with = "tsv")]
    pub json: bool,

    /// Threads that work at the same time, at most 1,024 [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZero<usize>>,

    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
}

//! Options of `sitemill check`.

use std::path::PathBuf;

use sitemill::options::{BaseUrl, ScopeRule, SetName};

use super::number::whole;
use super::resources::ThreadsArg;
use super::store::StoreArgs;

/// `sitemill check`.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// Published directories, parent directories of several sites, or single files (plain or gzip).
    ///
    /// The sitemaps that an index file lists are checked with it if they are in its directory or below. In a directory that another
    /// program wrote, files named *.xml, *.rss, *.atom or sitemap*.txt are checked, also with .gz. XML that is not a sitemap, and
    /// feeds next to sitemaps, are skipped unless their names contain "sitemap". If a directory has a set of its own, sets in
    /// directories below it are checked only if you list them as well.
    #[arg(required = true)]
    pub path: Vec<PathBuf>,

    /// Check only the set of this name in each directory [default: all sets].
    #[arg(long, value_name = "NAME")]
    pub name: Option<SetName>,

    /// URL of the directory [default: from robots-sitemaps.txt].
    ///
    /// Without either, URLs are not checked against a scope.
    ///
    /// Characters that are not ASCII are percent-encoded as UTF-8. If the set was built with --url-encoding, write them as they are
    /// published: %FC for ü in ISO-8859-1.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<BaseUrl>,

    /// Which URLs may be listed [default: as built].
    ///
    /// directory: URLs below the base URL. host: all URLs with its scheme, host and port. any: all URLs. The default is the scope
    /// in the manifest of the set, or directory if there is none. Without permission to read the manifest, the scope is not
    /// checked.
    #[arg(long, value_name = "directory|host|any")]
    pub scope: Option<ScopeRule>,

    /// Print findings, then the counts, as JSON: one object per line.
    #[arg(long)]
    pub json: bool,

    /// Maximum number of findings to print.
    ///
    /// All findings are counted. At most 10,000 per file are printed.
    #[arg(long, value_name = "N", value_parser = whole::<u64>, default_value_t = 1000)]
    pub limit_findings: u64,

    /// See [`ThreadsArg`].
    #[command(flatten)]
    pub threads: ThreadsArg,

    /// Print only findings, warnings and errors.
    #[arg(long, short)]
    pub quiet: bool,

    /// See [`StoreArgs`].
    #[command(flatten)]
    pub store: StoreArgs,
}

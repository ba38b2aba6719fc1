//! Options of `sitemill urls`.

use std::path::PathBuf;

use sitemill::options::SetName;

use super::resources::ThreadsArg;
use super::store::StoreArgs;

/// `sitemill urls`.
#[derive(Debug, clap::Args)]
pub struct UrlsArgs {
    /// Sitemaps and index files (plain or gzip), published directories, or parent directories of several sites.
    ///
    /// If a directory has a set of its own, sets in directories below it are listed only if you list them as well.
    #[arg(required = true)]
    pub path: Vec<PathBuf>,

    /// List only the set of this name in each directory [default: all sets].
    #[arg(long, value_name = "NAME")]
    pub name: Option<SetName>,

    /// Print tab-separated rows with all tags, after a header; build reads them.
    #[arg(long)]
    pub tsv: bool,

    /// Print JSON lines with all tags; build reads them.
    #[arg(long, conflicts_with = "tsv")]
    pub json: bool,

    /// See [`ThreadsArg`].
    #[command(flatten)]
    pub threads: ThreadsArg,

    /// Print only warnings and errors.
    #[arg(long, short)]
    pub quiet: bool,

    /// See [`StoreArgs`].
    #[command(flatten)]
    pub store: StoreArgs,
}

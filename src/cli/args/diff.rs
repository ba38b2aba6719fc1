//! Options of `sitemill diff`.

use std::path::PathBuf;

use sitemill::diff::DIFF_MEMORY_DEFAULT;
use sitemill::options::SetName;

use super::resources::ThreadsArg;
use super::size::Size;
use super::store::StoreArgs;

/// `sitemill diff`.
#[derive(Debug, clap::Args)]
pub struct DiffArgs {
    /// Old set: a published directory, the parent directory of several sites, an index file, a sitemap or a manifest.
    ///
    /// The manifest of a kept set is DIR/.sitemill/sets/RUN.json.
    pub old: PathBuf,

    /// New set, in the same forms.
    pub new: PathBuf,

    /// Compare only the sets of this name in directories [default: all sets].
    ///
    /// By default, sets of the same name are compared. If one side is a single set, it is compared with all sets on the other side
    /// together.
    #[arg(long, value_name = "NAME")]
    pub name: Option<SetName>,

    /// Print tab-separated rows: change, URL, old lastmod, new lastmod.
    ///
    /// The change is added, removed or changed. The default is a line per URL that starts with +, - or ~.
    #[arg(long)]
    pub tsv: bool,

    /// Print one JSON object per line.
    #[arg(long, conflicts_with = "tsv")]
    pub json: bool,

    /// Memory for sorting URLs, such as 2G.
    ///
    /// Data beyond the limit goes to --scratch. Each thread also holds a few sitemaps. 2G, 2Gi and 2GiB are 2 x 1024 x 1024 x 1024
    /// bytes; 2GB is 2,000,000,000 bytes.
    #[arg(long, value_name = "SIZE", default_value_t = Size(DIFF_MEMORY_DEFAULT))]
    pub memory: Size,

    /// Directory for scratch files [default: the directory for temporary files].
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,

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

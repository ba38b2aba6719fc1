//! Options of `sitemill report`.

use std::path::PathBuf;

use sitemill::options::SetName;

use super::resources::ThreadsArg;
use super::store::StoreArgs;

/// `sitemill report`.
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// JSON report of build, published directory, or parent directory of several sites.
    pub path: PathBuf,

    /// Show only the set of this name in a directory [default: all sets].
    #[arg(long, value_name = "NAME")]
    pub name: Option<SetName>,

    /// Write the page to this file; - is standard output.
    ///
    /// Unlike in other commands, -o is not the directory of the set.
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,

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

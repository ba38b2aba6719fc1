//! Options of `sitemill status`.

use std::path::{Path, PathBuf};

use sitemill::options::SetName;

use super::store::StoreArgs;

/// `sitemill status`.
#[derive(Debug, clap::Args)]
pub struct StatusArgs {
    /// Directory that build publishes in, or the parent of the directories of several sites.
    ///
    /// If it has a set of its own, directories below it that contain sets are listed by name only.
    #[arg(value_name = "DIR", required = true, conflicts_with = "out")]
    directory: Option<PathBuf>,

    /// Same as the argument DIR.
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Show only the set of this name [default: all sets].
    #[arg(long, value_name = "NAME")]
    pub name: Option<SetName>,

    /// Print a JSON object per set, one per line.
    #[arg(long)]
    pub json: bool,

    /// See [`StoreArgs`].
    #[command(flatten)]
    pub store: StoreArgs,
}

impl StatusArgs {
    /// The directory, from the option or the argument.
    pub fn directory(&self) -> &Path {
        one_of(&self.directory, &self.out)
    }
}

/// Returns the one that is there. The argument is required unless the option, which excludes it, is present.
pub(super) fn one_of<'a>(directory: &'a Option<PathBuf>, out: &'a Option<PathBuf>) -> &'a Path {
    directory.as_deref().or(out.as_deref()).expect("clap requires one of them")
}

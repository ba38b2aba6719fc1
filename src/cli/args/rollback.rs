//! Options of `sitemill rollback`.

use std::path::{Path, PathBuf};

use sitemill::options::SetName;

use super::number::whole;
use super::status::one_of;
use super::store::StorePublishArgs;

/// `sitemill rollback`.
#[derive(Debug, clap::Args)]
pub struct RollbackArgs {
    /// Directory of the set, or of one of several sites.
    #[arg(value_name = "DIR", required = true, conflicts_with = "out")]
    directory: Option<PathBuf>,

    /// Same as the argument DIR.
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Restore an earlier set of this name [default: the set without a name].
    #[arg(long, value_name = "NAME")]
    pub name: Option<SetName>,

    /// Restore the set with this number; status lists the numbers.
    ///
    /// Default: the set before the live one, skipping sets that were rolled back or have the same files as the live set.
    #[arg(long, value_name = "NUMBER", value_parser = whole::<u64>)]
    pub to: Option<u64>,

    /// List the index files of the restored set in this robots.txt, as build does.
    #[arg(long, value_name = "FILE")]
    pub robots: Option<PathBuf>,

    /// Accept a --robots file named Robots.txt or ROBOTS.TXT.
    ///
    /// Crawlers request only robots.txt, so other spellings are refused by default.
    #[arg(long, requires = "robots")]
    pub robots_any_name: bool,

    /// Print only warnings and errors.
    #[arg(long, short)]
    pub quiet: bool,

    /// See [`StorePublishArgs`].
    #[command(flatten)]
    pub store: StorePublishArgs,
}

impl RollbackArgs {
    /// The directory, from the option or the argument.
    pub fn directory(&self) -> &Path {
        one_of(&self.directory, &self.out)
    }
}

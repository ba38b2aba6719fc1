//! Options about earlier sets, and files that are there before a run.

use sitemill::options::{Keep, KeepTime};

use super::number::whole;

/// Options about what a run may replace, and what it keeps.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Earlier sets and files")]
pub struct EarlierArgs {
    /// How long to keep sitemaps of replaced sets, such as 14d or 12h.
    ///
    /// Crawlers with an older index file still request them, and rollback needs them.
    #[arg(long, value_name = "TIME", default_value_t = Keep::default().time, hide_short_help = true)]
    pub keep: KeepTime,

    /// Always keep the last N sets with different files, however old.
    #[arg(long, value_name = "N", value_parser = whole::<usize>, default_value_t = Keep::default().sets, hide_short_help = true)]
    pub keep_sets: usize,

    /// Publish even if a manifest in .sitemill is damaged, edited or from another version.
    ///
    /// Such manifests are copied to .sitemill/damaged, all sitemaps are compressed again and compared with the published files, and
    /// earlier sets are kept if their manifests can be read. If the manifest of the live set is unreadable, --max-shrink does not
    /// apply.
    #[arg(long, hide_short_help = true)]
    pub ignore_manifest: bool,

    /// Publish even if the live set has a different base URL or protocol.
    ///
    /// It also permits the first set of a --name to have a different base URL than the other sets in the directory, and a directory
    /// to contain both a set of its own and sets of sites below it.
    #[arg(long, hide_short_help = true)]
    pub replace_set: bool,

    /// Replace index files and robots-sitemaps.txt that sitemill did not create.
    ///
    /// A copy of each is kept in .sitemill/taken-over, or in .sitemill/names/NAME/taken-over. Without this option, such a file ends
    /// the run with exit 73.
    #[arg(long, hide_short_help = true)]
    pub take_over: bool,
}

//! Options about live, kept and compared sets.

use std::path::{Path, PathBuf};

use sitemill::diff::DIFF_MEMORY_DEFAULT;
use sitemill::options::{ExpectLines, Keep, KeepTime, MaxDroppedTags, MaxRejects, MaxShrink, SetName};

use super::number::whole;
use super::resources::ThreadsArg;
use super::size::Size;
use super::store::{StoreArgs, StorePublishArgs};

/// Options that protect the live set.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Guards (exit 65, nothing is published)")]
pub struct GuardArgs {
    /// Refuse if more than N lines, or P% of all lines, are rejected [default: no limit].
    #[arg(long, value_name = "N|P%")]
    pub max_rejects: Option<MaxRejects>,

    /// Refuse if more than N tags, or P% of the tags of accepted rows, are dropped [default: no limit].
    #[arg(long, value_name = "N|P%", hide_short_help = true)]
    pub max_dropped_tags: Option<MaxDroppedTags>,

    /// Refuse if the number of URLs falls by more than this.
    ///
    /// Compared with the live set. 100% accepts every set but an empty one, or one that lacks a section of --sections. A number
    /// without % is a percentage, too, but 0.5 is refused because it could be 0.5% or 50%.
    #[arg(long, value_name = "P%", default_value_t)]
    pub max_shrink: MaxShrink,

    /// Refuse unless the inputs have exactly N, at least N, or N to M lines.
    #[arg(long, value_name = "N|N..|N..M")]
    pub expect_lines: Option<ExpectLines>,

    /// Publish even if the set, or one of its sections, has no URLs.
    ///
    /// If the set is empty, all index files are removed, because an empty index file is invalid, and robots-sitemaps.txt lists
    /// none. Overrides --max-shrink. Not with {origin}/: to let a section disappear there, use --max-shrink 100%.
    #[arg(long, hide_short_help = true)]
    pub allow_empty: bool,

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
    #[arg(long, help_heading = "Earlier sets and files", hide_short_help = true)]
    pub take_over: bool,
}

/// Options about earlier sets.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Earlier sets and files")]
pub struct KeepArgs {
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
}

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

/// Returns the one that is there. The argument is required unless the option, which excludes it, is present.
fn one_of<'a>(directory: &'a Option<PathBuf>, out: &'a Option<PathBuf>) -> &'a Path {
    directory.as_deref().or(out.as_deref()).expect("clap requires one of them")
}

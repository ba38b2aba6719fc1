//! What may be typed about the sets that are live, kept, or compared.

use std::num::NonZero;
use std::path::PathBuf;

use sitemill::{DIFF_MEMORY_DEFAULT, ExpectLines, Keep, KeepTime, MaxDroppedTags, MaxRejects, MaxShrink};

use super::size::Size;

/// What keeps the live set where it is: each of them is exit 65.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Guards: publish nothing, exit 65")]
pub struct GuardArgs {
    /// If more lines are refused: a number, or a share like 0.5%
    #[arg(long, value_name = "N|P%")]
    pub max_rejects: Option<MaxRejects>,

    /// If more tags are dropped: a number, or a share of the tags in the input like 0.5%
    #[arg(long, value_name = "N|P%")]
    pub max_dropped_tags: Option<MaxDroppedTags>,

    /// If the set has fewer URLs than the live one by more than this share; 100 lets everything pass
    #[arg(long, value_name = "P%", default_value_t)]
    pub max_shrink: MaxShrink,

    /// If the inputs have not so many lines: N exactly, N.. or more, N..M
    #[arg(long, value_name = "N|N..|N..M")]
    pub expect_lines: Option<ExpectLines>,

    /// Without one valid URL publish an empty set all the same: the index files go, as there is no valid one without
    /// entries, and robots-sitemaps.txt names none. --max-shrink does not hold it back
    #[arg(long)]
    pub allow_empty: bool,

    /// Publish although the live set has another base URL or protocol
    #[arg(long)]
    pub replace_set: bool,

    /// Take over index files and robots-sitemaps.txt that sitemill did not write; a copy of each is kept in
    /// .sitemill/taken-over [default: exit 73]
    #[arg(long, help_heading = None)]
    pub take_over: bool,
}

/// What becomes of earlier sets.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Earlier sets")]
pub struct KeepArgs {
    /// How long the sitemaps of a set stay when it is replaced, for late crawlers and for rollback: 14d, 12h, 30m
    #[arg(long, value_name = "TIME", default_value_t = Keep::default().time)]
    pub keep: KeepTime,

    /// So many earlier sets stay whatever their age
    #[arg(long, value_name = "N", default_value_t = Keep::default().sets)]
    pub keep_sets: usize,

    /// Publish although a manifest in .sitemill is damaged, edited or of another version: copies of such go to
    /// .sitemill/damaged, all sitemaps are compressed anew, and earlier sets stay as far as they can be read. Without the
    /// manifest of the live set --max-shrink lets everything pass
    #[arg(long)]
    pub ignore_manifest: bool,
}

/// `sitemill diff`.
#[derive(Debug, clap::Args)]
pub struct DiffArgs {
    /// A published directory, the parent of those of several sites, an index file, a sitemap, or the manifest of a kept set:
    /// DIR/.sitemill/sets/RUN.json
    pub old: PathBuf,

    /// The same for the other side
    pub new: PathBuf,

    /// Tab-separated: added, removed or changed, URL, old lastmod, new lastmod [default: + - ~ and the URL]
    #[arg(long)]
    pub tsv: bool,

    /// One JSON object a line
    #[arg(long, conflicts_with = "tsv")]
    pub json: bool,

    /// Memory for sorting URLs, beside a few sitemaps a thread; what is more goes to --scratch
    #[arg(long, value_name = "SIZE", default_value_t = Size(DIFF_MEMORY_DEFAULT))]
    pub memory: Size,

    /// Directory for what memory does not hold [default: that of the system for temporary files]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,

    /// Threads that work at the same time, at most 1,024 [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZero<usize>>,

    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
}

/// `sitemill status`.
#[derive(Debug, clap::Args)]
pub struct StatusArgs {
    /// The directory that build publishes to; or the parent of those of several sites, for all of them
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,

    /// One JSON object a line for each directory
    #[arg(long)]
    pub json: bool,
}

/// `sitemill rollback`.
#[derive(Debug, clap::Args)]
pub struct RollbackArgs {
    /// The directory of the set; of several sites, that of one of them
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,

    /// The set of this number, as status shows it [default: the last one before the live set that was not rolled back]
    #[arg(long, value_name = "NUMBER")]
    pub to: Option<u64>,

    /// Name its index files in this robots.txt, as build does
    #[arg(long, value_name = "FILE")]
    pub robots: Option<PathBuf>,

    /// Accept a --robots file called Robots.txt or ROBOTS.TXT, which no crawler asks for
    #[arg(long)]
    pub robots_any_name: bool,

    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
}

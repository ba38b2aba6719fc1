//! Options that protect the live set.

use sitemill::options::{ExpectLines, MaxDroppedTags, MaxRejects, MaxShrink};

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
    /// none. An empty set or section passes --max-shrink; all others are still checked. Not with {origin}/: to let a section
    /// disappear there, use --max-shrink 100%.
    #[arg(long, hide_short_help = true)]
    pub allow_empty: bool,

    /// With {origin}/, do not warn of live sites without URLs in the inputs.
    ///
    /// For inputs that cover only some of the sites. The others keep their sets with or without this option.
    #[arg(long, hide_short_help = true)]
    pub allow_missing_sites: bool,
}

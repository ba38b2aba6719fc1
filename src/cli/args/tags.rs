//! Options about the tags of URLs.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use sitemill::options::{Changefreq, LastmodUnit, LastmodZone, OnDuplicate, Priority, TagRules};

/// Options about the tags of URLs.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Tags")]
pub struct TagArgs {
    /// Time zone of times without one: Z, +08:00 or Europe/Berlin.
    ///
    /// Without this option, a lastmod with such a time is dropped.
    // The parser refuses words that begin with a hyphen but are not an offset.
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true, hide_short_help = true)]
    pub lastmod_zone: Option<LastmodZone>,

    /// Unit of lastmod values: text, or a number of seconds, milliseconds, microseconds or nanoseconds since 1970.
    ///
    /// Dates such as 2024-05-01 are accepted with every unit.
    #[arg(
        long,
        value_name = "text|seconds|millis|micros|nanos",
        value_parser = lastmod_unit(),
        default_value_t,
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub lastmod_unit: LastmodUnit,

    /// changefreq for rows without one.
    #[arg(long, value_name = "WORD", hide_short_help = true)]
    pub default_changefreq: Option<Changefreq>,

    /// priority for rows without one.
    #[arg(long, value_name = "0.0..1.0", hide_short_help = true)]
    pub default_priority: Option<Priority>,

    /// Row to list if several have the same URL: the first, or the one with the newest lastmod.
    ///
    /// Lastmods are compared as written, in whole seconds. If several are equally new, the first row is listed. With --order
    /// sorted, the row whose tags are last in byte order is listed instead: lastmod decides, then changefreq, priority, and the XML
    /// of links, images, videos and news. A missing value sorts first.
    #[arg(long, value_name = "first|newest", default_value = "first", hide_short_help = true)]
    pub on_duplicate: OnDuplicate,
}

impl TagArgs {
    /// Converts these options to types of the library.
    pub fn rules(&self) -> TagRules {
        let mut rules = TagRules::default();
        rules.lastmod.unit = self.lastmod_unit;
        rules.lastmod.zone.clone_from(&self.lastmod_zone);
        rules.default_changefreq = self.default_changefreq;
        rules.default_priority.clone_from(&self.default_priority);
        rules
    }
}

/// Parses a unit. Completions of a shell have the words.
fn lastmod_unit() -> impl TypedValueParser<Value = LastmodUnit> {
    let words = PossibleValuesParser::new(LastmodUnit::ALL.map(LastmodUnit::as_str));
    words.map(|word| word.parse().expect("these are the words of units"))
}

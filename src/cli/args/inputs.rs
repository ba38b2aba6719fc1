//! Options about inputs and their tags.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use sitemill::options::{
    Changefreq, Columns, Delimiter, Format, FormatOptions, LastmodUnit, LastmodZone, OnDuplicate, Priority,
    TagRules, UrlEncoding,
};

use super::resources::ThreadsArg;
use super::store::StoreArgs;
use super::urls::UrlArgs;

/// Options about the format of inputs.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Input")]
pub struct FormatArgs {
    #[arg(long, help = format_help(), long_help = format_long_help())]
    pub format: Option<Format>,

    /// Names of columns or keys, such as url=page,lastmod=updated_at.
    ///
    /// Needed only if they are not named loc or url, lastmod, changefreq, priority, alternates, images, videos and news. For CSV
    /// without a header, use positions from 1, such as url=1,lastmod=3; the first row is then data.
    #[arg(long, value_name = "NAMES")]
    pub columns: Option<Columns>,

    /// CSV delimiter: tab, or any ASCII character except a quote [default: detected].
    ///
    /// Detected from the header: tab, ;, |, comma, \x01 or \x1f. Any control character can be given by its number, such as \x02.
    #[arg(long, value_name = "CHAR", hide_short_help = true)]
    pub delimiter: Option<Delimiter>,

    /// Charset of text inputs; any name that browsers know [default: UTF-8].
    ///
    /// A byte order mark at the start of an input wins. Without this option, bytes that are not UTF-8 are percent-encoded
    /// as is.
    #[arg(long, value_name = "LABEL", value_parser = encoding, hide_short_help = true)]
    pub input_encoding: Option<&'static encoding_rs::Encoding>,

    /// Charset that the server expects in URLs.
    ///
    /// ü is %C3%BC in utf-8 and %FC in iso-8859-1. URLs of other options are encoded in the same way.
    #[arg(long, value_name = "LABEL", default_value_t, hide_short_help = true)]
    pub url_encoding: UrlEncoding,

    /// Refuse a directory of part files without a _SUCCESS file.
    ///
    /// Local files and objects named part-* need one, too: in their directory or, for a partition such as day=2024-05-01, above it.
    #[arg(long, hide_short_help = true)]
    pub require_success_marker: bool,
}

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
    #[arg(long, value_name = "0.0..1.0", value_parser = default_priority, hide_short_help = true)]
    pub default_priority: Option<Priority<'static>>,

    /// Row to list if several have the same URL: the first, or the one with the newest lastmod.
    ///
    /// Lastmods are compared as written, in whole seconds. If several are equally new, the first row is listed. With --order
    /// sorted, the row whose tags are last in byte order is listed instead: lastmod decides, then changefreq, priority, and the XML
    /// of links, images, videos and news. A missing value sorts first.
    #[arg(long, value_name = "first|newest", default_value = "first", hide_short_help = true)]
    pub on_duplicate: OnDuplicate,
}

/// `sitemill clean`.
#[derive(Debug, clap::Args)]
pub struct CleanArgs {
    /// Files, directories or URLs (https://, s3://, gs://, az://); - or nothing for standard input.
    ///
    /// A file that is given twice is read twice. A directory with a published set is read as the sitemaps that the set lists.
    pub input: Vec<PathBuf>,

    /// Write rejected and excluded lines to this file.
    ///
    /// Tab-separated: input, line, byte offset, reason, text. Standard output is for the URLs.
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,

    /// See [`ThreadsArg`].
    #[command(flatten)]
    pub threads: ThreadsArg,

    /// Print only warnings and errors.
    #[arg(long, short)]
    pub quiet: bool,

    /// Options about inputs.
    #[command(flatten)]
    pub format: FormatArgs,

    /// Options about URLs.
    #[command(flatten)]
    pub urls: UrlArgs,

    /// See [`StoreArgs`].
    #[command(flatten)]
    pub store: StoreArgs,
}

impl FormatArgs {
    /// Converts these options to types of the library.
    pub fn options(&self) -> FormatOptions {
        FormatOptions {
            format: self.format,
            columns: self.columns.clone().unwrap_or_default(),
            delimiter: self.delimiter,
            input_encoding: self.input_encoding,
            ..FormatOptions::default()
        }
    }
}

impl TagArgs {
    /// Converts these options to types of the library.
    pub fn rules(&self) -> TagRules {
        let mut rules = TagRules::default();
        rules.lastmod.unit = self.lastmod_unit;
        rules.lastmod.zone.clone_from(&self.lastmod_zone);
        rules.default_changefreq = self.default_changefreq;
        rules.default_priority = self.default_priority;
        rules
    }
}

fn format_help() -> String {
    format!("{} [default: detected]", Format::names())
}

fn format_long_help() -> String {
    format!(
        "Format of the inputs: {}\n\nBy default, the format is detected from the first bytes, then from the name.",
        Format::names()
    )
}

/// Parses a unit. Completions of a shell have the words.
fn lastmod_unit() -> impl TypedValueParser<Value = LastmodUnit> {
    let words = PossibleValuesParser::new(LastmodUnit::ALL.map(LastmodUnit::as_str));
    words.map(|word| word.parse().expect("these are the words of units"))
}

fn encoding(label: &str) -> Result<&'static encoding_rs::Encoding, String> {
    encoding_rs::Encoding::for_label(label.as_bytes())
        .ok_or_else(|| "unknown charset; use a name that browsers know, such as utf-8 or iso-8859-1".into())
}

fn default_priority(word: &str) -> Result<Priority<'static>, String> {
    // Leaked once: one word of the command line.
    let word: &'static str = Box::leak(word.into());
    word.try_into()
}

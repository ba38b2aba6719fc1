//! Options about the format of inputs.

use sitemill::options::{Columns, Delimiter, Format, FormatOptions, QuoteEscape, UrlEncoding};

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

    /// Character before a quote in a quoted CSV value, such as a backslash [default: quotes are doubled].
    ///
    /// Spark, Hadoop, MySQL and Redshift write \". Doubled quotes are still read.
    #[arg(long, value_name = "CHAR", hide_short_help = true)]
    pub escape: Option<QuoteEscape>,

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
    /// The file is in that directory, in each of its directories that have part files, or, for a partition such as day=2024-05-01,
    /// above it. Local files and objects named part-* need one, too, in their directory or, for a partition, above it.
    #[arg(long, hide_short_help = true)]
    pub require_success_marker: bool,
}

impl FormatArgs {
    /// Converts these options to types of the library.
    pub fn options(&self) -> FormatOptions {
        FormatOptions {
            format: self.format,
            columns: self.columns.clone().unwrap_or_default(),
            delimiter: self.delimiter,
            escape: self.escape,
            input_encoding: self.input_encoding,
            ..FormatOptions::default()
        }
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

fn encoding(label: &str) -> Result<&'static encoding_rs::Encoding, String> {
    encoding_rs::Encoding::for_label(label.as_bytes())
        .ok_or_else(|| "unknown charset; use a name that browsers know, such as utf-8 or iso-8859-1".into())
}

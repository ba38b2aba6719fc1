//! What may be typed.

mod published;
mod sets;
mod size;

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use sitemill::limits::{
    BYTES_PER_SITEMAP_DEFAULT, Protocol, SITEMAPS_PER_INDEX_DEFAULT, URLS_PER_SITEMAP_MAX,
};
use sitemill::{
    Base, Changefreq, Columns, Delimiter, Divide, Engine, FormOptions, Format, LastmodRules, LastmodUnit,
    LastmodZone, Level, OnDuplicate, Order, Priority, ScopeRule, TagRules, UrlEncoding, changefreq, priority,
};

use super::log::LogForm;
pub use published::{CheckArgs, UrlsArgs};
pub use sets::{DiffArgs, GuardArgs, KeepArgs, RollbackArgs, StatusArgs};
pub use size::Size;

/// Turns hundreds of millions of URLs into a complete, valid, compressed set of sitemaps.
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 done, 2 usage, 65 data, 66 input, 70 bug, \
    71 memory, 73 output, 74 I/O, 75 busy (retry), 77 permission, 129/130/143 signal\n\n\
    Every option can also be given in the environment, as SITEMILL_MAX_REJECTS for --max-rejects"
)]
pub struct Args {
    /// Options from a TOML file, by their names: max-rejects = "1%". The command line wins over the environment, and that
    /// over the file
    #[arg(long, value_name = "FILE", global = true, help_heading = "For all commands")]
    pub config: Option<PathBuf>,

    /// What is said on standard error: text, or one JSON object a line
    #[arg(
        long,
        value_enum,
        value_name = "text|json",
        default_value_t,
        global = true,
        help_heading = "For all commands",
        hide_possible_values = true
    )]
    pub log: LogForm,

    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// What sitemill does.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Build sitemaps and index files from a list of URLs and publish them
    Build(Box<BuildArgs>),
    /// Hold published sitemaps and index files against the protocol; exit 65 if anything is wrong
    Check(CheckArgs),
    /// The way back: write the URLs of sitemaps, index files or whole directories, one per line
    Urls(UrlsArgs),
    /// Tell which URLs were added or removed from one set to another, and whose lastmod changed
    Diff(DiffArgs),
    /// Show the live set and those that are kept: reads only, and takes no lock
    Status(StatusArgs),
    /// Make the set that was live before the live one again
    Rollback(RollbackArgs),
    /// Write the canonical form of every URL, in input order: no dedup, no scope
    Clean(Box<CleanArgs>),
    /// Write completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write a manual page in roff
    Man {
        /// The command that it is about [default: sitemill itself]
        command: Option<String>,
    },
}

impl Command {
    /// For a command whose memory grows with what it reads: whether it has an option `--memory`.
    pub fn memory(&self) -> Option<bool> {
        match self {
            Self::Build(_) | Self::Diff(_) => Some(true),
            Self::Check(_) | Self::Urls(_) | Self::Clean(_) => Some(false),
            Self::Status(_) | Self::Rollback(_) | Self::Completions { .. } | Self::Man { .. } => None,
        }
    }
}

/// `sitemill build`.
#[derive(Debug, clap::Args)]
pub struct BuildArgs {
    /// Files or directories of part files, each of which is read once; - or nothing for standard input. A directory with a
    /// published set stands for what that lists
    pub input: Vec<PathBuf>,

    /// URL of the directory that the files will be published in; or {origin}/ and perhaps a path, for a set of its own
    /// for every scheme, host and port in the input
    #[arg(long, value_name = "URL")]
    pub base_url: Base,

    /// The same directory on disk, or the parent of those of all origins; made if missing. Files that sitemill did not create
    /// are left alone
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,

    /// Protocol version: 0.9, or Google's 0.84 of 2005
    #[arg(long, value_name = "0.9|0.84", default_value_t)]
    pub protocol: Protocol,

    /// Which URLs may be listed: those below the base URL, on its host, or any
    #[arg(long, value_name = "directory|host|any", default_value = "directory")]
    pub scope: ScopeRule,

    /// Name the index files in this robots.txt, when the set is live: between two lines of ours that carry the base URL,
    /// every other byte left alone. Made if missing; a link is refused
    #[arg(long, value_name = "FILE")]
    pub robots: Option<PathBuf>,

    /// Accept a --robots file called Robots.txt or ROBOTS.TXT, which no crawler asks for
    #[arg(long)]
    pub robots_any_name: bool,

    /// Write every refused line here, tab-separated: input, line, offset, reason, text; - is standard output
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,

    /// Write here how the set differs from the one that was live, tab-separated: added, removed or changed, URL, old lastmod,
    /// new lastmod; - is standard output
    #[arg(long, value_name = "FILE")]
    pub diff: Option<PathBuf>,

    /// Write a JSON summary here; - is standard output
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// The same summary as the last line of standard output
    #[arg(long)]
    pub json: bool,

    /// Write metrics for Prometheus here at the end, whatever the end; a name for its node exporter ends in .prom
    #[arg(long, value_name = "FILE")]
    pub metrics: Option<PathBuf>,

    /// Gzip effort: 0 stores, 1 is quick, 9 is small
    #[arg(long, value_name = "0..9", default_value = "2", value_parser = level)]
    pub level: Level,

    /// Who compresses: sitemill's own compressor for records, or the library flate2
    #[arg(long, value_name = "records|flate2", default_value_t)]
    pub gzip_engine: Engine,

    /// Order in which URLs are listed: that of the input, or that of their bytes, which makes smaller files, and the same ones
    /// whatever the order of the input; of rows with the same URL and different tags only --on-duplicate newest makes that so
    #[arg(long, value_name = "input|sorted", default_value = "input")]
    pub order: Order,

    /// Where sitemaps begin and end: fill ends each when it is full; stable lets the URLs decide, so that a run over an input
    /// that changed in places writes only the sitemaps there. With stable they are filled to 70 %, and --order sorted makes
    /// them the same ones whatever the order of the input
    #[arg(long, value_name = "fill|stable", default_value = "fill")]
    pub divide: Divide,

    /// Threads that work at the same time, at most 1,024 [default: all cores]
    #[arg(long, value_name = "N", help_heading = "Resources")]
    pub threads: Option<NonZero<usize>>,

    /// Memory to hold at most, mapped input aside, as 2GiB or 512MiB; the rest goes to scratch files, and the output is the
    /// same [default: half of what the machine or the container allows]
    #[arg(long, value_name = "SIZE", help_heading = "Resources")]
    pub memory: Option<Size>,

    /// Where scratch files are made [default: in the output directory]
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    pub scratch: Option<PathBuf>,

    /// URLs per sitemap, at most 50,000
    #[arg(long, value_name = "N", default_value_t = URLS_PER_SITEMAP_MAX, help_heading = "Limits")]
    pub urls_per_sitemap: u32,

    /// Bytes per sitemap before compression, as 10MiB, 512KiB or plain bytes; with protocol 0.9 at most 50MiB
    #[arg(long, value_name = "SIZE", default_value_t = Size(BYTES_PER_SITEMAP_DEFAULT), help_heading = "Limits")]
    pub bytes_per_sitemap: Size,

    /// Sitemaps per index file; with protocol 0.9 at most 50,000
    #[arg(long, value_name = "N", default_value_t = SITEMAPS_PER_INDEX_DEFAULT, help_heading = "Limits")]
    pub sitemaps_per_index: u32,

    /// Progress on standard error: bars on a terminal and now and then a line elsewhere, lines also for short runs, nothing
    #[arg(long, value_enum, value_name = "auto|always|never", default_value_t, hide_possible_values = true)]
    pub progress: ProgressWhen,

    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,

    /// The form of the inputs.
    #[command(flatten)]
    pub form: FormArgs,

    /// What stands beside URLs.
    #[command(flatten)]
    pub tags: TagArgs,

    /// What keeps the live set where it is.
    #[command(flatten)]
    pub guard: GuardArgs,

    /// What becomes of earlier sets.
    #[command(flatten)]
    pub keep: KeepArgs,
}

/// What is known of the inputs.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Input")]
pub struct FormArgs {
    /// Form of the inputs [default: what their first bytes, then their names show]
    #[arg(long, value_name = Format::names())]
    pub format: Option<Format>,

    /// Names of columns or keys, where they are not loc or url, lastmod, changefreq, priority: url=page,lastmod=updated_at.
    /// Or positions from 1, for CSV without a header: url=1,lastmod=3; then the first row is data
    #[arg(long, value_name = "NAMES")]
    pub columns: Option<Columns>,

    /// Character between the values of CSV: tab or any ASCII character except a quote [default: of tab ; | and , the one that
    /// the header shows]
    #[arg(long, value_name = "CHAR")]
    pub delimiter: Option<Delimiter>,

    /// Charset of text, by any name that browsers know [default: UTF-8, or none at all]
    #[arg(long, value_name = "LABEL", value_parser = encoding)]
    pub input_encoding: Option<&'static encoding_rs::Encoding>,

    /// Charset that the server expects in URLs: ü is %C3%BC in utf-8 and %FC in iso-8859-1
    #[arg(long, value_name = "LABEL", default_value_t)]
    pub url_encoding: UrlEncoding,

    /// Refuse a directory of part files without a _SUCCESS in it
    #[arg(long)]
    pub require_success_marker: bool,
}

/// What stands beside URLs.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Tags")]
pub struct TagArgs {
    /// Zone of times that name none: Z, +08:00 or Europe/Berlin [default: such a lastmod is dropped]
    #[arg(long, value_name = "ZONE")]
    pub lastmod_zone: Option<LastmodZone>,

    /// What lastmod holds: dates and times as text, or a number of seconds, milliseconds, microseconds or nanoseconds since
    /// 1970; dates such as 2024-05-01 are read whatever it says
    #[arg(
        long,
        value_enum,
        value_name = "text|seconds|millis|micros|nanos",
        default_value_t,
        hide_possible_values = true
    )]
    pub lastmod_unit: Unit,

    /// Write this where no changefreq is given
    #[arg(long, value_name = "WORD", value_parser = default_changefreq)]
    pub default_changefreq: Option<Changefreq>,

    /// Write this where no priority is given
    #[arg(long, value_name = "0.0..1.0", value_parser = default_priority)]
    pub default_priority: Option<Priority<'static>>,

    /// Of rows with the same URL list the first, or the one with the newest lastmod; of equally new ones the first, with
    /// --order sorted the one with the last tags in byte order
    #[arg(long, value_name = "first|newest", default_value = "first")]
    pub on_duplicate: OnDuplicate,
}

/// What a column of `lastmod` holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Unit {
    /// Dates and times.
    #[default]
    Text,
    /// Seconds since 1970.
    Seconds,
    /// Milliseconds since 1970.
    Millis,
    /// Microseconds since 1970.
    Micros,
    /// Nanoseconds since 1970.
    Nanos,
}

/// `sitemill clean`.
#[derive(Debug, clap::Args)]
pub struct CleanArgs {
    /// Files or directories of part files, each of which is read once; - or nothing for standard input. A directory with a
    /// published set stands for what that lists
    pub input: Vec<PathBuf>,

    /// Write every refused line here, tab-separated: input, line, offset, reason, text
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,

    /// Threads that work at the same time, at most 1,024 [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZero<usize>>,

    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,

    /// The form of the inputs.
    #[command(flatten)]
    pub form: FormArgs,
}

impl FormArgs {
    /// The same for the library.
    pub fn options(&self) -> FormOptions {
        let (format, columns, input_encoding) =
            (self.format, self.columns.clone().unwrap_or_default(), self.input_encoding);
        FormOptions { format, columns, delimiter: self.delimiter, input_encoding, ..FormOptions::default() }
    }
}

impl TagArgs {
    /// The same for the library.
    pub fn rules(&self) -> TagRules {
        let unit = match self.lastmod_unit {
            Unit::Text => LastmodUnit::Text,
            Unit::Seconds => LastmodUnit::EpochSeconds,
            Unit::Millis => LastmodUnit::EpochMillis,
            Unit::Micros => LastmodUnit::EpochMicros,
            Unit::Nanos => LastmodUnit::EpochNanos,
        };
        TagRules {
            lastmod: LastmodRules { unit, zone: self.lastmod_zone.clone() },
            default_changefreq: self.default_changefreq,
            default_priority: self.default_priority,
        }
    }
}

fn encoding(label: &str) -> Result<&'static encoding_rs::Encoding, String> {
    encoding_rs::Encoding::for_label(label.as_bytes())
        .ok_or_else(|| "no charset that browsers know; utf-8, iso-8859-1 and utf-16le are some".into())
}

fn default_changefreq(word: &str) -> Result<Changefreq, String> {
    let words = "one of always, hourly, daily, weekly, monthly, yearly, never";
    changefreq(word.as_bytes()).ok().flatten().ok_or_else(|| words.into())
}

fn default_priority(word: &str) -> Result<Priority<'static>, String> {
    // One word of the command line, kept as long as the process.
    let word: &'static str = Box::leak(word.into());
    priority(word.as_bytes()).ok().flatten().ok_or_else(|| "a number from 0.0 to 1.0".into())
}

/// When to show progress.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ProgressWhen {
    /// A bar on a terminal, elsewhere a line every ten seconds.
    #[default]
    Auto,
    /// Elsewhere also a line at the end of each pass.
    Always,
    /// Nothing.
    Never,
}

fn level(word: &str) -> Result<Level, String> {
    word.parse().ok().and_then(Level::new).ok_or_else(|| "the level is 0 to 9".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        <Args as clap::CommandFactory>::command().debug_assert();
    }
}

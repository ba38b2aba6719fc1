//! What may be typed.

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use sitemill::limits::{
    BYTES_PER_SITEMAP_DEFAULT, Protocol, SITEMAPS_PER_INDEX_DEFAULT, URLS_PER_SITEMAP_MAX,
};
use sitemill::{BaseUrl, Engine, Level, MaxRejects, ScopeRule};

/// Turns hundreds of millions of URLs into a complete, valid, compressed set of sitemaps.
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 done, 2 usage, 65 data, 66 input, 70 bug, \
    71 memory, 73 output, 74 I/O, 75 busy (retry), 77 permission, 130/143 signal"
)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// What sitemill does.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Build sitemaps and index files from a list of URLs and publish them
    Build(Box<BuildArgs>),
    /// Write the canonical form of every URL, in input order: no dedup, no scope
    Clean(CleanArgs),
}

/// `sitemill build`.
#[derive(Debug, clap::Args)]
pub struct BuildArgs {
    /// Files with one URL a line; - or nothing for standard input
    pub input: Vec<PathBuf>,

    /// URL of the directory that the files will be published in
    #[arg(long, value_name = "URL")]
    pub base_url: BaseUrl,

    /// The same directory on disk; made if missing, files of others in it are left alone
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,

    /// Protocol version: 0.9, or Google's 0.84 of 2005
    #[arg(long, value_name = "0.9|0.84", default_value_t)]
    pub protocol: Protocol,

    /// Which URLs may be listed: those below the base URL, on its host, or any
    #[arg(long, value_name = "directory|host|any", default_value = "directory")]
    pub scope: ScopeRule,

    /// Write every refused line here, tab-separated: input, line, offset, reason, text
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,

    /// Publish nothing (exit 65) if more lines are refused: a number, or a share like 0.5%
    #[arg(long, value_name = "N|P%")]
    pub max_rejects: Option<MaxRejects>,

    /// Write a JSON summary here
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Gzip effort: 0 stores, 1 is quick, 9 is small
    #[arg(long, value_name = "0..9", default_value = "6", value_parser = level)]
    pub level: Level,

    /// Who compresses: sitemill's own compressor for records, or the library flate2
    #[arg(long, value_name = "records|flate2", default_value_t)]
    pub gzip_engine: Engine,

    /// Threads that work at the same time [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZero<usize>>,

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
}

/// `sitemill clean`.
#[derive(Debug, clap::Args)]
pub struct CleanArgs {
    /// Files with one URL a line; - or nothing for standard input
    pub input: Vec<PathBuf>,

    /// Write every refused line here, tab-separated: input, line, offset, reason, text
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,

    /// Threads that work at the same time [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZero<usize>>,

    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
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

/// Bytes, as people write them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

impl std::str::FromStr for Size {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let in_unit = UNITS.iter().find_map(|&(unit, bytes)| Some((word.strip_suffix(unit)?, bytes)));
        let (number, unit) = in_unit.unwrap_or((word, 1));
        let size = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
        size.map(Size).ok_or_else(|| "a size is a whole number of bytes, or of KiB, MiB or GiB: 10MiB".into())
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match UNITS.iter().find(|(_, bytes)| self.0 >= *bytes && self.0.is_multiple_of(*bytes)) {
            Some((unit, bytes)) => write!(f, "{}{unit}", self.0 / bytes),
            None => write!(f, "{}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        <Args as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn sizes_take_binary_units_or_plain_bytes() {
        for (word, bytes) in [("10MiB", 10_485_760), ("512KiB", 524_288), ("1GiB", 1 << 30), ("1000", 1000)] {
            assert_eq!(word.parse(), Ok(Size(bytes)));
            assert_eq!(Size(bytes).to_string(), word);
        }
        for wrong in ["", "MiB", "-1", "1.5MiB", "10MB", "1 KiB", "99999999999GiB"] {
            assert!(wrong.parse::<Size>().is_err(), "{wrong}");
        }
    }
}

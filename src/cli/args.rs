//! Options and arguments, and their help: the first sentence is for `-h`, the rest for `--help`.

mod inputs;
mod live;
mod number;
mod published;
mod report_files;
mod resources;
mod sections;
mod sets;
mod sitemaps;
mod size;
mod store;
mod urls;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use sitemill::StoreSettings;
use sitemill::limits::Protocol;
use sitemill::options::{Base, ScopeRule, SetName};

use super::log::LogFormat;
pub use inputs::{CleanArgs, FormatArgs, TagArgs};
pub use live::LiveArgs;
pub use published::{CheckArgs, ReportArgs, UrlsArgs};
pub use report_files::ReportFileArgs;
pub use resources::ResourceArgs;
pub use sections::SectionArgs;
pub use sets::{DiffArgs, GuardArgs, KeepArgs, RollbackArgs, StatusArgs};
pub use sitemaps::SitemapArgs;
pub use size::Size;
pub use store::StorePublishArgs;
pub use urls::{RESPECT_ROBOTS, UrlArgs};

/// Turns hundreds of millions of URLs into a complete, valid, compressed set of sitemaps.
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 100,
    after_help = "Run 'sitemill COMMAND -h' for the options of a command, or --help for exit codes and settings",
    after_long_help = "Exit codes:\n  0 success\n  2 usage error\n  65 invalid data, nothing published\n  66 unreadable \
    input\n  70 bug\n  71 out of memory\n  73 output cannot be created\n  74 I/O error\n  75 another run holds the directory \
    (retry later)\n  77 access denied by a store or inside the output directory\n  129, 130, 143 interrupted by SIGHUP, SIGINT \
    or SIGTERM\n\nEvery option can also be set in the environment (SITEMILL_MAX_REJECTS for --max-rejects) or in the file that \
    --config names. Precedence: command line, environment, file."
)]
pub struct Args {
    /// Read options from a TOML file.
    ///
    /// Keys are the long option names: max-rejects = "1%". A [command] table applies only to that command. Precedence: command
    /// line, environment, file.
    #[arg(
        long,
        value_name = "FILE",
        global = true,
        help_heading = "Options of all commands",
        hide_short_help = true
    )]
    pub config: Option<PathBuf>,

    /// Format of messages on standard error: text, or json with one object per line.
    #[arg(
        long,
        value_enum,
        value_name = "text|json",
        default_value_t,
        global = true,
        help_heading = "Options of all commands",
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub log: LogFormat,

    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Build sitemaps and index files from a list of URLs, and publish them
    #[command(after_help = SHORT_HELP_END, after_long_help = "")]
    Build(Box<BuildArgs>),
    /// Validate published sitemaps and index files; exit 65 on findings
    #[command(after_help = SHORT_HELP_END, after_long_help = "")]
    Check(CheckArgs),
    /// Extract the URLs from sitemaps, index files or directories
    #[command(after_help = SHORT_HELP_END, after_long_help = "")]
    Urls(UrlsArgs),
    /// Compare two sets: URLs added, removed, or with a changed lastmod
    #[command(after_help = SHORT_HELP_END, after_long_help = "")]
    Diff(DiffArgs),
    /// Show the live set and earlier sets
    ///
    /// Changes nothing, and also works while a run is writing.
    #[command(after_help = SHORT_HELP_END, after_long_help = "")]
    Status(StatusArgs),
    /// Restore the previous set
    #[command(after_help = SHORT_HELP_END, after_long_help = "")]
    Rollback(RollbackArgs),
    /// Print the canonical form of every URL, in input order
    ///
    /// Duplicates are kept, and URLs of any site are accepted.
    #[command(after_help = SHORT_HELP_END, after_long_help = "")]
    Clean(Box<CleanArgs>),
    /// Turn a JSON report or a published set into an HTML page
    #[command(after_help = SHORT_HELP_END, after_long_help = "")]
    Report(ReportArgs),
    /// Print shell completions
    #[command(after_help = SHORT_HELP_END, after_long_help = "")]
    Completions {
        /// Shell to print completions for.
        shell: clap_complete::Shell,
    },
    /// Print a manual page in roff
    #[command(after_help = SHORT_HELP_END, after_long_help = "")]
    Man {
        /// Command to document [default: sitemill itself]
        command: Option<String>,
    },
}

/// The end of every short help. The long help has no such line, hence the empty `after_long_help`.
const SHORT_HELP_END: &str = "See --help for all options and details";

impl Command {
    /// Returns how the command reaches object stores.
    pub fn store(&self) -> StoreSettings {
        match self {
            Self::Build(args) => args.store.settings(),
            Self::Rollback(args) => args.store.settings(),
            Self::Check(args) => args.store.settings(),
            Self::Urls(args) => args.store.settings(),
            Self::Diff(args) => args.store.settings(),
            Self::Status(args) => args.store.settings(),
            Self::Report(args) => args.store.settings(),
            Self::Clean(args) => args.store.settings(),
            Self::Completions { .. } | Self::Man { .. } => StoreSettings::default(),
        }
    }

    /// Returns whether the command has an option `--memory`, or `None` if its memory does not grow with its input.
    pub fn memory(&self) -> Option<bool> {
        match self {
            Self::Build(_) | Self::Diff(_) => Some(true),
            Self::Check(_) | Self::Urls(_) | Self::Report(_) | Self::Clean(_) => Some(false),
            Self::Status(_) | Self::Rollback(_) | Self::Completions { .. } | Self::Man { .. } => None,
        }
    }
}

/// `sitemill build`.
#[derive(Debug, clap::Args)]
pub struct BuildArgs {
    /// Files, directories or URLs (https://, s3://, gs://, az://); - or nothing for standard input.
    ///
    /// A file that is given twice is read twice. A directory with a published set is read as the sitemaps that the set lists.
    pub input: Vec<PathBuf>,

    /// URL of the directory that the set is published in.
    ///
    /// {origin}/, optionally followed by a path, makes a set for each scheme, host and port in the input.
    #[arg(long, value_name = "URL")]
    pub base_url: Base,

    /// Directory to publish in, created if missing, or s3://bucket/prefix.
    ///
    /// gs:// and az:// work, too. It must be the directory whose URL is --base-url. With '{origin}/' it is the parent of the
    /// directories of all sites. Files that sitemill did not create are changed only with --take-over, --robots or
    /// --ignore-manifest.
    #[arg(long, short, value_name = "DIR")]
    pub out: PathBuf,

    /// Name of the set, which becomes part of its file names: sitemap-NAME-00001-….xml.gz.
    ///
    /// Sets with different names can share a directory, each with its own history, guards and robots.txt lines. A name has at most
    /// 40 lower-case ASCII letters, digits and single hyphens.
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub name: Option<SetName>,

    /// Which URLs may be listed.
    ///
    /// directory: URLs below the base URL. host: all URLs with its scheme, host and port. any: all URLs. Other URLs are rejected
    /// as out-of-scope.
    #[arg(long, value_name = "directory|host|any", default_value = "directory")]
    pub scope: ScopeRule,

    /// Sitemap protocol: 0.9, or Google's 0.84 of 2005.
    #[arg(long, value_name = "0.9|0.84", default_value_t, hide_short_help = true)]
    pub protocol: Protocol,

    /// List the index files in this robots.txt once the set is live.
    ///
    /// They are written between two marker lines with the base URL and the name. All other bytes of the file stay unchanged. The
    /// file is created if missing; a symbolic link is refused.
    #[arg(long, value_name = "FILE")]
    pub robots: Option<PathBuf>,

    /// Accept a --robots file named Robots.txt or ROBOTS.TXT.
    ///
    /// Crawlers request only robots.txt, so other spellings are refused by default.
    #[arg(long, requires = "robots", hide_short_help = true)]
    pub robots_any_name: bool,

    /// Show progress: auto, always or never.
    ///
    /// auto: bars on a terminal, and a line every ten seconds elsewhere. always: like auto, plus a line at the end of each pass if
    /// there is no terminal. never: nothing.
    #[arg(
        long,
        value_enum,
        value_name = "auto|always|never",
        default_value_t,
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub progress: ProgressWhen,

    /// Print only warnings and errors.
    #[arg(long, short)]
    pub quiet: bool,

    /// See [`StorePublishArgs`].
    #[command(flatten)]
    pub store: StorePublishArgs,

    /// Options about inputs.
    #[command(flatten)]
    pub format: FormatArgs,

    /// Options about URLs.
    #[command(flatten)]
    pub urls: UrlArgs,

    /// Options about tags.
    #[command(flatten)]
    pub tags: TagArgs,

    /// Options about sections.
    #[command(flatten)]
    pub sections: SectionArgs,

    /// Options about how URLs are divided and compressed.
    #[command(flatten)]
    pub sitemaps: SitemapArgs,

    /// Options about what else is written.
    #[command(flatten)]
    pub reports: ReportFileArgs,

    /// Options about going live.
    #[command(flatten)]
    pub live: LiveArgs,

    /// Options that protect the live set.
    #[command(flatten)]
    pub guard: GuardArgs,

    /// Options about earlier sets.
    #[command(flatten)]
    pub keep: KeepArgs,

    /// Options about memory, disk and threads.
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// When to show progress.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ProgressWhen {
    /// Bars on a terminal, and a line every ten seconds elsewhere.
    #[default]
    Auto,
    /// Like `Auto`, with a line at the end of each pass where there is no terminal.
    Always,
    /// Nothing.
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_command_line_is_valid() {
        <Args as clap::CommandFactory>::command().debug_assert();
    }
}

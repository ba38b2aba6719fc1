//! Options and arguments, and their help: the first sentence is for `-h`, the rest for `--help`. Each command with options of its
//! own has a file, and so does each group of options under a heading in the help. `number` and `size` parse values.

mod build;
mod check;
mod clean;
mod diff;
mod report;
mod rollback;
mod status;
mod urls;

mod earlier;
mod guards;
mod inputs;
mod publishing;
mod report_files;
mod resources;
mod sections;
mod sitemaps;
mod store;
mod tags;
mod url_rules;

mod number;
mod size;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use sitemill::StoreSettings;

use super::log::LogFormat;
pub use build::{BuildArgs, ProgressWhen};
pub use check::CheckArgs;
pub use clean::CleanArgs;
pub use diff::DiffArgs;
pub use inputs::FormatArgs;
pub use report::ReportArgs;
pub use rollback::RollbackArgs;
pub use size::Size;
pub use status::StatusArgs;
pub use url_rules::RESPECT_ROBOTS;
pub use urls::UrlsArgs;

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

    /// Returns whether the command handles signals itself. Others have nothing to clean up, so a signal may end them at once.
    pub fn handles_signals(&self) -> bool {
        match self {
            Self::Build(_) | Self::Rollback(_) | Self::Report(_) => true,
            Self::Check(_) | Self::Urls(_) | Self::Diff(_) | Self::Status(_) | Self::Clean(_) => false,
            Self::Completions { .. } | Self::Man { .. } => false,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_command_line_is_valid() {
        <Args as clap::CommandFactory>::command().debug_assert();
    }
}

//! Options about going live.

/// Options about what goes live, and what happens then.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Publishing")]
pub struct LiveArgs {
    /// Show what would be published, and publish nothing.
    ///
    /// The inputs are read, the guards are checked, and the exit code is that of a run that publishes. Only the files of --rejects,
    /// --report, --html and --metrics are written; --robots and --diff are not. No lock is taken, so another run may be writing.
    /// Scratch files go to --scratch, or to the directory for temporary files.
    #[arg(long)]
    pub dry_run: bool,
}

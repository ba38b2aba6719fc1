//! Options about files that a build writes besides the set.

use std::path::PathBuf;

/// Options about what else is written.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Reports")]
pub struct ReportFileArgs {
    /// Write rejected and excluded lines and dropped tags to this file.
    ///
    /// Tab-separated: input, line, byte offset, reason, text. - is standard output.
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,

    /// Write the differences from the replaced set to this file.
    ///
    /// Tab-separated: added, removed or changed; URL; old lastmod; new lastmod. - is standard output.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub diff: Option<PathBuf>,

    /// Write a JSON report to this file; - is standard output.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Write the report to this file as HTML; - is standard output.
    ///
    /// One file without scripts. It is also written if the run fails.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Print the JSON report as the last line of standard output.
    #[arg(long, hide_short_help = true)]
    pub json: bool,

    /// Write Prometheus metrics to this file when the run ends.
    ///
    /// They are also written if the run fails. Each set needs a file of its own. The textfile collector of node_exporter reads
    /// files named *.prom.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub metrics: Option<PathBuf>,
}

//! Options about memory, disk and threads.

use std::num::NonZero;
use std::path::PathBuf;

use super::number::whole;
use super::size::Size;

/// Options about memory, disk and threads. The output does not depend on them.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Resources")]
pub struct ResourceArgs {
    /// Memory limit, such as 2G [default: half of RAM].
    ///
    /// At least 68 MiB, which is also the smallest default. Data beyond the limit goes to scratch files. Mapped input files do not
    /// count. RAM is that of the machine or the container. 2G, 2Gi and 2GiB are 2 x 1024 x 1024 x 1024 bytes; 2GB is 2,000,000,000
    /// bytes. The output does not depend on this option.
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Size>,

    /// Directory for scratch files [default: the output directory].
    ///
    /// For a bucket or a dry run, the default is the directory for temporary files.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub scratch: Option<PathBuf>,

    /// Worker threads, at most 1,024 [default: all cores].
    ///
    /// A build needs 56 MiB of --memory, and 12 MiB more for each thread. By default, there are only as many threads as fit. The
    /// output does not depend on this option.
    #[arg(long, value_name = "N", value_parser = whole::<NonZero<usize>>)]
    pub threads: Option<NonZero<usize>>,
}

/// The number of threads of a command other than build.
#[derive(Debug, clap::Args)]
pub struct ThreadsArg {
    /// Worker threads, at most 1,024 [default: all cores].
    #[arg(long, value_name = "N", value_parser = whole::<NonZero<usize>>)]
    threads: Option<NonZero<usize>>,
}

impl ThreadsArg {
    /// The number of threads, or `default` without the option.
    pub fn or(&self, default: NonZero<usize>) -> NonZero<usize> {
        self.threads.unwrap_or(default)
    }
}

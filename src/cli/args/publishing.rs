//! Options about what goes live, and what happens then.

use sitemill::options::{Also, CommandLine, UrlEncoding};
use sitemill::{Error, Result, escape};

/// Options about what goes live, and what happens then.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Publishing")]
pub struct PublishingArgs {
    /// Show what would be published, and publish nothing.
    ///
    /// The inputs are read, the guards are checked, and the exit code is that of a real run with enough permission and space. Only
    /// the files of --rejects, --report, --html and --metrics are written; --robots and --diff are not. No lock is taken, so
    /// another run may be writing. Scratch files go to --scratch, or to the directory for temporary files.
    #[arg(long)]
    pub dry_run: bool,

    /// List this sitemap in the index files, too. Repeatable.
    ///
    /// For sitemaps that sitemill does not write, such as news or video sitemaps: a file below --out, or a URL below --base-url. A
    /// file is read; its lastmod is the newest in it, or else the file's mtime. A URL is not requested, and has no lastmod.
    #[arg(long, value_name = "URL|FILE", hide_short_help = true, value_parser = checked_also)]
    also: Vec<String>,

    /// Run this command once the set is live.
    ///
    /// Not run by a shell: words are split as in a POSIX shell, and nothing is expanded; use sh -c '...' for that. Standard input
    /// is the JSON report. Output goes to standard error. SITEMILL_RUN_OUT, _NAME, _BASE_URL, _LISTED, _SITEMAPS, _INDEXES,
    /// _CHANGED and _DIFF are set. The files of --report, --html, --rejects and --diff are written before, that of --metrics after
    /// it. If the command fails, sitemill prints a warning, and the set stays live.
    #[arg(long, value_name = "COMMAND", hide_short_help = true)]
    pub then: Option<CommandLine>,
}

impl PublishingArgs {
    /// The sitemaps to list, too, with non-ASCII characters of their URLs in the charset `url_encoding`, as in the base URL.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](sitemill::ErrorKind::Usage) if a character does not exist in the charset.
    pub fn also(&self, url_encoding: UrlEncoding) -> Result<Vec<Also>> {
        let encoded = |given: &String| {
            let wrong = |why| Error::usage(format!("--also {}: {why}", escape::shown(given.as_bytes())));
            Also::encoded(given, url_encoding).map_err(wrong)
        };
        self.also.iter().map(encoded).collect()
    }
}

/// The value of `--also` as it was given. It is encoded when all options are known.
fn checked_also(given: &str) -> std::result::Result<String, String> {
    given.parse().map(|_: Also| given.to_owned())
}

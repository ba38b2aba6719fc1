//! Options of `sitemill clean`.

use std::path::PathBuf;

use super::inputs::FormatArgs;
use super::resources::ThreadsArg;
use super::store::StoreArgs;
use super::url_rules::UrlArgs;

/// `sitemill clean`.
#[derive(Debug, clap::Args)]
pub struct CleanArgs {
    #[cfg_attr(
        feature = "cloud",
        doc = " Files, directories or URLs (https://, s3://, gs://, az://); - or nothing for standard input."
    )]
    #[cfg_attr(not(feature = "cloud"), doc = " Files or directories; - or nothing for standard input.")]
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

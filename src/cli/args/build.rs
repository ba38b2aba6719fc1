//! Options of `sitemill build`.

use std::path::PathBuf;

use clap::ValueEnum;
use sitemill::limits::Protocol;
use sitemill::options::{Base, ScopeRule, SetName};

use super::earlier::EarlierArgs;
use super::guards::GuardArgs;
use super::inputs::FormatArgs;
use super::publishing::PublishingArgs;
use super::report_files::ReportFileArgs;
use super::resources::ResourceArgs;
use super::sections::SectionArgs;
use super::sitemaps::SitemapArgs;
use super::store::StorePublishArgs;
use super::tags::TagArgs;
use super::url_rules::UrlArgs;

/// `sitemill build`.
#[derive(Debug, clap::Args)]
pub struct BuildArgs {
    #[cfg_attr(
        feature = "cloud",
        doc = " Files, directories or URLs (https://, s3://, gs://, az://); - or nothing for standard input."
    )]
    #[cfg_attr(not(feature = "cloud"), doc = " Files or directories; - or nothing for standard input.")]
    ///
    /// A file that is given twice is read twice. A directory with a published set is read as the sitemaps that the set lists.
    pub input: Vec<PathBuf>,

    /// URL of the directory that the set is published in.
    ///
    /// {origin}/, optionally followed by a path, makes a set for each scheme, host and port in the input.
    #[arg(long, value_name = "URL")]
    pub base_url: Base,

    #[cfg_attr(
        feature = "cloud",
        doc = " Directory to publish in, created if missing, or s3://bucket/prefix."
    )]
    #[cfg_attr(not(feature = "cloud"), doc = " Directory to publish in, created if missing.")]
    ///
    #[cfg_attr(feature = "cloud", doc = " gs:// and az:// work, too.")]
    /// It must be the directory whose URL is --base-url. With '{origin}/' it is the parent of the directories of all sites. Files
    /// that sitemill did not create are changed only with --take-over, --robots or --ignore-manifest.
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

    /// Options about what goes live, and what happens then.
    #[command(flatten)]
    pub publishing: PublishingArgs,

    /// Options that protect the live set.
    #[command(flatten)]
    pub guards: GuardArgs,

    /// Options about what the run may replace, and what it keeps.
    #[command(flatten)]
    pub earlier: EarlierArgs,

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

//! Options about how URLs are divided among sitemaps, and how these are compressed.

use sitemill::limits::{BYTES_PER_SITEMAP_DEFAULT, SITEMAPS_PER_INDEX_DEFAULT, URLS_PER_SITEMAP_MAX};
use sitemill::options::{Divide, Engine, Level, Order};

use super::number::{level, whole};
use super::size::Size;

/// Options about how URLs are divided and compressed.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Sitemaps")]
pub struct SitemapArgs {
    /// Order of URLs: input, or sorted for smaller files.
    ///
    /// input keeps the order of the input. sorted lists URLs in byte order, which gives smaller files, and the same files for any
    /// input order. If several rows have the same URL but different tags, add --on-duplicate newest.
    #[arg(long, value_name = "input|sorted", default_value = "input")]
    pub order: Order,

    /// Where sitemaps end: fill, or stable for fewer changes between runs.
    ///
    /// fill ends a sitemap when it is full. stable ends sitemaps at certain URLs, so a small change to the input rewrites only
    /// nearby sitemaps; they are 70% full on average. With --order sorted, stable gives the same sitemaps for any input order.
    #[arg(long, value_name = "fill|stable", default_value = "fill", hide_short_help = true)]
    pub divide: Divide,

    /// URLs per sitemap, at most 50,000.
    #[arg(
        long,
        value_name = "N",
        value_parser = whole::<u32>,
        default_value_t = URLS_PER_SITEMAP_MAX,
        hide_short_help = true
    )]
    pub urls_per_sitemap: u32,

    /// Bytes per sitemap before compression, such as 10M; at most 50M (10M with protocol 0.84).
    ///
    /// 10M, 10Mi and 10MiB are 10 x 1024 x 1024 bytes; 10MB is 10,000,000 bytes.
    #[arg(
        long,
        value_name = "SIZE",
        default_value_t = Size(BYTES_PER_SITEMAP_DEFAULT),
        hide_short_help = true
    )]
    pub bytes_per_sitemap: Size,

    /// Sitemaps per index file, at most 50,000 (1,000 with protocol 0.84).
    #[arg(
        long,
        value_name = "N",
        value_parser = whole::<u32>,
        default_value_t = SITEMAPS_PER_INDEX_DEFAULT,
        hide_short_help = true
    )]
    pub sitemaps_per_index: u32,

    /// Gzip level: 0 (no compression), or 1 (fastest) to 9 (smallest).
    #[arg(
        long,
        value_name = "0..9",
        default_value = "2",
        value_parser = level,
        hide_short_help = true
    )]
    pub level: Level,

    /// Compressor: records, made for sitemaps, or the flate2 library.
    ///
    /// The levels of flate2 are its own; its 8 often gives smaller files than its 9.
    #[arg(long, value_name = "records|flate2", default_value_t, hide_short_help = true)]
    pub gzip_engine: Engine,
}

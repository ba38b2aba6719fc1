//! Options for object stores.

use std::path::PathBuf;

use sitemill::{ObjectHeader, StoreSettings};

/// The heading of these options. A build without object stores has them, too, because the environment may set them for all runs.
const HEADING: &str = if cfg!(feature = "cloud") {
    "Object stores (s3://, gs://, az://)"
} else {
    "Object stores (s3://, gs://, az://; not in this build)"
};

/// Options of every command that accepts locations in a store.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = HEADING)]
pub struct StoreArgs {
    /// URL of an S3-compatible store [default: AWS_ENDPOINT_URL, or Amazon's].
    ///
    /// Use it for MinIO, R2 or Ceph. For gs:// and az:// locations, it is the URL of a compatible store.
    #[arg(long, value_name = "URL", value_parser = endpoint, hide_short_help = true)]
    endpoint: Option<String>,

    /// Location of .sitemill [default: below the published files].
    ///
    /// For example s3://private/shop if the published files are in a public bucket. Every command that uses the set needs this
    /// option.
    #[arg(long, value_name = "URL", value_parser = state, hide_short_help = true)]
    state: Option<PathBuf>,
}

fn endpoint(url: &str) -> Result<String, String> {
    match url.strip_prefix("https://").or(url.strip_prefix("http://")) {
        Some(host) if !host.is_empty() => Ok(url.into()),
        _ => Err("expected a URL, such as https://minio.example.com".into()),
    }
}

fn state(url: &str) -> Result<PathBuf, String> {
    match url.split_once("://") {
        Some((_, bucket)) if !bucket.is_empty() => Ok(url.into()),
        _ => Err("expected a location in a store, such as s3://private/maps".into()),
    }
}

/// Options of commands that publish to a store.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = HEADING)]
pub struct StorePublishArgs {
    #[command(flatten)]
    store: StoreArgs,

    /// Header sent with sitemaps; overrides or extends the defaults. Repeatable.
    ///
    /// Example: 'Cache-Control: public, max-age=86400'. The defaults are Content-Type: application/gzip and
    /// Cache-Control: public, max-age=31536000, immutable. Sitemaps that are already published keep their headers.
    #[arg(long, value_name = "HEADER", hide_short_help = true)]
    sitemap_header: Vec<ObjectHeader>,

    /// Header sent with index files and robots-sitemaps.txt. Repeatable.
    ///
    /// The defaults are Content-Type: application/xml (text/plain for robots-sitemaps.txt) and Cache-Control: max-age=600.
    #[arg(long, value_name = "HEADER", hide_short_help = true)]
    index_header: Vec<ObjectHeader>,

    /// Publish even to a store that ignores conditional requests.
    ///
    /// Two runs at the same time could then leave a mixture of two sets, without any error.
    #[arg(long, hide_short_help = true)]
    allow_unsafe_store: bool,
}

impl StoreArgs {
    /// The store settings that these options select.
    pub fn settings(&self) -> StoreSettings {
        let mut settings = StoreSettings::default();
        settings.endpoint.clone_from(&self.endpoint);
        settings.state.clone_from(&self.state);
        settings
    }
}

impl StorePublishArgs {
    /// The store settings that these options select.
    pub fn settings(&self) -> StoreSettings {
        let mut settings = self.store.settings();
        settings.sitemap_headers.clone_from(&self.sitemap_header);
        settings.index_headers.clone_from(&self.index_header);
        settings.allow_unsafe_store = self.allow_unsafe_store;
        settings
    }
}

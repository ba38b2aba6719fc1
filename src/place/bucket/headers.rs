//! The headers that published files are served with.

use crate::store::{ObjectHeader, store_settings};

/// A kind of published file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A sitemap. Its name contains a hash of its content, so it never changes.
    Sitemap,
    /// An index file.
    Index,
    /// The lines for robots.txt.
    Robots,
}

/// The headers of a published file: the defaults, overridden and extended by the settings.
pub fn headers(kind: FileKind) -> Vec<(String, String)> {
    let settings = store_settings();
    let (content, cache, others) = match kind {
        // There is no Content-Encoding, because the gzip file itself is the resource.
        FileKind::Sitemap => {
            ("application/gzip", "public, max-age=31536000, immutable", settings.sitemap_headers)
        }
        FileKind::Index => ("application/xml", "max-age=600", settings.index_headers),
        FileKind::Robots => {
            let is_of_type = |header: &ObjectHeader| header.name == "content-type";
            let others = settings.index_headers.into_iter().filter(|header| !is_of_type(header));
            ("text/plain; charset=utf-8", "max-age=600", others.collect())
        }
    };
    let mut headers =
        vec![("content-type".to_owned(), content.to_owned()), ("cache-control".into(), cache.into())];
    for ObjectHeader { name, value } in others {
        headers.retain(|(known, _)| *known != name);
        headers.push((name, value));
    }
    headers
}

//! Kinds and formats of documents.

/// The kind of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// `urlset`, a feed or plain text.
    Sitemap,
    /// `sitemapindex`.
    Index,
}

/// The format of a document. Protocol 0.9 allows sitemaps in other formats than its own: sitemaps.org, "Other Sitemap formats".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentFormat {
    /// XML of the protocol.
    Protocol,
    /// RSS 0.9x or 2.0.
    Rss,
    /// Atom 0.3 or 1.0.
    Atom,
    /// A URL on each line.
    Text,
}

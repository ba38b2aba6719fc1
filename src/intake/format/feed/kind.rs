//! The two families of feeds.

/// The two families of feeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Rss,
    Atom,
}

impl Kind {
    /// The local names of the elements around the content of an item, and of the item.
    pub fn path(self) -> &'static [&'static str] {
        match self {
            Self::Rss => &["rss", "channel", "item"],
            Self::Atom => &["feed", "entry"],
        }
    }

    /// The namespaces of its elements. Those of RSS are in none.
    pub fn namespaces(self) -> &'static [&'static str] {
        match self {
            Self::Rss => &[""],
            // Atom 1.0 (RFC 4287, 2) and 0.3.
            Self::Atom => &["http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#"],
        }
    }

    /// The root element in messages.
    pub fn expected(self) -> &'static str {
        match self {
            Self::Rss => "an RSS feed, <rss>",
            Self::Atom => "an Atom feed, <feed>",
        }
    }
}

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

    /// The root element in messages.
    pub fn expected(self) -> &'static str {
        match self {
            Self::Rss => "an RSS feed, <rss>",
            Self::Atom => "an Atom feed, <feed>",
        }
    }
}

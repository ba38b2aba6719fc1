//! The tags of the protocol.

/// The tags of an entry, in the order of the 0.9 schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tag {
    /// The URL.
    Loc,
    /// The time of its last change.
    Lastmod,
    /// How often it is expected to change.
    Changefreq,
    /// Its priority relative to other URLs of the site.
    Priority,
}

impl Tag {
    /// All tags.
    pub const ALL: [Self; 4] = [Self::Loc, Self::Lastmod, Self::Changefreq, Self::Priority];

    /// Returns the name of the element.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Loc => "loc",
            Self::Lastmod => "lastmod",
            Self::Changefreq => "changefreq",
            Self::Priority => "priority",
        }
    }

    /// Returns the tag whose element is called `name`.
    #[inline]
    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tag| tag.as_str() == name)
    }
}

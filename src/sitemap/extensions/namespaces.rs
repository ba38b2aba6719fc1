//! Namespaces of extensions, as a set.

use super::known::{EXTENSIONS, EXTENSIONS_COUNT};
use crate::sitemap::tag_names::TagName;

/// Namespaces of extensions that a file declares: a bit for each, by its number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Namespaces(u8);

const _: () = assert!(EXTENSIONS_COUNT <= u8::BITS as usize);

impl Namespaces {
    /// Only the namespace of the protocol.
    pub const NONE: Self = Self(0);

    /// The namespace of the extension with this tag; [`Namespaces::NONE`] for a tag of the protocol.
    pub const fn of(tag: TagName) -> Self {
        match tag.extension_number() {
            Some(number) => Self(1 << number),
            None => Self::NONE,
        }
    }

    /// The namespaces that either set contains.
    pub fn union(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether the set contains any of `others`.
    pub const fn contains_any(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Their declarations in parts: attributes of the root element with a space before each.
    pub fn declarations(self) -> impl Iterator<Item = &'static str> {
        let used = EXTENSIONS.iter().filter(move |extension| self.0 >> extension.number() & 1 == 1);
        used.flat_map(|extension| [" xmlns:", extension.prefix, "=\"", extension.namespaces[0], "\""])
    }

    /// The set as a number, for [`Namespaces::from_bits`].
    pub fn bits(self) -> u8 {
        self.0
    }

    /// The set with these [`Namespaces::bits`].
    pub fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// The number of bytes of their declarations.
    pub fn bytes(self) -> u64 {
        self.declarations().map(|part| part.len() as u64).sum()
    }
}

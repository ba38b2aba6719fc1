//! Counts elements that cannot be carried over, by name.

use quick_xml::events::BytesStart;

use super::declared::{Declared, prefix_of};
use crate::intake::format::found::NameCounts;
use crate::sitemap::extensions::{EXTENSIONS, Extension};

/// Namespaces that sitemaps use, and the usual prefix of each, besides the namespaces of known extensions.
const NAMESPACES: [(&str, &str); 6] = [
    ("http://www.sitemaps.org/schemas/sitemap/0.9", ""),
    ("http://www.google.com/schemas/sitemap/0.84", ""),
    ("http://www.google.com/schemas/sitemap-mobile/1.0", "mobile"),
    ("http://www.google.com/schemas/sitemap-pagemap/1.0", "pagemap"),
    ("http://www.google.com/codesearch/schemas/sitemap/1.0", "codesearch"),
    ("http://www.google.com/geo/schemas/sitemap/1.0", "geo"),
];

/// Counts elements by name, with the usual prefix of their namespace.
#[derive(Debug, Default)]
pub struct DroppedElements {
    counts: NameCounts,
    declared: Declared,
}

impl DroppedElements {
    /// Takes the declarations of an element at `depth`, and forgets those of elements that have ended.
    #[inline]
    pub fn enter(&mut self, depth: usize, tag: &BytesStart<'_>) {
        self.declared.enter(depth, tag);
    }

    /// The namespaces that are in scope.
    pub fn declared(&self) -> &Declared {
        &self.declared
    }

    /// Counts the element that `tag` begins, which was entered.
    #[cold]
    pub fn count(&mut self, tag: &BytesStart<'_>) {
        let name = tag.name();
        let usual = self.declared.namespace(name).and_then(usual_prefix);
        let local_name = name.local_name();
        match usual.unwrap_or(prefix_of(&name)) {
            "" => self.counts.add(local_name.as_ref().as_bytes(), 1),
            prefix => self.counts.add(format!("{prefix}:{}", local_name.as_ref()).as_bytes(), 1),
        }
    }

    /// Counts an element of `extension` that holds none of its fields.
    #[cold]
    pub fn count_empty(&mut self, extension: &Extension) {
        self.counts.add(format!("{}:{}", extension.prefix, extension.element).as_bytes(), 1);
    }

    /// Counts an element that is dropped once its name is forgotten.
    #[cold]
    pub fn count_name(&mut self, name: &str) {
        self.counts.add(name.as_bytes(), 1);
    }

    /// The counts.
    pub fn into_counts(self) -> NameCounts {
        self.counts
    }
}

/// Whether the namespace `uri` is that of a version of the protocol.
pub fn is_of_protocol(uri: &str) -> bool {
    usual_prefix(uri) == Some("")
}

/// The usual prefix of the namespace `uri`, if it is known.
fn usual_prefix(uri: &str) -> Option<&'static str> {
    let extension = EXTENSIONS.into_iter().find(|extension| extension.namespaces.contains(&uri));
    let other = || NAMESPACES.iter().find(|(known, _)| *known == uri).map(|(_, usual)| *usual);
    extension.map(|extension| extension.prefix).or_else(other)
}

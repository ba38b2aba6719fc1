//! Counts elements that cannot be carried over, by name.

use quick_xml::events::BytesStart;

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
    /// Declared prefixes, each with its namespace and the depth of the element that declares it.
    declared: Vec<(usize, String, String)>,
}

impl DroppedElements {
    /// Takes the declarations of an element at `depth`, and forgets those of elements that have ended.
    #[inline]
    pub fn enter(&mut self, depth: usize, tag: &BytesStart<'_>) {
        if self.declared.last().is_some_and(|(of, ..)| *of >= depth) {
            self.declared.retain(|(of, ..)| *of < depth);
        }
        // An element without attributes is no longer than its name.
        if tag.len() > tag.name().as_ref().len() {
            self.declared.extend(declarations(tag).map(|(prefix, uri)| (depth, prefix, uri)));
        }
    }

    /// Counts the element at `depth` that `tag` begins.
    #[cold]
    pub fn count(&mut self, depth: usize, tag: &BytesStart<'_>) {
        let name = tag.name();
        let prefix = name.prefix().map_or("", |prefix| prefix.into_inner());
        let own = declarations(tag).find(|(declared, _)| declared == prefix).map(|(_, uri)| uri);
        let is_around = |(of, declared, _): &&(usize, String, String)| *of < depth && declared == prefix;
        let inherited = || self.declared.iter().rev().find(is_around).map(|(.., uri)| uri.clone());
        let uri = own.or_else(inherited);
        let usual = uri.as_deref().and_then(usual_prefix);
        let local_name = name.local_name();
        match usual.unwrap_or(prefix) {
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

/// The usual prefix of the namespace `uri`, if it is known.
fn usual_prefix(uri: &str) -> Option<&'static str> {
    let extension = EXTENSIONS.into_iter().find(|extension| extension.namespaces.contains(&uri));
    let other = || NAMESPACES.iter().find(|(known, _)| *known == uri).map(|(_, usual)| *usual);
    extension.map(|extension| extension.prefix).or_else(other)
}

/// Prefixes and namespaces that `tag` declares.
fn declarations<'t>(tag: &'t BytesStart<'_>) -> impl Iterator<Item = (String, String)> + 't {
    tag.attributes().filter_map(|attribute| {
        let attribute = attribute.ok()?;
        let prefix = match attribute.key.as_ref() {
            "xmlns" => "",
            key => key.strip_prefix("xmlns:")?,
        };
        Some((prefix.to_owned(), attribute.value.trim().to_owned()))
    })
}

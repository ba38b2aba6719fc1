//! Namespaces by their prefixes, as the open elements declare them.

use quick_xml::events::BytesStart;
use quick_xml::name::QName;

/// Declared prefixes, each with its namespace and the depth of the element that declares it.
#[derive(Debug, Default)]
pub struct Declared(Vec<(usize, String, String)>);

impl Declared {
    /// Takes the declarations of an element at `depth`, and forgets those of elements that have ended.
    #[inline]
    pub fn enter(&mut self, depth: usize, tag: &BytesStart<'_>) {
        if self.0.last().is_some_and(|(of, ..)| *of >= depth) {
            self.0.retain(|(of, ..)| *of < depth);
        }
        // An element without attributes is no longer than its name.
        if tag.len() > tag.name().as_ref().len() && tag.contains("xmlns") {
            self.0.extend(declarations(tag).map(|(prefix, uri)| (depth, prefix, uri)));
        }
    }

    /// Whether any element within the root declares a namespace.
    pub fn has_inner(&self) -> bool {
        self.0.last().is_some_and(|(of, ..)| *of > 0)
    }

    /// The namespace of `name` at the innermost element that was entered. `None` if its prefix is not declared, or, without one,
    /// if it is in no namespace.
    pub fn namespace(&self, name: QName<'_>) -> Option<&str> {
        let prefix = prefix_of(&name);
        // Does not compare empty strings; see `UrlElement::has_own_prefix`.
        let is_own =
            |declared: &str| declared.len() == prefix.len() && (prefix.is_empty() || declared == prefix);
        let found = self.0.iter().rev().find(|(_, declared, _)| is_own(declared));
        found.map(|(.., uri)| &**uri).filter(|uri| !uri.is_empty())
    }
}

/// The prefix of `name`; empty if it has none.
pub fn prefix_of<'n>(name: &QName<'n>) -> &'n str {
    name.prefix().map_or("", |prefix| prefix.into_inner())
}

/// Prefixes and namespaces that `tag` declares.
fn declarations<'t>(tag: &'t BytesStart<'_>) -> impl Iterator<Item = (String, String)> + 't {
    tag.attributes().filter_map(|attribute| {
        let attribute = attribute.ok()?;
        let prefix = match attribute.key.as_ref() {
            "xmlns" => "",
            key => key.strip_prefix("xmlns:")?,
        };
        Some((prefix.to_owned(), attribute.value.trim_ascii().to_owned()))
    })
}

//! Namespaces: resolves the prefixes of names. A few namespaces are known; the others only need a declaration.

use super::extensions::EXTENSIONS;
use crate::limits::{NAMESPACES_MAX, Protocol};

/// The namespace of `schemaLocation`: XML Schema 1, 2.6.
const SCHEMA_INSTANCE: &str = "http://www.w3.org/2001/XMLSchema-instance";
/// The namespace of `xml`, and that of `xmlns`: Namespaces in XML, 3.
const XML: &str = "http://www.w3.org/XML/1998/namespace";
const XMLNS: &str = "http://www.w3.org/2000/xmlns/";

/// A namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Namespace {
    /// The namespace of the protocol.
    Sitemap(Protocol),
    /// The namespace of an extension, by its index in [`EXTENSIONS`].
    Extension(usize),
    /// The namespace of hints for validators, such as `schemaLocation`.
    SchemaInstance,
    /// Any other namespace.
    Other,
    /// No namespace.
    None,
}

impl Namespace {
    fn of(uri: &str) -> Self {
        let protocols = [Protocol::V0_9, Protocol::V0_84];
        match protocols.into_iter().find(|protocol| protocol.namespace() == uri) {
            Some(protocol) => Self::Sitemap(protocol),
            None => match EXTENSIONS.iter().position(|extension| extension.namespace == uri) {
                Some(number) => Self::Extension(number),
                None if uri == SCHEMA_INSTANCE => Self::SchemaInstance,
                None if uri.is_empty() => Self::None,
                None => Self::Other,
            },
        }
    }
}

/// The declarations in scope.
#[derive(Debug)]
pub(crate) struct Namespaces {
    default: Namespace,
    declared: Vec<Declared>,
}

#[derive(Debug)]
struct Declared {
    depth: usize,
    prefix: Box<str>,
    uri: Box<str>,
    namespace: Namespace,
}

/// The reason why a declaration is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Undeclared {
    /// There are [`NAMESPACES_MAX`] declarations already.
    TooMany,
    /// `xml` and `xmlns` cannot be bound to other namespaces, nor other prefixes to theirs, and no prefix can be undeclared:
    /// Namespaces in XML, 3 and 2.2.
    Reserved,
}

impl Namespaces {
    /// Creates a scope with only the prefix `xml`, which needs no declaration: Namespaces in XML, 3.
    pub fn new() -> Self {
        let declared =
            vec![Declared { depth: 0, prefix: "xml".into(), uri: XML.into(), namespace: Namespace::Other }];
        Self { default: Namespace::None, declared }
    }

    /// Adds the declaration `xmlns:prefix="uri"` of the element at `depth`. An empty prefix means `xmlns="uri"`.
    pub fn declare(&mut self, depth: usize, prefix: &str, uri: &str) -> Result<(), Undeclared> {
        // One of them is `xml`, which no element declares.
        if self.declared.len() > NAMESPACES_MAX {
            return Err(Undeclared::TooMany);
        }
        let is_allowed = match prefix {
            "xml" => uri == XML,
            "xmlns" => false,
            _ => uri != XML && uri != XMLNS && (prefix.is_empty() || !uri.is_empty()),
        };
        if !is_allowed {
            return Err(Undeclared::Reserved);
        }
        self.declared.push(Declared {
            depth,
            prefix: prefix.into(),
            uri: uri.into(),
            namespace: Namespace::of(uri),
        });
        self.find_default();
        Ok(())
    }

    /// Removes the declarations of the element at `depth`.
    #[inline]
    pub fn close(&mut self, depth: usize) {
        if self.declared.last().is_some_and(|last| last.depth >= depth && depth > 0) {
            self.declared.retain(|declared| declared.depth < depth);
            self.find_default();
        }
    }

    /// Returns the namespace of the element `name` and its local name, or `None` if its prefix is not declared.
    #[inline]
    pub fn of_element<'a>(&self, name: &'a str) -> Option<(Namespace, &'a str)> {
        match memchr::memchr(b':', name.as_bytes()) {
            None => Some((self.default, name)),
            // The prefix must not be empty.
            Some(0) => None,
            Some(colon) => Some((self.of_prefix(&name[..colon])?, &name[colon + 1..])),
        }
    }

    /// Returns the namespace of `prefix`.
    pub fn of_prefix(&self, prefix: &str) -> Option<Namespace> {
        self.declaration_of(prefix).map(|declared| declared.namespace)
    }

    /// Returns the URI of `prefix`.
    pub fn uri_of(&self, prefix: &str) -> Option<&str> {
        self.declaration_of(prefix).map(|declared| &*declared.uri)
    }

    fn declaration_of(&self, prefix: &str) -> Option<&Declared> {
        self.declared.iter().rev().find(|declared| *declared.prefix == *prefix)
    }

    fn find_default(&mut self) {
        self.default = self.of_prefix("").unwrap_or(Namespace::None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "http://www.w3.org/1999/xhtml";
    const SECOND: &str = "http://www.google.com/schemas/sitemap-image/1.1";

    #[test]
    fn a_declaration_applies_only_inside_its_element() {
        let mut namespaces = Namespaces::new();
        let sitemap = Namespace::Sitemap(Protocol::V0_9);
        assert_eq!(namespaces.of_element("url"), Some((Namespace::None, "url")));
        assert_eq!(namespaces.declare(1, "", Protocol::V0_9.namespace()), Ok(()));
        assert_eq!(namespaces.declare(1, "x", FIRST), Ok(()));
        assert_eq!(namespaces.declare(3, "", SECOND), Ok(()));
        assert_eq!(namespaces.of_element("loc"), Some((Namespace::Extension(1), "loc")));
        namespaces.close(4);
        assert_eq!(namespaces.of_element("loc"), Some((Namespace::Extension(1), "loc")));
        namespaces.close(3);
        assert_eq!(namespaces.of_element("loc"), Some((sitemap, "loc")));
        assert_eq!(namespaces.of_element("x:link"), Some((Namespace::Extension(0), "link")));
        assert_eq!(namespaces.of_element("y:link"), None);
        assert_eq!(namespaces.of_element(":link"), None);
    }

    #[test]
    fn there_is_a_limit_of_declarations() {
        for (number, want) in [(NAMESPACES_MAX, Ok(())), (NAMESPACES_MAX + 1, Err(Undeclared::TooMany))] {
            let mut namespaces = Namespaces::new();
            let declared = (0..number).map(|n| namespaces.declare(1, &format!("p{n}"), "http://h.example/"));
            assert_eq!(declared.collect::<Result<(), _>>(), want);
        }
    }

    #[test]
    fn reserved_names_keep_their_meaning() {
        let mut namespaces = Namespaces::new();
        assert_eq!(namespaces.declare(1, "xml", XML), Ok(()));
        assert_eq!(namespaces.declare(1, "", ""), Ok(()));
        for (prefix, uri) in
            [("xml", FIRST), ("xmlns", FIRST), ("a", XML), ("", XML), ("a", XMLNS), ("a", "")]
        {
            assert_eq!(namespaces.declare(1, prefix, uri), Err(Undeclared::Reserved), "{prefix} {uri}");
        }
    }
}

//! The definition of an extension, and its elements in an entry.

use serde_json::Value;

use super::fields::Field;
use crate::commands::check::rules::Rule;

/// An extension of the protocol, as the checker defines it.
pub(crate) struct Extension {
    /// The name of its values in the JSON and TSV of [`urls`](crate::urls()).
    pub name: &'static str,
    /// The URI of its namespace.
    pub namespace: &'static str,
    /// Other URIs that sitemaps use for the same namespace. They are read but not right.
    pub other_namespaces: &'static [&'static str],
    /// The usual prefix of the namespace.
    pub prefix: &'static str,
    /// The element that may be in an entry of a sitemap.
    pub element: &'static str,
    /// The element in words, with its article.
    pub in_words: &'static str,
    /// Attributes and texts that are kept, and elements that contain them.
    pub fields: &'static [Field],
    /// Other children that are allowed. Their content is not checked.
    pub ignored: &'static [&'static str],
    /// Whether unknown attributes of the element are ignored.
    pub has_other_attributes: bool,
    /// Whether an entry may also have other elements of the namespace.
    pub is_open: bool,
    /// The field that is a value by itself, so that an element with two of them most likely means two elements.
    pub own_value: Option<usize>,
    /// Whether an entry has only one. Its JSON is then not an array.
    pub is_single: bool,
    /// Checks the elements of an entry. Not called for entries without any.
    pub judge: fn(Elements<'_>, &mut Found<'_>),
    /// The value of an element for `urls`; `None` for an element with another meaning.
    pub to_json: fn(Element<'_>) -> Option<Value>,
}

/// Receives a finding: the violated rule, a description, and the value.
pub(crate) type Found<'f> = dyn FnMut(Rule, &str, &[u8]) + 'f;

/// The position of a value in the text of an entry. Two `u32`s, because there may be many.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// Returns its bytes in `text`.
    #[inline]
    pub fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start as usize..self.end as usize]
    }
}

/// Returns text as a JSON string.
pub(crate) fn text(bytes: &[u8]) -> Value {
    Value::from(String::from_utf8_lossy(bytes))
}

/// The elements of one extension in an entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Elements<'e> {
    /// The text of the entry.
    pub text: &'e [u8],
    /// The values of all kept elements, each with the index of its field.
    pub values: &'e [(u8, Span)],
    /// The index of the first value of each kept element.
    pub starts: &'e [u32],
    /// The number of elements, whether kept or not.
    pub count: u64,
}

impl<'e> Elements<'e> {
    /// Returns the kept elements.
    pub fn iter(self) -> impl Iterator<Item = Element<'e>> {
        (0..self.starts.len()).map(move |nth| {
            let start = self.starts[nth] as usize;
            let end = self.starts.get(nth + 1).map_or(self.values.len(), |&next| next as usize);
            Element { text: self.text, values: &self.values[start..end] }
        })
    }
}

/// An element of an extension.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Element<'e> {
    text: &'e [u8],
    values: &'e [(u8, Span)],
}

impl<'e> Element<'e> {
    /// Returns the values of the field with this index, without surrounding white space.
    pub fn all(self, field: usize) -> impl Iterator<Item = &'e [u8]> {
        let own = self.values.iter().filter(move |(of, _)| usize::from(*of) == field);
        own.map(move |(_, span)| span.of(self.text).trim_ascii())
    }

    /// Returns the first value of the field with this index.
    pub fn get(self, field: usize) -> Option<&'e [u8]> {
        self.all(field).next()
    }
}

//! The definition of an extension, and its elements in an entry.

use serde_json::Value;

use crate::commands::check::rules::Rule;

/// Maximum number of values kept per element.
pub(crate) const FIELDS_MAX: usize = 3;

/// An extension of the protocol, as the checker defines it.
pub(crate) struct Extension {
    /// The name of its values in `urls --json` and `urls --tsv`.
    pub name: &'static str,
    /// The URI of its namespace.
    pub namespace: &'static str,
    /// The element that may be in an entry of a sitemap, any number of times.
    pub element: &'static str,
    /// The element in words, with its article.
    pub in_words: &'static str,
    /// Attributes of the element whose values are kept. If there are any, other attributes are ignored.
    pub attributes: &'static [&'static str],
    /// Children whose text is kept, after the attributes. Each must occur exactly once.
    pub children: &'static [&'static str],
    /// Other children that are allowed. Their content is not checked.
    pub ignored: &'static [&'static str],
    /// Whether an entry may also have other elements of the namespace.
    pub is_open: bool,
    /// Checks the elements of an entry. Not called for entries without any.
    pub judge: fn(Elements<'_>, &mut Found<'_>),
    /// The value of an element for `urls`, from its attributes and children; `None` for an element with another meaning.
    pub to_json: fn([Option<&[u8]>; FIELDS_MAX]) -> Option<Value>,
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
    /// The values of each kept element: attributes, then children.
    pub spans: &'e [[Option<Span>; FIELDS_MAX]],
    /// The number of elements, whether kept or not.
    pub count: u64,
}

impl<'e> Elements<'e> {
    /// Returns the values of each kept element without surrounding white space: attributes, then children.
    pub fn iter(self) -> impl Iterator<Item = [Option<&'e [u8]>; FIELDS_MAX]> {
        self.spans.iter().map(move |spans| spans.map(|span| span.map(|span| span.of(self.text).trim_ascii())))
    }
}

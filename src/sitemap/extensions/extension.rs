//! The definition of an extension, and its values.

use crate::clean::Cleaner;
use crate::common::field;
use crate::sitemap::tag_names::{TagName, TagReason};

/// An extension of the protocol: an element in its own namespace, which may occur any number of times in an entry. The fields
/// define how values are read from JSON, tables and sitemaps, and [`Extension::write`] renders them as XML.
#[derive(Debug)]
pub struct Extension {
    /// Its line in the table: the name of its key or column.
    pub tag: TagName,
    /// Why a value is dropped.
    pub reason: TagReason,
    /// Why a field is dropped that its value does not need. The value is written without it.
    pub field_reason: TagReason,
    /// Maximum number of values per URL. Further values are dropped.
    pub values_max: u64,
    /// The URI of its namespace, then other URIs that sitemaps use for the same namespace.
    pub namespaces: &'static [&'static str],
    /// The usual prefix of the namespace.
    pub prefix: &'static str,
    /// The local name of its element.
    pub element: &'static str,
    /// Attributes that its element must have. Other elements of the same name are not of this extension.
    pub marks: &'static [(&'static str, &'static str)],
    /// The fields of a value.
    pub fields: &'static [Field],
    /// The field of a text that is given without field names, and is a value because no other field is required. `None`: a text
    /// is no value, and is dropped.
    pub text_field: Option<usize>,
    /// Whether a JSON object without any known key is a map. Each of its keys is the first field of a value, and the text of the
    /// key is the second.
    pub is_map: bool,
    /// Another key of JSON lines, which earlier versions wrote. It is read only if it holds an array of objects with the first
    /// field.
    pub earlier_key: Option<&'static str>,
    /// The start of every written element. Nothing else in an entry contains it.
    pub start: &'static [u8],
    /// Writes the element of a value that has its required fields. False if it cannot be written.
    pub write: for<'a> fn(Value<'a>, &mut Writer<'_, 'a>) -> bool,
}

/// A field of a value: a text.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its names as a JSON key. An object may have one of them. The first is also its name in the reject file. A dot separates
    /// the keys of nested objects: `publication.name`.
    pub keys: &'static [&'static str],
    /// The local names of the elements from the element of the extension down to the field.
    pub path: &'static [&'static str],
    /// The attribute of the last of these elements that holds it. `None`: the field is the text of this element.
    pub attribute: Option<&'static str>,
    /// How often a value has this field.
    pub occurs: Occurs,
    /// Checks its text and appends it, escaped. False if it cannot be written.
    pub write: WriteText,
}

impl Field {
    /// A required field in the element `path`.
    pub const fn required(
        keys: &'static [&'static str],
        path: &'static [&'static str],
        write: WriteText,
    ) -> Self {
        Self { keys, path, attribute: None, occurs: Occurs::Once, write }
    }

    /// An optional field in the element `path`.
    pub const fn optional(
        keys: &'static [&'static str],
        path: &'static [&'static str],
        write: WriteText,
    ) -> Self {
        Self { occurs: Occurs::Optional, ..Self::required(keys, path, write) }
    }

    /// An attribute of the element `path`, which has a text.
    pub const fn attribute(
        keys: &'static [&'static str],
        path: &'static [&'static str],
        attribute: &'static str,
        occurs: Occurs,
        write: WriteText,
    ) -> Self {
        Self { keys, path, attribute: Some(attribute), occurs, write }
    }
}

/// How often a value has a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occurs {
    /// Once.
    Once,
    /// Once or not at all.
    Optional,
    /// An attribute: once if the text of its element is given.
    WithText,
    /// At most this number of times.
    AtMost(usize),
}

impl Extension {
    /// Whether any field is in a child element.
    pub fn has_children(&self) -> bool {
        self.fields.iter().any(|field| !field.path.is_empty())
    }

    /// Whether a text alone is a value.
    pub fn is_text(&self) -> bool {
        self.text_field.is_some()
    }
}

/// A value of an extension, as read from the input.
#[derive(Debug, Clone, Copy)]
pub struct Value<'a> {
    /// Its extension.
    pub extension: &'static Extension,
    /// The given fields, each encoded as its number (1 byte), the length of its text, and the text.
    encoded: &'a [u8],
}

impl<'a> Value<'a> {
    /// The value that [`push_field`] encoded.
    pub fn new(extension: &'static Extension, encoded: &'a [u8]) -> Self {
        Self { extension, encoded }
    }

    /// The fields that are given, in the order of the input: their numbers and texts.
    pub fn given(self) -> impl Iterator<Item = (usize, &'a [u8])> {
        let mut rest = self.encoded;
        std::iter::from_fn(move || {
            (!rest.is_empty()).then(|| (usize::from(field::byte(&mut rest)), field::take(&mut rest)))
        })
    }

    /// The texts of the field `number`.
    pub fn texts(self, number: usize) -> impl Iterator<Item = &'a [u8]> {
        self.given().filter_map(move |(given, text)| (given == number).then_some(text))
    }

    /// The text of the field `number`; empty if it is not given.
    pub fn text(self, number: usize) -> &'a [u8] {
        self.texts(number).next().unwrap_or_default()
    }

    /// Whether each required field is given once.
    pub fn is_complete(self) -> bool {
        let mut fields = self.extension.fields.iter().enumerate();
        fields.all(|(number, field)| field.occurs != Occurs::Once || self.texts(number).count() == 1)
    }

    /// The text, if it was given without field names, or is that of the only field, which needs no name.
    fn only_text(self) -> Option<&'a [u8]> {
        let is_only_text = |number| number == UNNAMED || Some(number) == self.extension.text_field;
        let mut given = self.given();
        match (given.next(), given.next()) {
            (Some((number, text)), None) if is_only_text(number) => Some(as_given(text)),
            _ => None,
        }
    }

    /// The texts of its fields with their names. Required fields are included even if they are not given. A text without field
    /// names has an empty name, and so has a field that is a value by itself if no other is given.
    pub fn named(self) -> Vec<(&'static str, &'a [u8])> {
        if let Some(text) = self.only_text() {
            return vec![("", text)];
        }
        let mut named = Vec::new();
        for (number, field) in self.extension.fields.iter().enumerate() {
            let (name, before) = (field.keys[0], named.len());
            named.extend(self.texts(number).map(|text| (name, as_given(text))));
            if named.len() == before && field.occurs == Occurs::Once {
                named.push((name, b""));
            }
        }
        named
    }

    /// The value as text, for rows that are not text themselves: `image=URL`, `de=URL` for a map, or each field with its name. A
    /// text without field names has the name of the element.
    pub fn to_text(self) -> Vec<u8> {
        let Extension { element, is_map, .. } = self.extension;
        let words: Vec<Vec<u8>> = match self.only_text() {
            Some(text) => vec![[element.as_bytes(), b"=", text].concat()],
            _ if *is_map => vec![[as_given(self.text(0)), b"=", as_given(self.text(1))].concat()],
            _ => self.named().iter().map(|(name, text)| [name.as_bytes(), b"=", text].concat()).collect(),
        };
        words.join(&b' ')
    }
}

/// The number of a text without a field name that is no field of its extension. No field has this number.
pub const UNNAMED: usize = u8::MAX as usize;

/// Precedes the text of a field that cannot be written. It is not UTF-8 and begins no URL, so every [`WriteText`] refuses it.
pub const INVALID: u8 = 0xFF;

/// The text of a field as it is in the input, without the mark of invalid ones.
pub fn as_given(text: &[u8]) -> &[u8] {
    text.strip_prefix(&[INVALID]).unwrap_or(text)
}

/// Appends the field `number` to an encoded value.
pub fn push_field(number: usize, text: &[u8], out: &mut Vec<u8>) {
    out.push(number as u8);
    field::push(text, out);
}

/// Checks a text and appends it, escaped. Returns false if it cannot be written; what it has appended is then removed.
pub type WriteText = fn(&[u8], &mut Cleaner, &mut Vec<u8>) -> bool;

/// Writes one value.
#[derive(Debug)]
pub struct Writer<'w, 'a> {
    /// Cleans URLs.
    pub cleaner: &'w mut Cleaner,
    /// The XML.
    pub out: &'w mut Vec<u8>,
    /// Fields that cannot be written and that the value does not need: their names and texts.
    pub dropped: Vec<(&'static str, &'a [u8])>,
}

impl<'w, 'a> Writer<'w, 'a> {
    /// Creates a writer that appends to `out`.
    pub fn new(cleaner: &'w mut Cleaner, out: &'w mut Vec<u8>) -> Self {
        Self { cleaner, out, dropped: Vec::new() }
    }

    /// Appends the element of `value`. Returns false and appends nothing if the value cannot be written.
    pub fn write(&mut self, value: Value<'a>) -> bool {
        let before = self.out.len();
        let is_written = value.is_complete() && (value.extension.write)(value, self);
        if !is_written {
            self.out.truncate(before);
        }
        is_written
    }
}

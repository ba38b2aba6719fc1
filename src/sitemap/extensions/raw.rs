//! Values of extensions as read from an input, in encoded form.

use super::extension::{Extension, INVALID, Value, push_field};
use super::known::{EXTENSIONS, EXTENSIONS_COUNT};
use crate::common::field;
use crate::sitemap::tag_names::TagCounts;

/// The encoded values of a row. Empty if there are none.
///
/// ```text
/// 1 byte    the number of the extension
/// value     after its length; see `Value`
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RawExtras<'a>(pub &'a [u8]);

impl<'a> RawExtras<'a> {
    /// Iterates over the values in order.
    pub fn values(self) -> impl Iterator<Item = Value<'a>> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            (!rest.is_empty()).then(|| {
                let extension = EXTENSIONS[usize::from(field::byte(&mut rest))];
                Value::new(extension, field::take(&mut rest))
            })
        })
    }

    /// Adds its values to `counts`.
    pub fn count(self, counts: &mut TagCounts) {
        self.values().for_each(|value| counts[value.extension.tag] += 1);
    }

    /// The total number of bytes of all texts.
    pub fn text_bytes(self) -> usize {
        self.values().flat_map(Value::given).map(|(_, text)| text.len()).sum()
    }

    /// Whether there are no values.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}

/// Collects the values of each row. Reuses its memory from row to row.
#[derive(Debug, Default)]
pub struct ExtrasBuffer {
    /// The values of each extension.
    of_extensions: [Vec<u8>; EXTENSIONS_COUNT],
    /// The fields of the current value.
    fields: Vec<u8>,
    /// The values of all extensions.
    all: Vec<u8>,
    /// Names of fields that no extension has, one for each occurrence.
    ignored: Vec<String>,
}

impl ExtrasBuffer {
    /// Begins a row.
    #[inline]
    pub fn clear(&mut self) {
        self.of_extensions.iter_mut().for_each(Vec::clear);
        self.fields.clear();
    }

    /// Adds a field to the current value.
    pub fn push_field(&mut self, number: usize, text: &[u8]) {
        push_field(number, text, &mut self.fields);
    }

    /// Adds a field that cannot be written, whatever it is. The reject file shows `text`.
    pub fn push_invalid_field(&mut self, number: usize, text: &[u8]) {
        self.push_field(number, &[&[INVALID], text].concat());
    }

    /// Ends the current value. The next field begins another one.
    pub fn end_value(&mut self, extension: &Extension) {
        let out = &mut self.of_extensions[extension.number()];
        push_value(extension, &self.fields, out);
        self.fields.clear();
    }

    /// Removes the fields of the current value.
    pub fn cancel_value(&mut self) {
        self.fields.clear();
    }

    /// Adds a value with these fields, by their numbers.
    pub fn push<'v>(&mut self, extension: &Extension, fields: impl IntoIterator<Item = (usize, &'v [u8])>) {
        fields.into_iter().for_each(|(number, text)| self.push_field(number, text));
        self.end_value(extension);
    }

    /// Adds the values of `extras`.
    pub fn push_all(&mut self, extras: RawExtras<'_>) {
        extras.values().for_each(|value| self.push(value.extension, value.given()));
    }

    /// Adds the name of a field that is not carried over.
    pub fn ignore(&mut self, name: String) {
        self.ignored.push(name);
    }

    /// Takes the names of fields that are not carried over.
    #[inline]
    pub fn take_ignored(&mut self) -> Vec<String> {
        std::mem::take(&mut self.ignored)
    }

    /// The values of the row, in the order of their extensions.
    pub fn values(&mut self) -> RawExtras<'_> {
        self.all.clear();
        self.of_extensions.iter().for_each(|values| self.all.extend_from_slice(values));
        RawExtras(&self.all)
    }
}

/// Appends a value with the encoded `fields` to the values of a row.
fn push_value(extension: &Extension, fields: &[u8], out: &mut Vec<u8>) {
    out.push(extension.number() as u8);
    field::push(fields, out);
}

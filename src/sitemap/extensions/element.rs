//! Writes the element of a value, with its fields in child elements, from its definition.

use super::extension::{Extension, Field, Occurs, Value, Writer, as_given};

impl<'a> Writer<'_, 'a> {
    /// Appends the element of `value` with its fields in child elements, in the order of the definition. Returns false if a
    /// required field cannot be written.
    pub fn element(&mut self, value: Value<'a>) -> bool {
        let Extension { prefix, fields, start, element, .. } = value.extension;
        self.out.extend_from_slice(start);
        // The parent elements that are open.
        let mut open: &[&str] = &[];
        for (number, field) in fields.iter().enumerate() {
            let Some((name, parents)) = field.path.split_last().filter(|_| field.attribute.is_none()) else {
                continue;
            };
            let given = value.texts(number).filter(|text| !text.is_empty()).count();
            if given > 0 && parents != open {
                self.tags(prefix, open.iter().rev(), "</");
                self.tags(prefix, parents.iter(), "<");
                open = parents;
            }
            let mut is_written = false;
            for (nth, text) in value.texts(number).filter(|text| !text.is_empty()).enumerate() {
                let is_allowed = match field.occurs {
                    Occurs::AtMost(most) => nth < most,
                    _ => given == 1,
                };
                let before = (self.out.len(), self.dropped.len());
                if is_allowed && self.child(value, field, name, text) {
                    is_written = true;
                    continue;
                }
                self.out.truncate(before.0);
                self.dropped.truncate(before.1);
                self.dropped.push((field.keys[0], as_given(text)));
            }
            if !is_written && field.occurs == Occurs::Once {
                return false;
            }
            if !is_written {
                self.drop_attributes(value, field);
            }
        }
        self.tags(prefix, open.iter().rev(), "</");
        self.tags(prefix, [element].into_iter(), "</");
        true
    }

    /// Appends a child element with `text` and its attributes. Returns false if the text or a required attribute cannot be
    /// written.
    fn child(&mut self, value: Value<'a>, field: &Field, name: &str, text: &[u8]) -> bool {
        let prefix = value.extension.prefix;
        for part in ["<", prefix, ":", name] {
            self.out.extend_from_slice(part.as_bytes());
        }
        for (number, attribute) in attributes(value.extension, field) {
            let mut texts = value.texts(number).filter(|text| !text.is_empty());
            let (first, second) = (texts.next(), texts.next());
            let is_written = first.is_some_and(|text| second.is_none() && self.attribute(attribute, text));
            match attribute.occurs {
                _ if is_written => {}
                Occurs::WithText => return false,
                _ => self.drop_texts(value, number),
            }
        }
        self.out.push(b'>');
        let is_written = (field.write)(text, self.cleaner, self.out);
        for part in ["</", prefix, ":", name, ">"] {
            self.out.extend_from_slice(part.as_bytes());
        }
        is_written
    }

    /// Appends an attribute. Returns false and appends nothing if it cannot be written.
    pub(super) fn attribute(&mut self, field: &Field, text: &[u8]) -> bool {
        let before = self.out.len();
        for part in [" ", field.attribute.unwrap_or_default(), "=\""] {
            self.out.extend_from_slice(part.as_bytes());
        }
        let is_written = (field.write)(text, self.cleaner, self.out);
        match is_written {
            true => self.out.push(b'"'),
            false => self.out.truncate(before),
        }
        is_written
    }

    /// Drops the attributes of an element whose text `field` is not written.
    fn drop_attributes(&mut self, value: Value<'a>, field: &Field) {
        attributes(value.extension, field).for_each(|(number, _)| self.drop_texts(value, number));
    }

    /// Drops all texts of the field `number`.
    fn drop_texts(&mut self, value: Value<'a>, number: usize) {
        let name = value.extension.fields[number].keys[0];
        let texts = value.texts(number).filter(|text| !text.is_empty());
        self.dropped.extend(texts.map(|text| (name, as_given(text))));
    }

    /// Appends a tag of each name; `opening` is `<` or `</`.
    fn tags<'n>(&mut self, prefix: &str, names: impl Iterator<Item = &'n &'n str>, opening: &str) {
        for name in names {
            for part in [opening, prefix, ":", name, ">"] {
                self.out.extend_from_slice(part.as_bytes());
            }
        }
    }
}

/// The attributes of the element that holds the text `field`, with their numbers.
fn attributes<'f>(
    extension: &'static Extension,
    field: &'f Field,
) -> impl Iterator<Item = (usize, &'static Field)> + use<'f> {
    let fields = extension.fields.iter().enumerate();
    fields.filter(|(_, other)| other.attribute.is_some() && other.path == field.path)
}

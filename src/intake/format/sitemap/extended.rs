//! The element of an extension in an entry. Its definition says which attributes and elements hold the fields of a value.

use quick_xml::XmlVersion;
use quick_xml::events::BytesStart;

use crate::sitemap::extensions::{Extension, ExtrasBuffer, Field};

/// The current element of an extension.
#[derive(Debug)]
pub struct Extended {
    extension: &'static Extension,
    /// The path of the open elements within it that belong to a field.
    path: &'static [&'static str],
    /// The text of the field whose element is open, and the number of the field.
    text: Vec<u8>,
    field: usize,
    /// Whether this field cannot be written.
    is_invalid: bool,
    /// Whether the current value has fields.
    has_fields: bool,
    /// Whether it has a field that is a value by itself.
    has_text: bool,
    /// Elements in it that can hold fields.
    elements: usize,
}

/// The role of an element within the element of an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Child {
    /// The text of a field.
    Text,
    /// Its attributes or child elements hold fields.
    Parent,
    /// It is not part of a value.
    Unknown,
}

/// An attribute that is not well-formed XML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadAttribute;

impl Extended {
    /// Takes the start tag of an element with the name of that of `extension`, and the fields in its attributes; `None` if it lacks
    /// a mark of the extension.
    pub fn open(
        extension: &'static Extension,
        tag: &BytesStart<'_>,
        to: &mut ExtrasBuffer,
    ) -> Result<Option<Self>, BadAttribute> {
        let mut this = Self {
            extension,
            path: &[],
            text: Vec::new(),
            field: 0,
            is_invalid: false,
            has_fields: false,
            has_text: false,
            elements: 0,
        };
        Ok(this.take_attributes(tag, to)?.then_some(this))
    }

    /// Its extension.
    pub fn extension(&self) -> &'static Extension {
        self.extension
    }

    /// Whether fields may be in elements within it.
    pub fn has_children(&self) -> bool {
        self.extension.has_children()
    }

    /// Takes the start tag of an element that is `level` levels below it, and the fields in its attributes.
    pub fn open_child(
        &mut self,
        level: usize,
        tag: &BytesStart<'_>,
        to: &mut ExtrasBuffer,
    ) -> Result<Child, BadAttribute> {
        let (extension, outer) = (self.extension, self.path);
        if outer.len() + 1 != level {
            return Ok(Child::Unknown);
        }
        let name = tag.local_name();
        let is_in = |field: &&Field| {
            field.path.starts_with(outer) && field.path.get(outer.len()) == Some(&name.as_ref())
        };
        let Some(first) = extension.fields.iter().find(is_in) else { return Ok(Child::Unknown) };
        let path = &first.path[..level];
        let is_text = |field: &Field| field.path == path && field.attribute.is_none();
        let text = extension.fields.iter().position(is_text);
        // An element with two texts, each of which is a value by itself, holds two values.
        if text.is_some() && text == extension.text_field {
            if self.has_text {
                self.end_value(to);
            }
            self.has_text = true;
        }
        self.path = path;
        self.elements += 1;
        self.take_attributes(tag, to)?;
        let Some(field) = text else { return Ok(Child::Parent) };
        self.text.clear();
        (self.field, self.is_invalid) = (field, false);
        Ok(Child::Text)
    }

    /// Takes the end tag of an element that is `level` levels below it.
    pub fn close_child(&mut self, level: usize, to: &mut ExtrasBuffer) {
        if self.path.len() != level {
            return;
        }
        let is_text = |field: &Field| field.path == self.path && field.attribute.is_none();
        if self.extension.fields.iter().any(is_text) {
            let text = self.text.trim_ascii();
            match self.is_invalid {
                true => to.push_invalid_field(self.field, text),
                false => to.push_field(self.field, text),
            }
            self.has_fields = true;
        }
        self.path = &self.path[..level - 1];
    }

    /// Takes its end tag. False if it has no value: its fields are in child elements, and none of them is present.
    pub fn close(&self, to: &mut ExtrasBuffer) -> bool {
        let has_value = self.has_fields || !self.has_children();
        if has_value {
            to.end_value(self.extension);
        }
        has_value
    }

    /// The number of elements that hold its values, itself included.
    pub fn elements(&self) -> usize {
        1 + self.elements
    }

    /// The text of the open field so far.
    pub fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Makes the open field one that cannot be written.
    pub fn invalidate(&mut self) {
        self.is_invalid = true;
    }

    fn end_value(&mut self, to: &mut ExtrasBuffer) {
        to.end_value(self.extension);
        self.has_fields = false;
    }

    /// Takes the fields in the attributes of the innermost element. False if it lacks a mark of the extension.
    fn take_attributes(&mut self, tag: &BytesStart<'_>, to: &mut ExtrasBuffer) -> Result<bool, BadAttribute> {
        let Extension { marks, fields, .. } = self.extension;
        let marks = if self.path.is_empty() { *marks } else { &[] };
        let path = self.path;
        let has_attribute = |field: &Field| field.path == path && field.attribute.is_some();
        if marks.is_empty() && !fields.iter().any(has_attribute) {
            // An element without attributes is no longer than its name.
            if tag.len() > tag.name().as_ref().len() {
                let keys = tag.attributes().map_while(std::result::Result::ok);
                keys.for_each(|attribute| self.ignore(attribute.key.as_ref(), to));
            }
            return Ok(true);
        }
        let mut marks_found = 0;
        let mut texts = Vec::new();
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(|_| BadAttribute)?;
            let (key, value) = (attribute.key.as_ref(), attribute.normalized_value(XmlVersion::Implicit1_0));
            let is_value =
                |mark: &str| value.as_ref().is_ok_and(|value| value.trim_ascii().eq_ignore_ascii_case(mark));
            let is_mark = |(name, mark): &&(&str, &str)| *name == key && is_value(mark);
            marks_found += marks.iter().filter(is_mark).count();
            let is_field = |field: &Field| has_attribute(field) && field.attribute == Some(key);
            match fields.iter().position(is_field) {
                Some(number) => texts.push((number, value.map_err(|_| attribute.value))),
                None => self.ignore(key, to),
            }
        }
        if marks_found < marks.len() {
            return Ok(false);
        }
        self.has_fields |= !texts.is_empty();
        for (number, text) in &texts {
            match text {
                Ok(text) => to.push_field(*number, text.trim_ascii().as_bytes()),
                // It has an entity that only a DTD could define.
                Err(raw) => to.push_invalid_field(*number, raw.trim_ascii().as_bytes()),
            }
        }
        Ok(true)
    }

    /// Notes the name of an attribute that holds no field. Those that XML and XML Schema define have no content. Other attributes
    /// of links (`type`, `title`) say nothing about the page, and only links have marks.
    fn ignore(&self, key: &str, to: &mut ExtrasBuffer) {
        let Extension { prefix, element, marks, .. } = self.extension;
        let is_of_xml =
            key == "xmlns" || ["xmlns:", "xml:", "xsi:"].iter().any(|start| key.starts_with(start));
        if marks.is_empty() && !is_of_xml {
            let element = self.path.last().unwrap_or(element);
            to.ignore(format!("{prefix}:{element}@{key}"));
        }
    }
}

//! `xml:base`: the URL that relative links within an element are relative to.

use quick_xml::XmlVersion;
use quick_xml::events::BytesStart;

use crate::clean::screen::RelativeTo;

/// The bases of the open elements that have one, each with the depth of its element.
#[derive(Debug, Default)]
pub struct Bases(Vec<(usize, Option<RelativeTo>)>);

/// An attribute that is not well-formed, or has an entity that only a DTD could define. Holds its value as it is in the input, if
/// there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadAttribute(pub Option<String>);

impl Bases {
    /// Takes the start tag of the element at `depth`.
    ///
    /// # Errors
    /// If an attribute cannot be read.
    pub fn enter(&mut self, depth: usize, tag: &BytesStart<'_>) -> Result<(), BadAttribute> {
        // An element without attributes is no longer than its name.
        if tag.len() == tag.name().as_ref().len() {
            return Ok(());
        }
        // A reference without anything but a fragment is the enclosing base: RFC 3986, 4.4 and 5.1.
        if let Some(base) =
            attribute(tag, "xml:base")?.filter(|base| !base.is_empty() && !base.starts_with('#'))
        {
            // A base may be relative to the enclosing one. One that is not a URL counts as none.
            self.0.push((depth, self.resolved(base.into_bytes()).parse().ok()));
        }
        Ok(())
    }

    /// Takes the end tag of the element at `depth`.
    pub fn leave(&mut self, depth: usize) {
        self.0.pop_if(|(of, _)| *of == depth);
    }

    /// A link as an absolute URL if it is relative and there is a base; otherwise as it is.
    pub fn resolve(&self, link: Vec<u8>) -> Vec<u8> {
        let mut absolute = Vec::new();
        match self.0.last() {
            Some((_, Some(base))) if base.resolve(&link, &mut absolute) => absolute,
            _ => link,
        }
    }

    fn resolved(&self, base: Vec<u8>) -> String {
        String::from_utf8_lossy(&self.resolve(base)).into_owned()
    }
}

/// The value of an attribute.
///
/// # Errors
/// If it cannot be read.
pub fn attribute(tag: &BytesStart<'_>, name: &str) -> Result<Option<String>, BadAttribute> {
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|_| BadAttribute(None))?;
        if attribute.key.as_ref() == name {
            let raw = || BadAttribute(Some(attribute.value.trim().to_owned()));
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|_| raw())?;
            return Ok(Some(value.trim().to_owned()));
        }
    }
    Ok(None)
}

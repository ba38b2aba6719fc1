//! Attributes: namespace declarations, attributes of extensions, and attributes that are not allowed.

use std::borrow::Cow;

use quick_xml::events::BytesStart;

use super::pairs::{Pair, Pairs};
use super::{At, Broken, Reader, place};
use crate::commands::check::entities::{self, Wrong};
use crate::commands::check::entry::Entry;
use crate::commands::check::extensions::EXTENSIONS;
use crate::commands::check::name::Name;
use crate::commands::check::namespaces::{Namespace, Undeclared};
use crate::commands::check::rules::Rule;
use crate::escape::shown;

/// Maximum number of attributes read per element.
const ATTRIBUTES_MAX: usize = 64;

const NO_NAME: &str = "a name with a character that XML does not allow in names";

impl Reader<'_> {
    /// Checks every attribute against XML, and registers the namespaces that it declares.
    pub(super) fn declare(&mut self, start: &BytesStart<'_>) -> Result<(), Broken> {
        let mut keys = [""; ATTRIBUTES_MAX];
        for (nth, pair) in Pairs(start.attributes_raw()).enumerate() {
            let Pair { key, value } = match pair {
                Ok(pair) => pair,
                Err(words) => return self.broken(words),
            };
            if nth == ATTRIBUTES_MAX {
                return self.broken("too many attributes");
            }
            self.check_name(key)?;
            if keys[..nth].contains(&key) {
                return self.broken("a repeated attribute");
            }
            keys[nth] = key;
            let value = self.value(value)?;
            let Some(prefix) = declared(key) else { continue };
            match self.namespaces.declare(self.depth, prefix, &value) {
                Ok(()) => {}
                Err(Undeclared::TooMany) => return self.broken("too many namespaces"),
                Err(Undeclared::Reserved) => self.findings.push(place(self.entries), Rule::Namespace, || {
                    format!("{} declares a reserved prefix or namespace", shown(key.as_bytes()))
                }),
            }
        }
        Ok(())
    }

    /// Checks the remaining attributes of an element whose position in the document is known.
    pub(super) fn attributes(&mut self, start: &BytesStart<'_>, entry: &mut Entry) {
        self.check_prefixes(start);
        for Pair { key, value } in Pairs(start.attributes_raw()).flatten() {
            match self.at {
                _ if declared(key).is_some() => {}
                At::Skipped => {}
                At::Extended(number) | At::Child(number, _) if part_of(self.at, key).is_some() => {
                    entry.open_field();
                    // The check against XML has already reported it.
                    replaced(&normalised(value), |text| entry.push(text.as_bytes()), |_, _| Ok(())).ok();
                    entry.close_field(number, part_of(self.at, key));
                }
                At::Extended(number) if EXTENSIONS[number].has_other_attributes => {}
                _ if self.is_hint(key) => {}
                _ => self.findings.push(place(self.entries), Rule::Attribute, || {
                    format!("unknown attribute {}", shown(key.as_bytes()))
                }),
            }
        }
        // The text of the element follows its attributes.
        if let At::Child(..) = self.at {
            entry.open_field();
        }
    }

    /// Checks that prefixes are declared, and that no attribute occurs twice under prefixes of the same namespace: Namespaces
    /// in XML, 5 and 6.3.
    pub(super) fn check_prefixes(&mut self, start: &BytesStart<'_>) {
        // Elements with two prefixed attributes are rare.
        let mut others = Vec::new();
        for Pair { key, .. } in Pairs(start.attributes_raw()).flatten() {
            let Some((prefix, local)) = key.split_once(':') else { continue };
            if prefix == "xmlns" {
                continue;
            }
            let wrong = match self.namespaces.uri_of(prefix) {
                None => "its prefix is not declared",
                Some(uri) if others.contains(&(uri, local)) => {
                    "repeats another attribute of the same namespace"
                }
                Some(uri) => {
                    others.push((uri, local));
                    continue;
                }
            };
            self.findings.push(place(self.entries), Rule::Namespace, || {
                format!("an attribute {}: {wrong}", shown(key.as_bytes()))
            });
        }
    }

    /// Checks the name of an element or an attribute.
    pub(super) fn check_name(&mut self, name: &str) -> Result<(), Broken> {
        match Name::of(name) {
            Name::Qualified => {}
            Name::Not => return self.broken(NO_NAME),
            Name::Colons => self.findings.push(place(self.entries), Rule::Namespace, || {
                format!("{} is not a prefix, a colon and a name", shown(name.as_bytes()))
            }),
        }
        Ok(())
    }

    /// Checks that a name has only characters that are allowed in names.
    pub(super) fn check_characters(&mut self, name: &str) -> Result<(), Broken> {
        if Name::is_name(name) { Ok(()) } else { self.broken(NO_NAME) }
    }

    /// Returns whether the attribute is a hint for validators about schema locations: XML Schema 1, 2.6.
    fn is_hint(&self, key: &str) -> bool {
        let Some((prefix, _)) = key.split_once(':') else { return false };
        matches!(self.namespaces.of_prefix(prefix), Some(Namespace::SchemaInstance)) || prefix == "xml"
    }

    /// Returns an attribute value with its references replaced.
    pub(super) fn value(&mut self, raw: &str) -> Result<String, Broken> {
        if raw.contains('<') || !entities::is_legal_text(raw) {
            return self.broken("an attribute with a character that XML does not allow");
        }
        let mut value = String::with_capacity(raw.len());
        match replaced(
            &normalised(raw),
            |text| value.push_str(text),
            |name, wrong| self.wrong_reference(name, wrong),
        ) {
            Ok(()) => Ok(value),
            Err(Stopped::NoEnd) => self.broken("an unescaped ampersand"),
            Err(Stopped::By(broken)) => Err(broken),
        }
    }
}

/// Returns the index of the field that the attribute `key` of the element `at` is.
fn part_of(at: At, key: &str) -> Option<usize> {
    let (number, child) = match at {
        At::Extended(number) => (number, None),
        At::Child(number, child) => (number, Some(child)),
        _ => return None,
    };
    let fields = EXTENSIONS[number].fields;
    fields.iter().position(|field| field.is_attribute(child.map(|child| &fields[child]), key))
}

/// Returns an attribute value with a space for each line end and tab: XML 1.0, 2.11 and 3.3.3.
fn normalised(raw: &str) -> Cow<'_, str> {
    match memchr::memchr3(b'\t', b'\n', b'\r', raw.as_bytes()) {
        None => raw.into(),
        Some(_) => raw.replace("\r\n", " ").replace(['\t', '\n', '\r'], " ").into(),
    }
}

/// Why a value was not read to its end.
enum Stopped {
    /// A reference is not terminated.
    NoEnd,
    /// A reference is invalid, and the caller stopped at it.
    By(Broken),
}

/// Passes `raw` to `push` piece by piece, with references replaced. Invalid references go to `wrong`.
fn replaced(
    raw: &str,
    mut push: impl FnMut(&str),
    mut wrong: impl FnMut(&str, Wrong) -> Result<(), Broken>,
) -> Result<(), Stopped> {
    let mut rest = raw;
    while let Some((before, from)) = rest.split_once('&') {
        push(before);
        let (name, after) = from.split_once(';').ok_or(Stopped::NoEnd)?;
        match entities::resolve(name) {
            Ok(character) => push(character.encode_utf8(&mut [0; 4])),
            Err(why) => wrong(name, why).map_err(Stopped::By)?,
        }
        rest = after;
    }
    push(rest);
    Ok(())
}

/// Returns the prefix that the attribute `key` declares: empty for the default namespace, `None` if it is not a declaration.
/// Namespaces in XML, 3.
fn declared(key: &str) -> Option<&str> {
    match key.strip_prefix("xmlns")? {
        "" => Some(""),
        prefix => prefix.strip_prefix(':'),
    }
}

//! Shapes: reads values of extensions from JSON, in the shapes that exports use. The keys of the fields come from the definition
//! of the extension.
//!
//! Anything in another shape is kept verbatim as the text of a value. It is dropped and counted later, like any other tag with an
//! invalid value.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::sitemap::extensions::{Extension, ExtrasBuffer, Occurs, UNNAMED};

/// A key of an object, and its value as it was written.
pub type Member<'a> = (Cow<'a, str>, &'a str);

/// Adds the values in `json`: one value, or an array of values. A value is an object with a key for each field. It may also be a
/// text, or a map, if the extension allows it.
pub fn add_json(extension: &Extension, json: &str, to: &mut ExtrasBuffer) {
    each(json, |json| add_value(extension, json, to));
}

/// Adds the values of a key: JSON, or a string that contains it, as exports write text columns.
pub fn add_of_key(extension: &Extension, json: &str, to: &mut ExtrasBuffer) {
    let text = bytes(json);
    add_json(extension, text.as_deref().and_then(json_of_cell).unwrap_or(json), to);
}

/// Adds the values in a cell of a table: JSON, or a text.
pub fn add_cell(extension: &Extension, cell: &[u8], to: &mut ExtrasBuffer) {
    match json_of_cell(cell) {
        Some(json) => add_json(extension, json, to),
        None if cell.trim_ascii().is_empty() => {}
        None => add_text(extension, cell, to),
    }
}

fn add_value(extension: &Extension, json: &str, to: &mut ExtrasBuffer) {
    if extension.is_map
        && let Some((key, value)) = pair(json)
    {
        if !value.is_empty() {
            to.push(extension, [(0, key.as_bytes()), (1, &*value)]);
        }
        return;
    }
    let Some(members) = members(json) else {
        let text = bytes(json).filter(|_| extension.is_text());
        return add_text(extension, text.as_deref().unwrap_or(json.as_bytes()), to);
    };
    if has_no_value(&members) {
        return;
    }
    if extension.is_map && !members.iter().any(|(key, _)| is_known(extension, key)) {
        for (key, value) in members.iter().filter(|(_, value)| !is_nothing(value)) {
            let text = bytes(value).unwrap_or(Cow::Borrowed(value.as_bytes()));
            to.push(extension, [(0, key.as_bytes()), (1, &*text)]);
        }
    } else if add_fields(extension, &members, to) {
        to.end_value(extension);
        ignore_unknown(extension, &members, "", to);
    } else {
        to.cancel_value();
        add_text(extension, json.as_bytes(), to);
    }
}

/// The texts of an array of two: a key and a value, as libraries write the entries of a map. An empty value has an empty text.
fn pair(json: &str) -> Option<(Cow<'_, str>, Cow<'_, [u8]>)> {
    let [key, value] = json.starts_with('[').then(|| serde_json::from_str::<[&RawValue; 2]>(json).ok())??;
    let value = if is_nothing(value.get()) { Cow::Borrowed(&b""[..]) } else { bytes(value.get())? };
    Some((text(key.get())?, value))
}

/// Adds a value that is only a text. If the extension has no field for it, or if it is a list of URLs, it is dropped later.
fn add_text(extension: &Extension, text: &[u8], to: &mut ExtrasBuffer) {
    let field = extension.text_field.filter(|_| !is_list_of_urls(text));
    to.push(extension, [(field.unwrap_or(UNNAMED), text)]);
}

/// Whether `text` has a URL directly after a separator: `https://h.example/1.jpg,https://h.example/2.jpg`.
fn is_list_of_urls(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    memchr::memchr_iter(b':', text).any(|colon| {
        let (before, after) = text.split_at(colon);
        let without = |scheme: &[u8]| {
            let (before, end) = before.split_at_checked(before.len().checked_sub(scheme.len())?)?;
            end.eq_ignore_ascii_case(scheme).then_some(before)
        };
        let before = without(b"https").or_else(|| without(b"http"));
        let is_separator = |byte: &u8| byte.is_ascii_whitespace() || b",;|".contains(byte);
        after.starts_with(b"://") && before.and_then(<[u8]>::last).is_some_and(is_separator)
    })
}

/// Adds the fields of the object with these members to the current value. Returns false if a required field is not there once, or
/// is neither a text nor a number nor a truth value.
fn add_fields(extension: &Extension, members: &[Member<'_>], to: &mut ExtrasBuffer) -> bool {
    extension.fields.iter().enumerate().all(|(number, field)| {
        let (mut values, mut are_texts) = (0, true);
        for key in field.keys {
            find(members, key, &mut |json| {
                // Exports with fixed keys give a field that is not used as null, perhaps under its second name.
                if is_nothing(json) {
                    return;
                }
                values += 1;
                match field.occurs {
                    Occurs::AtMost(_) => each(json, |json| add_optional_field(number, json, to)),
                    Occurs::Once => are_texts &= add_field(number, json, to),
                    Occurs::Optional | Occurs::WithText => add_optional_field(number, json, to),
                }
            });
        }
        are_texts && (field.occurs != Occurs::Once || values == 1)
    })
}

/// Adds a field to the current value, as an invalid one if it is neither a text nor a number nor a truth value.
fn add_optional_field(number: usize, json: &str, to: &mut ExtrasBuffer) {
    if !add_field(number, json, to) {
        to.push_invalid_field(number, json.as_bytes());
    }
}

/// Adds a field to the current value. Returns false and adds nothing if it is neither a text nor a number nor a truth value.
fn add_field(number: usize, json: &str, to: &mut ExtrasBuffer) -> bool {
    let is_plain = |json: &&str| !matches!(json.as_bytes(), b"null" | [b'[' | b'{' | b'"', ..]);
    let text = bytes(json).or_else(|| Some(json).filter(is_plain).map(|json| Cow::Borrowed(json.as_bytes())));
    text.iter().for_each(|text| to.push_field(number, text));
    text.is_some()
}

/// Takes the names of members that are not fields. `parents` are the keys around them, each with a dot.
fn ignore_unknown(extension: &Extension, members: &[Member<'_>], parents: &str, to: &mut ExtrasBuffer) {
    let keys = || extension.fields.iter().flat_map(|field| field.keys);
    for (key, json) in members {
        if parents.is_empty() && keys().any(|known| is(known, key)) {
            continue;
        }
        let name = format!("{parents}{key}");
        let is_parent = |known: &&str| {
            known.get(name.len()..).is_some_and(|rest| rest.starts_with('.'))
                && is(&known[..name.len()], &name)
        };
        if keys().any(|known| is(known, &name)) || is_nothing(json) {
            continue;
        }
        match self::members(json).filter(|_| keys().any(is_parent)) {
            Some(inner) => ignore_unknown(extension, &inner, &(name + "."), to),
            None => to.ignore(format!("{}.{name}", extension.tag.as_str())),
        }
    }
}

/// Whether `key` belongs to a field, or leads to one.
fn is_known(extension: &Extension, key: &str) -> bool {
    let keys = extension.fields.iter().flat_map(|field| field.keys);
    keys.into_iter().any(|known| is(key, known.split('.').next().unwrap_or_default()))
}

/// Calls `found` with each value of `key`, whose parts before the last dot are keys of nested objects.
fn find<'a>(members: &[Member<'a>], key: &str, found: &mut dyn FnMut(&'a str)) {
    let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    for (_, value) in members.iter().filter(|(known, _)| is(known, first)) {
        match rest {
            None => found(value),
            Some(rest) => {
                if let Some(inner) = self::members(value) {
                    find(&inner, rest, found);
                }
            }
        }
    }
}

/// Whether `json` is an array of objects with the first field of the extension, as earlier versions wrote it under another key.
pub fn is_array_of_objects(extension: &Extension, json: &str) -> bool {
    let first = extension.fields[0].keys[0];
    let is_value = |json: &&RawValue| {
        members(json.get()).is_some_and(|members| members.iter().any(|(key, _)| is(key, first)))
    };
    serde_json::from_str::<Vec<&RawValue>>(json).is_ok_and(|array| array.iter().all(is_value))
}

/// Whether the JSON object `line` has a value that is neither empty nor an array of empty values.
pub fn has_content(line: &str) -> bool {
    let mut has_content = false;
    let members = members(line.trim());
    members.iter().flatten().for_each(|(_, value)| each(value, |_| has_content = true));
    members.is_none() || has_content
}

/// The text of the JSON string `json`; `None` for another value, and for a string with an unpaired surrogate.
pub fn text(json: &str) -> Option<Cow<'_, str>> {
    match json.as_bytes() {
        [b'"', inner @ .., b'"'] if memchr::memchr(b'\\', inner).is_none() => {
            Some(Cow::Borrowed(&json[1..json.len() - 1]))
        }
        [b'"', ..] => serde_json::from_str(json).map(Cow::Owned).ok(),
        _ => None,
    }
}

/// The bytes of the JSON string `json`. As in Python, the surrogates U+DC80 to U+DCFF stand for bytes that are not UTF-8, which
/// only a URL may have. `None` for another value, and for a string with any other unpaired surrogate.
fn bytes(json: &str) -> Option<Cow<'_, [u8]>> {
    match text(json) {
        Some(Cow::Borrowed(text)) => Some(Cow::Borrowed(text.as_bytes())),
        Some(Cow::Owned(text)) => Some(Cow::Owned(text.into_bytes())),
        None if json.starts_with('"') => escaped_bytes(json).map(Cow::Owned),
        None => None,
    }
}

/// The bytes of the JSON string `json`, which has an unpaired surrogate.
#[cold]
fn escaped_bytes(json: &str) -> Option<Vec<u8>> {
    struct Encoded;
    impl Visitor<'_> for Encoded {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_bytes<E>(self, encoded: &[u8]) -> Result<Vec<u8>, E> {
            Ok(encoded.to_vec())
        }
    }
    // As bytes, unpaired surrogates are encoded like other characters: in three bytes, of which the first is 0xED.
    let encoded = serde_json::Deserializer::from_str(json).deserialize_bytes(Encoded).ok()?;
    let (mut rest, mut bytes) = (&*encoded, Vec::new());
    loop {
        let (byte, length) = match rest {
            [0xED, 0xB2, low, ..] => (*low, 3),
            [0xED, 0xB3, low, ..] => (*low | 0x40, 3),
            [0xED, 0xA0..=0xFF, ..] => return None,
            [first, ..] => (*first, 1),
            [] => return Some(bytes),
        };
        bytes.push(byte);
        rest = &rest[length..];
    }
}

/// Calls `take` with each element of the array `json`, or with `json` if it is not an array. Skips empty values.
fn each<'a>(json: &'a str, mut take: impl FnMut(&'a str)) {
    let mut take_any = |json: &'a str| {
        if !is_nothing(json) {
            take(json);
        }
    };
    match serde_json::from_str::<Vec<&RawValue>>(json) {
        Ok(array) => array.into_iter().for_each(|element| take_any(element.get())),
        Err(_) => take_any(json),
    }
}

/// Whether an object with these members has no value, not even in an object within it.
fn has_no_value(members: &[Member<'_>]) -> bool {
    let is_empty_object =
        |json: &str| self::members(json).is_some_and(|inner| inner.iter().all(|(_, json)| is_nothing(json)));
    members.iter().all(|(_, json)| is_nothing(json) || is_empty_object(json))
}

/// Whether the JSON value `json` is empty: null, blanks, or an array or object without content.
fn is_nothing(json: &str) -> bool {
    match json.as_bytes() {
        b"null" => true,
        // A blank may be written as an escape, such as `\t`.
        [b'"', ..] => text(json).is_some_and(|text| text.trim_ascii().is_empty()),
        [b'[', inner @ .., b']'] | [b'{', inner @ .., b'}'] => inner.trim_ascii().is_empty(),
        _ => false,
    }
}

/// The JSON in a cell of a table: an array, an object, a string or null. `None` if it is anything else.
fn json_of_cell(cell: &[u8]) -> Option<&str> {
    let cell = cell.trim_ascii();
    // Most are URLs.
    if !matches!(cell, b"null" | [b'[' | b'{' | b'"', ..]) {
        return None;
    }
    serde_json::from_slice::<&RawValue>(cell).ok().map(RawValue::get)
}

fn is(key: &str, name: &str) -> bool {
    key.eq_ignore_ascii_case(name)
}

/// The keys and values of the JSON object `json`; `None` if it is not an object.
pub fn members(json: &str) -> Option<Vec<Member<'_>>> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(Cow<'de, str>, &'de str)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                members.push((key, value.get()));
            }
            Ok(members)
        }
    }
    let is_object = json.starts_with('{');
    is_object.then(|| serde_json::Deserializer::from_str(json).deserialize_map(Members).ok()).flatten()
}

/// A key. It is borrowed unless it is escaped, which is rare.
#[derive(Deserialize)]
pub struct Key<'a>(#[serde(borrow)] pub Cow<'a, str>);

#[cfg(test)]
mod tests;

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
type Member<'a> = (Cow<'a, str>, &'a str);

/// Adds the values in `json`: one value, or an array of values. A value is an object with a key for each field. It may also be a
/// text, or a map, if the extension allows it.
pub fn add_json(extension: &Extension, json: &str, to: &mut ExtrasBuffer) {
    each(json, |json| add_value(extension, json, to));
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
        && let Some([key, value]) = pair(json)
    {
        if !value.is_empty() {
            to.push(extension, [(0, key.as_bytes()), (1, value.as_bytes())]);
        }
        return;
    }
    let Some(members) = members(json) else {
        let text = text(json).filter(|_| extension.is_text());
        return add_text(extension, text.as_deref().unwrap_or(json).as_bytes(), to);
    };
    if has_no_value(&members) {
        return;
    }
    if extension.is_map && !members.iter().any(|(key, _)| is_known(extension, key)) {
        for (key, value) in members.iter().filter(|(_, value)| !is_nothing(value)) {
            let text = text(value).unwrap_or(Cow::Borrowed(value));
            to.push(extension, [(0, key.as_bytes()), (1, text.as_bytes())]);
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
fn pair(json: &str) -> Option<[Cow<'_, str>; 2]> {
    let [key, value] = json.starts_with('[').then(|| serde_json::from_str::<[&RawValue; 2]>(json).ok())??;
    let value = if is_nothing(value.get()) { Cow::Borrowed("") } else { text(value.get())? };
    Some([text(key.get())?, value])
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

/// Adds a field to the current value. Returns false and adds nothing if it is neither a text nor a number nor a truth value. A
/// string with an unpaired surrogate is not a text.
fn add_field(number: usize, json: &str, to: &mut ExtrasBuffer) -> bool {
    let is_plain = |json: &&str| !matches!(json.as_bytes(), b"null" | [b'[' | b'{' | b'"', ..]);
    let text = text(json).or_else(|| Some(json).filter(is_plain).map(Cow::Borrowed));
    text.iter().for_each(|text| to.push_field(number, text.as_bytes()));
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
    let json = str::from_utf8(cell).ok().filter(|_| matches!(cell, b"null" | [b'[' | b'{' | b'"', ..]))?;
    serde_json::from_str::<&RawValue>(json).ok().map(RawValue::get)
}

fn is(key: &str, name: &str) -> bool {
    key.eq_ignore_ascii_case(name)
}

/// The keys and values of the JSON object `json`; `None` if it is not an object.
fn members(json: &str) -> Option<Vec<Member<'_>>> {
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
mod tests {
    use super::*;
    use crate::sitemap::extensions::Value;
    use crate::sitemap::tags::TagName;

    /// The texts of each value that `add` adds, separated by spaces.
    fn values(add: impl FnOnce(&mut ExtrasBuffer)) -> Vec<String> {
        let mut buffer = ExtrasBuffer::default();
        add(&mut buffer);
        let text = |value: Value<'_>| {
            let texts = (0..value.extension.fields.len())
                .chain([UNNAMED])
                .map(|number| crate::escape::shown(value.text(number)));
            texts.collect::<Vec<_>>().join(" ").trim().to_owned()
        };
        let ignored = buffer.take_ignored();
        buffer.values().values().map(text).chain(ignored).collect()
    }

    fn links(json: &str) -> Vec<String> {
        values(|buffer| add_json(TagName::Alternates.extension().unwrap(), json, buffer))
    }

    fn images() -> &'static Extension {
        TagName::Images.extension().unwrap()
    }

    #[test]
    fn links_are_read_from_every_likely_shape_and_other_values_become_invalid_tags() {
        for (json, want) in [
            (r#"[{"hreflang":"de","href":"h:/d"},{"lang":"fr","url":"h:\/f"}]"#, &["de h:/d", "fr h:/f"][..]),
            (r#"{"href":"h:/d","HREFLANG":"de","x":1}"#, &["de h:/d", "alternates.x"]),
            (r#"{"de":"h:/d","x-default":"h:/"}"#, &["de h:/d", "x-default h:/"]),
            (r#"[{"de":"h:/d"},{"fr":5},{"it":null}]"#, &["de h:/d", "fr 5"]),
            (r#"[null,"",{},[]]"#, &[]),
            ("null", &[]),
            ("{}", &[]),
            (r#""de""#, &[r#""de""#]),
            ("7", &["7"]),
            (r#"{"hreflang":"de"}"#, &[r#"{"hreflang":"de"}"#]),
            (r#"{"hreflang":"de","href":null}"#, &[r#"{"hreflang":"de","href":null}"#]),
            (r#"{"hreflang":"de","lang":"fr","href":"h"}"#, &[r#"{"hreflang":"de","lang":"fr","href":"h"}"#]),
            (r#"[["de","h:/d"],["fr","h:\/f"]]"#, &["de h:/d", "fr h:/f"]),
            (r#"[["de",null],["fr"," "],["it",{}]]"#, &[]),
            (r#"{"hreflang":"de","lang":null,"href":"h:/d","url":""}"#, &["de h:/d"]),
            (r#"{"hreflang":null,"href":""}"#, &[]),
            (r#"[["h:/d"]]"#, &[r#"["h:/d"]"#]),
            (r#"[["de",5],["de","h:/d",""]]"#, &[r#"["de",5]"#, r#"["de","h:/d",""]"#]),
            (r#"["de","h:/d"]"#, &[r#""de""#, r#""h:/d""#]),
        ] {
            assert_eq!(links(json), want, "{json}");
        }
        let are_links = |json| is_array_of_objects(TagName::Alternates.extension().unwrap(), json);
        assert!(are_links(r#"[{"hreflang":null,"href":"h"}]"#));
        assert!(!are_links(r#"["h:/a"]"#) && !are_links(r#"[{"href":"h:/a"}]"#));
    }

    #[test]
    fn images_are_read_from_every_likely_shape_and_other_values_become_invalid_tags() {
        for (json, want) in [
            (r#""h:/i""#, &["h:/i"][..]),
            (r#"["h:/i",{"loc":"h:/j","title":"t"},{"url":"h:/\u006b"}]"#, &["h:/i", "h:/j   t", "h:/k"]),
            (r#"{"loc":"h:/i","alt":"a","size":null}"#, &["h:/i", "images.alt"]),
            (r#"{"loc":"h:/i"}"#, &["h:/i"]),
            (r#"[null,""," ",{}]"#, &[]),
            (r#"[{"loc":null,"url":"h:/i"},{"loc":"h:/j","url":""}]"#, &["h:/i", "h:/j"]),
            (r#"[{"loc":null},{"loc":"","title":null},{"title":"t"}]"#, &[r#"{"title":"t"}"#]),
            // An unpaired surrogate is not text.
            (r#"["h:/\ud83d","\ud83d\ude00"]"#, &[r#""h:/\\ud83d""#, "😀"]),
            (r#"{"loc":"h:/\ud83d"}"#, &[r#"{"loc":"h:/\\ud83d"}"#]),
            (r#"[5,{"src":"h:/i"},true]"#, &["5", r#"{"src":"h:/i"}"#, "true"]),
            (r#"{"loc":"h:/i","url":"h:/j"}"#, &[r#"{"loc":"h:/i","url":"h:/j"}"#]),
        ] {
            assert_eq!(values(|buffer| add_json(images(), json, buffer)), want, "{json}");
        }
    }

    #[test]
    fn news_without_values_is_no_value_and_null_is_no_second_name() {
        let news = |json: &str| {
            values(|buffer| add_json(TagName::News.extension().expect("news is an extension"), json, buffer))
        };
        assert!(news(r#"{"publication":{"name":null,"language":""},"title":null}"#).is_empty());
        let json = r#"{"publication":{"name":"N","language":"en"},"publication_name":null,
            "publication_date":"2026-11-29","title":"T"}"#;
        assert_eq!(news(json).len(), 1);
        assert!(!news(json)[0].starts_with('{'), "each field is read: {:?}", news(json));
        let incomplete = r#"{"publication":{"name":null},"title":"T"}"#;
        assert_eq!(news(incomplete), [incomplete]);
    }

    #[test]
    fn a_value_of_a_table_is_json_or_one_url() {
        for (cell, want) in [
            (r#" ["h:/i", "h:/j"] "#, &["h:/i", "h:/j"][..]),
            ("h:/i,j", &["h:/i,j"]),
            (" https://h/?u=http://i;x:1,", &["https://h/?u=http://i;x:1,"]),
            ("[h:/i", &["[h:/i"]),
            (" ", &[]),
            (" null ", &[]),
            ("nul", &["nul"]),
            ("[null]", &[]),
        ] {
            assert_eq!(values(|buffer| add_cell(images(), cell.as_bytes(), buffer)), want, "{cell}");
        }
        for separator in [",", ", ", " ", ";", "|", "\n"] {
            for scheme in ["http", "HTTPS"] {
                let cell = format!("https://h/1{separator}{scheme}://h/2");
                let mut buffer = ExtrasBuffer::default();
                add_cell(images(), cell.as_bytes(), &mut buffer);
                add_json(images(), &serde_json::to_string(&cell).unwrap(), &mut buffer);
                let texts: Vec<_> =
                    buffer.values().values().map(|value| value.text(UNNAMED).to_vec()).collect();
                assert_eq!(texts, [cell.as_bytes(), cell.as_bytes()], "{cell:?}");
            }
        }
    }
}

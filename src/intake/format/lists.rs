//! Lists: links to other languages and images, in the shapes in which exports give them.
//!
//! What has none of these shapes stays as it was written, as the URL of a link or image. It is no URL, so that it is dropped
//! and counted like any other tag whose value is wrong.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::row::Alternate;

/// A link to the same page in another language.
#[derive(Debug, PartialEq, Eq)]
pub struct Link<'a> {
    hreflang: Cow<'a, [u8]>,
    href: Cow<'a, [u8]>,
}

/// Links and images of a row.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Lists<'a> {
    links: Vec<Link<'a>>,
    images: Vec<Cow<'a, [u8]>>,
}

impl<'a> Lists<'a> {
    /// The links, as a record has them.
    pub fn alternates(&self) -> Vec<Alternate<'_>> {
        self.links.iter().map(|Link { hreflang, href }| Alternate { hreflang, href }).collect()
    }

    /// The images, as a record has them.
    pub fn images(&self) -> Vec<&[u8]> {
        self.images.iter().map(Cow::as_ref).collect()
    }

    /// Adds the links in `json`: an object, or an array of such. An object is a link with `hreflang` or `lang` and `href` or
    /// `url`, or has a language for each key and its URL for the value.
    pub fn add_links(&mut self, json: &'a str) {
        each(json, |json| self.add_link(json));
    }

    /// Adds the images in `json`: a URL, an object with `loc` or `url`, or an array of such.
    pub fn add_images(&mut self, json: &'a str) {
        each(json, |json| {
            let url = match members(json) {
                None => text(json),
                Some(members) => one_of(&members, ["loc", "url"]).and_then(text),
            };
            self.images.push(url.map_or(Cow::Borrowed(json.as_bytes()), to_bytes));
        });
    }

    /// Adds the links of a value of a table: JSON.
    pub fn add_links_of_cell(&mut self, cell: &'a [u8]) {
        match json_of_cell(cell) {
            Some(json) => self.add_links(json),
            None if cell.trim_ascii().is_empty() => {}
            None => self.links.push(Link::unknown(cell)),
        }
    }

    /// Adds the images of a value of a table: JSON, or a URL.
    pub fn add_images_of_cell(&mut self, cell: &'a [u8]) {
        match json_of_cell(cell) {
            Some(json) => self.add_images(json),
            None if cell.trim_ascii().is_empty() => {}
            None => self.images.push(Cow::Borrowed(cell)),
        }
    }

    fn add_link(&mut self, json: &'a str) {
        let Some(members) = members(json) else { return self.links.push(Link::unknown(json.as_bytes())) };
        let is_known = |key: &str| ["hreflang", "lang", "href", "url"].iter().any(|known| is(key, known));
        if !members.iter().any(|(key, _)| is_known(key)) {
            let of_language = members.into_iter().filter(|(_, value)| !is_nothing(value));
            return self.links.extend(of_language.map(|(language, value)| Link {
                hreflang: to_bytes(language),
                href: text(value).map_or(Cow::Borrowed(value.as_bytes()), to_bytes),
            }));
        }
        let hreflang = one_of(&members, ["hreflang", "lang"]).and_then(text);
        let href = one_of(&members, ["href", "url"]).and_then(text);
        self.links.push(match (hreflang, href) {
            (Some(hreflang), Some(href)) => Link { hreflang: to_bytes(hreflang), href: to_bytes(href) },
            _ => Link::unknown(json.as_bytes()),
        });
    }
}

impl<'a> Link<'a> {
    fn unknown(written: &'a [u8]) -> Self {
        Self { hreflang: Cow::Borrowed(b""), href: Cow::Borrowed(written) }
    }
}

/// Whether `json` is an array of links as `urls --json` of earlier versions wrote it, under another key.
pub fn is_array_of_links(json: &str) -> bool {
    let is_link = |json: &&RawValue| {
        members(json.get()).is_some_and(|members| members.iter().any(|(key, _)| is(key, "hreflang")))
    };
    serde_json::from_str::<Vec<&RawValue>>(json).is_ok_and(|array| array.iter().all(is_link))
}

/// Whether the JSON object `line` has a value that says anything.
pub fn has_content(line: &str) -> bool {
    members(line.trim()).is_none_or(|members| members.iter().any(|(_, value)| !is_nothing(value)))
}

/// The text of the JSON string `json`.
pub fn text(json: &str) -> Option<Cow<'_, str>> {
    match json.as_bytes() {
        [b'"', inner @ .., b'"'] if memchr::memchr(b'\\', inner).is_none() => {
            Some(Cow::Borrowed(&json[1..json.len() - 1]))
        }
        [b'"', ..] => serde_json::from_str(json).map(Cow::Owned).ok(),
        _ => None,
    }
}

/// Calls `take` with each element of the array `json`, or with all of it if it is none. Skips what is nothing.
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

/// Whether the JSON value `json` says nothing.
fn is_nothing(json: &str) -> bool {
    match json.as_bytes() {
        b"null" => true,
        [b'"', inner @ .., b'"'] => inner.trim_ascii().is_empty(),
        [b'[', inner @ .., b']'] | [b'{', inner @ .., b'}'] => inner.trim_ascii().is_empty(),
        _ => false,
    }
}

/// The JSON that a value of a table is.
fn json_of_cell(cell: &[u8]) -> Option<&str> {
    let cell = cell.trim_ascii();
    let json = str::from_utf8(cell).ok().filter(|_| matches!(cell.first(), Some(b'[' | b'{' | b'"')))?;
    serde_json::from_str::<&RawValue>(json).ok().map(RawValue::get)
}

fn is(key: &str, name: &str) -> bool {
    key.eq_ignore_ascii_case(name)
}

/// The value of the one key that is among `names`.
fn one_of<'a>(members: &[(Cow<'_, str>, &'a str)], names: [&str; 2]) -> Option<&'a str> {
    let mut found = members.iter().filter(|(key, _)| names.iter().any(|name| is(key, name)));
    match (found.next(), found.next()) {
        (Some((_, value)), None) => Some(value),
        _ => None,
    }
}

fn to_bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// Keys and values of the JSON object `json`; `None` if it is none.
fn members(json: &str) -> Option<Vec<(Cow<'_, str>, &str)>> {
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

/// A key, which is seldom escaped.
#[derive(Deserialize)]
pub struct Key<'a>(#[serde(borrow)] pub Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    fn links(json: &str) -> Vec<String> {
        let mut lists = Lists::default();
        lists.add_links(json);
        let shown = |bytes: &[u8]| crate::escape::shown(bytes);
        lists.links.iter().map(|link| format!("{} {}", shown(&link.hreflang), shown(&link.href))).collect()
    }

    fn images(add: impl FnOnce(&mut Lists<'static>)) -> Vec<String> {
        let mut lists = Lists::default();
        add(&mut lists);
        lists.images.iter().map(|url| crate::escape::shown(url)).collect()
    }

    #[test]
    fn links_are_taken_from_every_likely_shape_and_all_else_stays_to_be_dropped() {
        for (json, want) in [
            (r#"[{"hreflang":"de","href":"h:/d"},{"lang":"fr","url":"h:\/f"}]"#, &["de h:/d", "fr h:/f"][..]),
            (r#"{"href":"h:/d","HREFLANG":"de","x":1}"#, &["de h:/d"]),
            (r#"{"de":"h:/d","x-default":"h:/"}"#, &["de h:/d", "x-default h:/"]),
            (r#"[{"de":"h:/d"},{"fr":5},{"it":null}]"#, &["de h:/d", "fr 5"]),
            (r#"[null,"",{},[]]"#, &[]),
            ("null", &[]),
            ("{}", &[]),
            (r#""de""#, &[r#" "de""#]),
            ("7", &[" 7"]),
            (r#"{"hreflang":"de"}"#, &[r#" {"hreflang":"de"}"#]),
            (r#"{"hreflang":"de","href":null}"#, &[r#" {"hreflang":"de","href":null}"#]),
            (
                r#"{"hreflang":"de","lang":"fr","href":"h"}"#,
                &[r#" {"hreflang":"de","lang":"fr","href":"h"}"#],
            ),
            (r#"[["h:/d"]]"#, &[r#" ["h:/d"]"#]),
        ] {
            assert_eq!(links(json), want, "{json}");
        }
        assert!(is_array_of_links(r#"[{"hreflang":null,"href":"h"}]"#));
        assert!(!is_array_of_links(r#"["h:/a"]"#) && !is_array_of_links(r#"[{"href":"h:/a"}]"#));
    }

    #[test]
    fn images_are_taken_from_every_likely_shape_and_all_else_stays_to_be_dropped() {
        for (json, want) in [
            (r#""h:/i""#, &["h:/i"][..]),
            (r#"["h:/i",{"loc":"h:/j","title":"t"},{"url":"h:/\u006b"}]"#, &["h:/i", "h:/j", "h:/k"]),
            (r#"{"loc":"h:/i"}"#, &["h:/i"]),
            (r#"[null,""," ",{}]"#, &[]),
            (r#"[5,{"src":"h:/i"},true]"#, &["5", r#"{"src":"h:/i"}"#, "true"]),
            (r#"{"loc":"h:/i","url":"h:/j"}"#, &[r#"{"loc":"h:/i","url":"h:/j"}"#]),
        ] {
            assert_eq!(images(|lists| lists.add_images(json)), want, "{json}");
        }
    }

    #[test]
    fn a_value_of_a_table_is_json_or_one_url() {
        for (cell, want) in [
            (r#" ["h:/i", "h:/j"] "#, &["h:/i", "h:/j"][..]),
            ("h:/i,j", &["h:/i,j"]),
            ("[h:/i", &["[h:/i"]),
            (" ", &[]),
            ("null", &["null"]),
        ] {
            assert_eq!(images(|lists| lists.add_images_of_cell(cell.as_bytes())), want, "{cell}");
        }
    }
}

//! JSON lines: one object a line, with the keys that CSV has as columns.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::value::RawValue;

use super::columns::{Columns, Part};
use super::row::{Alternate, Record, Rows};
use super::text::each_line;
use super::unpack::About;
use crate::error::Result;
use crate::limits::LINE_BYTES_MAX;
use crate::stage::clean::Reason;
use crate::stage::lines::{Block, Line};

/// Reads one record from each line; blank lines are blank rows. A line that is no object is bad alone, but for the first:
/// see [`check_first_line`].
pub fn read(block: &Block, columns: &Columns, rows: &mut Rows<'_>) -> Result<()> {
    each_line(block, |number, line| {
        let reason = match values(line.raw, columns) {
            _ if line.raw.len() > LINE_BYTES_MAX => Reason::TooLong,
            _ if rows.is_malformed(line.raw) => Reason::BadEncoding,
            Ok(values) => return emit(number, line, &values, rows),
            Err(reason) => reason,
        };
        rows.bad(number, line.offset, reason, line.raw)
    })
}

/// The first line tells an array, an object over many lines and wrong names of keys from lines that are bad alone: then the
/// text is of another form altogether.
pub fn check_first_line(text: &About<'_>, columns: &Columns) -> Result<()> {
    let head = text.head().strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text.head());
    let blank_lines = head.len() - head.trim_ascii_start().len();
    let line = head[blank_lines..].split(|&byte| byte == b'\n').next().unwrap_or_default();
    let number = 1 + memchr::memchr_iter(b'\n', &head[..blank_lines]).count();
    if line.is_empty() || line.len() > LINE_BYTES_MAX {
        return Ok(());
    }
    let wrong = |what: &str| Err(text.wrong(format!("line {number}: {what}")));
    let read = serde_json::from_slice::<Keys>(line);
    match read {
        _ if line[0] != b'{' => wrong(
            "is no JSON object; expected one object a line (of an array, jq -c '.[]' makes them), \
             or say what it is with --format",
        ),
        Err(error) if error.is_eof() => {
            wrong("the JSON object does not end on its line; expected one object a line (jq -c . makes them)")
        }
        Ok(Keys(keys)) if !keys.iter().any(|key| is_url(key, columns)) => {
            let names: Vec<&[u8]> = keys.iter().map(String::as_bytes).collect();
            // It has no such column, so there is a sentence that says so.
            wrong(&columns.places(&names).err().unwrap_or_default().replace("no column", "no key"))
        }
        _ => Ok(()),
    }
}

fn is_url(key: &str, columns: &Columns) -> bool {
    matches!(columns.part_of(key.as_bytes()), Some((Part::Url, _)))
}

fn emit(number: u64, line: Line<'_>, values: &Values<'_>, rows: &mut Rows<'_>) -> Result<()> {
    let alternates: Vec<Alternate<'_>> = values
        .alternates
        .iter()
        .map(|Link { hreflang, href }| Alternate { hreflang: hreflang.as_bytes(), href: href.as_bytes() })
        .collect();
    let images: Vec<&[u8]> = values.images.iter().map(|Image(url)| url.as_bytes()).collect();
    rows.record(&Record {
        line: number,
        offset: line.offset,
        url: values.url.as_bytes(),
        lastmod: values.lastmod.as_bytes(),
        changefreq: values.changefreq.as_bytes(),
        priority: values.priority.as_bytes(),
        alternates: &alternates,
        images: &images,
    })
}

/// What a line says; empty for what it does not.
#[derive(Default)]
struct Values<'a> {
    url: Cow<'a, str>,
    /// How good the name of its key is; `None` as long as there is none.
    url_rank: Option<usize>,
    lastmod: Cow<'a, str>,
    changefreq: Cow<'a, str>,
    priority: Cow<'a, str>,
    alternates: Vec<Link<'a>>,
    images: Vec<Image<'a>>,
}

/// An element of `alternates`.
#[derive(Deserialize)]
struct Link<'a> {
    #[serde(borrow)]
    hreflang: Cow<'a, str>,
    #[serde(borrow)]
    href: Cow<'a, str>,
}

/// An element of `images`.
#[derive(Deserialize)]
struct Image<'a>(#[serde(borrow)] Cow<'a, str>);

fn values<'a>(line: &'a [u8], columns: &Columns) -> Result<Values<'a>, Reason> {
    if line.trim_ascii().is_empty() {
        return Ok(Values::default());
    }
    let mut json = serde_json::Deserializer::from_slice(line);
    let values = json.deserialize_map(ValuesVisitor(columns)).map_err(|_| Reason::BadRow)?;
    json.end().map_err(|_| Reason::BadRow)?;
    if values.url_rank.is_some() { Ok(values) } else { Err(Reason::NoUrl) }
}

/// Takes the values of known keys and skips all others.
struct ValuesVisitor<'c>(&'c Columns);

impl<'de> Visitor<'de> for ValuesVisitor<'_> {
    type Value = Values<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Values<'de>, A::Error> {
        let mut values = Values::default();
        while let Some(key) = map.next_key::<Key<'de>>()? {
            let Some((part, rank)) = self.0.part_of(key.0.as_bytes()) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            match part {
                Part::Url => {
                    let url = text(map.next_value()?, false)?;
                    if values.url_rank.is_none_or(|before| rank <= before) {
                        (values.url, values.url_rank) = (url, Some(rank));
                    }
                }
                Part::Lastmod => values.lastmod = text(map.next_value()?, true)?,
                Part::Changefreq => values.changefreq = text(map.next_value()?, false)?,
                Part::Priority => values.priority = text(map.next_value()?, true)?,
                Part::Alternates => values.alternates = map.next_value::<Option<_>>()?.unwrap_or_default(),
                Part::Images => values.images = map.next_value::<Option<_>>()?.unwrap_or_default(),
            }
        }
        Ok(values)
    }
}

/// A key, which is seldom escaped.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// The text of a string, or of a number just as it is written; nothing for `null`.
fn text<E: de::Error>(value: &RawValue, takes_numbers: bool) -> Result<Cow<'_, str>, E> {
    let json = value.get();
    match json.as_bytes() {
        [b'"', inner @ .., b'"'] if memchr::memchr(b'\\', inner).is_none() => {
            Ok(Cow::Borrowed(&json[1..json.len() - 1]))
        }
        [b'"', ..] => serde_json::from_str(json).map(Cow::Owned).map_err(E::custom),
        b"null" => Ok(Cow::Borrowed("")),
        [b'-' | b'0'..=b'9', ..] if takes_numbers => Ok(Cow::Borrowed(json)),
        _ => Err(E::custom("neither text nor null")),
    }
}

/// The keys of an object, for a message.
struct Keys(Vec<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeysVisitor;
        impl<'de> Visitor<'de> for KeysVisitor {
            type Value = Keys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut keys = Vec::new();
                while let Some((key, IgnoredAny)) = map.next_entry()? {
                    keys.push(key);
                }
                Ok(Keys(keys))
            }
        }
        deserializer.deserialize_map(KeysVisitor)
    }
}

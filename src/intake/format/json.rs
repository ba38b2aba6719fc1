//! JSON lines: one object a line, with the keys that CSV has as columns.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::value::RawValue;

use super::columns::{Columns, Part};
use super::found::ColumnsFound;
use super::lists::{self, Key, Lists};
use super::reader::{RowReader, units_of_lines};
use super::row::{AND, ROW_BYTES_MAX, Record, Rows};
use super::spec::{Head, Hints, Open, Spec};
use super::text::each_line;
use super::unpack::{About, Text};
use crate::clean::Reason;
use crate::error::Result;
use crate::intake::blocks::Block;
use crate::intake::lines::Line;
use crate::limits::LINE_BYTES_MAX;

pub const JSONL: Spec = Spec {
    name: "jsonl",
    extensions: &["jsonl", "ndjson", "json"],
    head: Head::Byte(b"{["),
    delimiter: |_| false,
    column_word: "key",
    open: Open::Text(open),
};

/// Lines of `urls --json` of earlier versions have their links under this key.
const EARLIER_LINKS: &str = "links";

/// Bytes of a value that are kept, and of a bad line: more than a URL or tag can have.
const BYTES_KEPT: usize = LINE_BYTES_MAX + 1;

fn open<'n>(text: Text<'n>, hints: Hints<'n>) -> Result<RowReader<'n>> {
    let columns = hints.columns;
    check_first_line(text.about(), columns)?;
    let units = units_of_lines(text, ROW_BYTES_MAX as usize, move |block, rows| read(block, columns, rows));
    Ok(RowReader { units, columns: None })
}

/// Reads one record from each line; blank lines, and objects with nothing in them, are blank rows. A line that is no object
/// is bad alone, but for the first: see [`check_first_line`].
fn read(block: &Block, columns: &Columns, rows: &mut Rows<'_>) -> Result<()> {
    let mut keys = ColumnsFound::default();
    each_line(block, |number, line| {
        let reason = match values(line.raw, columns, &mut keys) {
            _ if line.raw.len() as u64 > ROW_BYTES_MAX => Reason::TooLong,
            _ if rows.is_malformed(line.raw) => Reason::BadEncoding,
            Ok(values) => return emit(number, line, &values, rows),
            Err(_) if str::from_utf8(line.raw).is_err() => Reason::BadEncoding,
            Err(reason) => reason,
        };
        rows.bad(number, line.offset, reason, cut(line.raw))
    })?;
    rows.facts().keys = Some(keys);
    Ok(())
}

/// The first line tells an array, an object over many lines and wrong names of keys from lines that are bad alone: then the
/// text is of another form altogether. Objects without keys tell nothing: the first one with a key is checked.
fn check_first_line(text: &About<'_>, columns: &Columns) -> Result<()> {
    let head = text.head().strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text.head());
    let keys_of = |line: &[u8]| serde_json::from_slice::<Keys>(line);
    let says_nothing =
        |line: &[u8]| line.trim_ascii().is_empty() || keys_of(line).is_ok_and(|Keys(keys)| keys.is_empty());
    let mut lines = (1..).zip(head.split_inclusive(|&byte| byte == b'\n'));
    let Some((number, line)) = lines.find(|(_, line)| !says_nothing(line)) else { return Ok(()) };
    let is_cut = !line.ends_with(b"\n") && text.head().len() > LINE_BYTES_MAX;
    if is_cut {
        return Ok(());
    }
    let line = line.trim_ascii();
    let wrong = |what: &str| Err(text.wrong(format!("line {number}: {what}")));
    let read = keys_of(line);
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
    rows.record(&Record {
        line: number,
        offset: line.offset,
        url: cut(values.url.as_bytes()),
        lastmod: cut(values.lastmod.as_bytes()),
        changefreq: cut(values.changefreq.as_bytes()),
        priority: cut(values.priority.as_bytes()),
        alternates: &values.lists.alternates(),
        images: &values.lists.images(),
    })
}

fn cut(text: &[u8]) -> &[u8] {
    &text[..text.len().min(BYTES_KEPT)]
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
    lists: Lists<'a>,
}

fn values<'a>(line: &'a [u8], columns: &Columns, keys: &mut ColumnsFound) -> Result<Values<'a>, Reason> {
    if line.trim_ascii().is_empty() {
        return Ok(Values::default());
    }
    let mut json = serde_json::Deserializer::from_slice(line);
    let values = json.deserialize_map(ValuesVisitor { columns, keys }).map_err(|_| Reason::BadRow)?;
    json.end().map_err(|_| Reason::BadRow)?;
    if values.url.trim_ascii().is_empty() { without_url(line) } else { Ok(values) }
}

/// A line that gives no URL is blank if it gives nothing else.
fn without_url(line: &[u8]) -> Result<Values<'_>, Reason> {
    let line = str::from_utf8(line).map_err(|_| Reason::BadRow)?;
    if lists::has_content(line) { Err(Reason::NoUrl) } else { Ok(Values::default()) }
}

/// Takes the values of known keys and skips all others.
struct ValuesVisitor<'c> {
    columns: &'c Columns,
    /// All keys that were met.
    keys: &'c mut ColumnsFound,
}

impl<'de> Visitor<'de> for ValuesVisitor<'_> {
    type Value = Values<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Values<'de>, A::Error> {
        let mut values = Values::default();
        while let Some(Key(key)) = map.next_key()? {
            let Some((part, rank)) = self.columns.part_of(key.as_bytes()) else {
                if key == EARLIER_LINKS && values.take_earlier_links(map.next_value()?) {
                    self.keys.use_key(Part::Alternates, 1, key.as_bytes());
                    continue;
                }
                if key != EARLIER_LINKS {
                    map.next_value::<IgnoredAny>()?;
                }
                self.keys.unused.add_next(key.as_bytes());
                continue;
            };
            self.keys.use_key(part, rank, key.as_bytes());
            let value: &RawValue = map.next_value()?;
            match part {
                Part::Url => values.take_url(value, rank)?,
                Part::Lastmod => take_tag(&mut values.lastmod, value),
                Part::Changefreq => take_tag(&mut values.changefreq, value),
                Part::Priority => take_tag(&mut values.priority, value),
                Part::Alternates => values.lists.add_links(value.get()),
                Part::Images => values.lists.add_images(value.get()),
            }
        }
        Ok(values)
    }
}

impl<'a> Values<'a> {
    /// Takes the value of a key for the URL: a string. Null and blanks are no URL. Of two URLs that with the better key counts;
    /// of two equally good keys nobody knows which.
    fn take_url<E: de::Error>(&mut self, value: &'a RawValue, rank: usize) -> Result<(), E> {
        let url = match value.get() {
            "null" => Cow::Borrowed(""),
            json => lists::text(json).ok_or_else(|| E::custom("neither text nor null"))?,
        };
        if url.trim_ascii().is_empty() {
            return Ok(());
        }
        match self.url_rank {
            Some(before) if before == rank => return Err(E::custom("two URLs")),
            Some(before) if before < rank => {}
            _ => (self.url, self.url_rank) = (url, Some(rank)),
        }
        Ok(())
    }

    /// Takes links as earlier versions wrote them. Any other value under this key is left, with `false`.
    fn take_earlier_links(&mut self, value: &'a RawValue) -> bool {
        let are_links = lists::is_array_of_links(value.get());
        if are_links {
            self.lists.add_links(value.get());
        }
        are_links
    }
}

/// Takes the value of a tag: the text of a string, or what is written of anything else, which is how a number keeps its
/// digits and a value of the wrong type is told in the reject file. A second value makes the tag a wrong one.
fn take_tag<'a>(tag: &mut Cow<'a, str>, value: &'a RawValue) {
    let text = match value.get() {
        "null" => return,
        json => lists::text(json).unwrap_or(Cow::Borrowed(json)),
    };
    *tag = if tag.is_empty() { text } else { Cow::Owned(format!("{tag}{AND}{text}")) };
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

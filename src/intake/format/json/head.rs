//! The first lines of JSON lines: refuses texts of which every line would be a bad row, with what to do about it.

use std::fmt;

use serde::de::{self, Deserialize, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::{nested, not_finite};
use crate::error::{Message, Result, Setting, message};
use crate::intake::format::columns::{Columns, RowPart};
use crate::intake::format::sample::begins_as_url;
use crate::intake::format::unpack::About;
use crate::intake::lines::BYTE_ORDER_MARK;
use crate::limits::LINE_BYTES_MAX;

/// Refuses a text whose first lines show that every line would be bad: an array, objects over several lines, or keys with other
/// names. One line that names its URL shows that the others are bad alone.
pub fn check_head(text: &About<'_>, columns: &Columns) -> Result<()> {
    let head = text.head().strip_prefix(BYTE_ORDER_MARK).unwrap_or(text.head());
    // The last line may be cut at the end of the head.
    let is_whole = |line: &[u8]| line.ends_with(b"\n") || text.head().len() <= LINE_BYTES_MAX;
    let lines = head.split_inclusive(|&byte| byte == b'\n');
    let mut first_wrong = None;
    for (number, line) in (1..).zip(lines).filter(|(_, line)| !line.trim_ascii().is_empty()) {
        let wrong = |what: Message| text.wrong(message!("line {number}: ", what));
        let checked = if let Some(url) = url_in_rows(head) {
            let (csv, columns) =
                (Setting::Format.with("csv"), Setting::Columns.with(format_args!("url={url}")));
            HeadLine::Wrong(message!(
                "is an array of values; convert the rows with jq -r '@csv' and read them with ",
                csv,
                " ",
                columns
            ))
        } else if is_list_of_urls(head) {
            HeadLine::Wrong("is an array of texts; convert it to a list of URLs with jq -r '.[]'".into())
        } else if is_whole(line) || line.trim_ascii_start().starts_with(b"[") {
            check_line(line, columns)
        } else {
            after_object(line, columns).map_or(HeadLine::SaysNothing, HeadLine::Wrong)
        };
        match checked {
            // An indented object may be a value in an object over several lines.
            HeadLine::NamesUrl if first_wrong.is_none() || line.starts_with(b"{") => return Ok(()),
            HeadLine::NamesUrl | HeadLine::SaysNothing => {}
            HeadLine::Wrong(what) => _ = first_wrong.get_or_insert_with(|| wrong(what)),
        }
        // So may every object in an array.
        if matches!(line.trim_ascii(), [b'[', ..] | [b'{']) {
            break;
        }
    }
    first_wrong.map_or(Ok(()), Err)
}

/// The position of the URL, from 1, if the lines of a text that begins with `head` are arrays, as in `JSONCompactEachRow` of
/// ClickHouse. An array in one line may be a list.
fn url_in_rows(head: &[u8]) -> Option<usize> {
    let lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty());
    let row: Vec<Value> = serde_json::from_slice(lines.next()?).ok()?;
    lines.next().filter(|line| line.starts_with(b"["))?;
    let at = row.iter().position(|value| value.as_str().is_some_and(|text| begins_as_url(text.as_bytes())));
    at.map(|at| at + 1)
}

/// Whether a text that begins with `head` is an array whose first element is a URL.
fn is_list_of_urls(head: &[u8]) -> bool {
    let rest = head.trim_ascii_start().strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    rest.and_then(|rest| rest.strip_prefix(b"\"")).is_some_and(begins_as_url)
}

/// The kind of one of the first lines.
pub enum HeadLine {
    /// It is an object with a key for the URL.
    NamesUrl,
    /// It is an object without keys, or damaged.
    SaysNothing,
    /// It is not as expected.
    Wrong(Message),
}

/// Checks a line that is not blank. Only an object must be whole.
pub fn check_line(line: &[u8], columns: &Columns) -> HeadLine {
    if !line.trim_ascii_start().starts_with(b"{") {
        return HeadLine::Wrong(message!(
            "is not a JSON object; expected one object per line; convert an array with jq -c '.[]', or set ",
            Setting::Format
        ));
    }
    let finite = not_finite::as_null(line);
    let line = finite.as_deref().unwrap_or(line).trim_ascii();
    match serde_json::from_slice::<Keys>(line) {
        Err(error) if error.is_eof() => {
            let why = "the JSON object does not end on its line; expected one object per line; convert it with jq -c .";
            HeadLine::Wrong(why.into())
        }
        Err(_) => after_object(line, columns).map_or(HeadLine::SaysNothing, HeadLine::Wrong),
        Ok(Keys(keys)) if keys.iter().any(|key| is_url(key, columns)) => HeadLine::NamesUrl,
        Ok(Keys(keys)) if keys.is_empty() => HeadLine::SaysNothing,
        Ok(_) => {
            let names = str::from_utf8(line).map(nested::names).unwrap_or_default();
            let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
            // No key is the URL, so this is always an error.
            let missing = columns.places(&names).err();
            missing.map_or(HeadLine::NamesUrl, |missing| HeadLine::Wrong(missing.message("key")))
        }
    }
}

/// The problem of a line on which a comma or another object follows an object with a key for the URL. Every line of the file may be
/// like this. `None` for any other line.
pub fn after_object(line: &[u8], columns: &Columns) -> Option<Message> {
    let mut objects = serde_json::Deserializer::from_slice(line).into_iter::<Keys>();
    let Keys(keys) = objects.next()?.ok()?;
    if !keys.iter().any(|key| is_url(key, columns)) {
        return None;
    }
    let what = match line[objects.byte_offset()..].trim_ascii() {
        [b'{', ..] => "several JSON objects; expected one object per line; convert it with jq -c .",
        b"," => {
            "a comma after the JSON object; expected one object per line; remove it with sed 's/,[[:space:]]*$//'"
        }
        [b',', rest @ ..] if rest.trim_ascii_start().starts_with(b"{") => {
            "several JSON objects; expected one object per line; convert it with sed 's/.*/[&]/' | jq -c '.[]'"
        }
        _ => return None,
    };
    Some(what.into())
}

fn is_url(key: &str, columns: &Columns) -> bool {
    matches!(columns.part_of(key.as_bytes()), Some((RowPart::Url, _)))
        || columns.is_below(key.as_bytes(), RowPart::Url)
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

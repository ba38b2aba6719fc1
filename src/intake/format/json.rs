//! JSON lines: one object per line. Its keys have the names of columns in CSV.

mod head;
mod long_line;
mod nested;
mod not_finite;

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::columns::{Columns, RowPart};
use super::found::ColumnsFound;
use super::reader::{RowReader, blocks_of_lines, units_of_blocks};
use super::row::{AND, CountingSink, ROW_BYTES_MAX, Record, VALUE_BYTES_KEPT, kept};
use super::shapes::{self, Key};
use super::spec::{Head, Hints, Open, Spec};
use super::text::each_line;
use super::unpack::Text;
use crate::clean::Reason;
use crate::error::Result;
use crate::intake::blocks::TextBlock;
use crate::intake::lines::Line;
use crate::sitemap::extensions::{EXTENSIONS, Extension, ExtrasBuffer, RawExtras};
use crate::sitemap::tags::TagName;
use long_line::LongLine;

pub const JSONL: Spec = Spec {
    name: "jsonl",
    title: "JSON lines",
    extensions: &["jsonl", "ndjson", "json"],
    head: Head::Byte(b"{["),
    delimiter: |_| false,
    has_columns: true,
    column_word: "key",
    open: Open::Text(open),
};

fn open<'n>(text: Text<'n>, hints: Hints<'n>) -> Result<RowReader<'n>> {
    let columns = hints.columns;
    head::check_head(text.about(), columns)?;
    let (name, is_transcoded) = (text.about().name(), text.about().is_transcoded());
    let blocks = blocks_of_lines(text, ROW_BYTES_MAX as usize);
    let blocks = LongLine::new(name, columns, blocks);
    let units = units_of_blocks(is_transcoded, blocks, move |block, rows| read(block, columns, rows));
    Ok(RowReader { units, columns: None })
}

/// Reads a record from each line. Blank lines and empty objects are blank rows. A line that is not an object is a bad row, unless
/// all first lines are: see [`head::check_head`].
fn read(block: &TextBlock, columns: &Columns, rows: &mut CountingSink<'_>) -> Result<()> {
    let mut keys = ColumnsFound::of_wanted(columns.said());
    let mut extras = ExtrasBuffer::default();
    each_line(block, |number, line| {
        let finite;
        let mut found = values(line.raw, columns, &mut keys, &mut extras);
        if matches!(found, Err(Reason::BadRow)) && line.raw.len() as u64 <= ROW_BYTES_MAX {
            finite = not_finite::as_null(line.raw);
            found = finite.as_ref().map_or(found, |json| values(json, columns, &mut keys, &mut extras));
        }
        let reason = match found {
            _ if line.raw.len() as u64 > ROW_BYTES_MAX => Reason::TooLong,
            _ if rows.is_malformed(line.raw) => Reason::BadEncoding,
            Ok(values) => {
                rows.count_ignored(&mut extras);
                return emit(number, line, &values, extras.values(), rows);
            }
            Err(_) if str::from_utf8(line.raw).is_err() => Reason::BadEncoding,
            Err(reason) => reason,
        };
        rows.bad(number, line.offset, reason, kept(line.raw))
    })?;
    rows.facts().keys = Some(keys);
    Ok(())
}

fn emit(
    number: u64,
    line: Line<'_>,
    values: &Values<'_>,
    extras: RawExtras<'_>,
    rows: &mut CountingSink<'_>,
) -> Result<()> {
    let Values { url, section, lastmod, changefreq, priority, .. } = values;
    let parts = [url, section, lastmod, changefreq, priority].map(|text| text.as_bytes());
    rows.record(&Record::of_parts(number, line.offset, parts, extras))
}

/// The values in a line. Empty: not given.
#[derive(Default)]
struct Values<'a> {
    url: Cow<'a, str>,
    /// The rank of its key; `None` if there is no URL yet.
    url_rank: Option<usize>,
    /// Whether a key for the URL has a value that is neither a string nor null.
    has_other_url: bool,
    section: Cow<'a, str>,
    lastmod: Cow<'a, str>,
    changefreq: Cow<'a, str>,
    priority: Cow<'a, str>,
}

/// Reads the values of `line`. Values of extensions go to `extras`.
fn values<'a>(
    line: &'a [u8],
    columns: &Columns,
    keys: &mut ColumnsFound,
    extras: &mut ExtrasBuffer,
) -> Result<Values<'a>, Reason> {
    extras.clear();
    if line.trim_ascii().is_empty() {
        return Ok(Values::default());
    }
    let mut json = serde_json::Deserializer::from_slice(line);
    let values = json.deserialize_map(ValuesVisitor { columns, keys, extras }).map_err(|_| Reason::BadRow)?;
    json.end().map_err(|_| Reason::BadRow)?;
    match values.url.trim_ascii().is_empty() {
        true if values.has_other_url => Err(Reason::BadRow),
        true => without_url(line, values.url),
        false => Ok(values),
    }
}

/// The values of a line whose URL is nothing but white space. If another key has a value, the line has no URL. Otherwise, it is
/// judged by this white space, as in other formats.
#[cold]
fn without_url<'a>(line: &[u8], url: Cow<'a, str>) -> Result<Values<'a>, Reason> {
    let line = str::from_utf8(line).map_err(|_| Reason::BadRow)?;
    if shapes::has_content(line) { Err(Reason::NoUrl) } else { Ok(Values { url, ..Values::default() }) }
}

/// Takes the values of known keys and skips all others.
struct ValuesVisitor<'c> {
    columns: &'c Columns,
    /// All keys so far.
    keys: &'c mut ColumnsFound,
    extras: &'c mut ExtrasBuffer,
}

impl<'de> Visitor<'de> for ValuesVisitor<'_> {
    type Value = Values<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Values<'de>, A::Error> {
        let mut values = Values::default();
        while let Some(Key(key)) = map.next_key()? {
            let Some((part, rank)) = self.columns.part_of(key.as_bytes()) else {
                if self.columns.are_below(key.as_bytes()) {
                    let (columns, value): (_, &RawValue) = (self.columns, map.next_value()?);
                    nested::each_value::<A::Error>(
                        columns,
                        &mut key.into_owned(),
                        value.get(),
                        &mut |name, json| {
                            match columns.part_of(name.as_bytes()) {
                                Some((part, rank)) => self.take(part, rank, name, json, &mut values)?,
                                None => self.keys.unused.add_next(name.as_bytes()),
                            }
                            Ok(())
                        },
                    )?;
                    continue;
                }
                match EXTENSIONS.into_iter().find(|extension| extension.earlier_key == Some(&*key)) {
                    None => drop(map.next_value::<IgnoredAny>()?),
                    Some(extension) => {
                        if take_earlier(extension, map.next_value()?, self.extras) {
                            self.keys.use_key(RowPart::Tag(extension.tag), 1, key.as_bytes());
                            continue;
                        }
                    }
                }
                self.keys.unused.add_next(key.as_bytes());
                continue;
            };
            let value: &RawValue = map.next_value()?;
            self.take(part, rank, &key, value.get(), &mut values)?;
        }
        self.keys.has_second_url |= values.url_rank == Some(1);
        Ok(values)
    }
}

impl ValuesVisitor<'_> {
    /// Takes the value `json` of `key`, which holds `part`.
    #[inline]
    fn take<'a, E: de::Error>(
        &mut self,
        part: RowPart,
        rank: usize,
        key: &str,
        json: &'a str,
        values: &mut Values<'a>,
    ) -> Result<(), E> {
        self.keys.use_key(part, rank, key.as_bytes());
        match part {
            RowPart::Url => values.take_url(json, rank)?,
            RowPart::Section => values.take_section(json)?,
            RowPart::Tag(TagName::Lastmod) => take_tag(&mut values.lastmod, json),
            RowPart::Tag(TagName::Changefreq) => take_tag(&mut values.changefreq, json),
            RowPart::Tag(TagName::Priority) => take_tag(&mut values.priority, json),
            RowPart::Tag(tag) => {
                if let Some(extension) = tag.extension() {
                    shapes::add_of_key(extension, json, self.extras);
                }
            }
        }
        Ok(())
    }
}

impl<'a> Values<'a> {
    /// Takes the value of a key for the URL, a string. Null and blanks count as no URL, and so does a value of another type if
    /// there is a URL. Of two URLs, the one whose key has the better rank is used. If both have the same rank, it is unclear which
    /// is meant, and the row is bad.
    fn take_url<E: de::Error>(&mut self, json: &'a str, rank: usize) -> Result<(), E> {
        let url = match json {
            "null" => Cow::Borrowed(""),
            json if json.starts_with('"') => shapes::text(json).ok_or_else(|| E::custom("not a text"))?,
            _ => {
                self.has_other_url = true;
                return Ok(());
            }
        };
        if url.trim_ascii().is_empty() {
            if self.url.is_empty() {
                self.url = url;
            }
            return Ok(());
        }
        match self.url_rank {
            Some(before) if before == rank => return Err(E::custom("two URLs")),
            Some(before) if before < rank => {}
            _ => (self.url, self.url_rank) = (url, Some(rank)),
        }
        Ok(())
    }

    /// Takes the section. A string with an unpaired surrogate names none, and two values name two, so the row is bad.
    fn take_section<E: de::Error>(&mut self, json: &'a str) -> Result<(), E> {
        if json.starts_with('"') && shapes::text(json).is_none() {
            return Err(E::custom("not a text"));
        }
        if !is_blank(&self.section) && !is_blank(&tag_text(json)) {
            return Err(E::custom("two sections"));
        }
        take_tag(&mut self.section, json);
        Ok(())
    }
}

/// Takes values in the form of earlier versions. False if the key holds anything else.
fn take_earlier(extension: &Extension, value: &RawValue, extras: &mut ExtrasBuffer) -> bool {
    let are_values = shapes::is_array_of_objects(extension, value.get());
    if are_values {
        shapes::add_json(extension, value.get(), extras);
    }
    are_values
}

/// Takes the value of a tag. Null and blanks are no value, and a second value makes the tag invalid. Nothing is added to a value
/// that is too long already, so that a key may be repeated often.
fn take_tag<'a>(tag: &mut Cow<'a, str>, json: &'a str) {
    let text = tag_text(json);
    if is_blank(tag) {
        *tag = text;
    } else if !is_blank(&text) && tag.len() < VALUE_BYTES_KEPT {
        let tag = tag.to_mut();
        tag.push_str(AND);
        tag.push_str(&text);
    }
}

/// The text of a string, nothing for null, or the JSON of anything else. So a number keeps its digits, and the reject file shows a
/// value of the wrong type.
fn tag_text(json: &str) -> Cow<'_, str> {
    match json {
        "null" => Cow::Borrowed(""),
        json => shapes::text(json).unwrap_or(Cow::Borrowed(json)),
    }
}

fn is_blank(text: &str) -> bool {
    text.trim_ascii().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_repeated_often_does_not_grow_beyond_one_value() {
        let mut tag = Cow::Borrowed("");
        let json = format!("\"{}\"", "d".repeat(1000));
        (0..200).for_each(|_| take_tag(&mut tag, &json));
        assert!((VALUE_BYTES_KEPT..VALUE_BYTES_KEPT + 1100).contains(&tag.len()), "{}", tag.len());
        assert!(tag.contains(AND));
    }
}

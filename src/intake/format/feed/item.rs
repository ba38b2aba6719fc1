//! An item of a feed, which becomes a record.

use quick_xml::events::{BytesRef, BytesStart};

use super::bases::{BadAttribute, Bases, attribute};
use super::date;
use super::kind::Kind;
use crate::clean::Reason;
use crate::error::Result;
use crate::intake::format::row::{AND, CountingSink, Record, VALUE_BYTES_KEPT};
use crate::intake::format::xml::dropped::DroppedElements;
use crate::intake::format::xml::stray::{self, StrayText};
use crate::intake::format::xml::value;

/// The current item.
pub struct Item {
    offset: u64,
    number: u64,
    /// It has a malformed attribute, or its URL has an element or an entity that only a DTD could define.
    pub is_bad: bool,
    /// Whether its `guid` is malformed in this way, which matters only without a link.
    is_guid_bad: bool,
    /// Whether it has elements that are dropped.
    pub has_others: bool,
    stray: StrayText,
    link: Option<Vec<u8>>,
    guid: Option<Vec<u8>>,
    updated: Option<Vec<u8>>,
    /// Whether there are two links in RSS.
    has_two_links: bool,
    /// The value whose element is open, and its text so far.
    open: Option<(ItemValue, Vec<u8>)>,
}

/// A value of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ItemValue {
    Link,
    Guid,
    Updated,
}

/// The relation of a link to the page of an entry: RFC 4287, 4.2.7.2.
const ALTERNATE: [&str; 2] = ["alternate", "http://www.iana.org/assignments/relation/alternate"];

impl Item {
    pub fn new(offset: u64, number: u64) -> Self {
        Self {
            offset,
            number,
            is_bad: false,
            is_guid_bad: false,
            has_others: false,
            stray: StrayText::default(),
            link: None,
            guid: None,
            updated: None,
            has_two_links: false,
            open: None,
        }
    }

    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Takes the start tag of a child. False if it is not part of the record.
    pub fn open(&mut self, kind: Kind, tag: &BytesStart<'_>, bases: &Bases) -> bool {
        let part = match (kind, tag.local_name().as_ref()) {
            (Kind::Atom, "link") => return self.take_link(tag, bases),
            (Kind::Rss, "link") => ItemValue::Link,
            (Kind::Rss, "guid") => match attribute(tag, "isPermaLink") {
                Ok(Some(is_link)) if is_link.eq_ignore_ascii_case("false") => return false,
                Ok(_) if self.guid.is_some() => return false,
                Ok(_) => ItemValue::Guid,
                Err(BadAttribute(_)) => {
                    self.is_bad = true;
                    return false;
                }
            },
            (Kind::Rss, "pubDate") | (Kind::Atom, "updated" | "modified") => ItemValue::Updated,
            _ => return false,
        };
        self.open = Some((part, Vec::new()));
        true
    }

    /// Takes the link of an Atom entry, unless it leads elsewhere or there is one already.
    fn take_link(&mut self, tag: &BytesStart<'_>, bases: &Bases) -> bool {
        let (rel, href) = match (attribute(tag, "rel"), attribute(tag, "href")) {
            (Ok(rel), Ok(href)) => (rel, href),
            (_, Err(BadAttribute(raw))) => {
                self.is_bad = true;
                self.link = raw.map(String::into_bytes).or(self.link.take());
                return false;
            }
            (Err(_), Ok(_)) => {
                self.is_bad = true;
                return false;
            }
        };
        let is_page = rel.is_none_or(|rel| ALTERNATE.iter().any(|word| rel.eq_ignore_ascii_case(word)));
        match href {
            Some(href) if is_page && self.link.is_none() => {
                let mut href = href.into_bytes();
                href.truncate(VALUE_BYTES_KEPT);
                self.link = Some(bases.resolve(href));
                true
            }
            _ => false,
        }
    }

    /// Takes the end tag of a child. An empty one has no value.
    pub fn close(&mut self, bases: &Bases) {
        let Some((part, text)) = self.open.take().filter(|(_, text)| !text.trim_ascii().is_empty()) else {
            return;
        };
        match part {
            ItemValue::Link => {
                self.has_two_links |= self.link.is_some();
                add(&mut self.link, b"</link><link>", &bases.resolve(text));
            }
            ItemValue::Guid => self.guid = Some(bases.resolve(text)),
            // It is unclear which of two is meant.
            ItemValue::Updated => add(&mut self.updated, AND.as_bytes(), text.trim_ascii()),
        }
    }

    /// Takes text.
    pub fn text(&mut self, part: &str) {
        match &mut self.open {
            Some((_, value)) => value::push_text(part, value),
            None => self.stray.push(part),
        }
    }

    /// Takes a reference such as `&amp;`.
    pub fn reference(&mut self, name: &BytesRef<'_>) {
        match &mut self.open {
            Some((_, value)) => {
                if !value::resolve(name, |text| value::push_text(text, value)) {
                    self.invalidate_value(&format!("&{};", &**name));
                }
            }
            None => self.stray.push_reference(name),
        }
    }

    /// Makes the open value invalid, if there is one, because it has an element or an unknown entity in it: what is left would be
    /// pieced together. The reject file shows `markup`.
    #[cold]
    pub fn invalidate_value(&mut self, markup: &str) {
        if let Some((part, value)) = &mut self.open {
            match part {
                ItemValue::Link => self.is_bad = true,
                ItemValue::Guid => self.is_guid_bad = true,
                // No date may contain `<` or `&`.
                ItemValue::Updated => {}
            }
            value::push_text(markup, value);
        }
    }

    /// Ends the item, which becomes a record.
    pub fn emit(self, kind: Kind, dropped: &mut DroppedElements, rows: &mut CountingSink<'_>) -> Result<()> {
        let Self { offset, number, has_others, stray, guid, updated, has_two_links, .. } = self;
        let link = self.link.filter(|link| !link.trim_ascii().is_empty());
        if link.is_some() && guid.is_some() {
            dropped.count_name("guid");
        }
        let is_bad = self.is_bad || self.is_guid_bad && link.is_none();
        let url = link.or(guid).unwrap_or_default();
        let url = url.trim_ascii();
        if has_two_links || is_bad {
            let text = if has_two_links { [b"<link>", url, b"</link>"].concat() } else { url.to_vec() };
            return rows.bad(number, offset, Reason::BadRow, &text);
        }
        let updated = updated.unwrap_or_default();
        let lastmod = if kind == Kind::Rss { date::w3c(&updated) } else { updated };
        let record = Record { line: number, offset, url, lastmod: &lastmod, ..Record::default() };
        if url.is_empty() && (has_others || !stray.is_empty()) {
            return rows.without_url(&record, stray.text());
        }
        if !stray.is_empty() {
            dropped.count_name(stray::NAME);
        }
        rows.record(&record)
    }
}

/// Sets `value` to `more`, or appends it after a separator. Of both together, [`VALUE_BYTES_KEPT`] bytes are kept, which no valid
/// value has.
fn add(value: &mut Option<Vec<u8>>, separator: &[u8], more: &[u8]) {
    match value {
        None => *value = Some(more.to_vec()),
        Some(value) => {
            value.extend_from_slice(separator);
            value.extend_from_slice(more);
            value.truncate(VALUE_BYTES_KEPT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_any_number_of_values_as_much_is_kept_as_of_one() {
        let mut value = None;
        (0..200).for_each(|_| add(&mut value, AND.as_bytes(), &[b'd'; 1000]));
        let value = value.unwrap();
        assert_eq!(value.len(), VALUE_BYTES_KEPT);
        assert_eq!(value[1000..][..AND.len()], *AND.as_bytes());
    }
}

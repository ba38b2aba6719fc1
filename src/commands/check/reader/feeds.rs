//! Feeds: RSS 0.9x and 2.0, and Atom 0.3 and 1.0. Only the data of a sitemap is read: the link of each item and its date.

use jiff::fmt::rfc2822;
use quick_xml::events::BytesStart;

use super::elements::not_allowed;
use super::order::Order;
use super::pairs::{Pair, Pairs};
use super::{At, Broken, DocumentFormat, Reader, place};
use crate::commands::check::doubts::Doubt;
use crate::commands::check::entry::{Entry, VALUE_BYTES_MAX};
use crate::commands::check::rules::Rule;
use crate::commands::check::tag::Tag;

/// Bytes of a `guid` that are kept: one more than of any value, so that it is known to be too long.
const GUID_BYTES_KEPT: usize = VALUE_BYTES_MAX + 1;

impl DocumentFormat {
    /// The name of an entry in messages.
    pub(super) fn entry_word(self) -> &'static str {
        if self == Self::Rss { "item" } else { "entry" }
    }

    /// Returns whether it is a feed.
    pub(super) fn is_feed(self) -> bool {
        matches!(self, Self::Rss | Self::Atom)
    }
}

impl Reader<'_> {
    /// Handles the start of an element below the root of a feed. Elements of other namespaces are skipped.
    pub(super) fn open_in_feed(&mut self, start: &BytesStart<'_>, entry: &mut Entry) -> Result<(), Broken> {
        let name = start.name().into_inner().to_owned();
        let (prefix, local) = name.split_once(':').unwrap_or(("", &name));
        let is_own = prefix == self.prefix;
        match (self.at, self.format, local) {
            (At::Root, DocumentFormat::Rss, "channel") if is_own => self.at = At::Channel,
            (At::Root, DocumentFormat::Atom, "entry") | (At::Channel, _, "item") if is_own => {
                self.guid = None;
                self.begin_entry(entry);
            }
            (At::Entry, DocumentFormat::Atom, "link") if is_own => self.atom_link(start, entry)?,
            (At::Entry, DocumentFormat::Rss, "link") if is_own && !declares(start) => {
                self.open_once(Tag::Loc, entry)
            }
            (At::Entry, DocumentFormat::Rss, "guid") if is_own && self.guid.is_none() => {
                match self.attribute_of(start, "isPermaLink")? {
                    Some(is_link) if is_link.eq_ignore_ascii_case("false") => self.skip(),
                    _ => {
                        self.guid = Some(Vec::new());
                        self.at = At::Guid;
                    }
                }
            }
            (At::Entry, DocumentFormat::Rss, "pubDate")
            | (At::Entry, DocumentFormat::Atom, "updated" | "modified")
                if is_own =>
            {
                self.open_once(Tag::Lastmod, entry);
            }
            _ => self.skip(),
        }
        Ok(())
    }

    /// Handles the start of an element in a value.
    pub(super) fn open_in_feed_value(&mut self, name: &str, entry: &mut Entry) {
        match self.at {
            At::Tag(Tag::Lastmod) => entry.doubts_mut().add_tag(Tag::Lastmod, Doubt::HasElement),
            At::Guid => self.order.has_element_in_guid = true,
            _ => self.findings.push_unclear(place(self.entries), Rule::UnknownElement, not_allowed(name)),
        }
        self.skip();
    }

    /// Begins the value of a tag. An item has one link and one date.
    fn open_once(&mut self, tag: Tag, entry: &mut Entry) {
        if std::mem::replace(&mut self.order.seen[tag as usize], true) {
            let words = format!("two elements for {}", tag.as_str());
            match tag {
                Tag::Loc => self.findings.push_unclear(place(self.entries), Rule::RepeatedElement, words),
                _ => self.findings.push(place(self.entries), Rule::RepeatedElement, || words),
            }
        }
        self.at = At::Tag(tag);
        entry.open_value();
    }

    /// Takes the link of an entry to its page. An entry may have several, for example in other media types; the first counts.
    fn atom_link(&mut self, start: &BytesStart<'_>, entry: &mut Entry) -> Result<(), Broken> {
        let rel = self.attribute_of(start, "rel")?;
        let names = ["alternate", "http://www.iana.org/assignments/relation/alternate"];
        let is_page = rel.is_none_or(|rel| names.iter().any(|name| rel.eq_ignore_ascii_case(name)));
        if let Some(href) = self.attribute_of(start, "href")?
            && is_page
            && !std::mem::replace(&mut self.order.seen[Tag::Loc as usize], true)
        {
            entry.open_value();
            entry.push(href.as_bytes());
            entry.close_tag(Tag::Loc);
        }
        self.skip();
        Ok(())
    }

    /// Returns the value of an attribute without the white space around it.
    fn attribute_of(&mut self, start: &BytesStart<'_>, name: &str) -> Result<Option<String>, Broken> {
        let mut pairs = Pairs(start.attributes_raw()).flatten();
        let Some(Pair { value, .. }) = pairs.find(|pair| pair.key == name) else { return Ok(None) };
        Ok(Some(self.value(value)?.trim().to_owned()))
    }

    /// Appends to the `guid` of the item.
    pub(super) fn push_guid(&mut self, text: &str) -> Result<(), Broken> {
        let guid = self.guid.get_or_insert_default();
        let room = GUID_BYTES_KEPT - guid.len();
        guid.extend_from_slice(&text.as_bytes()[..text.len().min(room)]);
        Ok(())
    }

    /// Ends the `guid` of an item. An empty one does not count, so another one may follow.
    pub(super) fn end_guid(&mut self) {
        let has_element = self.order.has_element_in_guid;
        self.guid.take_if(|guid| guid.trim_ascii().is_empty() && !has_element);
        self.at = At::Entry;
    }

    /// Ends an item. Its `guid` is its URL if it has no link.
    pub(super) fn end_item(&mut self, entry: &mut Entry) {
        if let Some(guid) = self.guid.take()
            && entry.loc().is_none_or(<[u8]>::is_empty)
        {
            entry.forget(Tag::Loc);
            entry.open_value();
            entry.push(&guid);
            entry.close_tag(Tag::Loc);
            self.order.seen[Tag::Loc as usize] = true;
            if self.order.has_element_in_guid {
                let words = "an element in the guid that is the URL".into();
                self.findings.push_unclear(place(self.entries), Rule::UnknownElement, words);
            }
        }
    }

    /// Ends the date of an RSS item, which becomes W3C Datetime.
    pub(super) fn end_date(&mut self, entry: &mut Entry) {
        const DATES: rfc2822::DateTimeParser = rfc2822::DateTimeParser::new().relaxed_weekday(true);
        if self.format == DocumentFormat::Rss {
            entry.replace_value(|date| {
                // A comment at the end usually names the zone again.
                let date = date.split(|&byte| byte == b'(').next()?.trim_ascii();
                let (time, has_zone) = match DATES.parse_zoned(date) {
                    Ok(time) => (time, has_known_zone(date)),
                    // RFC 2822, 3.3: the offset of an unknown zone.
                    Err(_) => (DATES.parse_zoned([date, b" -0000"].concat()).ok()?, false),
                };
                let zone = if has_zone { "%:z".into() } else { unknown_zone(date) };
                Some(time.strftime(&format!("%Y-%m-%dT%H:%M:%S{zone}")).to_string())
            });
        }
    }

    /// Begins an entry.
    pub(super) fn begin_entry(&mut self, entry: &mut Entry) {
        let (kind, protocol) = self.own();
        self.entries += 1;
        entry.begin(self.entries);
        self.order = Order::default();
        self.is_unescaped = false;
        self.at = At::Entry;
        self.check_count(kind, protocol);
    }
}

/// Returns whether an element declares a default namespace.
fn declares(start: &BytesStart<'_>) -> bool {
    Pairs(start.attributes_raw()).flatten().any(|pair| pair.key == "xmlns")
}

/// Returns a space and the name of the zone at the end of an RSS date, if it is one like `MSK`: only a zone with this name may be
/// used for the date.
fn unknown_zone(date: &[u8]) -> String {
    let name = date.rsplit(u8::is_ascii_whitespace).next().and_then(|name| str::from_utf8(name).ok());
    let is_name =
        |name: &&str| matches!(name.len(), 3..=5) && name.bytes().all(|byte| byte.is_ascii_uppercase());
    name.filter(is_name).map_or(String::new(), |name| format!(" {name}"))
}

/// Returns whether the zone at the end of an RSS date is an offset, or one of the names that RFC 2822, 4.3, defines. The parser
/// takes any other name for UTC.
fn has_known_zone(date: &[u8]) -> bool {
    const NAMES: [&str; 12] =
        ["UT", "UTC", "GMT", "Z", "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT"];
    let zone = date.rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
    !zone.iter().all(u8::is_ascii_alphabetic)
        || NAMES.iter().any(|name| zone.eq_ignore_ascii_case(name.as_bytes()))
}

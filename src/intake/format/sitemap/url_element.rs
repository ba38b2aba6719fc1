//! A `<url>` element, which becomes a record.

use quick_xml::events::{BytesRef, BytesStart};
use quick_xml::name::QName;

use super::extended::{BadAttribute, Child, Extended};
use crate::clean::Reason;
use crate::error::{Error, ErrorKind, Result};
use crate::intake::format::found::NameCounts;
use crate::intake::format::row::{AND, CountingSink, Record};
use crate::intake::format::xml::dropped::{DroppedElements, is_of_protocol};
use crate::intake::format::xml::stray::{self, StrayText};
use crate::intake::format::xml::{Declared, prefix_of, value};
use crate::sitemap::extensions::{EXTENSIONS, Extension, ExtrasBuffer};

/// The current `<url>` element.
#[derive(Default)]
pub struct UrlElement {
    /// The prefix of the root; usually empty.
    prefix: String,
    /// The namespace of the root, if it declares one.
    namespace: Option<String>,
    offset: u64,
    number: u64,
    is_url: bool,
    /// It has a malformed attribute, or its URL has an element or an entity that only a DTD could define.
    is_bad: bool,
    /// `loc`, `lastmod`, `changefreq`, `priority`. A tag with two values has both.
    values: [Vec<u8>; VALUES],
    /// The length of the value of the open tag before it was opened: more than 0 if the tag already has a value.
    value_before: usize,
    /// How often each of them occurs.
    counts: [u32; VALUES],
    /// Whether there are other elements.
    has_others: bool,
    stray: StrayText,
    /// The values of extensions.
    extras: ExtrasBuffer,
    /// The current element of an extension, if there is one.
    extended: Option<Extended>,
    /// Numbers of elements in the entry: all, those whose values are in `extras`, and dropped ones. A dropped element counts as one
    /// with all its content.
    opened: usize,
    extended_elements: usize,
    dropped_here: usize,
    /// The depth of the current dropped element, if there is one.
    skipped: Option<usize>,
    /// Dropped elements of the whole sitemap.
    dropped: DroppedElements,
    /// The value that text belongs to, and the depth of its element.
    open: Option<(OpenValue, usize)>,
}

/// A value whose element is open.
#[derive(Debug, Clone, Copy)]
enum OpenValue {
    /// One of the tags of the protocol.
    Tag(usize),
    /// The field of the element of an extension.
    Field,
}

/// Tags of the protocol.
const VALUES: usize = 4;

/// The place of `loc` among the values.
const LOC: usize = 0;

/// The depth of the children of `<url>`.
pub const CHILD_DEPTH: usize = 2;

/// The number of the value that a tag of the protocol holds.
pub fn value_place(name: &[u8]) -> Option<usize> {
    // A match on constants: this runs for every tag of the input.
    match name {
        b"loc" => Some(LOC),
        b"lastmod" => Some(1),
        b"changefreq" => Some(2),
        b"priority" => Some(3),
        _ => None,
    }
}

impl UrlElement {
    /// Whether the root has a prefix.
    pub fn has_prefix(&self) -> bool {
        !self.prefix.is_empty()
    }

    /// The offset of the current element.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Begins a child of the root. `is_url`: whether it is an entry.
    pub fn start(&mut self, offset: u64, number: u64, is_url: bool) {
        (self.offset, self.number, self.is_url) = (offset, number, is_url);
        (self.is_bad, self.has_others, self.extended, self.open) = (false, false, None, None);
        self.counts = [0; VALUES];
        (self.opened, self.extended_elements, self.dropped_here, self.skipped) = (0, 0, 0, None);
        self.values.iter_mut().for_each(Vec::clear);
        self.extras.clear();
        self.stray.clear();
    }

    /// Takes the start tag of the root.
    pub fn begin(&mut self, root: &BytesStart<'_>) {
        self.dropped.enter(0, root);
        self.prefix = prefix_of(&root.name()).to_owned();
        self.namespace = self.declared().namespace(root.name()).map(str::to_owned);
    }

    /// Takes the start tag of a child of the root.
    pub fn start_child(&mut self, offset: u64, number: u64, tag: &BytesStart<'_>) {
        self.dropped.enter(CHILD_DEPTH - 1, tag);
        let is_url = tag.local_name().as_ref() == "url" && self.is_own(tag.name());
        self.start(offset, number, is_url);
        if !is_url {
            self.drop(CHILD_DEPTH - 1, tag);
        }
    }

    /// The namespaces that are in scope.
    pub fn declared(&self) -> &Declared {
        self.dropped.declared()
    }

    /// Counts of dropped elements by name.
    pub fn into_dropped(self) -> NameCounts {
        self.dropped.into_counts()
    }

    /// Whether an element called `name` is of the protocol: in its namespace or that of the root, or in none but with the prefix of
    /// the root.
    fn is_own(&self, name: QName<'_>) -> bool {
        let has_own_prefix = self.has_own_prefix(name);
        if has_own_prefix && !self.declared().has_inner() {
            return true;
        }
        self.declared().namespace(name).map_or(has_own_prefix, |uri| self.is_own_namespace(uri))
    }

    fn is_own_namespace(&self, uri: &str) -> bool {
        self.namespace.as_deref() == Some(uri) || is_of_protocol(uri)
    }

    /// Whether an element called `name` can be of `extension`. Many sitemaps do not declare the namespaces of extensions or have
    /// typing errors in them. So the usual prefix decides, and one that is not declared may be of any extension. Without a prefix,
    /// the element may also be in the namespace of the protocol.
    fn may_be_of(&self, extension: &Extension, name: QName<'_>) -> bool {
        let prefix = prefix_of(&name);
        let is_namespace =
            |uri| extension.namespaces.contains(&uri) || prefix.is_empty() && self.is_own_namespace(uri);
        prefix == extension.prefix || self.declared().namespace(name).is_none_or(is_namespace)
    }

    /// Does not compare empty strings: their pointers dangle, and a `memcmp` with masked loads (AVX-512) causes faults there that
    /// the processor suppresses. That took a third of the time of this reader.
    fn has_own_prefix(&self, name: QName<'_>) -> bool {
        name.prefix().map_or(!self.has_prefix(), |prefix| prefix.into_inner() == self.prefix)
    }

    /// Takes a start tag within the entry.
    pub fn open(&mut self, depth: usize, tag: &BytesStart<'_>) {
        if self.skipped.is_some() {
            return;
        }
        self.opened += 1;
        self.dropped.enter(depth, tag);
        let name = tag.name();
        if depth == CHILD_DEPTH {
            let place = value_place(name.local_name().as_ref().as_bytes());
            if let Some(place) = place.filter(|_| self.is_own(name)) {
                return self.open_value(place);
            }
            self.has_others = true;
            return self.open_extended(depth, tag);
        }
        let is_known =
            self.extended.as_ref().is_some_and(|extended| self.may_be_of(extended.extension(), name));
        let Some(extended) = self.extended.as_mut().filter(|_| is_known) else {
            return self.drop(depth, tag);
        };
        match extended.open_child(depth - CHILD_DEPTH, tag, &mut self.extras) {
            Ok(Child::Text) => self.open = Some((OpenValue::Field, depth)),
            Ok(Child::Parent) => {}
            Ok(Child::Unknown) => self.drop(depth, tag),
            Err(BadAttribute) => self.is_bad = true,
        }
    }

    /// Takes the start tag of an element that may be of an extension.
    fn open_extended(&mut self, depth: usize, tag: &BytesStart<'_>) {
        let name = tag.name();
        let is_it = |extension: &&Extension| {
            extension.element == name.local_name().as_ref() && self.may_be_of(extension, name)
        };
        let Some(extension) = EXTENSIONS.into_iter().find(is_it) else { return self.drop(depth, tag) };
        match Extended::open(extension, tag, &mut self.extras) {
            Ok(Some(extended)) => self.extended = Some(extended),
            Ok(None) => self.drop(depth, tag),
            Err(BadAttribute) => self.is_bad = true,
        }
    }

    /// Drops and counts an element with all its content.
    #[cold]
    fn drop(&mut self, depth: usize, tag: &BytesStart<'_>) {
        self.dropped.count(tag);
        self.dropped_here += 1;
        self.invalidate_value(&format!("<{}>", tag.name().as_ref()));
        self.skipped = Some(depth);
    }

    /// Makes the open value invalid, because it has an element or an unknown entity in it: what is left would be pieced together.
    /// The reject file shows `markup`.
    #[cold]
    fn invalidate_value(&mut self, markup: &str) {
        match self.open {
            // No other tag of the protocol may contain `<` or `&`.
            Some((OpenValue::Tag(place), _)) => self.is_bad |= place == LOC,
            Some((OpenValue::Field, _)) => self.extended.iter_mut().for_each(Extended::invalidate),
            None => return,
        }
        self.text(markup);
    }

    /// Takes the start tag of a value of a plain entry.
    pub fn open_plain(&mut self, place: usize) {
        self.opened += 1;
        self.open_value(place);
    }

    /// Takes the start tag of a tag of the protocol.
    fn open_value(&mut self, place: usize) {
        if place == LOC && self.counts[LOC] > 0 {
            self.values[LOC].extend(b"</loc><loc>");
        }
        self.counts[place] += 1;
        self.value_before = self.values[place].len();
        self.open = Some((OpenValue::Tag(place), CHILD_DEPTH));
    }

    /// Takes an end tag within the entry.
    pub fn close(&mut self, depth: usize) {
        if let Some((value, _)) = self.open.take_if(|(_, opened)| *opened == depth)
            && let OpenValue::Tag(place) = value
            && self.value_before > 0
        {
            self.close_second_value(place);
        }
        if self.skipped == Some(depth) {
            self.skipped = None;
        }
        if depth == CHILD_DEPTH {
            self.close_extended();
        } else if let Some(extended) = &mut self.extended {
            extended.close_child(depth - CHILD_DEPTH, &mut self.extras);
        }
    }

    /// Takes the end tag of a tag of the protocol that already has a value. If it adds another one, it is unclear which is meant.
    #[cold]
    fn close_second_value(&mut self, place: usize) {
        let (value, before) = (&mut self.values[place], self.value_before);
        if value[before..].trim_ascii().is_empty() {
            value.truncate(before);
        } else if place != LOC && !value[..before].trim_ascii().is_empty() {
            value.splice(before..before, AND.bytes());
        }
    }

    /// Ends the current element of an extension, if there is one. It is dropped if it has no value.
    fn close_extended(&mut self) {
        let Some(extended) = self.extended.take() else { return };
        if extended.close(&mut self.extras) {
            self.extended_elements += extended.elements();
        } else {
            self.dropped.count_empty(extended.extension());
            self.dropped_here += extended.elements();
        }
    }

    /// Takes text. That of a dropped element is not taken.
    pub fn text(&mut self, part: &str) {
        if self.skipped.is_some() {
            return;
        }
        let value = match self.open {
            Some((OpenValue::Tag(at), _)) => &mut self.values[at],
            Some((OpenValue::Field, _)) => match &mut self.extended {
                Some(extended) => extended.text(),
                None => return,
            },
            None => return self.stray.push(part),
        };
        value::push_text(part, value);
    }

    /// Takes a reference such as `&amp;`. That of a dropped element is not taken.
    pub fn reference(&mut self, name: &BytesRef<'_>) {
        match (self.skipped, self.open) {
            (Some(_), _) => {}
            (None, None) => self.stray.push_reference(name),
            (None, Some(_)) => {
                if !value::resolve(name, |text| self.text(text)) {
                    self.invalidate_value(&format!("&{};", &**name));
                }
            }
        }
    }

    /// Ends a child of the root. An entry becomes a record.
    pub fn emit(&mut self, rows: &mut CountingSink<'_>) -> Result<()> {
        if !self.is_url {
            return Ok(());
        }
        self.extras.take_ignored().iter().for_each(|name| self.dropped.count_name(name));
        let [url, lastmod, changefreq, priority] = [0, 1, 2, 3].map(|at| self.values[at].trim_ascii());
        if self.counts[LOC] > 1 {
            let text = [b"<loc>", url, b"</loc>"].concat();
            return rows.bad(self.number, self.offset, Reason::BadRow, &text);
        }
        if self.is_bad {
            return rows.bad(self.number, self.offset, Reason::BadRow, url);
        }
        self.check_elements()?;
        let record = Record {
            line: self.number,
            offset: self.offset,
            url,
            lastmod,
            changefreq,
            priority,
            extras: self.extras.values(),
            ..Record::default()
        };
        if url.is_empty() && (self.has_others || !self.stray.is_empty()) {
            return rows.without_url(&record, self.stray.text());
        }
        if !self.stray.is_empty() {
            self.dropped.count_name(stray::NAME);
        }
        rows.record(&record)
    }

    /// Checks that every element is part of the record or was counted as dropped.
    fn check_elements(&self) -> Result<()> {
        let values: u32 = self.counts.iter().sum();
        let carried = values as usize + self.extended_elements;
        match self.opened == carried + self.dropped_here {
            true => Ok(()),
            false => {
                let (number, opened, dropped) = (self.number, self.opened, self.dropped_here);
                Err(Error::new(
                    ErrorKind::Internal,
                    format!(
                        "the elements of entry {number} do not add up ({carried} carried over and {dropped} dropped \
                         of {opened})"
                    ),
                ))
            }
        }
    }
}

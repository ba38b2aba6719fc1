//! One entry of a sitemap or an index file, as read from the file. Its values have not been validated.

use super::doubts::{Doubt, Doubts};
use super::extensions::{EXTENSIONS, Elements, Span};
use super::tag::Tag;
use crate::limits::{IMAGES_PER_URL_MAX, LINE_BYTES_MAX};

/// Maximum bytes kept of a value. Longer values are invalid for every tag, even if truncated to this length.
pub(crate) const VALUE_BYTES_MAX: usize = 4096;

/// Maximum bytes kept of a value of an extension, most of which are texts: the maximum that `build` writes.
const FIELD_BYTES_MAX: usize = LINE_BYTES_MAX;

/// Maximum number of links, or of images or videos, kept per entry. All are counted. It is sitemill's own limit, far above the
/// number of images that are allowed.
const KEPT_MAX: usize = 50_000;
const _: () = assert!(KEPT_MAX > IMAGES_PER_URL_MAX as usize);

/// One entry of a sitemap or an index file. A reader fills the same value again for each entry, to reuse its memory.
#[derive(Debug, Default)]
pub struct Entry {
    number: u64,
    text: Vec<u8>,
    open_at: usize,
    /// Maximum bytes of the current value.
    open_bytes_max: usize,
    /// Whether a tag, or a value of an extension, was longer.
    is_tag_cut: bool,
    is_extension_cut: bool,
    tags: [Option<Span>; Tag::ALL.len()],
    extended: [Extended; EXTENSIONS.len()],
    doubts: Doubts,
}

/// The elements of one extension.
#[derive(Debug, Default)]
struct Extended {
    values: Vec<(u8, Span)>,
    starts: Vec<u32>,
    count: u64,
}

impl Entry {
    /// Returns the number of the entry in its file, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the value of `tag`, with references replaced and truncated to 4,096 bytes, or `None` if the entry does not have
    /// the tag.
    #[inline]
    pub fn value(&self, tag: Tag) -> Option<&[u8]> {
        self.tags[tag as usize].map(|span| span.of(&self.text))
    }

    /// Returns the URL without surrounding white space, which `xs:anyURI` ignores.
    #[inline]
    pub fn loc(&self) -> Option<&[u8]> {
        self.value(Tag::Loc).map(<[u8]>::trim_ascii)
    }

    /// Returns whether no value of a tag was truncated.
    pub fn has_whole_tags(&self) -> bool {
        !self.is_tag_cut
    }

    /// Returns whether the URL was not truncated. Two that were may differ in what is lost.
    pub(crate) fn has_whole_loc(&self) -> bool {
        self.has_whole_tags() || self.value(Tag::Loc).is_none_or(|loc| loc.len() < VALUE_BYTES_MAX)
    }

    /// Returns whether no value was truncated, and all links, images and other elements of extensions were kept.
    pub fn is_whole(&self) -> bool {
        self.has_whole_tags()
            && !self.is_extension_cut
            && self.extended.iter().all(|extended| extended.count <= KEPT_MAX as u64)
    }

    /// Returns the ambiguous values.
    pub(crate) fn doubts(&self) -> &Doubts {
        &self.doubts
    }

    /// Returns the ambiguous values, for the reader to add to them.
    pub(crate) fn doubts_mut(&mut self) -> &mut Doubts {
        &mut self.doubts
    }

    /// Returns the elements of the extension with this number.
    #[inline]
    pub(crate) fn elements(&self, extension: usize) -> Elements<'_> {
        let Extended { values, starts, count } = &self.extended[extension];
        Elements { text: &self.text, values, starts, count: *count }
    }

    /// Begins entry `number` of a file; 0 means before the first entry.
    pub(crate) fn begin(&mut self, number: u64) {
        self.number = number;
        self.text.clear();
        (self.is_tag_cut, self.is_extension_cut) = (false, false);
        self.tags = [None; Tag::ALL.len()];
        self.doubts = Doubts::default();
        for extended in &mut self.extended {
            extended.values.clear();
            extended.starts.clear();
            extended.count = 0;
        }
    }

    /// Begins the value of a tag.
    #[inline]
    pub(crate) fn open_value(&mut self) {
        (self.open_at, self.open_bytes_max) = (self.text.len(), VALUE_BYTES_MAX);
    }

    /// Begins the value of a field of an extension.
    #[inline]
    pub(crate) fn open_field(&mut self) {
        (self.open_at, self.open_bytes_max) = (self.text.len(), FIELD_BYTES_MAX);
    }

    /// Appends to the current value.
    #[inline]
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = self.open_bytes_max - (self.text.len() - self.open_at);
        if bytes.len() > room {
            match self.open_bytes_max == FIELD_BYTES_MAX {
                true => self.is_extension_cut = true,
                false => self.is_tag_cut = true,
            }
        }
        self.text.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Replaces the current value, if `with` returns another one.
    pub(crate) fn replace_value(&mut self, with: impl FnOnce(&[u8]) -> Option<String>) {
        if let Some(value) = with(&self.text[self.open_at..]) {
            self.text.truncate(self.open_at);
            self.push(value.as_bytes());
        }
    }

    /// Forgets the value of `tag`.
    pub(crate) fn forget(&mut self, tag: Tag) {
        self.tags[tag as usize] = None;
    }

    fn close_value(&mut self) -> Span {
        let [start, end] = [self.open_at, self.text.len()]
            .map(|at| u32::try_from(at).expect("values of a file are within its limit of bytes"));
        Span { start, end }
    }

    /// Ends the current value as that of `tag`. If the tag occurs twice, the first value that is not blank is kept.
    #[inline]
    pub(crate) fn close_tag(&mut self, tag: Tag) {
        let span = self.close_value();
        match self.tags[tag as usize] {
            None => self.tags[tag as usize] = Some(span),
            Some(first) => self.close_second(tag, first, span),
        }
    }

    #[cold]
    fn close_second(&mut self, tag: Tag, first: Span, second: Span) {
        let is_blank = |span: Span| span.of(&self.text).trim_ascii().is_empty();
        match (is_blank(first), is_blank(second)) {
            (_, true) => {}
            (true, false) => self.tags[tag as usize] = Some(second),
            (false, false) => self.doubts.add_tag(tag, Doubt::Repeated),
        }
    }

    /// Begins an element of an extension.
    pub(crate) fn open_element(&mut self, extension: usize) {
        let Extended { values, starts, count } = &mut self.extended[extension];
        *count += 1;
        if starts.len() < KEPT_MAX {
            starts.push(u32::try_from(values.len()).expect("values of a file are within its limit of bytes"));
        }
    }

    /// Ends the current value as one of a field of the last element of an extension, unless that element is not kept.
    pub(crate) fn close_field(&mut self, extension: usize, field: Option<usize>) {
        let span = self.close_value();
        let Extended { values, count, .. } = &mut self.extended[extension];
        match field {
            Some(field) if *count <= KEPT_MAX as u64 => values.push((field as u8, span)),
            _ => self.text.truncate(self.open_at),
        }
    }
}

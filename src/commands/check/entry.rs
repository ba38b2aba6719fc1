//! One entry of a sitemap or an index file, as it stands there: nothing of it is judged yet.

use super::extensions::{EXTENSIONS, Elements, FIELDS_MAX, Span};
use crate::limits::IMAGES_PER_URL_MAX;

/// Bytes of a value that are kept. Every longer value breaks its rule with the first so many.
const VALUE_BYTES_MAX: usize = 4096;

/// Links, or images, of one entry that are kept; all are counted. Ours: many times as many images as are allowed.
const KEPT_MAX: usize = 50_000;
const _: () = assert!(KEPT_MAX > IMAGES_PER_URL_MAX as usize);

/// The tags of an entry, in the order of the 0.9 schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Tag {
    /// The URL.
    Loc,
    /// When it changed.
    Lastmod,
    /// How often it changes.
    Changefreq,
    /// How it compares with others.
    Priority,
}

impl Tag {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Loc, Self::Lastmod, Self::Changefreq, Self::Priority];

    /// The name of the element.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Loc => "loc",
            Self::Lastmod => "lastmod",
            Self::Changefreq => "changefreq",
            Self::Priority => "priority",
        }
    }

    /// The tag that is called `name`.
    #[inline]
    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tag| tag.as_str() == name)
    }
}

/// Holds the values of one entry after the other in the same memory.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Entry {
    number: u64,
    text: Vec<u8>,
    open_at: usize,
    tags: [Option<Span>; Tag::ALL.len()],
    extended: [Extended; EXTENSIONS.len()],
}

/// The elements of one extension.
#[derive(Debug, Default)]
struct Extended {
    kept: Vec<[Option<Span>; FIELDS_MAX]>,
    count: u64,
}

impl Entry {
    /// Its number in the file, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The value of `tag` with references replaced, cut if it is absurdly long; none if there is no such tag.
    #[inline]
    pub fn value(&self, tag: Tag) -> Option<&[u8]> {
        self.tags[tag as usize].map(|span| span.of(&self.text))
    }

    /// The URL, without the white space around it, which `xs:anyURI` does not count.
    #[inline]
    pub fn loc(&self) -> Option<&[u8]> {
        self.value(Tag::Loc).map(<[u8]>::trim_ascii)
    }

    /// Whether all of its links and images are kept.
    pub fn is_whole(&self) -> bool {
        self.extended.iter().all(|extended| extended.count <= KEPT_MAX as u64)
    }

    /// Its elements of an extension, which is given by its number.
    #[inline]
    pub(crate) fn elements(&self, extension: usize) -> Elements<'_> {
        let Extended { kept, count } = &self.extended[extension];
        Elements { text: &self.text, spans: kept, count: *count }
    }

    /// Begins entry `number` of a file; 0 before its first.
    pub(crate) fn begin(&mut self, number: u64) {
        self.number = number;
        self.text.clear();
        self.tags = [None; Tag::ALL.len()];
        for extended in &mut self.extended {
            extended.kept.clear();
            extended.count = 0;
        }
    }

    /// A value begins.
    #[inline]
    pub(crate) fn open_value(&mut self) {
        self.open_at = self.text.len();
    }

    /// More of the value that was begun.
    #[inline]
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = VALUE_BYTES_MAX - (self.text.len() - self.open_at);
        self.text.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn close_value(&mut self) -> Span {
        let [start, end] = [self.open_at, self.text.len()]
            .map(|at| u32::try_from(at).expect("values of a file are within its limit of bytes"));
        Span { start, end }
    }

    /// The value that was begun is that of `tag`. The first of two counts.
    #[inline]
    pub(crate) fn close_tag(&mut self, tag: Tag) {
        let span = self.close_value();
        self.tags[tag as usize].get_or_insert(span);
    }

    /// An element of an extension begins.
    pub(crate) fn open_element(&mut self, extension: usize) {
        let Extended { kept, count } = &mut self.extended[extension];
        *count += 1;
        if kept.len() < KEPT_MAX {
            kept.push([None; FIELDS_MAX]);
        }
    }

    /// The value that was begun is a field of the last element of an extension, or none that is kept.
    pub(crate) fn close_field(&mut self, extension: usize, field: Option<usize>) {
        let span = self.close_value();
        let Extended { kept, count } = &mut self.extended[extension];
        match (kept.last_mut(), field) {
            (Some(element), Some(field)) if *count <= KEPT_MAX as u64 => element[field] = Some(span),
            _ => self.text.truncate(self.open_at),
        }
    }
}

//! One entry of a sitemap or an index file, as it stands there: nothing of it is judged yet.

use crate::limits::IMAGES_PER_URL_MAX;

/// Bytes of a value that are kept. Every longer value breaks its rule with the first so many.
const VALUE_BYTES_MAX: usize = 4096;

/// Links, or images, of one entry that are kept; all are counted. Ours: many times as many images as are allowed.
const KEPT_MAX: usize = 50_000;
const _: () = assert!(KEPT_MAX > IMAGES_PER_URL_MAX as usize);

/// The tags of an entry, in the order of the 0.9 schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

/// Where in the text of an entry a value stands. Four bytes each: there may be many.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: u32,
    end: u32,
}

/// Holds the values of one entry after the other in the same memory.
#[derive(Debug, Default)]
pub struct Entry {
    number: u64,
    text: Vec<u8>,
    open_at: usize,
    tags: [Option<Span>; Tag::ALL.len()],
    links: Vec<[Option<Span>; 3]>,
    links_count: u64,
    images: Vec<Option<Span>>,
    images_count: u64,
}

/// An `xhtml:link`, with the attributes that it has.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    /// `rel`.
    pub rel: Option<&'a [u8]>,
    /// `hreflang`.
    pub hreflang: Option<&'a [u8]>,
    /// `href`.
    pub href: Option<&'a [u8]>,
}

impl Entry {
    /// Its number in the file, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The value of `tag` with references replaced, cut if it is absurdly long; none if there is no such tag.
    #[inline]
    pub fn value(&self, tag: Tag) -> Option<&[u8]> {
        self.tags[tag as usize].map(|span| self.at(span))
    }

    /// The URL, without the white space around it, which `xs:anyURI` does not count.
    #[inline]
    pub fn loc(&self) -> Option<&[u8]> {
        self.value(Tag::Loc).map(<[u8]>::trim_ascii)
    }

    /// The first fifty thousand of its links.
    pub fn links(&self) -> impl Iterator<Item = Link<'_>> {
        self.links.iter().map(|spans| {
            let [rel, hreflang, href] = spans.map(|span| span.map(|span| self.at(span).trim_ascii()));
            Link { rel, hreflang, href }
        })
    }

    /// The URLs of the first fifty thousand of its images; none for an image without.
    pub fn images(&self) -> impl Iterator<Item = Option<&[u8]>> {
        self.images.iter().map(|span| span.map(|span| self.at(span).trim_ascii()))
    }

    /// Whether all of its links and images are kept.
    pub fn is_whole(&self) -> bool {
        self.links_count.max(self.images_count) <= KEPT_MAX as u64
    }

    /// All of its images.
    pub fn images_count(&self) -> u64 {
        self.images_count
    }

    fn at(&self, span: Span) -> &[u8] {
        &self.text[span.start as usize..span.end as usize]
    }

    /// Begins entry `number` of a file; 0 before its first.
    pub(crate) fn begin(&mut self, number: u64) {
        self.number = number;
        self.text.clear();
        self.tags = [None; Tag::ALL.len()];
        self.links.clear();
        self.images.clear();
        (self.links_count, self.images_count) = (0, 0);
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

    /// A link begins.
    pub(crate) fn open_link(&mut self) {
        self.links_count += 1;
        if self.links.len() < KEPT_MAX {
            self.links.push([None; 3]);
        }
    }

    /// The value that was begun is that of an attribute of the last link.
    pub(crate) fn close_link_attribute(&mut self, name: &str) {
        let span = self.close_value();
        let is_kept = self.links_count <= KEPT_MAX as u64;
        let place = ["rel", "hreflang", "href"].into_iter().position(|known| known == name);
        match (self.links.last_mut(), place) {
            (Some(link), Some(place)) if is_kept => link[place] = Some(span),
            _ => self.text.truncate(self.open_at),
        }
    }

    /// An image begins.
    pub(crate) fn open_image(&mut self) {
        self.images_count += 1;
        if self.images.len() < KEPT_MAX {
            self.images.push(None);
        }
    }

    /// The value that was begun is the URL of the last image.
    pub(crate) fn close_image_loc(&mut self) {
        let span = self.close_value();
        match self.images.last_mut() {
            Some(image) if self.images_count <= KEPT_MAX as u64 => *image = Some(span),
            _ => self.text.truncate(self.open_at),
        }
    }
}

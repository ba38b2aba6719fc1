//! An entry of a sitemap: a row that has passed all rules.

use super::divide::EntrySize;
use super::extensions::Extras;
use super::tag_names::TagCounts;
use super::xml;
use crate::clean::CleanUrl;
use crate::sitemap::sections::SectionNumber;

/// A canonical URL, and the XML of its tags and extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The URL for `<loc>`, not yet escaped.
    pub url: CleanUrl<'a>,
    /// The XML of its tags.
    pub tags: &'a [u8],
    /// When the page last changed, in seconds since 1970, if `lastmod` is given.
    pub instant: Option<i64>,
    /// The XML of its values of extensions.
    pub extras: Extras<'a>,
    /// Its section, if a column of the input gives one.
    pub section: SectionNumber,
}

impl<'a> Entry<'a> {
    /// An entry with only a URL.
    #[inline]
    pub fn of(url: CleanUrl<'a>) -> Self {
        Self { url, tags: &[], instant: None, extras: Extras::default(), section: SectionNumber::REST }
    }

    /// Whether it has only a URL.
    #[inline]
    pub fn is_plain(&self) -> bool {
        !self.has_tags() && self.section == SectionNumber::REST
    }

    /// Whether it has tags or values of extensions.
    #[inline]
    pub fn has_tags(&self) -> bool {
        !self.tags.is_empty() || !self.extras.xml.is_empty()
    }

    /// Adds its tags and values of extensions to `counts`.
    #[inline]
    pub fn count_tags(&self, counts: &mut TagCounts) {
        if self.has_tags() {
            xml::count_tags(self.tags, self.extras, counts);
        }
    }

    /// The space that it takes in a file.
    #[inline]
    pub fn size(&self) -> EntrySize {
        let bytes = xml::url_bytes(self.url) + self.tags.len() + self.extras.xml.len();
        EntrySize::of_entry(bytes as u64, self.extras.uses)
    }

    /// Appends its XML.
    #[inline]
    pub fn push(&self, out: &mut Vec<u8>) {
        xml::push_entry(self.url, self.tags, self.extras.xml, out);
    }
}

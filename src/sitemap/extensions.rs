//! Extras: the same page in other languages, and images on it. Not of the protocol but of its extensions: `xhtml:link` and
//! `image:image`, each in a namespace that a file declares only if it is used in it.

use super::tags::{Dropped, TagCounts, TagName, TagReason};
use super::xml::{self, Namespaces};
use crate::clean::{CleanUrl, Cleaned, Cleaner};
use crate::common::field;
use crate::limits::IMAGES_PER_URL_MAX;

/// Extras as an input gives them, encoded: lists of fields, alternates first. Empty: none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RawExtras<'a>(pub &'a [u8]);

impl<'a> RawExtras<'a> {
    /// Encodes alternates (language and URL) and images (URL) into `out`.
    pub fn encode<'e>(
        alternates: impl ExactSizeIterator<Item = (&'e [u8], &'e [u8])>,
        images: impl ExactSizeIterator<Item = &'e [u8]>,
        out: &'a mut Vec<u8>,
    ) -> Self {
        out.clear();
        if alternates.len() + images.len() > 0 {
            field::push_number(alternates.len() as u64, out);
            alternates.for_each(|(hreflang, href)| {
                field::push(hreflang, out);
                field::push(href, out);
            });
            images.for_each(|image| field::push(image, out));
        }
        Self(out)
    }

    /// Adds links and images to `counts`.
    pub fn count(&self, counts: &mut TagCounts) {
        if self.is_empty() {
            return;
        }
        let mut rest = self.0;
        let links = field::number(&mut rest);
        for _ in 0..2 * links {
            field::take(&mut rest);
        }
        counts[TagName::Alternates] += links;
        while !rest.is_empty() {
            field::take(&mut rest);
            counts[TagName::Images] += 1;
        }
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The XML of extras, and what it needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extras<'a> {
    /// Elements that stand behind the tags.
    pub xml: &'a [u8],
    /// Namespaces of these elements.
    pub uses: Namespaces,
}

/// Checks and renders extras, with the same scratch memory for each entry.
#[derive(Debug, Default)]
pub struct ExtrasRenderer {
    cleaner: Cleaner,
    xml: Vec<u8>,
}

impl ExtrasRenderer {
    /// Links are cleaned by a copy of `cleaner`'s rules.
    pub fn new(cleaner: Cleaner) -> Self {
        Self { cleaner, xml: Vec::new() }
    }

    /// The XML of `raw`. `dropped` is told of each that cannot be written.
    pub fn render(&mut self, raw: RawExtras<'_>, dropped: &mut impl FnMut(Dropped<'_>)) -> Extras<'_> {
        self.xml.clear();
        let mut uses = Namespaces::NONE;
        let mut rest = raw.0;
        for _ in 0..field::number(&mut rest) {
            let (hreflang, href) = (field::take(&mut rest), field::take(&mut rest));
            match clean(&mut self.cleaner, href).filter(|_| is_language(hreflang)) {
                Some(url) => {
                    xml::push_alternate(hreflang, url, &mut self.xml);
                    uses = uses.and(Namespaces::XHTML);
                }
                None => dropped(link(hreflang, href)),
            }
        }
        let mut images = 0;
        while !rest.is_empty() {
            let image = field::take(&mut rest);
            match clean(&mut self.cleaner, image).filter(|_| images < IMAGES_PER_URL_MAX) {
                Some(url) => {
                    xml::push_image(url, &mut self.xml);
                    uses = uses.and(Namespaces::IMAGE);
                    images += 1;
                }
                None => dropped(image_of(image)),
            }
        }
        Extras { xml: &self.xml, uses }
    }
}

/// Tells of every one of `raw`, where there is no place for any: 0.84 has no extensions.
pub fn drop_all(raw: RawExtras<'_>, dropped: &mut impl FnMut(Dropped<'_>)) {
    if raw.is_empty() {
        return;
    }
    let mut rest = raw.0;
    for _ in 0..field::number(&mut rest) {
        dropped(link(field::take(&mut rest), field::take(&mut rest)));
    }
    while !rest.is_empty() {
        dropped(image_of(field::take(&mut rest)));
    }
}

fn link<'a>(hreflang: &'a [u8], href: &'a [u8]) -> Dropped<'a> {
    Dropped { reason: TagReason::Alternate, hreflang: Some(hreflang), value: href }
}

fn image_of(url: &[u8]) -> Dropped<'_> {
    Dropped { reason: TagReason::Image, hreflang: None, value: url }
}

fn clean<'a>(cleaner: &'a mut Cleaner, raw: &'a [u8]) -> Option<CleanUrl<'a>> {
    match cleaner.clean(raw) {
        Cleaned::Url(url) => Some(url),
        Cleaned::Blank | Cleaned::Rejected(_) => None,
    }
}

/// BCP 47, as far as its letters go: `de`, `zh-Hant`, `x-default`.
fn is_language(hreflang: &[u8]) -> bool {
    (2..=35).contains(&hreflang.len())
        && hreflang
            .split(|&byte| byte == b'-')
            .all(|part| (1..=8).contains(&part.len()) && part.iter().all(u8::is_ascii_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sitemap::tags::DroppedTags;

    #[test]
    fn links_and_images_are_cleaned_escaped_and_counted() {
        let alternates: [(&[u8], &[u8]); 4] = [
            (b"de", b"HTTP://h.example/de?a&b"),
            (b"x-default", b"http://h.example/it's"),
            (b"fr", b"/relative"),
            (b"no language", b"http://h.example/"),
        ];
        let images: [&[u8]; 2] = [b"http://h.example/a b.png", b"mailto:x"];
        let mut encoded = Vec::new();
        let raw = RawExtras::encode(alternates.into_iter(), images.into_iter(), &mut encoded);
        let mut dropped = DroppedTags::default();
        let mut renderer = ExtrasRenderer::default();
        let mut texts = Vec::new();
        let extras = renderer.render(raw, &mut |tag| {
            dropped[tag.reason] += 1;
            texts.push(crate::escape::shown(&tag.to_text()));
        });
        let want = "<xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"http://h.example/de?a&amp;b\"/>\
                    <xhtml:link rel=\"alternate\" hreflang=\"x-default\" href=\"http://h.example/it&apos;s\"/>\
                    <image:image><image:loc>http://h.example/a%20b.png</image:loc></image:image>";
        assert_eq!(str::from_utf8(extras.xml), Ok(want));
        assert_eq!(extras.uses, Namespaces::XHTML.and(Namespaces::IMAGE));
        assert_eq!((dropped[TagReason::Alternate], dropped[TagReason::Image]), (2, 1));
        let want = ["hreflang=fr href=/relative", "hreflang=no language href=http://h.example/", "mailto:x"];
        assert_eq!(texts, want);

        let mut all = DroppedTags::default();
        drop_all(raw, &mut |tag| all[tag.reason] += 1);
        assert_eq!((all[TagReason::Alternate], all[TagReason::Image]), (4, 2));
        assert!(RawExtras::encode([].into_iter(), [].into_iter(), &mut encoded).is_empty());
    }
}

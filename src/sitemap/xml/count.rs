//! Counts the tags of a rendered entry from its bytes.

use memchr::memchr_iter;

use crate::sitemap::extensions::{self, Extras};
use crate::sitemap::tag_names::{TagCounts, TagName};

/// Adds the rendered elements of `tags` and `extras` to `counts`. Tags have a fixed order, and their values contain no `<`, so
/// each tag has two.
pub fn count_tags(tags: &[u8], extras: Extras<'_>, counts: &mut TagCounts) {
    let elements = memchr_iter(b'<', tags).count() as u64 / 2;
    let lastmod = u64::from(tags.starts_with(b"<lastmod>"));
    let priority = u64::from(tags.ends_with(b"</priority>"));
    counts[TagName::Lastmod] += lastmod;
    counts[TagName::Priority] += priority;
    counts[TagName::Changefreq] += elements - lastmod - priority;
    extensions::count_rendered(extras, counts);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sitemap::extensions::Namespaces;

    #[test]
    fn elements_are_counted_by_name() {
        for (tags, want) in [
            ("", [0, 0, 0]),
            ("<lastmod>2024</lastmod>", [1, 0, 0]),
            ("<changefreq>daily</changefreq>", [0, 1, 0]),
            ("<priority>1.0</priority>", [0, 0, 1]),
            ("<lastmod>2024</lastmod><priority>1.0</priority>", [1, 0, 1]),
            ("<lastmod>2024</lastmod><changefreq>daily</changefreq><priority>1.0</priority>", [1, 1, 1]),
        ] {
            let mut counts = TagCounts::default();
            let xml = "<xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"u\"/>\
                       <image:image><image:loc>u</image:loc></image:image>\
                       <image:image><image:loc>v</image:loc></image:image>";
            let uses = Namespaces::of(TagName::Alternates).union(Namespaces::of(TagName::Images));
            count_tags(tags.as_bytes(), Extras { xml: xml.as_bytes(), uses }, &mut counts);
            let names = [TagName::Lastmod, TagName::Changefreq, TagName::Priority];
            assert_eq!(names.map(|name| counts[name]), want, "{tags}");
            assert_eq!((counts[TagName::Alternates], counts[TagName::Images]), (1, 2));
        }
    }
}

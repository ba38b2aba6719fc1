//! Values of extensions, from their encoding to XML.

use super::extension::INVALID;
use super::*;
use crate::sitemap::tag_names::{DroppedTags, TagName, TagReason};

fn push<const FIELDS: usize>(tag: TagName, values: &[[&str; FIELDS]], to: &mut ExtrasBuffer) {
    let extension = tag.extension().unwrap();
    for value in values {
        to.push(extension, value.iter().map(|text| text.as_bytes()).enumerate());
    }
}

#[test]
fn no_field_accepts_a_text_that_is_marked_as_invalid() {
    let texts = [
        "http://h.example/",
        "t",
        "de",
        "5",
        "2024-05-01",
        "yes",
        "IE",
        "allow",
        "Blog",
        "A:1",
        "web",
        "Subscription",
    ];
    for field in EXTENSIONS.iter().flat_map(|extension| extension.fields) {
        let writes = |text: &[u8]| (field.write)(text, &mut Cleaner::default(), &mut Vec::new());
        assert!(texts.iter().any(|text| writes(text.as_bytes())), "{:?}", field.keys);
        for text in texts.iter().chain(&["[\"t\"]", "{}", ""]) {
            assert!(!writes(&[&[INVALID], text.as_bytes()].concat()), "{:?} {text}", field.keys);
        }
    }
}

#[test]
fn a_text_that_is_no_field_is_shown_without_a_name() {
    for extension in EXTENSIONS {
        let mut buffer = ExtrasBuffer::default();
        buffer.push(extension, [(UNNAMED, &b"a,b"[..])]);
        let value = buffer.values().values().next().unwrap();
        assert_eq!(value.named(), [("", &b"a,b"[..])]);
        assert_eq!(value.to_text(), format!("{}=a,b", extension.element).as_bytes());
    }
}

#[test]
fn links_and_images_are_cleaned_escaped_and_counted() {
    let mut buffer = ExtrasBuffer::default();
    let links = [
        ["de", "HTTP://h.example/de?a&b"],
        ["x-default", "http://h.example/it's"],
        ["fr", "/relative"],
        ["no language", "http://h.example/"],
    ];
    // The elements are in the order of the table, regardless of their order in the input.
    push(TagName::Images, &[["http://h.example/a b.png"], ["mailto:x"]], &mut buffer);
    push(TagName::Alternates, &links, &mut buffer);
    let raw = buffer.values();
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
    assert_eq!(extras.uses, Namespaces::of(TagName::Alternates).union(Namespaces::of(TagName::Images)));
    assert_eq!((dropped[TagReason::Alternate], dropped[TagReason::Image]), (2, 1));
    let want = ["hreflang=fr href=/relative", "hreflang=no language href=http://h.example/", "mailto:x"];
    assert_eq!(texts, want);

    let mut all = DroppedTags::default();
    drop_all(raw, &mut |tag| all[tag.reason] += 1);
    assert_eq!((all[TagReason::Alternate], all[TagReason::Image]), (4, 2));
    let mut counts = TagCounts::default();
    raw.count(&mut counts);
    assert_eq!((counts[TagName::Alternates], counts[TagName::Images]), (4, 2));
}

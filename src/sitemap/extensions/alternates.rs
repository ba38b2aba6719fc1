//! Alternates: links to the same page in other languages (Google, "Tell Google about localized versions: sitemap").

use super::extension::{Extension, Field, Occurs, Value, Writer};
use super::texts;
use crate::clean::Cleaner;
use crate::sitemap::tag_names::{TagName, TagReason};

/// `<xhtml:link rel="alternate" hreflang="de" href="…"/>`
pub const EXTENSION: Extension = Extension {
    tag: TagName::Alternates,
    reason: TagReason::Alternate,
    // It has no such fields.
    field_reason: TagReason::Alternate,
    values_max: u64::MAX,
    namespaces: &["http://www.w3.org/1999/xhtml", "http://www.w3.org/2002/03/xhtml"],
    prefix: "xhtml",
    element: "link",
    marks: &[("rel", "alternate")],
    fields: &[
        Field::attribute(&["hreflang", "lang"], &[], "hreflang", Occurs::Once, language),
        Field::attribute(&["href", "url"], &[], "href", Occurs::Once, texts::url),
    ],
    text_field: None,
    is_map: true,
    earlier_key: Some("links"),
    start: b"<xhtml:link ",
    write,
};

fn write<'a>(link: Value<'a>, writer: &mut Writer<'_, 'a>) -> bool {
    writer.out.extend_from_slice(EXTENSION.start);
    writer.out.extend_from_slice(b"rel=\"alternate\"");
    let mut fields = EXTENSION.fields.iter().enumerate();
    let is_written = fields.all(|(number, field)| writer.attribute(field, link.text(number)));
    writer.out.extend_from_slice(b"/>");
    is_written
}

fn language(raw: &[u8], _: &mut Cleaner, out: &mut Vec<u8>) -> bool {
    out.extend_from_slice(raw);
    is_language(raw)
}

/// Maximum bytes of a language with all its parts.
const LANGUAGE_BYTES_MAX: usize = 35;

/// Whether `hreflang` is `x-default`, or has the form of a code of ISO 639 with further parts (RFC 5646, 2.1): `de`, `zh-Hant`.
/// Google reads no other language, so `x-klingon` and `i-klingon`, which RFC 5646 also allows, are not.
fn is_language(hreflang: &[u8]) -> bool {
    let mut parts = hreflang.split(|&byte| byte == b'-');
    let is_code = |part: &[u8]| (2..=3).contains(&part.len()) && part.iter().all(u8::is_ascii_alphabetic);
    let is_further =
        |part: &[u8]| (1..=8).contains(&part.len()) && part.iter().all(u8::is_ascii_alphanumeric);
    hreflang.eq_ignore_ascii_case(b"x-default")
        || hreflang.len() <= LANGUAGE_BYTES_MAX && parts.next().is_some_and(is_code) && parts.all(is_further)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_languages_that_google_reads_are_written() {
        for right in ["de", "de-CH", "zh-Hant-TW", "de-CH-1996", "gsw", "x-default", "X-Default"] {
            assert!(is_language(right.as_bytes()), "{right}");
        }
        let long = ["en", &"-abcdefgh".repeat(4)].concat();
        for wrong in
            ["", "d", "12", "d1-e", "english", "i-klingon", "x-klingon", "x", "de_CH", "de-", "-de", &long]
        {
            assert!(!is_language(wrong.as_bytes()), "{wrong}");
        }
    }
}

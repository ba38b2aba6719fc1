//! Alternates: links to the same page in other languages (Google, "Tell Google about localized versions: sitemap").

use super::extension::{Extension, Field, Occurs, Value, Writer};
use super::texts;
use crate::sitemap::entities::push_escaped;
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
        Field::attribute(&["hreflang", "lang"], &[], "hreflang", Occurs::Once, texts::text::<35>),
        Field::attribute(&["href", "url"], &[], "href", Occurs::Once, texts::url),
    ],
    text_field: 1,
    is_map: true,
    earlier_key: Some("links"),
    start: b"<xhtml:link ",
    write,
};

fn write<'a>(link: Value<'a>, Writer { cleaner, out, .. }: &mut Writer<'_, 'a>) -> bool {
    let [hreflang, href] = [0, 1].map(|number| link.text(number));
    let Some(url) = texts::clean(cleaner, href).filter(|_| is_language(hreflang)) else { return false };
    for part in [EXTENSION.start, b"rel=\"alternate\" hreflang=\"", hreflang, b"\" href=\""] {
        out.extend_from_slice(part);
    }
    push_escaped(url, out);
    out.extend_from_slice(b"\"/>");
    true
}

/// Whether `hreflang` has the letters and lengths of BCP 47: `de`, `zh-Hant`, `x-default`.
fn is_language(hreflang: &[u8]) -> bool {
    (2..=35).contains(&hreflang.len())
        && hreflang
            .split(|&byte| byte == b'-')
            .all(|part| (1..=8).contains(&part.len()) && part.iter().all(u8::is_ascii_alphanumeric))
}

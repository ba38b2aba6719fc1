//! Alternates: links to the same page in other languages (Google, "Tell Google about localized versions: sitemap").

use super::extension::{Extension, Fields, clean};
use crate::clean::Cleaner;
use crate::sitemap::entities::push_escaped;
use crate::sitemap::tag_names::{TagName, TagReason};

/// `<xhtml:link rel="alternate" hreflang="de" href="…"/>`
pub struct Alternates;

impl Extension for Alternates {
    const NAME: TagName = TagName::Alternates;
    const DROPPED: TagReason = TagReason::Alternate;
    const FIELDS: &'static [&'static str] = &["hreflang", "href"];
    const VALUES_MAX: u64 = u64::MAX;
    const DECLARATION: &'static str = " xmlns:xhtml=\"http://www.w3.org/1999/xhtml\"";
    const START: &'static [u8] = b"<xhtml:link ";

    fn push([hreflang, href, ..]: Fields<'_>, cleaner: &mut Cleaner, out: &mut Vec<u8>) -> bool {
        let Some(url) = clean(cleaner, href).filter(|_| is_language(hreflang)) else { return false };
        for part in [Self::START, b"rel=\"alternate\" hreflang=\"", hreflang, b"\" href=\""] {
            out.extend_from_slice(part);
        }
        push_escaped(url, out);
        out.extend_from_slice(b"\"/>");
        true
    }
}

/// BCP 47, as far as its letters go: `de`, `zh-Hant`, `x-default`.
fn is_language(hreflang: &[u8]) -> bool {
    (2..=35).contains(&hreflang.len())
        && hreflang
            .split(|&byte| byte == b'-')
            .all(|part| (1..=8).contains(&part.len()) && part.iter().all(u8::is_ascii_alphanumeric))
}

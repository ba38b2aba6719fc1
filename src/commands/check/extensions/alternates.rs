//! Alternates: links to the same page in other languages, or for other devices.

use serde_json::{Value, json};

use super::extension::{Element, Elements, Extension, Found, text};
use super::fields::{Field, FieldKind, Occurs};
use super::values;
use crate::commands::check::rules::Rule;

/// The namespace of XHTML 1.0 has other elements too.
pub(crate) static EXTENSION: Extension = Extension {
    name: "alternates",
    namespace: "http://www.w3.org/1999/xhtml",
    other_namespaces: &["http://www.w3.org/2002/03/xhtml"],
    prefix: "xhtml",
    element: "link",
    in_words: "a link",
    fields: &[attribute("rel"), attribute("hreflang"), attribute("href"), attribute("media")],
    ignored: &[],
    has_other_attributes: true,
    is_open: true,
    own_value: None,
    is_single: false,
    judge,
    to_json,
};

/// All attributes are judged together.
const fn attribute(name: &'static str) -> Field {
    Field {
        parent: "",
        element: "",
        kind: FieldKind::Attribute(name),
        occurs: Occurs::Optional,
        key: name,
        check: |_| Ok(()),
    }
}

/// Returns `rel`, `hreflang`, `href` and `media`.
fn attributes(link: Element<'_>) -> [Option<&[u8]>; 4] {
    [0, 1, 2, 3].map(|field| link.get(field))
}

fn is_alternate(rel: Option<&[u8]>) -> bool {
    rel.is_some_and(|rel| rel.eq_ignore_ascii_case(b"alternate"))
}

/// Returns `None` for a link that does not point to another language.
fn to_json(link: Element<'_>) -> Option<Value> {
    let [rel, hreflang, href, _] = attributes(link);
    is_alternate(rel).then(|| json!({ "hreflang": hreflang.map(text), "href": href.map(text) }))
}

fn judge(links: Elements<'_>, found: &mut Found<'_>) {
    links.iter().for_each(|link| judge_link(attributes(link), found));
}

fn judge_link([rel, hreflang, href, media]: [Option<&[u8]>; 4], found: &mut Found<'_>) {
    // No document defines other links for sitemaps.
    if !is_alternate(rel) {
        return found(Rule::Alternate, "rel is not \"alternate\"", rel.unwrap_or_default());
    }
    match hreflang {
        Some(language) if is_language(language) => {}
        Some(language) => found(Rule::Alternate, "hreflang is not a language code", language),
        // Google: the page for mobile devices that belongs to this one has `media` and is in the same language.
        None if media.is_some_and(|media| !media.is_empty()) => {}
        None => found(Rule::Alternate, "no hreflang", b""),
    }
    match href {
        Some(href) => {
            if let Err(wrong) = values::url(href) {
                found(Rule::Alternate, wrong, href);
            }
        }
        None => found(Rule::Alternate, "no href", b""),
    }
}

/// Returns whether `value` is `x-default`, or has the form of a language with an optional script and region: the start of RFC
/// 5646, 2.1. It is not compared with a registry of languages.
fn is_language(value: &[u8]) -> bool {
    if value.eq_ignore_ascii_case(b"x-default") {
        return true;
    }
    let mut parts = value.split(|&byte| byte == b'-');
    let is_main = |part: &[u8]| (2..=3).contains(&part.len()) && part.iter().all(u8::is_ascii_alphabetic);
    let is_further =
        |part: &[u8]| (1..=8).contains(&part.len()) && part.iter().all(u8::is_ascii_alphanumeric);
    parts.next().is_some_and(is_main) && parts.all(is_further)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_have_the_form_of_rfc_5646() {
        for right in ["de", "de-CH", "zh-Hant-TW", "x-default", "gsw"] {
            assert!(is_language(right.as_bytes()), "{right}");
        }
        for wrong in ["", "d", "german", "de_CH", "de-", "-de", "12"] {
            assert!(!is_language(wrong.as_bytes()), "{wrong}");
        }
    }
}

//! News articles: Google, "News sitemaps".

use super::by_fields;
use super::extension::{Elements, Extension, Found};
use super::fields::{Field, FieldKind};
use super::values::{any_text, one_of, some_text, time};
use crate::commands::check::rules::Rule;
use crate::commands::check::values::Wrong;

/// Google no longer reads `access`, `genres`, `keywords` and `stock_tickers`; its schema has them.
pub(crate) static EXTENSION: Extension = Extension {
    name: "news",
    namespace: "http://www.google.com/schemas/sitemap-news/0.9",
    other_namespaces: &[],
    prefix: "news",
    element: "news",
    in_words: "an article",
    fields: &FIELDS,
    ignored: &[],
    has_other_attributes: false,
    is_open: false,
    own_value: None,
    is_single: true,
    judge,
    to_json: |news| Some(by_fields::to_json(&FIELDS, news)),
};

static FIELDS: [Field; 9] = [
    Field { kind: FieldKind::Parent, ..Field::required("publication", |_| Ok(())) },
    Field { parent: "publication", key: "publication.name", ..Field::required("name", some_text) },
    Field { parent: "publication", key: "publication.language", ..Field::required("language", language) },
    Field::optional("access", |value| {
        one_of(&["Subscription", "Registration"], value, "neither Subscription nor Registration")
    }),
    Field::optional("genres", genres),
    Field::required("publication_date", time),
    Field::required("title", some_text),
    Field::optional("keywords", any_text),
    Field::optional("stock_tickers", stock_tickers),
];

fn judge(news: Elements<'_>, found: &mut Found<'_>) {
    by_fields::judge(&FIELDS, Rule::News, news, found);
    if news.count > 1 {
        found(Rule::News, "more than one article", b"");
    }
}

/// Checks for a code of ISO 639, or one of the two with a country that Google lists. It is not compared with a registry.
fn language(value: &[u8]) -> Result<(), Wrong> {
    let is_code = (2..=3).contains(&value.len()) && value.iter().all(u8::is_ascii_lowercase);
    match is_code || value == b"zh-cn" || value == b"zh-tw" {
        true => Ok(()),
        false => Err("not a language code of ISO 639"),
    }
}

fn comma_separated(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

fn genres(value: &[u8]) -> Result<(), Wrong> {
    const GENRES: [&str; 6] = ["PressRelease", "Satire", "Blog", "OpEd", "Opinion", "UserGenerated"];
    let is_genre = |part: &[u8]| GENRES.iter().any(|genre| genre.as_bytes() == part);
    if comma_separated(value).all(is_genre) { Ok(()) } else { Err("not a comma-separated list of genres") }
}

fn stock_tickers(value: &[u8]) -> Result<(), Wrong> {
    let is_symbol = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_alphanumeric);
    let is_ticker = |part: &[u8]| {
        memchr::memchr(b':', part).is_some_and(|at| is_symbol(&part[..at]) && is_symbol(&part[at + 1..]))
    };
    let is_short = comma_separated(value).count() <= 5;
    match value.is_empty() || is_short && comma_separated(value).all(is_ticker) {
        true => Ok(()),
        false => Err("not a comma-separated list of up to five EXCHANGE:SYMBOL values"),
    }
}

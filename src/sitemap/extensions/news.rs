//! News articles (Google, "News sitemaps"), in the order of the schema.

use memchr::memmem;

use super::extension::{Extension, Field, Value, Writer};
use super::texts;
use crate::clean::Cleaner;
use crate::sitemap::tag_names::{TagName, TagReason};
use crate::sitemap::tags::lastmod::plain_lastmod;

/// `<news:news><news:publication>…</news:publication>…</news:news>`
pub const EXTENSION: Extension = Extension {
    tag: TagName::News,
    reason: TagReason::News,
    field_reason: TagReason::NewsField,
    values_max: 1,
    namespaces: &["http://www.google.com/schemas/sitemap-news/0.9"],
    prefix: "news",
    element: "news",
    marks: &[],
    fields: &[
        Field::required(
            &["publication.name", "publication_name"],
            &["publication", "name"],
            texts::text::<{ usize::MAX }>,
        ),
        Field::required(
            &["publication.language", "publication_language"],
            &["publication", "language"],
            language,
        ),
        Field::optional(&["access"], &["access"], access),
        Field::optional(&["genres"], &["genres"], genres),
        Field::required(&["publication_date"], &["publication_date"], texts::time),
        Field::required(&["title"], &["title"], texts::text::<{ usize::MAX }>),
        Field::optional(&["keywords"], &["keywords"], texts::text::<{ usize::MAX }>),
        Field::optional(&["stock_tickers"], &["stock_tickers"], stock_tickers),
    ],
    text_field: None,
    is_map: false,
    earlier_key: None,
    start: b"<news:news>",
    write,
};

fn write<'a>(news: Value<'a>, writer: &mut Writer<'_, 'a>) -> bool {
    writer.element(news)
}

/// A code of ISO 639, or one of the two with a country that Google lists.
fn language(raw: &[u8], _: &mut Cleaner, out: &mut Vec<u8>) -> bool {
    let raw = raw.trim_ascii();
    let is_code = (2..=3).contains(&raw.len()) && raw.iter().all(u8::is_ascii_alphabetic);
    out.extend(raw.iter().map(u8::to_ascii_lowercase));
    is_code || [&b"zh-cn"[..], b"zh-tw"].iter().any(|code| raw.eq_ignore_ascii_case(code))
}

fn access(raw: &[u8], _: &mut Cleaner, out: &mut Vec<u8>) -> bool {
    texts::word(&["Subscription", "Registration"], raw, out)
}

fn genres(raw: &[u8], _: &mut Cleaner, out: &mut Vec<u8>) -> bool {
    const GENRES: [&str; 6] = ["PressRelease", "Satire", "Blog", "OpEd", "Opinion", "UserGenerated"];
    texts::list(texts::parts(raw), ", ", out, |genre, out| texts::word(&GENRES, genre, out))
}

/// Maximum number of stock tickers of an article.
const TICKERS_MAX: usize = 5;

/// Exchanges and symbols: `NASDAQ:A, NASDAQ:B`.
fn stock_tickers(raw: &[u8], _: &mut Cleaner, out: &mut Vec<u8>) -> bool {
    let is_symbol = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_alphanumeric);
    texts::parts(raw).count() <= TICKERS_MAX
        && texts::list(texts::parts(raw), ", ", out, |ticker, out| {
            out.extend_from_slice(ticker);
            let colon = memchr::memchr(b':', ticker);
            colon.is_some_and(|at| is_symbol(&ticker[..at]) && is_symbol(&ticker[at + 1..]))
        })
}

/// Maximum age of a news article: two days (Google, "News sitemaps").
const AGE_SECONDS_MAX: i64 = 2 * DAY_SECONDS;
const DAY_SECONDS: i64 = 24 * 60 * 60;

/// The number of articles in `xml` that were published more than two days before `now`, in seconds since 1970. An article with
/// only a date may have been published at any time of this day in UTC.
pub fn count_old(xml: &[u8], now: i64) -> u64 {
    const START: &[u8] = b"<news:publication_date>";
    let is_old = |at: usize| {
        let rest = &xml[at + START.len()..];
        let text = &rest[..memchr::memchr(b'<', rest).unwrap_or(rest.len())];
        plain_lastmod(text).is_some_and(|time| {
            let latest = time.instant() + if text.contains(&b'T') { 0 } else { DAY_SECONDS };
            latest < now - AGE_SECONDS_MAX
        })
    };
    memmem::find_iter(xml, START).filter(|&at| is_old(at)).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_are_old_after_two_days() {
        // 2024-05-10T12:00:00Z
        let now = 1_715_342_400;
        for (date, is_old) in [
            ("2024-05-10T12:00:00Z", false),
            ("2024-05-08T12:00:00Z", false),
            ("2024-05-08T11:59:59Z", true),
            ("2024-05-08T14:00:00+02:00", false),
            ("2024-05-08T13:59:59+02:00", true),
            ("2024-05-08", false),
            ("2024-05-07", true),
            ("2025-01-01", false),
        ] {
            let xml = format!("<news:publication_date>{date}</news:publication_date>");
            assert_eq!(count_old(xml.as_bytes(), now), u64::from(is_old), "{date}");
            assert_eq!(count_old(xml.repeat(3).as_bytes(), now), 3 * u64::from(is_old), "{date}");
        }
    }
}

//! Values: what the text of a value, or of a line, most likely is.

use std::ops::RangeInclusive;

use crate::clean::has_web_scheme;
use crate::sitemap::tags::{LastmodUnit, changefreq};

/// `value` without quotes that the CSV reader keeps, because blanks precede them: `"https://h.example/", "2024-05-01"`.
#[inline]
pub fn unquoted(value: &[u8]) -> &[u8] {
    if value.first() != Some(&b' ') {
        return value;
    }
    without_quotes(value.trim_ascii()).unwrap_or(value)
}

/// The text in the quotes around `value`, which csv-core keeps if something precedes them; `None` if it is not in quotes.
pub fn without_quotes(value: &[u8]) -> Option<&[u8]> {
    value.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// Whether the URLs in a text that begins with `head` have `&amp;` instead of each `&`, because they were taken out of XML or HTML.
pub fn has_entities(head: &[u8]) -> bool {
    const ENTITY: &[u8] = b"&amp;";
    let has = |text: &[u8]| memchr::memmem::find(head, text).is_some();
    // Markup is rejected, with advice of its own.
    if !has(ENTITY) || has(b"</") {
        return false;
    }
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'<' | b'>');
    let queries = head.split(is_end).filter_map(|word| {
        let url = &word[memchr::memmem::find(word, b"://")?..];
        Some(&url[memchr::memchr(b'?', url)?..])
    });
    let mut has_one = false;
    for query in queries {
        for at in memchr::memchr_iter(b'&', query) {
            // The head may end within it.
            if !query[at..].starts_with(ENTITY) && !ENTITY.starts_with(&query[at..]) {
                return false;
            }
            has_one = true;
        }
    }
    has_one
}

/// Whether `value` is a relative URL from the root of a site on.
pub fn is_path(value: &[u8]) -> bool {
    value.trim_ascii_start().starts_with(b"/")
}

/// Whether `line` contains an absolute URL, or is a path.
pub fn has_url(line: &[u8]) -> bool {
    is_path(line) || memchr::memmem::find(line, b"://").is_some()
}

/// Whether `value` is an absolute URL of a page, or a path.
pub fn begins_as_url(value: &[u8]) -> bool {
    is_url(value) || is_path(value)
}

/// Whether `value` is an absolute URL of a page.
pub fn is_url(value: &[u8]) -> bool {
    has_web_scheme(value.trim_ascii_start())
}

/// Whether `name` is part of a URL or a comment rather than the name of a column.
pub fn is_address_or_comment(name: &[u8]) -> bool {
    is_address(name) || name.trim_ascii_start().starts_with(b"#")
}

/// Whether `name` is part of a URL rather than the name of a column.
pub fn is_address(name: &[u8]) -> bool {
    let name = name.trim_ascii_start();
    let begins_as_one = [&b"/"[..], b"www."].iter().any(|start| name.starts_with(start));
    begins_as_one || memchr::memmem::find(name, b"://").is_some()
}

/// Whether `value` is a day such as `2025-11-21`, `21.11.2025` or `5/1/2025`, with or without a time.
pub fn is_date(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let day = value.split(|byte| matches!(byte, b'T' | b' ')).next().unwrap_or_default();
    let is = |by: u8, widths: [RangeInclusive<usize>; 3]| {
        let parts: Vec<&[u8]> = day.split(|&byte| byte == by).collect();
        let fits = |(part, width): (&&[u8], &RangeInclusive<usize>)| {
            width.contains(&part.len()) && part.iter().all(u8::is_ascii_digit)
        };
        parts.len() == widths.len() && parts.iter().zip(&widths).all(fits)
    };
    is(b'-', [4..=4, 2..=2, 2..=2]) || b"./".iter().any(|&by| is(by, [1..=2, 1..=2, 4..=4]))
}

/// Whether `value` is most likely a Unix time, from 2001 to 2033. Later ones could also be the numbers of products.
pub fn is_epoch(value: &[u8]) -> bool {
    value.starts_with(b"1") && LastmodUnit::of_number(value).is_some()
}

/// Whether `value` is a word of a `changefreq`.
pub fn is_changefreq(value: &[u8]) -> bool {
    matches!(changefreq(value), Ok(Some(_)))
}

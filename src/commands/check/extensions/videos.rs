//! Videos: Google, "Video sitemaps".

use super::by_fields;
use super::extension::{Elements, Extension, Found};
use super::fields::{Field, Occurs};
use super::values::{
    allow_or_deny, any_text, one_of, some_text_of_at_most, text_of_at_most, time, url, url_or_empty, whole,
    yes_or_no,
};
use crate::commands::check::rules::Rule;
use crate::commands::check::values::Wrong;

/// Google's schema has more elements than its documentation; those are not checked.
pub(crate) static EXTENSION: Extension = Extension {
    name: "videos",
    namespace: "http://www.google.com/schemas/sitemap-video/1.1",
    other_namespaces: &[],
    prefix: "video",
    element: "video",
    in_words: "a video",
    fields: &FIELDS,
    ignored: &["content_segment_loc", "gallery_loc", "id", "price", "tvshow"],
    has_other_attributes: false,
    is_open: false,
    own_value: None,
    is_single: false,
    judge,
    to_json: |video| Some(by_fields::to_json(&FIELDS, video)),
};

const CONTENT_LOC: usize = 3;
const PLAYER_LOC: usize = 4;
const TAGS_MAX: u8 = 32;

static FIELDS: [Field; 23] = [
    Field::required("thumbnail_loc", url),
    Field::required("title", some_text_of_at_most::<100>),
    Field::required("description", some_text_of_at_most::<2_048>),
    Field::optional("content_loc", url_or_empty),
    Field::optional("player_loc", url_or_empty),
    Field::attribute("player_loc", "allow_embed", "player_loc_allow_embed", yes_or_no),
    Field::attribute("player_loc", "autoplay", "player_loc_autoplay", any_text),
    Field::optional("duration", duration),
    Field::optional("expiration_date", time),
    Field::optional("rating", rating),
    Field::optional("view_count", |value| whole(value).map(drop).ok_or("not a whole number")),
    Field::optional("publication_date", time),
    Field { occurs: Occurs::AtMost(TAGS_MAX), ..Field::optional("tag", any_text) },
    Field::optional("category", text_of_at_most::<256>),
    Field::optional("family_friendly", yes_or_no),
    Field::optional("restriction", countries),
    relationship("restriction", "restriction_relationship"),
    Field::optional("requires_subscription", yes_or_no),
    Field::optional("uploader", text_of_at_most::<255>),
    Field::attribute("uploader", "info", "uploader_info", url),
    Field::optional("platform", platforms),
    relationship("platform", "platform_relationship"),
    Field::optional("live", yes_or_no),
];

const fn relationship(element: &'static str, key: &'static str) -> Field {
    Field { occurs: Occurs::Once, ..Field::attribute(element, "relationship", key, allow_or_deny) }
}

fn judge(videos: Elements<'_>, found: &mut Found<'_>) {
    by_fields::judge(&FIELDS, Rule::Video, videos, found);
    for video in videos.iter() {
        let is_there = |field| video.get(field).is_some_and(|url| !url.is_empty());
        if !is_there(CONTENT_LOC) && !is_there(PLAYER_LOC) {
            found(Rule::Video, "neither content_loc nor player_loc", b"");
        }
    }
}

fn duration(value: &[u8]) -> Result<(), Wrong> {
    match whole(value) {
        Some(1..=28_800) => Ok(()),
        _ => Err("not a number of seconds from 1 to 28,800"),
    }
}

/// Checks for a decimal number from 0.0 to 5.0: no exponent, no sign.
fn rating(value: &[u8]) -> Result<(), Wrong> {
    let (units, fraction) = match memchr::memchr(b'.', value) {
        Some(point) => (&value[..point], &value[point + 1..]),
        None => (value, &b"0"[..]),
    };
    let is_zero = fraction.iter().all(|&digit| digit == b'0');
    let is_number = !fraction.is_empty() && fraction.iter().all(u8::is_ascii_digit);
    match whole(units) {
        Some(0..=4) if is_number => Ok(()),
        Some(5) if is_number && is_zero => Ok(()),
        _ => Err("not a decimal number from 0.0 to 5.0"),
    }
}

/// Checks for country codes of ISO 3166 with spaces between them. They are not compared with a list of countries.
fn countries(value: &[u8]) -> Result<(), Wrong> {
    let is_country = |part: &[u8]| part.len() == 2 && part.iter().all(u8::is_ascii_uppercase);
    match value.split(|&byte| byte == b' ').filter(|part| !part.is_empty()).all(is_country) {
        true => Ok(()),
        false => Err("not a space-separated list of two-letter country codes in capitals"),
    }
}

fn platforms(value: &[u8]) -> Result<(), Wrong> {
    let mut parts = value.split(|&byte| byte == b' ').filter(|part| !part.is_empty());
    parts.try_for_each(|part| one_of(&["web", "mobile", "tv"], part, "not web, mobile or tv"))
}

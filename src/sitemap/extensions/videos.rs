//! Videos on a page (Google, "Video sitemaps"), in the order of the schema. Elements that are not listed here are not carried over.

use super::extension::{Extension, Field, Occurs, Value, WriteText, Writer};
use super::texts;
use crate::clean::Cleaner;
use crate::sitemap::tag_names::{TagName, TagReason};

/// Maximum number of tags of a video.
const TAGS_MAX: usize = 32;

/// `<video:video><video:thumbnail_loc>…</video:thumbnail_loc>…</video:video>`
pub const EXTENSION: Extension = Extension {
    tag: TagName::Videos,
    reason: TagReason::Video,
    field_reason: TagReason::VideoField,
    values_max: u64::MAX,
    namespaces: &["http://www.google.com/schemas/sitemap-video/1.1"],
    prefix: "video",
    element: "video",
    marks: &[],
    fields: &[
        Field::required(&["thumbnail_loc"], &["thumbnail_loc"], texts::url),
        Field::required(&["title"], &["title"], texts::text::<100>),
        Field::required(&["description"], &["description"], texts::text::<2_048>),
        Field::optional(&["content_loc"], &["content_loc"], texts::url),
        Field::optional(&["player_loc"], &["player_loc"], texts::url),
        attribute(
            &["player_loc_allow_embed", "player_loc:allow_embed"],
            &["player_loc"],
            "allow_embed",
            texts::yes_or_no,
        ),
        attribute(
            &["player_loc_autoplay", "player_loc:autoplay"],
            &["player_loc"],
            "autoplay",
            texts::text::<2_048>,
        ),
        Field::optional(&["duration"], &["duration"], texts::whole::<1, 28_800>),
        Field::optional(&["expiration_date"], &["expiration_date"], texts::time),
        Field::optional(&["rating"], &["rating"], texts::rating),
        Field::optional(&["view_count"], &["view_count"], texts::whole::<0, { u64::MAX }>),
        Field::optional(&["publication_date"], &["publication_date"], texts::time),
        Field {
            occurs: Occurs::AtMost(TAGS_MAX),
            ..Field::optional(&["tag", "tags"], &["tag"], texts::text::<{ usize::MAX }>)
        },
        Field::optional(&["category"], &["category"], texts::text::<256>),
        Field::optional(&["family_friendly"], &["family_friendly"], texts::yes_or_no),
        Field::optional(&["restriction"], &["restriction"], countries),
        relationship(&["restriction_relationship", "restriction:relationship"], &["restriction"]),
        Field::optional(&["requires_subscription"], &["requires_subscription"], texts::yes_or_no),
        Field::optional(&["uploader"], &["uploader"], texts::text::<255>),
        attribute(&["uploader_info", "uploader:info"], &["uploader"], "info", texts::url),
        Field::optional(&["platform"], &["platform"], platforms),
        relationship(&["platform_relationship", "platform:relationship"], &["platform"]),
        Field::optional(&["live"], &["live"], texts::yes_or_no),
    ],
    text_field: None,
    is_map: false,
    earlier_key: None,
    start: b"<video:video>",
    write,
};

const CONTENT_LOC: usize = 3;
const PLAYER_LOC: usize = 4;

const fn attribute(
    keys: &'static [&'static str],
    path: &'static [&'static str],
    attribute: &'static str,
    write: WriteText,
) -> Field {
    Field::attribute(keys, path, attribute, Occurs::Optional, write)
}

const fn relationship(keys: &'static [&'static str], path: &'static [&'static str]) -> Field {
    Field::attribute(keys, path, "relationship", Occurs::WithText, allow_or_deny)
}

/// A video needs its content or a player.
fn write<'a>(video: Value<'a>, writer: &mut Writer<'_, 'a>) -> bool {
    let mut has_loc = false;
    for number in [CONTENT_LOC, PLAYER_LOC] {
        let mut texts = video.texts(number).filter(|text| !text.is_empty());
        let (first, second) = (texts.next(), texts.next());
        has_loc |= second.is_none() && first.is_some_and(|raw| texts::clean(writer.cleaner, raw).is_some());
    }
    has_loc && writer.element(video)
}

/// Countries of ISO 3166, two letters each.
fn countries(raw: &[u8], _: &mut Cleaner, out: &mut Vec<u8>) -> bool {
    texts::list(texts::words(raw), " ", out, |country, out| {
        out.extend(country.iter().map(u8::to_ascii_uppercase));
        country.len() == 2 && country.iter().all(u8::is_ascii_alphabetic)
    })
}

fn platforms(raw: &[u8], _: &mut Cleaner, out: &mut Vec<u8>) -> bool {
    texts::list(texts::words(raw), " ", out, |platform, out| {
        texts::word(&["web", "mobile", "tv"], platform, out)
    })
}

fn allow_or_deny(raw: &[u8], _: &mut Cleaner, out: &mut Vec<u8>) -> bool {
    texts::word(&["allow", "deny"], raw, out)
}

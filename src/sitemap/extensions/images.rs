//! Images on a page (Google, "Image sitemaps"). Google reads only `loc` since 2022; its schema has the other elements too.

use super::extension::{Extension, Field, Value, Writer};
use super::texts;
use crate::limits::IMAGES_PER_URL_MAX;
use crate::sitemap::entities::push_escaped;
use crate::sitemap::tag_names::{TagName, TagReason};

/// `<image:image><image:loc>…</image:loc></image:image>`
pub const EXTENSION: Extension = Extension {
    tag: TagName::Images,
    reason: TagReason::Image,
    field_reason: TagReason::ImageField,
    values_max: IMAGES_PER_URL_MAX as u64,
    namespaces: &["http://www.google.com/schemas/sitemap-image/1.1"],
    prefix: "image",
    element: "image",
    marks: &[],
    fields: &[
        Field::required(&["loc", "url"], &["loc"], texts::url),
        Field::optional(&["caption"], &["caption"], texts::text::<{ usize::MAX }>),
        Field::optional(&["geo_location"], &["geo_location"], texts::text::<{ usize::MAX }>),
        Field::optional(&["title"], &["title"], texts::text::<{ usize::MAX }>),
        Field::optional(&["license"], &["license"], texts::url),
    ],
    text_field: Some(0),
    is_map: false,
    earlier_key: None,
    start: b"<image:image>",
    write,
};

fn write<'a>(image: Value<'a>, writer: &mut Writer<'_, 'a>) -> bool {
    let mut given = image.given();
    let (Some((0, loc)), None) = (given.next(), given.next()) else { return writer.element(image) };
    // Most images have nothing else.
    let Writer { cleaner, out, .. } = writer;
    let Some(url) = texts::clean(cleaner, loc) else { return false };
    out.extend_from_slice(EXTENSION.start);
    out.extend_from_slice(b"<image:loc>");
    push_escaped(url, out);
    out.extend_from_slice(b"</image:loc></image:image>");
    true
}

//! Images on a page (Google, "Image sitemaps").

use super::extension::{Extension, Field, Occurs, Value, clean};
use crate::clean::Cleaner;
use crate::limits::IMAGES_PER_URL_MAX;
use crate::sitemap::entities::push_escaped;
use crate::sitemap::tag_names::{TagName, TagReason};

/// `<image:image><image:loc>…</image:loc></image:image>`
pub const EXTENSION: Extension = Extension {
    tag: TagName::Images,
    reason: TagReason::Image,
    values_max: IMAGES_PER_URL_MAX as u64,
    namespaces: &["http://www.google.com/schemas/sitemap-image/1.1"],
    prefix: "image",
    element: "image",
    marks: &[],
    fields: &[Field { keys: &["loc", "url"], path: &["loc"], attribute: None, occurs: Occurs::Once }],
    text_field: 0,
    is_map: false,
    earlier_key: None,
    start: b"<image:image>",
    write,
};

fn write(image: Value<'_>, cleaner: &mut Cleaner, out: &mut Vec<u8>) -> bool {
    let Some(url) = clean(cleaner, image.text(0)) else { return false };
    out.extend_from_slice(EXTENSION.start);
    out.extend_from_slice(b"<image:loc>");
    push_escaped(url, out);
    out.extend_from_slice(b"</image:loc></image:image>");
    true
}

//! Images: Google, "Image sitemaps".

use super::extension::{Elements, Extension, Found, text};
use crate::commands::check::loc;
use crate::commands::check::rules::Rule;
use crate::limits::IMAGES_PER_URL_MAX;

pub(crate) const EXTENSION: Extension = Extension {
    name: "images",
    namespace: "http://www.google.com/schemas/sitemap-image/1.1",
    element: "image",
    in_words: "an image",
    attributes: &[],
    children: &["loc"],
    // Google no longer reads these tags; they do no harm.
    ignored: &["caption", "geo_location", "title", "license"],
    is_open: false,
    judge,
    to_json: |[loc, ..]| loc.map(text),
};

fn judge(images: Elements<'_>, found: &mut Found<'_>) {
    // An image may be on another host.
    images.iter().filter_map(|[loc, ..]| loc).for_each(|loc| loc::judge(loc, None, found));
    if images.count > IMAGES_PER_URL_MAX.into() {
        found(Rule::TooManyImages, "images", images.count.to_string().as_bytes());
    }
}

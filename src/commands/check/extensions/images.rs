//! Images: Google, "Image sitemaps".

use super::by_fields;
use super::extension::{Elements, Extension, Found, text};
use super::fields::Field;
use super::values::{any_text, url_or_empty};
use crate::commands::check::loc;
use crate::commands::check::rules::Rule;
use crate::limits::IMAGES_PER_URL_MAX;

/// Google reads only `loc`; its schema has the others too.
pub(crate) static EXTENSION: Extension = Extension {
    name: "images",
    namespace: "http://www.google.com/schemas/sitemap-image/1.1",
    other_namespaces: &[],
    prefix: "image",
    element: "image",
    in_words: "an image",
    fields: &FIELDS,
    ignored: &[],
    has_other_attributes: false,
    is_open: false,
    own_value: Some(0),
    is_single: false,
    judge,
    // Most images are only a URL. As a text, one with a second URL in it could be a list of two.
    to_json: |image| {
        let is_object = (1..FIELDS.len()).any(|field| image.get(field).is_some());
        match is_object || image.get(0).is_some_and(has_two_urls) {
            true => Some(by_fields::to_json(&FIELDS, image)),
            false => image.get(0).map(text),
        }
    },
};

static FIELDS: [Field; 5] = [
    // Judged like the URL of a page.
    Field::required("loc", |_| Ok(())),
    Field::optional("caption", any_text),
    Field::optional("geo_location", any_text),
    Field::optional("title", any_text),
    Field::optional("license", url_or_empty),
];

/// Whether another URL is part of `loc`, as in those of image proxies.
fn has_two_urls(loc: &[u8]) -> bool {
    memchr::memmem::find_iter(loc, b"://").nth(1).is_some()
}

fn judge(images: Elements<'_>, found: &mut Found<'_>) {
    // An image may be on another host.
    images.iter().filter_map(|image| image.get(0)).for_each(|loc| loc::judge(loc, loc, None, found));
    if images.values.len() > images.starts.len() {
        by_fields::judge(&FIELDS, Rule::Image, images, found);
    }
    if images.count > IMAGES_PER_URL_MAX.into() {
        found(Rule::TooManyImages, "images", images.count.to_string().as_bytes());
    }
}

//! Images on a page (Google, "Image sitemaps").

use super::extension::{Extension, Fields, clean};
use crate::clean::Cleaner;
use crate::limits::IMAGES_PER_URL_MAX;
use crate::sitemap::entities::push_escaped;
use crate::sitemap::tag_names::{TagName, TagReason};

/// `<image:image><image:loc>…</image:loc></image:image>`
pub struct Images;

impl Extension for Images {
    const NAME: TagName = TagName::Images;
    const DROPPED: TagReason = TagReason::Image;
    const FIELDS: &'static [&'static str] = &[""];
    const VALUES_MAX: u64 = IMAGES_PER_URL_MAX as u64;
    const DECLARATION: &'static str = " xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\"";
    const START: &'static [u8] = b"<image:image>";

    fn push([url, ..]: Fields<'_>, cleaner: &mut Cleaner, out: &mut Vec<u8>) -> bool {
        let Some(url) = clean(cleaner, url) else { return false };
        out.extend_from_slice(Self::START);
        out.extend_from_slice(b"<image:loc>");
        push_escaped(url, out);
        out.extend_from_slice(b"</image:loc></image:image>");
        true
    }
}

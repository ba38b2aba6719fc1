//! Reads the values of rendered tags.

use memchr::memchr;

/// The values of rendered `tags`: `lastmod`, `changefreq` and `priority`. A tag that is not given is empty.
pub fn tag_values(mut tags: &[u8]) -> [&[u8]; 3] {
    [&b"lastmod"[..], b"changefreq", b"priority"].map(|name| take(&mut tags, name).unwrap_or_default())
}

/// Takes the value of the tag `name` if `tags` begin with it.
fn take<'t>(tags: &mut &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    let text = tags.strip_prefix(b"<")?.strip_prefix(name)?.strip_prefix(b">")?;
    // No value contains `<`.
    let (value, end) = text.split_at(memchr(b'<', text)?);
    *tags = &end["</".len() + name.len() + ">".len()..];
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sitemap::tags::{RawTags, TagRules};
    use crate::sitemap::xml::push_tags;

    #[test]
    fn values_are_read_as_they_were_rendered() {
        let rules = TagRules::default();
        for lastmod in ["", "2005-01-01", "2005-06-03T04:20:00-08:00"] {
            for changefreq in ["", "weekly"] {
                for priority in ["", "0.5", "0.50"] {
                    let want = [lastmod, changefreq, priority].map(str::as_bytes);
                    let [lastmod, changefreq, priority] = want;
                    let raw = RawTags { lastmod, changefreq, priority, ..RawTags::default() };
                    let mut xml = Vec::new();
                    let tags = rules.check(raw, &mut |_| panic!("all values are valid"));
                    tags.iter().for_each(|tags| push_tags(tags, &mut xml));
                    assert_eq!(tag_values(&xml), want);
                }
            }
        }
    }
}

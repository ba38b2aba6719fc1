//! Tags: `lastmod`, `changefreq` and `priority`, checked and normalised, or the reason for leaving one out.
//!
//! A tag that cannot be written is dropped and counted; its URL stays. No value is invented. The result is legal in both
//! versions of the protocol, so nothing here depends on the version.

mod changefreq;
pub(super) mod lastmod;
mod priority;
mod zone;

use super::extensions::RawExtras;

pub use super::tag_names::{Dropped, DroppedTags, GivenTags, TagCounts, TagName, TagReason};
pub use changefreq::{Changefreq, changefreq};
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(crate) use lastmod::civil_text;
pub(crate) use lastmod::is_compact_date;
pub use lastmod::{LASTMOD_BYTES_MAX, Lastmod, LastmodRules, LastmodUnit, lastmod, plain_lastmod};
pub use priority::{PRIORITY_BYTES_MAX, Priority, RowPriority, priority};
pub use zone::LastmodZone;
pub(crate) use zone::{is_defined, is_zone_name};

/// Tags as they are in the input. A tag that is not given is empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RawTags<'a> {
    /// A date or time.
    pub lastmod: &'a [u8],
    /// A word.
    pub changefreq: &'a [u8],
    /// A number.
    pub priority: &'a [u8],
    /// Values of extensions.
    pub extras: RawExtras<'a>,
    /// The section of the set. It is not a tag: it decides which sitemap lists the URL.
    pub section: &'a [u8],
}

impl RawTags<'_> {
    /// Adds the given tags to `counts`. A tag with only blanks counts as not given.
    pub fn count(&self, counts: &mut TagCounts) {
        if self.is_empty() {
            return;
        }
        for (name, value) in [
            (TagName::Lastmod, self.lastmod),
            (TagName::Changefreq, self.changefreq),
            (TagName::Priority, self.priority),
        ] {
            counts[name] += u64::from(!value.trim_ascii().is_empty());
        }
        self.extras.count(counts);
    }

    /// Whether neither a tag nor a section is given.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.section.is_empty()
            && self.lastmod.is_empty()
            && self.changefreq.is_empty()
            && self.priority.is_empty()
            && self.extras.is_empty()
    }
}

/// Checked and normalised tags.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tags<'a> {
    lastmod: Option<Lastmod>,
    changefreq: Option<Changefreq>,
    priority: Option<RowPriority<'a>>,
}

impl Tags<'_> {
    /// Names and values of the tags that are given, in the order of the 0.9 schema.
    #[inline]
    pub fn written(&self) -> impl Iterator<Item = (&'static [u8], &[u8])> {
        let lastmod = self.lastmod.as_ref().map(|lastmod| (&b"lastmod"[..], lastmod.as_bytes()));
        let changefreq = self.changefreq.map(|word| (&b"changefreq"[..], word.as_str().as_bytes()));
        let priority = self.priority.as_ref().map(|priority| (&b"priority"[..], priority.as_bytes()));
        [lastmod, changefreq, priority].into_iter().flatten()
    }

    /// When the page last changed, in seconds since 1970, if `lastmod` is given.
    pub fn instant(&self) -> Option<i64> {
        self.lastmod.as_ref().map(Lastmod::instant)
    }
}

/// How tags are read, and the defaults for tags that are not given.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct TagRules {
    /// How to read `lastmod`.
    pub lastmod: LastmodRules,
    /// `changefreq` of rows without one.
    pub default_changefreq: Option<Changefreq>,
    /// `priority` of rows without one.
    pub default_priority: Option<Priority>,
}

impl TagRules {
    /// The tags of an entry; `None` if there is nothing to write. Calls `dropped` with each tag that cannot be written. A default
    /// does not replace such a tag, because one was given.
    #[inline]
    pub(crate) fn check<'a>(
        &'a self,
        raw: RawTags<'a>,
        dropped: &mut impl FnMut(Dropped<'_>),
    ) -> Option<Tags<'a>> {
        let given = !(raw.lastmod.is_empty() && raw.changefreq.is_empty() && raw.priority.is_empty());
        if !given && self.default_changefreq.is_none() && self.default_priority.is_none() {
            return None;
        }
        let lastmod = lastmod(raw.lastmod, &self.lastmod);
        let changefreq = changefreq(raw.changefreq).map(|given| given.or(self.default_changefreq));
        let priority = priority(raw.priority);
        let priority =
            priority.map(|given| given.or_else(|| self.default_priority.as_ref().map(Priority::of_row)));
        let tags = Tags {
            lastmod: lastmod.unwrap_or_else(|reason| drop_tag(reason, raw.lastmod, dropped)),
            changefreq: changefreq.unwrap_or_else(|reason| drop_tag(reason, raw.changefreq, dropped)),
            priority: priority.unwrap_or_else(|reason| drop_tag(reason, raw.priority, dropped)),
        };
        (tags != Tags::default()).then_some(tags)
    }
}

fn drop_tag<T>(reason: TagReason, value: &[u8], dropped: &mut impl FnMut(Dropped<'_>)) -> Option<T> {
    dropped(Dropped { reason, fields: &[("", value)] });
    None
}

#[cfg(test)]
mod tests;

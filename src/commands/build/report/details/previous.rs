//! The set before, with which a report compares.

use serde::{Deserialize, Serialize};

use crate::set::manifest::Manifest;

/// Figures of the set that was live before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviousSet {
    /// Time of publication; for several sites, the latest.
    pub published: String,
    /// URLs in its sitemaps.
    pub listed: u64,
    /// Sitemaps.
    pub sitemaps: u64,
    /// Bytes of its sitemap files.
    pub gzip_bytes: u64,
    /// Lines of its inputs. This and the following fields are known if its run counted them for a report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
    /// Lines whose URL is listed from another line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<u64>,
    /// Rejected lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<u64>,
}

/// The set that was live before another one, as far as it is known.
#[derive(Debug, Clone, Copy)]
pub enum Previous<'m> {
    /// There was none.
    None,
    /// There was one, but it is no longer kept, or its manifest is lost or damaged.
    Unknown,
    /// This one.
    Known(&'m Manifest),
}

impl<'m> Previous<'m> {
    /// The set that is `live` and about to be replaced. A stand-in shows that there was one, and no more.
    pub fn of_live(live: Option<&'m Manifest>) -> Self {
        match live {
            None => Self::None,
            Some(live) if live.is_stand_in => Self::Unknown,
            Some(live) => Self::Known(live),
        }
    }

    /// The set, if it is known.
    pub fn known(self) -> Option<&'m Manifest> {
        if let Self::Known(set) = self { Some(set) } else { None }
    }

    /// The URLs in its sitemaps, if that is known.
    pub fn urls(self) -> Option<u64> {
        match self {
            Self::None => Some(0),
            Self::Unknown => None,
            Self::Known(set) => Some(set.urls()),
        }
    }
}

impl PreviousSet {
    /// Adds `set` to the `sum` of the sets of several sites.
    pub(super) fn add(sum: &mut Option<Self>, set: &Manifest) {
        let is_only = sum.is_none();
        let sum = sum.get_or_insert_default();
        sum.published = sum.published.clone().max(set.published.clone());
        sum.listed += set.urls();
        sum.sitemaps += set.sitemaps.len() as u64;
        sum.gzip_bytes += set.gzip_bytes();
        let counts = set.counts.as_ref().filter(|_| is_only);
        sum.lines = counts.map(|counts| counts.lines);
        sum.duplicates = counts.map(|counts| counts.duplicates);
        sum.rejected = counts.map(|counts| counts.rejected);
    }
}

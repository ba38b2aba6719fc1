//! The history of the sets in a report.

use serde::{Deserialize, Serialize};

use crate::set::manifest::Manifest;

/// A set that was published, or the sets of several sites that were live at the same time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastSet {
    /// Time of publication.
    pub published: String,
    /// URLs in its sitemaps.
    pub listed: u64,
    /// Sitemaps.
    pub sitemaps: u64,
    /// Bytes of its sitemap files.
    pub gzip_bytes: u64,
}

/// Adds the sets of a site, the latest first. At each time, all sites count with the set that was live then. Returns the time from
/// which the sets of this one are known; empty if all are.
pub fn add<'s>(history: &mut Vec<PastSet>, sets: impl DoubleEndedIterator<Item = &'s Manifest>) -> String {
    let mut sets: Vec<_> = sets.rev().collect();
    sets.sort_by(|one, other| one.published.cmp(&other.published));
    insert_times(history, &sets);
    let (mut live, mut next) = (None, sets.iter().peekable());
    for past in history {
        live = next.next_if(|set| set.published == past.published).or(live);
        if let Some(set) = live {
            past.listed += set.urls();
            past.sitemaps += set.sitemaps.len() as u64;
            past.gzip_bytes += set.gzip_bytes();
        }
    }
    // Before the oldest set, there were others, which are no longer kept.
    sets.first().filter(|oldest| oldest.number > 1).map(|oldest| oldest.published.clone()).unwrap_or_default()
}

/// Adds the times at which `sets` were published. The other sites count there as just before.
fn insert_times(history: &mut Vec<PastSet>, sets: &[&Manifest]) {
    let mut at = 0;
    for set in sets {
        at += history[at..].iter().take_while(|past| past.published < set.published).count();
        // Two sets of a site count as two, even if they were published in the same second.
        if history.get(at).is_none_or(|past| past.published != set.published) {
            let before = at.checked_sub(1).map(|before| history[before].clone()).unwrap_or_default();
            history.insert(at, PastSet { published: set.published.clone(), ..before });
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Protocol;
    use crate::set::manifest::Sitemap;
    use crate::sitemap::divide::Limits;

    /// Sets of a site with these numbers, times and URLs, the latest first.
    fn site(sets: &[(u64, &str, u32)]) -> Vec<Manifest> {
        let set = |&(number, published, urls): &(u64, &str, u32)| {
            let sitemap = Sitemap {
                file: "s".into(),
                content: "c".into(),
                urls,
                xml_bytes: 100,
                gzip_bytes: 10,
                lastmod: String::new(),
                seals: None,
            };
            let limits = Limits { entries_max: 1_000, bytes_max: 1_000 };
            let set = Manifest::new("run", Protocol::V0_9, limits, "https://a/", published, vec![sitemap]);
            Manifest { number, ..set }
        };
        sets.iter().map(set).collect()
    }

    #[test]
    fn a_site_that_a_run_left_alone_counts_with_the_set_that_stayed_live() {
        let mut history = Vec::new();
        for (sets, known_since) in [
            (site(&[(3, "t3", 6), (2, "t2", 5), (1, "t1", 5)]), ""),
            (site(&[(2, "t3", 7), (1, "t1", 7)]), ""),
            (site(&[(1, "t2", 100)]), ""),
            (site(&[(9, "t4", 1_000), (8, "t4", 2_000)]), "t4"),
        ] {
            assert_eq!(add(&mut history, sets.iter()), known_since);
        }
        let listed: Vec<_> = history.iter().map(|past| (&*past.published, past.listed)).collect();
        assert_eq!(listed, [("t1", 12), ("t2", 112), ("t3", 113), ("t4", 2_113), ("t4", 1_113)]);
        assert_eq!(
            history[4],
            PastSet { published: "t4".into(), listed: 1_113, sitemaps: 4, gzip_bytes: 40 }
        );
    }
}

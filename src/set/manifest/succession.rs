//! Succession: how a set replaces the live set, and what it records about earlier sets.

use std::collections::{HashMap, HashSet};

use super::model::{Earlier, FORMAT, Manifest, Sitemap, Superseded};
use crate::limits::Protocol;
use crate::set::name::Stem;
use crate::sitemap::divide::Limits;

impl Manifest {
    /// A set of `sitemaps` that is not published yet.
    pub fn new(
        run: &str,
        protocol: Protocol,
        index_limits: Limits,
        base_url: &str,
        published: &str,
        sitemaps: Vec<Sitemap>,
    ) -> Self {
        Self {
            format: FORMAT,
            run: run.into(),
            protocol: protocol.to_string(),
            base_url: base_url.into(),
            published: published.into(),
            sitemaps,
            also: Vec::new(),
            sections: Vec::new(),
            indexes: Vec::new(),
            superseded: Vec::new(),
            superseded_indexes: Vec::new(),
            number: 1,
            sitemaps_per_index: index_limits.entries_max,
            index_bytes_max: index_limits.bytes_max,
            earlier: Vec::new(),
            secret: String::new(),
            scope: String::new(),
            counts: None,
            rows: None,
            is_stand_in: false,
            rolled_back_to: None,
        }
    }

    /// Makes this set the successor of `live`: sitemaps that it or one of the `kept` sets has unchanged keep their `lastmod`,
    /// unless that is the time of a clock which was ahead.
    pub fn succeeding(mut self, live: &Self, kept: &[Self]) -> Self {
        // The live set is the last one, and the entries of later sets replace those of earlier ones.
        let known = kept.iter().rev().chain([live]).flat_map(|set| &set.sitemaps);
        let kept: HashMap<_, _> = known.map(|old| ((&old.file, &old.content), &old.lastmod)).collect();
        let mut sitemaps = std::mem::take(&mut self.sitemaps);
        for sitemap in &mut sitemaps {
            if let Some(lastmod) = kept.get(&(&sitemap.file, &sitemap.content)) {
                sitemap.lastmod = self.time_before(live, lastmod);
            }
        }
        self.sitemaps = sitemaps;
        self.number = live.number_max().saturating_add(1);
        self.supersede(live);
        self
    }

    /// Replaces `live`: its sitemaps that this set does not list become superseded.
    pub fn supersede(&mut self, live: &Self) {
        let since = &self.published;
        let before = |old: &str| self.time_before(live, old);
        let listed: HashSet<_> = self.sitemaps.iter().map(|sitemap| &sitemap.file).collect();
        let now = live.sitemaps.iter().map(|s| Superseded { file: s.file.clone(), since: since.clone() });
        let old = live.superseded.iter();
        let old = old.map(|old| Superseded { since: before(&old.since), file: old.file.clone() });
        let superseded = old.chain(now).filter(|s| !listed.contains(&s.file)).collect();
        let (run, number) = (live.run.clone(), live.number);
        let replaced = Earlier { run, number, since: since.clone(), withdrawn: false };
        let replaced = (!live.is_stand_in).then_some(replaced);
        let old = live.earlier.iter();
        let old = old.map(|old| Earlier { since: before(&old.since), ..old.clone() });
        let earlier = replaced.into_iter().chain(old).collect();
        (self.superseded, self.earlier) = (superseded, earlier);
    }

    /// The `time` of something that this set takes over from `live`: that of a change, or that since which it is replaced. A time
    /// after both sets is that of a clock which was ahead; it would keep files for ever, and index files would have it for as long
    /// as a sitemap is unchanged. After one set alone, it may be right: perhaps the clock of the other one is behind.
    pub fn time_before(&self, live: &Self, time: &str) -> String {
        let latest = self.published.as_str().max(&live.published);
        time.min(latest).into()
    }

    /// The set that was live before this one, if it is kept. It comes first, even if a rollback has replaced it.
    pub fn replaced(&self) -> Option<&Earlier> {
        self.earlier.first().filter(|earlier| earlier.since == self.published)
    }

    /// Whether there was no set before this one, as far as it records. Files of earlier sets outlive their manifests.
    pub fn is_first(&self) -> bool {
        self.number <= 1 && self.earlier.is_empty() && self.superseded.is_empty()
    }

    /// The highest number of a set that is live or kept.
    pub fn number_max(&self) -> u64 {
        let numbers = self.earlier.iter().map(|earlier| earlier.number).chain([self.number]);
        numbers.max().expect("it has a number itself")
    }

    /// Whether the sitemaps and index files of both sets are equal, so that crawlers notice nothing if one replaces the other.
    pub fn has_same_files(&self, other: &Self) -> bool {
        let is_same = |(one, other): (&Sitemap, &Sitemap)| {
            (&one.file, &one.content, &one.lastmod) == (&other.file, &other.content, &other.lastmod)
        };
        let limits = |set: &Self| (set.sitemaps_per_index, set.index_bytes_max);
        (&self.base_url, &self.protocol, limits(self)) == (&other.base_url, &other.protocol, limits(other))
            && (&self.indexes, &self.also) == (&other.indexes, &other.also)
            && self.sitemaps.len() == other.sitemaps.len()
            && self.sitemaps.iter().zip(&other.sitemaps).all(is_same)
    }

    /// Whether the rollback that replaced this set took back set `number`, which is this one or an earlier one.
    pub fn took_back(&self, number: u64) -> bool {
        self.rolled_back_to.is_some_and(|restored| restored < number && number <= self.number)
    }

    /// This set without its history and its rows, as it is stored once another set is live.
    pub fn alone(&self) -> Self {
        let (superseded, superseded_indexes) = (Vec::new(), Vec::new());
        Self { superseded, superseded_indexes, earlier: Vec::new(), rows: None, ..self.clone() }
    }

    /// Its sitemaps by what their names begin with: those of each section.
    pub fn sitemaps_by_stem(&self) -> HashMap<Stem, Vec<&Sitemap>> {
        let mut by_stem: HashMap<Stem, Vec<&Sitemap>> = HashMap::new();
        for sitemap in &self.sitemaps {
            by_stem.entry(Stem::of_file(&sitemap.file).unwrap_or_default()).or_default().push(sitemap);
        }
        by_stem
    }

    /// URLs in its sitemaps.
    pub fn urls(&self) -> u64 {
        self.sitemaps.iter().map(|sitemap| u64::from(sitemap.urls)).sum()
    }

    /// Bytes of its sitemap files.
    pub fn gzip_bytes(&self) -> u64 {
        self.sitemaps.iter().map(|sitemap| sitemap.gzip_bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sitemap(file: &str, content: &str, lastmod: &str) -> Sitemap {
        let (content, lastmod) = (content.into(), lastmod.into());
        Sitemap { file: file.into(), content, urls: 1, xml_bytes: 2, gzip_bytes: 3, lastmod, seals: None }
    }

    fn succeed(live: Option<&Manifest>, published: &str, sitemaps: Vec<Sitemap>) -> Manifest {
        let limits = Limits { entries_max: 1, bytes_max: 2 };
        let set = Manifest::new(published, Protocol::V0_9, limits, "u", published, sitemaps);
        live.map_or(set.clone(), |live| set.succeeding(live, &[]))
    }

    #[test]
    fn unchanged_sitemaps_keep_their_lastmod_and_removed_ones_are_remembered() {
        let first = succeed(None, "t1", vec![sitemap("a", "1", "t1"), sitemap("b", "2", "t1")]);
        let second = succeed(Some(&first), "t2", vec![sitemap("a", "1", "t2"), sitemap("c", "3", "t2")]);
        assert_eq!(second.sitemaps, [sitemap("a", "1", "t1"), sitemap("c", "3", "t2")]);
        assert_eq!(second.superseded, [Superseded { file: "b".into(), since: "t2".into() }]);
        let third = succeed(Some(&second), "t3", vec![sitemap("b", "2", "t3"), sitemap("c", "other", "t3")]);
        assert_eq!(third.sitemaps, [sitemap("b", "2", "t3"), sitemap("c", "other", "t3")]);
        assert_eq!(third.superseded, [Superseded { file: "a".into(), since: "t3".into() }]);
        assert_eq!(third.number, 3);
        let limits = Limits { entries_max: 1, bytes_max: 2 };
        let sitemaps = vec![sitemap("a", "1", "t4"), sitemap("b", "2", "t4"), sitemap("c", "3", "t4")];
        let fourth = Manifest::new("t4", Protocol::V0_9, limits, "u", "t4", sitemaps);
        let fourth = fourth.succeeding(&third, &[second.clone(), first.clone()]);
        assert_eq!(
            fourth.sitemaps,
            [sitemap("a", "1", "t1"), sitemap("b", "2", "t3"), sitemap("c", "3", "t2")]
        );
        let earlier = |run: &str, number, since: &str| Earlier {
            run: run.into(),
            number,
            since: since.into(),
            withdrawn: false,
        };
        assert_eq!(third.earlier, [earlier("t2", 2, "t3"), earlier("t1", 1, "t2")]);
    }

    #[test]
    fn times_of_a_clock_that_was_ahead_are_corrected_once_two_runs_are_before_them() {
        let ahead =
            [vec![sitemap("a", "1", "t1")], vec![sitemap("b", "2", "t9")], vec![sitemap("c", "3", "t3")]];
        let [first, second, third] = ahead;
        let first = succeed(None, "t1", first);
        let second = succeed(Some(&first), "t9", second);
        let since = |set: &Manifest| {
            let files = set.superseded.iter().map(|old| old.since.clone());
            files.chain(set.earlier.iter().map(|old| old.since.clone())).collect::<Vec<_>>()
        };
        let third = succeed(Some(&second), "t3", third);
        assert_eq!(since(&third), ["t9", "t3", "t3", "t9"], "perhaps this clock is behind");
        let fourth = succeed(Some(&third), "t4", Vec::new());
        assert_eq!(since(&fourth), ["t4", "t3", "t4", "t4", "t3", "t4"]);
        let behind = succeed(Some(&fourth), "t0", Vec::new());
        assert_eq!(since(&behind), ["t4", "t3", "t4", "t0", "t4", "t3", "t4"], "nothing looks older");
    }

    #[test]
    fn a_lastmod_of_a_clock_that_was_ahead_is_corrected_once_two_runs_are_before_it() {
        let lastmod = |set: &Manifest| set.sitemaps[0].lastmod.clone();
        let mut live = succeed(None, "t9", vec![sitemap("a", "1", "t9")]);
        // The last run has a clock that is behind.
        for (published, want) in [("t3", "t9"), ("t4", "t4"), ("t5", "t4"), ("t0", "t4")] {
            live = succeed(Some(&live), published, vec![sitemap("a", "1", published)]);
            assert_eq!(lastmod(&live), want, "{published}");
        }
    }

    #[test]
    fn the_stand_in_for_a_lost_set_cannot_be_restored() {
        let lost = Manifest { is_stand_in: true, number: 7, ..succeed(None, "t1", Vec::new()) };
        let next = succeed(Some(&lost), "t2", Vec::new());
        assert_eq!((next.number, next.earlier, next.is_stand_in), (8, Vec::new(), false));
    }

    #[test]
    fn a_manifest_of_the_first_version_is_still_read() {
        let mut whole = serde_json::to_value(succeed(None, "t", Vec::new())).unwrap();
        for key in ["number", "sitemaps_per_index", "index_bytes_max", "earlier", "secret", "scope"] {
            whole.as_object_mut().unwrap().remove(key).unwrap();
        }
        let manifest: Manifest = serde_json::from_value(whole).unwrap();
        assert_eq!((manifest.number, manifest.sitemaps_per_index), (0, 1_000));
        assert_eq!(succeed(Some(&manifest), "t2", Vec::new()).number, 1);
    }
}

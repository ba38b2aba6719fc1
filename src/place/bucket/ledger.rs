//! The ledger: the ETags that the store assigned to uploaded sitemaps. With it, one listing of the bucket shows which sitemaps are
//! unchanged.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::store::Object;

/// Records of the content of published sitemaps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// The ETag of each file whose content is known.
    tags: BTreeMap<String, String>,
    /// Files that may have been changed, and that no run has needed since.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    doubted: BTreeSet<String>,
    /// When the live manifest was uploaded, by the store's clock.
    #[serde(skip)]
    live_since: Option<i64>,
}

impl Ledger {
    /// Parses a ledger, or returns an empty one if `bytes` is `None` or invalid. The live manifest was uploaded at `live_since`.
    pub fn from_json(bytes: Option<&[u8]>, live_since: i64) -> Self {
        let read = bytes.and_then(|bytes| serde_json::from_slice::<Self>(bytes).ok());
        Self { live_since: Some(live_since), ..read.unwrap_or_default() }
    }

    /// Serializes the ledger.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("it has only strings")
    }

    /// Whether `object`, which has the name and size of a published sitemap, is known to have its content, too. If no ETag is
    /// known, because the store lists none or another process uploaded the object, it has the content if it was not uploaded after
    /// the manifest that names it. A later time proves nothing, because the times may be rounded to whole seconds.
    pub fn vouches_for(&self, file: &str, object: &Object) -> bool {
        if self.doubted.contains(file) {
            return false;
        }
        match (&object.tag, self.tags.get(file)) {
            (Some(tag), Some(known)) => tag == known,
            _ => self.live_since.is_some_and(|since| object.modified <= since),
        }
    }

    /// Returns the ledger of a new set, where `listed` are all published files. `is_new` tells which of them this run has uploaded,
    /// and `is_in_set` which ones are the sitemaps of the set: the run or one of its workers has read or uploaded those that this
    /// ledger does not vouch for. Other files that it does not vouch for are in doubt from now on. They may have been changed
    /// before the new manifest, so their times no longer show it.
    pub fn renewed(
        &self,
        listed: &BTreeMap<String, Object>,
        is_new: impl Fn(&str) -> bool,
        is_in_set: impl Fn(&str) -> bool,
    ) -> Self {
        let mut renewed = Self::default();
        for (file, object) in listed {
            if is_new(file) || self.vouches_for(file, object) {
                renewed.tags.extend(object.tag.clone().map(|tag| (file.clone(), tag)));
            } else if !is_in_set(file) {
                renewed.doubted.insert(file.clone());
            }
        }
        renewed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "sitemap-00001-1f2e3d4c.xml.gz";

    fn object(tag: Option<&str>, modified: i64) -> Object {
        Object { bytes: 7, tag: tag.map(str::to_owned), version: None, modified }
    }

    /// The ledger after a run, as the next run reads it. Each run makes a manifest live ten seconds after the one before.
    fn next(before: &Ledger, object: &Object, is_new: bool, is_in_set: bool) -> Ledger {
        let listed = [(FILE.to_owned(), object.clone())].into();
        let json = before.renewed(&listed, |_| is_new, |_| is_in_set).to_json();
        Ledger::from_json(Some(&json), before.live_since.unwrap_or_default() + 10)
    }

    #[test]
    fn a_file_that_was_changed_stays_in_doubt_until_a_run_needs_it() {
        for (whole, changed, restored) in [
            (Some("whole"), Some("changed"), Some("whole")),
            (Some("whole"), Some("changed"), Some("rewritten")),
            // The store lists no ETags.
            (None, None, None),
        ] {
            let first = next(&Ledger::default(), &object(whole, 5), true, true);
            assert!(first.vouches_for(FILE, &object(whole, 5)));
            let changed = object(changed, 15);
            assert!(!first.vouches_for(FILE, &changed));
            // Runs for other sitemaps.
            let second = next(&first, &changed, false, false);
            let third = next(&second, &changed, false, false);
            assert!(!second.vouches_for(FILE, &changed) && !third.vouches_for(FILE, &changed));
            // A run that has uploaded it again, and one that has read it and found it to be whole.
            for is_new in [true, false] {
                let restored = object(restored, 35);
                let fourth = next(&third, &restored, is_new, true);
                assert!(fourth.vouches_for(FILE, &restored), "{is_new} {restored:?}");
            }
        }
    }

    #[test]
    fn without_a_ledger_only_the_files_of_the_set_are_trusted() {
        let listed = object(Some("tag"), 5);
        for (is_in_set, want) in [(true, true), (false, false)] {
            let ledger = next(&Ledger::default(), &listed, false, is_in_set);
            assert_eq!(ledger.vouches_for(FILE, &listed), want);
        }
    }
}

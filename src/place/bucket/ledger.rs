//! The ledger: the entity tags that the store gave to sitemaps when they were put. By them, a sitemap is known to be unaltered from the
//! list of the bucket alone.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::store::Object;

/// The tags of published sitemaps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// The tag of each file.
    pub tags: BTreeMap<String, String>,
    /// When the live manifest was put, by the clock of the store.
    #[serde(skip)]
    live_since: Option<i64>,
}

impl Ledger {
    /// The ledger with these bytes, or an empty one if they are none. The live manifest was put at `live_since`.
    pub fn from_json(bytes: Option<&[u8]>, live_since: i64) -> Self {
        let read = bytes.and_then(|bytes| serde_json::from_slice::<Self>(bytes).ok());
        Self { live_since: Some(live_since), ..read.unwrap_or_default() }
    }

    /// Its bytes.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("it has only strings")
    }

    /// Whether `object`, which has the name and size of a published sitemap, has its content; none if that is not known. Where no
    /// tag is known, because the store lists none or another process put it, it has if it was not put after the manifest that names
    /// it. The times of a store may be whole seconds, so a later one says nothing.
    pub fn vouches_for(&self, file: &str, object: &Object) -> Option<bool> {
        match (&object.tag, self.tags.get(file)) {
            (Some(tag), Some(known)) => Some(tag == known),
            _ => (object.modified <= self.live_since?).then_some(true),
        }
    }

    /// The tags of the `listed` files, without those that may have been altered. `is_new` tells which files this run has put.
    pub fn renewed(&self, listed: &BTreeMap<String, Object>, is_new: impl Fn(&str) -> bool) -> Self {
        let is_known =
            |file: &str, object: &Object| is_new(file) || self.vouches_for(file, object) == Some(true);
        let known = listed.iter().filter(|(file, object)| is_known(file, object));
        let tags = known.filter_map(|(file, object)| Some((file.clone(), object.tag.clone()?)));
        Self { tags: tags.collect(), live_since: None }
    }
}

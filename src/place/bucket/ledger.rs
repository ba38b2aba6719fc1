//! The ledger: the ETags that the store assigned to uploaded sitemaps. With it, one listing of the bucket shows which sitemaps are
//! unchanged.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::store::Object;

/// The ETags of published sitemaps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// The ETag of each file.
    pub tags: BTreeMap<String, String>,
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

    /// Whether `object`, which has the name and size of a published sitemap, also has its content; `None` if unknown. If no ETag is
    /// known, because the store lists none or another process uploaded the object, it has the content if it was not uploaded after
    /// the manifest that names it. A later time proves nothing, because the times may be rounded to whole seconds.
    pub fn vouches_for(&self, file: &str, object: &Object) -> Option<bool> {
        match (&object.tag, self.tags.get(file)) {
            (Some(tag), Some(known)) => Some(tag == known),
            _ => (object.modified <= self.live_since?).then_some(true),
        }
    }

    /// Returns the ETags of the `listed` files that are known to be unchanged. `is_new` tells which files this run has uploaded.
    pub fn renewed(&self, listed: &BTreeMap<String, Object>, is_new: impl Fn(&str) -> bool) -> Self {
        let is_known =
            |file: &str, object: &Object| is_new(file) || self.vouches_for(file, object) == Some(true);
        let known = listed.iter().filter(|(file, object)| is_known(file, object));
        let tags = known.filter_map(|(file, object)| Some((file.clone(), object.tag.clone()?)));
        Self { tags: tags.collect(), live_since: None }
    }
}

//! The journal: the object that records which run may publish, and whether it has decided to publish its set.
//!
//! Every change is a conditional PUT of the whole content, and no two contents are equal. Therefore a run can only replace content
//! that it has read or written, and a run that was presumed dead learns that another has taken over when it tries to commit.
//!
//! ```text
//!  (none), released ──claim──▶ claimed ──decide──▶ decided ──complete──▶ claimed ──release──▶ released
//!                              │  ▲ heartbeats       │  ▲ heartbeats
//!                              └──┴─ another run takes over if the heartbeats stop
//! ```

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, message};
use crate::place::owner::Owner;

/// The progress of a run and of its switch to another set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// No run is active.
    Released,
    /// A run is active and has not committed.
    Claimed,
    /// The set that `run` has staged will be live: the owner, or a run that takes over, completes the switch.
    Decided,
}

/// The content of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// The state.
    pub state: State,
    /// The run that the state refers to.
    pub run: String,
    /// The process that holds the claim. If it has taken over a decided switch, it is not the process of `run`.
    pub owner: Owner,
    /// The run of the owner.
    pub owner_run: String,
    /// Counts the changes by the owner, so that no two contents are equal.
    pub beat: u64,
    /// Whether the owner may change all sites below.
    #[serde(default, skip_serializing_if = "is_false")]
    pub for_sites: bool,
    /// The URL of the journal of all sites, if the owner writes its heartbeats there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heart: Option<String>,
    /// The run for all sites that writes these heartbeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heart_run: Option<String>,
}

impl Journal {
    /// Serializes the journal.
    pub fn to_json(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec(self).expect("it has only strings and numbers");
        json.push(b'\n');
        json
    }

    /// Parses the content of the journal at `path`.
    ///
    /// # Errors
    /// If it is not a journal.
    pub fn read(path: &Path, bytes: &[u8]) -> Result<Self> {
        Self::from_json(bytes).ok_or_else(|| {
            let words =
                "is not a journal, or is from a later version of sitemill; remove it if no run is active";
            Error::data(message!(path, ": {words}"))
        })
    }

    /// Parses a journal; `None` if `bytes` is not a journal.
    pub fn from_json(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

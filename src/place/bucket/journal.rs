//! The journal: the one object by which runs agree on who may publish, and whether a set is decided.
//!
//! It is only ever changed by a conditional put of its whole content, which differs from every content before it. So whoever changes
//! it knows what was there, and a run that was taken for dead learns that another has taken over when it tries to decide.
//!
//! ```text
//!  (none), released ──claim──▶ claimed ──decide──▶ decided ──complete──▶ claimed ──release──▶ released
//!                              │  ▲ heart beats      │  ▲ heart beats
//!                              └──┴─ another run takes over, if the owner shows no sign of life
//! ```

use serde::{Deserialize, Serialize};

use super::owner::Owner;

/// How far the switch to another set is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// No run is at work.
    Released,
    /// A run is at work and has decided nothing.
    Claimed,
    /// The set that `run` has staged is to be live. Its owner completes the switch, or whoever takes over.
    Decided,
}

/// The content of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// The state.
    pub state: State,
    /// The run that the state is of.
    pub run: String,
    /// The process that acts. Not the one of `run` if another has taken over a decided switch.
    pub owner: Owner,
    /// The run of the owner.
    pub owner_run: String,
    /// Counts the changes by the owner, so that no two contents are equal.
    pub beat: u64,
    /// Whether the owner may change all sites below.
    #[serde(default, skip_serializing_if = "is_false")]
    pub for_sites: bool,
    /// The URL of the journal of all sites, which has the heart beats of the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heart: Option<String>,
}

impl Journal {
    /// Its bytes.
    pub fn to_json(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec(self).expect("it has only strings and numbers");
        json.push(b'\n');
        json
    }

    /// Reads it; none if these bytes are none.
    pub fn from_json(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

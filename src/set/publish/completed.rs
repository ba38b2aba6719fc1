//! Switches of dead runs that a run has completed. They stay live even if this run fails.

use serde::{Deserialize, Serialize};

use crate::error::{Error, message};
use crate::words::{and_more, grouped};

/// A switch that a run began before it died, and that a later run has completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompletedSwitch {
    /// Number of the set that is live now.
    pub number: u64,
    /// URL of the directory of its files.
    pub base_url: String,
}

/// The switches that a run has completed. They are named in its report or, if it fails, in its error.
#[derive(Debug, Clone, Default)]
pub struct Completed(pub Vec<CompletedSwitch>);

impl Completed {
    /// Adds the switches to the `error` of the run.
    pub fn explain(&self, error: Error) -> Error {
        let [CompletedSwitch { number, base_url }, others @ ..] = &self.0[..] else { return error };
        let (number, others) = (grouped(*number), and_more(others.len()));
        let why = "because this run has completed the switch of an earlier one that died";
        error.and(message!("set {number} of {base_url}{others} is live now, {why}"))
    }
}

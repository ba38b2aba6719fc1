//! Notes on rows: counts that no tally of fixed size can have.

use serde::{Deserialize, Serialize};

use crate::clean::scope::Origins;
use crate::clean::screen::RuleCounts;

/// Counts of rows by origin and by rule. Notes on different rows can be added.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Notes {
    /// The origins of URLs that are out of scope.
    pub out_of_scope: Origins,
    /// The rules that have rewritten, included or excluded URLs.
    pub rules: RuleCounts,
}

impl Notes {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.out_of_scope.is_empty() && self.rules.is_empty()
    }

    /// Adds the notes on other rows.
    pub fn merge(&mut self, more: &Self) {
        self.out_of_scope.merge(&more.out_of_scope);
        self.rules.merge(&more.rules);
    }
}

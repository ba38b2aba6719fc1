//! Findings that are reported: the first ones, and no more than a maximum of each file.

use std::collections::HashMap;

use super::finding::{Finding, Findings};
use super::rules::Counts;
use crate::error::Result;

/// Maximum number of findings reported per file. All are counted.
pub const FINDINGS_PER_FILE_MAX: u64 = 10_000;

/// The findings that were reported so far.
pub(super) struct Told<'a> {
    tell: &'a mut dyn FnMut(&Finding) -> Result<()>,
    findings_max: u64,
    findings: u64,
    /// The number of findings of each file, which come in parts: duplicates are found after everything else.
    of_files: HashMap<String, u64>,
    /// The number of all findings, whether reported or not.
    pub counts: Counts,
}

impl<'a> Told<'a> {
    /// Creates one that reports with `tell`, up to `findings_max` findings.
    pub fn new(tell: &'a mut dyn FnMut(&Finding) -> Result<()>, findings_max: u64) -> Self {
        Self { tell, findings_max, findings: 0, of_files: HashMap::new(), counts: Counts::default() }
    }

    /// Counts all `findings` and reports them until a maximum is reached.
    ///
    /// # Errors
    /// If the report fails.
    pub fn add(&mut self, findings: &Findings) -> Result<()> {
        self.counts = self.counts + findings.counts;
        for finding in &findings.kept {
            if self.findings == self.findings_max {
                break;
            }
            let of_file = self.of_files.entry(finding.file.clone()).or_default();
            if *of_file < FINDINGS_PER_FILE_MAX {
                *of_file += 1;
                self.findings += 1;
                (self.tell)(finding)?;
            }
        }
        Ok(())
    }
}

//! What the report says of inputs.

use super::plan::Plan;
use crate::error::{Error, ErrorKind, Result};
use crate::report::{ColumnsReport, InputReport};
use crate::stage::form::{ColumnsFound, Facts, Packing};
use crate::stage::input::Input;
use crate::text;

/// What was found out about an input while it was mapped or spooled.
#[derive(Debug)]
pub struct Known {
    /// What it turned out to be.
    pub facts: Facts,
    /// Its bytes, compressed if it is.
    pub bytes: u64,
    /// Rows that were judged before the survey and whose URL has bytes that are not UTF-8.
    pub non_utf8: u64,
}

/// What the report says of each of `inputs`, whose rows `plan` has counted.
///
/// # Errors
/// [`ErrorKind::Internal`] if their lines do not add up to those of the plan.
pub fn reports(inputs: &[Input], known: &[Known], plan: &Plan) -> Result<Vec<InputReport>> {
    let mut lines = vec![0; inputs.len()];
    plan.chunks.iter().for_each(|chunk| lines[chunk.input] += chunk.tally.lines);
    let sum: u64 = lines.iter().sum();
    if sum != plan.tally.lines || known.len() != inputs.len() {
        let all = plan.tally.lines;
        let words = format!("the inputs have {sum} lines, and {all} were accounted for");
        return Err(Error::new(ErrorKind::Internal, words));
    }
    let report = |((input, known), lines): ((&Input, &Known), u64)| InputReport {
        path: text::shown(input.name().as_os_str().as_encoded_bytes()),
        format: known.facts.format.to_string(),
        packing: (known.facts.packing != Packing::None).then(|| known.facts.packing.to_string()),
        lines,
        bytes: known.bytes,
        columns: known.facts.columns.as_ref().map(columns),
        dropped_elements: Default::default(),
    };
    Ok(inputs.iter().zip(known).zip(lines).map(report).collect())
}

fn columns(found: &ColumnsFound) -> ColumnsReport {
    let used = found.used.iter().map(|(part, name)| (*part, text::shown(name)));
    let impossible = found.impossible.iter().map(|(part, name)| (*part, text::shown(name)));
    ColumnsReport {
        used: used.collect(),
        unused: found.unused.shown().map(Into::into).collect(),
        impossible: impossible.collect(),
    }
}

//! Reports rejected rows and dropped tags in input order.
//!
//! Chunks with rejected rows are judged again. Keeping every refused row of a damaged export in memory would cost more than
//! everything else, and line numbers are known only when all lines before are counted.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::account::{Account, AccountedChunk};
use super::context::Context;
use super::judge::{Judge, Judged, Rules};
use crate::clean::Reason;
use crate::common::ordered::ordered;
use crate::error::{Error, Result};
use crate::escape;
use crate::intake::input::Input;
use crate::intake::reject_row;
use crate::intake::spool_format::{Content, InputRow};

/// A refused or excluded line, or a dropped tag, in a form for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Example {
    /// Why it was refused, or the rule that excludes it.
    pub reason: Cow<'static, str>,
    /// The name of the input, escaped.
    pub input: String,
    /// Its line number, from 1.
    pub line: u64,
    /// Its text, escaped and cut at 200 bytes.
    pub text: String,
}

/// A row that was refused or excluded, or a tag of it that was dropped.
pub struct Refused<'i> {
    /// The number of its line or row.
    pub line: u64,
    /// Its offset in the input.
    pub offset: u64,
    /// The word of a [`Reason`] or of a tag's reason, or the name of the rule that excludes the row.
    pub reason: &'i str,
    /// The text of the row, or of the tag.
    pub text: Cow<'i, [u8]>,
}

/// Maximum number of rows that a hint is based on.
pub const SAMPLES: usize = 16;

/// Writes all rejected and excluded rows and all dropped tags to `out`, the file `path`.
///
/// # Errors
/// If it cannot be written to, or if `stop` is raised.
pub fn write(
    run: Context<'_>,
    account: &Account,
    inputs: &[Input],
    path: &Path,
    mut out: impl Write,
) -> Result<()> {
    let unwritten = |error| Error::io(path, "could not be written", error);
    out.write_all(reject_row::HEADER.as_bytes()).map_err(unwritten)?;
    let rows = |judge: &mut Judge<'_>, chunk: &AccountedChunk| {
        let mut rows = Vec::new();
        let name = inputs[chunk.chunk.input].name();
        for Refused { line, offset, reason, text } in refused(chunk, inputs, judge) {
            reject_row::push_row(name, line, offset, reason, &text, &mut rows);
        }
        rows
    };
    let worth_it = |chunk: &&AccountedChunk| {
        let tally = &chunk.tally;
        tally.rejected.total() + tally.excluded + tally.dropped.total() > 0
    };
    let chunks = account.chunks.iter().filter(worth_it);
    ordered(
        run.job.resources.threads.get(),
        chunks,
        || Judge::new(run.rules),
        rows,
        |rows| {
            run.stop.check()?;
            out.write_all(&rows).map_err(unwritten)
        },
    )
}

/// Maximum number of chunks that are judged again for the examples of excluded rows. A chunk does not know which rules apply to its
/// rows, and a rule may apply only to the last row of the input.
const EXCLUDED_CHUNKS_MAX: usize = 16;

/// The first rows of every reason that occurred, up to `each`, in the order in which reasons are checked; then those of the rules
/// `excluding` rows, if they are among the first rows that are excluded.
pub fn examples(
    rules: &Rules,
    account: &Account,
    inputs: &[Input],
    excluding: &[&str],
    each: usize,
) -> Vec<Example> {
    let rejected = account.tally.rejected.iter().map(|(reason, _)| reason.as_str());
    let reasons = rejected.chain(account.tally.dropped.iter().map(|(reason, _)| reason.as_str()));
    let words: Vec<&str> = reasons.chain(excluding.iter().copied()).collect();
    let mut judge = Judge::new(rules);
    let mut examples: BTreeMap<&str, Vec<Example>> = BTreeMap::new();
    let mut excluded_chunks = 0;
    for chunk in &account.chunks {
        let lacks = |word: &str| examples.get(word).is_none_or(|known| known.len() < each);
        let rejected = chunk.tally.rejected.iter().map(|(reason, _)| reason.as_str());
        let mut of_chunk = rejected.chain(chunk.tally.dropped.iter().map(|(reason, _)| reason.as_str()));
        let may_have_excluded = chunk.tally.excluded > 0
            && excluded_chunks < EXCLUDED_CHUNKS_MAX
            && excluding.iter().any(|rule| lacks(rule));
        if !may_have_excluded && !of_chunk.any(lacks) {
            continue;
        }
        excluded_chunks += usize::from(chunk.tally.excluded > 0);
        let input = escape::shown(inputs[chunk.chunk.input].name().as_os_str().as_encoded_bytes());
        for Refused { line, reason, text, .. } in refused(chunk, inputs, &mut judge) {
            // Rules that have no examples.
            let Some(&word) = words.iter().find(|word| **word == reason) else { continue };
            let known = examples.entry(word).or_default();
            if known.len() < each {
                let (input, text) = (input.clone(), escape::shown(&text));
                known.push(Example { reason: word.to_owned().into(), input, line, text });
            }
        }
    }
    words.into_iter().filter_map(|word| examples.remove(word)).flatten().collect()
}

/// The first rows that were refused for `reason`, escaped: a few, as the very first may be a comment.
pub fn samples(rules: &Rules, account: &Account, inputs: &[Input], reason: Reason) -> Vec<String> {
    let mut judge = Judge::new(rules);
    let chunks = account.chunks.iter().filter(|chunk| chunk.tally.rejected[reason] > 0);
    let rows = chunks.flat_map(|chunk| refused(chunk, inputs, &mut judge));
    let of_reason = rows.filter(|refused| refused.reason == reason.as_str());
    of_reason.take(SAMPLES).map(|refused| escape::shown(&refused.text)).collect()
}

fn refused<'i, 'r: 'i>(
    chunk: &AccountedChunk,
    inputs: &'i [Input],
    judge: &mut Judge<'r>,
) -> Vec<Refused<'i>> {
    let mut all = Vec::new();
    chunk.rows(inputs).for_each(|row| all.extend(refused_of(row, judge)));
    all
}

/// The refused or excluded `row`, or its tags that were dropped; nothing if it is neither refused nor lost a tag.
pub fn refused_of<'i, 'r: 'i>(row: InputRow<'i>, judge: &mut Judge<'r>) -> Vec<Refused<'i>> {
    let InputRow { line, offset, content } = row;
    let mut dropped = Vec::new();
    let judged = judge.judge_telling(content, &mut |tag| {
        let (reason, text) = (tag.reason.as_str(), tag.to_text().into());
        dropped.push(Refused { line, offset, reason, text });
    });
    let reason = match judged {
        Judged::Rejected(reason) => reason.as_str(),
        Judged::Excluded(rule) => judge.rule_name(rule),
        Judged::Entry(_) => return dropped,
        Judged::Blank => return Vec::new(),
    };
    let (Content::Url(text, _) | Content::Bad(text, _)) = content else {
        unreachable!("an entry is neither refused nor excluded")
    };
    vec![Refused { line, offset, reason, text: text.into() }]
}

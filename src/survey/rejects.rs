//! Reports rejected rows and dropped tags in input order.
//!
//! Chunks with rejected rows are judged again. Keeping every rejected row of a damaged export in memory would cost more than
//! everything else, and line numbers are known only when all lines before are counted.

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::account::{Account, AccountedChunk};
use super::context::Context;
use super::judge::{Judge, Judged, Rules};
use super::tally::Tally;
use crate::clean::Reason;
use crate::common::ordered::ordered;
use crate::error::{Error, Result};
use crate::escape;
use crate::intake::input::Input;
use crate::intake::reject_row;
use crate::intake::spool_format::{Content, InputRow};

/// A rejected or excluded line, or a dropped tag, in a form for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Example {
    /// Why it was rejected, or the rule that excludes it.
    pub reason: Cow<'static, str>,
    /// The name of the input, escaped.
    pub input: String,
    /// Its line number, from 1.
    pub line: u64,
    /// Its text, escaped and cut at 200 bytes.
    pub text: String,
}

/// A row that was rejected or excluded, or a tag of it that was dropped.
pub struct Reject<'i> {
    /// The number of its line or row.
    pub line: u64,
    /// Its offset in the input.
    pub offset: u64,
    /// The word of a [`Reason`] or of a tag's reason, or the name of the rule that excludes the row.
    pub reason: &'i str,
    /// The text of the row, or of the tag.
    pub text: Cow<'i, [u8]>,
}

impl Reject<'_> {
    /// Returns the row as an example. `input` is the name of its input, escaped.
    pub fn to_example(&self, input: &str) -> Example {
        let (reason, text) = (self.reason.to_owned().into(), escape::shown(&self.text));
        Example { reason, input: input.to_owned(), line: self.line, text }
    }
}

/// Returns the name of an input, escaped.
fn shown_name(input: &Input) -> String {
    escape::shown(input.name().as_os_str().as_encoded_bytes())
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
        for Reject { line, offset, reason, text } in rejects(chunk, inputs, judge) {
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

/// Maximum number of chunks that are judged again only for examples of excluded rows, and have none. With more than 64 rules, a
/// chunk may seem to have an example of a rule that did not apply to any of its rows.
const FRUITLESS_CHUNKS_MAX: usize = 16;

/// The first rows of every reason that occurred, up to `each`, in the order in which reasons are checked; then those of the rules
/// `excluding` rows.
pub fn examples(
    rules: &Rules,
    account: &Account,
    inputs: &[Input],
    excluding: &[&str],
    each: usize,
) -> Vec<Example> {
    let excluding: Vec<_> = excluding.iter().map(|&name| (name, rules.excluding(name))).collect();
    let mut words: Vec<&str> = reasons(&account.tally).collect();
    words.extend(excluding.iter().map(|&(name, _)| name));
    let mut examples = Examples { each, all: words.into_iter().map(|word| (word, Vec::new())).collect() };
    let mut judge = Judge::new(rules);
    let mut fruitless_chunks = 0;
    for chunk in &account.chunks {
        // The words that lack examples and for which this chunk has some.
        let mut wanted: Vec<&str> = reasons(&chunk.tally).filter(|word| examples.lack(word)).collect();
        let excluding =
            excluding.iter().filter(|(name, rules)| chunk.rules.may_share(*rules) && examples.lack(name));
        if !wanted.is_empty() || fruitless_chunks < FRUITLESS_CHUNKS_MAX {
            wanted.extend(excluding.map(|(name, _)| name));
        }
        if wanted.is_empty() {
            continue;
        }
        let mut is_fruitless = true;
        let input = shown_name(&inputs[chunk.chunk.input]);
        for row in chunk.rows(inputs) {
            for reject in rejects_of(row, &mut judge) {
                is_fruitless &= !examples.add(&reject, &input);
                wanted.retain(|word| examples.lack(word));
            }
            if wanted.is_empty() {
                break;
            }
        }
        fruitless_chunks += usize::from(is_fruitless);
    }
    examples.all.into_iter().flat_map(|(_, own)| own).collect()
}

/// The reasons that a tally counts, in the order in which they are checked.
fn reasons(tally: &Tally) -> impl Iterator<Item = &'static str> {
    let rejected = tally.rejected.iter().map(|(reason, _)| reason.as_str());
    rejected.chain(tally.dropped.iter().map(|(reason, _)| reason.as_str()))
}

/// Examples of reasons and rules.
struct Examples<'w> {
    /// Maximum number of examples of each.
    each: usize,
    /// The examples so far, with the words that they are for.
    all: Vec<(&'w str, Vec<Example>)>,
}

impl Examples<'_> {
    /// Whether more examples are wanted for `word`.
    fn lack(&self, word: &str) -> bool {
        self.all.iter().any(|(own, examples)| *own == word && examples.len() < self.each)
    }

    /// Adds a row of `input`, if an example like it is wanted. Returns whether it is.
    fn add(&mut self, reject: &Reject<'_>, input: &str) -> bool {
        let own = self.all.iter_mut().find(|(word, _)| *word == reject.reason);
        let Some((_, examples)) = own.filter(|(_, examples)| examples.len() < self.each) else {
            return false;
        };
        examples.push(reject.to_example(input));
        true
    }
}

/// The first rows that were rejected for `reason`: a few, as the very first may be a comment.
pub fn samples(rules: &Rules, account: &Account, inputs: &[Input], reason: Reason) -> Vec<Example> {
    let mut judge = Judge::new(rules);
    let chunks = account.chunks.iter().filter(|chunk| chunk.tally.rejected[reason] > 0);
    let rows = chunks.flat_map(|chunk| {
        let input = shown_name(&inputs[chunk.chunk.input]);
        let own = rejects(chunk, inputs, &mut judge).into_iter();
        own.filter(|reject| reject.reason == reason.as_str()).map(move |reject| reject.to_example(&input))
    });
    rows.take(SAMPLES).collect()
}

fn rejects<'i, 'r: 'i>(
    chunk: &AccountedChunk,
    inputs: &'i [Input],
    judge: &mut Judge<'r>,
) -> Vec<Reject<'i>> {
    let mut all = Vec::new();
    chunk.rows(inputs).for_each(|row| all.extend(rejects_of(row, judge)));
    all
}

/// The rejected or excluded `row`, or its tags that were dropped; nothing if it is neither rejected nor lost a tag.
pub fn rejects_of<'i, 'r: 'i>(row: InputRow<'i>, judge: &mut Judge<'r>) -> Vec<Reject<'i>> {
    let InputRow { line, offset, content } = row;
    let mut dropped = Vec::new();
    let judged = judge.judge_telling(content, &mut |tag| {
        let (reason, text) = (tag.reason.as_str(), tag.to_text().into());
        dropped.push(Reject { line, offset, reason, text });
    });
    let reason = match judged {
        Judged::Rejected(reason) => reason.as_str(),
        Judged::Excluded(rule) => judge.rule_name(rule),
        Judged::Entry(_) => return dropped,
        Judged::Blank => return Vec::new(),
    };
    let (Content::Url(text, _) | Content::Bad(text, _)) = content else {
        unreachable!("an entry is neither rejected nor excluded")
    };
    vec![Reject { line, offset, reason, text: text.into() }]
}

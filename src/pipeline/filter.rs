//! The filter behind `sitemill clean`: canonical URLs in input order, with no dedup and no scope.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::ordered::ordered;
use crate::error::{Error, Result};
use crate::stage::clean::{Cleaned, Cleaner, Reason, Rejected};
use crate::stage::input::Source;
use crate::stage::lines::{self, Block, Blocks};
use crate::stage::rejects;

/// What a filter run did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FilterReport {
    /// All lines: `blank + accepted + rejected`.
    pub lines: u64,
    /// Nothing but spaces and tabs.
    pub blank: u64,
    /// URLs that came out.
    pub accepted: u64,
    /// Refused lines.
    pub rejected: Rejected,
}

/// Where something is written to, and what that is called in messages.
pub struct Target<'a> {
    /// Its name.
    pub name: &'a Path,
    /// Itself.
    pub to: &'a mut dyn Write,
}

impl Target<'_> {
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.to.write_all(bytes).map_err(|error| Error::io(self.name, "could not be written", error))
    }
}

/// Cleans every line of `inputs` into `urls`, one canonical URL a line and in input order; refused lines go to
/// `rejects`. A pipe is filtered as it comes, with no more than a few blocks in memory.
///
/// # Errors
/// If an input cannot be read or a target cannot be written to.
pub fn filter(
    inputs: &[PathBuf],
    threads: usize,
    mut urls: Target<'_>,
    mut rejects: Option<Target<'_>>,
) -> Result<FilterReport> {
    let sources: Vec<Source> = inputs.iter().map(|name| Source::open(name)).collect::<Result<_>>()?;
    if let Some(rejects) = &mut rejects {
        rejects.write(rejects::HEADER.as_bytes())?;
    }
    let mut report = FilterReport::default();
    for (name, source) in inputs.iter().zip(sources) {
        let mut lines_before = 0;
        let blocks = Blocks::new(source.into_reader());
        let work = |cleaner: &mut Cleaner, block: io::Result<Block>| Ok(filter_block(cleaner, block?));
        ordered(threads, blocks, Cleaner::default, work, |filtered| {
            let filtered = filtered.map_err(|error| Error::io(name, "could not be read", error))?;
            urls.write(&filtered.urls)?;
            if let Some(rejects) = &mut rejects {
                rejects.write(&filtered.reject_rows(name, lines_before))?;
            }
            lines_before += filtered.lines;
            report.add(&filtered);
            Ok(())
        })?;
    }
    Ok(report)
}

/// A block and what was made of it.
struct Filtered {
    block: Block,
    urls: Vec<u8>,
    lines: u64,
    blank: u64,
    accepted: u64,
    /// Which lines of the block were refused, counted from 0.
    rejects: Vec<(u64, Reason)>,
}

fn filter_block(cleaner: &mut Cleaner, block: Block) -> Filtered {
    let mut urls = Vec::with_capacity(block.bytes.len() + block.bytes.len() / 8);
    let (mut lines, mut blank, mut accepted) = (0, 0, 0);
    let mut rejects = Vec::new();
    for line in lines::lines(&block.bytes, block.offset) {
        match cleaner.clean(line.raw) {
            Cleaned::Url(url) => {
                urls.extend_from_slice(url.as_bytes());
                urls.push(b'\n');
                accepted += 1;
            }
            Cleaned::Rejected(reason) => rejects.push((lines, reason)),
            Cleaned::Blank => blank += 1,
        }
        lines += 1;
    }
    Filtered { block, urls, lines, blank, accepted, rejects }
}

impl Filtered {
    fn reject_rows(&self, name: &Path, lines_before: u64) -> Vec<u8> {
        let mut rows = Vec::new();
        let mut rejects = self.rejects.iter().peekable();
        for (at, line) in (0..).zip(lines::lines(&self.block.bytes, self.block.offset)) {
            match rejects.peek() {
                Some(&&(rejected, reason)) if rejected == at => {
                    rejects::push_row(name, lines_before + at + 1, line, reason, &mut rows);
                    rejects.next();
                }
                Some(_) => {}
                None => break,
            }
        }
        rows
    }
}

impl FilterReport {
    fn add(&mut self, filtered: &Filtered) {
        self.lines += filtered.lines;
        self.blank += filtered.blank;
        self.accepted += filtered.accepted;
        filtered.rejects.iter().for_each(|&(_, reason)| self.rejected[reason] += 1);
    }
}

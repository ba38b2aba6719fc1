//! Reads the listed entries of a chunk again.

use super::chunk::RowsAt;
use super::front_coded::FrontDecoder;
use super::in_place::PositionReader;
use super::judge::{Judge, Judged};
use super::layout::ListedChunk;
use super::sections::picks::Picked;
use crate::clean::CleanUrl;
use crate::common::simd;
use crate::intake::input::Input;
use crate::intake::lines;
use crate::sitemap::entry::Entry;

/// Calls `act` with the ordinal of each listed entry from the ordinal `from` on, and with the entry. Only rows that may have
/// changed when they became entries are judged again.
///
/// # Errors
/// The first error of `act`.
#[inline]
pub fn try_for_each_listed<'r, E>(
    listed: &ListedChunk,
    inputs: &'r [Input],
    judge: &mut Judge<'r>,
    from: usize,
    mut act: impl FnMut(usize, Entry<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let ListedChunk { chunk, survivors, is_clean, .. } = listed;
    let mut each = |ordinal, entry: Entry<'_>| match ordinal >= from && survivors.contains(ordinal) {
        true => act(ordinal, entry),
        false => Ok(()),
    };
    match &chunk.rows {
        RowsAt::Lines(range) if *is_clean => {
            let lines = lines::lines(&inputs[chunk.input].bytes()[range.clone()], range.start as u64);
            lines.enumerate().try_for_each(|(ordinal, line)| each(ordinal, canonical(line.raw)))
        }
        RowsAt::Urls(units) if *is_clean => {
            let urls = inputs[chunk.input].held_urls().urls(units);
            urls.into_iter().enumerate().try_for_each(|(ordinal, url)| each(ordinal, canonical(url)))
        }
        RowsAt::FrontCoded { block, entries } => {
            let mut decoder = FrontDecoder::new(&inputs[chunk.input].bytes()[block.clone()]);
            // All of these entries are listed. Earlier ones are decoded because the URLs that follow depend on them.
            for at in 0..entries.end {
                let entry = decoder.next().expect("the block has as many entries");
                if at >= entries.start + from {
                    act(at - entries.start, entry)?;
                }
            }
            Ok(())
        }
        RowsAt::InPlace { block, entries } => {
            let block = &inputs[chunk.input].bytes()[block.clone()];
            let mut reader = PositionReader::new(block, inputs, entries.start + from);
            for ordinal in from..entries.len() {
                act(ordinal, reader.next().expect("the block has as many entries"))?;
            }
            Ok(())
        }
        RowsAt::Picked { picks, range } => {
            let (range, mut ordinals) = (range.start as usize + from..range.end as usize, from..);
            let mut act = |entry: Entry<'_>| ordinals.next().map_or(Ok(()), |ordinal| act(ordinal, entry));
            picks.try_for_each(range, inputs[chunk.input].bytes(), |row| match row {
                Picked::Clean(url) => act(Entry::of(url)),
                Picked::Row(content) => judge.entry(content).map_or(Ok(()), &mut act),
            })
        }
        _ => {
            let mut ordinals = 0..;
            chunk.lines(inputs).iter().for_each(|lines| judge.begin_lines(lines));
            chunk.try_for_each_row(inputs, |row| match judge.judge(row.content, &mut |_| {}) {
                Judged::Entry(entry) => ordinals.next().map_or(Ok(()), |ordinal| each(ordinal, entry)),
                _ => Ok(()),
            })
        }
    }
}

/// The entry of a row that is already a canonical URL: it was cleaned before, and nothing changed.
#[inline]
fn canonical(raw: &[u8]) -> Entry<'_> {
    // These are the only bytes of a clean URL that XML escapes.
    let may_grow = simd::contain_any(raw, [b'&', b'\'']);
    Entry::of(CleanUrl::known(raw, may_grow))
}

//! Rows that are URLs alone are copied to memory as lines, which both passes read faster than rows in scratch.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::fifo::Failed;
use crate::common::ordered::ordered;
use crate::error::Result;
use crate::intake::format::{Unit, Units};
use crate::intake::input::{Input, Room};
use crate::intake::lines;
use crate::survey::context::Context;

/// Bytes of lines that are held together.
const ROOM_BYTES: usize = 64 << 20;

/// The rows of a source, as far as they became lines.
pub struct Texts<'n> {
    /// The lines.
    pub inputs: Vec<Input>,
    /// The number of rows in them.
    pub rows: u64,
    /// The units of the other rows; none if all rows became lines.
    pub rest: Option<Units<'n>>,
}

/// The outcome for a unit.
enum Copied {
    /// It has become so many bytes of lines.
    Lines(usize),
    /// Some of its rows would be others if they were lines.
    Odd,
    /// There was no room for it.
    NoRoom,
}

/// The outcome for the units that were taken for a room.
struct Filled<'n> {
    bytes: usize,
    rows: u64,
    /// The units that were taken and are not in the room, in order.
    rest: Vec<Unit<'n>>,
    /// Whether they are not in it because it is full.
    is_full: bool,
}

/// A unit, and its place in the room: where it is, and the place itself.
type Part<'n, 'r> = (Unit<'n>, Option<(usize, &'r mut [u8])>);

/// How rows are copied.
pub struct Copying<'r> {
    pub run: Context<'r>,
    pub threads: usize,
    /// Set if the rows cannot be read.
    pub failed: &'r Failed,
    /// Bytes of memory that the lines may take.
    pub bytes_max: usize,
}

impl Copying<'_> {
    /// Copies rows of a URL alone to memory as lines: all units before the first that has a row which would be another one as a line, or
    /// for which there is no room.
    pub fn copy<'n>(&self, name: &Path, mut units: Units<'n>) -> Result<Texts<'n>> {
        let mut texts = Texts { inputs: Vec::new(), rows: 0, rest: None };
        let mut waiting: Vec<Unit<'n>> = units.next().transpose()?.into_iter().collect();
        let mut needs_room = waiting.iter().any(|unit| unit.as_lines().is_some());
        let mut bytes_left = self.bytes_max;
        while needs_room {
            let Some(mut room) = Room::of(ROOM_BYTES.min(bytes_left)) else { break };
            let filled = self.fill(room.bytes_mut(), waiting.into_iter().map(Ok).chain(units.by_ref()))?;
            bytes_left = bytes_left.saturating_sub(room.held_bytes(filled.bytes));
            // A unit that no room can hold stays in scratch, and so do all after it.
            needs_room = filled.is_full && filled.rows > 0;
            waiting = filled.rest;
            if filled.rows > 0 {
                texts.inputs.push(Input::row_lines(name, room, filled.bytes, texts.rows));
                texts.rows += filled.rows;
            }
        }
        if !waiting.is_empty() || texts.inputs.is_empty() {
            texts.rest = Some(Box::new(waiting.into_iter().map(Ok).chain(units)));
        }
        Ok(texts)
    }

    /// Fills `room` with the first of `units`, and takes no more than a few after them.
    fn fill<'n>(
        &self,
        room: &mut [u8],
        mut units: impl Iterator<Item = Result<Unit<'n>>> + Send,
    ) -> Result<Filled<'n>> {
        let room_bytes = room.len();
        let mut free = room;
        let ended = AtomicBool::new(false);
        let parts = std::iter::from_fn(|| {
            if ended.load(Ordering::Relaxed) {
                return None;
            }
            Some(units.next()?.map(|unit| {
                let at = room_bytes - free.len();
                let own = unit.as_lines().and_then(|lines| {
                    let (own, after) = std::mem::take(&mut free).split_at_mut_checked(lines.bytes())?;
                    free = after;
                    Some((at, own))
                });
                ended.fetch_or(own.is_none(), Ordering::Relaxed);
                (unit, own)
            }))
        });
        let work = |(): &mut (), part: Result<Part<'n, '_>>| {
            let (unit, own) = part?;
            let copied = own.map_or(Copied::NoRoom, |(at, own)| copy(&unit, at, own));
            Ok((unit, copied))
        };
        let mut filled = Filled { bytes: 0, rows: 0, rest: Vec::new(), is_full: false };
        let mut take = |copied: Result<(Unit<'n>, Copied)>| {
            let (unit, copied) = copied?;
            match (copied, unit.as_lines()) {
                (Copied::Lines(bytes), Some(lines)) if filled.rest.is_empty() => {
                    filled.bytes += bytes;
                    filled.rows += lines.rows() as u64;
                    self.run.progress.advance(bytes as u64);
                }
                (copied, _) => {
                    filled.is_full |= matches!(copied, Copied::NoRoom) && filled.rest.is_empty();
                    filled.rest.push(unit);
                    ended.store(true, Ordering::Relaxed);
                }
            }
            self.run.stop.check()
        };
        // After an error, units may still be waiting for their source.
        let take = |copied| take(copied).inspect_err(|_| self.failed.set());
        ordered(self.threads, parts, || (), work, take)?;
        Ok(filled)
    }
}

/// Copies `unit` to `own`, which is at `at` of its room.
fn copy(unit: &Unit<'_>, at: usize, own: &mut [u8]) -> Copied {
    let rows = unit.as_lines().filter(|lines| lines.copy(own)).map(|lines| lines.rows());
    match rows.is_some_and(|rows| lines::are_read_whole(own, at as u64, rows)) {
        true => Copied::Lines(own.len()),
        false => Copied::Odd,
    }
}

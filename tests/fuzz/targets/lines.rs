//! Each line is in exactly one chunk, at its offset, however the input is cut. A stream gives the same lines, and of lines that
//! are too long their starts.
#![no_main]

use std::io::{self, Read};

use libfuzzer_sys::fuzz_target;
use sitemill::internals::blocks::Blocks;
use sitemill::internals::lines::{Line, chunks, lines, own};

/// Reads at most a given number of bytes at a time.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let end = self.1.min(buffer.len());
        self.0.read(&mut buffer[..end])
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&[sizes, step], input)) = data.split_first_chunk() else { return };
    let whole: Vec<Line> = lines(input, 0).collect();

    // `own` takes any adjacent ranges that are not empty.
    let chunk_bytes = 1 + usize::from(sizes);
    let cuts = (0..input.len()).step_by(chunk_bytes);
    let ranges = cuts.map(|start| start..(start + chunk_bytes).min(input.len()));
    let cut = |range| {
        let own = own(input, range);
        lines(&input[own.clone()], own.start as u64)
    };
    assert!(ranges.flat_map(cut).eq(whole.iter().copied()));
    assert!(chunks(input.len()).flat_map(cut).eq(whole.iter().copied()));

    let blocks: Result<Vec<_>, _> = Blocks::new(Slow(input, 1 + usize::from(step) * 64)).collect();
    let blocks = blocks.expect("memory can be read");
    assert!(blocks.iter().flat_map(|block| lines(&block.bytes, block.offset)).eq(whole.iter().copied()));

    let line_bytes_max = usize::from(sizes % 16);
    let blocks = Blocks::of_lines_up_to(line_bytes_max, Slow(input, 1 + usize::from(step)));
    let blocks: Vec<_> = blocks.map(|block| block.expect("memory can be read")).collect();
    let kept = |line: Line| (line.offset, line.raw[..line.raw.len().min(line_bytes_max + 1)].to_vec());
    let cut = blocks.iter().flat_map(|block| lines(&block.bytes, block.offset));
    assert!(cut.map(kept).eq(whole.into_iter().map(kept)));
});

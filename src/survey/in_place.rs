//! Blocks of entries that are sorted in place: a block has the positions of its entries, in the order of their URLs.
//!
//! ```text
//! block = length of the prefix that all URLs share · prefix · positions of tails
//! ```

use super::position::Position;
use super::tail::Tail;
use crate::clean::CleanUrl;
use crate::common::{field, prefetch};
use crate::intake::input::Input;
use crate::sitemap::divide::EntrySize;
use crate::sitemap::entry::Entry;

/// Writes blocks of entries.
#[derive(Debug)]
pub struct PositionWriter {
    /// The block that is being written.
    bytes: Vec<u8>,
    /// The last URL, if it was requested.
    url: Vec<u8>,
    /// The length of the prefix of all URLs.
    known: usize,
    /// The size that the prefix adds to that of the rest of a URL.
    prefix_bytes: u64,
}

impl PositionWriter {
    /// A writer for URLs that all begin with `prefix`.
    pub fn new(prefix: &[u8]) -> Self {
        // If it has anything to escape, then so does every URL.
        let size = |url| Entry::of(CleanUrl::known(url, true)).size().bytes;
        let mut writer = Self {
            bytes: Vec::new(),
            url: prefix.to_vec(),
            known: prefix.len(),
            prefix_bytes: size(prefix) - size(&[]),
        };
        writer.begin_block();
        writer
    }

    /// Writes the entry at `position` of `files`, whose URL ends with `end`. Returns its size.
    #[inline]
    pub fn push(&mut self, position: Position, end: &[u8], files: &[Input]) -> EntrySize {
        self.bytes.extend_from_slice(&position.to_bytes());
        let size = match position.is_plain() {
            // Known without reading the tail, which may not be in the cache.
            true => Entry::of(CleanUrl::known(end, false)).size(),
            false => position.tail(files).entry(end).size(),
        };
        EntrySize { bytes: self.prefix_bytes + size.bytes, ..size }
    }

    /// The URL that ends with `end`.
    pub fn url(&mut self, end: &[u8]) -> CleanUrl<'_> {
        self.url.truncate(self.known);
        self.url.extend_from_slice(end);
        CleanUrl::known(&self.url, true)
    }

    /// The bytes of the block.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Begins another block.
    pub fn begin_block(&mut self) {
        self.bytes.clear();
        field::push(&self.url[..self.known], &mut self.bytes);
    }
}

/// Reads the entries of a block.
#[derive(Debug)]
pub struct PositionReader<'b> {
    /// The bytes of all files.
    files: Vec<&'b [u8]>,
    positions: &'b [[u8; Position::BYTES]],
    url: Vec<u8>,
    /// The length of the prefix of all URLs.
    known: usize,
}

impl<'b> PositionReader<'b> {
    /// Reads the entries of `block`, which are in `files`, from the index `from` on.
    pub fn new(block: &'b [u8], files: &'b [Input], from: usize) -> Self {
        let mut rest = block;
        let prefix = field::take(&mut rest);
        let files = files.iter().map(Input::bytes).collect();
        let positions = &rest.as_chunks().0[from..];
        let reader = Self { files, positions, url: prefix.to_vec(), known: prefix.len() };
        positions.iter().take(prefetch::AHEAD).for_each(|&bytes| reader.fetch(Position::of_bytes(bytes)));
        reader
    }

    /// Prefetches a tail. Most have no more than two cache lines.
    #[inline]
    fn fetch(&self, position: Position) {
        let (bytes, at) = (self.files[position.file()], position.at());
        [at, at + prefetch::LINE_BYTES].iter().filter_map(|&at| bytes.get(at)).for_each(prefetch::fetch);
    }

    /// Reads the next entry.
    #[inline]
    pub fn next(&mut self) -> Option<Entry<'_>> {
        let &position = self.positions.split_off_first()?;
        if let Some(&ahead) = self.positions.get(prefetch::AHEAD - 1) {
            self.fetch(Position::of_bytes(ahead));
        }
        let position = Position::of_bytes(position);
        let tail = Tail::read(&self.files[position.file()][position.at()..]);
        self.url.truncate(self.known);
        self.url.extend_from_slice(tail.url);
        Some(tail.entry(&self.url))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::input::Segment;
    use crate::sitemap::extensions::Extras;
    use crate::sitemap::sections::SectionNumber;
    use crate::sitemap::xml::Namespaces;
    use crate::survey::tail::Tail;

    #[test]
    fn entries_come_back_in_the_order_of_their_positions_with_their_sizes() {
        let url = |n: usize| match n % 3 {
            0 => format!("http://h.example/a?b&c{n}"),
            1 => format!("http://h.example/a?b&{}", "'x".repeat(n % 50)),
            _ => format!("http://h.example/a?b&c{n}&"),
        };
        let urls: Vec<String> = (0..100).map(url).collect();
        let entry = |n: usize| {
            let url = CleanUrl::known(urls[n].as_bytes(), true);
            match n % 4 {
                2 => Entry {
                    url,
                    tags: b"<priority>1</priority>",
                    instant: Some(-5),
                    extras: Extras { xml: b"<x/>", uses: Namespaces::from_bits(2) },
                    section: SectionNumber(300),
                },
                _ => Entry::of(url),
            }
        };
        for known in [0, "http://h.example/".len(), "http://h.example/a?b&".len()] {
            let prefix = &urls[0].as_bytes()[..known];
            let mut segments = [(); 2].map(|()| Segment::new(1 << 16).unwrap());
            let positions: Vec<(usize, usize)> = (0..urls.len())
                .map(|n| {
                    let mut tail = Vec::new();
                    Tail::push(&entry(n), known, &mut tail);
                    (n % 2, segments[n % 2].append(&tail).unwrap())
                })
                .collect();
            let files = segments.map(|segment| Input::held("entries".as_ref(), segment).unwrap());
            let mut writer = PositionWriter::new(prefix);
            let order: Vec<usize> = (0..urls.len()).map(|n| n * 37 % urls.len()).collect();
            for block in order.chunks(70) {
                for &n in block {
                    let (file, at) = positions[n];
                    let tail = Tail::read(&files[file].bytes()[at..]);
                    let position = Position::new(file, at, &tail);
                    assert_eq!(writer.push(position, tail.url, &files), entry(n).size());
                    assert_eq!(writer.url(tail.url).as_bytes(), urls[n].as_bytes());
                }
                for from in [0, 1, block.len()] {
                    let mut reader = PositionReader::new(writer.bytes(), &files, from);
                    for &n in &block[from..] {
                        assert_eq!(reader.next(), Some(entry(n)));
                    }
                    assert_eq!(reader.next(), None);
                }
                writer.begin_block();
            }
        }
    }

    #[test]
    fn the_size_of_a_plain_entry_is_known_without_its_tail() {
        let url = b"http://h.example/a/b";
        for known in [0, 7, url.len()] {
            let entry = Entry::of(CleanUrl::known(url, false));
            let mut tail = Vec::new();
            Tail::push(&entry, known, &mut tail);
            let tail = Tail::read(&tail);
            let position = Position::new(0, 0, &tail);
            assert!(position.is_plain());
            assert_eq!(PositionWriter::new(&url[..known]).push(position, tail.url, &[]), entry.size());
        }
    }
}

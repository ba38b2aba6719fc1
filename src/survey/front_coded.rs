//! Front coding: entries are stored without the bytes that each URL shares with the URL before it. In sorted order, neighbours
//! share many bytes.
//!
//! ```text
//! block = entries
//! entry = length of the prefix that is shared with the URL before (0 for the first entry of a block) · tail
//! ```

use super::tail::Tail;
use crate::common::field;
use crate::common::simd::common_bytes;
use crate::sitemap::entry::Entry;

/// Writes blocks of entries.
#[derive(Debug, Default)]
pub struct FrontCoder {
    bytes: Vec<u8>,
    /// The last URL.
    url: Vec<u8>,
    /// Whether no entry of the block was written yet.
    is_first: bool,
}

impl FrontCoder {
    /// A coder for URLs that all begin with `prefix`.
    pub fn new(prefix: &[u8]) -> Self {
        Self { bytes: Vec::new(), url: prefix.to_vec(), is_first: true }
    }

    /// Writes the entry of `tail`, whose URL begins with the first `known` bytes of the URL before, or of the prefix. Returns the
    /// entry.
    #[inline]
    pub fn push<'e>(&'e mut self, known: usize, tail: Tail<'e>) -> Entry<'e> {
        let Self { bytes, url, is_first } = self;
        let more = common_bytes(&url[known..], tail.url);
        url.truncate(known + more);
        let kept = if std::mem::take(is_first) { 0 } else { url.len() };
        url.extend_from_slice(&tail.url[more..]);
        let entry = tail.entry(url);
        field::push_number(kept as u64, bytes);
        Tail::push(&entry, kept, bytes);
        entry
    }

    /// Writes `entry`.
    #[inline]
    pub fn push_entry(&mut self, entry: &Entry<'_>) {
        let Self { bytes, url, is_first } = self;
        let whole = entry.url.as_bytes();
        let kept = if std::mem::take(is_first) { 0 } else { common_bytes(url, whole) };
        url.truncate(kept);
        url.extend_from_slice(&whole[kept..]);
        field::push_number(kept as u64, bytes);
        Tail::push(entry, kept, bytes);
    }

    /// The bytes of the block.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Begins another block.
    pub fn begin_block(&mut self) {
        self.bytes.clear();
        self.is_first = true;
    }
}

/// Reads the entries of a block.
#[derive(Debug)]
pub struct FrontDecoder<'b> {
    rest: &'b [u8],
    url: Vec<u8>,
}

impl<'b> FrontDecoder<'b> {
    /// Reads the entries of `block`.
    pub fn new(block: &'b [u8]) -> Self {
        Self { rest: block, url: Vec::new() }
    }

    /// Reads the next entry.
    #[inline]
    pub fn next(&mut self) -> Option<Entry<'_>> {
        if self.rest.is_empty() {
            return None;
        }
        let kept = field::number(&mut self.rest) as usize;
        let tail = Tail::take(&mut self.rest);
        self.url.truncate(kept);
        self.url.extend_from_slice(tail.url);
        Some(tail.entry(&self.url))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::CleanUrl;
    use crate::sitemap::extensions::Extras;
    use crate::sitemap::sections::SectionNumber;
    use crate::sitemap::xml::Namespaces;

    #[test]
    fn entries_come_back_from_any_number_of_blocks() {
        let urls =
            ["http://h.example/a", "http://h.example/a&b", "http://h.example/ab/c", "http://h.example/b"];
        let entry = |at: usize| {
            let url = CleanUrl::known(urls[at].as_bytes(), at == 1);
            match at {
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
        for known in [0, "http://h.".len(), "http://h.example/".len()] {
            for block_entries in 1..=urls.len() {
                let mut coder = FrontCoder::new(&urls[0].as_bytes()[..known]);
                let mut blocks = Vec::new();
                for at in 0..urls.len() {
                    let mut tail = Vec::new();
                    Tail::push(&entry(at), known, &mut tail);
                    match at % 2 {
                        0 => assert_eq!(coder.push(known, Tail::read(&tail)), entry(at)),
                        _ => coder.push_entry(&entry(at)),
                    }
                    if (at + 1) % block_entries == 0 || at + 1 == urls.len() {
                        blocks.push(coder.bytes().to_vec());
                        coder.begin_block();
                    }
                }
                let mut at = 0;
                for block in &blocks {
                    let mut decoder = FrontDecoder::new(block);
                    while let Some(decoded) = decoder.next() {
                        assert_eq!(decoded, entry(at), "{known}, {block_entries}");
                        at += 1;
                    }
                }
                assert_eq!(at, urls.len());
            }
        }
    }
}

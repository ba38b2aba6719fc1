//! Tests of the form of rows in scratch files.

use super::*;
use crate::intake::lines::CHUNK_BYTES;

#[test]
fn rows_come_back_as_they_were_written_however_many_blocks_they_fill() {
    let long = vec![b'x'; CHUNK_BYTES + 5];
    for count in [0, 1, 2, 3, 10_000, CHUNK_URLS_MAX as u64 + 1, 3 * CHUNK_URLS_MAX as u64] {
        let row = |n: u64| InputRow {
            line: 2 + n * n % 7 + 7 * n,
            offset: 300 * n,
            content: match n % 7 {
                0 => Content::Bad(b"{", Reason::ALL[(n % 14) as usize]),
                1 => Content::Url(b"", RawTags::default()),
                2 => Content::Url(
                    &long[..(n % 400) as usize],
                    RawTags { priority: b"0.5", ..RawTags::default() },
                ),
                3 if n == 3 => Content::Url(&long, RawTags::default()),
                4 => Content::Entry(Entry::of(CleanUrl::known(b"http://h.example/known", true))),
                5 => Content::Entry(Entry {
                    url: CleanUrl::known(b"http://h.example/known", true),
                    tags: &b"<priority>1</priority>"[..(n % 23) as usize],
                    instant: [None, Some(0), Some(-1), Some(1 << 40), Some(-(1 << 40))][(n % 5) as usize],
                    extras: Extras { xml: b"<x/>", uses: Namespaces::from_bits(2) },
                    section: SectionNumber([0, 1, 127, 128, u16::MAX][(n % 5) as usize]),
                }),
                _ => Content::Url(
                    b"http://h.example/",
                    RawTags {
                        lastmod: b"2005",
                        changefreq: b"never",
                        priority: b"",
                        extras: RawExtras(b"xyz"),
                        section: b"shoes",
                    },
                ),
            },
        };
        let (mut buffer, mut bytes, mut blocks) = (RowBuffer::default(), Vec::new(), Vec::new());
        for n in 0..count {
            buffer.push(&row(n));
            if buffer.is_full(CHUNK_BYTES) || n + 1 == count {
                let at = bytes.len();
                bytes.extend_from_slice(buffer.bytes());
                blocks.push(buffer.end_block(at));
            }
        }
        assert!(blocks.iter().all(|block| !block.range.is_empty()));
        let mut read = blocks.iter().flat_map(|block| rows(&bytes, block));
        assert!((0..count).all(|n| read.next() == Some(row(n))) && read.next().is_none(), "{count}");
    }
}

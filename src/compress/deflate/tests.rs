//! Members must decode, with flate2, to the bytes that were pushed, and must not depend on how these were split into pushes.

use std::io::Read;

use super::sizes::WINDOW_BYTES;
use super::*;
use crate::common::random::Random;

#[track_caller]
fn unpack(member: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut decoder = flate2::bufread::GzDecoder::new(member);
    decoder.read_to_end(&mut plain).expect("a whole member with the right checksum");
    assert!(decoder.into_inner().is_empty(), "nothing after the member");
    plain
}

/// Compresses `plain`, checks that the member decodes to it, and returns the member.
#[track_caller]
fn check(effort: u8, plain: &[u8]) -> Vec<u8> {
    let mut encoder = Encoder::new(effort);
    encoder.push(plain);
    let member = encoder.finish();
    assert!(unpack(&member) == plain, "effort {effort}, {} bytes", plain.len());
    member
}

/// Pseudorandom numbers.
fn random(seed: u64) -> impl Iterator<Item = u64> {
    let mut random = Random::new(seed);
    std::iter::repeat_with(move || random.next())
}

fn sitemap(records: usize) -> Vec<u8> {
    let mut xml = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset>\n".to_vec();
    const WORDS: [&str; 8] = ["red", "shoe", "winter", "coat", "a", "garden-chair", "lamp", "catalogue"];
    for (n, number) in random(1).take(records).enumerate() {
        let word = |at: u32| WORDS[(number >> at) as usize % WORDS.len()];
        let url =
            format!("https://h.example/{}/{}/{}-{}-p{n}.html", word(0), word(3), word(6), number % 9_999);
        xml.extend_from_slice(format!("<url><loc>{url}</loc></url>\n").as_bytes());
    }
    xml.extend_from_slice(b"</urlset>\n");
    xml
}

#[test]
fn every_effort_reads_back_and_is_smaller_than_those_below() {
    let xml = sitemap(20_000);
    let sizes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(|effort| check(effort, &xml).len());
    let are_falling = |efforts: &[usize]| efforts.is_sorted_by(|&a, &b| sizes[a] > sizes[b]);
    assert!(are_falling(&[0, 1, 2, 3, 5, 6, 7, 8, 9]), "{sizes:?}");
    // Effort 4 has another parser than 3. In text of eight words, where most matches are short, it saves no more.
    assert!(are_falling(&[2, 4, 5]) && sizes[4] < sizes[3] + sizes[3] / 60, "{sizes:?}");
    assert!(sizes[0] < xml.len() + xml.len() / 1_000 + 64 && sizes[1] < xml.len() / 4);
}

/// The sitemap of these URLs.
fn sitemap_of(urls: impl Iterator<Item = String>) -> Vec<u8> {
    urls.flat_map(|url| format!("<url><loc>https://h.example/{url}</loc></url>\n").into_bytes()).collect()
}

/// The sitemap of 8,000 random ids.
fn ids() -> Vec<u8> {
    sitemap_of(random(5).take(8_000).map(|n| format!("o/{n:016x}{:016x}", n.wrapping_mul(n))))
}

/// The sitemap of 8,000 URLs of three percent-encoded words.
fn words() -> Vec<u8> {
    let letters = |n: u64| (0..6).map(move |at| format!("%D0%{:02X}", 0xb0 + (n >> (4 * at)) % 16));
    let word = |n: u64| letters(n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20).collect::<String>();
    sitemap_of(
        random(7)
            .take(8_000)
            .map(|n| format!("wiki/{}_{}_{}", word(n % 300), word(n >> 9 & 255), word(n >> 20 & 255))),
    )
}

#[test]
fn more_effort_never_writes_much_more_whatever_the_text() {
    let counters = sitemap_of(random(6).take(8_000).map(|n| format!("item/{}", n % 3_000_000)));
    for document in [ids(), counters, words()] {
        let sizes = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(|effort| check(effort, &document).len());
        assert!(sizes.windows(2).all(|pair| pair[1] <= pair[0] + pair[0] / 200), "{sizes:?}");
    }
}

#[test]
fn seams_end_where_words_begin_at_efforts_8_and_9() {
    let [seventh, eighth] = [7, 8].map(|effort| check(effort, &words()).len());
    assert!(eighth < seventh - seventh / 40, "{eighth}, {seventh}");
}

#[test]
fn records_are_put_off_only_where_that_saves_enough() {
    for effort in 8..=9 {
        let put_off = |document: Vec<u8>| {
            let mut encoder = Encoder::new(effort);
            let is_put_off = |record: &&[u8]| {
                encoder.push(record);
                matches!(&encoder.method, Method::Deep(parser) if parser.put_off() > 0)
            };
            document.split_inclusive(|&byte| byte == b'\n').filter(is_put_off).count()
        };
        let (of_words, of_ids) = (put_off(words()), put_off(ids()));
        assert!(of_words > 7_500 && of_ids < 300, "effort {effort}: {of_words}, {of_ids}");
    }
}

#[test]
fn text_that_changes_within_a_member_reads_back() {
    let ids = sitemap_of(random(8).take(5_000).map(|n| format!("o/{n:016x}")));
    let numbers = sitemap_of((0..5_000).map(|n| format!("list/page-{n:07}/of-many.html?sort=price")));
    let document = [&ids[..], &sitemap(5_000), &ids, &numbers, &sitemap(5_000), &numbers].concat();
    for effort in 0..=9 {
        check(effort, &document);
    }
}

#[test]
fn sizes_around_every_boundary_read_back() {
    let xml = sitemap(9_000);
    let mut sizes: Vec<usize> = (0..70).collect();
    for boundary in [DISTANCE_MAX, STORED_BYTES_MAX, PLACE_PERIOD, PUSH_BYTES_MAX, KEPT_BYTES, WINDOW_BYTES] {
        sizes.extend(boundary - 1..=boundary + 1);
    }
    for effort in [0, 1, 2, 3, 4, 6, 9] {
        sizes.iter().for_each(|&size| drop(check(effort, &xml[..size])));
    }
}

#[test]
fn data_unlike_any_sitemap_reads_back_too() {
    let bytes = |count: usize| random(2).map(|n| n as u8).take(count).collect::<Vec<u8>>();
    let percent = random(3).take(100_000).flat_map(|n| format!("%{:02X}", n as u8).into_bytes());
    let long = (0..400)
        .flat_map(|n| format!("<url><loc>https://h.example/{}/{n}\n", "x".repeat(2_047)).into_bytes());
    let slashes = (0..5_000)
        .flat_map(|n| format!("<url><loc>https://h.example{}{n}\n", "/".repeat(n % 300)).into_bytes());
    let documents: [Vec<u8>; 8] = [
        bytes(1_000_000),
        vec![b'a'; 1_000_000],
        vec![b'\n'; 300_000],
        b"<url><loc>https://h.example/a</loc></url>\n".repeat(20_000),
        percent.collect(),
        long.collect(),
        slashes.collect(),
        [bytes(200_000), sitemap(5_000), bytes(1), sitemap(1)].concat(),
    ];
    for effort in 0..=9 {
        for document in &documents {
            let member = check(effort, document);
            assert!(member.len() <= document.len() + document.len() / 1_000 + 64, "never much larger");
        }
    }
}

#[test]
fn a_member_depends_only_on_its_bytes_not_on_pushes_or_earlier_members() {
    let xml = sitemap(9_000);
    for effort in 0..=9 {
        let whole = check(effort, &xml);
        let mut encoder = Encoder::new(effort);
        for piece_bytes in [1, 7, 94, 4_096, 65_537, 300_000] {
            xml.chunks(piece_bytes).for_each(|piece| encoder.push(piece));
            assert!(encoder.finish() == whole, "effort {effort}, pieces of {piece_bytes} bytes");
        }
    }
}

#[test]
fn the_header_contains_no_time_and_no_operating_system() {
    let member = check(6, b"");
    assert_eq!(member, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}

//! Sitemaps whose names or hashes collide.

use std::collections::HashMap;

use super::*;
use crate::set::name::{Stem, hash_candidates};

/// The live sitemaps by name, with their contents as crawlers see them.
fn sitemaps(fs: &Memory) -> BTreeMap<String, Vec<u8>> {
    let indexes = crawl(fs).unwrap().into_values();
    indexes.flat_map(|(_, sitemaps)| sitemaps).collect()
}

/// Two texts whose hashes begin with the same eight digits, found among some hundred thousand.
fn texts_of_one_name() -> [String; 2] {
    let mut seen = HashMap::new();
    let mut texts = (0..).map(|n: u32| n.to_string());
    let met = texts.find_map(|text| {
        let other = seen.insert(content_of(text.as_bytes()).0 >> 96, text.clone())?;
        Some([other, text])
    });
    met.expect("there are more texts than words of eight digits")
}

/// Two texts with the same 128-bit hash. For 64 bytes, XXH3 adds up products of words of the text, each XORed with a word of a
/// public constant, and XORs the result with sums of words of the text. If a word of the text equals its constant, its product
/// is zero, so the other factor is free; it is chosen so that the two sums cancel.
fn texts_of_one_hash() -> [Vec<u8>; 2] {
    // The words at offsets 0, 16 and 32 of the 192 bytes that XXH3 uses as its default secret.
    let [at_0, at_16, at_32] = [0xbe4b_a423_396c_feb8_u64, 0xdb97_9083_e96d_d4de, 0x78e5_c0cc_4ee6_79cb];
    let text = |sum: u64| {
        let words = [at_0, sum.wrapping_sub(at_0), at_32, sum.wrapping_sub(at_32), 0, 0, at_16, 0];
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    };
    [text(1), text(2)]
}

#[test]
fn different_content_with_the_same_name_gets_another_name() {
    let fs = empty();
    let [one, other] = texts_of_one_name();
    build(&fs, &[&one], "2026-11-15T02:00:00Z").unwrap();
    let first = sitemaps(&fs);
    build(&fs, &[&other], "2026-11-16T02:00:00Z").unwrap();
    let second = sitemaps(&fs);
    assert_eq!(second.values().collect::<Vec<_>>(), [other.as_bytes()]);
    assert!(second.keys().ne(first.keys()));
    // Both are published, so each keeps its own name.
    for (text, names) in [(&one, &first), (&other, &second)] {
        build(&fs, &[text], "2026-11-17T02:00:00Z").unwrap();
        assert_eq!(sitemaps(&fs), *names);
    }
    // The same within one set, which may use a number twice.
    let fs = empty();
    let workspace = open(&fs);
    let names: HashSet<String> = [&one, &other]
        .map(|text| stage(&workspace, 1, text.as_bytes(), Compression::fast()).unwrap())
        .map(|staged| staged.file)
        .into();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names.iter().all(|name| workspace.place.is_staged(name).unwrap()));
}

#[test]
fn content_crafted_to_have_the_hash_of_another_is_told_apart() {
    let [one, other] = texts_of_one_hash();
    assert!(one != other);
    assert_eq!(content_of(&one), content_of(&other));
    let fs = empty();
    let workspace = open(&fs);
    let publish = |text: &[u8], compression| {
        let staged = stage(&workspace, 1, text, compression).unwrap();
        if let Some(unsynced) = staged.unsynced {
            unsynced.sync().unwrap();
            workspace.place.make_sitemaps_visible(&[&staged.file]).unwrap();
        }
        staged.file
    };
    let first = publish(&one, Compression::fast());
    let second = publish(&other, Compression::fast());
    assert_ne!(first, second);
    // Each is recognised even if it is compressed differently.
    assert_eq!(publish(&one, Compression::none()), first);
    assert_eq!(publish(&other, Compression::none()), second);
    // Even if all names from the hash are occupied on purpose, those from the seal are free.
    let candidates = hash_candidates(content_of(&one), seal(&workspace.secret, &other));
    for digits in candidates.take(4) {
        fs.put(
            &Path::new(OUT).join(Stem::default().sitemap_file(1, &digits)),
            &gzip(&one, Compression::fast()),
        );
    }
    let third = publish(&other, Compression::fast());
    let sealed = String::from(seal(&workspace.secret, &other));
    assert_eq!(third, Stem::default().sitemap_file(1, &sealed[..8]));
    assert_eq!(publish(&other, Compression::none()), third);
}

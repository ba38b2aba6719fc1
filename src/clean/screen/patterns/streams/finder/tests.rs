use super::super::super::literals::URL_BYTES;
use super::super::bits::WORDS_MAX;
use super::super::classes::CLASSES_MAX;
use super::*;
use crate::common::random::Random;

#[test]
fn every_byte_of_a_class_is_found_with_and_without_vectors() {
    if !vectors::tests::are_available() {
        return;
    }
    let mut random = Random::new(9);
    let mut classes = Classes::default();
    let line_ends = classes.add_line_ends().unwrap();
    let mut sets = vec![vec![b'\n'], vec![b'\r'], vec![b'/']];
    sets.extend((0..CLASSES_MAX - 4).map(|n| -> Vec<u8> {
        (0..128).filter(|byte| URL_BYTES.contains(byte) && random.below(n + 2) == 0).collect()
    }));
    sets.push(URL_BYTES.filter(|&byte| byte != b'/').collect());
    for (at, set) in sets.iter().enumerate().skip(line_ends.len()) {
        assert_eq!(classes.add(set.iter().copied()), Some(at));
    }
    assert_eq!(classes.add(sets[5].iter().copied()), Some(5));
    assert_eq!(classes.add([b'!'].into_iter()), None);
    for length in 0..512 {
        let byte = |random: &mut Random| match random.below(20) {
            0 => b'\n',
            1 => b'\r',
            2 => b'/',
            _ => b'!' + random.below(94) as u8,
        };
        let text: Vec<u8> = (0..length).map(|_| byte(&mut random)).collect();
        // Few, or many.
        let wanted = random.next() as u32 & random.next() as u32 >> random.below(CLASSES_MAX);
        let finder = Finder::of(&classes, wanted);
        let [mut quick, mut plain] = [(); 2].map(|()| Found::default());
        finder.find::<WORDS_MAX>(&text, &mut quick);
        find_anywhere::<WORDS_MAX>(&finder.plain, &text, &mut plain);
        finder.find_complements::<WORDS_MAX>(length, &mut plain);
        let mut short = Found::default();
        #[cfg(target_arch = "x86_64")]
        let finder = finder.with_short_vectors();
        finder.find::<WORDS_MAX>(&text, &mut short);
        let wanted = line_ends.iter().fold(wanted, |all, at| all | 1 << at);
        for (at, set) in sets.iter().enumerate().filter(|(at, _)| wanted >> at & 1 == 1) {
            let is_found = |place: usize| quick[at][place / 64] >> (place % 64) & 1 == 1;
            for place in 0..512 {
                let is_in = text.get(place).is_some_and(|byte| set.contains(byte));
                assert_eq!(is_found(place), is_in, "byte {place} of {length}, class {at}");
            }
            assert_eq!([short[at], plain[at]], [quick[at]; 2]);
        }
    }
}

#[test]
fn no_class_has_a_byte_that_is_not_ascii() {
    if !vectors::tests::are_available() {
        return;
    }
    let mut classes = Classes::default();
    let [lf, cr] = classes.add_line_ends().unwrap();
    let text = b"\x8A\x8D\n\r\xFF".repeat(70);
    for length in [5, 64, 65, 350] {
        let finder = Finder::of(&classes, 0);
        let mut found = Found::default();
        finder.find::<WORDS_MAX>(&text[..length], &mut found);
        for place in 0..length {
            let has = |class: usize| found[class][place / 64] >> (place % 64) & 1 == 1;
            assert_eq!([has(lf), has(cr)], [place % 5 == 2, place % 5 == 3], "{place}");
        }
    }
}

use std::collections::BTreeSet;

use super::*;
use crate::clean::{Cleaned, Cleaner};

/// Canonical URLs. Those whose index is divisible by 5 occur several times.
fn urls(count: usize) -> Vec<String> {
    let repeated = |n: usize| if n.is_multiple_of(5) { n % 35 } else { n };
    (0..count).map(|n| format!("https://h.example/{}/{}", repeated(n) % 7, repeated(n))).collect()
}

fn push(list: &mut Smallest, url: &str) {
    let mut cleaner = Cleaner::default();
    let Cleaned::Url(url) = cleaner.clean(url.as_bytes()) else { panic!("{url} is one") };
    list.push(url).unwrap();
}

fn smallest<'u>(most: usize, urls: impl IntoIterator<Item = &'u String>) -> Smallest {
    let mut list = Smallest::new(most);
    urls.into_iter().for_each(|url| push(&mut list, url));
    list
}

/// The reference implementation: sorts all URLs by their hashes.
fn plain(count: usize, urls: &[String]) -> Vec<String> {
    let ranked: BTreeSet<_> = urls.iter().map(|url| (BorderHash::of(url.as_bytes()), url)).collect();
    let first: BTreeSet<_> = ranked.into_iter().take(count).map(|(_, url)| url.clone()).collect();
    first.into_iter().collect()
}

#[test]
fn the_number_of_borders_is_a_power_of_two_and_changes_only_when_rows_double() {
    for (rows, want) in [
        (0, 0),
        (1_999_999, 0),
        (2_000_000, 2),
        (3_999_999, 2),
        (4_000_000, 4),
        (7_999_999, 4),
        (8_000_000, 8),
        (1_000_000_000, 512),
        (1_024_000_000, 1024),
    ] {
        assert_eq!(count(rows), want, "{rows} rows");
    }
    assert_eq!((count_per(100, 199), count_per(100, 200), count_per(100, 6_400)), (0, 2, 64));
}

#[test]
fn a_url_is_in_the_region_that_the_last_border_up_to_it_begins() {
    let borders = ["https://h.example/b", "https://h.example/d"];
    for (url, region) in [
        ("http://z.example/", 0),
        ("https://h.example/", 0),
        ("https://h.example/b", 1),
        ("https://h.example/b/", 1),
        ("https://h.example/c", 1),
        ("https://h.example/d", 2),
        ("https://h.example/é", 2),
    ] {
        assert_eq!(region_of(url.as_bytes(), &borders), region, "{url}");
    }
    assert_eq!(region_of(b"https://h.example/", &[""; 0]), 0);
}

#[test]
fn a_list_without_some_urls_is_that_of_the_others_as_far_as_it_goes() {
    let urls = urls(3_000);
    let distinct: Vec<String> = urls.iter().collect::<BTreeSet<_>>().into_iter().cloned().collect();
    for most in [1, 2, 30, 300, distinct.len()] {
        for left in [0, 1, 2, 3] {
            let is_there = |url: &str| left > 0 && url.len().is_multiple_of(left);
            let rest: Vec<String> = distinct.iter().filter(|url| is_there(url)).cloned().collect();
            let mut list = smallest(most, &urls);
            list.retain(is_there);
            let known =
                (0..=most).take_while(|&few| list.clone().into_borders(few).is_some()).last().unwrap();
            assert_eq!(list.clone().into_borders(known), Some(plain(known, &rest)), "{most}, {left}");
            assert!(left != 1 || known == most, "{known} of {most}");
            // Other URLs are known no further than the list is.
            let mut merged = smallest(most, &rest);
            merged.merge(list).unwrap();
            match known {
                0 => assert_eq!(merged.into_borders(1), None),
                _ => assert_eq!(merged.into_borders(known), Some(plain(known, &rest))),
            }
        }
    }
}

#[test]
fn the_smallest_are_distinct_and_do_not_depend_on_order_or_duplicates() {
    let urls = urls(3_000);
    let reversed: Vec<String> = urls.iter().rev().cloned().collect();
    let distinct: Vec<String> = urls.iter().collect::<BTreeSet<_>>().into_iter().cloned().collect();
    for most in [1, 2, 3, 64, 100, distinct.len() - 1, distinct.len(), 10_000] {
        let want = plain(most, &urls);
        assert_eq!(want.len(), most.min(distinct.len()));
        for urls in [&urls, &reversed, &distinct] {
            assert_eq!(smallest(most, urls).into_borders(most), Some(want.clone()), "{most}");
        }
    }
}

#[test]
fn merged_lists_of_any_partition_are_the_list_of_all_rows() {
    let urls = urls(4_000);
    for parts in [1, 2, 3, 50] {
        for (most_of_part, most) in [(64, 64), (100, 64), (5_000, 5_000), (1, 1)] {
            let mut merged = Smallest::new(most);
            for part in 0..parts {
                // Parts of very different sizes, some of them empty.
                let own = urls.iter().enumerate().filter(|(n, _)| n * n % 97 * parts / 97 == part);
                merged.merge(smallest(most_of_part, own.map(|(_, url)| url))).unwrap();
            }
            let want = plain(most, &urls);
            assert_eq!(merged.into_borders(most), Some(want), "{parts} parts, {most_of_part} of each");
        }
    }
}

#[test]
fn a_list_that_had_to_drop_urls_never_passes_for_a_complete_one() {
    let urls = urls(1_000);
    let count = plain(10_000, &urls).len();
    assert_eq!(smallest(count, &urls).into_borders(count + 1).unwrap().len(), count, "nothing was dropped");
    assert_eq!(smallest(count - 1, &urls).into_borders(count), None);
    assert_eq!(smallest(50, &urls).into_borders(51), None);

    // The short list of one half is truncated, while the list of the other half continues.
    let (one, other) = urls.split_at(300);
    for (most_of_one, most_of_other) in [(8, 10_000), (10_000, 8), (8, 40), (20, 20)] {
        let mut merged = Smallest::new(10_000);
        merged.merge(smallest(most_of_one, one)).unwrap();
        merged.merge(smallest(most_of_other, other)).unwrap();
        // Neither later URLs nor merging hide that some URLs are missing.
        urls.iter().for_each(|url| push(&mut merged, url));
        merged.merge(smallest(10_000, &urls)).unwrap();
        assert_eq!(merged.clone().into_borders(count), None);
        let known = (1..count).take_while(|&few| merged.clone().into_borders(few).is_some()).last().unwrap();
        assert!((8..100).contains(&known), "{known}");
        assert_eq!(merged.into_borders(known), Some(plain(known, &urls)), "{most_of_one}, {most_of_other}");
    }
}

#[test]
fn a_list_is_the_same_after_it_was_written_and_read() {
    let urls = urls(500);
    for most in [3, 100, 10_000] {
        let json = serde_json::to_string(&smallest(most, &urls[..250])).unwrap();
        let mut read: Smallest = serde_json::from_str(&json).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), json);
        assert_eq!(read.clone().into_borders(300), smallest(most, &urls[..250]).into_borders(300));
        read.merge(smallest(most, &urls[250..])).unwrap();
        assert_eq!(read.into_borders(most), Some(plain(most, &urls)));
    }
    let read = serde_json::from_str::<Smallest>(r#"{"most":3,"is_truncated":true,"urls":[]}"#);
    assert!(read.unwrap_err().to_string().contains("at least one URL"));
}

#[test]
fn urls_with_equal_hashes_are_ranked_by_their_bytes() {
    let hash = BorderHash(5);
    let mut list = Smallest::new(1);
    for url in ["http://c.example/", "http://b.example/", "http://d.example/", "http://b.example/"] {
        list.push_hashed(hash, url.as_bytes()).unwrap();
    }
    let mut merged = Smallest::new(10);
    merged.merge(list).unwrap();
    // Its last URL has the same hash, but "c" is missing before "d".
    merged.push_hashed(hash, b"http://d.example/").unwrap();
    assert_eq!(merged.clone().into_borders(2), None);
    merged.push_hashed(hash, b"http://a.example/").unwrap();
    assert_eq!(merged.clone().into_borders(3), None);
    assert_eq!(merged.into_borders(2).unwrap(), ["http://a.example/", "http://b.example/"]);
}

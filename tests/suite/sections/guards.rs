//! Guards of sections: what may shrink, and what a refusal says.

use serde_json::json;

use super::{BASE, Desk};
use crate::support::run;

/// A list with this many URLs in each path segment.
fn list(segments: &[(&str, u32)]) -> String {
    let urls = |&(segment, urls): &(&str, u32)| -> String {
        (0..urls).map(|n| format!("{BASE}{segment}/{n}\n")).collect()
    };
    segments.iter().map(urls).collect()
}

#[test]
fn a_section_that_shrinks_is_guarded_even_if_the_set_does_not_shrink() {
    let desk = Desk::new();
    let rows = |shoes: u32, hats: u32| {
        let rows = (0..shoes)
            .map(|n| format!("{BASE}s{n},shoes\n"))
            .chain((0..hats).map(|n| format!("{BASE}h{n},hats\n")));
        "url,type\n".to_owned() + &rows.collect::<String>()
    };
    let column = ["--section-column", "type"];
    desk.build("csv", rows(100, 10), &column, 0);
    desk.build("csv", rows(100, 5), &column, 0);
    let refused = desk.build("csv", rows(200, 2), &column, 65);
    assert!(
        refused.run.stderr.contains("section hats: 2 URLs would replace 5, but --max-shrink is 50%"),
        "{}",
        refused.run.stderr
    );
    assert_eq!(desk.sections()["hats"].len(), 5);
    desk.build("csv", rows(200, 0), &column, 65);
    desk.build("csv", rows(200, 2), &["--section-column", "type", "--max-shrink", "60%"], 0);
    desk.build("csv", rows(200, 0), &["--section-column", "type", "--allow-empty"], 0);
    assert_eq!(desk.sections().keys().collect::<Vec<_>>(), ["shoes"]);
    // Without sections, only the whole set is guarded. One rollback brings all sections back.
    desk.build("csv", rows(200, 0), &[], 0);
    assert_eq!(desk.sections().keys().collect::<Vec<_>>(), [""]);
    for _ in 0..2 {
        run(["rollback", desk.out().to_str().unwrap()]).expect(0);
    }
    let back = desk.sections();
    assert_eq!((back["shoes"].len(), back["hats"].len()), (200, 2));
}

#[test]
fn segments_that_compete_are_guarded_by_the_urls_that_they_have_in_the_input() {
    let desk = Desk::new();
    let most = |max| ["--section-by-path", "--sections-max", max];
    desk.build("txt", list(&[("a", 40), ("b", 35), ("c", 30), ("rest", 5), ("d", 25)]), &most("2"), 0);
    let gone = desk.build("txt", list(&[("b", 35), ("c", 30), ("d", 60)]), &most("2"), 65);
    assert!(gone.run.stderr.contains("section a: 0 URLs would replace 40"), "{}", gone.run.stderr);
    desk.build("txt", list(&[("a", 40), ("b", 42), ("c", 41), ("rest", 5), ("d", 25)]), &most("2"), 0);
    assert_eq!(desk.sections().keys().collect::<Vec<_>>(), ["b", "c", "rest"]);
    // A section that is new takes its URLs out of the rest.
    desk.build("txt", list(&[("a", 40), ("b", 42), ("c", 41), ("rest", 5), ("d", 25)]), &most("4"), 0);
    assert_eq!(desk.sections()["rest"].len(), 5);
    desk.build("txt", list(&[("a", 40), ("b", 42)]), &["--sections-max", "4"], 2);
}

#[test]
fn sections_may_lose_what_is_negligible_for_the_set() {
    let by_path = "--section-by-path";
    for (live, now, options, exit) in [
        // Pages at the top of a site.
        (&[("a", 1_000), ("b", 3), ("c", 1)][..], &[("a", 1_000), ("b", 1)][..], &[][..], 0),
        (&[("a", 2), ("b", 1)], &[("a", 2)], &[], 0),
        (&[("a", 1), ("b", 1)], &[("a", 2)], &["--max-shrink", "10%"], 65),
        // One in a hundred URLs, in one section or in several.
        (&[("a", 990), ("b", 10)], &[("a", 990)], &[], 0),
        (&[("a", 989), ("b", 11)], &[("a", 989)], &[], 65),
        (&[("a", 989), ("b", 6), ("c", 5)], &[("a", 989)], &[], 65),
        // At most a hundred URLs.
        (&[("a", 10_500), ("b", 100)], &[("a", 10_500)], &[], 0),
        (&[("a", 10_500), ("b", 101)], &[("a", 10_500)], &[], 65),
        // No more than the set may lose.
        (&[("a", 1_000), ("b", 2)], &[("a", 1_200)], &["--max-shrink", "0%"], 65),
        (&[("a", 1_000), ("b", 2)], &[("a", 1_200)], &["--max-shrink", "0.2%"], 0),
    ] {
        let desk = Desk::new();
        desk.build("txt", list(live), &[by_path], 0);
        desk.build("txt", list(now), &[&[by_path, "--dry-run"], options].concat(), exit);
    }
}

#[test]
fn a_refusal_names_the_largest_loss_first_and_the_report_has_all_sections() {
    let desk = Desk::new();
    let by_path = ["--section-by-path"];
    desk.build(
        "txt",
        list(&[("about", 2), ("blog", 400), ("faq", 3), ("jobs", 4), ("products", 200)]),
        &by_path,
        0,
    );
    let refused = desk.build("txt", list(&[("blog", 400), ("new", 1)]), &by_path, 65);
    let said = "section products: 0 URLs would replace 200, but --max-shrink is 50%; 3 other sets or sections would also \
                shrink too much, such as https://www.example.com/: section jobs (from 4 to 0), https://www.example.com/: \
                section faq (from 3 to 0); nothing was published; if this is intended, run again with --allow-empty";
    assert!(refused.run.stderr.contains(said), "{}", refused.run.stderr);
    let sections = refused.report["sections"].as_array().unwrap().iter();
    let listed: Vec<_> =
        sections.map(|section| (section["name"].as_str(), section["listed"].as_u64())).collect();
    let listed: Vec<_> = listed.into_iter().map(|(name, listed)| (name.unwrap(), listed.unwrap())).collect();
    let want = [("blog", 400), ("new", 1), ("about", 0), ("faq", 0), ("jobs", 0), ("products", 0)];
    assert_eq!(listed, want);
    // An empty section that is permitted does not help one that is left.
    let refused = desk.build("txt", list(&[("blog", 400), ("products", 20)]), &by_path, 65);
    let said =
        "section jobs: 0 URLs would replace 4, but --max-shrink is 50%; 3 other sets or sections would also";
    assert!(refused.run.stderr.contains(said), "{}", refused.run.stderr);
    assert!(refused.run.stderr.contains("run again with --max-shrink 100%"), "{}", refused.run.stderr);
}

#[test]
fn a_refusal_names_the_key_of_sections_that_no_row_has() {
    let desk = Desk::new();
    let rows = |key: &str| -> String {
        (0..10).map(|n| json!({ "url": format!("{BASE}{n}"), key: "shoes" }).to_string() + "\n").collect()
    };
    let options = ["--section-column", "type", "--quiet"];
    desk.build("jsonl", rows("type"), &options, 0);
    let refused = desk.build("jsonl", rows("kind"), &options, 65);
    let said = "nothing was published; all URLs are in the section rest: no row has another section in --section-column type; \
                if this is intended, run again with --allow-empty";
    assert!(refused.run.stderr.contains(said), "{}", refused.run.stderr);
}

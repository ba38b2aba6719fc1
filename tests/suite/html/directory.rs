//! `sitemill report DIR`: the page of a published set, or of several.

use std::fs;
use std::path::{Path, PathBuf};

use super::{BASE, assert_well_formed, build, pages};
use crate::support::{TempDir, build_command, epoch_plus, finish, run, sitemill};

/// Runs `report` for `out`.
fn report(out: &Path) -> String {
    String::from_utf8(run(["report", out.to_str().unwrap()]).expect(0).stdout).unwrap()
}

/// A page with its markup replaced by spaces, and each run of spaces by one.
fn text(page: &str) -> String {
    let body = page.split_once("<body>").unwrap().1;
    let pieces = body.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
    let text = Vec::from_iter(pieces).join(" ");
    Vec::from_iter(text.split_whitespace()).join(" ")
}

#[track_caller]
fn assert_shows(page: &str, there: &[&str], missing: &[&str]) {
    let page = text(page);
    there.iter().for_each(|text| assert!(page.contains(text), "{text} is not in the page:\n{page}"));
    missing.iter().for_each(|text| assert!(!page.contains(text), "{text} is in the page:\n{page}"));
}

fn time(day: u32) -> String {
    epoch_plus(day * 86_400)
}

/// Publishes `urls` below `out` on day `day`.
fn publish(out: &Path, base_url: &str, urls: &str, day: u32, options: &[&str]) {
    let mut command = build_command(out, base_url);
    command.args(["--max-shrink=100", "--urls-per-sitemap=5"]).args(options);
    finish(command.env("SOURCE_DATE_EPOCH", time(day)), urls.as_bytes()).expect(0);
}

/// `count` URLs of the site `host`.
fn urls(host: &str, count: usize) -> String {
    (0..count).map(|n| format!("https://{host}.example/{n}\n")).collect()
}

fn roll_back(out: &Path, day: u32) {
    let mut command = sitemill();
    command.arg("rollback").arg(out).env("SOURCE_DATE_EPOCH", time(day));
    finish(&mut command, b"").expect(0);
}

/// The manifest of the only kept set of `out`.
fn kept(out: &Path) -> PathBuf {
    let mut kept = fs::read_dir(out.join(".sitemill/sets")).unwrap();
    kept.next().unwrap().unwrap().path()
}

#[test]
fn a_page_of_a_published_directory_says_what_it_does_not_know() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let lines = pages("a", 30) + &pages("b&c", 12) + "bad\n";
    // Without details: sections are counted in the sitemaps.
    let mut command = build_command(&out, BASE);
    finish(command.arg("--urls-per-sitemap=20"), lines.as_bytes()).expect(0);
    let page = report(&out);
    assert!(page.contains("does not record lines, duplicates, rejected lines, inputs or times"), "{page}");
    assert!(page.contains("<code>/a</code></th><td class=\"number\">30</td>"), "{page}");
    assert!(page.contains("<code>/b&amp;c</code></th><td class=\"number\">12</td>"), "{page}");
    assert!(!page.contains("Where each line went"), "{page}");
    fs::write(directory.join("directory.html"), &page).unwrap();
    assert_well_formed(&directory.join("directory.html"));

    build(&directory, &lines, 1, &[]);
    let page = report(&out);
    assert!(page.contains("does not record why lines were rejected"), "{page}");
    assert!(page.contains("Where each line went") && page.contains("43</dd>"), "{page}");

    fs::remove_file(first_sitemap(&out)).unwrap();
    assert!(report(&out).contains("missing or damaged files of the live set: 1."));
}

fn first_sitemap(out: &Path) -> PathBuf {
    let names = fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path());
    names.filter(|path| path.extension().is_some_and(|extension| extension == "gz")).min().unwrap()
}

#[test]
fn a_set_is_compared_with_the_one_that_was_live_before_even_after_a_rollback() {
    let directory = TempDir::new();
    let out = directory.join("out");
    for (day, count) in [(0, 10), (1, 20), (2, 30)] {
        publish(&out, BASE, &pages("a", count), day, &[]);
    }
    assert_shows(
        &report(&out),
        &["Listed 30 +10 (+50.0 %)", "2 of 6 sitemaps are new", "set of 2005-06-27"],
        &[],
    );
    roll_back(&out, 3);
    let rolled_back = ["Listed 20 −10 (−33.3 %)", "No sitemap is new", "Removed 2", "set of 2005-06-28"];
    assert_shows(&report(&out), &rolled_back, &[]);
    roll_back(&out, 4);
    assert_shows(&report(&out), &["Listed 10 −10 (−50.0 %)", "No sitemap is new", "Removed 2"], &[]);

    // Only one of two sites.
    let sites = directory.join("sites");
    let [first, second] = [(6, 4), (6, 5)].map(|(a, b)| urls("a", a) + &urls("b", b));
    publish(&sites, "{origin}/", &first, 0, &[]);
    publish(&sites, "{origin}/", &second, 1, &[]);
    assert_shows(&report(&sites), &["Listed 11 +1 (+10.0 %)"], &[]);
    roll_back(&sites.join("b.example"), 2);
    let rolled_back = ["2 sites", "Listed 10 −1 (−9.1 %)", "https://b.example/ 4 40.0 % 5 −1 (−20.0 %)"];
    assert_shows(&report(&sites), &rolled_back, &[]);
}

#[test]
fn a_page_says_that_the_previous_set_is_not_known() {
    const UNKNOWN: [&str; 2] = ["previous set not known", "so it is not known which sitemaps are new."];
    const SHOWN: [&str; 5] = ["no previous set", "There is no previous set", "Compared with", "Kept", "(+"];
    let directory = TempDir::new();
    let out = directory.join("out");
    let none = ["--keep=0", "--keep-sets=0"];
    publish(&out, BASE, &pages("a", 9), 0, &none);
    assert_shows(&report(&out), &["Listed 9 no previous set", "There is no previous set"], &UNKNOWN);
    publish(&out, BASE, &pages("a", 10), 1, &none);
    assert_shows(&report(&out), &UNKNOWN, &SHOWN);

    // The manifest of one of several kept sets is damaged.
    let sites = directory.join("sites");
    for day in [0, 1] {
        publish(&sites, "{origin}/", &(urls("a", 6) + &urls("b", 4)), day, &[]);
    }
    assert_shows(&report(&sites), &["Listed 10 unchanged", "No sitemap is new", "Kept 3"], &UNKNOWN);
    let kept = kept(&sites.join("b.example"));
    let json = fs::read(&kept).unwrap();
    fs::write(&kept, &json[..json.len() - 4]).unwrap();
    assert_shows(&report(&sites), &UNKNOWN, &SHOWN);
    fs::remove_file(&kept).unwrap();
    assert_shows(&report(&sites), &UNKNOWN, &SHOWN);

    // A build knows no more if the manifest of the live set is lost.
    fs::remove_file(out.join(".sitemill/manifest.json")).unwrap();
    let (page, report) = build(&directory, &pages("a", 10), 2, &["--ignore-manifest"]);
    assert_shows(&page, &UNKNOWN, &SHOWN);
    assert_eq!(report["details"]["is_previous_unknown"], true);
}

#[test]
fn a_page_of_several_sets_shows_the_settings_of_all_and_counts_sites_once() {
    let directory = TempDir::new();
    let out = directory.join("out");
    publish(&out, BASE, &pages("a", 5), 0, &[]);
    let other = pages("a", 5) + "https://other.example/1\n";
    publish(&out, BASE, &other, 0, &["--name=ann", "--protocol=0.84", "--scope=any"]);
    let differ = ["2 sets", "protocol 0.84, 0.9", "--protocol 0.84, 0.9", "--scope any, directory"];
    assert_shows(&report(&out), &differ, &[]);

    let sites = directory.join("sites");
    for name in [&[][..], &["--name=blog"]] {
        publish(&sites, "{origin}/", &urls("a", 1), 0, name);
    }
    assert_shows(&report(&sites), &["1 site "], &["1 sites", "2 sites"]);
    publish(&sites, "{origin}/", &urls("b", 1), 0, &["--name=blog"]);
    assert_shows(&report(&sites), &["2 sites", "protocol 0.9", "--scope directory"], &["0.9,", "directory,"]);
}

#[test]
fn notes_that_are_not_shown_are_counted() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let hosts: Vec<_> = (0..9).map(|n| format!("s{n}")).collect();
    publish(&out, "{origin}/", &hosts.iter().map(|host| urls(host, 1)).collect::<String>(), 0, &[]);
    for (at, host) in hosts.iter().enumerate() {
        fs::remove_file(first_sitemap(&out.join(format!("{host}.example")))).unwrap();
        let page = text(&report(&out));
        // The first note says where the page comes from.
        assert_eq!(page.matches("missing or damaged files of the live set: 1.").count(), (at + 1).min(5));
        let more = match at {
            ..5 => None,
            5 => Some("And 1 more note; see sitemill status .".to_owned()),
            _ => Some(format!("And {} more notes; see sitemill status .", at - 4)),
        };
        assert!(
            more.as_ref().map_or(!page.contains("more note"), |more| page.contains(more)),
            "{more:?}: {page}"
        );
    }
}

#[test]
fn warnings_that_are_not_shown_are_counted() {
    let directory = TempDir::new();
    let [out, page] = ["out", "page.html"].map(|name| directory.join(name));
    let hosts: Vec<_> = (0..8).map(|n| format!("s{n}")).collect();
    let lines: String = hosts.iter().map(|host| urls(host, 1)).collect();
    publish(&out, "{origin}/", &lines, 0, &[]);
    for (edited, more) in
        [(6, None), (7, Some("And 1 more warning; the JSON")), (8, Some("And 2 more warnings; the JSON"))]
    {
        for host in &hosts[..edited] {
            fs::write(out.join(format!("{host}.example/sitemap-index-1.xml")), "edited").unwrap();
        }
        publish(&out, "{origin}/", &lines, 0, &["--html", page.to_str().unwrap()]);
        let page = text(&fs::read_to_string(&page).unwrap());
        assert_eq!(page.matches("Warning.").count(), 6, "{page}");
        assert!(more.map_or(!page.contains("more warning"), |more| page.contains(more)), "{more:?}: {page}");
    }
}

#[test]
fn a_page_of_an_empty_set_does_not_speak_of_index_files() {
    let directory = TempDir::new();
    let out = directory.join("out");
    for day in [0, 1] {
        publish(&out, BASE, "", day, &["--allow-empty"]);
        assert_shows(
            &report(&out),
            &["The set is empty: there are no sitemaps and no index files."],
            &["crawlers fetch"],
        );
    }
}

#[test]
fn a_segment_without_urls_is_gone_and_not_left_out() {
    let directory = TempDir::new();
    let html = directory.join("build.html");
    let html = ["--html", html.to_str().unwrap()];
    let (first, second) = (pages("shop", 3) + &pages("blog", 2), pages("shop", 3) + &pages("news", 4));
    for of_second in [&[][..], &html] {
        let out = directory.join(if of_second.is_empty() { "counted" } else { "recorded" });
        publish(&out, BASE, &first, 1, &html);
        publish(&out, BASE, &second, 2, of_second);
        assert_shows(&report(&out), &["/blog 0", "gone \u{2212}2", "new +4"], &[]);
    }
    let out = directory.join("recorded");
    roll_back(&out, 3);
    assert_shows(&report(&out), &["/news 0", "gone \u{2212}4", "new +2"], &[]);
}

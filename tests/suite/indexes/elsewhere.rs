//! Index files whose sitemaps are in several directories: none is taken for a file of the same name in another directory.

use std::fs;

use super::{BASE, check, index, missing, sitemap, urls};
use crate::support::{TempDir, build_command, finish, sitemill};

/// A directory with these sitemaps, each with one URL.
fn with(sitemaps: &[&str]) -> TempDir {
    let directory = TempDir::new();
    for name in sitemaps {
        fs::create_dir_all(directory.join(name).parent().unwrap()).unwrap();
        directory.file(name, sitemap(&[name]));
    }
    directory
}

fn locs(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("{BASE}{name}")).collect()
}

fn index_of(names: &[&str]) -> String {
    index(&locs(names).iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_sitemap_lies_where_its_url_says_rather_than_beside_its_index_file() {
    for (names, urls, not_followed) in [
        (&["blog/a.xml"][..], 0, 1),
        (&["blog/a.xml", "b.xml", "a.xml"], 2, 1),
        (&["blog/a.xml", "a.xml", "blog/c.xml"], 1, 2),
        (&["blog/a.xml", "blog/c.xml", "b.xml"], 1, 2),
        (&["b.xml", "blog/a.xml", "blog/gone.xml"], 1, 2),
    ] {
        let directory = with(&["a.xml", "b.xml", "blog/a.xml", "blog/c.xml"]);
        let file = directory.file("index.xml", index_of(names));
        let (found, summary) = check(&file);
        assert_eq!(found, [], "{names:?}");
        assert_eq!(
            (&summary["urls"], &summary["not_followed"]),
            (&urls.into(), &not_followed.into()),
            "{names:?}"
        );
    }
    // What lies beside it is read: here, a sitemap whose URL is not valid.
    let directory = with(&["a.xml", "blog/a.xml"]);
    directory.file("b.xml", sitemap(&["long-enough"]).replace(BASE, "bad"));
    let file = directory.file("index.xml", index_of(&["blog/a.xml", "b.xml", "a.xml"]));
    assert_eq!(check(&file).0.iter().map(|(rule, _)| &**rule).collect::<Vec<_>>(), ["loc-grammar"]);
    // A single sitemap in a deeper directory does not outweigh those beside the index file.
    let directory = with(&["a.xml", "b.xml", "blog/a.xml"]);
    let file = directory.file("index.xml", index_of(&["blog/a.xml", "blog/b.xml"]));
    let (found, summary) = check(&file);
    assert_eq!((found, &summary["urls"]), (vec![], &2.into()));
}

#[test]
fn an_index_file_is_not_taken_for_sitemaps_with_its_name_in_other_directories() {
    for names in [&["blog/sitemap.xml", "shop/sitemap.xml"][..], &["blog/sitemap.xml"]] {
        let directory = TempDir::new();
        let file = directory.file("sitemap.xml", index_of(names));
        for path in [&*file, directory.path()] {
            let (found, summary) = check(path);
            assert_eq!((found, &summary["not_followed"]), (vec![], &names.len().into()), "{names:?}");
        }
    }
}

#[test]
fn a_directory_whose_url_nothing_tells_has_no_missing_sitemaps() {
    let gone = |name: &str| missing(&format!("there is no such file: {BASE}{name}"));
    for (names, findings, not_followed) in [
        (&["shop/en/a.xml", "blog/a.xml"][..], &[][..], 2),
        (
            &["shop/en/a.xml", "shop/en/b.xml", "blog/a.xml"],
            &[gone("shop/en/a.xml"), gone("shop/en/b.xml")],
            1,
        ),
        (&["shop/en/a.xml"], &[gone("shop/en/a.xml")], 0),
    ] {
        let directory = TempDir::new();
        let file = directory.file("index.xml", index_of(names));
        let (found, summary) = check(directory.path());
        assert_eq!((&*found, &summary["not_followed"]), (findings, &not_followed.into()), "{names:?}");
        let (found, summary) = check(&file);
        assert_eq!((found, &summary["not_followed"]), (vec![], &names.len().into()), "{names:?}");
    }
}

#[test]
fn commands_refuse_an_index_file_whose_first_entry_fits_two_files() {
    let directory = with(&["a.xml", "b.xml", "blog/a.xml"]);
    let input = directory.file("urls.txt", format!("{BASE}base\n"));
    for names in [&["blog/a.xml"][..], &["blog/a.xml", "blog/b.xml"]] {
        let file = directory.file("index.xml", index_of(names));
        let build = finish(build_command(&directory.join("out"), BASE).arg(&file), b"");
        let diff = finish(sitemill().args(["diff", "--quiet"]).args([&file, &input]), b"");
        let clean = finish(sitemill().args(["clean", "--quiet"]).arg(&file), b"");
        for run in [urls(&file), diff, build, clean] {
            let run = run.expect(65);
            let [one, other] = ["a.xml", "blog/a.xml"].map(|name| directory.join(name));
            let said = format!("index.xml: entry 1: may be {} or {}; ", one.display(), other.display());
            assert!(run.stdout.is_empty() && run.stderr.contains(&said), "{}", run.stderr);
        }
    }
    // Nothing of that name is in a directory below.
    let file = directory.file("index.xml", index_of(&["blog/b.xml"]));
    assert_eq!(urls(&file).expect(0).stdout, format!("{BASE}b.xml\n").as_bytes());
}

//! Index files whose sitemaps are in several directories: none is taken for a file of the same name in another directory.

use std::fs;
use std::path::Path;

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
        (&["blog/a.xml"][..], 1, 0),
        (&["blog/a.xml", "b.xml", "a.xml"], 3, 0),
        (&["blog/a.xml", "a.xml", "blog/c.xml"], 3, 0),
        (&["blog/a.xml", "blog/c.xml", "b.xml"], 3, 0),
        (&["b.xml", "blog/a.xml", "shop/gone.xml"], 2, 1),
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

#[test]
fn all_commands_resolve_dot_segments_and_fragments_as_crawlers_do() {
    let directory = with(&["m/a.xml", "m/b.xml", "m/sub/c.xml", "b.xml"]);
    let want: Vec<u8> =
        ["a", "b", "sub/c"].iter().flat_map(|n| format!("{BASE}m/{n}.xml\n").into_bytes()).collect();
    let (all, out) = (directory.file("all.txt", &want), directory.join("out"));
    for names in [
        ["m/./a.xml", "m/x/../b.xml", "m/sub/c.xml#f"],
        ["m/a.xml#/f?g", "m/%2E/b.xml", "m/sub/./c.xml"],
        ["../m/a.xml", "m/../m/b.xml", "m/x/%2e%2E/sub/c.xml"],
    ] {
        let file = directory.file("m/index.xml", index_of(&names));
        for base in [&[][..], &["--base-url", &format!("{BASE}m/")]] {
            let run = finish(sitemill().arg("check").args(base).arg(&file), b"").expect(0);
            assert!(
                run.stderr.contains("in 3 URLs in 3 sitemaps and 1 index file"),
                "{names:?}: {}",
                run.stderr
            );
        }
        assert_eq!(urls(&file).expect(0).stdout, want, "{names:?}");
        assert_eq!(finish(sitemill().args(["clean", "--quiet"]).arg(&file), b"").expect(0).stdout, want);
        let diff = finish(sitemill().args(["diff", "--quiet"]).args([&file, &all]), b"").expect(0);
        assert_eq!(diff.stdout, b"");
        finish(build_command(&out, BASE).args(["--max-shrink", "100"]).arg(&file), b"").expect(0);
        assert_eq!(urls(&out).expect(0).stdout, want);
    }
    // They lead to no file of another directory, and a sitemap is listed once however it is spelt.
    let file = directory.file("m/index.xml", index_of(&["m/a.xml", "m/../b.xml"]));
    assert!(urls(&file).expect(65).stderr.contains("entry 2: not a file in the same directory or below it"));
    let file = directory.file("m/index.xml", index_of(&["m/a.xml", "m/./a.xml"]));
    assert_eq!(check(&file).0[0].0, "duplicate");
    assert_eq!(urls(&file).expect(0).stdout, format!("{BASE}m/a.xml\n").as_bytes());
}

#[test]
fn all_commands_follow_an_index_file_to_the_same_files_below_it() {
    let directory = with(&["site/sm/1.xml", "site/sm/de/2.xml", "site/a.xml"]);
    let (out, site) = (directory.join("out"), directory.join("site"));
    let listed = |names: &[&str]| -> Vec<u8> {
        names.iter().flat_map(|name| format!("{BASE}site/{name}\n").into_bytes()).collect()
    };
    for names in [&["sm/1.xml", "sm/de/2.xml"][..], &["sm/de/2.xml", "a.xml"], &["a.xml", "sm/1.xml"]] {
        let file = directory.file("site/sitemap.xml", index_of(names));
        let counted = if names.contains(&"a.xml") { names } else { &["a.xml", names[0], names[1]] };
        let (found, summary) = check(&site);
        assert_eq!((found, &summary["urls"]), (vec![], &counted.len().into()), "{names:?}");
        assert_eq!(check(&file).1["urls"], names.len());
        assert_eq!(urls(&file).expect(0).stdout, listed(names));
        assert_eq!(urls(&site).expect(0).stdout.len(), listed(counted).len());
        let all = directory.file("all.txt", listed(names));
        finish(build_command(&out, BASE).args(["--max-shrink", "100"]).arg(&file), b"").expect(0);
        assert_eq!(urls(&out).expect(0).stdout, listed(names));
        let diff = finish(sitemill().args(["diff", "--quiet"]).args([&file, &all]), b"").expect(0);
        assert_eq!(diff.stdout, b"");
    }
    // With the URL of the directory, it is known where a sitemap has to be.
    let file = directory.file("site/sitemap.xml", index_of(&["a.xml", "shop/gone.xml"]));
    assert_eq!(check(&file).0, []);
    let run = finish(sitemill().args(["check", "--base-url", BASE]).arg(&file), b"").expect(65);
    assert!(str::from_utf8(&run.stdout).unwrap().contains("entry 2: missing-file"));
    let said = format!(
        "entry 2: not a file in the same directory or below it; give the sitemaps instead of the index file: {BASE}shop"
    );
    assert!(urls(&file).expect(65).stderr.contains(&said));
    // Nothing that it lists is there.
    let file = directory.file("site/sitemap.xml", index_of(&["en/gone.xml"]));
    let run = finish(sitemill().arg("check").arg(&file), b"").expect(0);
    assert!(
        run.stderr.contains("no sitemap was read: 0 URLs in 0 sitemaps and 1 index file"),
        "{}",
        run.stderr
    );
    let quiet = finish(sitemill().args(["check", "--quiet"]).arg(&file), b"").expect(0);
    assert!(quiet.stderr.contains("no sitemap was read"), "{}", quiet.stderr);
    assert!(urls(&file).expect(65).stderr.contains("/site/gone.xml; if "));
}

/// The rule and the entry of each finding in `file`, checked with [`BASE`] and `options`.
fn found_below_base(file: &Path, options: &[&str]) -> Vec<String> {
    let run = finish(sitemill().args(["check", "--quiet", "--base-url", BASE]).args(options).arg(file), b"");
    let lines = str::from_utf8(&run.stdout).unwrap().lines();
    // The path, the entry, the rule and the words, separated by colons.
    lines.map(|line| line.split(": ").skip(1).take(2).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn a_sitemap_in_a_deeper_directory_lists_urls_of_that_directory() {
    let directory = with(&["a.xml"]);
    fs::create_dir(directory.join("blog")).unwrap();
    directory.file("blog/c.xml", sitemap(&["blog/1", "2"]));
    let file = directory.file("index.xml", index_of(&["a.xml", "blog/c.xml"]));
    for path in [&file, directory.path()] {
        assert_eq!(found_below_base(path, &[]), ["entry 2 out-of-scope"]);
        assert_eq!(found_below_base(path, &["--scope", "host"]), [""; 0]);
        assert_eq!(check(path).0, [], "without the URL of the directory, it is unknown");
    }
}

#[test]
fn a_url_that_no_file_can_have_is_one_of_a_missing_file_if_the_url_of_the_directory_is_known() {
    let directory = with(&["a.xml"]);
    for (name, is_missing) in [
        ("a.xml", false),
        ("/a.xml", true),
        ("blog//a.xml", true),
        ("blog/", true),
        ("a.xml%00", true),
        (".well-known/a.xml", false),
        ("sitemap/?page=1", false),
    ] {
        let file = directory.file("index.xml", index_of(&["a.xml", name][usize::from(name == "a.xml")..]));
        let want = if is_missing { vec!["entry 2 missing-file"] } else { vec![] };
        assert_eq!(found_below_base(&file, &[]), want, "{name}");
        assert_eq!(check(&file).0, [], "{name}");
    }
}

#[test]
fn a_link_that_is_named_means_the_index_file_that_it_leads_to() {
    let directory = with(&["a.xml"]);
    directory.file("index.xml", index_of(&["a.xml"]));
    let elsewhere = TempDir::new();
    let link = elsewhere.join("link.xml");
    std::os::unix::fs::symlink(directory.join("index.xml"), &link).unwrap();
    let (found, summary) = check(&link);
    assert_eq!((found, &summary["urls"]), (vec![], &1.into()));
    assert_eq!(urls(&link).expect(0).stdout, format!("{BASE}a.xml\n").into_bytes());
}

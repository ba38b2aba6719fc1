//! Rollbacks of sets that list sitemaps from elsewhere.

use super::*;

#[test]
fn a_rollback_restores_them_and_a_build_without_them_drops_them() {
    let directory = TempDir::new();
    let out = with_news(&directory);
    build(&out, 2, &ALSO, &[]).expect(0);
    let first = fs::read(out.join("sitemap-index-1.xml")).unwrap();
    build(&out, 3, &[], &[]).expect(0);
    let second = fs::read_to_string(out.join("sitemap-index-1.xml")).unwrap();
    assert!(!second.contains("news.xml"));
    run(["rollback".as_ref(), "-q".as_ref(), out.as_os_str()]).expect(0);
    assert_eq!(fs::read(out.join("sitemap-index-1.xml")).unwrap(), first);
    // They are not files of the set.
    let news = fs::read(out.join("news.xml")).unwrap();
    fs::remove_file(out.join("news.xml")).unwrap();
    let dry = json(&build(&out, 2, &ALSO[1..], &["--dry-run"]).expect(0).stdout);
    assert_eq!((&dry["also"], &dry["dry_run"]["kept_sitemaps"]), (&2.into(), &2.into()));
    fs::write(out.join("news.xml"), news).unwrap();
    assert_nothing_is_left(&out);
}

#[test]
fn one_that_was_given_as_a_file_and_is_gone_is_found() {
    let directory = TempDir::new();
    let out = with_news(&directory);
    build(&out, 2, &ALSO, &[]).expect(0);
    let check = |exit| {
        let checked = run(["check".as_ref(), out.as_os_str()]).expect(exit);
        (String::from_utf8(checked.stdout).unwrap(), checked.stderr)
    };
    assert_eq!((check(0).0, &status(&out)["live"]["missing"]), (String::new(), &json!(0)));
    fs::remove_file(out.join("more stuff/vidéos.xml.gz")).unwrap();
    let (found, summary) = check(65);
    let missing =
        format!("entry 4: missing-file: there is no such file: {BASE}more%20stuff/vid%C3%A9os.xml.gz");
    assert!(found.contains(&missing) && found.lines().count() == 1, "{found}");
    assert!(summary.contains("3 sitemaps added with --also not checked"), "{summary}");
    assert_eq!(status(&out)["live"]["missing"], 1);
}

#[test]
fn a_rollback_warns_of_a_file_that_is_gone() {
    let directory = TempDir::new();
    let out = with_news(&directory);
    build(&out, 2, &ALSO, &[]).expect(0);
    let rollback = |to: &[&str]| {
        let mut rollback = sitemill();
        rollback.args(["rollback", "--quiet"]).args(to).arg("--out").arg(&out);
        finish(&mut rollback, b"").expect(0).stderr
    };
    build(&out, 1, &[], &[]).expect(0);
    assert_eq!(rollback(&[]), "");
    assert_eq!(rollback(&["--to", "2"]), "");
    fs::remove_file(out.join("more stuff/vidéos.xml.gz")).unwrap();
    let said = rollback(&["--to", "1"]);
    let path = out.join("more stuff/vidéos.xml.gz");
    let want = format!("{}: gone, although the restored set lists it", path.display());
    assert!(said.contains(&want) && !said.contains("news.xml"), "{said}");
}

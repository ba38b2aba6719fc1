//! What has the name of a manifest but is not that of the live set: the manifest of an earlier run, or a directory.

use super::*;

#[test]
fn the_manifest_of_an_earlier_run_is_refused_if_a_later_set_is_live() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let manifest = out.join(".sitemill/manifest.json");
    build(&out, &[1, 2], &[]).expect(0);
    let backup = fs::read(&manifest).unwrap();
    build(&out, &[1, 2, 3, 4, 5], &[]).expect(0);
    let last = fs::read(&manifest).unwrap();
    fs::write(&manifest, &backup).unwrap();
    let before = snapshot(&out);
    let said = ["manifest.json: is that of an earlier set", "sitemap-index-2.xml lists sitemap-00003-"];
    for options in [&[][..], &["--dry-run"], &["--take-over"]] {
        assert_says(&build(&out, &[1, 3, 6], options).expect(65), &said);
    }
    assert_says(&rollback(&out, &[]).expect(65), &said);
    let page = directory.join("page.html");
    for command in [&["status"][..], &["check"], &["report", "-o", page.to_str().unwrap()]] {
        assert_says(&finish(sitemill().args(command).arg(&out), b"").expect(65), &said);
    }
    assert_eq!(snapshot(&out), before);
    fs::write(&manifest, last).unwrap();
    build(&out, &[1, 3], &["--dry-run"]).expect(0);
    fs::write(&manifest, &backup).unwrap();
    rebuild(&out, &[1, 3, 6]).expect(0);
    assert_eq!(live(&out), [1, 3, 6]);
    run(["check".as_ref(), out.as_os_str()]).expect(0);
}

#[test]
fn a_directory_with_the_name_of_a_manifest_is_in_the_way() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, &[1, 2], &[]).expect(0);
    for file in ["manifest.next.json", "manifest.json"] {
        let manifest = out.join(".sitemill").join(file);
        let _ = fs::remove_file(&manifest);
        fs::create_dir(&manifest).unwrap();
        for options in [&[][..], &["--ignore-manifest"]] {
            let said =
                format!("{file}: is in the way and was not created by sitemill; move it and run again");
            assert_says(&build(&out, &[1, 2], options).expect(73), &[&said]);
        }
        fs::remove_dir(&manifest).unwrap();
    }
}

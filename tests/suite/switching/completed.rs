//! Switches of runs that were killed, which the next run completes.

use super::*;

/// Kills runs of `build` with `input` until one dies in its switch and leaves the `journal`. Each begins with an empty `out`, or
/// with the set that is built from `old`.
fn kill_in_switch(
    [out, journal]: [&Path; 2],
    old: Option<&str>,
    build: &dyn Fn(&[&str]) -> Command,
    input: &str,
) {
    let mut tries = 1..30;
    while !journal.exists() {
        let nth = tries.next().expect("the run is killed in the switch");
        let _ = fs::remove_dir_all(out);
        if let Some(old) = old {
            finish(&mut build(&[]), old.as_bytes()).expect(0);
        }
        finish(&mut killed_at("rename", nth, &build(&[])), input.as_bytes()).expect(137);
    }
}

#[test]
fn a_run_that_completes_the_switch_of_a_killed_one_counts_its_index_files_as_changed() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let journals =
        [".sitemill", "h.example/.sitemill"].map(|state| out.join(state).join("manifest.next.json"));
    for (base_url, journal) in [BASE, "{origin}/"].iter().zip(&journals) {
        let build = |options: &[&str]| {
            let mut build = build_command(&out, base_url);
            build.args(["--urls-per-sitemap", "2", "--sitemaps-per-index", "2", "--max-shrink", "100%"]);
            build.args(options);
            build
        };
        kill_in_switch([&out, journal], Some(&pages(1..=4)), &build, &pages(1..=10));
        // The first run completes it, and the second one finds nothing to do.
        for changed in [3, 0] {
            let mut again = build(&["--then", "sh -c 'echo changed=$SITEMILL_RUN_CHANGED.'"]);
            let said = finish(&mut again, pages(1..=10).as_bytes()).expect(0).stderr;
            assert!(said.contains(&format!("changed={changed}.")), "{base_url} {changed}: {said}");
        }
    }
}

#[test]
fn a_run_that_completes_the_switch_of_a_killed_one_names_the_set_that_is_live_now() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let words = "an earlier run died while it switched to set 2; this run has completed the switch\n";
    for base_url in [BASE, "{origin}/"] {
        let state = if base_url == BASE { ".sitemill" } else { "h.example/.sitemill" };
        let journal = out.join(state).join("manifest.next.json");
        let build = |options: &[&str]| {
            let mut build = build_command(&out, base_url);
            build.args(options);
            build
        };
        // Of a run that publishes, of one that is refused, and of one that fails before its lines are counted.
        let warning = &*format!("warning: https://h.example/: {words}");
        let after_error = "; set 2 of https://h.example/ is live now, because this run has completed";
        for (input, options, code, words) in [
            (pages(1..=10), &[][..], 0, warning),
            (pages(1..=1), &["--max-shrink", "10%"], 65, warning),
            (pages(1..=10), &["--protocol", "0.84"], 65, after_error),
            (pages(1..=10), &["--section-column", "type"], 65, after_error),
        ] {
            let _ = fs::remove_dir_all(&out);
            kill_in_switch([&out, &journal], Some(&pages(1..=4)), &build, &pages(1..=10));
            let dry = finish(build(options).arg("--dry-run"), input.as_bytes());
            assert!(!dry.stderr.contains("has completed"), "a dry run completes nothing: {}", dry.stderr);
            let completing = finish(build(options).arg("--json"), input.as_bytes()).expect(code);
            assert!(completing.stderr.contains(words), "{base_url} {code}: {}", completing.stderr);
            let again = finish(build(options).arg("--json"), input.as_bytes()).expect(code);
            assert!(!again.stderr.contains("has completed"), "{}", again.stderr);
            assert!(!String::from_utf8_lossy(&again.stdout).contains("completed"));
            let warned = code == 0 || words == warning;
            assert_eq!(warned, String::from_utf8_lossy(&completing.stdout).contains("\"completed\":[{"));
        }
    }
}

#[test]
fn a_run_that_fails_at_one_of_several_sites_names_the_set_whose_switch_it_has_completed() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let build = |_: &[&str]| build_command(&out, "{origin}/");
    let pages = |last| pages(1..=last) + &pages(1..=last).replace("h.example", "i.example");
    let state = |site: &Path| site.join(".sitemill");
    let journals = ["h.example", "i.example"].map(|site| state(&out.join(site)).join("manifest.next.json"));
    // The switches of several sites end together.
    kill_in_switch([&out, &journals[1]], Some(&pages(4)), &build, &pages(5));
    assert!(journals[0].exists());
    let sites = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
    let last = sites.filter(|path| path.extension().is_some_and(|end| end == "example")).last().unwrap();
    fs::write(state(&last).join("manifest.json"), "{").unwrap();
    let said = finish(&mut build(&[]), pages(5).as_bytes()).expect(65).stderr;
    assert!(said.contains("manifest.json: is damaged") && said.contains("; set 2 of https://"), "{said}");
}

#[test]
fn a_rollback_that_fails_names_the_set_whose_switch_it_has_completed() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let journal = out.join(".sitemill/manifest.next.json");
    kill_in_switch([&out, &journal], Some(&pages(1..=4)), &|options| build(&out, options), &pages(1..=10));
    let rollback = || run(["rollback".as_ref(), "--to".as_ref(), "99".as_ref(), out.as_os_str()]).expect(65);
    let words = "no earlier set 99 is kept; run status to list the sets that can be restored; set 2 of \
                 https://h.example/ is live now, because this run has completed the switch of an earlier one that died";
    assert!(rollback().stderr.contains(words));
    assert!(!rollback().stderr.contains("is live now"));
}

#[test]
fn a_single_set_is_refused_above_a_site_whose_first_switch_was_interrupted() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let page = "https://a.example/1\n";
    let journal = out.join("a.example/.sitemill/manifest.next.json");
    kill_in_switch([&out, &journal], None, &|_| build_command(&out, "{origin}/"), page);
    let refused = finish(&mut build_command(&out, "https://a.example/"), page.as_bytes()).expect(65);
    assert!(refused.stderr.contains("the sets of sites are published below it"), "{}", refused.stderr);
}

//! Concurrent runs: one for all sites below a directory, and one for a single site.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::support::{
    Run, TempDir, assert_nothing_is_left, build_command, contents, files, finish, killed_at, published_urls,
    run, wait_until_staging,
};

const HOSTS: [&str; 2] = ["a.example", "b.example"];

fn base(host: &str) -> String {
    format!("https://{host}/")
}

fn pages(host: &str, last: u32) -> String {
    (1..=last).map(|page| format!("https://{host}/{page}\n")).collect()
}

/// Runs a build for all sites or for one of them.
fn build(out: &Path, base: &str, input: &str) -> Run {
    finish(&mut build_command(out, base), input.as_bytes())
}

fn rollback(out: &Path) -> Run {
    run(["rollback".as_ref(), "--out".as_ref(), out.as_os_str()])
}

/// Two sites, published first with 5 pages, then with 6.
fn world(directory: &TempDir) -> std::path::PathBuf {
    let out = directory.join("out");
    for last in [5, 6] {
        build(&out, "{origin}/", &HOSTS.map(|host| pages(host, last)).concat()).expect(0);
    }
    out
}

/// Starts a run and returns when it holds its locks and waits for its input.
fn waiting(command: &mut Command, out: &Path) -> Child {
    let child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until_staging(out);
    child
}

fn go_on(mut child: Child, input: &str) -> Run {
    use std::io::Write;
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let ended = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    Run { exit: ended.status.code().unwrap(), stdout: ended.stdout, stderr }
}

#[track_caller]
fn assert_busy(run: Run, holder: &Child) {
    let run = run.expect(75);
    let word = format!("another run holds it (process {} since", holder.id());
    assert!(run.stderr.contains(&word) && run.stderr.contains("try again when it is done"), "{}", run.stderr);
}

#[track_caller]
fn assert_live(out: &Path, last: u32) {
    for host in HOSTS {
        let listed: Vec<String> = pages(host, last).lines().map(Into::into).collect();
        assert_eq!(published_urls(&out.join(host), &base(host)), listed);
        assert_nothing_is_left(&out.join(host));
    }
}

#[test]
fn while_all_sites_are_built_none_of_them_is_built_or_rolled_back_alone() {
    let directory = TempDir::new();
    let out = world(&directory);
    let all = waiting(&mut build_command(&out, "{origin}/"), &out);
    let before = contents(&out.join("b.example"));
    assert_busy(rollback(&out.join("b.example")), &all);
    // A link to the site makes no difference.
    symlink(out.join("b.example"), directory.join("link")).unwrap();
    assert_busy(rollback(&directory.join("link")), &all);
    for name in [".", "../b.example"] {
        let mut alone = build_command(Path::new(name), &base("b.example"));
        let alone = finish(alone.current_dir(out.join("b.example")), pages("b.example", 6).as_bytes());
        assert_busy(alone, &all);
    }
    assert_busy(build(&out.join("c.example"), &base("c.example"), &pages("c.example", 1)), &all);
    assert_eq!(contents(&out.join("b.example")), before);
    // `status` only reads and does not wait.
    run(["status".as_ref(), "--out".as_ref(), out.as_os_str()]).expect(0);
    go_on(all, &HOSTS.map(|host| pages(host, 7)).concat()).expect(0);
    assert_live(&out, 7);
    rollback(&out.join("b.example")).expect(0);
}

#[test]
fn while_one_site_is_built_another_one_can_be_built_but_not_all_of_them() {
    let directory = TempDir::new();
    let out = world(&directory);
    let one = waiting(&mut build_command(&out.join("a.example"), &base("a.example")), &out.join("a.example"));
    let all = HOSTS.map(|host| pages(host, 7)).concat();
    assert_busy(build(&out, "{origin}/", &all), &one);
    build(&out.join("b.example"), &base("b.example"), &pages("b.example", 7)).expect(0);
    go_on(one, &pages("a.example", 7)).expect(0);
    assert_live(&out, 7);
    build(&out, "{origin}/", &HOSTS.map(|host| pages(host, 8)).concat()).expect(0);
    assert_live(&out, 8);
}

#[test]
fn the_first_run_for_all_sites_finds_a_run_for_one_of_them_and_leaves_it_alone() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let site = out.join("b.example");
    let one = waiting(&mut build_command(&site, &base("b.example")), &site);
    assert_busy(build(&out, "{origin}/", &HOSTS.map(|host| pages(host, 7)).concat()), &one);
    assert_eq!(fs::read_dir(site.join(".sitemill/staging")).unwrap().count(), 1);
    go_on(one, &pages("b.example", 7)).expect(0);
    build(&out, "{origin}/", &HOSTS.map(|host| pages(host, 7)).concat()).expect(0);
    assert_live(&out, 7);
}

#[test]
fn result_files_are_those_of_one_run_whatever_others_do() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let (rejects, diff, report) =
        (directory.join("rejects.tsv"), directory.join("diff.tsv"), directory.join("report.json"));
    let command = || {
        let mut command = build_command(&out, "http://h.example/");
        command.arg("--rejects").arg(&rejects).arg("--diff").arg(&diff).arg("--report").arg(&report);
        command
    };
    let lines = |path: &Path| fs::read_to_string(path).unwrap().lines().count();
    let published = || {
        let report: serde_json::Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
        report["published"].as_bool()
    };
    let input = |urls: u32, bad: u32| {
        pages("h.example", urls).replace("https", "http") + &"bad\n".repeat(bad as usize)
    };
    finish(&mut command(), input(3, 2).as_bytes()).expect(0);
    let (old_rejects, old_diff) = (fs::read(&rejects).unwrap(), fs::read(&diff).unwrap());
    let first = waiting(&mut command(), &out);
    assert_busy(finish(&mut command(), input(9, 9).as_bytes()), &first);
    assert_eq!(published(), Some(false), "the report of the second one");
    // A dry run takes no lock.
    finish(command().arg("--dry-run"), input(3, 4).as_bytes()).expect(0);
    assert_eq!((lines(&rejects), published()), (1 + 4, Some(false)));
    fs::write(&rejects, &old_rejects).unwrap();
    assert_eq!(fs::read(&diff).unwrap(), old_diff);

    go_on(first, &input(5, 1)).expect(0);
    assert_eq!((lines(&rejects), lines(&diff), published()), (1 + 1, 2, Some(true)));

    let mut killed = waiting(&mut command(), &out);
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!((lines(&rejects), lines(&diff), published()), (1 + 1, 2, Some(true)));
    finish(&mut command(), input(5, 0).as_bytes()).expect(0);
    assert_eq!((lines(&rejects), lines(&diff)), (1, 0));
    assert_eq!(files(directory.path()), ["diff.tsv", "out", "rejects.tsv", "report.json"]);
}

#[test]
fn a_set_below_another_one_is_not_one_of_its_sites() {
    let directory = TempDir::new();
    let (out, below) = (directory.join("out"), directory.join("out/shop"));
    build(&out, "http://h.example/", "http://h.example/1\n").expect(0);
    let first = waiting(&mut build_command(&out, "http://h.example/"), &out);
    build(&below, "http://h.example/shop/", "http://h.example/shop/1\n").expect(0);
    go_on(first, "http://h.example/1\n").expect(0);
    let second = waiting(&mut build_command(&below, "http://h.example/shop/"), &below);
    build(&out, "http://h.example/", "http://h.example/1\n").expect(0);
    go_on(second, "http://h.example/shop/1\n").expect(0);
}

#[test]
fn a_link_in_place_of_a_site_or_of_the_lock_of_all_is_refused() {
    let directory = TempDir::new();
    let victim = directory.join("victim");
    build(&victim, "https://ok.example/", &pages("ok.example", 3)).expect(0);
    let before = contents(&victim);
    let out = directory.join("out");
    fs::create_dir(&out).unwrap();
    symlink("../victim", out.join("ok.example")).unwrap();
    let input = pages("aa.example", 2) + &pages("ok.example", 2);
    let refused = build(&out, "{origin}/", &input).expect(73);
    assert!(
        refused.stderr.contains("ok.example: is in the way and was not created by sitemill"),
        "{}",
        refused.stderr
    );
    assert_eq!(contents(&victim), before);
    assert_nothing_is_left(&victim);
    assert!(!out.join("aa.example/robots-sitemaps.txt").exists());

    fs::remove_file(out.join("ok.example")).unwrap();
    let precious = directory.file("precious", "precious");
    let lock = out.join(".sitemill/sites.lock");
    fs::remove_file(&lock).unwrap();
    symlink(&precious, &lock).unwrap();
    for refused in [
        build(&out, "{origin}/", &input),
        build(&out.join("x"), "https://x.example/", &pages("x.example", 1)),
    ] {
        let refused = refused.expect(73);
        assert!(refused.stderr.contains("sites.lock: is in the way"), "{}", refused.stderr);
    }
    assert_eq!(fs::read(&precious).unwrap(), b"precious");
}

#[test]
fn the_publisher_of_a_site_may_open_the_lock_of_all_sites_and_nothing_else() {
    let directory = TempDir::new();
    let out = world(&directory);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&out.join(".sitemill")), 0o711);
    assert_eq!(mode(&out.join(".sitemill/staging")), 0o700);
    assert_eq!(mode(&out.join("a.example/.sitemill")), 0o700);
    // A directory from a version without this lock.
    fs::remove_file(out.join(".sitemill/sites.lock")).unwrap();
    fs::set_permissions(out.join(".sitemill"), fs::Permissions::from_mode(0o700)).unwrap();
    rollback(&out.join("a.example")).expect(0);
    build(&out, "{origin}/", &HOSTS.map(|host| pages(host, 7)).concat()).expect(0);
    assert_eq!(mode(&out.join(".sitemill")), 0o711);
    assert_live(&out, 7);
}

#[test]
fn a_run_for_all_sites_removes_what_a_dead_one_left_in_sites_that_its_input_does_not_contain() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let build = || build_command(&out, "{origin}/");
    let both = HOSTS.map(|host| pages(host, 1)).concat();
    // The first rename begins the first switch, when the files of all sites are ready.
    finish(&mut killed_at("rename", 1, &build()), both.as_bytes()).expect(137);
    let left = out.join(HOSTS[1]);
    let leftovers = || (files(&left).len(), files(&left.join(".sitemill/staging")).len());
    assert_eq!(leftovers(), (1, 1));
    finish(build().arg("--dry-run"), pages(HOSTS[0], 2).as_bytes()).expect(0);
    assert_eq!(leftovers(), (1, 1));
    finish(&mut build(), pages(HOSTS[0], 2).as_bytes()).expect(0);
    assert_eq!(leftovers(), (0, 0));
}

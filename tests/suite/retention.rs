//! Earlier sets: how long they are kept, how `status` shows them, and how `rollback` restores one.

mod repeated;

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::support::{
    Run, TempDir, build_command, epoch_plus, files, finish, gunzip, gzip, killed_at, published,
    published_urls, run, sitemill, status, wait_until_staging,
};

const BASE: &str = "http://h.example/";
const DAY: u64 = 86_400;

/// Publishes `pages`, one per sitemap, on a day counted from 26 June 2005.
fn build(out: &Path, day: u64, pages: &[u32], options: &[&str]) -> Run {
    let input: String = pages.iter().map(|page| format!("{BASE}{page}\n")).collect();
    let mut command = build_command(out, BASE);
    command.env("SOURCE_DATE_EPOCH", epoch_plus(day * DAY));
    command.args(["--urls-per-sitemap", "1", "--max-shrink", "100"]).args(options);
    finish(&mut command, input.as_bytes())
}

fn sitemaps(out: &Path) -> usize {
    files(out).iter().filter(|file| file.ends_with(".gz")).count()
}

fn rollback(out: &Path, options: &[&str]) -> Run {
    let mut command = sitemill();
    finish(command.arg("rollback").args(options).arg("--out").arg(out), b"")
}

/// The pages that a crawler finds.
fn live(out: &Path) -> Vec<u32> {
    published_urls(out, BASE).iter().map(|url| url[BASE.len()..].parse().unwrap()).collect()
}

/// The numbers of the live set and of the kept ones.
fn numbers(out: &Path) -> Vec<u64> {
    let status = status(out);
    let earlier = status["earlier"].as_array().unwrap().iter();
    [&status["live"]].into_iter().chain(earlier).map(|set| set["number"].as_u64().unwrap()).collect()
}

#[test]
fn superseded_sitemaps_are_kept_for_their_time_and_then_removed() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let options = ["--keep", "2d", "--keep-sets", "0"];
    build(&out, 0, &[1, 2], &options).expect(0);
    let foreign = ["sitemap-00001-00000000.xml.gz", "sitemap-old.xml"];
    foreign.iter().for_each(|file| fs::write(out.join(file), "theirs").unwrap());
    build(&out, 1, &[1, 3], &options).expect(0);
    build(&out, 2, &[1, 4], &options).expect(0);
    assert_eq!(sitemaps(&out), 4 + 1);
    assert_eq!(numbers(&out), [3, 2, 1]);
    // Page 2 was superseded on day 1, page 3 on day 2.
    build(&out, 3, &[1, 4], &options).expect(0);
    assert_eq!((sitemaps(&out), numbers(&out)), (3 + 1, vec![4, 3, 2]));
    build(&out, 9, &[1, 4], &options).expect(0);
    assert_eq!((sitemaps(&out), numbers(&out)), (2 + 1, vec![5, 4]));
    assert_eq!(live(&out), [1, 4]);
    foreign.iter().for_each(|file| assert_eq!(fs::read(out.join(file)).unwrap(), b"theirs"));
    assert_eq!(fs::read_dir(out.join(".sitemill/sets")).unwrap().count(), 1);
    // A page that returns after its file was removed is written again.
    build(&out, 10, &[1, 2], &options).expect(0);
    assert_eq!(live(&out), [1, 2]);
}

#[test]
fn the_last_sets_stay_however_old_and_a_clock_that_goes_back_deletes_nothing() {
    let directory = TempDir::new();
    let out = directory.join("out");
    for set in 1..=6 {
        build(&out, 100 * u64::from(set), &[0, set], &[]).expect(0);
    }
    assert_eq!(numbers(&out), [6, 5, 4, 3]);
    assert_eq!(sitemaps(&out), 5);
    build(&out, 0, &[0, 7], &["--keep-sets", "0"]).expect(0);
    assert_eq!(numbers(&out), [7, 6, 5, 4, 3]);
    assert_eq!(sitemaps(&out), 6);
    // Without both options, only the live set is left.
    build(&out, 1000, &[8], &["--keep", "0", "--keep-sets", "0"]).expect(0);
    assert_eq!((sitemaps(&out), numbers(&out)), (1, vec![8]));
}

#[test]
fn each_rollback_goes_one_set_further_back_and_restores_the_same_files() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let mut sets = Vec::new();
    for (at, pages) in [&[1, 2, 3, 4, 5][..], &[1, 2], &[7, 8, 9]].into_iter().enumerate() {
        build(&out, at as u64, pages, &["--sitemaps-per-index", "2"]).expect(0);
        sets.push(published(&out, BASE));
    }
    let told = rollback(&out, &[]).expect(0);
    assert!(told.stderr.contains("restored set 2 (2 URLs in 2 sitemaps), which replaces set 3"));
    assert_eq!(published(&out, BASE), sets[1]);
    rollback(&out, &[]).expect(0);
    assert_eq!(published(&out, BASE), sets[0]);
    assert_eq!(numbers(&out)[0], 1);
    let refused = rollback(&out, &[]).expect(65);
    let said = "all sets before the live one are gone or were rolled back; --to N restores one of the kept sets; run \
                status to list them\n";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    assert_eq!(published(&out, BASE), sets[0]);
    run(["check".as_ref(), out.as_os_str()]).expect(0);

    // Forward again, to a set by its number.
    rollback(&out, &["--to", "3"]).expect(0);
    assert_eq!(published(&out, BASE), sets[2]);
    rollback(&out, &["--to", "9"]).expect(65);

    // A later build of the same pages, too: their sitemaps are those of a kept set, with its times.
    rollback(&out, &["--to", "1"]).expect(0);
    build(&out, 9, &[7, 8, 9], &["--sitemaps-per-index", "2"]).expect(0);
    assert_eq!(published(&out, BASE), sets[2]);
}

#[test]
fn a_rollback_skips_sets_that_were_rolled_back_before() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, 0, &[1], &[]).expect(0);
    build(&out, 1, &[2], &[]).expect(0);
    rollback(&out, &[]).expect(0);
    build(&out, 2, &[3], &[]).expect(0);
    assert_eq!((live(&out), numbers(&out)), (vec![3], vec![3, 1, 2]));
    rollback(&out, &[]).expect(0);
    assert_eq!(live(&out), [1]);
    let text = run(["status".as_ref(), "--out".as_ref(), out.as_os_str()]).expect(0).stdout;
    let text = String::from_utf8(text).unwrap();
    for (state, sets) in [("live since ", 1), ("live from ", 2), ("Z, rolled back: ", 2)] {
        assert_eq!(text.matches(state).count(), sets, "{state}: {text}");
    }
}

#[test]
fn a_set_with_a_missing_file_cannot_be_restored() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, 0, &[1, 2], &[]).expect(0);
    let first = published(&out, BASE)[1].0.clone();
    build(&out, 1, &[3, 4], &[]).expect(0);
    let whole = fs::read(out.join(&first)).unwrap();
    for damage in [None, Some(&whole[..whole.len() - 1])] {
        match damage {
            None => fs::remove_file(out.join(&first)).unwrap(),
            Some(cut) => fs::write(out.join(&first), cut).unwrap(),
        }
        let refused = rollback(&out, &[]).expect(65);
        let said = format!("{first}: missing or damaged, so set 1 cannot be restored; the live set stays");
        assert!(refused.stderr.contains(&said), "{}", refused.stderr);
        assert_eq!(live(&out), [3, 4]);
        assert_eq!(status(&out)["earlier"][0]["missing"], 1);
    }
    fs::write(out.join(&first), whole).unwrap();
    // The live set lacks its index file. An earlier set gets its own when it is restored.
    fs::remove_file(out.join("sitemap-index-1.xml")).unwrap();
    let seen = status(&out);
    assert_eq!((&seen["live"]["missing"], &seen["earlier"][0]["missing"]), (&1.into(), &0.into()));
    rollback(&out, &[]).expect(0);
    assert_eq!(live(&out), [1, 2]);
}

#[test]
fn a_set_with_a_damaged_or_edited_file_cannot_be_restored() {
    let directory = TempDir::new();
    let out = directory.join("out");
    for (day, pages) in [[1, 2], [3, 4], [5, 6]].iter().enumerate() {
        build(&out, day as u64, pages, &[]).expect(0);
    }
    let path = out.join(sitemap_of(&out, 2));
    let whole = fs::read(&path).unwrap();
    let mut rotted = whole.clone();
    rotted[whole.len() / 2] ^= 1;
    let edited = gzip(&[&gunzip(&whole)[..], b" "].concat());
    // The content compressed to other bytes is the same sitemap.
    let anew = gzip(&gunzip(&whole));
    assert_ne!(anew, whole);
    for damage in [rotted, edited] {
        fs::write(&path, damage).unwrap();
        let refused = rollback(&out, &[]).expect(65).stderr;
        let file = path.display();
        assert!(
            refused.contains(&format!("{file}: missing or damaged, so set 2 cannot be restored; the live")),
            "{refused}"
        );
        assert!(refused.contains("--to 1 restores an earlier one"), "{refused}");
        assert_eq!((live(&out), numbers(&out)), (vec![5, 6], vec![3, 2, 1]));
    }
    rollback(&out, &["--to", "1"]).expect(0);
    assert_eq!(live(&out), [1, 2]);
    for good in [anew, whole] {
        fs::write(&path, good).unwrap();
        rollback(&out, &["--to", "2"]).expect(0);
        assert_eq!(live(&out), [3, 4]);
        rollback(&out, &["--to", "3"]).expect(0);
    }
    // The first set has no predecessor.
    fs::write(out.join(sitemap_of(&out, 1)), "").unwrap();
    let refused = rollback(&out, &["--to", "1"]).expect(65).stderr;
    assert!(refused.contains("rebuild that set from its input"), "{refused}");
}

/// The first sitemap of a kept set.
fn sitemap_of(out: &Path, number: u64) -> String {
    let sets = fs::read_dir(out.join(".sitemill/sets")).unwrap();
    let sets =
        sets.map(|set| serde_json::from_slice::<Value>(&fs::read(set.unwrap().path()).unwrap()).unwrap());
    let set = sets.into_iter().find(|set| set["number"] == number).unwrap();
    set["sitemaps"][0]["file"].as_str().unwrap().into()
}

#[test]
fn an_impossible_rollback_changes_nothing_and_a_killed_one_is_completed_by_the_next_run() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let options = ["--sitemaps-per-index", "1"];
    build(&out, 0, &[1], &options).expect(0);
    build(&out, 1, &[1, 2], &options).expect(0);
    let second = published(&out, BASE);
    build(&out, 2, &[3], &options).expect(0);
    let third = published(&out, BASE);
    // A foreign directory has the name of its second index file.
    let index = out.join("sitemap-index-2.xml");
    fs::remove_file(&index).unwrap();
    fs::create_dir(&index).unwrap();
    let refused = rollback(&out, &[]).expect(73);
    assert!(refused.stderr.contains("sitemap-index-2.xml: is in the way"), "{}", refused.stderr);
    assert_eq!((published(&out, BASE), &status(&out)["is_switching"]), (third, &Value::from(false)));
    fs::remove_dir(&index).unwrap();

    // Each rollback is killed one rename later than the previous one, until one leaves a switch to complete.
    let mut renames = 0;
    while status(&out)["is_switching"] == false {
        renames += 1;
        let mut rollback = sitemill();
        rollback.args(["rollback", "--out"]).arg(&out);
        finish(&mut killed_at("rename", renames, &rollback), b"").expect(137);
    }
    build(&out, 3, &[], &[]).expect(65);
    assert_eq!(published(&out, BASE), second);
    assert_eq!((numbers(&out), &status(&out)["is_switching"]), (vec![2, 3, 1], &Value::from(false)));
}

#[test]
fn status_and_rollback_create_nothing_where_there_is_no_set() {
    let directory = TempDir::new();
    for (out, exit, says) in [
        (directory.join("missing"), 66, "cannot be read: No such file or directory"),
        (directory.path().to_owned(), 65, "contains no published set"),
    ] {
        run(["status".as_ref(), "--out".as_ref(), out.as_os_str()]).expect(exit);
        let refused = rollback(&out, &[]).expect(exit);
        assert!(refused.stderr.contains(says), "{}", refused.stderr);
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn status_shows_what_is_there_and_waits_for_no_run() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, 0, &[1, 2], &[]).expect(0);
    build(&out, 1, &[2], &[]).expect(0);
    let mut running = build_command(&out, BASE).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_until_staging(&out);
    let seen = status(&out);
    assert_eq!(seen["runs"][0], serde_json::json!({ "process": running.id(), "is_alive": true }));
    let (now, before) = (&seen["live"], &seen["earlier"][0]);
    assert_eq!((&now["urls"], &now["published"]), (&1.into(), &"2005-06-27T00:00:00Z".into()));
    assert_eq!((&before["urls"], &before["replaced"]), (&2.into(), &"2005-06-27T00:00:00Z".into()));
    let on_disk: u64 = files(&out)
        .iter()
        .filter(|file| file.ends_with(".gz"))
        .map(|file| fs::metadata(out.join(file)).unwrap().len())
        .sum();
    let [live_bytes, old_bytes] =
        [&now["gzip_bytes"], &seen["superseded"]["bytes"]].map(|n| n.as_u64().unwrap());
    assert_eq!(live_bytes + old_bytes, on_disk);

    running.kill().unwrap();
    running.wait().unwrap();
    assert_eq!(status(&out)["runs"][0]["is_alive"], false);
    // Another process may have the number by now. In containers, every run is process 1.
    let (staging, lock) = (out.join(".sitemill/staging"), out.join(".sitemill/lock"));
    let run = fs::read_dir(&staging).unwrap().next().unwrap().unwrap().file_name().into_string().unwrap();
    let [dead, other] = [running.id(), std::process::id()].map(|id| [format!("-{id}"), format!(":{id}")]);
    let renamed = run.replace(&dead[0], &other[0]);
    fs::rename(staging.join(&run), staging.join(&renamed)).unwrap();
    let held = fs::read_to_string(&lock).unwrap().replace(&run, &renamed);
    assert!(held.contains(&dead[1]), "{held}");
    fs::write(&lock, held.replace(&dead[1], &other[1])).unwrap();
    let runs = serde_json::json!([{ "process": std::process::id(), "is_alive": false }]);
    assert_eq!(status(&out)["runs"], runs);
}

#[test]
fn status_names_the_runs_for_sets_that_are_not_published_yet() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let mut first = build_command(&out, BASE).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_until_staging(&out);
    let said =
        |then: &str| format!("the set without a name is not published yet; process {} {then}", first.id());
    let (running, died) = (said("is running"), said("died during a run"));
    let check = |exit, said: &str| {
        let status = run(["status".as_ref(), out.as_os_str()]).expect(exit);
        assert!(status.stderr.contains(said), "{said}: {}", status.stderr);
        status
    };
    check(65, &running);
    check(65, "contains no published set");
    build(&out, 0, &[1], &["--name", "blog"]).expect(0);
    check(0, &running);
    first.kill().unwrap();
    first.wait().unwrap();
    check(0, &died);
    build(&out, 0, &[1], &[]).expect(0);
    assert_eq!(check(0, "").stderr, "");
}

#[test]
fn sites_are_shown_together_and_rolled_back_one_by_one() {
    let directory = TempDir::new();
    let out = directory.join("out");
    for page in 1..3 {
        let mut command = sitemill();
        command.args(["build", "--quiet", "--base-url", "{origin}/", "--out"]).arg(&out);
        let input = format!("https://b.example/{page}\nhttps://a.example/{page}\n");
        finish(&mut command, input.as_bytes()).expect(0);
    }
    let shown =
        run(["status".as_ref(), "--json".as_ref(), "--out".as_ref(), out.as_os_str()]).expect(0).stdout;
    let bases: Vec<Value> = String::from_utf8(shown)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["live"]["base_url"].take())
        .collect();
    assert_eq!(bases, ["https://a.example/", "https://b.example/"]);
    let refused = rollback(&out, &[]).expect(65);
    assert!(
        refused.stderr.contains("one at a time") && refused.stderr.contains("a.example"),
        "{}",
        refused.stderr
    );
    rollback(&out.join("b.example"), &[]).expect(0);
    let listed = |host: &str| published_urls(&out.join(host), &format!("https://{host}/"));
    assert_eq!(listed("a.example"), ["https://a.example/2"]);
    assert_eq!(listed("b.example"), ["https://b.example/1"]);
}

#[test]
fn a_failed_cleanup_is_a_warning_and_the_set_is_live() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let options = ["--keep", "0", "--keep-sets", "1"];
    build(&out, 0, &[1], &options).expect(0);
    build(&out, 1, &[2], &options).expect(0);
    build(&out, 2, &[3], &options).expect(0);
    assert_eq!(sitemaps(&out), 2);
    let keep_two = ["--keep", "0", "--keep-sets", "2"];
    let kept = fs::read_dir(out.join(".sitemill/sets")).unwrap().next().unwrap().unwrap().path();
    fs::write(&kept, "{").unwrap();
    let warned = build(&out, 3, &[4], &keep_two).expect(0);
    assert!(warned.stderr.contains("warning: ") && warned.stderr.contains("no old sitemap is removed"));
    assert_eq!((live(&out), sitemaps(&out)), (vec![4], 3));
    // As the message says, deleting that file helps.
    fs::remove_file(&kept).unwrap();
    let quiet = build(&out, 4, &[5], &keep_two).expect(0);
    assert_eq!((quiet.stderr.as_str(), live(&out), sitemaps(&out)), ("", vec![5], 3));
}

#[test]
fn sitemaps_of_a_run_that_died_before_the_switch_are_removed_and_no_others() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, 0, &[1], &[]).expect(0);
    let staging = out.join(".sitemill/staging/123-456");
    fs::create_dir(&staging).unwrap();
    let [linked, foreign] = ["sitemap-00001-aaaaaaaa.xml.gz", "sitemap-00002-bbbbbbbb.xml.gz"];
    fs::write(staging.join(linked), "never live").unwrap();
    fs::hard_link(staging.join(linked), out.join(linked)).unwrap();
    // A file with the same name and other content.
    fs::write(staging.join(foreign), "never live").unwrap();
    fs::write(out.join(foreign), "theirs").unwrap();
    // A hard link to a live file.
    let live_file = published(&out, BASE)[1].0.clone();
    fs::hard_link(out.join(&live_file), staging.join(&live_file)).unwrap();
    build(&out, 1, &[], &[]).expect(65);
    assert_eq!(files(&out).iter().filter(|file| file.ends_with(".gz")).count(), 2);
    assert!(!out.join(linked).exists() && out.join(foreign).exists());
    assert_eq!(live(&out), [1]);
}

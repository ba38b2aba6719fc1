//! Inputs that change, are truncated or fail while a run reads them.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{
    TempDir, assert_nothing_is_left, build_command, ended, files, finish, gzip, killed_at, published_urls,
    sitemill, started_by,
};
use crate::world::{
    BASE, Between, Waiting, World, fifo, injected_on, pages, skip_unless_root, unanswered, urls,
};

/// Enough URLs for several threads in both passes, and more rejects than a pipe holds.
fn input_with_rejects(directory: &TempDir) -> PathBuf {
    directory.file("urls.txt", format!("{}{}", pages(1, 200_000), "no url\n".repeat(20_000)))
}

/// Pages of a file that is mapped: small ones are read.
const LARGE_PAGES: u32 = 3_000;

fn large_pages() -> String {
    let text = pages(1, LARGE_PAGES);
    assert!(text.len() > 1 << 16);
    text
}

/// Sets the length of the file.
fn cut(path: &Path, bytes: u64) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(bytes).unwrap();
}

const ALL_WAYS: [[&str; 4]; 4] = [
    ["--order", "input", "--threads", "1"],
    ["--order", "input", "--threads", "4"],
    ["--order", "sorted", "--threads", "1"],
    ["--order", "sorted", "--threads", "4"],
];

#[test]
fn an_input_that_is_truncated_before_the_first_pass_is_an_error_and_not_a_crash() {
    let world = World::new();
    for way in ALL_WAYS {
        for bytes in [0, 100_000] {
            let input = input_with_rejects(&world.directory);
            let waiting = Waiting::start(world.build_large().args(way), &input);
            cut(&input, bytes);
            world.assert_refused(waiting.finish(), 74, "urls.txt: changed while it was being read");
        }
    }
}

#[test]
fn an_input_that_is_truncated_between_the_passes_is_an_error_and_not_a_crash() {
    let world = World::new();
    for way in ALL_WAYS {
        let input = input_with_rejects(&world.directory);
        let between = Between::start(world.build_large().args(way).arg(&input), &world.directory);
        cut(&input, 100_000);
        world.assert_refused(between.finish(), 74, "urls.txt: changed while it was being read");
    }
}

#[test]
fn an_input_that_is_truncated_within_its_last_page_is_noticed() {
    let world = World::new();
    let text = large_pages();
    let input = world.directory.file("urls.txt", &text);
    let waiting = Waiting::start(&mut world.build_large(), &input);
    cut(&input, text.len() as u64 - 100);
    world.assert_refused(waiting.finish(), 74, "changed while it was being read");
}

#[test]
fn a_small_input_that_changes_after_it_was_read_is_noticed() {
    let world = World::new();
    let text = format!("{}{}", pages(1, 70), "no url\n".repeat(6_000));
    for (bytes, exit) in [(100, 74), (text.len() as u64 + 1, 65)] {
        let input = world.directory.file("urls.txt", &text);
        let between = Between::start(world.build().arg(&input), &world.directory);
        assert!(!between.maps().contains("urls.txt"), "it is small");
        cut(&input, bytes);
        world.assert_refused(between.finish(), exit, "urls.txt: changed while it was being read");
    }
}

#[test]
fn thousands_of_small_inputs_take_few_maps_and_are_the_same_with_any_memory() {
    let world = World::new();
    let data = world.directory.join("data");
    fs::create_dir(&data).unwrap();
    let mut want = Vec::new();
    // Together they take more than an eighth of the memory that the last runs may use for data.
    for number in 0..900 {
        let (first, last) = (number * 300 + 1, number * 300 + 300);
        let lines = format!("{}{}", pages(first, last), "no url\n".repeat(3));
        let of_sitemap = |line: &str| format!("<url><loc>{line}</loc></url>");
        let (ending, bytes) = match number % 3 {
            0 => ("txt", lines.into_bytes()),
            1 => ("txt.gz", gzip(lines.as_bytes())),
            _ => {
                let urls: String = lines.lines().map(of_sitemap).collect();
                ("xml", format!("<urlset>{urls}</urlset>").into_bytes())
            }
        };
        fs::write(data.join(format!("{number:03}.{ending}")), bytes).unwrap();
        want.extend(urls(first, last));
    }
    let mut rejects = Vec::new();
    for memory in [&[][..], &["--threads=1", "--memory=72MiB"], &["--threads=2", "--memory=84MiB"]] {
        let mut build = world.build_large();
        let between = Between::start(build.args(memory).arg(&data), &world.directory);
        let maps = between.maps().lines().count();
        assert!(maps < 400, "{maps} maps");
        let (run, found) = between.finish_with_rejects();
        run.expect(0);
        assert!(published_urls(&world.out, BASE) == want, "{memory:?}");
        rejects.push(found);
    }
    assert!(rejects.iter().all(|found| *found == rejects[0]));
}

#[test]
fn an_input_that_is_modified_is_noticed_whatever_its_times_say() {
    let world = World::new();
    let text = large_pages();
    type Change = fn(&Path);
    let touched = "its owner, mode or links (or its content, and its time was set back) changed";
    let changes: [(&str, &str, Change); 6] = [
        ("overwritten", "changed", |input| {
            OpenOptions::new().write(true).open(input).unwrap().write_all(b"http").unwrap();
        }),
        ("appended", "changed", |input| {
            OpenOptions::new().append(true).open(input).unwrap().write_all(b"more\n").unwrap();
        }),
        ("replaced", "changed", |input| {
            fs::copy(input, input.with_extension("new")).unwrap();
            fs::rename(input.with_extension("new"), input).unwrap();
        }),
        ("removed", "changed", |input| fs::remove_file(input).unwrap()),
        ("overwritten, and its time set back", touched, |input| {
            let mut file = OpenOptions::new().write(true).open(input).unwrap();
            let modified = file.metadata().unwrap().modified().unwrap();
            file.write_all(b"HTTP").unwrap();
            file.set_modified(modified).unwrap();
        }),
        ("linked", touched, |input| fs::hard_link(input, input.with_extension("link")).unwrap()),
    ];
    for (what, said, change) in changes {
        let input = world.directory.file("urls.txt", &text);
        let waiting = Waiting::start(&mut world.build_large(), &input);
        change(&input);
        let run = waiting.finish();
        assert!(run.exit == 65, "{what}: {} {}", run.exit, run.stderr);
        let said = format!("urls.txt: {said} while it was being read; run again on a copy");
        world.assert_refused(run, 65, &said);
    }
}

#[test]
fn an_input_that_cannot_be_opened_or_fails_while_being_read_is_named() {
    let world = World::new();
    let plain = world.directory.file("urls.txt", pages(1, 70));
    let packed = world.directory.file("urls.txt.gz", gzip(pages(1, 70).as_bytes()));
    for (input, call, fault, exit, said) in [
        (&plain, "openat", "error=EACCES", 66, "urls.txt: cannot be read: Permission denied"),
        (&plain, "openat", "error=EMFILE", 66, "urls.txt: cannot be read: Too many open files"),
        (&packed, "openat", "error=EACCES", 66, "urls.txt.gz: cannot be read: Permission denied"),
        (&packed, "read,pread64", "error=EIO", 74, "urls.txt.gz: "),
        (&plain, "read,pread64", "error=EIO", 74, "urls.txt: "),
    ] {
        let (run, _) = injected_on(&world.directory, input, call, fault, world.build().arg(input));
        assert!(run.exit == exit, "{call} {fault}: exit {}: {}", run.exit, run.stderr);
        world.assert_refused(run, exit, said);
    }
}

#[test]
fn a_file_that_cannot_be_mapped_is_read() {
    let world = World::new();
    let input = world.directory.file("urls.txt", large_pages());
    for error in ["ENODEV", "ENOMEM", "EACCES"] {
        let fault = format!("error={error}");
        let (run, hit) =
            injected_on(&world.directory, &input, "mmap", &fault, world.build_large().arg(&input));
        assert!(hit && run.expect(0).stderr.is_empty());
        world.assert_new(1, LARGE_PAGES);
    }
}

#[test]
fn damaged_packed_input_is_refused_and_two_members_are_one_text() {
    let world = World::new();
    let whole = gzip(pages(1, 70).as_bytes());
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 0x10;
    for (damaged, said) in [
        (whole[..100].to_vec(), "urls.gz: the gzip data ends too early, at byte 100"),
        (flipped, "urls.gz: the gzip data is damaged before byte "),
        ([&whole[..], b"garbage after the end"].concat(), "urls.gz: the gzip data ends at byte "),
    ] {
        let input = world.directory.file("urls.gz", damaged);
        let run = finish(world.build().arg(&input), b"");
        world.assert_refused(run, 65, said);
    }
    let members = [gzip(pages(1, 40).as_bytes()), gzip(pages(41, 70).as_bytes())].concat();
    finish(world.build().arg(world.directory.file("urls.gz", members)), b"").expect(0);
    world.assert_new(1, 70);
}

#[test]
fn a_failure_is_reported_without_waiting_for_a_silent_pipe() {
    let world = World::new();
    let damaged = world.directory.file("urls.gz", &gzip(pages(1, 70).as_bytes())[..100]);
    let silent = [fifo(&world.directory, "urls.fifo"), "-".into()];
    for pipe in &silent {
        for (inputs, threads) in [([&damaged, pipe], "1"), ([&damaged, pipe], "4"), ([pipe, &damaged], "4")] {
            let mut build = world.build();
            let run = unanswered(build.args(["--threads", threads]).args(inputs), b"");
            world.assert_refused(run, 65, "urls.gz: the gzip data ends too early, at byte 100");
        }
        let missing = world.directory.join("missing.txt");
        let run = unanswered(world.build().arg(pipe).arg(missing), b"");
        world.assert_refused(run, 66, "missing.txt: cannot be read");
    }
    // The pipe stays open after more rows than fit in scratch.
    let rows = format!("loc\n{}", pages(1, 200_000));
    for threads in ["1", "4"] {
        let build = world.build_large();
        let mut limited = Command::new("prlimit");
        limited.arg("--fsize=20000").arg(build.get_program()).args(build.get_args());
        let run = unanswered(limited.args(["--threads", threads, "--format", "csv", "-"]), rows.as_bytes());
        world.assert_refused(run, 74, "File too large");
    }
}

#[test]
fn hostile_lines_are_rejected_and_counted_among_good_ones() {
    let world = World::new();
    let lines: [&[u8]; 9] = [
        b"http://h.example/\0",
        b"http://h.example/\x1b[2J",
        b"http://h.example/\x7f",
        b"http://h.example/a\rhttp://h.example/b",
        b"\0\0\0\0",
        b"\r",
        b"\xff\xfe\xff",
        b"http://\xff.example/",
        // A path may contain any byte.
        b"http://h.example/\xff\xc3",
    ];
    let report = world.directory.join("report.json");
    let input = [pages(1, 70).as_bytes(), &lines.join(&b'\n'), b"\n"].concat();
    let input = world.directory.file("urls.txt", input);
    finish(world.build().arg(&input).arg("--report").arg(&report), b"").expect(0);
    let report: serde_json::Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    let rejected: u64 = report["rejected"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    let rest = report["blank"].as_u64().unwrap() + report["duplicates"].as_u64().unwrap() + rejected;
    assert_eq!((report["lines"].as_u64(), report["listed"].as_u64(), rest), (Some(79), Some(71), 8));
    let want = [urls(1, 70), vec![format!("{BASE}%FF%C3")]].concat();
    assert_eq!(published_urls(&world.out, BASE), want);
    assert_nothing_is_left(&world.out);
}

#[test]
fn a_pipe_of_one_endless_line_takes_bounded_memory() {
    // 256 MB, in 800 MB of address space; the mapping of the copy takes another 256 MB.
    let world = World::new();
    let zeros = world.directory.join("line.txt");
    let mut file = File::create(&zeros).unwrap();
    file.write_all(pages(1, 70).as_bytes()).unwrap();
    file.seek(std::io::SeekFrom::Start(256 << 20)).unwrap();
    file.write_all(format!("\n{}", pages(71, 71)).as_bytes()).unwrap();
    let build = world.build();
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -v 800000; cat \"$1\" | { shift; exec \"$@\"; }", "sh"]).arg(&zeros);
    finish(shell.arg(build.get_program()).args(build.get_args()).arg("--memory=128MiB"), b"").expect(0);
    world.assert_new(1, 71);
}

#[test]
fn a_user_who_may_not_read_the_manifest_can_check_the_published_files() {
    if skip_unless_root("another user") {
        return;
    }
    let (directory, base) = (TempDir::new(), "http://cdn.example/www/");
    let out = directory.join("out");
    // The second set has one index file less, and lists a sitemap that is not a file.
    for (count, also) in [(3, "more.xml"), (2, "news.xml")] {
        let mut build = build_command(&out, base);
        build.args(["--scope=any", "--urls-per-sitemap=1", "--sitemaps-per-index=3", "--also"]);
        finish(build.arg(format!("{base}{also}")), pages(1, count).as_bytes()).expect(0);
    }
    assert!(out.join("sitemap-index-2.xml").exists());
    let check = |options: &[&str]| {
        let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
        finish(&mut started_by(&nobody, sitemill().args(["check", "--json"]).args(options).arg(&out)), b"")
    };
    let unknown = check(&[]).expect(0);
    let report: Value = serde_json::from_slice(unknown.stdout.trim_ascii()).unwrap();
    let counts = ["sitemaps", "also", "unknown_scopes"].map(|key| report[key].as_u64());
    assert_eq!(counts, [2, 1, 1].map(Some), "{report}");
    assert!(unknown.stderr.contains("scope not checked") && unknown.stderr.contains("--scope"));
    assert!(!check(&["--scope", "any"]).expect(0).stderr.contains("--scope"));
    let found = check(&["--scope", "directory"]).expect(65);
    assert!(found.stderr.contains("out-of-scope  2"), "{}", found.stderr);
}

/// Starts a command as a user who may not read `.sitemill`.
const NOBODY: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

#[test]
fn a_user_who_may_not_read_the_journal_waits_for_the_end_of_the_switch() {
    if skip_unless_root("another user") {
        return;
    }
    let directory = TempDir::new();
    let (out, mark) = (directory.join("out"), ".sitemill-switch".to_owned());
    let build = || {
        let mut build = build_command(&out, BASE);
        build.args(["--urls-per-sitemap=1", "--sitemaps-per-index=1"]);
        build
    };
    let (old, new) = (pages(1, 2), pages(2, 3));
    let read = |args: &[&str]| finish(&mut started_by(&NOBODY, sitemill().args(args).arg(&out)), b"");
    let index = out.join("sitemap-index-1.xml");
    for nth in 1.. {
        let _ = fs::remove_dir_all(&out);
        finish(&mut build(), old.as_bytes()).expect(0);
        let before = fs::read(&index).unwrap();
        finish(&mut killed_at("rename", nth, &build()), new.as_bytes()).expect(137);
        if fs::read(&index).unwrap() != before {
            break;
        }
    }
    for args in [&["urls"][..], &["check"], &["build", "--base-url", BASE, "--out", "/nowhere"]] {
        let refused = read(args).expect(75);
        assert!(refused.stderr.contains("has begun and is not complete"), "{args:?}: {}", refused.stderr);
    }
    assert!(files(&out).contains(&mark));
    finish(&mut build(), new.as_bytes()).expect(0);
    assert!(!files(&out).contains(&mark));
    assert_eq!(read(&["urls"]).expect(0).stdout, new.as_bytes());
    read(&["check"]).expect(0);
}

#[test]
fn a_user_who_may_not_read_the_manifests_notices_a_switch_while_the_urls_are_listed() {
    if skip_unless_root("another user") {
        return;
    }
    let directory = TempDir::new();
    let out = directory.join("out");
    let build = |first| finish(&mut build_command(&out, BASE), pages(first, first + 20_000).as_bytes());
    build(1).expect(0);
    let mut listing = started_by(&NOBODY, sitemill().arg("urls").arg(&out));
    let mut listing = listing.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It waits for its reader then, because these are more URLs than a pipe holds.
    listing.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    build(2).expect(0);
    let refused = ended(listing).expect(75);
    assert!(refused.stderr.contains("another set was published"), "{}", refused.stderr);
}

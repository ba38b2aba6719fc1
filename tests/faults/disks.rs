//! Full disks, directories without write permission, and disks that fail under a mapped file.

use std::fs::{self, OpenOptions, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

use crate::support::{TempDir, assert_nothing_is_left, finish, gzip, published_urls, sitemill, started_by};
use crate::world::{BASE, Mount, World, build, pages, skip_unless_root, urls};

/// URLs that hardly compress.
fn random_pages(count: u64) -> String {
    let hash = |n: u64| {
        n.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31).wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ n
    };
    (0..count).map(|n| format!("{BASE}{:016x}{:016x}\n", hash(n), hash(n + count))).collect()
}

/// A world on a tmpfs with `options`.
fn on_tmpfs(options: &str) -> (World, Mount) {
    let directory = TempDir::new();
    let mount = Mount::tmpfs(options, &directory.join("mount"));
    let out = mount.path().join("out");
    (World::at(directory, out), mount)
}

#[test]
fn a_disk_with_too_little_room_is_reported_with_numbers_before_any_work() {
    if skip_unless_root("a tmpfs of a megabyte") {
        return;
    }
    let (world, _mount) = on_tmpfs("size=1m");
    let input = world.directory.file("urls.txt", pages(1, 400_000));
    let run = finish(world.build_large().arg(&input), b"");
    world.assert_refused(run, 74, " are free; make room");
}

#[test]
fn a_disk_with_too_few_inodes_is_reported_with_numbers_before_any_work() {
    if skip_unless_root("a tmpfs of 60 inodes") {
        return;
    }
    let (world, _mount) = on_tmpfs("size=20m,nr_inodes=60");
    let input = world.directory.file("urls.txt", pages(1, 8_000));
    let run = finish(world.build().arg(&input), b"");
    world.assert_refused(run, 74, "the run needs about 400 files");
}

#[test]
fn duplicates_refused_lines_and_reused_sitemaps_need_no_inodes() {
    if skip_unless_root("a tmpfs of 200 inodes") {
        return;
    }
    let directory = TempDir::new();
    let mount = Mount::tmpfs("size=20m,nr_inodes=200", &directory.join("mount"));
    let out = mount.path().join("out");
    let build = |input: &Path, options: &[&str]| {
        let mut build = sitemill();
        build.args(["build", "--quiet", "--base-url", BASE, "--urls-per-sitemap", "20"]).args(options);
        finish(build.arg(input).arg("--out").arg(&out), b"").expect(0);
    };
    let leave = |inodes: u64| {
        let free = rustix::fs::statvfs(mount.path()).unwrap().f_favail;
        (inodes..free).for_each(|n| fs::write(mount.path().join(format!("{inodes}-{n}")), "").unwrap());
    };
    let input = directory.file("urls.txt", pages(1, 1_400));
    build(&input, &[]);
    // 470 files, if all lines were URLs of their own.
    let others = format!("{BASE}0000001\nno url\n").repeat(4_000);
    let with_others = directory.file("with-others.txt", pages(1, 1_400) + &others);
    leave(60);
    build(&with_others, &["--max-rejects", "100%"]);
    // Less than a fifth of the 70 sitemaps.
    leave(12);
    build(&input, &[]);
    assert_eq!(published_urls(&out, BASE), urls(1, 1_400));
}

#[test]
fn a_disk_that_fills_up_during_the_run_ends_it() {
    if skip_unless_root("a tmpfs of half a megabyte") {
        return;
    }
    let (world, _mount) = on_tmpfs("size=512k");
    let input = world.directory.file("urls.txt", random_pages(40_000));
    for order in ["input", "sorted"] {
        let mut build = world.build_large();
        build.args(["--order", order]).arg(&input);
        build.arg("--scratch").arg(world.directory.path());
        world.assert_refused(finish(&mut build, b""), 74, " are free; make room: No space left on device");
    }
}

#[test]
fn a_disk_whose_inodes_are_used_up_during_the_run_is_reported_with_what_is_free() {
    if skip_unless_root("a tmpfs of 60 inodes") {
        return;
    }
    let (world, _mount) = on_tmpfs("size=20m,nr_inodes=60");
    let input = world.directory.file("urls.txt", pages(1, 4_000));
    let run = finish(world.build().arg(&input), b"");
    world.assert_refused(run, 74, " in 200 files, but ");
    let run = finish(world.build().arg(&input), b"");
    world.assert_refused(
        run,
        74,
        " in 200 files, but no more files can be created; free some inodes: No space left on device",
    );
}

#[test]
fn a_disk_that_fills_up_with_index_files_is_reported_as_one_that_fills_up_with_sitemaps() {
    if skip_unless_root("a tmpfs of 270 inodes") {
        return;
    }
    let (world, _mount) = on_tmpfs("size=20m,nr_inodes=270");
    let input = world.directory.file("urls.txt", pages(1, 4_000));
    let run = finish(world.build().arg(&input), b"");
    let said = "no room for all sitemaps: 4,000 URLs take about ";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    let said = " in 200 files, but no more files can be created; free some inodes: No space left on device";
    world.assert_refused(run, 74, said);
}

/// The number before `words`.
#[track_caller]
fn number(text: &str, words: &str) -> u64 {
    let (head, _) = text.split_once(words).unwrap_or_else(|| panic!("{words:?} is not in: {text}"));
    let digits = head.rsplit(|character: char| !character.is_ascii_digit() && character != ',').next();
    digits
        .and_then(|digits| digits.replace(',', "").parse().ok())
        .unwrap_or_else(|| panic!("no number: {text}"))
}

#[test]
fn a_scratch_disk_that_is_too_small_is_reported_with_the_needed_and_free_bytes() {
    const DISK_BYTES: u64 = 1 << 20;
    if skip_unless_root("a scratch disk of a megabyte") {
        return;
    }
    let directory = TempDir::new();
    let mount = Mount::tmpfs("size=1m", &directory.join("scratch"));
    let plain = directory.file("plain.txt", random_pages(40_000));
    let large = directory.file("large.txt", random_pages(160_000));
    let medium = directory.file("medium.txt", random_pages(100_000));
    let dense = directory.file("dense.gz", gzip(random_pages(100_000).as_bytes()));
    let loose = directory.file("loose.gz", gzip(pages(1, 380_000).as_bytes()));
    let rows = directory.file("rows.csv", format!("url\n{}", pages(1, 400_000)));
    let build = |out: &Path, base_url: &str, options: &[&str]| {
        let mut build = sitemill();
        build.args(["build", "--quiet", "--threads", "2", "--base-url", base_url]).args(options);
        build.arg("--out").arg(out);
        build
    };
    /// Base URL, options, input, the words after the needed and after the free bytes, and another part of the message.
    type Case<'a> = (&'a str, &'a [&'a str], &'a Path, [&'a str; 2], &'a str);
    const SITES: &str = "{origin}/";
    /// Too little memory for entries.
    const SORTED: [&str; 4] = ["--order", "sorted", "--memory", "80MiB"];
    const EARLY: [&str; 2] = [" bytes for ", " are free; choose another directory with --scratch"];
    const EARLY_COPY: [&str; 2] = [" bytes, but only ", " are free; choose another directory with --scratch"];
    const LATE: [&str; 2] =
        [" are needed, ", " are free; choose another directory with --scratch): No space left"];
    let cases: [Case<'_>; 7] = [
        (BASE, &SORTED, &medium, EARLY, "the run needs about"),
        (SITES, &SORTED, &medium, EARLY, "the run needs about"),
        (SITES, &SORTED[2..], &large, EARLY, "the run needs about"),
        (SITES, &SORTED[2..], &plain, LATE, "scratch files could not be written ("),
        (BASE, &[], &dense, EARLY_COPY, "a copy of "),
        (BASE, &[], &loose, LATE, "could not store a copy of "),
        (BASE, &["--order", "sorted"], &rows, LATE, "could not store a copy of "),
    ];
    for (at, (base_url, options, input, [need, free], said)) in cases.into_iter().enumerate() {
        let out = directory.join(format!("out-{at}"));
        let set = if base_url == SITES { out.join("http-h.example-80") } else { out.clone() };
        finish(&mut build(&out, base_url, options), pages(1, 60).as_bytes()).expect(0);
        let mut command = build(&out, base_url, options);
        let refused = finish(command.arg("--scratch").arg(mount.path()).arg(input), b"").expect(74).stderr;
        assert!(refused.contains(said), "{said:?} is not in: {refused}");
        let (need, free) = (number(&refused, need), number(&refused, free));
        assert!(free <= DISK_BYTES && (DISK_BYTES..16 << 20).contains(&need), "{refused}");
        if refused.contains(LATE[1]) {
            assert!(number(&refused, " bytes are written, ") <= DISK_BYTES, "{refused}");
        }
        assert_eq!(published_urls(&set, BASE), urls(1, 60));
        assert_nothing_is_left(&set);
        assert_eq!(fs::read_dir(mount.path()).unwrap().count(), 0, "no scratch file may remain");
    }
}

#[test]
fn both_passes_prefetch_their_input() {
    let world = World::new();
    // More bytes than are prefetched at once, in few lines, and one refused line.
    let long = "x".repeat(1_900);
    let text: String = (0..11_000).map(|page| format!("{BASE}{page:07}{long}\n")).collect();
    let input = world.directory.file("urls.txt", text + "no url\n");
    let log = world.directory.join("strace.log");
    let told = |order: &str, max_rejects: &str, exit: i32| {
        let mut build = world.build_large();
        // In sorted order, there is too little memory for entries, so the second pass reads scratch.
        build.args(["--order", order, "--threads", "1", "--memory", "68MiB", "--max-shrink", "100%"]);
        build.args(["--max-rejects", max_rejects]).arg(&input);
        let strace = ["strace", "-f", "-qq", "-e", "trace=madvise", "-o", log.to_str().unwrap()];
        finish(&mut started_by(&strace, &build), b"").expect(exit);
        let calls = fs::read_to_string(&log).unwrap();
        calls.lines().filter(|call| call.contains("MADV_WILLNEED") && call.ends_with("= 0")).count()
    };
    for order in ["input", "sorted"] {
        // Too many lines are refused, so the run ends after the first pass.
        let first_pass = told(order, "0", 65);
        let both = told(order, "1", 0);
        assert!(first_pass > 0 && both > first_pass, "{order}: {first_pass} times, {both} in both passes");
    }
}

#[test]
fn exceeding_the_file_size_limit_is_an_error_and_does_not_kill_the_run() {
    let world = World::new();
    let input = world.directory.file("urls.txt", random_pages(20_000));
    for (order, threads) in [("input", "1"), ("input", "4"), ("sorted", "4")] {
        let build = world.build_large();
        let mut limited = Command::new("prlimit");
        limited.arg("--fsize=20000").arg(build.get_program()).args(build.get_args());
        limited.args(["--order", order, "--threads", threads]).arg(&input);
        world.assert_refused(finish(&mut limited, b""), 74, "File too large");
    }
}

#[test]
fn a_directory_that_the_user_may_not_write_to_is_named_with_its_exit_code() {
    if skip_unless_root("a run of another user") {
        return;
    }
    let world = World::new();
    let input = world.directory.file("urls.txt", pages(1, 90));
    let as_nobody = |build: Command| {
        let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
        finish(started_by(&nobody, &build).arg(&input), b"")
    };
    let give_away = |path: &Path| {
        finish(Command::new("chown").args(["-R", "65534:65534"]).arg(path), b"").expect(0);
    };
    let forbid = |path: &Path| fs::set_permissions(path, Permissions::from_mode(0o500)).unwrap();

    // A directory without write permission.
    let below = world.directory.join("below");
    fs::create_dir(&below).unwrap();
    give_away(&below);
    forbid(&below);
    let run = as_nobody(build(&below.join("out"))).expect(73);
    assert!(run.stderr.contains("below/out: cannot be created: Permission denied"), "{}", run.stderr);
    assert_eq!(fs::read_dir(&below).unwrap().count(), 0);

    // A first run in such a directory, and in one that the user may not even enter.
    let run = as_nobody(build(&below)).expect(77);
    let why = "below: may not be written to; change its permissions, or run this as a user who may: ";
    assert!(run.stderr.contains(why), "{}", run.stderr);
    let private = world.directory.join("private");
    fs::create_dir(&private).unwrap();
    fs::set_permissions(&private, Permissions::from_mode(0o700)).unwrap();
    let run = as_nobody(build(&private)).expect(77);
    let why = "private: may not be entered; change its permissions, or run this as a user who may: ";
    assert!(run.stderr.contains(why), "{}", run.stderr);

    // The set belongs to another user.
    let run = as_nobody(world.build());
    let owner = "run this as the user who runs the builds, who must own .sitemill and everything in it";
    let why = |what: &str| format!(".sitemill/{what}; {owner}: Permission denied");
    world.assert_refused(run, 77, &why("staging: cannot be created"));

    // The user may look into the state, but not open its lock.
    let state = world.out.join(".sitemill");
    fs::set_permissions(&state, Permissions::from_mode(0o711)).unwrap();
    world.assert_refused(as_nobody(world.build()), 77, &why("lock: cannot be opened"));
    fs::set_permissions(&state, Permissions::from_mode(0o700)).unwrap();

    // The state belongs to the user, except for what a run of root has written.
    give_away(&world.out);
    let manifest = state.join("manifest.json");
    chown(&manifest, Some(0), Some(0)).unwrap();
    fs::set_permissions(&manifest, Permissions::from_mode(0o640)).unwrap();
    world.assert_refused(as_nobody(world.build()), 77, &why("manifest.json: could not be read"));

    // The state belongs to the user, but no file may be created in it, or beside the live ones.
    give_away(&world.out);
    for directory in [&state, &world.out] {
        forbid(directory);
        let name = directory.file_name().unwrap().to_str().unwrap();
        let why =
            format!("{name}: may not be written to; change its permissions, or run this as a user who may");
        world.assert_refused(as_nobody(world.build()), 77, &why);
        fs::set_permissions(directory, Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn a_disk_that_fails_under_a_mapped_input_is_an_error_and_not_a_crash() {
    if skip_unless_root("a disk that fails") {
        return;
    }
    let world = World::new();
    let image = world.directory.join("disk");
    let Some(mut mount) = Mount::new_image(&image, "ext4", &world.directory.join("mount")) else { return };
    fs::write(mount.path().join("urls.txt"), pages(1, 300_000)).unwrap();
    mount.away();
    // The block in the middle of the file.
    let listed = finish(Command::new("debugfs").args(["-R", "blocks /urls.txt"]).arg(&image), b"").expect(0);
    let listed = String::from_utf8(listed.stdout).unwrap();
    let blocks: Vec<u64> = listed.split_whitespace().map(|block| block.parse().unwrap()).collect();
    let (whole, middle) = (fs::metadata(&image).unwrap().len(), blocks[blocks.len() / 2] * 4096);
    assert!(blocks.is_sorted() && middle < whole);
    let resize = |bytes| OpenOptions::new().write(true).open(&image).unwrap().set_len(bytes).unwrap();
    for (order, threads) in [("input", "1"), ("input", "4"), ("sorted", "1"), ("sorted", "4")] {
        // Mounted again, so that no page of the file is cached.
        resize(whole);
        mount.as_it_is();
        resize(middle);
        let input = mount.path().join("urls.txt");
        let mut build = world.build_large();
        let run = finish(build.args(["--order", order, "--threads", threads]).arg(&input), b"");
        world.assert_refused(run, 74, "urls.txt: changed while it was being read, or its disk failed");
        mount.away();
    }
}

#[test]
fn a_state_on_another_file_system_is_refused_before_any_work() {
    if skip_unless_root("a mounted state") {
        return;
    }
    let directory = TempDir::new();
    let input = directory.file("urls.txt", pages(1, 90));
    let out = directory.join("out");
    fs::create_dir(&out).unwrap();
    let mount = Mount::tmpfs("size=9m", &out.join(".sitemill"));
    let run = finish(build(&out).arg(&input), b"").expect(73);
    let why =
        format!(".sitemill: is a mount point, and files cannot be moved from there to {}", out.display());
    assert!(run.stderr.contains(&why), "{}", run.stderr);
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
    drop(mount);
    finish(build(&out).arg(&input), b"").expect(0);
    assert_eq!(published_urls(&out, BASE).len(), 90);
}

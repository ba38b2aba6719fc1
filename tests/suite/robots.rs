//! `--robots`: sitemill's block in a robots.txt that it does not own.

mod partial;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Command;

use crate::support::{Run, TempDir, build_command, finish, published_urls, run, wait_until_staging};

const BASE: &str = "http://h.example/";
const THEIRS: &str = "User-agent: *\r\nDisallow: /basket/\r\nSitemap: http://h.example/news.xml";

fn build(out: &Path, base: &str, robots: &Path, pages: u32, options: &[&str]) -> Run {
    let input: String = (0..pages).map(|page| format!("{base}{page}\n")).collect();
    let mut command = build_command(out, base);
    command
        .args(["--urls-per-sitemap", "1", "--max-shrink", "100"])
        .args(options)
        .arg("--robots")
        .arg(robots);
    finish(&mut command, input.as_bytes())
}

/// The block of a set with `indexes` index files.
fn block(base: &str, indexes: u32) -> String {
    let lines: String =
        (1..=indexes).map(|number| format!("Sitemap: {base}sitemap-index-{number}.xml\r\n")).collect();
    format!("# sitemill: begin {base}\r\n{lines}# sitemill: end {base}\r\n")
}

#[test]
fn the_block_of_each_set_is_maintained_and_the_rest_is_left_alone() {
    let directory = TempDir::new();
    let (out, deeper) = (directory.join("out"), directory.join("deeper"));
    let robots = directory.file("robots.txt", THEIRS);
    let inner = format!("{BASE}deeper/");
    build(&out, BASE, &robots, 3, &["--sitemaps-per-index", "1"]).expect(0);
    assert_eq!(fs::read_to_string(&robots).unwrap(), format!("{THEIRS}\r\n{}", block(BASE, 3)));
    build(&deeper, &inner, &robots, 1, &[]).expect(0);
    build(&out, BASE, &robots, 2, &["--sitemaps-per-index", "1"]).expect(0);
    let both = format!("{THEIRS}\r\n{}{}", block(BASE, 2), block(&inner, 1));
    assert_eq!(fs::read_to_string(&robots).unwrap(), both);

    // An unchanged block is not rewritten.
    let inode = fs::metadata(&robots).unwrap().ino();
    build(&out, BASE, &robots, 2, &["--sitemaps-per-index", "1"]).expect(0);
    assert_eq!(fs::metadata(&robots).unwrap().ino(), inode);

    let back = ["rollback", "--quiet", "--to", "1", "--robots", robots.to_str().unwrap(), "--out"];
    run(back.iter().map(AsRef::as_ref).chain([out.as_os_str()])).expect(0);
    assert!(fs::read_to_string(&robots).unwrap().contains(&block(BASE, 3)));
    let names = fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(names, 3, "no temporary file may remain beside it");
}

#[test]
fn a_name_that_no_crawler_requests_is_a_usage_error_without_robots_any_name() {
    let directory = TempDir::new();
    let out = directory.join("out");
    for name in ["Robots.TXT", "ROBOTS.txt", "robots.Txt"] {
        let robots = directory.join(name);
        let refused = build(&out, BASE, &robots, 1, &[]).expect(2);
        assert!(refused.stderr.contains("crawlers request robots.txt"), "{}", refused.stderr);
        assert!(!robots.exists() && !out.exists());
        build(&out, BASE, &robots, 1, &["--robots-any-name"]).expect(0);
        assert_eq!(fs::read_to_string(&robots).unwrap(), block(BASE, 1).replace('\r', ""));
        let rollback = |options: &[&str]| {
            let words =
                ["rollback", "--quiet", "--robots", robots.to_str().unwrap(), "--out", out.to_str().unwrap()];
            run(words.iter().chain(options).copied())
        };
        rollback(&[]).expect(2);
        build(&out, BASE, &robots, 2, &["--robots-any-name"]).expect(0);
        rollback(&["--robots-any-name"]).expect(0);
        fs::remove_dir_all(&out).unwrap();
    }
    // A template that is merged into robots.txt later may have any name.
    build(&out, BASE, &directory.join("robots-shop.txt"), 1, &[]).expect(0);
}

#[test]
fn an_independent_reader_finds_every_index_file() {
    let directory = TempDir::new();
    let robots = directory.file("robots.txt", THEIRS);
    build(&directory.join("out"), BASE, &robots, 2, &["--sitemaps-per-index", "1"]).expect(0);
    let code = "import sys, urllib.robotparser as r\n\
        p = r.RobotFileParser(); p.parse(open(sys.argv[1], newline='').read().splitlines())\n\
        assert not p.can_fetch('a', '/basket/1') and p.can_fetch('a', '/other')\n\
        print(*p.site_maps(), sep='\\n')";
    let read = finish(Command::new("python3").args(["-c", code]).arg(&robots), b"").expect(0);
    let want =
        ["news.xml", "sitemap-index-1.xml", "sitemap-index-2.xml"].map(|file| format!("{BASE}{file}\n"));
    assert_eq!(String::from_utf8(read.stdout).unwrap(), want.concat());
}

#[test]
fn runs_that_share_a_file_wait_for_each_other() {
    let directory = TempDir::new();
    let robots = directory.file("robots.txt", THEIRS);
    let base = |number: u32| format!("{BASE}{number}/");
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (out, robots, base) = (directory.join(number.to_string()), &robots, base(number));
            scope.spawn(move || {
                for pages in 1..6 {
                    let run = build(&out, &base, robots, pages, &["--sitemaps-per-index", "1"]).expect(0);
                    assert_eq!(run.stderr, "");
                }
            });
        }
    });
    let text = fs::read_to_string(&robots).unwrap();
    assert!(text.starts_with(THEIRS));
    (0..8).for_each(|number| assert!(text.contains(&block(&base(number), 5)), "{number}: {text}"));
    assert_eq!(text.matches("sitemill: begin").count(), 8);
}

#[test]
fn a_file_that_would_be_longer_than_crawlers_read_is_left_unchanged() {
    let directory = TempDir::new();
    let text = "#".repeat(500 * 1024);
    let robots = directory.file("robots.txt", &text);
    let run = build(&directory.join("out"), BASE, &robots, 1, &[]).expect(0);
    let said = " bytes, and crawlers read no more than 512,000; it was left unchanged; the new set is live";
    assert!(run.stderr.contains("would have 512,") && run.stderr.contains(said), "{}", run.stderr);
    assert_eq!(fs::read_to_string(&robots).unwrap(), text);
}

#[test]
fn leftovers_of_a_dead_run_are_removed() {
    let directory = TempDir::new();
    let robots = directory.file("robots.txt", THEIRS);
    let names = [
        ".robots.txt.sitemill-0123456789abcdef",
        ".robots.txt.sitemill-fedcba9876543210",
        ".robots.txt.sitemill-old",
    ];
    let files = names.map(|name| directory.file(name, "half"));
    // A run that is alive holds a lock on its file.
    let held = fs::File::open(&files[1]).unwrap();
    held.lock().unwrap();
    build(&directory.join("out"), BASE, &robots, 1, &[]).expect(0);
    assert_eq!(files.map(|file| file.exists()), [false, true, true]);
}

#[test]
fn the_file_keeps_its_mode_and_owner_and_is_created_if_missing() {
    let directory = TempDir::new();
    let robots = directory.file("robots.txt", "");
    fs::set_permissions(&robots, fs::Permissions::from_mode(0o640)).unwrap();
    // Only root may change the owner. Without root, the test checks that the owner stays.
    let _ = chown(&robots, Some(12_345), Some(23_456));
    let before = fs::metadata(&robots).unwrap();
    build(&directory.join("a"), BASE, &robots, 1, &[]).expect(0);
    let after = fs::metadata(&robots).unwrap();
    let all = |meta: &fs::Metadata| (meta.mode(), meta.uid(), meta.gid());
    assert_eq!(all(&after), all(&before));
    assert_ne!(after.len(), 0);

    let new = directory.join("new.txt");
    build(&directory.join("b"), BASE, &new, 1, &[]).expect(0);
    assert_eq!(fs::read_to_string(new).unwrap(), block(BASE, 1).replace('\r', ""));
}

#[test]
fn a_file_that_cannot_be_written_is_reported_before_any_work() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let victim = directory.file("victim", "precious");
    let link = directory.join("robots.txt");
    symlink(&victim, &link).unwrap();
    let damaged = directory.file("damaged.txt", format!("# sitemill: begin {BASE}\n"));
    for (robots, exit, said) in [
        (link, 73, "symbolic link"),
        (directory.path().to_owned(), 73, "is not a regular file"),
        (directory.join("missing/robots.txt"), 73, "cannot be created"),
        (damaged, 65, "do not form a pair"),
    ] {
        let refused = build(&out, BASE, &robots, 1, &[]).expect(exit);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
        assert!(!out.exists());
    }
    assert_eq!(fs::read(victim).unwrap(), b"precious");
    build(&out, "{origin}/", &directory.join("r"), 1, &[]).expect(2);
}

#[test]
fn a_failure_after_the_switch_is_a_warning_and_the_set_is_live() {
    use std::io::Write;
    use std::process::Stdio;
    let directory = TempDir::new();
    let out = directory.join("out");
    let robots = directory.file("robots.txt", "Allow: /\n");
    let mut command = build_command(&out, BASE);
    let mut child =
        command.arg("--robots").arg(&robots).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The run has already checked the file and finds it damaged at the end.
    wait_until_staging(&out);
    let damaged = format!("# sitemill: end {BASE}\n");
    fs::write(&robots, &damaged).unwrap();
    writeln!(child.stdin.take().unwrap(), "{BASE}1").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.contains("warning: ") && words.contains("do not form a pair"), "{words}");
    assert_eq!(published_urls(&out, BASE), [format!("{BASE}1")]);
    assert_eq!(fs::read_to_string(robots).unwrap(), damaged);
}

#[test]
fn the_block_of_a_replaced_set_with_another_base_url_is_named_in_a_warning() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let robots = directory.file("robots.txt", "");
    let deeper = format!("{BASE}p/");
    let begins = |base: &str| format!("robots.txt: the lines from \"# sitemill: begin {base}\" to ");
    assert!(build(&out, BASE, &robots, 1, &[]).expect(0).stderr.is_empty());
    let replaced = build(&out, &deeper, &robots, 1, &["--replace-set"]).expect(0).stderr;
    assert!(replaced.contains(&begins(BASE)) && replaced.contains("is live"), "{replaced}");
    assert!(build(&out, &deeper, &robots, 1, &[]).expect(0).stderr.is_empty(), "it is said once");
    let back = ["rollback", "--quiet", "--to", "1", "--robots", robots.to_str().unwrap(), "--out"];
    let back = run(back.iter().map(AsRef::as_ref).chain([out.as_os_str()])).expect(0).stderr;
    assert!(back.contains(&begins(&deeper)), "{back}");
    // Without the block, there is nothing to say.
    fs::write(&robots, "").unwrap();
    assert!(build(&out, &deeper, &robots, 1, &["--replace-set"]).expect(0).stderr.is_empty());
}

/// Builds 2 pages into `out`, in sections if `options` say so.
fn build_without(out: &Path, options: &[&str]) -> String {
    let input = format!("{BASE}a/1\n{BASE}b/1\n");
    finish(build_command(out, BASE).args(["--max-shrink", "100"]).args(options), input.as_bytes())
        .expect(0)
        .stderr
}

#[test]
fn index_files_that_go_are_named_unless_a_robots_txt_shows_what_lists_them() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let sections = ["--section-by-path"];
    let gone = |file: &str| {
        format!("{}: index file that the new set no longer has; it is", out.join(file).display())
    };
    assert_eq!(build_without(&out, &[]), "");
    let dry = build_without(&out, &["--section-by-path", "--dry-run"]);
    assert!(dry.contains(&gone("sitemap-index-1.xml")) && !dry.contains("is live"), "{dry}");
    let said = build_without(&out, &sections);
    let way_out =
        format!("take the lines from {} or use --robots; ", out.join("robots-sitemaps.txt").display());
    assert!(said.contains(&gone("sitemap-index-1.xml")) && said.contains(&way_out), "{said}");
    assert_eq!(build_without(&out, &sections), "", "it is said once");
    let back =
        run(["rollback".as_ref(), "-q".as_ref(), "--to".as_ref(), "1".as_ref(), out.as_os_str()]).expect(0);
    assert!(back.stderr.contains("sitemap-a-index-1.xml and 1 more: index file that"), "{}", back.stderr);
    // A robots.txt that does not list it, and one that sitemill maintains.
    fs::write(out.join("robots.txt"), THEIRS).unwrap();
    assert_eq!(build_without(&out, &sections), "");
    run(["rollback".as_ref(), "-q".as_ref(), "--to".as_ref(), "1".as_ref(), out.as_os_str()]).expect(0);
    let robots = directory.file("robots.txt", "");
    assert_eq!(build_without(&out, &["--section-by-path", "--robots", robots.to_str().unwrap()]), "");
}

#[test]
fn a_robots_txt_that_lists_index_files_of_earlier_sets_is_named_until_it_is_corrected() {
    let directory = TempDir::new();
    let out = directory.join("out");
    fs::create_dir(&out).unwrap();
    let robots = out.join("robots.txt");
    let maintained = ["--robots", robots.to_str().unwrap()];
    assert_eq!(build_without(&out, &maintained), "");
    let lists = format!("{}: lists {BASE}sitemap-index-1.xml, but the new set has no such", robots.display());
    let sections = ["--section-by-path", "--keep", "0", "--keep-sets", "0"];
    for options in [&["--section-by-path", "--dry-run"][..], &sections, &sections, &sections] {
        let said = build_without(&out, options);
        assert!(said.contains(&lists) && said.contains(" or use --robots"), "{said}");
    }
    // It is gone, which `check` finds, too.
    assert!(!out.join("sitemap-index-1.xml").exists());
    let found = run(["check".as_ref(), "-q".as_ref(), out.as_os_str()]).expect(65).stdout;
    let found = String::from_utf8(found).unwrap();
    let missing = format!("entry 2: robots: there is no such file: {BASE}sitemap-index-1.xml");
    assert!(found.contains(&missing) && found.lines().count() == 1, "{found}");
    // With the option, only lines outside the block are not maintained.
    assert_eq!(build_without(&out, &[&sections[..], &maintained].concat()), "");
    run(["check".as_ref(), "-q".as_ref(), out.as_os_str()]).expect(0);
    let block = fs::read_to_string(&robots).unwrap();
    fs::write(&robots, format!("Sitemap: {BASE}sitemap-index-1.xml\nSitemap: {BASE}news.xml\n{block}"))
        .unwrap();
    for options in [&maintained[..], &["--robots", maintained[1], "--dry-run"]] {
        let said = build_without(&out, &[&sections[..], options].concat());
        assert!(said.contains(&lists) && said.contains("; remove these lines; "), "{said}");
    }
    // Sets of other names have index files of their own.
    fs::write(&robots, format!("Sitemap: {BASE}sitemap-blog-index-1.xml\n{block}")).unwrap();
    build_without(&out, &["--name", "blog"]);
    assert_eq!(build_without(&out, &sections), "");
    run(["check".as_ref(), "-q".as_ref(), out.as_os_str()]).expect(0);
    // Only their own runs warn of those that are gone.
    let stale = format!("{BASE}sitemap-blog-index-2.xml");
    let of_blog =
        format!("# sitemill: begin {BASE} blog\nSitemap: {stale}\n# sitemill: end {BASE} blog\n{block}");
    fs::write(&robots, of_blog).unwrap();
    for options in [&[][..], &maintained] {
        assert_eq!(build_without(&out, &[&sections[..], options].concat()), "");
    }
    let said = build_without(&out, &["--name", "blog"]);
    assert!(said.contains(&format!("lists {stale}, but the new set has no such")), "{said}");
}

#[test]
fn the_first_set_warns_of_sitemaps_of_another_program_that_a_robots_txt_lists() {
    let directory = TempDir::new();
    let others = format!(
        "Sitemap: {BASE}sitemap_index.xml\nSitemap: {BASE}a/1.xml\nSitemap: {BASE}de/sitemap-index-1.xml\n\
         Sitemap: http://elsewhere.example/sitemap.xml\n"
    );
    let robots = directory.file("robots.txt", &others);
    let maintained = ["--robots", robots.to_str().unwrap()];
    let lists = |robots: &Path, listed: &str| {
        format!(
            "{}: lists {BASE}{listed}, which this set does not contain; remove the line",
            robots.display()
        )
    };
    let out = directory.join("out");
    for options in [&["--robots", maintained[1], "--dry-run"][..], &maintained] {
        let said = build_without(&out, options);
        assert!(said.contains(&lists(&robots, "sitemap_index.xml and 1 more")), "{said}");
    }
    assert_eq!(build_without(&out, &maintained), "");

    // Without the option, that of the directory is read. Sitemaps that the set lists are no reason to warn.
    let out = directory.join("next");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("robots.txt"), &others).unwrap();
    let also = format!("{BASE}sitemap_index.xml");
    let said = build_without(&out, &["--also", &also]);
    assert!(said.contains(&lists(&out.join("robots.txt"), "a/1.xml")), "{said}");
    assert_eq!(build_without(&out, &["--also", &also]), "");
}

#[test]
fn check_reads_the_lines_of_a_robots_txt_as_build_does() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build_without(&out, &[]);
    let url = format!("{BASE}sitemap-index-7.xml");
    for (number, text) in [
        (1, format!("Sitemap: {url} # old\n")),
        (1, format!("sitemap : {url}\n")),
        (2, format!("Allow: /\rSitemap: {url}\rAllow: /b\r")),
        (1, format!("\u{feff}Sitemap: {url}\n")),
    ] {
        fs::write(out.join("robots.txt"), &text).unwrap();
        let said = build_without(&out, &[]);
        assert!(said.contains(&format!("robots.txt: lists {url}, but")), "{text:?}: {said}");
        let found = run(["check".as_ref(), "-q".as_ref(), out.as_os_str()]).expect(65).stdout;
        let found = String::from_utf8(found).unwrap();
        let missing = format!("entry {number}: robots: there is no such file: {url} (");
        assert!(found.contains(&missing) && found.lines().count() == 1, "{text:?}: {found}");
    }
}

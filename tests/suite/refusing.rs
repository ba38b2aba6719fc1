//! Bad input and bad options, and their messages.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use serde_json::Value;

use crate::support::{
    TempDir, assert_nothing_is_left, build_command, contents, files, finish, run, sitemill, started_by,
    wait_until_staging,
};

const BASE: &str = "http://h.example/";

#[test]
fn options_that_contradict_the_protocol_are_usage_errors_that_name_the_limit() {
    let directory = TempDir::new();
    let input = directory.file("urls.txt", format!("{BASE}a\n"));
    let out = directory.join("out");
    for (options, said) in [
        (&["--bytes-per-sitemap", "51MiB"][..], "51MiB: protocol 0.9 allows 1 to 52,428,800 bytes (50 MiB)"),
        (&["--protocol", "0.84", "--bytes-per-sitemap", "10485761"], "10,485,760"),
        (&["--protocol", "0.84", "--sitemaps-per-index", "1001"], "1,000"),
        (&["--sitemaps-per-index", "50001"], "50,000"),
        (&["--urls-per-sitemap", "50001"], "50,000"),
        (&["--urls-per-sitemap", "50,000"], "expected a whole number, digits only"),
        (&["--threads", "0"], "expected 1 or more"),
        (&["--level", "10"], "0 to 9"),
        (&["--scope", "planet"], "directory, host or any"),
        (&["--protocol", "1.0"], "0.9 or 0.84"),
        (&["--max-rejects", "lots"], "percentage"),
        (&["--bytes-per-sitemap", "10MX"], "2GiB"),
    ] {
        let mut command = sitemill();
        command.args(["build", "--base-url", BASE, "--out"]).arg(&out).arg(&input).args(options);
        let refused = finish(&mut command, b"").expect(2);
        assert!(refused.stderr.contains(said), "{options:?}: {}", refused.stderr);
    }
    assert!(!out.exists());
    run(["build", "urls.txt", "--out", "o", "--base-url", "/relative/"]).expect(2);
    let refused = run(["build", "urls.txt", "--out", "o", "--base-url", "www.shop.example"]).expect(2);
    assert!(refused.stderr.contains("did you mean https://www.shop.example/?"), "{}", refused.stderr);
    run(["build", "urls.txt", "--out", "o"]).expect(2);
    // An option without a value is the only error, and not a file that cannot be written.
    let refused = run(["build", "urls.txt", "--out", "o", "--base-url", BASE, "--report", ""]).expect(2);
    assert_eq!(refused.stderr.matches("error:").count(), 1, "{}", refused.stderr);
}

#[test]
fn a_file_that_is_no_directory_and_a_name_that_no_set_has_are_errors_that_say_so() {
    let directory = TempDir::new();
    let (out, input) = (directory.join("out"), directory.file("urls.txt", format!("{BASE}a\n")));
    let refused = finish(build_command(&input, BASE).arg(&input), b"").expect(73);
    assert!(refused.stderr.ends_with("urls.txt: is not a directory\n"), "{}", refused.stderr);
    finish(build_command(&out, BASE).arg(&input), b"").expect(0);
    let refused = run(["status".as_ref(), out.as_os_str(), "--name".as_ref(), "blog".as_ref()]).expect(65);
    let said = "contains no set blog, and the set there has no name; omit --name\n";
    assert!(refused.stderr.ends_with(said), "{}", refused.stderr);
    let table = directory.file("urls.csv", format!("url,n\n{BASE}a,1\n"));
    let refused = run(["urls".as_ref(), table.as_os_str()]).expect(65);
    let said = "urls.csv: is neither a sitemap nor an index file (text outside the root element";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
}

#[test]
fn a_base_url_that_is_not_a_directory_is_a_usage_error_that_shows_the_right_form() {
    let directory = TempDir::new();
    let out = directory.join("out");
    for (base_url, said) in [
        ("https://cdn.example/{origin}/", "'{origin}/' or '{origin}/sitemaps/'"),
        ("http://example.com/{lang}/", "%7B"),
        ("http://example.com/sitemap.gz", "as http://example.com/;"),
        ("http://example.com/maps/sitemap.xml", "as http://example.com/maps/;"),
    ] {
        let refused = finish(&mut build_command(&out, base_url), b"http://example.com/a\n").expect(2);
        assert!(refused.stderr.contains(said), "{base_url}: {}", refused.stderr);
    }
    assert!(!out.exists());
    finish(&mut build_command(&out, "http://example.com/maps"), b"http://example.com/maps/a\n").expect(0);
}

#[test]
fn options_for_sets_in_stores_are_refused_for_a_directory_but_may_be_set_for_all_runs() {
    let directory = TempDir::new();
    let (out, input) = (directory.join("out"), format!("{BASE}a\n"));
    let state = "s3://private/shop";
    let for_sets = format!(" is for sets in stores, and {} is local", out.display());
    let for_locations = " is for locations in stores, and this command has none";
    for (words, why) in [
        (&["--state", state][..], &*for_sets),
        (&["--sitemap-header", "Cache-Control: max-age=60"], &for_sets),
        (&["--index-header", "Cache-Control: max-age=60"], &for_sets),
        (&["--allow-unsafe-store"], &for_sets),
        (&["--endpoint", "http://h.example"], for_locations),
    ] {
        let refused = finish(build_command(&out, BASE).args(words), input.as_bytes()).expect(2);
        assert!(refused.stderr.contains(&format!("{}{why}", words[0])), "{}", refused.stderr);
        assert!(!out.exists());
    }
    let file = "sitemap-header = \"Cache-Control: max-age=60\"\nallow-unsafe-store = true\n";
    let config = directory.file("sitemill.toml", file);
    let mut build = build_command(&out, BASE);
    build.env("SITEMILL_STATE", state).env("SITEMILL_ENDPOINT", "http://h.example");
    finish(build.arg("--config").arg(config), input.as_bytes()).expect(0);
    let clean =
        |option: [&str; 2]| finish(sitemill().arg("clean").args(option).arg(&out), b"").expect(2).stderr;
    assert!(clean(["--state", state]).contains(&*for_sets));
    assert!(clean(["--endpoint", "http://h.example"]).contains(for_locations));
    for words in [&["check"][..], &["urls"], &["status"], &["rollback"], &["report"]] {
        let refused = finish(sitemill().args(words).args(["--state", state]).arg(&out), b"").expect(2);
        assert!(refused.stderr.contains("--state is for sets in stores"), "{}", refused.stderr);
    }
}

#[test]
fn an_input_that_is_not_in_the_given_format_is_refused_with_the_advice_to_correct_the_format() {
    let directory = TempDir::new();
    let input = directory.file("urls.txt", format!("{BASE}a\n"));
    for format in ["sitemap", "rss", "atom", "parquet"] {
        let words = ["clean", "--format", format].map(AsRef::as_ref);
        let refused = run(words.into_iter().chain([input.as_os_str()])).expect(65).stderr;
        assert!(refused.contains("urls.txt: is not ") && refused.contains("--format says so; "), "{refused}");
    }
}

#[test]
fn an_input_that_cannot_be_read_is_named() {
    let directory = TempDir::new();
    let good = directory.file("good.txt", format!("{BASE}a\n"));
    let folder = directory.join("folder");
    fs::create_dir(&folder).unwrap();
    let zipped = directory.file("urls.txt.gz", b"\x1f\x8b\x08\x00\0\0\0\0\0\xff");
    let out = directory.join("out");
    finish(&mut build_command(&out, BASE), format!("{BASE}live\n").as_bytes()).expect(0);
    let live = contents(&out);
    let remote = [
        ("https://h.example/urls".into(), 66, "curl -fsSL 'https://h.example/urls' | sitemill build - …"),
        (
            "s3://bucket/urls".into(),
            66,
            "\n  rclone copy ':s3,env_auth:bucket/urls' input\n  sitemill build input …",
        ),
        (
            "az://bucket/urls".into(),
            66,
            "use the Python or Debian package, which has them, or copy the files first: ",
        ),
        (
            "hdfs://h/urls".into(),
            2,
            "hdfs://h/urls: unknown scheme hdfs; this sitemill reads and writes only files",
        ),
    ];
    // Builds with object stores are tested in tests/cloud.
    let remote = if cfg!(feature = "cloud") { Vec::new() } else { remote.to_vec() };
    let unreadable = [
        (directory.join("missing.txt"), 66, "missing.txt: cannot be read"),
        (directory.join("*.csv"), 66, "sitemill does not expand patterns for local files"),
        (folder, 65, "has no data files"),
        ("/dev/zero".into(), 66, "is a device"),
        // A terminal, but not the one of this process: opening it would create another.
        ("/dev/ptmx".into(), 66, "is a device"),
        (zipped, 65, "the gzip data ends too early"),
    ];
    for (input, exit, said) in unreadable.into_iter().chain(remote) {
        let mut command = sitemill();
        command.args(["build", "--base-url", BASE, "--out"]).arg(&out).arg(&good).arg(&input);
        let refused = finish(&mut command, b"").expect(exit);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
        assert!(contents(&out) == live, "{said}");
        assert_nothing_is_left(&out);
    }
    let elsewhere = "https://h.example/sitemap.xml";
    for words in [
        &["check", elsewhere][..],
        &["urls", elsewhere],
        &["diff", elsewhere, "out"],
        &["status", "--out", elsewhere],
    ] {
        let refused = finish(sitemill().args(words), b"").expect(2);
        let said = format!("{elsewhere}: is a URL, and sitemill keeps sets in directories and buckets; use ");
        assert!(refused.stderr.contains(&said), "{words:?}: {}", refused.stderr);
        assert!(!refused.stderr.contains("sitemill build"), "{words:?}: {}", refused.stderr);
    }
}

#[test]
fn a_url_of_a_file_of_rules_is_refused_without_advice_for_inputs() {
    let directory = TempDir::new();
    let input = directory.file("urls.txt", format!("{BASE}a\n"));
    let url = "https://h.example/robots.txt";
    let said = format!(
        "{url}: is a URL, and only local files are read here; download it, and give the path of the copy\n"
    );
    for option in ["--respect-robots", "--include-file", "--exclude-file", "--sections", "--config"] {
        let mut build = build_command(&directory.join("out"), BASE);
        let refused = finish(build.args([option, url]).arg(&input), b"").expect(66);
        assert!(refused.stderr.ends_with(&said), "{option}: {}", refused.stderr);
    }
    if !cfg!(feature = "cloud") {
        let refused = finish(sitemill().args(["clean", "https://h.example/urls"]), b"").expect(66);
        assert!(refused.stderr.contains("| sitemill clean - …"), "{}", refused.stderr);
    }
}

#[test]
fn only_commands_with_inputs_say_that_files_can_be_piped_in() {
    let directory = TempDir::new();
    let url = "ftp://h.example/a";
    let build = finish(build_command(&directory.join("out"), BASE).arg(url), b"");
    assert!(build.expect(2).stderr.contains("copy other files, or pipe them in"));
    for command in ["check", "urls", "status", "report", "rollback"] {
        let said = finish(sitemill().args([command, url]), b"").expect(2).stderr;
        assert!(said.contains("copy other files") && !said.contains("pipe"), "{said}");
    }
}

#[test]
fn an_output_that_cannot_be_created_ends_the_run_before_any_work() {
    let directory = TempDir::new();
    let input = directory.file("urls.txt", format!("{BASE}a\n"));
    let in_a_file = input.join("below");
    let out = directory.join("out");
    let options: [&[&std::path::Path]; 3] = [
        &["--out".as_ref(), &in_a_file],
        &["--out".as_ref(), &out, "--rejects".as_ref(), &in_a_file],
        &["--out".as_ref(), &out, "--report".as_ref(), &in_a_file],
    ];
    for options in options {
        let mut command = sitemill();
        let refused =
            finish(command.args(["build", "--base-url", BASE]).arg(&input).args(options), b"").expect(73);
        assert!(refused.stderr.contains("cannot be created"), "{}", refused.stderr);
        assert!(files(&out).is_empty());
    }
}

#[test]
fn too_many_rejects_publish_nothing_and_are_still_reported() {
    let directory = TempDir::new();
    let input = directory.file("urls.txt", format!("{BASE}a\nbad\nworse\n{BASE}b\n"));
    for (max, exit) in [("2", 0), ("1", 65), ("50%", 0), ("49.9%", 65), ("0", 65), ("100%", 0)] {
        let (out, report, rejects) =
            (directory.join(max), directory.join("report"), directory.join("rejects"));
        let mut command = sitemill();
        command.args(["build", "--base-url", BASE, "--max-rejects", max]).arg(&input);
        command.arg("--out").arg(&out).arg("--report").arg(&report).arg("--rejects").arg(&rejects);
        let run = finish(&mut command, b"").expect(exit);
        let report: Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
        assert_eq!(report["rejected"]["not-absolute"], 2);
        assert_eq!(report["published"], exit == 0);
        assert_eq!(files(&out).is_empty(), exit != 0);
        assert_eq!(fs::read_to_string(rejects).unwrap().lines().count(), 3);
        assert!(run.stderr.contains("urls.txt:2: bad"), "no example: {}", run.stderr);
    }
}

#[test]
fn an_endless_line_takes_bounded_memory() {
    // 300 MB in a sparse file and then through a pipe, with 100 MB of address space besides the mapping.
    let directory = TempDir::new();
    let input = directory.join("urls.txt");
    let mut file = fs::File::create(&input).unwrap();
    write!(file, "{BASE}first\n{BASE}").unwrap();
    file.set_len(300_000_000).unwrap();
    drop(file);
    fs::OpenOptions::new()
        .append(true)
        .open(&input)
        .unwrap()
        .write_all(format!("\n{BASE}last").as_bytes())
        .unwrap();
    let rejects = directory.join("rejects.tsv");
    let mut command = build_command(&directory.join("out"), BASE);
    finish(command.arg(&input).arg("--rejects").arg(&rejects), b"").expect(0);
    let mapped = fs::read_to_string(&rejects).unwrap();
    assert!(mapped.len() < 20_000, "the row is cut");
    assert!(mapped.lines().nth(1).unwrap().contains("\t2\t23\ttoo-long\thttp://h.example/\\x00"), "{mapped}");

    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "ulimit -v 400000; exec \"$0\" clean --quiet --threads 2 --rejects \"$1\" < \"$2\""]);
    shell.arg(env!("CARGO_BIN_EXE_sitemill")).arg(&rejects).arg(&input);
    let cleaned = finish(&mut shell, b"").expect(0);
    assert_eq!(cleaned.stdout, format!("{BASE}first\n{BASE}last\n").as_bytes());
    let streamed = fs::read_to_string(&rejects).unwrap();
    assert_eq!(streamed, mapped.replace(input.to_str().unwrap(), "-"));
}

#[test]
fn lack_of_memory_is_never_reported_as_a_bug_whichever_engine_compresses() {
    let directory = TempDir::new();
    let input = directory.file("urls.txt", (0..3000).map(|n| format!("{BASE}{n}\n")).collect::<String>());
    for engine in ["flate2", "records"] {
        let mut exits = Vec::new();
        for kib in (40_000..100_000).step_by(3_000) {
            let mut build = build_command(&directory.join("out"), BASE);
            build.args(["--urls-per-sitemap", "100", "--threads", "2", "--gzip-engine", engine]).arg(&input);
            let limit = format!("ulimit -v {kib}; exec \"$0\" \"$@\"");
            let ended = finish(&mut started_by(&["sh", "-c", &limit], &build), b"");
            assert!([0, 71].contains(&ended.exit), "{engine}, {kib} KiB: {} {}", ended.exit, ended.stderr);
            exits.push(ended.exit);
        }
        assert!(exits.contains(&0) && exits.contains(&71), "{engine}: {exits:?}");
    }
}

#[test]
fn bytes_of_the_input_reach_the_terminal_only_escaped() {
    let directory = TempDir::new();
    let input = directory.file("urls\u{1b}[31m.txt", b"\x1b[2Jboo\x07\n\xe2\x80\xaetxt\n");
    let mut command = sitemill();
    command.args(["build", "--base-url", BASE, "--out"]).arg(directory.join("out")).arg(input);
    let refused = finish(&mut command, b"").expect(65);
    assert!(!refused.stderr.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{:?}", refused.stderr);
    assert!(refused.stderr.contains(r"\x1b[2Jboo\x07"));
}

#[test]
fn an_input_that_changes_while_it_is_read_is_noticed() {
    use std::process::Stdio;
    type Change = fn(&std::path::Path);
    let append: Change =
        |input| fs::OpenOptions::new().append(true).open(input).unwrap().write_all(b"more\n").unwrap();
    // Its time has only the precision of a tick.
    let allow: Change = |input| {
        let time = || fs::metadata(input).map(|meta| (meta.ctime(), meta.ctime_nsec())).unwrap();
        let was = time();
        while time() == was {
            fs::set_permissions(input, fs::Permissions::from_mode(0o640)).unwrap();
        }
    };
    let allowed = "its owner, mode or links (or its content, and its time was set back) changed";
    for (change, said) in [(append, "changed"), (allow, allowed)] {
        let directory = TempDir::new();
        let input = directory.file("urls.txt", format!("{BASE}a\n"));
        let out = directory.join("out");
        // The run waits for the second input while the first one, already mapped, is changed.
        let mut command = build_command(&out, BASE);
        let mut child =
            command.arg(&input).arg("-").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until_staging(&out);
        change(&input);
        drop(child.stdin.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(65));
        let said = format!("urls.txt: {said} while it was being read; run again on a copy");
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains(&said), "{told}");
        assert!(files(&out).is_empty());
    }
}

//! Advice that depends on where URLs come from: it never damages rows, and whoever follows it gets the right set.

use std::path::Path;
use std::process::Command;

use crate::support::{Run, TempDir, finish, gzip, published_urls, sitemill, telling_build_command};

const BASE: &str = "https://www.example.com/";

fn build(directory: &TempDir, input: &Path, options: &[&str]) -> Run {
    let mut command = telling_build_command(&directory.join("out"), BASE);
    finish(command.args(["--max-shrink", "100%"]).arg(input).args(options), b"")
}

/// The output of a shell command that reads `input`.
fn piped(command: &str, input: &str) -> Vec<u8> {
    finish(Command::new("sh").args(["-c", command]), input.as_bytes()).expect(0).stdout
}

#[test]
fn only_lists_get_commands_for_lines_and_the_options_for_rows_read_them() {
    let directory = TempDir::new();
    let file = |name: &str, text: &[u8]| directory.file(name, text);
    let rows = [
        file("a.csv", b"id,url\n1,www.example.com/a\n2,www.example.com/b\n"),
        file("a.jsonl", b"{\"url\":\"www.example.com/a\"}\n{\"url\":\"www.example.com/b\"}\n"),
        file("a.xml", b"<urlset><url><loc>www.example.com/a</loc></url><url><loc>www.example.com/b</loc></url></urlset>"),
        file("a.txt.gz", &gzip(b"www.example.com/a\nwww.example.com/b\n")),
    ];
    let rewrite = format!("{BASE}www.example.com/={BASE}");
    for input in rows {
        let refused = build(&directory, &input, &[]).expect(65);
        let said = format!("add one with --relative-to {BASE} --rewrite {rewrite}");
        assert!(refused.stderr.contains(&said) && !refused.stderr.contains("sed '"), "{}", refused.stderr);
        let options = ["--relative-to", BASE, "--rewrite", &rewrite, "--max-rejects", "0"];
        build(&directory, &input, &options).expect(0);
        assert_eq!(published_urls(&directory.join("out"), BASE), [format!("{BASE}a"), format!("{BASE}b")]);
    }
    for (name, text, said) in [
        (
            "b.csv",
            "id,url\n1,https%3A%2F%2Fwww.example.com%2Fa%2Cb\n",
            "; correct column url in the export\n",
        ),
        ("b.jsonl", "{\"url\":\"'https://www.example.com/a'\"}\n", "; correct key url in the export\n"),
        ("c.jsonl", "{\"url\":\"\\\"https://www.example.com/a\\\"\"}\n", "; correct key url in the export\n"),
        ("d.jsonl", "{\"url\":\"a.html\\u0000b.html\"}\n", "; correct key url in the export\n"),
        (
            "b.xml",
            "<urlset><url><loc>'https://h.example/'</loc></url></urlset>",
            "; correct the URLs in the export\n",
        ),
    ] {
        let refused = build(&directory, &directory.file(name, text), &[]).expect(65);
        assert!(refused.stderr.ends_with(said), "{name}: {}", refused.stderr);
    }
    // The line that is recognised decides, also if the first one is from an input of another kind.
    let (list, rows) = ("'https://www.example.com/a'\n", "id,url\n1,'https://www.example.com/a'\n");
    for (first, text, second, with, said) in [
        ("first.csv", "id,url\n1,#top\n", "second.txt", list, "; remove the quotes: tr -d \"'\"\n"),
        ("first.txt", "#top\n", "second.csv", rows, "; correct column url in the export\n"),
    ] {
        let (first, second) = (directory.file(first, text), directory.file(second, with));
        let refused = build(&directory, &first, &[second.to_str().unwrap()]).expect(65);
        assert!(refused.stderr.ends_with(said), "{}", refused.stderr);
    }
    let packed = directory.file("quoted.gz", gzip(b"'https://www.example.com/a'\n"));
    let refused = build(&directory, &packed, &[]).expect(65);
    assert!(refused.stderr.ends_with("; a command needs the unpacked list\n"), "{}", refused.stderr);
}

#[test]
fn urls_with_entities_get_a_hint_that_changes_nothing_else() {
    let directory = TempDir::new();
    let command = "sed 's/&amp;/\\&/g'";
    let convert = format!("convert them: {command}");
    for (name, text, way_out) in [
        ("a.txt", "@a?x=1&amp;y=2\n@b\n@c?x=1&amp;y=3", &*convert),
        ("a.csv", "id,url\nTom &amp; Jerry,@a?x=1&amp;y=2\n", "correct column url in the export"),
        ("a.jsonl", "{\"url\":\"@a?x=1&amp;y=2\"}\n", "correct key url in the export"),
        ("b.txt", "@a?x=1&amp;y=2\n@b?x=1&y=2\n", ""),
        ("b.csv", "title,url\nTom &amp; Jerry,@a\n", ""),
        ("b.xml", "<urlset><url><loc>@a?x=1&amp;y=2</loc></url></urlset>", ""),
    ] {
        let text = text.replace('@', BASE);
        let packed = format!("{name}.gz");
        for (file, bytes) in [(name, text.clone().into_bytes()), (&packed, gzip(text.as_bytes()))] {
            let input = directory.file(file, bytes);
            let is_packed_list = file == packed && way_out == convert;
            let note = if is_packed_list { "; a command needs the unpacked list" } else { "" };
            let hint = format!("URLs in {} have &amp; instead of &, as in XML; {way_out}", input.display());
            let clean = finish(sitemill().arg("clean").arg(&input), b"").expect(0).stderr;
            for told in [build(&directory, &input, &[]).expect(0).stderr, clean] {
                // `clean` has not read the keys when it gives the hint.
                let of_clean = hint.replace("key url", "the URLs");
                let has_hint =
                    [hint.clone(), of_clean].iter().any(|hint| told.contains(&format!("{hint}{note}\n")));
                assert_eq!(has_hint, !way_out.is_empty(), "{file}: {told}");
                assert!(has_hint || !told.contains("&amp; instead"), "{file}: {told}");
            }
        }
        if way_out == convert {
            let converted = directory.file(name, piped(command, &text));
            let told = build(&directory, &converted, &["--max-rejects", "0"]);
            assert!(!told.expect(0).stderr.contains("&amp;"));
            assert_eq!(published_urls(&directory.join("out"), BASE)[0], format!("{BASE}a?x=1&y=2"));
        }
    }
    // The command for markup converts them, too.
    let markup = format!("urls:\n<loc>{BASE}a?x=1&amp;y=2</loc>\n");
    let refused = build(&directory, &directory.file("markup.txt", &markup), &[]).expect(65).stderr;
    let command = refused.trim_end().split_once("extract the URLs with ").unwrap().1;
    assert_eq!(piped(command, &markup), format!("{BASE}a?x=1&y=2\n").as_bytes());
}

#[test]
fn lines_that_begin_with_the_host_they_are_relative_to_get_a_hint() {
    let directory = TempDir::new();
    let text = "Full page URL,Views\nwww.example.com/a,5\nWWW.example.com,5\nwww.example.community/b,5\nb/www.example.com/,5\n";
    let input = directory.file("ga4.csv", text);
    let columns = ["--columns", "url=Full page URL", "--relative-to", BASE];
    let rewrite = format!("{BASE}www.example.com/={BASE}");
    let hint = format!(
        "2 lines begin with the host of --relative-to {BASE} and, without a scheme, count as paths below it; if only the scheme \
         is missing, add --rewrite {rewrite}\n"
    );
    let told = build(&directory, &input, &[&columns[..], &["--threads", "3"]].concat()).expect(0).stderr;
    assert!(told.contains(&format!("  {hint}")), "{told}");
    let clean = |options: &[&str]| {
        finish(sitemill().arg("clean").arg(&input).args(columns).args(options), b"").expect(0)
    };
    let told = clean(&[]).stderr;
    assert!(told.contains(&hint), "{told}");
    let cleaned = clean(&["--rewrite", &rewrite]);
    assert!(cleaned.stderr.contains("1 line begins with the host"), "{}", cleaned.stderr);
    assert!(cleaned.stdout.starts_with(format!("{BASE}a\n").as_bytes()));
}

#[test]
fn a_nul_between_lines_is_not_taken_for_utf_16() {
    let directory = TempDir::new();
    for (text, said) in [
        ("./a.html\0./b.html\0", r"if a NUL ends each line, convert them: tr '\0' '\n'"),
        ("a.html\0b.html\0", r"if a NUL ends each line, convert them: tr '\0' '\n'"),
        ("\u{1}\0\u{2}\u{3}/a/b.html", "the input is not text; save the list as text or CSV"),
        ("h\0t\0t\0p\0", "if the input is UTF-16, use --input-encoding utf-16le"),
    ] {
        for options in [&[][..], &["--relative-to", BASE]] {
            let refused = build(&directory, &directory.file("list", text), options).expect(65);
            assert!(refused.stderr.ends_with(&format!("{said}\n")), "{text:?}: {}", refused.stderr);
        }
    }
}

#[test]
fn a_scheme_that_is_doubled_misspelt_or_hidden_is_corrected_and_never_resolved() {
    let directory = TempDir::new();
    let wanted = [format!("{BASE}a"), format!("{BASE}b")];
    let doubled = format!("https://{BASE}a\nhttps://{BASE}b\n");
    let input = directory.file("doubled.txt", &doubled);
    let refused = build(&directory, &input, &[]).expect(65).stderr;
    let rewrite = "https://https//www.example.com/=https://www.example.com/";
    assert!(
        refused.ends_with(&format!("; the scheme is doubled; remove one with --rewrite {rewrite}\n")),
        "{refused}"
    );
    build(&directory, &input, &["--rewrite", rewrite]).expect(0);
    assert_eq!(published_urls(&directory.join("out"), BASE), wanted);
    // Without the scheme of the site, the URLs would still be outside.
    let other = directory.file("other.txt", doubled.replace(BASE, "http://www.example.com/"));
    let refused = build(&directory, &other, &[]).expect(65).stderr;
    let rewrite = "https://http//www.example.com/=https://www.example.com/";
    assert!(refused.ends_with(&format!("remove one with --rewrite {rewrite}\n")), "{refused}");
    build(&directory, &other, &["--rewrite", rewrite]).expect(0);
    assert_eq!(published_urls(&directory.join("out"), BASE), wanted);
    let host = directory.file("host.txt", "https://https/a\n");
    let refused = build(&directory, &host, &[]).expect(65).stderr;
    assert!(refused.ends_with("; did you mean --base-url https://https/?\n"), "{refused}");
    let shop = directory.file("shop.txt", "https://https://shop.example.org/a\n");
    let mut every = telling_build_command(&directory.join("every"), "{origin}/");
    let told = finish(every.arg(&shop), b"").expect(0).stderr;
    let hint = "  the URLs of https://https/ have two schemes; remove one with a rule such as --rewrite \
                https://https//www.example.com/=https://www.example.com/, with their own host; then delete the set of \
                https://https/, which later runs do not update\n";
    assert!(told.contains(hint), "{told}");
    for (start, what) in [
        ("https//", "misspelt"),
        ("https.//", "misspelt"),
        ("\u{a0}https://", "preceded by invisible characters"),
        ("\u{200b}\u{feff}https://", "preceded by invisible characters"),
    ] {
        let text = format!("{start}www.example.com/a\n{start}www.example.com/b\n");
        let refused = build(&directory, &directory.file("list.txt", &text), &[]).expect(65).stderr;
        assert!(refused.contains(&format!("all 2 lines are {what}; ")), "{refused}");
        let command = refused.trim_end().rsplit_once(": ").unwrap().1;
        build(&directory, &directory.file("corrected.txt", piped(command, &text)), &[]).expect(0);
        assert_eq!(published_urls(&directory.join("out"), BASE), wanted, "{start:?}");
    }
}

#[test]
fn urls_in_angle_brackets_and_in_an_array_are_lists_after_the_command_of_the_message() {
    let directory = TempDir::new();
    let text = format!("<{BASE}a>\n<{BASE}b>\n");
    for options in [&[][..], &["--relative-to", BASE]] {
        let refused = build(&directory, &directory.file("a.txt", &text), options).expect(65).stderr;
        let command = refused.trim_end().split_once("remove them: ").unwrap().1;
        build(&directory, &directory.file("b.txt", piped(command, &text)), options).expect(0);
        assert_eq!(published_urls(&directory.join("out"), BASE).len(), 2);
    }
    // A byte order mark before a relative line is not a fragment or a missing value.
    let marked = directory.file("marked.txt", "#top\n\u{feff}/b\n");
    let refused = build(&directory, &marked, &["--relative-to", BASE]).expect(65).stderr;
    assert!(refused.contains(" are preceded by invisible characters; remove them: "), "{refused}");
    for array in [format!("[\"{BASE}a\",\"{BASE}b\"]"), format!("[\n  \"{BASE}a\",\n  \"{BASE}b\"\n]\n")] {
        let refused = build(&directory, &directory.file("a.json", array), &[]).expect(65).stderr;
        let said = "a.json: line 1: is an array of texts; convert it to a list of URLs with jq -r '.[]'\n";
        assert!(refused.ends_with(said), "{refused}");
    }
    let rows = format!("[1,\"{BASE}a\",\"2024-05-01\"]\n[2,\"{BASE}b\",null]\n");
    let refused = build(&directory, &directory.file("rows.jsonl", &rows), &[]).expect(65).stderr;
    let said = "rows.jsonl: line 1: is an array of values; convert the rows with jq -r '@csv' and read them with \
                --format csv --columns url=2\n";
    assert!(refused.ends_with(said), "{refused}");
    let texts = build(&directory, &directory.file("texts.json", "[\"a\",\"b\"]\n"), &[]).expect(65).stderr;
    assert!(texts.contains("line 1: is not a JSON object; "), "{texts}");
}

#[test]
fn options_for_rows_take_the_escape_of_quotes_into_account() {
    let directory = TempDir::new();
    let rows = format!(r#""{BASE}\",1","2024-05-01""#);
    let input = directory.file("rows.txt", rows);
    let refused = build(&directory, &input, &["--escape", r"\"]).expect(65).stderr;
    let options = "--format csv --delimiter , --columns url=1,lastmod=2";
    assert!(refused.contains(&format!("; use {options}, or ")), "{refused}");
    let options: Vec<&str> = options.split(' ').chain(["--escape", r"\"]).collect();
    build(&directory, &input, &options).expect(0);
    assert_eq!(published_urls(&directory.join("out"), BASE), [format!("{BASE}%22,1")]);
}

#[test]
fn a_list_with_unix_times_after_the_urls_gets_a_hint_with_options_that_read_it() {
    let directory = TempDir::new();
    for (by, unit, times) in
        [(",", "seconds", ["1714550400", "1714550401"]), (";", "millis", ["1714550400000", "1714550401000"])]
    {
        let rows: String = times.iter().map(|time| format!("{BASE}{time}{by}{time}\n")).collect();
        let input = directory.file("urls.txt", rows);
        let word = if by == ";" { "';'" } else { by };
        let options =
            format!("--format csv --delimiter {word} --columns url=1,lastmod=2 --lastmod-unit {unit}");
        let hint = format!(
            "the first lines of {} look like rows, and each line was read as one URL; if they are rows, use {options}\n",
            input.display()
        );
        let told = build(&directory, &input, &[]).expect(0).stderr;
        assert!(told.contains(&format!("  {hint}")), "{told}");
        let told = finish(sitemill().arg("clean").arg(&input), b"").expect(0).stderr;
        assert!(told.contains(&hint), "{told}");
        let options = options.replace('\'', "");
        let options: Vec<&str> = options.split(' ').collect();
        build(&directory, &input, &[&options[..], &["--max-dropped-tags", "0"]].concat()).expect(0);
        assert_eq!(published_urls(&directory.join("out"), BASE)[0], format!("{BASE}{}", times[0]));
    }
    // Numbers of products, and numbers that are no times.
    for number in ["4006381333931", "17145504"] {
        let rows = format!("{BASE}a,{number}\n{BASE}b,{number}\n");
        let told = build(&directory, &directory.file("urls.txt", rows), &[]).expect(0).stderr;
        assert!(!told.contains("look like rows"), "{told}");
    }
}

#[test]
fn relative_lines_in_quotes_and_rows_with_an_absolute_url_are_no_pages() {
    let directory = TempDir::new();
    let relative = ["--relative-to", BASE];
    let quoted = directory.file("quoted.txt", "\"/p/1\"\n\"/p/2\"\n");
    let refused = build(&directory, &quoted, &relative).expect(65).stderr;
    assert!(refused.ends_with(", or remove the quotes: tr -d '\"'\n"), "{refused}");
    let options = ["--format", "csv", "--columns", "url=1"];
    build(&directory, &quoted, &[&relative[..], &options].concat()).expect(0);
    assert_eq!(published_urls(&directory.join("out"), BASE), [format!("{BASE}p/1"), format!("{BASE}p/2")]);
    let counted = directory.file("counted.txt", format!("      2 {BASE}a\n     10 {BASE}b\n"));
    let refused = build(&directory, &counted, &relative).expect(65).stderr;
    assert!(refused.contains("awk '{print $2}'"), "{refused}");
}

#[test]
fn relative_lines_that_look_like_rows_or_follow_the_name_of_their_column_get_a_hint() {
    let directory = TempDir::new();
    for (text, options) in [
        ("/p/0 10\n/p/1 20\n", "--format csv --delimiter ' ' --columns url=1"),
        ("GET /p/0 200\nGET /p/1 200\n", "--format csv --delimiter ' ' --columns url=2"),
        ("  10 /p/0\n   5 /p/1\n", "awk '{print $2}', which extracts the URLs"),
        ("/p/0;1714550400\n/p/1;1714550401\n", "--format csv --delimiter ';' --columns url=1,lastmod=2 "),
        ("path\n/p/0\n/p/1\n", "--format csv --columns url=path"),
        ("\"Page path\"\n/p/0\n/p/1\n", "--format csv --columns 'url=Page path'"),
    ] {
        let input = directory.file("urls.txt", text);
        let told = build(&directory, &input, &["--relative-to", BASE]).expect(0).stderr;
        assert!(told.contains(&format!("if they are rows, use {options}")), "{text:?}: {told}");
    }
    for text in ["/p/0\n/p/1\n", "about.html\n/p/1\n/p/2\n", "blog/\n/p/1\n/p/2\n", "/a b\n/c\n"] {
        let input = directory.file("urls.txt", text);
        let told = build(&directory, &input, &["--relative-to", BASE]).expect(0).stderr;
        assert!(!told.contains("look like rows"), "{text:?}: {told}");
    }
}

//! Tags that cannot be written are dropped, counted and reported, and their URL is listed.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Run, TempDir, build_command, files, finish, published, published_urls, sitemill};

const BASE: &str = "https://www.example.com/";

/// The result of a build: the run, the report, and reason and text of each row of the reject file.
struct Told {
    run: Run,
    report: Value,
    rejects: Vec<(String, String)>,
}

#[track_caller]
fn build(out: &Path, input: &Path, options: &[&str]) -> Told {
    let [report, rejects] = ["report", "rejects"].map(|end| out.with_extension(end));
    let mut command = build_command(out, BASE);
    command.arg(input).args(options).arg("--report").arg(&report).arg("--rejects").arg(&rejects);
    let run = finish(&mut command, b"");
    let report = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    let row = |row: &str| {
        let columns: Vec<&str> = row.split('\t').collect();
        (columns[3].to_owned(), columns[4].to_owned())
    };
    Told { run, report, rejects: fs::read_to_string(rejects).unwrap().lines().skip(1).map(row).collect() }
}

fn pairs(rows: &[(&str, &str)]) -> Vec<(String, String)> {
    rows.iter().map(|&(reason, text)| (reason.to_owned(), text.to_owned())).collect()
}

#[test]
fn a_tag_of_json_lines_with_a_value_of_the_wrong_type_is_dropped_and_its_url_is_listed() {
    let directory = TempDir::new();
    let lines: String = [
        r#""images":[{"loc":"https://i.example/1.png"}]"#,
        r#""images":"https://i.example/2.png""#,
        r#""alternates":{"de":"https://www.example.com/de"}"#,
        r#""priority":true"#,
        r#""changefreq":5"#,
        r#""lastmod":{}"#,
    ]
    .iter()
    .enumerate()
    .map(|(n, tag)| format!("{{\"loc\":\"{BASE}{n}\",{tag}}}\n"))
    .collect();
    let out = directory.join("out");
    let told = build(&out, &directory.file("pages.jsonl", lines), &[]);
    told.run.expect(0);
    assert_eq!(published_urls(&out, BASE).len(), 6);
    let (_, xml) = published(&out, BASE).remove(1);
    assert_eq!((xml.matches("<image:loc>").count(), xml.matches("hreflang=\"de\"").count()), (2, 1));
    assert_eq!(told.report["rejected"], json!({}));
    assert_eq!(
        told.rejects,
        pairs(&[("tag-priority", "true"), ("tag-changefreq", "5"), ("tag-lastmod", "{}")])
    );
}

#[test]
fn an_entry_with_two_urls_is_rejected_and_a_tag_given_twice_is_dropped() {
    let directory = TempDir::new();
    let sitemap = directory.file(
        "theirs.xml",
        format!(
            "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
             <url><loc>{BASE}a</loc><loc>{BASE}b</loc></url>\
             <url><loc>{BASE}c</loc><priority>0.5</priority><priority>0.7</priority></url></urlset>"
        ),
    );
    let two = format!("<loc>{BASE}a</loc><loc>{BASE}b</loc>");
    let told = build(&directory.join("xml"), &sitemap, &[]);
    told.run.expect(0);
    assert_eq!(told.rejects, pairs(&[("bad-row", &two), ("tag-priority", "0.5 | 0.7")]));
    assert_eq!(published_urls(&directory.join("xml"), BASE), [format!("{BASE}c")]);

    let two = format!(r#"{{"loc":"{BASE}a","loc":"{BASE}b"}}"#);
    let twice = format!(r#"{{"loc":"{BASE}c","priority":0.5,"priority":0.7}}"#);
    let told = build(&directory.join("json"), &directory.file("a.jsonl", format!("{two}\n{twice}\n")), &[]);
    told.run.expect(0);
    assert_eq!(told.rejects, pairs(&[("bad-row", &two), ("tag-priority", "0.5 | 0.7")]));
}

#[test]
fn a_row_with_content_but_no_url_is_rejected_in_every_form() {
    let directory = TempDir::new();
    for (name, listed, row, empty) in [
        ("a.csv", "id,url,lastmod\n7,HEREx,\n", "7,,", ",,"),
        ("a.tsv", "id\turl\tlastmod\n7\tHEREx\t\n", "7\t\t", "\t\t"),
        ("a.jsonl", "{\"url\":\"HEREx\"}\n", r#"{"id":7,"url":null}"#, r#"{"id":null,"url":""}"#),
        (
            "a.xml",
            "<urlset><url><loc>HEREx</loc></url>",
            "<url><priority>1</priority></url>",
            "<url/></urlset>",
        ),
    ] {
        let text = format!("{listed}{row}\n{empty}\n").replace("HERE", BASE);
        let told = build(&directory.join(name), &directory.file(&format!("in-{name}"), text), &[]);
        told.run.expect(0);
        let said = if name == "a.xml" { "priority=1" } else { row.trim_end() };
        assert_eq!(told.rejects, pairs(&[("no-url", said)]), "{name}");
        assert_eq!((&told.report["blank"], &told.report["listed"]), (&json!(1), &json!(1)), "{name}");
    }
}

#[test]
fn each_dropped_link_and_image_is_a_row_of_the_reject_file_with_its_own_value() {
    let directory = TempDir::new();
    let links = r#"[{"hreflang":"de","href":"/de"},{"hreflang":"fr","href":"https://www.example.com/fr"},{"hreflang":"no\tlanguage","href":"https://www.example.com/"}]"#;
    let row = format!(
        r#"{{"loc":"{BASE}a","alternates":{links},"images":["i.png","https://i.example/","mailto:x"]}}"#
    );
    let input = directory.file("pages.jsonl", row);
    let told = build(&directory.join("out"), &input, &[]);
    told.run.expect(0);
    let dropped = [
        ("tag-alternate", "hreflang=de href=/de"),
        ("tag-alternate", r"hreflang=no\tlanguage href=https://www.example.com/"),
        ("tag-image", "i.png"),
        ("tag-image", "mailto:x"),
    ];
    assert_eq!(told.rejects, pairs(&dropped));
    let told = build(&directory.join("old"), &input, &["--protocol", "0.84"]);
    told.run.expect(0);
    assert_eq!(told.rejects.len(), 6);
    assert!(
        told.rejects.contains(&pairs(&[("tag-alternate", "hreflang=fr href=https://www.example.com/fr")])[0])
    );
    let examples = told.report["examples"].as_array().unwrap();
    assert_eq!(examples[0]["text"], "hreflang=de href=/de");
}

#[test]
fn a_dropped_value_without_fields_is_shown_as_it_was_given() {
    let directory = TempDir::new();
    for (tag, value, reason) in [
        ("videos", r#"{"title":"x"}"#, "tag-video"),
        ("news", r#"{"title":"y"}"#, "tag-news"),
        ("alternates", r#""de""#, "tag-alternate"),
        ("images", r#"{"src":"z"}"#, "tag-image"),
    ] {
        let row = format!(r#"{{"url":"{BASE}a","{tag}":{value}}}"#);
        let told = build(&directory.join("out"), &directory.file("pages.jsonl", row), &[]);
        told.run.expect(0);
        assert_eq!(told.rejects, pairs(&[(reason, value)]));
        assert_eq!(told.report["examples"][0]["text"], value);
    }
}

#[test]
fn tags_of_a_rejected_row_are_not_reported_as_dropped() {
    let directory = TempDir::new();
    let links: Vec<Value> =
        (0..20).map(|n| json!({ "hreflang": "de", "href": format!("{BASE}de/{n}") })).collect();
    let rows = [
        json!({ "loc": format!("{BASE}a"), "alternates": links, "priority": 7 }),
        json!({ "loc": format!("{BASE}b") }),
    ];
    let input = directory.file("pages.jsonl", rows.map(|row| format!("{row}\n")).concat());
    let told = build(&directory.join("out"), &input, &["--bytes-per-sitemap", "1000"]);
    told.run.expect(0);
    assert_eq!(told.rejects, pairs(&[("entry-too-large", &format!("{BASE}a"))]));
    assert_eq!(told.report["dropped_tags"], json!({}));
}

/// CSV rows with `lastmod` as the last modification time.
fn pages(count: usize, lastmod: &str) -> String {
    let rows: String = (0..count).map(|n| format!("{BASE}{n},{lastmod}\n")).collect();
    format!("url,lastmod\n{rows}")
}

#[test]
fn a_zone_west_of_utc_is_a_value_and_not_an_option() {
    let directory = TempDir::new();
    let input = directory.file("urls.csv", pages(1, "2024-05-01 10:20:30"));
    let told = build(&directory.join("out"), &input, &["--lastmod-zone", "-05:00"]);
    told.run.expect(0);
    assert_eq!(told.report["dropped_tags"], json!({}));
}

#[test]
fn the_option_that_keeps_a_dropped_lastmod_is_named_and_works() {
    let directory = TempDir::new();
    for (lastmod, what, option) in [
        ("2024-05-01 10:20:30", "has no time zone", "--lastmod-zone UTC"),
        ("2024-05-01T10:20:30.123456", "has no time zone", "--lastmod-zone UTC"),
        ("1714558830", "looks like epoch seconds", "--lastmod-unit seconds"),
        ("1714558830.5", "looks like epoch seconds", "--lastmod-unit seconds"),
        ("1714558830123", "looks like epoch millis", "--lastmod-unit millis"),
        ("1714558830123456", "looks like epoch micros", "--lastmod-unit micros"),
        ("1714558830123456789", "looks like epoch nanos", "--lastmod-unit nanos"),
    ] {
        let input = directory.file("urls.csv", pages(1_200, lastmod));
        let reason = if what.contains("epoch") { "tag-lastmod-epoch" } else { "tag-lastmod-zone" };
        let hint = format!("lastmod {lastmod} {what} (1,200 of 1,200 dropped as {reason}); use {option}");
        let out = directory.join(lastmod);
        let report = directory.join("report.json");
        let mut loud = sitemill();
        loud.args(["build", "--base-url", BASE, "--out"]).arg(&out).arg(&input).arg("--report").arg(&report);
        let run = finish(&mut loud, b"").expect(0);
        assert!(run.stderr.contains(&format!("  {hint}\n")), "{}", run.stderr);
        let report: Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
        assert_eq!(report["tag_hints"], json!([hint]));
        let saved: Vec<&str> = option.split(' ').collect();
        let told = build(&out, &input, &[&saved[..], &["--max-dropped-tags", "0"]].concat());
        told.run.expect(0);
        assert!(published(&out, BASE)[1].1.contains("<lastmod>2024-05-01T10:20:30Z</lastmod>"), "{lastmod}");
    }
    // A unit that does not fit the numbers.
    let told = build(
        &directory.join("wrong"),
        &directory.file("urls.csv", pages(2, "1714558830123")),
        &["--lastmod-unit", "seconds"],
    );
    assert_eq!(told.report["dropped_tags"], json!({ "tag-lastmod-epoch": 2 }));
    // Another unit is named only if it reads more tags than the one that is set.
    let out = directory.join("mixed");
    for (times, dropped, hint) in [
        (["1714558830123", "1714558830123", "1714558830"], 1, Value::Null),
        (
            ["1714558830123", "1714558830123456", "1714558830123456"],
            2,
            json!([
                "lastmod 1714558830123456 looks like epoch micros (2 of 3 dropped as tag-lastmod-epoch); use --lastmod-unit micros"
            ]),
        ),
    ] {
        let rows = times.iter().enumerate().map(|(n, time)| format!("{BASE}{n},{time}\n"));
        let input = directory.file("mixed.csv", "loc,lastmod\n".to_owned() + &rows.collect::<String>());
        let told = build(&out, &input, &["--lastmod-unit", "millis"]);
        assert_eq!(told.report["dropped_tags"], json!({ "tag-lastmod-epoch": dropped }));
        assert_eq!(told.report["tag_hints"], hint);
        let xml = &published(&out, BASE)[1].1;
        assert!(xml.contains("<lastmod>2024-05-01T10:20:30Z</lastmod>") && !xml.contains("1970"), "{xml}");
    }
    // The number is that of the reason, so the hint shows which value has the exponent.
    let rows = pages(2, "1.71455883E9") + &format!("{BASE}x,1.5.2024\n");
    let told = build(&directory.join("java"), &directory.file("urls.csv", rows), &[]);
    let hint =
        "lastmod 1.71455883E9 has an exponent (3 of 3 dropped as tag-lastmod); use CAST(lastmod AS BIGINT)";
    assert_eq!(told.report["tag_hints"], json!([hint]));
    // A date without hyphens is not a number of seconds.
    let dates = directory.file("urls.csv", pages(2, "20240501"));
    for options in [&[][..], &["--lastmod-unit", "seconds"]] {
        let told = build(&directory.join("date"), &dates, options);
        let hint = "lastmod 20240501 looks like YYYYMMDD (2 of 2 dropped as tag-lastmod); use YYYY-MM-DD";
        assert_eq!(
            (&told.report["dropped_tags"], &told.report["tag_hints"]),
            (&json!({ "tag-lastmod": 2 }), &json!([hint]))
        );
    }
    // The zone is not UTC, and its name is shown.
    let feed = format!(
        "<rss><channel><item><link>{BASE}1</link><pubDate>1 May 2024 10:20:30 MSK</pubDate></item></channel></rss>"
    );
    let told = build(&directory.join("feed"), &directory.file("feed.xml", feed), &[]);
    let hint = "lastmod 2024-05-01T10:20:30 MSK has the name of a zone, MSK, and not its offset from UTC (1 of 1 dropped as \
        tag-lastmod-zone); use --lastmod-zone with the zone, such as Europe/Moscow for MSK";
    assert_eq!(told.report["tag_hints"], json!([hint]));
    assert_eq!(told.report["examples"][0]["text"], "2024-05-01T10:20:30 MSK");
}

#[test]
fn a_time_with_the_name_of_a_zone_needs_a_zone_with_this_name() {
    let directory = TempDir::new();
    let (out, input) = (directory.join("out"), directory.file("a.csv", pages(1, "2024-01-05 10:20:30 EST")));
    for (options, what, with) in [
        (&[][..], "EST, and not its offset from UTC", "the zone, such as Europe/Moscow for MSK"),
        (
            &["--lastmod-zone", "-05:00"],
            "EST, which is not in use in -05:00 at that time",
            "the zone that has this name then, or write the offset",
        ),
    ] {
        let told = build(&out, &input, options);
        let hint = format!(
            "lastmod 2024-01-05 10:20:30 EST has the name of a zone, {what} (1 of 1 dropped as tag-lastmod-zone); use \
             --lastmod-zone with {with}"
        );
        assert_eq!(told.report["tag_hints"], json!([hint]));
    }
    build(&out, &input, &["--lastmod-zone", "America/New_York"]).run.expect(0);
    let xml = &published(&out, BASE)[1].1;
    assert!(xml.contains("<lastmod>2024-01-05T10:20:30-05:00</lastmod>"), "{xml}");
}

#[test]
fn too_many_dropped_tags_are_refused_and_the_message_names_the_option_that_accepts_them() {
    let directory = TempDir::new();
    let input = directory.file("urls.csv", pages(30, "2024-05-01") + &format!("{BASE}x,soon\n").repeat(3));
    for (max, needed) in [("0", "3"), ("2", "3"), ("0%", "10%"), ("9.05%", "10%")] {
        let out = directory.join(max);
        let refused = build(&out, &input, &["--max-dropped-tags", max]).run.expect(65);
        let said = format!(
            "3 of 33 tags were dropped, but --max-dropped-tags is {max}; nothing was published; to drop the tags, run \
             again with --max-dropped-tags {needed}\n"
        );
        assert!(refused.stderr.contains(&said), "{}", refused.stderr);
        assert!(files(&out).is_empty());
        build(&out, &input, &["--max-dropped-tags", needed]).run.expect(0);
    }
    // An option that would save the tags is named first.
    let told = build(
        &directory.join("zone"),
        &directory.file("zone.csv", pages(4, "2024-05-01 10:20")),
        &["--max-dropped-tags", "50%"],
    );
    let said = "nothing was published; lastmod 2024-05-01 10:20 has no time zone (4 of 4 dropped as tag-lastmod-zone); use \
                --lastmod-zone UTC; to drop the tags, run again with --max-dropped-tags 100%";
    assert!(told.run.expect(65).stderr.contains(said));
    assert!(told.report["refused"].as_str().unwrap().contains(said));
    finish(build_command(&directory.join("usage"), BASE).args(["--max-dropped-tags", "some"]), b"").expect(2);
    // A tag that lost several fields is one tag, so no more are lost than were given.
    let video = json!({ "url": format!("{BASE}v"), "videos": { "thumbnail_loc": format!("{BASE}t"), "title": "T",
        "description": "D", "content_loc": format!("{BASE}c"), "duration": 0, "rating": 9, "live": "maybe" } });
    let video = directory.file("video.jsonl", video.to_string());
    let told = build(&directory.join("fields"), &video, &["--max-dropped-tags", "50%"]);
    let said = "1 of 1 tag was dropped or lost fields, but --max-dropped-tags is 50%; nothing was published; to drop the \
                tags, run again with --max-dropped-tags 100%\n";
    assert!(told.run.expect(65).stderr.contains(said));
    build(&directory.join("fields"), &video, &["--max-dropped-tags", "100%"]).run.expect(0);
    // The option also works in the environment.
    let mut command = build_command(&directory.join("environment"), BASE);
    finish(command.env("SITEMILL_MAX_DROPPED_TAGS", "2").arg(&input), b"").expect(65);
}

#[test]
fn every_metric_of_an_alert_is_written_even_by_a_run_without_tags() {
    let directory = TempDir::new();
    let path = directory.join("sitemill.prom");
    let mut command = build_command(&directory.join("out"), BASE);
    command.args(["--then", "true", "--metrics"]).arg(&path);
    finish(&mut command, format!("{BASE}a\n").as_bytes()).expect(0);
    let metrics = fs::read_to_string(&path).unwrap();
    let rules = fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/scripts/deploy/prometheus/sitemill.rules.yml"
    ));
    let rules = rules.unwrap();
    assert!(rules.contains("sitemill_dropped_tags") && rules.contains("sitemill_given_tags"));
    for part in rules.split("sitemill_").skip(1) {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap();
        let name = format!("\nsitemill_{}{{", &part[..end]);
        assert!(metrics.contains(&name), "{name}");
    }
    let mut command = build_command(&directory.join("dropped"), BASE);
    finish(command.arg("--metrics").arg(&path), pages(3, "soon").as_bytes()).expect(0);
    let metrics = fs::read_to_string(&path).unwrap();
    for (name, label, value) in [
        ("given_tags", "tag=\"lastmod\"", 3),
        ("given_tags", "tag=\"images\"", 0),
        ("dropped_tags", "reason=\"tag-lastmod\"", 3),
        ("dropped_tags", "reason=\"tag-lastmod-zone\"", 0),
    ] {
        let line = format!("\nsitemill_{name}{{base_url=\"{BASE}\",{label}}} {value}\n");
        assert!(metrics.contains(&line), "{line}");
    }
}

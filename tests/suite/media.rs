//! Videos, news articles and details of images, from every kind of input to sitemaps, and back.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{
    EPOCH, Run, TempDir, assert_valid_set, build_command, contents, finish, published, sitemill,
};

const BASE: &str = "https://www.example.com/";

/// A build of `input`, its report, and reason and text of each row of the reject file.
#[track_caller]
fn build(out: &Path, input: &Path, options: &[&str]) -> (Run, Value, Vec<(String, String)>) {
    let [report, rejects] = ["report", "rejects"].map(|end| out.with_extension(end));
    let mut command = build_command(out, BASE);
    command.arg(input).args(options).arg("--report").arg(&report).arg("--rejects").arg(&rejects);
    let run = finish(&mut command, b"").expect(0);
    let report = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    let row = |row: &str| {
        let columns: Vec<&str> = row.split('\t').collect();
        (columns[3].to_owned(), columns[4].to_owned())
    };
    let rejects = fs::read_to_string(rejects).unwrap().lines().skip(1).map(row).collect();
    (run, report, rejects)
}

/// The only sitemap of the set in `out`. The set is valid by the schemas and by `check`.
#[track_caller]
fn sitemap(out: &Path) -> String {
    assert_valid_set(out, BASE, "0.9");
    finish(sitemill().args(["check", "--quiet"]).arg(out), b"").expect(0);
    let mut files = published(out, BASE);
    assert_eq!(files.len(), 2);
    files.remove(1).1
}

/// A row with every field that is carried over, in any form that is read.
fn full_row() -> Value {
    json!({
        "loc": format!("{BASE}a"),
        "images": [
            format!("{BASE}plain.png"),
            { "loc": "HTTP://i.example/ü.png", "title": "T & t", "caption": " <c>\n2 ", "geo_location": "Limerick, Ireland",
              "license": "http://i.example/license" },
        ],
        "videos": [{
            "thumbnail_loc": "http://i.example/t.png", "title": "A \"video\"", "description": "It's\r\nnew",
            "content_loc": "http://i.example/v.mp4?a=1&b=2", "player_loc": "http://i.example/p",
            "player_loc_allow_embed": true, "player_loc_autoplay": "ap=1", "duration": 600,
            "expiration_date": "2030-01-01T00:00Z", "rating": 4.25, "view_count": 12345,
            "publication_date": "2005-06-25", "tag": ["one", "two"], "category": "Cooking",
            "family_friendly": "Yes", "restriction": "ie, gb", "restriction:relationship": "ALLOW",
            "requires_subscription": false, "uploader": "Me & you", "uploader_info": "http://h.example/u",
            "platform": "web TV", "platform_relationship": "deny", "live": "no",
        }],
        "news": {
            "publication": { "name": "The <News>", "language": "EN" }, "access": "subscription",
            "genres": "blog,PressRelease", "publication_date": "2005-06-25T10:00:00+02:00", "title": "Title",
            "keywords": "a, b", "stock_tickers": "NASDAQ:A,NASDAQ:B",
        },
    })
}

const FULL_ENTRY: &str = concat!(
    "<url><loc>https://www.example.com/a</loc>",
    "<image:image><image:loc>https://www.example.com/plain.png</image:loc></image:image>",
    "<image:image><image:loc>http://i.example/%C3%BC.png</image:loc><image:caption>&lt;c&gt; 2</image:caption>",
    "<image:geo_location>Limerick, Ireland</image:geo_location><image:title>T &amp; t</image:title>",
    "<image:license>http://i.example/license</image:license></image:image>",
    "<video:video><video:thumbnail_loc>http://i.example/t.png</video:thumbnail_loc>",
    "<video:title>A &quot;video&quot;</video:title><video:description>It&apos;s new</video:description>",
    "<video:content_loc>http://i.example/v.mp4?a=1&amp;b=2</video:content_loc>",
    "<video:player_loc allow_embed=\"yes\" autoplay=\"ap=1\">http://i.example/p</video:player_loc>",
    "<video:duration>600</video:duration><video:expiration_date>2030-01-01T00:00:00Z</video:expiration_date>",
    "<video:rating>4.25</video:rating><video:view_count>12345</video:view_count>",
    "<video:publication_date>2005-06-25</video:publication_date><video:tag>one</video:tag><video:tag>two</video:tag>",
    "<video:category>Cooking</video:category><video:family_friendly>yes</video:family_friendly>",
    "<video:restriction relationship=\"allow\">IE GB</video:restriction>",
    "<video:requires_subscription>no</video:requires_subscription>",
    "<video:uploader info=\"http://h.example/u\">Me &amp; you</video:uploader>",
    "<video:platform relationship=\"deny\">web tv</video:platform><video:live>no</video:live></video:video>",
    "<news:news><news:publication><news:name>The &lt;News&gt;</news:name><news:language>en</news:language></news:publication>",
    "<news:access>Subscription</news:access><news:genres>Blog, PressRelease</news:genres>",
    "<news:publication_date>2005-06-25T10:00:00+02:00</news:publication_date><news:title>Title</news:title>",
    "<news:keywords>a, b</news:keywords><news:stock_tickers>NASDAQ:A, NASDAQ:B</news:stock_tickers></news:news></url>\n",
);

#[test]
fn every_field_goes_from_json_to_a_sitemap_and_back() {
    let directory = TempDir::new();
    let out = directory.join("json");
    let (_, report, rejects) =
        build(&out, &directory.file("rows.jsonl", full_row().to_string()), &["--max-dropped-tags", "0"]);
    assert_eq!(rejects, []);
    assert_eq!(report["given_tags"], json!({ "images": 2, "videos": 1, "news": 1 }));
    assert_eq!(report["inputs"][0].get("dropped_elements"), None);
    let xml = sitemap(&out);
    let (_, entry) = xml.split_once(">\n<url>").unwrap();
    assert_eq!(format!("<url>{}", entry.strip_suffix("</urlset>\n").unwrap()), FULL_ENTRY);
    for prefix in ["image", "video", "news"] {
        assert_eq!(xml.matches(&format!(" xmlns:{prefix}=")).count(), 1);
    }
    assert!(!xml.contains("xmlns:xhtml"));
    // The sitemap itself, and what urls writes of it, make the same set.
    let listed = finish(sitemill().args(["urls", "--quiet", "--json"]).arg(&out), b"").expect(0).stdout;
    let object: Value = serde_json::from_slice(&listed).unwrap();
    assert_eq!(object["images"][0], json!(format!("{BASE}plain.png")));
    assert_eq!(object["images"][1]["license"], "http://i.example/license");
    assert_eq!(object["videos"][0]["tag"], json!(["one", "two"]));
    assert_eq!(object["videos"][0]["player_loc_autoplay"], "ap=1");
    assert_eq!(object["videos"][0]["duration"], "600");
    assert_eq!(object["news"]["publication"], json!({ "name": "The <News>", "language": "en" }));
    let tsv = finish(sitemill().args(["urls", "--quiet", "--tsv"]).arg(&out), b"").expect(0).stdout;
    let (file, _) = published(&out, BASE).remove(1);
    let inputs = [directory.file("listed.jsonl", listed), directory.file("listed.tsv", tsv), out.join(file)];
    for (number, input) in inputs.iter().enumerate() {
        let again = directory.join(format!("again-{number}"));
        let (_, report, _) = build(&again, input, &["--max-dropped-tags", "0"]);
        assert!(contents(&again) == contents(&out), "{}", input.display());
        assert_eq!(report["inputs"][0].get("dropped_elements"), None);
    }
}

#[test]
fn json_lines_may_have_json_in_strings_as_in_the_text_columns_of_csv() {
    let directory = TempDir::new();
    let mut row = full_row();
    row["alternates"] = json!({ "de": format!("{BASE}de") });
    let mut texts = row.clone();
    for part in ["alternates", "images", "videos", "news"] {
        texts[part] = row[part].to_string().into();
    }
    let plain = json!({ "loc": format!("{BASE}b") });
    let mut empty = plain.clone();
    for (part, nothing) in [("alternates", "null"), ("images", "\"\""), ("videos", "[]"), ("news", " {} ")] {
        empty[part] = nothing.into();
    }
    let [(_, want, _), (_, got, rejects)] =
        [("values", row, plain), ("texts", texts, empty)].map(|(name, one, other)| {
            let input = directory.file(&format!("{name}.jsonl"), format!("{one}\n{other}\n"));
            build(&directory.join(name), &input, &["--max-dropped-tags", "0"])
        });
    assert_eq!(rejects, []);
    assert_eq!(got["given_tags"], want["given_tags"]);
    assert_eq!(got["given_tags"]["alternates"], 1);
    assert_eq!(sitemap(&directory.join("texts")), sitemap(&directory.join("values")));
}

#[test]
fn values_that_cannot_be_written_are_dropped_with_their_reason_alone_if_they_are_optional() {
    let directory = TempDir::new();
    let changed = |part: &str, at: Option<usize>, key: &str, value: Value| {
        let mut row = full_row();
        match at {
            Some(at) => row[part][at][key] = value,
            None => row[part][key] = value,
        }
        row
    };
    let long = |characters: usize| "ü".repeat(characters);
    for (part, at, key, value, reason) in [
        ("images", Some(1), "loc", json!("/i.png"), "tag-image"),
        ("images", Some(1), "license", json!("free"), "tag-image-field"),
        ("images", Some(1), "title", json!("a\u{b}b"), "tag-image-field"),
        ("images", Some(1), "title", json!({"de": "x"}), "tag-image-field"),
        ("images", Some(1), "loc", json!(["x"]), "tag-image"),
        ("videos", Some(0), "title", json!(long(101)), "tag-video"),
        ("videos", Some(0), "title", Value::Null, "tag-video"),
        ("videos", Some(0), "description", json!(long(2049)), "tag-video"),
        ("videos", Some(0), "thumbnail_loc", json!("t.png"), "tag-video"),
        ("videos", Some(0), "duration", json!(0), "tag-video-field"),
        ("videos", Some(0), "duration", json!(28801), "tag-video-field"),
        ("videos", Some(0), "duration", json!("10:00"), "tag-video-field"),
        ("videos", Some(0), "duration", json!(90.5), "tag-video-field"),
        ("videos", Some(0), "duration", json!("90."), "tag-video-field"),
        ("videos", Some(0), "rating", json!(5.01), "tag-video-field"),
        ("videos", Some(0), "rating", json!("1e0"), "tag-video-field"),
        ("videos", Some(0), "view_count", json!(-5), "tag-video-field"),
        ("videos", Some(0), "expiration_date", json!("2024"), "tag-video-field"),
        ("videos", Some(0), "category", json!(long(257)), "tag-video-field"),
        ("videos", Some(0), "uploader_info", json!("u"), "tag-video-field"),
        ("videos", Some(0), "live", json!("sometimes"), "tag-video-field"),
        ("videos", Some(0), "player_loc_allow_embed", json!("x"), "tag-video-field"),
        ("news", None, "title", json!(""), "tag-news"),
        ("news", None, "publication", json!({ "name": "N", "language": "english" }), "tag-news"),
        ("news", None, "publication_date", json!("yesterday"), "tag-news"),
        ("news", None, "title", json!(["t"]), "tag-news"),
        ("news", None, "access", json!("free"), "tag-news-field"),
        ("news", None, "keywords", json!(["a", "b"]), "tag-news-field"),
        ("news", None, "genres", json!("Blog,Fiction"), "tag-news-field"),
        ("news", None, "stock_tickers", json!("A:1,A:2,A:3,A:4,A:5,A:6"), "tag-news-field"),
    ] {
        let input = directory.file("rows.jsonl", changed(part, at, key, value.clone()).to_string());
        let out = directory.join("out");
        let (_, report, rejects) = build(&out, &input, &["--max-shrink", "100"]);
        assert_eq!(report["dropped_tags"], json!({ reason: 1 }), "{part} {key} {value}");
        assert_eq!((rejects.len(), &rejects[0].0[..]), (1, reason), "{rejects:?}");
        let is_field = reason.ends_with("-field");
        if is_field {
            let shown =
                value.as_str().map_or_else(|| value.to_string(), |text| text.replace('\u{b}', "\\x0b"));
            assert_eq!(rejects[0].1, format!("{key}={shown}"));
        }
        let xml = sitemap(&out);
        let values = ["<image:image>", "<video:video>", "<news:news>"].map(|tag| xml.matches(tag).count());
        let lost = |tag: &str| usize::from(tag == part && !is_field);
        assert_eq!(values, [2 - lost("images"), 1 - lost("videos"), 1 - lost("news")], "{part} {key}");
    }
    // A text and its attributes, a text without the attribute that it needs, and tags beyond the limit.
    let mut row = full_row();
    row["videos"][0]["restriction"] = "Ireland".into();
    row["videos"][0]["platform_relationship"] = Value::Null;
    row["videos"][0]["tag"] = (0..34).map(|n| Value::from(n.to_string())).collect();
    row["news"] = json!([row["news"], row["news"]]);
    let (_, report, rejects) =
        build(&directory.join("more"), &directory.file("more.jsonl", row.to_string()), &[]);
    assert_eq!(report["dropped_tags"], json!({ "tag-video-field": 5, "tag-news": 1 }));
    let texts: Vec<_> = rejects.iter().map(|(_, text)| &text[..]).collect();
    let want =
        ["tag=32", "tag=33", "restriction=Ireland", "restriction_relationship=ALLOW", "platform=web TV"];
    assert_eq!(texts[..5], want);
    sitemap(&directory.join("more"));
    // Data frames turn whole numbers into such ones.
    let mut row = full_row();
    (row["videos"][0]["duration"], row["videos"][0]["view_count"]) = (json!(90.0), json!("1000.00"));
    let whole = directory.join("whole");
    let (_, report, _) = build(&whole, &directory.file("whole.jsonl", row.to_string()), &[]);
    assert_eq!(report["dropped_tags"], json!({}));
    let xml = sitemap(&whole);
    let numbers = ["<video:duration>90</video:duration>", "<video:view_count>1000</video:view_count>"];
    assert!(numbers.iter().all(|number| xml.contains(number)), "{xml}");
    // A video needs one of two URLs.
    let mut row = full_row();
    (row["videos"][0]["content_loc"], row["videos"][0]["player_loc"]) = (Value::Null, "p".into());
    let (_, report, _) =
        build(&directory.join("no-loc"), &directory.file("no-loc.jsonl", row.to_string()), &[]);
    assert_eq!(report["dropped_tags"], json!({ "tag-video": 1 }));
    // Protocol 0.84 has no extensions.
    let row = directory.file("old.jsonl", full_row().to_string());
    let (_, report, _) = build(&directory.join("old"), &row, &["--protocol", "0.84"]);
    assert_eq!(report["dropped_tags"], json!({ "tag-image": 2, "tag-video": 1, "tag-news": 1 }));
}

#[test]
fn a_string_with_half_of_a_surrogate_pair_is_dropped() {
    let directory = TempDir::new();
    let mut row = full_row();
    (row["videos"][0]["title"], row["news"]["keywords"]) = ("HALF".into(), "HALF".into());
    let half = |text: String| text.replace("HALF", r"a \ud83d");
    let csv = format!("url,videos\n{BASE}a,\"{}\"\n", row["videos"].to_string().replace('"', "\"\""));
    for (name, input, want) in
        [("a.jsonl", row.to_string(), &["tag-video", "tag-news-field"][..]), ("a.csv", csv, &["tag-video"])]
    {
        let out = directory.join("out");
        let (_, _, rejects) = build(&out, &directory.file(name, half(input)), &["--max-shrink", "100"]);
        let reasons: Vec<_> = rejects.iter().map(|(reason, _)| &reason[..]).collect();
        assert_eq!(reasons, want, "{name}");
        assert!(!published(&out, BASE)[1].1.contains("ud83d"), "{name}");
    }
}

#[test]
fn keys_and_elements_that_are_not_carried_over_are_counted_and_named() {
    let directory = TempDir::new();
    let mut row = full_row();
    row["images"][1]["alt"] = "a".into();
    row["videos"][0]["price"] = 5.into();
    row["news"]["publication"]["city"] = json!({ "name": "Ulm" });
    row["news"]["empty"] = Value::Null;
    let rows = format!("{row}\n{}\n", row.to_string().replace("/a\"", "/b\""));
    let dropped = |input: &Path| {
        let (_, report, _) = build(&directory.join("out"), input, &["--max-shrink", "100"]);
        assert_eq!(report["dropped_tags"], json!({}));
        report["inputs"][0]["dropped_elements"].clone()
    };
    let want = json!({ "images.alt": 2, "videos.price": 2, "news.publication.city": 2 });
    assert_eq!(dropped(&directory.file("rows.jsonl", rows)), want);
    let cell = |part: &str| row[part].to_string().replace('"', "\"\"");
    let csv = format!(
        "url,images,videos,news\n{BASE}a,\"{}\",\"{}\",\"{}\"\n",
        cell("images"),
        cell("videos"),
        cell("news")
    );
    let want = json!({ "images.alt": 1, "videos.price": 1, "news.publication.city": 1 });
    assert_eq!(dropped(&directory.file("rows.csv", csv)), want);
    assert!(sitemap(&directory.join("out")).contains(FULL_ENTRY));

    let xml = sitemap(&directory.join("out"))
        .replace(
            "<video:live>",
            "<video:price currency='EUR'>5</video:price><video:id>7</video:id><video:live>",
        )
        .replace("</news:publication>", "<news:city>Ulm</news:city></news:publication>");
    let want = json!({ "video:price": 1, "video:id": 1, "news:city": 1 });
    assert_eq!(dropped(&directory.file("in.xml", xml)), want);
    assert!(sitemap(&directory.join("out")).contains(FULL_ENTRY));
}

/// Rows with an article of each date, and `others` rows without.
fn news(dates: &[&str], others: usize) -> String {
    let article = |(n, date): (usize, &&str)| {
        let publication = json!({ "name": "N", "language": "de" });
        let news = json!({ "publication": publication, "publication_date": date, "title": "t" });
        format!("{}\n", json!({ "loc": format!("{BASE}{n}"), "news": news }))
    };
    let other = |n: usize| format!("{}\n", json!({ "loc": format!("{BASE}other/{n}") }));
    dates.iter().enumerate().map(article).chain((0..others).map(other)).collect()
}

#[test]
fn a_sitemap_has_at_most_a_thousand_news_articles() {
    let directory = TempDir::new();
    let input = directory.file("rows.jsonl", news(&["2005-06-26"; 2_300], 2_000));
    for (options, want) in [
        (&["--order", "input"][..], &[1_000, 1_000, 300][..]),
        (&["--order", "sorted"], &[1_000, 1_000, 300]),
        (&["--order", "input", "--urls-per-sitemap", "900"], &[900, 900, 500, 0, 0]),
    ] {
        let out = directory.join("out");
        let (_, report, _) = build(&out, &input, options);
        let news = |(_, xml): &(String, String)| xml.matches("<news:news>").count();
        let sitemaps: Vec<_> = published(&out, BASE).iter().skip(1).map(news).collect();
        assert_eq!(sitemaps, want, "{options:?}");
        assert_eq!((report["listed"].as_u64(), report.get("old_news")), (Some(4_300), None));
        finish(sitemill().args(["check", "--quiet"]).arg(&out), b"").expect(0);
    }
    for order in ["input", "sorted"] {
        let out = directory.join(order);
        build(&out, &input, &["--divide", "stable", "--order", order]);
        let files = published(&out, BASE);
        let news = files.iter().skip(1).map(|(_, xml)| xml.matches("<news:news>").count());
        assert!(news.clone().all(|articles| articles <= 1_000) && news.sum::<usize>() == 2_300);
    }
}

#[test]
fn articles_older_than_two_days_are_counted_with_a_warning() {
    let directory = TempDir::new();
    assert_eq!(EPOCH, "1119744000", "2005-06-26T00:00:00Z");
    let dates = [
        "2005-06-26",
        "2005-06-24T00:00:00Z",
        "2005-06-23T23:59:59Z",
        "2005-06-23",
        "2005-06-22",
        "2005-06-24T01:59:59+02:00",
    ];
    let input = directory.file("rows.jsonl", news(&dates, 3));
    let warning = "warning: 3 news articles are older than two days; news sitemaps are for articles of the last \
                   two days\n";
    let out = directory.join("out");
    // The second run publishes the same sitemap again, and a dry run only looks at it.
    for options in [&["--dry-run"][..], &[], &[], &["--dry-run"], &["--order", "sorted"]] {
        let (run, report, _) = build(&out, &input, options);
        assert_eq!((run.stderr.as_str(), &report["old_news"]), (warning, &json!(3)), "{options:?}");
    }
    // Two of equal URLs are one article, and a duplicate does not count.
    let twice = directory.file("twice.jsonl", news(&dates[4..5], 0).repeat(2));
    let (run, report, _) = build(&directory.join("twice"), &twice, &[]);
    assert_eq!((&report["old_news"], &report["duplicates"]), (&json!(1), &json!(1)));
    assert!(run.stderr.starts_with("warning: 1 news article is older"));
}

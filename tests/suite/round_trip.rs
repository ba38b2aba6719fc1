//! `build` makes the same set again from the output of `urls`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{
    TempDir, assert_valid_set, build_command, contents, finish, published, published_urls, sitemill,
};

const BASE: &str = "https://www.example.com/";

/// A SplitMix64 generator: random-looking numbers, the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) % bound as u64) as usize
    }

    fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    /// A URL with characters that are special in XML, JSON, CSV or TSV, or must be encoded.
    fn url(&mut self) -> String {
        let odd = [
            "a",
            "7",
            "/",
            "?q=",
            "&amp;",
            "&",
            "'",
            "\"",
            "\\",
            "%22",
            "%09",
            "%C3%BC",
            "ü",
            "日本",
            "\u{1F600}",
            ",",
            ";",
            "|",
            " ",
            "[",
            "]",
            "{\"",
            "<b>",
            "\\t",
            "\\n",
            "#f",
            "--",
            "]]>",
            "=",
            "%",
        ];
        let parts: String = (0..self.below(9)).map(|_| self.one_of(&odd)).collect();
        format!("{BASE}{}{parts}", self.below(1_000))
    }

    /// A row with any of the tags: valid, invalid or empty.
    fn row(&mut self) -> Value {
        let mut row = json!({ "loc": self.url() });
        let dates = [
            "2024-05-01",
            "2024-05-01T10:20:30+02:00",
            "2005-06-03 04:20Z",
            "2024-05",
            "",
            " ",
            "\t\n",
            "soon",
        ];
        let words = ["daily", "NEVER", " weekly ", "", "often"];
        let numbers = ["0.5", "1", "0.0", ".25", " 0.850 ", "", "1e-05", "2"];
        for (key, values) in [("lastmod", &dates[..]), ("changefreq", &words), ("priority", &numbers)] {
            if self.below(2) == 0 {
                row[key] = self.one_of(values).into();
            }
        }
        if self.below(3) == 0 {
            let languages = ["de", "x-default", "zh-Hant", "no language", ""];
            let links = (0..self.below(4))
                .map(|_| json!({ "hreflang": self.one_of(&languages), "href": self.url() }));
            row["alternates"] = links.collect();
        }
        if self.below(3) == 0 {
            row["images"] = (0..self.below(4))
                .map(|_| if self.below(9) > 0 { self.url() } else { "i.png".into() })
                .collect();
        }
        for (key, of) in [("images", Self::image as fn(&mut Self) -> Value), ("videos", Self::video)] {
            if self.below(4) == 0 {
                row[key] = (0..self.below(3)).map(|_| of(self)).collect();
            }
        }
        if self.below(3) == 0 {
            row["news"] = self.news();
        }
        row
    }

    /// A text with characters that are special in XML, JSON, CSV or TSV; sometimes empty or too long.
    fn text(&mut self) -> String {
        let words = [
            "Ein Tag",
            "a & b",
            "<i>",
            "\"q\"",
            "it's",
            "]]>",
            "\t",
            "a\r\nb",
            "日本",
            "\u{1F600}",
            " ",
            "\\n",
        ];
        let count = self.below(9) * [1, 1, 1, 9][self.below(4)];
        (0..count).map(|_| self.one_of(&words)).collect()
    }

    /// Sets some keys of `object`, each to one of its values.
    fn with_some(&mut self, mut object: Value, keys: &[(&str, &[&str])]) -> Value {
        for (key, values) in keys {
            if self.below(2) == 0 {
                object[key] = self.one_of(values).into();
            }
        }
        object
    }

    fn image(&mut self) -> Value {
        let image = json!({ "loc": self.url(), "caption": self.text(), "title": self.text() });
        self.with_some(
            image,
            &[("geo_location", &["Zürich"]), ("license", &["http://h.example/l?a&b", "mit"])],
        )
    }

    fn video(&mut self) -> Value {
        let video = json!({
            "thumbnail_loc": self.url(), "title": self.text(), "description": self.text(),
            "content_loc": self.url(), "tag": [self.text(), self.text()], "category": self.text(),
        });
        self.with_some(
            video,
            &[
                ("player_loc", &["http://h.example/p?a&b", "p"]),
                ("player_loc_allow_embed", &["yes", "perhaps"]),
                ("player_loc_autoplay", &["ap=1&b='\""]),
                ("duration", &["1", "28800", "28801", "long"]),
                ("expiration_date", &["2030-01-01", "soon"]),
                ("rating", &["5.0", "4.25", "0", "6"]),
                ("view_count", &["0", "1000000", "-1"]),
                ("publication_date", &["2024-05-01T10:20:30+02:00", "2024"]),
                ("family_friendly", &["YES", "no", "true", "1"]),
                ("restriction", &["DE FR", "de,fr", "Germany"]),
                ("restriction_relationship", &["allow", "deny", "none"]),
                ("requires_subscription", &["yes", "no"]),
                ("uploader", &["A & B", "\"x\""]),
                ("uploader_info", &["http://h.example/u?a&b", "u"]),
                ("platform", &["web tv", "mobile", "radio"]),
                ("platform_relationship", &["Allow", "deny"]),
                ("live", &["yes", "no"]),
            ],
        )
    }

    fn news(&mut self) -> Value {
        let news = json!({
            "publication": { "name": self.text(), "language": self.one_of(&["de", "zh-cn", "en", "english"]) },
            "publication_date": self.one_of(&["2024-05-01", "2024-05-01T10:20:30Z", "May"]),
            "title": self.text(),
        });
        self.with_some(
            news,
            &[
                ("access", &["Subscription", "registration", "free"]),
                ("genres", &["Blog,Satire", "PressRelease", "Fiction"]),
                ("keywords", &["a, b & c"]),
                ("stock_tickers", &["NASDAQ:A,NYSE:B", "A"]),
            ],
        )
    }
}

/// Builds `input`, then builds again from the output of `urls`. All files must be the same.
#[track_caller]
fn check_round_trip(input: &Path, options: &[&str]) {
    let directory = TempDir::new();
    let first = directory.join("first");
    finish(build_command(&first, BASE).args(options).arg(input), b"").expect(0);
    let want = contents(&first);
    for form in ["--json", "--tsv"] {
        let written = finish(sitemill().args(["urls", "--quiet", form]).arg(&first), b"").expect(0).stdout;
        let again = directory.join(form);
        let strict = ["--max-rejects", "0"];
        finish(build_command(&again, BASE).args(options).args(strict), &written).expect(0);
        assert!(contents(&again) == want, "{form} with {options:?}:\n{}", String::from_utf8_lossy(&written));
    }
}

#[test]
fn a_set_built_from_its_own_urls_with_their_tags_is_the_same_set() {
    let directory = TempDir::new();
    for seed in 0..5 {
        let mut draw = Draw(seed);
        let rows: String = (0..300).map(|_| format!("{}\n", draw.row())).collect();
        let input = directory.file("pages.jsonl", rows);
        for order in ["input", "sorted"] {
            for protocol in ["0.9", "0.84"] {
                let limit = ["7", "50", "50000"][draw.below(3)];
                let divide = ["fill", "stable"][draw.below(2)];
                check_round_trip(
                    &input,
                    &[
                        "--order",
                        order,
                        "--protocol",
                        protocol,
                        "--urls-per-sitemap",
                        limit,
                        "--divide",
                        divide,
                    ],
                );
            }
        }
        assert_valid_set_of(&input);
    }
}

/// Checks what is built of `input` with the schemas and with `check`.
#[track_caller]
fn assert_valid_set_of(input: &Path) {
    let directory = TempDir::new();
    let out = directory.join("out");
    finish(build_command(&out, BASE).arg(input), b"").expect(0);
    assert_valid_set(&out, BASE, "0.9");
    finish(sitemill().args(["check", "--quiet"]).arg(&out), b"").expect(0);
}

#[test]
fn links_and_images_of_a_set_survive_urls_and_build() {
    let directory = TempDir::new();
    let row = format!(
        r#"{{"loc":"{BASE}a","priority":0.50,"alternates":{{"de":"{BASE}de?a&b","x-default":"{BASE}"}},"images":"{BASE}i.png"}}"#
    );
    let input = directory.file("pages.jsonl", row);
    check_round_trip(&input, &[]);
    // Image proxies have URLs in their URLs. As texts, they would be lists of images.
    let proxied = [",http://z.example/", ";HTTPS://z.example/"].map(|other| format!("{BASE}u?v={other}"));
    let images: Vec<Value> = proxied.iter().map(|loc| json!({ "loc": loc })).collect();
    let row = json!({ "loc": format!("{BASE}a"), "images": images });
    let input = directory.file("proxied.jsonl", row.to_string());
    check_round_trip(&input, &["--max-dropped-tags", "0"]);
    // The tags of one URL exceed the length of a text line: nothing is cut or refused.
    let images: Vec<String> = (0..1_000).map(|n| format!("{BASE}image/{n}?{}", "x".repeat(100))).collect();
    let links: Vec<Value> =
        (0..1_500).map(|n| json!({ "hreflang": "de", "href": format!("{BASE}de/{n}") })).collect();
    let row = json!({ "loc": format!("{BASE}a"), "images": images, "alternates": links });
    let input = directory.file("long.jsonl", row.to_string());
    check_round_trip(&input, &[]);
    let out = directory.join("out");
    finish(build_command(&out, BASE).arg(&input), b"").expect(0);
    let (_, xml) = published(&out, BASE).remove(1);
    assert_eq!((xml.matches("<image:loc>").count(), xml.matches("<xhtml:link ").count()), (1_000, 1_500));
}

#[test]
fn lines_that_earlier_versions_of_urls_wrote_are_read() {
    let directory = TempDir::new();
    let (old, new) = (directory.join("old"), directory.join("new"));
    let line = |key: &str| format!(r#"{{"{key}":[{{"href":"{BASE}de","hreflang":"de"}}],"loc":"{BASE}a"}}"#);
    finish(&mut build_command(&old, BASE), line("links").as_bytes()).expect(0);
    finish(&mut build_command(&new, BASE), line("alternates").as_bytes()).expect(0);
    assert!(contents(&old) == contents(&new));
    assert!(published(&old, BASE)[1].1.contains("hreflang=\"de\""));
    assert_valid_set(&old, BASE, "0.9");
}

#[test]
fn foreign_values_that_would_break_a_row_are_quoted_and_read_back_unchanged() {
    let directory = TempDir::new();
    let xml = format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
         <url><loc>{BASE}a</loc><lastmod>2024&#9;05\n01</lastmod><changefreq>\"daily\"</changefreq></url>\
         <url><loc>\"{BASE}b\"</loc><priority>0.5</priority></url></urlset>"
    );
    let sitemap = directory.file("theirs.xml", xml);
    let rejects_of = |name: &str, input: &[u8], arguments: &[&Path]| {
        let rejects = directory.join(name).with_extension("tsv");
        let mut build = build_command(&directory.join(name), BASE);
        finish(build.args(arguments).arg("--rejects").arg(&rejects), input).expect(0);
        let rejects = fs::read_to_string(rejects).unwrap();
        let columns = |row: &str| row.split('\t').skip(3).map(str::to_owned).collect::<Vec<_>>();
        rejects.lines().skip(1).map(columns).collect::<Vec<_>>()
    };
    let want = rejects_of("sitemap", b"", &[&sitemap]);
    let said: Vec<_> = want.iter().map(|row| row[1].as_str()).collect();
    assert_eq!(said, [r"2024\t05\n01", "\"daily\"", &format!("\"{BASE}b\"")]);
    for form in ["--tsv", "--json"] {
        let written = finish(sitemill().args(["urls", "--quiet", form]).arg(&sitemap), b"").expect(0).stdout;
        assert_eq!(rejects_of(form, &written, &[]), want, "{form}");
    }
    assert_eq!(published_urls(&directory.join("--tsv"), BASE), [format!("{BASE}a")]);
}

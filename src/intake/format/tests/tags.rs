//! Tags of rows, and rows with tags but without a URL.

use super::*;

fn rows(name: &str, text: &str, options: &FormatOptions) -> Vec<String> {
    let (_, rows) = read_all(name, text.as_bytes(), options).unwrap();
    // Offsets are tested elsewhere.
    rows.iter().map(|row| row.split_once(' ').unwrap().1.to_owned()).collect()
}

#[test]
fn a_json_tag_of_the_wrong_type_becomes_invalid_and_its_url_stays_a_record() {
    for (tags, want) in [
        (r#""priority":true,"changefreq":5,"lastmod":{}"#, "{}|5|true"),
        (r#""priority":"0.5","lastmod":["2024-05-01"]"#, r#"["2024-05-01"]||0.5"#),
        (r#""priority":0.50,"lastmod":1714558830"#, "1714558830||0.50"),
        (r#""lastmod":"\ud800","priority":null"#, r#""\\ud800"||"#),
        (r#""priority":0.5,"priority":0.7"#, "||0.5 | 0.7"),
        (r#""priority":null,"priority":0.7"#, "||0.7"),
        (r#""priority":0.5,"priority":" ","priority":null"#, "||0.5"),
        (r#""priority":" ","priority":0.7"#, "||0.7"),
        (r#""images":[{"loc":"i"},{"url":"j"},"k",7]"#, "|| image=i image=j image=k image=7"),
        (r#""images":"i""#, "|| image=i"),
        (r#""images":{"loc":"i"}"#, "|| image=i"),
        (r#""images":[],"alternates":null"#, "||"),
        (r#""alternates":{"de":"d","fr":"f"}"#, "|| de=d fr=f"),
        (r#""alternates":[{"lang":"de","url":"d"}]"#, "|| de=d"),
        (r#""alternates":{"hreflang":"de","href":"d"}"#, "|| de=d"),
        (r#""alternates":"d""#, r#"|| link="d""#),
        // The key of earlier versions, and this key with other values.
        (r#""links":[{"href":"d","hreflang":"de"}]"#, "|| de=d"),
        (r#""links":["http://h.example/"]"#, "||"),
        (r#""links":12"#, "||"),
    ] {
        let line = format!("{{\"loc\":\"u\",{tags}}}\n");
        assert_eq!(rows("-", &line, &FormatOptions::default()), [format!("u|{want}")], "{line}");
    }
}

#[test]
fn two_urls_in_one_row_are_a_bad_row() {
    let none = FormatOptions::default();
    let line = r#"{"url":"a","url":"b"}"#;
    assert_eq!(rows("-", line, &none), [format!("!bad-row {line}")]);
    // The name with the better rank counts.
    assert_eq!(rows("-", r#"{"url":"a","loc":"b","url":"c"}"#, &none), ["b|||"]);
    let xml = "<urlset><url><loc>a</loc><loc> b&amp;</loc></url><url><loc>a</loc><loc/></url></urlset>";
    let want = ["!bad-row <loc>a</loc><loc> b&</loc>", "!bad-row <loc>a</loc><loc></loc>"];
    assert_eq!(rows("-", xml, &none), want);
}

#[test]
fn a_format_without_columns_is_named_if_one_has_the_sections() {
    let options = FormatOptions {
        columns: FormatOptions::default().columns.with_section("type").unwrap(),
        ..FormatOptions::default()
    };
    for (text, what) in [
        ("http://h.example/", "text"),
        ("<urlset/>", "a sitemap"),
        ("<rss/>", "an RSS feed"),
        ("<feed/>", "an Atom feed"),
    ] {
        check_refused(&options, "-", text, &format!("is {what}, which has no columns; "));
    }
}

#[test]
fn a_section_that_is_not_unicode_is_a_bad_row() {
    let options = FormatOptions {
        columns: FormatOptions::default().columns.with_section("type").unwrap(),
        ..FormatOptions::default()
    };
    let [whole, half] = [r#"{"url":"u","type":"\ud83d\ude00"}"#, r#"{"url":"u","type":"\ud83d"}"#];
    assert_eq!(
        rows("-", &format!("{whole}\n{half}\n"), &options),
        ["u|||", &format!("!bad-row {}", half.replace('\\', "\\\\"))]
    );
}

#[test]
fn a_tag_given_twice_in_an_entry_becomes_invalid() {
    let url = "<url><loc>u</loc><lastmod>2024-05-01</lastmod><lastmod>2024-05-02</lastmod>\
               <changefreq>daily</changefreq></url>";
    let xml = format!("<urlset>{url}{url}</urlset>");
    assert_eq!(rows("-", &xml, &FormatOptions::default()), ["u|2024-05-01 | 2024-05-02|daily|"; 2]);
}

#[test]
fn an_empty_tag_beside_one_with_a_value_is_no_second_value() {
    let section = Columns::default().with_section("type").unwrap();
    let options = FormatOptions { columns: section, ..FormatOptions::default() };
    for text in [
        r#"{"url":"u","lastmod":"1","lastmod":"","type":"a","type":""}"#,
        r#"{"url":"u","lastmod":"","lastmod":"1","type":" ","type":"a"}"#,
        "u lastmod=1 lastmod= type=a type=\n",
    ] {
        assert_eq!(rows("-", text, &options), ["u|1||"], "{text}");
    }
    for text in [
        "<urlset><url><loc>u</loc><lastmod>1</lastmod><lastmod> </lastmod><lastmod/></url></urlset>",
        "<urlset><url><loc>u</loc><lastmod/><lastmod> </lastmod><lastmod>1</lastmod></url></urlset>",
        "<urlset><!-- not plain --><url><loc>u</loc><lastmod>1</lastmod><lastmod/></url></urlset>",
        "<feed><entry><link href='u'/><updated>1</updated><updated/></entry></feed>",
        "<feed><entry><link href='u'/><updated/><updated>1</updated></entry></feed>",
    ] {
        assert_eq!(rows("-", text, &FormatOptions::default()), ["u|1||"], "{text}");
    }
}

#[test]
fn a_row_without_a_url_is_blank_only_if_it_is_empty() {
    let none = FormatOptions::default();
    let csv = "id,url,lastmod\n7,,\n , ,\n,\"\",2024\n,,\n";
    assert_eq!(rows("-", csv, &none), ["!no-url 7,,", " |||", r#"!no-url ,"",2024"#, "|||"]);
    // A blank row may have any number of values.
    for (text, blank) in [("loc,lastmod\nu,\n  \n\t\n,\n,,,\n", 4), ("loc\tlastmod\n \n\t\t\nu\t\n", 2)] {
        let rows = rows("-", text, &none);
        assert_eq!(rows.iter().filter(|row| **row == "|||").count(), blank, "{rows:?}");
        assert_eq!(rows.len(), blank + 1, "{rows:?}");
    }
    let jsonl =
        "{\"url\":null,\"id\":7}\n{\"url\":null,\"id\":null,\"x\":[]}\n{\"url\":\"\"}\n{}\n\n{\"id\":7}\n";
    let want = [r#"!no-url {"url":null,"id":7}"#, "|||", "|||", "|||", "|||", r#"!no-url {"id":7}"#];
    assert_eq!(rows("-", jsonl, &none), want);
    // White space is judged, because not all of it is blank.
    for (format, text) in [
        (
            "jsonl",
            "{\"url\":\"\\r\",\"lastmod\":null}\n{\"url\":\"\\t\",\"id\":\"\\n\"}\n{\"url\":\"\\r\",\"id\":7}\n",
        ),
        ("csv", "url,id\n\"\r\",\n\"\t\", \n\"\r\",7\n"),
    ] {
        let rows = rows("-", text, &none);
        assert_eq!(rows[..2], [r"\r|||", r"\t|||"], "{format}");
        assert!(rows[2].starts_with("!no-url "), "{format}");
    }
    assert_eq!(rows("-", r#"{"url":"","images":["",null],"id":[]}"#, &none), ["|||"]);
    // An empty key does not hide the other one.
    for line in [r#"{"loc":null,"url":"u"}"#, r#"{"loc":" ","url":"u"}"#, r#"{"url":"u","loc":""}"#] {
        assert_eq!(rows("-", line, &none), ["u|||"], "{line}");
    }
    // Objects without keys do not show which keys there are.
    assert_eq!(rows("-", "{}\n\n{ }\n{\"url\":\"u\"}", &none), ["|||", "|||", "|||", "u|||"]);
    assert_eq!(rows("-", "{}\n", &none), ["|||"]);
    check_refused(&none, "-", "{}\n\n{\"id\":7}\n", "line 3: no key loc or url, only: id;");
    // The first line with keys is partly beyond the head.
    let many = "{}\n".repeat(LINE_BYTES_MAX / 3) + r#"{"url":"u"}"#;
    assert_eq!(rows("-", &many, &none).last().unwrap(), "u|||");
    let xml = "<urlset><url/><url><loc> </loc><lastmod/></url><url><loc/><priority>1</priority></url>\
               <url><video:video/></url><url><link rel='alternate' hreflang='de' href='d'/></url></urlset>";
    assert_eq!(rows("-", xml, &none), ["|||", "|||", "!no-url priority=1", "!no-url ", "!no-url de=d"]);
}

#[test]
fn columns_of_tables_hold_links_and_images_as_json_or_one_url() {
    let csv = "loc,images,alternates\n\
               u,i,\n\
               u,\"[\"\"i\"\",\"\"j\"\"]\",\"{\"\"de\"\":\"\"d\"\"}\"\n\
               u,,nonsense\n";
    let want = ["u||| image=i", "u||| de=d image=i image=j", "u||| link=nonsense"];
    assert_eq!(rows("-", csv, &FormatOptions::default()), want);
    let named = columns("url=page,images=picture");
    assert_eq!(rows("a.csv", "picture,page\ni,u\n", &named), ["u||| image=i"]);
    check_refused(&named, "a.csv", "page\nu\n", "row 1: no column picture, only: page;");
}

#[test]
fn a_line_of_json_may_be_as_long_as_a_row_of_a_table() {
    let images = |count: usize| {
        let urls = vec![format!("\"{}\"", "x".repeat(9_997)); count];
        format!("{{\"loc\":\"u\",\"images\":[{}]}}\n", urls.join(","))
    };
    struct Images(Vec<String>);
    impl Sink for Images {
        fn record(&mut self, record: &Record<'_>) -> Result<()> {
            self.0.push(record.extras.values().count().to_string());
            Ok(())
        }
        fn bad_row(&mut self, _: u64, _: u64, reason: Reason, text: &[u8]) -> Result<()> {
            assert_eq!(text.len(), LINE_BYTES_MAX + 1);
            self.0.push(reason.as_str().into());
            Ok(())
        }
    }
    let mut seen = Images(Vec::new());
    let text = images(1_000) + &images(1_800) + &images(1);
    let raw = RawInput::Stream(Box::new(Cursor::new(text.into_bytes())));
    super::super::read(Path::new("-"), raw, &FormatOptions::default(), &mut seen).unwrap();
    assert_eq!(seen.0, ["1000", "too-long", "1"]);
}

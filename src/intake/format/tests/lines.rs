//! Formats of lines that are recognised by more than their first line.

use super::*;

#[test]
fn lines_of_the_first_generator_are_known_by_their_attributes() {
    let text = "http://h.example/a lastmod=2005-06-03T04:20-08:00  changefreq=daily priority=0.8\n\
                # a comment\nhttp://h.example/b\nhttp://h.example/c lastmod=x=y\nhttp://h.example/d f\n";
    let want = [
        "1@0 http://h.example/a|2005-06-03T04:20-08:00|daily|0.8",
        "2@81 |||",
        "3@93 http://h.example/b|||",
        "4@112 http://h.example/c|x=y||",
        "5@143 !bad-row http://h.example/d f",
    ];
    check("-", text, Format::Google, &want);
    // Other attributes are not used.
    let text = "http://h.example/a lastmod=2024 priority=0.5 type=products\nhttp://h.example/b x_id=1 lastmod=2024\n\
                http://h.example/c type=blog\nhttp://h.example/d lastmod=2024 http://h.example/e?x=1\n";
    let want = [
        "1@0 http://h.example/a|2024||0.5",
        "2@59 http://h.example/b|2024||",
        "3@98 http://h.example/c|||",
        "4@127 !bad-row http://h.example/d lastmod=2024 http://h.example/e?x=1",
    ];
    check("-", text, Format::Google, &want);
    // A space in a URL alone does not make it one.
    check("-", "http://h.example/a b=c\n", Format::Text, &["1@0 http://h.example/a b=c|||"]);
    let plain = ["1@0 http://h.example/a lastmod=2024|||"];
    check_with(&said(Format::Text), "-", b"http://h.example/a lastmod=2024", Format::Text, &plain);
    check_with(&said(Format::Google), "-", b"h:/a\n", Format::Google, &["1@0 h:/a|||"]);
    // The first line that shows the format may come later, and may be relative.
    for text in [
        "http://h.example/a\nhttp://h.example/b lastmod=2024-05-01\n",
        "# pages\nhttp://h.example/b changefreq=daily\n",
        "/a\n/b priority=0.3\nhttp://h.example/a b\n",
    ] {
        assert_eq!(
            read_all("-", text.as_bytes(), &FormatOptions::default()).unwrap().0.format,
            Format::Google,
            "{text}"
        );
    }
    let table = "url,title\nhttp://h.example/a,priority\nhttp://h.example/b,its priority=1\n";
    assert_eq!(read_all("-", table.as_bytes(), &FormatOptions::default()).unwrap().0.format, Format::Csv);
}

#[test]
fn an_attribute_given_twice_is_invalid() {
    let twice = ["lastmod=2024-05-01 lastmod=2024-05-02", "priority=0.3 changefreq=daily priority=0.3"];
    let text = twice.map(|tags| format!("http://h.example/ {tags}")).join("\n");
    let want = [
        format!("1@0 http://h.example/|http://h.example/ {}||", twice[0]),
        format!("2@56 http://h.example/||daily|http://h.example/ {}", twice[1]),
    ];
    check("-", &text, Format::Google, &want.each_ref().map(|row| &**row));
    let by_section = FormatOptions {
        columns: Columns::default().with_section("type").unwrap(),
        ..FormatOptions::default()
    };
    let text = "/a type=x\n/b type=x type=y\n";
    check_with(
        &by_section,
        "-",
        text.as_bytes(),
        Format::Google,
        &["1@0 /a|||", "2@10 !bad-row /b type=x type=y"],
    );
    let twice = r#"{"url":"b","type":"x","type":"y"}"#;
    let text = format!("{{\"url\":\"a\",\"type\":null,\"type\":\"x\"}}\n{twice}\n");
    let row = format!("2@{} !bad-row {twice}", text.len() - twice.len() - 1);
    check_with(&by_section, "-", text.as_bytes(), Format::Jsonl, &["1@0 a|||", &row]);
}

#[test]
fn json_lines_are_refused_only_if_no_first_line_names_its_url() {
    for (first, reason) in [
        (r#"{"id":1}"#, "no-url"),
        (r#"{"id":1,"url":"htt"#, "bad-row"),
        (r#"{"url":"u"} {}"#, "bad-row"),
        ("null", "bad-row"),
    ] {
        let text = format!("{first}\n{{\"id\":2,\"page\":\"u\"}}\n");
        let options = FormatOptions { format: Some(Format::Jsonl), ..columns("url=page") };
        let (found, rows) = read_all("-", text.as_bytes(), &options).unwrap();
        assert!(rows[0].contains(reason) && rows[1].ends_with(" u|||") && found.rows == 2, "{rows:?}");
    }
    let none = FormatOptions::default();
    let missing = "line 1: no key loc or url, only: id; choose the ones";
    // The last line is cut at the end of the head.
    let long = format!("{{\"id\":1}}\n{{\"id\":\"{}\"}}\n", "x".repeat(LINE_BYTES_MAX));
    check_refused(&none, "a", "{\"id\":1}\n{\"id\":2}\n", missing);
    check_refused(&none, "a", long, missing);
    // Values of an array or of an object over several lines are not rows.
    check_refused(&none, "a", "[\n{\"loc\":\"u\"},\n{\"loc\":\"v\"}\n]", "line 1: is not a JSON object");
    let object = "{\n\"images\":[\n{\"loc\":\"u\"}\n]}";
    check_refused(&none, "a", object, "line 1: the JSON object does not end on its line");
    let object = "{\"id\":1,\"images\":[\n  {\"loc\":\"u\"}\n]}";
    check_refused(&none, "a", object, "line 1: the JSON object does not end on its line");
}

#[test]
fn a_key_for_the_url_that_is_no_string_counts_only_without_another() {
    check(
        "-",
        "{\"loc\":{\"lat\":1},\"url\":\"u\"}\n{\"url\":\"u\",\"loc\":5}\n{\"url\":[\"u\"],\"loc\":null}\n",
        Format::Jsonl,
        &["1@0 u|||", "2@28 u|||", r#"3@48 !bad-row {"url":["u"],"loc":null}"#],
    );
}

#[test]
fn json_objects_that_share_a_line_are_refused_with_the_command_that_separates_them() {
    let none = FormatOptions::default();
    let row = r#"{"url":"http://h.example/1"}"#;
    let long = format!(r#"{{"url":"http://h.example/1","text":"{}"}}"#, "x".repeat(LINE_BYTES_MAX));
    for (text, way_out) in [
        (row.repeat(2), "several JSON objects; expected one object per line; convert it with jq -c ."),
        // The line is cut at the end of the head.
        (row.repeat(LINE_BYTES_MAX / row.len() + 2), "convert it with jq -c ."),
        (format!("{row} {row}\n{row}{row}\n"), "convert it with jq -c ."),
        (format!("{row}, {row}\n"), "convert it with sed 's/.*/[&]/' | jq -c '.[]'"),
        (format!("{row},\n{row}, \r\n"), "remove it with sed 's/,[[:space:]]*$//'"),
        // The head ends within the first object.
        (long.repeat(2), "several JSON objects; expected one object per line; convert it with jq -c ."),
        (format!("{long},\n{long},\n"), "remove it with sed 's/,[[:space:]]*$//'"),
    ] {
        check_refused(&none, "a", &text, way_out);
        assert!(read_all("a", text.as_bytes(), &none).unwrap_err().to_string().starts_with("a: line 1: "));
    }
    // As where files without a line end were joined.
    let (_, rows) = read_all("a", format!("{row}{row}\n{row}\n").as_bytes(), &none).unwrap();
    assert!(rows[0].contains("!bad-row") && rows[1].ends_with("h.example/1|||"), "{rows:?}");
}

#[test]
fn attributes_with_a_time_or_in_capitals_are_read_and_never_become_part_of_a_url() {
    let text = "http://h.example/1 lastmod=2024-01-01 10:20:30\nhttp://h.example/2\n\
                http://h.example/3 lastmod=2024-01-01  10:20 UTC priority=0.5\n\
                http://h.example/4 LASTMOD=2024-01-01 10:20:30.5 +01:00 Priority=0.1\n\
                http://h.example/5 lastmod=2024-01-01 x\nhttp://h.example/6 lastmod= 10:20\n";
    let want = [
        "1@0 http://h.example/1|2024-01-01 10:20:30||",
        "2@47 http://h.example/2|||",
        "3@66 http://h.example/3|2024-01-01  10:20 UTC||0.5",
        "4@128 http://h.example/4|2024-01-01 10:20:30.5 +01:00||0.1",
        "5@197 !bad-row http://h.example/5 lastmod=2024-01-01 x",
        "6@237 !bad-row http://h.example/6 lastmod= 10:20",
    ];
    check("-", text, Format::Google, &want);
    // One line is enough to show the format, even if it is damaged.
    let bad = "http://h.example/a lastmod=1 May 2024\n";
    check("-", bad, Format::Google, &[&format!("1@0 !bad-row {}", bad.trim_end())]);
    let list = "http://h.example/a 10:20:30\nhttp://h.example/b my-lastmod=1\nhttp://h.example/lastmod=1\n";
    assert_eq!(read_all("-", list.as_bytes(), &FormatOptions::default()).unwrap().0.format, Format::Text);
}

#[test]
fn json_in_one_long_line_is_refused_like_a_short_one() {
    let none = FormatOptions::default();
    let array = "is not a JSON object; expected one object per line; convert an array with jq -c '.[]', or set `format`";
    let key = "no key loc or url, only: items; choose the ones to read with `columns: url=NAME,lastmod=NAME`";
    for count in [2, LINE_BYTES_MAX / 20, LINE_BYTES_MAX] {
        let row = r#"{"url":"http://h.example/1"}"#;
        let rows = vec![row; count].join(",");
        for end in ["", "\n", "\n \n\n"] {
            check_refused(&none, "a", format!("[{rows}]{end}"), &format!("line 1: {array}"));
            check_refused(&none, "a", format!("{{\"items\":[{rows}]}}{end}"), &format!("line 1: {key}"));
        }
        check_refused(&none, "a", format!("\n [{rows}]"), &format!("line 2: {array}"));
        // The next line shows that the first one is bad alone.
        let (_, found) = read_all("a", format!("{{\"items\":[{rows}]}}\n{row}\n").as_bytes(), &none).unwrap();
        assert!(found[0].contains("!no-url") && found[1].ends_with("h.example/1|||"), "{}", found[1]);
        let blank = format!("{}\n{row}\n", " ".repeat(count));
        assert_eq!(read_all("a.json", blank.as_bytes(), &none).unwrap().1.len(), 2);
    }
}

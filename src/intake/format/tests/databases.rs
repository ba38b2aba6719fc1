//! Rows as databases, data warehouses and their clients write them.

use super::tables::delimited;
use super::*;

#[test]
fn a_backslash_and_n_alone_are_a_missing_value() {
    let text = "url,lastmod,priority\nu,\\N,\\N\n\\N,2024,\\N\n\\N,\\N,\\N\n\"u\",\"\\N\",\nu,x\\N,\n";
    let want = ["2@21 u|||", "3@29 !no-url \\\\N,2024,\\\\N", "4@40 |||", "5@49 u|||", "6@59 u|x\\\\N||"];
    check("-", text, Format::Csv, &want);
}

#[test]
fn control_characters_between_values_are_detected_or_the_message_has_options_that_work() {
    let none = FormatOptions::default();
    for (byte, word) in [("\u{1}", r"\x01"), ("\u{1f}", r"\x1f")] {
        let rows = ["a,1@x", "b,2@", "c,3@y"].map(|row| format!("https://h.example/{row}\n")).concat();
        let rows = rows.replace('@', byte);
        let want = [
            "1@0 https://h.example/a,1|||".to_owned(),
            "2@24 https://h.example/b,2|||".to_owned(),
            "3@47 https://h.example/c,3|||".to_owned(),
        ];
        let way_out = format!("use `format: csv` `delimiter: {word}` `columns: url=1`");
        let text = format!("the lines are rows of a table; {way_out}, or `format: text`");
        check_refused(&none, "000000_0", &rows, &text);
        check_refused(&none, "a.csv", &rows, &way_out);
        // A single line may also be a URL that was damaged.
        let (found, _) = read_all("000000_0", rows.lines().next().unwrap().as_bytes(), &none).unwrap();
        assert_eq!(found.format, Format::Text);
        for options in [delimited("url=1", word), delimited("url=1", "")] {
            let (found, seen) = read_all("000000_0", rows.as_bytes(), &options).unwrap();
            assert_eq!((found.format, &seen[..]), (Format::Csv, &want[..]));
        }
        let table = format!("lastmod{byte}url\n2024{byte}u\n");
        check_with(&none, "-", table.as_bytes(), Format::Csv, &["2@12 u|2024||"]);
    }
}

#[test]
fn a_quote_that_a_backslash_leaves_open_is_explained() {
    let none = FormatOptions::default();
    let open = "line 2: the row goes on to the end of the file: most likely";
    let escaped = format!("{open}, quotes are escaped with a backslash");
    check_refused(
        &none,
        "a.csv",
        r#"url,title
u,"24\""
"#,
        &escaped,
    );
    check_refused(&none, "a.csv", "url,title\nu,\"24\n", &format!("{open} a quote that is never closed"));
}

#[test]
fn numbers_that_are_not_finite_are_null_in_json_lines() {
    check(
        "-",
        concat!(
            r#"{"rating":NaN,"url":"u"}"#,
            "\n",
            r#"{"url":"NaN\"NaN","priority": -Infinity,"x":[NaN,Infinity,{"y":NaN}]}"#,
            "\n",
            r#"{"url":NaN,"lastmod":"2024"}"#,
            "\n",
            r#"{"url":"u","x":NaNa}"#,
            "\n",
            r#"{"url":"u","x":nan}"#,
        ),
        Format::Jsonl,
        &[
            "1@0 u|||",
            "2@25 NaN\"NaN|||",
            r#"3@95 !no-url {"url":NaN,"lastmod":"2024"}"#,
            r#"4@124 !bad-row {"url":"u","x":NaNa}"#,
            r#"5@145 !bad-row {"url":"u","x":nan}"#,
        ],
    );
    // They do not hide what is wrong with the keys.
    let none = FormatOptions::default();
    check_refused(&none, "a", r#"{"page":"u","n":NaN}"#, "line 1: no key loc or url, only: page, n; choose");
}

#[test]
fn a_key_of_an_object_in_json_lines_is_named_with_dots() {
    let (first, second) = (
        r#"{"_id":{"$oid":"1"},"_source":{"URL":"u","changed":{"$date":{"$numberLong":"9"}},"n":1}}"#,
        r#"{"_source":{"url":"v","changed":null}}"#,
    );
    let text = format!("{first}\n{second}\n{{\"_source\":null}}\n{{\"_source\":\"u\"}}\n");
    let none = FormatOptions::default();
    let missing =
        "line 1: no key loc or url, only: _id.$oid, _source.URL, _source.changed, _source.n; choose";
    check_refused(&none, "a", &text, missing);
    let options = columns("url=_source.url,lastmod=_source.changed.$date.$numberLong");
    let want = [
        "1@0 u|9||".to_owned(),
        format!("2@{} v|||", first.len() + 1),
        format!("3@{} |||", first.len() + second.len() + 2),
    ];
    let (_, rows) = read_all("-", text.as_bytes(), &options).unwrap();
    assert_eq!(rows[..3], want);
    assert!(rows[3].ends_with(r#" !no-url {"_source":"u"}"#), "{}", rows[3]);
    // A key may have a dot itself, and a URL for which only another tag is named is still missing.
    check_with(&columns("url=a.b"), "-", br#"{"a.b":"u"}"#, Format::Jsonl, &["1@0 u|||"]);
    check_refused(
        &columns("lastmod=a.b"),
        "a",
        r#"{"a":{"b":"2024"}}"#,
        "line 1: no key loc or url, only: a.b",
    );
}

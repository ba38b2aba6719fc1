//! Rows as databases, data warehouses and their clients write them.

use super::*;

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

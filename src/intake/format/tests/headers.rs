//! Headers: what precedes one, rows that are one, and names that occur twice.

use super::tables::delimited;
use super::*;

#[test]
fn a_line_that_names_the_delimiter_and_comments_may_precede_the_header() {
    let none = FormatOptions::default();
    for (text, format, row) in [
        ("sep=;\r\nurl;lastmod\r\nu,1;2024", Format::Csv, "3@20 u,1|2024||"),
        ("\u{feff}\"sep=,\"\nurl,a;b;c\nu,1", Format::Csv, "3@21 u|||"),
        ("sep=\t\nloc\tx\nu\t1", Format::Tsv, "3@12 u|||"),
        ("sep=~\nloc~x\nu~1", Format::Csv, "3@12 u|||"),
        ("# exported; a, b, c\n#\n\nurl;lastmod\nu;2024", Format::Csv, "5@35 u|2024||"),
    ] {
        check_with(&none, "-", text.as_bytes(), format, &[row]);
        check_with(&none, "a.csv", text.as_bytes(), format, &[row]);
    }
    let by_name = delimited("url=url,lastmod=day", "");
    check_with(&by_name, "-", b"# urls\nurl,day\nu,2024\n", Format::Csv, &["3@15 u|2024||"]);
    let rows = b"# urls\nsep=;\nhttps://h.example/a;2024\n";
    check_with(
        &delimited("url=1,lastmod=2", ";"),
        "-",
        rows,
        Format::Csv,
        &["3@13 https://h.example/a|2024||"],
    );
    let want = "use `format: csv` `delimiter: ;` `columns: url=page,lastmod=day`";
    check_refused(&none, "a.csv", "# x\npage;day\nhttps://h.example/a;2025-11-21\n", want);
    // Many exports have a column whose name begins with `#`.
    check_with(&none, "a.csv", b"#id;url\n1;u\n", Format::Csv, &["2@8 u|||"]);
    check_with(&none, "a.csv", b"# id,url\n1,u\n", Format::Csv, &["2@9 u|||"]);
}

#[test]
fn a_header_that_is_repeated_is_a_bad_row() {
    check(
        "-",
        "url,lastmod\nu,2024\nurl,lastmod\nurl,2024\n",
        Format::Csv,
        &["2@12 u|2024||", "3@19 !bad-row url,lastmod", "4@31 url|2024||"],
    );
    // By another exporter, and after the byte order mark of a file that was joined.
    for again in ["\"url\",\"lastmod\"", "url, lastmod", "\u{feff}url,lastmod", "\u{feff}\"url\",\"lastmod\""]
    {
        let text = format!("url,lastmod\nu,2024\n{again}\n");
        let rows = [
            "2@12 u|2024||".to_owned(),
            format!("3@19 !bad-row {}", crate::escape::cut(again.as_bytes(), 100)),
        ];
        let (_, found) = read_all("-", text.as_bytes(), &FormatOptions::default()).unwrap();
        assert_eq!(found, rows);
    }
}

#[test]
fn with_positions_a_header_is_a_bad_row_whatever_its_width() {
    for (text, rows) in [
        ("url;x\nhttp://h.example/;2024\n", &["1@0 !bad-row url;x", "2@6 http://h.example/|2024||"][..]),
        ("page;x\n/a;2024\n/b;\n", &["1@0 !bad-row page;x", "2@7 /a|2024||", "3@15 /b|||"]),
        // As in joined files.
        (
            "page;x\n/a;2024\n\"page\";x\n",
            &["1@0 !bad-row page;x", "2@7 /a|2024||", "3@15 !bad-row \"page\";x"],
        ),
        ("url\nhttp://h.example/;2024\n", &["1@0 !bad-row url", "2@4 http://h.example/|2024||"]),
        ("url;x;\n/a;2024\n", &["1@0 !bad-row url;x;", "2@7 /a|2024||"]),
        ("# exported\nsep=;\n/a;2024\n/b;\n", &["3@17 /a|2024||", "4@25 /b|||"]),
        // The second row shows that URLs are relative.
        ("a;2024\nb;2025\n/c;\n", &["1@0 a|2024||", "2@7 b|2025||", "3@14 /c|||"]),
    ] {
        check_with(&delimited("url=1,lastmod=2", ";"), "-", text.as_bytes(), Format::Csv, rows);
    }
}

#[test]
fn two_columns_of_the_same_name_are_refused_if_they_are_read() {
    let none = FormatOptions::default();
    let want = "row 1: two columns are named lastmod; rename the one that should not be read";
    check_refused(&none, "-", "url,lastmod,LASTMOD\nu,1,2\n", want);
    check_refused(&none, "a.csv", "url,url,x\nu,v,1\n", "row 1: two columns are named url; rename");
    let by_name = delimited("lastmod=day", "");
    check_refused(&by_name, "-", "url,day,Day\nu,1,2\n", "row 1: two columns are named day; rename");
    check("-", "url,id,id,loc\nu,1,2,v\n", Format::Csv, &["2@14 v|||"]);
}

#[test]
fn with_positions_a_header_is_known_if_values_have_line_ends_or_a_row_another_width() {
    for (text, rows) in [
        ("page,t\n/a,\"x\ny\"\n/b,\"x\ny\"\n", &["1@0 !bad-row page,t", "2@7 /a|||", "4@16 /b|||"][..]),
        ("\"pa\nge\",t\n/a,x\n", &["1@0 !bad-row \"pa\\nge\",t", "3@10 /a|||"]),
        ("page,t\n/a,x,y\n/b,x\n", &["1@0 !bad-row page,t", "2@7 !bad-row /a,x,y", "3@14 /b|||"]),
        // Every row has a value without a name.
        ("page,t\n/a,x,y\n/b,x,y\n", &["1@0 !bad-row page,t", "2@7 /a|||", "3@14 /b|||"]),
        (" \n/a,x\n/b,y\n", &["1@0 |||", "2@2 /a|||", "3@7 /b|||"]),
    ] {
        check_with(&delimited("url=1", ","), "-", text.as_bytes(), Format::Csv, rows);
    }
}

#[test]
fn with_positions_a_row_that_begins_like_a_comment_is_a_row_if_its_url_is_in_its_place() {
    let text = "# 1 in sales,/a\n# 2 in sales,/b\nother,/c\n";
    let rows = ["1@0 /a|||", "2@16 /b|||", "3@32 /c|||"];
    check_with(&delimited("url=2", ""), "a.csv", text.as_bytes(), Format::Csv, &rows);
    // A comment has another number of values than the rows, or no URL.
    let text = "# from,/export\n# a,b,c\nother,/c,x\n";
    check_with(&delimited("url=2", ""), "a.csv", text.as_bytes(), Format::Csv, &["3@23 /c|||"]);
}

#[test]
fn blank_rows_may_precede_a_header() {
    let none = FormatOptions::default();
    for blank in [" \n", "\t\r\n", "\n \n"] {
        let text = format!("{blank}url,lastmod\nu,2024\n");
        let (found, rows) = read_all("-", text.as_bytes(), &none).unwrap();
        assert!(found.format == Format::Csv && rows.len() == 1 && rows[0].ends_with(" u|2024||"), "{rows:?}");
    }
    check_with(&none, "a.csv", b",,\nurl,lastmod,x\nu,2024,y\n", Format::Csv, &["3@17 u|2024||"]);
}

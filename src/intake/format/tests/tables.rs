//! Tables: their delimiters and headers, and texts that are not tables.

use super::*;

pub(super) fn delimited(columns: &str, delimiter: &str) -> FormatOptions {
    let columns = if columns.is_empty() { Columns::default() } else { columns.parse().unwrap() };
    let delimiter = if delimiter.is_empty() { None } else { Some(delimiter.parse().unwrap()) };
    FormatOptions { columns, delimiter, ..FormatOptions::default() }
}

#[test]
fn the_header_shows_the_delimiter() {
    for (text, format, row) in [
        ("url;lastmod;name\nu,1;2024;x", Format::Csv, "2@17 u,1|2024||"),
        ("name|LOC|priority\r\nx|u;1|0.5", Format::Csv, "2@19 u;1|||0.5"),
        ("\u{feff}\"url\";\"lastmod\"\r\n\"u;1\";\"2024\"", Format::Csv, "2@20 u;1|2024||"),
        ("\"x;y\",url\n1,u", Format::Csv, "2@10 u|||"),
        ("url\tname,loc;x\nu\t1", Format::Tsv, "2@15 u|||"),
        ("\n\r\nurl;lastmod\nu;2024", Format::Csv, "4@15 u|2024||"),
        ("\"URL\"\nu;1", Format::Csv, "2@6 u;1|||"),
        // European decimal commas and dates: not valid in tags, but values of a table.
        ("url;priority;lastmod\nu;0,8;21.11.2025", Format::Csv, "2@21 u|21.11.2025||0,8"),
    ] {
        check_with(&FormatOptions::default(), "-", text.as_bytes(), format, &[row]);
    }
}

#[test]
fn any_ascii_character_can_be_set_as_the_delimiter() {
    for (word, byte) in
        [(";", ';'), ("|", '|'), ("tab", '\t'), ("\\t", '\t'), (" ", ' '), ("~", '~'), ("\u{1}", '\u{1}')]
    {
        let text = format!("id{byte}url{byte}lastmod\n1{byte}\"u{byte}\"{byte}2024\n2{byte}v\n");
        let options = delimited("", word);
        let format = if byte == '\t' { Format::Tsv } else { Format::Csv };
        let (found, rows) = read_all("-", text.as_bytes(), &options).unwrap();
        let shown = crate::escape::shown(format!("u{byte}").as_bytes());
        assert_eq!(
            (found.format, rows.len(), &*rows[0]),
            (format, 2, &*format!("2@15 {shown}|2024||")),
            "{word}"
        );
        assert!(rows[1].contains("!bad-row"), "{word}: {}", rows[1]);
    }
    // The header may show another delimiter.
    check_refused(
        &delimited("", ";"),
        "a",
        "url,x;y\nu,1;2",
        "row 1: no column loc or url, only: url,x, y; choose the ones",
    );
    // A plain list that is read together with tables stays a plain list.
    check_with(
        &delimited("", ";"),
        "-",
        b"http://h.example/a,b",
        Format::Text,
        &["1@0 http://h.example/a,b|||"],
    );
}

#[test]
fn positions_select_columns_without_a_header() {
    let by_positions = |positions: &str, delimiter: &str, text: &str, want: &[&str]| {
        check_with(&delimited(positions, delimiter), "-", text.as_bytes(), Format::Csv, want);
    };
    let text = "http://h.example/a;x;2024\n\"http://h.example/b;c\";y\";\nhttp://h.example/d;2024\n";
    let rows = [
        "1@0 http://h.example/a|2024||",
        "2@26 http://h.example/b;c|||",
        "3@53 !bad-row http://h.example/d;2024",
    ];
    by_positions("url=1,lastmod=3", ";", text, &rows);
    by_positions("url=1,lastmod=3", "", "http://h.example/a;x;2024\n", &rows[..1]);
    by_positions(
        "lastmod=1,url=2",
        "",
        "\u{feff}2024,http://h.example/a,x\r\n\r\n",
        &["1@3 http://h.example/a|2024||"],
    );
    by_positions("url=1", "", "http://h.example/a|x\n", &["1@0 http://h.example/a|||"]);
    // A single row may be a relative URL.
    by_positions("url=1", ";", "url;x\n", &["1@0 url|||"]);
    by_positions("url=1", ";", "about;x\nimprint;y\n", &["1@0 about|||", "2@8 imprint|||"]);
    // One column without quotes is a plain list.
    let list = b"http://h.example/a,b\nhttp://h.example/c";
    let lines = ["1@0 http://h.example/a,b|||", "2@21 http://h.example/c|||"];
    check_with(&delimited("url=1", ""), "-", list, Format::Text, &lines);
    check_refused(
        &delimited("url=1,lastmod=3", ";"),
        "a",
        "u;2024",
        "row 1: `columns` names value 3, and the row has 2;",
    );
    check_refused(
        &delimited("url=1,lastmod=2", ""),
        "a",
        "u",
        "row 1: `columns` names value 2, and the row has 1;",
    );
    let of_section = |columns: &str| {
        let options = delimited(columns, ",");
        FormatOptions { columns: options.columns.with_section("3").unwrap(), ..options }
    };
    for (columns, says) in [
        (
            "url=1",
            "`section_column` names value 3, and the row has 2; correct `section_column` or `delimiter`",
        ),
        ("url=1,lastmod=4", "`columns` names value 4, and the row has 2; correct `columns` or `delimiter`"),
    ] {
        check_refused(&of_section(columns), "a.csv", "u,x", &format!("row 1: {says}"));
    }
    let both = "http://h.example/a;0,8\n";
    check_refused(
        &delimited("url=1", ""),
        "a",
        both,
        "values may be separated by ';' or ,; set it with `delimiter`",
    );
    // In JSON a number is a name.
    check_with(&delimited("url=1", ""), "-", b"{\"1\":\"u\"}", Format::Jsonl, &["1@0 u|||"]);
}

#[test]
fn a_first_line_with_a_url_is_not_a_header() {
    for first in [
        "https://h.example/x?fields=id,url",
        "https://h.example/x;url",
        "https://h.example/x|loc",
        "https://h.example/x\turl",
        "/search?fields=id,url",
        "www.h.example/search?fields=id,url",
        "# urls of shops, by,url",
        "url",
        "URL ",
    ] {
        let text = format!("{first}\nhttps://h.example/a,b\nhttps://h.example/c");
        let (found, rows) = read_all("-", text.as_bytes(), &FormatOptions::default()).unwrap();
        assert_eq!((found.format, rows.len()), (Format::Text, 3), "{first}");
    }
}

#[test]
fn rows_without_a_header_are_refused_with_the_options_that_read_them() {
    let none = FormatOptions::default();
    for (rows, options) in [
        (
            "https://h.example/a;2025-11-21;Schuh\nhttps://h.example/b;2025-11-20;Hut\n",
            "`delimiter: ;` `columns: url=1,lastmod=2`",
        ),
        ("https://h.example/a,b;21.11.2025 10:20\n", "`delimiter: ;` `columns: url=1,lastmod=2`"),
        ("https://h.example/a,x y,2025-11-21T10:20:30Z\n", "`delimiter: ,` `columns: url=1,lastmod=3`"),
        ("https://h.example/a|2025-11-21\n", "`delimiter: |` `columns: url=1,lastmod=2`"),
        ("https://h.example/a\tx\nhttps://h.example/b\ty\n", "`delimiter: tab` `columns: url=1`"),
        ("1;https://h.example/a;b\n2;https://h.example/c;d\n", "`delimiter: ;` `columns: url=2`"),
        ("page;day\nhttps://h.example/a;2025-11-21\n", "`delimiter: ;` `columns: url=page,lastmod=day`"),
        ("url\nhttps://h.example/a;2025-11-21\n", "`delimiter: ;` `columns: url=1,lastmod=2`"),
        // A name with a comma cannot be given.
        ("page;last,day\nhttps://h.example/a;2025-11-21\n", "`delimiter: ;` `columns: url=1,lastmod=2`"),
        // Nor can an empty one, or one of two equal ones.
        (",lastmod\nhttps://h.example/a,2025-11-21\n", "`delimiter: ,` `columns: url=1,lastmod=2`"),
        ("page,page\nhttps://h.example/a,2025-11-21\n", "`delimiter: ,` `columns: url=1,lastmod=2`"),
        // Without the header, the rows might be URLs.
        ("Address,Status Code\nhttps://h.example/a,200\n", "`delimiter: ,` `columns: url=Address`"),
        (
            "Address|Status\nhttps://h.example/a|200\nhttps://h.example/b|404\n",
            "`delimiter: |` `columns: url=Address`",
        ),
    ] {
        let want = format!("the lines are rows of a table; use `format: csv` {options}, or `format: text`");
        check_refused(&none, "a.txt", rows, &want);
        let error = read_all("a.csv", rows.as_bytes(), &none).unwrap_err().to_string();
        assert!(
            error.starts_with("a.csv: row 1: ") && error.ends_with(&format!("use `format: csv` {options}")),
            "{error}"
        );
    }
    for rows in [
        "http://h.example/x?fields=id,url\nhttp://h.example/y\n",
        "www.h.example/x?fields=id,url\nwww.h.example/y\n",
        "/x?fields=id,url\n/y\n",
    ] {
        let want = "row 1: has a URL, so it does not look like a header; if there is no header, use `columns: url=1`; if this is \
                    the header, `columns: url=NAME`; if every line is a URL, use `format: text`";
        check_refused(&none, "a.csv", rows, want);
        check_refused(&said(Format::Csv), "a", rows, want);
    }
    let two = "http://h.example/x,loc,lastmod\nhttp://h.example/b,http://h.example/c,2020-01-01\n";
    let want = "row 1: no header that names the column of the URL; use `format: csv` `delimiter: ,` `columns: url=1`";
    check_refused(&none, "a.csv", two, want);
    // Many exports have a column named `#`, and names from the user mean that there is a header.
    check_with(&none, "a.csv", b"#,url\n1,u\n", Format::Csv, &["2@6 u|||"]);
    let given = delimited("url=http://h.example/url", "");
    check_with(&given, "a.csv", b"http://h.example/url,x\nu,1\n", Format::Csv, &["2@23 u|||"]);
    let relaxed = "https://h.example/a;Schuh\nhttps://h.example/b;Hut\n";
    let want = "row 1: no header that names the column of the URL; use `format: csv` `delimiter: ;` `columns: url=1`";
    check_refused(&none, "a.csv", relaxed, want);
    check_refused(
        &none,
        "a.csv",
        "https://h.example/a\n",
        "row 1: has a URL, so it does not look like a header; if there is no header, use `columns: url=1`; if this is the header, \
         `columns: url=NAME`; if every line is a URL, use `format: text`",
    );
    // Real URLs contain delimiters.
    for text in [
        "https://h.example/a;jsessionid=1\nhttps://h.example/b;jsessionid=2\n",
        "https://h.example/a,1.html\nhttps://h.example/b,2.html\n",
        "https://h.example/a;1\nhttps://h.example/b;2\n",
        "https://h.example/news/2025-11-21,1.html?a|b\n",
        "https://h.example/news,2025-11-21\nhttps://h.example/\n",
        "1;https://h.example/a\n",
    ] {
        assert_eq!(read_all("-", text.as_bytes(), &none).unwrap().0.format, Format::Text, "{text}");
    }
}

#[test]
fn rows_are_refused_with_the_options_that_read_them_if_they_end_as_no_url_does() {
    let none = FormatOptions::default();
    for (row, by, columns) in [
        ("@ 2024-05-01", " ", "url=1,lastmod=2"),
        ("@ daily 0.5", " ", "url=1"),
        ("@ https://i.example/1.jpg", " ", "url=1"),
        ("@,https://i.example/1.jpg", ",", "url=1"),
        ("@|daily", "|", "url=1"),
        ("@,WEEKLY,0.5", ",", "url=1"),
        ("@,5/1/2024", ",", "url=1,lastmod=2"),
        ("@; 2024-05-01 10:20 x y", ";", "url=1,lastmod=2"),
        ("@,\"Title, x\",200", ",", "url=1"),
        ("@;\"x\"", ";", "url=1"),
        ("@;;", ";", "url=1"),
        ("@,", ",", "url=1"),
    ] {
        let rows = ["a", "b"].map(|page| row.replace('@', &format!("https://h.example/{page}")) + "\n");
        let want = format!(
            "the lines are rows of a table; use `format: csv` `delimiter: {by}` `columns: {columns}`, or"
        );
        check_refused(&none, "a.txt", rows.concat(), &want);
        let (_, seen) = read_all("a.txt", rows.concat().as_bytes(), &delimited(columns, by)).unwrap();
        let pages: Vec<&str> = seen.iter().filter_map(|row| row.split([' ', '|']).nth(1)).collect();
        assert_eq!(pages, ["https://h.example/a", "https://h.example/b"], "{row}: {seen:?}");
    }
    check_refused(&none, "-", "https://h.example/a 2024-05-01\n", "the lines are rows of a table");
    for list in [
        "https://h.example/Report 2024-05-01\nhttps://h.example/Report 2024-05-02\n",
        "https://h.example/a b c\nhttps://h.example/d e f\n",
        "https://h.example/Our \"Best\" a\nhttps://h.example/Our \"Best\" b\n",
        "https://h.example/a,1714550400\nhttps://h.example/b,1714550400\n",
        "https://h.example/0,,1,00.html\nhttps://h.example/0,,2,00.html\n",
        "https://h.example/a|x\nhttps://h.example/b|x\n",
        "https://h.example/a,daily\nhttps://h.example/b,daily,1\n",
        "https://h.example/a,daily\n",
        "https://h.example/a,\n",
    ] {
        assert_eq!(read_all("-", list.as_bytes(), &none).unwrap().0.format, Format::Text, "{list}");
    }
}

#[test]
fn a_header_without_a_name_for_the_url_is_rejected_like_any_other() {
    let text = b",lastmod\nhttps://h.example/a,2025-11-21\n,x\n";
    let want = ["1@0 !bad-row ,lastmod", "2@9 https://h.example/a|2025-11-21||", "3@40 !no-url ,x"];
    check_with(&delimited("url=1,lastmod=2", ""), "-", text, Format::Csv, &want);
}

#[test]
fn a_header_with_a_delimiter_that_is_not_detected_is_refused_with_the_option_for_it() {
    let none = FormatOptions::default();
    let by_name = delimited("url=page,lastmod=updated_at", "");
    let table = |names: &str, by: char| {
        let rows = ["a", "b"].map(|page| format!("https://h.example/{page}{by}2024-05-01\n"));
        format!("{names}\n{}", rows.concat())
    };
    for (options, names, by) in [
        (&none, "url^lastmod", '^'),
        (&none, "LOC:Priority", ':'),
        (&none, "url lastmod", ' '),
        (&none, "# exported\nlastmod~loc", '~'),
        (&none, "\"url\"!\"lastmod\"", '!'),
        (&none, "url & lastmod", '&'),
        (&none, "url_lastmod", '_'),
        (&none, "url\u{2}lastmod", '\u{2}'),
        (&by_name, "updated_at^Page", '^'),
    ] {
        let (text, set) = (table(names, by), by.to_string().parse::<Delimiter>().unwrap());
        let way_out = format!("use `format: csv` `delimiter: {}`", set.word());
        let rows =
            format!("the lines are rows of a table; {way_out}, or `format: text` if every line is a URL");
        check_refused(options, "a.txt", &text, &rows);
        let row =
            format!("row 1: the column names are separated by a character that is not detected; {way_out}");
        check_refused(options, "a.csv", &text, &row);
        let with_it = FormatOptions { delimiter: Some(set), ..options.clone() };
        let (found, _) = read_all("a.txt", text.as_bytes(), &with_it).unwrap();
        assert_eq!(found.format, Format::Csv, "{names}");
    }
    let list = FormatOptions { format: Some(Format::Text), ..FormatOptions::default() };
    assert_eq!(read_all("-", table("url^lastmod", '^').as_bytes(), &list).unwrap().1.len(), 3);
    // Lists of URLs may begin with a page that is named like columns, or with words.
    for text in [
        "url-news\nimages-2\nvideos-2\n",
        "url-news\nhttps://h.example/a\nhttps://h.example/b-c\n",
        "url/images\nhttps://h.example/a\n",
        "url.news\nhttps://h.example/a\n",
        "url lastmod\nhttps://h.example/a\n",
        "url title\nhttps://h.example/a b\n",
        "url-and-news\nhttps://h.example/a-b-c\n",
        "lastmod^priority\nhttps://h.example/a^b\n",
        "https://h.example/url^lastmod\nhttps://h.example/a^b\n",
        "url^lastmod\n",
    ] {
        assert_eq!(read_all("-", text.as_bytes(), &none).unwrap().0.format, Format::Text, "{text}");
    }
}

#[test]
fn options_that_contradict_each_other_are_usage_errors() {
    for (format, delimiter, want) in [
        (Format::Tsv, ";", "`delimiter: ;`: `format: tsv` has no such delimiter"),
        (Format::Text, ",", "`delimiter: ,`: `format: text` has no such delimiter"),
    ] {
        let options = FormatOptions { format: Some(format), ..delimited("", delimiter) };
        let error = read_all("-", b"", &options).unwrap_err();
        assert!(error.kind() == crate::ErrorKind::Usage && error.to_string().starts_with(want), "{error}");
    }
    assert!(read_all("-", b"", &FormatOptions { format: Some(Format::Tsv), ..delimited("", "tab") }).is_ok());
    let none = FormatOptions::default();
    let replaced = FormatOptions { input_encoding: Encoding::for_label(b"iso-2022-kr"), ..none };
    assert_eq!(read_all("-", b"", &replaced).unwrap_err().kind(), crate::ErrorKind::Usage);
    for (columns, want) in [
        ("url=1,lastmod=updated", "columns are all names or all positions"),
        ("url=page,lastmod=3", "columns are all names or all positions"),
        ("lastmod=3", "positions are for rows without a header, and must include url"),
        ("url=0", "positions are numbers from 1"),
        ("url=1,lastmod=1", "column 1 is used for both url and lastmod"),
        ("url=99999999999999999999", "positions are numbers from 1"),
    ] {
        let error = columns.parse::<Columns>().unwrap_err();
        assert!(error.starts_with(want), "{columns}: {error}");
    }
}

#[test]
fn a_byte_order_mark_and_empty_lines_are_blank() {
    for newlines in [1, 2, LINE_BYTES_MAX, LINE_BYTES_MAX + 9] {
        let blank = format!("\u{feff}{}", "\n".repeat(newlines));
        assert_eq!(read_all("-", blank.as_bytes(), &FormatOptions::default()).unwrap().1.len(), newlines);
        let (_, rows) =
            read_all("-", (blank + "http://h.example/a").as_bytes(), &FormatOptions::default()).unwrap();
        assert!(rows[newlines].ends_with(" http://h.example/a|||"), "{}", rows[newlines]);
    }
}

#[test]
fn a_row_that_a_quote_has_joined_with_others_is_rejected() {
    check(
        "-",
        concat!(
            "url,title,lastmod\n",
            "u1,\"19\"\" rack,2024\nu2,plain,2024\nu3,\"27\"\" screen\",2024\n",
            "u4,\"Best\" shoes,2024\n",
            "u5,\"Best\" shoes,\"2024\n\"\n",
            "u6,ok,2024\n",
        ),
        Format::Csv,
        &[
            r#"2@18 !bad-row u1,"19"" rack,2024\nu2,plain,2024\nu3,"27"" screen",2024"#,
            "5@73 u4|2024||",
            "6@94 u5|2024\\n||",
            "8@118 u6|2024||",
        ],
    );
    let torn = "u1|\"5\" pipe|2024\r\nu2|\"6\"\" pipe|2024\r\nu3|\"7\" pipe|2024\r\n";
    let by_position = delimited("url=1", "|");
    let want = r#"2@18 !bad-row u2|"6"" pipe|2024\r\nu3|"7" pipe|2024"#;
    check_with(&by_position, "-", torn.as_bytes(), Format::Csv, &["1@0 u1|||", want]);
}

#[test]
fn tables_of_paths_are_known_by_their_header_or_by_the_dates_in_their_rows() {
    let none = FormatOptions::default();
    check("-", "url\n/b,c\n/d\n", Format::Tsv, &["2@4 /b,c|||", "3@9 /d|||"]);
    let list = ["1@0 url|||", "2@4 b|||"];
    check("-", "url\nb\n", Format::Text, &list);
    let want = "the lines are rows of a table; use `format: csv` `delimiter: ;` `columns: url=1,lastmod=2`, or `format: text`";
    check_refused(&none, "-", "/a;2024-05-01\n/b;2024-05-02\n", want);
    check("-", "/a;1\n/b;2\n", Format::Text, &["1@0 /a;1|||", "2@5 /b;2|||"]);
    check_with(&delimited("url=1", ""), "-", b"/a;1\n/b;2\n", Format::Csv, &["1@0 /a|||", "2@5 /b|||"]);
    // Columns of absolute URLs come first.
    let both = "/a;https://h.example/a;2024-05-01\n/b;https://h.example/b;2024-05-02\n";
    let want = "the lines are rows of a table; use `format: csv` `delimiter: ;` `columns: url=2,lastmod=3`";
    check_refused(&none, "-", both, want);
}

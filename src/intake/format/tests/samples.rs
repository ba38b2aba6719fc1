//! Samples: what the first rows of a text show, whatever single rows look like.

use super::tables::delimited;
use super::*;

const NONE: &str = "the lines are rows of a table; use `format: csv` `delimiter: ,` `columns: url=1,lastmod=2`, or `format: text`";

#[test]
fn rows_are_known_whatever_a_few_of_them_look_like() {
    let none = FormatOptions::default();
    let row = |page: &str| format!("https://h.example/{page},2024-01-01\n");
    let two = row("a") + &row("b");
    for other in [
        "  \n",
        "# end\n",
        "\u{1a}",
        "https://h.example/c,\n",
        "https://h.example/c,2024-01-01,x\n",
        "https://h.example/c,\"2024-01-01\n\"\n",
    ] {
        check_refused(&none, "-", two.clone() + other, NONE);
        if other.ends_with('\n') {
            check_refused(&none, "-", row("a") + other + &row("b"), NONE);
        }
    }
    // A value in quotes may have several lines, also in a header.
    let titles = ["\"a\nb\"", "\"a\r\nhttps://h.example/x\"", "\"a \"\"b\"\"\n\n,\""];
    for title in titles {
        let rows = format!("https://h.example/a,2024-01-01,c\nhttps://h.example/b,2024-01-01,{title}\n");
        check_refused(&none, "-", &rows, NONE);
        let title = title.replace("https://h.example/x", "x");
        let header = format!("{title},url,lastmod\n1,https://h.example/a,2024\n");
        let (found, read) = read_all("-", header.as_bytes(), &none).unwrap();
        assert!(found.format == Format::Csv && read.len() == 1 && read[0].ends_with("a|2024||"), "{read:?}");
    }
    // Half of the rows could be different pages.
    let half = "https://h.example/a,2024-01-01\nhttps://h.example/b,x,y\n";
    assert_eq!(read_all("-", half.as_bytes(), &none).unwrap().0.format, Format::Text);
}

#[test]
fn a_row_of_another_width_does_not_turn_a_table_into_a_list() {
    let by_position = delimited("url=1", "");
    let row = |page: &str, rest: &str| format!("https://h.example/{page},{rest}\n");
    let rows = row("0", "red") + &row("1", "red, green") + &row("2", "blue");
    let want = [
        "1@0 https://h.example/0|||",
        "2@24 !bad-row https://h.example/1,red, green",
        "3@55 https://h.example/2|||",
    ];
    check_with(&by_position, "-", rows.as_bytes(), Format::Csv, &want);
    let quoted = row("0", "red") + &row("1", "\"a\nb\"") + &row("2", "blue");
    let want = ["1@0 https://h.example/0|||", "2@24 https://h.example/1|||", "4@50 https://h.example/2|||"];
    check_with(&by_position, "-", quoted.as_bytes(), Format::Csv, &want);
    // A delimiter that fits all rows is better than one that fits most of them.
    let both = "https://h.example/a;1,5\nhttps://h.example/b;2,5\nhttps://h.example/c;3,5,5\n";
    let want = ["1@0 https://h.example/a|||", "2@24 https://h.example/b|||", "3@48 https://h.example/c|||"];
    check_with(&by_position, "-", both.as_bytes(), Format::Csv, &want);
    // Not every URL of a list has a comma.
    let list = row("0", "red") + &row("1", "red") + "https://h.example/2\n" + &row("3", "red");
    assert_eq!(read_all("-", list.as_bytes(), &by_position).unwrap().0.format, Format::Text);
}

#[test]
fn a_header_that_names_the_url_is_one_even_if_a_mapped_column_is_missing() {
    let columns = delimited("lastmod=updated", "");
    for (header, names) in [("url,title", "url, title"), ("LOC;x", "LOC, x"), ("\"a\nb\",url", "a\\nb, url")]
    {
        let row = header.replace("url", "https://h.example/a");
        let text = format!("{header}\nhttps://h.example/a,x\n{row}\n");
        check_refused(
            &columns,
            "-",
            text,
            &format!("row 1: no column updated, only: {names}; choose the ones"),
        );
    }
    let mapped = delimited("url=page,lastmod=updated", "");
    check_refused(
        &mapped,
        "-",
        "page,title\n/a,x\n",
        "row 1: no column updated, only: page, title; choose the ones",
    );
    // Of two delimiters, the one that finds all columns is used.
    let text = b"url|id,updated,url\n1,2024,u\n";
    check_with(&columns, "-", text, Format::Csv, &["2@19 u|2024||"]);
    // A column for the URL that is not there may be that of another input.
    let other = delimited("url=page", "");
    let list = "url\nhttps://h.example/a,b\n";
    assert_eq!(read_all("-", list.as_bytes(), &other).unwrap().0.format, Format::Text);
}

#[test]
fn any_number_of_comments_may_precede_a_table() {
    let none = FormatOptions::default();
    let comments = "# c\n".repeat(40);
    for name in ["-", "a.csv"] {
        let text = format!("{comments}url,lastmod\nu,2024\n");
        check_with(&none, name, text.as_bytes(), Format::Csv, &["42@172 u|2024||"]);
        let text = format!("{comments}page,x\n/a,2024\n/b,2024\n");
        let want = ["41@160 !bad-row page,x", "42@167 /a|2024||", "43@175 /b|2024||"];
        check_with(&delimited("url=1,lastmod=2", ""), name, text.as_bytes(), Format::Csv, &want);
    }
    let text = format!("{comments}https://h.example/ lastmod=2024\n");
    let (found, rows) = read_all("-", text.as_bytes(), &none).unwrap();
    assert_eq!((found.format, &*rows[40]), (Format::Google, "41@160 https://h.example/|2024||"));
}

#[test]
fn lists_of_urls_with_delimiters_in_them_stay_lists() {
    let row = |page: &str| format!("https://h.example/{page}\n");
    for pages in [
        &["a,1", "b,2,3", "c,4"][..],
        &["", "archive,2024-01-01", "archive,2024-01-02", "archive,2024-01-03"],
        &["a,\"b\"", "c", "d,e"],
        &["a,\"b", "c,d\"", "e"],
        &["a,\"b", "c", "d"],
        &["a;b,c", "d;e;f,g", "h;i,j"],
        &["a,daily", "b,daily", "c"],
        &["a b 2024-01-01", "c 2024-01-01"],
        &["a|b", "c|d|e", "f|g"],
    ] {
        let text: String = pages.iter().map(|page| row(page)).collect();
        let (found, rows) = read_all("-", text.as_bytes(), &FormatOptions::default()).unwrap();
        assert_eq!((found.format, rows.len()), (Format::Text, pages.len()), "{pages:?}");
    }
}

#[test]
fn the_name_of_the_url_is_no_page_if_paths_and_urls_are_below_it() {
    let want = ["2@4 https://h.example/a,b|||", "3@26  |||", "4@28 /c|||"];
    check_with(&FormatOptions::default(), "-", b"url\nhttps://h.example/a,b\n \n/c\n", Format::Tsv, &want);
}

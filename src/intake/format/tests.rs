//! The rows of every text format.

mod databases;
mod extensions;
mod headers;
mod lines;
mod packed;
mod samples;
mod tables;
mod tags;

use std::io::Cursor;
use std::path::PathBuf;

use encoding_rs::Encoding;

use super::row::ROW_BYTES_MAX;
use super::*;
use crate::clean::Reason;
use crate::intake::slow::Slow;
use crate::limits::LINE_BYTES_MAX;

/// Rows as readable text: `line@offset url|lastmod|changefreq|priority`, values of extensions after it; `!` marks a bad row.
#[derive(Default)]
pub(super) struct Seen(pub Vec<String>);

impl Sink for Seen {
    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        let text = |bytes: &[u8]| crate::escape::cut(bytes, 100);
        let Record { line, offset, .. } = record;
        let tags = [record.lastmod, record.changefreq, record.priority].map(text).join("|");
        let mut row = format!("{line}@{offset} {}|{tags}", text(record.url));
        record.extras.values().for_each(|value| row += &format!(" {}", text(&value.to_text())));
        self.0.push(row);
        Ok(())
    }

    fn bad_row(&mut self, line: u64, offset: u64, reason: Reason, row: &[u8]) -> Result<()> {
        self.0.push(format!("{line}@{offset} !{} {}", reason.as_str(), crate::escape::cut(row, 100)));
        Ok(())
    }
}

/// Reads `bytes` in pieces of several sizes, which must give the same rows.
fn read_all(name: &str, bytes: &[u8], options: &FormatOptions) -> Result<(FormatFound, Vec<String>)> {
    let read_in = |step| {
        let mut seen = Seen::default();
        let raw = RawInput::Stream(Box::new(Slow(Cursor::new(bytes.to_vec()), step)));
        super::read(Path::new(name), raw, options, &mut seen).map(|found| (found, seen.0))
    };
    let at_once = read_in(usize::MAX);
    for step in [1, 1000] {
        let in_steps = read_in(step);
        let [at_once, in_steps] =
            [&at_once, &in_steps].map(|read| read.as_ref().map_err(ToString::to_string));
        assert!(at_once == in_steps, "{name}: other rows when read {step} bytes at a time");
    }
    at_once
}

fn check_with(options: &FormatOptions, name: &str, bytes: &[u8], format: Format, want: &[&str]) {
    let (found, rows) = read_all(name, bytes, options).unwrap();
    assert_eq!((found.format, rows), (format, want.iter().map(ToString::to_string).collect()), "{name}");
    assert_eq!(found.rows, want.len() as u64);
}

fn check(name: &str, text: &str, format: Format, want: &[&str]) {
    // The expected offsets were counted by hand: compare them with the text.
    for row in want {
        let at: usize = row[row.find('@').unwrap() + 1..row.find(' ').unwrap()].parse().unwrap();
        let (before, row_text) = text.split_at(at);
        let is_start = match format {
            Format::Sitemap => row_text.starts_with("<url") || row_text.starts_with("<s:url"),
            _ => before.is_empty() || before.ends_with(['\n', '\u{feff}']),
        };
        assert!(is_start, "{row}: no row begins there");
    }
    check_with(&FormatOptions::default(), name, text.as_bytes(), format, want);
}

/// Checks that `text` is refused with a message that begins or ends with `want`.
fn check_refused(options: &FormatOptions, name: &str, text: impl AsRef<[u8]>, want: &str) {
    let error = read_all(name, text.as_ref(), options).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Data, "{error}");
    let message = error.to_string();
    assert!(message.starts_with(&format!("{name}: {want}")) || message.ends_with(want), "{message}");
}

fn said(format: Format) -> FormatOptions {
    FormatOptions { format: Some(format), ..FormatOptions::default() }
}

fn columns(word: &str) -> FormatOptions {
    FormatOptions { columns: word.parse().unwrap(), ..FormatOptions::default() }
}

#[test]
fn text_has_one_url_per_line() {
    let text = "\u{feff}http://h.example/a\r\n\r\n http://h.example/b?x=1,2\nno url";
    let want =
        ["1@3 http://h.example/a|||", "2@23 |||", "3@25  http://h.example/b?x=1,2|||", "4@51 no url|||"];
    check("urls.txt", text, Format::Text, &want);
    check("-", text, Format::Text, &want);
    check("empty.csv", "", Format::Text, &[]);
    // A single word is not a header: if this were CSV, the comma would end the URL.
    check("-", "url\nhttp://h.example/a,b\n", Format::Text, &["1@0 url|||", "2@4 http://h.example/a,b|||"]);
}

#[test]
fn csv_columns_are_found_by_their_names_in_the_header() {
    check(
        "-",
        "id,URL,\"lastmod\",x,Priority\r\n1,http://h.example/a,2024-05-01,\"no\nmatter\",0.5\r\n\r\n2,\"http://h.example/\"\"b\"\",c\",,,\n",
        Format::Csv,
        &["2@29 http://h.example/a|2024-05-01||0.5", "5@80 http://h.example/\"b\",c|||"],
    );
    check(
        "a.tsv",
        "loc\tchangefreq\nu,1\tdaily\n\tnever",
        Format::Tsv,
        &["2@15 u,1||daily|", r"3@25 !no-url \tnever"],
    );
    check("a.csv.gz", "url\nu1\nu2", Format::Csv, &["2@4 u1|||", "3@7 u2|||"]);
    check("-", "\u{feff}loc,priority\nu,1", Format::Csv, &["2@16 u|||1"]);
    check_with(
        &columns("url=page,lastmod=updated_at"),
        "-",
        b"loc,updated_at,Page\nx,2024,u",
        Format::Csv,
        &["2@20 u|2024||"],
    );
}

#[test]
fn a_row_with_too_few_or_too_many_fields_is_rejected_alone() {
    check(
        "-",
        "loc,lastmod\nu1\nu2,2024,x\n\"u3\n\",\"\"\"\",z\nu4,2024\n",
        Format::Csv,
        &["2@12 !bad-row u1", "3@15 !bad-row u2,2024,x", r#"4@25 !bad-row "u3\n","""",z"#, "6@38 u4|2024||"],
    );
}

#[test]
fn a_table_that_cannot_be_understood_is_refused_with_the_options_that_help() {
    let none = FormatOptions::default();
    check_refused(
        &none,
        "a.csv",
        "id;name\n1;2",
        "row 1: no column loc or url, only: id, name; choose the ones to read with `columns: url=NAME,lastmod=NAME`",
    );
    check_refused(&columns("lastmod=x"), "a.csv", "loc,y\n1,2", "row 1: no column x, only: loc, y;");
    let open = "line 3: the row goes on to the end of the file: most likely a quote that is never closed";
    check_refused(&none, "a.csv", "loc,lastmod\nu,1\nu,\"2\nu,3\nu,4\n", open);
    let endless = |value: &str| value.repeat(ROW_BYTES_MAX as usize / value.len() + 1);
    for (value, says) in [
        (format!("\"{}", endless("x\n")), ": most likely a quote that is never closed"),
        (endless("x\""), "; shorten its values"),
    ] {
        let endless = format!("loc,lastmod\nu,1\nu,{value}");
        let mut seen = Seen::default();
        let raw = RawInput::Stream(Box::new(Cursor::new(endless.into_bytes())));
        let error = super::read(Path::new("a.csv"), raw, &none, &mut seen).unwrap_err();
        let want = format!("a.csv: line 3: the row has more than 16,777,216 bytes{says}");
        assert_eq!(error.to_string(), want);
        assert_eq!(seen.0, ["2@12 u|1||"]);
    }
}

#[test]
fn a_long_field_is_kept_up_to_the_longest_line() {
    struct Lengths(Vec<usize>);
    impl Sink for Lengths {
        fn record(&mut self, record: &Record<'_>) -> Result<()> {
            self.0.push(record.url.len());
            Ok(())
        }
        fn bad_row(&mut self, line: u64, _: u64, reason: Reason, text: &[u8]) -> Result<()> {
            assert_eq!((line, reason, text.len()), (5, Reason::BadRow, LINE_BYTES_MAX));
            Ok(())
        }
    }
    let long = |bytes| "x".repeat(bytes);
    let text = format!(
        "body,loc\n\"{}\n\",u\n{},{}\n{},1,2\n,{}\n",
        long(1_000_000),
        long(700_000),
        long(LINE_BYTES_MAX),
        long(300_000),
        long(500_000)
    );
    let mut lengths = Lengths(Vec::new());
    let raw = RawInput::Stream(Box::new(Cursor::new(text.into_bytes())));
    super::read(Path::new("-"), raw, &FormatOptions::default(), &mut lengths).unwrap();
    assert_eq!(lengths.0, [1, LINE_BYTES_MAX, LINE_BYTES_MAX + 1]);
}

#[test]
fn json_lines_have_the_same_names_and_keep_the_text_of_numbers() {
    check(
        "-",
        concat!(
            "{\"id\":7,\"LOC\":\"http://h.example/\\u00fc\\/\\n\",\"x\":{\"loc\":[1]},\"priority\":0.80}\n",
            "\n",
            "{\"url\":\"u\",\"loc\":null,\"lastmod\":1714558830,\"changefreq\":\"daily\",\"priority\":1e-05}\r\n",
            "{\"loc\":\"u\",\"alternates\":[{\"hreflang\":\"de\",\"href\":\"d\\\"\"}],\"images\":[\"i\",\"j\"]}\n",
            "{\"loc\":\"u\",\"images\":null}",
        ),
        Format::Jsonl,
        &[
            r"1@0 http://h.example/ü/\n|||0.80",
            "2@77 |||",
            "3@78 u|1714558830|daily|1e-05",
            "4@161 u||| de=d\" image=i image=j",
            "5@238 u|||",
        ],
    );
    check_with(&columns("url=page"), "-", b"{\"page\":\"u\",\"loc\":1}", Format::Jsonl, &["1@0 u|||"]);
}

#[test]
fn a_bad_line_of_json_is_rejected_alone_unless_it_is_the_first() {
    let long = format!("{{\"loc\":\"{}\"}}", "x".repeat(LINE_BYTES_MAX));
    let text = format!(
        "{{\"loc\":\"u\"}}\n{{\"loc\":\"u\"\n[1]\n{{\"loc\":5}}\n{{\"loc\":true}}\n{{\"x\":1}}\n{{\"loc\":\"u\"}} {{}}\n{long}\n{{\"loc\":\"v\"}}"
    );
    let (_, rows) = read_all("-", text.as_bytes(), &FormatOptions::default()).unwrap();
    let starts: Vec<&str> = rows.iter().map(|row| &row[..row.len().min(24)]).collect();
    assert_eq!(
        starts,
        [
            "1@0 u|||",
            r#"2@12 !bad-row {"loc":"u""#,
            "3@23 !bad-row [1]",
            r#"4@27 !bad-row {"loc":5}"#,
            r#"5@37 !bad-row {"loc":tru"#,
            r#"6@50 !no-url {"x":1}"#,
            r#"7@58 !bad-row {"loc":"u""#,
            "8@73 xxxxxxxxxxxxxxxxxxx",
            "9@65620 v|||",
        ]
    );
    let none = FormatOptions::default();
    // One of the values is not UTF-8.
    let (_, rows) = read_all("-", b"{\"loc\":\"u\"}\n{\"loc\":\"\xFC\"}\n", &none).unwrap();
    assert!(rows[1].starts_with("2@12 !bad-encoding "), "{}", rows[1]);
    check_refused(
        &none,
        "a.json",
        "[{\"loc\":\"u\"}]",
        "line 1: is not a JSON object; expected one object per line",
    );
    check_refused(&none, "a.json", "\n{\n\"loc\":\"u\"}", "line 2: the JSON object does not end on its line");
    check_refused(&said(Format::Jsonl), "a", "u\n", "line 1: is not a JSON object");
    check_refused(
        &none,
        "a",
        "{\"href\":\"u\",\"n\":1}",
        "line 1: no key loc or url, only: href, n; choose the ones",
    );
}

#[test]
fn entries_of_sitemaps_are_records() {
    check(
        "-",
        concat!(
            "<?xml version='1.0' encoding='UTF-8'?><!-- c -->\n<urlset xmlns='s' xmlns:image='i'>\n",
            "<url><loc> http://h.example/?a=1&amp;b=&#50;&#x33; </loc><lastmod>2024-05-01</lastmod>",
            "<changefreq>daily</changefreq><priority>0.5</priority></url>",
            "<url><image:image><image:loc>i&amp;1</image:loc><image:caption>c</image:caption></image:image>",
            "<xhtml:link rel='alternate' hreflang='de' href='d&amp;e'/><xhtml:link rel='x' hreflang='y' href='z'/>",
            "<loc><![CDATA[u&v]]></loc></url>\n",
            "<url><lastmod>2024</lastmod></url><url/><url><loc/></url><url><loc>&what;</loc></url><other><loc>x</loc></other>",
            "</urlset>\n"
        ),
        Format::Sitemap,
        &[
            "1@84 http://h.example/?a=1&b=23|2024-05-01|daily|0.5",
            "2@230 u&v||| de=d&e loc=i&1 caption=c",
            "3@458 !no-url lastmod=2024",
            "4@492 |||",
            "5@498 |||",
            "6@515 !bad-row &what;",
        ],
    );
    let prefixed = "<s:urlset xmlns:s='x'><s:url><s:loc>u</s:loc><loc>v</loc></s:url></s:urlset>";
    check("-", prefixed, Format::Sitemap, &["1@22 u|||"]);
    check("-", "<urlset></urlset>", Format::Sitemap, &[]);
}

#[test]
fn xml_that_is_not_a_complete_sitemap_is_refused() {
    let none = FormatOptions::default();
    let index = "<sitemapindex><sitemap><loc>u</loc></sitemap></sitemapindex>";
    check_refused(&none, "i.xml", index, "is a sitemap index, which must be a file");
    check_refused(&none, "f.xml", "<opml></opml>", "is XML with the root <opml>; expected a sitemap");
    check_refused(&none, "s.xml", "<urlset><url><loc>u</loc></url>", "the XML ends too early");
    check_refused(&none, "s.xml", "<urlset><url><loc>u</loc>", "the XML ends too early");
    check_refused(&none, "s.xml", "<!-- nothing -->", "the XML ends too early");
    for (documents, root) in
        [("<urlset/><rss/>", "rss"), ("<rss/><feed/>", "feed"), ("<feed/><urlset/>", "urlset")]
    {
        let want =
            format!("different formats: a later one has the root <{root}>; give them as separate files");
        check_refused(&none, "s.xml", documents, &want);
    }
    let no_xml = "is not XML, though its name or `format` says so; give the right `format`";
    check_refused(&none, "g.xml", "http://h.example/a\n", no_xml);
    check_refused(&said(Format::Sitemap), "g", "\u{feff}\nurl,x\n<a/>", no_xml);
    check_refused(&none, "s.xml", "<urlset><url></loc></url></urlset>", "byte 13: broken XML");
    check_refused(&none, "s.xml", b"<urlset><url><loc>\xE9</loc></url></urlset>", "byte 18: is not UTF-8");
    let endless = format!("<urlset><url>{}", "<a>b</a>".repeat(3 << 20));
    let raw = RawInput::Stream(Box::new(Cursor::new(endless.into_bytes())));
    let error = super::read(Path::new("s.xml"), raw, &none, &mut Seen::default()).unwrap_err();
    assert!(
        error.to_string().contains("an entry or a piece of XML has more than 16,777,216 bytes"),
        "{error}"
    );
}

/// The head of an input comes in one piece, so seams of small reads come after it: here, at every byte of many rows.
#[test]
fn rows_are_the_same_wherever_pieces_of_the_input_end() {
    let filler = 2 * LINE_BYTES_MAX / 10;
    let many = |row: &str| row.repeat(filler);
    for (text, rows_after) in [
        (format!("loc,x\r\n{}\"u\n\"\"\",\n,\nu,v", many("u1234,56\r\n")), 3),
        (format!("loc\tx\n{}u\r\nu\tv", many("u1234\t567\n")), 2),
        (format!("{}{{\"loc\":\"\\u00fc\"}}\n\n{{}}", many("{\"loc\":\"u\"}\n")), 3),
        (format!("<urlset>{}<url><loc>&amp;ü</loc></url></urlset>", many("<url><loc/></url>")), 1),
        (format!("http://h.example/ priority=1\n{}\r\nü", many("h:/123456\r\n")), 3),
        (format!("{}\r\nü\n", many("h:/123456\r\n")), 2),
    ] {
        let (_, rows) = read_all("-", text.as_bytes(), &FormatOptions::default()).unwrap();
        assert_eq!(rows.len(), filler + rows_after, "{}", &text[..20]);
    }
}

#[test]
fn every_format_parses_from_its_name() {
    for format in Format::ALL {
        assert_eq!(format.to_string().parse(), Ok(*format));
    }
    assert!("CSV".parse::<Format>().is_err() && "".parse::<Format>().is_err());
}

/// A directory of one test, removed at the end.
pub(super) struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sitemill-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn part_files_are_sorted_and_other_files_are_skipped() {
    let scratch = Scratch::new("parts");
    let names = |needs_success| {
        part_files(&scratch.0, needs_success, None).map(|found| {
            found
                .files
                .iter()
                .map(|file| file.strip_prefix(&scratch.0).unwrap().display().to_string())
                .collect::<Vec<_>>()
        })
    };
    assert!(names(false).unwrap_err().to_string().ends_with("has no data files"));
    for name in ["b.csv", "a.csv", ".a.csv.crc", "_started", "_temporary/part-9", "day=2/c.csv"] {
        let path = scratch.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "u\n").unwrap();
    }
    assert_eq!(names(false).unwrap(), ["a.csv", "b.csv", "day=2/c.csv"]);
    std::fs::write(scratch.0.join("day=2/part-00001"), "u\n").unwrap();
    std::fs::write(scratch.0.join("part-00000"), "u\n").unwrap();
    assert_eq!(names(false).unwrap(), ["day=2/part-00001", "part-00000"]);
    assert!(names(true).unwrap_err().to_string().contains("has no _SUCCESS"));
    std::fs::write(scratch.0.join("_SUCCESS"), "").unwrap();
    assert!(names(true).is_ok());
}

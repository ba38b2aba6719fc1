//! Compares the fast reader of plain entries with the XML parser alone.

use std::io::Cursor;
use std::path::Path;

use super::*;
use crate::intake::format::UnitFacts;
use crate::intake::format::tests::Seen;

/// The rows, the result, and the facts of `xml` when it is read in pieces of `buffer_bytes`.
fn rows_of(xml: &[u8], buffer_bytes: usize) -> (Vec<String>, String, UnitFacts) {
    let mut seen = Seen::default();
    let text = Text::open(Path::new("s.xml"), Box::new(Cursor::new(xml.to_vec()))).unwrap();
    let mut rows = CountingSink::new(&mut seen, false);
    let read = read_buffered(buffer_bytes, text, &mut rows);
    let facts = rows.into_facts();
    (seen.0, read.map_or_else(|error| error.to_string(), |()| "whole".into()), facts)
}

/// Compares with pieces of one byte, in which no entry fits: the parser reads all of them.
fn check_same(xml: &[u8]) -> usize {
    let judge = rows_of(xml, 1);
    for buffer_bytes in [BUFFER_BYTES, 150] {
        assert_eq!(rows_of(xml, buffer_bytes), judge, "{}", crate::escape::shown(xml));
    }
    judge.0.len()
}

#[test]
fn plain_entries_are_read_as_the_parser_reads_them() {
    let plain = "\n <url>\n\t<loc> http://h.example/?a&amp;b=&#50; </loc>\r\n<lastmod>2024</lastmod>\
                 <changefreq>daily</changefreq><priority>0.5</priority></url>";
    for entry in [
        "<url><loc>ü</loc><loc>v</loc></url>",
        "<url><loc></loc><priority></priority></url>",
        "<url></url>",
        "<url><lastmod>2024</lastmod></url>",
        "<url>stray<loc>u</loc>text&amp;</url>",
        "text&amp;<url><loc>u</loc></url>",
        "<url/>x<!-- c --><![CDATA[y]]><other/> &what; <?pi?>",
        "<url><loc>u</loc>&what;</url>",
        "<url><loc>u&what;</loc></url>",
        "<url><loc>u&;</loc></url>",
        "<url><loc>u&amp</loc></url>",
        "<url><loc>u&a&amp;</loc></url>",
        "<url><loc>&#0;&#x110000;</loc></url>",
        "<url><loc>u]]>v</loc></url>",
        "<url><loc>u<!-- c -->v</loc></url>",
        "<url><loc>u<![CDATA[<&]]></loc></url>",
        "<url><loc>u<b>v</b>w</loc></url>",
        "<url><loc >u</loc ><lastmod/></url>",
        "<url ><loc x='>'>u</loc></url>",
        "<url><x:loc>u</x:loc><loc>v</loc></url>",
        "<url><loc>u</loc><image:image><image:loc>i</image:loc></image:image></url>",
        "<url><loc>u</loc><link rel='alternate' hreflang='de' href='d'/></url>",
        "<url><loc>u</lastmod></url>",
        "<url><loc>u</loc></urls>",
        "<url><url><loc>u</loc></url></url>",
        "<other><loc>u</loc></other>",
        "<!-- c --><url><loc>u</loc></url><?pi?>",
        "</urlset><url><loc>u</loc></url><urlset>",
        "</urlset>\u{feff}\n<!-- c --><?pi?><urlset>",
        "</urlset> text <urlset>",
        "</urlset><![CDATA[text]]><urlset>",
        "</urlset>&amp;<urlset>",
        "<url/><url><loc>u</loc></url>",
    ] {
        check_same(format!("<urlset>{plain}{entry}{plain}</urlset>").as_bytes());
        check_same(format!("<urlset>{plain}{entry}").as_bytes());
        check_same(format!("<s:urlset>{plain}{entry}</s:urlset>").as_bytes());
        check_same(format!("<urlset/>{plain}{entry}").as_bytes());
    }
    check_same(format!("<urlset>{}<url><loc>u</loc></url></urlset>", plain.repeat(1000)).as_bytes());
    check_same(format!("<urlset>{plain}<url><loc>{}</loc></url></urlset>", "x".repeat(70_000)).as_bytes());
}

const URLSET: &str = "urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns:x='urn:x' \
                      xmlns:i='http://www.google.com/schemas/sitemap-image/1.1' xmlns:video='urn:typing-error'";

/// The rows of a sitemap with `entries`, and the elements that are not carried over.
fn entries(root: &str, entries: &str) -> (Vec<String>, String) {
    let (rows, read, facts) = rows_of(format!("<{root}>{entries}</urlset>").as_bytes(), BUFFER_BYTES);
    assert_eq!(read, "whole", "{entries}");
    let dropped = facts.dropped_elements.shown().map(|(name, count)| format!("{name} {count}"));
    let rows = rows.iter().map(|row| row.split_once(' ').unwrap().1.to_owned()).collect();
    (rows, dropped.collect::<Vec<_>>().join(", "))
}

#[test]
fn elements_of_other_namespaces_are_not_carried_over() {
    let own = "xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9'";
    let link = "rel='alternate' hreflang='de' href='d'";
    for (entry, row, dropped) in [
        ("<loc>u</loc><x:image><x:loc>i</x:loc></x:image>", "u|||", "x:image 1"),
        ("<loc>u</loc><y:image xmlns:y='urn:y'><y:loc>i</y:loc></y:image>", "u|||", "y:image 1"),
        ("<loc>u</loc><image xmlns='urn:y'><loc>i</loc></image>", "u|||", "image 1"),
        ("<loc>u</loc><i:image><i:loc>i</i:loc><x:title>t</x:title></i:image>", "u||| image=i", "x:title 1"),
        (&format!("<loc>u</loc><x:link {link}/>"), "u|||", "x:link 1"),
        // The usual prefix, one that is not declared, and none.
        (
            "<loc>u</loc><video:video><video:title>t</video:title></video:video>",
            "u||| thumbnail_loc= title=t description=",
            "",
        ),
        ("<loc>u</loc><z:image><z:loc>i</z:loc></z:image>", "u||| image=i", ""),
        ("<loc>u</loc><image><loc>i</loc></image>", "u||| image=i", ""),
        ("<loc>u</loc><i:image><loc>i</loc></i:image>", "u||| image=i", ""),
        (&format!("<loc>u</loc><link {link} xmlns='http://www.w3.org/1999/xhtml'/>"), "u||| de=d", ""),
        // The namespace of the protocol with another prefix, and other namespaces without a prefix.
        (&format!("<s:loc {own}>u</s:loc><priority>1</priority>"), "u|||1", ""),
        ("<loc xmlns='urn:y'>u</loc>", "!no-url ", "loc 1"),
        ("<loc xmlns=''>u</loc>", "u|||", ""),
        ("<x:loc>u</x:loc><loc>v</loc>", "v|||", "x:loc 1"),
    ] {
        let want = (vec![row.to_owned(), "w|||".to_owned()], dropped.to_owned());
        assert_eq!(entries(URLSET, &format!("<url>{entry}</url><url><loc>w</loc></url>")), want, "{entry}");
    }
    let two = format!("<s:url {own}><s:loc>u</s:loc></s:url><url xmlns=''><loc>v</loc></url>");
    for root in [URLSET, "urlset", "urlset xmlns='urn:y'"] {
        assert_eq!(entries(root, &two), (vec!["u|||".into(), "v|||".into()], String::new()), "{root}");
    }
    assert_eq!(entries(URLSET, "<url xmlns='urn:y'><loc>u</loc></url>"), (vec![], "url 1".into()));
}

#[test]
fn attributes_that_hold_no_field_are_counted_by_name() {
    let video = |child: &str| format!("<url><loc>u</loc><video:video>{child}</video:video></url>");
    for (entry, dropped) in [
        (
            video("<video:player_loc video:allow_embed='yes'>p</video:player_loc>"),
            "video:player_loc@video:allow_embed 1",
        ),
        (
            video("<video:player_loc Allow_Embed='yes' autoplay='a'>p</video:player_loc>"),
            "video:player_loc@Allow_Embed 1",
        ),
        (
            video("<video:uploader href='h'>n</video:uploader><video:title lang='de' x='y'>t</video:title>"),
            "video:uploader@href 1, video:title@lang 1, video:title@x 1",
        ),
        (video("<video:title xml:lang='de' xmlns:y='urn:y' xmlns='urn:z' xsi:type='t'>t</video:title>"), ""),
        (video("<video:title lang=de>t</video:title>"), ""),
        ("<url><loc>u</loc><i:image size='1'><i:loc>i</i:loc></i:image></url>".into(), "image:image@size 1"),
        ("<url><loc/><i:image><i:loc x='y'>i</i:loc></i:image></url>".into(), "image:loc@x 1"),
        ("<url><loc>u</loc><link rel='alternate' hreflang='de' href='d' type='t'/></url>".into(), ""),
    ] {
        assert_eq!(entries(URLSET, &entry).1, dropped, "{entry}");
    }
}

#[test]
fn more_namespaces_in_scope_than_the_limit_are_refused() {
    use crate::limits::NAMESPACES_MAX;

    let declared = |first, count| -> String {
        (first..first + count).map(|n| format!(" xmlns:a{n}='urn:{n}'")).collect()
    };
    let half = NAMESPACES_MAX / 2;
    let xml = |root, url, child| {
        let [root, url, child] = [declared(0, root), declared(100, url), declared(200, child)];
        format!(
            "<urlset{root}><url{url}><loc>u</loc><x{child}/><x{child}/></url><url{url}><loc>v</loc></url></urlset>"
        )
    };
    for (root, url, child) in
        [(NAMESPACES_MAX, 0, 0), (half, half, 0), (half, 1, half - 1), (0, 0, NAMESPACES_MAX)]
    {
        let (rows, read, _) = rows_of(xml(root, url, child).as_bytes(), BUFFER_BYTES);
        assert_eq!((rows.len(), &*read), (2, "whole"), "{root} + {url} + {child}");
        for (root, url, child) in
            [(root + 1, url, child), (root, url + 1, child), (root, url, child + 100_000)]
        {
            let (_, read, _) = rows_of(xml(root, url, child).as_bytes(), BUFFER_BYTES);
            let is_over = url + root + child > NAMESPACES_MAX;
            assert_eq!(read.contains("more than 64 namespaces"), is_over, "{root} + {url} + {child}: {read}");
        }
    }
}

#[test]
fn a_value_with_an_element_or_an_unknown_entity_in_it_is_not_pieced_together() {
    for (entry, row, dropped) in [
        ("<loc>u<b>v</b>w</loc>", "!bad-row u<b>w", "b 1"),
        ("<loc>u<b>&v;</b></loc><priority>1</priority>", "!bad-row u<b>", "b 1"),
        ("<loc>u</loc><lastmod>2024-05-01<x:b>-02</x:b></lastmod>", "u|2024-05-01<x:b>||", "x:b 1"),
        ("<loc>u</loc><i:image><i:loc>i<b>j</b></i:loc></i:image>", "u||| image=i<b>", "b 1"),
        ("<loc>u</loc><b>v &w;</b>", "u|||", "b 1"),
        ("<loc>u&v;w&amp;</loc>", "!bad-row u&v;w&", ""),
        ("<loc>u</loc><lastmod>2024&v;</lastmod>", "u|2024&v;||", ""),
        ("<loc>u</loc><i:image><i:loc>i&v;</i:loc></i:image>", "u||| image=i&v;", ""),
        ("<loc>u</loc><link rel='alternate' hreflang='de' href='d?&v;&amp;'/>", "u||| de=d?&v;&amp;", ""),
        ("<loc>u</loc><link rel='alternate' hreflang='de' href='d' title='&v;'/>", "u||| de=d", ""),
    ] {
        let want = (vec![row.to_owned()], dropped.to_owned());
        assert_eq!(entries(URLSET, &format!("<url>{entry}</url>")), want, "{entry}");
    }
}

#[test]
fn text_between_entries_is_a_rejected_row() {
    for (xml, want) in [
        ("a&amp;b<!-- c -->d<url><loc>u</loc></url>", &["1@8 !no-url a&bd", "2@26 u|||"][..]),
        (
            "<url><loc>u</loc></url>\n\u{feff} x\ny <url><loc>v</loc></url>&what; ",
            &["1@8 u|||", r"2@36 !no-url x\ny", "3@40 v|||", "4@63 !no-url &what;"],
        ),
        ("<url/>\n<![CDATA[ x ]]>\n<other>t</other>", &["1@8 |||", "2@15 !no-url x"]),
        ("<other>t</other>\n<![CDATA[ ]]><?pi?>&#32;\u{feff}", &[]),
    ] {
        let xml = format!("<urlset>{xml}</urlset>");
        assert_eq!(rows_of(xml.as_bytes(), BUFFER_BYTES).0, want, "{xml}");
        check_same(xml.as_bytes());
    }
}

#[test]
fn text_outside_the_root_element_ends_the_run() {
    let sitemap = "<urlset><url><loc>u</loc></url></urlset>";
    for (between, said) in [
        (
            "\nhttp://h.example/1\r\nhttp://h.example/2\n",
            Some("byte 41: text outside the root element: http://h.example/1;"),
        ),
        ("<![CDATA[x]]>", Some("byte 40: text outside the root element: x;")),
        (" &amp;", Some("byte 41: text outside the root element: &;")),
        ("<!-- c -->&what;", Some("byte 50: text outside the root element: &what;;")),
        ("\n\u{feff}<?xml version='1.0' encoding='utf-8'?>\n<!-- c --><?pi?><!DOCTYPE urlset>\r\n", None),
    ] {
        for xml in [format!("{sitemap}{between}{sitemap}"), format!("{sitemap}{between}")] {
            let (_, read, _) = rows_of(xml.as_bytes(), BUFFER_BYTES);
            assert!(said.map_or(read == "whole", |said| read.contains(said)), "{xml}: {read}");
            check_same(xml.as_bytes());
        }
    }
}

#[test]
fn text_between_the_elements_of_an_entry_is_shown_or_counted() {
    for (entry, row, dropped) in [
        ("http://h.example/b", "!no-url http://h.example/b", ""),
        ("<![CDATA[http://h.example/b]]>", "!no-url http://h.example/b", ""),
        (" &amp; ", "!no-url &", ""),
        ("&what;<lastmod>2024</lastmod>", "!no-url lastmod=2024 &what;", ""),
        (" <!-- c -->\n\t", "|||", ""),
        ("a<loc>u</loc>b", "u|||", "#text 1"),
        ("<loc>u</loc><i:image>x<i:loc>i</i:loc></i:image>", "u||| image=i", "#text 1"),
        ("<loc>u</loc><i:image>x</i:image>", "u|||", "image:image 1, #text 1"),
        ("<loc>u</loc><b>x</b>", "u|||", "b 1"),
    ] {
        let want = (vec![row.to_owned(), "v|||".to_owned()], dropped.to_owned());
        assert_eq!(entries(URLSET, &format!("<url>{entry}</url><url><loc>v</loc></url>")), want, "{entry}");
    }
}

#[test]
fn both_readers_agree_on_a_changed_or_missing_byte() {
    let plain =
        "<url><loc>http://h.example/&lt;ü</loc>\n<lastmod>2024-05-01</lastmod><priority>1</priority></url>\n";
    let whole = format!("<urlset>{}</urlset>", plain.repeat(3));
    let second = whole.find("url>\n").unwrap() + 5;
    let mut rows = 0;
    for at in second..second + plain.len() {
        for byte in *b"<>/&; \n\0#ax\xC3\xFF" {
            let mut xml = whole.clone().into_bytes();
            xml[at] = byte;
            rows += check_same(&xml);
        }
        let mut xml = whole.clone().into_bytes();
        xml.remove(at);
        rows += check_same(&xml) + check_same(&whole.as_bytes()[..at]);
    }
    assert!(rows > 2000, "{rows} are too few to prove anything");
}

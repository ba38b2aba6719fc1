use std::io::Cursor;
use std::path::Path;

use crate::intake::format::tests::Seen;
use crate::intake::format::{Format, FormatOptions, Opened, RawInput, open};

/// The format, the rows, and the dropped elements of a feed.
fn read(feed: &str, said: Option<Format>) -> Result<(Format, Vec<String>, Vec<String>), String> {
    let options = FormatOptions { format: said, ..FormatOptions::default() };
    let stream = RawInput::Stream(Box::new(Cursor::new(feed.to_owned().into_bytes())));
    let opened = open(Path::new("f"), stream, &options).map_err(|error| error.to_string())?;
    let (facts, Opened::Rows(reader)) = opened else { panic!("{feed} is text") };
    let (mut seen, mut dropped) = (Seen::default(), Vec::new());
    for unit in reader.units {
        let facts = unit.and_then(|unit| unit.read(&mut seen)).map_err(|error| error.to_string())?;
        let counts = facts.dropped_elements.shown();
        dropped.extend(counts.map(|(name, count)| format!("{name} {count}")));
    }
    // Offsets are checked elsewhere.
    let rows = seen.0.iter().map(|row| {
        let (line, row) = row.split_once('@').unwrap();
        format!("{line} {}", row.split_once(' ').unwrap().1)
    });
    Ok((facts.format.unwrap(), rows.collect(), dropped))
}

#[test]
fn items_of_rss_are_records_and_all_other_elements_are_counted() {
    let (format, rows, dropped) = read(include_str!("../../../../testdata/feeds/blog.rss"), None).unwrap();
    assert_eq!(format, Format::Rss);
    let want = [
        "1 https://www.example.com/first/?a=1&b=2|2002-09-07T09:42:31+00:00||",
        "2 https://www.example.com/second/?a=1&b=2|2002-09-06T23:05:00-05:00||",
        "3 https://www.example.com/third/|some day||",
        "4 https://www.example.com/fourth/|||",
        "5 https://www.example.com/sub/fifth?x#top|||",
        "6 /sixth|||",
        "7 !no-url lastmod=2002-09-07T09:42:31+00:00",
        "8 !bad-row <link>https://www.example.com/eighth/</link><link>https://www.example.com/ninth/</link>",
    ];
    assert_eq!(rows, want);
    let want = [
        "atom:link 2",
        "content:encoded 1",
        "dc:creator 1",
        "description 1",
        "guid 2",
        "image 1",
        "lastBuildDate 1",
        "link 1",
        "media:group 1",
        "title 5",
    ];
    let mut dropped = dropped;
    dropped.sort();
    assert_eq!(dropped, want);
}

#[test]
fn entries_of_atom_are_records_and_relative_links_have_the_base_around_them() {
    let (format, rows, mut dropped) =
        read(include_str!("../../../../testdata/feeds/news.atom"), None).unwrap();
    assert_eq!(format, Format::Atom);
    let want = [
        "1 https://www.example.com/2005/04/02/atom?a=1&b=2|2005-07-31T12:29:29+02:00||",
        "2 https://www.example.com/blog/2|2005-07-31||",
        "3 https://www.example.com/3|2005-07-31T12:29:29Z||",
        "4 !no-url lastmod=2005-07-31T12:29:29Z",
    ];
    assert_eq!(rows, want);
    dropped.sort();
    let want = [
        "a:content 1",
        "a:id 1",
        "a:link 7",
        "a:published 1",
        "a:title 1",
        "a:updated 1",
        "thr:in-reply-to 1",
    ];
    assert_eq!(dropped, want);
    let (_, rows, _) = read(include_str!("../../../../testdata/feeds/old.atom"), None).unwrap();
    assert_eq!(rows, ["1 http://www.example.com/1|2003-12-13T18:30:02Z||"]);
}

#[test]
fn unusual_feeds_are_read_or_their_items_are_rejected() {
    for (feed, want) in [
        ("<rss/>", &[][..]),
        ("<rss><channel/></rss>", &[]),
        (
            "\u{feff}<?xml version='1.0'?>\n<!DOCTYPE rss PUBLIC 'a' 'b'><rss><channel><item><link> u </link></item></channel></rss>",
            &["1 u|||"],
        ),
        ("<rss><channel><item/><item><link>u</link></item></channel></rss>", &["1 |||", "2 u|||"]),
        ("<rss><channel><item><link>u&nbsp;</link></item></channel></rss>", &["1 !bad-row u&nbsp;"]),
        ("<rss><channel><item><title>&nbsp;</title><link>u</link></item></channel></rss>", &["1 u|||"]),
        // The pieces around an element are no URL and no date.
        ("<rss><channel><item><link>u<b>v</b>w</link></item></channel></rss>", &["1 !bad-row u<b>w"]),
        ("<rss><channel><item><guid>u<b/></guid></item></channel></rss>", &["1 !bad-row u<b>"]),
        ("<rss><channel><item><link>u</link><guid>v<b/>&w;</guid></item></channel></rss>", &["1 u|||"]),
        (
            "<rss><channel><item><link>u</link><pubDate>2024&v;<b/></pubDate></item></channel></rss>",
            &["1 u|2024&v;<b>||"],
        ),
        ("<feed><entry><link href='u?&v;&amp;'/></entry></feed>", &["1 !bad-row u?&v;&amp;"]),
        ("<rss><channel><item><guid>u<b/>w</guid></item></channel></rss>", &["1 !bad-row u<b>w"]),
        ("<feed><entry><link href='u'/><updated>2024<b/>-05</updated></entry></feed>", &["1 u|2024<b>-05||"]),
        ("<rss><channel><item><title>a<b>v</b>w</title><link>u</link></item></channel></rss>", &["1 u|||"]),
        // An empty element is no second link.
        ("<rss><channel><item><link>u</link><link/></item></channel></rss>", &["1 u|||"]),
        ("<rss><channel><item><link> </link><link>u</link></item></channel></rss>", &["1 u|||"]),
        ("<rss><channel><item><guid/><guid>u</guid></item></channel></rss>", &["1 u|||"]),
        // Only elements of the feed's own namespaces are read.
        (
            "<feed xmlns='http://www.w3.org/2005/Atom'><entry><link xmlns='x' href='v'/><link href='u'/>\
             <updated xmlns='x'>2023</updated><updated>2024</updated></entry></feed>",
            &["1 u|2024||"],
        ),
        (
            "<a:feed xmlns:a='x'><a:entry><a:link xmlns:a='y' href='v'/><a:link xmlns:a='x' href='u'/></a:entry></a:feed>",
            &["1 u|||"],
        ),
        ("<feed><entry xmlns='http://www.w3.org/2005/Atom'><link href='u'/></entry></feed>", &["1 u|||"]),
        (
            "<rss xmlns='x'><channel><item xmlns='x'><link xmlns=''>u</link></item></channel></rss>",
            &["1 u|||"],
        ),
        (
            "<rss><channel><item><link xmlns='http://www.w3.org/2005/Atom' href='v'/><link>u</link></item></channel></rss>",
            &["1 u|||"],
        ),
        (
            "<rss><channel><item><link>u</link><pubDate>a</pubDate><pubDate>b</pubDate></item></channel></rss>",
            &["1 u|a | b||"],
        ),
        (
            "<rss>a<channel>b&amp;c<item><link>u</link></item>d<title>t</title><![CDATA[e]]></channel></rss>",
            &["1 !no-url a", "2 !no-url b&c", "3 u|||", "4 !no-url d", "5 !no-url e"],
        ),
        ("<feed>a<entry><link href='u'/></entry></feed>", &["1 !no-url a", "2 u|||"]),
        (
            "<rss><channel><item>http://h.example/&amp;</item></channel></rss>",
            &["1 !no-url http://h.example/&"],
        ),
        ("<feed><entry>&what;<updated>2024</updated></entry></feed>", &["1 !no-url lastmod=2024 &what;"]),
        ("<rss/>\n\u{feff}<rss><channel><item><link>u</link></item></channel></rss>\n", &["1 u|||"]),
        ("<rss><channel><link>c</link><textinput><link>t</link></textinput></channel></rss>", &[]),
        ("<feed><entry><link href='u' rel=''/></entry></feed>", &["1 !no-url "]),
        ("<feed><entry><link href=u /></entry></feed>", &["1 !bad-row "]),
        ("<feed xml:base='x'><entry><link href='u'/></entry></feed>", &["1 u|||"]),
        (
            "<feed xml:base='http://h.example/d/'><entry xml:base=''><link href='u'/></entry>\
             <entry xml:base='#f'><link href='v'/></entry><entry xml:base='e/'><link href='w'/></entry></feed>",
            &["1 http://h.example/d/u|||", "2 http://h.example/d/v|||", "3 http://h.example/d/e/w|||"],
        ),
        (
            "<feed><entry><source><link href='v'/><entry><link href='w'/></entry></source></entry></feed>",
            &["1 !no-url "],
        ),
    ] {
        assert_eq!(read(feed, None).unwrap().1, want, "{feed}");
    }
    let (_, rows, dropped) =
        read("<rss><channel><item>a<link>u</link></item></channel></rss>", None).unwrap();
    assert_eq!((rows, dropped), (vec!["1 u|||".to_owned()], vec!["#text 1".to_owned()]));
    let long = format!("<rss><channel><item><link>{}</link></item></channel></rss>", "u".repeat(100_000));
    assert_eq!(read(&long, None).unwrap().1.len(), 1);
}

#[test]
fn xml_that_is_no_feed_of_the_kind_is_refused_with_what_to_do() {
    for (feed, said, want) in [
        ("<rss><channel>", None, "ends too early"),
        ("<rss><channel></rss>", None, "broken XML"),
        (
            "<rdf:RDF xmlns:rdf='r'><item><link>u</link></item></rdf:RDF>",
            None,
            "most likely RSS 1.0; give the feed as RSS 2.0 or Atom",
        ),
        (
            "<!DOCTYPE html><html><head>",
            None,
            "is an HTML page; expected a sitemap, <urlset>; check the URL it came from",
        ),
        ("<html>", Some(Format::Rss), "is an HTML page; expected an RSS feed, <rss>"),
        ("<feed/>", Some(Format::Rss), "is an Atom feed; leave out"),
        ("<rss/>", Some(Format::Atom), "is an RSS feed; leave out"),
        ("<rss/>", Some(Format::Sitemap), "is an RSS feed; leave out"),
        ("<urlset/>", Some(Format::Atom), "is a sitemap; leave out"),
        (
            "<rss/>\nhttp://h.example/\n",
            None,
            "byte 7: text outside the root element: http://h.example/; remove it",
        ),
        (
            "<rss/><?xml version='1.0' encoding='latin1'?><rss/>",
            None,
            "byte 6: the documents in this file have different charsets",
        ),
        ("<opml/>", Some(Format::Rss), "is XML with the root <opml>; expected an RSS feed, <rss>"),
    ] {
        let error = read(feed, said).unwrap_err();
        assert!(error.contains(want), "{feed}: {error}");
    }
}

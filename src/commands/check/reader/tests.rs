use std::io::Cursor;

use super::*;
use crate::commands::check::EXTENSIONS;

const XMLNS: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

/// Returns the rules that `xml` violates, and the results of `each` for its entries.
fn read<T>(xml: impl Into<Vec<u8>>, mut each: impl FnMut(&Entry) -> T) -> (Vec<&'static str>, Vec<T>) {
    let mut findings = Findings::new("f".into(), 100);
    let content = Content::of(Cursor::new(xml.into())).unwrap();
    let mut reader = Reader::new(content, &mut findings);
    let (mut entry, mut made) = (Entry::default(), Vec::new());
    while reader.next(&mut entry).unwrap() {
        made.push(each(&entry));
    }
    (findings.kept.iter().map(|finding| finding.rule.as_str()).collect(), made)
}

fn loc(entry: &Entry) -> String {
    String::from_utf8(entry.loc().unwrap_or(b"none").to_vec()).unwrap()
}

#[test]
fn entries_have_their_own_values_and_none_of_the_previous_entry() {
    let xml = format!(
        "<urlset {XMLNS}><url><loc> a&amp;b&#x26;&lt; </loc><lastmod>l</lastmod><priority/></url>\n\
         <url><priority>p</priority></url><url/></urlset>"
    );
    let values = |entry: &Entry| {
        Tag::ALL.map(|tag| entry.value(tag).map(|value| String::from_utf8(value.to_vec()).unwrap()))
    };
    let (rules, entries) = read(xml, values);
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(entries[0], [some(" a&b&< "), some("l"), None, some("")]);
    assert_eq!(entries[1], [None, None, None, some("p")]);
    assert_eq!(entries[2], [None, None, None, None]);
    assert_eq!(rules, ["missing-element", "missing-element"]);
}

#[test]
fn a_namespace_may_have_a_prefix_or_be_the_default() {
    let xml = "\u{feff}<s:sitemapindex xmlns:s='http://www.google.com/schemas/sitemap/0.84'>\
               <s:sitemap><s:loc>a</s:loc></s:sitemap>\
               <sitemap xmlns='http://www.google.com/schemas/sitemap/0.84'><loc>b</loc></sitemap>\
               <sitemap><loc>c</loc></sitemap></s:sitemapindex>";
    assert_eq!(read(xml, loc), (vec!["unknown-element"], vec!["a".into(), "b".into()]));
}

#[test]
fn malformed_xml_is_found_wherever_it_is() {
    let check = |head: &str, attributes: &str, inside: &str, want: &[&str]| {
        let xml = format!("{head}<urlset {XMLNS}{attributes}>{inside}<url><loc>a</loc></url></urlset>");
        assert_eq!(read(xml.as_str(), loc).0, want, "{xml}");
    };
    for head in [
        "<?xml version='1.0'?>",
        "<?xml\nversion = \"1.0\" encoding='utf-8' standalone=\"no\" ?>",
        "<?xml version='1.0' standalone='yes'?>",
        "\u{feff}<?xml version='1.0'?><?xml-stylesheet href='a'?><?a?> <!-- ? -->",
    ] {
        check(head, "", "", &[]);
    }
    for head in [
        "<?xml?>",
        "<?xml encoding='UTF-8'?>",
        "<?xml version='1.1'?>",
        "<?xml version=1.0?>",
        "<?xml version='1.0\"?>",
        "<?xml version='1.0'encoding='UTF-8'?>",
        "<?xml version='1.0' standalone='yes' encoding='UTF-8'?>",
        "<?xml version='1.0' standalone='maybe'?>",
        "<?xml version='1.0' version='1.0'?>",
        "<?xml version='1.0' other='1.0'?>",
        " <?xml version='1.0'?>",
        "<!----><?xml version='1.0'?>",
        "<??>",
        "<? a?>",
        "<?1 a?>",
        "<?XML a?>",
        "<?a'b?>",
        "<!-- -- -->",
        "<!-- --->",
        "<!-- \u{1} -->",
        "<?a \u{ffff}?>",
        "a",
        "&#32;",
        "<![CDATA[]]>",
    ] {
        check(head, "", "", &["well-formed"]);
    }
    check("<?xml version='1.0' encoding='ISO-8859-1'?>", "", "", &["encoding"]);
    for utf_16 in [u16::to_le_bytes, u16::to_be_bytes] {
        let xml = "<?xml version='1.0' encoding='UTF-16'?><urlset/>";
        let bytes: Vec<u8> = xml.encode_utf16().flat_map(utf_16).collect();
        assert_eq!(read(bytes, loc).0, ["encoding"]);
    }
    check("<!DOCTYPE urlset>", "", "", &["doctype"]);
    check("<?a:b?>", "", "", &["namespace"]);
    for attributes in
        [" a='1' a='2'", " a='1'b='2'", " a", " a=1", " 1a='1'", " a='<'", " a='&#0;'", " \u{c}"]
    {
        check("", attributes, "", &["well-formed"]);
    }
    for attributes in
        [" xmlns:xmlns='a'", " xmlns:xml='a'", " xmlns:a=''", " xmlns:a='b' xmlns:c='b' a:x='' c:x=''"]
    {
        let found = if attributes.len() > 20 {
            vec!["namespace", "attribute", "attribute"]
        } else {
            vec!["namespace"]
        };
        check("", attributes, "", &found);
    }
    for inside in ["]]>", "&#xD800;", "&#x1F;", "\u{b}", "<1/>", "<a\"/>", "<a:/ >", "</ url>"] {
        let found = read(format!("<urlset {XMLNS}><url><loc>a{inside}</loc></url></urlset>"), loc).0;
        assert!(found.contains(&"well-formed"), "{inside}: {found:?}");
    }
    check("", "", "<a:b xmlns:a='u'/><a:b:c xmlns:a='u'/>", &["namespace"]);
}

#[test]
fn text_with_an_unescaped_bracket_is_one_finding() {
    for inside in ["<loc>a<b</loc>", "<lastmod>a<b</lastmod>", "<a]b/>", "<x:a]b/>", "<loc>a</loc> <3"] {
        let xml = format!("<urlset {XMLNS}><url>{inside}</url></urlset>");
        assert_eq!(read(xml.as_str(), loc).0, ["well-formed"], "{inside}");
        let mut findings = Findings::new("f".into(), 9);
        let mut reader = Reader::lenient(Content::of(Cursor::new(xml)).unwrap(), &mut findings);
        while reader.next(&mut Entry::default()).unwrap() {}
        assert!(findings.damage.is_some(), "{inside}");
    }
    let lenient = format!("<urlset {XMLNS}><url><loc>a</loc><x]y:link/></url></urlset>");
    let mut findings = Findings::new("f".into(), 9);
    let mut reader = Reader::lenient(Content::of(Cursor::new(lenient)).unwrap(), &mut findings);
    while reader.next(&mut Entry::default()).unwrap() {}
    assert!(findings.damage.is_some());
}

#[test]
fn links_and_images_are_found_by_their_namespace() {
    let xml = format!(
        "<urlset {XMLNS} xmlns:h='http://www.w3.org/1999/xhtml' xmlns:i='http://www.google.com/schemas/sitemap-image/1.1'>\
         <url><loc>a</loc><h:link href='x&amp;y' rel='alternate' hreflang='de' id='1'/><h:p><loc>no</loc></h:p>\
         <i:image><i:loc>i</i:loc><i:caption>c &gt; d</i:caption></i:image></url><url><loc>b</loc></url></urlset>"
    );
    // The first fields of each element of an extension, one after the other.
    let fields = |entry: &Entry, name: &str, count: usize| {
        let number = EXTENSIONS.iter().position(|extension| extension.name == name).unwrap();
        let elements = entry.elements(number).iter();
        let fields = elements
            .map(|element| (0..count).flat_map(|field| element.get(field).unwrap().to_vec()).collect());
        fields.collect::<Vec<Vec<u8>>>()
    };
    let (rules, entries) = read(xml, |entry| [fields(entry, "alternates", 3), fields(entry, "images", 1)]);
    assert_eq!(rules, [""; 0]);
    assert_eq!(entries, [[vec![b"alternatedex&y".to_vec()], vec![b"i".to_vec()]], [vec![], vec![]]]);
}

#[test]
fn elements_of_extensions_in_other_namespaces_are_reported_once_and_other_elements_never() {
    let urls = |body: &str| {
        let url = |n| format!("<url><loc>{n}</loc>{body}</url>");
        format!("<urlset {XMLNS} xmlns:a='http://a.example/'>{}{}</urlset>", url(1), url(2))
    };
    for (prefix, element, uri) in [
        ("image", "image", "https://www.google.com/schemas/sitemap-image/1.1"),
        ("video", "video", "http://www.google.com/schemas/sitemap-video/1.0"),
        ("news", "news", "http://www.google.com/schemas/sitemap-news/1.1"),
        ("xhtml", "link", "http://www.w3.org/TR/xhtml11/xhtml11_schema.html"),
        ("x", "link", "http://www.w3.org/2002/03/xhtml"),
        ("image", "image", "http://www.w3.org/1999/xhtml"),
    ] {
        let xml =
            urls(&format!("<{prefix}:{element} xmlns:{prefix}='{uri}'><{prefix}:b/></{prefix}:{element}>"));
        assert_eq!(read(xml, loc), (vec!["namespace"], vec!["1".into(), "2".into()]), "{prefix} {uri}");
    }
    for other in ["<a:image/>", "<a:link/>", "<image:a xmlns:image='u'/>", "<image xmlns='u'/>"] {
        assert_eq!(read(urls(other), loc).0, [""; 0], "{other}");
    }
}

#[test]
fn a_document_read_in_pieces_gives_the_same_result() {
    /// Reads one byte at a time.
    struct Slowly(Cursor<Vec<u8>>);
    impl io::Read for Slowly {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let one = to.len().min(1);
            self.0.read(&mut to[..one])
        }
    }
    let xml = format!("<urlset {XMLNS}><url><loc>http://h.example/</loc></url></urlset>");
    let mut findings = Findings::new("f".into(), 1);
    let content = Content::of(Slowly(Cursor::new(xml.clone().into_bytes()))).unwrap();
    let mut reader = Reader::new(content, &mut findings);
    let mut entry = Entry::default();
    assert!(reader.next(&mut entry).unwrap() && !reader.next(&mut entry).unwrap());
    assert_eq!(reader.hash(), Some(xxhash_rust::xxh3::xxh3_128(xml.as_bytes())));
    assert_eq!((reader.entries(), findings.counts.total()), (1, 0));
}

#[test]
fn stray_text_is_shown_as_it_is_written_and_white_space_is_none() {
    let found = |text: &str| {
        let xml = format!("<urlset {XMLNS}>{text}<url><loc>http://h.example/</loc></url></urlset>");
        let mut findings = Findings::new("f".into(), 9);
        let mut reader = Reader::new(Content::of(Cursor::new(xml)).unwrap(), &mut findings);
        while reader.next(&mut Entry::default()).unwrap() {}
        findings.kept.into_iter().map(|finding| finding.words).collect::<Vec<_>>()
    };
    for blank in ["", " \r\n\t", "&#10;", "&#x20;&#9;"] {
        assert_eq!(found(blank), [""; 0], "{blank:?}");
    }
    for (text, said) in [
        (" a b ", "text between elements: a b"),
        ("&#65;", "text between elements: &#65;"),
        ("&amp;", "text between elements: &amp;"),
        ("<![CDATA[a]]>", "text between elements: a"),
        ("<![CDATA[]]>", "a CDATA section between elements"),
        ("<![CDATA[ ]]>", "a CDATA section between elements"),
    ] {
        assert_eq!(found(text), [said], "{text}");
    }
    for outside in ["&#10;", "<![CDATA[]]>"] {
        let xml = format!("<urlset {XMLNS}><url><loc>http://h.example/</loc></url></urlset>{outside}");
        assert_eq!(read(xml, loc).0, ["well-formed"], "{outside}");
    }
}

#[test]
fn no_input_makes_the_reader_panic() {
    let xml = format!(
        "<?xml version='1.0'?><urlset {XMLNS}><!-- c --><url><loc>a&amp;</loc><x:y xmlns:x='u'/></url></urlset>"
    );
    for at in 0..xml.len() {
        read(&xml[..at], loc);
        for byte in [b'<', b'>', b'&', b'/', b'"', b'!', b'?', b':', 0, 0xff] {
            let mut damaged = xml.clone().into_bytes();
            damaged[at] = byte;
            read(damaged, loc);
        }
    }
}

/// The format, the rules that it violates, and URL and date of each entry.
fn read_any(text: &str) -> (DocumentFormat, Vec<&'static str>, Vec<String>) {
    let mut findings = Findings::new("f".into(), 100);
    let mut reader = Reader::new(Content::of(Cursor::new(text.to_owned())).unwrap(), &mut findings);
    let (mut entry, mut entries) = (Entry::default(), Vec::new());
    while reader.next(&mut entry).unwrap() {
        let lastmod = entry.value(Tag::Lastmod).unwrap_or_default();
        entries.push(format!("{} {}", loc(&entry), str::from_utf8(lastmod).unwrap()).trim_end().to_owned());
    }
    let format = reader.format();
    (format, findings.kept.iter().map(|finding| finding.rule.as_str()).collect(), entries)
}

#[test]
fn text_has_a_url_on_each_line() {
    for (text, want, rules) in [
        ("http://a.b/\nhttps://a.b/c", &["http://a.b/", "https://a.b/c"][..], &[][..]),
        ("\u{feff}\r\nHTTP://a.b/\r\n \r\n /x \r\n", &["HTTP://a.b/", "/x"], &[]),
        ("http://a.b/\u{fc}\n", &["http://a.b/\u{fc}"], &[]),
    ] {
        let want: Vec<String> = want.iter().map(|line| (*line).to_owned()).collect();
        assert_eq!(read_any(text), (DocumentFormat::Text, rules.to_vec(), want), "{text:?}");
    }
    let latin = b"http://a.b/\nhttp://a.b/\xfc\nhttp://a.b/c\n".to_vec();
    assert_eq!(read(latin, loc), (vec!["encoding"], vec!["http://a.b/".to_owned()]));
    for count in [50_000, 50_001] {
        let (format, rules, entries) = read_any(&"http://a.b/\n".repeat(count));
        assert_eq!((format, entries.len()), (DocumentFormat::Text, count));
        assert_eq!(rules, if count > 50_000 { vec!["too-many-entries"] } else { vec![] });
    }
    let long = format!("http://a.b/{}\nhttp://a.b/", "x".repeat(200_000));
    let (_, rules, entries) = read_any(&long);
    assert!(rules.is_empty() && entries.len() == 2 && entries[0].len() == 4096);
    assert_eq!(read_any("www.a.b\n").1, ["well-formed"]);
    assert_eq!(read_any("").1, ["well-formed"]);
}

#[test]
fn feeds_are_sitemaps_whose_entries_have_the_link_and_the_date_of_their_items() {
    let (format, rules, entries) = read_any(include_str!("../../../../testdata/feeds/blog.rss"));
    assert_eq!(format, DocumentFormat::Rss);
    let want = [
        "https://www.example.com/first/?a=1&b=2 2002-09-07T09:42:31+00:00",
        "https://www.example.com/second/?a=1&b=2 2002-09-06T23:05:00-05:00",
        "https://www.example.com/third/ some day",
        "https://www.example.com/fourth/",
        "fifth?x#top",
        "/sixth",
        "none 2002-09-07T09:42:31+00:00",
        "https://www.example.com/eighth/",
    ];
    assert_eq!(entries, want);
    assert_eq!(rules, ["missing-element", "repeated-element"]);
    let (format, rules, entries) = read_any(include_str!("../../../../testdata/feeds/news.atom"));
    assert_eq!(format, DocumentFormat::Atom);
    let want = [
        "2005/04/02/atom?a=1&b=2 2005-07-31T12:29:29+02:00",
        "2 2005-07-31",
        "https://www.example.com/3 2005-07-31T12:29:29Z",
        "none 2005-07-31T12:29:29Z",
    ];
    assert_eq!(entries, want);
    assert_eq!(rules, ["missing-element"]);
    let old = read_any(include_str!("../../../../testdata/feeds/old.atom"));
    assert_eq!(
        old,
        (DocumentFormat::Atom, vec![], vec!["http://www.example.com/1 2003-12-13T18:30:02Z".to_owned()])
    );
}

#[test]
fn xml_that_is_no_sitemap_and_empty_feeds_are_findings() {
    for (xml, want) in [
        ("<rss version='2.0'/>", "empty"),
        ("<rss><channel><title>t</title></channel></rss>", "empty"),
        ("<feed xmlns='http://www.w3.org/2005/Atom'/>", "empty"),
        ("<rss><channel><item/></channel></rss>", "missing-element"),
        ("<rss><channel><item><x:link>u</x:link><link>u</link></item></channel></rss>", "namespace"),
        ("<rss><channel><item>", "well-formed"),
        ("<!DOCTYPE html><html/>", "root"),
        ("<!DOCTYPE urlset><urlset/>", "doctype"),
        ("<html/>", "root"),
        ("<r:RDF xmlns:r='r'/>", "root"),
    ] {
        assert_eq!(read_any(xml).1, [want], "{xml}");
    }
}

#[test]
fn the_clause_about_depth_has_the_limits_of_the_reader() {
    let clause = Rule::TooDeep.clause();
    for limit in [elements::DEPTH_MAX, elements::FEED_DEPTH_MAX] {
        assert!(clause.contains(&format!(" {limit}")), "{clause}");
    }
}

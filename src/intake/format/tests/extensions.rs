//! An extension with elements in its element, as video and news have them: its definition is all that readers need.

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::clean::Cleaner;
use crate::intake::format::shapes;
use crate::intake::format::sitemap::extended::{Child, Extended};
use crate::sitemap::extensions::{Extension, ExtrasBuffer, Field, Occurs, Value};
use crate::sitemap::tags::{TagName, TagReason};

/// It is not in the table and borrows the number of images.
static CLIP: Extension = Extension {
    tag: TagName::Images,
    reason: TagReason::Image,
    values_max: 1,
    namespaces: &["http://h.example/clip"],
    prefix: "clip",
    element: "clip",
    marks: &[],
    fields: &[
        field(&["title"], &["title"], None, Occurs::Once),
        field(&["loc", "url"], &["loc"], None, Occurs::Once),
        field(&["currency"], &["price"], Some("currency"), Occurs::Optional),
        field(&["price"], &["price"], None, Occurs::Optional),
        field(&["tags"], &["tag"], None, Occurs::Repeated),
        field(&["publication.name"], &["publication", "name"], None, Occurs::Optional),
        field(&["publication.language"], &["publication", "language"], None, Occurs::Optional),
    ],
    text_field: 1,
    is_map: false,
    earlier_key: None,
    start: b"<clip:clip>",
    write,
};

const fn field(
    keys: &'static [&'static str],
    path: &'static [&'static str],
    attribute: Option<&'static str>,
    occurs: Occurs,
) -> Field {
    Field { keys, path, attribute, occurs }
}

fn write(clip: Value<'_>, _: &mut Cleaner, out: &mut Vec<u8>) -> bool {
    let text = |number| String::from_utf8(clip.text(number).to_vec()).unwrap();
    let mut xml = format!("<clip:clip><clip:title>{}</clip:title><clip:loc>{}</clip:loc>", text(0), text(1));
    if !text(3).is_empty() {
        xml += &format!("<clip:price currency=\"{}\">{}</clip:price>", text(2), text(3));
    }
    for tag in clip.texts(4) {
        xml += &format!("<clip:tag>{}</clip:tag>", str::from_utf8(tag).unwrap());
    }
    if !text(5).is_empty() {
        xml += &format!("<clip:publication><clip:name>{}</clip:name>", text(5));
        xml += &format!("<clip:language>{}</clip:language></clip:publication>", text(6));
    }
    out.extend(xml.into_bytes());
    out.extend(b"</clip:clip>");
    true
}

/// The values that `add` adds: each with the XML that is written of it, or as text if it is not complete.
fn values(add: impl FnOnce(&mut ExtrasBuffer)) -> Vec<String> {
    let mut buffer = ExtrasBuffer::default();
    add(&mut buffer);
    let shown = |mut value: Value<'_>| {
        value.extension = &CLIP;
        let mut xml = Vec::new();
        let is_written = value.is_complete() && (CLIP.write)(value, &mut Cleaner::default(), &mut xml);
        String::from_utf8(if is_written { xml } else { value.to_text() }).unwrap()
    };
    buffer.values().values().map(shown).collect()
}

/// Reads the element `xml`, and says how many elements are no part of it.
fn read(xml: &str, to: &mut ExtrasBuffer) -> usize {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    let (mut extended, mut level, mut unknown) = (None, 0, 0);
    loop {
        match reader.read_event().unwrap() {
            Event::Start(tag) => {
                match &mut extended {
                    None => extended = Extended::open([&CLIP], &tag, to).unwrap(),
                    Some(extended) => {
                        let child = Extended::open_child(extended, level, &tag, to).unwrap();
                        unknown += usize::from(child == Child::Unknown);
                    }
                }
                level += 1;
            }
            Event::Text(text) => extended.as_mut().unwrap().text().extend(text.as_bytes()),
            Event::End(_) => {
                level -= 1;
                match level {
                    0 => drop(extended.take().unwrap().close(to)),
                    _ => extended.as_mut().unwrap().close_child(level, to),
                }
            }
            Event::Eof => return unknown,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn nested_elements_are_read_as_the_extension_defines_them() {
    let full = "<clip:clip><clip:title>t</clip:title><clip:loc>u</clip:loc><clip:price currency=\"EUR\">5</clip:price>\
                <clip:tag>a</clip:tag><clip:tag>b</clip:tag>\
                <clip:publication><clip:name>n</clip:name><clip:language>de</clip:language></clip:publication></clip:clip>";
    let least = "<clip:clip><clip:title>t</clip:title><clip:loc>u</clip:loc></clip:clip>";
    let json = r#"{"title":"t","url":"u","price":"5","currency":"EUR","tags":["a","b"],"x":1,
        "publication":{"name":"n","language":"de"}}"#;
    for (json, want) in [
        (json, &[full][..]),
        (&format!("[{json},{json}]"), &[full, full]),
        (r#"{"title":"t","loc":"u","price":null,"tags":[]}"#, &[least]),
        // What lacks a required field, or has one twice or of another type, stays to be dropped as it was written.
        (r#"{"title":"t"}"#, &[r#"title= loc={"title":"t"}"#]),
        (r#"{"title":"t","loc":"u","url":"v"}"#, &[r#"title= loc={"title":"t","loc":"u","url":"v"}"#]),
        (r#"{"title":"t","loc":"u","price":[]}"#, &[least]),
        (r#"{"title":"t","loc":"u","tags":[7]}"#, &[r#"title= loc={"title":"t","loc":"u","tags":[7]}"#]),
        (r#""u""#, &[r#"title= loc="u""#]),
    ] {
        assert_eq!(values(|to| shapes::add_cell(&CLIP, json.as_bytes(), to)), want, "{json}");
    }
    assert_eq!(values(|to| shapes::add_cell(&CLIP, b"u", to)), ["title= loc=u"]);

    for (xml, want, unknown) in [
        (full, full, 0),
        (least, least, 0),
        ("<c:clip x='y'><c:loc> u </c:loc><c:title>t</c:title><c:name>n</c:name></c:clip>", least, 1),
        ("<clip><title>t</title><loc>u</loc><publication><loc>v</loc></publication></clip>", least, 1),
        // A field that comes twice stays to be dropped.
        ("<clip><title>t</title><title>s</title><loc>u</loc></clip>", "title=t title=s loc=u", 0),
    ] {
        let mut found = None;
        assert_eq!(values(|to| found = Some(read(xml, to))), [want], "{xml}");
        assert_eq!(found, Some(unknown), "{xml}");
    }
    // Without any field there is no value.
    assert!(values(|to| assert_eq!(read("<clip><publication/></clip>", to), 0)).is_empty());
}

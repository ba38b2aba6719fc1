//! An extension with elements in its element: its definition is all that readers and the writer need.

use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::Event;

use crate::clean::Cleaner;
use crate::intake::format::shapes;
use crate::intake::format::sitemap::extended::{Child, Extended};
use crate::sitemap::extensions::{Extension, ExtrasBuffer, Field, Occurs, Value, Writer, text};
use crate::sitemap::tags::{TagName, TagReason};

/// It is not in the table and borrows the number of images.
static CLIP: Extension = Extension {
    tag: TagName::Images,
    reason: TagReason::Image,
    field_reason: TagReason::ImageField,
    values_max: 1,
    namespaces: &["http://h.example/clip"],
    prefix: "clip",
    element: "clip",
    marks: &[],
    fields: &[
        Field::required(&["title"], &["title"], text::<9>),
        Field::required(&["loc", "url"], &["loc"], text::<9>),
        Field::optional(&["price"], &["price"], text::<9>),
        Field::attribute(&["currency"], &["price"], "currency", Occurs::WithText, text::<3>),
        Field::attribute(&["size"], &["price"], "size", Occurs::Optional, text::<3>),
        Field { occurs: Occurs::AtMost(2), ..Field::optional(&["tags"], &["tag"], text::<9>) },
        Field::optional(&["publication.name"], &["publication", "name"], text::<9>),
        Field::optional(&["publication.language"], &["publication", "language"], text::<9>),
        Field::optional(&["last"], &["last"], text::<9>),
    ],
    text_field: None,
    is_map: false,
    earlier_key: None,
    start: b"<clip:clip>",
    write,
};

fn write<'a>(clip: Value<'a>, writer: &mut Writer<'_, 'a>) -> bool {
    writer.element(clip)
}

/// The values that `add` adds: each with the XML that is written of it and the fields that are dropped, or as text if it cannot be
/// written. Names of ignored fields come last.
fn values(add: impl FnOnce(&mut ExtrasBuffer)) -> Vec<String> {
    let mut buffer = ExtrasBuffer::default();
    add(&mut buffer);
    let shown = |mut value: Value<'_>| {
        value.extension = &CLIP;
        let (mut xml, mut cleaner) = (Vec::new(), Cleaner::default());
        let mut writer = Writer::new(&mut cleaner, &mut xml);
        let is_written = writer.write(value);
        let dropped = std::mem::take(&mut writer.dropped);
        assert!(is_written || xml.is_empty());
        let mut shown = String::from_utf8(if is_written { xml } else { value.to_text() }).unwrap();
        for (name, text) in dropped.iter().filter(|_| is_written) {
            shown += &format!(" -{name}={}", str::from_utf8(text).unwrap());
        }
        shown
    };
    let mut values: Vec<_> = buffer.values().values().map(shown).collect();
    values.extend(buffer.take_ignored());
    values
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
                    None => extended = Extended::open(&CLIP, &tag, to).unwrap(),
                    Some(extended) => {
                        let child = Extended::open_child(extended, level, &tag, to).unwrap();
                        unknown += usize::from(child == Child::Unknown);
                    }
                }
                level += 1;
            }
            Event::Text(text) => extended.as_mut().unwrap().text().extend(text.as_bytes()),
            Event::GeneralRef(name) => {
                let text = resolve_xml_entity(&name).unwrap();
                extended.as_mut().unwrap().text().extend(text.as_bytes());
            }
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
                <clip:publication><clip:name>n</clip:name><clip:language>de</clip:language></clip:publication>\
                <clip:last>&lt;&apos;</clip:last></clip:clip>";
    let least = "<clip:clip><clip:title>t</clip:title><clip:loc>u</clip:loc></clip:clip>";
    let json = r#"{"title":"t","url":"u","price":5,"currency":"EUR","tags":["a","b"],
        "publication":{"name":"n","language":"de"},"last":"<'"}"#;
    for (json, want) in [
        (json, &[full][..]),
        (&format!("[{json},{json}]"), &[full, full]),
        (r#"{"title":"t","loc":"u","price":null,"tags":[]}"#, &[least]),
        (r#"{"title":"t","loc":"u","price":[]}"#, &[least]),
        (r#"{"title":true,"loc":"u"}"#, &[&least.replace(">t<", ">true<")]),
        // A value that lacks a required field, or has one of another type, is kept as it was written, and is dropped later.
        (r#"{"title":"t"}"#, &[r#"clip={"title":"t"}"#]),
        (r#"{"title":"t","loc":"u","url":"v"}"#, &[r#"clip={"title":"t","loc":"u","url":"v"}"#]),
        (r#"{"title":["t"],"loc":"u"}"#, &[r#"clip={"title":["t"],"loc":"u"}"#]),
        // An unpaired surrogate.
        (r#"{"title":"\ud83d","loc":"u"}"#, &[r#"clip={"title":"\ud83d","loc":"u"}"#]),
        (r#"{"title":null,"loc":"u"}"#, &[r#"clip={"title":null,"loc":"u"}"#]),
        (r#""u""#, &[r#"clip="u""#]),
        (r#"{"title":"","loc":"u"}"#, &[r#"clip={"title":"","loc":"u"}"#]),
        // A required text that cannot be written.
        (r#"{"title":"0123456789","loc":"u"}"#, &["title=0123456789 loc=u"]),
        (r#"{"title":"\u0001","loc":"u"}"#, &["title=\u{1} loc=u"]),
        // An optional field that cannot be written is dropped alone, a text with its attributes, and each field once.
        (r#"{"title":"t","loc":"u","last":"0123456789"}"#, &[&format!("{least} -last=0123456789")]),
        (r#"{"title":"t","loc":"u","last":{"a":1}}"#, &[&format!(r#"{least} -last={{"a":1}}"#)]),
        (r#"{"title":"t","loc":"u","last":"\ud83d"}"#, &[&format!(r#"{least} -last="\ud83d""#)]),
        (
            r#"{"title":"t","loc":"u","tags":[[7],"\ude00"]}"#,
            &[&format!(r#"{least} -tags=[7] -tags="\ude00""#)],
        ),
        (
            r#"{"title":"t","loc":"u","price":"5","currency":["EUR"]}"#,
            &[&format!(r#"{least} -price=5 -currency=["EUR"]"#)],
        ),
        (r#"{"title":"t","loc":"u","price":"5"}"#, &[&format!("{least} -price=5")]),
        (
            r#"{"title":"t","loc":"u","price":"5","currency":"EURO"}"#,
            &[&format!("{least} -price=5 -currency=EURO")],
        ),
        (
            r#"{"title":"t","loc":"u","price":"0123456789","currency":"EUR","size":"long"}"#,
            &[&format!("{least} -price=0123456789 -currency=EUR -size=long")],
        ),
        (r#"{"title":"t","loc":"u","currency":"EUR"}"#, &[&format!("{least} -currency=EUR")]),
        (
            r#"{"title":"t","loc":"u","price":"5","currency":"EUR","size":"long"}"#,
            &[&format!(
                "{} -size=long",
                least.replace("</clip:clip>", "<clip:price currency=\"EUR\">5</clip:price></clip:clip>")
            )],
        ),
        (
            r#"{"title":"t","loc":"u","tags":["a","b","c"]}"#,
            &[&format!(
                "{} -tags=c",
                least.replace("</clip:clip>", "<clip:tag>a</clip:tag><clip:tag>b</clip:tag></clip:clip>")
            )],
        ),
        // Keys that are not fields, at any depth.
        (
            r#"{"title":"t","loc":"u","x":1,"y":null,"publication":{"z":{"a":1}}}"#,
            &[least, "images.x", "images.publication.z"],
        ),
        (r#"{"title":"t","loc":"u","publication":"n"}"#, &[least, "images.publication"]),
    ] {
        assert_eq!(values(|to| shapes::add_cell(&CLIP, json.as_bytes(), to)), want, "{json}");
    }
    assert_eq!(values(|to| shapes::add_cell(&CLIP, b"u", to)), ["clip=u"]);

    let dropped = [least, "clip:clip@x"];
    let repeated = format!("{least} -last=1 -last=2");
    for (xml, want, unknown) in [
        (full, &[full][..], 0),
        (least, &[least], 0),
        ("<c:clip x='y'><c:loc> u </c:loc><c:title>t</c:title><c:name>n</c:name></c:clip>", &dropped, 1),
        ("<clip><title>t</title><loc>u</loc><publication><loc>v</loc></publication></clip>", &[least], 1),
        // If a required field occurs twice, the value is kept and dropped later; an optional field is dropped alone.
        ("<clip><title>t</title><title>s</title><loc>u</loc></clip>", &["title=t title=s loc=u"], 0),
        ("<clip><title>t</title><loc>u</loc><last>1</last><last>2</last><last/></clip>", &[&repeated], 0),
    ] {
        let mut found = None;
        assert_eq!(values(|to| found = Some(read(xml, to))), want, "{xml}");
        assert_eq!(found, Some(unknown), "{xml}");
    }
    // Without any field there is no value.
    assert!(values(|to| assert_eq!(read("<clip><publication/></clip>", to), 0)).is_empty());
}

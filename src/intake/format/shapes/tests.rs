use super::*;
use crate::sitemap::extensions::Value;
use crate::sitemap::tags::TagName;

/// The texts of each value that `add` adds, separated by spaces.
fn values(add: impl FnOnce(&mut ExtrasBuffer)) -> Vec<String> {
    let mut buffer = ExtrasBuffer::default();
    add(&mut buffer);
    let text = |value: Value<'_>| {
        let texts = (0..value.extension.fields.len())
            .chain([UNNAMED])
            .map(|number| crate::escape::shown(value.text(number)));
        texts.collect::<Vec<_>>().join(" ").trim().to_owned()
    };
    let ignored = buffer.take_ignored();
    buffer.values().values().map(text).chain(ignored).collect()
}

fn links(json: &str) -> Vec<String> {
    values(|buffer| add_json(TagName::Alternates.extension().unwrap(), json, buffer))
}

fn images() -> &'static Extension {
    TagName::Images.extension().unwrap()
}

#[test]
fn links_are_read_from_every_likely_shape_and_other_values_become_invalid_tags() {
    for (json, want) in [
        (r#"[{"hreflang":"de","href":"h:/d"},{"lang":"fr","url":"h:\/f"}]"#, &["de h:/d", "fr h:/f"][..]),
        (r#"{"href":"h:/d","HREFLANG":"de","x":1}"#, &["de h:/d", "alternates.x"]),
        (r#"{"de":"h:/d","x-default":"h:/"}"#, &["de h:/d", "x-default h:/"]),
        (r#"[{"de":"h:/d"},{"fr":5},{"it":null}]"#, &["de h:/d", "fr 5"]),
        (r#"[null,"",{},[]]"#, &[]),
        ("null", &[]),
        ("{}", &[]),
        (r#""de""#, &[r#""de""#]),
        ("7", &["7"]),
        (r#"{"hreflang":"de"}"#, &[r#"{"hreflang":"de"}"#]),
        (r#"{"hreflang":"de","href":null}"#, &[r#"{"hreflang":"de","href":null}"#]),
        (r#"{"hreflang":"de","lang":"fr","href":"h"}"#, &[r#"{"hreflang":"de","lang":"fr","href":"h"}"#]),
        (r#"[["de","h:/d"],["fr","h:\/f"]]"#, &["de h:/d", "fr h:/f"]),
        (r#"[["de",null],["fr"," "],["it",{}]]"#, &[]),
        (r#"{"hreflang":"de","lang":null,"href":"h:/d","url":""}"#, &["de h:/d"]),
        (r#"{"hreflang":null,"href":""}"#, &[]),
        (r#"[["h:/d"]]"#, &[r#"["h:/d"]"#]),
        (r#"[["de",5],["de","h:/d",""]]"#, &[r#"["de",5]"#, r#"["de","h:/d",""]"#]),
        (r#"["de","h:/d"]"#, &[r#""de""#, r#""h:/d""#]),
    ] {
        assert_eq!(links(json), want, "{json}");
    }
    let are_links = |json| is_array_of_objects(TagName::Alternates.extension().unwrap(), json);
    assert!(are_links(r#"[{"hreflang":null,"href":"h"}]"#));
    assert!(!are_links(r#"["h:/a"]"#) && !are_links(r#"[{"href":"h:/a"}]"#));
}

#[test]
fn images_are_read_from_every_likely_shape_and_other_values_become_invalid_tags() {
    for (json, want) in [
        (r#""h:/i""#, &["h:/i"][..]),
        (r#"["h:/i",{"loc":"h:/j","title":"t"},{"url":"h:/\u006b"}]"#, &["h:/i", "h:/j   t", "h:/k"]),
        (r#"{"loc":"h:/i","alt":"a","size":null}"#, &["h:/i", "images.alt"]),
        (r#"{"loc":"h:/i"}"#, &["h:/i"]),
        (r#"[null,""," ",{}]"#, &[]),
        (r#"[{"loc":null,"url":"h:/i"},{"loc":"h:/j","url":""}]"#, &["h:/i", "h:/j"]),
        (r#"[{"loc":null},{"loc":"","title":null},{"title":"t"}]"#, &[r#"{"title":"t"}"#]),
        // An unpaired surrogate is not text.
        (r#"["h:/\ud83d","\ud83d\ude00"]"#, &[r#""h:/\\ud83d""#, "😀"]),
        (r#"{"loc":"h:/\ud83d"}"#, &[r#"{"loc":"h:/\\ud83d"}"#]),
        // Some stand for bytes.
        (r#"["h:/caf\udce9",{"loc":"h:/\udc80\udcbf\udcc0"}]"#, &[r"h:/caf\xe9", r"h:/\x80\xbf\xc0"]),
        (r#"["h:/\udce9\ud83d","h:/\udc7f"]"#, &[r#""h:/\\udce9\\ud83d""#, r#""h:/\\udc7f""#]),
        (r#"[5,{"src":"h:/i"},true]"#, &["5", r#"{"src":"h:/i"}"#, "true"]),
        (r#"{"loc":"h:/i","url":"h:/j"}"#, &[r#"{"loc":"h:/i","url":"h:/j"}"#]),
    ] {
        assert_eq!(values(|buffer| add_json(images(), json, buffer)), want, "{json}");
    }
}

#[test]
fn news_without_values_is_no_value_and_null_is_no_second_name() {
    let news = |json: &str| {
        values(|buffer| add_json(TagName::News.extension().expect("news is an extension"), json, buffer))
    };
    assert!(news(r#"{"publication":{"name":null,"language":""},"title":null}"#).is_empty());
    let json = r#"{"publication":{"name":"N","language":"en"},"publication_name":null,
        "publication_date":"2026-11-29","title":"T"}"#;
    assert_eq!(news(json).len(), 1);
    assert!(!news(json)[0].starts_with('{'), "each field is read: {:?}", news(json));
    let incomplete = r#"{"publication":{"name":null},"title":"T"}"#;
    assert_eq!(news(incomplete), [incomplete]);
}

#[test]
fn a_value_of_a_table_is_json_or_one_url() {
    for (cell, want) in [
        (r#" ["h:/i", "h:/j"] "#, &["h:/i", "h:/j"][..]),
        ("h:/i,j", &["h:/i,j"]),
        (" https://h/?u=http://i;x:1,", &["https://h/?u=http://i;x:1,"]),
        ("[h:/i", &["[h:/i"]),
        (" ", &[]),
        (" null ", &[]),
        ("nul", &["nul"]),
        ("[null]", &[]),
    ] {
        assert_eq!(values(|buffer| add_cell(images(), cell.as_bytes(), buffer)), want, "{cell}");
    }
    for separator in [",", ", ", " ", ";", "|", "\n"] {
        for scheme in ["http", "HTTPS"] {
            let cell = format!("https://h/1{separator}{scheme}://h/2");
            let mut buffer = ExtrasBuffer::default();
            add_cell(images(), cell.as_bytes(), &mut buffer);
            add_json(images(), &serde_json::to_string(&cell).unwrap(), &mut buffer);
            let texts: Vec<_> = buffer.values().values().map(|value| value.text(UNNAMED).to_vec()).collect();
            assert_eq!(texts, [cell.as_bytes(), cell.as_bytes()], "{cell:?}");
        }
    }
}

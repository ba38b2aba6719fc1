//! Lists, structs and maps hold values of extensions.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::error::Result;
use crate::intake::format::tests::{Scratch, Seen};
use crate::intake::format::{FormatOptions, RawInput, read};

/// A column: its values, and the definition and repetition level of each value that may be null.
enum Leaf<'v> {
    Text(&'v [&'v str], &'v [i16], &'v [i16]),
    Number(&'v [i64], &'v [i16], &'v [i16]),
}

/// Writes `times` row groups of the same columns in pages of three rows, and reads them back.
fn read_back(
    name: &str,
    schema: &str,
    version: WriterVersion,
    times: usize,
    leaves: &[Leaf<'_>],
) -> Result<Vec<String>> {
    read_columns(name, schema, version, times, leaves, "")
}

/// The same with the option `columns`, unless that is empty.
fn read_columns(
    name: &str,
    schema: &str,
    version: WriterVersion,
    times: usize,
    leaves: &[Leaf<'_>],
    columns: &str,
) -> Result<Vec<String>> {
    let scratch = Scratch::new(name);
    let path = scratch.0.join("urls");
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_data_page_row_count_limit(3)
        .set_write_batch_size(3)
        .build();
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer =
        SerializedFileWriter::new(File::create(&path).unwrap(), schema, Arc::new(properties)).unwrap();
    for _ in 0..times {
        let mut group = writer.next_row_group().unwrap();
        for leaf in leaves {
            let mut column = group.next_column().unwrap().unwrap();
            let levels = |levels: &'_ [i16]| (!levels.is_empty()).then(|| levels.to_vec());
            match leaf {
                Leaf::Text(values, defined, repeated) => {
                    let values: Vec<ByteArray> = values.iter().map(|value| ByteArray::from(*value)).collect();
                    let (defined, repeated) = (levels(defined), levels(repeated));
                    column
                        .typed::<ByteArrayType>()
                        .write_batch(&values, defined.as_deref(), repeated.as_deref())
                        .unwrap();
                }
                Leaf::Number(values, defined, repeated) => {
                    let (defined, repeated) = (levels(defined), levels(repeated));
                    column
                        .typed::<Int64Type>()
                        .write_batch(values, defined.as_deref(), repeated.as_deref())
                        .unwrap();
                }
            }
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
    let mut seen = Seen::default();
    let raw = RawInput::File(File::open(&path).unwrap());
    let columns = if columns.is_empty() { Default::default() } else { columns.parse().unwrap() };
    read(Path::new("urls"), raw, &FormatOptions { columns, ..FormatOptions::default() }, &mut seen)?;
    Ok(seen.0)
}

const VERSIONS: [WriterVersion; 2] = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];

#[test]
fn lists_of_text_are_images_in_every_page_and_group() {
    let schema = "message m { required binary url (STRING);
        optional group images (LIST) { repeated group list { optional binary element (STRING); } } }";
    for version in VERSIONS {
        let urls: Vec<String> = (0..10).map(|n| format!("u{n}")).collect();
        let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
        let leaves = [
            Leaf::Text(&urls, &[], &[]),
            // a | null | empty | b null c | d | e f | null | g | null element | h
            Leaf::Text(
                &["a", "b", "c", "d", "e", "f", "g", "h"],
                &[3, 0, 1, 3, 2, 3, 3, 3, 3, 0, 3, 2, 3],
                &[0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0],
            ),
        ];
        let seen = read_back("images", schema, version, 3, &leaves).unwrap();
        let images = ["a", "", "", "b c", "d", "e f", "", "g", "", "h"];
        let want = |row: usize| {
            let images: String = images[row % 10].split_whitespace().map(|i| format!(" image={i}")).collect();
            format!("{}@{row} u{}|||{images}", row + 1, row % 10)
        };
        assert_eq!(seen, (0..30).map(want).collect::<Vec<_>>());
    }
}

#[test]
fn lists_of_structs_and_structs_and_maps_hold_values_of_every_extension() {
    let schema = "message m { required binary url (STRING);
        optional group images (LIST) { repeated group list { optional group element {
            required binary loc (STRING); optional binary title (STRING); } } }
        optional group videos (LIST) { repeated group list { required group element {
            required binary title (STRING); optional int64 duration;
            optional group tag (LIST) { repeated group list { required binary element (STRING); } } } } }
        optional group alternates (MAP) { repeated group key_value {
            required binary key (STRING); optional binary value (STRING); } } }";
    for version in VERSIONS {
        let leaves = [
            Leaf::Text(&["u", "v"], &[], &[]),
            Leaf::Text(&["i", "j"], &[3, 3, 0], &[0, 1, 0]),
            Leaf::Text(&["t"], &[3, 4, 0], &[0, 1, 0]),
            Leaf::Text(&["V"], &[2, 0], &[0, 0]),
            Leaf::Number(&[60], &[3, 0], &[0, 0]),
            Leaf::Text(&["x", "y"], &[4, 4, 0], &[0, 2, 0]),
            Leaf::Text(&["de", "fr"], &[2, 2, 0], &[0, 1, 0]),
            Leaf::Text(&["d"], &[3, 2, 0], &[0, 1, 0]),
        ];
        let seen = read_back("structs", schema, version, 1, &leaves).unwrap();
        // A video that lacks a required field is shown as it was written.
        let want =
            r#"1@0 u||| de=d image=i loc=j title=t video={"title":"V","duration":"60","tag":["x","y"]}"#;
        assert_eq!(seen, [want, "2@1 v|||"]);
        // Times have a zone only if the file says so.
        for (is_utc, zone) in [(true, "Z"), (false, "")] {
            let schema = format!(
                "message m {{ required binary url (STRING);
                optional group images {{ optional int64 loc (TIMESTAMP(MICROS,{is_utc})); }} }}"
            );
            let leaves =
                [Leaf::Text(&["u", "v"], &[], &[]), Leaf::Number(&[1_714_558_830_000_000], &[2, 0], &[])];
            let seen = read_back("times", &schema, version, 1, &leaves).unwrap();
            assert_eq!(seen, [&format!("1@0 u||| image=2024-05-01T10:20:30{zone}"), "2@1 v|||"]);
        }
    }
}

#[test]
fn times_and_decimals_in_structs_are_written_as_in_other_columns() {
    let schema = "message m { required binary url (STRING);
        optional group images (LIST) { repeated group list { optional group element {
            optional int64 a (TIMESTAMP(NANOS,true));
            optional group b { optional int64 x (TIMESTAMP(MICROS,false)); }
            optional int64 c (DECIMAL(5,0));
            optional binary d (DECIMAL(38,20)); } } } }";
    for version in VERSIONS {
        // Two images | null | one.
        let leaves = [
            Leaf::Text(&["u", "v", "w"], &[], &[]),
            Leaf::Number(&[1_714_558_830_123_456_789, -1], &[4, 4, 0, 3], &[0, 1, 0, 0]),
            Leaf::Number(&[1_714_558_830_000_000, -1], &[5, 4, 0, 5], &[0, 1, 0, 0]),
            Leaf::Number(&[12_345], &[3, 4, 0, 3], &[0, 1, 0, 0]),
            // The digits 100.
            Leaf::Text(&["d"], &[3, 4, 0, 3], &[0, 1, 0, 0]),
        ];
        let seen = read_back("typed", schema, version, 1, &leaves).unwrap();
        let first = r#"{"a":"2024-05-01T10:20:30Z","b":{"x":"2024-05-01T10:20:30"}}"#;
        let second = r#"{"a":"1969-12-31T23:59:59Z","b":{},"c":"12345","d":"0.000000000000000001"}"#;
        let third = r#"{"b":{"x":"1969-12-31T23:59:59"}}"#;
        let want = [
            format!("1@0 u||| image={first} image={second}"),
            "2@1 v|||".into(),
            format!("3@2 w||| image={third}"),
        ];
        assert_eq!(seen, want);
    }
}

#[test]
fn a_list_with_another_name_and_a_url_in_a_list_are_not_read() {
    let list = |name: &str| {
        format!(
            "optional group {name} (LIST) {{ repeated group list {{ optional binary element (STRING); }} }}"
        )
    };
    let schema = format!("message m {{ required binary url (STRING); {} }}", list("pictures"));
    let leaves = [Leaf::Text(&["u"], &[], &[]), Leaf::Text(&["i"], &[3], &[0])];
    assert_eq!(read_back("other", &schema, VERSIONS[0], 1, &leaves).unwrap(), ["1@0 u|||"]);
    let schema = format!("message m {{ {} }}", list("url"));
    let error = read_back("list", &schema, VERSIONS[0], 1, &leaves[1..]).unwrap_err().to_string();
    let says = "column url holds a list; expected text; choose another with `columns: url=NAME`";
    assert!(error.ends_with(says), "{error}");
    // A repeated column is a list, too.
    let schema = "message m { required binary url (STRING); repeated binary images (STRING); }";
    let leaves = [Leaf::Text(&["u", "v"], &[], &[]), Leaf::Text(&["i", "j"], &[1, 1, 0], &[0, 1, 0])];
    let seen = read_back("repeated", schema, VERSIONS[0], 1, &leaves).unwrap();
    assert_eq!(seen, ["1@0 u||| image=i image=j", "2@1 v|||"]);
}

#[test]
fn tags_of_the_protocol_in_lists_and_structs_are_dropped_row_by_row() {
    let schema = "message m { required binary url (STRING);
        optional group lastmod (LIST) { repeated group list { optional binary element (STRING); } }
        optional group priority { optional int64 a; optional int64 b; } }";
    for version in VERSIONS {
        let leaves = [
            Leaf::Text(&["u", "v"], &[], &[]),
            Leaf::Text(&["2024"], &[3, 0], &[0, 0]),
            Leaf::Number(&[1], &[2, 0], &[]),
            Leaf::Number(&[], &[1, 0], &[]),
        ];
        let seen = read_back("plain", schema, version, 1, &leaves).unwrap();
        assert_eq!(seen, [r#"1@0 u|["2024"]||{"a":"1"}"#, "2@1 v|||"]);
    }
}

#[test]
fn two_columns_that_differ_only_in_case_are_refused() {
    let schema = "message m { required binary url (STRING); required binary day (STRING);
        required binary lastmod (STRING); required binary LASTMOD (STRING); }";
    let leaf = || Leaf::Text(&["u"], &[], &[]);
    let leaves = [leaf(), leaf(), leaf(), leaf()];
    let error = read_back("twice", schema, VERSIONS[0], 1, &leaves).unwrap_err().to_string();
    assert!(
        error.ends_with("two columns are named lastmod; rename the one that should not be read"),
        "{error}"
    );
}

#[test]
fn a_list_in_a_struct_is_refused_as_what_it_is() {
    let schema = "message m { required binary url (STRING); optional group meta {
        optional group images (LIST) { repeated group list { optional binary element (STRING); } } } }";
    let leaves = [Leaf::Text(&["u"], &[], &[]), Leaf::Text(&["i"], &[4], &[0])];
    for (columns, want) in [
        (
            "images=meta.images",
            "urls: column meta.images is a list or struct in another one, and only those that are columns themselves are read; \
             export it as a column of its own",
        ),
        (
            "images=META.Images.list.element",
            "urls: column meta.images.list.element is in a list; name the whole list, which must be a column of its own, or \
             choose another column with `columns`",
        ),
        ("images=meta.videos", "urls: no column meta.videos, only: url, meta.images.list.element; choose"),
        ("lastmod=meta.images", "urls: no column meta.images, only: "),
    ] {
        let error = read_columns("in-struct", schema, VERSIONS[0], 1, &leaves, columns).unwrap_err();
        assert!(error.to_string().starts_with(want), "{columns}: {error}");
    }
}

//! Parquet files with unused columns (some of them lists) and URLs that are not UTF-8.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use ::parquet::data_type::{ByteArray, ByteArrayType, Int32Type};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use serde_json::json;

use super::{BASE, report_of};
use crate::support::TempDir;

/// Writes `urls`, each with a list of two images and a time.
fn write(path: &Path, urls: &[&[u8]]) {
    let schema = "message m {
        required binary url (STRING);
        optional group images (LIST) { repeated group list { optional binary element (STRING); } }
        required binary updated_at (STRING);
    }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer =
        SerializedFileWriter::new(File::create(path).unwrap(), schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut put = |values: &[ByteArray], levels: Option<(&[i16], &[i16])>| {
        let mut column = group.next_column().unwrap().unwrap();
        let (definition, repetition) = levels.unzip();
        column.typed::<ByteArrayType>().write_batch(values, definition, repetition).unwrap();
        column.close().unwrap();
    };
    put(&urls.iter().map(|url| ByteArray::from(url.to_vec())).collect::<Vec<_>>(), None);
    let images = vec![ByteArray::from("https://h.example/i.png"); 2 * urls.len()];
    put(&images, Some((&vec![3; images.len()], &[0, 1].repeat(urls.len()))));
    put(&vec![ByteArray::from("2024-05-01"); urls.len()], None);
    group.close().unwrap();
    writer.close().unwrap();
}

#[test]
fn lists_are_images_and_unused_columns_are_named_and_odd_bytes_counted() {
    let directory = TempDir::new();
    let urls =
        [&b"https://h.example/a"[..], b"https://h.example/\xfc", b"https://h.example/\xc3\xbc", b"\xfc"];
    write(&directory.join("a.parquet"), &urls);
    for order in ["input", "sorted"] {
        let (_, report) = report_of(&directory, &["a.parquet"], &["--order", order], b"");
        let want = json!({ "used": { "images": "images", "url": "url" }, "unused": ["updated_at"] });
        assert_eq!(report["inputs"][0]["columns"], want);
        assert_eq!(
            (&report["inputs"][0]["format"], &report["inputs"][0]["lines"]),
            (&json!("parquet"), &json!(4))
        );
        assert_eq!(report["non_utf8_lines"], 1);
    }
    let mut build = crate::support::sitemill();
    build.current_dir(directory.path()).args(["build", "--base-url", BASE, "--out", "out", "a.parquet"]);
    let built = crate::support::finish(&mut build, b"").expect(0);
    let hint = "  column updated_at is not used; --columns lastmod=updated_at uses it\n";
    assert!(built.stderr.contains(hint) && !built.stderr.contains("images"), "{}", built.stderr);
    let (_, report) = report_of(&directory, &["a.parquet"], &["--columns", "lastmod=updated_at"], b"");
    assert_eq!(
        report["inputs"][0]["columns"]["used"],
        json!({ "images": "images", "url": "url", "lastmod": "updated_at" })
    );
    assert_eq!(report["given_tags"], json!({ "images": 6, "lastmod": 3 }));
}

#[test]
fn a_column_of_numbers_named_like_images_is_not_used_and_one_without_values_needs_no_hint() {
    let schema = "message m {
        required binary url (STRING);
        optional int32 images (UNKNOWN);
        required int32 videos;
    }";
    let directory = TempDir::new();
    let file = File::create(directory.join("a.parquet")).unwrap();
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(file, schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut url = group.next_column().unwrap().unwrap();
    url.typed::<ByteArrayType>().write_batch(&[ByteArray::from("https://h.example/a")], None, None).unwrap();
    url.close().unwrap();
    for (values, levels) in [(&[][..], Some(&[0][..])), (&[3], None)] {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(values, levels, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    let mut build = crate::support::sitemill();
    build.current_dir(directory.path()).args(["build", "--base-url", BASE, "--out", "out", "a.parquet"]);
    let built = crate::support::finish(&mut build, b"").expect(0);
    let hint = "  column videos is not used: videos must be text, lists or structs\n";
    assert!(built.stderr.contains(hint) && !built.stderr.contains("images"), "{}", built.stderr);
}

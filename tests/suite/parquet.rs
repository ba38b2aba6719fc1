//! Parquet input: types that warehouses export, damaged files, and pages that are too large.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use ::parquet::basic::Compression;
use ::parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, Int32Type,
};
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use serde_json::Value;

use crate::support::{
    TempDir, build_command, files, finish, published, published_urls, sitemill, started_by,
};

#[path = "../../src/intake/format/parquet/tests/small.rs"]
mod small;

const BASE: &str = "http://h.example/";

fn writer(directory: &TempDir, schema: &str, properties: WriterProperties) -> SerializedFileWriter<File> {
    let file = File::create(directory.join("urls.parquet")).unwrap();
    let schema = Arc::new(parse_message_type(schema).unwrap());
    SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap()
}

#[test]
fn decimals_are_read_and_booleans_are_dropped_and_counted() {
    let directory = TempDir::new();
    let schema = "message m { required binary url (STRING); required fixed_len_byte_array(16) priority (DECIMAL(38,9)); \
        required boolean changefreq; required int32 lastmod (DATE); }";
    let mut file = writer(&directory, schema, WriterProperties::builder().build());
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let urls = ["a", "b"].map(|page| ByteArray::from(format!("{BASE}{page}").as_str()));
    column.typed::<ByteArrayType>().write_batch(&urls, None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let priorities = [800_000_000_i128, 1_500_000_000]
        .map(|number| FixedLenByteArray::from(number.to_be_bytes().to_vec()));
    column.typed::<FixedLenByteArrayType>().write_batch(&priorities, None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<BoolType>().write_batch(&[true, false], None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&[19_844, 19_845], None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.close().unwrap();
    let (out, report) = (directory.join("out"), directory.join("report.json"));
    let mut build = build_command(&out, BASE);
    // The option applies to numbers, not to columns of a date type.
    build.args(["--lastmod-unit", "seconds"]);
    finish(build.arg(directory.join("urls.parquet")).arg("--report").arg(&report), b"").expect(0);
    let (_, xml) = published(&out, BASE).remove(1);
    assert!(
        xml.contains("<url><loc>http://h.example/a</loc><lastmod>2024-05-01</lastmod><priority>0.800000000</priority></url>"),
        "{xml}"
    );
    assert!(xml.contains("<url><loc>http://h.example/b</loc><lastmod>2024-05-02</lastmod></url>"), "{xml}");
    let report: Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    assert_eq!(report["dropped_tags"], serde_json::json!({ "tag-changefreq": 2, "tag-priority": 1 }));
}

#[test]
fn a_flipped_bit_is_exit_65_with_the_name_of_the_file_and_no_stack_trace() {
    let directory = TempDir::new();
    // The column of decimals gets another name, so that every build reads the file.
    let mut bytes = small::small_files().swap_remove(0);
    for at in 0..bytes.len() {
        if bytes[at..].starts_with(b"priority") {
            bytes[at] = b'x';
        }
    }
    let input = directory.file("urls.parquet", &bytes);
    let clean = |input: &Path| finish(sitemill().args(["clean", "--quiet"]).arg(input), b"");
    clean(&input).expect(0);
    // Bits at which the crate panics (levels, encodings, index), then bits all over the file.
    let panics = [(274, 6), (374, 2), (678, 2), (860, 4), (1299, 0), (1400, 0)];
    let elsewhere = (4..bytes.len()).step_by(23).map(|at| (at, at % 8));
    let mut refused = 0;
    for (at, bit) in panics.into_iter().chain(elsewhere) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << bit;
        let run = clean(&directory.file("urls.parquet", damaged));
        assert!([0, 65].contains(&run.exit), "byte {at}: exit {}: {}", run.exit, run.stderr);
        assert!(!run.stderr.contains("panicked"), "byte {at}: {}", run.stderr);
        refused += u32::from(run.exit == 65 && run.stderr.contains("urls.parquet: "));
    }
    assert!(refused > 10, "{refused}");
}

/// Writes a file with one page of `mebibytes`, which consists of one URL.
fn one_page(directory: &TempDir, mebibytes: usize) {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(Default::default()))
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_data_page_size_limit(1 << 30)
        .set_data_page_row_count_limit(1 << 30);
    let mut file = writer(directory, "message m { required binary url (STRING); }", properties.build());
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let url = ByteArray::from(format!("{BASE}{}", "x".repeat((1 << 20) - BASE.len() - 4)).as_str());
    let mut rows = vec![url; mebibytes - 1];
    rows.push(ByteArray::from(format!("{BASE}last").as_str()));
    column.typed::<ByteArrayType>().write_batch(&rows, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.close().unwrap();
}

#[test]
fn a_page_over_the_memory_limit_is_refused_with_its_size_and_is_read_with_more_memory() {
    let directory = TempDir::new();
    one_page(&directory, 400);
    let input = directory.join("urls.parquet");
    assert!(fs::metadata(&input).unwrap().len() < 200_000, "the compressed file is small");
    let out = directory.join("out");
    let build = |memory: &str| {
        let mut build = build_command(&out, BASE);
        build.args(["--threads", "1", "--memory", memory]).arg(&input);
        build
    };
    // The address space has no room for the page either.
    let limited = started_by(&["prlimit", "--as=400000000"], &build("100MiB"));
    let refused = finish(&mut { limited }, b"").expect(65);
    let words = "urls.parquet: a page of column url needs 4";
    assert!(
        refused.stderr.contains(words) && refused.stderr.contains("give more --memory"),
        "{}",
        refused.stderr
    );
    assert!(files(&out).is_empty());
    finish(&mut build("1GiB"), b"").expect(0);
    assert_eq!(published_urls(&out, BASE), [format!("{BASE}last")]);
}

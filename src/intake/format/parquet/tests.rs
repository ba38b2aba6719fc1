//! Parquet files are written here, by the same crate's writer, and read back.

mod damage;
mod nested;
mod small;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    FloatType, Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::clean::Reason;
use crate::error::Result;
use crate::intake::format::row::{Record, Sink};
use crate::intake::format::tests::{Scratch, Seen};
use crate::intake::format::{Format, FormatFound, FormatOptions, RawInput, read};
use crate::limits::LINE_BYTES_MAX;

/// Values of one column: those that exist and, if some rows have none, which rows have one.
enum Values {
    Text(Vec<ByteArray>, Option<Vec<i16>>),
    Int64(Vec<i64>, Option<Vec<i16>>),
    Int32(Vec<i32>),
    Int96(Vec<Int96>),
    Double(Vec<f64>),
    Float(Vec<f32>),
    Bool(Vec<bool>),
    Fixed(Vec<FixedLenByteArray>),
}

fn fixed(value: &[u8]) -> Values {
    Values::Fixed(vec![value.to_vec().into()])
}

fn bytes(value: &[u8]) -> Values {
    Values::Text(vec![value.to_vec().into()], None)
}

fn text(values: &[&str]) -> Values {
    Values::Text(values.iter().map(|value| ByteArray::from(*value)).collect(), None)
}

/// Writes row groups of columns, packed as `compression`.
fn write(file: File, schema: &str, compression: Compression, groups: Vec<Vec<Values>>) {
    fn put<T: DataType>(
        column: &mut parquet::file::writer::SerializedColumnWriter<'_>,
        values: &[T::T],
        levels: Option<&[i16]>,
    ) {
        column.typed::<T>().write_batch(values, levels, None).unwrap();
    }
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties =
        WriterProperties::builder().set_compression(compression).set_data_page_row_count_limit(1000);
    let properties = Arc::new(properties.set_write_batch_size(100).build());
    let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
    for group in groups {
        let mut group_writer = writer.next_row_group().unwrap();
        for values in group {
            let mut column = group_writer.next_column().unwrap().unwrap();
            match values {
                Values::Text(values, levels) => put::<ByteArrayType>(&mut column, &values, levels.as_deref()),
                Values::Int64(values, levels) => put::<Int64Type>(&mut column, &values, levels.as_deref()),
                Values::Int32(values) => put::<Int32Type>(&mut column, &values, None),
                Values::Int96(values) => put::<Int96Type>(&mut column, &values, None),
                Values::Double(values) => put::<DoubleType>(&mut column, &values, None),
                Values::Float(values) => put::<FloatType>(&mut column, &values, None),
                Values::Bool(values) => put::<BoolType>(&mut column, &values, None),
                Values::Fixed(values) => put::<FixedLenByteArrayType>(&mut column, &values, None),
            }
            column.close().unwrap();
        }
        group_writer.close().unwrap();
    }
    writer.close().unwrap();
}

fn read_back(
    name: &str,
    schema: &str,
    compression: Compression,
    groups: Vec<Vec<Values>>,
) -> Result<(FormatFound, Vec<String>)> {
    let scratch = Scratch::new(name);
    let path = scratch.0.join("urls");
    write(File::create(&path).unwrap(), schema, compression, groups);
    let mut seen = Seen::default();
    let raw = RawInput::File(File::open(&path).unwrap());
    read(Path::new("urls"), raw, &FormatOptions::default(), &mut seen).map(|found| (found, seen.0))
}

#[test]
fn long_values_are_kept_up_to_the_longest_line() {
    struct Lengths(Vec<[usize; 2]>);
    impl Sink for Lengths {
        fn record(&mut self, record: &Record<'_>) -> Result<()> {
            self.0.push([record.url, record.lastmod].map(<[u8]>::len));
            Ok(())
        }
        fn bad_row(&mut self, _: u64, _: u64, _: Reason, _: &[u8]) -> Result<()> {
            unreachable!("every row has a URL")
        }
    }
    let scratch = Scratch::new("long");
    let path = scratch.0.join("urls");
    let schema = "message m { required binary loc (STRING); required binary lastmod (STRING); }";
    let columns = vec![bytes(&vec![b'x'; LINE_BYTES_MAX]), bytes(&vec![b'1'; 20 << 20])];
    write(File::create(&path).unwrap(), schema, Compression::UNCOMPRESSED, vec![columns]);
    let (mut lengths, raw) = (Lengths(Vec::new()), RawInput::File(File::open(&path).unwrap()));
    read(Path::new("urls"), raw, &FormatOptions::default(), &mut lengths).unwrap();
    assert_eq!(lengths.0, [[LINE_BYTES_MAX, LINE_BYTES_MAX + 1]]);
}

#[test]
fn rows_of_several_groups_pages_and_packings_come_in_order() {
    let schema = "message m { optional binary loc (STRING); required int64 id; optional int64 lastmod (TIMESTAMP(MICROS,true)); required binary changefreq (STRING); }";
    for (name, compression) in [
        ("plain", Compression::UNCOMPRESSED),
        ("snappy", Compression::SNAPPY),
        ("zstd", Compression::ZSTD(Default::default())),
        ("gzip", Compression::GZIP(Default::default())),
        ("lz4", Compression::LZ4_RAW),
    ] {
        let rows = 10_000_i64;
        let is_there = |n: &i64| n % 7 != 3;
        let levels = || Some((0..rows).map(|n| i16::from(is_there(&n))).collect());
        let group = |first: i64| {
            let there: Vec<i64> = (0..rows).filter(is_there).collect();
            let urls = there.iter().map(|n| ByteArray::from(format!("u{}", first + n).as_str())).collect();
            vec![
                Values::Text(urls, levels()),
                Values::Int64(vec![0; rows as usize], None),
                Values::Int64(there.iter().map(|n| n * 1_000_000 + 999_999).collect(), levels()),
                Values::Text((0..rows).map(|n| ["daily", "never"][n as usize % 2].into()).collect(), None),
            ]
        };
        let (found, seen) = read_back(name, schema, compression, vec![group(0), group(rows)]).unwrap();
        assert_eq!((found.format, found.rows), (Format::Parquet, 20_000));
        for (at, row) in seen.iter().enumerate() {
            let in_group = at as i64 % rows;
            let freq = ["daily", "never"][at % 2];
            let want = match is_there(&in_group) {
                true => {
                    let [hours, minutes, seconds] = [in_group / 3600, in_group / 60 % 60, in_group % 60];
                    format!("u{at}|1970-01-01T{hours:02}:{minutes:02}:{seconds:02}Z|{freq}|")
                }
                false => format!("!no-url changefreq={freq}"),
            };
            assert_eq!(*row, format!("{}@{at} {want}", at + 1));
        }
    }
}

#[test]
fn a_row_without_a_url_is_blank_only_if_every_column_was_read_and_has_nothing() {
    let urls = || Values::Text(vec!["u".into()], Some(vec![1, 0, 0]));
    let times = || Values::Int64(vec![TIME], Some(vec![0, 1, 0]));
    let packing = Compression::UNCOMPRESSED;
    let schema = "message m { optional binary url (STRING); optional int64 lastmod; }";
    let (_, seen) = read_back("blank", schema, packing, vec![vec![urls(), times()]]).unwrap();
    assert_eq!(seen, ["1@0 u|||", "2@1 !no-url lastmod=1714558830", "3@2 |||"]);
    let schema = "message m { optional binary url (STRING); optional int64 id; }";
    let (_, seen) = read_back("others", schema, packing, vec![vec![urls(), times()]]).unwrap();
    assert_eq!(seen, ["1@0 u|||", "2@1 !no-url ", "3@2 !no-url "]);
}

#[test]
fn columns_of_text_hold_links_and_images_and_a_count_of_images_is_another_column() {
    let schema = "message m { required binary url (STRING); required binary alternates (STRING); required int64 images; }";
    let values = vec![text(&["u"]), text(&["{\"de\":\"d\"}"]), Values::Int64(vec![5], None)];
    let (_, seen) = read_back("lists", schema, Compression::UNCOMPRESSED, vec![values]).unwrap();
    assert_eq!(seen, ["1@0 u||| de=d"]);
    let schema = "message m { required binary url (STRING); required binary images (STRING); }";
    let values = vec![text(&["u", "v"]), text(&["i", "[\"i\",\"j\"]"])];
    let (_, seen) = read_back("images", schema, Compression::UNCOMPRESSED, vec![values]).unwrap();
    assert_eq!(seen, ["1@0 u||| image=i", "2@1 v||| image=i image=j"]);
}

/// 2024-05-01T10:20:30Z
const TIME: i64 = 1_714_558_830;

#[test]
fn every_column_of_time_becomes_w3c_datetime() {
    let mut int96 = Int96::new();
    // 10:20:30 in nanoseconds, and the Julian day of 2024-05-01.
    let nanos: u64 = 37_230 * 1_000_000_000;
    int96.set_data(nanos as u32, (nanos >> 32) as u32, 2_460_432);
    for (at, (column, values, want)) in [
        (
            "int64 lastmod (TIMESTAMP(MILLIS,true))",
            Values::Int64(vec![TIME * 1000 + 999], None),
            "2024-05-01T10:20:30Z",
        ),
        (
            "int64 lastmod (TIMESTAMP(MICROS,false))",
            Values::Int64(vec![TIME * 1_000_000], None),
            "2024-05-01T10:20:30",
        ),
        ("int64 lastmod (TIMESTAMP(NANOS,true))", Values::Int64(vec![-1], None), "1969-12-31T23:59:59Z"),
        ("int64 lastmod (TIMESTAMP_MILLIS)", Values::Int64(vec![TIME * 1000], None), "2024-05-01T10:20:30Z"),
        (
            "int64 lastmod (TIMESTAMP(MILLIS,true))",
            Values::Int64(vec![i64::MAX], None),
            "second 9223372036854775",
        ),
        ("int64 lastmod", Values::Int64(vec![TIME], None), "1714558830"),
        ("int32 lastmod (DATE)", Values::Int32(vec![19_844]), "2024-05-01"),
        ("int32 lastmod (DATE)", Values::Int32(vec![i32::MAX]), "day 2147483647"),
        ("int32 lastmod", Values::Int32(vec![TIME as i32]), "1714558830"),
        ("int96 lastmod", Values::Int96(vec![int96]), "2024-05-01T10:20:30Z"),
        ("binary lastmod (STRING)", text(&["2024-05"]), "2024-05"),
        ("double lastmod", Values::Double(vec![1.5]), "1.5"),
        ("int32 lastmod (INTEGER(32,false))", Values::Int32(vec![-1]), "4294967295"),
        ("int32 lastmod (UINT_32)", Values::Int32(vec![-1]), "4294967295"),
        ("int64 lastmod (INTEGER(64,false))", Values::Int64(vec![-1], None), "18446744073709551615"),
        ("int64 lastmod (UINT_64)", Values::Int64(vec![TIME], None), "1714558830"),
        ("int64 lastmod (DECIMAL(18,0))", Values::Int64(vec![TIME], None), "1714558830"),
        ("int64 lastmod (DECIMAL(18,3))", Values::Int64(vec![TIME * 1000 + 5], None), "1714558830.005"),
        (
            "fixed_len_byte_array(16) lastmod (DECIMAL(38,0))",
            fixed(&i128::from(TIME).to_be_bytes()),
            "1714558830",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let schema = format!("message m {{ required binary URL; required {column}; }}");
        let groups = vec![vec![text(&["u"]), values]];
        let (_, seen) = read_back(&format!("time-{at}"), &schema, Compression::UNCOMPRESSED, groups).unwrap();
        assert_eq!(seen, [format!("1@0 u|{want}||")], "{column}");
    }
}

#[test]
fn numbers_become_text_without_an_exponent_and_nan_is_no_value() {
    for (at, (column, values, want)) in [
        ("double priority", Values::Double(vec![0.85]), "0.85"),
        ("double priority", Values::Double(vec![1e-5]), "0.00001"),
        ("float priority", Values::Float(vec![0.85]), "0.85"),
        ("double priority", Values::Double(vec![f64::NAN]), ""),
        ("float priority", Values::Float(vec![f32::NAN]), ""),
        ("int32 priority (DECIMAL(3,2))", Values::Int32(vec![85]), "0.85"),
        ("int32 priority (DECIMAL(3,2))", Values::Int32(vec![-5]), "-0.05"),
        ("int64 priority (DECIMAL(10,0))", Values::Int64(vec![1], None), "1"),
        ("int32 priority", Values::Int32(vec![1]), "1"),
        ("int32 priority (DECIMAL(3,2))", Values::Int32(vec![50]), "0.50"),
        ("fixed_len_byte_array(5) priority (DECIMAL(9,2))", fixed(&[0, 0, 0, 0, 85]), "0.85"),
        ("fixed_len_byte_array(2) priority (DECIMAL(3,2))", fixed(&[0xFF, 0xFB]), "-0.05"),
        ("binary priority (DECIMAL(9,3))", bytes(&[3, 0x52]), "0.850"),
        ("binary priority (DECIMAL(9,1))", bytes(&[]), "0.0"),
        // As BigQuery and Spark export 0.5, with 38 digits; no tag takes more than 18.
        (
            "fixed_len_byte_array(16) priority (DECIMAL(38,38))",
            fixed(&(10_i128.pow(37) * 5).to_be_bytes()),
            "0.500000000000000000",
        ),
        ("fixed_len_byte_array(2) priority (FLOAT16)", fixed(&0x3ACD_u16.to_le_bytes()), "0.85"),
        ("fixed_len_byte_array(2) priority (FLOAT16)", fixed(&0x3C00_u16.to_le_bytes()), "1"),
        ("fixed_len_byte_array(2) priority (FLOAT16)", fixed(&0x7E00_u16.to_le_bytes()), ""),
        ("int32 priority (INTEGER(8,false))", Values::Int32(vec![1]), "1"),
    ]
    .into_iter()
    .enumerate()
    {
        let schema = format!("message m {{ required binary loc (STRING); required {column}; }}");
        let groups = vec![vec![text(&["u"]), values]];
        let (_, seen) =
            read_back(&format!("number-{at}"), &schema, Compression::UNCOMPRESSED, groups).unwrap();
        assert_eq!(seen, [format!("1@0 u|||{want}")], "{column}");
    }
}

#[test]
fn wrong_columns_and_broken_files_are_refused() {
    let refused = |name: &str, column: &str, values: Values, want: &str| {
        let schema = format!("message m {{ required {column}; }}");
        let error = read_back(name, &schema, Compression::UNCOMPRESSED, vec![vec![values]]).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Data);
        assert!(error.to_string().starts_with(want), "{error}");
    };
    refused(
        "no-url",
        "binary page (STRING)",
        text(&["u"]),
        "urls: no column loc or url, only: page; choose the ones",
    );
    for (at, (column, values, holds)) in [
        ("boolean loc", Values::Bool(vec![true]), "BOOLEAN"),
        ("int64 loc", Values::Int64(vec![1], None), "INT64"),
        ("int64 loc (DECIMAL(9,2))", Values::Int64(vec![1], None), "DECIMAL(9,2)"),
        ("fixed_len_byte_array(16) loc (UUID)", fixed(&[1; 16]), "Uuid"),
        ("binary loc (BSON)", bytes(b"x"), "Bson"),
    ]
    .into_iter()
    .enumerate()
    {
        let want = format!(
            "urls: column loc holds {holds}; expected text; export it with CAST(loc AS VARCHAR), or choose another with \
             `columns: url=NAME`"
        );
        refused(&format!("no-text-{at}"), column, values, &want);
    }
    let schema = "message m { optional int64 url (UNKNOWN); required fixed_len_byte_array(1) loc; }";
    let values =
        || vec![Values::Int64(vec![], Some(vec![0, 0])), Values::Fixed(vec![b"u".to_vec().into(); 2])];
    let plain = Compression::UNCOMPRESSED;
    let (_, seen) = read_back("fixed", schema, plain, vec![values()]).unwrap();
    assert_eq!(seen, ["1@0 u|||", "2@1 u|||"]);
    let nulls = "message m { optional int64 url (UNKNOWN); }";
    let (_, seen) = read_back("nulls", nulls, plain, vec![values().drain(..1).collect()]).unwrap();
    assert_eq!(seen, ["1@0 |||", "2@1 |||"], "a column without values has the type null");
    let scratch = Scratch::new("broken");
    let path = scratch.0.join("urls");
    let schema = "message m { required binary loc (STRING); }";
    write(File::create(&path).unwrap(), schema, Compression::UNCOMPRESSED, vec![vec![text(&["u"; 1000])]]);
    let whole = std::fs::read(&path).unwrap();
    for bytes in [4, 5, 100, whole.len() - 1] {
        std::fs::write(&path, &whole[..bytes]).unwrap();
        let raw = RawInput::File(File::open(&path).unwrap());
        let error =
            read(Path::new("urls"), raw, &FormatOptions::default(), &mut Seen::default()).unwrap_err();
        assert!(error.to_string().starts_with("urls: broken Parquet ("), "{error}");
    }
    std::fs::write(&path, "https://h.example/1\n").unwrap();
    let raw = RawInput::File(File::open(&path).unwrap());
    let said = FormatOptions { format: Some(Format::Parquet), ..FormatOptions::default() };
    let error = read(Path::new("urls"), raw, &said, &mut Seen::default()).unwrap_err();
    let words = "is not Parquet, though `format` says so; correct it, or leave it out";
    assert_eq!(error.to_string(), format!("urls: {words}"));
}

/// Values that a tag cannot hold become text that no tag accepts, so that they are counted as dropped; the URL stays.
#[test]
fn a_tag_of_any_type_is_read_and_other_values_become_invalid_tags() {
    for (at, (column, values, want)) in [
        ("boolean priority", Values::Bool(vec![true]), "|||true"),
        ("boolean lastmod", Values::Bool(vec![false]), "|false||"),
        ("int64 changefreq", Values::Int64(vec![5], None), "||5|"),
        ("int64 lastmod (TIME(MICROS,true))", Values::Int64(vec![20_240_501], None), "|#20240501||"),
        ("int32 priority (TIME_MILLIS)", Values::Int32(vec![1]), "|||#1"),
        ("int32 priority (DATE)", Values::Int32(vec![19_844]), "|||2024-05-01"),
        ("fixed_len_byte_array(4) lastmod", fixed(b"2024"), "|2024||"),
        ("fixed_len_byte_array(1) images", fixed(b"i"), "||| image=i"),
        (
            "fixed_len_byte_array(16) changefreq (UUID)",
            fixed(&[7; 16]),
            "||0x07070707070707070707070707070707|",
        ),
        ("fixed_len_byte_array(12) priority (INTERVAL)", fixed(&[0; 12]), "|||0x000000000000000000000000"),
        ("binary lastmod (BSON)", bytes(b"12"), "|0x3132||"),
        ("binary priority (ENUM)", bytes(b"0.5"), "|||0.5"),
        ("binary changefreq (JSON)", bytes(b"daily"), "||daily|"),
        (
            "fixed_len_byte_array(20) priority (DECIMAL(40,0))",
            fixed(&[&[1; 1][..], &[0; 19]].concat()),
            "|||0x01000000000000000000000000000000",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let schema = format!("message m {{ required binary loc (STRING); required {column}; }}");
        let groups = vec![vec![text(&["u"]), values]];
        let (_, seen) = read_back(&format!("tag-{at}"), &schema, Compression::UNCOMPRESSED, groups).unwrap();
        assert_eq!(seen, [format!("1@0 u{want}")], "{column}");
    }
}

#[test]
fn codecs_that_are_not_supported_are_named() {
    let scratch = Scratch::new("codecs");
    let path = scratch.0.join("urls");
    let schema = "message m { required binary loc (STRING); }";
    write(File::create(&path).unwrap(), schema, Compression::UNCOMPRESSED, vec![vec![text(&["u"; 10])]]);
    let whole = std::fs::read(&path).unwrap();
    // `codec` in the index: field 4 of ColumnMetaData, after the name of the column in its path.
    let name = whole.windows(5).rposition(|bytes| bytes == b"\x03loc\x15").unwrap();
    assert_eq!(whole[name + 5], 0);
    for (codec, said) in [(3_u8, "LZO"), (4, "Brotli")] {
        let mut bytes = whole.clone();
        bytes[name + 5] = codec << 1;
        std::fs::write(&path, bytes).unwrap();
        let raw = RawInput::File(File::open(&path).unwrap());
        let error =
            read(Path::new("urls"), raw, &FormatOptions::default(), &mut Seen::default()).unwrap_err();
        let want =
            format!("urls: is compressed with {said}, which is not supported; write it again with ZSTD");
        assert!(error.to_string().starts_with(&want), "{error}");
    }
}

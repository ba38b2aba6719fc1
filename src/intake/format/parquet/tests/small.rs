//! Small files in all encodings and codecs, to be damaged: by the unit tests, and by the fuzz target `parquet`.

use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::data_type::{
    ByteArray, ByteArrayType, DataType, FixedLenByteArray, FixedLenByteArrayType, Int64Type,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

const SCHEMA: &str = "message m { optional binary loc (STRING); required int64 lastmod (TIMESTAMP(MICROS,true)); \
    required binary changefreq; optional fixed_len_byte_array(5) priority (DECIMAL(9,2)); }";

const ROWS: i64 = 20;

/// Encodings of text, numbers, and values of a fixed length; of the last row, by dictionary.
const ENCODINGS: [[Encoding; 3]; 4] = [
    [Encoding::PLAIN, Encoding::PLAIN, Encoding::PLAIN],
    [Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_BINARY_PACKED, Encoding::DELTA_BYTE_ARRAY],
    [Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::BYTE_STREAM_SPLIT, Encoding::BYTE_STREAM_SPLIT],
    [Encoding::RLE_DICTIONARY, Encoding::RLE_DICTIONARY, Encoding::RLE_DICTIONARY],
];

/// Every encoding in both versions of pages and in every codec; those that are not compressed come first.
pub fn small_files() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for codec in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::GZIP(Default::default()),
        Compression::ZSTD(Default::default()),
    ] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            files.extend(ENCODINGS.map(|encodings| small_file(codec, version, encodings)));
        }
    }
    files
}

fn small_file(codec: Compression, version: WriterVersion, encodings: [Encoding; 3]) -> Vec<u8> {
    let by_dictionary = encodings[0] == Encoding::RLE_DICTIONARY;
    let mut properties = WriterProperties::builder()
        .set_compression(codec)
        .set_writer_version(version)
        .set_dictionary_enabled(by_dictionary)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_data_page_row_count_limit(8)
        .set_write_batch_size(8);
    for (column, encoding) in [("loc", 0), ("changefreq", 0), ("lastmod", 1), ("priority", 2)] {
        if !by_dictionary {
            properties = properties.set_column_encoding(ColumnPath::from(column), encodings[encoding]);
        }
    }
    let schema = Arc::new(parse_message_type(SCHEMA).expect("the schema is sound"));
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).unwrap();
    let mut group = file.next_row_group().unwrap();
    let is_there: Vec<i16> = (0..ROWS).map(|row| i16::from(row % 7 != 3)).collect();
    let there = || (0..ROWS).filter(|row| row % 7 != 3);
    let urls: Vec<ByteArray> =
        there().map(|row| ByteArray::from(format!("http://h.example/{}", row / 2).as_str())).collect();
    put::<ByteArrayType>(&mut group, &urls, Some(&is_there));
    put::<Int64Type>(&mut group, &(0..ROWS).map(|row| row * 86_400_000_000).collect::<Vec<_>>(), None);
    put::<ByteArrayType>(&mut group, &vec![ByteArray::from("daily"); ROWS as usize], None);
    let priorities: Vec<FixedLenByteArray> =
        there().map(|row| FixedLenByteArray::from(vec![0, 0, 0, 0, row as u8])).collect();
    put::<FixedLenByteArrayType>(&mut group, &priorities, Some(&is_there));
    group.close().unwrap();
    file.into_inner().unwrap()
}

fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    levels: Option<&[i16]>,
) {
    let mut column: SerializedColumnWriter<'_> = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, levels, None).unwrap();
    column.close().unwrap();
}

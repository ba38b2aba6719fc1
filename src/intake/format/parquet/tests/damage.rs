//! Damaged files, and pages that are larger than they may be.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;

use bytes::Bytes;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, ParquetMetaDataWriter};
use parquet::file::properties::EnabledStatistics;

use super::small::small_files;
use super::*;
use crate::ErrorKind;
use crate::common::random::Random;

/// Reads files of a few bytes, each with one change.
struct Bench {
    _scratch: Scratch,
    file: File,
    read: u64,
    refused: u64,
}

impl Bench {
    fn new(name: &str) -> Self {
        let scratch = Scratch::new(name);
        let path = scratch.0.join("urls");
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path).unwrap();
        Self { _scratch: scratch, file, read: 0, refused: 0 }
    }

    fn put(&self, bytes: &[u8]) {
        self.file.set_len(bytes.len() as u64).unwrap();
        self.file.write_all_at(bytes, 0).unwrap();
    }

    /// Whatever the file holds, it is read or refused as a file.
    fn read(&mut self, about: &dyn std::fmt::Display) {
        let raw = RawInput::File(self.file.try_clone().unwrap());
        let options = FormatOptions {
            format: Some(Format::Parquet),
            page_memory: Some(1 << 20),
            ..FormatOptions::default()
        };
        match read(Path::new("urls"), raw, &options, &mut Seen::default()) {
            Ok(_) => self.read += 1,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Data, "{about}: {error}");
                assert!(error.to_string().starts_with("urls: "), "{about}: {error}");
                self.refused += 1;
            }
        }
    }
}

#[test]
fn a_flipped_bit_anywhere_is_read_or_refused_and_never_panics() {
    let mut bench = Bench::new("flipped");
    for (number, bytes) in small_files().into_iter().enumerate() {
        bench.put(&bytes);
        bench.read(&number);
        assert_eq!(bench.refused, 0, "file {number} as it was written");
        for (at, &byte) in bytes.iter().enumerate() {
            // All bits of one file in each encoding; elsewhere most changes end in the decoder of the codec.
            let bits = if number < 4 { 0..8 } else { at as u32 % 8..at as u32 % 8 + 1 };
            for bit in bits {
                bench.file.write_all_at(&[byte ^ 1 << bit], at as u64).unwrap();
                bench.read(&format!("file {number}, byte {at}, bit {bit}"));
            }
            bench.file.write_all_at(&[byte], at as u64).unwrap();
        }
        assert!(bench.read > 0 && bench.refused > 0);
        bench.refused = 0;
    }
}

#[test]
fn a_file_with_replaced_or_missing_bytes_is_read_or_refused() {
    let mut bench = Bench::new("replaced");
    let mut random = Random::new(1);
    let mut random = |below: usize| random.below(below);
    for (number, bytes) in small_files().into_iter().enumerate() {
        for round in 0..100 {
            let mut damaged = bytes.clone();
            for _ in 0..=random(4) {
                let at = random(damaged.len());
                // Numbers of many bytes, and their ends.
                damaged[at] = [0xFF, 0x80, 0x00, 0x7F, random(256) as u8][random(5)];
            }
            if round % 3 == 0 {
                let at = random(damaged.len());
                damaged.drain(at..(at + random(9)).min(damaged.len()));
            }
            bench.put(&damaged);
            bench.read(&format!("file {number}, round {round}"));
        }
    }
    assert!(bench.read > 0 && bench.refused > 0);
}

/// A file of one page with this number of equal URLs.
fn one_page(compression: Compression, urls: usize) -> Vec<u8> {
    let schema = Arc::new(parse_message_type("message m { required binary loc (STRING); }").unwrap());
    let properties = WriterProperties::builder().set_compression(compression).set_dictionary_enabled(false);
    let properties = properties.set_data_page_size_limit(1 << 30).set_data_page_row_count_limit(1 << 30);
    let properties = properties.set_statistics_enabled(EnabledStatistics::None);
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let url = ByteArray::from(format!("http://h.example/{}", "x".repeat(1000)).as_str());
    column.typed::<ByteArrayType>().write_batch(&vec![url; urls], None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.into_inner().unwrap()
}

/// Reads `bytes` through the file `path`, with `page_memory` bytes of memory for pages.
fn read_within(path: &Path, bytes: &[u8], page_memory: u64) -> Result<FormatFound> {
    std::fs::write(path, bytes).unwrap();
    let options = FormatOptions { page_memory: Some(page_memory), ..FormatOptions::default() };
    let raw = RawInput::File(File::open(path).unwrap());
    read(Path::new("urls"), raw, &options, &mut Seen::default())
}

/// A file of URLs with `long` letters, each without the start that it shares with the URL before.
fn without_repeated_starts(long: usize, urls: usize) -> Vec<u8> {
    let schema = Arc::new(parse_message_type("message m { required binary loc (STRING); }").unwrap());
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_encoding(parquet::basic::Encoding::DELTA_BYTE_ARRAY)
        .set_statistics_enabled(EnabledStatistics::None);
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let url = |n: usize| ByteArray::from(format!("http://h.example/{}{}", "x".repeat(long), n % 7).as_str());
    let urls: Vec<ByteArray> = (0..urls).map(url).collect();
    column.typed::<ByteArrayType>().write_batch(&urls, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.into_inner().unwrap()
}

#[test]
fn a_page_with_far_more_lengths_than_values_is_refused_before_they_are_added_up() {
    let scratch = Scratch::new("endless");
    let path = scratch.0.join("urls");
    let mut bytes = without_repeated_starts(100, 1);
    // Blocks of 128 lengths in four parts, one length, which is 0.
    let lengths = bytes.windows(5).position(|five| five == [0x80, 0x01, 4, 1, 0]).unwrap();
    // 2^60 lengths in one part of one block. The first is 0, and so is every difference, in no bits.
    let many = [&[0x80; 8][..], &[0x10]].concat();
    let forged = [&many[..], &[1], &many, &[0, 0, 0]].concat().repeat(2);
    bytes[lengths..lengths + forged.len()].copy_from_slice(&forged);
    let error = read_within(&path, &bytes, 1 << 20).unwrap_err();
    assert!(error.to_string().contains("a page declares more values than it can contain"), "{error}");
}

#[test]
fn repeated_texts_that_exceed_the_memory_are_refused_before_they_are_decoded() {
    let scratch = Scratch::new("repeating");
    let path = scratch.0.join("urls");
    let read_within = |bytes: &[u8], page_memory| read_within(&path, bytes, page_memory);
    let repeating = without_repeated_starts(20_000, 4096);
    assert!(repeating.len() < 40_000, "{} bytes stand for 80 MB", repeating.len());
    let error = read_within(&repeating, 64 << 20).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.to_string().starts_with("urls: a page of column loc needs 16"), "{error}");
    assert_eq!(read_within(&repeating, 256 << 20).unwrap().rows, 4096);
    // Of many short texts, only those that are read together count.
    let short = without_repeated_starts(100, 200_000);
    assert_eq!(read_within(&short, 4 << 20).unwrap().rows, 200_000);
}

#[test]
fn a_page_over_the_memory_limit_is_refused_before_it_is_decompressed() {
    let scratch = Scratch::new("large-pages");
    let path = scratch.0.join("urls");
    let read_within = |bytes: &[u8], page_memory| read_within(&path, bytes, page_memory);
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(Default::default()),
        Compression::GZIP(Default::default()),
        Compression::LZ4_RAW,
    ] {
        let bytes = one_page(compression, 2000);
        assert_eq!(read_within(&bytes, 4 << 20).unwrap().rows, 2000);
        let error = read_within(&bytes, 1 << 20).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        let message = error.to_string();
        assert!(message.starts_with("urls: a page of column loc needs "), "{message}");
        assert!(message.contains("may hold 1,048,576") && message.contains("`memory`"), "{message}");
    }
    // A header that says less: type, then the size in memory as a number of three bytes.
    let mut lying = one_page(Compression::GZIP(Default::default()), 2000);
    let size = 2000 * 1021_u32 * 2;
    let bytes = |number: u32| {
        [number as u8 | 0x80, (number >> 7) as u8 | 0x80, (number >> 14) as u8 | 0x80, (number >> 21) as u8]
    };
    assert_eq!(lying[4..11], [&[0x15, 0, 0x15][..], &bytes(size)].concat());
    lying[7..11].copy_from_slice(&bytes(4000));
    let error = read_within(&lying, 1 << 20).unwrap_err();
    assert!(error.to_string().contains("a page is larger than its header says"), "{error}");
}

/// A file of two columns, three URLs and a list of one image for each, with one page per column.
fn with_images() -> Vec<u8> {
    let schema = "message m { required binary url (STRING);
        optional group images (LIST) { repeated group list { optional binary element (STRING); } } }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_offset_index_disabled(true)
        .set_statistics_enabled(EnabledStatistics::None);
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).unwrap();
    let mut group = file.next_row_group().unwrap();
    for (values, levels) in [(["u", "v", "w"], None), (["i", "j", "k"], Some([[3; 3], [0; 3]]))] {
        let mut column = group.next_column().unwrap().unwrap();
        let [defined, repeated] = [0, 1].map(|at| levels.as_ref().map(|levels| &levels[at][..]));
        let values = values.map(ByteArray::from);
        column.typed::<ByteArrayType>().write_batch(&values, defined, repeated).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    file.into_inner().unwrap()
}

/// The index at the end of `file`, and the number of bytes before it.
fn index_of(file: &[u8]) -> (ParquetMetaData, usize) {
    let index = ParquetMetaDataReader::new().parse_and_finish(&Bytes::copy_from_slice(file)).unwrap();
    let (_, [b0, b1, b2, b3, b'P', b'A', b'R', b'1']) = file.split_last_chunk().unwrap() else { panic!() };
    let index_bytes = u32::from_le_bytes([*b0, *b1, *b2, *b3]) as usize;
    (index, file.len() - 8 - index_bytes)
}

/// The start of the first page of the column `at` of `file`.
fn page_start(file: &[u8], at: usize) -> usize {
    index_of(file).0.row_group(0).column(at).data_page_offset() as usize
}

/// The `file` with `more` at `start` in its last column, instead of the bytes `old`.
fn with_bytes(file: &[u8], start: usize, old: &[u8], more: &[u8]) -> Vec<u8> {
    let (index, index_start) = index_of(file);
    assert_eq!(file[start..start + old.len()], *old);
    let mut bytes = [&file[..start], more, &file[start + old.len()..index_start]].concat();
    let mut groups = index.into_builder();
    let group = groups.take_row_groups().remove(0);
    let mut columns = group.columns().to_vec();
    let last = columns.pop().unwrap();
    let size = last.compressed_size() + more.len() as i64 - old.len() as i64;
    columns.push(last.into_builder().set_total_compressed_size(size).build().unwrap());
    let group = group.into_builder().set_column_metadata(columns).build().unwrap();
    let index = groups.set_row_groups(vec![group]).build();
    ParquetMetaDataWriter::new(&mut bytes, &index).finish().unwrap();
    bytes
}

/// The rows of `file`.
fn rows_of(file: &[u8]) -> Result<Vec<String>> {
    let scratch = Scratch::new("rows");
    let path = scratch.0.join("urls");
    std::fs::write(&path, file).unwrap();
    let mut seen = Seen::default();
    let raw = RawInput::File(File::open(&path).unwrap());
    read(Path::new("urls"), raw, &FormatOptions::default(), &mut seen).map(|_| seen.0)
}

const ROWS_WITH_IMAGES: [&str; 3] = ["1@0 u||| image=i", "2@1 v||| image=j", "3@2 w||| image=k"];

#[test]
fn a_page_without_values_does_not_end_a_list() {
    let file = with_images();
    assert_eq!(rows_of(&file).unwrap(), ROWS_WITH_IMAGES);
    // struct PageHeader with type DATA_PAGE_V2, no bytes, and struct DataPageHeaderV2 with nothing but zeros.
    let mut empty = vec![0x15, 6, 0x15, 0, 0x15, 0, 0x5C];
    empty.extend([0x15, 0].repeat(6));
    empty.extend([0x12, 0, 0]);
    let file = with_bytes(&file, page_start(&file, 1), &[], &empty);
    assert_eq!(rows_of(&file).unwrap(), ROWS_WITH_IMAGES);
}

#[test]
fn a_list_with_fewer_values_than_the_file_says_is_refused() {
    let mut file = with_images();
    let header = page_start(&file, 1);
    // struct DataPageHeader, with the number of values in zigzag.
    let values = file[header..].windows(3).position(|three| three == [0x2C, 0x15, 6]).unwrap();
    file[header + values + 2] = 4;
    let error = rows_of(&file).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.to_string().contains("a column has fewer values than the file says"), "{error}");
}

#[test]
fn a_page_whose_checksum_is_wrong_is_refused() {
    let file = with_images();
    let start = page_start(&file, 1);
    let header = file[start..].windows(3).position(|three| three == [0x2C, 0x15, 6]).unwrap();
    // Sizes of less than 64 bytes are one byte each.
    let page_bytes = usize::from(file[start + 5]) / 2;
    let page_end = index_of(&file).1;
    let mut sum = flate2::Crc::new();
    sum.update(&file[page_end - page_bytes..page_end]);
    // The checksum is field 4, between the sizes and struct DataPageHeader.
    let with_sum = |sum: u32| {
        let sum = sum.cast_signed();
        let zigzag = (sum << 1 ^ sum >> 31).cast_unsigned();
        let mut field = vec![0x15];
        field.extend((0..4).map(|at| (zigzag >> (7 * at)) as u8 | 0x80));
        field.extend([(zigzag >> 28) as u8, 0x1C]);
        with_bytes(&file, start + header, &[0x2C], &field)
    };
    assert_eq!(rows_of(&with_sum(sum.sum())).unwrap(), ROWS_WITH_IMAGES);
    let error = rows_of(&with_sum(sum.sum() ^ 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(
        error.to_string().starts_with("urls: broken Parquet (") && error.to_string().contains("CRC"),
        "{error}"
    );
}

#[test]
fn encrypted_columns_and_files_are_refused_as_such() {
    let mut file = with_images();
    let header = page_start(&file, 0);
    // The length of the encrypted header comes first.
    file[header..header + 4].copy_from_slice(&[45, 0, 0, 0]);
    let error = rows_of(&file).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(
        error.to_string().starts_with("urls: column url is encrypted, which is not supported; "),
        "{error}"
    );
    file[..4].copy_from_slice(b"PARE");
    let last = file.len() - 1;
    file[last] = b'E';
    let error = rows_of(&file).unwrap_err();
    assert_eq!(error.to_string(), "urls: is encrypted Parquet; save it without encryption");
    let mut bench = Bench::new("encrypted");
    bench.put(&file);
    bench.read(&"an encrypted file");
    assert_eq!(bench.refused, 1);
}

#[test]
fn a_dictionary_over_the_memory_limit_is_refused_with_the_way_to_read_it() {
    let schema = "message m { required int64 lastmod; required binary url (STRING); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_dictionary_page_size_limit(1 << 20);
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let rows = 40_000;
    let times: Vec<i64> = (0..rows).collect();
    column.typed::<Int64Type>().write_batch(&times, None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&vec!["u".into(); rows as usize], None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    let file = file.into_inner().unwrap();
    let scratch = Scratch::new("dictionary");
    let path = scratch.0.join("urls");
    let error = read_within(&path, &file, 1 << 20).unwrap_err();
    assert!(
        error.to_string().starts_with("urls: a page of column lastmod needs 1,280,000 bytes of memory"),
        "{error}"
    );
    assert_eq!(read_within(&path, &file, 4 << 20).unwrap().rows, 40_000);
}

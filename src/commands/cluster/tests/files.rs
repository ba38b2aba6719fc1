//! Partitions of row groups that tasks read by themselves.

use std::fs::File;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::*;

const GROUPS: usize = 4;

/// Writes `rows` rows to each of the row groups of a file.
fn write(directory: &Directory, rows: usize) -> PathBuf {
    let path = directory.0.join("rows.parquet");
    let schema = parse_message_type("message m { required binary page (UTF8); }").unwrap();
    let mut writer =
        SerializedFileWriter::new(File::create(&path).unwrap(), Arc::new(schema), Arc::default()).unwrap();
    for group in 0..GROUPS {
        let page = |n: usize| match n % 10 {
            0 => format!("no url {n}"),
            1 => "https://h.example/often".to_owned(),
            _ => format!("https://h.example/{n}"),
        };
        let pages: Vec<ByteArray> =
            (group * rows..(group + 1) * rows).map(|n| page(n).into_bytes().into()).collect();
        let mut of_group = writer.next_row_group().unwrap();
        let mut column = of_group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&pages, None, None).unwrap();
        column.close().unwrap();
        of_group.close().unwrap();
    }
    writer.close().unwrap();
    path
}

fn of(path: &std::path::Path, numbers: &[usize]) -> [RowGroups; 1] {
    let columns = "url=page".parse().unwrap();
    [RowGroups { path: path.to_owned(), numbers: numbers.to_vec(), columns }]
}

#[test]
fn counting_row_groups_tells_what_packing_does_and_each_group_is_read_alone() {
    let directory = Directory::new();
    let (job, stop) = (directory.job("out"), Stop::default());
    let path = write(&directory, 500);
    let driver = Driver::open(&job, &stop).unwrap();
    let order = driver.order();
    let mut blocks = 0;
    let mut emit = |_| {
        blocks += 1;
        Ok(())
    };
    let all = of(&path, &[0, 1, 2, 3]);
    let packed = pack_row_groups(&job, order, &all, 0, Some(&mut emit), &stop).unwrap();
    assert!(blocks > 0);
    assert_eq!((packed.rows(), packed.accepted()), (2000, 1800));
    let counted = pack_row_groups(&job, order, &all, 0, None, &stop).unwrap();
    assert_eq!(counted.to_json(), packed.to_json());
    // The file is one partition, or several.
    let parts = [&[2, 0][..], &[], &[1, 3]]
        .map(|numbers| pack_row_groups(&job, order, &of(&path, numbers), 0, None, &stop).unwrap());
    assert_eq!(parts.each_ref().map(Packed::rows), [1000, 0, 1000]);
    assert_eq!(parts.iter().map(|part| part.sum).fold(0, u64::wrapping_add), packed.sum);
    assert_eq!(parts.iter().map(|part| part.bytes).sum::<u64>(), packed.bytes);
    let source = Source::from(&*path);
    let mut with_columns = directory.job("out");
    with_columns.input.form.columns = "url=page".parse().unwrap();
    drop(driver);
    let driver = Driver::open(&with_columns, &stop).unwrap();
    let whole = pack(&with_columns, driver.order(), source, 0, &mut |_| Ok(()), &stop).unwrap();
    assert_eq!((whole.rows(), whole.sum), (packed.rows(), packed.sum));
}

#[test]
fn a_file_without_a_row_group_or_a_column_is_refused() {
    let directory = Directory::new();
    let (job, stop) = (directory.job("out"), Stop::default());
    let path = write(&directory, 5);
    let driver = Driver::open(&job, &stop).unwrap();
    let refused =
        |groups: &[RowGroups]| pack_row_groups(&job, driver.order(), groups, 0, None, &stop).unwrap_err();
    let error = refused(&of(&path, &[1, GROUPS]));
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.to_string().contains("has no row group 4"), "{error}");
    let [mut other] = of(&path, &[0]);
    other.columns = "url=loc".parse().unwrap();
    assert_eq!(refused(&[other]).kind(), ErrorKind::Data);
    let [missing] = of(&directory.0.join("none.parquet"), &[0]);
    assert!(matches!(refused(&[missing]).kind(), ErrorKind::Io | ErrorKind::Input));
}

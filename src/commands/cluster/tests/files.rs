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
    [RowGroups { path: path.to_owned(), numbers: numbers.to_vec(), columns, has_others: false }]
}

#[test]
fn counting_row_groups_tells_what_packing_does_and_each_group_is_read_alone() {
    let directory = Directory::new();
    let (mut job, stop) = (directory.job("out"), Stop::default());
    job.input.format.columns = "url=page".parse().unwrap();
    let path = write(&directory, 500);
    let driver = Driver::open(&job, &stop).unwrap();
    let work_order = driver.work_order();
    let counted = count_row_groups(&job, work_order, &of(&path, &[0, 1, 2, 3]), 0, &stop).unwrap();
    assert_eq!((counted.rows(), counted.accepted()), (2000, 1800));
    let mut blocks = 0;
    let mut emit = |_| {
        blocks += 1;
        Ok(())
    };
    let packed = pack(&job, work_order, Source::from(&*path), 0, &mut emit, &stop).unwrap();
    assert!(blocks > 0);
    let without_size = |packed: &Packed| Packed { bytes: 0, ..packed.clone() }.to_json();
    assert_eq!(without_size(&counted), without_size(&packed));
    // The file is one partition, or several.
    let parts = [&[2, 0][..], &[], &[1, 3]]
        .map(|numbers| count_row_groups(&job, work_order, &of(&path, numbers), 0, &stop).unwrap());
    assert_eq!(parts.each_ref().map(Packed::rows), [1000, 0, 1000]);
    assert_eq!(parts.iter().map(|part| part.sum).fold(0, u64::wrapping_add), counted.sum);
    assert_eq!(parts.iter().map(|part| part.bytes).sum::<u64>(), counted.bytes);
}

#[test]
fn row_groups_that_are_sent_to_regions_become_what_one_machine_makes_of_the_file() {
    // Regions of about 100 rows; and a single one, whose rows are cut into several blocks.
    sent_to_regions(1_000, 100, 33);
    sent_to_regions(25_000, 1_000_000, 1);
}

/// Sends row groups of `rows` rows to regions of about `rows_per_border` rows, of which there are `regions`.
fn sent_to_regions(rows: usize, rows_per_border: u64, regions: u32) {
    ROWS_PER_BORDER_HERE.set(rows_per_border);
    let (directory, stop) = (Directory::new(), Stop::default());
    let path = write(&directory, rows);
    let [one, job] = ["one", "cluster"].map(|out| {
        let mut job = directory.job(out);
        job.input.format.columns = "url=page".parse().unwrap();
        job
    });
    build_from(&one, vec![Source::from(&*path)], &Silent, &stop).unwrap();
    let mut driver = Driver::open(&job, &stop).unwrap();
    let work_order = driver.work_order().clone();
    let partitions = [of(&path, &[0, 3]), of(&path, &[1]), of(&path, &[2])];
    let packed =
        partitions.each_ref().map(|part| count_row_groups(&job, &work_order, part, 0, &stop).unwrap());
    let Planned::Ready(plan) = driver.plan(&packed).unwrap() else { panic!("there are candidates enough") };
    assert_eq!(plan.regions(), regions);
    let mut routed = Vec::new();
    // One partition has no memory for blocks.
    for (part, memory) in partitions.iter().zip([0, 1 << 20, 64 << 20]) {
        let mut emit = |region, block| {
            routed.push((region, block));
            Ok(())
        };
        send_row_groups(&job, &work_order, &plan, part, memory, &mut emit, &stop).unwrap();
    }
    let run = Run { driver, packed: packed.into(), plan, routed: vec![routed] };
    let batches = run.reduce_all(&job).unwrap();
    run.publish(batches).unwrap();
    is_same(&job, &one);
}

#[test]
fn a_file_without_a_row_group_or_a_column_is_refused() {
    let directory = Directory::new();
    let (job, stop) = (directory.job("out"), Stop::default());
    let path = write(&directory, 5);
    let driver = Driver::open(&job, &stop).unwrap();
    let refused =
        |groups: &[RowGroups]| count_row_groups(&job, driver.work_order(), groups, 0, &stop).unwrap_err();
    let error = refused(&of(&path, &[1, GROUPS]));
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.to_string().contains("has no row group 4"), "{error}");
    let [mut other] = of(&path, &[0]);
    other.columns = "url=loc".parse().unwrap();
    assert_eq!(refused(&[other]).kind(), ErrorKind::Data);
    let [missing] = of(&directory.0.join("none.parquet"), &[0]);
    assert!(matches!(refused(&[missing]).kind(), ErrorKind::Io | ErrorKind::Input));
}

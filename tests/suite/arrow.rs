//! The library takes rows from Arrow record batches. Rows of a URL alone are read where they are, and other rows go to scratch;
//! nobody can tell from the result.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arrow_array::builder::StringRunBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, BinaryViewArray, DictionaryArray, FixedSizeBinaryArray, Float32Array,
    Float64Array, Int64Array, LargeBinaryArray, LargeStringArray, NullArray, RecordBatch,
    RecordBatchIterator, StringArray, StringViewArray, StructArray,
};
use arrow_schema::{DataType, Field};
use sitemill::options::{Order, SectionsBy};
use sitemill::{Job, Report, Silent, Source, Stop, build_from};

use crate::support::{EPOCH, TempDir};

type Value = Option<Vec<u8>>;

/// How the URLs are stored.
#[derive(Debug, Clone, Copy)]
enum Layout {
    Utf8,
    LargeUtf8,
    Utf8View,
    Binary,
    LargeBinary,
    BinaryView,
    Fixed,
    Dictionary,
    Runs,
}

const LAYOUTS: [Layout; 9] = [
    Layout::Utf8,
    Layout::LargeUtf8,
    Layout::Utf8View,
    Layout::Binary,
    Layout::LargeBinary,
    Layout::BinaryView,
    Layout::Fixed,
    Layout::Dictionary,
    Layout::Runs,
];

/// Bytes of each value of [`Layout::Fixed`].
const FIXED_BYTES: usize = 48;

fn array(layout: Layout, values: &[Value]) -> ArrayRef {
    let bytes = values.iter().map(Option::as_ref);
    let texts = values.iter().map(|value| Some(String::from_utf8_lossy(value.as_ref()?).into_owned()));
    match layout {
        Layout::Utf8 => Arc::new(texts.collect::<StringArray>()),
        Layout::LargeUtf8 => Arc::new(texts.collect::<LargeStringArray>()),
        Layout::Utf8View => Arc::new(texts.collect::<StringViewArray>()),
        Layout::Binary => Arc::new(bytes.collect::<BinaryArray>()),
        Layout::LargeBinary => Arc::new(bytes.collect::<LargeBinaryArray>()),
        Layout::BinaryView => Arc::new(bytes.collect::<BinaryViewArray>()),
        Layout::Fixed => {
            let fixed = bytes.map(|value| {
                let mut value = value?.clone();
                value.resize(FIXED_BYTES, b' ');
                Some(value)
            });
            let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size(fixed, FIXED_BYTES as i32);
            Arc::new(fixed.unwrap())
        }
        Layout::Dictionary => {
            let texts: Vec<_> = texts.collect();
            Arc::new(texts.iter().map(Option::as_deref).collect::<DictionaryArray<Int32Type>>())
        }
        Layout::Runs => {
            let mut runs = StringRunBuilder::<Int32Type>::new();
            texts.for_each(|text| runs.append_option(text));
            Arc::new(runs.finish())
        }
    }
}

/// Which columns there are besides the URL.
#[derive(Debug, Clone, Copy)]
struct Columns {
    /// A tag of which all values are null. With it, rows are not URLs alone, and go to scratch.
    has_tag: bool,
    /// A column that is not read.
    has_id: bool,
}

fn batch(urls: ArrayRef, columns: Columns) -> RecordBatch {
    let rows = urls.len();
    let mut all = vec![("url", urls)];
    if columns.has_id {
        all.push(("id", Arc::new(Int64Array::from_iter_values(0..rows as i64)) as ArrayRef));
    }
    if columns.has_tag {
        all.push(("lastmod", Arc::new(NullArray::new(rows))));
    }
    let all = all.into_iter().map(|(name, values)| (name, values, true));
    RecordBatch::try_from_iter_with_nullable(all).unwrap()
}

fn source(urls: &[ArrayRef], columns: Columns) -> Source<'static> {
    let batches: Vec<_> = urls.iter().map(|urls| batch(urls.clone(), columns)).collect();
    let schema = batches[0].schema();
    Source::arrow("pages", RecordBatchIterator::new(batches.into_iter().map(Ok), schema))
}

/// The published files.
fn published(out: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.is_file());
    files.map(|path| (path.file_name().unwrap().into(), fs::read(path).unwrap())).collect()
}

/// What can be seen of a build: its files, its reject file, and its report without times and needs.
struct Seen {
    files: BTreeMap<PathBuf, Vec<u8>>,
    rejects: String,
    report: serde_json::Value,
    scratch_bytes: u64,
}

/// Builds a set of `urls` and of `others` sources without rows, in the directory `name`. Each build needs its own: a process that
/// another test starts holds the lock for a moment.
fn built(
    directory: &TempDir,
    name: &str,
    urls: &[ArrayRef],
    columns: Columns,
    others: usize,
    change: &dyn Fn(&mut Job),
) -> Seen {
    let (out, rejects) = (directory.join(name), directory.join(format!("{name}.tsv")));
    let mut job = Job::new(Vec::new(), "https://a.example/".parse().unwrap(), out.clone());
    job.publication.time = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(EPOCH.parse().unwrap()));
    job.publication.rejects = Some(rejects.clone());
    job.resources.threads = NonZero::new(3).unwrap();
    job.rules.urls_per_sitemap = 100;
    change(&mut job);
    let empty: [ArrayRef; 1] = [Arc::new(StringArray::from(Vec::<&str>::new()))];
    let mut sources = vec![source(urls, columns)];
    sources.extend((0..others).map(|_| source(&empty, columns)));
    let outcome = build_from(&job, sources, &Silent, &Stop::default()).unwrap();
    assert!(outcome.refused.is_none(), "{:?}", outcome.refused);
    let scratch_bytes = outcome.report.estimate.scratch_bytes;
    Seen {
        files: published(&out),
        rejects: fs::read_to_string(rejects).unwrap(),
        report: comparable(&outcome.report),
        scratch_bytes,
    }
}

/// The report without what the way of reading may change.
fn comparable(report: &Report) -> serde_json::Value {
    let mut report = serde_json::to_value(report).unwrap();
    for key in ["seconds", "needs"] {
        report.as_object_mut().unwrap().remove(key);
    }
    for input in report["inputs"].as_array_mut().unwrap() {
        input.as_object_mut().unwrap().remove("columns");
    }
    report
}

/// Builds the rows in both ways, and compares the results. Returns the bytes of scratch that each has taken.
fn check(urls: &[ArrayRef], has_id: bool, others: usize, change: &dyn Fn(&mut Job), case: &str) -> [u64; 2] {
    let directory = TempDir::in_memory();
    let [held, rows] = [("held", false), ("rows", true)].map(|(name, has_tag)| {
        let seen = built(&directory, name, urls, Columns { has_tag, has_id }, others, change);
        assert!(!seen.files.is_empty(), "{case}");
        seen
    });
    assert_eq!(held.report, rows.report, "{case}");
    assert_eq!(held.rejects, rows.rejects, "{case}");
    assert!(held.files == rows.files, "{case}");
    [held.scratch_bytes, rows.scratch_bytes]
}

/// xorshift64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        for (left, by) in [(true, 13), (false, 7), (true, 17)] {
            self.0 ^= if left { self.0 << by } else { self.0 >> by };
        }
        (self.0 % end as u64) as usize
    }
}

/// A value that a line can have as well.
fn plain(random: &mut Random, blanks: bool) -> Value {
    let n = random.below(400);
    let url = match random.below(if blanks { 30 } else { 26 }) {
        0 => "no url".into(),
        1 => format!("https://other.example/{n}"),
        2 => format!("HTTPS://A.example/x/../ü{n}"),
        3 => format!(" https://a.example/{n}\t"),
        4 => format!("https://a.example/{}", "x".repeat(2_040 + n % 20)),
        5 => return Some(format!("https://a.example/{n}?\u{e9}").chars().map(|c| c as u8).collect()),
        6 => format!("https://a.example/{n}\u{c}"),
        26 => return None,
        27 => String::new(),
        28 => " \t".into(),
        29 => "\u{c}".into(),
        _ => format!("https://a.example/{n}"),
    };
    Some(url.into_bytes())
}

/// A value that would be other rows if it were a line.
fn odd(random: &mut Random) -> Value {
    let n = random.below(400);
    let url = match random.below(6) {
        0 => format!("https://a.example/{n}\nhttps://a.example/b{n}"),
        1 => format!("https://a.example/{n}\n"),
        2 => format!("https://a.example/{n}\r"),
        3 => format!("https://a.example/\r{n}"),
        4 => format!("\u{feff}https://a.example/{n}"),
        _ => "\n".into(),
    };
    Some(url.into_bytes())
}

/// The least memory for three threads: 32 MiB for data that grows with the input. A quarter of it is for URLs, and each source has
/// its share.
const LEAST_MEMORY: u64 = (24 + 3 * 12 + 32) << 20;

#[test]
fn rows_of_a_url_alone_give_the_same_bytes_counts_and_rejects_as_rows_with_tags() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut parts_in_scratch = 0;
    for case in 0..48 {
        let (layout, has_id) = (LAYOUTS[case % 8], random.below(2) == 1);
        let (blanks, one_odd_in) = (random.below(2) == 1, [0, 5, 100, 300][random.below(4)]);
        let order = [Order::Input, Order::Sorted][random.below(2)];
        let (is_short, others) = (random.below(3) == 0, 150 + random.below(150));
        let value = |random: &mut Random| match one_odd_in > 0 && random.below(one_odd_in) == 0 {
            true => odd(random),
            false => plain(random, blanks),
        };
        let urls: Vec<ArrayRef> = (0..if is_short { 6 } else { 1 } + random.below(8))
            .map(|_| {
                let rows = 1 + random.below(80);
                let values: Vec<Value> = (0..rows).map(|_| value(&mut random)).collect();
                // Values of a batch may begin anywhere in its buffers.
                let skipped = random.below(rows.min(3));
                array(layout, &values).slice(skipped, rows - skipped)
            })
            .chain([array(layout, &[Some(b"https://a.example/last".to_vec())])])
            .collect();
        let case = format!("case {case}: {layout:?}, {order:?}, id {has_id}, {others} others, {is_short}");
        let change = |job: &mut Job| {
            job.rules.order = order;
            job.resources.memory = is_short.then_some(LEAST_MEMORY);
        };
        let [of_held, of_rows] = check(&urls, has_id, if is_short { others } else { 0 }, &change, &case);
        if matches!(order, Order::Input) {
            assert!(of_rows > 0 && if is_short { of_held <= of_rows } else { of_held == 0 }, "{case}");
            parts_in_scratch += u64::from(of_held > 0 && of_held < of_rows);
        }
    }
    assert!(parts_in_scratch > 1, "{parts_in_scratch}");
}

#[test]
fn rows_for_which_there_is_no_memory_go_to_scratch_and_continue_the_others() {
    let mut random = Random(7);
    let urls: Vec<ArrayRef> = (0..12)
        .map(|_| {
            let values: Vec<Value> = (0..500)
                .map(|_| {
                    let mut value = plain(&mut random, true);
                    if let Some(value) = value.as_mut().filter(|value| value.starts_with(b"https")) {
                        value.extend([b'y'; 500]);
                    }
                    value
                })
                .collect();
            array(Layout::Binary, &values)
        })
        .collect();
    for order in [Order::Input, Order::Sorted] {
        let change = |job: &mut Job| {
            job.rules.order = order;
            job.resources.memory = Some(LEAST_MEMORY);
        };
        // The share is 1 MiB.
        let [of_held, of_rows] = check(&urls, false, 7, &change, &format!("{order:?}"));
        if matches!(order, Order::Input) {
            assert!(0 < of_held && of_held < of_rows, "{of_held} of {of_rows}");
        }
    }
}

#[test]
fn small_batches_that_are_read_together_and_large_ones_keep_their_rows_in_order() {
    let mut random = Random(11);
    let mut batch_of = |rows: usize| {
        let values: Vec<Value> = (0..rows).map(|_| plain(&mut random, true)).collect();
        array(Layout::Utf8, &values)
    };
    let urls: Vec<ArrayRef> =
        (0..1_100).map(|n| batch_of(if n == 600 { 9_000 } else { 1 + n % 15 })).collect();
    for order in [Order::Input, Order::Sorted] {
        let [of_held, _] =
            check(&urls, false, 0, &|job: &mut Job| job.rules.order = order, &format!("{order:?}"));
        assert!(matches!(order, Order::Sorted) || of_held == 0, "{of_held}");
    }
}

#[test]
fn values_longer_than_a_line_are_cut_in_the_reject_file_as_rows_are() {
    let long = |bytes: usize| Some([&b"https://a.example/"[..], &vec![b'x'; bytes - 18]].concat());
    let values: Vec<Value> =
        [2_047, 2_048, 65_535, 65_536, 65_537, 65_538, 80_000].into_iter().map(long).collect();
    check(&[array(Layout::Binary, &values)], false, 0, &|_| {}, "long values");
}

#[test]
fn nan_in_a_column_of_numbers_is_a_missing_value() {
    let numbers = |values: [f64; 3]| Arc::new(Float64Array::from_iter_values(values)) as ArrayRef;
    let urls = ["https://a.example/1", "https://a.example/2", "https://a.example/3"];
    let columns: [(&str, ArrayRef); 3] = [
        ("url", Arc::new(StringArray::from(urls.to_vec()))),
        ("type", numbers([7.0, f64::NAN, 7.0])),
        ("priority", Arc::new(Float32Array::from_iter_values([0.5, 0.1, f32::NAN]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let schema = batch.schema();
    let directory = TempDir::new();
    let mut job = Job::new(Vec::new(), "https://a.example/".parse().unwrap(), directory.join("out"));
    job.rules.sections = Some(SectionsBy::Column { column: "type".into(), sections_max: 9 });
    let source = Source::arrow("pages", RecordBatchIterator::new([Ok(batch)], schema));
    let report = build_from(&job, vec![source], &Silent, &Stop::default()).unwrap().report;
    let sections = report.sections.iter().map(|section| (&*section.name, section.listed));
    assert_eq!(sections.collect::<Vec<_>>(), [("7", 2), ("rest", 1)]);
    assert_eq!((&report.given_tags["priority"], report.dropped_tags.len()), (&2, 0));
}

#[test]
fn bytes_that_are_not_utf_8_are_encoded_in_urls_and_invalid_in_other_texts() {
    let directory = TempDir::new();
    let video = |title: &[u8], content: &[u8]| {
        let fields = [
            ("thumbnail_loc", &b"https://a.example/t"[..]),
            ("title", title),
            ("description", b"d"),
            ("content_loc", content),
        ];
        let array = |text: &[u8]| Arc::new(BinaryArray::from_vec(vec![text])) as ArrayRef;
        let columns =
            fields.map(|(name, text)| (Arc::new(Field::new(name, DataType::Binary, true)), array(text)));
        StructArray::from(columns.to_vec())
    };
    for (title, content, dropped) in
        [(&b"caf\xe9"[..], &b"https://a.example/v"[..], 1), (b"t", b"https://a.example/caf\xe9", 0)]
    {
        let url: ArrayRef = Arc::new(StringArray::from(vec!["https://a.example/"]));
        let batch = RecordBatch::try_from_iter([
            ("url", url),
            ("videos", Arc::new(video(title, content)) as ArrayRef),
        ]);
        let batch = batch.unwrap();
        let reader = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
        let out = directory.join(format!("out-{dropped}"));
        let job = Job::new(Vec::new(), "https://a.example/".parse().unwrap(), out.clone());
        let outcome =
            build_from(&job, vec![Source::arrow("rows", reader)], &Silent, &Stop::default()).unwrap();
        assert_eq!(outcome.report.dropped_tags.get("tag-video").copied().unwrap_or_default(), dropped);
        let files = crate::support::published(&out, "https://a.example/");
        let has = |text: &str| files.iter().any(|(_, file)| file.contains(text));
        assert_eq!(has("<video:content_loc>https://a.example/caf%E9</video:content_loc>"), dropped == 0);
        assert_eq!(has("<video:"), dropped == 0);
    }
}

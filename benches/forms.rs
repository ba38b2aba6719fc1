//! Every input format on one thread: `cargo bench --bench forms`. Each loop asserts its number of rows.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::path::Path;
use std::sync::LazyLock;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

mod corpus;

use corpus::{Corpus, Recipe};
use sitemill::Result;
use sitemill::internals::format::{Format, FormatOptions, RawInput, Record, Sink, read};
use sitemill::internals::tags::{LastmodRules, lastmod, priority};
use sitemill::report::Reason;

fn main() {
    divan::main();
}

const ROWS: usize = 1_000_000;

/// URLs, one per line. Every format has the same URLs and tags.
static TEXT: LazyLock<String> = LazyLock::new(|| {
    let recipe = Recipe { lines: ROWS as u64, ..Recipe::default() };
    String::from_utf8(Corpus::new(&recipe).expect("the recipe is sound").text()).expect("the corpus is UTF-8")
});

static CSV: LazyLock<String> = LazyLock::new(|| {
    written("loc,lastmod,priority\n", "", |row, url, time, out| {
        writeln!(out, "\"{url}\",{time},0.{row}").expect("writing to a String cannot fail");
    })
});

/// Writes `head`, every URL by `write` with a digit and a time, and `tail`.
fn written(head: &str, tail: &str, write: impl Fn(usize, &str, &str, &mut String)) -> String {
    let mut out = String::from(head);
    for (row, url) in TEXT.lines().enumerate() {
        let time = format!("2024-05-{:02}T10:20:{:02}Z", row % 28 + 1, row % 60);
        write(row % 10, url, &time, &mut out);
    }
    out + tail
}

/// Counts rows and bytes, so that every byte is read.
#[derive(Default)]
struct Count {
    rows: usize,
    bytes: usize,
}

impl Sink for Count {
    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        self.rows += 1;
        self.bytes += record.url.len() + record.lastmod.len() + record.priority.len();
        Ok(())
    }

    fn bad_row(&mut self, line: u64, _: u64, reason: Reason, _: &[u8]) -> Result<()> {
        panic!("line {line}: {}", reason.as_str());
    }
}

fn bench(bencher: Bencher<'_, '_>, format: Format, raw: impl Fn() -> RawInput<'static>) {
    bencher.counter(ItemsCount::new(ROWS)).bench_local(|| {
        let mut count = Count::default();
        let found =
            read(Path::new("-"), raw(), &FormatOptions::default(), &mut count).expect("the input is sound");
        assert_eq!((found.format, count.rows), (format, ROWS));
        black_box(count.bytes);
    });
}

fn stream(bytes: &'static [u8]) -> RawInput<'static> {
    RawInput::Stream(Box::new(Cursor::new(bytes)))
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn text(bencher: Bencher<'_, '_>) {
    let text: &'static str = &TEXT;
    bench(bencher, Format::Text, || stream(text.as_bytes()));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn text_gzip(bencher: Bencher<'_, '_>) {
    static PACKED: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(TEXT.as_bytes()).expect("writing to a Vec cannot fail");
        encoder.finish().expect("writing to a Vec cannot fail")
    });
    let packed: &'static [u8] = &PACKED;
    bench(bencher, Format::Text, || stream(packed));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn text_zstd(bencher: Bencher<'_, '_>) {
    static PACKED: LazyLock<Vec<u8>> =
        LazyLock::new(|| zstd::encode_all(TEXT.as_bytes(), 3).expect("writing to a Vec cannot fail"));
    let packed: &'static [u8] = &PACKED;
    bench(bencher, Format::Text, || stream(packed));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn csv(bencher: Bencher<'_, '_>) {
    let csv: &'static str = &CSV;
    bench(bencher, Format::Csv, || stream(csv.as_bytes()));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn json_lines(bencher: Bencher<'_, '_>) {
    static JSON: LazyLock<String> = LazyLock::new(|| {
        written("", "", |row, url, time, out| {
            let json = serde_json::json!({"loc": url, "lastmod": time, "priority": format!("0.{row}")});
            writeln!(out, "{json}").expect("writing to a String cannot fail");
        })
    });
    let json: &'static str = &JSON;
    bench(bencher, Format::Jsonl, || stream(json.as_bytes()));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn sitemap(bencher: Bencher<'_, '_>) {
    static XML: LazyLock<String> = LazyLock::new(|| {
        written("<urlset>", "</urlset>", |row, url, time, out| {
            let url = url.replace('&', "&amp;").replace('<', "&lt;");
            writeln!(out, "<url><loc>{url}</loc><lastmod>{time}</lastmod><priority>0.{row}</priority></url>")
                .expect("writing to a String cannot fail");
        })
    });
    let xml: &'static str = &XML;
    bench(bencher, Format::Sitemap, || stream(xml.as_bytes()));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn google(bencher: Bencher<'_, '_>) {
    static LINES: LazyLock<String> = LazyLock::new(|| {
        written("", "", |row, url, time, out| {
            writeln!(out, "{url} lastmod={time} priority=0.{row}").expect("writing to a String cannot fail");
        })
    });
    let lines: &'static str = &LINES;
    bench(bencher, Format::Google, || stream(lines.as_bytes()));
}

/// A URL, a timestamp and a number per row, in zstd pages.
#[cfg(feature = "parquet")]
#[divan::bench(sample_count = 5, sample_size = 1)]
fn parquet(bencher: Bencher<'_, '_>) {
    use parquet::basic::Compression;
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;

    let path = std::env::temp_dir().join(format!("sitemill-bench-{}.parquet", std::process::id()));
    let schema = "message m { required binary loc (STRING); required int64 lastmod (TIMESTAMP(MICROS,true)); \
                  required double priority; }";
    let schema = parquet::schema::parser::parse_message_type(schema).expect("the schema is sound");
    let properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(Default::default())).build();
    let file = std::fs::File::create(&path).expect("the directory for temporary files can be written to");
    let mut writer =
        SerializedFileWriter::new(file, schema.into(), properties.into()).expect("it is writable");
    let mut group = writer.next_row_group().expect("it is writable");
    let urls: Vec<ByteArray> = TEXT.lines().map(ByteArray::from).collect();
    let times: Vec<i64> = (0..ROWS as i64).map(|row| 1_714_558_830_000_000 + row * 1_000_001).collect();
    let priorities: Vec<f64> = (0..ROWS).map(|row| (row % 10) as f64 / 10.0).collect();
    for at in 0..3 {
        let mut column = group.next_column().expect("it is writable").expect("there are three");
        match at {
            0 => column.typed::<ByteArrayType>().write_batch(&urls, None, None),
            1 => column.typed::<Int64Type>().write_batch(&times, None, None),
            _ => column.typed::<DoubleType>().write_batch(&priorities, None, None),
        }
        .expect("it is writable");
        column.close().expect("it is writable");
    }
    group.close().expect("it is writable");
    writer.close().expect("it is writable");
    bench(bencher, Format::Parquet, || {
        RawInput::File(std::fs::File::open(&path).expect("it was just written"))
    });
    let _ = std::fs::remove_file(&path);
}

/// Checks and normalises both tags of every CSV row.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn tags(bencher: Bencher<'_, '_>) {
    let rules = LastmodRules::default();
    bencher.counter(ItemsCount::new(ROWS)).bench_local(|| {
        let mut bytes = 0;
        for row in CSV.lines().skip(1) {
            let mut values = row.rsplitn(3, ',').map(str::as_bytes);
            let [number, time] = [(); 2].map(|()| values.next().expect("a row has three fields"));
            let time = lastmod(time, &rules).expect("it is W3C Datetime").expect("it is there");
            let number = priority(number).expect("it is at most one").expect("it is there");
            bytes += time.as_bytes().len() + number.as_bytes().len();
        }
        assert_eq!(bytes, ROWS * ("2024-05-01T10:20:30Z".len() + "0.5".len()));
    });
}

//! The library takes rows from an iterator in place of an input file.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use sitemill::options::Order;
use sitemill::{
    CleanJob, CleanReport, Error, ErrorKind, Job, Outcome, Silent, Source, SourceRow, Stop, Target,
    build_from, clean_from,
};

use crate::support::{EPOCH, TempDir};

fn job(out: PathBuf, base: &str, change: impl FnOnce(&mut Job)) -> Job {
    let mut job = Job::new(Vec::new(), base.parse().unwrap(), out);
    job.publication.time = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(EPOCH.parse().unwrap()));
    job.resources.threads = NonZero::new(3).unwrap();
    job.rules.urls_per_sitemap = 5_000;
    change(&mut job);
    job
}

fn built(job: &Job, sources: Vec<Source<'_>>) -> Result<Outcome, Error> {
    build_from(job, sources, &Silent, &Stop::default())
}

/// Rows with URLs of three origins, some of them duplicate, blank or invalid, with and without tags.
fn rows(count: usize) -> impl Iterator<Item = (String, &'static str, &'static str)> + Clone + Send {
    (0..count).map(|n| {
        let url = match n % 50 {
            48 => String::new(),
            49 => format!("no url {n}"),
            m => format!("https://{}.example/{}?q=ü&r", ["a", "b", "c"][m % 3], n / 2),
        };
        let (lastmod, priority) = match n % 50 {
            48 => ("", ""),
            m => (["2024-05-01", "", "2024-13-01"][m % 3], ["", "0.5"][m % 2]),
        };
        (url, lastmod, priority)
    })
}

fn source<'a>(rows: impl Iterator<Item = (String, &'static str, &'static str)> + Send + 'a) -> Source<'a> {
    let row = |(url, lastmod, priority)| SourceRow::new(url).lastmod(lastmod).priority(priority);
    Source::rows("pages", rows.map(row))
}

fn csv(directory: &TempDir, count: usize) -> PathBuf {
    let row = |(url, lastmod, priority): (String, &str, &str)| format!("{url},{lastmod},{priority}\n");
    directory.file("pages.csv", format!("loc,lastmod,priority\n{}", rows(count).map(row).collect::<String>()))
}

/// The published files. Their names depend on a secret of the directory, so both runs must use the same directory.
fn published(out: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(out).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true if path.ends_with(".sitemill") => {}
            true => all.append(&mut published(&path)),
            false => drop(all.insert(path.clone(), fs::read(&path).unwrap())),
        }
    }
    all
}

/// The line number, reason and text of each reject; lines are counted from `first_line`.
fn rejects(path: &Path, first_line: u64) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let row = |row: &str| {
        let values: Vec<&str> = row.split('\t').collect();
        let line: u64 = values[1].parse().unwrap();
        format!("{}\t{}\t{}", line - first_line + 1, values[3], values[4])
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn rows_from_an_iterator_give_the_same_bytes_counts_and_rejects_as_the_same_rows_in_a_file() {
    const ROWS: usize = 100_000;
    for order in [Order::Input, Order::Sorted] {
        for base in ["https://a.example/", "{origin}/"] {
            let directory = TempDir::new();
            let [of_file, of_rows] = ["file.tsv", "rows.tsv"].map(|name| directory.join(name));
            let out = directory.join("out");
            let with = |rejects: &PathBuf| {
                job(out.clone(), base, |job| {
                    (job.rules.order, job.publication.rejects) = (order, Some(rejects.clone()));
                })
            };
            let file = csv(&directory, ROWS);
            let want = built(&with(&of_file), vec![file.into()]).unwrap();
            assert!(want.refused.is_none() && want.report.listed > 10_000);
            let want_files = published(&out);
            let got = built(&with(&of_rows), vec![source(rows(ROWS))]).unwrap();
            assert_eq!(published(&out), want_files);
            // The header of the file is its first line.
            assert_eq!(rejects(&of_rows, 1), rejects(&of_file, 2));
            let counts = |outcome: &Outcome| {
                let report = &outcome.report;
                let tags = (report.given_tags.clone(), report.dropped_tags.clone(), report.non_utf8_lines);
                (report.lines, report.blank, report.listed, report.duplicates, report.rejected.clone(), tags)
            };
            assert_eq!(counts(&got), counts(&want));
            assert_eq!(got.report.lines, ROWS as u64);
        }
    }
}

#[test]
fn a_bad_url_is_recorded_with_the_name_of_the_source_and_the_number_of_its_row() {
    let directory = TempDir::new();
    let rejects = directory.join("rejects.tsv");
    let job = job(directory.join("out"), "https://a.example/", |job| {
        job.publication.rejects = Some(rejects.clone())
    });
    let long = format!("https://a.example/{}", "x".repeat(100_000));
    let rows = ["https://a.example/1", "", "no url", "https://a.example/2", &long];
    let file = directory.file("urls.txt", "https://a.example/3\n");
    let given = rows.map(SourceRow::from).into_iter().chain([SourceRow::bad("{\"url\"")]);
    let outcome = built(&job, vec![file.into(), Source::rows("pages\t1", given)]).unwrap();
    let text = fs::read_to_string(rejects).unwrap();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert!(lines[0].starts_with("pages\\t1\t3\t2\t") && lines[0].ends_with("\tno url"), "{text}");
    assert!(lines[1].starts_with("pages\\t1\t5\t4\ttoo-long\thttps://a.example/xxx"), "{text}");
    assert_eq!(lines[2], "pages\\t1\t6\t5\tbad-row\t{\"url\"");
    assert_eq!(lines.len(), 3);
    let report = outcome.report;
    assert_eq!((report.lines, report.blank, report.listed), (7, 1, 3));
    let input = &report.inputs[1];
    assert_eq!((&*input.path, &*input.format, input.lines), ("pages\\t1", "rows", 6));
    assert_eq!(input.bytes, rows.iter().map(|row| row.len() as u64).sum::<u64>() + 6);
}

#[test]
fn an_iterator_that_fails_ends_the_run_and_leaves_the_live_set_as_it_was() {
    let directory = TempDir::new();
    let out = directory.join("out");
    for order in [Order::Input, Order::Sorted] {
        let job = job(out.clone(), "https://a.example/", |job| job.rules.order = order);
        let live = built(&job, vec![source(rows(1_000))]).unwrap();
        assert!(live.report.published);
        let before = published(&out);
        for good in [0, 1, 70_000] {
            let row = |n| match n < good {
                true => Ok(SourceRow::new(format!("https://a.example/{n}"))),
                false => Err("the connection is gone"),
            };
            let endless = Source::rows("endless", (0..).map(|n: u64| format!("https://a.example/{n}")));
            let error = built(&job, vec![Source::try_rows("pages", (0..).map(row)), endless]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Io);
            assert_eq!(error.to_string(), format!("pages: row {} could not be read", good + 1));
            let cause = std::error::Error::source(&error).unwrap().to_string();
            assert_eq!(cause, "the connection is gone");
            assert_eq!(published(&out), before);
        }
    }
}

#[test]
fn rows_can_be_borrowed_and_have_links_and_images() {
    let directory = TempDir::new();
    let urls = ["https://a.example/1".to_owned(), "https://a.example/2".to_owned()];
    let rows = urls.iter().map(|url| {
        let row = SourceRow::new(url.as_str()).alternate("de", "https://a.example/de");
        // As a value of a table.
        let row = row.extension("alternates", r#"{"fr":"https://a.example/fr"}"#).unwrap();
        row.image("https://a.example/i.png").extension("images", "https://a.example/j.png").unwrap()
    });
    let job = job(directory.join("out"), "https://a.example/", |_| {});
    let outcome = built(&job, vec![Source::rows("pages", rows)]).unwrap();
    assert_eq!(outcome.report.listed, 2);
    assert_eq!(outcome.report.given_tags["alternates"], 4);
    assert_eq!(outcome.report.given_tags["images"], 4);
    assert!(outcome.report.dropped_tags.values().all(|&count| count == 0));
    // Of each URL and of each value of its tags: the bytes that are given.
    let (row, links) = ("https://a.example/1", "dehttps://a.example/defrhttps://a.example/fr");
    let images = "https://a.example/i.pnghttps://a.example/j.png";
    assert_eq!(outcome.report.inputs[0].bytes as usize, 2 * [row, links, images].concat().len());
    let wrong = SourceRow::new("u").extension("priority", "1").unwrap_err();
    assert_eq!(
        wrong,
        "priority is not the tag of an extension; there are alternates, images, videos and news"
    );
}

#[test]
fn the_output_directory_cannot_be_a_source() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let job = job(out.clone(), "http://h.example/", |_| {});
    built(&job, vec![Source::rows("rows", [SourceRow::new("http://h.example/1")])]).unwrap();
    let refused = built(&job, vec![Source::from(out.as_path())]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Usage, "{refused}");
}

fn cleaned(
    sources: Vec<Source<'_>>,
    urls: &mut dyn Write,
    rejects: &mut Vec<u8>,
) -> Result<CleanReport, Error> {
    let mut job = CleanJob::new(Vec::new());
    job.threads = NonZero::new(3).unwrap();
    let [urls, rejects] = [("urls", urls), ("rejects", rejects as &mut dyn Write)]
        .map(|(name, to)| Target { name: Path::new(name), to });
    clean_from(&job, sources, &Silent, &Stop::default(), urls, Some(rejects))
}

#[test]
fn clean_gives_the_same_urls_counts_and_rejects_for_rows_as_for_the_same_rows_in_a_file() {
    const ROWS: usize = 20_000;
    let directory = TempDir::new();
    let clean = |source| {
        let (mut urls, mut rejects) = (Vec::new(), Vec::new());
        let report = cleaned(vec![source], &mut urls, &mut rejects).unwrap();
        (report, urls, directory.file("rejects.tsv", rejects))
    };
    let (want, want_urls, want_rejects) = clean(csv(&directory, ROWS).into());
    assert!(want.accepted > 10_000 && want.blank > 100 && want.rejected.total() > 100);
    // The header of the file is its first line.
    let want_rejects = rejects(&want_rejects, 2);
    let (got, urls, got_rejects) = clean(source(rows(ROWS)));
    assert_eq!(got, want);
    assert!(urls == want_urls);
    assert_eq!(rejects(&got_rejects, 1), want_rejects);
}

#[test]
fn clean_reads_files_and_rows_in_order_and_names_them_in_rejects() {
    let directory = TempDir::new();
    let file = directory.file("urls.txt", "no url\nhttp://h.example/1\n");
    let (mut urls, mut rejects) = (Vec::new(), Vec::new());
    let borrowed = ["http://h.example/2".to_owned(), "neither".to_owned()];
    let sources = vec![
        Source::rows("first", borrowed.iter().map(String::as_str)),
        file.as_path().into(),
        Source::rows("second", ["HTTP://H.example/a/../3"]),
    ];
    let report = cleaned(sources, &mut urls, &mut rejects).unwrap();
    assert_eq!(urls, b"http://h.example/2\nhttp://h.example/1\nhttp://h.example/3\n");
    assert_eq!((report.lines, report.accepted, report.rejected.total()), (5, 3, 2));
    let rejects = String::from_utf8(rejects).unwrap();
    let lines: Vec<&str> = rejects.lines().skip(1).collect();
    assert!(lines[0].starts_with("first\t2\t1\t") && lines[0].ends_with("\tneither"), "{rejects}");
    assert!(lines[1].starts_with(&format!("{}\t1\t0\t", file.display())), "{rejects}");
    assert_eq!(lines.len(), 2);
}

#[test]
fn clean_ends_with_the_error_of_the_iterator_that_fails() {
    let row = |n| if n < 1_000 { Ok(format!("http://h.example/{n}")) } else { Err("the connection is gone") };
    let source = Source::try_rows("pages", (0..).map(row));
    let error = cleaned(vec![source], &mut io::sink(), &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert_eq!(error.to_string(), "pages: row 1001 could not be read");
}

#[test]
fn an_error_of_sitemill_from_an_iterator_is_the_cause_and_does_not_change_the_kind() {
    let directory = TempDir::new();
    let job = job(directory.join("out"), "https://a.example/", |_| {});
    for kind in [ErrorKind::Busy, ErrorKind::Data, ErrorKind::Signal(15)] {
        let failing = || [Ok("https://a.example/1"), Err(Error::new(kind, "of another run"))];
        let of_build = built(&job, vec![Source::try_rows("pages", failing())]).unwrap_err();
        let of_clean = cleaned(vec![Source::try_rows("pages", failing())], &mut io::sink(), &mut Vec::new())
            .unwrap_err();
        for error in [of_build, of_clean] {
            assert_eq!(error.kind(), ErrorKind::Io);
            assert_eq!(error.to_string(), "pages: row 2 could not be read");
            assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "of another run");
        }
    }
}

#[test]
fn a_panic_of_an_iterator_reaches_the_caller_with_its_payload() {
    let directory = TempDir::new();
    let job = job(directory.join("out"), "https://a.example/", |_| {});
    for good in [0, 70_000] {
        let row = |n| if n < good { format!("https://a.example/{n}") } else { panic!("no row {n}") };
        let caught = std::panic::catch_unwind(|| built(&job, vec![Source::rows("pages", (0..).map(row))]));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&format!("no row {good}")));
        assert!(!directory.join("out/sitemap-index-1.xml").exists());
    }
}

#[test]
fn a_stopped_run_says_that_nothing_was_published_only_if_it_publishes() {
    let directory = TempDir::new();
    let job = job(directory.join("out"), "https://a.example/", |_| {});
    let stop = Stop::default();
    stop.raise(0);
    let source = || vec![Source::rows("pages", ["https://a.example/1"])];
    let of_build = build_from(&job, source(), &Silent, &stop).unwrap_err();
    let target = Target { name: Path::new("-"), to: &mut io::sink() };
    let of_clean =
        clean_from(&CleanJob::new(Vec::new()), source(), &Silent, &stop, target, None).unwrap_err();
    for (error, words) in [(of_build, "interrupted; nothing was published"), (of_clean, "interrupted")] {
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Signal(15), words));
    }
}

#[test]
fn a_failure_of_the_caller_ends_the_run_with_its_own_kind_and_message() {
    let directory = TempDir::new();
    let job = job(directory.join("out"), "https://a.example/", |_| {});
    let stop = Stop::default();
    let failing = stop.clone();
    // Rows that end with an error because the caller has failed, too.
    let rows = (0..).map(move |n| {
        if n == 70_000 {
            failing.fail(ErrorKind::Data, "row 70001 is a number");
        }
        if n < 70_000 { Ok(format!("https://a.example/{n}")) } else { Err("the run was stopped") }
    });
    let error = build_from(&job, vec![Source::try_rows("rows", rows)], &Silent, &stop).unwrap_err();
    assert_eq!((error.kind(), &*error.to_string()), (ErrorKind::Data, "row 70001 is a number"));
}

#[test]
fn keys_that_rows_name_are_in_the_report() {
    let directory = TempDir::new();
    let job = job(directory.join("out"), "https://a.example/", |_| {});
    let row = |n: u32| {
        let row = SourceRow::new(format!("https://a.example/{n}"));
        match n {
            0 => row.keys([("url", &b"Page"[..])], [&b"caf\xe9"[..]]),
            70_000 => row.keys([("url", &b"page"[..]), ("lastmod", b"day")], [&b"stock"[..], b"caf\xe9"]),
            _ => row,
        }
    };
    let report = built(&job, vec![Source::rows("rows", (0..80_000).map(row))]).unwrap().report;
    let columns = report.inputs[0].columns.as_ref().expect("rows have named keys");
    let used: Vec<_> = columns.used.iter().map(|(part, key)| (&**part, &**key)).collect();
    assert_eq!(used, [("lastmod", "day"), ("url", "Page")]);
    assert_eq!(columns.unused, ["caf\\xe9", "stock"]);
    // No row has the key that an option names.
    let mut mistyped = job;
    mistyped.input.format.columns = "priority=rank".parse().unwrap();
    let refused = built(&mistyped, vec![Source::rows("rows", (0..80_000).map(row))]).unwrap().refused;
    let says =
        "no row has the column rank; the inputs have: day, Page, caf\\xe9, stock; nothing was published";
    assert!(refused.unwrap().to_string().starts_with(says));
}

#[test]
fn clean_refuses_a_target_that_is_a_source() {
    let directory = TempDir::new();
    let file = directory.file("urls.txt", "http://h.example/1\n");
    let target = Target { name: &file, to: &mut io::sink() };
    let job = CleanJob::new(Vec::new());
    let sources = vec![Source::from(file.as_path())];
    let error = clean_from(&job, sources, &Silent, &Stop::default(), target, None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
}

/// Counts the lines that are written, and remembers by how many rows the iterator was ahead of them.
struct Lead<'a> {
    made: &'a AtomicU64,
    written: u64,
    most: u64,
}

impl Write for Lead<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.most = self.most.max(self.made.load(Ordering::Relaxed) - self.written);
        self.written += bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn clean_holds_no_more_than_a_few_batches_of_the_rows() {
    const ROWS: u64 = 40_000;
    let made = AtomicU64::new(0);
    let path = "x".repeat(1_000);
    let rows = (0..ROWS).map(|n| {
        made.fetch_add(1, Ordering::Relaxed);
        format!("http://h.example/{path}/{n}")
    });
    let mut urls = Lead { made: &made, written: 0, most: 0 };
    let report = cleaned(vec![Source::rows("pages", rows)], &mut urls, &mut Vec::new()).unwrap();
    assert_eq!((report.accepted, urls.written), (ROWS, ROWS));
    // A batch has 256 of these rows.
    assert!(urls.most <= ROWS / 4, "{} rows were held", urls.most);
}

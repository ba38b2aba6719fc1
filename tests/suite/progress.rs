//! What a program that shows progress is told.

use std::sync::Mutex;

use sitemill::options::Order;
use sitemill::{ErrorKind, Job, Phase, Progress, Source, SourceRow, Stop, build_from};

use crate::support::TempDir;

/// Notes when phases begin and end. Raises a stop when one phase begins.
struct Noted<'s> {
    stop_in: Option<Phase>,
    stop: &'s Stop,
    noted: Mutex<Vec<&'static str>>,
}

impl Progress for Noted<'_> {
    fn begin(&self, phase: Phase, _: u64) {
        self.noted.lock().unwrap().push(phase.as_str());
        if Some(phase) == self.stop_in {
            self.stop.raise(15);
        }
    }

    fn advance(&self, _: u64) {}

    fn end(&self) {
        self.noted.lock().unwrap().push("end");
    }
}

#[test]
fn a_phase_ends_even_if_it_fails_and_only_if_it_has_begun() {
    let directory = TempDir::new();
    let url = |n: usize| format!("https://{}.example/{n}", ["a", "b"][n % 2]);
    let file = directory.file("urls.txt", (0..20_000).map(|n| url(n) + "\n").collect::<String>());
    let (one, each) = ("https://a.example/", "{origin}/");
    for (stop_in, order, base, want) in [
        (Some(Phase::Read), Order::Input, one, &["read", "end"][..]),
        (Some(Phase::Survey), Order::Input, one, &["survey", "end"]),
        (Some(Phase::Survey), Order::Sorted, one, &["survey", "end"]),
        (Some(Phase::Sort), Order::Sorted, one, &["survey", "end", "sort", "end"]),
        (Some(Phase::Split), Order::Input, each, &["survey", "end", "split", "end"]),
        (Some(Phase::Produce), Order::Input, one, &["survey", "end", "produce", "end"]),
        (None, Order::Input, one, &["survey", "end", "produce", "end"]),
    ] {
        let source = match stop_in {
            Some(Phase::Read) => {
                Source::rows("pages", (0..20_000).map(|n| SourceRow::new(url(n)).lastmod("2024-05-01")))
            }
            _ => file.clone().into(),
        };
        let mut job = Job::new(Vec::new(), base.parse().unwrap(), directory.join("out"));
        job.rules.order = order;
        let stop = Stop::default();
        let progress = Noted { stop_in, stop: &stop, noted: Mutex::default() };
        let built = build_from(&job, vec![source], &progress, &stop);
        assert_eq!(built.err().map(|error| error.kind()), stop_in.map(|_| ErrorKind::Signal(15)));
        assert_eq!(progress.noted.into_inner().unwrap(), want, "{stop_in:?} {order:?}");
    }
}

/// Notes the totals of the second pass.
#[derive(Default)]
struct Produced(Mutex<Vec<u64>>);

impl Progress for Produced {
    fn begin(&self, phase: Phase, total: u64) {
        if phase == Phase::Produce {
            self.0.lock().unwrap().push(total);
        }
    }

    fn advance(&self, _: u64) {}

    fn end(&self) {}
}

#[test]
fn the_second_pass_is_one_phase_for_all_sites_and_another_if_segments_are_counted_again() {
    let directory = TempDir::new();
    let totals = |base: &str, count_segments: bool, url: fn(u64) -> String| {
        let out = directory.join(if count_segments { "one" } else { "each" });
        let mut job = Job::new(Vec::new(), base.parse().unwrap(), out);
        job.publication.count_segments = count_segments;
        let (source, progress) = (Source::rows("pages", (0..70_000).map(url)), Produced::default());
        build_from(&job, vec![source], &progress, &Stop::default()).unwrap();
        progress.0.into_inner().unwrap()
    };
    assert_eq!(totals("{origin}/", false, |n| format!("https://{}.example/{n}", n % 5)), [70_000]);
    assert_eq!(totals("https://h.example/", true, |n| format!("https://h.example/{n}/")), [70_000, 70_000]);
}

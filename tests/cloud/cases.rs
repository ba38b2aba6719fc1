//! Runs many cases of one test in parallel.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::support::Ends;

/// Runs `case` with 1, 2, 3 and so on, on several threads, until it returns false. Returns how often it returned true.
pub fn in_parallel(threads: usize, case: impl Fn(usize) -> bool + Sync) -> usize {
    let (next, hits, is_over) = (AtomicUsize::new(1), AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                // If one case fails, the other threads stop.
                let _ends = Ends(&is_over);
                while !is_over.load(Ordering::SeqCst) {
                    if case(next.fetch_add(1, Ordering::SeqCst)) {
                        hits.fetch_add(1, Ordering::SeqCst);
                    } else {
                        return;
                    }
                }
            });
        }
    });
    hits.into_inner()
}

/// The number of cases of a test: the value of `variable`, which scripts/cloud-soak sets, or `default`.
pub fn wanted(variable: &str, default: u32) -> u32 {
    std::env::var(variable).map_or(default, |word| word.parse().expect("a number of cases"))
}

//! Runs many cases of one test in parallel.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

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

/// Sets its flag on drop, also during a panic.
pub struct Ends<'a>(pub &'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The number of cases of a test: the value of `variable`, which scripts/cloud-soak sets, or `default`.
pub fn wanted(variable: &str, default: u32) -> u32 {
    std::env::var(variable).map_or(default, |word| word.parse().expect("a number of cases"))
}

/// A linear congruential generator, which is random enough here. A seed always gives the same numbers.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

//! Parallel work whose results keep the order of its input, in bounded memory.

use std::io;
use std::sync::OnceLock;
use std::thread::{Builder, scope};

use crossbeam_channel::{Receiver, Sender, bounded};

/// Runs `work` on the items of `source` on `threads` threads and passes the results to `sink` in the order of the items, on
/// the calling thread. `state` creates the state of each thread. Only a few items per thread are in flight at a time, so the
/// slowest stage sets the pace. A thread is started when there is an item for it. If the system refuses more threads, the
/// running ones do the work.
///
/// # Errors
/// The first error of `sink` ends everything. So does a panic of `work`, which continues in the caller.
///
/// # Panics
/// If not even one thread can be started, as the standard library does.
pub fn ordered<T: Send, R: Send, S, E>(
    threads: usize,
    source: impl Iterator<Item = T> + Send,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, T) -> R + Sync,
    mut sink: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    // Each item has a slot for its result. The slots are queued in the order of the items.
    let (items, incoming) = bounded::<(T, Sender<R>)>(threads);
    let (line, slots) = bounded::<Receiver<R>>(2 * threads);
    let worker = &|incoming: Receiver<(T, Sender<R>)>| {
        let mut state = state();
        for (item, slot) in incoming {
            // The receiver is gone if the sink has failed meanwhile.
            let _ = slot.send(work(&mut state, item));
        }
    };
    let refused: &OnceLock<io::Error> = &OnceLock::new();
    scope(|scope| {
        scope.spawn(move || {
            // Kept only until all threads run: otherwise the channel would stay open after all workers had died, and sending
            // would block for ever. Until then the channel has room for every item.
            let mut incoming = Some(incoming);
            let mut started = 0;
            for item in source {
                if let Some(own) = incoming.clone() {
                    match Builder::new().spawn_scoped(scope, move || worker(own)) {
                        Ok(_) => started += 1,
                        Err(error) if started == 0 => return drop(refused.set(error)),
                        Err(_) => incoming = None,
                    }
                }
                if started == threads {
                    incoming = None;
                }
                let (slot, result) = bounded(1);
                if line.send(result).is_err() || items.send((item, slot)).is_err() {
                    return;
                }
            }
        });
        for result in slots {
            match result.recv() {
                Ok(result) => sink(result)?,
                // The worker panicked; the scope passes it on.
                Err(_) => break,
            }
        }
        if let Some(error) = refused.get() {
            panic!("failed to spawn thread: {error}");
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items_for_any_number_of_threads() {
        for threads in [1, 2, 7] {
            let mut results = Vec::new();
            let busy = |rounds: u64| (0..rounds * 1000).fold(0_u64, |sum, n| sum.wrapping_add(n * n));
            let work = |_: &mut (), n: u64| (n, busy(n % 13));
            let sink = |(n, _)| {
                results.push(n);
                Ok::<_, ()>(())
            };
            ordered(threads, 0..500, || (), work, sink).unwrap();
            assert!(results.into_iter().eq(0..500));
        }
    }

    #[test]
    fn no_more_threads_are_started_than_there_are_items() {
        let started = AtomicUsize::new(0);
        let state = || started.fetch_add(1, Ordering::Relaxed);
        ordered(1000, 0..3, state, |_, n: u64| n, |_| Ok::<_, ()>(())).unwrap();
        assert!((1..=3).contains(&started.into_inner()));
    }

    #[test]
    fn an_error_of_the_sink_ends_an_endless_source() {
        let mut taken = 0;
        let sink = |n: u64| {
            taken += 1;
            if n < 100 { Ok(()) } else { Err("enough") }
        };
        assert_eq!(ordered(3, 0.., || (), |(), n| n, sink), Err("enough"));
        assert_eq!(taken, 101);
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_of_a_worker_ends_everything() {
        let work = |(): &mut (), n: u64| assert!(n < 50, "the work fails");
        let _ = ordered(2, 0.., || (), work, |()| Ok::<_, ()>(()));
    }
}

//! Parallel work whose results keep the order of its input, in bounded memory.

use std::panic::resume_unwind;
use std::sync::{Condvar, Mutex};
use std::thread::{Builder, ScopedJoinHandle, scope};

use crossbeam_channel::{Receiver, bounded};

/// Runs `work` on the items of `source` on `threads` threads and passes the results to `sink` in the order of the items, on
/// the calling thread. `state` creates the state of each thread. Only a few items per thread are in flight at a time, so the
/// slowest stage sets the pace. A thread is started when there is an item for it. If the system refuses more threads, the
/// running ones do the work.
///
/// # Errors
/// The first error of `sink` ends everything. So does a panic of `source`, `state` or `work`, which continues in the caller.
///
/// # Panics
/// If not even one thread can be started, as the standard library does.
pub fn ordered<T: Send, R: Send, S, E>(
    threads: usize,
    mut source: impl Iterator<Item = T> + Send,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, T) -> R + Sync,
    mut sink: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let slots: Vec<Slot<T, R>> = (0..slots_for(threads)).map(|_| Slot::default()).collect();
    let mut put = |at: usize| {
        let Some(item) = source.next() else { return false };
        slots[at].put(Content::Item(item));
        true
    };
    let work_on = |incoming: Receiver<usize>| {
        let mut own = None;
        incoming.into_iter().for_each(|at| slots[at].work(|item| work(own.get_or_insert_with(&state), item)));
    };
    let mut done = Ok(());
    let mut take = |at: usize| {
        // Without a result, a worker has panicked, which ends everything.
        let Some(result) = slots[at].result() else { return false };
        done = sink(result);
        done.is_ok()
    };
    run(threads, &mut put, &work_on, &mut take);
    done
}

/// The slot of an item and then of its result. Items take turns at the slots.
struct Slot<T, R> {
    content: Mutex<Content<T, R>>,
    has_ended: Condvar,
}

enum Content<T, R> {
    Nothing,
    Item(T),
    Result(R),
    /// The work has panicked.
    Failed,
}

impl<T, R> Default for Slot<T, R> {
    fn default() -> Self {
        Self { content: Mutex::new(Content::Nothing), has_ended: Condvar::new() }
    }
}

const NO_PANIC: &str = "no thread panics with the lock";

impl<T, R> Slot<T, R> {
    fn put(&self, content: Content<T, R>) {
        *self.content.lock().expect(NO_PANIC) = content;
        self.has_ended.notify_one();
    }

    /// Replaces the item by its result.
    fn work(&self, work: impl FnOnce(T) -> R) {
        /// Tells of a panic.
        struct Ending<'s, T, R>(&'s Slot<T, R>, Content<T, R>);
        impl<T, R> Drop for Ending<'_, T, R> {
            fn drop(&mut self) {
                self.0.put(std::mem::replace(&mut self.1, Content::Nothing));
            }
        }
        let mut ending = Ending(self, Content::Failed);
        let item = std::mem::replace(&mut *self.content.lock().expect(NO_PANIC), Content::Nothing);
        let Content::Item(item) = item else { unreachable!("a worker comes once for each item") };
        ending.1 = Content::Result(work(item));
    }

    /// Waits for the result and takes it. `None` if the work has panicked.
    fn result(&self) -> Option<R> {
        let content = self.content.lock().expect(NO_PANIC);
        let is_missing = |content: &mut Content<T, R>| matches!(content, Content::Nothing | Content::Item(_));
        let mut content = self.has_ended.wait_while(content, is_missing).expect(NO_PANIC);
        match std::mem::replace(&mut *content, Content::Nothing) {
            Content::Result(result) => Some(result),
            _ => None,
        }
    }
}

/// Slots that wait in line for the sink.
fn in_line(threads: usize) -> usize {
    2 * threads
}

/// All slots. Besides those in line, the sink has one and one is being filled, so the sink is done with a slot when it is filled
/// again.
fn slots_for(threads: usize) -> usize {
    in_line(threads) + 2
}

/// Passes the numbers of slots on: from `put`, which puts an item there if there are more, to a thread that does `work`, and in the
/// same order to `take`, which returns whether to go on. Items are not seen here, because all of this would be compiled anew for
/// each kind.
fn run(
    threads: usize,
    put: &mut (dyn FnMut(usize) -> bool + Send),
    work: &(dyn Fn(Receiver<usize>) + Sync),
    take: &mut dyn FnMut(usize) -> bool,
) {
    let (items, incoming) = bounded(threads);
    let (line, results) = bounded(in_line(threads));
    scope(|scope| {
        let source = scope.spawn(move || {
            // Kept only until all threads run: otherwise the channel would stay open after all workers had died, and sending
            // would block for ever. Until then the channel has room for every item.
            let mut incoming = Some(incoming);
            let mut workers = Vec::new();
            for at in (0..slots_for(threads)).cycle() {
                if !put(at) {
                    break;
                }
                if let Some(own) = incoming.clone() {
                    match Builder::new().spawn_scoped(scope, move || work(own)) {
                        Ok(worker) => workers.push(worker),
                        Err(error) if workers.is_empty() => return Err(error),
                        Err(_) => incoming = None,
                    }
                }
                if workers.len() == threads {
                    incoming = None;
                }
                if line.send(at).is_err() || items.send(at).is_err() {
                    break;
                }
            }
            Ok(workers)
        });
        let _ = results.into_iter().try_for_each(|at| take(at).then_some(()));
        // Joined here, because the scope would replace the payload of a panic.
        match joined(source) {
            Ok(workers) => workers.into_iter().for_each(joined),
            Err(error) => panic!("failed to spawn thread: {error}"),
        }
    });
}

/// Waits for the thread. Its panic continues here.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|payload| resume_unwind(payload))
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
    #[should_panic(expected = "there is no item 50")]
    fn a_panic_of_a_source_continues_in_the_caller() {
        let source = (0..).inspect(|&n| assert!(n < 50, "there is no item {n}"));
        let _ = ordered(2, source, || (), |(), n: u64| n, |_| Ok::<_, ()>(()));
    }

    #[test]
    #[should_panic(expected = "there is no state")]
    fn a_panic_of_a_state_continues_in_the_caller() {
        let state = || panic!("there is no state");
        let _ = ordered(2, 0.., state, |(): &mut (), n: u64| n, |_| Ok::<_, ()>(()));
    }

    #[test]
    #[should_panic(expected = "the work fails")]
    fn a_panic_of_a_worker_continues_in_the_caller() {
        let work = |(): &mut (), n: u64| assert!(n < 50, "the work fails");
        let _ = ordered(2, 0.., || (), work, |()| Ok::<_, ()>(()));
    }
}

//! Runs that are asked to stop while the store does not answer.

use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::cases::in_parallel;
use crate::proxy::Fault;
use crate::support::{ended, finish, heeding_signals, send};
use crate::world::{Store, assert_each_of, pages};

/// Far longer than a run needs if it does not wait for the store, and far shorter than the timeout of a request.
const ENOUGH: Duration = Duration::from_secs(120);

/// Waits until `is_so`, or fails.
fn wait_until(mut is_so: impl FnMut() -> bool, what: &str) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < ENOUGH, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_run_that_is_asked_to_stop_waits_for_no_store_that_hangs() {
    let store = Store::new();
    let template = store.bucket("template");
    template.put_foreign();
    template.publish(1, 60).expect(0);
    let other = store.copied(&template, "template-new");
    other.publish(1, 90).expect(0);
    let (old, new) = (template.crawl(), other.crawl());
    let input = store.directory.file("urls.txt", pages(1, 90));
    for fault in [Fault::Hang, Fault::HangAfter] {
        let stopped = in_parallel(8, |nth| {
            let bucket = store.copied(&template, &format!("{fault:?}-{nth}").to_lowercase());
            // No request is answered from then on.
            bucket.proxy.plan(move |request| if request.number >= nth { fault } else { Fault::None });
            let mut build = heeding_signals(&bucket.build());
            build.env("AWS_TIMEOUT", "1 hour").arg(&input);
            build.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child: Child = build.spawn().unwrap();
            let mut has_ended = false;
            wait_until(
                || {
                    has_ended = child.try_wait().unwrap().is_some();
                    has_ended || bucket.proxy.log().len() >= nth
                },
                "the run makes a request",
            );
            if !has_ended {
                send("TERM", &child);
                let what = format!("{fault:?} at {nth}: the run ends");
                wait_until(|| child.try_wait().unwrap().is_some(), &what);
            }
            let run = ended(child);
            bucket.proxy.release();
            bucket.proxy.forward();
            let what = format!("{fault:?} at {nth}: exit {}: {}", run.exit, run.stderr);
            assert!(!run.stderr.contains("panicked"), "{what}");
            let seen = bucket.crawl();
            match run.exit {
                // Failures after the set is live do not change the exit code.
                0 => assert_eq!(seen, new, "{what}"),
                143 => assert_each_of(&seen, &[&old, &new]),
                _ => panic!("{what}"),
            }
            finish(&mut bucket.build(), b"").expect(65);
            let seen = bucket.crawl();
            assert!(seen == new || run.exit != 0 && seen == old, "{what}: {seen:?}");
            bucket.assert_nothing_is_left();
            bucket.assert_foreign();
            store.remove(bucket);
            !has_ended
        });
        assert!(stopped > 12, "{fault:?}: {stopped} runs stopped");
    }
}

//! Every change of the file system fails in turn, alone and together with later changes that would undo the work. A crawler
//! must find the set that the run reports as live.

use std::{iter, slice};

use super::leftovers::linkless;
use super::*;

/// Fails every change of `job`, alone and with one or all of the next changes. If `job` succeeds, crawlers find the new set. If
/// it fails, they find the old set, unless its error says that the next run finishes the switch. Only a second failure may
/// cause that.
fn fail(before: &Memory, job: Job) {
    let world = on_disk(before).state();
    let old = crawl(&Memory::of(world.clone())).unwrap();
    let fs = Memory::of(world.clone());
    job(&fs).unwrap();
    let (new, attempts) = (crawl(&fs).unwrap(), fs.attempts().len());
    // Number of runs by outcome: failed, left to the next run, live.
    let mut ends = [0; 3];
    for first in 0..attempts {
        let alone = first..first + 1;
        let more = (alone.end..alone.end + 6)
            .map(|second| second..second + 1)
            .chain(iter::once(alone.end..usize::MAX));
        for second in [None].into_iter().chain(more.map(Some)) {
            let failing: Vec<_> = [alone.clone()].into_iter().chain(second.clone()).collect();
            let when = format!("changes {failing:?} of {attempts} fail");
            let fs = Memory::failing(world.clone(), failing.clone());
            let done = job(&fs);
            let is_left =
                done.as_ref().is_err_and(|why| why.to_string().contains("the next run finishes it"));
            assert!(!is_left || second.is_some(), "{when}: {done:?}");
            let set = crawl(&fs).unwrap_or_else(|why| panic!("{when}: {why}"));
            let (end, live) = match (&done, is_left) {
                (Err(_), false) => (0, &old),
                (Err(_), true) => (1, &new),
                (Ok(_), _) => (2, &new),
            };
            ends[end] += 1;
            // After the switch, index files of the old set may remain that no robots line names.
            let is_whole = live.iter().all(|(file, index)| set.get(file) == Some(index));
            let is_alone = set.len() == live.len() || done.is_ok();
            assert!(is_left || is_whole && is_alone, "{when}: {done:?}: {:?}", set.keys());
            // Runs with one failure are interrupted at every later step; runs with more, only at the end.
            for step in fs.steps().iter().filter(|step| second.is_none() && step.attempt > first) {
                for (how, state) in endings(&step.state) {
                    let fs = Memory::of(state);
                    let when = format!("{when}; after {}: {how}", step.what);
                    crawl(&fs).unwrap_or_else(|why| panic!("{when}: {why}"));
                    drop(open(&fs));
                    assert_at_rest(&fs, &[&old, &new], &when);
                }
            }
            let either = [&old, &new];
            for (how, state) in endings(&fs.state()) {
                let fs = Memory::of(state);
                drop(open(&fs));
                // After two failures, the result need not be durable.
                let is_sure = how == "the process ends" || second.is_none();
                let whole = if is_sure { slice::from_ref(&live) } else { &either[..] };
                assert_at_rest(&fs, whole, &format!("{when}; {how}"));
            }
        }
    }
    assert!(ends.iter().all(|&count| count > 5), "{ends:?}");
}

/// Fails every look of `job` in turn. Crawlers find the new set if `job` succeeds and the old one if not, which may be damaged.
fn fail_looks(before: &Memory, job: Job) {
    let world = on_disk(before).state();
    let old = crawl(&Memory::of(world.clone()));
    let fs = Memory::of(world.clone());
    job(&fs).unwrap();
    let (new, looks) = (crawl(&fs), fs.looks());
    let mut failed = 0;
    for nth in 0..looks {
        let fs = Memory::of(world.clone());
        fs.fail_look(nth);
        let done = job(&fs);
        failed += usize::from(done.is_err());
        let when = format!("look {nth} of {looks} fails: {done:?}");
        let live = if done.is_ok() { &new } else { &old };
        let found = crawl(&fs);
        let Ok(live) = live else {
            // A damaged sitemap is mended before the switch.
            assert!(found.is_ok() || found == *live, "{when}: {found:?}");
            continue;
        };
        let set = found.unwrap_or_else(|why| panic!("{when}: {why}"));
        // An index file of the old set stays if it cannot be looked up when it is to be removed.
        assert!(live.iter().all(|(file, index)| set.get(file) == Some(index)), "{when}: {:?}", set.keys());
        for (how, state) in endings(&fs.state()) {
            let fs = Memory::of(state);
            drop(open(&fs));
            assert_at_rest(&fs, &[live], &format!("{when}; {how}"));
        }
    }
    assert!(failed > 5 && failed < looks, "{failed} of {looks}");
}

#[test]
fn a_look_that_fails_is_not_taken_for_a_file_that_is_missing() {
    fail_looks(&empty(), first);
    fail_looks(&linkless(empty()), first);
    fail_looks(&world(), larger);
    fail_looks(&linkless(world()), larger);
    fail_looks(&world(), smaller);
    fail_looks(&world(), roll_back);
}

#[test]
fn a_look_that_fails_leaves_no_damaged_sitemap_in_a_set_that_is_reported_as_live() {
    for fs in [world(), linkless(world())] {
        let file = Manifest::read(&view(&fs), &Record::Live).unwrap().unwrap().sitemaps[1].file.clone();
        fs.put(&Path::new(OUT).join(file), b"damaged");
        fail_looks(&fs, larger);
    }
}

#[test]
fn a_first_set_that_fails_leaves_nothing_behind() {
    fail(&empty(), first);
}

#[test]
fn a_larger_set_that_fails_leaves_the_old_one() {
    fail(&world(), larger);
}

#[test]
fn a_smaller_set_that_fails_leaves_the_old_one() {
    fail(&world(), smaller);
}

#[test]
fn a_set_that_fails_without_links_leaves_nothing_behind_either() {
    fail(&linkless(empty()), first);
    fail(&linkless(world()), smaller);
}

#[test]
fn a_rollback_that_fails_leaves_the_live_set() {
    fail(&world(), roll_back);
}

/// A world in which a smaller set is live, and index files of the set before remain.
fn shrunk() -> Memory {
    let fs = world();
    smaller(&fs).unwrap();
    fs
}

/// Restores the set before the live one, whose manifest does not list the index files that remain of it.
fn take_over_old_indexes(fs: &Memory) -> Result<usize> {
    let mut workspace = open_place(fs, OnDamage::Refuse)?;
    workspace.live.as_mut().unwrap().superseded_indexes.clear();
    workspace.consent = Some(Consent { take_over: true, replace_set: false });
    let mut prepared = workspace.roll_back(None, "2026-11-20T02:00:00Z", &Silent, &Stop::default())?;
    make_live(slice::from_mut(&mut prepared))?;
    list_in_robots_txt(fs, &prepared);
    Ok(fs.steps().len())
}

#[test]
fn old_index_files_that_the_new_set_has_with_the_same_bytes_stay_if_it_fails() {
    fail(&shrunk(), roll_back);
    fail(&shrunk(), take_over_old_indexes);
}

use object_store::memory::InMemory;

use super::area::Area;
use super::*;
use crate::place::owner::Owner;
use crate::store::{Bucket, StoreClock};

/// A view of an empty bucket in memory.
fn view(clock: &StoreClock) -> BucketView {
    let location = Location::parse("s3://bucket/html".as_ref()).unwrap().unwrap();
    let bucket = Bucket::new(Arc::new(InMemory::new()), &location, "memory".into());
    let bucket = bucket.with_clock(clock.clone());
    let area = || Area { bucket: bucket.clone(), location: location.clone() };
    BucketView::new(area(), area(), None)
}

#[test]
fn a_manifest_that_changes_before_or_after_the_commit_is_refused_in_other_words() {
    let view = view(&StoreClock::default());
    let claimant = Claimant { run: new_run(), for_sites: false, heart: None };
    let mut place = BucketPlace::with_claim(view.clone(), claimant.run.clone(), &claimant).unwrap();
    let switch = Switch {
        indexes: Vec::new(),
        robots: ("robots-sitemaps.txt".into(), Vec::new()),
        manifest: b"{}".to_vec(),
        expected: None,
        replaced: None,
        sitemaps: Vec::new(),
        removals: Vec::new(),
    };
    place.prepare(switch).unwrap();
    let theirs = || view.live_manifest().put("theirs", Condition::None).unwrap();
    theirs();
    let refused = place.commit().unwrap_err();
    let words = |error: &Error| error.to_string();
    assert_eq!(refused.kind(), ErrorKind::Busy);
    assert!(words(&refused).contains("so nothing was published; run again"), "{refused}");
    view.live_manifest().remove().unwrap();
    place.commit().unwrap();
    theirs();
    let refused = place.clean_up().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Busy);
    assert!(words(&refused).contains("was changed by another run or program in the meantime"), "{refused}");
}

#[test]
fn a_run_of_which_no_upload_is_in_flight_any_more_is_known_by_the_clock_of_the_store() {
    let clock = StoreClock::default();
    let view = view(&clock);
    let owner = Owner { machine: "elsewhere".into(), ..Owner::this() };
    let marker = serde_json::json!({ "owner": owner }).to_string();
    Staging { view: &view, run: "9-9" }.put("run.json", marker.as_bytes()).unwrap();
    staging::mark_workers(&view, "8-8").unwrap();
    let published = Published { files: Default::default(), is_sitemap: |_| false };
    for (date, is_left) in [("soon", true), ("Fri, 31 Dec 2100 00:00:00 GMT", false)] {
        clock.set(date);
        staging::remove_dead_runs(&view, "1-1", &published).unwrap();
        assert_eq!(!view.all_staging().unwrap().is_empty(), is_left, "{date}");
    }
}

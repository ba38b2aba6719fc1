use std::path::Path;

use object_store::memory::InMemory;

use super::*;
use crate::common::stop::Stop;
use crate::store::{Bucket, Location};

/// The objects of a bucket in memory, for a run that `stop` ends.
fn bucket(stop: &Stop) -> impl Fn(&str) -> StateObject + use<> {
    let location = Location::parse(Path::new("s3://bucket")).unwrap().unwrap();
    let bucket = Bucket::new(Arc::new(InMemory::new()), &location, "memory".into()).for_run(stop);
    move |key| StateObject {
        bucket: bucket.clone(),
        key: key.into(),
        path: format!("s3://bucket/{key}").into(),
    }
}

fn claimant(run: &str) -> Claimant {
    Claimant { run: run.into(), for_sites: false, heart: None }
}

#[test]
fn the_claim_on_a_site_lasts_as_long_as_the_run_for_all_sites_that_made_it() {
    let object = bucket(&Stop::default());
    let (sites, site, probe) = (object("journal.json"), object("a/journal.json"), object("clock"));
    let parent = Claimant { for_sites: true, ..claimant("1-1") };
    let mut parent = Claim::take(sites.clone(), &parent, &probe).unwrap();
    let heart = Heart { journal: sites.clone(), run: "1-1".into() };
    let of_site = Claimant { heart: Some(heart), ..claimant("2-1") };
    let mut of_site = Claim::take(site.clone(), &of_site, &probe).unwrap();
    let is_beating = |claim: &Claim| Arc::strong_count(&claim.shared) > 1;
    assert!(is_beating(&parent) && !is_beating(&of_site), "one run has one heart");
    thread::scope(|scope| {
        // Both wait for a heartbeat, for which any change counts.
        let busy = scope.spawn(|| Claim::take(site.clone(), &claimant("3-1"), &probe).unwrap_err());
        let busy_parent = scope.spawn(|| check_sites(&sites, &probe).unwrap_err());
        while !busy.is_finished() || !busy_parent.is_finished() {
            parent.change(State::Claimed, "1-1").unwrap();
            thread::sleep(Duration::from_millis(50));
        }
        for (busy, holder) in [(busy, "2-1"), (busy_parent, "1-1")] {
            let error = busy.join().unwrap();
            assert!(error.kind() == ErrorKind::Busy && error.to_string().contains(holder), "{error}");
        }
    });
    assert!(of_site.check().is_ok() && !of_site.is_lost());
    // Without its run, the claim on the site means nothing, even if another run for all sites is active.
    parent.end();
    check_sites(&sites, &probe).unwrap();
    let next = Claimant { for_sites: true, ..claimant("4-1") };
    let _next = Claim::take(sites, &next, &probe).unwrap();
    let taken = Claim::take(site, &claimant("3-1"), &probe).unwrap();
    let lost = of_site.try_change(State::Decided, "2-1").unwrap_err();
    assert!(lost.error.kind() == ErrorKind::Busy && !lost.is_in_doubt);
    assert!(of_site.is_lost() && !taken.is_lost());
    of_site.end();
}

#[test]
fn a_run_on_an_unknown_machine_has_not_ended() {
    let object = bucket(&Stop::default());
    let journal = object("journal.json");
    let claim = Claim::take(journal.clone(), &claimant("1-1"), &object("clock")).unwrap();
    let held = claim.journal().get().unwrap();
    let unknown = Owner { machine: String::new(), ..held.owner.clone() };
    for (owner, is_held) in [(unknown, true), (Owner::gone(), false)] {
        journal.put(Journal { owner, ..held.clone() }.to_json(), Condition::None).unwrap();
        assert_eq!(is_active(journal.clone(), "1-1").unwrap(), is_held);
    }
}

#[test]
fn a_run_that_waits_for_a_heartbeat_of_another_can_be_stopped() {
    let stop = Stop::default();
    let object = bucket(&stop);
    let elsewhere = Owner { machine: "elsewhere".into(), ..Owner::this() };
    let held = Journal { owner: elsewhere, ..new(&claimant("1-1"), None) };
    object("journal.json").put(held.to_json(), Condition::None).unwrap();
    stop.raise(15);
    let refused = Claim::take(object("journal.json"), &claimant("2-1"), &object("clock")).unwrap_err();
    assert_eq!(refused.to_string(), stop.check().unwrap_err().to_string());
}

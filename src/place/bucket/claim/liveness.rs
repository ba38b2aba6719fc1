//! Whether the owner of a claim is alive.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::place::bucket::journal::{Journal, State};
use crate::place::bucket::state_object::StateObject;
use crate::store::{Bucket, Condition, Object};

/// The time without a heartbeat after which a run is presumed dead.
const LEASE: Duration = Duration::from_secs(30);

/// The interval between readings of a journal whose next heartbeat is awaited.
const READ_INTERVAL: Duration = Duration::from_secs(1);

/// The interval between checks whether the run was asked to stop.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Whether the owner of the claim `old` is alive. A process on this machine that has ended is dead; for any other process, waits
/// for a heartbeat until the lease expires. `probe` is an object to upload, whose time shows the store's clock.
///
/// # Errors
/// If a request fails, or the run is asked to stop meanwhile.
pub fn is_alive(journal: &StateObject, old: &Journal, object: &Object, probe: &StateObject) -> Result<bool> {
    if has_ended(old) {
        return Ok(false);
    }
    if let Some(heart) = &old.heart {
        let of_sites = of_all_sites(journal, heart, old)?;
        return of_sites.map_or(Ok(false), |held| is_alive(&held.journal, &held.claim, &held.object, probe));
    }
    let of_probe = probe.put(old.to_json(), Condition::None).and_then(|()| probe.look_up());
    let _ = probe.remove();
    let now = of_probe?.map_or(object.modified, |probe| probe.modified);
    let end = Instant::now() + LEASE.saturating_sub(object.age(now));
    while Instant::now() < end {
        sleep(READ_INTERVAL.min(end.saturating_duration_since(Instant::now())), &journal.bucket)?;
        match journal.read()? {
            // Compares ETag and time, not the content, because the owner may run another version of sitemill.
            Some((_, there)) if there.meta() == object.meta() && there.modified == object.modified => {}
            Some((bytes, _)) => return Ok(Journal::read(&journal.path, &bytes)?.state != State::Released),
            None => return Ok(false),
        }
    }
    Ok(false)
}

/// Whether `run` holds the claim in `journal`, and runs on this machine or has an unexpired lease. Uploads nothing and does not
/// wait: the store tells its time with each answer.
pub fn is_active(journal: StateObject, run: &str) -> Result<bool> {
    let Some(held) = held_in(journal)? else { return Ok(false) };
    if held.claim.owner_run != run || has_ended(&held.claim) {
        return Ok(false);
    }
    let beating = match held.claim.heart.clone() {
        Some(heart) => of_all_sites(&held.journal, &heart, &held.claim)?,
        None => Some(held),
    };
    let is_leased = |held: &Held| held.object.age(held.journal.bucket.now()) < LEASE;
    Ok(beating
        .is_some_and(|held| !has_ended(&held.claim) && (held.claim.owner.is_alive() || is_leased(&held))))
}

/// Whether the owner of a claim has released it or certainly ended.
fn has_ended(claim: &Journal) -> bool {
    claim.state == State::Released || claim.owner.is_gone() || claim.owner.is_dead()
}

/// Sleeps for `time`.
///
/// # Errors
/// As soon as the run of `bucket` is asked to stop.
fn sleep(time: Duration, bucket: &Bucket) -> Result<()> {
    let end = Instant::now() + time;
    loop {
        bucket.check_stop()?;
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        thread::sleep(left.min(POLL_INTERVAL));
    }
}

/// A claim that was read.
struct Held {
    journal: StateObject,
    claim: Journal,
    object: Object,
}

/// The claim of the run for all sites that has made the claim `old` on one of them. Its journal is at the URL `heart`. `None` if
/// that run holds it no longer.
fn of_all_sites(journal: &StateObject, heart: &str, old: &Journal) -> Result<Option<Held>> {
    let path = PathBuf::from(heart);
    let Some(key) = heart.strip_prefix(&root_of(journal)) else { return Ok(None) };
    let journal = StateObject { bucket: journal.bucket.clone(), key: key.into(), path };
    let is_same =
        |held: &Held| old.heart_run.as_ref() == Some(&held.claim.owner_run) && held.claim.heart.is_none();
    Ok(held_in(journal)?.filter(is_same))
}

/// Reads the claim in `journal`; `None` if there is no journal.
fn held_in(journal: StateObject) -> Result<Option<Held>> {
    let Some((bytes, object)) = journal.read()? else { return Ok(None) };
    let claim = Journal::read(&journal.path, &bytes)?;
    Ok(Some(Held { journal, claim, object }))
}

/// The URL of an object's bucket, with a trailing slash.
fn root_of(object: &StateObject) -> String {
    object.path.to_string_lossy().strip_suffix(&object.key).unwrap_or_default().to_owned()
}

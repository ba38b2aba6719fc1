//! The claim: a lease that lets one run publish in a place, renewed by heartbeats.

mod liveness;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::journal::{Journal, State};
use super::state_object::StateObject;
use super::unconditional::{is_uploaded, unsafe_store};
use crate::error::{Error, ErrorKind, Result, message};
use crate::place::owner::Owner;
use crate::store::{Condition, FailureKind, Meta, Put};
pub use liveness::is_active;
use liveness::is_alive;

/// The interval between heartbeats.
const BEAT: Duration = Duration::from_secs(5);

/// Maximum number of attempts to claim a place while other runs keep changing its journal.
const TRIES: usize = 5;

/// Failures because of the permissions, the credentials or the bucket.
const UNREADABLE: [FailureKind; 4] =
    [FailureKind::Denied, FailureKind::NoCredentials, FailureKind::NoBucket, FailureKind::OtherRegion];

/// Why the journal was not changed.
#[derive(Debug)]
pub struct Unchanged {
    /// The error to report.
    pub error: Error,
    /// Whether the store may have changed it nevertheless.
    pub is_in_doubt: bool,
}

/// The right of this run to publish in a place.
#[derive(Debug)]
pub struct Claim {
    shared: Arc<Shared>,
    beats: Option<JoinHandle<()>>,
}

/// The journal of a place that this run has claimed. As long as it holds the claim, nobody else changes it, so it need not be read.
#[derive(Debug, Clone)]
pub struct ClaimedJournal(Arc<Shared>);

impl ClaimedJournal {
    /// Its content; `None` once the run does not hold the claim any more.
    pub fn get(&self) -> Option<Journal> {
        let held = self.0.lock();
        (!held.has_ended && !held.is_lost).then(|| held.journal.clone())
    }
}

#[derive(Debug)]
struct Shared {
    journal: StateObject,
    held: Mutex<Held>,
    ended: Condvar,
}

#[derive(Debug)]
struct Held {
    journal: Journal,
    meta: Meta,
    last: Instant,
    /// Whether another run has taken over.
    is_lost: bool,
    has_ended: bool,
}

/// The run that claims a place, and the scope of its claim.
#[derive(Debug, Clone)]
pub struct Claimant {
    /// The run.
    pub run: String,
    /// Whether the claim is for all sites below the place.
    pub for_sites: bool,
    /// The claim on all sites, if its heartbeats also count for this one.
    pub heart: Option<Heart>,
}

/// The claim of a run for all sites.
#[derive(Debug, Clone)]
pub struct Heart {
    /// The journal of all sites.
    pub journal: StateObject,
    /// The run for all sites. The runs for its sites have other names.
    pub run: String,
}

impl Claim {
    /// Claims the place with this `journal`. `probe` is an object to upload, whose time shows the store's clock.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] if another run is active there; also if a request fails.
    pub fn take(journal: StateObject, claimant: &Claimant, probe: &StateObject) -> Result<Self> {
        for _ in 0..TRIES {
            let there = journal.bucket.read(&journal.key);
            let there =
                there.map_err(|failure| failure.into_error_of_output(&journal.path, "could not be read"))?;
            let (new, condition) = match there {
                None => {
                    // Some stores report a missing bucket only for listings.
                    let listed = journal.bucket.list_level(&journal.key);
                    listed.map_err(|failure| {
                        failure.into_error_of_output(&journal.path, "could not be accessed")
                    })?;
                    (new(claimant, None), Condition::Absent)
                }
                Some((bytes, object)) => {
                    let old = Journal::read(&journal.path, &bytes)?;
                    if old.state != State::Released && is_alive(&journal, &old, &object, probe)? {
                        return Err(busy(&journal, &old));
                    }
                    (new(claimant, Some(&old)), Condition::Is(object.meta()))
                }
            };
            match journal.bucket.put(Put::new(&*journal.key, new.to_json(), condition)) {
                Ok(meta) => return Ok(Self::held(journal, new, meta, claimant.heart.is_none())),
                // Another run was faster.
                Err(failure) if failure.kind == FailureKind::Condition => {}
                Err(failure) if failure.kind == FailureKind::Unsupported && is_uploaded(probe) => {
                    let rejects = format!("rejects the conditions of uploads ({failure})");
                    return Err(unsafe_store(&journal.path, &rejects));
                }
                Err(failure) => {
                    return Err(failure.into_error_of_output(&journal.path, "could not be written"));
                }
            }
        }
        let words = "other runs keep changing it; try again when they are done";
        Err(Error::new(ErrorKind::Busy, message!(&*journal.path, ": {words}")))
    }

    fn held(object: StateObject, journal: Journal, meta: Meta, with_beats: bool) -> Self {
        let held = Held { journal, meta, last: Instant::now(), is_lost: false, has_ended: false };
        let shared = Arc::new(Shared { journal: object, held: Mutex::new(held), ended: Condvar::new() });
        let start = || {
            let beating = Arc::clone(&shared);
            thread::Builder::new().name("sitemill-claim".into()).spawn(move || beating.beat())
        };
        // If the thread cannot be started, the claim still excludes runs on this machine, and is checked before each change.
        let beats = with_beats.then(start).and_then(Result::ok);
        Self { shared, beats }
    }

    /// The journal as this run has put it last.
    pub fn journal(&self) -> ClaimedJournal {
        ClaimedJournal(Arc::clone(&self.shared))
    }

    /// Whether another run has taken over.
    pub fn is_lost(&self) -> bool {
        self.shared.lock().is_lost
    }

    /// Changes the journal to `state` for `run`.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] if another run has taken over; also if a request fails. It may have changed in the latter case.
    pub fn change(&self, state: State, run: &str) -> Result<()> {
        self.try_change(state, run).map_err(|unchanged| unchanged.error)
    }

    /// Like [`Claim::change`], but an error says whether the journal may have changed.
    pub fn try_change(&self, state: State, run: &str) -> std::result::Result<(), Unchanged> {
        let mut held = self.shared.lock();
        let next = Journal { state, run: run.into(), ..held.journal.clone() };
        self.shared.put(&mut held, next)
    }

    /// Checks that no other run has taken over. Called before changes that crawlers see or that may affect another run.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] if another run has taken over; also if a request fails.
    pub fn check(&self) -> Result<()> {
        let mut held = self.shared.lock();
        if held.is_lost {
            return Err(self.shared.lost(held.journal.state));
        }
        if held.last.elapsed() < BEAT {
            return Ok(());
        }
        let next = held.journal.clone();
        self.shared.put(&mut held, next).map_err(|unchanged| unchanged.error)
    }

    /// Whether the store refuses uploads whose condition does not hold.
    ///
    /// # Errors
    /// If a request fails for another reason.
    pub fn has_conditions(&self) -> Result<bool> {
        let held = self.shared.lock();
        let StateObject { bucket, key, path } = &self.shared.journal;
        let honoured = bucket.honours_conditions(key, &held.journal.to_json());
        honoured.map_err(|failure| failure.into_error(path, "could not be written"))
    }

    /// Stops the heartbeats and releases the place. If a switch is decided but not complete, the place is not released. The next
    /// run can then complete the switch without waiting for the lease to expire.
    pub fn end(&mut self) {
        let mut held = self.shared.lock();
        if !held.has_ended && !held.is_lost {
            let next = match held.journal.state {
                State::Decided => {
                    Journal { owner: Owner::gone(), heart: None, heart_run: None, ..held.journal.clone() }
                }
                State::Claimed | State::Released => {
                    Journal { state: State::Released, ..held.journal.clone() }
                }
            };
            let _ = self.shared.put(&mut held, next);
        }
        held.has_ended = true;
        drop(held);
        self.shared.ended.notify_all();
        if let Some(beats) = self.beats.take() {
            let _ = beats.join();
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes heartbeats until the claim ends.
    fn beat(&self) {
        let mut held = self.lock();
        // The claim may end before this thread has started.
        while !held.has_ended && !held.is_lost {
            if held.last.elapsed() >= BEAT {
                let next = held.journal.clone();
                // If the store cannot be reached, the next heartbeat tries again.
                let _ = self.put(&mut held, next);
            }
            let waited = self.ended.wait_timeout(held, BEAT);
            (held, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn put(&self, held: &mut Held, next: Journal) -> std::result::Result<(), Unchanged> {
        if held.is_lost {
            return Err(Unchanged { error: self.lost(held.journal.state), is_in_doubt: false });
        }
        let next = Journal { beat: held.journal.beat + 1, ..next };
        let put = Put::new(&*self.journal.key, next.to_json(), Condition::Is(held.meta.clone()));
        match self.journal.bucket.put(put) {
            Ok(meta) => {
                (held.journal, held.meta, held.last) = (next, meta, Instant::now());
                Ok(())
            }
            Err(failure) if failure.kind == FailureKind::Condition => {
                held.is_lost = true;
                Err(Unchanged { error: self.lost(held.journal.state), is_in_doubt: false })
            }
            Err(failure) => {
                let is_in_doubt = failure.is_in_doubt();
                let error = failure.into_error(&self.journal.path, "could not be written");
                Err(Unchanged { error, is_in_doubt })
            }
        }
    }

    /// The error of a run that was in `state` when another took over.
    fn lost(&self, state: State) -> Error {
        let words = "another run has taken over because this run's heartbeats did not arrive";
        let outcome = match state {
            State::Decided => "it completes the set of this run",
            State::Claimed | State::Released => "nothing of this run is published; run again when it is done",
        };
        Error::new(ErrorKind::Busy, message!(&*self.journal.path, ": {words}; {outcome}"))
    }
}

/// Returns the journal of a new claim. A decided switch stays decided until it is complete.
fn new(claimant: &Claimant, old: Option<&Journal>) -> Journal {
    let decided = old.filter(|old| old.state == State::Decided);
    Journal {
        state: if decided.is_some() { State::Decided } else { State::Claimed },
        run: decided.map_or_else(|| claimant.run.clone(), |old| old.run.clone()),
        owner: Owner::this(),
        owner_run: claimant.run.clone(),
        beat: 0,
        for_sites: claimant.for_sites,
        heart: claimant.heart.as_ref().map(|heart| heart.journal.path.to_string_lossy().into_owned()),
        heart_run: claimant.heart.as_ref().map(|heart| heart.run.clone()),
    }
}

/// Checks that a run could read the `journal`, if there is one.
pub fn check_journal(journal: &StateObject) -> Result<()> {
    let there = journal.bucket.read(&journal.key);
    let there = there.map_err(|failure| failure.into_error_of_output(&journal.path, "could not be read"))?;
    there.map_or(Ok(()), |(bytes, _)| Journal::read(&journal.path, &bytes).map(drop))
}

/// Checks that no run for all sites is active. `journal` is the journal of all sites, which need not exist. If it may not be read,
/// as it is outside the prefix of the set, only the claim on the site itself excludes such a run.
///
/// # Errors
/// [`ErrorKind::Busy`] if such a run is active; also if a request fails.
pub fn check_sites(journal: &StateObject, probe: &StateObject) -> Result<()> {
    let (bytes, object) = match journal.bucket.read(&journal.key) {
        Ok(Some(there)) => there,
        Ok(None) => return Ok(()),
        // If something else is wrong with the bucket or the credentials, the claim fails for the same reason.
        Err(failure) if UNREADABLE.contains(&failure.kind) => return Ok(()),
        Err(failure) => return Err(failure.into_error(&journal.path, "could not be read")),
    };
    let old = Journal::read(&journal.path, &bytes)?;
    match old.for_sites && old.state != State::Released && is_alive(journal, &old, &object, probe)? {
        true => Err(busy(journal, &old)),
        false => Ok(()),
    }
}

fn busy(journal: &StateObject, old: &Journal) -> Error {
    let holder = crate::escape::shown(old.owner_run.as_bytes());
    let words = format!("another run holds it ({holder}); try again when it is done");
    Error::new(ErrorKind::Busy, message!(&*journal.path, ": {words}"))
}

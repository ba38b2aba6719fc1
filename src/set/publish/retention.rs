//! Retention: how long files of earlier sets are kept, and their removal.

use std::collections::HashSet;
use std::str::FromStr;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::live::read_kept;
use crate::error::{ErrorKind, Result};
use crate::place::switch::{Removal, Removed};
use crate::place::{Place, Record, View};
use crate::set::manifest::{Earlier, Manifest, Role, SupersededIndex};
use crate::words::grouped;

/// How long earlier sets are kept. A set is removed once it is older than `time` and not among the last `sets`. Of successive sets
/// with the same files, only the last one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Keep {
    /// Minimum time to keep a set after it was replaced.
    pub time: KeepTime,
    /// Number of earlier sets with different files that are always kept, however old.
    pub sets: usize,
}

impl Default for Keep {
    fn default() -> Self {
        Self { time: KeepTime(Duration::from_secs(14 * DAY)), sets: 3 }
    }
}

/// A period, parsed from and written as a whole number with a unit: `14d`, `12h`, `30m`, `90s`, or `0`. Text may name at most
/// 365,000 days; [`Duration::MAX`] keeps sets for ever. Sets are replaced at whole seconds, so a fraction of a second has the same
/// effect as a whole one, and is written as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeepTime(pub Duration);

const DAY: u64 = 86_400;
/// A thousand years: a longer period cannot be subtracted from a date.
const DAYS_MAX: u64 = 365_000;
const UNITS: [(char, u64); 4] = [('d', DAY), ('h', 3_600), ('m', 60), ('s', 1)];

impl FromStr for KeepTime {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let in_unit = UNITS.iter().find_map(|&(unit, seconds)| Some((word.strip_suffix(unit)?, seconds)));
        let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let Some((number, unit)) =
            in_unit.or((word == "0").then_some((word, 1))).filter(|(number, _)| is_number(number))
        else {
            return Err(
                "expected a whole number of days, hours, minutes or seconds: 14d, 12h, 30m, 90s".into()
            );
        };
        let seconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
        let seconds = seconds.filter(|&seconds| seconds <= DAYS_MAX * DAY);
        let too_long = || format!("expected at most {} days", grouped(DAYS_MAX));
        seconds.map(|seconds| Self(Duration::from_secs(seconds))).ok_or_else(too_long)
    }
}

impl std::fmt::Display for KeepTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = self.0.as_secs().saturating_add(u64::from(self.0.subsec_nanos() > 0));
        match UNITS.iter().find(|(_, unit)| seconds >= *unit && seconds.is_multiple_of(*unit)) {
            Some((unit, each)) => write!(f, "{}{unit}", seconds / each),
            None => write!(f, "0"),
        }
    }
}

impl Keep {
    /// Removes those of the `earlier` sets, newest first, that need not be kept at the time `now`. Those that `is_repeated` says
    /// have the files of the set that replaced them do not count: a rollback would skip them.
    pub(crate) fn forget(
        self,
        earlier: &mut Vec<Earlier>,
        is_repeated: &dyn Fn(&Earlier) -> bool,
        now: &str,
    ) {
        let mut age_rank = 0..;
        earlier.retain(|set| {
            let is_among_last = !is_repeated(set) && age_rank.next() < Some(self.sets);
            is_among_last || !self.is_old(&set.since, now)
        });
    }

    /// Whether a file or set that was replaced at `since` is old enough at `now` to be removed. An invalid time is never old.
    fn is_old(self, since: &str, now: &str) -> bool {
        let [Ok(since), Ok(now)] = [since, now].map(Timestamp::from_str) else { return false };
        now.duration_since(since) >= SignedDuration::try_from(self.time.0).unwrap_or(SignedDuration::MAX)
    }
}

/// Removes files that `live` superseded long enough ago: the index files and manifests of earlier sets that are no longer kept,
/// and sitemaps that neither `live` nor a kept set lists. Only files that a manifest names are removed. Returns the number and
/// bytes of the removed sitemaps.
///
/// # Errors
/// If a file cannot be removed. If a kept set cannot be read, nothing is removed, because its sitemaps are unknown.
pub fn expire(place: &dyn Place, live: &Manifest, keep: Keep) -> Result<Removed> {
    // Read even if nothing is old, so that the warning about a damaged set does not wait until something is.
    let needed = sitemaps_in_use(place.view(), live)?;
    // Index files are removed before the sitemaps that they list.
    place.remove(&old_indexes(live, keep))?;
    let old = live.superseded.iter().filter(|old| keep.is_old(&old.since, &live.published));
    let old = old.filter(|old| !needed.contains(&old.file));
    let old: Vec<_> = old.map(|old| Removal { file: old.file.clone(), content: None }).collect();
    // A failure must not keep the manifests of sets that are no longer kept.
    let removed = place.remove(&old);
    let known: HashSet<Record> = live.earlier.iter().map(|earlier| Record::kept(&earlier.run)).collect();
    let kept = place.view().kept()?;
    kept.iter()
        .filter(|record| !known.contains(record))
        .try_for_each(|record| place.remove_record(record))?;
    removed
}

/// The files of the sitemaps of `live` and of the sets that it keeps.
fn sitemaps_in_use(view: &dyn View, live: &Manifest) -> Result<HashSet<String>> {
    let mut files: HashSet<String> = live.sitemaps.iter().map(|sitemap| sitemap.file.clone()).collect();
    for (earlier, set) in read_kept(view, live) {
        let set = set.map_err(|error| match Role::Kept(earlier.number).explain(error) {
            error if error.kind() == ErrorKind::Data => error.within("no old sitemap is removed"),
            error => error,
        })?;
        files.extend(set.into_iter().flat_map(|set| set.sitemaps).map(|sitemap| sitemap.file));
    }
    Ok(files)
}

/// The index files of earlier sets that are no longer kept.
fn old_indexes(live: &Manifest, keep: Keep) -> Vec<Removal> {
    let stays = |old: &&SupersededIndex| {
        live.earlier.iter().any(|set| set.run == old.run) || !keep.is_old(&old.since, &live.published)
    };
    let old = live.superseded_indexes.iter().filter(|old| !stays(old));
    old.map(|old| Removal { file: old.file.clone(), content: Some(old.content.clone()) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_days_hours_minutes_or_seconds() {
        for (word, seconds, back) in [
            ("14d", 14 * DAY, "14d"),
            ("36h", 36 * 3_600, "36h"),
            ("48h", 2 * DAY, "2d"),
            ("0", 0, "0"),
            ("90s", 90, "90s"),
        ] {
            let time: KeepTime = word.parse().unwrap();
            assert_eq!((time.0.as_secs(), time.to_string().as_str()), (seconds, back));
        }
        for (millis, text) in [(1, "1s"), (59_001, "1m"), (90_500, "91s")] {
            assert_eq!(KeepTime(Duration::from_millis(millis)).to_string(), text);
        }
        for wrong in ["", "d", "14", "-1d", "1.5d", "2w", "999999999999d", "14 d"] {
            assert!(wrong.parse::<KeepTime>().is_err(), "{wrong}");
        }
        for long in ["365001d", "99999999999999999999s", "18446744073709551615h"] {
            assert_eq!(long.parse::<KeepTime>().unwrap_err(), "expected at most 365,000 days", "{long}");
        }
    }

    #[test]
    fn a_set_stays_while_it_is_young_or_among_the_last() {
        let now = "2026-11-20T02:00:00Z";
        let earlier =
            |since: &str| Earlier { run: since.into(), number: 1, since: since.into(), withdrawn: false };
        let sinces = [
            "2026-11-21T00:00:00Z",
            "2026-11-19T02:00:01Z",
            "2026-11-19T02:00:00Z",
            "2026-11-01T02:00:00Z",
            "no time",
        ];
        for (time, sets, want) in [
            (Duration::from_secs(DAY), 0, vec![0, 1, 4]),
            (Duration::from_secs(DAY), 3, vec![0, 1, 2, 4]),
            (Duration::ZERO, 0, vec![0, 4]),
            (Duration::from_secs(30 * DAY), 1, vec![0, 1, 2, 3, 4]),
            (Duration::from_secs(1 << 63), 0, vec![0, 1, 2, 3, 4]),
            (Duration::MAX, 0, vec![0, 1, 2, 3, 4]),
        ] {
            let mut kept: Vec<Earlier> = sinces.map(earlier).into();
            Keep { time: KeepTime(time), sets }.forget(&mut kept, &|_| false, now);
            let want: Vec<&str> = want.into_iter().map(|at| sinces[at]).collect();
            assert_eq!(
                kept.iter().map(|set| set.since.as_str()).collect::<Vec<_>>(),
                want,
                "{time:?}, {sets}"
            );
        }
    }
}

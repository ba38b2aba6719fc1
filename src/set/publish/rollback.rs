//! Rollback: restores an earlier set with the same switch as publishing.

use super::occupant::is_whole;
use super::switch::Prepared;
use super::workspace::Workspace;
use crate::common::progress::{Phase, Progress};
use crate::common::secret::Secret;
use crate::common::stop::Stop;
use crate::error::{Error, ErrorKind, Message, Result, Setting, message};
use crate::place::{Record, View};
use crate::set::manifest::{Earlier, Manifest, Sitemap};
use crate::words::and_more;

impl Workspace {
    /// Prepares an earlier set to become live again: set `number`, or the last one before the live set that was not rolled
    /// back itself. Nothing is deleted, so the rollback can be undone. Reads every sitemap of the set, so that no damaged
    /// file becomes live; `progress` counts their URLs. `time` is the time of publication, as W3C Datetime.
    ///
    /// # Errors
    /// [`ErrorKind::Data`] if there is no such set, or if one of its files is missing or was changed;
    /// [`ErrorKind::Io`] if a file cannot be read; also if `stop` is raised before all are read. The live set stays.
    pub fn roll_back(
        mut self,
        number: Option<u64>,
        time: &str,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<Prepared> {
        let view = self.place.view();
        let Some(live) = &self.live else {
            return Err(Error::data(message!(view.root(), ": contains no published set")));
        };
        let Some(earlier) = wanted(live, number) else {
            return Err(Error::data(message!(view.root(), ": ", not_kept(live, number))));
        };
        let record = Record::kept(&earlier.run);
        let path = view.record_path(&record);
        let way_out = match last_before(live, earlier.number) {
            Some(before) => message!(Setting::To.with(before.number), " restores an earlier one"),
            None => message!("rebuild that set from its input"),
        };
        let read = Manifest::read(view, &record).map_err(|error| match error.kind() {
            ErrorKind::Data => {
                let number = earlier.number;
                let way_out = message!("the live set stays; ", &way_out);
                error.within(message!("set {number} cannot be restored")).and(way_out)
            }
            _ => error,
        });
        let Some(mut set) = read? else {
            let number = earlier.number;
            let why = message!(&*path, ": is missing, so set {number} cannot be restored");
            return Err(Error::data(message!(why, "; the live set stays; ", way_out)));
        };
        if let [first, others @ ..] = &damaged(view, &set, progress, stop)?[..] {
            let others = and_more(others.len());
            let (number, first) = (earlier.number, view.path(first.file.as_ref()));
            let why = message!(&*first, "{others}: missing or damaged, so set {number} cannot be restored");
            return Err(Error::data(message!(why, "; the live set stays; ", way_out)));
        }
        stop.check()?;
        self.place.run().clone_into(&mut set.run);
        set.published = time.into();
        set.supersede(live);
        set.earlier.retain(|kept| kept.run != earlier.run);
        // Sets newer than the restored one are considered bad.
        for newer in
            set.earlier.iter_mut().filter(|kept| kept.number > set.number && kept.number <= live.number)
        {
            newer.withdrawn = true;
        }
        let protocol = set.protocol.parse().map_err(|_| Error::data(message!(&*path, ": no protocol")))?;
        set.rolled_back_to = None;
        let live = self.live.iter_mut().filter(|live| live.number > set.number);
        live.for_each(|live| live.rolled_back_to = Some(set.number));
        self.prepare_set(set, protocol)
    }
}

/// Returns the sitemaps of `set` that are missing or were changed.
///
/// # Errors
/// If a file cannot be read, or if `stop` is raised.
fn damaged<'s>(
    view: &dyn View,
    set: &'s Manifest,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Vec<&'s Sitemap>> {
    let _phase = progress.phase(Phase::Read, set.urls());
    let secret = Secret::from_hex(&set.secret);
    let mut damaged = Vec::new();
    for sitemap in &set.sitemaps {
        stop.check()?;
        if !is_whole(view, secret.as_ref(), sitemap)? {
            damaged.push(sitemap);
        }
        progress.advance(u64::from(sitemap.urls));
    }
    Ok(damaged)
}

/// The earlier set with this number. Without a number, the last set before the live one that was not rolled back.
fn wanted(live: &Manifest, number: Option<u64>) -> Option<&Earlier> {
    match number {
        Some(number) => live.earlier.iter().find(|kept| kept.number == number),
        None => last_before(live, live.number),
    }
}

/// Says that the wanted set is not kept, and where to find those that are, if there are any.
fn not_kept(live: &Manifest, number: Option<u64>) -> Message {
    let which = number.map_or("no earlier set".into(), |number| format!("no earlier set {number}"));
    match (live.earlier.is_empty(), number) {
        (true, _) => message!("{which} is kept"),
        (false, Some(_)) => message!("{which} is kept; run status to list the sets that can be restored"),
        // All sets before the live one were rolled back, and newer ones may be kept.
        (false, None) => message!(
            "all sets before the live one are gone or were rolled back; ",
            Setting::To.with("N"),
            " restores one of the kept sets; run status to list them"
        ),
    }
}

/// The last set before set `number` that was not rolled back.
fn last_before(live: &Manifest, number: u64) -> Option<&Earlier> {
    let before = live.earlier.iter().filter(|kept| kept.number < number && !kept.withdrawn);
    before.max_by_key(|kept| kept.number)
}

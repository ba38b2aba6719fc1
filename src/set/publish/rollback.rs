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
    /// back itself and has other files. Nothing is deleted, so the rollback can be undone. Reads every sitemap of the set, so that
    /// no damaged file becomes live; `progress` counts their URLs. `time` is the time of publication, as W3C Datetime.
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
        let (earlier, mut set) = wanted(view, live, number)?;
        let path = view.record_path(&Record::kept(&earlier.run));
        if let [first, others @ ..] = &damaged(view, &set, progress, stop)?[..] {
            let others = and_more(others.len());
            let (number, first) = (earlier.number, view.path(first.file.as_ref()));
            let why = message!(&*first, "{others}: missing or damaged, so set {number} cannot be restored");
            return Err(Error::data(message!(why, "; ", way_out(live, earlier))));
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
        let indexes = self.name_indexes(&mut set, protocol)?;
        self.prepare_set(set, indexes, &|error| error)
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
    let _phase = progress.phase(Phase::Urls, set.urls());
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

/// The earlier set with this number. Without a number, the last set before the live one that was not rolled back and has other
/// files: after a bad build is repeated, the set that it has replaced is wanted.
///
/// # Errors
/// If there is no such set, or if a manifest is missing or cannot be read.
fn wanted<'l>(view: &dyn View, live: &'l Manifest, number: Option<u64>) -> Result<(&'l Earlier, Manifest)> {
    let mut next = match number {
        Some(number) => live.earlier.iter().find(|kept| kept.number == number),
        None => last_before(live, live.number),
    };
    while let Some(earlier) = next {
        let set = read(view, live, earlier)?;
        if number.is_some() || !set.has_same_files(live) {
            return Ok((earlier, set));
        }
        next = last_before(live, earlier.number);
    }
    Err(Error::data(message!(view.root(), ": ", not_kept(live, number))))
}

/// The manifest of a set that `live` keeps.
///
/// # Errors
/// If it is missing or cannot be read.
fn read(view: &dyn View, live: &Manifest, earlier: &Earlier) -> Result<Manifest> {
    let (record, number) = (Record::kept(&earlier.run), earlier.number);
    match Manifest::read(view, &record) {
        Ok(Some(set)) => Ok(set),
        Ok(None) => {
            let why =
                message!(&*view.record_path(&record), ": is missing, so set {number} cannot be restored");
            Err(Error::data(message!(why, "; ", way_out(live, earlier))))
        }
        Err(error) if error.kind() == ErrorKind::Data => {
            Err(error.within(message!("set {number} cannot be restored")).and(way_out(live, earlier)))
        }
        Err(error) => Err(error),
    }
}

/// What to do if `earlier` cannot be restored.
fn way_out(live: &Manifest, earlier: &Earlier) -> Message {
    let way_out = match last_before(live, earlier.number) {
        Some(before) => message!(Setting::To.with(before.number), " restores an earlier one"),
        None => message!("rebuild that set from its input"),
    };
    message!("the live set stays; ", way_out)
}

/// Says why the wanted set cannot be restored: it is live, or it is not kept. Then also says where to find those that are, if there
/// are any.
fn not_kept(live: &Manifest, number: Option<u64>) -> Message {
    if let Some(number) = number.filter(|&number| number == live.number) {
        return message!("set {number} is the live set already");
    }
    let which = number.map_or("no earlier set".into(), |number| format!("no earlier set {number}"));
    match (live.earlier.is_empty(), number) {
        (true, _) => message!("{which} is kept"),
        (false, Some(_)) => message!("{which} is kept; run status to list the sets that can be restored"),
        // Newer ones may be kept.
        (false, None) => {
            let which = match last_before(live, live.number) {
                Some(_) => "every earlier set that was not rolled back has the same files as the live one",
                None => "all sets before the live one are gone or were rolled back",
            };
            let way_out = "restores one of the kept sets; run status to list them";
            message!("{which}; ", Setting::To.with("N"), " {way_out}")
        }
    }
}

/// The last set before set `number` that was not rolled back.
fn last_before(live: &Manifest, number: u64) -> Option<&Earlier> {
    let before = live.earlier.iter().filter(|kept| kept.number < number && !kept.withdrawn);
    before.max_by_key(|kept| kept.number)
}

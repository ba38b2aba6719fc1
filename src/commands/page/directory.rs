//! The page of a published directory, made from its manifests. Numbers that they lack are counted in the sitemaps, or left out.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;

use crate::commands::build::report::Report;
use crate::commands::build::report::details::{Details, Previous};
use crate::commands::build::reporting::sections;
use crate::commands::page::render::{SettingNames, Subject, page};
use crate::commands::status::{Status, StatusJob, status};
use crate::commands::target::Target;
use crate::commands::urls::{UrlsJob, urls};
use crate::common::progress::{Progress, Silent};
use crate::common::stop::Stop;
use crate::error::Result;
use crate::limits::URLS_PER_SITEMAP_MAX;
use crate::place::{Record, SetName, View};
use crate::set::manifest::{Manifest, Role};
use crate::set::name::Stem;
use crate::set::publish::kept;
use crate::set::publish::live_sets::live_sets;
use crate::sitemap::divide::Limits;
use crate::sitemap::segments::{SegmentCounter, SegmentRule, SegmentTally, Segments};
use crate::words::plural;

/// Makes the page of the set in `path`, or of all sets in it or below it. With a `name`, only of sets of that name.
///
/// # Errors
/// Same as [`status`], and as [`urls`] if sitemaps must be read.
pub fn page_of_directory(
    path: &Path,
    name: Option<&SetName>,
    threads: NonZero<usize>,
    names: SettingNames,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<String> {
    let statuses = status(&StatusJob { name: name.cloned(), ..StatusJob::new(path.into()) }, &Silent, stop)?;
    let sets = live_sets(path, name)?;
    let are_several = sets.len() > 1 || sets.iter().any(|set| set.root() != path);
    let mut report =
        Report { published: true, version: env!("CARGO_PKG_VERSION").into(), ..Report::default() };
    let mut details = Details::default();
    let (mut counts, mut assumes_limit) = (None, false);
    let mut live = Vec::new();
    for view in &sets {
        stop.check()?;
        live.extend(Manifest::read_as(Role::Live, &**view, &Record::Live)?.map(|set| (&**view, set)));
    }
    add_settings(&mut report, &mut details, live.iter().map(|(_, set)| set));
    let last = live.iter().map(|(_, set)| &*set.published).max().unwrap_or_default();
    for (view, set) in &live {
        assumes_limit |= urls_max(set).is_none();
        let replaced = replaced(*view, set);
        let previous = previous(set, replaced.as_ref(), last);
        add(&mut report, &mut details, *view, set, previous, are_several);
        if !are_several {
            report.name = view.name().cloned();
            report.sections = sections(set, &Stem::of_set(view.name()));
            counts = set.counts.clone();
            let before = segments_before(set, previous);
            let segments = match &counts {
                Some(counts) => counts.segments.with_gone(before),
                None => {
                    let name = name.cloned();
                    let job = UrlsJob { threads, name, ..UrlsJob::new(vec![path.to_owned()]) };
                    count_segments(&job, set, before, progress, stop)?
                }
            };
            details.set_segments(&segments, before);
        }
    }
    details.finish();
    if are_several {
        report.base_url = number_of_sets(&sets, path);
    }
    if let Some(counts) = &counts {
        (report.lines, report.blank, report.duplicates) = (counts.lines, counts.blank, counts.duplicates);
        // Reasons are unknown, and the page of a set shows none.
        report.rejected.insert("rejected".into(), counts.rejected);
        if counts.excluded > 0 {
            report.excluded.insert("excluded".into(), counts.excluded);
        }
    }
    report.details = Some(details);
    let notes = notes(&statuses, counts.is_some(), names);
    let has_lines = counts.is_some();
    Ok(page(Subject::Set { report: &report, has_lines, assumes_limit, notes: &notes }, names))
}

/// Returns the limit of URLs per sitemap in the build of `set`, if it is recorded.
fn urls_max(set: &Manifest) -> Option<u32> {
    set.counts.as_ref()?.urls_per_sitemap
}

/// Returns what there is, as the title of a page about several sets in `path`.
fn number_of_sets(sets: &[Arc<dyn View>], path: &Path) -> String {
    if sets.iter().any(|set| set.root() == path) {
        return plural(sets.len() as u64, "set", "sets");
    }
    // A site may have several sets.
    let sites: BTreeSet<_> = sets.iter().map(|set| set.root()).collect();
    plural(sites.len() as u64, "site", "sites")
}

/// Adds the settings that `sets` record. If they differ, all values are given: `0.84, 0.9`.
fn add_settings<'s>(report: &mut Report, details: &mut Details, sets: impl Iterator<Item = &'s Manifest>) {
    let (mut protocols, mut scopes) = (BTreeSet::new(), BTreeSet::new());
    for set in sets {
        protocols.insert(&*set.protocol);
        scopes.insert(&*set.scope);
    }
    let joined = |values: BTreeSet<&str>| Vec::from_iter(values).join(", ");
    report.protocol = joined(protocols);
    // Manifests of early releases lack the scope.
    scopes.remove("");
    let settings = [("protocol", report.protocol.clone()), ("scope", joined(scopes))];
    details.settings.extend(settings.map(|(option, value)| (option.to_owned(), value)));
}

/// Reads the set that `set` has replaced, if it is kept.
fn replaced(view: &dyn View, set: &Manifest) -> Option<Manifest> {
    Manifest::read(view, &Record::kept(&set.replaced()?.run)).ok().flatten()
}

/// Returns the set that was live when sets were published `last`: the one that `set` has `replaced`, or `set` itself.
fn previous<'m>(set: &'m Manifest, replaced: Option<&'m Manifest>, last: &str) -> Previous<'m> {
    match replaced {
        _ if *set.published < *last => Previous::Known(set),
        Some(replaced) => Previous::Known(replaced),
        None if set.is_first() => Previous::None,
        None => Previous::Unknown,
    }
}

/// Returns the segments of the `previous` set, if they are known and comparable with those of `set`.
fn segments_before<'m>(set: &Manifest, previous: Previous<'m>) -> Option<&'m Segments> {
    let counts = previous.known()?.counts_below(&set.base_url, &set.scope)?;
    Some(&counts.segments)
}

/// Adds the set of one site, and the one that it is compared with.
fn add(
    report: &mut Report,
    details: &mut Details,
    view: &dyn View,
    set: &Manifest,
    previous: Previous<'_>,
    are_several: bool,
) {
    report.base_url.clone_from(&set.base_url);
    report.listed += set.urls();
    report.sitemaps += set.sitemaps.len() as u64;
    report.indexes += set.indexes.len() as u64;
    report.also += set.also.len() as u64;
    report.index_urls.extend(set.indexes.iter().map(|file| format!("{}{file}", set.base_url)));
    report.xml_bytes += set.sitemaps.iter().map(|sitemap| sitemap.xml_bytes).sum::<u64>();
    report.gzip_bytes += set.gzip_bytes();
    let entries_max = urls_max(set).unwrap_or(URLS_PER_SITEMAP_MAX);
    // A build gives sitemaps and index files the same limit of bytes.
    let limits = Limits { entries_max, bytes_max: set.index_bytes_max };
    details.add_set(set, previous, &kept(view, set), limits);
    details.time = details.time.clone().max(set.published.clone());
    if are_several {
        details.add_origin(set, view.name(), previous);
    }
}

/// Counts the URLs of the published sitemaps by first path segment. Those of the set `before` are always named.
fn count_segments(
    job: &UrlsJob,
    set: &Manifest,
    before: Option<&Segments>,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Segments> {
    let base_url = set.base_url.parse().expect("a manifest with another base URL is refused");
    let scope = set.scope.parse().unwrap_or_default();
    let wanted = before.iter().flat_map(|before| &before.named).map(|segment| segment.name.clone());
    let rule = SegmentRule::new(&base_url, scope, wanted.collect());
    let mut tally = SegmentTally::new(&rule);
    read_segments(job, &rule, &mut tally, progress, stop)?;
    if tally.needs_recount() {
        tally.begin_recount();
        read_segments(job, &rule, &mut tally, progress, stop)?;
    }
    Ok(tally.finish())
}

fn read_segments<'r>(
    job: &UrlsJob,
    rule: &'r SegmentRule,
    tally: &mut SegmentTally<'r>,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<()> {
    let mut to = Lines { counter: SegmentCounter::new(rule), tally, rest: Vec::new() };
    urls(job, progress, stop, Target { name: Path::new("segments"), to: &mut to }).map(drop)
}

/// Counts lines of URLs as [`urls`] writes them; a line may be split between writes.
struct Lines<'t, 'r> {
    counter: SegmentCounter<'r>,
    tally: &'t mut SegmentTally<'r>,
    /// The start of an incomplete line.
    rest: Vec<u8>,
}

impl Write for Lines<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        let end = memchr::memrchr(b'\n', &self.rest).map_or(0, |at| at + 1);
        self.rest[..end]
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .for_each(|url| self.counter.add(url));
        self.rest.drain(..end);
        self.tally.add(self.counter.take());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns notes: what is not shown and why, and what is wrong.
fn notes(statuses: &[Status], has_counts: bool, names: SettingNames) -> Vec<String> {
    let mut notes = Vec::new();
    notes.push(match has_counts {
        true => "This page was made from the published set, which does not record why lines were rejected, which inputs were \
                 read or how long the run took: the JSON report of the run has them."
            .to_owned(),
        false => "This page was made from the published set, which does not record lines, duplicates, rejected lines, inputs or \
                  times: the JSON report of the run has them."
            .to_owned(),
    });
    for status in statuses {
        let directory = &status.directory;
        if status.live.missing > 0 {
            notes.push(format!(
                "{directory}: missing or damaged files of the live set: {}.",
                status.live.missing
            ));
        }
        if status.is_switching {
            notes.push(format!("{directory}: a switch to another set has begun; the next run completes it."));
        }
        notes.extend(status.damaged.iter().map(|why| why.text_with(&names)));
    }
    notes
}

//! Fills in the report as the phases complete.

use std::collections::{BTreeMap, HashMap};
use std::io::BufWriter;
use std::path::Path;

use super::guards;
use super::load::LoadedInputs;
use super::report::details::{Details, EXAMPLES_OF_REASON_MAX, Previous};
use super::report::dry_run::DryRun;
use super::report::index_changes::IndexChanges;
use super::report::settings::settings;
use super::report::{Report, SectionSummary, SetReport, WordCounts, most_frequent};
use super::site::Planned;
use crate::clean::Reason;
use crate::clean::screen::CountedRules;
use crate::common::output::{Outlet, output_name};
use crate::common::progress::Estimate;
use crate::error::{Error, Result};
use crate::intake::report::{InputReport, Skipped};
use crate::job::{Job, SectionsBy};
use crate::place::ResultFile;
use crate::set::manifest::{Manifest, SetSection};
use crate::set::name::Stem;
use crate::set::publish::Prepared;
use crate::sitemap::tags::GivenTags;
use crate::survey::account::Account;
use crate::survey::context::Context;
use crate::survey::notes::Notes;
use crate::survey::rejects::Example;
use crate::survey::tally::Tally;
use crate::survey::{inputs, rejects};

/// Maximum number of origins out of scope in the report.
const OUT_OF_SCOPE_ORIGINS: usize = 10;

/// Maximum number of rules with examples of the rows that they exclude.
const RULES_WITH_EXAMPLES: usize = 10;

/// Writes every rejected line to `file`, whose path is `path`.
///
/// # Errors
/// If it cannot be written, or if `stop` is raised.
pub fn write_rejects(
    run: Context<'_>,
    account: &Account,
    loaded: &LoadedInputs,
    path: &Path,
    file: ResultFile<Outlet>,
) -> Result<()> {
    let (path, mut file) = (output_name(path), BufWriter::new(file));
    let written = rejects::write(run, account, &loaded.inputs, path, &mut file).and_then(|()| {
        let file =
            file.into_inner().map_err(|error| Error::io(path, "could not be written", error.into()))?;
        file.finish()
    });
    // A write that was interrupted is not a failure.
    run.stop.check().and(written)
}

/// Counts of all rows, whether one process or several read them.
pub struct Counted {
    pub inputs: Vec<InputReport>,
    pub skipped: Vec<Skipped>,
    pub estimate: Estimate,
    pub tally: Tally,
    /// The tags in all rows.
    pub given: GivenTags,
    /// Rows that are not in the tally's count of URLs with bytes that are not UTF-8.
    pub non_utf8_before: u64,
    /// Counts of the rows by origin and by rule.
    pub notes: Notes,
    /// The first rows of each reason, in the order in which reasons are checked, up to the report's limit per reason.
    pub examples: Vec<Example>,
}

/// The number of examples of each reason in the report of `job`.
pub fn examples_of_reason(job: &Job) -> usize {
    if job.publication.needs_details() { EXAMPLES_OF_REASON_MAX } else { 1 }
}

/// The rules that exclude the most rows, the most frequent first: those that have examples in the report.
pub fn excluded_most(job: &Job, notes: &Notes) -> Vec<String> {
    let excluded = job.rules.urls.counted(&notes.rules).excluded;
    let applied = most_frequent(&excluded).into_iter().filter(|&(_, rows)| rows > 0);
    applied.take(RULES_WITH_EXAMPLES).map(|(rule, _)| rule.to_owned()).collect()
}

/// Creates the report once all lines are counted.
///
/// # Errors
/// [`ErrorKind::Internal`](crate::ErrorKind::Internal) if lines or tags do not add up.
pub fn of_survey(run: Context<'_>, loaded: &LoadedInputs, account: &Account) -> Result<Report> {
    let mut notes = account.notes.clone();
    let excluded = excluded_most(run.job, &notes);
    let excluding: Vec<&str> = excluded.iter().map(|rule| &**rule).collect();
    let each = examples_of_reason(run.job);
    loaded.sources.iter().for_each(|source| notes.rules.merge(&source.rules));
    let counted = Counted {
        inputs: inputs::reports(&loaded.inputs, &loaded.sources, account)?,
        skipped: loaded.skipped.clone(),
        estimate: loaded.estimate,
        tally: account.tally,
        given: loaded.given_tags(),
        non_utf8_before: loaded.sources.iter().map(|source| source.non_utf8).sum(),
        notes,
        examples: rejects::examples(run.rules, account, &loaded.inputs, &excluding, each),
    };
    of_counted(run.job, counted, |reason| rejects::samples(run.rules, account, &loaded.inputs, reason))
}

/// Creates the report of what was `counted`. `samples` returns the first lines that were rejected for a reason.
///
/// # Errors
/// [`ErrorKind::Internal`](crate::ErrorKind::Internal) if tags do not add up.
pub fn of_counted(job: &Job, counted: Counted, samples: impl Fn(Reason) -> Vec<Example>) -> Result<Report> {
    let Counted { tally, given, examples, .. } = counted;
    inputs::check_tags(&job.rules.tags, &given, &tally)?;
    let (out_of_scope, out_of_scope_others) = counted.notes.out_of_scope.largest(OUT_OF_SCOPE_ORIGINS);
    let CountedRules { rewritten, included, excluded } = job.rules.urls.counted(&counted.notes.rules);
    let mut report = Report {
        version: env!("CARGO_PKG_VERSION").into(),
        protocol: job.rules.protocol.to_string(),
        base_url: job.rules.base_url.to_string(),
        name: job.publication.name.clone(),
        inputs: counted.inputs,
        skipped: counted.skipped,
        non_utf8_lines: tally.non_utf8 + counted.non_utf8_before,
        lines: tally.lines,
        blank: tally.blank,
        listed: tally.listed,
        duplicates: tally.duplicates,
        rejected: words(tally.rejected.by_word()),
        excluded,
        included,
        rewritten,
        given_tags: words(given.of_entries.by_word()),
        refused_tags: words(tally.refused_tags.by_word()),
        dropped_tags: words(tally.dropped.by_word()),
        out_of_scope: out_of_scope.into_iter().map(|(origin, urls)| (origin.to_owned(), urls)).collect(),
        out_of_scope_others,
        examples: examples.clone(),
        threads: job.resources.threads.get() as u64,
        estimate: counted.estimate,
        // The rest is filled in later.
        ..Report::default()
    };
    report.examples.dedup_by(|next, first| next.reason == first.reason);
    if job.publication.needs_details() {
        let (time, settings) = (job.publication.w3c_time()?, settings(job));
        report.details = Some(Details { time, settings, examples, ..Details::default() });
    }
    let of_rules = || job.rules.urls.hint(&counted.notes.rules);
    report.hint = guards::hint(job, &report, samples).or_else(of_rules);
    report.tag_hints = guards::tag_hints(job, &report);
    Ok(report)
}

fn words(counts: BTreeMap<&'static str, u64>) -> WordCounts {
    counts.into_iter().map(|(word, count)| (word.into(), count)).collect()
}

/// Adds the figures of a set that a dry run would publish, and what it would change.
pub fn add_preview(report: &mut Report, job: &Job, prepared: &Prepared) {
    let (set, live) = (prepared.set(), prepared.workspace().live());
    let indexes = IndexChanges::of(set, live, prepared.kept_indexes());
    let changes = DryRun::of(set, live, &indexes);
    report.dry_run.get_or_insert_default().add(&changes);
    add_figures(report, job, prepared, indexes.changed());
    report.sets.iter_mut().last().into_iter().for_each(|set| set.dry_run = Some(changes));
}

/// Adds the figures of a live set.
pub fn add_set(report: &mut Report, job: &Job, prepared: &Prepared) {
    // Those that are restored are counted as such.
    let same = prepared.same_indexes();
    let indexes = IndexChanges::of(prepared.set(), prepared.workspace().live(), same);
    add_figures(report, job, prepared, indexes.changed());
    report.details.iter_mut().for_each(|details| details.add_restored_files(prepared.restored()));
}

/// Adds the figures of a set. `changed_indexes` is the number of its index files that have changed; only the details show it.
fn add_figures(report: &mut Report, job: &Job, prepared: &Prepared, changed_indexes: u64) {
    let (set, workspace) = (prepared.set(), prepared.workspace());
    let this = SetReport {
        base_url: set.base_url.clone(),
        directory: workspace.directory().file_name().unwrap_or_default().to_string_lossy().into(),
        listed: set.urls(),
        sitemaps: set.sitemaps.len() as u64,
        index_urls: set.indexes.iter().map(|file| format!("{}{file}", set.base_url)).collect(),
        xml_bytes: set.sitemaps.iter().map(|sitemap| sitemap.xml_bytes).sum(),
        gzip_bytes: set.gzip_bytes(),
        also: set.also.len() as u64,
        sections: sections(set, workspace.stem()),
        dry_run: None,
    };
    report.sitemaps += this.sitemaps;
    report.indexes += this.index_urls.len() as u64;
    report.index_urls.extend_from_slice(&this.index_urls);
    report.also += this.also;
    report.xml_bytes += this.xml_bytes;
    report.gzip_bytes += this.gzip_bytes;
    if let Some(details) = &mut report.details {
        let live = workspace.live();
        let previous = Previous::of_live(live);
        details.add_set(set, previous, &workspace.kept(set), job.rules.sitemap_limits());
        details.add_changed_indexes(changed_indexes);
        match (job.rules.only_site(), &set.counts) {
            (None, _) => details.add_origin(set, None, previous),
            (Some(_), Some(counts)) => {
                let before = live.and_then(|live| live.counts_below(&set.base_url, &set.scope));
                details.set_segments(&counts.segments, before.map(|before| &before.segments));
            }
            (Some(_), None) => {}
        }
    }
    match job.rules.only_site() {
        Some(_) => report.sections = this.sections,
        None => report.sets.push(this),
    }
}

/// The figures of the sections of `set`, whose files have names that begin with `stem`.
pub fn sections(set: &Manifest, stem: &Stem) -> Vec<SectionSummary> {
    if set.sections.is_empty() {
        return Vec::new();
    }
    let sitemaps = set.sitemaps_by_stem();
    let mut indexes: HashMap<_, Vec<_>> = HashMap::new();
    for file in &set.indexes {
        indexes.entry(Stem::of_file(file)).or_default().push(format!("{}{file}", set.base_url));
    }
    let summary = |section: &SetSection| {
        let stem = stem.with(&section.word);
        let own = sitemaps.get(&stem).map_or(&[][..], Vec::as_slice);
        SectionSummary {
            name: section.name.clone(),
            file_word: section.word.clone(),
            listed: own.iter().map(|sitemap| u64::from(sitemap.urls)).sum(),
            sitemaps: own.len() as u64,
            index_urls: indexes.get(&Some(stem)).cloned().unwrap_or_default(),
            xml_bytes: own.iter().map(|sitemap| sitemap.xml_bytes).sum(),
            gzip_bytes: own.iter().map(|sitemap| sitemap.gzip_bytes).sum(),
        }
    };
    set.sections.iter().map(summary).collect()
}

/// Adds the sections that a refused set would have had, and those that it would have lost. They have no files.
pub fn add_planned_sections(report: &mut Report, job: &Job, sites: &[Planned]) {
    let ([(site, layout)], Some(_)) = (sites, job.rules.only_site()) else { return };
    let summary = |name: &str, word: &str, listed| SectionSummary {
        name: name.to_owned(),
        file_word: word.to_owned(),
        listed,
        sitemaps: 0,
        index_urls: Vec::new(),
        xml_bytes: 0,
        gzip_bytes: 0,
    };
    let planned = layout.sections.iter();
    report.sections = planned.map(|section| summary(&section.name, &section.word, section.listed)).collect();
    if job.rules.sections.is_some() {
        let lost = site.place.live().into_iter().flat_map(|live| &live.sections);
        let lost = lost.filter(|section| layout.sections.iter().all(|own| own.name != section.name));
        report.sections.extend(lost.map(|section| summary(&section.name, &section.word, 0)));
    }
}

/// The number of URLs that each rule has put into its section, if the job has sections by rules.
pub fn section_rules(job: &Job, counts: &[u64]) -> BTreeMap<String, WordCounts> {
    let Some(SectionsBy::Rules(rules)) = &job.rules.sections else { return BTreeMap::new() };
    let names: Vec<&str> = rules.names().collect();
    let mut all: BTreeMap<String, WordCounts> = BTreeMap::new();
    for (at, (section, rule)) in rules.rules().enumerate() {
        let of_section = all.entry(names[section].to_owned()).or_default();
        *of_section.entry(rule.to_owned().into()).or_default() += counts.get(at).unwrap_or(&0);
    }
    all
}

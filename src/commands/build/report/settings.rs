//! Settings: the options of a job that decide what is published, and whether it is, by their names on the command line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::clean::screen::robots::Robots;
use crate::error::Setting;
use crate::escape::shown;
use crate::job::{Job, OnDuplicate, Order, SectionsBy};
use crate::sitemap::divide::Divide;
use crate::words::{and_more, plural};

/// A setting and its value. A setting without a value is not shown.
type Value = (Setting, Option<String>);

/// Returns the options of `job` with their values.
pub fn settings(job: &Job) -> BTreeMap<String, String> {
    let values =
        of_rules(job).into_iter().chain(of_input(job)).chain(of_guards(job)).chain(of_publication(job));
    values.filter_map(|(setting, value)| Some((setting.option(), value?))).collect()
}

fn of_rules(job: &Job) -> Vec<Value> {
    let (rules, urls) = (&job.rules, &job.rules.urls);
    let robots_agent = urls.robots.as_ref().and_then(Robots::agent);
    let order = if rules.order == Order::Sorted { "sorted" } else { "input" };
    let divide = if rules.divide == Divide::Stable { "stable" } else { "fill" };
    let on_duplicate = if rules.on_duplicate == OnDuplicate::Newest { "newest" } else { "first" };
    let mut values = vec![
        (Setting::BaseUrl, Some(rules.base_url.to_string())),
        (Setting::Protocol, Some(rules.protocol.to_string())),
        (Setting::Scope, Some(rules.scope.as_str().into())),
        (Setting::RelativeTo, urls.relative_to.as_ref().map(ToString::to_string)),
        (Setting::Rewrite, listed(&urls.rewrites)),
        (Setting::Include, listed(&urls.include)),
        (Setting::Exclude, listed(&urls.exclude)),
        (Setting::RobotsAgent, robots_agent.map(|agent| agent.as_str().to_owned())),
        (Setting::RespectRobots, urls.robots.as_ref().map(|robots| path(robots.source()))),
        (Setting::UrlsPerSitemap, Some(rules.urls_per_sitemap.to_string())),
        (Setting::BytesPerSitemap, Some(rules.bytes_per_sitemap.to_string())),
        (Setting::SitemapsPerIndex, Some(rules.sitemaps_per_index.to_string())),
        (Setting::Order, Some(order.into())),
        (Setting::Divide, Some(divide.into())),
        (Setting::SectionsMax, rules.sections.as_ref().and_then(sections_max)),
        (Setting::OnDuplicate, Some(on_duplicate.into())),
        (Setting::UrlEncoding, Some(rules.url_encoding.to_string())),
        (Setting::Level, Some(rules.level.get().to_string())),
        (Setting::GzipEngine, Some(rules.gzip_engine.to_string())),
        (Setting::LastmodUnit, Some(rules.tags.lastmod.unit.as_str().into())),
        (Setting::LastmodZone, rules.tags.lastmod.zone.as_ref().map(ToString::to_string)),
        (Setting::DefaultChangefreq, rules.tags.default_changefreq.map(|word| word.as_str().into())),
        (
            Setting::DefaultPriority,
            rules.tags.default_priority.as_ref().map(|priority| shown(priority.as_bytes())),
        ),
    ];
    values.extend(rules.sections.as_ref().map(sections).map(|(setting, value)| (setting, Some(value))));
    values
}

fn of_input(job: &Job) -> Vec<Value> {
    let format = &job.input.format;
    let columns = Some(format.columns.to_string()).filter(|columns| !columns.is_empty());
    vec![
        (Setting::Format, format.format.map(|format| format.to_string())),
        (Setting::Columns, columns.map(|columns| shown(columns.as_bytes()))),
        (Setting::Delimiter, format.delimiter.map(|delimiter| shown(delimiter.word().as_bytes()))),
        (Setting::Escape, format.escape.map(|escape| shown(escape.word().as_bytes()))),
        (Setting::InputEncoding, format.input_encoding.map(|encoding| encoding.name().into())),
        (Setting::RequireSuccessMarker, yes(job.input.require_success_marker)),
    ]
}

fn of_guards(job: &Job) -> Vec<Value> {
    let guards = &job.guards;
    vec![
        (Setting::MaxRejects, guards.max_rejects.map(|max| max.to_string())),
        (Setting::MaxDroppedTags, guards.max_dropped_tags.map(|max| max.to_string())),
        (Setting::MaxShrink, Some(guards.max_shrink.to_string())),
        (Setting::ExpectLines, guards.expect_lines.map(|lines| lines.to_string())),
        (Setting::AllowEmpty, yes(guards.allow_empty)),
        (Setting::AllowMissingSites, yes(guards.allow_missing_sites)),
    ]
}

fn of_publication(job: &Job) -> Vec<Value> {
    let publication = &job.publication;
    let also: Vec<_> = publication.also.iter().map(ToString::to_string).collect();
    let of_path = |named: &Option<PathBuf>| named.as_deref().map(path);
    vec![
        (Setting::Out, Some(path(&publication.out))),
        (Setting::Name, publication.name.as_ref().map(ToString::to_string)),
        (Setting::Keep, Some(publication.keep.time.to_string())),
        (Setting::KeepSets, Some(publication.keep.sets.to_string())),
        (Setting::IgnoreManifest, yes(publication.ignore_manifest)),
        (Setting::TakeOver, yes(publication.take_over)),
        (Setting::ReplaceSet, yes(publication.replace_set)),
        (Setting::DryRun, yes(publication.dry_run)),
        (Setting::Also, (!also.is_empty()).then(|| also.join(" "))),
        (Setting::Then, publication.then.as_ref().map(|then| shown(then.to_string().as_bytes()))),
        (Setting::Robots, of_path(&publication.robots)),
        (Setting::Rejects, of_path(&publication.rejects)),
        (Setting::Diff, of_path(&publication.diff)),
    ]
}

fn path(path: &Path) -> String {
    shown(path.as_os_str().as_encoded_bytes())
}

fn yes(is_set: bool) -> Option<String> {
    is_set.then(|| "yes".to_owned())
}

/// The option that decides which section a URL belongs to, and its value.
fn sections(by: &SectionsBy) -> (Setting, String) {
    match by {
        SectionsBy::Column { column, .. } => (Setting::SectionColumn, shown(column.as_bytes())),
        SectionsBy::Rules(rules) => {
            (Setting::Sections, plural(rules.rules().count() as u64, "rule", "rules"))
        }
        SectionsBy::Path { .. } => (Setting::SectionByPath, "yes".to_owned()),
    }
}

/// The limit of sections, where the file of rules does not name all of them.
fn sections_max(by: &SectionsBy) -> Option<String> {
    match by {
        SectionsBy::Column { sections_max, .. } | SectionsBy::Path { sections_max } => {
            Some(sections_max.to_string())
        }
        SectionsBy::Rules(_) => None,
    }
}

/// Maximum number of values of one option that are listed.
const VALUES_MAX: usize = 10;

/// Returns the values of an option that may be repeated.
fn listed(values: &[impl ToString]) -> Option<String> {
    let shown: Vec<_> = values.iter().take(VALUES_MAX).map(ToString::to_string).collect();
    (!shown.is_empty()).then(|| shown.join(", ") + &and_more(values.len() - shown.len()))
}

/// Returns the setting that is called `option` in [`settings`].
pub fn setting_of(option: &str) -> Option<Setting> {
    Setting::ALL.iter().copied().find(|setting| setting.option() == option)
}

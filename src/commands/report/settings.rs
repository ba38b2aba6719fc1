//! Settings: the options of a job that decide what is published, and whether it is, by their names on the command line.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::clean::screen::robots::Robots;
use crate::error::Setting;
use crate::escape::{and_more, plural, shown};
use crate::job::{Job, OnDuplicate, Order, SectionsBy};
use crate::sitemap::divide::Divide;

/// Returns the options of `job` with their values.
pub fn settings(job: &Job) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    let mut set = |option: &str, value: Option<String>| {
        settings.extend(value.map(|value| (option.to_owned(), value)));
    };
    let path = |path: &PathBuf| shown(path.as_os_str().as_encoded_bytes());
    let yes = |is_set: bool| is_set.then(|| "yes".to_owned());
    set("base-url", Some(job.rules.base_url.to_string()));
    set("out", Some(path(&job.publication.out)));
    set("name", job.publication.name.as_ref().map(ToString::to_string));
    set("protocol", Some(job.rules.protocol.to_string()));
    set("scope", Some(job.rules.scope.as_str().into()));
    let urls = &job.rules.urls;
    set("relative-to", urls.relative_to.as_ref().map(ToString::to_string));
    set("rewrite", listed(&urls.rewrites));
    set("include", listed(&urls.include));
    set("exclude", listed(&urls.exclude));
    let robots_agent = urls.robots.as_ref().and_then(Robots::agent);
    set("robots-agent", robots_agent.map(|agent| agent.as_str().to_owned()));
    set("respect-robots", urls.robots.as_ref().map(|robots| path(&robots.source().to_owned())));
    set("urls-per-sitemap", Some(job.rules.urls_per_sitemap.to_string()));
    set("bytes-per-sitemap", Some(job.rules.bytes_per_sitemap.to_string()));
    set("sitemaps-per-index", Some(job.rules.sitemaps_per_index.to_string()));
    set("order", Some(if job.rules.order == Order::Sorted { "sorted" } else { "input" }.into()));
    set("divide", Some(if job.rules.divide == Divide::Stable { "stable" } else { "fill" }.into()));
    if let Some((option, value)) = job.rules.sections.as_ref().map(sections) {
        set(option, Some(value));
    }
    set("sections-max", job.rules.sections.as_ref().and_then(sections_max));
    set(
        "on-duplicate",
        Some(if job.rules.on_duplicate == OnDuplicate::Newest { "newest" } else { "first" }.into()),
    );
    set("url-encoding", Some(job.rules.url_encoding.to_string()));
    set("level", Some(job.rules.level.get().to_string()));
    set("format", job.input.format.format.map(|format| format.to_string()));
    set("input-encoding", job.input.format.input_encoding.map(|encoding| encoding.name().into()));
    set("require-success-marker", yes(job.input.require_success));
    set("lastmod-zone", job.rules.tags.lastmod.zone.as_ref().map(ToString::to_string));
    set("default-changefreq", job.rules.tags.default_changefreq.map(|word| word.as_str().into()));
    set("default-priority", job.rules.tags.default_priority.map(|priority| shown(priority.as_bytes())));
    set("max-rejects", job.guards.max_rejects.map(|max| max.to_string()));
    set("max-dropped-tags", job.guards.max_dropped_tags.map(|max| max.to_string()));
    set("max-shrink", Some(job.guards.max_shrink.to_string()));
    set("expect-lines", job.guards.expect_lines.map(|lines| lines.to_string()));
    set("allow-empty", yes(job.guards.allow_empty));
    set("keep", Some(job.publication.keep.time.to_string()));
    set("keep-sets", Some(job.publication.keep.sets.to_string()));
    set("ignore-manifest", yes(job.publication.ignore_manifest));
    set("take-over", yes(job.publication.take_over));
    set("replace-set", yes(job.publication.replace_set));
    set("dry-run", yes(job.publication.dry_run));
    let also: Vec<_> = job.publication.also.iter().map(ToString::to_string).collect();
    set("also", (!also.is_empty()).then(|| also.join(" ")));
    set("then", job.publication.then.as_ref().map(|then| shown(then.to_string().as_bytes())));
    set("robots", job.publication.robots.as_ref().map(path));
    set("rejects", job.publication.rejects.as_ref().map(path));
    set("diff", job.publication.diff.as_ref().map(path));
    settings
}

/// The option that decides which section a URL belongs to, and its value.
fn sections(by: &SectionsBy) -> (&'static str, String) {
    match by {
        SectionsBy::Column { column, .. } => ("section-column", shown(column.as_bytes())),
        SectionsBy::Rules(rules) => ("sections", plural(rules.rules().count() as u64, "rule", "rules")),
        SectionsBy::Path { .. } => ("section-by-path", "yes".to_owned()),
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
    let name = |setting: Setting| match setting {
        Setting::RequireSuccess => "require-success-marker".to_owned(),
        _ => setting.field().replace('_', "-"),
    };
    Setting::ALL.iter().copied().find(|&setting| name(setting) == option)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_a_report_is_a_setting() {
        let source = include_str!("settings.rs").split("#[cfg(test)]").next().unwrap();
        let options: Vec<_> =
            source.split("    set(").skip(1).filter_map(|call| call.split('"').nth(1)).collect();
        assert!(options.len() > 30, "{options:?}");
        for option in options {
            assert!(setting_of(option).is_some(), "{option}");
        }
        assert_eq!(setting_of("of-a-later-version"), None);
    }
}

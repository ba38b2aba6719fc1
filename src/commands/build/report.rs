//! The report of a run, for other programs and for the summary.

pub mod details;
pub mod dry_run;
pub mod index_changes;
pub mod settings;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::commands::diff::DiffReport;
use crate::common::counts::is_zero;
use crate::common::progress::Estimate;
use crate::error::Message;
use crate::intake::report::{InputReport, Skipped};
use crate::place::SetName;
use crate::set::publish::CompletedSwitch;
use crate::survey::rejects::Example;
use crate::words::{grouped, plural};

pub use details::Details;
pub use dry_run::DryRun;

/// Counts by the word of a reason or the name of a tag.
pub type WordCounts = BTreeMap<Cow<'static, str>, u64>;

/// Returns the words with their counts, the most frequent first, and equally frequent ones in the order of the words.
pub fn most_frequent(counts: &WordCounts) -> Vec<(&str, u64)> {
    let mut words: Vec<_> = counts.iter().map(|(word, &count)| (&**word, count)).collect();
    words.sort_by_key(|&(word, count)| (Reverse(count), word));
    words
}

/// The result of a build in numbers. It serialises to a JSON report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// The version of sitemill.
    pub version: Cow<'static, str>,
    /// Whether the set is live.
    pub published: bool,
    /// The changes that the run would make, if it is a dry run. No guard refuses the set then, unless `refused` says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<DryRun>,
    /// Why the set is not live: the data was refused, or the switch failed. In the latter case `sets` lists the sites whose
    /// switch could not be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Message>,
    /// Switches of dead runs that this run has completed, whether or not it has published a set of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub completed: Vec<CompletedSwitch>,
    /// Protocol version: `0.9` or `0.84`.
    pub protocol: String,
    /// URL of the directory of the files, or the pattern for each origin.
    pub base_url: String,
    /// The name of the set, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<SetName>,
    /// Input files and pipes in the order in which they were read. Their lines add up to `lines`.
    pub inputs: Vec<InputReport>,
    /// Files and directories below input directories that were not read.
    pub skipped: Vec<Skipped>,
    /// Accepted lines whose URL has bytes that are not UTF-8. These bytes were percent-encoded unchanged.
    pub non_utf8_lines: u64,
    /// Lines in all inputs: `blank + listed + duplicates + rejected + excluded`.
    pub lines: u64,
    /// Lines that contain only spaces and tabs.
    pub blank: u64,
    /// URLs in the sitemaps.
    pub listed: u64,
    /// Lines whose URL is listed from another line.
    pub duplicates: u64,
    /// Rejected lines by reason; only reasons that occurred.
    pub rejected: WordCounts,
    /// Lines that a rule of the job leaves out, by the first such rule: `exclude=` and a pattern, `not-included`, or `disallow=`
    /// and a pattern of the robots.txt. Rules that excluded nothing have a count of zero.
    #[serde(default)]
    pub excluded: WordCounts,
    /// Accepted lines by the first pattern that includes their URL, if the job has such patterns.
    #[serde(default, skip_serializing_if = "WordCounts::is_empty")]
    pub included: WordCounts,
    /// Accepted lines by the rule that has rewritten their URL, if the job has such rules.
    #[serde(default, skip_serializing_if = "WordCounts::is_empty")]
    pub rewritten: WordCounts,
    /// Tags of accepted rows by name, including dropped tags.
    pub given_tags: WordCounts,
    /// Tags of rejected and excluded rows by name.
    pub refused_tags: WordCounts,
    /// Invalid tags by reason. Their URLs are listed without them.
    pub dropped_tags: WordCounts,
    /// URLs out of scope by scheme, host and port: the ten origins with the most.
    pub out_of_scope: BTreeMap<String, u64>,
    /// Number of URLs out of scope on all other origins.
    pub out_of_scope_others: u64,
    /// A hint if nothing is listed, or if one reason rejected more than half of the URLs: what the lines have in common, and how to
    /// fix them. There is also one if lines begin with the host that they are relative to, if no row names a section in the column
    /// of sections, or if a set shrinks and its section of all other URLs has none left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<Message>,
    /// For each reason for dropped tags that an option would resolve: what is wrong, and the option.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tag_hints: Vec<Message>,
    /// The first line of each reason, in the order in which lines are checked; then an early line of each of the rules that exclude
    /// the most lines, with the rule as its reason.
    pub examples: Vec<Example>,
    /// Number of sitemaps.
    pub sitemaps: u64,
    /// Number of index files.
    pub indexes: u64,
    /// Number of sitemaps that sitemill did not write but that the index files list after its own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub also: u64,
    /// Number of news articles that were published more than two days before the set. They are listed, too.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub old_news: u64,
    /// URLs of the index files, for robots.txt.
    pub index_urls: Vec<String>,
    /// URLs of index files that the previous set had or kept and that no longer exist, so that caches can be purged of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone_index_urls: Vec<String>,
    /// With a base for each origin: the live set of each, in the order in which the origins first appear in the input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<SetReport>,
    /// With a base for each origin: the base URLs of live sites without URLs in the inputs. Their sets are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_sites: Vec<String>,
    /// The sections of the set, in the order in which they are listed. With a base for each origin they are in `sets`. If a guard
    /// has refused the set: the sections that it would have had, then those of the live set that it would have lost, without files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<SectionSummary>,
    /// For sections by rules: for each section, the number of URLs that each of its prefixes and patterns has put into it. Of
    /// several that match a URL, the first counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub section_rules: BTreeMap<String, WordCounts>,
    /// Bytes of all sitemaps before compression.
    pub xml_bytes: u64,
    /// Bytes of all sitemap files; an estimate in a dry run.
    pub gzip_bytes: u64,
    /// Number of sitemaps of earlier sets that were removed after their retention time.
    pub expired: u64,
    /// The differences from the set that was live before, if [`Publication::diff`](crate::options::Publication::diff) is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<DiffReport>,
    /// The command that ran once the set was live. The report that the command reads lacks this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<ThenReport>,
    /// The messages of [`Outcome::warnings`](crate::Outcome::warnings). The report that the command reads lacks its own failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Message>,
    /// Elapsed time of each part; the command that runs once the set is live is not included.
    pub seconds: Seconds,
    /// Number of worker threads.
    pub threads: u64,
    /// The resources that the build was expected to use.
    #[serde(rename = "needs")]
    pub estimate: Estimate,
    /// Further data for comparing runs, if [`Publication::details`](crate::options::Publication::details) is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
}

/// The JSON of a run that failed before all lines were counted. The command line adds these fields to the report of a refused run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Failure {
    /// Always false.
    pub published: bool,
    /// The error message.
    pub error: String,
    /// The cause of the error, if there is one.
    pub cause: Option<String>,
    /// The exit code of the process.
    pub exit_code: u8,
    /// The resources that the build was expected to use, if it failed after they were estimated.
    #[serde(rename = "needs", default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
}

impl Failure {
    /// Creates the report of a run that failed with `error`.
    pub fn new(error: String, cause: Option<String>, exit_code: u8) -> Self {
        Self { published: false, error, cause, exit_code, estimate: None }
    }
}

/// The set of one origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SetReport {
    /// URL of its directory.
    pub base_url: String,
    /// Name of its directory in the output directory.
    pub directory: String,
    /// URLs in its sitemaps.
    pub listed: u64,
    /// Number of sitemaps.
    pub sitemaps: u64,
    /// Number of sitemaps that sitemill did not write but that its index files list.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub also: u64,
    /// URLs of its index files.
    pub index_urls: Vec<String>,
    /// Bytes of its sitemaps before compression.
    pub xml_bytes: u64,
    /// Bytes of its sitemap files; an estimate in a dry run.
    pub gzip_bytes: u64,
    /// Its sections, in the order in which they are listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<SectionSummary>,
    /// The changes that the run would make in it, if it is a dry run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<DryRun>,
}

/// A section of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SectionSummary {
    /// Its name.
    pub name: String,
    /// Its name as used in file names: unchanged, unless it has characters other than lower-case letters, digits and hyphens.
    pub file_word: String,
    /// URLs in its sitemaps.
    pub listed: u64,
    /// Number of its sitemaps.
    pub sitemaps: u64,
    /// URLs of its index files.
    pub index_urls: Vec<String>,
    /// Bytes of its sitemaps before compression.
    pub xml_bytes: u64,
    /// Bytes of its sitemap files; an estimate in a dry run.
    pub gzip_bytes: u64,
}

/// The command that ran once the set was live.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ThenReport {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Its exit code, or 128 and the number of the signal that ended it. `None` if it could not be started.
    pub exit_code: Option<i32>,
}

/// Seconds of each part of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Seconds {
    /// Pass 1, including the wait for pipes to end.
    pub survey: f64,
    /// Pass 2, including writing the sitemaps.
    pub produce: f64,
    /// Index files, and the switch to the new set.
    pub publish: f64,
    /// The whole run.
    pub total: f64,
}

impl Seconds {
    pub(crate) fn of(survey: Duration, produce: Duration, publish: Duration, total: Duration) -> Self {
        // Milliseconds are enough, and `0.123` reads better than `0.12345678900000001`.
        let [survey, produce, publish, total] =
            [survey, produce, publish, total].map(|time| (time.as_secs_f64() * 1e3).round() / 1e3);
        Self { survey, produce, publish, total }
    }
}

impl Report {
    /// Returns the hints that the reason why nothing was published does not contain: the one about lines, then those about tags.
    pub fn unsaid_hints(&self) -> impl Iterator<Item = &Message> {
        let refused = self.refused.as_ref().map(ToString::to_string).unwrap_or_default();
        self.hint.iter().chain(&self.tag_hints).filter(move |hint| !refused.contains(&hint.to_string()))
    }

    /// Returns the base URL, and the name of the set if it has one: `https://h.example/ (blog)`.
    pub(crate) fn title(&self) -> Cow<'_, str> {
        match &self.name {
            Some(name) => format!("{} ({name})", self.base_url).into(),
            None => (&*self.base_url).into(),
        }
    }

    /// Returns the number of all rejected lines.
    pub fn rejected_total(&self) -> u64 {
        self.rejected.values().sum()
    }

    /// Returns the number of all lines that rules leave out.
    pub fn excluded_total(&self) -> u64 {
        self.excluded.values().sum()
    }

    /// Returns the origins out of scope as text, those with the most URLs first: `2 http://a.example/, 1 https://b.example/`.
    pub fn out_of_scope_words(&self) -> String {
        let mut origins: Vec<_> = self.out_of_scope.iter().collect();
        origins.sort_by_key(|&(origin, &urls)| (Reverse(urls), origin));
        let mut words: Vec<_> =
            origins.iter().map(|&(origin, &urls)| format!("{} {origin}", grouped(urls))).collect();
        if self.out_of_scope_others > 0 {
            words.push(plural(self.out_of_scope_others, "other", "others"));
        }
        words.join(", ")
    }

    /// Returns the JSON of the report, indented, with a line end.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and strings are JSON") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_out_of_scope_are_in_the_order_of_their_urls() {
        let origins = [("http://a.example", 1), ("http://b.example", 1_000), ("http://c.example", 1)];
        let out_of_scope = origins.map(|(origin, urls)| (origin.to_owned(), urls)).into();
        let mut report = Report { out_of_scope, ..Report::default() };
        let all = "1,000 http://b.example, 1 http://a.example, 1 http://c.example";
        for (others, words) in [(0, ""), (1, ", 1 other"), (2, ", 2 others")] {
            report.out_of_scope_others = others;
            assert_eq!(report.out_of_scope_words(), format!("{all}{words}"));
        }
    }
}

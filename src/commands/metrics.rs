//! Metrics of a run in the text format of Prometheus, for the textfile collector of node_exporter.
//!
//! Every metric is a gauge that describes the last run. All metrics have the base URL as a label, and the name of a named set, so
//! that the files of several jobs on one machine do not conflict.

use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::commands::build::report::{Report, WordCounts, most_frequent};
use crate::common::output::is_stdout;
use crate::error::{Error, Result, message};
use crate::escape::shown;
use crate::place::LocalFile;
use crate::sitemap::tags::{TagName, TagReason};

/// The data for the metrics of a run, whether it succeeded or failed.
#[derive(Debug, Clone, Copy)]
pub struct Metrics<'a> {
    /// The base URL of the job, as it was given.
    pub base_url: &'a str,
    /// The name of the set, if it has one.
    pub name: Option<&'a str>,
    /// Whether it was a dry run.
    pub is_dry_run: bool,
    /// The exit code of the process.
    pub exit_code: u8,
    /// The time at which the run ended.
    pub ended: SystemTime,
    /// The duration of the run.
    pub took: Duration,
    /// The report, if all lines were counted.
    pub report: Option<&'a Report>,
}

const SUCCESS: &str = "sitemill_success";
const LAST_SUCCESS: &str = "sitemill_last_success_timestamp_seconds";

impl Metrics<'_> {
    /// Checks that metrics can be written to `path`, to fail before any work.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if not, or if it is a link; [`ErrorKind::Usage`](crate::ErrorKind::Usage)
    /// for standard output.
    pub fn check(path: &Path) -> Result<()> {
        if is_stdout(path) {
            return Err(Error::usage("standard output: metrics replace a whole file; give a file"));
        }
        LocalFile::at(path).check_writable()
    }

    /// Returns the base URL and the name of the set whose metrics are in the file `path`, if they can be read.
    pub fn set_in(path: &Path) -> Option<(String, Option<String>)> {
        let text = LocalFile::at(path).read().ok()?;
        set_in(&String::from_utf8_lossy(&text))
    }

    /// A warning if the file `path` has the metrics of another set, which [`write`](Self::write) replaces: nobody would notice that
    /// the other job fails.
    pub fn warning_of_other_set(&self, path: &Path) -> Option<Error> {
        let (base_url, name) = Self::set_in(path)?;
        let is_own = base_url == self.base_url && name.as_deref() == self.name;
        // A run that cannot read its options may not know its set.
        if is_own || self.base_url.is_empty() {
            return None;
        }
        let name = name.map(|name| format!(" ({})", shown(name.as_bytes()))).unwrap_or_default();
        let other = shown(base_url.as_bytes());
        let words = format!(
            ": has the metrics of {other}{name}, which this run replaces; give each set a file of its own"
        );
        Some(Error::data(message!(path, "{words}")))
    }

    /// Replaces the file `path` with the metrics. If this run failed, the time of the last success of the same set is taken from
    /// the old file.
    ///
    /// # Errors
    /// If the file cannot be written, or if it is a link or no regular file. The old file then stays.
    pub fn write(&self, path: &Path) -> Result<()> {
        let file = LocalFile::at(path);
        let before = file.read().unwrap_or_default();
        file.replace(self.to_text(&String::from_utf8_lossy(&before)).as_bytes())
    }

    /// Returns the text that replaces `before`.
    fn to_text(self, before: &str) -> String {
        let name = self.name.map(|name| format!(",name=\"{}\"", escaped(name))).unwrap_or_default();
        let labels = format!("base_url=\"{}\"{name}", escaped(self.base_url));
        let last_success = last_success(before, &labels);
        let mut text = Text { labels, text: String::new() };
        let ended =
            self.ended.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs().to_string();
        let is_success = self.exit_code == 0 && !self.is_dry_run;
        text.gauge(SUCCESS, "Whether the last run published a set.", u8::from(is_success));
        text.gauge("sitemill_dry_run", "Whether the last run was a dry run.", u8::from(self.is_dry_run));
        text.gauge("sitemill_exit_code", "Exit code of the last run.", self.exit_code);
        text.gauge("sitemill_last_run_timestamp_seconds", "When the last run ended.", &ended);
        if let Some(time) = if is_success { Some(ended.as_str()) } else { last_success } {
            text.gauge(LAST_SUCCESS, "When a run last published a set.", time);
        }
        text.gauge("sitemill_duration_seconds", "Duration of the last run.", self.took.as_secs_f64());
        if let Some(report) = self.report {
            text.input(report);
            text.set(report);
        }
        text.text
    }
}

struct Text {
    /// The labels of all metrics.
    labels: String,
    text: String,
}

impl Text {
    /// Adds the metrics of the inputs.
    fn input(&mut self, report: &Report) {
        let passes = report.seconds;
        let passes = [("survey", passes.survey), ("produce", passes.produce), ("publish", passes.publish)];
        self.family("sitemill_pass_duration_seconds", "Duration of each pass.", "pass", passes);
        self.gauge("sitemill_input_lines", "Lines of the inputs.", report.lines);
        self.gauge("sitemill_blank_lines", "Blank lines.", report.blank);
        self.gauge(
            "sitemill_duplicate_lines",
            "Lines whose URL is listed from another line.",
            report.duplicates,
        );
        self.gauge(
            "sitemill_non_utf8_lines",
            "Accepted lines with bytes that are not UTF-8.",
            report.non_utf8_lines,
        );
        let rejected = report.rejected.iter().map(|(reason, &count)| (&**reason, count));
        self.family("sitemill_rejected_lines", "Rejected lines, by reason.", "reason", rejected);
        let (excluded, others) = largest(&report.excluded);
        let excluded = excluded.into_iter().chain((others > 0).then_some(("others", others)));
        self.family("sitemill_excluded_lines", "Lines that a rule leaves out, by rule.", "rule", excluded);
        let rewritten: u64 = report.rewritten.values().sum();
        self.gauge("sitemill_rewritten_lines", "Accepted lines whose URL was rewritten.", rewritten);
        let count = |counts: &WordCounts, word: &str| counts.get(word).copied().unwrap_or(0);
        // Includes reasons that did not occur, because an alert on a missing metric never fires.
        let given = TagName::ALL.map(|name| (name.as_str(), count(&report.given_tags, name.as_str())));
        self.family("sitemill_given_tags", "Tags of accepted lines, by name.", "tag", given);
        let dropped = TagReason::ALL.map(|why| (why.as_str(), count(&report.dropped_tags, why.as_str())));
        self.family("sitemill_dropped_tags", "Tags that were dropped, by reason.", "reason", dropped);
        self.gauge("sitemill_listed_urls", "URLs of the inputs that the set lists.", report.listed);
    }

    /// Adds the metrics of the set, if it is live or would be, and of the work that follows.
    fn set(&mut self, report: &Report) {
        if report.published {
            self.gauge("sitemill_sitemaps", "Sitemaps of the set.", report.sitemaps);
            self.gauge("sitemill_index_files", "Index files of the set.", report.indexes);
            self.gauge("sitemill_also_sitemaps", "Sitemaps from elsewhere that the set lists.", report.also);
            self.gauge("sitemill_xml_bytes", "Bytes of the uncompressed sitemaps.", report.xml_bytes);
            self.gauge("sitemill_gzip_bytes", "Bytes of the compressed sitemaps.", report.gzip_bytes);
            self.gauge("sitemill_expired_files", "Old sitemaps that were removed.", report.expired);
        }
        if report.published || report.dry_run.is_some() {
            let kept = report.kept_sites.len();
            self.gauge("sitemill_kept_sites", "Live sites without URLs in the inputs.", kept);
            self.gauge("sitemill_warnings", "Warnings in the report of the run.", report.warnings.len());
        }
        if let Some(then) = &report.then {
            // 127 is the code of a shell for a command that it cannot start.
            let exit_code = then.exit_code.unwrap_or(127);
            self.gauge("sitemill_then_exit_code", "Exit code of the command after publishing.", exit_code);
        }
        if let Some(diff) = report.diff {
            let changes = [("added", diff.added), ("removed", diff.removed), ("changed", diff.changed)];
            self.family(
                "sitemill_changed_urls",
                "URLs that differ from the previous set.",
                "change",
                changes,
            );
        }
    }

    fn head(&mut self, name: &str, help: &str) {
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} gauge");
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl std::fmt::Display) {
        self.head(name, help);
        let _ = writeln!(self.text, "{name}{{{}}} {value}", self.labels);
    }

    /// Writes one value for each word of a label.
    fn family<V: std::fmt::Display>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        values: impl IntoIterator<Item = (impl AsRef<str>, V)>,
    ) {
        self.head(name, help);
        for (word, value) in values {
            let word = escaped(word.as_ref());
            let _ = writeln!(self.text, "{name}{{{},{label}=\"{word}\"}} {value}", self.labels);
        }
    }
}

/// Maximum number of rules with a metric of their own: every value of a label is a time series.
const RULES_MAX: usize = 100;

/// The most frequent rules, and the number of lines of all others.
fn largest(counts: &WordCounts) -> (Vec<(&str, u64)>, u64) {
    let mut rules = most_frequent(counts);
    let others = rules.split_off(rules.len().min(RULES_MAX)).iter().map(|&(_, count)| count).sum();
    (rules, others)
}

/// Escapes the value of a label: exposition formats, "Comments, help text, and type information".
fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n")
}

/// Reads the value of a label up to its closing quote. Returns it without escapes, and the text after the quote.
fn unescaped(text: &str) -> Option<(String, &str)> {
    let (mut value, mut chars) = (String::new(), text.chars());
    loop {
        match chars.next()? {
            '"' => return Some((value, chars.as_str())),
            '\\' => match chars.next()? {
                'n' => value.push('\n'),
                escaped => value.push(escaped),
            },
            plain => value.push(plain),
        }
    }
}

/// Returns the base URL and the name of the set that the metrics in `text` are about.
fn set_in(text: &str) -> Option<(String, Option<String>)> {
    let labels = text.lines().find_map(|line| line.strip_prefix(SUCCESS)?.strip_prefix('{'))?;
    let (base_url, rest) = unescaped(labels.strip_prefix("base_url=\"")?)?;
    let name = rest.strip_prefix(",name=\"").and_then(unescaped).map(|(name, _)| name);
    Some((base_url, name))
}

/// Returns the time of the last success of the set with these `labels` in the previous text.
fn last_success<'t>(text: &'t str, labels: &str) -> Option<&'t str> {
    let head = format!("{LAST_SUCCESS}{{{labels}}} ");
    let time = text.lines().find_map(|line| line.strip_prefix(&head))?;
    Some(time).filter(|time| time.parse::<f64>().is_ok_and(f64::is_finite))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_directory_of_devices_is_replaced() {
        use crate::ErrorKind::{Output, Usage};
        for (path, kind) in [("/dev/null", Output), ("/dev/stderr", Output), ("/dev/stdout", Usage)] {
            let error = Metrics::check(Path::new(path)).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
        }
    }

    #[test]
    fn a_run_that_fails_keeps_the_time_of_the_last_success() {
        let at = |exit_code, seconds| Metrics {
            base_url: "https://h.example/\"\\",
            name: None,
            is_dry_run: false,
            exit_code,
            ended: SystemTime::UNIX_EPOCH + Duration::from_secs(seconds),
            took: Duration::from_millis(1_500),
            report: None,
        };
        let labels = r#"base_url="https://h.example/\"\\""#;
        let never = at(65, 10).to_text("");
        assert!(last_success(&never, labels).is_none());
        assert!(never.contains(&format!("sitemill_success{{{labels}}} 0\n")), "{never}");
        let first = at(0, 20).to_text(&never);
        assert_eq!(last_success(&first, labels), Some("20"));
        let failed = at(74, 30).to_text(&first);
        assert_eq!(last_success(&failed, labels), Some("20"));
        assert!(failed.contains(&format!("sitemill_exit_code{{{labels}}} 74\n")), "{failed}");
        assert!(failed.contains(&format!("_duration_seconds{{{labels}}} 1.5\n")) && failed.ends_with('\n'));
        assert_eq!(last_success(&format!("{LAST_SUCCESS}{{{labels}}} NaN"), labels), None);
        // The file may have been that of another set.
        let other = Metrics { base_url: "https://other.example/", ..at(65, 40) }.to_text(&failed);
        assert!(!other.contains(LAST_SUCCESS), "{other}");
        let named = Metrics { name: Some("blog"), ..at(65, 40) };
        assert!(!named.to_text(&failed).contains(LAST_SUCCESS));
        let named = Metrics { exit_code: 0, ..named }.to_text(&failed);
        let labels = format!("{labels},name=\"blog\"");
        assert!(named.contains(&format!("sitemill_success{{{labels}}} 1\n")), "{named}");
        assert_eq!(last_success(&named, &labels), Some("40"));
        let url = "https://h.example/\"\\".to_owned();
        assert_eq!(set_in(&first), Some((url.clone(), None)));
        assert_eq!(set_in(&named), Some((url, Some("blog".into()))));
        assert_eq!(["", "sitemill_success{base_url=\"h"].map(set_in), [None, None]);
    }
}

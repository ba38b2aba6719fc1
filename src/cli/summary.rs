//! The summary of a build.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use indicatif::HumanBytes;
use serde_json::{Value, json};
use sitemill::{Example, Message, Reason, Report, escape};

use super::numbers::{grouped, plural};
use super::{inputs, log};

/// Prints the summary to standard error. With `--log json` it is one object with the names of the report.
pub fn print(report: &Report, out: &Path) {
    match log::is_json() {
        false => log::table(&summary(report, out)),
        true => log::counted("summary", fields(report, out)),
    }
}

/// The fields of the summary. Other fields may be long; `--report` has them.
fn fields(report: &Report, out: &Path) -> Value {
    const NAMES: [&str; 23] = [
        "published",
        "lines",
        "listed",
        "duplicates",
        "blank",
        "rejected",
        "given_tags",
        "refused_tags",
        "dropped_tags",
        "tag_hints",
        "non_utf8_lines",
        "out_of_scope",
        "out_of_scope_others",
        "hint",
        "examples",
        "sitemaps",
        "indexes",
        "xml_bytes",
        "gzip_bytes",
        "expired",
        "seconds",
        "threads",
        "base_url",
    ];
    let mut fields = serde_json::to_value(report).expect("numbers and strings are JSON");
    if let Some(fields) = fields.as_object_mut() {
        let (columns, elements) = inputs::not_carried_over(report);
        fields.retain(|name, _| NAMES.contains(&name.as_str()));
        fields.insert("input_files".into(), report.inputs.len().into());
        fields.insert("unused_columns".into(), columns.into());
        fields.insert("dropped_elements".into(), json!(elements));
        fields.insert("sites".into(), report.sets.len().into());
        fields.insert("out".into(), escape::shown(out.as_os_str().as_encoded_bytes()).into());
    }
    fields
}

fn summary(report: &Report, out: &Path) -> String {
    let row = |name: &str, number: u64, note: &str| {
        let gap = if note.is_empty() { "" } else { "  " };
        format!("  {name:<10} {:>13}{gap}{note}\n", grouped(number))
    };
    let mut lines = String::new();
    for (name, number) in [
        ("lines", report.lines),
        ("listed", report.listed),
        ("duplicates", report.duplicates),
        ("blank", report.blank),
        ("rejected", report.rejected_total()),
    ] {
        lines += &row(name, number, "");
    }
    lines += &reasons(&report.rejected, report);
    if !report.dropped_tags.is_empty() {
        lines += &row("tags", report.dropped_tags.values().sum(), "dropped; their URLs are listed");
        lines += &reasons(&report.dropped_tags, report);
    }
    // The error message has said it.
    let refused = report.refused.as_ref().map(ToString::to_string).unwrap_or_default();
    let is_said = |hint: &Message| refused.contains(&hint.to_string());
    for hint in report.tag_hints.iter().chain(&report.hint).filter(|hint| !is_said(hint)) {
        let _ = writeln!(lines, "  {hint}");
    }
    inputs::rows(report, &mut lines);
    if report.published {
        let [xml, gzip] = [report.xml_bytes, report.gzip_bytes].map(HumanBytes);
        let a_url = report.gzip_bytes as f64 / report.listed.max(1) as f64;
        let _ = writeln!(
            lines,
            "  {} in {}: {xml} of XML, {gzip} compressed, {a_url:.1} bytes per URL",
            plural(report.sitemaps, "sitemap", "sitemaps"),
            plural(report.indexes, "index file", "index files"),
        );
        let seconds = report.seconds;
        let rate = grouped((report.listed as f64 / seconds.total.max(1e-3)) as u64);
        let _ = writeln!(
            lines,
            "  {:.2} s (survey {:.2}, produce {:.2}, publish {:.2}), {rate} URLs/s",
            seconds.total, seconds.survey, seconds.produce, seconds.publish
        );
        let out = escape::shown(out.as_os_str().as_encoded_bytes());
        let _ = match report.sets.len() {
            0 => {
                writeln!(lines, "  live in {out}; {out}/robots-sitemaps.txt has the lines for robots.txt")
            }
            sites => writeln!(
                lines,
                "  live in {out}: {}, each with the lines for its robots.txt in robots-sitemaps.txt",
                plural(sites as u64, "site", "sites"),
            ),
        };
    }
    lines
}

/// A row for each reason in `counts`, with its first line; for URLs out of scope, also their origins.
fn reasons(counts: &BTreeMap<&'static str, u64>, report: &Report) -> String {
    let mut lines = String::new();
    for Example { reason, input, line, text } in &report.examples {
        let Some(&count) = counts.get(reason) else { continue };
        let _ = writeln!(lines, "    {:>9} {reason}, first in {input}:{line}: {text}", grouped(count));
        if *reason == Reason::OutOfScope.as_str() {
            let _ = writeln!(lines, "{:14}{}", "", report.out_of_scope_words());
        }
    }
    lines
}

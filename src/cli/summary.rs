//! What a person reads at the end.

use std::fmt::Write as _;
use std::path::Path;

use indicatif::{HumanBytes, HumanCount};
use sitemill::{Report, text};

use super::{inputs, log};

/// `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    HumanCount(number).to_string()
}

/// Prints the summary to standard error: results are files, and standard output stays free.
pub fn print(report: &Report, out: &Path) {
    log::table(&summary(report, out));
}

fn summary(report: &Report, out: &Path) -> String {
    let mut lines = String::new();
    let mut row = |name: &str, number: u64, note: &str| {
        let _ = writeln!(
            lines,
            "  {name:<10} {:>13}{}{note}",
            grouped(number),
            if note.is_empty() { "" } else { "  " }
        );
    };
    row("lines", report.lines, "");
    row("listed", report.listed, "");
    row("duplicates", report.duplicates, "");
    row("blank", report.blank, "");
    row("rejected", report.rejected_total(), "");
    if !report.dropped_tags.is_empty() {
        row("tags", report.dropped_tags.values().sum(), "dropped; their URLs are listed");
    }
    for example in &report.examples {
        let counts = report.rejected.get(example.reason).or(report.dropped_tags.get(example.reason));
        let count = grouped(counts.copied().unwrap_or(0));
        let place = format!("{}:{}", example.input, example.line);
        let _ = writeln!(lines, "    {count:>9} {}, as {place}: {}", example.reason, example.text);
    }
    inputs::rows(report, &mut lines);
    if report.published {
        let [xml, gzip] = [report.xml_bytes, report.gzip_bytes].map(HumanBytes);
        let a_url = report.gzip_bytes as f64 / report.listed.max(1) as f64;
        let _ = writeln!(
            lines,
            "  {} in {}: {xml} of XML, {gzip} compressed, {a_url:.1} bytes a URL",
            plural(report.sitemaps, "sitemap", "sitemaps"),
            plural(report.indexes, "index file", "index files"),
        );
        let seconds = report.seconds;
        let rate = grouped((report.listed as f64 / seconds.total.max(1e-3)) as u64);
        let _ = writeln!(
            lines,
            "  {:.2} s (survey {:.2}, produce {:.2}, publish {:.2}): {rate} URLs a second",
            seconds.total, seconds.survey, seconds.produce, seconds.publish
        );
        let out = text::shown(out.as_os_str().as_encoded_bytes());
        let _ = match report.sets.len() {
            0 => {
                writeln!(lines, "  live in {out}; the lines for robots.txt are in {out}/robots-sitemaps.txt")
            }
            sites => writeln!(
                lines,
                "  live in {out}, {}; the lines for each robots.txt are in its robots-sitemaps.txt",
                plural(sites as u64, "directory for one site", "directories for as many sites"),
            ),
        };
    }
    lines
}

/// `1 sitemap`, `2 sitemaps`.
pub fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

//! The summary of a build.

use std::cmp::Reverse;
use std::path::Path;

use indicatif::HumanBytes;
use serde_json::{Value, json};
use sitemill::Report;
use sitemill::escape;
use sitemill::report::{DryRun, Example, Reason, WordCounts, most_frequent};
use sitemill::words::{grouped, plural};

use super::table::Table;
use super::{inputs, log};

/// Prints the summary to standard error. With `--log json` it is one object with the names of the report.
pub fn print(report: &Report, out: &Path) {
    match log::is_json() {
        false => log::table(&summary(report, out)),
        true => log::info_with("summary", fields(report, out)),
    }
}

/// The fields of the summary. Other fields may be long; `--report` has them.
fn fields(report: &Report, out: &Path) -> Value {
    const NAMES: [&str; 33] = [
        "published",
        "dry_run",
        "lines",
        "listed",
        "duplicates",
        "blank",
        "rejected",
        "excluded",
        "included",
        "rewritten",
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
        "also",
        "old_news",
        "indexes",
        "sections",
        "section_rules",
        "xml_bytes",
        "gzip_bytes",
        "expired",
        "then",
        "seconds",
        "threads",
        "base_url",
        "name",
    ];
    let mut fields = serde_json::to_value(report).expect("numbers and strings are JSON");
    if let Some(fields) = fields.as_object_mut() {
        let (columns, elements) = inputs::not_carried_over(report);
        fields.retain(|name, _| NAMES.contains(&name.as_str()));
        fields.insert("input_files".into(), report.inputs.len().into());
        fields.insert("unused_columns".into(), columns.into());
        fields.insert("dropped_elements".into(), json!(elements));
        fields.insert("sites".into(), report.sets.len().into());
        fields.insert("kept_site_count".into(), report.kept_sites.len().into());
        fields.insert("out".into(), escape::shown(out.as_os_str().as_encoded_bytes()).into());
    }
    fields
}

fn summary(report: &Report, out: &Path) -> Table {
    let mut table = Table::default();
    for (name, number) in [
        ("lines", report.lines),
        ("listed", report.listed),
        ("duplicates", report.duplicates),
        ("blank", report.blank),
        ("rejected", report.rejected_total()),
    ] {
        table.row(name, grouped(number), "");
    }
    reasons(&report.rejected, report, &mut table);
    rules("excluded", &report.excluded, report, &mut table);
    rules("rewritten", &report.rewritten, report, &mut table);
    if !report.dropped_tags.is_empty() {
        table.row("tags", grouped(report.dropped_tags.values().sum()), "dropped; their URLs are listed");
        reasons(&report.dropped_tags, report, &mut table);
    }
    inputs::rows(report, &mut table);
    if report.published {
        published(report, out, &mut table);
    }
    if let Some(changes) = &report.dry_run {
        previewed(report, changes, out, &mut table);
    }
    report.unsaid_hints().for_each(|hint| table.text(hint.to_string()));
    inputs::hints(report).into_iter().for_each(|hint| table.text(hint));
    table
}

/// A row for each reason in `counts`, with its first line; for URLs out of scope, also their origins.
fn reasons(counts: &WordCounts, report: &Report, table: &mut Table) {
    for Example { reason, input, line, text, .. } in &report.examples {
        let Some(&count) = counts.get(reason) else { continue };
        table.example(reason, grouped(count), format!("{input}:{line}: {text}"));
        if *reason == Reason::OutOfScope.as_str() {
            table.row("", "", report.out_of_scope_words());
        }
    }
}

/// Maximum number of rules of each kind in the summary.
const RULES_SHOWN: usize = 10;

/// The number of lines that rules applied to, and a row for each of the most frequent rules, with its first line. Nothing if there
/// are no rules.
fn rules(name: &str, counts: &WordCounts, report: &Report, table: &mut Table) {
    if counts.is_empty() {
        return;
    }
    table.row(name, grouped(counts.values().sum()), "");
    let mut applied = most_frequent(counts);
    applied.retain(|&(_, count)| count > 0);
    for &(rule, count) in applied.iter().take(RULES_SHOWN) {
        // Rules that are not printable are refused.
        let first = report.examples.iter().find(|example| example.reason == rule);
        let first = first.map(|Example { input, line, text, .. }| format!("  {input}:{line}: {text}"));
        table.example("", grouped(count), format!("{rule}{}", first.unwrap_or_default()));
    }
    if let Some(more) = applied.len().checked_sub(RULES_SHOWN).filter(|&more| more > 0) {
        let lines = applied[RULES_SHOWN..].iter().map(|&(_, count)| count).sum();
        table.example("", grouped(lines), format!("by {} more", plural(more as u64, "rule", "rules")));
    }
}

/// Adds the files of a live set, and the elapsed time.
fn published(report: &Report, out: &Path, table: &mut Table) {
    let [xml, gzip] = [report.xml_bytes, report.gzip_bytes].map(HumanBytes);
    let bytes = report.gzip_bytes as f64 / report.listed.max(1) as f64;
    let sizes = match report.sitemaps {
        0 => String::new(),
        _ => format!("{xml} of XML, {gzip} compressed, {bytes:.1} bytes per URL"),
    };
    table.row("sitemaps", grouped(report.sitemaps), sizes);
    also(report, table);
    table.row("index files", grouped(report.indexes), "");
    kept_sites(report, table);
    sections(report, table);
    idle_rules(report, table);
    seconds(report, table);
    if let Some(then) = &report.then {
        let code = then.exit_code.map_or_else(|| "-".to_owned(), |code| code.to_string());
        let command = escape::shown(then.command.join(" ").as_bytes());
        table.row("then", code, format!("exit code of the command {command}"));
    }
    let out = escape::shown(out.as_os_str().as_encoded_bytes());
    let (what, robots) = match &report.name {
        Some(name) => (format!("set {name} is live"), format!("robots-sitemaps-{name}.txt")),
        None => ("live".into(), "robots-sitemaps.txt".into()),
    };
    table.text(match report.sets.len() {
        0 if report.indexes == 0 => {
            format!("{what} in {out}: an empty set; robots.txt must have no Sitemap: lines for it")
        }
        0 => format!("{what} in {out}; {out}/{robots} has the lines for robots.txt"),
        1 => format!("{what} in {out}: 1 site, with the lines for its robots.txt in {robots}"),
        sites => {
            let sites = grouped(sites as u64);
            format!("{what} in {out}: {sites} sites, each with the lines for its robots.txt in {robots}")
        }
    });
}

/// Adds the sitemaps from elsewhere, if there are any.
fn also(report: &Report, table: &mut Table) {
    if report.also > 0 {
        let sitemaps = if report.also == 1 { "sitemap" } else { "sitemaps" };
        table.row("also", grouped(report.also), format!("{sitemaps} from elsewhere in the index files"));
    }
}

/// Adds the number of live sites that the run does not publish, if there are any.
fn kept_sites(report: &Report, table: &mut Table) {
    if let kept @ 1.. = report.kept_sites.len() {
        table.row("kept sites", grouped(kept as u64), "live sites without URLs in the inputs");
    }
}

/// Maximum number of sections in the summary.
const SECTIONS_SHOWN: usize = 10;

/// Adds the largest sections.
fn sections(report: &Report, table: &mut Table) {
    let mut sections: Vec<_> = report.sections.iter().collect();
    if sections.is_empty() {
        return;
    }
    table.row("sections", grouped(sections.len() as u64), "");
    sections.sort_by_key(|section| (Reverse(section.listed), &section.name));
    for section in sections.iter().take(SECTIONS_SHOWN) {
        let sitemaps = plural(section.sitemaps, "sitemap", "sitemaps");
        let name = escape::shown(section.name.as_bytes());
        let files = match section.name == section.file_word {
            true => String::new(),
            false => format!(", named {} in files", section.file_word),
        };
        table.example("", grouped(section.listed), format!("{name}: {sitemaps}{files}"));
    }
    if let Some((_, more)) = sections.split_at_checked(SECTIONS_SHOWN).filter(|(_, more)| !more.is_empty()) {
        let listed = more.iter().map(|section| section.listed).sum();
        let more = plural(more.len() as u64, "more section", "more sections");
        table.example("", grouped(listed), format!("in {more}"));
    }
}

/// Adds the rules that put no URL into their section.
fn idle_rules(report: &Report, table: &mut Table) {
    for (section, rules) in &report.section_rules {
        let section = escape::shown(section.as_bytes());
        // Rules that are not printable are refused.
        for (rule, _) in rules.iter().filter(|&(_, &urls)| urls == 0) {
            table.text(format!("section {section}: no URL is listed because of {rule}"));
        }
    }
}

/// Adds the elapsed time.
fn seconds(report: &Report, table: &mut Table) {
    let seconds = report.seconds;
    let rate = grouped((report.listed as f64 / seconds.total.max(1e-3)) as u64);
    let phases = format!(
        "survey {:.2}, produce {:.2}, publish {:.2}; {rate} URLs/s",
        seconds.survey, seconds.produce, seconds.publish
    );
    table.row("seconds", format!("{:.2}", seconds.total), phases);
}

/// Adds what a run would change in `out`, in all and for each of several sites.
fn previewed(report: &Report, changes: &DryRun, out: &Path, table: &mut Table) {
    let xml = HumanBytes(report.xml_bytes);
    let gzip = HumanBytes(changes.estimated_bytes);
    table.row("sitemaps", grouped(report.sitemaps), format!("{xml} of XML, about {gzip} compressed"));
    let new = format!("about {} compressed", HumanBytes(changes.estimated_new_bytes));
    table.row("  new", grouped(changes.new_sitemaps), new);
    table.row("  kept", grouped(changes.kept_sitemaps), "");
    table.row("  removed", grouped(changes.removed_sitemaps), "no longer listed");
    also(report, table);
    table.row("index files", grouped(report.indexes), indexes(changes));
    kept_sites(report, table);
    sections(report, table);
    idle_rules(report, table);
    seconds(report, table);
    for (site, changes) in report.sets.iter().filter_map(|site| Some((site, site.dry_run.as_ref()?))) {
        let [new, kept, removed] =
            [changes.new_sitemaps, changes.kept_sitemaps, changes.removed_sitemaps].map(grouped);
        let listed = plural(site.listed, "URL", "URLs");
        table.text(format!(
            "{}: {listed}; sitemaps: {new} new, {kept} kept, {removed} removed; index files: {}",
            site.base_url,
            indexes(changes)
        ));
    }
    let out = escape::shown(out.as_os_str().as_encoded_bytes());
    table.text(format!("dry run: nothing was published in {out}"));
}

/// How the index files would change.
fn indexes(changes: &DryRun) -> String {
    let DryRun { new_indexes, replaced_indexes, kept_indexes, removed_indexes, .. } = *changes;
    let [new, replaced, kept, removed] =
        [new_indexes, replaced_indexes, kept_indexes, removed_indexes].map(grouped);
    format!("{new} new, {replaced} replaced, {kept} kept, {removed} removed")
}

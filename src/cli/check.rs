//! `sitemill check`: writes findings to standard output, and a summary to standard error.

use std::io::{self, BufWriter, Write};

use serde::Serialize;
use sitemill::check::{FINDINGS_PER_FILE_MAX, Finding};
use sitemill::words::{grouped, plural};
use sitemill::{CheckJob, CheckReport, Error, Result, Stop};

use super::args::CheckArgs;
use super::failure::is_broken_pipe;
use super::streams::{self, Stdout};
use super::table::Table;
use super::{below, log, progress};

/// Checks, writes findings and a summary. Any finding is exit 65.
pub fn run(args: CheckArgs) -> Result<()> {
    let mut job = CheckJob::new(args.path);
    job.name = args.name;
    job.base_url = args.base_url;
    job.scope = args.scope;
    job.threads = args.threads.or(job.threads);
    job.findings_max = args.limit_findings;

    let mut paths = job.paths();
    paths.write_to_stdout("check");
    paths.check()?;
    let mut stdout = BufWriter::new(Stdout::new()?);
    let mut listed = 0;
    let mut tell = |finding: &Finding| {
        listed += 1;
        let line = if args.json { to_json(finding) } else { finding.to_string() };
        written(writeln!(stdout, "{line}"))
    };
    let progress = progress::while_reading(args.quiet);
    let report = match sitemill::check(&job, &*progress, &Stop::default(), &mut tell) {
        // The reader has seen a finding, so the result is certain.
        Err(error) if is_broken_pipe(&error) => {
            return Err(Error::data("standard output was closed before the check ended"));
        }
        report => report?,
    };
    if args.json {
        written(writeln!(stdout, "{}", to_json(&report)))?;
    }
    written(stdout.flush())?;
    if !args.quiet {
        let (first, rows) = summary(&report, listed, &job);
        log::info_with(&first, serde_json::to_value(&report).expect("numbers and strings are JSON"));
        log::table(&rows);
        let way_out = "give these directories to check them";
        below::say_left_out(&job.paths, job.name.as_ref(), way_out);
    } else if nothing_was_read(&report) {
        log::warning("no sitemap was read; run without --quiet to see what was left out");
    }
    match report.findings {
        0 => Ok(()),
        1 => Err(Error::data("1 finding")),
        findings => Err(Error::data(format!("{} findings", grouped(findings)))),
    }
}

fn written(result: io::Result<()>) -> Result<()> {
    result.map_err(streams::stdout_unwritten)
}

/// Whether there is no finding only because the sitemaps of all index files were left out.
fn nothing_was_read(report: &CheckReport) -> bool {
    report.findings == 0 && report.sitemaps == 0 && report.indexes > 0
}

/// The counts of the check, and a row for each rule with findings, of which `listed` are on standard output.
fn summary(report: &CheckReport, listed: u64, job: &CheckJob) -> (String, Table) {
    let rate = grouped((report.urls as f64 / report.seconds.max(1e-3)) as u64);
    let no_findings = match report.findings {
        _ if nothing_was_read(report) => "no sitemap was read: ",
        0 => "no findings in ",
        _ => "",
    };
    let first = format!(
        "{no_findings}{} in {} and {} ({:.2} s, {rate} URLs/s)",
        plural(report.urls, "URL", "URLs"),
        plural(report.sitemaps, "sitemap", "sitemaps"),
        plural(report.indexes, "index file", "index files"),
        report.seconds,
    );
    let mut table = Table::default();
    if report.not_followed > 0 {
        let files = plural(report.not_followed, "sitemap", "sitemaps");
        table.text(format!("{files} elsewhere on the site not checked"));
    }
    if report.also > 0 {
        let files = plural(report.also, "sitemap", "sitemaps");
        table.text(format!("{files} added with --also not checked; to check a local one, give its path"));
    }
    if report.other_files > 0 {
        let files = plural(report.other_files, "other XML file or feed", "other XML files and feeds");
        table.text(format!("{files} not checked; to check one, give its path"));
    }
    if report.unknown_bases > 0 {
        table.text("scope not checked: the URL of the directory is unknown; use --base-url");
    }
    if report.unknown_scopes > 0 {
        table.text("scope not checked: no permission to read the manifest; use --scope");
    }
    for (rule, &count) in &report.rules {
        table.row(rule, grouped(count), "");
    }
    if report.findings > listed {
        let why = match listed < job.findings_max {
            true => format!("at most {} per file", grouped(FINDINGS_PER_FILE_MAX)),
            false => "--limit-findings".into(),
        };
        table.text(match listed {
            1 => format!("only the first is listed ({why})"),
            _ => format!("only {} of them are listed ({why})", grouped(listed)),
        });
    }
    (first, table)
}

fn to_json(object: &impl Serialize) -> String {
    serde_json::to_string(object).expect("numbers and strings are JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_says_why_findings_are_not_listed() {
        let mut job = CheckJob::new(Vec::new());
        job.findings_max = 30_000;
        let said = |findings: u64, listed: u64| {
            let report = CheckReport { findings, ..CheckReport::default() };
            let (_, table) = summary(&report, listed, &job);
            table.lines(None).trim().to_owned()
        };
        assert_eq!(said(30_000, 30_000), "");
        assert_eq!(said(40_000, 30_000), "only 30,000 of them are listed (--limit-findings)");
        assert_eq!(said(20_000, 10_000), "only 10,000 of them are listed (at most 10,000 per file)");
    }
}

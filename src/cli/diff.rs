//! `sitemill diff`: compares two sets.

use sitemill::diff::DiffFormat;
use sitemill::words::{grouped, plural};
use sitemill::{DiffJob, Result, Stop};

use super::args::DiffArgs;
use super::failure::is_broken_pipe;
use super::streams::Stdout;
use super::urls::left_out;
use super::{log, progress};

/// Writes the differences and a summary. A reader may stop early.
pub fn run(args: DiffArgs) -> Result<()> {
    let mut job = DiffJob::new(args.old, args.new);
    job.name = args.name;
    job.format = match (args.tsv, args.json) {
        (true, _) => DiffFormat::Tsv,
        (_, true) => DiffFormat::Json,
        _ => DiffFormat::Text,
    };
    job.resources.memory = args.memory.0;
    job.resources.scratch = args.scratch;
    job.resources.threads = args.threads.or(job.resources.threads);
    let mut paths = job.paths();
    paths.write_to_stdout("diff");
    paths.check()?;
    let mut stdout = Stdout::new()?;
    let progress = progress::while_reading(args.quiet);
    let report = match sitemill::diff(&job, &*progress, &Stop::default(), stdout.target()) {
        Err(error) if is_broken_pipe(&error) => return Ok(()),
        report => report?,
    };
    if !args.quiet {
        let words = format!(
            "{} added, {} removed, {} changed, {} unchanged; {} read{}",
            grouped(report.added),
            grouped(report.removed),
            grouped(report.changed),
            grouped(report.unchanged),
            plural(report.sitemaps_read, "sitemap", "sitemaps"),
            left_out(report.without_url, report.other_files),
        );
        log::info_with(&words, serde_json::to_value(report).expect("numbers are JSON"));
    }
    Ok(())
}

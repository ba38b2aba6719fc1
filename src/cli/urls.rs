//! `sitemill urls`: extracts the URLs from sitemaps.

use serde_json::json;
use sitemill::urls::UrlsFormat;
use sitemill::words::plural;
use sitemill::{Result, Stop, UrlsJob};

use super::args::UrlsArgs;
use super::failure::is_broken_pipe;
use super::streams::Stdout;
use super::{below, log, progress};

/// Writes URLs and a summary. A reader may stop early.
pub fn run(args: UrlsArgs) -> Result<()> {
    let mut job = UrlsJob::new(args.path);
    job.name = args.name;
    job.format = match (args.tsv, args.json) {
        (true, _) => UrlsFormat::Tsv,
        (_, true) => UrlsFormat::Json,
        _ => UrlsFormat::Lines,
    };
    job.threads = args.threads.or(job.threads);
    let mut paths = job.paths();
    paths.write_to_stdout("urls");
    paths.check()?;
    let mut stdout = Stdout::new()?;
    let progress = progress::while_reading(args.quiet);
    let report = match sitemill::urls(&job, &*progress, &Stop::default(), stdout.target()) {
        Err(error) if is_broken_pipe(&error) => return Ok(()),
        report => report?,
    };
    if !args.quiet {
        let sitemaps = plural(report.sitemaps, "sitemap", "sitemaps");
        let fields = json!(report);
        let mut words = format!("{} in {sitemaps}", plural(report.urls, "URL", "URLs"));
        if report.also > 0 {
            let also = plural(report.also, "sitemap", "sitemaps");
            words.push_str(&format!("; {also} added with --also not read"));
        }
        words.push_str(&left_out(report.without_url, report.other_files));
        log::info_with(&words, fields);
        let way_out = "give these directories to list them";
        below::say_left_out(&job.paths, job.name.as_ref(), way_out);
    }
    Ok(())
}

/// The end of a summary: how many entries and files were left out.
pub(super) fn left_out(without_url: u64, other_files: u64) -> String {
    let mut words = String::new();
    if without_url > 0 {
        let entries = plural(without_url, "entry", "entries");
        words.push_str(&format!("; {entries} without a URL left out"));
    }
    if other_files > 0 {
        let others = plural(other_files, "other XML file or feed", "other XML files and feeds");
        words.push_str(&format!("; {others} not read"));
    }
    words
}

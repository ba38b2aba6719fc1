//! `sitemill clean`: writes canonical URLs.

use std::path::Path;

use serde_json::json;
use sitemill::process::{Paths, ResultFile, is_stdout};
use sitemill::report::most_frequent;
use sitemill::words::{and_more, grouped, plural};
use sitemill::{CleanJob, CleanReport, Error, Progress, Result, Silent, Source, Stop, Target};

use super::args::CleanArgs;
use super::failure::is_broken_pipe;
use super::streams::{self, Stdout};
use super::{elsewhere, flags, inputs, log, progress};

/// The job that the options describe, with the inputs that they name. Reads the files of rules that they name, until `stop` is
/// raised.
fn job(args: &CleanArgs, stop: &Stop) -> Result<CleanJob> {
    let mut job = CleanJob::new(args.input.clone());
    job.input.format = args.format.options();
    job.input.require_success_marker = args.format.require_success_marker;
    job.url_encoding = args.format.url_encoding;
    job.urls = args.urls.rules(stop)?;
    job.threads = args.threads.or(job.threads);
    Ok(job)
}

/// The paths of `job`, and those of the options that it does not know.
fn paths(args: &CleanArgs, job: &CleanJob) -> Paths {
    let mut paths = job.paths();
    args.rejects.iter().for_each(|path| paths.write("--rejects", path));
    args.urls.files().for_each(|(option, path)| paths.read(option, path));
    paths
}

/// Writes URLs and rejects. `sources`, if there are any, replace the input files.
pub fn cleaned(
    args: &CleanArgs,
    sources: Option<Vec<Source<'_>>>,
    stop: &Stop,
    urls: Target<'_>,
) -> Result<CleanReport> {
    let job = job(args, stop)?;
    inputs::warn_of_robots(&job.urls);
    paths(args, &job).check()?;
    clean(args, &job, sources, &Silent, stop, urls)
}

/// Cleans `sources`, or else the inputs of `job`, with rejects in the file that the options name.
fn clean(
    args: &CleanArgs,
    job: &CleanJob,
    sources: Option<Vec<Source<'_>>>,
    progress: &dyn Progress,
    stop: &Stop,
    urls: Target<'_>,
) -> Result<CleanReport> {
    let create = |path| ResultFile::create(path, || streams::create(path));
    let mut file = args.rejects.as_deref().map(create).transpose()?;
    let rejects = args.rejects.as_deref().zip(file.as_mut()).map(|(name, file)| Target { name, to: file });
    // Reborrowed, because both targets must have the same lifetime.
    let urls = Target { name: urls.name, to: &mut *urls.to };
    let report = match sources {
        Some(sources) => sitemill::clean_from(job, sources, progress, stop, urls, rejects),
        None => sitemill::clean(job, progress, stop, urls, rejects),
    }?;
    file.map_or(Ok(()), ResultFile::finish)?;
    Ok(report)
}

/// Writes URLs, rejects and a summary. A reader may stop early.
pub fn run(args: Box<CleanArgs>, config: Option<&Path>) -> Result<()> {
    elsewhere::set_reader("clean");
    if let Some(path) = args.rejects.as_deref().filter(|path| is_stdout(path)) {
        let path = path.display();
        return Err(Error::usage(format!("--rejects {path}: standard output is for the URLs; give a file")));
    }
    // Without handlers, a signal ends the process.
    let stop = Stop::default();
    let mut job = job(&args, &stop)?;
    inputs::warn_of_robots(&job.urls);
    job.input.paths = streams::inputs_or_stdin(args.input.clone())?;
    let mut paths = paths(&args, &job);
    paths.write_to_stdout("clean");
    config.iter().for_each(|path| paths.read("--config", path));
    paths.check()?;
    let mut stdout = Stdout::new()?;
    let progress = progress::while_reading(args.quiet);
    let report = match clean(&args, &job, None, &*progress, &stop, stdout.target()) {
        Err(error) if is_broken_pipe(&error) => return Ok(()),
        report => report?,
    };
    inputs::warn_of_skipped(&report.skipped);
    if !args.quiet {
        tell(&report);
    }
    Ok(())
}

/// Writes what `report` counts, and its hints.
fn tell(report: &CleanReport) {
    let rejected: Vec<_> = report.rejected.iter().map(|(reason, count)| (reason.as_str(), count)).collect();
    let mut words = format!(
        "{}: {}, {} blank, {} rejected{}",
        plural(report.lines, "line", "lines"),
        plural(report.accepted, "URL", "URLs"),
        grouped(report.blank),
        grouped(report.rejected.total()),
        in_brackets(&rejected, rejected.len()),
    );
    if !report.excluded.is_empty() {
        let mut by_rule = most_frequent(&report.excluded);
        by_rule.retain(|&(_, count)| count > 0);
        let by_rule = in_brackets(&by_rule, RULES_SHOWN);
        words += &format!(", {} excluded{by_rule}", grouped(report.excluded_total()));
    }
    let rewritten: u64 = report.rewritten.values().sum();
    if !report.rewritten.is_empty() {
        words += &format!(", {} rewritten", grouped(rewritten));
    }
    let fields = json!({
        "lines": report.lines,
        "accepted": report.accepted,
        "blank": report.blank,
        "rejected": report.rejected.by_word(),
        "excluded": report.excluded,
        "included": report.included,
        "rewritten": report.rewritten,
    });
    log::info_with(&words, fields);
    if let Some(hint) = &report.hint {
        log::info(&flags::text(hint));
    }
    if report.non_utf8_lines > 0 {
        let fields = json!({ "non_utf8_lines": report.non_utf8_lines });
        log::info_with(&inputs::non_utf8(report.non_utf8_lines), fields);
    }
}

/// Maximum number of rules in the summary.
const RULES_SHOWN: usize = 10;

/// The first `shown_max` counts with their words, and how many others there are: ` (1 host, 2 scheme and 3 more)`. Empty if there
/// are none.
fn in_brackets(counts: &[(&str, u64)], shown_max: usize) -> String {
    let (shown, others) = counts.split_at(counts.len().min(shown_max));
    let words: Vec<_> = shown.iter().map(|&(word, count)| format!("{} {word}", grouped(count))).collect();
    if words.is_empty() {
        String::new()
    } else {
        format!(" ({}{})", words.join(", "), and_more(others.len()))
    }
}

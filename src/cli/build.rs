//! `sitemill build`: words to a job, the run, the report and the summary.

use std::fs::File;
use std::io::Write;
use std::time::{Duration, SystemTime};

use serde_json::json;
use sitemill::{Error, ErrorKind, Job, Result};

use super::args::{BuildArgs, ProgressWhen};
use super::{progress, signals, summary};

/// Builds, reports and sums up.
pub fn run(args: Box<BuildArgs>) -> Result<()> {
    let job = job(&args)?;
    job.check()?;
    signals::aborts_are_lack_of_memory()?;
    // Before any work: a report that cannot be written is no use an hour later.
    let mut report_file = match &args.report {
        Some(path) => Some(File::create(path).map_err(|error| Error::output(path, error))?),
        None => None,
    };
    let mut write_report = |json: String| {
        if let (Some(file), Some(path)) = (&mut report_file, &args.report)
            && let Err(error) = file.write_all(json.as_bytes())
        {
            // What is live stays live: exit 0 says so, and a line says this.
            super::print_error(&Error::io(path, "the report could not be written", error));
        }
    };

    let when = if args.quiet { ProgressWhen::Never } else { args.progress };
    let outcome = sitemill::build(&job, &*progress::shown(when), &signals::raised_by_signals()?);
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            let kind = error.kind();
            let failed =
                json!({ "published": false, "error": error.to_string(), "exit_code": kind.exit_code() });
            write_report(format!("{failed:#}\n"));
            return Err(error);
        }
    };
    write_report(outcome.report.to_json());
    if !args.quiet {
        summary::print(&outcome.report, &args.out);
    }
    outcome.refused.map_or(Ok(()), Err)
}

fn job(args: &BuildArgs) -> Result<Job> {
    let inputs = super::inputs_or_stdin(args.input.clone())?;
    let mut job = Job::new(inputs, args.base_url.clone(), args.out.clone());
    job.form = args.form.options();
    job.require_success = args.form.require_success_marker;
    job.url_encoding = args.form.url_encoding;
    job.tags = args.tags.rules();
    job.on_duplicate = args.tags.on_duplicate;
    job.order = args.order;
    job.memory = args.memory.map(|size| size.0);
    job.scratch.clone_from(&args.scratch);
    job.protocol = args.protocol;
    job.scope = args.scope;
    job.urls_per_sitemap = args.urls_per_sitemap;
    job.bytes_per_sitemap = args.bytes_per_sitemap.0;
    job.sitemaps_per_index = args.sitemaps_per_index;
    job.level = args.level;
    job.gzip_engine = args.gzip_engine;
    job.threads = args.threads.unwrap_or(job.threads);
    job.rejects.clone_from(&args.rejects);
    job.max_rejects = args.max_rejects;
    job.time = time()?;
    Ok(job)
}

/// Now, or what `SOURCE_DATE_EPOCH` says: seconds since 1970, as reproducible builds set it.
fn time() -> Result<SystemTime> {
    let Some(word) = std::env::var_os("SOURCE_DATE_EPOCH") else { return Ok(SystemTime::now()) };
    let seconds = word.to_str().and_then(|word| word.parse().ok()).map(Duration::from_secs);
    seconds.and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(seconds)).ok_or_else(|| {
        Error::new(ErrorKind::Usage, "SOURCE_DATE_EPOCH is not a number of seconds; unset it or set it right")
    })
}

//! `sitemill build`: words to a job, the run, the report and the summary.

use std::fs::File;
use std::io::Write;

use serde_json::json;
use sitemill::{Error, Job, Keep, Result};

use super::args::{BuildArgs, ProgressWhen};
use super::{progress, signals, summary};

/// Builds, reports and sums up.
pub fn run(args: Box<BuildArgs>) -> Result<()> {
    let job = job(&args)?;
    job.check()?;
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
    outcome.warnings.iter().for_each(super::print_warning);
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
    job.protocol = args.protocol;
    job.scope = args.scope;
    job.urls_per_sitemap = args.urls_per_sitemap;
    job.bytes_per_sitemap = args.bytes_per_sitemap.0;
    job.sitemaps_per_index = args.sitemaps_per_index;
    job.level = args.level;
    job.gzip_engine = args.gzip_engine;
    job.threads = args.threads.unwrap_or(job.threads);
    job.rejects.clone_from(&args.rejects);
    job.max_rejects = args.guard.max_rejects;
    job.max_shrink = args.guard.max_shrink;
    job.allow_empty = args.guard.allow_empty;
    job.expect_lines = args.guard.expect_lines;
    job.diff.clone_from(&args.diff);
    job.robots.clone_from(&args.robots);
    job.keep = Keep { time: args.keep.keep, sets: args.keep.keep_sets };
    job.time = super::time()?;
    Ok(job)
}

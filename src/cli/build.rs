//! `sitemill build`: words to a job, the run, the report and the summary.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;
use sitemill::{Error, ErrorKind, Job, Keep, Metrics, Outcome, Result, text};

use super::args::{BuildArgs, ProgressWhen};
use super::{progress, signals, summary};

/// Builds, reports and sums up.
pub fn run(args: Box<BuildArgs>) -> Result<()> {
    let started = Instant::now();
    signals::aborts_are_lack_of_memory()?;
    let mut reports = Reports::prepare(&args)?;
    let built = super::caught(|| {
        let job = job(&args)?;
        job.check()?;
        let when = if args.quiet { ProgressWhen::Never } else { args.progress };
        sitemill::build(&job, &*progress::shown(when), &signals::raised_by_signals()?)
    });
    reports.write(&built, started.elapsed());
    let outcome = built?;
    outcome.warnings.iter().for_each(super::print_warning);
    if !args.quiet {
        summary::print(&outcome.report, &args.out);
    }
    outcome.refused.map_or(Ok(()), Err)
}

/// Where programs read what came of a run, however it ended.
struct Reports<'a> {
    args: &'a BuildArgs,
    file: Option<File>,
}

impl<'a> Reports<'a> {
    /// Before any work: a report that cannot be written is no use an hour later.
    fn prepare(args: &'a BuildArgs) -> Result<Self> {
        let file = args.report.as_deref().map(create).transpose()?;
        args.metrics.as_deref().map_or(Ok(()), Metrics::check)?;
        Ok(Self { args, file })
    }

    /// What is live stays live if a report fails: exit 0 says so, and a line says this.
    fn write(&mut self, built: &Result<Outcome>, took: Duration) {
        let exit_code = match built {
            Ok(outcome) => outcome.refused.as_ref().map_or(0, |why| why.kind().exit_code()),
            Err(error) => error.kind().exit_code(),
        };
        let report = match built {
            Ok(outcome) => serde_json::to_value(&outcome.report).expect("numbers and strings are JSON"),
            Err(error) => {
                json!({ "published": false, "error": error.to_string(), "exit_code": exit_code })
            }
        };
        let unwritten = |path: &Path, error| Error::io(path, "the report could not be written", error);
        if let (Some(file), Some(path)) = (&mut self.file, &self.args.report)
            && let Err(error) = file.write_all(format!("{report:#}\n").as_bytes())
        {
            super::print_error(&unwritten(path, error));
        }
        if self.args.json
            && let Err(error) = io::stdout().lock().write_all(format!("{report}\n").as_bytes())
        {
            super::print_error(&unwritten(Path::new("standard output"), error));
        }
        let Some(path) = &self.args.metrics else { return };
        let base_url = self.args.base_url.to_string();
        let report = built.as_ref().ok().map(|outcome| &outcome.report);
        let metrics = Metrics { base_url: &base_url, exit_code, ended: SystemTime::now(), took, report };
        if let Err(error) = metrics.write(path) {
            super::print_error(&error);
        }
    }
}

/// A file for the report. What is no file may have nobody who reads it, and then no signal would end the wait any more; but
/// devices, such as the standard output and what a shell gives for `>(…)`, are at hand.
fn create(path: &Path) -> Result<File> {
    let is_device = path.parent().is_some_and(|parent| ["/dev", "/dev/fd"].map(Path::new).contains(&parent));
    if !is_device && path.metadata().is_ok_and(|meta| !meta.is_file()) {
        let shown = text::shown(path.as_os_str().as_encoded_bytes());
        let words = format!("{shown}: is no regular file; a report needs one, or a name that is free");
        return Err(Error::new(ErrorKind::Output, words));
    }
    File::create(path).map_err(|error| Error::output(path, error))
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
    job.divide = args.divide;
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
    job.max_rejects = args.guard.max_rejects;
    job.max_shrink = args.guard.max_shrink;
    job.allow_empty = args.guard.allow_empty;
    job.expect_lines = args.guard.expect_lines;
    job.diff.clone_from(&args.diff);
    job.robots.clone_from(&args.robots);
    job.keep = Keep { time: args.keep.keep, sets: args.keep.keep_sets };
    job.ignore_manifest = args.keep.ignore_manifest;
    job.time = super::time()?;
    Ok(job)
}

//! `sitemill status` and `sitemill rollback`: shows the live and the kept sets, and restores one of them.

use std::fmt::Write as _;

use indicatif::HumanBytes;
use serde_json::json;
use sitemill::escape::shown;
use sitemill::process::Paths;
use sitemill::status::{FirstRun, RunStatus, SetStatus, first_runs};
use sitemill::words::plural;
use sitemill::{Result, RollbackJob, RolledBack, Status, StatusJob, Stop};

use super::args::{RollbackArgs, StatusArgs};
use super::failure::print_warning;
use super::streams::Stdout;
use super::{below, clock, flags, log, progress, signals};

/// Shows the sets of a directory, or of the directories of several sites.
pub fn status(args: &StatusArgs) -> Result<()> {
    let mut paths = Paths::default();
    paths.read("directory", args.directory());
    paths.write_to_stdout("status");
    paths.check()?;
    let mut stdout = Stdout::new()?;
    let mut shown = String::new();
    let (name, progress) = (args.name.as_ref(), progress::while_reading(false));
    let mut job = StatusJob::new(args.directory().to_owned());
    job.name.clone_from(&args.name);
    let sets = sitemill::status(&job, &*progress, &Stop::default());
    say_first_runs(&job, sets.as_deref().unwrap_or_default());
    for mut status in sets? {
        status.damaged.iter_mut().for_each(|why| *why = flags::text(why).into());
        match args.json {
            true => shown += &serde_json::to_string(&status).expect("numbers and strings are JSON"),
            false => shown += text(&status).trim_end(),
        }
        shown.push('\n');
    }
    stdout.print(shown.as_bytes())?;
    below::say_left_out(&[args.directory()], name, "give one of these directories to show them");
    Ok(())
}

/// Names the runs for sets that are not published yet. `sets` are those that are.
fn say_first_runs(job: &StatusJob, sets: &[Status]) {
    let directory = shown(job.out.as_os_str().as_encoded_bytes());
    // A run for all sites has its staging in their parent.
    let is_parent = !sets.is_empty() && sets.iter().all(|set| set.directory != directory);
    // A directory that cannot be read is an error of the command itself.
    for FirstRun { name, run, is_switching, .. } in first_runs(job).unwrap_or_default() {
        let set = name.map_or_else(|| "the set without a name".into(), |name| format!("the set {name}"));
        let state = if is_switching { IS_SWITCHING.into() } else { in_words(&run) };
        let words = match is_parent {
            true => format!("{directory}: {state}"),
            false => format!("{directory}: {set} is not published yet; {state}"),
        };
        log::info_with(&words, json!({ "process": run.process }));
    }
}

const IS_SWITCHING: &str = "a switch to a new set has begun; if no run is completing it, the next run will";

fn in_words(run: &RunStatus) -> String {
    match run.is_alive {
        true => format!("process {} is running", run.process),
        false => {
            format!("process {} died during a run; the next run removes its temporary files", run.process)
        }
    }
}

fn text(status: &Status) -> String {
    let name = status.name.as_ref().map(|name| format!(" (set {name})")).unwrap_or_default();
    let Status { directory, live, .. } = status;
    let mut text = format!("{directory}{name}: {}, protocol {}\n", live.base_url, live.protocol);
    for set in [&status.live].into_iter().chain(&status.earlier) {
        let _ = writeln!(text, "{}", row(set));
    }
    for why in &status.damaged {
        let _ = writeln!(text, "  {why}");
    }
    let superseded = status.superseded;
    if superseded.files > 0 {
        let files = plural(superseded.files, "sitemap", "sitemaps");
        let _ = writeln!(text, "  {files} of earlier sets: {}", HumanBytes(superseded.bytes));
    }
    for run in &status.runs {
        let _ = writeln!(text, "  {}", in_words(run));
    }
    if status.is_switching {
        let _ = writeln!(text, "  {IS_SWITCHING}");
    }
    text
}

/// Warns about a base URL or protocol that the rollback changed, because the next build may use the other one.
fn other_kind(done: &RolledBack) -> String {
    let (from, to) = (&done.from, &done.to);
    let values = [("base URL", &to.base_url, &from.base_url), ("protocol", &to.protocol, &from.protocol)];
    let others = values.into_iter().filter(|(_, to, from)| to != from);
    others.map(|(what, to, from)| format!("; the {what} is {to} again (was {from})")).collect()
}

fn row(set: &SetStatus) -> String {
    let since = if set.replaced.is_none() { "since" } else { "from" };
    let rolled_back = if set.withdrawn { ", rolled back" } else { "" };
    let until = set.replaced.as_ref().map(|since| format!(" to {since}")).unwrap_or_default();
    let missing = match set.missing {
        0 => String::new(),
        missing => format!("; {} missing or damaged", plural(missing, "file", "files")),
    };
    let also = match set.also {
        0 => String::new(),
        also => format!("; {} added with --also", plural(also, "sitemap", "sitemaps")),
    };
    format!(
        "  set {:>4}  live {since:<5} {}{until}{rolled_back}: {} in {}, {}{also}{missing}",
        set.number,
        set.published,
        plural(set.urls, "URL", "URLs"),
        plural(set.sitemaps, "sitemap", "sitemaps"),
        HumanBytes(set.gzip_bytes),
    )
}

/// Restores an earlier set, and says which one is live. A signal does not interrupt a switch that has begun.
pub fn rollback(args: &RollbackArgs) -> Result<()> {
    let mut job = RollbackJob::new(args.directory().to_owned());
    job.name.clone_from(&args.name);
    job.to = args.to;
    job.robots.clone_from(&args.robots);
    job.robots_any_name = args.robots_any_name;
    job.time = clock::time()?;
    let done =
        sitemill::rollback(&job, &*progress::while_reading(args.quiet), &signals::raised_by_signals()?)?;
    done.warnings.iter().for_each(print_warning);
    if !args.quiet {
        let [from, to] = [&done.from, &done.to].map(|set| {
            let urls = plural(set.urls, "URL", "URLs");
            format!("set {} ({urls} in {})", set.number, plural(set.sitemaps, "sitemap", "sitemaps"))
        });
        let fields = json!({ "from": done.from.number, "to": done.to.number, "urls": done.to.urls });
        log::info_with(&format!("restored {to}, which replaces {from}{}", other_kind(&done)), fields);
    }
    Ok(())
}

//! `sitemill status` and `sitemill rollback`: the sets that were published before.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

use indicatif::HumanBytes;
use serde_json::json;
use sitemill::{Error, Paths, Result, RollbackJob, RolledBack, SetStatus, Status};

use super::args::{RollbackArgs, StatusArgs};
use super::failure::print_warning;
use super::numbers::plural;
use super::streams::Stdout;
use super::{log, settings, signals};

/// Shows what lies in a directory, or in those of several sites.
pub fn status(args: &StatusArgs) -> Result<()> {
    let mut paths = Paths::default();
    paths.read("--out", &args.out);
    paths.write_to_stdout("status");
    paths.check()?;
    let mut stdout = Stdout::new()?;
    let mut shown = String::new();
    for status in sitemill::status(&args.out)? {
        match args.json {
            true => shown += &serde_json::to_string(&status).expect("numbers and strings are JSON"),
            false => shown += text(&status).trim_end(),
        }
        shown.push('\n');
    }
    match stdout.write_all(shown.as_bytes()) {
        // A reader that has seen enough is no failure.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::io(Path::new("standard output"), "could not be written", error))
        }
        _ => Ok(()),
    }
}

fn text(status: &Status) -> String {
    let mut text =
        format!("{}: {}, protocol {}\n", status.directory, status.live.base_url, status.live.protocol);
    for set in [&status.live].into_iter().chain(&status.earlier) {
        let _ = writeln!(text, "{}", row(set));
    }
    for why in &status.damaged {
        let _ = writeln!(text, "  {why}");
    }
    let superseded = status.superseded;
    if superseded.files > 0 {
        let files = plural(superseded.files, "sitemap", "sitemaps");
        let _ = writeln!(text, "  {files} of earlier sets beside it: {}", HumanBytes(superseded.bytes));
    }
    for run in &status.runs {
        let _ = match run.is_alive {
            true => writeln!(text, "  a run is going on: process {}", run.process),
            false => {
                writeln!(text, "  a run has died, process {}; the next one clears up behind it", run.process)
            }
        };
    }
    if status.is_switching {
        text += "  a switch to another set has begun; the next run finishes it, if none is at it\n";
    }
    text
}

/// Tells of a base URL or a protocol that came back, because the next build may be for the other one.
fn other_kind(done: &RolledBack) -> String {
    let (from, to) = (&done.from, &done.to);
    let values = [("base URL", &to.base_url, &from.base_url), ("protocol", &to.protocol, &from.protocol)];
    let others = values.into_iter().filter(|(_, to, from)| to != from);
    others.map(|(what, to, from)| format!("; its {what} is {to}, no longer {from}")).collect()
}

fn row(set: &SetStatus) -> String {
    let state = match (&set.replaced, set.withdrawn) {
        (None, _) => "live since",
        (Some(_), false) => "kept, of  ",
        (Some(_), true) => "taken back",
    };
    let until = set.replaced.as_ref().map(|since| format!(" to {since}")).unwrap_or_default();
    let missing = match set.missing {
        0 => String::new(),
        missing => format!("; {} missing or damaged", plural(missing, "file", "files")),
    };
    format!(
        "  set {:>4}  {state} {}{until}: {} in {}, {}{missing}",
        set.number,
        set.published,
        plural(set.urls, "URL", "URLs"),
        plural(set.sitemaps, "sitemap", "sitemaps"),
        HumanBytes(set.gzip_bytes),
    )
}

/// Takes the live set back, and says what is live then. A switch that was begun is finished, whatever signal comes.
pub fn rollback(args: &RollbackArgs) -> Result<()> {
    let mut job = RollbackJob::new(args.out.clone());
    job.to = args.to;
    job.robots.clone_from(&args.robots);
    job.robots_any_name = args.robots_any_name;
    job.time = settings::time()?;
    let done = sitemill::rollback(&job, &signals::raised_by_signals()?)?;
    done.warnings.iter().for_each(print_warning);
    if !args.quiet {
        let [from, to] = [&done.from, &done.to].map(|set| {
            let urls = plural(set.urls(), "URL", "URLs");
            format!(
                "set {} ({urls} in {})",
                set.number,
                plural(set.sitemaps.len() as u64, "sitemap", "sitemaps")
            )
        });
        let fields = json!({ "from": done.from.number, "to": done.to.number, "urls": done.to.urls() });
        log::counted(&format!("{to} is live again in the place of {from}{}", other_kind(&done)), fields);
    }
    Ok(())
}

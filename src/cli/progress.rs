//! Progress for a person: a bar on a terminal, a line now and then elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use serde_json::json;
use sitemill::{Needs, Pass, Progress, Silent};

use super::args::ProgressWhen;
use super::log;

/// What `--progress` asks for, on this standard error.
pub fn shown(when: ProgressWhen) -> Box<dyn Progress> {
    match when {
        ProgressWhen::Never => Box::new(Silent),
        _ if std::io::stderr().is_terminal() && !log::is_json() => Box::new(Bars::default()),
        _ => {
            let each_pass = when == ProgressWhen::Always;
            Box::new(Lines { each_pass, now: Mutex::default() })
        }
    }
}

/// For commands that write to standard output: a bar on a terminal, unless the output goes there as well.
pub fn while_reading(quiet: bool) -> Box<dyn Progress> {
    let has_room = std::io::stderr().is_terminal() && !std::io::stdout().is_terminal();
    if has_room && !quiet && !log::is_json() { Box::new(Bars::default()) } else { Box::new(Silent) }
}

fn title(pass: Pass) -> &'static str {
    match pass {
        Pass::Spool => "reading",
        Pass::Survey => "survey",
        Pass::Sort => "sort",
        Pass::Produce => "produce",
        Pass::Read => "reading",
    }
}

/// One bar a pass, taken away when the pass is done: the summary has the times.
#[derive(Default)]
struct Bars(Mutex<Option<ProgressBar>>);

impl Bars {
    fn with_bar(&self, act: impl FnOnce(&ProgressBar)) {
        if let Some(bar) = &*self.0.lock().expect("no holder panics") {
            act(bar);
        }
    }
}

/// The plan of a run in one line.
fn words(needs: &Needs) -> String {
    let free =
        |free: Option<u64>| free.map_or_else(String::new, |free| format!(" ({} free)", HumanBytes(free)));
    let scratch = match needs.scratch_bytes {
        0 => "no scratch".into(),
        bytes => format!("scratch {}{}", HumanBytes(bytes), free(needs.scratch_free_bytes)),
    };
    format!(
        "about {} URLs in {} partitions: memory {} of {}, {scratch}, sitemaps {}{}",
        HumanCount(needs.urls),
        needs.partitions,
        HumanBytes(needs.held_bytes),
        HumanBytes(needs.memory_bytes),
        HumanBytes(needs.sitemap_bytes),
        free(needs.out_free_bytes)
    )
}

/// Writes the plan of the run, before the work: the log of a run that is killed or slow then shows how large it is.
fn say(needs: &Needs) {
    if is_worth_a_line(needs) || log::is_json() {
        log::counted(&words(needs), serde_json::to_value(needs).expect("numbers are JSON"));
    }
}

/// Whether people want to know the plan: the run takes a while, or may fill a disk.
fn is_worth_a_line(needs: &Needs) -> bool {
    needs.urls > URLS_OF_SHORT_RUN_MAX || needs.scratch_bytes > 0
}

/// More URLs take longer than a few seconds.
const URLS_OF_SHORT_RUN_MAX: u64 = 10_000_000;

impl Progress for Bars {
    fn needs(&self, needs: &Needs) {
        say(needs);
    }

    fn begin(&self, pass: Pass, total: u64) {
        let template = match pass {
            Pass::Spool => "{msg:8} {spinner} {bytes} {bytes_per_sec}",
            Pass::Survey => "{msg:8} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta} left",
            Pass::Read => "{msg:8} {spinner} {human_pos} {rate}",
            Pass::Sort | Pass::Produce => "{msg:8} {wide_bar} {human_pos}/{human_len} URLs {rate} {eta} left",
        };
        let rate = |state: &ProgressState, to: &mut dyn std::fmt::Write| {
            // A rate with four decimals is no easier to read.
            let _ = write!(to, "{}/s", HumanCount(state.per_sec() as u64));
        };
        let style = ProgressStyle::with_template(template).expect("the templates are right");
        let style = style.with_key("rate", rate);
        let bar = ProgressBar::new(total).with_style(style).with_message(title(pass));
        bar.enable_steady_tick(Duration::from_millis(200));
        *self.0.lock().expect("no holder panics") = Some(bar);
    }

    fn advance(&self, amount: u64) {
        self.with_bar(|bar| bar.inc(amount));
    }

    fn end(&self) {
        self.with_bar(ProgressBar::finish_and_clear);
    }
}

/// How often a line is worth a place in a log.
const INTERVAL: Duration = Duration::from_secs(10);

/// What the run is going to need, and a plain line every ten seconds.
struct Lines {
    each_pass: bool,
    now: Mutex<Option<Running>>,
}

struct Running {
    pass: Pass,
    total: u64,
    done: u64,
    since: Instant,
    said: Instant,
}

impl Running {
    fn say(&mut self) {
        self.said = Instant::now();
        let elapsed = self.since.elapsed().as_secs_f64().max(1e-3);
        let rate = self.done as f64 / elapsed;
        let count = |n: u64| match self.pass {
            Pass::Sort | Pass::Produce => format!("{} URLs", HumanCount(n)),
            Pass::Read => HumanCount(n).to_string(),
            Pass::Spool | Pass::Survey => HumanBytes(n).to_string(),
        };
        let of_total = match self.total {
            0 => String::new(),
            total => {
                let left = Duration::from_secs_f64((total - self.done.min(total)) as f64 / rate.max(1.0));
                let percent = self.done * 100 / total;
                format!(" of {} ({percent} %), {} left", count(total), HumanDuration(left))
            }
        };
        let line = format!("{}: {}{of_total}, {}/s", title(self.pass), count(self.done), count(rate as u64));
        let (pass, per_second) = (title(self.pass), rate as u64);
        log::counted(
            &line,
            json!({ "pass": pass, "done": self.done, "total": self.total, "per_second": per_second }),
        );
    }
}

impl Progress for Lines {
    fn needs(&self, needs: &Needs) {
        say(needs);
    }

    fn begin(&self, pass: Pass, total: u64) {
        let now = Instant::now();
        *self.now.lock().expect("no holder panics") =
            Some(Running { pass, total, done: 0, since: now, said: now });
    }

    fn advance(&self, amount: u64) {
        if let Some(running) = &mut *self.now.lock().expect("no holder panics") {
            running.done += amount;
            if running.said.elapsed() >= INTERVAL {
                running.say();
            }
        }
    }

    fn end(&self) {
        if let Some(mut running) = self.now.lock().expect("no holder panics").take()
            && self.each_pass
        {
            running.say();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_is_a_line_if_the_run_is_long_or_needs_scratch() {
        let needs = Needs {
            urls: 0,
            partitions: 256,
            memory_bytes: 1 << 30,
            held_bytes: 1 << 20,
            scratch_bytes: 0,
            sitemap_bytes: 1 << 20,
            scratch_free_bytes: None,
            out_free_bytes: None,
        };
        for (urls, scratch_bytes, is_worth_it) in
            [(0, 0, false), (10_000_000, 0, false), (10_000_001, 0, true), (1, 1, true)]
        {
            let needs = Needs { urls, scratch_bytes, ..needs };
            assert_eq!(is_worth_a_line(&needs), is_worth_it, "{needs:?}");
        }
    }
}

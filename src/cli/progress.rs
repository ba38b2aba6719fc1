//! Progress for people: a bar on a terminal, and a line every ten seconds elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressState, ProgressStyle};
use serde_json::json;
use sitemill::{Estimate, Phase, Progress, Silent};

use super::args::ProgressWhen;
use super::table::broken;
use super::{log, terminal};

/// Returns the form of progress for `--progress` and the kind of standard error.
pub fn shown(when: ProgressWhen) -> Box<dyn Progress> {
    match when {
        ProgressWhen::Never => Box::new(Silent),
        _ if terminal::can_redraw() && !log::is_json() => Box::new(Bars::default()),
        _ => {
            let each_phase = when == ProgressWhen::Always;
            Box::new(Lines { each_phase, now: Mutex::default() })
        }
    }
}

/// Returns the form of progress for commands that write to standard output: a bar on a terminal, unless the output goes there
/// too.
pub fn while_reading(quiet: bool) -> Box<dyn Progress> {
    let has_room = terminal::can_redraw() && !std::io::stdout().is_terminal();
    if has_room && !quiet && !log::is_json() { Box::new(Bars::default()) } else { Box::new(Silent) }
}

fn title(phase: Phase) -> &'static str {
    match phase {
        Phase::Read | Phase::Urls => "reading",
        Phase::Survey | Phase::Sort | Phase::Split | Phase::Produce => phase.as_str(),
    }
}

/// Returns an amount in the unit of the phase, with three or four digits.
fn amount(phase: Phase, amount: u64) -> String {
    match phase {
        Phase::Read | Phase::Survey => HumanBytes(amount).to_string(),
        Phase::Sort | Phase::Split | Phase::Produce => format!("{} URLs", scaled(amount)),
        // Lines of `clean`, URLs of the other commands.
        Phase::Urls => scaled(amount),
    }
}

/// Formats a number as `999`, `12.3 k` or `1.23 M`: so few digits change slowly enough to be read.
fn scaled(number: u64) -> String {
    let (value, unit) = match number {
        0..1_000 => return number.to_string(),
        1_000..1_000_000 => (number as f64 / 1e3, "k"),
        1_000_000..1_000_000_000 => (number as f64 / 1e6, "M"),
        _ => (number as f64 / 1e9, "G"),
    };
    match value {
        0.0..10.0 => format!("{value:.2} {unit}"),
        10.0..100.0 => format!("{value:.1} {unit}"),
        _ => format!("{value:.0} {unit}"),
    }
}

/// Rate and remaining time of a phase. Both are averages over the whole phase, so they change smoothly.
#[derive(Clone, Copy)]
struct Pace {
    done: u64,
    total: u64,
    elapsed: Duration,
}

impl Pace {
    fn per_second(self) -> u64 {
        (self.done as f64 / self.elapsed.as_secs_f64().max(1e-3)) as u64
    }

    /// `None` if the total is unknown, or nothing is done.
    fn left(self) -> Option<Duration> {
        let left = self.total.checked_sub(self.done).filter(|_| self.done > 0 && self.total > 0)?;
        Some(self.elapsed.mul_f64(left as f64 / self.done as f64))
    }
}

/// `0:07`, `12:34`, `1:02:03`.
fn clock(time: Duration) -> String {
    // Rounded up, because an unfinished phase never has 0 seconds left.
    let seconds = time.as_secs_f64().ceil() as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// The plan of a run in one line.
fn words(needs: &Estimate) -> String {
    let free =
        |free: Option<u64>| free.map_or_else(String::new, |free| format!(" ({} free)", HumanBytes(free)));
    let scratch = match needs.scratch_bytes {
        0 => "no scratch".into(),
        bytes => format!("scratch {}{}", HumanBytes(bytes), free(needs.scratch_free_bytes)),
    };
    format!(
        "about {} {}: memory {} of {}, {scratch}, sitemaps {}{}",
        HumanCount(needs.urls),
        if needs.urls == 1 { "URL" } else { "URLs" },
        HumanBytes(needs.held_bytes),
        HumanBytes(needs.memory_bytes),
        HumanBytes(needs.sitemap_bytes),
        free(needs.out_free_bytes)
    )
}

/// Writes the plan of the run, before the work: the log of a run that is killed or slow then shows how large it is.
fn say(needs: &Estimate) {
    if is_worth_a_line(needs) || log::is_json() {
        let width = terminal::width().filter(|_| !log::is_json());
        log::info_with(
            &broken(&words(needs), 0, width),
            serde_json::to_value(needs).expect("numbers are JSON"),
        );
    }
}

/// Returns whether the plan is of interest: the run takes more than a few seconds, or may fill a disk.
fn is_worth_a_line(needs: &Estimate) -> bool {
    needs.urls > URLS_OF_SHORT_RUN_MAX || needs.scratch_bytes.max(needs.sitemap_bytes) >= DISK_BYTES_MIN
}

/// Maximum number of URLs that take only a few seconds.
const URLS_OF_SHORT_RUN_MAX: u64 = 10_000_000;

/// The size from which files may fill a disk.
const DISK_BYTES_MIN: u64 = 1 << 30;

/// A bar for each phase. It is removed when the phase is done, because the summary has the times.
#[derive(Default)]
struct Bars(Mutex<Option<ProgressBar>>);

impl Bars {
    fn with_bar(&self, act: impl FnOnce(&ProgressBar)) {
        if let Some(bar) = &*self.0.lock().expect("no holder panics") {
            act(bar);
        }
    }
}

/// Maximum columns of the bar itself. A longer one would not show more.
const BAR_COLUMNS_MAX: usize = 40;
/// Columns of a line without the bar and the amounts: `produce   42 %  1.23 M URLs/s  1:02:03 left`.
const OTHER_COLUMNS: usize = 44;
/// Columns of the remaining time: `1:02:03 left`.
const LEFT_COLUMNS: usize = 12;
/// Columns of the amounts: `  1.23 M URLs of 1.23 M URLs`.
const AMOUNT_COLUMNS: usize = 32;

/// The template of a line for a terminal with `columns`. Parts that do not fit are left out: first the amounts, then the bar.
fn template(total: u64, columns: usize) -> String {
    if total == 0 {
        return "{msg:8} {spinner} {done}  {rate}".into();
    }
    let bar = columns.saturating_sub(OTHER_COLUMNS).min(BAR_COLUMNS_MAX);
    let bar = if bar < 5 { String::new() } else { format!("{{bar:{bar}}} ") };
    let has_amounts = columns >= OTHER_COLUMNS + BAR_COLUMNS_MAX + AMOUNT_COLUMNS;
    let amounts = if has_amounts { "  {done} of {total}" } else { "" };
    format!("{{msg:8}} {bar}{{percent:>3}} %  {{rate}}  {{left}}{amounts}")
}

fn style(phase: Phase, total: u64, columns: usize) -> ProgressStyle {
    let pace = move |state: &ProgressState| Pace { done: state.pos(), total, elapsed: state.elapsed() };
    let template = ProgressStyle::with_template(&template(total, columns)).expect("the templates are right");
    template
        .with_key("rate", move |state: &ProgressState, to: &mut dyn std::fmt::Write| {
            let rate = format!("{}/s", amount(phase, pace(state).per_second()));
            let _ = write!(to, "{rate:>13}");
        })
        .with_key("left", move |state: &ProgressState, to: &mut dyn std::fmt::Write| {
            // The average over the first second is unreliable. The field stays blank then, so that the layout does not change.
            let left = pace(state).left().filter(|_| state.elapsed() >= Duration::from_secs(1));
            let left = left.map(|left| format!("{} left", clock(left))).unwrap_or_default();
            let _ = write!(to, "{left:>LEFT_COLUMNS$}");
        })
        .with_key("done", move |state: &ProgressState, to: &mut dyn std::fmt::Write| {
            let _ = write!(to, "{}", amount(phase, state.pos()));
        })
        .with_key("total", move |_: &ProgressState, to: &mut dyn std::fmt::Write| {
            let _ = write!(to, "{}", amount(phase, total));
        })
}

impl Progress for Bars {
    fn estimated(&self, needs: &Estimate) {
        say(needs);
    }

    fn begin(&self, phase: Phase, total: u64) {
        let style = style(phase, total, terminal::width().unwrap_or(80));
        let bar = ProgressBar::new(total).with_style(style).with_message(title(phase));
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

/// Time between two lines of a log.
const INTERVAL: Duration = Duration::from_secs(10);

/// A plain line every ten seconds.
struct Lines {
    each_phase: bool,
    now: Mutex<Option<Running>>,
}

struct Running {
    phase: Phase,
    total: u64,
    done: u64,
    since: Instant,
    said: Instant,
}

impl Running {
    fn say(&mut self) {
        self.said = Instant::now();
        let pace = Pace { done: self.done, total: self.total, elapsed: self.since.elapsed() };
        let (title, per_second) = (title(self.phase), pace.per_second());
        let amount = |number| amount(self.phase, number);
        let of_total = match self.total {
            0 => String::new(),
            total => format!(" of {} ({} %)", amount(total), self.done.saturating_mul(100) / total),
        };
        let left = pace.left().filter(|left| !left.is_zero());
        let left = left.map_or_else(String::new, |left| format!(", {} left", clock(left)));
        log::info_with(
            &format!("{title}: {}{of_total}, {}/s{left}", amount(self.done), amount(per_second)),
            json!({ "pass": title, "done": self.done, "total": self.total, "per_second": per_second }),
        );
    }
}

impl Progress for Lines {
    fn estimated(&self, needs: &Estimate) {
        say(needs);
    }

    fn begin(&self, phase: Phase, total: u64) {
        let now = Instant::now();
        *self.now.lock().expect("no holder panics") =
            Some(Running { phase, total, done: 0, since: now, said: now });
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
            && self.each_phase
        {
            running.say();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_is_printed_if_the_run_is_long_or_needs_much_disk() {
        let mut needs = Estimate::default();
        for (urls, scratch_bytes, sitemap_bytes, is_worth_it) in [
            (0, 0, 0, false),
            (10_000_000, (1 << 30) - 1, (1 << 30) - 1, false),
            (10_000_001, 0, 0, true),
            (1, 1 << 30, 0, true),
            (1, 0, 1 << 30, true),
        ] {
            (needs.urls, needs.scratch_bytes, needs.sitemap_bytes) = (urls, scratch_bytes, sitemap_bytes);
            assert_eq!(is_worth_a_line(&needs), is_worth_it, "{needs:?}");
        }
    }

    #[test]
    fn a_line_of_progress_fits_its_terminal() {
        for columns in [30, 48, 49, 60, 80, 115, 116, 200] {
            let template = template(1, columns);
            assert_eq!(template.contains("{bar:"), columns >= 49, "{columns}: {template}");
            assert_eq!(template.contains("{total}"), columns >= 116, "{columns}: {template}");
        }
        assert!(template(1, 60).contains("{bar:16}") && template(1, 200).contains("{bar:40}"));
    }

    #[test]
    fn rate_and_remaining_time_are_averages_of_the_phase() {
        let pace = |done, total, seconds| Pace { done, total, elapsed: Duration::from_secs(seconds) };
        for (pace, per_second, left) in [
            (pace(0, 100, 5), 0, None),
            (pace(25, 100, 5), 5, Some(15)),
            (pace(100, 100, 5), 20, Some(0)),
            // The total is an estimate for some phases, or unknown.
            (pace(110, 100, 5), 22, None),
            (pace(110, 0, 5), 22, None),
        ] {
            assert_eq!((pace.per_second(), pace.left()), (per_second, left.map(Duration::from_secs)));
        }
    }

    #[test]
    fn each_phase_has_a_title_and_a_unit() {
        for (phase, shown) in [
            (Phase::Read, "reading: 2.93 KiB"),
            (Phase::Survey, "survey: 2.93 KiB"),
            (Phase::Sort, "sort: 3.00 k URLs"),
            (Phase::Split, "split: 3.00 k URLs"),
            (Phase::Produce, "produce: 3.00 k URLs"),
            (Phase::Urls, "reading: 3.00 k"),
        ] {
            assert_eq!(format!("{}: {}", title(phase), amount(phase, 3_000)), shown);
        }
    }

    #[test]
    fn amounts_and_times_have_few_digits() {
        for (number, shown) in [
            (999, "999"),
            (1_000, "1.00 k"),
            (12_345, "12.3 k"),
            (123_456, "123 k"),
            (1_234_567_890, "1.23 G"),
        ] {
            assert_eq!(scaled(number), shown);
        }
        for (seconds, shown) in [(0, "0:00"), (7, "0:07"), (754, "12:34"), (3_723, "1:02:03")] {
            assert_eq!(clock(Duration::from_secs(seconds)), shown);
        }
    }
}

//! Messages on standard error: text for people, JSON for log collectors. In text, errors start with `error:`, warnings with
//! `warning:`, and everything else with nothing. A closed standard error is not a failure, because the exit code still gives the
//! outcome.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;
use clap::error::{ContextKind, ContextValue};
use jiff::Timestamp;
use serde_json::{Value, json};
use sitemill::process::StoppableWriter;
use sitemill::{ErrorKind, Stop};

use super::table::Table;
use super::terminal::{self, Colour, coloured};

/// The format of messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// One line of text per message.
    #[default]
    Text,
    /// One object per line: `time`, `level` and `message`. Messages that are neither errors nor warnings also have their numbers as
    /// fields, and so do some warnings. Errors have `exit_code` and `cause`. The message after an abort has no `time`.
    Json,
}

macro_rules! out_of_memory {
    ($way_out:literal) => {
        concat!("out of memory; ", $way_out)
    };
}

/// The message after an abort, as text and as JSON.
macro_rules! last_words {
    ($way_out:literal) => {
        [
            concat!("error: ", out_of_memory!($way_out), "\n"),
            concat!(
                r#"{"level":"error","message":""#,
                out_of_memory!($way_out),
                "\",\"cause\":null,\"exit_code\":71}\n"
            ),
        ]
    };
}

static IS_JSON: AtomicBool = AtomicBool::new(false);

/// Standard error, if somebody may have stopped reading it, and the request to stop that ends the wait.
static STOPPABLE: OnceLock<(File, Stop)> = OnceLock::new();

/// Lets `stop` end the wait for the reader of standard error. Later messages that nobody reads are lost then.
pub fn wait_until(stop: &Stop) {
    let stderr = io::stderr().as_fd().try_clone_to_owned().map(File::from);
    // Nobody reads a file, and it takes a line of any length at once.
    let is_pipe = |stderr: &File| stderr.metadata().is_ok_and(|meta| !meta.is_file());
    if let Some(stderr) = stderr.ok().filter(is_pipe) {
        let _ = STOPPABLE.set((stderr, stop.clone()));
    }
}

/// Writes `text` to standard error, in one piece if possible, so that lines of several processes do not mix.
fn write(text: &str) {
    let _ = match STOPPABLE.get() {
        Some((stderr, stop)) => StoppableWriter::new(stderr, stop).write_all(text.as_bytes()),
        None => io::stderr().write_all(text.as_bytes()),
    };
}

/// Writes all later messages in `format`.
pub fn set_format(format: LogFormat) {
    IS_JSON.store(format == LogFormat::Json, Ordering::Relaxed);
}

/// Whether messages are written as JSON.
pub fn is_json() -> bool {
    IS_JSON.load(Ordering::Relaxed)
}

/// Writes the error of a failed run. `exit_code` and `cause` are fields of the JSON format; the text of `message` includes the
/// cause.
pub fn error(message: &str, exit_code: u8, cause: Option<&str>) {
    say("error", ERROR, message, json!({ "exit_code": exit_code, "cause": cause }));
}

/// Writes that a signal ended the run. Only the JSON format calls this an error, because people who send a signal expect the run to
/// end.
pub fn interrupted(message: &str, exit_code: u8) {
    say("error", "", message, json!({ "exit_code": exit_code, "cause": null }));
}

/// The message after an abort. Writing it takes no memory and no lock.
pub struct LastWords {
    stderr: File,
    words: [&'static str; 2],
}

impl LastWords {
    /// Prepares the message while memory is available. `has_memory` says whether the command has an option `--memory`.
    pub fn prepare(has_memory: bool) -> io::Result<Self> {
        let words = match has_memory {
            true => last_words!("lower --memory or --threads"),
            false => last_words!("lower --threads"),
        };
        Ok(Self { stderr: io::stderr().as_fd().try_clone_to_owned()?.into(), words })
    }

    /// Writes the message. Before it, the standard library has already written a line, which is never JSON.
    pub fn say(&mut self) {
        let line = self.words[usize::from(is_json())];
        let _ = self.stderr.write_all(line.as_bytes());
    }
}

/// Writes a usage error.
pub fn usage_error(error: &clap::Error) {
    if !is_json() {
        let _ = error.print();
        return;
    }
    self::error(&in_a_line(error), ErrorKind::Usage.exit_code(), None);
}

/// The message of a usage error in one line, without its prefix.
pub fn in_a_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let parts = text.strip_prefix("error: ").unwrap_or(&text).split("\n\n");
    let parts = parts.map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    let line = parts.collect::<Vec<_>>().join("; ");
    match error.get(ContextKind::ValidValue) {
        // As in the messages about all other values.
        Some(ContextValue::Strings(values)) => {
            let values = values.join(", ");
            line.replacen(&format!(" [possible values: {values}]"), &format!(": expected one of {values}"), 1)
        }
        _ => line,
    }
}

/// Writes a warning.
pub fn warning(message: &str) {
    say("warning", WARNING, message, json!({}));
}

/// Writes a warning. `fields` is an object that only the JSON format includes.
pub fn warning_with(message: &str, fields: Value) {
    say("warning", WARNING, message, fields);
}

/// Writes an informational message.
pub fn info(message: &str) {
    say("info", "", message, json!({}));
}

/// Writes an informational message. `fields` is an object that only the JSON format includes.
pub fn info_with(message: &str, fields: Value) {
    say("info", "", message, fields);
}

/// Writes a table, in the text format only: the JSON format has its numbers as fields of [`info_with`].
pub fn table(table: &Table) {
    if !is_json() {
        write(&table.lines(terminal::width()));
    }
}

const ERROR: &str = "error:";
const WARNING: &str = "warning:";

fn say(level: &str, prefix: &str, message: &str, mut fields: Value) {
    let line = match is_json() {
        false => {
            let prefix = match prefix {
                ERROR => coloured(prefix, Colour::Red) + " ",
                WARNING => coloured(prefix, Colour::Yellow) + " ",
                _ => String::new(),
            };
            format!("{prefix}{message}\n")
        }
        true => {
            fields["time"] = format!("{:.3}", Timestamp::now()).into();
            fields["level"] = level.into();
            fields["message"] = message.into();
            fields.to_string() + "\n"
        }
    };
    write(&line);
}

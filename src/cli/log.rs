//! Words for standard error: as text for a person, or as JSON for whoever collects logs. If standard error is gone, the exit
//! code still speaks.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;
use jiff::Timestamp;
use serde_json::{Value, json};
use sitemill::ErrorKind;

/// How words are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogForm {
    /// A line.
    #[default]
    Text,
    /// An object a line: `time`, `level`, `message`, and the numbers in it by their names; errors have `exit_code`
    /// and `cause`. After an abort there is no `time`.
    Json,
}

macro_rules! out_of_memory {
    ($way_out:literal) => {
        concat!("no memory for what every thread needs; ", $way_out)
    };
}

/// The same words as text and as an object.
macro_rules! last_words {
    ($way_out:literal) => {
        [
            concat!("sitemill: ", out_of_memory!($way_out), "\n"),
            concat!(
                r#"{"level":"error","message":""#,
                out_of_memory!($way_out),
                "\",\"cause\":null,\"exit_code\":71}\n"
            ),
        ]
    };
}

static IS_JSON: AtomicBool = AtomicBool::new(false);

/// From here on, everything is written in `form`.
pub fn set_form(form: LogForm) {
    IS_JSON.store(form == LogForm::Json, Ordering::Relaxed);
}

/// Whether words are for a program.
pub fn is_json() -> bool {
    IS_JSON.load(Ordering::Relaxed)
}

/// Why the run failed: `exit_code` and `cause`, which the message has as well, are for programs only.
pub fn error(message: &str, exit_code: u8, cause: Option<&str>) {
    say("error", "", message, json!({ "exit_code": exit_code, "cause": cause }));
}

/// What is said when memory has run out: it takes none, and no lock.
pub struct LastWords {
    stderr: File,
    words: [&'static str; 2],
}

impl LastWords {
    /// While there is memory. `has_memory` if the command has an option `--memory`.
    pub fn prepare(has_memory: bool) -> io::Result<Self> {
        let words = match has_memory {
            true => last_words!("lower --memory, or use fewer --threads"),
            false => last_words!("use fewer --threads"),
        };
        Ok(Self { stderr: io::stderr().as_fd().try_clone_to_owned()?.into(), words })
    }

    /// Behind the standard library's line, which has the number of bytes and is no JSON in any case.
    pub fn say(&mut self) {
        let line = self.words[usize::from(is_json())];
        let _ = self.stderr.write_all(line.as_bytes());
    }
}

/// Why the words that were typed are no command.
pub fn usage_error(error: &clap::Error) {
    if !is_json() {
        let _ = error.print();
        return;
    }
    self::error(&in_a_line(error), ErrorKind::Usage.exit_code(), None);
}

/// The same without line ends.
pub fn in_a_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let parts = text.strip_prefix("error: ").unwrap_or(&text).split("\n\n");
    let parts = parts.map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    parts.collect::<Vec<_>>().join("; ")
}

/// What went wrong in a run that did not fail.
pub fn warning(message: &str) {
    say("warning", "warning: ", message, json!({}));
}

/// What went wrong in a run that did not fail, and the numbers of it: `fields` is an object, for programs only.
pub fn counted_warning(message: &str, fields: Value) {
    say("warning", "warning: ", message, fields);
}

/// What was done.
pub fn info(message: &str) {
    say("info", "", message, json!({}));
}

/// What was done, and the numbers of it: `fields` is an object, for programs only.
pub fn counted(message: &str, fields: Value) {
    say("info", "", message, fields);
}

/// A table for a person, whose numbers a program has from [`counted`].
pub fn table(text: &str) {
    if !is_json() {
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

fn say(level: &str, prefix: &str, message: &str, mut fields: Value) {
    let line = match is_json() {
        false => format!("sitemill: {prefix}{message}\n"),
        true => {
            fields["time"] = format!("{:.3}", Timestamp::now()).into();
            fields["level"] = level.into();
            fields["message"] = message.into();
            fields.to_string() + "\n"
        }
    };
    // One write, so that lines of several processes do not mix.
    let _ = io::stderr().write_all(line.as_bytes());
}

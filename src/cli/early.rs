//! Options before validation.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Command, ValueEnum};
use sitemill::Result;
use toml::{Table, Value};

use super::log::LogFormat;
use super::options_file::OptionsFile;
use super::settings::{of_environment, truth};
use super::typed::{all_short_typed, all_typed, arguments, command_at, is_typed, subcommand};

/// The options before validation. They give the format and the files in which a usage error is reported, as far as they can be
/// parsed.
pub struct Early<'w> {
    words: &'w [OsString],
    /// The options that are typed in their short form, with their values.
    short: Vec<(String, OsString)>,
    /// The content of the options file, if there is one that can be read.
    file: Option<Table>,
    /// Whether there is an options file that cannot be read, so that options may be missing.
    pub is_incomplete: bool,
    /// Whether the command is `build`.
    pub is_build: bool,
    /// The inputs of the command, or standard input if there are none.
    pub inputs: Vec<PathBuf>,
}

impl<'w> Early<'w> {
    /// Collects the options from `words`, the environment and the `file`.
    pub fn new(command: &Command, words: &'w [OsString], file: &Result<Option<OptionsFile>>) -> Self {
        let is_incomplete = file.is_err();
        let file = file.as_ref().ok().and_then(Option::as_ref).map(|file| file.content().clone());
        let at = command_at(command, words);
        let is_build = at.is_some_and(|at| words[at] == "build");
        let mut inputs = at.map(|at| arguments(command, &words[at..])).unwrap_or_default();
        if inputs.is_empty() {
            inputs.push("-".into());
        }
        let short = subcommand(command, words).map(|known| all_short_typed(known, words)).unwrap_or_default();
        Self { words, short, file, is_incomplete, is_build, inputs }
    }

    /// The format of messages on standard error.
    pub fn log_format(&self) -> LogFormat {
        self.value("log")
            .and_then(|format| LogFormat::from_str(format.to_str()?, false).ok())
            .unwrap_or_default()
    }

    /// The value of an option of `build` or of all commands.
    pub fn value(&self, option: &str) -> Option<OsString> {
        self.values(option).into_iter().next()
    }

    /// The values of an option of `build` or of all commands, which may be repeated.
    pub fn values(&self, option: &str) -> Vec<OsString> {
        let mut values = all_typed(self.words, option);
        values.extend(self.short.iter().filter(|(name, _)| name == option).map(|(_, value)| value.clone()));
        if values.is_empty() {
            values.extend(of_environment(option));
        }
        match self.in_file(option) {
            Some(Value::Array(list)) if values.is_empty() => {
                list.iter().filter_map(Value::as_str).map(Into::into).collect()
            }
            Some(Value::String(value)) if values.is_empty() => vec![value.into()],
            Some(Value::Integer(value)) if values.is_empty() => vec![value.to_string().into()],
            _ => values,
        }
    }

    /// Whether the option has any value, even one of the wrong type.
    pub fn is_given(&self, option: &str) -> bool {
        !self.values(option).is_empty() || self.in_file(option).is_some()
    }

    /// Whether a flag of `build` is set.
    pub fn is_set(&self, flag: &str) -> bool {
        let of_file = || self.in_file(flag).and_then(Value::as_bool).unwrap_or(false);
        let is_true = |word: OsString| truth(&word).unwrap_or(false);
        is_typed(self.words, flag) || of_environment(flag).map_or_else(of_file, is_true)
    }

    fn in_file(&self, option: &str) -> Option<&Value> {
        let file = self.file.as_ref()?;
        let of_build = file.get("build").and_then(Value::as_table);
        of_build.and_then(|table| table.get(option)).or_else(|| file.get(option))
    }
}

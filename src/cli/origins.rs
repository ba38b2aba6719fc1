//! Where the options of a run come from: the command line, the environment or the options file.

use std::ffi::OsString;

use clap::{Arg, Command};
use sitemill::{Error, escape};

use super::settings::{self, FromFile};
use super::typed::{subcommand, typed_options};
use super::{flags, log};

/// The origins of the options of a run.
pub struct Origins {
    /// The options from the command line, the environment and the file, none of which is overridden by an earlier one.
    options: [Vec<String>; 3],
    /// The path of the options file.
    file: Option<OsString>,
}

impl Origins {
    /// The origins of options for the command line `words`. `command` has the options that the environment sets.
    pub fn new(command: &Command, words: &[OsString], file: Option<FromFile>) -> Self {
        let typed = typed_options(command, words);
        let known = subcommand(command, words).into_iter().flat_map(Command::get_arguments);
        let set = known.chain(command.get_arguments()).filter(|arg| arg.get_env().is_some());
        let set = set.filter_map(Arg::get_long).map(str::to_owned);
        let environment = set.filter(|option| !typed.contains(option)).collect();
        let (file, of_file) = file.map(|FromFile { path, options }| (path, options)).unzip();
        Self { options: [typed, environment, of_file.unwrap_or_default()], file }
    }

    /// Whether an option is on the command line.
    pub fn is_typed(&self, option: &str) -> bool {
        self.rank(option) == 0
    }

    /// Whether `option` overrides `other`, because it comes from an earlier origin.
    pub fn overrides(&self, option: &str, other: &str) -> bool {
        self.rank(option) < self.rank(other)
    }

    /// The number of the first origin that has the option. Defaults come last.
    fn rank(&self, option: &str) -> usize {
        let has_option = |options: &Vec<String>| options.iter().any(|known| known == option);
        self.options.iter().position(has_option).unwrap_or(self.options.len())
    }

    /// Says where the options that `error` names come from, unless they are on the command line: whoever has not typed them would
    /// look for them in vain.
    pub fn tell(&self, error: &Error) {
        let text = flags::text(error.message());
        let words: Vec<&str> = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).collect();
        let is_named = |option: &&String| words.iter().any(|word| word.strip_prefix("--") == Some(option));
        let [_, environment, of_file] = &self.options;
        let variables = environment.iter().filter(is_named).map(|option| settings::variable(option));
        tell_variables(&variables.collect::<Vec<_>>());
        let named: Vec<&str> = of_file.iter().filter(is_named).map(String::as_str).collect();
        if let Some(path) = self.file.as_ref().filter(|_| !named.is_empty()) {
            let path = escape::shown(path.as_encoded_bytes());
            log::info(&format!("options were also read from {path}: {}", named.join(", ")));
        }
    }
}

/// Says that options come from these variables, if there are any.
pub fn tell_variables(variables: &[String]) {
    if !variables.is_empty() {
        log::info(&format!("options were also read from the environment: {}", variables.join(", ")));
    }
}

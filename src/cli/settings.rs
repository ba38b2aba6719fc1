//! Options from the environment and from a file. The command line wins over the environment, and the environment wins over the
//! file.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::builder::{BoolishValueParser, Resettable, TypedValueParser};
use clap::{Arg, ArgAction, Command, Id, ValueEnum};
use sitemill::{Error, ErrorKind, Result};
use toml::{Table, Value};

use super::log::LogFormat;
use super::options_file::OptionsFile;
use super::typed::{
    all_short_typed, all_typed, arguments, command_at, is_typed, subcommand, typed, typed_args,
};

/// The variable of an option: `SITEMILL_MAX_REJECTS` for `--max-rejects`.
fn variable(option: &str) -> String {
    format!("SITEMILL_{}", option.to_uppercase().replace('-', "_"))
}

/// The variable of an option as usage errors show it: `--level <0..9>`.
pub fn variable_of(shown: &str) -> Option<String> {
    shown.strip_prefix("--")?.split(' ').next().map(variable)
}

/// The value of an option in the environment. An empty variable is unset, because many service files unset variables that way.
fn of_environment(option: &str) -> Option<OsString> {
    env::var_os(variable(option)).filter(|value| !value.is_empty())
}

/// Lets the environment set every option of every command, unless an argument on the command line `typed` excludes it.
pub fn with_environment(command: Command, typed: &[OsString]) -> Command {
    let excluded = excluded(&command, typed);
    let adapted = |arg| {
        let arg = without_needs(arg, typed);
        if excluded.contains(arg.get_id()) { arg } else { with_variable(arg) }
    };
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().into()).collect();
    let command = command.mut_args(adapted);
    names.into_iter().fold(command, |command, name| {
        command.mut_subcommand(name, |subcommand| subcommand.mut_args(adapted))
    })
}

/// Options that only refine another one, and conflict with alternatives to it. (clap does not tell which options these are.)
const REFINING: [&str; 1] = ["sections-max"];

/// An option that is typed needs the options that it says. One of the environment or the file may be meant for other runs, and
/// has no effect without them. So it does not exclude alternatives to them, either.
fn without_needs(arg: Arg, typed: &[OsString]) -> Arg {
    let Some(option) = arg.get_long().filter(|option| !is_typed(typed, option)) else { return arg };
    match REFINING.contains(&option) {
        true => arg.requires(Resettable::Reset).conflicts_with(Resettable::Reset),
        false => arg.requires(Resettable::Reset),
    }
}

/// The options that cannot be combined with what is on the command line `typed`.
fn excluded(command: &Command, typed: &[OsString]) -> Vec<Id> {
    let Some(subcommand) = subcommand(command, typed) else { return Vec::new() };
    let typed = typed_args(command, typed);
    let is_excluded = |arg: &&Arg| typed.iter().any(|other| excludes(subcommand, arg, other));
    subcommand.get_arguments().filter(is_excluded).map(|arg| arg.get_id().clone()).collect()
}

/// Whether two arguments of `subcommand` cannot be combined.
fn excludes(subcommand: &Command, one: &Arg, other: &Arg) -> bool {
    let says = |one: &Arg, other: &Arg| {
        subcommand.get_arg_conflicts_with(one).iter().any(|excluded| excluded.get_id() == other.get_id())
    };
    says(one, other) || says(other, one)
}

/// The variables of options of `command` that are set.
pub fn variables_set(command: &Command) -> Vec<String> {
    let all = command.get_subcommands().flat_map(Command::get_arguments).chain(command.get_arguments());
    let set = all.filter(|arg| !is_turned_off(arg)).filter_map(Arg::get_long);
    let set = set.filter(|option| of_environment(option).is_some());
    set.map(variable).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Whether the variable of a flag says that it is not set. That overrides the file. To clap, the flag is not given: it would let
/// any value of the variable exclude other options.
fn is_turned_off(arg: &Arg) -> bool {
    let variable = || arg.get_long().and_then(of_environment);
    matches!(arg.get_action(), ArgAction::SetTrue)
        && variable().is_some_and(|word| truth(&word) == Some(false))
}

/// What the variable of a flag says; `None` if it is neither true nor false.
fn truth(word: &OsStr) -> Option<bool> {
    BoolishValueParser::new().parse_ref(&Command::new("sitemill"), None, word).ok()
}

fn with_variable(arg: Arg) -> Arg {
    let Some(option) = arg.get_long().map(str::to_owned) else { return arg };
    if of_environment(&option).is_none() || is_turned_off(&arg) {
        return arg;
    }
    // clap requires a name that lives as long as the process.
    let name: &'static str = Box::leak(variable(&option).into());
    let is_flag = matches!(arg.get_action(), ArgAction::SetTrue);
    let arg = arg.env(name).hide_env(true);
    if is_flag { arg.value_parser(BoolishValueParser::new()) } else { arg }
}

/// Returns the time of a run: `SOURCE_DATE_EPOCH`, in seconds since 1970, or else the present time.
pub fn time() -> Result<SystemTime> {
    let Some(word) = env::var_os("SOURCE_DATE_EPOCH") else { return Ok(SystemTime::now()) };
    let seconds = word.to_str().and_then(|word| word.parse().ok()).map(Duration::from_secs);
    seconds.and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(seconds)).ok_or_else(|| {
        Error::new(
            ErrorKind::Usage,
            "SOURCE_DATE_EPOCH is not a number of seconds since 1970; unset or correct it",
        )
    })
}

/// Reads the options file, if the command line or the environment names one.
///
/// # Errors
/// Same as [`OptionsFile::read`].
pub fn options_file(words: &[OsString]) -> Result<Option<OptionsFile>> {
    typed(words, "config").or_else(|| of_environment("config")).map(OptionsFile::read).transpose()
}

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
        let of_environment = |word: OsString| truth(&word).unwrap_or(false);
        is_typed(self.words, flag) || self::of_environment(flag).map_or_else(of_file, of_environment)
    }

    fn in_file(&self, option: &str) -> Option<&Value> {
        let file = self.file.as_ref()?;
        let of_build = file.get("build").and_then(Value::as_table);
        of_build.and_then(|table| table.get(option)).or_else(|| file.get(option))
    }
}

/// The command line with the options of `file` inserted after the command, and the path of the file. What is on the command line
/// or in the environment of `command` replaces options of the file, and those that it excludes.
///
/// # Errors
/// That of `file`, and those of [`OptionsFile::options`]. If there is no command, its absence is the error that is reported.
pub fn with_file(
    command: &Command,
    mut words: Vec<OsString>,
    file: Result<Option<OptionsFile>>,
) -> Result<(Vec<OsString>, Option<OsString>)> {
    let Some(at) = command_at(command, &words) else { return Ok((words, None)) };
    let Some(file) = file? else { return Ok((words, None)) };
    let subcommand = subcommand(command, &words).expect("command_at() finds what is known");
    let given = file.options(command, subcommand)?;
    // The command of another build runs this one. It would run itself again.
    let is_within_then = env::var_os("SITEMILL_RUN_OUT").is_some();
    let mut given_otherwise = typed_args(command, &words);
    let known = subcommand.get_arguments().chain(command.get_arguments());
    given_otherwise.extend(known.filter(|arg| arg.get_env().is_some()));
    let given = given.into_iter().filter(|(arg, _)| {
        let is_replaced = |other: &&Arg| other.get_id() == arg.get_id() || excludes(subcommand, other, arg);
        let is_own_command = is_within_then && arg.get_long() == Some("then");
        !is_own_command && !is_turned_off(arg) && !given_otherwise.iter().any(is_replaced)
    });
    let from_file: Vec<OsString> = given.map(|(_, word)| word.into()).collect();
    words.splice(at + 1..at + 1, from_file);
    Ok((words, Some(file.path().to_owned())))
}

#[cfg(test)]
mod tests {
    use super::super::typed::is_short_typed;
    use super::*;

    fn words(words: &str) -> Vec<OsString> {
        words.split(' ').map(Into::into).collect()
    }

    fn build() -> Command {
        let flag = |name| Arg::new(name).long(name).action(ArgAction::SetTrue);
        let out = Arg::new("out").long("out").short('o');
        Command::new("build").args([flag("json"), flag("quiet").short('q'), out])
    }

    #[test]
    fn options_are_found_in_every_form() {
        for (line, option, is_there) in [
            ("sitemill build --out a", "out", true),
            ("sitemill build --out=a", "out", true),
            ("sitemill build --output=a", "out", false),
            ("sitemill build -- --out=a", "out", false),
        ] {
            assert_eq!(is_typed(&words(line), option), is_there, "{line}");
        }
        for (line, short, is_there) in [
            ("build -q", 'q', true),
            ("build --sequence", 'q', false),
            ("build -qo a", 'o', true),
            ("build -qoa", 'q', true),
            ("build -oq", 'q', false),
            ("build -o a", 'o', true),
            ("build -- -o", 'o', false),
        ] {
            assert_eq!(is_short_typed(&build(), &words(line), short), is_there, "{line}");
        }
        for (line, value) in [
            ("sitemill --config a build", Some("a")),
            ("sitemill build --config=a=b", Some("a=b")),
            ("sitemill build -- --config a", None),
            ("sitemill build --config --quiet", None),
            ("sitemill build --config -", Some("-")),
        ] {
            assert_eq!(typed(&words(line), "config"), value.map(Into::into), "{line}");
        }
    }

    #[test]
    fn values_of_short_options_are_found_in_every_form() {
        for (line, value) in [
            ("build -o a -q", Some("a")),
            ("build -oa", Some("a")),
            ("build -o=a", Some("a")),
            ("build -qo a", Some("a")),
            ("build -q a", None),
            ("build -o -q", None),
            ("build -- -o a", None),
        ] {
            let found = all_short_typed(&build(), &words(line));
            let wanted = value.map(|value| ("out".to_owned(), OsString::from(value)));
            assert_eq!(found, Vec::from_iter(wanted), "{line}");
        }
    }

    #[test]
    fn inputs_are_distinguished_from_values_of_options() {
        let command = Command::new("sitemill").subcommand(build());
        for (line, inputs) in [
            ("build a --out b c", &["a", "c"][..]),
            ("build --out=b --json a", &["a"]),
            ("build --json -q --out b", &[]),
            ("build -o b a -qo c -oq d -q e", &["a", "d", "e"]),
            ("build - --nope a -- --out b", &["-", "a", "--out", "b"]),
        ] {
            let inputs: Vec<PathBuf> = inputs.iter().map(Into::into).collect();
            assert_eq!(arguments(&command, &words(line)), inputs, "{line}");
        }
    }

    #[test]
    fn the_command_follows_the_options_of_all_commands() {
        let command = Command::new("sitemill").subcommand(Command::new("build"));
        for (line, at) in [
            ("sitemill build --out a", Some(1)),
            ("sitemill --config build build a", Some(3)),
            ("sitemill --config=x build", Some(2)),
            ("sitemill other", None),
            ("sitemill", None),
        ] {
            assert_eq!(command_at(&command, &words(line)), at, "{line}");
        }
    }
}

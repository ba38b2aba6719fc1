//! Options from the environment and from a file. The command line wins over the environment, and the environment wins over the
//! file.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{env, fs};

use clap::builder::{BoolishValueParser, Resettable, TypedValueParser};
use clap::{Arg, ArgAction, Command, Id, ValueEnum};
use sitemill::{Error, ErrorKind, Result, escape};
use toml::{Table, Value};

use super::log::LogFormat;
use super::typed::{arguments, command_at, is_typed, option, subcommand, typed, typed_args};

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

/// An option that is typed needs the options that it says. One of the environment or the file may be meant for other runs, and
/// has no effect without them.
fn without_needs(arg: Arg, typed: &[OsString]) -> Arg {
    let is_typed = arg.get_long().is_some_and(|option| is_typed(typed, option));
    if is_typed { arg } else { arg.requires(Resettable::Reset) }
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
    let set = all.filter_map(Arg::get_long).filter(|option| of_environment(option).is_some());
    set.map(variable).collect::<BTreeSet<_>>().into_iter().collect()
}

fn with_variable(arg: Arg) -> Arg {
    let Some(option) = arg.get_long().map(str::to_owned) else { return arg };
    if of_environment(&option).is_none() {
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

/// The options before validation. They give the format and the files in which a usage error is reported, as far as they can be
/// parsed.
pub struct Early<'w> {
    words: &'w [OsString],
    /// The file, if there is one that can be read.
    file: Option<Table>,
    /// Whether the command is `build`.
    pub is_build: bool,
    /// The inputs of the command, or standard input if there are none.
    pub inputs: Vec<PathBuf>,
}

impl<'w> Early<'w> {
    /// Collects the options from `words`, the environment and the file, if it is readable.
    pub fn new(command: &Command, words: &'w [OsString]) -> Self {
        let path = typed(words, "config").or_else(|| of_environment("config"));
        let content = path.and_then(|path| fs::read_to_string(path).ok()?.parse().ok());
        let at = command_at(command, words);
        let is_build = at.is_some_and(|at| words[at] == "build");
        let mut inputs = at.map(|at| arguments(command, &words[at..])).unwrap_or_default();
        if inputs.is_empty() {
            inputs.push("-".into());
        }
        Self { words, file: content, is_build, inputs }
    }

    /// The format of messages on standard error.
    pub fn log_format(&self) -> LogFormat {
        self.value("log")
            .and_then(|format| LogFormat::from_str(format.to_str()?, false).ok())
            .unwrap_or_default()
    }

    /// The value of an option of `build` or of all commands.
    pub fn value(&self, option: &str) -> Option<OsString> {
        let of_file = || Some(self.in_file(option)?.as_str()?.into());
        typed(self.words, option).or_else(|| of_environment(option)).or_else(of_file)
    }

    /// Whether a flag of `build` is set.
    pub fn is_set(&self, flag: &str) -> bool {
        let is_true = |word: OsString| {
            BoolishValueParser::new().parse_ref(&Command::new("build"), None, &word).unwrap_or(false)
        };
        let of_file = || self.in_file(flag).and_then(Value::as_bool).unwrap_or(false);
        is_typed(self.words, flag) || of_environment(flag).map_or_else(of_file, is_true)
    }

    fn in_file(&self, option: &str) -> Option<&Value> {
        let file = self.file.as_ref()?;
        let of_build = file.get("build").and_then(Value::as_table);
        of_build.and_then(|table| table.get(option)).or_else(|| file.get(option))
    }
}

/// The command line with the options of the file inserted after the command, and the name of the file. What is on the command
/// line or in the environment of `command` replaces options of the file, and those that it excludes.
///
/// # Errors
/// [`ErrorKind::Usage`] if the file has an unknown option, [`ErrorKind::Input`] if it cannot be read.
pub fn with_file(command: &Command, mut words: Vec<OsString>) -> Result<(Vec<OsString>, Option<OsString>)> {
    let Some(path) = typed(&words, "config").or_else(|| of_environment("config")) else {
        return Ok((words, None));
    };
    let Some(at) = command_at(command, &words) else { return Ok((words, None)) };
    if path.is_empty() {
        return Err(Error::usage("--config: the path is empty"));
    }
    let subcommand = subcommand(command, &words).expect("command_at() finds what is known");
    let given = options(command, subcommand, Path::new(&path))?;
    // The command of another build runs this one. It would run itself again.
    let is_within_then = env::var_os("SITEMILL_RUN_OUT").is_some();
    let mut given_otherwise = typed_args(command, &words);
    given_otherwise.extend(subcommand.get_arguments().filter(|arg| arg.get_env().is_some()));
    let given = given.into_iter().filter(|(arg, _)| {
        let is_replaced = |other: &&Arg| other.get_id() == arg.get_id() || excludes(subcommand, other, arg);
        let is_own_command = is_within_then && arg.get_long() == Some("then");
        !is_own_command && !given_otherwise.iter().any(is_replaced)
    });
    let from_file: Vec<OsString> = given.map(|(_, word)| word.into()).collect();
    words.splice(at + 1..at + 1, from_file);
    Ok((words, Some(path)))
}

/// The options of the file for `subcommand`, as words: those at the top that the command has, and all of the table with
/// the name of the command.
fn options<'c>(command: &'c Command, subcommand: &'c Command, path: &Path) -> Result<Vec<(&'c Arg, String)>> {
    let shown = escape::shown(path.as_os_str().as_encoded_bytes());
    let wrong = |why: String| Error::new(ErrorKind::Usage, format!("{shown}: {why}"));
    let content = fs::read_to_string(path).map_err(|error| Error::input(path, error))?;
    let content: Table =
        content.parse().map_err(|error: toml::de::Error| wrong(error.to_string().trim_end().into()))?;
    let mut options: Vec<(&Arg, String)> = Vec::new();
    let mut take = |key: &str, value: &Value, arg: &'c Arg| -> Result<()> {
        options.retain(|(known, _)| known.get_id() != arg.get_id());
        options.extend(words(key, value, arg).map_err(&wrong)?.into_iter().map(|word| (arg, word)));
        Ok(())
    };
    for (key, value) in content.iter().filter(|(_, value)| !value.is_table()) {
        match option(subcommand, key).or_else(|| of_all_commands(command, key)) {
            Some(arg) => take(key, value, arg)?,
            // One file may serve several commands.
            None if command.get_subcommands().any(|other| option(other, key).is_some()) => {}
            None => return Err(wrong(format!("no command has an option {key:?}{}", hint(key)))),
        }
    }
    for (name, table) in content.iter().filter_map(|(name, value)| Some((name, value.as_table()?))) {
        let Some(of) = command.get_subcommands().find(|known| known.get_name() == name) else {
            return Err(wrong(format!("no command {name:?}; remove or rename the table")));
        };
        for (key, value) in table {
            match option(of, key) {
                None => return Err(wrong(format!("{name} has no option {key:?}{}", hint(key)))),
                Some(_) if of.get_name() != subcommand.get_name() => {}
                Some(_) => take(key, value, option(subcommand, key).expect("the command was compared"))?,
            }
        }
    }
    Ok(options)
}

/// An option of all commands, except `--config`: a file cannot name another one.
fn of_all_commands<'c>(command: &'c Command, key: &str) -> Option<&'c Arg> {
    option(command, key).filter(|arg| arg.is_global_set() && key != "config")
}

fn hint(key: &str) -> String {
    if key.contains('_') { format!("; did you mean {:?}?", key.replace('_', "-")) } else { String::new() }
}

/// The option as words: one for each element of a list, if the option may be repeated.
fn words(key: &str, value: &Value, arg: &Arg) -> Result<Vec<String>, String> {
    match (value, arg.get_action()) {
        (Value::Array(values), ArgAction::Append) => {
            values.iter().filter_map(|value| word(key, value, arg).transpose()).collect()
        }
        _ => word(key, value, arg).map(Vec::from_iter),
    }
}

/// The option as one word: `--key=value`, or `--key` for a flag that is set. `None` for a flag that is not set.
fn word(key: &str, value: &Value, arg: &Arg) -> Result<Option<String>, String> {
    let is_flag = matches!(arg.get_action(), ArgAction::SetTrue);
    match value {
        Value::Boolean(is_set) if is_flag => Ok(is_set.then(|| format!("--{key}"))),
        _ if is_flag => Err(format!("{key} must be true or false")),
        Value::String(value) => Ok(Some(format!("--{key}={value}"))),
        Value::Integer(value) => Ok(Some(format!("--{key}={value}"))),
        Value::Float(value) => Ok(Some(format!("--{key}={value}"))),
        _ => Err(format!("{key} must be text or a number")),
    }
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
        ] {
            assert_eq!(typed(&words(line), "config"), value.map(Into::into), "{line}");
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

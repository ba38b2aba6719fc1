//! Options from elsewhere than the command line: the environment, and a file. The command line wins over the environment,
//! and that over the file.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{env, fs};

use clap::builder::{BoolishValueParser, TypedValueParser};
use clap::{Arg, ArgAction, Command, ValueEnum};
use sitemill::{Error, ErrorKind, Result, escape};
use toml::{Table, Value};

use super::log::LogForm;

/// `SITEMILL_MAX_REJECTS` for `--max-rejects`.
fn variable(option: &str) -> String {
    format!("SITEMILL_{}", option.to_uppercase().replace('-', "_"))
}

/// What the environment says of an option. An empty variable is none: that is how they are unset in many files.
fn of_environment(option: &str) -> Option<OsString> {
    env::var_os(variable(option)).filter(|value| !value.is_empty())
}

/// Lets every option of every command be given in the environment.
pub fn with_environment(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().into()).collect();
    let command = command.mut_args(with_variable);
    names.into_iter().fold(command, |command, name| {
        command.mut_subcommand(name, |subcommand| subcommand.mut_args(with_variable))
    })
}

fn with_variable(arg: Arg) -> Arg {
    let Some(option) = arg.get_long().map(str::to_owned) else { return arg };
    if of_environment(&option).is_none() {
        return arg;
    }
    // The definition is kept as long as the process.
    let name: &'static str = Box::leak(variable(&option).into());
    let is_flag = matches!(arg.get_action(), ArgAction::SetTrue);
    let arg = arg.env(name).hide_env(true);
    if is_flag { arg.value_parser(BoolishValueParser::new()) } else { arg }
}

/// The time of a run: `SOURCE_DATE_EPOCH`, in seconds since 1970, or else now.
pub fn time() -> Result<SystemTime> {
    let Some(word) = env::var_os("SOURCE_DATE_EPOCH") else { return Ok(SystemTime::now()) };
    let seconds = word.to_str().and_then(|word| word.parse().ok()).map(Duration::from_secs);
    seconds.and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(seconds)).ok_or_else(|| {
        Error::new(ErrorKind::Usage, "SOURCE_DATE_EPOCH is not a number of seconds; unset it or set it right")
    })
}

/// What the options say before anything is known to be right: what is wrong is told as they ask for, as far as that can be
/// made out.
pub struct Early<'w> {
    words: &'w [OsString],
    file: Table,
    /// Whether the command is `build`.
    pub is_build: bool,
    /// What it is to read.
    pub inputs: Vec<PathBuf>,
}

impl<'w> Early<'w> {
    /// Reads the file, if it can be read.
    pub fn new(command: &Command, words: &'w [OsString]) -> Self {
        let path = typed(words, "config").or_else(|| of_environment("config"));
        let content = path.and_then(|path| fs::read_to_string(path).ok()?.parse().ok());
        let at = command_at(command, words);
        let is_build = at.is_some_and(|at| words[at] == "build");
        let inputs = at.map(|at| arguments(command, &words[at..])).unwrap_or_default();
        Self { words, file: content.unwrap_or_default(), is_build, inputs }
    }

    /// The form of words on standard error.
    pub fn log_form(&self) -> LogForm {
        self.value("log").and_then(|form| LogForm::from_str(form.to_str()?, false).ok()).unwrap_or_default()
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
        is_typed(self.words, flag, None) || of_environment(flag).map_or_else(of_file, is_true)
    }

    fn in_file(&self, option: &str) -> Option<&Value> {
        let of_build = self.file.get("build").and_then(Value::as_table);
        of_build.and_then(|table| table.get(option)).or_else(|| self.file.get(option))
    }
}

/// The typed words, with those of the file behind the command that they are for; and the name of the file.
///
/// # Errors
/// [`ErrorKind::Usage`] if the file names an option that there is not, [`ErrorKind::Input`] if it cannot be read.
pub fn with_file(command: &Command, mut words: Vec<OsString>) -> Result<(Vec<OsString>, Option<OsString>)> {
    let Some(path) = typed(&words, "config").or_else(|| of_environment("config")) else {
        return Ok((words, None));
    };
    let Some(at) = command_at(command, &words) else { return Ok((words, None)) };
    let subcommand = command
        .get_subcommands()
        .find(|known| words[at] == *known.get_name())
        .expect("command_at() finds what is known");
    let given = options(command, subcommand, Path::new(&path))?;
    let given = given.into_iter().filter(|(arg, _)| {
        let option = arg.get_long().expect("options() gives options");
        !is_typed(&words, option, arg.get_short()) && of_environment(option).is_none()
    });
    let from_file: Vec<OsString> = given.map(|(_, word)| word.into()).collect();
    words.splice(at + 1..at + 1, from_file);
    Ok((words, Some(path)))
}

/// Where the name of the command stands.
fn command_at(command: &Command, words: &[OsString]) -> Option<usize> {
    let is_command = |word: &OsString| command.get_subcommands().any(|known| *word == *known.get_name());
    let mut at = 1;
    while words.get(at)?.as_encoded_bytes().starts_with(b"-") {
        // The options of all commands may stand before it, and each takes a value.
        at += if words[at].as_encoded_bytes().contains(&b'=') { 1 } else { 2 };
    }
    is_command(&words[at]).then_some(at)
}

/// The words behind the command, which is the first of `words`, that are neither options nor values of options; standard input
/// if there are none.
fn arguments(command: &Command, words: &[OsString]) -> Vec<PathBuf> {
    let subcommand = command.get_subcommands().find(|known| words[0] == *known.get_name());
    let takes_value = |word: &str| {
        let name = word.strip_prefix("--").unwrap_or_default();
        let arg = subcommand.and_then(|known| option(known, name)).or_else(|| option(command, name));
        arg.is_some_and(|arg| arg.get_action().takes_values())
    };
    let (mut arguments, mut words) = (Vec::new(), words[1..].iter());
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--") => arguments.extend(words.by_ref().map(PathBuf::from)),
            Some(option) if option.len() > 1 && option.starts_with('-') => {
                if takes_value(option) {
                    words.next();
                }
            }
            _ => arguments.push(word.into()),
        }
    }
    if arguments.is_empty() { vec!["-".into()] } else { arguments }
}

/// The words up to `--`, behind which everything is an input.
fn before_inputs(words: &[OsString]) -> impl Iterator<Item = &OsStr> {
    words.iter().map(OsString::as_os_str).take_while(|word| *word != "--")
}

/// The value of an option, as it was typed.
fn typed(words: &[OsString], option: &str) -> Option<OsString> {
    let (alone, joined) = (format!("--{option}"), format!("--{option}="));
    let mut words = before_inputs(words);
    while let Some(word) = words.next() {
        if word == alone.as_str() {
            return words.next().map(OsStr::to_owned);
        }
        // What is no text is no option either.
        if let Some(value) = word.to_str().and_then(|word| word.strip_prefix(&joined)) {
            return Some(value.into());
        }
    }
    None
}

fn is_typed(words: &[OsString], option: &str, short: Option<char>) -> bool {
    let (alone, joined) = (format!("--{option}"), format!("--{option}="));
    before_inputs(words).filter_map(OsStr::to_str).any(|word| {
        let cluster = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        let is_short = short.zip(cluster).is_some_and(|(short, letters)| letters.contains(short));
        word == alone || word.starts_with(&joined) || is_short
    })
}

/// The options that the file has for `subcommand`, each as one word: those at its top that the command knows, and all of
/// the table with the command's name.
fn options<'c>(command: &'c Command, subcommand: &'c Command, path: &Path) -> Result<Vec<(&'c Arg, String)>> {
    let shown = escape::shown(path.as_os_str().as_encoded_bytes());
    let wrong = |why: String| Error::new(ErrorKind::Usage, format!("{shown}: {why}"));
    let content = fs::read_to_string(path).map_err(|error| Error::input(path, error))?;
    let content: Table = content.parse().map_err(|error: toml::de::Error| wrong(error.to_string()))?;
    let mut options: Vec<(&Arg, String)> = Vec::new();
    let mut take = |key: &str, value: &Value, arg: &'c Arg| -> Result<()> {
        options.retain(|(known, _)| known.get_id() != arg.get_id());
        options.extend(word(key, value, arg).map_err(&wrong)?.map(|word| (arg, word)));
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
            return Err(wrong(format!("[{name}] is no command")));
        };
        for (key, value) in table {
            match option(of, key) {
                None => return Err(wrong(format!("{name} has no option {key:?}{}", hint(key)))),
                Some(_) if of.get_name() != subcommand.get_name() => {}
                Some(_) => take(key, value, option(subcommand, key).expect("it is the same command"))?,
            }
        }
    }
    Ok(options)
}

fn option<'c>(command: &'c Command, key: &str) -> Option<&'c Arg> {
    command.get_arguments().find(|arg| arg.get_long() == Some(key))
}

/// An option that stands before the command as well; but a file names no other file.
fn of_all_commands<'c>(command: &'c Command, key: &str) -> Option<&'c Arg> {
    option(command, key).filter(|arg| arg.is_global_set() && key != "config")
}

fn hint(key: &str) -> String {
    if key.contains('_') {
        format!("; names are as on the command line: {}", key.replace('_', "-"))
    } else {
        String::new()
    }
}

/// `--key=value`, or `--key` alone for a flag that is set; nothing for one that is not.
fn word(key: &str, value: &Value, arg: &Arg) -> Result<Option<String>, String> {
    let is_flag = matches!(arg.get_action(), ArgAction::SetTrue);
    match value {
        Value::Boolean(is_set) if is_flag => Ok(is_set.then(|| format!("--{key}"))),
        _ if is_flag => Err(format!("{key} is true or false")),
        Value::String(value) => Ok(Some(format!("--{key}={value}"))),
        Value::Integer(value) => Ok(Some(format!("--{key}={value}"))),
        Value::Float(value) => Ok(Some(format!("--{key}={value}"))),
        _ => Err(format!("{key} is text or a number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &str) -> Vec<OsString> {
        words.split(' ').map(Into::into).collect()
    }

    #[test]
    fn what_was_typed_is_found_however_it_was_typed() {
        for (line, option, short, is_there) in [
            ("sitemill build --out a", "out", None, true),
            ("sitemill build --out=a", "out", None, true),
            ("sitemill build --output=a", "out", None, false),
            ("sitemill build -- --out=a", "out", None, false),
            ("sitemill build -q", "quiet", Some('q'), true),
            ("sitemill build --sequence", "quiet", Some('q'), false),
        ] {
            assert_eq!(is_typed(&words(line), option, short), is_there, "{line}");
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
    fn inputs_are_told_from_values_of_options() {
        let flag = Arg::new("json").long("json").action(ArgAction::SetTrue);
        let build = Command::new("build").arg(flag).arg(Arg::new("out").long("out"));
        let command = Command::new("sitemill").subcommand(build);
        for (line, inputs) in [
            ("build a --out b c", &["a", "c"][..]),
            ("build --out=b --json a", &["a"]),
            ("build --json -q --out b", &["-"]),
            ("build - --nope a -- --out b", &["-", "a", "--out", "b"]),
        ] {
            let inputs: Vec<PathBuf> = inputs.iter().map(Into::into).collect();
            assert_eq!(arguments(&command, &words(line)), inputs, "{line}");
        }
    }

    #[test]
    fn the_command_stands_behind_the_options_of_all_commands() {
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

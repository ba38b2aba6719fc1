//! Options from the environment and from a file. The command line wins over the environment, and the environment wins over the
//! file.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};

use clap::builder::{BoolishValueParser, Resettable, TypedValueParser};
use clap::{Arg, ArgAction, Command, Id};
use sitemill::{Result, escape};

use super::log;
use super::options_file::OptionsFile;
use super::typed::{command_at, is_typed, subcommand, typed, typed_args};

/// The start of the variables of all options.
const PREFIX: &str = "SITEMILL_";

/// The variable of an option: `SITEMILL_MAX_REJECTS` for `--max-rejects`.
pub fn variable(option: &str) -> String {
    format!("{PREFIX}{}", option.to_uppercase().replace('-', "_"))
}

/// The variable of an option as usage errors show it: `--level <0..9>`.
pub fn variable_of(shown: &str) -> Option<String> {
    shown.strip_prefix("--")?.split(' ').next().map(variable)
}

/// The value of an option in the environment. An empty variable is unset, because many service files unset variables that way.
pub fn of_environment(option: &str) -> Option<OsString> {
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

/// Warns about variables that no option of `command` reads, if their names are nearly those of options. All others are silent:
/// Kubernetes sets `SITEMILL_SERVICE_HOST` and its like for a service named `sitemill`.
pub fn warn_of_misspelt_variables(command: &Command) {
    let set = env::vars_os().filter(|(_, value)| !value.is_empty());
    let names = set.filter_map(|(name, _)| name.into_string().ok());
    let names: BTreeSet<String> = names.filter(|name| name.starts_with(PREFIX)).collect();
    if names.is_empty() {
        return;
    }
    let all = command.get_subcommands().flat_map(Command::get_arguments).chain(command.get_arguments());
    let known: BTreeSet<String> = all.filter_map(Arg::get_long).map(variable).collect();
    for name in names.difference(&known) {
        if let Some(meant) = similar(name, &known) {
            let name = escape::shown(name.as_bytes());
            log::warning(&format!("{name}: no option has this variable; did you mean {meant}?"));
        }
    }
}

/// Warns about variables that seem to name inputs, if there are none: unlike options, arguments have no variable.
pub fn warn_of_input_variables() {
    for word in ["input", "inputs"].into_iter().filter(|word| of_environment(word).is_some()) {
        let name = variable(word);
        log::warning(&format!("{name}: inputs cannot be set in the environment; give them as arguments"));
    }
}

/// The variable in `known` that `name` most likely stands for.
fn similar<'k>(name: &str, known: &'k BTreeSet<String>) -> Option<&'k str> {
    let option = name.strip_prefix(PREFIX)?;
    let distance = |known: &'k String| Some((distance(option, &known[PREFIX.len()..])?, &**known));
    known.iter().filter_map(distance).min().map(|(_, known)| known)
}

/// The number of letters in which `name` differs from the option `known`, if one may stand for the other: one letter in four may
/// differ, at most two.
fn distance(name: &str, known: &str) -> Option<usize> {
    Some(strsim::osa_distance(name, known)).filter(|&distance| distance <= (known.len() / 4).min(2))
}

/// Whether an unknown option `name` may stand for the option `known`: they are nearly the same, or one begins with the other, as
/// `--output` and `--out`.
pub fn may_mean(name: &str, known: &str) -> bool {
    known.starts_with(name) || name.starts_with(known) || distance(name, known).is_some()
}

/// Whether the variable of a flag says that it is not set. That overrides the file. To clap, the flag is not given: it would let
/// any value of the variable exclude other options.
fn is_turned_off(arg: &Arg) -> bool {
    let variable = || arg.get_long().and_then(of_environment);
    matches!(arg.get_action(), ArgAction::SetTrue)
        && variable().is_some_and(|word| truth(&word) == Some(false))
}

/// The value of the variable of a flag; `None` if it is neither true nor false.
pub fn truth(word: &OsStr) -> Option<bool> {
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

/// Reads the options file, if the command line or the environment names one.
///
/// # Errors
/// Same as [`OptionsFile::read`].
pub fn options_file(words: &[OsString]) -> Result<Option<OptionsFile>> {
    typed(words, "config").or_else(|| of_environment("config")).map(OptionsFile::read).transpose()
}

/// The options that a run takes from a file.
pub struct FromFile {
    /// The path of the file.
    pub path: OsString,
    /// Their long names.
    pub options: Vec<String>,
}

/// The command line with the options of `file` inserted after the command, and these options. What is on the command line or in the
/// environment of `command` replaces options of the file, and those that it excludes.
///
/// # Errors
/// That of `file`, and those of [`OptionsFile::options`]. If there is no command, its absence is the error that is reported.
pub fn with_file(
    command: &Command,
    mut words: Vec<OsString>,
    file: Result<Option<OptionsFile>>,
) -> Result<(Vec<OsString>, Option<FromFile>)> {
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
    let option = |arg: &Arg| arg.get_long().unwrap_or_default().to_owned();
    let (options, from_file): (Vec<_>, Vec<OsString>) =
        given.map(|(arg, word)| (option(arg), word.into())).unzip();
    words.splice(at + 1..at + 1, from_file);
    Ok((words, Some(FromFile { path: file.path().to_owned(), options })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_variable_that_is_nearly_one_of_an_option_is_taken_for_a_mistake() {
        let options = ["base-url", "keep", "log", "max-rejects", "name", "out", "report", "threads", "to"];
        let known: BTreeSet<String> = options.map(variable).into();
        for (name, meant) in [
            ("SITEMILL_BASEURL", Some("SITEMILL_BASE_URL")),
            ("SITEMILL_MAX-REJECT", Some("SITEMILL_MAX_REJECTS")),
            ("SITEMILL_THRAEDS", Some("SITEMILL_THREADS")),
            ("SITEMILL_Name", None),
            ("SITEMILL_OUT_DIR", None),
            ("SITEMILL_TOP", None),
            ("BASE_URL", None),
            // Kubernetes sets these.
            ("SITEMILL_PORT", None),
            ("SITEMILL_SERVICE_HOST", None),
            ("SITEMILL_SERVICE_PORT_HTTP", None),
            ("SITEMILL_PORT_80_TCP_ADDR", None),
            ("SITEMILL_PORT_80_TCP_PROTO", None),
        ] {
            assert_eq!(similar(name, &known), meant, "{name}");
        }
    }
}

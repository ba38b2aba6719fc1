//! Flags: the words of the command line for the settings that messages point at.

use sitemill::{Error, Message, Outcome, Setting};

use super::elsewhere;

/// The message of `error`, with flags, and with the command that reads an input from elsewhere.
pub fn error_text(error: &Error) -> String {
    let command = elsewhere::command(error).map(|command| format!(": {command}")).unwrap_or_default();
    text(error.message()) + &command
}

/// `message`, with flags.
pub fn text(message: &Message) -> String {
    message.text_with(&name)
}

/// A setting with its value, as it is typed.
pub fn name(setting: Setting, value: Option<&str>) -> String {
    let value = value.map(|value| format!(" {}", typed(setting, value))).unwrap_or_default();
    flag(setting) + &value
}

/// `outcome` with flags in the texts of its report, which the summary and the report for programs have from here.
pub fn in_outcome(mut outcome: Outcome) -> Outcome {
    let report = &mut outcome.report;
    for message in report.tag_hints.iter_mut().chain(&mut report.hint).chain(&mut report.refused) {
        *message = text(message).into();
    }
    outcome
}

/// An option is called like the field that it sets, with few exceptions.
fn flag(setting: Setting) -> String {
    match setting {
        Setting::RequireSuccess => "--require-success-marker".into(),
        _ => format!("--{}", setting.field().replace('_', "-")),
    }
}

/// `value` as it is typed into a shell.
fn typed(setting: Setting, value: &str) -> String {
    // A delimiter is quoted where it is shown.
    let is_plain = setting == Setting::Delimiter || !value.contains(SHELL_CHARACTERS);
    if is_plain { value.into() } else { format!("'{}'", value.replace('\'', r"'\''")) }
}

/// What a shell reads as more than a character of a word.
const SHELL_CHARACTERS: &[char] = &[
    ' ', '\'', '"', '`', '$', '&', '|', ';', '<', '>', '(', ')', '{', '}', '[', ']', '*', '?', '!', '#', '~',
];

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::super::args::Args;
    use super::*;

    #[test]
    fn every_setting_is_an_option_of_a_command() {
        let sitemill = Args::command();
        let options: Vec<_> = sitemill
            .get_subcommands()
            .flat_map(clap::Command::get_arguments)
            .filter_map(|option| option.get_long().map(|name| format!("--{name}")))
            .collect();
        for &setting in Setting::ALL {
            assert!(options.contains(&flag(setting)), "{setting:?}: there is no option {}", flag(setting));
        }
        assert!(!options.contains(&"--no-such".into()) && options.len() > Setting::ALL.len());
    }
}

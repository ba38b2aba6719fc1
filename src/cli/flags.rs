//! Flags: the command-line names of settings that messages refer to.

use sitemill::{Error, Message, Outcome, Setting};

use super::args::Size;
use super::{elsewhere, shell};

/// Returns the message of `error` with flags, and with the command that reads a remote input.
pub fn error_text(error: &Error) -> String {
    let command = elsewhere::command(error).map(|command| format!(": {command}")).unwrap_or_default();
    text(error.message()) + &command
}

/// Returns `message` with flags.
pub fn text(message: &Message) -> String {
    message.text_with(&name)
}

/// Returns a setting with its value as a flag, as typed.
pub fn name(setting: Setting, value: Option<&str>) -> String {
    let value = value.map(|value| format!(" {}", typed(setting, value))).unwrap_or_default();
    flag(setting) + &value
}

/// Returns `outcome` with flags in the texts of its report, for the summary and the report for programs.
pub fn in_outcome(mut outcome: Outcome) -> Outcome {
    let report = &mut outcome.report;
    let texts = report.tag_hints.iter_mut().chain(&mut report.hint).chain(&mut report.refused);
    for message in texts.chain(&mut report.warnings) {
        *message = text(message).into();
    }
    outcome
}

fn flag(setting: Setting) -> String {
    format!("--{}", setting.option())
}

/// Returns `value` as typed into a shell.
fn typed(setting: Setting, value: &str) -> String {
    if let (Setting::BytesPerSitemap | Setting::Memory, Ok(bytes)) = (setting, value.parse()) {
        return Size(bytes).to_string();
    }
    shell::word(value)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::super::args::Args;
    use super::*;

    #[test]
    fn a_delimiter_is_shown_as_typed_into_a_shell() {
        for (value, typed) in [
            ("tab", "tab"),
            (",", ","),
            (";", "';'"),
            ("'", r"''\'''"),
            ("\\", r"'\'"),
            ("\u{1}", r"$'\x01'"),
        ] {
            assert_eq!(name(Setting::Delimiter, Some(value)), format!("--delimiter {typed}"));
        }
    }

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

//! `sitemill completions` and `sitemill man`, generated from the definitions of the help.

use clap::builder::Resettable;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use sitemill::{Error, Result};

use super::args::Args;
use super::streams::Stdout;

/// Writes completions for `shell`.
pub fn completions(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "sitemill", &mut script);
    Stdout::new()?.print(&script)
}

/// Writes the manual page of a command, or of sitemill itself.
pub fn page(command: Option<&str>) -> Result<()> {
    let page = rendered(command)?;
    Stdout::new()?.print(page.as_bytes())
}

fn rendered(command: Option<&str>) -> Result<String> {
    let mut all = of_pages(Args::command()).disable_help_subcommand(true).mut_subcommands(of_pages);
    // This copies the options of all commands to each of them.
    all.build();
    let notes = all.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let mut about = match command {
        None => all,
        Some(name) => match all.find_subcommand(name) {
            Some(known) => known.clone().after_long_help(notes),
            None => {
                let names: Vec<_> = all.get_subcommands().map(Command::get_name).collect();
                let names = names.join(", ");
                return Err(Error::usage(format!("{name:?} has no manual page; these have: {names}")));
            }
        },
    };
    // The library's own synopsis has all options, without values, and does not show which arguments may be repeated.
    let usage = about.render_usage().to_string();
    let about = about.override_usage(usage.trim_start_matches("Usage: ").to_owned());
    let mut page = Vec::new();
    let man = Man::new(about).source(concat!("sitemill ", env!("CARGO_PKG_VERSION")));
    man.render(&mut page).expect("memory takes bytes");
    let page = String::from_utf8(page).expect("the help is UTF-8");
    let see_also = if command.is_some() { ".SH \"SEE ALSO\"\n.BR sitemill (1)\n" } else { "" };
    Ok(page.replace(".SH EXTRA\n", ".SH NOTES\n") + see_also)
}

/// A command as on its page: with the text of every option, because the library omits the short text of options that the short
/// help hides, and without the reference to the long help.
fn of_pages(command: Command) -> Command {
    let command = command.mut_args(|arg| arg.hide_short_help(false));
    match command.get_after_long_help().is_some_and(|end| end.to_string().is_empty()) {
        true => command.after_help(Resettable::Reset).after_long_help(Resettable::Reset),
        false => command,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_every_command_has_its_text_on_its_page() {
        let mut sitemill = Args::command();
        sitemill.build();
        let commands = sitemill.get_subcommands().filter(|command| command.get_name() != "help");
        for (command, name) in commands.map(|it| (it, Some(it.get_name()))).chain([(&sitemill, None)]) {
            let page = rendered(name).unwrap().replace("\\-", "-").replace("\\*(Aq", "'");
            assert!(page.contains(concat!("\"sitemill ", env!("CARGO_PKG_VERSION"), "\"")), "{page}");
            assert!(!page.contains("See --help") && !page.contains("sitemill-help"), "{page}");
            for option in command.get_arguments() {
                let text = option.get_long_help().or(option.get_help()).unwrap().to_string();
                assert!(page.contains(text.lines().next().unwrap()), "{name:?}, {option}: {text}");
            }
        }
        let none = rendered(Some("help")).unwrap_err().to_string();
        assert!(none.starts_with("\"help\" has no manual page; these have: build, "), "{none}");
    }

    #[test]
    fn every_page_has_the_usage_of_the_help_and_the_exit_codes() {
        let pages = [
            (None, "sitemill\\fR [OPTIONS] <COMMAND>\n"),
            (Some("build"), "sitemill build\\fR [OPTIONS] --base-url <URL> --out <DIR> [INPUT]...\n"),
            (Some("check"), "sitemill check\\fR [OPTIONS] <PATH>...\n"),
            (Some("diff"), "sitemill diff\\fR [OPTIONS] <OLD> <NEW>\n"),
        ];
        for (name, usage) in pages {
            let page = rendered(name).unwrap().replace("\\-", "-");
            assert!(page.contains(&format!(".SH SYNOPSIS\n\\fB{usage}")), "{page}");
            let notes = page.split_once(".SH NOTES\n").unwrap().1;
            assert!(notes.starts_with("Exit codes:\n") && notes.contains("\n  73 output"), "{notes}");
            assert_eq!(notes.contains(".SH \"SEE ALSO\"\n.BR sitemill (1)\n"), name.is_some(), "{notes}");
        }
    }
}

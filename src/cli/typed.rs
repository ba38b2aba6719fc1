//! The words of the command line, before they are validated.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Arg, Command};

/// The position of the command in `words`.
pub fn command_at(command: &Command, words: &[OsString]) -> Option<usize> {
    let is_command = |word: &OsString| command.get_subcommands().any(|known| *word == *known.get_name());
    let mut at = 1;
    while words.get(at)?.as_encoded_bytes().starts_with(b"-") {
        // Options of all commands may precede it, and each takes a value.
        at += if words[at].as_encoded_bytes().contains(&b'=') { 1 } else { 2 };
    }
    is_command(&words[at]).then_some(at)
}

/// The command in `words`, if there is one.
pub fn subcommand<'c>(command: &'c Command, words: &[OsString]) -> Option<&'c Command> {
    let at = command_at(command, words)?;
    command.get_subcommands().find(|known| words[at] == *known.get_name())
}

/// Returns the arguments of the command, which is the first of `words`, without options and their values.
pub fn arguments(command: &Command, words: &[OsString]) -> Vec<PathBuf> {
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
            Some(option) if option.starts_with("--") => {
                if takes_value(option) {
                    words.next();
                }
            }
            Some(cluster) if cluster.len() > 1 && cluster.starts_with('-') => {
                if subcommand.is_some_and(|known| Shorts::of(known, cluster).wants_next_word) {
                    words.next();
                }
            }
            _ => arguments.push(word.into()),
        }
    }
    arguments
}

/// The options and arguments of the command in `words` that are there.
pub fn typed_args<'c>(command: &'c Command, words: &[OsString]) -> Vec<&'c Arg> {
    let Some((at, subcommand)) = command_at(command, words).zip(subcommand(command, words)) else {
        return Vec::new();
    };
    let is_option_typed = |arg: &&Arg| {
        arg.get_long().is_some_and(|option| is_typed(words, option))
            || arg.get_short().is_some_and(|short| is_short_typed(subcommand, words, short))
    };
    let arguments = arguments(command, &words[at..]).len();
    // Options of all commands may also precede the command.
    let options = subcommand.get_arguments().chain(command.get_arguments()).filter(is_option_typed);
    options.chain(subcommand.get_positionals().take(arguments)).collect()
}

/// The long names of the options that the command line `words` contains.
pub fn typed_options(command: &Command, words: &[OsString]) -> Vec<String> {
    typed_args(command, words).into_iter().filter_map(Arg::get_long).map(str::to_owned).collect()
}

/// The words before `--`, after which everything is an input.
fn before_inputs(words: &[OsString]) -> impl Iterator<Item = &OsStr> {
    words.iter().map(OsString::as_os_str).take_while(|word| *word != "--")
}

/// The value of an option on the command line, the first one if there are several.
pub fn typed(words: &[OsString], option: &str) -> Option<OsString> {
    all_typed(words, option).into_iter().next()
}

/// The values of an option on the command line, in their order.
pub fn all_typed(words: &[OsString], option: &str) -> Vec<OsString> {
    let (alone, joined) = (format!("--{option}"), format!("--{option}="));
    let (mut values, mut words) = (Vec::new(), before_inputs(words).peekable());
    while let Some(word) = words.next() {
        if word == alone.as_str() {
            values.extend(words.next_if(|next| is_value(next)).map(OsStr::to_owned));
        } else if let Some(value) = word.to_str().and_then(|word| word.strip_prefix(&joined)) {
            // A word that is not UTF-8 is not an option.
            values.push(value.into());
        }
    }
    values
}

/// Whether a word after an option can be its value. Without one, the option is an error.
fn is_value(word: &OsStr) -> bool {
    word == "-" || !word.as_encoded_bytes().starts_with(b"-")
}

/// The options of `command` with a value that are on the command line in their short form, such as `-o DIR` and `-oDIR`: their
/// long names and values.
pub fn all_short_typed(command: &Command, words: &[OsString]) -> Vec<(String, OsString)> {
    let with_value = command.get_arguments().filter(|arg| arg.get_action().takes_values());
    let typed =
        |arg: &Arg| Some((arg.get_long()?.to_owned(), short_typed(command, words, arg.get_short()?)?));
    with_value.filter_map(typed).collect()
}

fn short_typed(command: &Command, words: &[OsString], short: char) -> Option<OsString> {
    let mut words = before_inputs(words);
    while let Some(word) = words.next().map(OsStr::to_str) {
        let Some(word) = word else { continue };
        let shorts = Shorts::of(command, word);
        if shorts.letters.ends_with(short) {
            return match shorts.wants_next_word {
                true => words.next().filter(|next| is_value(next)).map(OsStr::to_owned),
                false => Some(word[1 + shorts.letters.len()..].trim_start_matches('=').into()),
            };
        }
    }
    None
}

/// Whether an option is on the command line.
pub fn is_typed(words: &[OsString], option: &str) -> bool {
    let (alone, joined) = (format!("--{option}"), format!("--{option}="));
    before_inputs(words).filter_map(OsStr::to_str).any(|word| word == alone || word.starts_with(&joined))
}

/// Whether an option of `command` is on the command line in its short form.
pub fn is_short_typed(command: &Command, words: &[OsString], short: char) -> bool {
    before_inputs(words)
        .filter_map(OsStr::to_str)
        .any(|word| Shorts::of(command, word).letters.contains(short))
}

/// The short options in one word: `-q`, `-qo DIR` or `-oDIR`.
struct Shorts<'w> {
    letters: &'w str,
    /// Whether the last one takes the next word as its value.
    wants_next_word: bool,
}

impl<'w> Shorts<'w> {
    fn of(command: &Command, word: &'w str) -> Self {
        let none = Self { letters: "", wants_next_word: false };
        let Some(cluster) = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else {
            return none;
        };
        let takes_value = |letter| {
            let mut known = command.get_arguments().filter(|arg| arg.get_short() == Some(letter));
            known.any(|arg| arg.get_action().takes_values())
        };
        match cluster.char_indices().find(|(_, letter)| takes_value(*letter)) {
            // The value, if it is in the same word, follows the letter.
            Some((at, letter)) => {
                let end = at + letter.len_utf8();
                Self { letters: &cluster[..end], wants_next_word: end == cluster.len() }
            }
            None => Self { letters: cluster, ..none },
        }
    }
}

/// The option of `command` called `key`.
pub fn option<'c>(command: &'c Command, key: &str) -> Option<&'c Arg> {
    command.get_arguments().find(|arg| arg.get_long() == Some(key))
}

#[cfg(test)]
mod tests {
    use clap::ArgAction;

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

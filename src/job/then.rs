//! The command that runs once a set is live.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rustix::fs::{Access, access};

use crate::error::{Error, Result, Setting, message};

/// A program and its arguments. No shell is involved.
///
/// It is parsed from text as a POSIX shell splits words: at spaces, tabs and line ends, unless they are quoted. Single quotes quote
/// everything between them. In double quotes, a backslash quotes `$`, a backtick, `"` or a backslash; outside of quotes, any
/// character. Except in single quotes, a backslash at the end of a line joins it to the next line. A word that begins with `#`
/// begins a comment, which ends with the line. Variables, patterns, `|`, `>`, `&` and `;` have no meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine(Vec<String>);

impl CommandLine {
    /// Creates the command that runs `program` with `arguments`.
    ///
    /// # Errors
    /// If the name of the program is empty, or a word contains a zero byte, which no process can be given.
    pub fn new(
        program: impl Into<String>,
        arguments: impl IntoIterator<Item = String>,
    ) -> Result<Self, String> {
        let words: Vec<String> = [program.into()].into_iter().chain(arguments).collect();
        if words[0].is_empty() {
            return Err("the name of the program is empty".into());
        }
        if words.iter().any(|word| word.contains('\0')) {
            return Err("the command contains a zero byte".into());
        }
        Ok(Self(words))
    }

    /// Returns the program, then its arguments.
    pub fn words(&self) -> &[String] {
        &self.0
    }

    /// Returns the program.
    pub fn program(&self) -> &str {
        &self.0[0]
    }

    /// Returns the arguments.
    pub fn arguments(&self) -> &[String] {
        &self.0[1..]
    }

    /// The path of the program; `None` if it is given without a path and not found.
    pub(crate) fn program_file(&self) -> Option<PathBuf> {
        let program = self.program();
        match program.contains('/') {
            true => Some(program.into()),
            false => search_path().iter().map(|directory| directory.join(program)).find(|path| can_run(path)),
        }
    }

    /// Checks that the program exists and can be run, so that the build fails before any work.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if not.
    pub(crate) fn check(&self) -> Result<()> {
        let program = self.program();
        match self.program_file().is_some_and(|file| can_run(&file)) {
            true => Ok(()),
            false => {
                let shown = crate::escape::shown(program.as_bytes());
                let why = match program.contains('/') {
                    true => "is not a program that can be run; correct its path, or make it executable",
                    false => "is not a program on the PATH; install it, or give its path",
                };
                Err(Error::usage(message!(Setting::Then, ": {shown} {why}")))
            }
        }
    }
}

/// Whether `path` is a program that this user may run.
fn can_run(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

/// The directories that are searched for a program without a path.
fn search_path() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/bin:/usr/bin".into());
    std::env::split_paths(&path).collect()
}

impl FromStr for CommandLine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words = shlex::split(&without_continuations(text))
            .ok_or("a quote is not closed, or a backslash ends the command")?;
        let mut words = words.into_iter();
        Self::new(words.next().ok_or("give a program")?, words)
    }
}

/// Joins lines that end in a backslash, as a shell does before it splits words. `shlex` joins them only within a word, and takes a
/// backslash between two words for an empty one.
fn without_continuations(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    // The character that ends the quotes or the comment, and whether `#` would be part of a word.
    let (mut ends_at, mut is_in_word) = (None, false);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\\' && matches!(ends_at, None | Some('"')) {
            let escaped = chars.next();
            if escaped != Some('\n') {
                joined.push(c);
                joined.extend(escaped);
                is_in_word = true;
            }
            continue;
        }
        ends_at = match ends_at {
            None if c == '\'' || c == '"' => Some(c),
            None if c == '#' && !is_in_word => Some('\n'),
            Some(end) if c == end => None,
            unchanged => unchanged,
        };
        is_in_word = ![' ', '\t', '\n'].contains(&c);
        joined.push(c);
    }
    joined
}

/// Quotes the words so that parsing returns them unchanged.
impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.0.iter().map(String::as_str);
        f.write_str(&shlex::try_join(words).expect("no word has a zero byte"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_as_a_shell_splits_words_and_nothing_is_expanded() {
        for (text, words) in [
            ("notify", &["notify"][..]),
            ("  notify\t-q  \n now ", &["notify", "-q", "now"]),
            (r#"sh -c 'echo "$HOME" | cat; rm *'"#, &["sh", "-c", r#"echo "$HOME" | cat; rm *"#]),
            (r#"a "b c" d\ e "f\"g" '' h"i"'j'"#, &["a", "b c", "d e", "f\"g", "", "hij"]),
            ("a $B `c` d;e >f", &["a", "$B", "`c`", "d;e", ">f"]),
            ("a b#c # rest", &["a", "b#c"]),
            ("a \\\n  b\\\nc \\\n", &["a", "bc"]),
            ("a '\\\n' \"b\\\nc\" \\\n# it\\\nd", &["a", "\\\n", "bc", "d"]),
            ("a\\ #b \\\\\nc\\\n#d", &["a #b", "\\", "c#d"]),
        ] {
            let command: CommandLine = text.parse().unwrap();
            assert_eq!(command.words(), words, "{text}");
            assert_eq!((command.program(), command.arguments()), (words[0], &command.words()[1..]));
            assert_eq!(command.to_string().parse(), Ok(command), "{text}");
        }
        for wrong in ["", "  ", "# only a comment", "''", "a 'b", "a \"b", "a \\", "a\0b"] {
            assert!(wrong.parse::<CommandLine>().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn lines_are_joined_as_a_shell_joins_them() {
        for text in [
            "a \\\n b",
            "a\\\n b",
            "a \\\nb",
            "a\\\nb",
            "\\\n a \\\n\\\n b \\\n",
            "a '' \\\n \"\" b",
            "'a \\\n b' \"c \\\n d\"",
            "\"a'\\\n'b\" 'c\"\\\n\"d'",
            "a \\\n# b",
            "a\\\n# b",
            "a \\\\ \\\n \\' b",
        ] {
            let script = format!("printf '<%s>' {text}");
            let shell = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            let command: CommandLine = text.parse().unwrap();
            let words: String = command.words().iter().map(|word| format!("<{word}>")).collect();
            assert_eq!(words, String::from_utf8(shell.stdout).unwrap(), "{text}");
        }
    }

    #[test]
    fn no_process_can_be_given_an_empty_name_or_a_zero_byte() {
        for (program, argument, why) in [
            ("", "a", "the name of the program is empty"),
            ("sh", "a\0b", "the command contains a zero byte"),
            ("s\0h", "", "the command contains a zero byte"),
        ] {
            assert_eq!(CommandLine::new(program, [argument.into()]), Err(why.into()));
        }
        assert_eq!(CommandLine::new("sh", ["".into()]).unwrap().to_string(), "sh ''");
    }

    #[test]
    fn a_program_that_cannot_be_run_is_a_usage_error() {
        for there in ["sh", "/bin/sh"] {
            assert!(CommandLine::new(there, []).unwrap().check().is_ok(), "{there}");
        }
        for missing in ["no-such-program", "/bin/no-such-program", "/etc/passwd", "/etc", "./sh"] {
            let error = CommandLine::new(missing, []).unwrap().check().unwrap_err();
            assert!(
                error.kind() == crate::ErrorKind::Usage && error.to_string().contains(missing),
                "{error}"
            );
        }
    }
}

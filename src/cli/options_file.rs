//! The options file: a TOML file whose keys are the long names of options.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use clap::{Arg, ArgAction, Command};
use sitemill::{Error, Result, escape};
use toml::{Table, Value};

use super::typed::option;

/// An options file and its content. It is read only once, because it may be a pipe.
pub struct OptionsFile {
    path: OsString,
    content: Table,
}

impl OptionsFile {
    /// Reads the file `path`.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](sitemill::ErrorKind::Usage) if the path is empty or the file is not TOML,
    /// [`ErrorKind::Input`](sitemill::ErrorKind::Input) if it cannot be read.
    pub fn read(path: OsString) -> Result<Self> {
        if path.is_empty() {
            return Err(Error::usage("--config: the path is empty"));
        }
        let text = fs::read_to_string(&path).map_err(|error| Error::input(Path::new(&path), error))?;
        let content = text.parse::<Table>().map_err(|error| wrong(&path, error.to_string().trim_end()))?;
        Ok(Self { path, content })
    }

    /// Its path, as it was given.
    pub fn path(&self) -> &OsStr {
        &self.path
    }

    /// All of its content, which may have options of several commands.
    pub fn content(&self) -> &Table {
        &self.content
    }

    /// The options for `subcommand`, as words: those at the top that the command has, and all of the table with the name of the
    /// command.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](sitemill::ErrorKind::Usage) if the file has an unknown option or a value of the wrong type.
    pub fn options<'c>(
        &self,
        command: &'c Command,
        subcommand: &'c Command,
    ) -> Result<Vec<(&'c Arg, String)>> {
        let wrong = |why: String| wrong(&self.path, &why);
        let mut options: Vec<(&Arg, String)> = Vec::new();
        let mut take = |key: &str, value: &Value, arg: &'c Arg| -> Result<()> {
            options.retain(|(known, _)| known.get_id() != arg.get_id());
            options.extend(words(key, value, arg).map_err(&wrong)?.into_iter().map(|word| (arg, word)));
            Ok(())
        };
        for (key, value) in self.content.iter().filter(|(_, value)| !value.is_table()) {
            match option(subcommand, key).or_else(|| of_all_commands(command, key)) {
                Some(arg) => take(key, value, arg)?,
                // One file may serve several commands.
                None if command.get_subcommands().any(|other| option(other, key).is_some()) => {}
                None => return Err(wrong(format!("no command has an option {key:?}{}", hint(key)))),
            }
        }
        let tables = self.content.iter().filter_map(|(name, value)| Some((name, value.as_table()?)));
        for (name, table) in tables {
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
}

fn wrong(path: &OsStr, why: &str) -> Error {
    Error::usage(format!("{}: {why}", escape::shown(path.as_encoded_bytes())))
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
        Value::Array(_) if !matches!(arg.get_action(), ArgAction::Append) => {
            let how = if key == "then" { "; write all words in one text, as in a shell" } else { "" };
            Err(format!("{key} takes one value, not a list{how}"))
        }
        _ => Err(format!("{key} must be text or a number")),
    }
}

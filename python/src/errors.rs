//! Errors as exceptions: a class for each kind, with the fields of the error.

use std::error::Error as _;
use std::io;
use std::mem::discriminant;
use std::path::Path;

use pyo3::prelude::*;
use sitemill::{Error, ErrorKind, Message, Piece, Setting};

/// The signal of Ctrl-C, which stops a run.
pub const SIGINT: i32 = 2;

/// The exception for `error`.
pub fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let exception = match made(py, error) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => return error,
    };
    // An exception that the caller's iterator raised.
    let cause =
        error.source().and_then(|cause| cause.downcast_ref::<io::Error>()).and_then(io::Error::get_ref);
    if let Some(raised) = cause.and_then(|cause| cause.downcast_ref::<PyErr>()) {
        exception.set_cause(py, Some(raised.clone_ref(py)));
    }
    exception
}

/// The message of `error` with its cause.
pub fn whole_text(error: &Error) -> String {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    text(error.message()) + &cause
}

/// Makes the exception, an instance of a class in `sitemill._errors`.
fn made<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyAny>> {
    let message = whole_text(error);
    let path = error.path().map(Path::as_os_str);
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    let number = cause.and_then(io::Error::raw_os_error);
    let make = py.import("sitemill._errors")?.getattr("make")?;
    make.call1((kind(error.kind()), error.kind().exit_code(), message, path, number))
}

/// The names of the kinds, by which `sitemill._errors` finds the class.
const KINDS: [(ErrorKind, &str); 9] = [
    (ErrorKind::Usage, "usage"),
    (ErrorKind::Data, "data"),
    (ErrorKind::Input, "input"),
    (ErrorKind::Memory, "memory"),
    (ErrorKind::Output, "output"),
    (ErrorKind::Io, "io"),
    (ErrorKind::Busy, "busy"),
    (ErrorKind::Permission, "permission"),
    (ErrorKind::Signal(SIGINT), "signal"),
];

/// The name of a kind.
fn kind(kind: ErrorKind) -> &'static str {
    let same = |known: ErrorKind| discriminant(&known) == discriminant(&kind);
    KINDS.iter().find(|(known, _)| same(*known)).map_or("internal", |(_, name)| name)
}

/// The kind with this name. A signal is that of Ctrl-C.
pub fn kind_of(name: &str) -> ErrorKind {
    KINDS.iter().find(|(_, known)| *known == name).map_or(ErrorKind::Internal, |(kind, _)| *kind)
}

/// `message` with settings as keyword arguments, with a comma after each that is followed by another. The name of a column becomes
/// a separate argument.
pub fn text(message: &Message) -> String {
    let pieces = message.pieces();
    let is_setting = |at: usize| matches!(pieces.get(at), Some(Piece::Setting(..)));
    let with_comma = |(at, piece): (usize, &Piece)| match piece {
        Piece::Text(words) if words == " " && at > 0 && is_setting(at - 1) && is_setting(at + 1) => {
            Piece::Text(", ".into())
        }
        piece => piece.clone(),
    };
    let message: Message = pieces.iter().enumerate().map(with_comma).collect();
    message.text_with(&|setting, value| match (setting, value) {
        (Setting::Columns, Some(pairs)) => {
            let pairs = pairs.split(',').filter_map(|pair| pair.split_once('='));
            pairs.map(|(part, name)| format!("{part}={}", literal(name))).collect::<Vec<_>>().join(", ")
        }
        (Setting::Columns, None) => "url=".into(),
        (Setting::RequireSuccessMarker, _) => "require_success_marker=True".into(),
        (
            Setting::AllowEmpty
            | Setting::AllowMissingSites
            | Setting::AllowUnsafeStore
            | Setting::IgnoreManifest
            | Setting::ReplaceSet
            | Setting::RobotsAnyName
            | Setting::TakeOver,
            _,
        ) => format!("{}=True", setting.field()),
        (setting, Some(value)) if value.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{}={value}", setting.field())
        }
        (setting, Some(value)) => format!("{}={}", setting.field(), literal(value)),
        (setting, None) => setting.field().to_owned(),
    })
}

/// `text` as a string of Python.
fn literal(text: &str) -> String {
    let escaped = |character: char| match character {
        '"' | '\\' => format!("\\{character}"),
        _ if character.is_ascii_control() => format!("\\x{:02x}", u32::from(character)),
        _ => character.into(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

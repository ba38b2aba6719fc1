//! Paths in messages.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::missing::split_scheme;
use crate::escape::shown;

/// A path in a message. Its bytes are escaped, so that a file name cannot send control codes to a terminal. Parts of a URL that may
/// be secrets are left out ([`without_secrets`]).
pub(crate) struct Shown<'a>(pub &'a Path);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&without_secrets(self.0.as_os_str().as_encoded_bytes())))
    }
}

/// The schemes of URLs whose `?` and `#` belong to a name: keys in stores, and files.
const SCHEMES_OF_NAMES: [&str; 6] = ["s3", "s3a", "gs", "az", "abfs", "file"];

/// The schemes of URLs in which the container precedes an `@`, as in `abfss://container@account.dfs.core.windows.net`.
pub(crate) const SCHEMES_OF_CONTAINERS: [&str; 4] = ["abfs", "abfss", "wasb", "wasbs"];

/// Returns `path` as [`without_secrets`] does.
pub(super) fn path_without_secrets(path: &Path) -> PathBuf {
    let shown = without_secrets(path.as_os_str().as_encoded_bytes());
    OsStr::from_bytes(&shown).into()
}

/// Returns `path`; if it is a URL, without a user name, a password, a fragment, or a query, which may be a signature.
pub(crate) fn without_secrets(path: &[u8]) -> Cow<'_, [u8]> {
    let Some((scheme, rest)) = split_scheme(path) else { return path.into() };
    let Some(rest) = rest.strip_prefix(b"://") else { return path.into() };
    let start = &path[..path.len() - rest.len()];
    let is_of = |schemes: &[&str]| schemes.iter().any(|known| scheme.eq_ignore_ascii_case(known.as_bytes()));
    let has_names = is_of(&SCHEMES_OF_NAMES);
    let (server, rest) = split_before(rest, if has_names { b"/" } else { b"/?#" });
    let host = match server.iter().rposition(|&byte| byte == b'@') {
        Some(at) if !is_of(&SCHEMES_OF_CONTAINERS) || server[..at].contains(&b':') => &server[at + 1..],
        _ => server,
    };
    let (file, query) = match has_names {
        true => (rest, &b""[..]),
        false => split_before(split_before(rest, b"#").0, b"?"),
    };
    let query = if query.is_empty() { "" } else { "?…" };
    [start, host, file, query.as_bytes()].concat().into()
}

/// Splits `text` before the first of `ends`.
fn split_before<'t>(text: &'t [u8], ends: &[u8]) -> (&'t [u8], &'t [u8]) {
    text.split_at(text.iter().position(|byte| ends.contains(byte)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, message};

    #[test]
    fn a_signature_or_a_password_in_a_url_is_not_shown() {
        for (path, want) in [
            ("https://h.example/a.csv?X-Amz-Signature=5ec", "https://h.example/a.csv?…"),
            ("HTTP://h.example/a?", "HTTP://h.example/a?…"),
            ("https://user:5ec@h.example/a#5ec", "https://h.example/a"),
            ("https://user:5@ec@h.example?5ec#x", "https://h.example?…"),
            ("https://h.example/@a?mail=a@b.c", "https://h.example/@a?…"),
            ("https://h.example#5ec@b.c?d", "https://h.example"),
            ("https://h.example/a", "https://h.example/a"),
            ("s3://bucket/part-?.csv", "s3://bucket/part-?.csv"),
            ("s3://AKIA:5ec@bucket/a@b?c#d", "s3://bucket/a@b?c#d"),
            ("s3n://AKIA:5ec@bucket/a", "s3n://bucket/a"),
            ("sftp://user:5ec@h.example/a.csv", "sftp://h.example/a.csv"),
            ("wasbs://c@a.blob.core.windows.net/x?sig=5ec", "wasbs://c@a.blob.core.windows.net/x?…"),
            ("abfss://c@a.dfs.core.windows.net/x", "abfss://c@a.dfs.core.windows.net/x"),
            ("abfs://user:5ec@c/x?y", "abfs://c/x?y"),
            ("file:///data/a?b#c", "file:///data/a?b#c"),
            ("data/a?b\u{1b}", "data/a?b\\x1b"),
        ] {
            assert_eq!(Shown(Path::new(path)).to_string(), want);
            // Nor does a program get it from the error.
            let error = Error::usage(message!(Path::new(path), ": is wrong"));
            assert!(!error.path().unwrap().to_string_lossy().contains("5ec"), "{error:?}");
        }
    }
}

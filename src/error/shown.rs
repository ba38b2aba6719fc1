//! Paths in messages.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use crate::escape::shown;

/// A path in a message. Its bytes are escaped, so that a file name cannot send control codes to a terminal. Parts of a URL that may
/// be secrets are left out ([`without_secrets`]).
pub(crate) struct Shown<'a>(pub &'a Path);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&without_secrets(self.0.as_os_str().as_encoded_bytes())))
    }
}

/// Returns `path`; if it is the URL of a file on a web server, without a user name, a password, a fragment, or a query, which may
/// be a signature.
pub(crate) fn without_secrets(path: &[u8]) -> Cow<'_, [u8]> {
    let is_at_start = |scheme: &&str| {
        path.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes()))
    };
    let Some(scheme) = ["http://", "https://"].into_iter().find(is_at_start) else { return path.into() };
    let (scheme, rest) = path.split_at(scheme.len());
    let (server, rest) = split_before(rest, b"/?#");
    let (rest, _) = split_before(rest, b"#");
    let (file, query) = split_before(rest, b"?");
    let host = server.rsplit(|&byte| byte == b'@').next().unwrap_or_default();
    let query = if query.is_empty() { "" } else { "?…" };
    [scheme, host, file, query.as_bytes()].concat().into()
}

/// Splits `text` before the first of `ends`.
fn split_before<'t>(text: &'t [u8], ends: &[u8]) -> (&'t [u8], &'t [u8]) {
    text.split_at(text.iter().position(|byte| ends.contains(byte)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("data/a?b\u{1b}", "data/a?b\\x1b"),
        ] {
            assert_eq!(Shown(Path::new(path)).to_string(), want);
        }
    }
}

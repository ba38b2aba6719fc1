//! Paths in messages.

use std::fmt;
use std::path::Path;

use crate::escape::shown;

/// A path in a message. Its bytes are escaped, so that a file name cannot send control codes to a terminal. The query of a URL is
/// left out, because it may be a signature.
pub(crate) struct Shown<'a>(pub &'a Path);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.0.as_os_str().as_encoded_bytes();
        let is_of_web = |scheme: &&str| {
            path.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes()))
        };
        match path.iter().position(|&byte| byte == b'?') {
            Some(query) if ["http://", "https://"].iter().any(is_of_web) => {
                write!(f, "{}?…", shown(&path[..query]))
            }
            _ => f.write_str(&shown(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_in_a_url_is_not_shown() {
        for (path, want) in [
            ("https://h.example/a.csv?X-Amz-Signature=5ec", "https://h.example/a.csv?…"),
            ("HTTP://h.example/a?", "HTTP://h.example/a?…"),
            ("https://h.example/a", "https://h.example/a"),
            ("s3://bucket/part-?.csv", "s3://bucket/part-?.csv"),
            ("data/a?b\u{1b}", "data/a?b\\x1b"),
        ] {
            assert_eq!(Shown(Path::new(path)).to_string(), want);
        }
    }
}

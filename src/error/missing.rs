//! Paths that name no file: guesses what the user meant and suggests a fix.

use std::io;
use std::path::Path;

/// What is wrong with a path that is written like `file:///data`.
pub(crate) const URL_OF_FILE: &str = "is a URL; give the path alone";

/// What is wrong with a URL where only a local file is read.
const NEEDS_FILE: &str =
    "is a URL, and only local files are read here; download it, and give the path of the copy";

/// Explains why the path `name`, which failed with `error`, cannot be read, if it is a URL or a pattern.
pub(super) fn explain(name: &Path, error: &io::Error) -> Option<&'static str> {
    if !is_nowhere(error) {
        return None;
    }
    if is_url(name) {
        return Some(if is_url_of_file(name) { URL_OF_FILE } else { NEEDS_FILE });
    }
    let text = name.to_string_lossy();
    if text == "-" {
        return Some("standard input is not read here; write it to a file, and give the path of the file");
    }
    let is_pattern = text.contains(['*', '?', '[', '{']);
    is_pattern.then_some(
        "no file has this name; sitemill does not expand patterns for local files, and the shell expands only those that match a \
         file and are not quoted; give the files, or their directory",
    )
}

/// Explains why the path `name`, which failed with `error`, cannot be created, if it is a URL or its directory does not exist.
pub(super) fn explain_output(name: &Path, error: &io::Error) -> Option<&'static str> {
    if !is_nowhere(error) {
        return None;
    }
    if is_url(name) {
        return Some(
            "is a URL, and only local files are written here; give a local path, and upload the file afterwards",
        );
    }
    let directory = name.parent().filter(|parent| !parent.as_os_str().is_empty())?;
    let is_missing = matches!(directory.try_exists(), Ok(false));
    is_missing
        .then_some("cannot be created, because its directory does not exist; create the directory first")
}

/// Whether the URL `name` has the scheme `file`.
fn is_url_of_file(name: &Path) -> bool {
    let text = name.to_string_lossy();
    text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
}

/// Whether `error` says that a path leads nowhere.
fn is_nowhere(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether `path` is written like a URL: a scheme after RFC 3986, 3.1, and `://`.
pub(crate) fn is_url(path: &Path) -> bool {
    after_scheme(path).is_some_and(|rest| rest.starts_with(b"://"))
}

/// Whether `path` is the URL of a file on a web server.
pub(crate) fn is_on_web_server(path: &Path) -> bool {
    split_scheme(path.as_os_str().as_encoded_bytes()).is_some_and(|(scheme, rest)| {
        let is_web = scheme.eq_ignore_ascii_case(b"https") || scheme.eq_ignore_ascii_case(b"http");
        is_web && rest.starts_with(b"://")
    })
}

/// Whether `path` is the URL of a location in a store.
pub(crate) fn is_in_store(path: &Path) -> bool {
    is_url(path) && !is_on_web_server(path)
}

/// Whether `path` begins with a scheme, `:` and a single slash, as `file:/data` and `dbfs:/data`.
pub(crate) fn is_url_with_one_slash(path: &Path) -> bool {
    after_scheme(path).is_some_and(|rest| rest.starts_with(b":/") && !rest.starts_with(b"://"))
}

/// What follows the scheme of the URL `path`, or what would be one.
fn after_scheme(path: &Path) -> Option<&[u8]> {
    split_scheme(path.as_os_str().as_encoded_bytes()).map(|(_, rest)| rest)
}

/// Splits `text` into the scheme of a URL, or what would be one, and what follows it.
pub(super) fn split_scheme(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let scheme = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count();
    (scheme > 1 && text[0].is_ascii_alphabetic()).then(|| text.split_at(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorKind};

    #[test]
    fn the_error_for_a_missing_file_says_what_its_name_could_mean_instead() {
        for (name, said) in [
            (
                "https://h.example/a?b",
                "https://h.example/a?…: is a URL, and only local files are read here; ",
            ),
            ("-", "-: standard input is not read here"),
            (
                "HTTP://h.example/a",
                "only local files are read here; download it, and give the path of the copy",
            ),
            ("file:///data/a", "give the path alone"),
            ("data/*.csv", "no file has this name; sitemill does not expand patterns for local files, and "),
            ("data/part-[0-9]", "the shell expands only those that match a file and are not quoted; "),
            ("data/{a,b}.txt", "not quoted; give the files, or their directory"),
            ("data.csv", "data.csv: cannot be read"),
            ("s3:", "s3:: cannot be read"),
        ] {
            let told = Error::input(Path::new(name), io::ErrorKind::NotFound.into());
            assert!(told.kind() == ErrorKind::Input && told.to_string().contains(said), "{told}");
        }
        let unwritten = Error::output(Path::new("s3://b/robots.txt"), io::ErrorKind::NotFound.into());
        assert_eq!(unwritten.kind(), ErrorKind::Output);
        assert!(unwritten.to_string().contains("upload the file afterwards"), "{unwritten}");
        for (name, is_missing) in [("/no/such/file", true), ("/file", false), ("file", false)] {
            let unwritten = Error::output(Path::new(name), io::ErrorKind::NotFound.into()).to_string();
            assert!(unwritten.starts_with(&format!("{name}: cannot be created")), "{unwritten}");
            assert_eq!(unwritten.contains("create the directory first"), is_missing, "{unwritten}");
        }
        let denied = Error::input(Path::new("data/*.csv"), io::ErrorKind::PermissionDenied.into());
        assert_eq!(denied.to_string(), "data/*.csv: cannot be read");
    }
}

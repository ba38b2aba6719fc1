//! Files that URLs in index files refer to.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::normal::{directory, normal};

/// Returns the name of the file that `url` refers to, if it is directly in the directory `base`. The name never leads out of the
/// directory: dot segments are resolved in the URL first, as crawlers do.
pub fn file(url: &[u8], base: &str) -> Option<OsString> {
    let url = &*normal(url, None);
    // A URL with a query refers to a program, not to a file.
    if url.contains(&b'?') || directory(url)? != base {
        return None;
    }
    plain_name(url.rsplit(|&byte| byte == b'/').next()?)
}

/// Returns whether `url` is below `base`, and no file there can be at this URL: a part between two slashes or the last one is
/// empty, or has a zero byte. With a query, it refers to a program.
pub fn names_no_file(url: &[u8], base: &str) -> bool {
    let url = &*normal(url, None);
    let Some(path) = url.strip_prefix(base.as_bytes()).filter(|path| !path.contains(&b'?')) else {
        return false;
    };
    path.split(|&byte| byte == b'/').any(|name| name.is_empty() || percent_decoded(name).contains(&0))
}

/// Returns the name of a file or directory that `segment` of a URL refers to. It never leads to another directory.
pub fn plain_name(segment: &[u8]) -> Option<OsString> {
    let name = percent_decoded(segment);
    let is_plain = !name.is_empty() && name[0] != b'.' && !name.iter().any(|byte| matches!(byte, b'/' | 0));
    is_plain.then(|| OsString::from_vec(name))
}

/// Returns the path that `path`, a part of a URL, refers to below a directory. It may lead to another directory.
pub fn decoded_path(path: &[u8]) -> PathBuf {
    OsString::from_vec(percent_decoded(path)).into()
}

/// Returns what `name` means as a part of a URL.
fn percent_decoded(name: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((&byte, after)) = rest.split_first() {
        // Rust's parser would accept a sign, which is not a digit.
        let digits = after.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|digits| str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(escaped) if byte == b'%' => {
                decoded.push(escaped);
                rest = &after[2..];
            }
            _ => {
                decoded.push(byte);
                rest = after;
            }
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_has_two_digits_and_no_sign() {
        assert_eq!(percent_decoded(b"%2fa%+f%-1%2"), b"/a%+f%-1%2");
    }

    #[test]
    fn some_urls_below_a_directory_name_no_file() {
        let base = "http://h.example/maps/";
        for (path, want) in [
            ("a.xml", false),
            ("x/a.xml", false),
            (".well-known/a.xml", false),
            ("a.xml?page=//", false),
            ("a.xml#//", false),
            ("./a.xml", false),
            ("../a//b.xml", false),
            ("", true),
            ("/a.xml", true),
            ("x//a.xml", true),
            ("x/", true),
            ("a%2Fb.xml", false),
            ("a.xml%00", true),
        ] {
            assert_eq!(names_no_file(format!("{base}{path}").as_bytes(), base), want, "{path}");
        }
    }

    #[test]
    fn a_url_maps_to_a_file_in_the_same_directory_or_to_none() {
        let base = "http://h.example/maps/";
        for (url, want) in [
            ("http://h.example/maps/a.xml", Some("a.xml")),
            ("HTTP://H.example:80/maps/a.xml", Some("a.xml")),
            ("http://h.example/maps/a%20b.xml", Some("a b.xml")),
            ("http://h.example/maps/a.xml#?b", Some("a.xml")),
            ("http://h.example/maps/./more/%2e%2E/a.xml", Some("a.xml")),
            ("http://h.example/maps/more/../../a.xml", None),
            ("http://h.example/maps/", None),
            ("http://h.example/maps/../a.xml", None),
            ("http://h.example/maps/..", None),
            ("http://h.example/maps/.sitemill", None),
            ("http://h.example/maps/%2e%2e%2fpasswd", None),
            ("http://h.example/maps/..%2fpasswd", None),
            ("http://h.example/maps/a%2Fb.xml", None),
            ("http://h.example/maps/a%00.xml", None),
            ("http://h.example/maps/more/a.xml", None),
            ("http://h.example/maps/a.xml?page=/b.xml", None),
            ("http://other.example/maps/a.xml", None),
            ("a.xml", None),
        ] {
            assert_eq!(file(url.as_bytes(), base).as_deref(), want.map(AsRef::as_ref), "{url}");
        }
    }
}

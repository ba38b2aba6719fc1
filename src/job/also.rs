//! Sitemaps that sitemill does not write but that a set lists.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::clean::{Cleaned, Cleaner, Reason, UrlEncoding};
use crate::error::{Error, Result, Setting, is_url, message};
use crate::escape::shown;

/// A sitemap that sitemill does not write but lists in the index files: its URL, or its file below the output directory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Also {
    /// A canonical URL, as parsing it returns. It is not requested.
    Url(String),
    /// A file below the output directory.
    File(PathBuf),
}

impl Also {
    /// Refuses a URL that is not canonical, because index files and the manifest contain it unchanged.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage), with the canonical URL if there is one.
    pub(crate) fn check(&self) -> Result<()> {
        let Self::Url(given) = self else { return Ok(()) };
        let why = match given.parse() {
            Ok(parsed) if parsed == *self => return Ok(()),
            Ok(Self::Url(canonical)) => format!("is not canonical; use {canonical}"),
            Ok(Self::File(_)) => "is not a URL; give a file as `Also::File`".into(),
            Err(why) => why,
        };
        Err(Error::usage(message!(Setting::Also.with(shown(given.as_bytes())), ": {why}")))
    }
}

impl FromStr for Also {
    type Err = String;

    /// Same as [`Also::encoded`] with the default charset, UTF-8.
    fn from_str(given: &str) -> Result<Self, String> {
        Self::encoded(given, UrlEncoding::default())
    }
}

impl Also {
    /// Takes text with a scheme as a URL, which is cleaned like any other, with non-ASCII characters in the charset `url_encoding`,
    /// and all other text as the path of a file.
    ///
    /// # Errors
    /// If the text is empty, or is a URL that cannot be listed. The message says why.
    pub fn encoded(given: &str, url_encoding: UrlEncoding) -> Result<Self, String> {
        if given.is_empty() {
            return Err("give a URL or a file".into());
        }
        if !is_url(Path::new(given)) {
            return Ok(Self::File(given.into()));
        }
        match Cleaner::new(url_encoding).clean(given.as_bytes()) {
            Cleaned::Url(url) => {
                Ok(Self::Url(String::from_utf8(url.as_bytes().to_vec()).expect("a clean URL is ASCII")))
            }
            Cleaned::Blank => Err("give a URL or a file".into()),
            Cleaned::Rejected(Reason::Scheme) => {
                Err("is not an https or http URL; give the URL at which crawlers request it, or a file below the output directory".into())
            }
            Cleaned::Rejected(reason) => Err(format!("cannot be listed: {}", reason.as_str())),
        }
    }
}

impl fmt::Display for Also {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => f.write_str(url),
            Self::File(path) => f.write_str(&shown(path.as_os_str().as_encoded_bytes())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_with_a_scheme_is_a_url_and_other_text_a_path() {
        for (given, want) in [
            ("HTTPS://H.example/ü.xml#x", Also::Url("https://h.example/%C3%BC.xml".into())),
            ("out/news.xml", Also::File("out/news.xml".into())),
            ("a:b.xml", Also::File("a:b.xml".into())),
        ] {
            assert_eq!(given.parse(), Ok(want), "{given}");
        }
        let latin = "latin1".parse().unwrap();
        assert_eq!(
            Also::encoded("https://h.example/ü/%C3%BC.xml", latin),
            Ok(Also::Url("https://h.example/%FC/%C3%BC.xml".into()))
        );
        let error = Also::encoded("https://h.example/日.xml", latin).unwrap_err();
        assert_eq!(error, "cannot be listed: not-encodable");
        let error = "s3://bucket/maps/news.xml".parse::<Also>().unwrap_err();
        assert!(error.contains("give the URL at which crawlers request it"), "{error}");
        for wrong in ["", "ftp://h.example/a.xml", "https://u:p@h.example/a.xml", "http://"] {
            assert!(wrong.parse::<Also>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_url_that_is_not_canonical_is_a_usage_error() {
        assert!(Also::Url("https://h.example/%C3%BC.xml?b&c".into()).check().is_ok());
        for (given, why) in [
            ("https://h.example/ü.xml", "ü.xml`: is not canonical; use https://h.example/%C3%BC.xml"),
            ("https://h.example/a b.xml", "is not canonical; use https://h.example/a%20b.xml"),
            ("https://h.example/a.xml\n", r"a.xml\n`: cannot be listed: control-character"),
            ("https://h.example/a.xml#b", "is not canonical; use https://h.example/a.xml"),
            ("ftp://h.example/a.xml", "is not an https or http URL"),
            ("news.xml", "is not a URL"),
            ("", "give a URL"),
        ] {
            let error = Also::Url(given.into()).check().unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Usage);
            assert!(error.to_string().contains(why), "{error}");
        }
    }
}

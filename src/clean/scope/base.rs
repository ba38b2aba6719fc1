//! The directories that sets are published in: a single one, or one for every site.

use std::fmt;
use std::str::FromStr;

use super::origins::origin_of;
use crate::clean::given::{NO_HOST, refusal, trimmed};
use crate::clean::host::HOST_BYTES_MAX;
use crate::clean::{Cleaned, Cleaner, Reason, UrlEncoding, parser};
use crate::error::{Error, Setting, message};
use crate::limits::{URL_BYTES_MAX, URL_BYTES_MIN};
use crate::words::grouped;

/// The directory that the files are published in: a canonical URL that ends in a slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    url: String,
    /// As it was given, if its path is not ASCII, so that the URL depends on a charset.
    given: Option<String>,
}

/// Maximum length of a base URL: a file name must fit after it in a `<loc>`.
pub(super) const BASE_URL_BYTES_MAX: usize = URL_BYTES_MAX - 64;

/// Minimum length of a base URL: with one more byte it is long enough for a `<loc>`.
pub(super) const BASE_URL_BYTES_MIN: usize = URL_BYTES_MIN - 1;

impl BaseUrl {
    /// Returns the URL, with its slash at the end.
    pub fn as_str(&self) -> &str {
        &self.url
    }

    /// Scheme, host and port, with a slash at the end.
    pub fn origin(&self) -> &str {
        &self.url[..origin_of(self.url.as_bytes()).len()]
    }

    /// Returns the URL with non-ASCII characters percent-encoded in the charset `url_encoding`, as in lines.
    fn encoded(&self, url_encoding: UrlEncoding) -> Result<Self, String> {
        let given = self.given.as_deref().unwrap_or(&self.url);
        Ok(Self { given: None, ..Self::parse(given, url_encoding)? })
    }
}

impl FromStr for BaseUrl {
    type Err = String;

    /// Takes the URL of a directory. It is cleaned like any other URL, and gets a slash at the end if it has none.
    /// Non-ASCII characters are percent-encoded as UTF-8.
    fn from_str(given: &str) -> Result<Self, String> {
        Self::parse(given, UrlEncoding::default())
    }
}

impl BaseUrl {
    fn parse(given: &str, url_encoding: UrlEncoding) -> Result<Self, String> {
        if given.contains(['?', '#']) {
            return Err("it is the URL of a directory; remove the query and fragment".into());
        }
        if given.trim_start().starts_with(ORIGIN) {
            return Err("{origin} stands for every site; give the URL of one directory".into());
        }
        if given.contains(['{', '}']) {
            return Err(BRACES.into());
        }
        // Cleaned with a file name at the end: a bare `http://a.b` would be too short to be a URL in a sitemap.
        let given = trimmed(given);
        check_is_no_file(given)?;
        let is_web =
            |scheme: &[u8]| [&b"https"[..], b"http"].iter().any(|web| web.eq_ignore_ascii_case(scheme));
        if parser::scheme(given.as_bytes()).is_some_and(is_web) && parser::lacks_host(given) {
            return Err(NO_HOST.into());
        }
        let slash = if given.ends_with(['/', '\\']) { "" } else { "/" };
        let mut cleaner = Cleaner::new(url_encoding);
        match cleaner.clean(format!("{given}{slash}-").as_bytes()) {
            Cleaned::Url(url) if url.as_bytes().len() - 1 <= BASE_URL_BYTES_MAX => {
                let directory = &url.as_bytes()[..url.as_bytes().len() - 1];
                let url = String::from_utf8(directory.to_vec()).expect("a clean URL is ASCII");
                let path = &given.as_bytes()[parser::path_of(given.as_bytes())..];
                Ok(Self { url, given: (!path.is_ascii()).then(|| given.to_owned()) })
            }
            Cleaned::Url(_) => Err(format!("longer than {} bytes", grouped(BASE_URL_BYTES_MAX as u64))),
            Cleaned::Blank => Err("it is empty".into()),
            Cleaned::Rejected(Reason::NotAbsolute) => Err(without_scheme(given)),
            Cleaned::Rejected(Reason::Scheme) if is_host_and_port(given) => Err(without_scheme(given)),
            Cleaned::Rejected(reason) => Err(refusal(reason)),
        }
    }
}

/// The message that `given` needs a scheme. It proposes the whole URL if that would be valid.
fn without_scheme(given: &str) -> String {
    let mistyped = ["https", "http"].into_iter().find_map(|scheme| {
        let rest = given.strip_prefix(scheme)?.strip_prefix('/')?;
        Some(format!("{scheme}://{}", rest.trim_start_matches('/')))
    });
    match mistyped.unwrap_or_else(|| format!("https://{given}")).parse::<BaseUrl>() {
        Ok(url) if !given.starts_with(['/', '.']) => format!("it needs a scheme; did you mean {url}?"),
        _ => NO_HOST.into(),
    }
}

/// Whether `given` begins with a host and port, such as `host:80`, whose host could be mistaken for a scheme.
fn is_host_and_port(given: &str) -> bool {
    given.split_once(':').is_some_and(|(_, rest)| {
        let port = rest.split('/').next().unwrap_or_default();
        !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The message for braces anywhere but in `{origin}`.
const BRACES: &str = "{origin} stands for scheme, host and port, and only a path may follow it: '{origin}/' or \
                      '{origin}/sitemaps/'; any other { or } is written %7B or %7D";

/// File extensions that directory names rarely have.
const FILES: [&str; 12] =
    [".xml", ".gz", ".txt", ".html", ".htm", ".php", ".asp", ".aspx", ".jsp", ".json", ".csv", ".zip"];

/// Refuses the URL of a file, such as a sitemap: no URL can be below it.
fn check_is_no_file(given: &str) -> Result<(), String> {
    let path_at = given.find("//").map_or(0, |slashes| slashes + 2);
    let Some(slash) = given[path_at..].rfind(['/', '\\']).map(|slash| path_at + slash) else {
        return Ok(());
    };
    let file = given[slash + 1..].to_ascii_lowercase();
    match FILES.iter().any(|ending| file.ends_with(ending)) {
        true => Err(format!(
            "it ends in the name of a file, but must be the URL of the directory that the files are published in, such as \
             {}; if it is a directory, end it with a slash",
            &given[..=slash]
        )),
        false => Ok(()),
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)
    }
}

/// The directory that a set is published in, or the directories of the sets of all origins in the input.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Base {
    /// One set, in this directory.
    Directory(BaseUrl),
    /// A set for each combination of scheme, host and port, in this directory of its site: `{origin}/` or `{origin}/sitemaps/`.
    EachOrigin(SitePath),
}

/// The path of the same directory on every site; it begins and ends with a slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SitePath {
    /// The directory on the site [`ANY_ORIGIN`].
    anywhere: BaseUrl,
}

/// An origin that stands for every other.
const ANY_ORIGIN: &str = "http://h.example";

/// The placeholder for scheme, host and port.
const ORIGIN: &str = "{origin}";

impl SitePath {
    /// The path, with both slashes.
    pub(super) fn as_str(&self) -> &str {
        &self.anywhere.url[ANY_ORIGIN.len()..]
    }

    /// The path without the slash of the root; empty for the root.
    pub(crate) fn below_root(&self) -> &str {
        &self.as_str()[1..]
    }

    /// Returns the directory on the site of `origin`, which ends in a slash.
    ///
    /// # Errors
    /// If a file name would not fit after it.
    pub fn on(&self, origin: &str) -> Result<BaseUrl, String> {
        format!("{}{}", origin.trim_end_matches('/'), self.as_str()).parse()
    }
}

/// Maximum length of an origin: scheme, host with the dot of the root, port, and a slash.
const ORIGIN_BYTES_MAX: usize = "https://.:65535/".len() + HOST_BYTES_MAX;

impl Base {
    /// Maximum length of the base URL of a set.
    pub(crate) fn url_bytes_max(&self) -> usize {
        match self {
            Self::Directory(url) => url.as_str().len(),
            // URLs of origins that need more are rejected.
            Self::EachOrigin(path) => BASE_URL_BYTES_MAX.min(ORIGIN_BYTES_MAX + path.below_root().len()),
        }
    }

    /// Returns the base with non-ASCII characters percent-encoded in the charset `url_encoding`, as in lines.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if a character does not exist in the charset.
    pub fn encoded(&self, url_encoding: UrlEncoding) -> Result<Self, Error> {
        let encoded = |url: &BaseUrl| {
            let wrong = |why| Error::usage(message!(Setting::BaseUrl.with(self), ": {why}"));
            url.encoded(url_encoding).map_err(wrong)
        };
        Ok(match self {
            Self::Directory(url) => Self::Directory(encoded(url)?),
            Self::EachOrigin(path) => Self::EachOrigin(SitePath { anywhere: encoded(&path.anywhere)? }),
        })
    }
}

impl FromStr for Base {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, String> {
        let Some(path) = trimmed(given).strip_prefix(ORIGIN) else {
            return given.parse().map(Self::Directory);
        };
        if !path.is_empty() && !path.starts_with('/') {
            return Err(BRACES.into());
        }
        check_is_no_file(trimmed(given))?;
        Ok(Self::EachOrigin(SitePath { anywhere: format!("{ANY_ORIGIN}{path}").parse()? }))
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(url) => url.fmt(f),
            Self::EachOrigin(path) => write!(f, "{ORIGIN}{}", path.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_names_a_directory_however_it_is_spelled() {
        for (given, want) in [
            ("https://www.example.com", "https://www.example.com/"),
            ("https://www.example.com/", "https://www.example.com/"),
            ("HTTPS://WWW.Example.com:443/maps", "https://www.example.com/maps/"),
            ("http://bücher.example/a b/", "http://xn--bcher-kva.example/a%20b/"),
            ("http://a.b", "http://a.b/"),
            ("http://h.example/shop//", "http://h.example/shop//"),
            ("http://h.example/shop\\", "http://h.example/shop/"),
        ] {
            assert_eq!(given.parse::<BaseUrl>().unwrap().as_str(), want);
        }
        for wrong in [
            "",
            "/maps/",
            "ftp://h.example/",
            "https://h.example/?q",
            "https://h.example/#f",
            "https://",
            "\u{a0}https://h.example",
        ] {
            assert!(wrong.parse::<BaseUrl>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_path_of_a_base_is_percent_encoded_as_lines_are() {
        let latin: UrlEncoding = "iso-8859-1".parse().unwrap();
        let encoded =
            |given: &str| given.parse::<Base>().unwrap().encoded(latin).map(|base| base.to_string());
        for (given, want) in [
            ("https://bücher.example/ü", "https://xn--bcher-kva.example/%FC/"),
            ("https://h.example/%C3%BC/", "https://h.example/%C3%BC/"),
            ("{origin}/ü/", "{origin}/%FC/"),
        ] {
            assert_eq!(encoded(given).unwrap(), want);
        }
        for given in ["https://h.example/日/", "{origin}/日/"] {
            let error = encoded(given).unwrap_err().to_string();
            assert!(error.ends_with(": it is not a valid URL (not-encodable)"), "{error}");
        }
        let same: Base = "https://h.example/%FC/".parse().unwrap();
        assert_eq!("https://h.example/ü/".parse::<Base>().unwrap().encoded(latin).unwrap(), same);
    }

    #[test]
    fn equal_base_urls_are_equal_in_every_charset() {
        for (one, other, are_equal) in [
            ("https://bücher.example/", "https://xn--bcher-kva.example/", true),
            ("https://h.example/ü/", "https://h.example/%C3%BC/", false),
        ] {
            assert_eq!(one.parse::<Base>().unwrap() == other.parse().unwrap(), are_equal, "{one}, {other}");
        }
    }

    #[test]
    fn a_base_url_that_names_a_file_or_has_braces_is_refused() {
        for (wrong, said) in [
            ("https://h.example/sitemap.xml", "as https://h.example/;"),
            ("https://h.example/maps/Sitemap.XML.GZ", "as https://h.example/maps/;"),
            ("http://example.com/sitemap.gz", "as http://example.com/;"),
            ("{origin}/maps/index.html", "as {origin}/maps/;"),
            ("https://cdn.example/{origin}/", "'{origin}/'"),
            ("https://h.example/{lang}/", "%7B"),
            ("{origin}/{lang}/", "%7B"),
            ("{origin}x", "'{origin}/'"),
            ("{ORIGIN}/", "'{origin}/'"),
        ] {
            let why = wrong.parse::<Base>().unwrap_err();
            assert!(why.contains(said), "{wrong}: {why}");
        }
        for right in [
            "https://h.example/maps",
            "https://h.example/v1.2",
            "https://sitemap.xml",
            "https://h.example/sitemap.xml/",
            "{origin}/sitemap.xml/",
            "https://h.example/%7Blang%7D/",
        ] {
            assert!(right.parse::<Base>().is_ok(), "{right}");
        }
    }

    #[test]
    fn the_error_for_a_base_url_without_a_scheme_shows_the_whole_url() {
        for (given, said) in [
            ("www.shop.example", "it needs a scheme; did you mean https://www.shop.example/?"),
            ("shop.example/maps", "it needs a scheme; did you mean https://shop.example/maps/?"),
            ("/maps/", "it needs a scheme and a host, such as https://www.example.com/"),
            ("https:///maps/", "it needs a scheme and a host, such as https://www.example.com/"),
            ("ex.com:8080", "it needs a scheme; did you mean https://ex.com:8080/?"),
            ("localhost:8080/maps", "it needs a scheme; did you mean https://localhost:8080/maps/?"),
            ("ex.com:99999", "it needs a scheme and a host, such as https://www.example.com/"),
            ("https//www.ex.com", "it needs a scheme; did you mean https://www.ex.com/?"),
            ("http/www.ex.com", "it needs a scheme; did you mean http://www.ex.com/?"),
            ("file:///var/www", "it must begin with https:// or http://"),
            ("mailto:webmaster", "it must begin with https:// or http://"),
            ("ftp://www.ex.com/", "it must begin with https:// or http://"),
            ("https://a:b@www.ex.com/", "it is not a valid URL (credentials)"),
        ] {
            assert_eq!(given.parse::<BaseUrl>().unwrap_err(), said);
        }
        // Where only one directory is asked for, the placeholder is not recommended.
        let why = "{origin}/".parse::<BaseUrl>().unwrap_err();
        assert_eq!(why, "{origin} stands for every site; give the URL of one directory");
    }
}

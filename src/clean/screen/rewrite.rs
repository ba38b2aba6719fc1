//! Rewriting: replaces the beginning of canonical URLs.

use std::fmt;
use std::str::FromStr;

use super::prefix;
use crate::clean::UrlEncoding;
use crate::clean::given::trimmed;

/// Replaces a prefix of canonical URLs with another one: `https://staging.example.com/=https://www.example.com/`, or
/// `http://=https://` for the scheme of all URLs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    from: String,
    to: String,
}

/// Both prefixes of a [`Rewrite`], in their canonical form.
#[derive(Debug)]
pub struct Prefixes {
    /// The prefix to replace.
    pub from: Vec<u8>,
    /// Its replacement.
    pub to: Vec<u8>,
}

impl Rewrite {
    /// Returns the prefixes in their canonical form, with non-ASCII characters in the charset `url_encoding`.
    ///
    /// # Errors
    /// If one of the prefixes is invalid. The message says why.
    pub(crate) fn prefixes(&self, url_encoding: UrlEncoding) -> Result<Prefixes, String> {
        let canonical = |given: &str| match scheme_alone(given) {
            Some(scheme) => Ok(scheme.to_owned()),
            None => prefix::canonical(given, url_encoding).map_err(|why| format!("{given}: {why}")),
        };
        if scheme_alone(&self.from).is_some() != scheme_alone(&self.to).is_some() {
            return Err(
                "a scheme alone can only be replaced with another scheme, as in http://=https://".into()
            );
        }
        let (from, mut to) = (canonical(&self.from)?, canonical(&self.to)?);
        if scheme_alone(&self.from).is_none() && self.is_slash_left_out(&from, &to)? {
            to.push('/');
        }
        Ok(Prefixes { from: from.into(), to: to.into() })
    }

    /// Whether TO was given without the slash that precedes what follows it. The canonical form of a host alone ends with the slash
    /// of the path, so if only one of both is a host, the other must end with a slash, too.
    ///
    /// # Errors
    /// If it is not clear which URLs the rule means.
    fn is_slash_left_out(&self, from: &str, to: &str) -> Result<bool, String> {
        for host in [&self.from, &self.to].into_iter().filter(|given| prefix::lacks_path(given)) {
            if host.trim_end_matches([' ', '\t']).ends_with('.') {
                return Err(format!(
                    "{host}: a host can only be replaced as a whole; if it ends with a dot on purpose, add a slash"
                ));
            }
        }
        match (prefix::lacks_path(&self.from), prefix::lacks_path(&self.to)) {
            (true, false) if to.contains('?') => {
                Err(format!("TO has a query, and FROM has no path; end FROM with a slash: {from}"))
            }
            (true, false) => Ok(!to.ends_with('/')),
            (false, false) if from.ends_with('/') && ends_with_a_word(to) => {
                Err("FROM ends with a slash, and TO does not, so the last word of TO would be joined to the next one; \
                     end both with a slash, or neither"
                    .into())
            }
            (false, true) if !from.ends_with('/') => {
                Err("TO has no path, and FROM does not end with a slash; end both with a slash, or only TO to join them as text".into())
            }
            _ => Ok(false),
        }
    }
}

/// Whether the URL `to` has no query and ends with a letter or digit, perhaps of an escape.
fn ends_with_a_word(to: &str) -> bool {
    !to.contains('?') && to.ends_with(|last: char| last.is_ascii_alphanumeric())
}

/// `http://` or `https://` in any letter case, if `given` is nothing else.
fn scheme_alone(given: &str) -> Option<&'static str> {
    ["http://", "https://"].into_iter().find(|scheme| scheme.eq_ignore_ascii_case(given))
}

impl FromStr for Rewrite {
    type Err = String;

    /// Parses `FROM=TO`. Both begin with `http://` or `https://`.
    fn from_str(given: &str) -> Result<Self, String> {
        let given = trimmed(given);
        // A query has equals signs, too.
        let lower = given.to_ascii_lowercase();
        let mut signs =
            ["=http://", "=https://"].iter().flat_map(|start| lower.match_indices(start)).map(|(at, _)| at);
        let Some(at) = signs.next().filter(|&at| at > 0) else {
            return Err("expected FROM=TO, two beginnings of URLs, as in \
                        https://staging.example.com/=https://www.example.com/"
                .into());
        };
        if signs.next().is_some() {
            return Err("=http:// or =https:// occurs more than once, so it is not clear where TO begins; let FROM end before \
                        the first one, and write %3D for = in TO"
                .into());
        }
        let rewrite = Self { from: given[..at].into(), to: given[at + 1..].into() };
        rewrite.prefixes(UrlEncoding::default()).map(|_| rewrite)
    }
}

impl fmt::Display for Rewrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.from, self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_prefixes_are_canonical() {
        for (given, from, to) in [
            ("http://=HTTPS://", "http://", "https://"),
            ("http://a.b=https://c.d", "http://a.b/", "https://c.d/"),
            (
                "HTTP://H.example:80/a b=http://h.example/ü",
                "http://h.example/a%20b",
                "http://h.example/%C3%BC",
            ),
            ("http://h.example/?a=1=http://h.example/?b=", "http://h.example/?a=1", "http://h.example/?b="),
            ("https://a.com=https://b.com/x", "https://a.com/", "https://b.com/x/"),
            (" https://a.com =https://b.com/x/ ", "https://a.com/", "https://b.com/x/"),
            ("https://a.com/=https://b.com/x-", "https://a.com/", "https://b.com/x-"),
            ("https://a.com/x=https://b.com/y/", "https://a.com/x", "https://b.com/y/"),
            ("https://a.com/x/=https://b.com", "https://a.com/x/", "https://b.com/"),
            ("https://a.com/x=https://b.com/y", "https://a.com/x", "https://b.com/y"),
            ("https://a.com\\=https://b.com", "https://a.com/", "https://b.com/"),
            ("https://a.com/=https://b.com/?u=", "https://a.com/", "https://b.com/?u="),
            ("https://a.com./=https://b.com", "https://a.com./", "https://b.com/"),
        ] {
            let Prefixes { from: found, to: new } =
                given.parse::<Rewrite>().unwrap().prefixes(UrlEncoding::default()).unwrap();
            assert_eq!((&*found, &*new), (from.as_bytes(), to.as_bytes()), "{given}");
        }
    }

    #[test]
    fn a_rule_that_cannot_give_urls_is_refused() {
        for (given, said) in [
            ("", "expected FROM=TO"),
            ("http://h.example/", "expected FROM=TO"),
            ("/a=/b", "expected FROM=TO"),
            ("=http://h.example/", "expected FROM=TO"),
            ("/a=http://h.example/", "it needs a scheme"),
            ("http://=https://h.example/", "a scheme alone"),
            ("http://h.example/=https:///", "https:///: it needs a scheme and a host"),
            ("https://h.example/?u=http://x.example/=https://y.example/", "write %3D for = in TO"),
            ("http://h.example/=https://", "a scheme alone"),
            ("http://h.example/=https://u@h.example/", "it is not a valid URL (credentials)"),
            ("http://h.example/#a=https://h.example/", "no fragment"),
            ("https://a.com/x=https://b.com", "FROM does not end with a slash; end both with a slash"),
            ("https://a.com=https://b.com/?u=", "end FROM with a slash: https://a.com/"),
            ("https://a.com/=https://b.com/x", "FROM ends with a slash, and TO does not"),
            ("https://a.com/x/=https://b.com/ü", "FROM ends with a slash, and TO does not"),
            ("https://staging.=https://www.", "https://staging.: a host can only be replaced as a whole"),
            ("https://staging/=https://www.", "https://www.: a host can only be replaced as a whole"),
        ] {
            let why = given.parse::<Rewrite>().unwrap_err();
            assert!(why.contains(said), "{given}: {why}");
        }
    }
}

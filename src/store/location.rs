//! Locations of objects: a bucket and a key.

use std::path::Path;
#[cfg(feature = "cloud")]
use std::path::PathBuf;

use crate::error::{Error, Result, URL_OF_FILE, UrlUse, is_url, message};

/// The kinds of stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Amazon S3 and compatible stores.
    S3,
    /// Google Cloud Storage.
    Gs,
    /// Azure Blob Storage.
    Az,
    /// A web server (read-only).
    Http,
}

impl Scheme {
    /// The kind of store that the URL scheme `name`, in small letters, stands for.
    pub(super) fn of(name: &str) -> Option<Self> {
        SCHEMES.iter().find(|(known, _)| *known == name).map(|(_, scheme)| *scheme)
    }
}

/// URL schemes and the stores they stand for.
const SCHEMES: [(&str, Scheme); 7] = [
    ("s3", Scheme::S3),
    ("s3a", Scheme::S3),
    ("gs", Scheme::Gs),
    ("az", Scheme::Az),
    ("abfs", Scheme::Az),
    ("https", Scheme::Http),
    ("http", Scheme::Http),
];

/// What to do with files elsewhere.
const KNOWN_PLACES: &str = match cfg!(feature = "cloud") {
    true => {
        "sitemill reads and writes s3://, gs:// and az://, and reads https:// and http://; copy other files"
    }
    false => "this sitemill reads and writes only files and directories; copy other files",
};

/// The location of an object, or of all objects whose keys begin with a prefix.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Location {
    /// The kind of store.
    pub scheme: Scheme,
    /// The URL of the bucket, without a trailing slash: `s3://bucket`.
    pub root: String,
    /// The key in the bucket, without leading and trailing slashes (kept for web servers). Empty for the bucket itself.
    pub key: String,
    /// Whether the URL ends with a slash or names only the bucket, so that it cannot be an object.
    pub is_prefix: bool,
}

impl Location {
    /// Parses `path`; `None` if it is the path of a local file.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if it is a URL with another scheme, is not UTF-8, names no bucket or server,
    /// or has a key that cannot be requested.
    pub fn parse(path: &Path) -> Result<Option<Self>> {
        Self::parse_or(path, "")
    }

    /// Same as [`parse`](Self::parse). The error for an unknown scheme ends with `way_out`.
    fn parse_or(path: &Path, way_out: &str) -> Result<Option<Self>> {
        if !is_url(path) {
            return Ok(None);
        }
        let Some((name, rest)) = split_scheme(path) else {
            return Err(Error::usage(message!(path, ": is a URL that is not UTF-8")));
        };
        if name == "file" {
            return Err(Error::usage(message!(path, ": {URL_OF_FILE}")));
        }
        #[cfg(feature = "cloud")]
        if let Some(words) = of_hadoop(&name, rest) {
            return Err(Error::usage(message!(path, ": {words}")));
        }
        let Some(scheme) = Scheme::of(&name) else {
            return Err(Error::usage(message!(path, ": unknown scheme {name}; {KNOWN_PLACES}{way_out}")));
        };
        let (bucket, key) = match scheme {
            Scheme::Http => split_server(rest),
            Scheme::S3 | Scheme::Gs | Scheme::Az => rest.split_once('/').unwrap_or((rest, "")),
        };
        if bucket.is_empty() {
            return Err(Error::usage(message!(path, ": names no bucket; write {name}://bucket/prefix")));
        }
        match scheme {
            Scheme::Http => check_url(path)?,
            Scheme::S3 | Scheme::Gs | Scheme::Az => {
                check_bucket(&name, bucket)?;
                check_key(path, scheme, key)?;
            }
        }
        let is_prefix = key.is_empty() || key.ends_with('/');
        let key = if scheme == Scheme::Http { key } else { key.trim_matches('/') };
        Ok(Some(Self { scheme, root: format!("{name}://{bucket}"), key: key.into(), is_prefix }))
    }

    /// Parses the input `path`. The error for a scheme that no build reads says that the input is remote.
    ///
    /// # Errors
    /// Same as [`parse`](Self::parse).
    pub fn parse_input(path: &Path) -> Result<Option<Self>> {
        Self::parse_or(path, ", or pipe them in").map_err(|error| match split_scheme(path) {
            Some((name, _)) if name != "file" && Scheme::of(&name).is_none() => {
                error.of_unsupported(UrlUse::Input)
            }
            _ => error,
        })
    }

    /// Whether `other` is in the same bucket. A store may have several schemes.
    pub fn has_bucket_of(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.bucket() == other.bucket()
    }

    /// Its key as seen from `above`, if it is below that location or, with an empty key, that location itself.
    pub fn below(&self, above: &Self) -> Option<&str> {
        if !self.has_bucket_of(above) {
            return None;
        }
        let rest = self.key.strip_prefix(&*above.key)?;
        if rest.is_empty() || above.key.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
    }

    /// The name of the bucket.
    pub fn bucket(&self) -> &str {
        self.root.split_once("://").map_or("", |(_, bucket)| bucket)
    }

    /// The location as a path, for messages and for appending names.
    #[cfg(feature = "cloud")]
    pub fn path(&self) -> PathBuf {
        match self.key.is_empty() {
            true => self.root.clone().into(),
            false => format!("{}/{}", self.root, self.key).into(),
        }
    }
}

/// The scheme of the URL `path`, in small letters, and what follows `://`; `None` for any other path, and if it is not UTF-8.
pub(super) fn split_scheme(path: &Path) -> Option<(String, &str)> {
    let (scheme, rest) = path.to_str().filter(|_| is_url(path))?.split_once("://")?;
    Some((scheme.to_ascii_lowercase(), rest))
}

/// What to write instead of a URL of Hadoop's drivers for Azure, such as `abfss://container@account.dfs.core.windows.net/key`.
/// `None` for another URL, and for servers outside of Azure's public cloud. `rest` follows the scheme.
#[cfg(feature = "cloud")]
fn of_hadoop(scheme: &str, rest: &str) -> Option<String> {
    let (server, key) = rest.split_once('/').unwrap_or((rest, ""));
    let (container, server) =
        server.split_once('@').filter(|_| crate::error::SCHEMES_OF_CONTAINERS.contains(&scheme))?;
    let account = [".dfs.core.windows.net", ".blob.core.windows.net"]
        .iter()
        .find_map(|end| server.strip_suffix(end))?;
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"$-".contains(&byte))
    };
    let key = if key.is_empty() { "" } else { "…" };
    (is_name(container) && is_name(account)).then(|| {
        format!(
            "is the URL of a Hadoop driver; write az://{container}/{key}, and set AZURE_STORAGE_ACCOUNT={account}"
        )
    })
}

/// Checks the name of a bucket. Every store has its own rules, and these are common to all of them. A name may be part of a host
/// name.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage). The message has no password.
fn check_bucket(scheme: &str, bucket: &str) -> Result<()> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let at_ends = ['.', '-'];
    // Some containers of Azure begin with a dollar sign.
    let name = bucket.strip_prefix('$').unwrap_or(bucket);
    if !name.is_empty()
        && name.bytes().all(is_allowed)
        && !name.starts_with(at_ends)
        && !name.ends_with(at_ends)
        && !name.contains("..")
    {
        return Ok(());
    }
    let url = format!("{scheme}://{}", without_user(bucket));
    let words = match bucket.contains('@') {
        true => {
            "has a user name or password; leave them out, and set the keys in the environment or in a profile"
                .into()
        }
        false => format!("is not the name of a bucket; write {scheme}://bucket/prefix"),
    };
    Err(Error::usage(message!(Path::new(&url), ": {words}")))
}

/// Checks the `key` of `path`. The client library resolves no `.` and `..`, and can request no key with an empty part or a control
/// character.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage).
fn check_key(path: &Path, scheme: Scheme, key: &str) -> Result<()> {
    let refused = |words: &str| Err(Error::usage(message!(path, ": {words}")));
    if scheme == Scheme::Az && key.contains('\\') {
        return refused("has a backslash, which Azure treats as a slash; write a slash");
    }
    if key.starts_with('/') || key.contains("//") {
        return refused(
            "has two slashes in a row; remove one (objects with such keys cannot be read or written)",
        );
    }
    if key.split('/').any(|part| matches!(part, "." | "..")) {
        return refused("contains . or .., which a store does not resolve; write the location without them");
    }
    if key.contains(|letter: char| letter.is_ascii_control()) {
        return refused(
            "has a control character; correct it (objects with such keys cannot be read or written)",
        );
    }
    Ok(())
}

/// Checks that requests can be sent to the URL of a file.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage). The message has neither a password nor a signature.
fn check_url(url: &Path) -> Result<()> {
    let text = url.to_string_lossy();
    let Err(error) = url::Url::parse(&text) else { return Ok(()) };
    let (scheme, rest) = text.split_once("://").unwrap_or_default();
    let server = without_user(split_server(rest).0);
    let shown = format!("{scheme}://{server}");
    Err(Error::usage(message!(Path::new(&shown), ": is not the address of a server ({error})")))
}

/// The server at the start of `rest`, a URL after its scheme, and what follows it. A slash between them belongs to neither.
fn split_server(rest: &str) -> (&str, &str) {
    let (server, after) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    (server, after.strip_prefix('/').unwrap_or(after))
}

/// A server or bucket without the user name and password before it.
fn without_user(name: &str) -> &str {
    name.rsplit_once('@').map_or(name, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_the_same_under_each_scheme_of_its_store() {
        let at = |url: &str| Location::parse(Path::new(url)).unwrap().unwrap();
        assert!(
            at("s3a://b/x").has_bucket_of(&at("s3://b/y"))
                && at("az://$web").has_bucket_of(&at("abfs://$web"))
        );
        assert!(!at("s3://b").has_bucket_of(&at("gs://b")) && !at("s3://b").has_bucket_of(&at("s3://c")));
    }

    #[test]
    fn a_location_is_below_another_by_whole_parts_of_its_key() {
        let at = |url: &str| Location::parse(Path::new(url)).unwrap().unwrap();
        for (location, above, want) in [
            ("s3://b/a/c/d", "s3a://b/a/", Some("c/d")),
            ("s3://b/a/", "s3://b/a", Some("")),
            ("s3://b", "s3://b/", Some("")),
            ("s3://b/a/c", "s3://b", Some("a/c")),
            ("s3://b/ab", "s3://b/a", None),
            ("s3://b/a", "s3://b/a/c", None),
            ("s3://c/a", "s3://b", None),
        ] {
            assert_eq!(at(location).below(&at(above)), want, "{location} {above}");
        }
    }

    #[test]
    fn a_url_is_a_bucket_and_a_key() {
        for (url, root, key, is_prefix) in [
            ("s3://bucket", "s3://bucket", "", true),
            ("s3://bucket/", "s3://bucket", "", true),
            ("S3://bucket/a/b.csv", "s3://bucket", "a/b.csv", false),
            ("gs://bucket/a/", "gs://bucket", "a", true),
            ("https://h.example/a?b=c", "https://h.example", "a?b=c", false),
            ("https://h.example/a//../b/", "https://h.example", "a//../b/", true),
            ("https://h.example?a=b@c/d", "https://h.example", "?a=b@c/d", false),
            ("s3://bucket/.a/b..c/", "s3://bucket", ".a/b..c", true),
            ("az://$web/a", "az://$web", "a", false),
        ] {
            let location = Location::parse(Path::new(url)).unwrap().unwrap();
            assert_eq!(
                (&*location.root, &*location.key, location.is_prefix),
                (root, key, is_prefix),
                "{url}"
            );
        }
        for local in ["a/b", "c:", "s3:", "s3:/a", "file:/a", "1s://b"] {
            assert_eq!(Location::parse(Path::new(local)).unwrap(), None, "{local}");
        }
        for (wrong, said) in [
            ("ftp://h/a", KNOWN_PLACES),
            ("HDFS://h/a", "unknown scheme hdfs; "),
            ("s3:///a", "names no bucket"),
            ("file:///a", "file:///a: is a URL; give the path alone"),
            ("FILE://host/a", "give the path alone"),
            ("s3://my bucket/x", "s3://my bucket: is not the name of a bucket; write s3://bucket/prefix"),
            ("s3://b?x/y", "is not the name of a bucket"),
            ("gs://b#x/y", "is not the name of a bucket"),
            ("s3://-b/y", "is not the name of a bucket"),
            ("s3://b-/y", "is not the name of a bucket"),
            ("s3://b./y", "is not the name of a bucket"),
            ("s3://a..b/y", "is not the name of a bucket"),
            ("s3://a$b/y", "is not the name of a bucket"),
            ("az://$/y", "is not the name of a bucket"),
            ("s3://b/a//c", "s3://b/a//c: has two slashes in a row; remove one"),
            ("s3://b//a", "two slashes in a row"),
            ("gs://b/a//", "two slashes in a row"),
            ("s3://b//", "two slashes in a row"),
            ("s3://b/../x", "contains . or .., which a store does not resolve"),
            ("az://b/a/./x", "contains . or .."),
            ("s3://b/a/..", "contains . or .."),
            ("s3://b/a\nb", "s3://b/a\\nb: has a control character"),
            ("s3://b/a\u{7f}", "has a control character"),
            ("s3://user:5ec@b/x", "s3://b: has a user name or password"),
            ("abfs://user:5ec@b/x", "abfs://b: has a user name or password"),
            ("sftp://user:5ec@b/x", "sftp://b/x: unknown scheme sftp"),
            ("http://127.0.0.1:99999/x?5ec", "http://127.0.0.1:99999: is not the address of a server"),
            ("https://u:5ec@x:y/z", "https://x:y: is not the address of a server"),
            ("http://[zz]/a", "is not the address of a server"),
            ("http://256.256.256.256/x", "is not the address of a server"),
        ] {
            let error = Location::parse(Path::new(wrong)).unwrap_err();
            assert!(error.kind() == crate::ErrorKind::Usage && error.to_string().contains(said), "{error}");
            assert!(!error.to_string().contains("5ec"), "{error}");
        }
    }

    #[test]
    fn an_input_with_an_unknown_scheme_is_remote_in_every_build() {
        for (url, is_remote) in
            [("hdfs://h/a", true), ("ftp://h/a", true), ("s3:///a", false), ("file:///a", false)]
        {
            let error = Location::parse_input(Path::new(url)).unwrap_err();
            assert_eq!(error.unsupported().is_some(), is_remote, "{error}");
            assert_eq!(Location::parse(Path::new(url)).unwrap_err().unsupported(), None, "{url}");
        }
    }

    #[cfg(feature = "cloud")]
    #[test]
    fn a_url_of_hadoop_is_refused_with_the_location_to_write() {
        for (url, said) in [
            (
                "abfs://c@shop.dfs.core.windows.net/x.csv",
                "abfs://c@shop.dfs.core.windows.net/x.csv: is the URL of a Hadoop driver; write az://c/…, and set \
                 AZURE_STORAGE_ACCOUNT=shop",
            ),
            ("ABFSS://c@shop.dfs.core.windows.net", "write az://c/, and set AZURE_STORAGE_ACCOUNT=shop"),
            ("wasbs://c@shop.blob.core.windows.net/x?sig=5ec", "x?…: is the URL of a Hadoop driver"),
            ("abfss://c@onelake.dfs.fabric.microsoft.com/x", "unknown scheme abfss"),
        ] {
            let error = Location::parse(Path::new(url)).unwrap_err();
            assert!(error.kind() == crate::ErrorKind::Usage && error.to_string().contains(said), "{error}");
        }
    }
}

//! URLs that a command cannot use, or that this build cannot, with what to do instead.

use std::path::Path;

#[cfg(not(feature = "cloud"))]
use super::location::{Scheme, split_scheme};
#[cfg(not(feature = "cloud"))]
use crate::error::UrlUse;
use crate::error::{Error, ErrorKind, message};

/// The error for a URL on a web server, where sets are not kept. `kind` is [`ErrorKind::Input`] if it was to be read.
pub fn no_set_on_web_server(path: &Path, kind: ErrorKind) -> Error {
    let places = match cfg!(feature = "cloud") {
        true => "s3://, gs:// or az://",
        false => "a directory",
    };
    let way_out = if kind == ErrorKind::Input { ", or download it" } else { "" };
    let words =
        format!("is a URL, and sitemill keeps sets in directories and buckets; use {places}{way_out}");
    Error::usage(message!(path, ": {words}"))
}

/// Returns whether `path` is a URL that a build with object stores and web access reads.
#[cfg(not(feature = "cloud"))]
pub fn is_readable_elsewhere(path: &Path) -> bool {
    split_scheme(path).is_some_and(|(name, _)| Scheme::of(&name).is_some())
}

/// The error of this `kind` for a URL if this build does not read URLs: [`ErrorKind::Input`] if it was to be read, and
/// [`ErrorKind::Usage`] for a place to publish to.
#[cfg(not(feature = "cloud"))]
pub fn not_built_in(path: &Path, kind: ErrorKind) -> Error {
    let words = "is a URL, and this sitemill was built without object stores and web access (the feature cloud); use the Python or Debian \
                 package, which has them";
    let error = |way_out: &str| Error::new(kind, message!(path, ": {words}, {way_out}"));
    match kind {
        ErrorKind::Usage => {
            error("or publish to a directory and copy its files").of_unsupported(UrlUse::Output)
        }
        _ => error("or copy the files first"),
    }
}

#[cfg(test)]
mod tests {
    #[cfg(not(feature = "cloud"))]
    #[test]
    fn a_build_without_stores_says_what_has_them_and_what_to_do_without() {
        use super::*;

        for (kind, way_out) in [
            (ErrorKind::Input, "use the Python or Debian package, which has them, or copy the files first"),
            (ErrorKind::Usage, "which has them, or publish to a directory and copy its files"),
        ] {
            let error = not_built_in(Path::new("s3://b/k"), kind);
            assert!(error.kind() == kind && error.to_string().ends_with(way_out), "{error}");
        }
    }
}

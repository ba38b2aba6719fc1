//! Remote inputs: the files that a URL refers to.

#[cfg(feature = "cloud")]
mod bucket;
#[cfg(feature = "cloud")]
mod file;
mod found;
#[cfg(feature = "cloud")]
mod origin;
#[cfg(feature = "cloud")]
mod pattern;
#[cfg(feature = "cloud")]
mod web;
#[cfg(feature = "cloud")]
mod windows;

use std::collections::VecDeque;
use std::iter;
use std::path::Path;

pub use found::{Remote, RemoteDirectory};

use super::format::OutDirectory;
use super::input::UnreadInput;
use crate::error::Result;

/// Maximum number of sources whose first bytes are prefetched while another source is read.
const SOURCES_AHEAD: usize = 16;

/// Iterates over `sources`, which are read one after the other, and prefetches the first bytes of the next ones.
pub fn in_turn(sources: Vec<UnreadInput<'_>>) -> impl Iterator<Item = UnreadInput<'_>> {
    let mut ahead = VecDeque::new();
    let mut rest = sources.into_iter();
    iter::from_fn(move || {
        while ahead.len() <= SOURCES_AHEAD
            && let Some(next) = rest.next()
        {
            next.start();
            ahead.push_back(next);
        }
        ahead.pop_front()
    })
}

/// Finds the files that `url` refers to: an object, a pattern of objects, a location with objects below it, or a file on a web
/// server. Objects in `out` are omitted. Returns `None` if `url` is the path of a local file.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage) for a scheme that cannot be read, [`ErrorKind::Input`](crate::ErrorKind::Input)
/// if nothing is there, [`ErrorKind::Permission`](crate::ErrorKind::Permission) if it may not be read.
#[cfg(feature = "cloud")]
pub fn find(url: &Path, needs_success: bool, out: Option<&OutDirectory>) -> Result<Option<Vec<Remote>>> {
    use crate::store::{Location, Scheme};

    let Some(location) = Location::parse_input(url)? else { return Ok(None) };
    match location.scheme {
        Scheme::Http => web::find(&location).map(|file| Some(vec![Remote::File(file)])),
        Scheme::S3 | Scheme::Gs | Scheme::Az => {
            let bucket = crate::store::connect(&location)?;
            bucket::find(&bucket, &location, needs_success, out).map(Some)
        }
    }
}

/// Whether `name` is the URL of a file on a web server, where neighbouring files cannot be listed.
pub fn is_on_web_server(name: &Path) -> bool {
    let name = name.to_string_lossy();
    let starts = |scheme: &str| name.get(..scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme));
    starts("https://") || starts("http://")
}

/// Without object stores, every input is a local file.
///
/// # Errors
/// [`ErrorKind::Input`](crate::ErrorKind::Input) for a URL that a build with object stores reads,
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage) for any other.
#[cfg(not(feature = "cloud"))]
pub fn find(url: &Path, _: bool, _: Option<&OutDirectory>) -> Result<Option<Vec<Remote>>> {
    use crate::error::ErrorKind;
    use crate::store::{Location, not_built_in};

    match Location::parse_input(url)? {
        None => Ok(None),
        Some(_) => Err(not_built_in(url, ErrorKind::Input).of_remote_input()),
    }
}

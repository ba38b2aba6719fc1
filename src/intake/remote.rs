//! Remote inputs: the files that a URL refers to.

#[cfg(feature = "cloud")]
mod bucket;
#[cfg(feature = "cloud")]
mod file;
mod found;
#[cfg(feature = "cloud")]
mod pattern;
#[cfg(feature = "cloud")]
mod version;
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
#[cfg(feature = "cloud")]
use crate::store::{Bucket, Location, Scheme, connect};

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
    find_with(url, &|bucket, location| bucket::find(bucket, location, needs_success, out))
}

/// Finds the file or location at `url` like [`find`], even if its name could be a pattern, as that of a file that an index lists.
///
/// # Errors
/// Same as [`find`].
#[cfg(feature = "cloud")]
pub fn find_exact(url: &Path) -> Result<Option<Remote>> {
    Ok(find_with(url, &bucket::find_exact)?.and_then(|mut found| found.pop()))
}

/// Finds the file at `url` on a web server, or what `in_bucket` finds.
#[cfg(feature = "cloud")]
fn find_with(
    url: &Path,
    in_bucket: &dyn Fn(&Bucket, &Location) -> Result<Vec<Remote>>,
) -> Result<Option<Vec<Remote>>> {
    let Some(location) = Location::parse_input(url)? else { return Ok(None) };
    match location.scheme {
        Scheme::Http => web::find(&location).map(|file| Some(vec![Remote::File(file)])),
        Scheme::S3 | Scheme::Gs | Scheme::Az => in_bucket(&connect(&location)?, &location).map(Some),
    }
}

/// Whether `url` is a pattern of objects.
#[cfg(feature = "cloud")]
pub fn is_pattern(url: &Path) -> bool {
    let location = Location::parse(url).ok().flatten();
    location.is_some_and(|location| location.scheme != Scheme::Http && pattern::has_pattern(&location.key))
}

/// Without object stores, there are no patterns.
#[cfg(not(feature = "cloud"))]
pub fn is_pattern(_: &Path) -> bool {
    false
}

/// Returns `None`: without object stores, every file is local.
///
/// # Errors
/// None.
#[cfg(not(feature = "cloud"))]
pub fn find_exact(_: &Path) -> Result<Option<Remote>> {
    Ok(None)
}

/// Refuses URLs, which this build cannot read. Any other path is that of a local file.
///
/// # Errors
/// [`ErrorKind::Input`](crate::ErrorKind::Input) for a URL that a build with object stores reads,
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage) for any other.
#[cfg(not(feature = "cloud"))]
pub fn find(url: &Path, _: bool, _: Option<&OutDirectory>) -> Result<Option<Vec<Remote>>> {
    use crate::error::{ErrorKind, UrlUse};
    use crate::store::{Location, is_readable_elsewhere, not_built_in};

    match is_readable_elsewhere(url) {
        true => Err(not_built_in(url, ErrorKind::Input).of_unsupported(UrlUse::Input)),
        false => Location::parse_input(url).map(|_| None),
    }
}

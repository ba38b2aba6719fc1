//! Compressed copies of files, which servers send instead of them.

use std::ffi::OsStr;
use std::io::BufRead;

use crate::commands::check::content::Content;
use crate::place::PlaceFile;

/// The name without `.gz` of a file that may be a compressed copy.
pub(super) fn plain_name(name: &OsStr) -> Option<&str> {
    let name = name.to_str()?;
    let (plain, end) = name.split_at_checked(name.len().saturating_sub(3))?;
    end.eq_ignore_ascii_case(".gz").then_some(plain)
}

/// Whether two files have the same content, however they are compressed.
pub(super) fn is_same(one: &PlaceFile, other: &PlaceFile) -> bool {
    let (Ok(mut one), Ok(mut other)) = (Content::open(one), Content::open(other)) else { return false };
    loop {
        let (Ok(of_one), Ok(of_other)) = (one.fill_buf(), other.fill_buf()) else { return false };
        let bytes = of_one.len().min(of_other.len());
        if bytes == 0 || of_one[..bytes] != of_other[..bytes] {
            let are_at_end = of_one.is_empty() && of_other.is_empty();
            return are_at_end && one.take_failure().is_none() && other.take_failure().is_none();
        }
        one.consume(bytes);
        other.consume(bytes);
    }
}

//! Members: the files that an index file lists.

use super::content::Content;
use super::entry::Entry;
use super::finding::Findings;
use super::loc::directory;
use super::reader::Reader;
use super::set::file;
use crate::error::{Error, Result, message};
use crate::escape::shown;
use crate::place::PlaceFile;

/// Returns the files that the index file `index` lists in its own directory, in its order. Other rules are not checked.
///
/// # Errors
/// If the index file cannot be read completely, or lists a URL that is not a file in its directory.
pub(crate) fn members(index: &PlaceFile) -> Result<Vec<PlaceFile>> {
    let path = index.path();
    let mut findings = Findings::new(shown(path.as_os_str().as_encoded_bytes()), 1);
    let mut reader = Reader::new(Content::open(index)?, &mut findings);
    let mut entry = Entry::default();
    let (mut members, mut base) = (Vec::new(), None);
    while reader.next(&mut entry).map_err(|error| Error::io(path, "could not be read", error))? {
        let Some(loc) = entry.loc().filter(|loc| !loc.is_empty()) else { continue };
        let base = base.get_or_insert_with(|| directory(loc));
        members.push(member(index, base.as_deref(), entry.number(), loc)?);
    }
    match &findings.damage {
        Some(damage) => Err(damage.error(path)),
        None => Ok(members),
    }
}

/// Returns the file in the directory of `index` that the `loc` of its entry `number` refers to.
pub(crate) fn member(index: &PlaceFile, base: Option<&str>, number: u64, loc: &[u8]) -> Result<PlaceFile> {
    let member = base.and_then(|base| Some(index.beside(file(loc, base)?)));
    let index = index.path();
    match member {
        Some(member) if member.is_file() => Ok(member),
        Some(member) => {
            let member = member.path();
            Err(Error::data(message!(index, ": entry {number}: there is no such file: ", member)))
        }
        None => {
            let loc = shown(loc);
            Err(Error::data(message!(index, ": entry {number}: not a file in the same directory: {loc}")))
        }
    }
}

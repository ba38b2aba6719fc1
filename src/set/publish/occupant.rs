//! What has the name of a sitemap already.

use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use xxhash_rust::xxh3::Xxh3;

use super::known::seal;
use super::name::{ContentHash, words};
use crate::common::secret::Secret;
use crate::error::{Error, Result};
use crate::place::fs::{FileSystem, foreign};
use crate::set::manifest::{Seal, Sitemap};

/// What has the name of a sitemap that is to be published.
pub enum Occupant {
    /// Nothing.
    None,
    /// The same content, perhaps compressed in another way.
    Same {
        /// The bytes of the file.
        gzip: Vec<u8>,
    },
    /// Another content that the name fits as well: eight digits met.
    Other,
    /// No content that the name fits.
    Damaged,
}

/// Looks at `path`, whose name is made with `word`, for the XML that has the seal `xml` under `secret`. Only the seal tells
/// whether the same lies there: another content may have been prepared to meet the hash in its name.
pub fn occupant(
    fs: &dyn FileSystem,
    path: &Path,
    word: &str,
    secret: &Secret,
    xml: Seal,
    gzip: &[u8],
) -> Result<Occupant> {
    match fs.look(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Occupant::None),
        Err(error) => return Err(Error::io(path, "could not be looked at", error)),
        Ok(meta) if !meta.is_file() => return Err(foreign(path)),
        Ok(_) => {}
    }
    let there = fs.read(path).map_err(|error| Error::io(path, "could not be read", error))?;
    if there == gzip {
        return Ok(Occupant::Same { gzip: there });
    }
    let (mut hasher, mut sealer) = (Xxh3::new(), secret.hasher());
    let decoded = decode(&there, |piece| {
        hasher.update(piece);
        sealer.update(piece);
    });
    let (content, sealed) = (ContentHash(hasher.digest128()), Seal(sealer.digest128()));
    Ok(match decoded {
        Ok(()) if sealed == xml => Occupant::Same { gzip: there },
        Ok(()) if words(content, sealed).any(|fitting| fitting == word) => Occupant::Other,
        _ => Occupant::Damaged,
    })
}

/// Whether the file of a published sitemap is there: with its bytes counted, or, if it was compressed anew meanwhile, with
/// its content read. What rots in a file is left to `check` and [`is_whole`], so that a large set is shown at once.
pub fn is_there(fs: &dyn FileSystem, out: &Path, sitemap: &Sitemap) -> bool {
    let path = out.join(&sitemap.file);
    match fs.look(&path) {
        Ok(meta) if meta.is_file() && meta.bytes == sitemap.gzip_bytes => true,
        Ok(meta) if meta.is_file() => {
            let content = fs.read(&path).and_then(|gzip| content_of(&gzip));
            content.is_ok_and(|content| content.to_string() == sitemap.content)
        }
        _ => false,
    }
}

/// Whether the file of a published sitemap holds what was published, by its seal under `secret`; or, if it has none, or was
/// compressed anew meanwhile, by its content. Reads all of it.
///
/// # Errors
/// If it is there and cannot be read: nothing is known of it then.
pub fn is_whole(fs: &dyn FileSystem, out: &Path, secret: Option<&Secret>, sitemap: &Sitemap) -> Result<bool> {
    let path = out.join(&sitemap.file);
    match fs.look(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(Error::io(&path, "could not be looked at", error)),
        Ok(meta) if !meta.is_file() => return Ok(false),
        Ok(_) => {}
    }
    let gzip = fs.read(&path).map_err(|error| Error::io(&path, "could not be read", error))?;
    let seals = secret.zip(sitemap.seals);
    Ok(seals.is_some_and(|(secret, seals)| seal(secret, &gzip) == seals.gzip)
        || content_of(&gzip).is_ok_and(|content| content.to_string() == sitemap.content))
}

/// The hash of what a gzip file decodes to.
fn content_of(gzip: &[u8]) -> io::Result<ContentHash> {
    let mut hasher = Xxh3::new();
    decode(gzip, |piece| hasher.update(piece))?;
    Ok(ContentHash(hasher.digest128()))
}

/// Gives what a gzip file decodes to, piece by piece.
fn decode(gzip: &[u8], mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let mut xml = MultiGzDecoder::new(gzip);
    let mut piece = [0; 16 * 1024];
    loop {
        match xml.read(&mut piece)? {
            0 => return Ok(()),
            read => take(&piece[..read]),
        }
    }
}

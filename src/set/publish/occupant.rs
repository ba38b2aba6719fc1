//! Existing files under the names of sitemaps.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use xxhash_rust::xxh3::Xxh3;

use crate::common::secret::Secret;
use crate::error::Result;
use crate::place::View;
use crate::set::content::{ContentHash, Seal, seal};
use crate::set::manifest::Sitemap;
use crate::set::name::hash_candidates;

/// The file that already has the name of a sitemap to be published.
pub enum Occupant {
    /// There is no such file.
    None,
    /// A file with the same XML, perhaps compressed differently.
    Same {
        /// The bytes of the file.
        gzip: Vec<u8>,
    },
    /// A whole file with other XML, whose hash happens to give the same name.
    Other,
    /// A file that cannot be decoded, or whose hash does not match its name.
    Damaged,
}

/// Compares the published sitemap `file`, whose name contains `digits`, with the sitemap that is compressed to `gzip` and whose
/// XML has the seal `xml` under `secret`. Only an equal seal proves that the XML is equal, because an attacker can construct
/// another content with the hash in the name.
///
/// # Errors
/// If the file cannot be read or is not a regular file.
pub fn occupant(
    view: &dyn View,
    file: &str,
    digits: &str,
    secret: &Secret,
    xml: Seal,
    gzip: &[u8],
) -> Result<Occupant> {
    Ok(occupant_of(view.read_or_refuse(file.as_ref())?, digits, secret, xml, gzip))
}

/// Looks at the bytes that are `there` under the name of a sitemap, if there are any, as [`occupant`] does.
pub fn occupant_of(
    there: Option<Vec<u8>>,
    digits: &str,
    secret: &Secret,
    xml: Seal,
    gzip: &[u8],
) -> Occupant {
    let Some(there) = there else { return Occupant::None };
    if there == gzip {
        return Occupant::Same { gzip: there };
    }
    let (mut hasher, mut sealer) = (Xxh3::new(), secret.hasher());
    let decoded = decode(&there, |buffer| {
        hasher.update(buffer);
        sealer.update(buffer);
    });
    let (content, sealed) = (ContentHash(hasher.digest128()), Seal(sealer.digest128()));
    match decoded {
        Ok(()) if sealed == xml => Occupant::Same { gzip: there },
        Ok(()) if hash_candidates(content, sealed).any(|fitting| fitting == digits) => Occupant::Other,
        _ => Occupant::Damaged,
    }
}

/// Whether the file of a published sitemap exists with the right size. A file of another size may have been recompressed, so
/// its content is compared. Files of the right size are not read, so that the status of a large set is quick; `check` and
/// [`is_whole`] find changed bytes.
///
/// # Errors
/// If the file cannot be looked up. One of another size that cannot be read does not count.
pub fn is_there(view: &dyn View, sitemap: &Sitemap) -> Result<bool> {
    Ok(match view.look_up(sitemap.file.as_ref())? {
        Some(found) if found.is_file && found.bytes == sitemap.gzip_bytes => true,
        Some(found) if found.is_file => {
            let content = view.read(sitemap.file.as_ref()).ok().and_then(|gzip| content_of(&gzip).ok());
            content.is_some_and(|content| content.to_string() == sitemap.content)
        }
        _ => false,
    })
}

/// Whether the file of a published sitemap is intact. Reads the whole file and compares its seal under `secret`. If the
/// manifest has no seal, or the file was recompressed, the hash of the XML is compared instead.
///
/// # Errors
/// If the file exists and cannot be read. A missing file is not an error, but is not intact.
pub fn is_whole(view: &dyn View, secret: Option<&Secret>, sitemap: &Sitemap) -> Result<bool> {
    if !view.look_up(sitemap.file.as_ref())?.is_some_and(|found| found.is_file) {
        return Ok(false);
    }
    if let Some(answer) = view.is_as_published(sitemap.file.as_ref(), sitemap.gzip_bytes) {
        return Ok(answer);
    }
    let gzip = view.read(sitemap.file.as_ref())?;
    let seals = secret.zip(sitemap.seals);
    Ok(seals.is_some_and(|(secret, seals)| seal(secret, &gzip) == seals.gzip)
        || content_of(&gzip).is_ok_and(|content| content.to_string() == sitemap.content))
}

/// The hash of the decoded content of a gzip file.
fn content_of(gzip: &[u8]) -> io::Result<ContentHash> {
    let mut hasher = Xxh3::new();
    decode(gzip, |buffer| hasher.update(buffer))?;
    Ok(ContentHash(hasher.digest128()))
}

/// Decodes a gzip file and passes its content to `take`, one buffer at a time.
fn decode(gzip: &[u8], mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let mut xml = MultiGzDecoder::new(gzip);
    let mut buffer = [0; 16 * 1024];
    loop {
        match xml.read(&mut buffer)? {
            0 => return Ok(()),
            read => take(&buffer[..read]),
        }
    }
}

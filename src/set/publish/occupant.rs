//! What has the name of a sitemap already.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use xxhash_rust::xxh3::Xxh3;

use crate::common::secret::Secret;
use crate::error::Result;
use crate::place::View;
use crate::set::content::{ContentHash, Seal, seal};
use crate::set::manifest::Sitemap;
use crate::set::name::words;

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

/// Looks at the published sitemap `file`, whose name is made with `word`, for the XML that has the seal `xml` under `secret`.
/// Only the seal tells whether the same XML is there: another content may have been prepared to meet the hash in its name.
///
/// # Errors
/// If it cannot be read, or something that is no file has the name.
pub fn occupant(
    view: &dyn View,
    file: &str,
    word: &str,
    secret: &Secret,
    xml: Seal,
    gzip: &[u8],
) -> Result<Occupant> {
    let Some(there) = view.occupant(file.as_ref())? else { return Ok(Occupant::None) };
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

/// Whether the file of a published sitemap is there: by its number of bytes, or, if it was compressed anew meanwhile, by its
/// content. Bytes that rot in a file are left to `check` and [`is_whole`], so that the status of a large set comes at once.
pub fn is_there(view: &dyn View, sitemap: &Sitemap) -> bool {
    match view.look_up(sitemap.file.as_ref()) {
        Ok(Some(found)) if found.is_file && found.bytes == sitemap.gzip_bytes => true,
        Ok(Some(found)) if found.is_file => {
            let content = view.read(sitemap.file.as_ref()).ok().and_then(|gzip| content_of(&gzip).ok());
            content.is_some_and(|content| content.to_string() == sitemap.content)
        }
        _ => false,
    }
}

/// Whether the file of a published sitemap holds what was published, by its seal under `secret`; or, if it has none or was
/// compressed anew meanwhile, by its content. Reads all of it.
///
/// # Errors
/// If it is there and cannot be read: nothing is known of it then.
pub fn is_whole(view: &dyn View, secret: Option<&Secret>, sitemap: &Sitemap) -> Result<bool> {
    if !view.look_up(sitemap.file.as_ref())?.is_some_and(|found| found.is_file) {
        return Ok(false);
    }
    let gzip = view.read(sitemap.file.as_ref())?;
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

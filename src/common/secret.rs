//! Secrets of keyed hashes.

use xxhash_rust::xxh3::{Xxh3, xxh3_128_with_secret};

use crate::error::{Error, ErrorKind, Result};

/// The hash that identifies a URL, at most [`KEY_MAX`]. Never zero, because zero marks a free slot in a table.
pub type Key = u128;

/// The largest key.
pub const KEY_MAX: Key = Key::MAX >> 8;

/// The secret of a keyed hash. The keys of the dedup have one that is drawn for each run. The seals of a set have one that its
/// manifest keeps, so that the next run recognises unchanged sitemaps.
#[derive(Clone)]
pub struct Secret([u8; 192]);

impl Secret {
    /// Draws a secret from the operating system.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if the system provides no random bytes.
    pub fn draw() -> Result<Self> {
        let mut bytes = [0; 192];
        getrandom::fill(&mut bytes)
            .map_err(|error| Error::new(ErrorKind::Io, format!("no random bytes available: {error}")))?;
        Ok(Self(bytes))
    }

    /// Parses a secret that [`Secret::to_hex`] wrote.
    pub fn from_hex(digits: &str) -> Option<Self> {
        let pairs = digits.as_bytes().as_chunks::<2>().0.iter();
        let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
        let bytes = pairs.map(byte).collect::<Option<Vec<u8>>>()?;
        Some(Self(bytes.try_into().ok()?))
    }

    /// Formats the secret as hexadecimal digits, for a file that only the owner can read.
    pub fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Creates a 128-bit hasher that is keyed with this secret.
    pub fn hasher(&self) -> Xxh3 {
        Xxh3::with_secret(self.0)
    }

    /// The keyed hash of `bytes`.
    #[inline]
    pub fn hash(&self, bytes: &[u8]) -> u128 {
        xxh3_128_with_secret(bytes, &self.0)
    }

    /// The key of `url`, a canonical URL.
    #[inline]
    pub fn key(&self, url: &[u8]) -> Key {
        (self.hash(url) & KEY_MAX).max(1)
    }
}

impl std::fmt::Debug for Secret {
    /// Omits the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_key_depends_on_every_byte_and_on_the_secret() {
        let secrets = [Secret::draw().unwrap(), Secret::draw().unwrap()];
        let mut keys = HashSet::new();
        let mut urls = 0;
        for path_bytes in [0, 1, 3, 20, 100, 200, 223, 224, 400, 1200] {
            for changed in 0..=path_bytes {
                let mut url = b"http://h.example/".to_vec();
                url.resize(url.len() + path_bytes, b'a');
                if changed < path_bytes {
                    url[17 + changed] = b'b';
                }
                keys.extend(secrets.iter().map(|secret| secret.key(&url)));
                urls += 1;
            }
        }
        assert_eq!(keys.len(), 2 * urls);
    }
}

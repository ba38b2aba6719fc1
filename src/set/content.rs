//! Hashes of sitemaps: a plain hash, which file names contain, and a keyed hash, the seal, which proves the content.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::common::secret::Secret;

/// XXH3 of a sitemap's XML, 128 bits. The XML is hashed rather than the file, because the output of compressors differs
/// between versions. The hash has no key, so names are equal on every machine. Therefore an attacker who controls URLs can
/// construct two contents with the same hash: it gives a name but proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentHash(pub u128);

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Hashes keyed with the secret of the set. An attacker who controls URLs cannot construct another content with the same seals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seals {
    /// Seal of the XML.
    pub xml: Seal,
    /// Seal of the file.
    pub gzip: Seal,
}

/// A keyed hash of 128 bits. In JSON it is a string of 32 hexadecimal digits, because few JSON readers accept numbers of
/// that size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Seal(pub u128);

impl From<Seal> for String {
    fn from(seal: Seal) -> Self {
        format!("{:032x}", seal.0)
    }
}

impl TryFrom<String> for Seal {
    type Error = std::num::ParseIntError;

    fn try_from(digits: String) -> Result<Self, Self::Error> {
        u128::from_str_radix(&digits, 16).map(Self)
    }
}

/// The seal of `bytes` under `secret`.
pub fn seal(secret: &Secret, bytes: &[u8]) -> Seal {
    let mut hasher = secret.hasher();
    hasher.update(bytes);
    Seal(hasher.digest128())
}

//! What the content of a sitemap is known by: a plain hash, which names it, and a seal, which proves it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::common::secret::Secret;

/// XXH3 of a sitemap's XML, 128 bits. Of the XML and not of the file: compressors differ from version to version. It has no
/// secret, so that names are the same on every machine, and whoever has a say in URLs can prepare two contents that share it:
/// it names, and proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentHash(pub u128);

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Hashes under the secret of the set: whoever has a say in URLs cannot prepare another content that meets them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seals {
    /// Of the XML.
    pub xml: Seal,
    /// Of the file.
    pub gzip: Seal,
}

/// 128 bits, written as 32 hexadecimal digits: few readers of JSON take numbers of that size.
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

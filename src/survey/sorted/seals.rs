//! Seals of rows: keyed hashes whose sum tells whether a range has the same rows as in another run, in any order.

use crate::common::secret::Secret;
use crate::sitemap::entry::Entry;
use crate::survey::tail::Tail;

/// The prefix of the bytes of an entry with tags. No URL begins with it.
const TAGGED: u8 = 0;

/// Hashes rows with a secret that only the owner of the set can read, so an attacker who controls URLs cannot construct rows with
/// the same sum as others.
pub struct RowSealer<'s> {
    secret: &'s Secret,
    /// The bytes of an entry with tags.
    bytes: Vec<u8>,
}

impl<'s> RowSealer<'s> {
    pub fn new(secret: &'s Secret) -> Self {
        Self { secret, bytes: Vec::new() }
    }

    /// The hash of everything in `entry` that decides its XML, and which of several entries with the same URL is listed.
    #[inline]
    pub fn seal(&mut self, entry: &Entry<'_>) -> u128 {
        if entry.is_plain() { self.secret.hash(entry.url.as_bytes()) } else { self.seal_tagged(entry) }
    }

    fn seal_tagged(&mut self, entry: &Entry<'_>) -> u128 {
        self.bytes.clear();
        self.bytes.push(TAGGED);
        Tail::push(entry, 0, &mut self.bytes);
        self.secret.hash(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::CleanUrl;

    #[test]
    fn a_seal_depends_on_all_of_the_entry() {
        let secret = Secret::draw().unwrap();
        let mut sealer = RowSealer::new(&secret);
        let plain = Entry::of(CleanUrl::known(b"https://h.example/a", false));
        let dated = Entry { tags: b"<lastmod>2026-01-01</lastmod>", instant: Some(1), ..plain };
        let entries = [
            plain,
            Entry::of(CleanUrl::known(b"https://h.example/b", false)),
            dated,
            Entry { instant: Some(2), ..dated },
            Entry { tags: b"<lastmod>2026-01-02</lastmod>", ..dated },
        ];
        let mut seals: Vec<u128> = entries.iter().map(|entry| sealer.seal(entry)).collect();
        assert_eq!(seals, entries.iter().map(|entry| sealer.seal(entry)).collect::<Vec<_>>());
        seals.sort_unstable();
        seals.dedup();
        assert_eq!(seals.len(), entries.len());
    }
}

//! The keys of all URLs of a set, and a search for URLs that are listed more than once.
//!
//! The keys are those of [`dedup`](crate::survey::dedup): hashed under a secret, 16 bytes per URL.

use crate::common::ordered::ordered;
use crate::common::stop::Stop;
use crate::error::Result;
use crate::escape::shown;
use crate::place::PlaceFile;
use crate::survey::dedup::{ChunkKeys, PARTITIONS, Round, Table, expected, find_duplicates, has_several};

/// The sitemaps of a set, in order, with the keys of their URLs.
#[derive(Default)]
pub(crate) struct Sitemaps {
    files: Vec<PlaceFile>,
    keys: Vec<ChunkKeys>,
}

/// The index of a sitemap and of one of its entries.
pub(crate) type EntryIndex = (usize, u16);

/// Entries whose URL is also listed earlier.
pub(crate) struct Duplicates {
    /// The first of these entries, in order: at most a few hundred times the requested number.
    pub first: Vec<EntryIndex>,
    /// The number of the remaining ones.
    pub beyond: u64,
}

impl Sitemaps {
    /// Appends a sitemap. `keys` are in the order of its entries.
    pub fn push(&mut self, file: PlaceFile, keys: ChunkKeys) {
        self.files.push(file);
        self.keys.push(keys);
    }

    /// Keeps only these sitemaps.
    pub fn retain(&mut self, is_kept: impl Fn(&PlaceFile) -> bool) {
        let kept: Vec<bool> = self.files.iter().map(is_kept).collect();
        let (mut of_files, mut of_keys) = (kept.iter(), kept.iter());
        self.files.retain(|_| *of_files.next().expect("there is one for each"));
        self.keys.retain(|_| *of_keys.next().expect("there is one for each"));
    }

    /// Returns the name of a sitemap, for messages.
    pub fn shown(&self, sitemap: usize) -> String {
        shown(self.files[sitemap].path().as_os_str().as_encoded_bytes())
    }

    /// Finds URLs that are also listed earlier, and keeps `kept_max` of them per partition of the keys.
    ///
    /// # Errors
    /// If memory runs out or `stop` is raised.
    pub fn duplicates(&self, threads: usize, kept_max: usize, stop: &Stop) -> Result<Duplicates> {
        let chunks = |partition| {
            self.keys.iter().enumerate().map(move |(sitemap, keys)| keys.partition(sitemap, partition))
        };
        // In a small set, most partitions are empty, and each costs a transfer between threads.
        let expected = expected(self.keys.iter().map(ChunkKeys::count).sum());
        let partitions = (0..PARTITIONS).filter(|&partition| has_several(chunks(partition)));
        let work = |table: &mut Table, partition| {
            let mut own = Duplicates { first: Vec::new(), beyond: 0 };
            let duplicate = |sitemap, ordinal| match own.first.len() < kept_max {
                true => own.first.push((sitemap, ordinal)),
                false => own.beyond += 1,
            };
            let round = Round::all(partition, expected);
            find_duplicates(chunks(partition), round, table, duplicate).map(|()| own)
        };
        let mut all = Duplicates { first: Vec::new(), beyond: 0 };
        ordered(threads, partitions, Table::default, work, |own| {
            stop.check()?;
            let own = own?;
            all.first.extend(own.first);
            all.beyond += own.beyond;
            Ok(())
        })?;
        // Keys are partitioned by hash, so the first duplicates may be in any partition.
        all.first.sort_unstable();
        Ok(all)
    }

    /// Describes where the URL at `place` is listed first. Searches all keys.
    pub fn listed_before(&self, place: EntryIndex) -> String {
        let key = self.keys[place.0].key_at(place.1);
        let first = key.and_then(|key| {
            self.keys.iter().enumerate().find_map(|(sitemap, keys)| Some((sitemap, keys.find(key)?)))
        });
        match first {
            Some((sitemap, entry)) if sitemap == place.0 => format!("listed before, as entry {}", entry + 1),
            Some((sitemap, entry)) => format!("listed before: {}, entry {}", self.shown(sitemap), entry + 1),
            None => "listed before".into(),
        }
    }
}

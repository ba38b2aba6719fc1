//! The sitemaps of a set, by the keys of their URLs, and which URLs are in more than one place.
//!
//! The keys are those of [`dedup`](crate::survey::dedup): under a secret, 16 bytes a URL with their places.

use std::path::PathBuf;

use crate::common::ordered::ordered;
use crate::common::stop::Stop;
use crate::error::Result;
use crate::escape::shown;
use crate::survey::dedup::{ChunkKeys, PARTITIONS, Share, Table, find_duplicates};

/// The sitemaps of a set, in order.
#[derive(Default)]
pub(crate) struct Sitemaps {
    paths: Vec<PathBuf>,
    keys: Vec<ChunkKeys>,
}

/// A sitemap, and one of its entries, both counted from 0.
pub(crate) type Place = (usize, u16);

/// Entries whose URL was listed before.
pub(crate) struct Duplicates {
    /// The first ones, in order; a few hundred times as many as were asked for at the most.
    pub first: Vec<Place>,
    /// So many more.
    pub beyond: u64,
}

impl Sitemaps {
    /// The next one; `keys` by the numbers of its entries.
    pub fn push(&mut self, path: PathBuf, keys: ChunkKeys) {
        self.paths.push(path);
        self.keys.push(keys);
    }

    /// The name of a sitemap, for a person.
    pub fn shown(&self, sitemap: usize) -> String {
        shown(self.paths[sitemap].as_os_str().as_encoded_bytes())
    }

    /// Looks for URLs that were listed before, with `kept_max` places for each partition of the keys.
    ///
    /// # Errors
    /// If there is no memory for it, or it was stopped.
    pub fn duplicates(&self, threads: usize, kept_max: usize, stop: &Stop) -> Result<Duplicates> {
        let work = |table: &mut Table, partition| {
            let mut own = Duplicates { first: Vec::new(), beyond: 0 };
            let duplicate = |sitemap, ordinal| match own.first.len() < kept_max {
                true => own.first.push((sitemap, ordinal)),
                false => own.beyond += 1,
            };
            let runs = self.keys.iter().enumerate().map(|(sitemap, keys)| keys.run(sitemap, partition));
            find_duplicates(runs, Share::all(partition), table, duplicate).map(|()| own)
        };
        let mut all = Duplicates { first: Vec::new(), beyond: 0 };
        ordered(threads, 0..PARTITIONS, Table::default, work, |own| {
            stop.check()?;
            let own = own?;
            all.first.extend(own.first);
            all.beyond += own.beyond;
            Ok(())
        })?;
        // Keys are parted by chance.
        all.first.sort_unstable();
        Ok(all)
    }

    /// Where the URL at `place` was listed first, in words. A walk through all keys.
    pub fn listed_before(&self, place: Place) -> String {
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

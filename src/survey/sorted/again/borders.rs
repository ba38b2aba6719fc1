//! Borders of a set that takes over sitemaps of the live one.

use crate::sitemap::divide::borders::BorderHash;
use crate::survey::sorted::live::Live;

/// The borders of the live set, which are the first URLs of sitemaps.
pub struct Borders<'l> {
    /// The number of borders, of the live set and of the new one.
    pub count: usize,
    /// In byte order.
    live: Vec<&'l str>,
    /// The largest of them by hash.
    last: Option<(BorderHash, &'l str)>,
}

impl<'l> Borders<'l> {
    /// The borders of `live`. None if the new set, of `accepted` rows, has another number of them. `count` gives the number for a
    /// number of rows, if there are borders at all.
    pub fn of(live: Live<'l>, accepted: u64, count: Option<fn(u64) -> usize>) -> Option<Self> {
        let [count, live_count] =
            [accepted, live.accepted()].map(|rows| count.map_or(0, |count| count(rows)));
        let mut hashed: Vec<_> = match count {
            0 => Vec::new(),
            _ => live.rows.first_urls.iter().map(|url| hashed(url)).collect(),
        };
        if count != live_count || hashed.len() < count {
            return None;
        }
        hashed.sort_unstable();
        hashed.truncate(count);
        let last = hashed.last().copied();
        let mut live: Vec<_> = hashed.into_iter().map(|(_, url)| url).collect();
        live.sort_unstable();
        Some(Self { count, live, last })
    }

    /// Whether `new` are the borders of the new set if they are those of its sorted entries and of the live borders that stand. The
    /// other URLs of parts that stand come after all live borders by hash.
    pub fn allow(&self, new: &[String]) -> bool {
        new.len() == self.count && new.iter().all(|url| Some(hashed(url)) <= self.last)
    }

    /// Those of the live set, in byte order.
    pub fn live(&self) -> impl Iterator<Item = &'l str> {
        self.live.iter().copied()
    }

    /// Whether `url` is one of the live set.
    pub fn has(&self, url: &str) -> bool {
        self.live.binary_search(&url).is_ok()
    }
}

fn hashed(url: &str) -> (BorderHash, &str) {
    (BorderHash::of(url.as_bytes()), url)
}

//! Borders of a set that reuses sitemaps of the live one.

use crate::error::Result;
use crate::sitemap::divide::borders::Smallest;
use crate::survey::sorted::live::Live;
use crate::survey::sorted::regions::BorderSearch;

/// The borders of the live set, which are first URLs of its sitemaps.
pub struct Borders {
    /// In byte order. The new set has the same number.
    live: Vec<String>,
    /// The URLs from which they were chosen, if there are any borders.
    candidates: Option<Smallest>,
}

impl Borders {
    /// The borders of `live`. `None` if the new set, of `accepted` rows, has another number of them, or if they are not known.
    /// `count` gives the number for a number of rows, if there are borders at all.
    pub fn of(live: Live<'_>, accepted: u64, count: Option<fn(u64) -> usize>) -> Option<Self> {
        let [count, live_count] =
            [accepted, live.accepted()].map(|rows| count.map_or(0, |count| count(rows)));
        if count != live_count {
            return None;
        }
        if count == 0 {
            return Some(Self { live: Vec::new(), candidates: None });
        }
        let candidates = live.rows.candidates.clone()?;
        let borders = candidates.clone().into_borders(count)?;
        let are_sound = borders.len() == count
            && borders.iter().all(|url| live.rows.first_urls.binary_search(url).is_ok());
        are_sound.then_some(Self { live: borders, candidates: Some(candidates) })
    }

    /// The number of borders.
    pub fn count(&self) -> usize {
        self.live.len()
    }

    /// The candidates of the new set: those that `search` has found among the sorted entries, and those of reused parts.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub fn candidates(
        &self,
        search: BorderSearch,
        is_reused: impl Fn(&str) -> bool,
    ) -> Result<Option<Smallest>> {
        let Some(mut all) = search.into_candidates() else { return Ok(None) };
        let mut reused = self.candidates.clone().expect("borders are sought only if there are some");
        reused.retain(is_reused);
        all.merge(reused)?;
        Ok(Some(all))
    }

    /// The borders among the `candidates` of the new set. `None` if too few of these are known.
    pub fn among(&self, candidates: &Option<Smallest>) -> Option<Vec<String>> {
        match candidates {
            Some(candidates) => candidates.clone().into_borders(self.count()),
            None => Some(Vec::new()),
        }
    }

    /// Whether `url` is one of the live set.
    pub fn has(&self, url: &str) -> bool {
        self.live.binary_search_by(|border| border.as_str().cmp(url)).is_ok()
    }
}

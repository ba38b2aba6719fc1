//! Facts that readers find besides rows: used and unused columns, and elements that are not carried over.

use std::borrow::Cow;

use super::columns::{Columns, EachPart, RowPart, URL_NAMES};
use crate::sitemap::extensions::EXTENSIONS;

/// Maximum number of different names that are kept of one input.
pub const NAMES_MAX: usize = 64;

/// Facts of a unit besides its rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnitFacts {
    /// Its records and bad rows.
    pub rows: u64,
    /// Keys of JSON lines.
    pub keys: Option<ColumnsFound>,
    /// Elements of a sitemap that are not carried over to records.
    pub dropped_elements: NameCounts,
    /// Whether a bad row of CSV has a quote after a backslash.
    pub has_escaped_quotes: bool,
}

impl UnitFacts {
    /// Adds the facts of the next unit.
    pub fn merge(&mut self, next: &Self) {
        self.rows += next.rows;
        self.dropped_elements.merge(&next.dropped_elements);
        self.has_escaped_quotes |= next.has_escaped_quotes;
        if let Some(next) = &next.keys {
            self.keys.get_or_insert_default().merge(next);
        }
    }
}

/// The columns of a table, or the keys of JSON lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnsFound {
    /// Parts of a row (`url`, `lastmod` and so on), each with the name of the column or key it is read from.
    pub used: Vec<(&'static str, Vec<u8>)>,
    /// Names that are not used because the part is read from a name with a better rank.
    superseded: Names,
    /// The rank of the used name of each part. The lowest rank is used.
    ranks: EachPart<Option<usize>>,
    /// Whether the URL of a row was read from its name with the second rank, because it had no other.
    pub(super) has_second_url: bool,
    /// The names of all other columns in order, each once.
    pub unused: Names,
    /// Unused columns that have the name of an extension but do not hold text: the name of the part, and of the column.
    pub impossible: Vec<(&'static str, Vec<u8>)>,
    /// Parts of a row, each with the key that an option names for it, if it is not known before the rows whether they have it.
    wanted: Vec<(&'static str, Vec<u8>)>,
}

/// Counts of names in the order of their first occurrence: up to [`NAMES_MAX`] names, and all others together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NameCounts {
    counts: Vec<(Vec<u8>, u64)>,
    others: u64,
}

impl NameCounts {
    /// Counts `name` as many more times as `times` says.
    pub fn add(&mut self, name: &[u8], times: u64) {
        match self.counts.iter().position(|(known, _)| known == name) {
            Some(at) => self.counts[at].1 += times,
            None if self.counts.len() < NAMES_MAX => self.counts.push((name.to_vec(), times)),
            None => self.others += times,
        }
    }

    /// Adds the counts of the next unit.
    pub fn merge(&mut self, next: &Self) {
        next.counts.iter().for_each(|(name, times)| self.add(name, *times));
        self.others += next.others;
    }

    /// The sum of all counts.
    #[cfg(test)]
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum::<u64>() + self.others
    }

    /// Each name, escaped, with its count; `…` stands for all names that were not kept.
    pub fn shown(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        let counts = self.counts.iter().map(|(name, count)| (crate::escape::shown(name), *count));
        counts.chain((self.others > 0).then(|| ("…".to_owned(), self.others)))
    }
}

/// Names in the order of their first occurrence, each once: up to [`NAMES_MAX`] of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    names: Vec<Vec<u8>>,
    has_more: bool,
    /// The index of the name that is expected next.
    next: usize,
}

impl ColumnsFound {
    /// The columns of a table: all `names`, and the `places` of those that are used.
    pub(super) fn of(columns: &Columns, names: &[&[u8]], places: EachPart<Option<usize>>) -> Self {
        let mut found = Self::default();
        for (part, place) in RowPart::ALL.into_iter().zip(places) {
            found.used.extend(place.map(|at| (part.name(), names[at].to_vec())));
        }
        let unused = names.iter().enumerate().filter(|(at, _)| !places.contains(&Some(*at)));
        for (_, name) in unused {
            found.unused.add(name);
            // The path of a list in Parquet continues after its name.
            let first = name.split(|&byte| byte == b'.').next().unwrap_or_default();
            let part = columns.part_of(first).map(|(part, _)| part);
            if let Some(part) = part.filter(|part| part.extension().is_some()) {
                found.impossible.push((part.name(), name.to_vec()));
            }
        }
        found
    }
}

impl ColumnsFound {
    /// The escaped names of all unused columns or keys.
    pub fn shown_unused(&self) -> impl Iterator<Item = Cow<'static, str>> + '_ {
        let superseded = self.superseded.shown();
        let is_used = |name: &str| {
            self.has_second_url && name.eq_ignore_ascii_case(URL_NAMES[1])
                // Values of an earlier key are added to those of the key of today.
                || EXTENSIONS.iter().any(|extension| extension.earlier_key == Some(name))
        };
        self.unused.shown().chain(superseded.filter(move |name| !is_used(name)))
    }

    /// No keys yet. An option names those that are `wanted`, each after its part.
    pub(super) fn of_wanted(wanted: Vec<(&'static str, Vec<u8>)>) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// The parts of a row that no row has, each with the key that an option names for it.
    pub fn missing(&self) -> impl Iterator<Item = &(&'static str, Vec<u8>)> {
        self.wanted.iter().filter(|(part, _)| !self.used.iter().any(|(used, _)| used == part))
    }

    /// The keys of a row from code: those that are read, each after the name of its part, and the others. Of two keys for a part,
    /// the first is reported.
    pub(super) fn of_keys<'k>(
        used: impl IntoIterator<Item = (&'k str, &'k [u8])>,
        unused: impl IntoIterator<Item = &'k [u8]>,
    ) -> Self {
        let mut found = Self::default();
        for (name, key) in used {
            let part = RowPart::ALL.into_iter().find(|part| part.name() == name);
            part.into_iter().for_each(|part| found.use_key(part, 0, key));
        }
        unused.into_iter().for_each(|key| found.unused.add(key));
        found
    }

    /// Reads `part` from `name`, unless it is read from a name with a lower rank.
    #[inline]
    pub(super) fn use_key(&mut self, part: RowPart, rank: usize, name: &[u8]) {
        if self.ranks[part.number()] != Some(rank) {
            self.use_new_key(part, rank, name);
        }
    }

    #[cold]
    fn use_new_key(&mut self, part: RowPart, rank: usize, name: &[u8]) {
        let known = &mut self.ranks[part.number()];
        if known.is_some_and(|known| known < rank) {
            return self.superseded.add(name);
        }
        *known = Some(rank);
        match self.used.iter_mut().find(|(known, _)| *known == part.name()) {
            None => self.used.push((part.name(), name.to_vec())),
            Some((_, known)) => self.superseded.add(&std::mem::replace(known, name.to_vec())),
        }
    }

    /// Adds the keys of the next unit.
    pub(super) fn merge(&mut self, next: &Self) {
        for (part, rank) in RowPart::ALL.into_iter().zip(next.ranks) {
            let name = next.used.iter().find(|(known, _)| *known == part.name());
            if let (Some(rank), Some((_, name))) = (rank, name) {
                self.use_key(part, rank, name);
            }
        }
        self.has_second_url |= next.has_second_url;
        if self.wanted.is_empty() {
            self.wanted.clone_from(&next.wanted);
        }
        self.unused.merge(&next.unused);
        self.superseded.merge(&next.superseded);
    }
}

impl Names {
    /// Adds `name`, which most likely follows the last added name, because rows usually have the same order of keys.
    #[inline]
    pub fn add_next(&mut self, name: &[u8]) {
        match self.names.get(self.next) {
            Some(known) if known == name => self.next += 1,
            _ => self.add(name),
        }
        if self.next == self.names.len() {
            self.next = 0;
        }
    }

    /// Adds the names of the next unit.
    fn merge(&mut self, next: &Self) {
        next.names.iter().for_each(|name| self.add(name));
        self.has_more |= next.has_more;
    }

    /// Adds `name`, if it is new.
    pub fn add(&mut self, name: &[u8]) {
        // Once the limit is exceeded, further names make no difference.
        if self.has_more {
            return;
        }
        match self.names.iter().position(|known| known == name) {
            Some(at) => self.next = at + 1,
            None if self.names.len() < NAMES_MAX => self.names.push(name.to_vec()),
            None => self.has_more = true,
        }
    }

    /// Each name, escaped; `…` stands for all names that were not kept.
    pub fn shown(&self) -> impl Iterator<Item = Cow<'static, str>> + '_ {
        let names = self.names.iter().map(|name| crate::escape::shown(name).into());
        names.chain(self.has_more.then_some(Cow::Borrowed("…")))
    }
}

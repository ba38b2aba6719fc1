//! What readers find besides rows: which columns are used, and elements that are not carried over.

use std::borrow::Cow;

use super::columns::{Columns, EachPart, RowPart};

/// Most different names that are kept of one input.
pub const NAMES_MAX: usize = 64;

/// What was found in a unit besides its rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnitFacts {
    /// Its rows: records and bad rows.
    pub rows: u64,
    /// Keys of JSON lines.
    pub keys: Option<ColumnsFound>,
    /// Elements of a sitemap that no record has.
    pub dropped_elements: NameCounts,
}

impl UnitFacts {
    /// Adds those of the next unit.
    pub fn merge(&mut self, next: &Self) {
        self.rows += next.rows;
        self.dropped_elements.merge(&next.dropped_elements);
        if let Some(next) = &next.keys {
            self.keys.get_or_insert_default().merge(next);
        }
    }
}

/// The columns of a table, or the keys of JSON lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnsFound {
    /// Parts of a record (`url`, `lastmod` and so on), and the name of what each is read from.
    pub used: Vec<(&'static str, Vec<u8>)>,
    /// Names of parts that are read from better ones.
    superseded: Names,
    /// How good each of these names is for its part: of several, the least is used.
    ranks: EachPart<Option<usize>>,
    /// The names of all others, in order, each once.
    pub unused: Names,
    /// The unused ones with the name of an extension that do not hold text: the name of the part, and of the column.
    pub impossible: Vec<(&'static str, Vec<u8>)>,
}

/// How often each name came, in the order in which they came first: up to [`NAMES_MAX`] of them, and the rest together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NameCounts {
    counts: Vec<(Vec<u8>, u64)>,
    others: u64,
}

impl NameCounts {
    /// `name` came `times` more.
    pub fn add(&mut self, name: &[u8], times: u64) {
        match self.counts.iter().position(|(known, _)| known == name) {
            Some(at) => self.counts[at].1 += times,
            None if self.counts.len() < NAMES_MAX => self.counts.push((name.to_vec(), times)),
            None => self.others += times,
        }
    }

    /// Adds those of what comes next.
    pub fn merge(&mut self, next: &Self) {
        next.counts.iter().for_each(|(name, times)| self.add(name, *times));
        self.others += next.others;
    }

    /// All together.
    #[cfg(test)]
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum::<u64>() + self.others
    }

    /// Each name escaped, with its count; `…` for those that were not kept.
    pub fn shown(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        let counts = self.counts.iter().map(|(name, count)| (crate::escape::shown(name), *count));
        counts.chain((self.others > 0).then(|| ("…".to_owned(), self.others)))
    }
}

/// Names, in the order in which they came, each once: up to [`NAMES_MAX`] of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    names: Vec<Vec<u8>>,
    has_more: bool,
    /// Where the next name is expected.
    next: usize,
}

impl ColumnsFound {
    /// Those of a table with the columns `names`, in which the parts of a row are at `places`.
    pub(super) fn of(columns: &Columns, names: &[&[u8]], places: EachPart<Option<usize>>) -> Self {
        let mut found = Self::default();
        for (part, place) in RowPart::ALL.into_iter().zip(places) {
            found.used.extend(place.map(|at| (part.name(), names[at].to_vec())));
        }
        let unused = names.iter().enumerate().filter(|(at, _)| !places.contains(&Some(*at)));
        for (_, name) in unused {
            found.unused.add(name);
            // The path of a list in Parquet goes on behind its name.
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
    /// The names of all columns or keys that are not used, escaped.
    pub fn shown_unused(&self) -> impl Iterator<Item = Cow<'static, str>> + '_ {
        self.unused.shown().chain(self.superseded.shown())
    }

    /// A part is read from `name`, unless there is a name of a lesser rank.
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

    /// Adds the keys of what comes next.
    fn merge(&mut self, next: &Self) {
        for (part, rank) in RowPart::ALL.into_iter().zip(next.ranks) {
            let name = next.used.iter().find(|(known, _)| *known == part.name());
            if let (Some(rank), Some((_, name))) = (rank, name) {
                self.use_key(part, rank, name);
            }
        }
        self.unused.merge(&next.unused);
        self.superseded.merge(&next.superseded);
    }
}

impl Names {
    /// Adds `name`, which most likely comes after the one that was added before: rows have their keys in the same order.
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

    /// Adds those of what comes next.
    fn merge(&mut self, next: &Self) {
        next.names.iter().for_each(|name| self.add(name));
        self.has_more |= next.has_more;
    }

    /// Adds `name`, if it is new.
    pub fn add(&mut self, name: &[u8]) {
        // Once there are more than are kept, there is nothing left to learn.
        if self.has_more {
            return;
        }
        match self.names.iter().position(|known| known == name) {
            Some(at) => self.next = at + 1,
            None if self.names.len() < NAMES_MAX => self.names.push(name.to_vec()),
            None => self.has_more = true,
        }
    }

    /// Each of them escaped; `…` for those that were not kept.
    pub fn shown(&self) -> impl Iterator<Item = Cow<'static, str>> + '_ {
        let names = self.names.iter().map(|name| crate::escape::shown(name).into());
        names.chain(self.has_more.then_some(Cow::Borrowed("…")))
    }
}

//! Facts: what an input turned out to be, and which of its columns are used.

use std::borrow::Cow;

use super::columns::{Columns, PLAIN_PARTS, Part};
use super::{Format, Packing};

/// Most different names that are kept of one input.
pub const NAMES_MAX: usize = 64;

/// What an input turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Its form.
    pub format: Format,
    /// How it is packed.
    pub packing: Packing,
    /// Its columns, if it is a table.
    pub columns: Option<ColumnsFound>,
}

/// The columns of a table, or the keys of JSON lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnsFound {
    /// Parts of a record (`url`, `lastmod` and so on), and the name of what each is read from.
    pub used: Vec<(&'static str, Vec<u8>)>,
    /// The names of all others, in order, each once.
    pub unused: Names,
    /// Those of the unused ones that have the name of links or images and do not hold text.
    pub impossible: Vec<(&'static str, Vec<u8>)>,
}

/// Names, in the order in which they came, each once: up to [`NAMES_MAX`] of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    names: Vec<Vec<u8>>,
    has_more: bool,
}

impl ColumnsFound {
    /// Those of a table with the columns `names`, of which the [`PLAIN_PARTS`] are read from `places`.
    pub(super) fn of(columns: &Columns, names: &[&[u8]], places: [Option<usize>; PLAIN_PARTS.len()]) -> Self {
        let mut found = Self::default();
        for (part, place) in PLAIN_PARTS.into_iter().zip(places) {
            found.used.extend(place.map(|at| (Part::name(part), names[at].to_vec())));
        }
        let unused = names.iter().enumerate().filter(|(at, _)| !places.contains(&Some(*at)));
        for (_, name) in unused {
            found.unused.add(name);
            if let Some((part @ (Part::Alternates | Part::Images), _)) = columns.part_of(name) {
                found.impossible.push((part.name(), name.to_vec()));
            }
        }
        found
    }
}

impl Names {
    /// Adds `name`, if it is new.
    pub fn add(&mut self, name: &[u8]) {
        if self.names.iter().any(|known| known == name) {
            return;
        }
        match self.names.len() < NAMES_MAX {
            true => self.names.push(name.to_vec()),
            false => self.has_more = true,
        }
    }

    /// Each of them escaped; `…` for those that were not kept.
    pub fn shown(&self) -> impl Iterator<Item = Cow<'static, str>> + '_ {
        let names = self.names.iter().map(|name| crate::text::shown(name).into());
        names.chain(self.has_more.then_some(Cow::Borrowed("…")))
    }
}

//! Columns: which column or key of an export holds which part of a row.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use crate::error::{Message, Setting, message};
use crate::escape::shown;
use crate::sitemap::extensions::{EXTENSIONS_COUNT, Extension};
use crate::sitemap::tags::TagName;

/// A part of a row that a column or key can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowPart {
    Url,
    /// The section of the set that it belongs to. Without a column that the user names, rows have none.
    Section,
    Tag(TagName),
}

/// An array with an element for each part of a row, indexed by [`RowPart::number`].
pub(super) type EachPart<T> = [T; RowPart::ALL.len()];

impl RowPart {
    /// All parts by number: the URL, its section, the tags of the protocol, then the tags of extensions.
    pub const ALL: [Self; 2 + TagName::ALL.len()] = {
        let mut all = [Self::Url; 2 + TagName::ALL.len()];
        all[1] = Self::Section;
        let mut number = 0;
        while number < TagName::ALL.len() {
            all[2 + number] = Self::Tag(TagName::ALL[number]);
            number += 1;
        }
        all
    };

    /// The number of parts that do not belong to extensions.
    pub const PLAIN: usize = Self::ALL.len() - EXTENSIONS_COUNT;

    /// Its place in [`RowPart::ALL`].
    pub const fn number(self) -> usize {
        match self {
            Self::Url => 0,
            Self::Section => 1,
            Self::Tag(tag) => 2 + tag as usize,
        }
    }

    /// The extension that it belongs to.
    pub fn extension(self) -> Option<&'static Extension> {
        match self {
            Self::Url | Self::Section => None,
            Self::Tag(tag) => tag.extension(),
        }
    }

    /// Its name in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Section => "section",
            Self::Tag(tag) => tag.as_str(),
        }
    }

    /// The rank of `name` among its usual names: 0 is best. `None` if it is not one of them.
    fn rank(self, name: &[u8]) -> Option<usize> {
        let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
        match self {
            Self::Url => URL_NAMES.iter().position(|usual| is(usual)),
            Self::Section => None,
            Self::Tag(tag) => is(tag.as_str()).then_some(0),
        }
    }
}

/// The usual names of the column of the URL. If both occur, the first is used.
pub(super) const URL_NAMES: [&str; 2] = ["loc", "url"];

/// The names of columns or keys if they are not the usual ones, which are `loc` or `url`, `lastmod`, `changefreq`, `priority`,
/// `alternates`, `images`, `videos` and `news`; or, for rows without a header, the positions of values from 1. The case of ASCII
/// letters does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    /// The names or positions that the user gives.
    said: EachPart<Option<String>>,
    /// Whether numbers are names, too.
    are_names: bool,
    /// Whether a name has a dot, so that it may be that of a key in an object: `page.url`.
    have_dots: bool,
}

impl FromStr for Columns {
    type Err = String;

    /// Reads `url=page,lastmod=updated_at`, or `url=1,lastmod=3`.
    fn from_str(word: &str) -> Result<Self, String> {
        let mut columns = Self::default();
        for pair in word.split(',') {
            let (part, name) = pair.split_once('=').unwrap_or((pair, ""));
            columns.add(part.trim(), name.trim())?;
        }
        columns.check_names()?;
        columns.check_positions().map(|()| columns)
    }
}

impl fmt::Display for Columns {
    /// Shows what [`FromStr`] reads, without the section, which is another option.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = RowPart::ALL.into_iter().zip(&self.said).filter(|(part, _)| *part != RowPart::Section);
        let mut before = "";
        for (part, name) in said.filter_map(|(part, name)| Some((part, name.as_ref()?))) {
            write!(f, "{before}{}={name}", part.name())?;
            before = ",";
        }
        Ok(())
    }
}

impl Columns {
    /// Returns the columns with these names, each after its part. Unlike in an option, a number is a name, and a name may have a
    /// comma.
    ///
    /// # Errors
    /// If there is no such part, or if a part or a column occurs twice.
    pub fn of_names<'n>(names: impl IntoIterator<Item = (&'n str, &'n str)>) -> Result<Self, String> {
        let mut columns = Self { are_names: true, ..Self::default() };
        names.into_iter().try_for_each(|(part, name)| columns.add(part, name.trim()))?;
        columns.check_names().map(|()| columns)
    }

    /// Adds the column `name` for the part with the name `part`.
    fn add(&mut self, part: &str, name: &str) -> Result<(), String> {
        let is_known =
            |known: &RowPart| known.name() == part || *known == RowPart::Url && URL_NAMES.contains(&part);
        let parts = RowPart::ALL.into_iter().filter(|part| *part != RowPart::Section);
        match parts.clone().find(is_known).map(|part| &mut self.said[part.number()]) {
            Some(said @ None) if !name.is_empty() => {
                *said = Some(name.into());
                self.have_dots |= name.contains('.');
            }
            _ => {
                let names = parts.map(RowPart::name).collect::<Vec<_>>().join(", ");
                let (others, last) = names.rsplit_once(", ").unwrap_or_default();
                return Err(format!(
                    "expected TAG=NAME, separated by commas, such as url=page,lastmod=updated_at; TAG is {others} or {last}, each once"
                ));
            }
        }
        Ok(())
    }

    /// These columns, and one for the section.
    ///
    /// # Errors
    /// If that is a name and these are positions, or the other way round, or if it holds another part.
    pub fn with_section(&self, column: &str) -> Result<Self, String> {
        if let Some((part, _)) = self.part_of(column.as_bytes()) {
            let part = part.name();
            return Err(format!("this column is read as {part}; put the sections in a column of their own"));
        }
        let mut columns = self.clone();
        columns.said[RowPart::Section.number()] = Some(column.trim().into());
        columns.have_dots |= column.contains('.');
        columns.check_positions().map(|()| columns)
    }

    /// The column of the section, if there is one.
    pub(super) fn section(&self) -> Option<&str> {
        self.said[RowPart::Section.number()].as_deref()
    }

    /// The position of each part in a row of a table without a header, from 0; `None` if these are names.
    pub(super) fn positions(&self) -> Option<EachPart<Option<usize>>> {
        let of_part = |part: RowPart| self.position(self.said[part.number()].as_ref()?)?.checked_sub(1);
        of_part(RowPart::Url).map(|_| RowPart::ALL.map(of_part))
    }

    /// The position from 1 that `word` is, or 0 if there is no such position; `None` if it is a name, as `+1` is.
    fn position(&self, word: &str) -> Option<usize> {
        let is_number = !self.are_names && word.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| word.parse().unwrap_or_default())
    }

    /// Checks that no column is named for two parts.
    fn check_names(&self) -> Result<(), String> {
        let said = || {
            RowPart::ALL.into_iter().zip(&self.said).filter_map(|(part, name)| Some((part, name.as_ref()?)))
        };
        for (at, (part, name)) in said().enumerate() {
            let other = said().skip(at + 1).find(|(_, other)| other.eq_ignore_ascii_case(name));
            if let Some((other, _)) = other {
                return Err(format!("column {name} is used for both {} and {}", part.name(), other.name()));
            }
        }
        Ok(())
    }

    /// Checks that these are all names, or all different positions.
    fn check_positions(&self) -> Result<(), String> {
        let said = || self.said.iter().flatten();
        let positions: Vec<usize> = said().filter_map(|word| self.position(word)).collect();
        let different: HashSet<&usize> = positions.iter().filter(|&&position| position > 0).collect();
        match (positions.len(), &self.said[RowPart::Url.number()]) {
            (0, _) => Ok(()),
            (_, None) => Err("positions are for rows without a header, and must include url: url=1".into()),
            (given, _) if given < said().count() => {
                Err("columns are all names or all positions: url=1,lastmod=3".into())
            }
            (given, _) if different.len() < given => {
                Err("positions are numbers from 1, each once: url=1,lastmod=3".into())
            }
            _ => Ok(()),
        }
    }

    /// The part that the column or key `name` holds, and the rank of the name: 0 is best.
    pub(super) fn part_of(&self, name: &[u8]) -> Option<(RowPart, usize)> {
        let name = name.trim_ascii();
        let mut parts = RowPart::ALL.into_iter().zip(&self.said);
        let is = |said: &String| name.eq_ignore_ascii_case(said.as_bytes());
        // A column that the user names for one part is not the usual column of another.
        let named = parts.clone().find(|(_, said)| said.as_ref().is_some_and(is));
        named.map(|(part, _)| (part, 0)).or_else(|| {
            parts.find_map(|(part, said)| part.rank(name).filter(|_| said.is_none()).map(|rank| (part, rank)))
        })
    }

    /// Whether the user named a key for `part` in the object that the key `name` holds.
    pub(super) fn is_below(&self, name: &[u8], part: RowPart) -> bool {
        self.said[part.number()].as_ref().is_some_and(|said| {
            let (start, rest) = said.as_bytes().split_at(said.len().min(name.len()));
            start.eq_ignore_ascii_case(name) && rest.starts_with(b".")
        })
    }

    /// Whether the user named any key in the object that the key `name` holds.
    pub(super) fn are_below(&self, name: &[u8]) -> bool {
        self.have_dots && RowPart::ALL.into_iter().any(|part| self.is_below(name, part))
    }

    /// The tags that the user named a column for, and these columns.
    pub(super) fn said(&self) -> Vec<(&'static str, Vec<u8>)> {
        let said = RowPart::ALL.into_iter().zip(&self.said);
        let tags = said.filter(|(part, _)| matches!(part, RowPart::Tag(_)));
        tags.filter_map(|(part, name)| Some((part.name(), name.as_ref()?.as_bytes().to_vec()))).collect()
    }

    /// Whether the user named a column or gave a position, except for the section.
    pub(crate) fn are_given(&self) -> bool {
        let said = RowPart::ALL.into_iter().zip(&self.said);
        said.into_iter().any(|(part, said)| part != RowPart::Section && said.is_some())
    }

    /// Whether the user named a column for `part`.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub(super) fn is_said(&self, part: RowPart) -> bool {
        self.said[part.number()].is_some()
    }

    /// Refuses columns `names` of which two have the name of a part that is read: it is unclear which one is meant.
    ///
    /// # Errors
    /// The name that two columns have, and what to do about it.
    pub(super) fn check_unique(
        &self,
        names: &[&[u8]],
        places: &EachPart<Option<usize>>,
    ) -> Result<(), Message> {
        let is_twice = |at: &usize| {
            let part = self.part_of(names[*at]);
            names.iter().filter(|name| self.part_of(name) == part).count() > 1
        };
        match places.iter().flatten().find(|at| is_twice(at)) {
            None => Ok(()),
            Some(&at) => {
                let name = shown(names[at].trim_ascii());
                Err(message!("two columns are named {name}; rename the one that should not be read"))
            }
        }
    }

    /// The position of each part in a table with the columns `names`. Of equal names the first counts.
    ///
    /// # Errors
    /// If there is no column for the URL, or none with a name from the user. The message has the missing name and the columns.
    pub(super) fn places(&self, names: &[&[u8]]) -> Result<EachPart<Option<usize>>, Missing> {
        let mut best: EachPart<Option<(usize, usize)>> = Default::default();
        for (at, name) in names.iter().enumerate() {
            if let Some((part, rank)) = self.part_of(name)
                && best[part.number()].is_none_or(|(before, _)| rank < before)
            {
                best[part.number()] = Some((rank, at));
            }
        }
        let places = RowPart::ALL.map(|part| best[part.number()].map(|(_, at)| at));
        for (part, place) in RowPart::ALL.into_iter().zip(places) {
            match (&self.said[part.number()], place) {
                (Some(said), None) => return Err(Missing::of(part, &shown(said.as_bytes()), names)),
                (None, None) if part == RowPart::Url => {
                    return Err(Missing::of(part, &format!("loc or url{}", self.other_use(names)), names));
                }
                _ => {}
            }
        }
        Ok(places)
    }

    /// Says for which part the user named a column that has a usual name of the URL; empty if there is none.
    fn other_use(&self, names: &[&[u8]]) -> String {
        let is_usual = |name: &&[u8]| RowPart::Url.rank(name).is_some();
        let name = names.iter().map(|name| name.trim_ascii()).find(is_usual);
        let part = name.and_then(|name| self.part_of(name)).map(|(part, _)| part.name());
        part.zip(name)
            .map_or_else(String::new, |(part, name)| format!(" ({} is used for {part})", shown(name)))
    }
}

/// A column that is not there.
#[derive(Debug)]
pub(super) struct Missing {
    pub part: RowPart,
    what: String,
    /// The columns that are there. `None` if there are none at all.
    names: Option<String>,
}

impl Missing {
    fn of(part: RowPart, what: &str, names: &[&[u8]]) -> Self {
        let names = (!names.is_empty()).then(|| shown(&names.join(&b", "[..])));
        Self { part, what: what.into(), names }
    }

    /// The remedy. `word` is what the format calls a column.
    pub fn message(&self, word: &str) -> Message {
        let Self { part, what, names } = self;
        let Some(names) = names else {
            return message!("there are no {word}s; give a {word} {what} with the URLs");
        };
        let way_out = match part {
            RowPart::Section => message!("correct ", Setting::SectionColumn),
            _ => message!("choose the ones to read with ", Setting::Columns.with("url=NAME,lastmod=NAME")),
        };
        message!("no {word} {what}, only: {names}; ", way_out)
    }
}

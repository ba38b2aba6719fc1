//! Names of sections in a column of the input, and the numbers that stand for them in entries.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use crate::common::quick_numbers::QuickNumbers;
use crate::escape;

/// The name of the section of all URLs that have no other.
pub const REST: &str = "rest";

/// Maximum number of sections of a set.
pub const SECTIONS_MAX: u32 = 10_000;

/// Stands for the name of a section. The numbers of a run depend on the order in which its threads come across names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SectionNumber(pub u16);

impl SectionNumber {
    /// The section of entries that name none.
    pub const REST: Self = Self(0);

    /// The section of entries whose names are beyond [`SECTIONS_MAX`]. Such a set is never published.
    const BEYOND: Self = Self(u16::MAX);
}

const _: () = assert!(SECTIONS_MAX < u16::MAX as u32);

/// The names of the sections that a run has found in its input.
#[derive(Debug)]
pub struct SectionNames {
    known: RwLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    numbers: HashMap<Box<[u8]>, SectionNumber>,
    names: Vec<String>,
    /// A name that was one too many.
    beyond: Option<String>,
}

impl Default for SectionNames {
    fn default() -> Self {
        let numbers = HashMap::from([(REST.as_bytes().into(), SectionNumber::REST)]);
        Self { known: RwLock::new(Known { numbers, names: vec![REST.into()], beyond: None }) }
    }
}

impl SectionNames {
    /// The number of the section `name`, which has no blanks around it.
    fn number(&self, name: &[u8]) -> SectionNumber {
        if let Some(&number) = self.known.read().unwrap_or_else(PoisonError::into_inner).numbers.get(name) {
            return number;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&number) = known.numbers.get(name) {
            return number;
        }
        let text = text_of(name);
        if known.names.len() > SECTIONS_MAX as usize {
            known.beyond = Some(text);
            return SectionNumber::BEYOND;
        }
        let number = SectionNumber(known.names.len() as u16);
        known.names.push(text);
        known.numbers.insert(name.into(), number);
        number
    }

    /// All names so far, by their numbers.
    pub fn all(&self) -> Vec<String> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).names.clone()
    }

    /// A name that was one too many, if there was one.
    pub fn beyond(&self) -> Option<String> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).beyond.clone()
    }
}

/// The whole name as text. A name that is not UTF-8 is escaped. If it then equals another name, the set is refused.
fn text_of(name: &[u8]) -> String {
    str::from_utf8(name).map_or_else(|_| escape::cut(name, name.len()), str::to_owned)
}

/// Finds the numbers of names for one thread.
#[derive(Debug)]
pub struct SectionFinder<'n> {
    /// The names, and the numbers that this thread knows. `None` if the job has no sections in a column.
    known: Option<(&'n SectionNames, QuickNumbers)>,
}

impl<'n> SectionFinder<'n> {
    /// A finder that adds to `names`.
    pub fn new(names: Option<&'n SectionNames>) -> Self {
        // A table draws random numbers, so there is one only if it is needed.
        let known = names.map(|names| (names, QuickNumbers::default()));
        Self { known }
    }

    /// The number of the section `name`. Blanks around a name do not count. An empty name is that of the rest.
    #[inline(always)]
    pub fn number(&mut self, name: &[u8]) -> SectionNumber {
        if name.is_empty() { SectionNumber::REST } else { self.number_of_name(name) }
    }

    #[inline(never)]
    fn number_of_name(&mut self, given: &[u8]) -> SectionNumber {
        let Some((names, numbers)) = &mut self.known else { return SectionNumber::REST };
        match numbers.get(given) {
            Some(number) => SectionNumber(number),
            None => look_up(given.trim_ascii(), names, numbers),
        }
    }
}

/// The number of the section `name`, which may be unknown.
#[cold]
fn look_up(name: &[u8], names: &SectionNames, numbers: &mut QuickNumbers) -> SectionNumber {
    match numbers.get(name) {
        _ if name.is_empty() => SectionNumber::REST,
        Some(number) => SectionNumber(number),
        None => {
            let number = names.number(name);
            if number != SectionNumber::BEYOND {
                numbers.insert(name, number.0);
            }
            number
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_same_number_in_every_thread_and_blanks_do_not_count() {
        let names = SectionNames::default();
        let (mut one, mut other) = (SectionFinder::new(Some(&names)), SectionFinder::new(Some(&names)));
        let shoes = one.number(b"shoes");
        assert_ne!(shoes, SectionNumber::REST);
        for finder in [&mut one, &mut other] {
            for same in [&b"shoes"[..], b" shoes\t", b"shoes"] {
                assert_eq!(finder.number(same), shoes);
            }
            for rest in [&b""[..], b" ", b"rest", b" rest"] {
                assert_eq!(finder.number(rest), SectionNumber::REST);
            }
        }
        assert_ne!(other.number(b"Shoes"), shoes);
        assert_eq!(names.all(), ["rest", "shoes", "Shoes"]);
        assert_eq!(SectionFinder::new(None).number(b"shoes"), SectionNumber::REST);
    }

    #[test]
    fn different_names_are_different_texts_however_long_they_are() {
        let names = SectionNames::default();
        let mut finder = SectionFinder::new(Some(&names));
        let long = "カ".repeat(67);
        let given =
            [&format!("{long}A").into_bytes()[..], &format!("{long}B").into_bytes(), br"a\b", b"a\xe9"];
        given.iter().for_each(|name| _ = finder.number(name));
        assert_eq!(
            names.all()[1..],
            [format!("{long}A"), format!("{long}B"), r"a\b".into(), r"a\xe9".into()]
        );
    }

    #[test]
    fn a_column_with_a_name_for_every_row_takes_bounded_memory_and_is_noticed() {
        let names = SectionNames::default();
        let mut finder = SectionFinder::new(Some(&names));
        (0..2 * SECTIONS_MAX).for_each(|n| _ = finder.number(n.to_string().as_bytes()));
        assert_eq!(names.all().len(), SECTIONS_MAX as usize + 1);
        assert_eq!(names.beyond(), Some((2 * SECTIONS_MAX - 1).to_string()));
        assert_eq!(finder.known.unwrap().1.len(), SECTIONS_MAX as usize);
    }
}

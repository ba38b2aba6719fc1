//! Doubts: ambiguous values of an entry.

use super::extensions::EXTENSIONS;
use super::tag::Tag;

/// Why a value is ambiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// There is another value.
    Repeated,
    /// There is an element in it, so its text would be pieced together.
    HasElement,
}

impl Doubt {
    /// Says which value is ambiguous, and why.
    fn words(self, name: &str) -> String {
        match self {
            Self::Repeated => format!("two values of {name}"),
            Self::HasElement => format!("an element in {name}"),
        }
    }
}

/// The ambiguous values of an entry.
#[derive(Debug, Default)]
pub(crate) struct Doubts {
    tags: [Option<Doubt>; Tag::ALL.len()],
    /// The first one in an element of an extension: the extension, the field, and why.
    field: Option<(usize, usize, Doubt)>,
}

impl Doubts {
    /// Adds the value of `tag`.
    #[cold]
    pub fn add_tag(&mut self, tag: Tag, doubt: Doubt) {
        self.tags[tag as usize].get_or_insert(doubt);
    }

    /// Adds the value of a field of an extension, by their indexes.
    #[cold]
    pub fn add_field(&mut self, extension: usize, field: usize, doubt: Doubt) {
        self.field.get_or_insert((extension, field, doubt));
    }

    /// Says why the value of `tag` is ambiguous, if it is.
    pub fn of_tag(&self, tag: Tag) -> Option<String> {
        self.tags[tag as usize].map(|doubt| doubt.words(tag.as_str()))
    }

    /// Says why the first ambiguous value is so. Tags come before extensions.
    pub fn first(&self) -> Option<String> {
        let of_field = |(number, field, doubt): (usize, usize, Doubt)| {
            let extension = EXTENSIONS[number];
            doubt.words(&format!("{} in {}", extension.fields[field].element, extension.in_words))
        };
        Tag::ALL.into_iter().find_map(|tag| self.of_tag(tag)).or_else(|| self.field.map(of_field))
    }
}

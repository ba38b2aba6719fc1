//! Classes of bytes, as patterns have them.

use regex_syntax::hir::ClassBytes;

use super::super::literals::URL_BYTES;
use super::super::vectors::NIBBLES;
use super::bits::WORDS_MAX;

/// Most classes.
pub const CLASSES_MAX: usize = 24;

/// The streams of all classes in a text, each in as many words as it needs.
pub type Found = [[u64; WORDS_MAX]; CLASSES_MAX];

/// A class of ASCII characters: for each low half of a byte, a bit for each high half.
pub type Table = [u8; NIBBLES];

/// A class of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Nothing but this byte.
    Byte(u8),
    /// The bytes in a table.
    Table(Table),
    /// All bytes of URLs that are not in the class with this index.
    Not(usize),
}

impl Class {
    /// Whether a byte is in it. False for a complement, which does not know the other class.
    pub fn has(&self, byte: u8) -> bool {
        match self {
            Self::Byte(own) => byte == *own,
            Self::Table(table) => byte.is_ascii() && table[usize::from(byte % 16)] >> (byte / 16) & 1 == 1,
            Self::Not(_) => false,
        }
    }
}

/// A few classes.
#[derive(Debug, Clone, Default)]
pub struct Classes {
    all: Vec<Class>,
    /// The classes of the line ends LF and CR, if texts have several lines.
    line_ends: Option<[usize; 2]>,
}

impl Classes {
    /// The number of classes.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The class with this index.
    pub fn get(&self, at: usize) -> Class {
        self.all[at]
    }

    /// Whether a byte is in the class with this index, which may be a complement.
    #[cfg(target_arch = "x86_64")]
    pub fn contains(&self, at: usize, byte: u8) -> bool {
        match self.all[at] {
            Class::Not(other) => URL_BYTES.contains(&byte) && !self.contains(other, byte),
            class => class.has(byte),
        }
    }

    /// The indices of the classes of LF and CR, if texts have several lines.
    pub fn line_ends(&self) -> Option<[usize; 2]> {
        self.line_ends
    }

    /// Adds the classes of LF and CR, because texts may have several lines from now on. Returns their indices.
    pub fn add_line_ends(&mut self) -> Option<[usize; 2]> {
        self.line_ends = Some([self.push(Class::Byte(b'\n'))?, self.push(Class::Byte(b'\r'))?]);
        self.line_ends
    }

    /// The index of a class. `None` if there are too many.
    pub fn of(&mut self, class: &ClassBytes) -> Option<usize> {
        self.add(class.iter().flat_map(|range| range.start()..=range.end()))
    }

    /// The index of the class of `bytes`. Bytes that no URL has are left out, so that no pattern matches the end of a line.
    pub fn add(&mut self, bytes: impl Iterator<Item = u8>) -> Option<usize> {
        let bytes: Vec<_> = bytes.filter(|byte| URL_BYTES.contains(byte)).collect();
        let others: Vec<_> = URL_BYTES.filter(|byte| !bytes.contains(byte)).collect();
        match (&bytes[..], &others[..]) {
            (&[byte], _) => self.push(Class::Byte(byte)),
            (_, &[other]) => {
                let other = self.push(Class::Byte(other))?;
                self.push(Class::Not(other))
            }
            _ => {
                let mut table = Table::default();
                bytes.iter().for_each(|byte| table[usize::from(byte % 16)] |= 1 << (byte / 16));
                self.push(Class::Table(table))
            }
        }
    }

    fn push(&mut self, class: Class) -> Option<usize> {
        let known = self.all.iter().position(|known| *known == class);
        let at = known.unwrap_or(self.all.len());
        if at == CLASSES_MAX {
            return None;
        }
        if known.is_none() {
            self.all.push(class);
        }
        Some(at)
    }
}

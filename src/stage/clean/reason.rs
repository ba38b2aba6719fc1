//! Why a line is refused, and how often.

use std::ops::{Add, Index, IndexMut};

/// Why a line is not listed. The words are part of the contract: reports and reject files carry them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A byte below 0x20 or 0x7F: the data is damaged.
    ControlCharacter,
    /// No scheme: a relative reference, or words.
    NotAbsolute,
    /// A scheme other than `http` and `https`.
    Scheme,
    /// A user name or password.
    Credentials,
    /// A host that cannot be.
    Host,
    /// A port that cannot be.
    Port,
    /// A character that the charset of `--url-encoding` does not have.
    NotEncodable,
    /// Longer than [`URL_BYTES_MAX`](crate::limits::URL_BYTES_MAX) once encoded.
    TooLong,
    /// Shorter than [`URL_BYTES_MIN`](crate::limits::URL_BYTES_MIN): both schemas refuse it.
    TooShort,
    /// Not under `--base-url`, as `--scope` understands it.
    OutOfScope,
    /// The entry alone passes `--bytes-per-sitemap`.
    EntryTooLarge,
    /// A row that its form does not allow: no JSON object, too few fields, no text where a URL should be.
    BadRow,
    /// Bytes that do not exist in the charset that was said.
    BadEncoding,
    /// A row in which nothing says that it is a URL: no key of that name, no `<loc>`.
    NoUrl,
}

impl Reason {
    /// All of them, in the order in which a line is checked.
    pub const ALL: [Self; 14] = [
        Self::ControlCharacter,
        Self::NotAbsolute,
        Self::Scheme,
        Self::Credentials,
        Self::Host,
        Self::Port,
        Self::NotEncodable,
        Self::TooLong,
        Self::TooShort,
        Self::OutOfScope,
        Self::EntryTooLarge,
        Self::BadRow,
        Self::BadEncoding,
        Self::NoUrl,
    ];

    /// The word in reports and reject files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ControlCharacter => "control-character",
            Self::NotAbsolute => "not-absolute",
            Self::Scheme => "scheme",
            Self::Credentials => "credentials",
            Self::Host => "host",
            Self::Port => "port",
            Self::NotEncodable => "not-encodable",
            Self::TooLong => "too-long",
            Self::TooShort => "too-short",
            Self::OutOfScope => "out-of-scope",
            Self::EntryTooLarge => "entry-too-large",
            Self::BadRow => "bad-row",
            Self::BadEncoding => "bad-encoding",
            Self::NoUrl => "no-url",
        }
    }
}

/// Rejected lines by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rejected([u64; Reason::ALL.len()]);

impl Rejected {
    /// All rejected lines.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The reasons that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Reason, u64)> + '_ {
        Reason::ALL.into_iter().map(|reason| (reason, self[reason])).filter(|&(_, count)| count > 0)
    }
}

impl Index<Reason> for Rejected {
    type Output = u64;

    fn index(&self, reason: Reason) -> &u64 {
        &self.0[reason as usize]
    }
}

impl IndexMut<Reason> for Rejected {
    fn index_mut(&mut self, reason: Reason) -> &mut u64 {
        &mut self.0[reason as usize]
    }
}

impl Add for Rejected {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine += theirs);
        self
    }
}

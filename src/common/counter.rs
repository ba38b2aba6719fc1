//! Reasons that are counted: each with its word, and how often it occurred.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::{Add, Index, IndexMut};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An enum of reasons, each once: its name, and the word that reports and reject files have for it.
macro_rules! reasons {
    ($(#[$doc:meta])* $reasons:ident { $($(#[$name_doc:meta])* $name:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $reasons {
            $($(#[$name_doc])* $name,)*
        }

        impl $reasons {
            /// All of them, each at the place of its number.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$name),*];

            /// The word in reports and reject files.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }

        impl $crate::common::counter::Countable<{ $reasons::ALL.len() }> for $reasons {
            fn all() -> [Self; Self::ALL.len()] {
                Self::ALL
            }

            fn number(self) -> usize {
                self as usize
            }

            fn word(self) -> &'static str {
                self.as_str()
            }
        }
    };
}
pub(crate) use reasons;

/// One of `N` reasons.
pub trait Countable<const N: usize>: Copy {
    /// All of them, each at the place of its number.
    fn all() -> [Self; N];

    /// The place in [`Countable::all`].
    fn number(self) -> usize;

    /// The word in reports and reject files.
    fn word(self) -> &'static str;
}

/// How often each of `N` reasons occurred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter<R, const N: usize> {
    counts: [u64; N],
    reasons: PhantomData<R>,
}

impl<R: Countable<N>, const N: usize> Counter<R, N> {
    /// All together.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Those that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (R, u64)> + '_ {
        R::all().into_iter().zip(self.counts).filter(|&(_, count)| count > 0)
    }

    /// The same by their words.
    pub fn by_word(&self) -> BTreeMap<&'static str, u64> {
        self.iter().map(|(reason, count)| (reason.word(), count)).collect()
    }
}

impl<R, const N: usize> Default for Counter<R, N> {
    fn default() -> Self {
        Self { counts: [0; N], reasons: PhantomData }
    }
}

impl<R: Countable<N>, const N: usize> Index<R> for Counter<R, N> {
    type Output = u64;

    fn index(&self, reason: R) -> &u64 {
        &self.counts[reason.number()]
    }
}

impl<R: Countable<N>, const N: usize> IndexMut<R> for Counter<R, N> {
    fn index_mut(&mut self, reason: R) -> &mut u64 {
        &mut self.counts[reason.number()]
    }
}

impl<R, const N: usize> Add for Counter<R, N> {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self.counts.iter_mut().zip(other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self
    }
}

/// A map from words to counts, without reasons that did not occur.
impl<R: Countable<N>, const N: usize> Serialize for Counter<R, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.by_word().serialize(serializer)
    }
}

/// Refuses words that no reason has: their counts would be lost.
impl<'de, R: Countable<N>, const N: usize> Deserialize<'de> for Counter<R, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut counter = Self::default();
        for (word, count) in BTreeMap::<String, u64>::deserialize(deserializer)? {
            let reason = R::all().into_iter().find(|reason| reason.word() == word);
            counter[reason.ok_or_else(|| D::Error::custom(format!("unknown reason {word:?}")))?] = count;
        }
        Ok(counter)
    }
}

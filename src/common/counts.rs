//! Counts: a number for each variant of an enum, and the macro that defines such enums.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::{Add, Index, IndexMut};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Defines an enum whose variants are counted. Each variant has a word in reports.
macro_rules! counted {
    ($(#[$doc:meta])* $counted:ident { $($(#[$name_doc:meta])* $name:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $counted {
            $($(#[$name_doc])* $name,)*
        }

        impl $counted {
            /// Every variant, in order.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$name),*];

            /// The word in reports.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }

        impl $crate::common::counts::Countable<{ $counted::ALL.len() }> for $counted {
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
pub(crate) use counted;

/// Whether `count` is 0, for fields that are not serialised then.
pub fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// An enum of `N` variants, defined by `counted!`.
pub trait Countable<const N: usize>: Copy {
    /// Every variant, in order.
    fn all() -> [Self; N];

    /// The index in [`Countable::all`].
    fn number(self) -> usize;

    /// The word in reports.
    fn word(self) -> &'static str;
}

/// The number of occurrences of each of the `N` variants of an enum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts<E, const N: usize> {
    counts: [u64; N],
    variants: PhantomData<E>,
}

impl<E: Countable<N>, const N: usize> Counts<E, N> {
    /// The sum of all counts.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The variants that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (E, u64)> + '_ {
        E::all().into_iter().zip(self.counts).filter(|&(_, count)| count > 0)
    }

    /// The counts of the variants that occurred, by their words.
    pub fn by_word(&self) -> BTreeMap<&'static str, u64> {
        self.iter().map(|(variant, count)| (variant.word(), count)).collect()
    }
}

impl<E, const N: usize> Default for Counts<E, N> {
    fn default() -> Self {
        Self { counts: [0; N], variants: PhantomData }
    }
}

impl<E: Countable<N>, const N: usize> Index<E> for Counts<E, N> {
    type Output = u64;

    fn index(&self, variant: E) -> &u64 {
        &self.counts[variant.number()]
    }
}

impl<E: Countable<N>, const N: usize> IndexMut<E> for Counts<E, N> {
    fn index_mut(&mut self, variant: E) -> &mut u64 {
        &mut self.counts[variant.number()]
    }
}

impl<E, const N: usize> Add for Counts<E, N> {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self.counts.iter_mut().zip(other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self
    }
}

/// A map from words to counts, without variants that did not occur.
impl<E: Countable<N>, const N: usize> Serialize for Counts<E, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.by_word().serialize(serializer)
    }
}

/// Refuses words that no variant has: their counts would be lost.
impl<'de, E: Countable<N>, const N: usize> Deserialize<'de> for Counts<E, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut counts = Self::default();
        for (word, count) in BTreeMap::<String, u64>::deserialize(deserializer)? {
            let variant = E::all().into_iter().find(|variant| variant.word() == word);
            counts[variant.ok_or_else(|| D::Error::custom(format!("unknown reason {word:?}")))?] = count;
        }
        Ok(counts)
    }
}

//! Sections: the parts of a set that have sitemaps and index files of their own.
//!
//! A section has a name, which the input or the job gives it, and a word, which is used for it in file names. URLs without a
//! section belong to the [rest](REST), which is a section as well.

pub mod by_path;
pub mod by_rule;
pub mod names;
pub mod word;

pub use names::{REST, SECTIONS_MAX, SectionFinder, SectionNames, SectionNumber};

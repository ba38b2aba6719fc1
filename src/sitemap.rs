//! Sitemap: what a sitemap file consists of, and what fits into one: entries with their tags and extensions, as XML.

pub mod divide;
pub mod entry;
pub mod extensions;
pub mod tags;
pub mod xml;

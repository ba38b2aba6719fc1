//! Sitemap: what a sitemap file consists of, and what fits into one: entries with their tags and extensions, as XML.

pub mod divide;
mod entities;
pub mod entry;
pub mod extensions;
pub mod tag_names;
pub mod tags;
pub mod xml;

//! Sitemap: the content of a sitemap file and its limits: entries with their tags and extensions, as XML.

pub mod divide;
mod entities;
pub mod entry;
pub mod extensions;
pub mod sections;
pub mod segments;
pub mod tag_names;
pub mod tags;
pub mod xml;

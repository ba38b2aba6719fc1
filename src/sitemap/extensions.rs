//! Extensions of the protocol: links to other languages, images, videos and news. Each has its own XML namespace, which a file
//! declares only if one of its entries uses it.
//!
//! To add an extension:
//! 1. Write a module with its [`Extension`]: namespace, element, fields, limits, and how the text of each field is checked and
//!    written. Declare the module here.
//! 2. Add it to the [`table`]: its tag, which is the name of its key or column, and its reasons for dropping a value or a field.
//!
//! Counts in reports, names of columns, and the readers of JSON, tables, Parquet and sitemaps follow from these two. The checker
//! shares no code with this module and has its own definition: see `commands::check::extensions`.

mod alternates;
mod element;
mod extension;
mod images;
mod known;
mod namespaces;
pub mod news;
mod raw;
pub(super) mod table;
mod texts;
mod videos;

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::tag_names::{Dropped, TagCounts};
use crate::clean::Cleaner;

pub use extension::{Extension, Field, Occurs, UNNAMED, Value, Writer};
pub use known::{EXTENSIONS, EXTENSIONS_COUNT};
pub use namespaces::Namespaces;
pub use raw::{ExtrasBuffer, RawExtras};
#[cfg(test)]
pub use texts::text;

/// The XML of extras, and the namespaces that it uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extras<'a> {
    /// Elements that follow the tags.
    pub xml: &'a [u8],
    /// Namespaces of these elements.
    pub uses: Namespaces,
}

/// Checks and renders extras. Reuses its memory from entry to entry.
#[derive(Debug, Default)]
pub struct ExtrasRenderer {
    cleaner: Cleaner,
    xml: Vec<u8>,
}

impl ExtrasRenderer {
    /// Creates a renderer that cleans URLs in values with `cleaner`.
    pub fn new(cleaner: Cleaner) -> Self {
        Self { cleaner, xml: Vec::new() }
    }

    /// The XML of `raw`. Calls `dropped` with each value that cannot be written, and with each field that a value is written
    /// without.
    pub fn render(&mut self, raw: RawExtras<'_>, dropped: &mut impl FnMut(Dropped<'_>)) -> Extras<'_> {
        self.xml.clear();
        let mut uses = Namespaces::NONE;
        let mut written = [0; EXTENSIONS_COUNT];
        for value in raw.values() {
            let extension = value.extension;
            let written = &mut written[extension.number()];
            let mut writer = Writer::new(&mut self.cleaner, &mut self.xml);
            if *written < extension.values_max && writer.write(value) {
                *written += 1;
                uses = uses.union(Namespaces::of(extension.tag));
                for field in writer.dropped {
                    dropped(Dropped { reason: extension.field_reason, fields: &[field] });
                }
            } else {
                drop_value(value, dropped);
            }
        }
        Extras { xml: &self.xml, uses }
    }
}

/// Calls `dropped` with every value of `raw`: 0.84 has no extensions.
pub fn drop_all(raw: RawExtras<'_>, dropped: &mut impl FnMut(Dropped<'_>)) {
    raw.values().for_each(|value| drop_value(value, dropped));
}

fn drop_value(value: Value<'_>, dropped: &mut impl FnMut(Dropped<'_>)) {
    dropped(Dropped { reason: value.extension.reason, fields: &value.named() });
}

/// Adds the rendered elements of `extras` to `counts`.
pub fn count_rendered(extras: Extras<'_>, counts: &mut TagCounts) {
    // To make a finder takes longer than to search the few elements of an entry.
    static STARTS: LazyLock<[Finder<'static>; EXTENSIONS_COUNT]> =
        LazyLock::new(|| EXTENSIONS.map(|extension| Finder::new(extension.start)));
    for (extension, start) in EXTENSIONS.into_iter().zip(&*STARTS) {
        if extras.uses.contains_any(Namespaces::of(extension.tag)) {
            counts[extension.tag] += start.find_iter(extras.xml).count() as u64;
        }
    }
}

#[cfg(test)]
mod tests;

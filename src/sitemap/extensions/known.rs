//! All extensions of the table, by number.

use super::extension::Extension;
use super::table::with_extensions;
use super::{alternates, images, news, videos};
use crate::sitemap::tag_names::{TagName, TagReason};

/// Builds the list of extensions from the table.
macro_rules! list {
    ($(
        $(#[$name_doc:meta])* $module:ident: $name:ident = $name_word:literal,
        $(#[$reason_doc:meta])* $reason:ident = $reason_word:literal
        $(, $(#[$field_doc:meta])* $field_reason:ident = $field_word:literal)?;
    )*) => {
        /// All extensions, in the order of their tags, which is also the order of their elements in an entry.
        pub static EXTENSIONS: [&Extension; [$($name_word),*].len()] = [$(&$module::EXTENSION),*];

        /// Each extension has the tag and the reasons of its line in the table.
        const _: () = {
            $(assert!($module::EXTENSION.tag as usize == TagName::$name as usize);
            assert!($module::EXTENSION.reason as usize == TagReason::$reason as usize);
            $(assert!($module::EXTENSION.field_reason as usize == TagReason::$field_reason as usize);)?)*
        };
    };
}
with_extensions!(list);

/// The first tag of an extension. The others follow it.
const FIRST: usize = TagName::Priority as usize + 1;
const _: () = assert!(FIRST + EXTENSIONS_COUNT == TagName::ALL.len());

/// The number of extensions.
pub const EXTENSIONS_COUNT: usize = EXTENSIONS.len();

impl TagName {
    /// The number of its extension in [`EXTENSIONS`]; `None` for a tag of the protocol.
    pub const fn extension_number(self) -> Option<usize> {
        (self as usize).checked_sub(FIRST)
    }

    /// The extension of the tag; `None` for a tag of the protocol.
    pub fn extension(self) -> Option<&'static Extension> {
        self.extension_number().map(|number| EXTENSIONS[number])
    }
}

impl Extension {
    /// Its number in [`EXTENSIONS`].
    pub const fn number(&self) -> usize {
        self.tag as usize - FIRST
    }
}

//! Extensions of the protocol that are checked. They share no code with those that are written.
//!
//! To add an extension, write a module with its [`Extension`], declare it, and add it to [`EXTENSIONS`]. The reader and `urls`
//! follow from that. New rules go to [`rules`](super::rules), which lists the rules of the whole checker.

mod alternates;
mod by_fields;
mod extension;
mod fields;
mod images;
mod news;
mod values;
mod videos;

pub(crate) use extension::{Elements, Extension, Span, text};
pub(crate) use fields::{FIELDS_MAX, FieldKind, Occurs};

/// All extensions. Other modules refer to an extension by its index in this list.
pub(crate) static EXTENSIONS: [&Extension; 4] =
    [&alternates::EXTENSION, &images::EXTENSION, &videos::EXTENSION, &news::EXTENSION];

/// The index of news in [`EXTENSIONS`].
pub(crate) const NEWS: usize = 3;

const _: () = {
    let fields = [
        alternates::EXTENSION.fields,
        images::EXTENSION.fields,
        videos::EXTENSION.fields,
        news::EXTENSION.fields,
    ];
    let mut number = 0;
    while number < fields.len() {
        assert!(fields[number].len() <= FIELDS_MAX);
        number += 1;
    }
};

//! Extensions of the protocol that are checked. They share no code with those that are written.
//!
//! To add an extension, write a module with its [`Extension`], declare it, and add it to [`EXTENSIONS`]. The reader and `urls`
//! follow from that. New rules go to [`rules`](super::rules), which lists the rules of the whole checker.

mod alternates;
mod extension;
mod images;

pub(crate) use extension::{Elements, Extension, FIELDS_MAX, Span, text};

/// All extensions. Other modules refer to an extension by its index in this list.
pub(crate) const EXTENSIONS: &[Extension] = &[alternates::EXTENSION, images::EXTENSION];

const _: () = {
    let mut number = 0;
    while number < EXTENSIONS.len() {
        assert!(EXTENSIONS[number].attributes.len() + EXTENSIONS[number].children.len() <= FIELDS_MAX);
        number += 1;
    }
};

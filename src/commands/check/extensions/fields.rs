//! Parts of the element of an extension: attributes, texts, and elements that contain them.

use crate::commands::check::values::Wrong;

/// Maximum number of fields of an extension.
pub(crate) const FIELDS_MAX: usize = 32;

/// A field of an element.
pub(crate) struct Field {
    /// The element around its element, within the element of the extension; empty if there is none.
    pub parent: &'static str,
    /// Its element; empty for an attribute of the element of the extension.
    pub element: &'static str,
    /// Its kind.
    pub kind: FieldKind,
    /// How often it occurs.
    pub occurs: Occurs,
    /// Its key in `urls`. A dot separates the keys of nested objects.
    pub key: &'static str,
    /// Says what is wrong with its text.
    pub check: fn(&[u8]) -> Result<(), Wrong>,
}

/// The kind of a field of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldKind {
    /// The text of its element.
    Text,
    /// An attribute of its element.
    Attribute(&'static str),
    /// An element whose children are fields.
    Parent,
}

/// How often a field occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occurs {
    /// Exactly once in the element around it.
    Once,
    /// Once or not at all.
    Optional,
    /// At most this number of times.
    AtMost(u8),
}

impl Field {
    /// A required text in the child `element`.
    pub const fn required(element: &'static str, check: fn(&[u8]) -> Result<(), Wrong>) -> Self {
        Self { parent: "", element, kind: FieldKind::Text, occurs: Occurs::Once, key: element, check }
    }

    /// An optional text in the child `element`.
    pub const fn optional(element: &'static str, check: fn(&[u8]) -> Result<(), Wrong>) -> Self {
        Self { occurs: Occurs::Optional, ..Self::required(element, check) }
    }

    /// An optional attribute of the child `element`.
    pub const fn attribute(
        element: &'static str,
        name: &'static str,
        key: &'static str,
        check: fn(&[u8]) -> Result<(), Wrong>,
    ) -> Self {
        Self { parent: "", element, kind: FieldKind::Attribute(name), occurs: Occurs::Optional, key, check }
    }

    /// Returns whether it is the child `local` of `parent`, as its text or as the parent of other fields.
    pub fn is_child(&self, parent: &str, local: &str) -> bool {
        self.element == local && self.parent == parent && !matches!(self.kind, FieldKind::Attribute(_))
    }

    /// Returns whether it is the attribute `name` of the same element as `other`, or of the element of the extension.
    pub fn is_attribute(&self, other: Option<&Self>, name: &str) -> bool {
        let (parent, element) = other.map_or(("", ""), |other| (other.parent, other.element));
        matches!(self.kind, FieldKind::Attribute(own) if own == name)
            && self.element == element
            && self.parent == parent
    }
}

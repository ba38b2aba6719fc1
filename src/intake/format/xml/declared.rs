//! Namespaces by their prefixes, as the open elements declare them.

use quick_xml::events::BytesStart;
use quick_xml::name::QName;

use crate::error::Result;
use crate::intake::format::unpack::About;
use crate::limits::NAMESPACES_MAX;

/// Declared prefixes, each with its namespace and the depth of the element that declares it.
#[derive(Debug, Default)]
pub struct Declared(Vec<(usize, String, String)>);

impl Declared {
    /// Takes the declarations of an element at `depth`, and forgets those of elements that have ended.
    #[inline]
    pub fn enter(&mut self, depth: usize, tag: &BytesStart<'_>) {
        if self.0.last().is_some_and(|(of, ..)| *of >= depth) {
            self.0.retain(|(of, ..)| *of < depth);
        }
        // An element without attributes is no longer than its name.
        if tag.len() > tag.name().as_ref().len() && tag.contains("xmlns") {
            // One too many is enough for `check`.
            let room = (NAMESPACES_MAX + 1).saturating_sub(self.0.len());
            self.0.extend(declarations(tag).take(room).map(|(prefix, uri)| (depth, prefix, uri)));
        }
    }

    /// Refuses more declarations in scope than [`NAMESPACES_MAX`]: the search for a prefix would take too long. `at` is the offset
    /// of the element that was entered.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if there are too many.
    #[inline]
    pub fn check(&self, text: &About<'_>, at: u64) -> Result<()> {
        match self.0.len() <= NAMESPACES_MAX {
            true => Ok(()),
            false => Err(text.wrong(format!(
                "byte {at}: more than {NAMESPACES_MAX} namespaces are declared; recreate the file with fewer"
            ))),
        }
    }

    /// Whether any element within the root declares a namespace.
    pub fn has_inner(&self) -> bool {
        self.0.last().is_some_and(|(of, ..)| *of > 0)
    }

    /// The namespace of `name` at the innermost element that was entered. `None` if its prefix is not declared, or, without one,
    /// if it is in no namespace.
    pub fn namespace(&self, name: QName<'_>) -> Option<&str> {
        let prefix = prefix_of(&name);
        // Does not compare empty strings; see `UrlElement::has_own_prefix`.
        let is_own =
            |declared: &str| declared.len() == prefix.len() && (prefix.is_empty() || declared == prefix);
        let found = self.0.iter().rev().find(|(_, declared, _)| is_own(declared));
        found.map(|(.., uri)| &**uri).filter(|uri| !uri.is_empty())
    }
}

/// The prefix of `name`; empty if it has none.
pub fn prefix_of<'n>(name: &QName<'n>) -> &'n str {
    name.prefix().map_or("", |prefix| prefix.into_inner())
}

/// Prefixes and namespaces that `tag` declares.
fn declarations<'t>(tag: &'t BytesStart<'_>) -> impl Iterator<Item = (String, String)> + 't {
    tag.attributes().filter_map(|attribute| {
        let attribute = attribute.ok()?;
        let prefix = match attribute.key.as_ref() {
            "xmlns" => "",
            key => key.strip_prefix("xmlns:")?,
        };
        Some((prefix.to_owned(), attribute.value.trim_ascii().to_owned()))
    })
}

//! The children of the elements of extensions.

use super::{At, Reader, place};
use crate::commands::check::doubts::Doubt;
use crate::commands::check::entry::Entry;
use crate::commands::check::extensions::{EXTENSIONS, Kind, Occurs};
use crate::commands::check::namespaces::Namespace;
use crate::commands::check::rules::Rule;

impl Reader<'_> {
    /// Handles the start of a child in the element of an extension, or in its child that is the part `parent`.
    pub(super) fn open_child(
        &mut self,
        number: usize,
        parent: Option<usize>,
        name: &str,
        namespace: Namespace,
        local: &str,
        entry: &mut Entry,
    ) {
        let extension = EXTENSIONS[number];
        if namespace != Namespace::Extension(number) {
            return self.unknown(name);
        }
        let outer = parent.map_or("", |parent| extension.parts[parent].element);
        let Some(part) = extension.parts.iter().position(|part| part.is_child(outer, local)) else {
            let is_ignored = parent.is_none() && extension.ignored.contains(&local);
            return if is_ignored { self.skip() } else { self.unknown(name) };
        };
        let count = &mut self.order.parts[part];
        *count = count.saturating_add(1);
        let most = match extension.parts[part].occurs {
            Occurs::AtMost(most) => most,
            Occurs::Once | Occurs::Optional => 1,
        };
        if *count > most {
            let words = || match most {
                1 => format!("{local} twice in {}", extension.in_words),
                most => format!("{local} more than {most} times in {}", extension.in_words),
            };
            self.findings.push(place(self.entries), Rule::RepeatedElement, words);
        }
        if extension.parts[part].kind == Kind::Parent {
            self.at = At::Parent(number, part);
            return;
        }
        if *count > most && most == 1 {
            self.repeat(number, part, entry);
        }
        self.at = At::Child(number, part);
        entry.open_field();
    }

    /// Handles another value of a part that may have only one.
    #[cold]
    fn repeat(&mut self, number: usize, part: usize, entry: &mut Entry) {
        if self.is_lenient && EXTENSIONS[number].own_value == Some(part) {
            entry.open_element(number);
            self.order.parts = Default::default();
            self.order.parts[part] = 1;
        } else {
            entry.doubts_mut().add_part(number, part, Doubt::Repeated);
        }
    }

    /// Handles the end of the element of an extension, or of its child that is the part `parent`. It must have had all required
    /// children.
    pub(super) fn check_children(&mut self, number: usize, parent: Option<usize>) {
        let extension = EXTENSIONS[number];
        let outer = parent.map_or("", |parent| extension.parts[parent].element);
        for (part, count) in extension.parts.iter().zip(self.order.parts) {
            if part.occurs == Occurs::Once && part.is_child(outer, part.element) && count == 0 {
                let words = || format!("no {} in {}", part.element, extension.in_words);
                self.findings.push(place(self.entries), Rule::MissingElement, words);
            }
        }
    }
}

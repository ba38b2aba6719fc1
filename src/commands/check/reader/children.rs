//! The children of the elements of extensions.

use super::{At, Reader, place};
use crate::commands::check::doubts::Doubt;
use crate::commands::check::entry::Entry;
use crate::commands::check::extensions::{EXTENSIONS, FieldKind, Occurs};
use crate::commands::check::namespaces::Namespace;
use crate::commands::check::rules::Rule;

impl Reader<'_> {
    /// Handles the start of a child in the element of an extension, or in its child that is the field `parent`.
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
        let outer = parent.map_or("", |parent| extension.fields[parent].element);
        let Some(field) = extension.fields.iter().position(|field| field.is_child(outer, local)) else {
            let is_ignored = parent.is_none() && extension.ignored.contains(&local);
            return if is_ignored { self.skip() } else { self.unknown(name) };
        };
        let count = &mut self.order.fields[field];
        *count = count.saturating_add(1);
        let most = match extension.fields[field].occurs {
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
        if extension.fields[field].kind == FieldKind::Parent {
            self.at = At::Parent(number, field);
            return;
        }
        if *count > most && most == 1 {
            self.repeat(number, field, entry);
        }
        self.at = At::Child(number, field);
        entry.open_field();
    }

    /// Handles another value of a field that may have only one.
    #[cold]
    fn repeat(&mut self, number: usize, field: usize, entry: &mut Entry) {
        if self.is_lenient && EXTENSIONS[number].own_value == Some(field) {
            entry.open_element(number);
            self.order.fields = Default::default();
            self.order.fields[field] = 1;
        } else {
            entry.doubts_mut().add_field(number, field, Doubt::Repeated);
        }
    }

    /// Handles the end of the element of an extension, or of its child that is the field `parent`. It must have had all required
    /// children.
    pub(super) fn check_children(&mut self, number: usize, parent: Option<usize>) {
        let extension = EXTENSIONS[number];
        let outer = parent.map_or("", |parent| extension.fields[parent].element);
        for (field, count) in extension.fields.iter().zip(self.order.fields) {
            if field.occurs == Occurs::Once && field.is_child(outer, field.element) && count == 0 {
                let words = || format!("no {} in {}", field.element, extension.in_words);
                self.findings.push(place(self.entries), Rule::MissingElement, words);
            }
        }
    }
}

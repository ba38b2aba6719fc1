//! Elements that are most likely tags of the protocol or elements of an extension. In many sitemaps, the namespaces of extensions
//! are misspelt or not declared. `build` reads such elements, so `urls` must not leave them out.

use super::{At, Reader, place};
use crate::commands::check::extensions::{EXTENSIONS, Extension};
use crate::commands::check::namespaces::Namespace;
use crate::commands::check::rules::Rule;
use crate::commands::check::tag::Tag;
use crate::escape::shown;

impl Reader<'_> {
    /// Returns the namespace that is most likely meant for the element `name`, and its local name. By its declaration, it is
    /// `local` in `namespace`.
    pub(super) fn likely<'n>(
        &self,
        name: &'n str,
        namespace: Namespace,
        local: &'n str,
    ) -> (Namespace, &'n str) {
        let (prefix, without_prefix) = name.split_once(':').unwrap_or(("", name));
        let is_of = |number: &usize| self.may_be_of(*number, prefix, namespace);
        let likely = match self.at {
            At::Entry if Tag::of(without_prefix).is_some() && self.may_be_own(prefix, namespace) => {
                Some(Namespace::Sitemap(self.own().1))
            }
            At::Entry => (0..EXTENSIONS.len())
                .filter(|&number| EXTENSIONS[number].element == without_prefix)
                .find(is_of)
                .map(Namespace::Extension),
            At::Extended(number) | At::Parent(number, _) if is_of(&number) => {
                Some(Namespace::Extension(number))
            }
            _ => None,
        };
        likely.map_or((namespace, local), |likely| (likely, without_prefix))
    }

    /// Reports an element that is most likely meant as one of an extension, but is in another namespace, so that crawlers ignore
    /// it. Files declare a namespace once, so the first one of each extension is enough.
    #[cold]
    pub(super) fn check_meant(&mut self, name: &str, local: &str) {
        let prefix = name.split_once(':').map_or("", |(prefix, _)| prefix);
        let uri = self.namespaces.uri_of(prefix).unwrap_or_default();
        let is_meant = |extension: &&Extension| {
            let is_likely = prefix == extension.prefix || extension.other_namespaces.contains(&uri);
            is_likely && local == extension.element
        };
        let Some(number) = EXTENSIONS.iter().position(is_meant).filter(|_| !self.is_lenient) else { return };
        if !std::mem::replace(&mut self.has_misspelt[number], true) {
            let right = EXTENSIONS[number].namespace;
            self.findings.push(place(self.entries), Rule::Namespace, || {
                format!(
                    "the namespace of {} is not {right}: {}",
                    shown(name.as_bytes()),
                    shown(uri.as_bytes())
                )
            });
        }
    }

    /// Whether an element is of the protocol: in the namespace of any version, or in none but with the prefix of the root element.
    fn may_be_own(&self, prefix: &str, namespace: Namespace) -> bool {
        matches!(namespace, Namespace::Sitemap(_)) || namespace == Namespace::None && prefix == self.prefix
    }

    /// Whether an element is of the extension with this `number`: in its namespace, with its usual prefix or one that is not
    /// declared, or without a prefix in the namespace of the protocol.
    fn may_be_of(&self, number: usize, prefix: &str, namespace: Namespace) -> bool {
        let extension = EXTENSIONS[number];
        let is_namespace = |uri: &str| {
            namespace == Namespace::Extension(number)
                || extension.other_namespaces.contains(&uri)
                || prefix.is_empty() && matches!(namespace, Namespace::Sitemap(_))
        };
        let uri = self.namespaces.uri_of(prefix).filter(|uri| !uri.is_empty());
        prefix == extension.prefix || uri.is_none_or(is_namespace)
    }
}

//! Links and images of an entry, for programs that call the library.

use super::entry::Entry;
use super::extensions::{EXTENSIONS, Elements};

/// An `xhtml:link`, with the attributes that it has.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Link<'a> {
    /// `rel`.
    pub rel: Option<&'a [u8]>,
    /// `hreflang`.
    pub hreflang: Option<&'a [u8]>,
    /// `href`.
    pub href: Option<&'a [u8]>,
}

impl Entry {
    /// The first fifty thousand of its links.
    pub fn links(&self) -> impl Iterator<Item = Link<'_>> {
        self.elements_called("alternates").iter().map(|[rel, hreflang, href]| Link { rel, hreflang, href })
    }

    /// The URLs of the first fifty thousand of its images; none for an image without.
    pub fn images(&self) -> impl Iterator<Item = Option<&[u8]>> {
        self.elements_called("images").iter().map(|[loc, ..]| loc)
    }

    /// The number of its images, kept or not.
    pub fn images_count(&self) -> u64 {
        self.elements_called("images").count
    }

    /// Its elements of the extension that is called `name`.
    fn elements_called(&self, name: &str) -> Elements<'_> {
        let number = EXTENSIONS.iter().position(|extension| extension.name == name);
        self.elements(number.expect("an extension of this module is in the list"))
    }
}

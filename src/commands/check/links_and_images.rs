//! Links and images of an entry, for programs that call the library.

use super::entry::Entry;
use super::extensions::{EXTENSIONS, Elements};

/// An `xhtml:link`. Attributes that it lacks are `None`.
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
    /// Returns the first 50,000 links of the entry.
    pub fn links(&self) -> impl Iterator<Item = Link<'_>> {
        self.elements_called("alternates").iter().map(move |link| Link {
            rel: link.get(0),
            hreflang: link.get(1),
            href: link.get(2),
        })
    }

    /// Returns the URLs of the first 50,000 images of the entry; `None` for an image without a URL.
    pub fn images(&self) -> impl Iterator<Item = Option<&[u8]>> {
        self.elements_called("images").iter().map(|image| image.get(0))
    }

    /// Returns the number of images of the entry, including those beyond the first 50,000.
    pub fn images_count(&self) -> u64 {
        self.elements_called("images").count
    }

    /// Returns the elements of the extension that is called `name`.
    fn elements_called(&self, name: &str) -> Elements<'_> {
        let number = EXTENSIONS.iter().position(|extension| extension.name == name);
        self.elements(number.expect("an extension of this module is in the list"))
    }
}

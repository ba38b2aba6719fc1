//! Extensions of the protocol: links to other languages and images. Each has elements in a namespace of its own, which a
//! file declares only if one of its entries uses it.
//!
//! To add an extension:
//! 1. Write a module with a type that implements [`Extension`]: its limits, its namespace, and how a value is checked and
//!    written as XML. Declare the module and import the type below.
//! 2. Add it to the [`table`]: the name of its key or column, and the word of its reason for dropping a value. Its
//!    [`TagName`], [`TagReason`](crate::sitemap::tag_names::TagReason), namespace and counts are made from that.
//! 3. Let `intake::format` read its values into a `Record`: `columns` has the names of keys and columns, `lists` the shapes
//!    that exports give values in, `sitemap::entry` the XML. `survey::spool` hands them over with [`RawExtras::push`].
//! 4. Teach the checker, which shares nothing with this: `commands::check::extensions`.

mod alternates;
mod extension;
mod images;
pub(super) mod table;

use memchr::memmem;

use super::tag_names::{Dropped, TagCounts, TagName};
use crate::clean::Cleaner;
use crate::common::field;
use extension::{FIELDS_MAX, Fields};
use table::with_extensions;

pub use alternates::Alternates;
pub use extension::Extension;
pub use images::Images;

/// Acts on values of any extension.
trait Visit {
    fn value<E: Extension>(&mut self, fields: Fields<'_>);
}

/// Defines what goes through the table.
macro_rules! define {
    ($(
        $(#[$name_doc:meta])* $module:ident: $name:ident = $name_word:literal,
        $(#[$reason_doc:meta])* $reason:ident = $reason_word:literal;
    )*) => {
        /// The declaration of every namespace.
        const DECLARATIONS: &[(TagName, &str)] = &[$(($name::NAME, $name::DECLARATION)),*];

        /// Calls `visitor` with each of the encoded values `rest`.
        fn visit(mut rest: &[u8], visitor: &mut impl Visit) {
            while !rest.is_empty() {
                let number = field::byte(&mut rest);
                match number {
                    $(_ if number == $name::NAME as u8 => visitor.value::<$name>(take::<$name>(&mut rest)),)*
                    _ => unreachable!("only push() encodes values"),
                }
            }
        }

        /// Adds the elements of `xml`, as they were rendered, to `counts`.
        pub fn count_rendered(xml: &[u8], counts: &mut TagCounts) {
            if !xml.is_empty() {
                $(counts[$name::NAME] += memmem::find_iter(xml, $name::START).count() as u64;)*
            }
        }
    };
}
with_extensions!(define);

/// Takes the fields of a value off `rest`.
fn take<'a, E: Extension>(rest: &mut &'a [u8]) -> Fields<'a> {
    let mut fields = Fields::default();
    fields[..E::FIELDS.len()].fill_with(|| field::take(rest));
    fields
}

/// Values of extensions as an input gives them, encoded. Empty: none.
///
/// ```text
/// 1 byte    the extension: the number of its TagName
/// fields    as many as the extension has
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RawExtras<'a>(pub &'a [u8]);

impl RawExtras<'_> {
    /// Appends the encoded `values` of an extension with `FIELDS` fields to `out`. Elements are written in the order of calls.
    pub fn push<'v, E: Extension, const FIELDS: usize>(
        values: impl IntoIterator<Item = [&'v [u8]; FIELDS]>,
        out: &mut Vec<u8>,
    ) {
        const { assert!(E::FIELDS.len() == FIELDS && FIELDS <= FIELDS_MAX) };
        for value in values {
            out.push(E::NAME as u8);
            value.iter().for_each(|field| field::push(field, out));
        }
    }

    /// Adds links and images to `counts`.
    pub fn count(&self, counts: &mut TagCounts) {
        struct Count<'c>(&'c mut TagCounts);
        impl Visit for Count<'_> {
            fn value<E: Extension>(&mut self, _: Fields<'_>) {
                self.0[E::NAME] += 1;
            }
        }
        visit(self.0, &mut Count(counts));
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Namespaces of extensions that a file declares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Namespaces(u8);

/// The first tag of an extension. The others follow it, a bit of [`Namespaces`] each.
const FIRST: u8 = TagName::Priority as u8 + 1;
const _: () = assert!(DECLARATIONS.len() <= u8::BITS as usize);

impl Namespaces {
    /// Only the namespace of the protocol.
    pub const NONE: Self = Self(0);

    /// The namespace of the extension whose tag is `name`.
    pub const fn of(name: TagName) -> Self {
        Self(1 << (name as u8 - FIRST))
    }

    /// The namespaces of both.
    pub fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Their declarations, as attributes of the root element with a space before each.
    pub(super) fn declarations(self) -> impl Iterator<Item = &'static str> {
        let used = DECLARATIONS.iter().filter(move |(name, _)| self.0 & Self::of(*name).0 != 0);
        used.map(|&(_, declaration)| declaration)
    }

    /// As a number, for [`Namespaces::from_bits`].
    pub fn bits(self) -> u8 {
        self.0
    }

    /// The namespaces whose [`Namespaces::bits`] these are.
    pub fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Bytes of their declarations.
    pub fn bytes(self) -> u64 {
        self.declarations().map(|declaration| declaration.len() as u64).sum()
    }
}

/// The XML of extras, and what it needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extras<'a> {
    /// Elements that follow the tags.
    pub xml: &'a [u8],
    /// Namespaces of these elements.
    pub uses: Namespaces,
}

/// Checks and renders extras, with the same scratch memory for each entry.
#[derive(Debug, Default)]
pub struct ExtrasRenderer {
    cleaner: Cleaner,
    xml: Vec<u8>,
}

impl ExtrasRenderer {
    /// URLs in values are cleaned by `cleaner`.
    pub fn new(cleaner: Cleaner) -> Self {
        Self { cleaner, xml: Vec::new() }
    }

    /// The XML of `raw`. Calls `dropped` with each value that cannot be written.
    pub fn render(&mut self, raw: RawExtras<'_>, dropped: &mut impl FnMut(Dropped<'_>)) -> Extras<'_> {
        self.xml.clear();
        let Self { cleaner, xml } = self;
        let (uses, written) = Default::default();
        let mut rendering = Rendering { cleaner, xml, uses, written, dropped };
        visit(raw.0, &mut rendering);
        let uses = rendering.uses;
        Extras { xml: &self.xml, uses }
    }
}

/// The values of one entry on their way to XML.
struct Rendering<'r, D> {
    cleaner: &'r mut Cleaner,
    xml: &'r mut Vec<u8>,
    uses: Namespaces,
    written: TagCounts,
    dropped: &'r mut D,
}

impl<D: FnMut(Dropped<'_>)> Visit for Rendering<'_, D> {
    fn value<E: Extension>(&mut self, fields: Fields<'_>) {
        if self.written[E::NAME] < E::VALUES_MAX && E::push(fields, self.cleaner, self.xml) {
            self.written[E::NAME] += 1;
            self.uses = self.uses.and(Namespaces::of(E::NAME));
        } else {
            drop_value::<E>(fields, self.dropped);
        }
    }
}

/// Calls `dropped` with every value of `raw`: 0.84 has no extensions.
pub fn drop_all(raw: RawExtras<'_>, dropped: &mut impl FnMut(Dropped<'_>)) {
    struct DropAll<'d, D>(&'d mut D);
    impl<D: FnMut(Dropped<'_>)> Visit for DropAll<'_, D> {
        fn value<E: Extension>(&mut self, fields: Fields<'_>) {
            drop_value::<E>(fields, self.0);
        }
    }
    visit(raw.0, &mut DropAll(dropped));
}

fn drop_value<E: Extension>(fields: Fields<'_>, dropped: &mut impl FnMut(Dropped<'_>)) {
    let mut named = [("", &b""[..]); FIELDS_MAX];
    let given = E::FIELDS.iter().zip(fields);
    named.iter_mut().zip(given).for_each(|(named, (&name, value))| *named = (name, value));
    dropped(Dropped { reason: E::DROPPED, fields: &named[..E::FIELDS.len()] });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sitemap::tag_names::{DroppedTags, TagReason};

    #[test]
    fn links_and_images_are_cleaned_escaped_and_counted() {
        let mut encoded = Vec::new();
        let links = [
            ["de", "HTTP://h.example/de?a&b"],
            ["x-default", "http://h.example/it's"],
            ["fr", "/relative"],
            ["no language", "http://h.example/"],
        ];
        RawExtras::push::<Alternates, 2>(links.map(|link| link.map(str::as_bytes)), &mut encoded);
        let images = [["http://h.example/a b.png"], ["mailto:x"]];
        RawExtras::push::<Images, 1>(images.map(|image| image.map(str::as_bytes)), &mut encoded);
        let raw = RawExtras(&encoded);
        let mut dropped = DroppedTags::default();
        let mut renderer = ExtrasRenderer::default();
        let mut texts = Vec::new();
        let extras = renderer.render(raw, &mut |tag| {
            dropped[tag.reason] += 1;
            texts.push(crate::escape::shown(&tag.to_text()));
        });
        let want = "<xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"http://h.example/de?a&amp;b\"/>\
                    <xhtml:link rel=\"alternate\" hreflang=\"x-default\" href=\"http://h.example/it&apos;s\"/>\
                    <image:image><image:loc>http://h.example/a%20b.png</image:loc></image:image>";
        assert_eq!(str::from_utf8(extras.xml), Ok(want));
        assert_eq!(extras.uses, Namespaces::of(TagName::Alternates).and(Namespaces::of(TagName::Images)));
        assert_eq!((dropped[TagReason::Alternate], dropped[TagReason::Image]), (2, 1));
        let want = ["hreflang=fr href=/relative", "hreflang=no language href=http://h.example/", "mailto:x"];
        assert_eq!(texts, want);

        let mut all = DroppedTags::default();
        drop_all(raw, &mut |tag| all[tag.reason] += 1);
        assert_eq!((all[TagReason::Alternate], all[TagReason::Image]), (4, 2));
        let mut counts = TagCounts::default();
        raw.count(&mut counts);
        assert_eq!((counts[TagName::Alternates], counts[TagName::Images]), (4, 2));
    }
}

//! The table of extensions, from which their tags, reasons and namespaces are made.

/// Gives the table to the macro `$then`. Each extension has its module, its type in that module, which is also its
/// [`TagName`](crate::sitemap::tag_names::TagName), with the name of the key or column, and the
/// [`TagReason`](crate::sitemap::tag_names::TagReason) for dropping a value, with the word in reports. XML has them in this
/// order.
macro_rules! with_extensions {
    ($then:ident) => {
        $then! {
            /// The same page in other languages; each link counts.
            alternates: Alternates = "alternates",
            /// A link to another language that is no URL or names no language, or a protocol without such links.
            Alternate = "tag-alternate";

            /// Images on the page; each counts.
            images: Images = "images",
            /// An image that is no URL or one too many, or a protocol without images.
            Image = "tag-image";
        }
    };
}
pub(crate) use with_extensions;

//! The table of extensions, which defines their tags and reasons.

/// Passes the table to the macro `$then`. Each entry has the module of the extension, its
/// [`TagName`](crate::sitemap::tag_names::TagName) with the name of its key or column, and its
/// [`TagReason`](crate::sitemap::tag_names::TagReason) for dropping a value with the word in reports. Entries of a sitemap have
/// their elements in this order.
macro_rules! with_extensions {
    ($then:ident) => {
        $then! {
            /// The same page in other languages; each link counts.
            alternates: Alternates = "alternates",
            /// A link without a valid URL or language, or a protocol without such links.
            Alternate = "tag-alternate";

            /// Images on the page; each counts.
            images: Images = "images",
            /// An image without a valid URL or beyond the limit, or a protocol without images.
            Image = "tag-image";
        }
    };
}
pub(crate) use with_extensions;

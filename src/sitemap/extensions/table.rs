//! The table of extensions, which defines their tags and reasons.

/// Passes the table to the macro `$then`. Each entry has the module of the extension, its
/// [`TagName`](crate::sitemap::tag_names::TagName) with the name of its key or column, its
/// [`TagReason`](crate::sitemap::tag_names::TagReason) for dropping a value with the word in reports, and another reason for
/// dropping a field alone if it has optional fields. Entries of a sitemap have their elements in this order.
macro_rules! with_extensions {
    ($then:ident) => {
        $then! {
            /// Links to the page in other languages; each link counts.
            alternates: Alternates = "alternates",
            /// A link without a valid URL or language, or a protocol without such links.
            Alternate = "tag-alternate";

            /// Images on the page; each counts.
            images: Images = "images",
            /// An image without a valid URL or beyond the limit, or a protocol without images.
            Image = "tag-image",
            /// A caption, title, place or licence of an image that cannot be written; the image is written without it.
            ImageField = "tag-image-field";

            /// Videos on the page; each counts.
            videos: Videos = "videos",
            /// A video without its required fields, or a protocol without videos.
            Video = "tag-video",
            /// An optional field of a video that cannot be written; the video is written without it.
            VideoField = "tag-video-field";

            /// The news article on the page.
            news: News = "news",
            /// An article without its required fields, a second one, or a protocol without news.
            News = "tag-news",
            /// An optional field of an article that cannot be written; the article is written without it.
            NewsField = "tag-news-field";
        }
    };
}
pub(crate) use with_extensions;

//! The rules: the word of each, and the clause that defines it.

use crate::common::counts::{Counts as CountsOf, counted};

/// Number of findings per rule.
pub type Counts = CountsOf<Rule, { Rule::ALL.len() }>;

/// Documents that define rules, as clauses cite them.
const XML: &str = "XML 1.0";
const GZIP: &str = "RFC 1952";
const ORG: &str = "sitemaps.org";
const OURS: &str = "sitemill";

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $source:expr, $clause:literal;)*) => {
        counted! {
            /// A rule that published files are checked against. Findings carry its word, which is part of the public contract.
            /// Rules are ordered from the outside of a file to its inside, followed by rules about several files.
            #[derive(Hash)]
            #[non_exhaustive]
            Rule {
                $($(#[$doc])* $name = $word,)*
            }
        }

        impl Rule {
            /// Returns the document that defines the rule, and the section in it.
            const fn source(self) -> (&'static str, &'static str) {
                match self { $(Self::$name => ($source, $clause),)* }
            }
        }
    };
}

rules! {
    /// The file is not valid gzip from its first byte to its last, or its name wrongly says that it is or is not gzip.
    Gzip = "gzip", GZIP, "2.2, file format";
    /// The file exceeds the byte limit of the protocol, compressed or uncompressed.
    TooLarge = "too-large", ORG, "Using Sitemap index files: 50MB; 0.84: 10MB";
    /// The file is not well-formed XML.
    WellFormed = "well-formed", XML, "2.1, well-formed documents";
    /// The file is not UTF-8, or declares another encoding.
    Encoding = "encoding", ORG, "Your Sitemap file must be UTF-8 encoded";
    /// The file has a document type declaration. Sitemaps need none, and many attacks begin with one.
    Doctype = "doctype", OURS, "no document type declaration is read";
    /// A reference names an entity that is not predefined.
    Entity = "entity", XML, "4.1, entity declared: only the five that are predefined";
    /// Elements are nested more than 32 levels deep, or 256 in a feed.
    TooDeep = "too-deep", OURS, "no element lies deeper than 32; in a feed, 256";
    /// The root element is neither `urlset` nor `sitemapindex`.
    Root = "root", ORG, "XML tag definitions: urlset; Sitemap index XML tag definitions: sitemapindex";
    /// The root element is in no namespace of the protocol, a prefix is not declared, or an element with the prefix and the name
    /// of one of an extension, such as `image:image`, is not in its namespace. The latter is reported once in a file.
    Namespace = "namespace", ORG, "specify the namespace within the urlset tag";
    /// The file has more entries than the protocol allows.
    TooManyEntries = "too-many-entries", ORG, "Using Sitemap index files: 50,000; 0.84: 1,000 in an index";
    /// An index file of protocol 0.84 lists a feed or a text file, which are sitemaps since protocol 0.9.
    Form = "form", ORG, "Other Sitemap formats: since protocol 0.9";
    /// The file has no entry.
    Empty = "empty", ORG, "schema, urlset and sitemapindex: at least one entry";
    /// The protocol does not allow this element here.
    UnknownElement = "unknown-element", ORG, "schema: url, sitemap";
    /// An element occurs twice.
    RepeatedElement = "repeated-element", ORG, "schema: each tag at most once; in images, videos and news, Google's schemas";
    /// An entry has no `loc`, or an element of an extension lacks one that it needs.
    MissingElement = "missing-element", ORG, "XML tag definitions: loc is required; in images, videos and news, Google's schemas";
    /// The elements are not in the order loc, lastmod, changefreq, priority, elements of other namespaces. Protocol 0.84
    /// allows any order.
    ElementOrder = "element-order", ORG, "schema 0.9: xsd:sequence";
    /// There is text between elements.
    StrayText = "stray-text", ORG, "schema: no mixed content";
    /// The protocol does not define this attribute.
    Attribute = "attribute", ORG, "schema: no attributes";
    /// A `loc` or another value of the protocol contains one of the five special characters unescaped, or a CDATA section. Reported
    /// once for each entry. Texts of images, videos and news need only be well-formed.
    NotEscaped = "not-escaped", ORG, "Entity escaping";
    /// The value is not an absolute `http` or `https` URL in the alphabet of RFC 3986.
    LocGrammar = "loc-grammar", "RFC 3986", "3, syntax components; sitemaps.org, Entity escaping";
    /// The URL has fewer than 12 characters.
    LocTooShort = "loc-too-short", ORG, "schema, loc: minLength 12";
    /// The URL has 2,048 characters or more.
    LocTooLong = "loc-too-long", ORG, "XML tag definitions: less than 2,048 characters";
    /// The URL is not below the directory in which the file is published.
    OutOfScope = "out-of-scope", ORG, "Sitemap file location";
    /// The value is not a W3C Datetime that the protocol's schema accepts.
    Lastmod = "lastmod", "W3C Datetime", "and the protocol's schema, lastmod";
    /// The value is none of the seven allowed words.
    Changefreq = "changefreq", ORG, "XML tag definitions: changefreq";
    /// The value is not a decimal number from 0.0 to 1.0.
    Priority = "priority", ORG, "XML tag definitions: priority";
    /// A link lacks `rel="alternate"`, a language or a URL.
    Alternate = "alternate", "Google", "Tell Google about localized versions: sitemap";
    /// A caption, title, place or licence of an image is not valid.
    Image = "image", "Google", "schema of image sitemaps";
    /// A value of a video is not valid, or it lacks one that it needs.
    Video = "video", "Google", "Video sitemaps, and their schema";
    /// A value of a news article is not valid, or a URL has two articles.
    News = "news", "Google", "News sitemaps, and their schema";
    /// A sitemap has more than 1,000 URLs with a news article.
    TooManyNews = "too-many-news", "Google", "News sitemaps: 1,000 news elements per sitemap";
    /// A URL has more than 1,000 images.
    TooManyImages = "too-many-images", "Google", "Image sitemaps: 1,000 images per page";
    /// A URL is listed twice in the set, or a sitemap is listed twice in its index files. The case of scheme and host, a default
    /// port, dot segments and a fragment make no difference.
    Duplicate = "duplicate", OURS, "every URL is listed once";
    /// An index file names a missing file.
    MissingFile = "missing-file", ORG, "Sitemap index XML tag definitions: loc";
    /// An index file lists another index file.
    IndexOfIndexes = "index-of-indexes", "Google", "Manage your sitemaps: an index lists sitemaps only";
    /// A line of `robots-sitemaps.txt` names no index file in its directory, no line names an index file, or the file of a set that
    /// `build` has published is missing. Also, a line of `robots.txt` in the directory of a set names a file of sitemill that does
    /// not exist, or `robots.txt` lists some of the set's index files, but not all.
    Robots = "robots", ORG, "Specifying the Sitemap location in your robots.txt file";
    /// No index file lists a sitemap of the published set.
    Unlisted = "unlisted", ORG, "Using Sitemap index files: list each Sitemap file";
    /// The content does not match the hash in the file name.
    ContentName = "content-name", OURS, "a name never changes its content";
}

impl Rule {
    /// Returns the document and the section that define the rule, such as `XML 1.0, 2.1, well-formed documents`.
    pub fn clause(self) -> String {
        let (document, clause) = self.source();
        format!("{document}, {clause}")
    }

    /// Returns whether a violation makes the rest of the file unreliable, so that its URLs should not be used.
    pub(crate) const fn is_damage(self) -> bool {
        matches!(
            self,
            Self::Gzip
                | Self::TooLarge
                | Self::WellFormed
                | Self::Encoding
                | Self::Doctype
                | Self::Entity
                | Self::TooDeep
                | Self::Root
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_own_name_and_a_clause() {
        let mut words: Vec<_> = Rule::ALL.iter().map(|rule| rule.as_str()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Rule::ALL.len());
        for (at, &rule) in Rule::ALL.iter().enumerate() {
            assert_eq!(rule as usize, at, "counts are kept by position");
            assert!(rule.clause().contains(", "));
            assert!(rule.as_str().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
        }
    }
}

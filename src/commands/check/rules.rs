//! The rules, each once: its word, and the clause it comes from.

use crate::common::counts::{Counts as CountsOf, counted};

/// How often each rule was broken.
pub type Counts = CountsOf<Rule, { Rule::ALL.len() }>;

/// The documents that rules come from, as clauses name them.
const XML: &str = "XML 1.0";
const GZIP: &str = "RFC 1952";
const ORG: &str = "sitemaps.org";
const OURS: &str = "sitemill";

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $source:expr, $clause:literal;)*) => {
        counted! {
            /// What published files are checked for. The words are part of the contract: findings carry them. In order from
            /// the outside of a file to its inside, and then from file to file.
            #[derive(Hash)]
            Rule {
                $($(#[$doc])* $name = $word,)*
            }
        }

        impl Rule {
            /// The document, and the place in it.
            const fn source(self) -> (&'static str, &'static str) {
                match self { $(Self::$name => ($source, $clause),)* }
            }
        }
    };
}

rules! {
    /// Not one gzip file from its first byte to its last, or not what its name says.
    Gzip = "gzip", GZIP, "2.2, file format";
    /// Larger than the protocol allows, before compression or after.
    TooLarge = "too-large", ORG, "Using Sitemap index files: 50MB; 0.84: 10MB";
    /// No XML, or XML whose parts do not fit together.
    WellFormed = "well-formed", XML, "2.1, well-formed documents";
    /// Not UTF-8, or said to be something else.
    Encoding = "encoding", ORG, "Your Sitemap file must be UTF-8 encoded";
    /// A document type declaration: nothing a sitemap needs, and the beginning of many attacks.
    Doctype = "doctype", OURS, "no document type declaration is read";
    /// A reference to an entity that nobody may have declared.
    Entity = "entity", XML, "4.1, entity declared: only the five that are predefined";
    /// Elements in elements in elements.
    TooDeep = "too-deep", OURS, "no element lies deeper than 32";
    /// The root is neither `urlset` nor `sitemapindex`.
    Root = "root", ORG, "XML tag definitions: urlset; Sitemap index XML tag definitions: sitemapindex";
    /// The root is in no namespace of the protocol, or a prefix was never declared.
    Namespace = "namespace", ORG, "specify the namespace within the urlset tag";
    /// More entries than the protocol allows.
    TooManyEntries = "too-many-entries", ORG, "Using Sitemap index files: 50,000; 0.84: 1,000 in an index";
    /// Not one entry.
    Empty = "empty", ORG, "schema, urlset and sitemapindex: at least one entry";
    /// An element that the protocol does not know, at this place.
    UnknownElement = "unknown-element", ORG, "schema: url, sitemap";
    /// An element twice.
    RepeatedElement = "repeated-element", ORG, "schema: each tag at most once";
    /// No `loc`.
    MissingElement = "missing-element", ORG, "XML tag definitions: loc is required";
    /// Elements in another order than loc, lastmod, changefreq, priority, tags of other namespaces. Free in 0.84.
    ElementOrder = "element-order", ORG, "schema 0.9: xsd:sequence";
    /// Text between the elements.
    StrayText = "stray-text", ORG, "schema: no mixed content";
    /// An attribute that the protocol does not know.
    Attribute = "attribute", ORG, "schema: no attributes";
    /// One of the five characters as it is, in a value.
    NotEscaped = "not-escaped", ORG, "Entity escaping";
    /// No absolute `http` or `https` URL in RFC 3986's alphabet.
    LocGrammar = "loc-grammar", "RFC 3986", "3, syntax components; sitemaps.org, Entity escaping";
    /// Shorter than 12 characters.
    LocTooShort = "loc-too-short", ORG, "schema, loc: minLength 12";
    /// 2,048 characters or more.
    LocTooLong = "loc-too-long", ORG, "XML tag definitions: less than 2,048 characters";
    /// Not below the directory that the file is published in.
    OutOfScope = "out-of-scope", ORG, "Sitemap file location";
    /// No W3C Datetime that the protocol's schema takes as well.
    Lastmod = "lastmod", "W3C Datetime", "and the protocol's schema, lastmod";
    /// None of the seven words.
    Changefreq = "changefreq", ORG, "XML tag definitions: changefreq";
    /// No decimal from 0.0 to 1.0.
    Priority = "priority", ORG, "XML tag definitions: priority";
    /// A link without `rel="alternate"`, a language or a URL.
    Alternate = "alternate", "Google", "Tell Google about localized versions: sitemap";
    /// More than 1,000 images of one URL.
    TooManyImages = "too-many-images", "Google", "Image sitemaps: 1,000 images a page";
    /// Listed before: a URL in this or another sitemap, a sitemap in this or another index file.
    Duplicate = "duplicate", OURS, "every URL is listed once";
    /// An index file names a file that is not there.
    MissingFile = "missing-file", ORG, "Sitemap index XML tag definitions: loc";
    /// An index file names an index file.
    IndexOfIndexes = "index-of-indexes", "Google", "Manage your sitemaps: an index lists sitemaps only";
    /// A line of `robots-sitemaps.txt` that names no index file beside it, or an index file that no line names.
    Robots = "robots", ORG, "Specifying the Sitemap location in your robots.txt file";
    /// A sitemap of the published set that no index file lists.
    Unlisted = "unlisted", ORG, "Using Sitemap index files: list each Sitemap file";
    /// Another content than the name of the file says.
    ContentName = "content-name", OURS, "a name never changes its content";
}

impl Rule {
    /// The clause, with the document it stands in.
    pub fn clause(self) -> String {
        let (document, clause) = self.source();
        format!("{document}, {clause}")
    }

    /// Whether what follows in the file cannot be told from what it says: nobody should use its URLs.
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
    fn every_rule_has_a_word_of_its_own_and_a_clause() {
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

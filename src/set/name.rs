//! Names of a set's files. A sitemap's name contains a hash, so the content behind it never changes.

use std::fmt;

use crate::place::SetName;
use crate::set::content::{ContentHash, Seal};
pub use crate::sitemap::sections::word::is_plain_word;

/// The lines for robots.txt of the set without a name, one for each index file.
pub const ROBOTS_FILE: &str = "robots-sitemaps.txt";

/// The name of the file with the lines for robots.txt of a set: `robots-sitemaps-blog.txt` for the set `blog`.
pub fn robots_file(name: Option<&SetName>) -> String {
    match name {
        Some(name) => format!("robots-sitemaps-{name}.txt"),
        None => ROBOTS_FILE.into(),
    }
}

/// The name of the set whose lines for robots.txt are in `file`; the inner option is none for the set without a name. `None` if
/// [`robots_file`] makes no such name.
pub fn set_of_robots_file(file: &str) -> Option<Option<SetName>> {
    match file {
        ROBOTS_FILE => Some(None),
        _ => file.strip_prefix("robots-sitemaps-")?.strip_suffix(".txt")?.parse().ok().map(Some),
    }
}

/// Whether `file` is named like one of a set: a sitemap, an index file, or its lines for robots.txt.
pub fn is_set_file(file: &str) -> bool {
    is_sitemap_file(file) || is_index_file(file) || is_robots_file(file)
}

/// Whether `file` is a name that [`robots_file`] makes.
pub fn is_robots_file(file: &str) -> bool {
    set_of_robots_file(file).is_some()
}

/// The line in a [`robots_file`] of a set without URLs. No valid XML exists for an empty set: the schemas require at least one
/// entry in a sitemap, and at least one sitemap in an index file.
pub const EMPTY_SET_LINE: &str = "# no URLs: this set is empty on purpose\n";

/// Candidates for the hash in a file name, eight hexadecimal digits each. A candidate is used only if the names before it belong
/// to other content. The digits of `content` come first. An attacker cannot occupy those of the `seal` of the same XML.
pub fn hash_candidates(content: ContentHash, seal: Seal) -> impl Iterator<Item = String> {
    let digits = content.to_string() + &String::from(seal);
    (0..8).map(move |at| digits[8 * at..][..8].to_owned())
}

/// Which sitemap of a set this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SitemapId<'a> {
    /// The word for its section. `None` if the set has no sections.
    pub section: Option<&'a str>,
    /// Its number in the section or the set, counted from 1.
    pub number: u32,
}

/// The prefix of the names of the sitemaps and index files of a set, or of those of one of its sections: `sitemap`, or
/// `sitemap-products`. In a directory, each stem belongs to one section of one set.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stem(String);

impl Default for Stem {
    fn default() -> Self {
        Self(SITEMAP.into())
    }
}

impl fmt::Display for Stem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Stem {
    /// The stem of a set, or of the set without a name.
    pub fn of_set(name: Option<&SetName>) -> Self {
        name.map_or_else(Self::default, |name| Self::default().with(name.as_str()))
    }

    /// Whether `stem` can be that of a section of the set with this stem.
    pub fn begins(&self, stem: &Self) -> bool {
        stem.0.strip_prefix(&self.0).is_some_and(|rest| rest.starts_with('-'))
    }

    /// This stem with `word` appended. [`is_plain_word`] must accept `word`.
    pub fn with(&self, word: &str) -> Self {
        debug_assert!(is_plain_word(word), "{word}");
        Self(format!("{self}-{word}"))
    }

    /// The stem of a section of the set with this stem, or this stem if there is no section.
    pub fn of_section(&self, word: Option<&str>) -> Self {
        word.map_or_else(|| self.clone(), |word| self.with(word))
    }

    /// The stem in the name of a sitemap or index file. `None` if sitemill gives no such name.
    pub fn of_file(file: &str) -> Option<Self> {
        let of_sitemap = split_sitemap_file(file).map(|(stem, ..)| stem);
        let stem = of_sitemap.or_else(|| Some(split_index_file(file)?.0))?;
        Some(Self(stem.into()))
    }

    /// The name of sitemap `number`, counted from 1, with the `digits` of a hash.
    pub fn sitemap_file(&self, number: u32, digits: &str) -> String {
        format!("{self}-{number:05}-{digits}.xml.gz")
    }

    /// The name of index file `number`, counted from 1. Names are equal in every run, so only new ones must be submitted.
    pub fn index_file(&self, number: u32) -> String {
        format!("{self}-{INDEX}-{number}.xml")
    }
}

/// The first word of every stem.
const SITEMAP: &str = "sitemap";

/// Maximum bytes of the name of a sitemap, if neither the set nor a section of it has a name.
pub const SITEMAP_FILE_BYTES_MAX: usize = "sitemap-4294967295-00000000.xml.gz".len();

/// The word before the number of an index file.
const INDEX: &str = "index";

/// Whether `stem` has the form of a [`Stem`].
fn is_stem(stem: &str) -> bool {
    let words = stem.strip_prefix(SITEMAP);
    words.is_some_and(|words| words.is_empty() || words.strip_prefix('-').is_some_and(is_plain_word))
}

/// The number in the name of a sitemap.
pub fn number_of(sitemap_file: &str) -> Option<u32> {
    Some(split_sitemap_file(sitemap_file)?.1)
}

/// The digits of a hash in the name of a sitemap.
pub fn hash_digits_of(sitemap_file: &str) -> Option<&str> {
    Some(split_sitemap_file(sitemap_file)?.2)
}

/// The stem, the number and the digits of a hash in a name that [`Stem::sitemap_file`] makes.
fn split_sitemap_file(name: &str) -> Option<(&str, u32, &str)> {
    let (rest, digits) = name.strip_suffix(".xml.gz")?.rsplit_once('-')?;
    let (stem, written) = rest.rsplit_once('-')?;
    let is_hash = digits.len() == 8 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let number = written.parse().ok().filter(|number| format!("{number:05}") == written && *number > 0)?;
    (is_hash && is_stem(stem)).then_some((stem, number, digits))
}

/// The stem and the number in a name that [`Stem::index_file`] makes.
fn split_index_file(name: &str) -> Option<(&str, u32)> {
    let (rest, digits) = name.strip_suffix(".xml")?.rsplit_once('-')?;
    let stem = rest.strip_suffix(INDEX)?.strip_suffix('-')?;
    let number = digits.parse().ok().filter(|number: &u32| number.to_string() == digits && *number > 0)?;
    is_stem(stem).then_some((stem, number))
}

/// Whether `name` is one that [`Stem::sitemap_file`] makes.
pub fn is_sitemap_file(name: &str) -> bool {
    split_sitemap_file(name).is_some()
}

/// Whether `name` is one that [`Stem::index_file`] makes.
pub fn is_index_file(name: &str) -> bool {
    split_index_file(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_carry_number_and_content() {
        let longest = Stem::default().sitemap_file(u32::MAX, "00000000");
        assert_eq!(longest.len(), SITEMAP_FILE_BYTES_MAX);
        let content = ContentHash(0x1f2e_3d4c_0000_0001_0000_0002_abcd_ef01);
        let digits: Vec<_> = hash_candidates(content, Seal(0x0a << 96)).collect();
        assert_eq!(digits[..5], ["1f2e3d4c", "00000001", "00000002", "abcdef01", "0000000a"]);
        assert_eq!(digits[5..], ["00000000"; 3]);
        let (plain, shoes) = (Stem::default(), Stem::default().with("shoes-2026"));
        assert_eq!(plain.sitemap_file(1, &digits[0]), "sitemap-00001-1f2e3d4c.xml.gz");
        assert_eq!(plain.sitemap_file(123_456, &digits[3]), "sitemap-123456-abcdef01.xml.gz");
        assert_eq!(shoes.sitemap_file(7, &digits[0]), "sitemap-shoes-2026-00007-1f2e3d4c.xml.gz");
        assert_eq!(number_of("sitemap-00001-1f2e3d4c.xml.gz"), Some(1));
        assert_eq!(number_of("sitemap-123456-abcdef01.xml.gz"), Some(123_456));
        assert_eq!(number_of("sitemap-shoes-2026-00007-1f2e3d4c.xml.gz"), Some(7));
        assert_eq!(plain.index_file(12), "sitemap-index-12.xml");
        assert_eq!(shoes.index_file(3), "sitemap-shoes-2026-index-3.xml");
    }

    #[test]
    fn a_file_name_tells_its_stem_whatever_words_it_has() {
        for words in ["", "a", "shoes-2026", "index", "x-index", "index-1", "00001", "00001-00002", "sitemap"]
        {
            let stem = if words.is_empty() { Stem::default() } else { Stem::default().with(words) };
            for file in
                [stem.sitemap_file(1, "1f2e3d4c"), stem.sitemap_file(99_999, "00000000"), stem.index_file(1)]
            {
                assert_eq!(Stem::of_file(&file).as_ref(), Some(&stem), "{file}");
            }
        }
        assert_eq!(Stem::of_file("robots-sitemaps.txt"), None);
    }

    #[test]
    fn every_set_has_robots_lines_of_its_own() {
        let blog: SetName = "blog".parse().unwrap();
        for (name, file) in [(None, "robots-sitemaps.txt"), (Some(blog), "robots-sitemaps-blog.txt")] {
            assert_eq!(robots_file(name.as_ref()), file);
            assert_eq!(set_of_robots_file(file), Some(name));
        }
        for other in
            ["robots.txt", "robots-sitemaps-.txt", "robots-sitemaps-Blog.txt", "robots-sitemaps-blog.xml"]
        {
            assert!(!is_robots_file(other), "{other}");
        }
        let [plain, blog, blogs] = ["", "blog", "blogs"].map(|name| Stem::of_set(name.parse().ok().as_ref()));
        assert!(plain.begins(&blog) && blog.begins(&blog.with("en")));
        assert!(!blog.begins(&blog) && !blog.begins(&blogs) && !blog.begins(&plain));
    }

    #[test]
    fn foreign_names_are_told_from_those_of_sitemill() {
        for ours in [
            "sitemap-00001-1f2e3d4c.xml.gz",
            "sitemap-123456-abcdef01.xml.gz",
            "sitemap-blog-00001-1f2e3d4c.xml.gz",
        ] {
            assert!(is_sitemap_file(ours) && !is_index_file(ours), "{ours}");
            assert!(matches!(hash_digits_of(ours), Some("1f2e3d4c" | "abcdef01")), "{ours}");
        }
        for ours in ["sitemap-index-1.xml", "sitemap-index-4294967295.xml", "sitemap-blog-index-1.xml"] {
            assert!(is_index_file(ours) && !is_sitemap_file(ours), "{ours}");
        }
        for other in [
            "",
            "index.html",
            "robots-sitemaps.txt",
            "sitemap.xml.gz",
            "sitemap-00001.xml.gz",
            "sitemap-1-1f2e3d4c.xml.gz",
            "sitemap-00000-1f2e3d4c.xml.gz",
            "sitemap-000001-1f2e3d4c.xml.gz",
            "sitemap-+0001-1f2e3d4c.xml.gz",
            "sitemap-00001-1F2e3d4c.xml.gz",
            "sitemap-00001-1f2e3d4.xml.gz",
            "sitemap-00001-x-1f2e3d4c.xml.gz",
            "sitemap--00001-1f2e3d4c.xml.gz",
            "sitemap-Blog-00001-1f2e3d4c.xml.gz",
            "sitemap-a--b-00001-1f2e3d4c.xml.gz",
            "sitemaps-00001-1f2e3d4c.xml.gz",
            "sitemap-../a-00001-1f2e3d4c.xml.gz",
            "sitemap-blog_-index-1.xml",
            "sitemap--index-1.xml",
            "../sitemap-00001-1f2e3d4c.xml.gz",
            "sitemap-00001-1f2e3d4c.xml.gz.mended",
            "sitemap-index.xml",
            "sitemap-index-0.xml",
            "sitemap-index-01.xml",
            "sitemap-index-+1.xml",
            "sitemap-index-4294967296.xml",
            "sitemap-index-1.xml.gz",
        ] {
            assert!(!is_sitemap_file(other) && !is_index_file(other), "{other}");
        }
    }
}

//! File names: a name never changes its content.

/// The lines for robots.txt, one for each index file.
pub const ROBOTS_FILE: &str = "robots-sitemaps.txt";

/// XXH3 of a sitemap's XML, 128 bits. Of the XML and not of the file: compressors differ from version to version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentHash(pub u128);

impl ContentHash {
    /// Eight hexadecimal digits each: the first for the name of the file, the others should that name be taken by
    /// another content.
    pub fn words(self) -> impl Iterator<Item = String> {
        let digits = self.to_string();
        (0..4).map(move |word| digits[8 * word..][..8].to_owned())
    }
}

impl std::fmt::Display for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The name of sitemap `number`, counted from 1.
pub fn sitemap_file(number: u32, word: &str) -> String {
    format!("sitemap-{number:05}-{word}.xml.gz")
}

/// The name of index file `number`, counted from 1. The same in every run, so that search engines need telling once.
pub fn index_file(number: u32) -> String {
    format!("sitemap-index-{number}.xml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_carry_number_and_content() {
        let content = ContentHash(0x1f2e_3d4c_0000_0001_0000_0002_abcd_ef01);
        let words: Vec<_> = content.words().collect();
        assert_eq!(words, ["1f2e3d4c", "00000001", "00000002", "abcdef01"]);
        assert_eq!(sitemap_file(1, &words[0]), "sitemap-00001-1f2e3d4c.xml.gz");
        assert_eq!(sitemap_file(123_456, &words[3]), "sitemap-123456-abcdef01.xml.gz");
        assert_eq!(index_file(12), "sitemap-index-12.xml");
    }
}

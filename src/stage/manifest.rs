//! The manifest: what a published set consists of, for the run that replaces it.

use std::collections::HashSet;
use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The version of the file's form. A set written by another version is not guessed at.
const FORMAT: u32 = 1;

/// A set of sitemaps and the index files that list them. `.sitemill/manifest.json` describes the live one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the file's form.
    pub format: u32,
    /// The run that made it, and the name of its staging directory.
    pub run: String,
    /// Protocol version: `0.9` or `0.84`.
    pub protocol: String,
    /// The directory that the files are published in, as a URL.
    pub base_url: String,
    /// When it was published; W3C Datetime, like every time in here.
    pub published: String,
    /// In the order of their numbers.
    pub sitemaps: Vec<Sitemap>,
    /// Names of the index files, in the order of their numbers.
    pub indexes: Vec<String>,
    /// Sitemaps of earlier sets that still lie there, so that nobody who holds an old index file misses one.
    pub superseded: Vec<Superseded>,
}

/// One sitemap of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sitemap {
    /// File name.
    pub file: String,
    /// XXH3 of the XML, 128 bits, as 32 hexadecimal digits.
    pub content: String,
    /// URLs in it.
    pub urls: u32,
    /// Bytes of the XML.
    pub xml_bytes: u64,
    /// Bytes of the file.
    pub gzip_bytes: u64,
    /// When its content last changed: the `lastmod` of its index entry.
    pub lastmod: String,
}

/// A sitemap that the set no longer lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Superseded {
    /// File name.
    pub file: String,
    /// When the set that no longer lists it was published.
    pub since: String,
}

impl Manifest {
    /// A set that replaces `live`: what it no longer lists is superseded now, what has not changed keeps its `lastmod`.
    pub fn succeeding(
        live: Option<&Self>,
        run: String,
        protocol: String,
        base_url: String,
        published: String,
        mut sitemaps: Vec<Sitemap>,
    ) -> Self {
        let mut superseded = Vec::new();
        if let Some(live) = live {
            let kept: std::collections::HashMap<_, _> =
                live.sitemaps.iter().map(|old| ((&old.file, &old.content), &old.lastmod)).collect();
            for sitemap in &mut sitemaps {
                if let Some(lastmod) = kept.get(&(&sitemap.file, &sitemap.content)) {
                    sitemap.lastmod.clone_from(lastmod);
                }
            }
            let listed: HashSet<_> = sitemaps.iter().map(|sitemap| &sitemap.file).collect();
            let now =
                live.sitemaps.iter().map(|s| Superseded { file: s.file.clone(), since: published.clone() });
            superseded
                .extend(live.superseded.iter().cloned().chain(now).filter(|s| !listed.contains(&s.file)));
        }
        Self { format: FORMAT, run, protocol, base_url, published, sitemaps, indexes: Vec::new(), superseded }
    }

    /// Reads the manifest at `path`; none if there is none.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if it is damaged or of another version.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(path, "could not be read", error)),
        };
        let unusable = |why: String| {
            let shown = crate::error::Shown(path);
            Error::data(format!("{shown}: {why}; remove it to publish as if for the first time"))
        };
        // The version first: another one may have other fields.
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let version: Version =
            serde_json::from_slice(&bytes).map_err(|error| unusable(format!("is damaged ({error})")))?;
        if version.format != FORMAT {
            return Err(unusable(format!(
                "has format {}, and this is a sitemill for {FORMAT}",
                version.format
            )));
        }
        let manifest: Self =
            serde_json::from_slice(&bytes).map_err(|error| unusable(format!("is damaged ({error})")))?;
        if !manifest.files().all(is_plain_name) || !is_plain_name(&manifest.run) {
            return Err(unusable("names files outside the directory".into()));
        }
        Ok(Some(manifest))
    }

    /// The file's bytes.
    pub fn to_json(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec_pretty(self).expect("strings and numbers are JSON");
        json.push(b'\n');
        json
    }

    fn files(&self) -> impl Iterator<Item = &str> {
        let sitemaps = self.sitemaps.iter().map(|sitemap| &sitemap.file);
        let superseded = self.superseded.iter().map(|superseded| &superseded.file);
        sitemaps.chain(superseded).chain(&self.indexes).map(String::as_str)
    }
}

/// Whether joining `name` to a directory stays in it.
fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sitemap(file: &str, content: &str, lastmod: &str) -> Sitemap {
        let (content, lastmod) = (content.into(), lastmod.into());
        Sitemap { file: file.into(), content, urls: 1, xml_bytes: 2, gzip_bytes: 3, lastmod }
    }

    fn succeed(live: Option<&Manifest>, published: &str, sitemaps: Vec<Sitemap>) -> Manifest {
        Manifest::succeeding(live, "r".into(), "0.9".into(), "u".into(), published.into(), sitemaps)
    }

    #[test]
    fn what_has_not_changed_keeps_its_lastmod_and_what_is_gone_is_remembered() {
        let first = succeed(None, "t1", vec![sitemap("a", "1", "t1"), sitemap("b", "2", "t1")]);
        let second = succeed(Some(&first), "t2", vec![sitemap("a", "1", "t2"), sitemap("c", "3", "t2")]);
        assert_eq!(second.sitemaps, [sitemap("a", "1", "t1"), sitemap("c", "3", "t2")]);
        assert_eq!(second.superseded, [Superseded { file: "b".into(), since: "t2".into() }]);
        let third = succeed(Some(&second), "t3", vec![sitemap("b", "2", "t3"), sitemap("c", "other", "t3")]);
        assert_eq!(third.sitemaps, [sitemap("b", "2", "t3"), sitemap("c", "other", "t3")]);
        assert_eq!(third.superseded, [Superseded { file: "a".into(), since: "t3".into() }]);
    }

    #[test]
    fn a_damaged_manifest_is_refused_and_says_the_way_out() {
        let directory = std::env::temp_dir().join(format!("sitemill-manifest-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("manifest.json");
        assert_eq!(Manifest::read(&path).unwrap(), None);
        let whole = succeed(None, "t", vec![sitemap("a", "1", "t")]);
        fs::write(&path, whole.to_json()).unwrap();
        assert_eq!(Manifest::read(&path).unwrap(), Some(whole.clone()));

        let escaping = succeed(None, "t", vec![sitemap("../a", "1", "t")]);
        let older = Manifest { format: 0, ..whole.clone() };
        let cut = &whole.to_json()[..40];
        for (bytes, why) in
            [(cut, "damaged"), (&older.to_json(), "format 0"), (&escaping.to_json(), "outside the directory")]
        {
            fs::write(&path, bytes).unwrap();
            let error = Manifest::read(&path).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Data);
            assert!(error.to_string().contains(why) && error.to_string().contains("remove it"), "{error}");
        }
        fs::remove_dir_all(directory).unwrap();
    }
}

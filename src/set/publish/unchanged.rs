//! Sitemaps that are published already, so that unchanged ones need not be compressed again.
//!
//! A sitemap of the new set is unchanged if its XML has a seal that a manifest records. A seal is a hash of 128 bits, keyed
//! with a secret that only the owner of the directory can read, so an attacker who controls URLs cannot construct a match.
//! The published file is read again and must have the seal that was recorded when it was written. Files that are damaged or
//! missing are not found here, and their sitemaps are compressed again.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::live::kept;
use crate::common::secret::Secret;
use crate::error::Result;
use crate::place::View;
use crate::set::content::{Seal, seal};
use crate::set::manifest::{Manifest, Sitemap};
use crate::set::name::{Stem, number_of};

/// The sitemaps of the sets that are live or kept.
#[derive(Debug)]
pub struct Unchanged {
    view: Arc<dyn View>,
    secret: Secret,
    /// Sitemaps by their stem and number, and the seal of their XML.
    sitemaps: HashMap<(Stem, u32, Seal), Sitemap>,
    /// For each sitemap, its stem and number, URLs and bytes of XML.
    sizes: HashSet<(Stem, u32, u32, u64)>,
}

impl Unchanged {
    /// The sitemaps of `live` and of the sets that it keeps. Sets that were sealed with another secret or cannot be read are
    /// left out; their sitemaps are compressed again.
    pub(super) fn read(view: &dyn View, live: Option<&Manifest>, secret: &Secret) -> Self {
        let kept = live.into_iter().flat_map(|live| kept(view, live));
        let digits = secret.to_hex();
        let sets = live.cloned().into_iter().chain(kept).filter(|set| set.secret == digits);
        Self::of(view, secret, sets.flat_map(|set| set.sitemaps))
    }

    /// The `sitemaps`, which were sealed with `secret`. Of several with the same name and content, the first counts.
    pub(super) fn of(view: &dyn View, secret: &Secret, sitemaps: impl IntoIterator<Item = Sitemap>) -> Self {
        let (view, secret) = (view.share(), secret.clone());
        let mut known = Self { view, secret, sitemaps: HashMap::new(), sizes: HashSet::new() };
        for sitemap in sitemaps {
            let id = Stem::of_file(&sitemap.file).zip(number_of(&sitemap.file));
            let (Some((stem, number)), Some(seals)) = (id, sitemap.seals) else { continue };
            known.sizes.insert((stem.clone(), number, sitemap.urls, sitemap.xml_bytes));
            known.sitemaps.entry((stem, number, seals.xml)).or_insert(sitemap);
        }
        known
    }

    /// All of them, in any order.
    pub(super) fn into_sitemaps(self) -> impl Iterator<Item = Sitemap> {
        self.sitemaps.into_values()
    }

    /// The place that they are published in.
    pub fn view(&self) -> &dyn View {
        &*self.view
    }

    /// The key of the seals.
    pub fn secret(&self) -> &Secret {
        &self.secret
    }

    /// Whether a published sitemap has this stem, number and size. If not, [`find`](Self::find) would find nothing.
    pub fn has_size(&self, stem: &Stem, number: u32, urls: u32, xml_bytes: u64) -> bool {
        self.sizes.contains(&(stem.clone(), number, urls, xml_bytes))
    }

    /// The published sitemap with this stem and number whose XML has the seal `xml`. Its file may be damaged or missing.
    ///
    /// # Errors
    /// If something other than a regular file has its name, or that cannot be determined.
    pub fn known(&self, stem: &Stem, number: u32, xml: Seal) -> Result<Option<&Sitemap>> {
        let sitemap = self.sealed(stem, number, xml);
        sitemap.map(|sitemap| self.view.look_up_or_refuse(sitemap.file.as_ref()).map(|_| sitemap)).transpose()
    }

    /// The published sitemap with this stem and number whose XML has the seal `xml`, if its file is intact. Reads the whole file,
    /// unless the place knows that without reading it.
    pub fn find(&self, stem: &Stem, number: u32, xml: Seal) -> Option<&Sitemap> {
        let sitemap = self.sealed(stem, number, xml)?;
        // Errors are ignored here: writing the sitemap again reports them.
        let found = self.view.look_up(sitemap.file.as_ref()).ok().flatten();
        found.filter(|found| found.is_file && found.bytes == sitemap.gzip_bytes)?;
        if let Some(answer) = self.view.is_as_published(sitemap.file.as_ref(), sitemap.gzip_bytes) {
            return answer.then_some(sitemap);
        }
        let there = seal(&self.secret, &self.view.read(sitemap.file.as_ref()).ok()?);
        (sitemap.seals.map(|seals| seals.gzip) == Some(there)).then_some(sitemap)
    }

    fn sealed(&self, stem: &Stem, number: u32, xml: Seal) -> Option<&Sitemap> {
        self.sitemaps.get(&(stem.clone(), number, xml))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::clean::scope::ScopeRule;
    use crate::limits::Protocol;
    use crate::place::DirectoryPlace;
    use crate::place::Unsynced;
    use crate::place::fs::FileSystem;
    use crate::place::fs::memory::Memory;
    use crate::set::content::{ContentHash, Seals};
    use crate::set::name::SitemapId;
    use crate::set::publish::retention::Keep;
    use crate::set::publish::{OnDamage, SetInfo, Workspace, make_live};
    use crate::set::shelf::Shelf;
    use crate::sitemap::divide::Limits;

    const XML: &[u8] = b"what would be XML";
    const GZIP: &[u8] = b"what would be a gzip file";
    const TIME: &str = "2026-11-20T02:00:00Z";

    fn open(fs: &Memory) -> Workspace {
        let place = DirectoryPlace::open(Arc::new(fs.clone()), "/out".as_ref(), None).unwrap();
        Workspace::open_place(Box::new(place), OnDamage::Refuse).unwrap()
    }

    /// Publishes a set of sitemap 7 alone, or an empty set, and returns its sitemaps.
    fn publish(fs: &Memory, is_there: bool) -> Vec<Sitemap> {
        let workspace = open(fs);
        let stage = |workspace: &Workspace| {
            let xml = seal(&workspace.secret, XML);
            let staged = workspace
                .shelf()
                .put(
                    SitemapId { section: None, number: 7 },
                    ContentHash(0x1f2e_3d4c << 96),
                    xml,
                    GZIP.to_vec(),
                )
                .unwrap();
            let seals = Seals { xml, gzip: staged.gzip_seal };
            staged.unsynced.map_or(Ok(()), Unsynced::sync).unwrap();
            Sitemap {
                file: staged.file,
                content: String::new(),
                urls: 1,
                xml_bytes: XML.len() as u64,
                gzip_bytes: staged.gzip_bytes,
                lastmod: TIME.into(),
                seals: Some(seals),
            }
        };
        let sitemaps: Vec<_> = is_there.then(|| stage(&workspace)).into_iter().collect();
        let info = SetInfo {
            base_url: &"https://h.example/".parse().unwrap(),
            protocol: Protocol::V0_9,
            index_limits: Limits { entries_max: 10, bytes_max: 10_000 },
            scope: ScopeRule::Directory,
            also: Vec::new(),
            sections: Vec::new(),
            counts: None,
            rows: None,
            time: TIME,
            explain: &|error| error,
        };
        let prepared = workspace.prepare(sitemaps.clone(), &info, Keep::default()).unwrap();
        assert!(make_live(&mut [prepared]).unwrap().is_empty());
        sitemaps
    }

    #[test]
    fn a_sitemap_is_found_if_it_is_whole_and_live_or_kept() {
        let fs = Memory::default();
        fs.put("/theirs".as_ref(), b"");
        let sitemap = publish(&fs, true).remove(0);
        let path = Path::new("/out").join(&sitemap.file);
        let stem = Stem::default();
        for set in ["live", "kept"] {
            let workspace = open(&fs);
            let known = Unchanged::read(workspace.place.view(), workspace.live(), &workspace.secret);
            let sealed = seal(known.secret(), XML);
            let bytes = XML.len() as u64;
            assert!(known.has_size(&stem, 7, 1, bytes), "{set}");
            assert!(!known.has_size(&stem, 8, 1, bytes) && !known.has_size(&stem, 7, 2, bytes));
            assert_eq!(known.find(&stem, 7, sealed), Some(&sitemap), "{set}");
            assert_eq!(known.find(&stem, 8, sealed), None, "another number");
            assert_eq!(known.find(&stem.with("shoes"), 7, sealed), None, "another section");
            assert_eq!(known.find(&stem, 7, seal(known.secret(), b"other XML")), None);
            let other = Secret::draw().unwrap();
            let strange = Unchanged::read(workspace.place.view(), workspace.live(), &other);
            assert!(!strange.has_size(&stem, 7, 1, bytes));

            let rotted: Vec<u8> = GZIP.iter().map(|byte| byte ^ 1).collect();
            for damaged in [&rotted[..], &GZIP[1..], b""] {
                fs.put(&path, damaged);
                assert_eq!(known.find(&stem, 7, sealed), None, "{damaged:?}");
                assert_eq!(known.known(&stem, 7, sealed).unwrap(), Some(&sitemap), "{damaged:?}");
            }
            fs.remove(&path).unwrap();
            assert_eq!(known.find(&stem, 7, sealed), None, "gone");
            assert_eq!(known.known(&stem, 7, sealed).unwrap(), Some(&sitemap), "gone");
            fs.put(&path, GZIP);
            drop(workspace);
            publish(&fs, false);
        }
    }
}

//! Sitemaps of a published set that no index file lists.

use std::sync::Arc;

use super::Run;
use super::document::Rules;
use super::finding::Findings;
use super::follow::Known;
use super::rules::Rule;
use super::set::Set;
use crate::clean::scope::BaseUrl;
use crate::error::Result;
use crate::escape::shown;
use crate::place::{Record, View};

impl Run<'_> {
    /// Checks that every sitemap in the manifest of `build` is listed.
    pub(super) fn check_manifest(&mut self, set: &Set, known: &Known, rules: &Rules<'_>) -> Result<()> {
        // Before a switch is complete, some index files list the sitemaps of the live set, and others those of the next one.
        let (Some(view), Ok(Some(manifest)), None) = (&set.view, &set.manifests.live, set.manifests.next())
        else {
            return Ok(());
        };
        let is_unread = |index: &String| !known.indexes.contains(&view.path(index.as_ref()));
        let has_unread = set.findings.counts.total() > 0 && manifest.indexes.iter().any(is_unread);
        if has_unread || known.has_unclear_index {
            // The sitemaps that a reported index file lists are unknown.
            return Ok(());
        }
        let path = view.record_path(&Record::Live);
        let mut findings = Findings::new(shown(path.as_os_str().as_encoded_bytes()), self.kept_max);
        // If there are no index files, the check starts from the sitemaps.
        let is_listed = |file: &str| {
            let path = view.path(file.as_ref());
            known.listed.contains(&path) || known.starts.contains(&path)
        };
        let files = manifest.sitemaps.iter().map(|sitemap| &sitemap.file).filter(|file| !is_listed(file));
        let also = manifest.also.iter().map(|also| &also.loc).filter(|&loc| known.external.contains(loc));
        for unlisted in files.chain(also) {
            findings.push(None, Rule::Unlisted, || {
                format!("{} belongs to the set, but no index file lists it", shown(unlisted.as_bytes()))
            });
        }
        match findings.counts.total() > 0 && set.manifests.are_outdated(&**view) {
            true => self.check_manifest_again(view, rules),
            false => self.told.add(&findings),
        }
    }

    /// Checks the manifest after another run has published while the index files were read.
    fn check_manifest_again(&mut self, view: &Arc<dyn View>, rules: &Rules<'_>) -> Result<()> {
        let base = self.job.base_url.as_ref().map(BaseUrl::as_str);
        let set = Set::of_place(Arc::clone(view), base, self.kept_max)?;
        let mut known = Known::of(&set);
        let files = known.begin(&set);
        self.check_files(files, false, rules, |_, mut document| {
            known.follow(&set, &mut document);
            Ok(())
        })?;
        self.check_manifest(&set, &known, rules)
    }
}

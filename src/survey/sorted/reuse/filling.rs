//! Adds reused sitemaps to those that are filled.

use crate::sitemap::divide::stable::Halt;
use crate::sitemap::divide::{Divider, PlannedSitemap};
use crate::survey::layout::SitemapSource;

/// Adds the reused sitemaps to those that are filled.
pub struct Filling<'a> {
    /// The sitemap of each part that is unchanged.
    unchanged: Vec<Option<PlannedSitemap<SitemapSource>>>,
    /// Whether each part is reused.
    reused: &'a [bool],
    /// The parts that are complete.
    passed: usize,
}

impl<'a> Filling<'a> {
    /// Begins with the first part.
    pub fn new(unchanged: Vec<Option<PlannedSitemap<SitemapSource>>>, reused: &'a [bool]) -> Self {
        Self { unchanged, reused, passed: 0 }
    }

    /// Adds the reused sitemaps among the parts before `part`.
    ///
    /// # Errors
    /// [`Halt::Needs`] with one that might begin or end elsewhere, or have another number.
    pub fn pass(&mut self, part: usize, divider: &mut Divider<SitemapSource>) -> Result<(), Halt> {
        for own in self.passed..part {
            let Some(sitemap) = self.unchanged[own].filter(|_| self.reused[own]) else { continue };
            // The first entry of an unchanged part had no room in the sitemap before, and has none in the same sitemap.
            if let Some(before) = own.checked_sub(1).and_then(|before| self.unchanged[before]) {
                divider.close(&before);
            }
            let next_is_unchanged = self.unchanged.get(own + 1).is_none_or(Option::is_some);
            let ends_alike = divider.is_full(&sitemap) || next_is_unchanged;
            if divider.next_number() != Some(sitemap.number) || !ends_alike {
                return Err(Halt::Needs(own));
            }
            divider.push_whole(sitemap)?;
        }
        self.passed = self.passed.max(part);
        Ok(())
    }
}

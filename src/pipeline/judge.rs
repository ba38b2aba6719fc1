//! What a line means to a build. Both passes ask here, so that they cannot disagree.

use crate::job::Job;
use crate::stage::clean::{CleanUrl, Cleaned, Cleaner, Reason};
use crate::stage::scope::Scope;
use crate::stage::xml::{self, Frame};

/// What a build asks of a URL besides being one.
#[derive(Debug)]
pub struct Rules {
    scope: Scope,
    /// Most bytes of an entry.
    entry_bytes_max: u64,
}

impl Rules {
    /// The rules of `job`.
    pub fn of(job: &Job) -> Self {
        let frame = Frame::sitemap(job.protocol);
        Self {
            scope: Scope::new(job.scope, &job.base_url),
            entry_bytes_max: job.sitemap_limits().entry_bytes_max(&frame),
        }
    }

    fn fits(&self, url: CleanUrl<'_>) -> bool {
        // Only limits far below the usual ones are worth the counting.
        xml::URL_ENTRY_BYTES_MAX as u64 <= self.entry_bytes_max
            || xml::url_bytes(url) as u64 <= self.entry_bytes_max
    }
}

/// Cleans lines and holds them against the rules.
#[derive(Debug)]
pub struct Judge<'r> {
    cleaner: Cleaner,
    rules: &'r Rules,
}

impl<'r> Judge<'r> {
    /// A judge by `rules`.
    pub fn new(rules: &'r Rules) -> Self {
        Self { cleaner: Cleaner::default(), rules }
    }

    /// Judges one raw line.
    pub fn judge<'a>(&'a mut self, raw: &'a [u8]) -> Cleaned<'a> {
        match self.cleaner.clean(raw) {
            Cleaned::Url(url) if !self.rules.scope.admits(url) => Cleaned::Rejected(Reason::OutOfScope),
            Cleaned::Url(url) if !self.rules.fits(url) => Cleaned::Rejected(Reason::EntryTooLarge),
            cleaned => cleaned,
        }
    }
}

//! Judges rows: each becomes an entry, is blank, or is refused. Both passes use this code, so they cannot disagree.

use super::notes::Notes;
use super::tally::Tally;
use crate::clean::scope::{Base, Origins, Scope};
use crate::clean::screen::{LineCleaner, RuleNumber, RuleSet, Screen, Screened};
use crate::clean::{self, CleanUrl, Cleaner, Reason, UrlEncoding};
use crate::intake::lines::LineReader;
use crate::intake::spool_format::Content;
use crate::job::{Job, SectionsBy};
use crate::limits::Protocol;
use crate::sitemap::divide::EntrySize;
use crate::sitemap::entry::Entry;
use crate::sitemap::extensions::{Extras, ExtrasRenderer};
use crate::sitemap::sections::{SectionFinder, SectionNames};
use crate::sitemap::tags::{Dropped, DroppedTags, TagReason, TagRules};
use crate::sitemap::xml::Frame;
use crate::sitemap::{extensions, xml};

/// The rules of a build for URLs and tags.
#[derive(Debug)]
pub struct Rules {
    scope: Scope,
    screen: Option<Screen>,
    url_encoding: UrlEncoding,
    tags: TagRules,
    /// Whether entries may have extras.
    has_extensions: bool,
    /// Maximum bytes of an entry.
    entry_bytes_max: u64,
    /// The names of sections so far, if a column has them.
    section_names: Option<SectionNames>,
}

impl Rules {
    /// The rules of `job` for each row. It has been checked.
    pub fn of(job: &Job) -> Self {
        let rules = &job.rules;
        let frame = Frame::sitemap(rules.protocol);
        let entry_bytes_max = rules.sitemap_limits().entry_bytes_max(&frame);
        let screen = Screen::of(&rules.urls, rules.url_encoding);
        Self {
            scope: scope(job),
            screen: screen.expect("the check of the job has compiled it, too"),
            url_encoding: rules.url_encoding,
            tags: rules.tags.clone(),
            // The schema of 0.84 allows only its own elements.
            has_extensions: rules.protocol == Protocol::V0_9,
            entry_bytes_max,
            section_names: matches!(rules.sections, Some(SectionsBy::Column { .. }))
                .then(SectionNames::default),
        }
    }

    /// The names of sections in the rows that were judged so far, if a column has them.
    pub fn section_names(&self) -> Option<&SectionNames> {
        self.section_names.as_ref()
    }

    /// The rules that exclude URLs and have this name.
    pub fn excluding(&self, name: &str) -> RuleSet {
        self.screen.as_ref().map(|screen| screen.named(name)).unwrap_or_default()
    }

    #[inline(always)]
    fn fits(&self, entry: &Entry<'_>) -> bool {
        // An entry without extras has at most `xml::ENTRY_BYTES_MAX` bytes, so its size is computed only if the limit is lower.
        entry.extras.xml.is_empty() && xml::ENTRY_BYTES_MAX as u64 <= self.entry_bytes_max || {
            let EntrySize { bytes, uses, .. } = entry.size();
            bytes + uses.bytes() <= self.entry_bytes_max
        }
    }
}

/// The scope of `job`. Sites whose index files would exceed the maximum bytes per sitemap are out of scope.
fn scope(job: &Job) -> Scope {
    let rules = &job.rules;
    let scope = Scope::new(rules.scope, &rules.base_url);
    let Base::EachOrigin(path) = &rules.base_url else { return scope };
    let origin = "http://h.example/";
    let base = path.on(origin).expect("parsing the path has tried it");
    let least = rules.index_bytes_min(&base, job.publication.name.as_ref()) - origin.len() as u64;
    scope.with_origins_of_at_most(rules.bytes_per_sitemap.saturating_sub(least))
}

/// The outcome of a row.
#[derive(Debug, Clone, Copy)]
pub enum Judged<'a> {
    /// A blank row.
    Blank,
    /// An entry, if no earlier row has its URL.
    Entry(Entry<'a>),
    /// A row that was refused.
    Rejected(Reason),
    /// A row whose URL is left out by a rule of the job.
    Excluded(RuleNumber),
}

/// Whether an entry of `url` was made of a row whose URL has bytes that are not UTF-8. Fast for URLs that were not changed.
#[inline]
pub fn is_of_foreign_bytes(url: CleanUrl<'_>, content: Content<'_>) -> bool {
    matches!(content, Content::Url(raw, _) if !url.is(raw) && clean::has_foreign_bytes(raw))
}

/// Cleans rows and checks them against the rules.
#[derive(Debug)]
pub struct Judge<'r> {
    urls: LineCleaner<'r>,
    /// The XML of an entry's tags.
    tags: Vec<u8>,
    extras: ExtrasRenderer,
    sections: SectionFinder<'r>,
    rules: &'r Rules,
    out_of_scope: Origins,
}

impl<'r> Judge<'r> {
    /// A judge by `rules`.
    pub fn new(rules: &'r Rules) -> Self {
        let urls = LineCleaner::new(rules.url_encoding, rules.screen.as_ref());
        let extras = ExtrasRenderer::new(Cleaner::new(rules.url_encoding));
        let sections = SectionFinder::new(rules.section_names.as_ref());
        Self { urls, tags: Vec::new(), extras, sections, rules, out_of_scope: Origins::default() }
    }

    /// Announces that the next rows are these lines, so that patterns can be searched for in many of them at once.
    pub fn begin_lines(&mut self, lines: &LineReader<'r>) {
        self.urls.begin_text(lines.left());
    }

    /// The notes on rows since the last call. The origins of URLs out of scope are those of all rows that were judged; rules are
    /// counted by [`Judge::tally`] and [`Judge::count_accepted`].
    pub fn take_notes(&mut self) -> Notes {
        Notes { out_of_scope: std::mem::take(&mut self.out_of_scope), rules: self.urls.take_counts() }
    }

    /// Counts the rules that applied to the URL of the last row, which has become an entry.
    pub fn count_accepted(&mut self) {
        self.urls.count_accepted();
    }

    /// The name of a rule that excludes URLs.
    pub fn rule_name(&self, rule: RuleNumber) -> &'r str {
        self.urls.rule_name(rule)
    }

    /// Judges a row, and counts its outcome and that of its tags. Calls `act` with its entry, if it has become one.
    #[inline]
    pub fn tally<R>(
        &mut self,
        content: Content<'_>,
        tally: &mut Tally,
        act: impl FnOnce(Entry<'_>) -> R,
    ) -> Option<R> {
        tally.lines += 1;
        let dropped = &mut tally.dropped;
        match self.judge(content, &mut |reason| dropped[reason] += 1) {
            Judged::Entry(entry) => {
                tally.non_utf8 += u64::from(is_of_foreign_bytes(entry.url, content));
                entry.count_tags(&mut tally.rendered);
                let done = act(entry);
                // An entry was counted when it was made.
                if self.rules.screen.is_some() && matches!(content, Content::Url(..)) {
                    self.count_accepted();
                }
                return Some(done);
            }
            Judged::Blank => tally.blank += 1,
            Judged::Excluded(rule) => {
                tally.excluded += 1;
                self.urls.count_excluded(rule);
            }
            Judged::Rejected(reason) => {
                tally.rejected[reason] += 1;
                if reason == Reason::EntryTooLarge {
                    self.take_back(content, dropped);
                }
            }
        }
        if let Content::Url(_, tags) = content {
            tags.count(&mut tally.refused_tags);
        }
        None
    }

    /// Takes the dropped tags of a rejected row out of `dropped` again: they were judged before the row was rejected, and are
    /// counted with it. Kept out of [`Judge::tally`], which every line goes through.
    #[cold]
    #[inline(never)]
    fn take_back(&mut self, content: Content<'_>, dropped: &mut DroppedTags) {
        self.judge(content, &mut |reason| dropped[reason] -= 1);
    }

    /// The entry of a row, if it becomes one. Quick for rows that are entries already.
    #[inline]
    pub(super) fn entry<'a>(&'a mut self, content: Content<'a>) -> Option<Entry<'a>> {
        if let Content::Entry(entry) = content {
            return Some(entry);
        }
        match self.judge(content, &mut |_| {}) {
            Judged::Entry(entry) => Some(entry),
            _ => None,
        }
    }

    /// Judges a row. `dropped` receives the reason for each tag that cannot be written; the URL is listed without it.
    #[inline]
    pub fn judge<'a>(&'a mut self, content: Content<'a>, dropped: &mut impl FnMut(TagReason)) -> Judged<'a> {
        self.judge_telling(content, &mut |tag| dropped(tag.reason))
    }

    /// Judges a row. `dropped` receives each tag that cannot be written, with its value.
    #[inline]
    pub fn judge_telling<'a>(
        &'a mut self,
        content: Content<'a>,
        dropped: &mut impl FnMut(Dropped<'_>),
    ) -> Judged<'a> {
        let (raw, raw_tags) = match content {
            Content::Url(raw, raw_tags) => (raw, raw_tags),
            Content::Bad(_, reason) => return Judged::Rejected(reason),
            Content::Entry(entry) => return Judged::Entry(entry),
        };
        match self.urls.clean(raw) {
            Screened::Blank => Judged::Blank,
            Screened::Rejected(reason) => Judged::Rejected(reason),
            Screened::Excluded(rule) => Judged::Excluded(rule),
            Screened::Url(url) if !self.rules.scope.admits(url) => {
                Judged::Rejected(self.rules.scope.reason(url, &mut self.out_of_scope))
            }
            Screened::Url(url) => {
                self.tags.clear();
                let instant = self.rules.tags.check(raw_tags, dropped).and_then(|tags| {
                    xml::push_tags(&tags, &mut self.tags);
                    tags.instant()
                });
                let extras = match raw_tags.extras.is_empty() {
                    true => Extras::default(),
                    false if self.rules.has_extensions => self.extras.render(raw_tags.extras, dropped),
                    false => {
                        extensions::drop_all(raw_tags.extras, dropped);
                        Extras::default()
                    }
                };
                let section = self.sections.number(raw_tags.section);
                let entry = Entry { url, tags: &self.tags, instant, extras, section };
                match self.rules.fits(&entry) {
                    true => Judged::Entry(entry),
                    false => Judged::Rejected(Reason::EntryTooLarge),
                }
            }
        }
    }
}

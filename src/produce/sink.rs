//! The sink of a sitemap: its rendered entries are hashed, counted and compressed buffer by buffer.

use xxhash_rust::xxh3::Xxh3;

use crate::common::frequent::KeyCounts;
use crate::common::secret::Secret;
use crate::compress::gzip::Compressor;
use crate::error::Result;
use crate::job::SetRules;
use crate::set::content::{ContentHash, Seal};
use crate::sitemap::entry::Entry;
use crate::sitemap::extensions::news;
use crate::sitemap::segments::{SegmentCounter, SegmentRule};

/// Bytes of XML that are rendered before they are compressed. They fit in the second-level cache.
const BUFFER_BYTES: usize = 128 * 1024;

/// The counts of a sitemap.
#[derive(Default)]
pub struct Counts {
    /// Articles that are older than news may be.
    pub old_news: u64,
    /// URLs by segment, if these are counted.
    pub segments: Option<KeyCounts>,
}

/// A sitemap that was rendered and compressed.
pub struct Compressed {
    pub content: ContentHash,
    pub seal: Seal,
    pub gzip: Vec<u8>,
}

/// Hashes, counts and compresses sitemaps one after another, and reuses its buffers.
pub struct Sink<'r> {
    /// The buffer of rendered XML that is not compressed yet.
    pub xml: Vec<u8>,
    compressor: Compressor,
    hasher: Box<Xxh3>,
    sealer: Box<Xxh3>,
    /// Whether only the seal is needed.
    is_for_seal: bool,
    /// Counts URLs by segment, if the report needs it. Reads whole buffers, so that rendering an entry costs the same.
    segments: Option<SegmentCounter<'r>>,
    /// The time of publication in seconds since 1970, if the sitemap has news articles.
    now: Option<i64>,
    /// Articles of the sitemap that are old at this time.
    old_news: u64,
    /// Bytes of XML before the buffer.
    bytes: u64,
    /// The first URL; empty before there is one.
    first_url: String,
    /// When the buffer has this many bytes, [`Sink::push`] has more to do: store the first URL, or flush the buffer.
    busy_from: usize,
}

impl<'r> Sink<'r> {
    /// A sink that counts URLs by segment if there is a rule for `segments`.
    pub fn new(rules: &SetRules, secret: &Secret, segments: Option<&'r SegmentRule>) -> Self {
        Self {
            xml: Vec::with_capacity(2 * BUFFER_BYTES),
            compressor: Compressor::new(rules.gzip_engine, rules.level),
            hasher: Box::default(),
            sealer: Box::new(secret.hasher()),
            is_for_seal: false,
            segments: segments.map(SegmentCounter::new),
            now: None,
            old_news: 0,
            bytes: 0,
            first_url: String::new(),
            busy_from: 0,
        }
    }

    /// Begins a sitemap, to compress it or for its seal alone. Articles that are old at the time `now` are counted.
    pub fn begin(&mut self, is_for_seal: bool, now: Option<i64>) {
        self.first_url.clear();
        // What was rendered for its seal alone may be rendered again.
        self.take_counts();
        (self.is_for_seal, self.now, self.busy_from) = (is_for_seal, now, 0);
    }

    /// Reserves memory for a sitemap of `bytes` of XML.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn reserve(&mut self, bytes: u64) -> Result<()> {
        // Most sitemaps compress to less than a quarter.
        self.compressor.reserve(bytes as usize / 4)
    }

    /// Returns what was counted since the last call.
    pub fn take_counts(&mut self) -> Counts {
        let segments = self.segments.as_mut().map(SegmentCounter::take);
        Counts { old_news: std::mem::take(&mut self.old_news), segments }
    }

    /// Renders an entry.
    #[inline]
    pub fn push(&mut self, entry: &Entry<'_>) {
        entry.push(&mut self.xml);
        if self.xml.len() >= self.busy_from {
            self.after_push(entry);
        }
    }

    /// Does the rare work of [`Sink::push`], out of line because every entry goes through that.
    #[inline(never)]
    fn after_push(&mut self, entry: &Entry<'_>) {
        if self.first_url.is_empty() {
            self.first_url.push_str(str::from_utf8(entry.url.as_bytes()).expect("a clean URL is ASCII"));
            self.busy_from = BUFFER_BYTES;
        }
        if self.xml.len() >= BUFFER_BYTES {
            self.flush();
        }
    }

    /// Returns the first URL of the finished sitemap.
    pub fn take_first_url(&mut self) -> String {
        std::mem::take(&mut self.first_url)
    }

    fn flush(&mut self) {
        self.sealer.update(&self.xml);
        if let Some(segments) = &mut self.segments {
            segments.add_xml(&self.xml);
        }
        if let Some(now) = self.now {
            self.old_news += news::count_old(&self.xml, now);
        }
        if !self.is_for_seal {
            self.hasher.update(&self.xml);
            self.compressor.push(&self.xml);
        }
        self.bytes += self.xml.len() as u64;
        self.xml.clear();
    }

    /// Ends a sitemap and returns the bytes of its XML.
    pub fn end(&mut self) -> u64 {
        self.flush();
        std::mem::take(&mut self.bytes)
    }

    /// Returns the seal of the finished sitemap.
    pub fn seal(&mut self) -> Seal {
        let seal = Seal(self.sealer.digest128());
        self.sealer.reset();
        seal
    }

    /// Returns the finished sitemap, which must not have been rendered for its seal alone.
    pub fn finish(&mut self) -> Compressed {
        debug_assert!(!self.is_for_seal, "nothing was compressed");
        let content = ContentHash(self.hasher.digest128());
        self.hasher.reset();
        Compressed { content, seal: self.seal(), gzip: self.compressor.finish() }
    }
}

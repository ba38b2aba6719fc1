//! The rules of a set: all options that decide which bytes are published.

use std::str::FromStr;

use crate::clean::UrlEncoding;
use crate::clean::scope::{Base, BaseUrl, ScopeRule};
use crate::clean::screen::{Screen, UrlRules};
use crate::compress::gzip::{Engine, Level};
use crate::error::{Error, Result, Setting, message};
use crate::job::sections::SectionsBy;
use crate::limits::{
    BYTES_PER_SITEMAP_DEFAULT, Protocol, SITEMAPS_PER_INDEX_DEFAULT, URL_BYTES_MAX, URLS_PER_SITEMAP_MAX,
};
use crate::place::SetName;
use crate::set::name::SITEMAP_FILE_BYTES_MAX;
use crate::set::publish;
use crate::sitemap::divide::{Divide, Limits};
use crate::sitemap::tags::TagRules;
use crate::words::grouped;

/// Which URLs a set lists, and how its files are written. The same input and rules give the same bytes, regardless of threads and
/// memory. [`SetRules::new`] sets every other field to its command-line default.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SetRules {
    /// URL of the directory that the files are published in, or a pattern that gives each origin a set of its own. Its non-ASCII
    /// characters are encoded as UTF-8; with another [`url_encoding`](Self::url_encoding), use [`Base::encoded`].
    pub base_url: Base,
    /// Version of the sitemap protocol.
    pub protocol: Protocol,
    /// Maximum URLs per sitemap: 1 to 50,000, the limit of the protocol.
    pub urls_per_sitemap: u32,
    /// Maximum bytes of a sitemap or index file before compression: at most [`Protocol::bytes_per_sitemap_max`].
    pub bytes_per_sitemap: u64,
    /// Maximum sitemaps per index file: 1 to [`Protocol::sitemaps_per_index_max`].
    pub sitemaps_per_index: u32,
    /// How lines become URLs, and which URLs are left out.
    pub urls: UrlRules,
    /// Which URLs may be listed, relative to the base URL.
    pub scope: ScopeRule,
    /// Charset in which non-ASCII characters of path and query are percent-encoded.
    pub url_encoding: UrlEncoding,
    /// How `lastmod` is read, and default values for missing tags.
    pub tags: TagRules,
    /// Which of several rows with the same URL is listed.
    pub on_duplicate: OnDuplicate,
    /// Order in which URLs are listed.
    pub order: Order,
    /// The sections of the set, if it has any.
    pub sections: Option<SectionsBy>,
    /// The rule that decides where a sitemap ends.
    pub divide: Divide,
    /// Compression level.
    pub level: Level,
    /// Compressor.
    pub gzip_engine: Engine,
}

impl SetRules {
    /// Rules with the defaults: protocol 0.9, limits that every search engine accepts, input order.
    pub fn new(base_url: Base) -> Self {
        Self {
            base_url,
            protocol: Protocol::default(),
            urls_per_sitemap: URLS_PER_SITEMAP_MAX,
            bytes_per_sitemap: BYTES_PER_SITEMAP_DEFAULT,
            sitemaps_per_index: SITEMAPS_PER_INDEX_DEFAULT,
            urls: UrlRules::default(),
            scope: ScopeRule::default(),
            url_encoding: UrlEncoding::default(),
            tags: TagRules::default(),
            on_duplicate: OnDuplicate::default(),
            order: Order::default(),
            sections: None,
            divide: Divide::default(),
            level: Level::default(),
            gzip_engine: Engine::default(),
        }
    }

    /// Checks all limits against those of the protocol, and that the rules for URLs can be compiled.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage), naming the option and the limit.
    pub fn check(&self) -> Result<()> {
        Screen::of(&self.urls, self.url_encoding)?;
        let protocol = self.protocol;
        let within = |setting: Setting, given: u64, min: u64, max: u64| {
            if (min..=max).contains(&given) {
                return Ok(());
            }
            let bytes = match setting {
                Setting::BytesPerSitemap => format!(" bytes ({} MiB)", max >> 20),
                _ => String::new(),
            };
            let limits = format!("protocol {protocol} allows {min} to {}{bytes}", grouped(max));
            Err(Error::usage(message!(setting.with(given), ": {limits}")))
        };
        within(Setting::UrlsPerSitemap, self.urls_per_sitemap.into(), 1, URLS_PER_SITEMAP_MAX.into())?;
        within(
            Setting::SitemapsPerIndex,
            self.sitemaps_per_index.into(),
            1,
            protocol.sitemaps_per_index_max().into(),
        )?;
        within(Setting::BytesPerSitemap, self.bytes_per_sitemap, 1, protocol.bytes_per_sitemap_max())?;
        self.sections.as_ref().map_or(Ok(()), SectionsBy::check)?;
        self.check_room(None)
    }

    /// Checks that an index file of the set `name` can list one sitemap, and that the URLs of its sitemaps cannot exceed the limit
    /// of the protocol.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage), naming the option and the limit.
    pub(crate) fn check_room(&self, name: Option<&SetName>) -> Result<()> {
        let least = match &self.base_url {
            Base::Directory(url) => self.index_bytes_min(url, name),
            // Checked with the shortest origin. If a longer one does not fit, its rows are rejected.
            Base::EachOrigin(path) => {
                let shortest = path.on("http://a.b/").or_else(|_| path.on("http://abc/"));
                self.index_bytes_min(&shortest.map_err(Error::usage)?, name)
            }
        };
        if self.bytes_per_sitemap < least {
            let least = grouped(least);
            return Err(Error::usage(message!(
                Setting::BytesPerSitemap.with(self.bytes_per_sitemap),
                ": an index file with one sitemap already takes {least} bytes"
            )));
        }
        let url_bytes =
            (self.base_url.url_bytes_max() + SITEMAP_FILE_BYTES_MAX) as u64 + self.words_bytes_max(name);
        if url_bytes > URL_BYTES_MAX as u64 {
            let [url_bytes, bytes_max] = [url_bytes, URL_BYTES_MAX as u64].map(grouped);
            return Err(Error::usage(message!(
                Setting::BaseUrl,
                ": with the names of the set and of its sections, the URL of a sitemap could have {url_bytes} bytes, and \
                 {bytes_max} are allowed; use a shorter one"
            )));
        }
        Ok(())
    }

    /// Bytes that an index file of the set `name` at `base_url` must be allowed to have: it lists at least one sitemap.
    pub(crate) fn index_bytes_min(&self, base_url: &BaseUrl, name: Option<&SetName>) -> u64 {
        publish::index_bytes_min(self.protocol, base_url) + self.words_bytes_max(name)
    }

    /// Most bytes that the name of the set and the word of a section add to the name of a sitemap.
    fn words_bytes_max(&self, name: Option<&SetName>) -> u64 {
        let of_name = name.map_or(0, |name| 1 + name.as_str().len() as u64);
        of_name + self.sections.as_ref().map_or(0, |_| SectionsBy::FILE_BYTES_MAX)
    }

    /// Whether the survey's layout is split, among origins or sections.
    pub(crate) fn is_split(&self) -> bool {
        self.only_site().is_none() || self.sections.is_some()
    }

    /// Whether the URLs decide where the sitemaps of the whole set begin. Split sets are divided when their parts are known.
    pub(crate) fn divides_whole_set_stably(&self) -> bool {
        self.divide == Divide::Stable && !self.is_split()
    }

    /// The base URL, unless each origin has its own.
    pub(crate) fn only_site(&self) -> Option<&BaseUrl> {
        match &self.base_url {
            Base::Directory(url) => Some(url),
            Base::EachOrigin(_) => None,
        }
    }

    /// The limits of each sitemap.
    pub(crate) fn sitemap_limits(&self) -> Limits {
        Limits { entries_max: self.urls_per_sitemap, bytes_max: self.bytes_per_sitemap }
    }

    /// The limits of each index file.
    pub(crate) fn index_limits(&self) -> Limits {
        Limits { entries_max: self.sitemaps_per_index, bytes_max: self.bytes_per_sitemap }
    }
}

/// Which of several rows with the same URL is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnDuplicate {
    /// The first row.
    #[default]
    First,
    /// The row with the newest `lastmod`, in whole seconds. Of rows with the same newest `lastmod`, or if no row has one, the first
    /// is listed. With [`Order::Sorted`], it is the row that is last in byte order of `lastmod`, then `changefreq`, `priority` and
    /// the XML of its extensions; a missing value sorts first.
    Newest,
}

impl FromStr for OnDuplicate {
    type Err = String;

    /// Parses `first` or `newest`.
    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "first" => Ok(Self::First),
            "newest" => Ok(Self::Newest),
            _ => Err("expected first or newest".into()),
        }
    }
}

/// Order in which URLs are listed. Crawlers ignore it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Order {
    /// Order of the input.
    #[default]
    Input,
    /// Byte order of canonical URLs. Files are smaller, and do not depend on the order of the input, unless rows of one URL
    /// have different tags and [`OnDuplicate::First`] chooses among them.
    Sorted,
}

impl FromStr for Order {
    type Err = String;

    /// Parses `input` or `sorted`.
    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "input" => Ok(Self::Input),
            "sorted" => Ok(Self::Sorted),
            _ => Err("expected input or sorted".into()),
        }
    }
}

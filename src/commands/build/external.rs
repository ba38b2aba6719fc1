//! External sitemaps: sitemaps from elsewhere that index files list. They are checked before any work, and listed as they are.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use crate::clean::encode::percent_encode_path;
use crate::clean::scope::BaseUrl;
use crate::clean::{Cleaned, Cleaner};
use crate::commands::check::{Content, DocumentFormat, Entry, FileKind, Findings, Reader, Tag};
use crate::common::time::w3c_datetime;
use crate::error::{Error, Result, Setting, message};
use crate::escape::shown;
use crate::job::{Also, Job, SetRules};
use crate::limits::{Protocol, URLS_PER_SITEMAP_MAX};
use crate::place::{self, Record, STATE};
use crate::set::manifest::{ExternalEntry, Manifest};
use crate::set::name::{is_index_file, is_sitemap_file};
use crate::set::publish::{self, live_sets::live_sets};
use crate::set::site_directory::site_directory;
use crate::sitemap::tags::{Lastmod, LastmodRules, lastmod, plain_lastmod};
use crate::words::grouped;

/// The sitemaps that the sets of a job list besides their own.
#[derive(Debug, Clone, Default)]
pub struct ExternalSitemaps(Vec<ExternalSitemap>);

#[derive(Debug, Clone)]
enum ExternalSitemap {
    Url(String),
    File {
        path: PathBuf,
        /// Its path in the output directory.
        below_out: PathBuf,
        lastmod: String,
        /// The first `lastmod` in it that cannot be read, as text for messages.
        unread: Option<String>,
    },
}

impl ExternalSitemaps {
    /// Checks the sitemaps of `job`. Files are read completely; URLs are not requested.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if a file is not below the output directory or a URL cannot be listed,
    /// [`ErrorKind::Input`](crate::ErrorKind::Input) if a file cannot be read, [`ErrorKind::Data`](crate::ErrorKind::Data) if it is
    /// no sitemap, or none that index files of the protocol may list.
    pub fn of(job: &Job) -> Result<Self> {
        let all = job.publication.also.iter().map(|also| ExternalSitemap::of(also, job));
        let all = Self(all.collect::<Result<_>>()?);
        // The sites of each origin are not known yet.
        if let Some(base_url) = job.rules.only_site() {
            all.of_site(job, base_url)?;
            all.unlisted(job, &[base_url])?;
        }
        Ok(all)
    }

    /// Returns the sitemaps of the site of `base_url`, in the order in which they were given.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if one of them cannot be listed there, or is given twice.
    pub fn of_site(&self, job: &Job, base_url: &BaseUrl) -> Result<Vec<ExternalEntry>> {
        let (mut listed, mut seen) = (Vec::new(), HashSet::new());
        for sitemap in &self.0 {
            let Some(loc) = sitemap.loc(job, base_url)? else { continue };
            let refused =
                |why: &str| Err(Error::usage(message!(Setting::Also.with(sitemap.given()), ": {why}")));
            let name = &loc[base_url.as_str().len()..];
            if is_sitemap_file(name) || is_index_file(name) {
                return refused("has a name that is reserved for sitemill; rename it");
            }
            if !seen.insert(loc.clone()) {
                return refused("is given twice; list it once");
            }
            if publish::external_bytes(job.rules.protocol, &loc) > job.rules.bytes_per_sitemap {
                return refused(
                    "has an entry that alone exceeds the size limit of an index file; use a shorter URL",
                );
            }
            listed.push(ExternalEntry { loc, lastmod: sitemap.lastmod() });
        }
        Ok(listed)
    }

    /// A warning for each sitemap that none of the sites of `base_urls` lists, because the inputs have no URLs of its site. The set
    /// of that site stays live.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if a sitemap has no site, naming the sitemap.
    pub fn unlisted(&self, job: &Job, base_urls: &[&BaseUrl]) -> Result<Vec<Error>> {
        let mut warnings = Vec::new();
        let live = LazyCell::new(|| live_sites(job));
        for sitemap in &self.0 {
            let given = || Setting::Also.with(sitemap.given());
            match job.rules.only_site() {
                _ if sitemap.is_below(job, base_urls.iter().copied())? => {}
                Some(base_url) => {
                    let why = format!("is not below the base URL {base_url}, so no index file may list it");
                    return Err(Error::usage(message!(given(), ": {why}")));
                }
                None if sitemap.is_below(job, &*live)? => {
                    let words = "the inputs have no URLs of its site, so the set of that site is kept";
                    warnings.push(Error::data(message!(given(), ": {words}")));
                }
                None => {
                    let why = "is not below a site that this run publishes, so no index file may list it";
                    return Err(Error::usage(message!(given(), ": {why}")));
                }
            }
        }
        Ok(warnings)
    }

    /// A warning for each file with a `lastmod` that cannot be read.
    pub fn unread(&self) -> Vec<Error> {
        let warning = |sitemap: &ExternalSitemap| match sitemap {
            ExternalSitemap::File { unread: Some(value), .. } => Some(Error::data(message!(
                Setting::Also.with(sitemap.given()),
                ": the lastmod {value} cannot be read, so the index file has the modification time of the file unless a page in it \
                 is newer; correct the values, or set the zone of times without one with ",
                Setting::LastmodZone
            ))),
            _ => None,
        };
        self.0.iter().filter_map(warning).collect()
    }
}

/// The base URLs of the sets that are live in the output directory of `job`, as far as they can be read.
fn live_sites(job: &Job) -> Vec<BaseUrl> {
    let name = job.publication.name.as_ref();
    let mut views = live_sets(&job.publication.out, name).unwrap_or_default();
    views.retain(|view| view.name() == name);
    let sets = views.iter().filter_map(|view| Manifest::read(&**view, &Record::Live).ok().flatten());
    sets.filter_map(|set| set.base_url.parse().ok()).collect()
}

impl ExternalSitemap {
    fn of(also: &Also, job: &Job) -> Result<Self> {
        Ok(match also {
            Also::Url(url) => Self::Url(url.clone()),
            Also::File(path) => {
                let below_out = below(path, &job.publication.out)?;
                let (lastmod, unread) = lastmod_of(path, &job.rules)?;
                Self::File { path: path.clone(), below_out, lastmod, unread }
            }
        })
    }

    /// The option that names it.
    fn given(&self) -> Also {
        match self {
            Self::Url(url) => Also::Url(url.clone()),
            Self::File { path, .. } => Also::File(path.clone()),
        }
    }

    fn lastmod(&self) -> Option<String> {
        match self {
            Self::Url(_) => None,
            Self::File { lastmod, .. } => Some(lastmod.clone()),
        }
    }

    /// Whether it is below one of `base_urls`.
    fn is_below<'b>(&self, job: &Job, base_urls: impl IntoIterator<Item = &'b BaseUrl>) -> Result<bool> {
        for base_url in base_urls {
            if self.loc(job, base_url)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The URL, if it is below `base_url`.
    fn loc(&self, job: &Job, base_url: &BaseUrl) -> Result<Option<String>> {
        let path = match self {
            Self::Url(url) => {
                let below = url.strip_prefix(base_url.as_str()).filter(|rest| !rest.is_empty());
                return Ok(below.map(|_| url.clone()));
            }
            Self::File { below_out, .. } => below_out,
        };
        // With a set for each origin, the first directory is that of the site.
        let path = match job.rules.only_site() {
            Some(_) => Some(path.as_path()),
            None => path.strip_prefix(site_directory(base_url)).ok(),
        };
        let Some(path) = path else { return Ok(None) };
        let url = format!("{base_url}{}", percent_encode_path(path.as_os_str().as_encoded_bytes()));
        match Cleaner::default().clean(url.as_bytes()) {
            Cleaned::Url(clean) if clean.as_bytes() == url.as_bytes() => Ok(Some(url)),
            _ => {
                let why = "its path gives no URL that can be listed; shorten it";
                Err(Error::usage(message!(Setting::Also, " ", path, ": {why}")))
            }
        }
    }
}

/// Returns the path of the file `path` in the directory `out`.
fn below(path: &Path, out: &Path) -> Result<PathBuf> {
    let meta = path.metadata().map_err(|error| Error::input(path, error))?;
    let refused = |why: &str| Err(Error::usage(message!(Setting::Also, " ", path, ": {why}")));
    let (true, Some(name)) = (meta.is_file(), path.file_name()) else {
        return refused("is not a regular file");
    };
    // Links in the name of the directory are followed; the file itself may be a link, because crawlers request its name.
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let parent = parent.canonicalize().map_err(|error| Error::input(path, error))?;
    let below = out.canonicalize().ok().and_then(|out| Some(parent.strip_prefix(out).ok()?.join(name)));
    match below {
        None => refused(
            "is not below the output directory, so its URL is unknown; move it there, or give its URL",
        ),
        Some(below) if below.components().any(|part| part == Component::Normal(STATE.as_ref())) => {
            refused("belongs to sitemill; move it out of .sitemill")
        }
        Some(below) => Ok(below),
    }
}

/// Reads a sitemap for index files that `rules` describe. Returns its newest `lastmod`, or the time of the file if it has none. If
/// a `lastmod` cannot be read, which is returned, too, it may be the newest, so that the time of the file counts as well.
fn lastmod_of(path: &Path, rules: &SetRules) -> Result<(String, Option<String>)> {
    let file = place::file(path)?;
    let mut findings = Findings::new(shown(path.as_os_str().as_encoded_bytes()), 1);
    let mut reader = Reader::new(Content::open(&file)?, &mut findings);
    let (mut entry, mut newest, mut unread) = (Entry::default(), None::<Lastmod>, None);
    // Sitemaps have dates and times, whatever the unit of the inputs is.
    let as_text = LastmodRules { zone: rules.tags.lastmod.zone.clone(), ..LastmodRules::default() };
    while reader.next(&mut entry).map_err(|error| Error::io(path, "could not be read", error))? {
        let text = entry.value(Tag::Lastmod).unwrap_or_default();
        match lastmod(text, &as_text) {
            Ok(read) => newest = newest.into_iter().chain(read).max_by_key(Lastmod::instant),
            Err(_) => _ = unread.get_or_insert_with(|| shown(text.trim_ascii())),
        }
    }
    let (kind, entries) = (reader.head().map(|(kind, _)| kind), reader.entries());
    let is_feed = reader.format() != DocumentFormat::Protocol;
    let refused = |why: &str| Error::data(message!(Setting::Also, " ", path, ": {why}"));
    let why = match (&findings.damage, kind) {
        (Some(damage), _) => return Err(damage.error(path)),
        (None, Some(FileKind::Sitemap)) if entries == 0 => Some("lists no URL"),
        (None, Some(FileKind::Sitemap)) if entries > u64::from(URLS_PER_SITEMAP_MAX) => {
            let (urls, max) = (grouped(entries), grouped(URLS_PER_SITEMAP_MAX.into()));
            return Err(refused(&format!(
                "lists {urls} URLs, and a sitemap may list at most {max}; divide it"
            )));
        }
        (None, Some(FileKind::Sitemap)) if is_feed && rules.protocol == Protocol::V0_84 => Some(
            "is a feed or text file, and index files of protocol 0.84 may list only XML; publish for 0.9, or leave it out",
        ),
        (None, Some(FileKind::Sitemap)) => None,
        (None, Some(FileKind::Index)) => Some(
            "is an index file, and an index file may list only sitemaps; give the sitemaps that it lists",
        ),
        (None, None) => Some("is not a sitemap"),
    };
    if let Some(why) = why {
        return Err(refused(why));
    }
    if newest.is_none() || unread.is_some() {
        let time = path.metadata().and_then(|meta| meta.modified());
        let of_file = w3c_datetime(time.map_err(|error| Error::input(path, error))?)?;
        let is_older = |newest: Lastmod| {
            plain_lastmod(of_file.as_bytes()).is_some_and(|of_file| newest.instant() <= of_file.instant())
        };
        if newest.is_none_or(is_older) {
            return Ok((of_file, unread));
        }
    }
    let newest = newest.expect("without one, the time of the file was returned");
    Ok((String::from_utf8_lossy(newest.as_bytes()).into_owned(), unread))
}

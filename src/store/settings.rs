//! Store settings: endpoints and headers. Like credentials in the environment, they apply to the whole process.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use crate::error::{Error, Result, Setting, is_on_web_server, is_url, message};

/// Settings for access to object stores and for the sets published there. Like credentials in the environment, they apply to the
/// whole process. [`StoreSettings::default`] has the defaults of the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreSettings {
    /// The URL of a compatible store. If it is not set, `AWS_ENDPOINT_URL` applies, then the endpoint of the AWS profile, then the
    /// store's own endpoint.
    pub endpoint: Option<String>,
    /// The location below which `.sitemill` is kept; `None` for the location of the set.
    pub state: Option<PathBuf>,
    /// Headers of sitemaps. They override sitemill's own headers or are added to them.
    pub sitemap_headers: Vec<ObjectHeader>,
    /// Headers of index files and of `robots-sitemaps.txt`, which override or extend sitemill's in the same way.
    pub index_headers: Vec<ObjectHeader>,
    /// Publish even to a store that ignores conditional requests, where nothing prevents two runs from publishing at the same time.
    pub allow_unsafe_store: bool,
}

impl StoreSettings {
    /// Checks that the settings can have an effect. One of the `places` of sets must be a URL if there is a setting for sets in
    /// stores: a set in a directory would have its state among the published files, whatever the setting says. For an endpoint,
    /// one of the `inputs` is enough.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage), naming the setting.
    pub fn check_places(&self, places: &[&Path], inputs: &[&Path]) -> Result<()> {
        let given = [
            (Setting::State, self.state.is_some()),
            (Setting::SitemapHeader, !self.sitemap_headers.is_empty()),
            (Setting::IndexHeader, !self.index_headers.is_empty()),
            (Setting::AllowUnsafeStore, self.allow_unsafe_store),
        ];
        let are_local = !places.iter().any(|place| is_url(place));
        let setting = given.into_iter().find_map(|(setting, is_given)| is_given.then_some(setting));
        if let (Some(setting), [first, ..], true) = (setting, places, are_local) {
            let words = message!(setting, " is for sets in stores, and ", *first, " is local; leave it out");
            return Err(Error::usage(words));
        }
        let is_in_store = |path: &&Path| is_url(path) && !is_on_web_server(path);
        match self.endpoint.is_some() && !places.iter().chain(inputs).any(is_in_store) {
            true => Err(Error::usage(message!(
                Setting::Endpoint,
                " is for locations in stores, and this command has none; leave it out"
            ))),
            false => Ok(()),
        }
    }
}

static SETTINGS: RwLock<StoreSettings> = RwLock::new(StoreSettings {
    endpoint: None,
    state: None,
    sitemap_headers: Vec::new(),
    index_headers: Vec::new(),
    allow_unsafe_store: false,
});

static GENERATION: AtomicU64 = AtomicU64::new(0);

/// Sets the store settings of this process. Credentials are looked up again afterwards, because the program may have changed its
/// environment.
pub fn set_store_settings(settings: StoreSettings) {
    GENERATION.fetch_add(1, Ordering::Relaxed);
    *SETTINGS.write().unwrap_or_else(PoisonError::into_inner) = settings;
}

/// The number of times the settings were set, so that clients notice changes.
#[cfg(feature = "cloud")]
pub fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// Returns the store settings of this process.
pub fn store_settings() -> StoreSettings {
    SETTINGS.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The metadata name under which an object records the run that uploaded it. It has only letters and digits, because Azure allows
/// only these and underscores, and proxies drop headers with underscores.
pub const RUN: &str = "sitemillrun";

/// An HTTP header that objects are served with, parsed from `Name: value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectHeader {
    /// Its name, in lower case.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// The headers that stores keep with an object.
const NAMES: [&str; 5] =
    ["content-type", "cache-control", "content-disposition", "content-language", "x-amz-storage-class"];

impl FromStr for ObjectHeader {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "a header is `Name: value`, such as `Cache-Control: public, max-age=300`".to_owned();
        let (name, value) = text.split_once(':').ok_or_else(wrong)?;
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
        if value.is_empty() || !value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return Err(wrong());
        }
        if name == "content-encoding" {
            // The bytes are the resource: see the notes on Google's store in docs/buckets.md.
            return Err("sitemaps are gzip files, not compressed for transfer; omit Content-Encoding".into());
        }
        let is_metadata = name.strip_prefix("x-amz-meta-").is_some_and(|rest| {
            !rest.is_empty()
                && rest != RUN
                && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        });
        match is_metadata || NAMES.contains(&&*name) {
            true => Ok(Self { name, value: value.into() }),
            false => Err(format!("unsupported header; use {} or x-amz-meta-…", NAMES.join(", "))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_for_sets_in_stores_need_a_set_in_a_store() {
        let check = |settings: &StoreSettings, places: &[&str]| {
            let places: Vec<&Path> = places.iter().map(Path::new).collect();
            settings.check_places(&places, &[Path::new("urls.txt")]).map_err(|error| error.to_string())
        };
        let header = || vec!["Cache-Control: max-age=60".parse().unwrap()];
        let state = StoreSettings { state: Some("s3://private/shop".into()), ..StoreSettings::default() };
        let sitemap = StoreSettings { sitemap_headers: header(), ..StoreSettings::default() };
        let index = StoreSettings { index_headers: header(), ..StoreSettings::default() };
        let unsafe_store = StoreSettings { allow_unsafe_store: true, ..StoreSettings::default() };
        for (settings, name) in [
            (state, "state"),
            (sitemap, "sitemap_header"),
            (index, "index_header"),
            (unsafe_store, "allow_unsafe_store"),
        ] {
            let why = format!("`{name}` is for sets in stores, and html is local; leave it out");
            assert_eq!(check(&settings, &["html"]), Err(why.clone()));
            assert_eq!(check(&settings, &["html", "s3:/b"]), Err(why));
            assert_eq!(check(&settings, &["html", "s3://bucket/maps"]), Ok(()));
        }
    }

    #[test]
    fn an_endpoint_needs_a_location_in_a_store() {
        let endpoint = Some("https://minio.example.com".into());
        let settings = StoreSettings { endpoint, ..StoreSettings::default() };
        let check = |place: &str, input: &str| {
            let checked = settings.check_places(&[Path::new(place)], &[Path::new(input)]);
            checked.map_err(|error| error.to_string())
        };
        let why = "`endpoint` is for locations in stores, and this command has none; leave it out".to_owned();
        assert_eq!(check("html", "-"), Err(why.clone()));
        assert_eq!(check("html", "https://h.example/urls.txt"), Err(why));
        assert_eq!(check("html", "s3://bucket/urls.txt"), Ok(()));
        assert_eq!(check("s3://bucket/maps", "-"), Ok(()));
    }

    #[test]
    fn a_header_has_a_name_that_stores_keep_and_a_value() {
        let header: ObjectHeader = "Cache-Control:  max-age=60 ".parse().unwrap();
        assert_eq!((&*header.name, &*header.value), ("cache-control", "max-age=60"));
        assert!("X-Amz-Meta-Team: search".parse::<ObjectHeader>().is_ok());
        for wrong in [
            "",
            "Cache-Control",
            "Cache-Control:",
            "Server: x",
            "Content-Encoding: gzip",
            "x-amz-meta-: a",
            "Content-Type: a\nb",
            "x-amz-meta-sitemillrun: 1",
        ] {
            assert!(wrong.parse::<ObjectHeader>().is_err(), "{wrong}");
        }
    }
}

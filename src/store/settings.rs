//! Store settings: endpoints and headers. Like credentials in the environment, they apply to the whole process.

use std::path::{Path, PathBuf};
use std::process;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::error::{Error, Result, Setting, is_in_store, is_on_web_server, message};

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
    /// Checks that the settings can have an effect. If there is a setting for sets in stores, one of the `places` of sets must be
    /// in a store: a set in a directory would have its state among the published files, whatever the setting says. For an
    /// endpoint, one of the `inputs` is enough.
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
        let has_set_in_store = places.iter().any(|place| is_in_store(place));
        let setting = given.into_iter().find_map(|(setting, is_given)| is_given.then_some(setting));
        if let (Some(setting), [first, ..], false) = (setting, places, has_set_in_store) {
            let is_where = if is_on_web_server(first) { "on a web server" } else { "local" };
            let words =
                message!(setting, " is for sets in stores, and ", *first, " is {is_where}; leave it out");
            return Err(Error::usage(words));
        }
        match self.endpoint.is_some() && !are_in_store(places, inputs) {
            true => Err(Error::usage(message!(
                Setting::Endpoint,
                " is for locations in stores, and this command has none; leave it out"
            ))),
            false => Ok(()),
        }
    }

    /// Makes these the store settings of this process, for a call that uses the `places` and `inputs`. Until the result is dropped,
    /// this function refuses settings that would disturb the call; after that, the settings stay until others are set. A call that
    /// `publishes` uses all settings; others use only the endpoint and the state. If no path is in a store, the settings stay as
    /// they are. Credentials are looked up again.
    ///
    /// # Errors
    /// Same as [`check_places`](Self::check_places); [`ErrorKind::Usage`](crate::ErrorKind::Usage) if a call that needs other
    /// settings is still running after a second.
    pub fn apply(self, places: &[&Path], inputs: &[&Path], publishes: bool) -> Result<AppliedSettings> {
        self.check_places(places, inputs)?;
        GENERATION.fetch_add(1, Ordering::Relaxed);
        if !are_in_store(places, inputs) {
            return Ok(AppliedSettings { process: None, publishes });
        }
        let mut current = current();
        // After a fork, the calls of the parent are not in this process.
        if current.process != process::id() {
            (current.process, current.calls, current.publishing) = (process::id(), 0, 0);
        }
        // Another call may be about to end.
        let is_in_use = |current: &mut Current| current.refuses(&self, publishes);
        let waited = CALL_ENDED.wait_timeout_while(current, WAIT_MAX, is_in_use);
        let (mut current, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return Err(Error::usage(message!(
                "another call uses stores with other settings, such as ",
                Setting::Endpoint,
                " or ",
                Setting::State,
                "; wait until it has ended, or read its stream to the end or delete it"
            )));
        }
        Ok(current.begin(self, publishes))
    }
}

fn are_in_store(places: &[&Path], inputs: &[&Path]) -> bool {
    places.iter().chain(inputs).any(|path| is_in_store(path))
}

/// Store settings that a call uses. Until this is dropped, [`StoreSettings::apply`] refuses settings that would disturb the call.
/// The settings stay in force after that, until others are set.
#[derive(Debug)]
#[must_use = "other calls may change the settings once this is dropped"]
pub struct AppliedSettings {
    /// The process of the call. `None` if it uses no store.
    process: Option<u32>,
    publishes: bool,
}

impl Drop for AppliedSettings {
    fn drop(&mut self) {
        // Without a store, or in the child after a fork, there is no call to end, and a lock that another thread of the parent
        // held would stay locked in the child.
        if self.process != Some(process::id()) {
            return;
        }
        let mut current = current();
        current.calls -= 1;
        current.publishing -= u64::from(self.publishes);
        CALL_ENDED.notify_all();
    }
}

/// The store settings of the process, and the calls that rely on them.
#[derive(Default)]
struct Current {
    settings: StoreSettings,
    /// The process of the calls; 0 before the first one.
    process: u32,
    calls: u64,
    /// Those among the calls that publish.
    publishing: u64,
}

impl Current {
    /// Whether a call with these `settings` would disturb another one.
    fn refuses(&self, settings: &StoreSettings, publishes: bool) -> bool {
        let in_use = &self.settings;
        let have_same_places = (&settings.endpoint, &settings.state) == (&in_use.endpoint, &in_use.state);
        self.calls > 0 && !(have_same_places && (!publishes || self.publishing == 0 || settings == in_use))
    }

    fn begin(&mut self, settings: StoreSettings, publishes: bool) -> AppliedSettings {
        if publishes || self.calls == 0 {
            self.settings = settings;
        }
        self.calls += 1;
        self.publishing += u64::from(publishes);
        AppliedSettings { process: Some(self.process), publishes }
    }
}

/// How long a call waits for others that need different settings.
const WAIT_MAX: Duration = Duration::from_secs(1);

static CURRENT: LazyLock<Mutex<Current>> = LazyLock::new(Mutex::default);

static CALL_ENDED: Condvar = Condvar::new();

static GENERATION: AtomicU64 = AtomicU64::new(0);

fn current() -> MutexGuard<'static, Current> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the store settings of this process. Credentials are looked up again afterwards, because the program may have changed its
/// environment. A program that makes several calls at the same time uses [`StoreSettings::apply`] instead.
pub fn set_store_settings(settings: StoreSettings) {
    GENERATION.fetch_add(1, Ordering::Relaxed);
    current().settings = settings;
}

/// Changes with each call, so that clients look up credentials again.
#[cfg(feature = "cloud")]
pub fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// Returns the store settings of this process.
pub fn store_settings() -> StoreSettings {
    current().settings.clone()
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
            let why = format!(
                "`{name}` is for sets in stores, and https://h.example/a.xml is on a web server; leave it out"
            );
            assert_eq!(check(&settings, &["https://h.example/a.xml"]), Err(why));
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
    fn calls_at_the_same_time_have_the_same_settings_as_far_as_they_use_them() {
        let mut header = StoreSettings::default();
        header.sitemap_headers.push("Cache-Control: max-age=60".parse().unwrap());
        let state = StoreSettings { state: Some("s3://private/shop".into()), ..StoreSettings::default() };
        for (first, second, is_refused) in [
            ((&header, true), (&header, true), false),
            ((&header, true), (&StoreSettings::default(), true), true),
            ((&header, true), (&StoreSettings::default(), false), false),
            ((&StoreSettings::default(), false), (&header, true), false),
            ((&state, false), (&state, true), false),
            ((&state, false), (&StoreSettings::default(), false), true),
        ] {
            let mut current = Current::default();
            assert!(!current.refuses(first.0, first.1));
            std::mem::forget(current.begin(first.0.clone(), first.1));
            assert_eq!(current.refuses(second.0, second.1), is_refused, "{first:?}, {second:?}");
            if !is_refused {
                std::mem::forget(current.begin(second.0.clone(), second.1));
                let publisher = if second.1 { second.0 } else { first.0 };
                assert_eq!(current.settings, *publisher, "{first:?}, {second:?}");
            }
        }
    }

    #[test]
    fn a_call_without_a_store_and_one_of_the_parent_end_without_the_lock() {
        let _locked = current();
        let (ended, end) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            drop(AppliedSettings { process: None, publishes: true });
            drop(AppliedSettings { process: Some(process::id() + 1), publishes: true });
            ended.send(())
        });
        assert_eq!(end.recv_timeout(Duration::from_secs(60)), Ok(()));
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

//! Clients: endpoints, credentials and retries for each kind of store.

use std::collections::HashMap;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, Checksum};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::list::PaginatedListStore;
use object_store::{BackoffConfig, ClientConfigKey, ClientOptions, ObjectStore, RetryConfig};

use super::bucket::Bucket;
use super::clock::StoreClock;
use super::connector::StoreConnector;
use super::credentials::marked;
use super::endpoint::{Endpoint, checked_endpoint};
use super::location::{Location, Scheme};
use super::profile::Profile;
use super::settings::{generation, store_settings};
use super::tls::choose_cryptography;
use super::variables::{checked, is_set, quoted_in, settings, time, variable};
use crate::error::{Error, ErrorKind, Result, Setting, message};

/// The buckets in use. All users of a bucket share its connections and role credentials.
static BUCKETS: LazyLock<Mutex<Buckets>> = LazyLock::new(Mutex::default);

/// The URL of a bucket, and the endpoint from the settings, if any.
type Address = (String, Option<String>);

/// Buckets, and the generation of the settings they were created with.
#[derive(Default)]
struct Buckets {
    generation: u64,
    buckets: HashMap<Address, Bucket>,
    /// The kind of store that the endpoint from the settings is for: that of the first bucket.
    of_endpoint: Option<Scheme>,
}

/// Maximum number of retries by the client library, and the time after which it starts none.
const RETRIES: usize = 8;
const RETRY_TIME: Duration = Duration::from_secs(60);
const BACKOFF_FIRST: Duration = Duration::from_millis(250);
const BACKOFF_MAX: Duration = Duration::from_secs(5);
/// The next pause is chosen at random between the first pause and this multiple of the previous one, so on average it is half of
/// that.
const BACKOFF_BASE: f64 = 4.0;

/// Default timeouts of a request (`AWS_TIMEOUT`) and of a connection attempt (`AWS_CONNECT_TIMEOUT`).
const REQUEST_TIME: &str = "60s";
const CONNECT_TIME: &str = "5s";

/// What to set if a role gives no credentials.
const KEYS: &str = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE";

/// The metadata service, where cloud machines get the credentials of their role.
const METADATA_ADDRESS: ([u8; 4], u16) = ([169, 254, 169, 254], 80);

/// Returns the bucket of `location`.
///
/// # Errors
/// [`ErrorKind::Permission`] if no credentials can be found, [`ErrorKind::Usage`] if the settings contradict each other, or if the
/// endpoint would get requests, and so credentials, for two kinds of stores.
pub fn connect(location: &Location) -> Result<Bucket> {
    let endpoint =
        store_settings().endpoint.map(|url| checked_endpoint(Setting::Endpoint, url)).transpose()?;
    let key = (location.root.clone(), endpoint.clone());
    let mut known = BUCKETS.lock().unwrap_or_else(PoisonError::into_inner);
    let generation = generation();
    if known.generation != generation {
        *known = Buckets { generation, ..Buckets::default() };
    }
    if let Some(bucket) = known.buckets.get(&key) {
        return Ok(bucket.clone());
    }
    if endpoint.is_some()
        && location.scheme != Scheme::Http
        && *known.of_endpoint.get_or_insert(location.scheme) != location.scheme
    {
        let instead = "set AWS_ENDPOINT_URL, GOOGLE_BASE_URL or AZURE_STORAGE_ENDPOINT instead";
        return Err(Error::usage(message!(
            &*location.path(),
            ": is in a different kind of store from other locations, but ",
            Setting::Endpoint,
            " is the URL of one; {instead}"
        )));
    }
    choose_cryptography();
    let endpoint = endpoint.map(|url| Endpoint { url, source: "" });
    let bucket = match location.scheme {
        Scheme::S3 => s3(location, endpoint)?,
        Scheme::Gs => gs(location, endpoint)?,
        Scheme::Az => az(location, endpoint)?,
        Scheme::Http => http(location)?,
    };
    known.buckets.insert(key, bucket.clone());
    Ok(bucket)
}

fn retry(max_retries: usize) -> RetryConfig {
    let backoff = BackoffConfig { init_backoff: BACKOFF_FIRST, max_backoff: BACKOFF_MAX, base: BACKOFF_BASE };
    RetryConfig { backoff, max_retries, retry_timeout: RETRY_TIME }
}

fn bucket<S: ObjectStore + PaginatedListStore>(
    location: &Location,
    built: object_store::Result<S>,
    credentials: impl Into<String>,
    clock: StoreClock,
    address: String,
) -> Result<Bucket> {
    let store = Arc::new(built.map_err(|error| unusable(location, &error))?);
    let bucket = Bucket::new(store.clone(), location, credentials.into());
    Ok(bucket.with_pages(store).with_clock(clock).with_address(address))
}

fn unusable(location: &Location, error: &object_store::Error) -> Error {
    let error = error.to_string();
    match quoted_in(&error) {
        Some(name) => Error::usage(message!("{name}: {error}")),
        None => Error::usage(message!(&*location.path(), ": {error}")),
    }
}

/// Where requests go, for messages of failed connections: the `endpoint`, and the variable of a proxy, which may be what does not
/// answer. `prefix` begins the names of the store's variables.
fn address(endpoint: Option<&Endpoint>, prefix: &str) -> String {
    let protocol = match endpoint.is_some_and(|endpoint| endpoint.url.starts_with("http://")) {
        true => ["HTTP_PROXY", "http_proxy"],
        false => ["HTTPS_PROXY", "https_proxy"],
    };
    let own = format!("{prefix}_PROXY_URL");
    let names = [&*own].into_iter().chain(protocol).chain(["ALL_PROXY", "all_proxy"]);
    let proxy = names.into_iter().find(|name| is_set(name)).map(|name| format!("{name} names a proxy"));
    endpoint.map(ToString::to_string).into_iter().chain(proxy).collect::<Vec<_>>().join("; ")
}

fn s3(location: &Location, endpoint: Option<Endpoint>) -> Result<Bucket> {
    let (mut builder, source, endpoint) = with_credentials(location, endpoint)?;
    builder = builder.with_bucket_name(location.bucket()).with_retry(retry(retries()?));
    let clock = StoreClock::default();
    builder = builder.with_http_connector(StoreConnector { clock: clock.clone() });
    if !is_set("AWS_CHECKSUM_ALGORITHM") {
        builder = builder.with_checksum_algorithm(Checksum::CRC64NVME);
    }
    if !is_set("AWS_UNSIGNED_PAYLOAD") {
        // A signature that covers the SHA-256 of the body makes both sides hash it, which takes longer than sending it.
        builder = builder.with_unsigned_payload(endpoint.as_ref().is_none_or(Endpoint::is_private));
    }
    for (key, value) in times("AWS")? {
        builder = builder.with_config(AmazonS3ConfigKey::Client(key), value);
    }
    let address = address(endpoint.as_ref(), "AWS");
    if let Some(Endpoint { url, .. }) = endpoint {
        let allows_http = url.starts_with("http://");
        builder = builder.with_config(AmazonS3ConfigKey::Endpoint, url.clone());
        builder = builder.with_config(AmazonS3ConfigKey::S3Endpoint, url);
        if allows_http {
            builder = builder.with_allow_http(true);
        }
    }
    let built = builder.clone().build();
    let built = built.and_then(|store| builder.with_credentials(marked(store.credentials(), KEYS)).build());
    bucket(location, built, source, clock, address)
}

/// The number of retries: one less than the attempts in the variable of the AWS tools.
fn retries() -> Result<usize> {
    let name = "AWS_MAX_ATTEMPTS";
    let Some(text) = variable(name) else { return Ok(RETRIES) };
    let attempts = text.parse().ok().and_then(|attempts: usize| attempts.checked_sub(1));
    attempts.ok_or_else(|| Error::usage(message!("{name}: {text:?} is not a whole number of at least 1")))
}

/// The timeouts of requests and of connection attempts, from variables with this `prefix` or the defaults.
fn times(prefix: &str) -> Result<[(ClientConfigKey, String); 2]> {
    Ok([
        (ClientConfigKey::Timeout, time(&format!("{prefix}_TIMEOUT"), REQUEST_TIME)?),
        (ClientConfigKey::ConnectTimeout, time(&format!("{prefix}_CONNECT_TIMEOUT"), CONNECT_TIME)?),
    ])
}

/// Builds on the variables in the environment: adds credentials and the region, looking in the same order as the AWS tools. Returns
/// the builder, a description of where the credentials come from, and the endpoint.
fn with_credentials(
    location: &Location,
    endpoint: Option<Endpoint>,
) -> Result<(AmazonS3Builder, String, Option<Endpoint>)> {
    let has_key = has_key(location)?;
    // A token belongs to the key next to it. Sets need conditional uploads, whatever a variable for other programs says.
    let applies = |key: &AmazonS3ConfigKey| match key {
        AmazonS3ConfigKey::Token => has_key,
        AmazonS3ConfigKey::ConditionalPut => false,
        _ => true,
    };
    let settings = settings("AWS_")?.into_iter().filter(|(key, _)| applies(key));
    let mut builder =
        settings.fold(AmazonS3Builder::new(), |builder, (key, value)| builder.with_config(key, value));
    let profile = if has_key { Profile::without_key() } else { Profile::of_environment()? };
    let has_role = is_set("AWS_WEB_IDENTITY_TOKEN_FILE") && is_set("AWS_ROLE_ARN");
    let container = ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"];
    let source = if has_key {
        "the environment (AWS_ACCESS_KEY_ID)".to_owned()
    } else if let (Some(key), Some(secret)) = (&profile.key_id, &profile.secret) {
        builder = builder.with_access_key_id(key).with_secret_access_key(secret);
        if let Some(token) = &profile.token {
            builder = builder.with_token(token);
        }
        format!("the profile in {}", crate::escape::shown(profile.file.as_os_str().as_encoded_bytes()))
    } else if has_role {
        "a role with a web identity (AWS_WEB_IDENTITY_TOKEN_FILE)".into()
    } else if container.iter().any(|name| is_set(name)) {
        "the role of the container".into()
    } else if is_set("AWS_SKIP_SIGNATURE") {
        "nowhere (AWS_SKIP_SIGNATURE)".into()
    } else if is_set("AWS_METADATA_ENDPOINT") || has_metadata() {
        "the role of this machine".into()
    } else {
        let words = format!("there are no credentials; {KEYS}, or run with a role");
        return Err(Error::new(ErrorKind::Permission, message!(&*location.path(), ": {words}")));
    };
    if let Some(region) = profile.region.filter(|_| !is_set("AWS_REGION") && !is_set("AWS_DEFAULT_REGION")) {
        builder = builder.with_region(region);
    }
    let names = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
    let of_variable = names.iter().find_map(|name| Some((*name, variable(name)?)));
    if let (None, None, Some(section)) = (&endpoint, &of_variable, &profile.services) {
        return Err(Error::usage(message!(
            "the AWS profile has settings for S3 in [{section}], which sitemill does not read; set AWS_ENDPOINT_URL_S3, or ",
            Setting::Endpoint
        )));
    }
    let of_profile = profile.endpoint.map(|url| ("endpoint_url of the AWS profile", url));
    let endpoint = match (endpoint, of_variable.or(of_profile)) {
        (None, Some((source, url))) => Some(Endpoint { url: checked_endpoint(source, url)?, source }),
        (endpoint, _) => endpoint,
    };
    Ok((builder, source, endpoint))
}

/// Whether the environment has a key.
///
/// # Errors
/// [`ErrorKind::Permission`] if it has only one half of it.
fn has_key(location: &Location) -> Result<bool> {
    let names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
    let (set, missing): (Vec<&str>, Vec<&str>) = names.into_iter().partition(|name| is_set(name));
    match (&set[..], &missing[..]) {
        ([set], [missing]) => {
            let words = format!("{set} is in the environment, but {missing} is not; set both or none");
            Err(Error::new(ErrorKind::Permission, message!(&*location.path(), ": {words}")))
        }
        _ => Ok(missing.is_empty()),
    }
}

/// Whether the metadata service of a cloud is reachable. Without it, the client library would keep trying for a long time.
fn has_metadata() -> bool {
    // The AWS tools honour this variable, too.
    let is_off =
        std::env::var("AWS_EC2_METADATA_DISABLED").is_ok_and(|value| value.eq_ignore_ascii_case("true"));
    !is_off && TcpStream::connect_timeout(&SocketAddr::from(METADATA_ADDRESS), Duration::from_secs(1)).is_ok()
}

fn gs(location: &Location, endpoint: Option<Endpoint>) -> Result<Bucket> {
    let mut builder = GoogleCloudStorageBuilder::new();
    let address = address(endpoint.as_ref(), "GOOGLE");
    let has_endpoint = endpoint.is_some();
    for (key, value) in settings("GOOGLE_")?.into_iter() {
        builder = match key {
            GoogleConfigKey::BaseUrl if has_endpoint => builder,
            GoogleConfigKey::BaseUrl => builder.with_base_url(&checked_endpoint("GOOGLE_BASE_URL", value)?),
            key => builder.with_config(key, value),
        };
    }
    builder = builder.with_bucket_name(location.bucket()).with_retry(retry(RETRIES));
    let clock = StoreClock::default();
    builder = builder.with_http_connector(StoreConnector { clock: clock.clone() });
    for (key, value) in times("GOOGLE")? {
        builder = builder.with_config(GoogleConfigKey::Client(key), value);
    }
    if let Some(Endpoint { url, .. }) = endpoint {
        if url.starts_with("http://") {
            builder = builder.with_config(GoogleConfigKey::Client(ClientConfigKey::AllowHttp), "true");
        }
        builder = builder.with_base_url(&url);
    }
    let source = match is_set("GOOGLE_SERVICE_ACCOUNT") || is_set("GOOGLE_APPLICATION_CREDENTIALS") {
        true => "the service account in the environment",
        false => "the default credentials of the Google tools, or the role of this machine",
    };
    let way_out = "check GOOGLE_APPLICATION_CREDENTIALS";
    let built = builder.clone().build();
    let built =
        built.and_then(|store| builder.with_credentials(marked(store.credentials(), way_out)).build());
    bucket(location, built, source, clock, address)
}

fn az(location: &Location, endpoint: Option<Endpoint>) -> Result<Bucket> {
    let mut builder = MicrosoftAzureBuilder::new();
    if let Some(url) = variable("IDENTITY_ENDPOINT") {
        builder = builder.with_msi_endpoint(url);
    }
    // Azure's own command line has shorter names for these. The library's names come later, so they win.
    for (name, key) in [
        ("AZURE_STORAGE_ACCOUNT", AzureConfigKey::AccountName),
        ("AZURE_STORAGE_KEY", AzureConfigKey::AccessKey),
    ] {
        if let Some(value) = variable(name) {
            builder = builder.with_config(key, checked(name, value)?);
        }
    }
    for (key, value) in settings("AZURE_")? {
        builder = builder.with_config(key, value);
    }
    let names = ["AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_USE_EMULATOR"];
    if !names.iter().any(|name| is_set(name)) {
        let words = "there is no account; set AZURE_STORAGE_ACCOUNT, and AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN unless the machine has a role";
        return Err(Error::usage(message!(&*location.path(), ": {words}")));
    }
    builder = builder.with_container_name(location.bucket()).with_retry(retry(RETRIES));
    let clock = StoreClock::default();
    builder = builder.with_http_connector(StoreConnector { clock: clock.clone() });
    for (key, value) in times("AZURE")? {
        builder = builder.with_config(AzureConfigKey::Client(key), value);
    }
    let address = address(endpoint.as_ref(), "AZURE");
    if let Some(Endpoint { url, .. }) = endpoint {
        builder = builder.with_allow_http(url.starts_with("http://")).with_endpoint(url);
    }
    let source = "the environment (AZURE_STORAGE_ACCOUNT and others), or the role of this machine";
    let way_out = "check AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN and AZURE_CLIENT_SECRET";
    let built = builder.clone().build();
    let built =
        built.and_then(|store| builder.with_credentials(marked(store.credentials(), way_out)).build());
    bucket(location, built, source, clock, address)
}

fn http(location: &Location) -> Result<Bucket> {
    let options = ClientOptions::new().with_allow_http(true);
    let builder =
        HttpBuilder::new().with_url(&*location.root).with_client_options(options).with_retry(retry(RETRIES));
    let store = builder.build().map_err(|error| unusable(location, &error))?;
    Ok(Bucket::new(Arc::new(store), location, "nowhere".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_seconds() {
        let BackoffConfig { init_backoff, max_backoff, base } = retry(RETRIES).backoff;
        let (first, most) = (init_backoff.as_secs_f64(), max_backoff.as_secs_f64());
        let mean = |previous: &f64| Some(f64::midpoint(first, previous * base).min(most));
        let pauses: Vec<f64> = std::iter::successors(Some(first), mean).take(RETRIES).collect();
        assert!(pauses[RETRIES - 1] == 5.0 && pauses.iter().sum::<f64>() > 15.0, "{pauses:?}");
    }
}

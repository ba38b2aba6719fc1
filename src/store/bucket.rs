//! A bucket, and the requests that sitemill sends to it.

mod list;
#[cfg(test)]
mod tests;

use std::fmt;
use std::future::Future;
use std::io::Read;
use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};
use object_store::list::PaginatedListStore;
use object_store::path::Path as Key;
use object_store::{
    Attribute, GetOptions, GetRange, GetResult, MultipartUpload, ObjectStore, PutMode, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, UpdateVersion,
};

use super::attempts::{ATTEMPTS_MAX, FIRST_PAUSE, RETRY_TIME_MAX, repeated};
use super::clock::StoreClock;
use super::failure::{Failure, FailureKind};
use super::grace_period::GracePeriod;
use super::location::{Location, Scheme};
use super::object::{Condition, Meta, Object, Put, entity_tag};
use super::reader::ObjectReader;
use super::runtime::wait;
use super::settings::{RUN, store_settings};
use crate::common::stop::Stop;

/// Objects above this size are uploaded in parts, so that a lost connection costs only one part.
const PART_BYTES: usize = 32 << 20;

/// A bucket. Clones share connections.
#[derive(Clone)]
pub struct Bucket(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    store: Arc<dyn ObjectStore>,
    /// This store, if it can list keys that begin with any text.
    pages: Option<Arc<dyn PaginatedListStore>>,
    root: String,
    scheme: Scheme,
    credentials: String,
    /// Where requests go, for messages; empty if that is the store itself.
    address: String,
    clock: StoreClock,
    grace_period: GracePeriod,
    /// Whether uploads are sent without their conditions, because the store rejects these and the settings allow that.
    drops_conditions: Arc<AtomicBool>,
}

impl Bucket {
    /// The bucket at `location`, accessed through `store`. `credentials` describes where the credentials come from, for messages.
    pub fn new(store: Arc<dyn ObjectStore>, location: &Location, credentials: String) -> Self {
        Self(Arc::new(Inner {
            store,
            pages: None,
            root: location.root.clone(),
            scheme: location.scheme,
            credentials,
            address: String::new(),
            clock: StoreClock::default(),
            grace_period: GracePeriod::default(),
            drops_conditions: Arc::default(),
        }))
    }

    /// Returns the same bucket, with the `clock` of its store.
    pub fn with_clock(self, clock: StoreClock) -> Self {
        Self(Arc::new(Inner { clock, ..Inner::clone(&self.0) }))
    }

    /// Returns the same bucket. `address` describes where requests are sent, for messages.
    pub fn with_address(self, address: String) -> Self {
        Self(Arc::new(Inner { address, ..Inner::clone(&self.0) }))
    }

    /// The time by the store's clock, in nanoseconds since 1970.
    pub fn now(&self) -> i64 {
        self.0.clock.now()
    }

    /// Returns the same bucket for a run: its requests are abandoned a few seconds after `stop` is raised.
    pub fn for_run(&self, stop: &Stop) -> Self {
        Self(Arc::new(Inner { grace_period: GracePeriod::with(stop), ..Inner::clone(&self.0) }))
    }

    /// Checks that the run of this bucket was not asked to stop. Whoever waits between requests calls it.
    ///
    /// # Errors
    /// If it was asked to stop.
    pub fn check_stop(&self) -> crate::error::Result<()> {
        self.0.grace_period.check()
    }

    /// Blocks until `work` is done, or its run is over.
    fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Failure>> + Send + 'static,
    ) -> Result<T, Failure> {
        let this = self.clone();
        wait(async move { this.guarded(work).await })
    }

    /// Does `work` until its run is over. All requests go through here; only the body of an opened object is read elsewhere, by its
    /// [`ObjectReader`].
    async fn guarded<T>(&self, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let panicked = |_| Err(Failure::panicked());
        AssertUnwindSafe(self.0.grace_period.wait(work)).catch_unwind().await.unwrap_or_else(panicked)
    }

    /// Looks up the object `key`; `None` if it does not exist.
    ///
    /// # Errors
    /// If the request fails.
    pub fn head(&self, key: &str) -> Result<Option<Object>, Failure> {
        Ok(self.get(key, head_only())?.map(|got| got.meta.into()))
    }

    /// Returns the run that uploaded the object `key`; `None` if it does not exist or another program uploaded it.
    ///
    /// # Errors
    /// If the request fails.
    pub async fn run_of(&self, key: &str) -> Result<Option<String>, Failure> {
        let got = self.guarded(self.get_async(&self.key(key)?, head_only())).await?;
        Ok(got.and_then(|got| Some(got.attributes.get(&Attribute::Metadata(RUN.into()))?.to_string())))
    }

    /// Reads the object `key`; `None` if it does not exist.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(&self, key: &str) -> Result<Option<(Bytes, Object)>, Failure> {
        let (this, key) = (self.clone(), key.to_owned());
        self.wait(async move { this.read_async(&key).await })
    }

    /// Opens the object `key` for reading; `None` if it does not exist.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(&self, key: &str) -> Result<Option<Box<dyn Read + Send>>, Failure> {
        let got = self.get(key, GetOptions::default())?;
        let (path, credentials) = (format!("{}/{key}", self.0.root), self.0.credentials.clone());
        let reader = |got| ObjectReader::new(got, path.into(), credentials);
        Ok(got.map(|got| Box::new(reader(got)) as Box<dyn Read + Send>))
    }

    /// Reads the bytes in `range` of the object `key`, which must still be `object`. Also returns its ETag.
    ///
    /// # Errors
    /// If it cannot be read; [`FailureKind::Condition`] if it was replaced, [`FailureKind::Missing`] if it was removed.
    pub async fn read_range(
        &self,
        key: &str,
        range: Range<u64>,
        object: &Object,
    ) -> Result<(Bytes, Option<String>), Failure> {
        let options = GetOptions {
            if_match: object.tag.clone(),
            range: Some(GetRange::Bounded(range)),
            ..GetOptions::default()
        };
        let key = self.key(key)?;
        self.guarded(repeated(|| self.read_part(&key, options.clone(), object))).await
    }

    async fn read_part(
        &self,
        key: &Key,
        options: GetOptions,
        object: &Object,
    ) -> Result<(Bytes, Option<String>), Failure> {
        let got = self.0.store.get_opts(key, options).await;
        let got = got.map_err(|error| self.failure(&error))?;
        // The store may ignore the condition, or may have listed no ETag.
        if !object.is_same_as(&got.meta) {
            return Err(Failure::replaced());
        }
        let tag = entity_tag(got.meta.e_tag.clone());
        got.bytes().await.map(|bytes| (bytes, tag)).map_err(|error| self.failure(&error))
    }

    /// Uploads an object, and returns its ETag and version. If the response is lost, the upload is retried or recognised: an object
    /// that already has these bytes counts as uploaded, whoever uploaded it.
    ///
    /// # Errors
    /// If it cannot be uploaded; [`FailureKind::Condition`] if the condition does not hold, [`FailureKind::Unsupported`] if the
    /// store may know no conditions. If the settings allow such stores, the object is uploaded without.
    pub fn put(&self, put: Put) -> Result<Meta, Failure> {
        let this = self.clone();
        self.wait(async move { this.put_repeatedly(put).await })
    }

    /// Like [`Bucket::put`], with the same errors, but asynchronous.
    pub async fn put_async(&self, put: Put) -> Result<Meta, Failure> {
        self.guarded(self.put_repeatedly(put)).await
    }

    async fn put_repeatedly(&self, mut put: Put) -> Result<Meta, Failure> {
        if self.0.drops_conditions.load(Ordering::Relaxed) {
            put.condition = Condition::None;
        }
        let (begun, mut pause) = (Instant::now(), FIRST_PAUSE);
        for attempt in 1.. {
            let failure = match self.put_once(&put).await {
                Ok(meta) => return Ok(meta),
                Err(failure) => failure,
            };
            let is_conditional = put.condition != Condition::None;
            if failure.kind == FailureKind::Unsupported
                && is_conditional
                && store_settings().allow_unsafe_store
            {
                self.0.drops_conditions.store(true, Ordering::Relaxed);
                put.condition = Condition::None;
                continue;
            }
            let may_have_happened = failure.kind == FailureKind::Condition || failure.is_in_doubt();
            if !is_conditional || !may_have_happened {
                return Err(failure);
            }
            let there = self.read_async(&put.key).await;
            match there {
                Ok(Some((bytes, object))) if bytes == put.bytes => return Ok(object.meta()),
                // The failure of the upload is the one to report.
                Err(_) => return Err(failure),
                Ok(there) if failure.kind == FailureKind::Other && may_repeat(attempt, begun.elapsed()) => {
                    let is_still = match (&put.condition, &there) {
                        (Condition::Is(meta), Some((_, object))) => object.tag == meta.tag,
                        (Condition::Absent, None) => true,
                        _ => false,
                    };
                    if !is_still {
                        return Err(Failure { kind: FailureKind::Condition, ..failure });
                    }
                }
                Ok(_) => return Err(failure),
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
        unreachable!("the last attempt returns")
    }

    /// Whether the store enforces the conditions of uploads. Tries to upload the existing object `key` under conditions that do not
    /// hold. `bytes` is its content, so a store that ignores conditions leaves it unchanged.
    ///
    /// # Errors
    /// If a request fails for another reason.
    pub fn honours_conditions(&self, key: &str, bytes: &[u8]) -> Result<bool, Failure> {
        // Azure compares ETags as text, and Google compares version numbers.
        let other = Meta { tag: Some("\"0\"".into()), version: Some("1".into()) };
        let puts = [Condition::Absent, Condition::Is(other)]
            .map(|condition| Put::new(key, bytes.to_vec(), condition));
        let this = self.clone();
        self.wait(async move {
            for put in puts {
                match repeated(|| this.put_once(&put)).await {
                    Err(failure) if failure.kind == FailureKind::Condition => {}
                    Err(failure) if failure.kind != FailureKind::Unsupported => return Err(failure),
                    _ => return Ok(false),
                }
            }
            Ok(true)
        })
    }

    async fn put_once(&self, put: &Put) -> Result<Meta, Failure> {
        let key = self.key(&put.key)?;
        if put.bytes.len() > PART_BYTES && !matches!(put.condition, Condition::Is(_)) {
            return self.put_in_parts(put, &key).await;
        }
        let mode = match &put.condition {
            Condition::None => PutMode::Overwrite,
            Condition::Absent => PutMode::Create,
            Condition::Is(Meta { tag, version }) => {
                PutMode::Update(UpdateVersion { e_tag: tag.clone(), version: version.clone() })
            }
        };
        let options = PutOptions { mode, attributes: put.attributes(), ..PutOptions::default() };
        let payload = PutPayload::from_bytes(put.bytes.clone());
        let done = self.0.store.put_opts(&key, payload, options).await;
        done.map(meta_of).map_err(|error| self.failure(&error))
    }

    /// Uploads an object in parts. Multipart uploads cannot be conditional, so it is looked up first. That is enough, because only
    /// sitemaps are that large, and their names contain a hash of their content.
    async fn put_in_parts(&self, put: &Put, key: &Key) -> Result<Meta, Failure> {
        if put.condition == Condition::Absent && self.get_async(key, head_only()).await?.is_some() {
            return Err(Failure { kind: FailureKind::Condition, ..Failure::other("the object exists") });
        }
        let options = PutMultipartOptions { attributes: put.attributes(), ..PutMultipartOptions::default() };
        let upload = self.0.store.put_multipart_opts(key, options).await;
        let mut upload: Box<dyn MultipartUpload> = upload.map_err(|error| self.failure(&error))?;
        let parts = (0..put.bytes.len()).step_by(PART_BYTES);
        let part = |at: usize| put.bytes.slice(at..put.bytes.len().min(at + PART_BYTES));
        for bytes in parts.map(part) {
            if let Err(error) = upload.put_part(PutPayload::from_bytes(bytes)).await {
                let _ = upload.abort().await;
                return Err(self.failure(&error));
            }
        }
        match upload.complete().await.map_err(|error| self.failure(&error)) {
            Ok(done) => Ok(meta_of(done)),
            // If the response was lost, the client library retried the request, but the store no longer knows the upload.
            Err(failure) => match self.read_once(key).await {
                Ok(Some((there, object))) if there == put.bytes => Ok(object.meta()),
                _ => Err(failure),
            },
        }
    }

    /// Removes objects. Objects that do not exist count as removed.
    ///
    /// # Errors
    /// If an object cannot be removed. Others may have been removed.
    pub fn remove(&self, keys: &[String]) -> Result<(), Failure> {
        let keys = keys.iter().map(|key| self.key(key)).collect::<Result<Vec<_>, _>>()?;
        let this = self.clone();
        self.wait(async move {
            let keys = stream::iter(keys.into_iter().map(Ok)).boxed();
            let mut removed = this.0.store.delete_stream(keys);
            while let Some(one) = removed.next().await {
                match one {
                    Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
                    Err(error) => {
                        let permission = this.0.scheme.deletion_permission();
                        return Err(Failure { permission, ..this.failure(&error) });
                    }
                }
            }
            Ok(())
        })
    }

    fn get(&self, key: &str, options: GetOptions) -> Result<Option<GetResult>, Failure> {
        let (this, key) = (self.clone(), self.key(key)?);
        self.wait(async move { this.get_async(&key, options).await })
    }

    async fn get_async(&self, key: &Key, options: GetOptions) -> Result<Option<GetResult>, Failure> {
        match self.0.store.get_opts(key, options).await.map_err(|error| self.failure(&error)) {
            Ok(got) => Ok(Some(got)),
            Err(failure) if failure.kind == FailureKind::Missing => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    async fn read_async(&self, key: &str) -> Result<Option<(Bytes, Object)>, Failure> {
        let key = self.key(key)?;
        repeated(|| self.read_once(&key)).await
    }

    async fn read_once(&self, key: &Key) -> Result<Option<(Bytes, Object)>, Failure> {
        let Some(got) = self.get_async(key, GetOptions::default()).await? else {
            return Ok(None);
        };
        let object = got.meta.clone().into();
        let bytes = got.bytes().await.map_err(|error| self.failure(&error))?;
        Ok(Some((bytes, object)))
    }

    fn failure(&self, error: &object_store::Error) -> Failure {
        Failure::of(error, &self.0.credentials).at(&self.0.address)
    }

    fn key(&self, key: &str) -> Result<Key, Failure> {
        Key::parse(key).map_err(|error| Failure::other(error.to_string()))
    }
}

/// Whether an upload may be repeated after so many attempts and so much time. A process that was suspended gets a second attempt.
fn may_repeat(attempt: u32, elapsed: Duration) -> bool {
    attempt < ATTEMPTS_MAX && (attempt == 1 || elapsed < RETRY_TIME_MAX)
}

/// Options of a HEAD request.
fn head_only() -> GetOptions {
    GetOptions { head: true, ..GetOptions::default() }
}

fn meta_of(done: PutResult) -> Meta {
    Meta { tag: entity_tag(done.e_tag), version: done.version }
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The store contains the credentials.
        f.debug_tuple("Bucket").field(&self.0.root).finish()
    }
}

//! A bucket, and the requests that sitemill sends to it.

mod list;
#[cfg(test)]
mod tests;
mod upload;

use std::fmt;
use std::future::Future;
use std::io::Read;
use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};
use object_store::list::PaginatedListStore;
use object_store::path::Path as Key;
use object_store::{Attribute, GetOptions, GetRange, GetResult, ObjectStore};

use super::attempts::repeated;
use super::clock::StoreClock;
use super::failure::{Failure, FailureKind};
use super::grace_period::GracePeriod;
use super::location::{Location, Scheme};
use super::object::{Object, entity_tag};
use super::permission::Access;
use super::reader::ObjectReader;
use super::runtime::wait;
use super::settings::RUN;
use crate::common::stop::Stop;

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
                    Err(error) => return Err(this.failure_to(Access::Remove, &error)),
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
        let ask = |options| async move {
            let got = self.0.store.get_opts(key, options).await;
            got.map_err(|error| self.failure_to(Access::Read, &error))
        };
        let got = match ask(options.clone()).await {
            // The response to a HEAD request has no body, which would say what is wrong, such as a token that has expired.
            Err(failure) if options.head && failure.has_no_reason() => {
                ask(GetOptions { head: false, ..options }).await
            }
            got => got,
        };
        match got {
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

    /// The failure of a request that needs the permission for `access`.
    fn failure_to(&self, access: Access, error: &object_store::Error) -> Failure {
        self.failure(error).needing(access.permission(self.0.scheme))
    }

    fn failure(&self, error: &object_store::Error) -> Failure {
        Failure::of(error, &self.0.credentials).at(&self.0.address)
    }

    fn key(&self, key: &str) -> Result<Key, Failure> {
        Key::parse(key).map_err(|error| Failure::other(error.to_string()))
    }
}

/// Options of a HEAD request.
fn head_only() -> GetOptions {
    GetOptions { head: true, ..GetOptions::default() }
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The store contains the credentials.
        f.debug_tuple("Bucket").field(&self.0.root).finish()
    }
}

//! Requests that upload objects.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use object_store::path::Path as Key;
use object_store::{
    MultipartUpload, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, UpdateVersion,
};

use super::{Bucket, head_only};
use crate::store::attempts::{ATTEMPTS_MAX, FIRST_PAUSE, RETRY_TIME_MAX, repeated};
use crate::store::failure::{Failure, FailureKind};
use crate::store::object::{Condition, Meta, Put, entity_tag};
use crate::store::settings::store_settings;

/// Objects above this size are uploaded in parts, so that a lost connection costs only one part.
const PART_BYTES: usize = 32 << 20;

impl Bucket {
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
                // The store may still carry out an earlier attempt.
                Err(failure) => Failure { was_repeated: failure.was_repeated || attempt > 1, ..failure },
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
                Ok(there) if failure.may_be_repeated() && may_repeat(attempt, begun.elapsed()) => {
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
}

/// Whether an upload may be repeated after so many attempts and so much time. A process that was suspended gets a second attempt.
fn may_repeat(attempt: u32, elapsed: Duration) -> bool {
    attempt < ATTEMPTS_MAX && (attempt == 1 || elapsed < RETRY_TIME_MAX)
}

fn meta_of(done: PutResult) -> Meta {
    Meta { tag: entity_tag(done.e_tag), version: done.version }
}

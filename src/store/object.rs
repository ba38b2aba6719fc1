//! Objects, and requests to upload them.

use std::time::Duration;

use bytes::Bytes;
use object_store::{Attribute, Attributes, ObjectMeta};

use super::settings::RUN;

/// Identifies the content of an object: its ETag and, if the store has versions, its version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Meta {
    /// The ETag.
    pub tag: Option<String>,
    /// The version.
    pub version: Option<String>,
}

/// The properties of an object, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its size in bytes.
    pub bytes: u64,
    /// Its ETag. Not every store includes ETags in listings.
    pub tag: Option<String>,
    /// Its version, if the store has versions.
    pub version: Option<String>,
    /// When it was uploaded, by the store's clock, in nanoseconds since 1970.
    pub modified: i64,
}

impl Object {
    /// Returns what identifies its content.
    pub fn meta(&self) -> Meta {
        Meta { tag: self.tag.clone(), version: self.version.clone() }
    }

    /// The time from its upload to `now`, both by the store's clock, in nanoseconds since 1970.
    pub fn age(&self, now: i64) -> Duration {
        Duration::from_nanos(now.saturating_sub(self.modified).max(0).unsigned_abs())
    }

    /// Whether `meta` describes the same content. Without ETags, size and time are compared.
    pub fn is_same_as(&self, meta: &ObjectMeta) -> bool {
        match (&self.tag, entity_tag(meta.e_tag.clone())) {
            (Some(was), Some(now)) => *was == now,
            // Listings have fractions of seconds, headers have only whole seconds.
            _ => self.bytes == meta.size && self.modified / 1_000_000_000 == meta.last_modified.timestamp(),
        }
    }
}

impl From<ObjectMeta> for Object {
    fn from(meta: ObjectMeta) -> Self {
        let modified = meta.last_modified.timestamp_nanos_opt().unwrap_or_default();
        Self { bytes: meta.size, tag: entity_tag(meta.e_tag), version: meta.version, modified }
    }
}

/// Adds the quotes that an ETag has in headers: Azure omits them in listings.
pub fn entity_tag(tag: Option<String>) -> Option<String> {
    tag.map(|tag| if tag.ends_with('"') { tag } else { format!("\"{tag}\"") })
}

/// The objects and prefixes directly below a prefix.
#[derive(Debug, Default)]
pub struct Level {
    /// The objects, named without the prefix.
    pub objects: Vec<(String, Object)>,
    /// The names of the prefixes, without the prefix above them.
    pub prefixes: Vec<String>,
}

impl Level {
    /// Whether there is nothing below the prefix.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.prefixes.is_empty()
    }
}

/// The condition of an upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// Always upload.
    None,
    /// Upload only if the object does not exist.
    Absent,
    /// Upload only if the object still has this content.
    Is(Meta),
}

impl Condition {
    /// The condition that the object is still the one that was `read`, or still does not exist.
    pub fn still(read: Option<&Object>) -> Self {
        read.map_or(Self::Absent, |object| Self::Is(object.meta()))
    }
}

/// An object to upload.
#[derive(Debug, Clone)]
pub struct Put {
    /// Its key.
    pub key: String,
    /// Its content.
    pub bytes: Bytes,
    /// When it may be uploaded.
    pub condition: Condition,
    /// Its headers: names (upper or lower case) and values.
    pub headers: Vec<(String, String)>,
    /// The run that uploads it, recorded in its metadata.
    pub run: Option<String>,
}

impl Put {
    /// An upload of `bytes` as `key`, without headers.
    pub fn new(key: impl Into<String>, bytes: impl Into<Bytes>, condition: Condition) -> Self {
        Self { key: key.into(), bytes: bytes.into(), condition, headers: Vec::new(), run: None }
    }

    /// The attributes that the store keeps with it.
    pub fn attributes(&self) -> Attributes {
        let named = self.headers.iter().map(|(name, value)| (attribute(name), value.clone()));
        let run = self.run.iter().map(|run| (Attribute::Metadata(RUN.into()), run.clone()));
        named.chain(run).collect()
    }
}

/// Converts the name of a header into an attribute.
fn attribute(name: &str) -> Attribute {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "content-type" => Attribute::ContentType,
        "content-encoding" => Attribute::ContentEncoding,
        "content-language" => Attribute::ContentLanguage,
        "content-disposition" => Attribute::ContentDisposition,
        "cache-control" => Attribute::CacheControl,
        "x-amz-storage-class" => Attribute::StorageClass,
        _ => Attribute::Metadata(name.trim_start_matches("x-amz-meta-").to_owned().into()),
    }
}

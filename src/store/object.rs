//! Objects, and what is asked for when one is put.

use bytes::Bytes;
use object_store::{Attribute, Attributes, ObjectMeta};

/// The name of the metadata that says which run has put an object. Azure permits letters, digits and underscores in it, and proxies drop
/// headers with underscores.
pub const RUN: &str = "sitemillrun";

/// What identifies the content of an object: its entity tag and, where the store has one, its version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Meta {
    /// The entity tag.
    pub tag: Option<String>,
    /// The version.
    pub version: Option<String>,
}

/// An object without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its bytes.
    pub bytes: u64,
    /// Its entity tag; not every store lists them.
    pub tag: Option<String>,
    /// Its version, where the store has versions.
    pub version: Option<String>,
    /// When it was put, by the clock of the store: nanoseconds since 1970.
    pub modified: i64,
}

impl Object {
    /// What identifies its content.
    pub fn meta(&self) -> Meta {
        Meta { tag: self.tag.clone(), version: self.version.clone() }
    }

    /// Whether `meta` is of the same content. Without tags, the size and the time decide.
    pub fn is_same_as(&self, meta: &ObjectMeta) -> bool {
        match (&self.tag, entity_tag(meta.e_tag.clone())) {
            (Some(was), Some(now)) => *was == now,
            // Lists have parts of seconds, and headers have none.
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

/// An entity tag as headers have it: Azure leaves the quotes out in lists.
pub fn entity_tag(tag: Option<String>) -> Option<String> {
    tag.map(|tag| if tag.ends_with('"') { tag } else { format!("\"{tag}\"") })
}

/// The objects right below a prefix.
#[derive(Debug, Default)]
pub struct Level {
    /// The objects, by their names after the prefix.
    pub objects: Vec<(String, Object)>,
    /// The names of the prefixes below it.
    pub prefixes: Vec<String>,
}

impl Level {
    /// Whether there is nothing below the prefix.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.prefixes.is_empty()
    }
}

/// When a put may happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// In any case.
    None,
    /// If there is no object.
    Absent,
    /// If the object has this content.
    Is(Meta),
}

impl Condition {
    /// If the object is still the one that was `read`, or still does not exist.
    pub fn still(read: Option<&Object>) -> Self {
        read.map_or(Self::Absent, |object| Self::Is(object.meta()))
    }
}

/// An object to put.
#[derive(Debug, Clone)]
pub struct Put {
    /// Its key.
    pub key: String,
    /// Its bytes.
    pub bytes: Bytes,
    /// When it may be put.
    pub condition: Condition,
    /// Its headers: names in any case, and values.
    pub headers: Vec<(String, String)>,
    /// The run that puts it.
    pub run: Option<String>,
}

impl Put {
    /// A put of `bytes` as `key`, without headers.
    pub fn new(key: impl Into<String>, bytes: impl Into<Bytes>, condition: Condition) -> Self {
        Self { key: key.into(), bytes: bytes.into(), condition, headers: Vec::new(), run: None }
    }

    /// What the store keeps with it.
    pub fn attributes(&self) -> Attributes {
        let named = self.headers.iter().map(|(name, value)| (attribute(name), value.clone()));
        let run = self.run.iter().map(|run| (Attribute::Metadata(RUN.into()), run.clone()));
        named.chain(run).collect()
    }
}

/// The attribute that a header is.
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

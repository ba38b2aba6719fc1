//! Requests that list the objects of a bucket.

use std::future::Future;
use std::sync::Arc;

use futures_util::{TryFutureExt, TryStreamExt};
use object_store::ListResult;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path as Key;

use super::{Bucket, Inner};
use crate::store::attempts::repeated;
use crate::store::failure::Failure;
use crate::store::object::{Level, Object};
use crate::store::permission::Access;

impl Bucket {
    /// Lists all objects below `prefix` with their full keys, sorted by key.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub fn list(&self, prefix: &str) -> Result<Vec<(String, Object)>, Failure> {
        let (this, prefix) = (self.clone(), self.prefix(prefix)?);
        self.wait(async move {
            let list = || this.0.store.list(prefix.as_ref()).try_collect::<Vec<_>>();
            let listed = this.listing(list).await?;
            let mut objects: Vec<_> =
                listed.into_iter().map(|meta| (meta.location.to_string(), Object::from(meta))).collect();
            objects.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            Ok(objects)
        })
    }

    /// Lists the objects and prefixes directly below `prefix`.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub fn list_level(&self, prefix: &str) -> Result<Level, Failure> {
        let (this, prefix) = (self.clone(), self.prefix(prefix)?);
        self.wait(async move {
            let list = || this.0.store.list_with_delimiter(prefix.as_ref());
            let listed = this.listing(list).await?;
            Ok(level_of(listed))
        })
    }

    /// Lists the objects and prefixes directly below `prefix` whose names begin with `start`. If the bucket has pages, the names
    /// before and after these are not requested.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub fn list_level_from(&self, prefix: &str, start: &str) -> Result<Level, Failure> {
        let Some(pages) = self.0.pages.clone().filter(|_| !start.is_empty()) else {
            let Level { mut objects, mut prefixes } = self.list_level(prefix)?;
            objects.retain(|(name, _)| name.starts_with(start));
            prefixes.retain(|name| name.starts_with(start));
            return Ok(Level { objects, prefixes });
        };
        let start = match prefix.is_empty() {
            true => start.to_owned(),
            false => format!("{prefix}/{start}"),
        };
        let this = self.clone();
        self.wait(async move {
            let mut level = Level::default();
            let mut options =
                PaginatedListOptions { delimiter: Some("/".into()), ..PaginatedListOptions::default() };
            loop {
                let list = || pages.list_paginated(Some(&start), options.clone());
                let page = this.listing(list).await?;
                let Level { objects, prefixes } = level_of(page.result);
                level.objects.extend(objects);
                level.prefixes.extend(prefixes);
                options.page_token = page.page_token;
                if options.page_token.is_none() {
                    return Ok(level);
                }
            }
        })
    }

    /// Returns the same bucket with a way to list the keys that begin with any text, not only those below a prefix.
    pub fn with_pages(self, pages: Arc<dyn PaginatedListStore>) -> Self {
        Self(Arc::new(Inner { pages: Some(pages), ..Inner::clone(&self.0) }))
    }

    /// Looks up the object `key` in a listing; `None` if it does not exist. Unlike a HEAD request, this also works in a store that
    /// keeps objects as files and has a directory of this name. Takes a single request, if the bucket has pages.
    ///
    /// # Errors
    /// If it cannot be listed.
    pub fn find(&self, key: &str) -> Result<Option<Object>, Failure> {
        let Some(pages) = self.0.pages.clone() else {
            let (above, name) = key.rsplit_once('/').unwrap_or(("", key));
            let found = self.list_level(above)?.objects.into_iter().find(|(found, _)| found == name);
            return Ok(found.map(|(_, object)| object));
        };
        let (this, key) = (self.clone(), self.key(key)?);
        self.wait(async move {
            // The key sorts before all others that begin with it.
            let first = PaginatedListOptions { max_keys: Some(1), ..PaginatedListOptions::default() };
            let list = || pages.list_paginated(Some(key.as_ref()), first.clone());
            let listed = this.listing(list).await?.result.objects;
            Ok(listed.into_iter().find(|meta| meta.location == key).map(Object::from))
        })
    }

    /// Sends a request that lists objects, and repeats it if that may help.
    async fn listing<T, F: Future<Output = object_store::Result<T>>>(
        &self,
        list: impl Fn() -> F,
    ) -> Result<T, Failure> {
        repeated(|| list().map_err(|error| self.failure_to(Access::List, &error))).await
    }

    fn prefix(&self, prefix: &str) -> Result<Option<Key>, Failure> {
        if prefix.is_empty() { Ok(None) } else { self.key(prefix).map(Some) }
    }
}

/// The names in a listing.
fn level_of(listed: ListResult) -> Level {
    let last = |key: &Key| key.filename().unwrap_or_default().to_owned();
    Level {
        objects: listed.objects.into_iter().map(|meta| (last(&meta.location), meta.into())).collect(),
        prefixes: listed.common_prefixes.iter().map(last).collect(),
    }
}

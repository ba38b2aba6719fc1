//! How stores are reached: settings of the process, as the credentials in its environment are.

use std::sync::{PoisonError, RwLock};

/// How object stores are reached. They apply to the whole process, as the credentials in its environment do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreSettings {
    /// The URL of a compatible store. If none is given, `AWS_ENDPOINT_URL` and the profile are consulted, and then the store's own
    /// endpoint is used.
    pub endpoint: Option<String>,
}

static SETTINGS: RwLock<StoreSettings> = RwLock::new(StoreSettings { endpoint: None });

/// Sets how object stores are reached from now on. Buckets that are in use already keep their settings.
pub fn set_store_settings(settings: StoreSettings) {
    *SETTINGS.write().unwrap_or_else(PoisonError::into_inner) = settings;
}

/// How object stores are reached.
#[cfg(feature = "cloud")]
pub fn store_settings() -> StoreSettings {
    SETTINGS.read().unwrap_or_else(PoisonError::into_inner).clone()
}

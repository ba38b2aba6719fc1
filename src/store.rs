//! Store: objects in buckets, as inputs and as places for sets.
//!
//! All calls block. The requests run on threads of their own, so that the library can be used from any thread, and several can be
//! on their way at the same time. Retries of the library repeat what is safe to repeat; [`Bucket::put`] finds out for itself
//! whether a conditional put whose answer was lost has happened.

#[cfg(feature = "cloud")]
mod bucket;
#[cfg(feature = "cloud")]
mod client;
#[cfg(feature = "cloud")]
mod failure;
mod location;
#[cfg(feature = "cloud")]
mod object;
#[cfg(feature = "cloud")]
mod parts;
#[cfg(feature = "cloud")]
mod profile;
#[cfg(feature = "cloud")]
mod reader;
#[cfg(feature = "cloud")]
mod runtime;
mod settings;
#[cfg(feature = "cloud")]
mod web;

#[cfg(feature = "cloud")]
pub use bucket::Bucket;
#[cfg(feature = "cloud")]
pub use client::connect;
#[cfg(feature = "cloud")]
pub use failure::{Failure, FailureKind};
pub use location::Location;
#[cfg(feature = "cloud")]
pub use location::Scheme;
#[cfg(not(feature = "cloud"))]
pub use location::not_built_in;
#[cfg(feature = "cloud")]
pub use object::{Condition, Level, Meta, Object, Put};
#[cfg(feature = "cloud")]
pub use parts::{ObjectParts, Parts};
#[cfg(feature = "cloud")]
pub use runtime::{Task, spawn};
#[cfg(feature = "cloud")]
pub use settings::store_settings;
pub use settings::{ObjectHeader, StoreSettings, set_store_settings};
#[cfg(feature = "cloud")]
pub use web::{Pieces, WebFile};

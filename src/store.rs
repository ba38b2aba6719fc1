//! Store: objects in buckets, as inputs and as places for sets.
//!
//! All calls block. The requests run on threads of their own, so that the library can be used from any thread, and several can be
//! on their way at the same time. Retries of the library repeat what is safe to repeat; [`Bucket::put`] finds out for itself
//! whether a conditional put whose answer was lost has happened.

#[cfg(feature = "cloud")]
mod attempts;
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
mod patience;
#[cfg(feature = "cloud")]
mod profile;
#[cfg(feature = "cloud")]
mod reader;
#[cfg(feature = "cloud")]
mod runtime;
mod settings;
#[cfg(feature = "cloud")]
mod web;

pub use location::Location;
pub use settings::{ObjectHeader, StoreSettings, set_store_settings};

#[cfg(not(feature = "cloud"))]
pub use location::not_built_in;

#[cfg(feature = "cloud")]
pub use self::{
    bucket::Bucket,
    client::connect,
    failure::{Failure, FailureKind},
    location::Scheme,
    object::{Condition, Level, Meta, Object, Put},
    parts::{ObjectParts, Parts},
    runtime::{Task, spawn},
    settings::store_settings,
    web::{Pieces, WebFile},
};

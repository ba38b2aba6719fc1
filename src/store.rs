//! Store: objects in buckets, as inputs and as places for sets.
//!
//! Calls block, except those that return a [`Task`] or are `async`. Requests run on dedicated threads, so the library can be used
//! from any thread, and several requests can be in flight. The client library retries requests that are safe to retry.
//! [`Bucket::put`] itself finds out whether a conditional PUT succeeded if its response is lost.

#[cfg(feature = "cloud")]
mod attempts;
#[cfg(feature = "cloud")]
mod bucket;
#[cfg(feature = "cloud")]
mod client;
#[cfg(feature = "cloud")]
mod clock;
#[cfg(feature = "cloud")]
mod connector;
#[cfg(feature = "cloud")]
mod credentials;
#[cfg(feature = "cloud")]
mod endpoint;
#[cfg(feature = "cloud")]
mod failure;
#[cfg(feature = "cloud")]
mod grace_period;
mod location;
#[cfg(feature = "cloud")]
mod object;
#[cfg(feature = "cloud")]
mod parts;
#[cfg(feature = "cloud")]
mod permission;
#[cfg(feature = "cloud")]
mod profile;
#[cfg(feature = "cloud")]
mod reader;
#[cfg(feature = "cloud")]
mod runtime;
mod settings;
#[cfg(feature = "cloud")]
mod tls;
mod unsupported;
#[cfg(feature = "cloud")]
mod variables;
#[cfg(feature = "cloud")]
mod web;

pub use location::{Location, Scheme};
pub use settings::{AppliedSettings, ObjectHeader, StoreSettings, set_store_settings, store_settings};
pub use unsupported::no_set_on_web_server;

#[cfg(not(feature = "cloud"))]
pub use unsupported::{is_readable_elsewhere, not_built_in};

#[cfg(all(feature = "cloud", test))]
pub use clock::StoreClock;

#[cfg(feature = "cloud")]
pub use self::{
    bucket::Bucket,
    client::connect,
    failure::{Failure, FailureKind},
    object::{Condition, Level, Meta, Object, Put},
    parts::{ObjectParts, Parts},
    runtime::{Task, spawn},
    web::{Pieces, WebFile},
};

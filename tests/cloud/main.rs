//! Sets in buckets: s3s-fs, moto, Azurite and fake-gcs-server as stores, behind a proxy that counts requests and makes them fail.
#![cfg(all(feature = "cli", feature = "cloud"))]

#[path = "../suite/support/mod.rs"]
mod support;

mod cases;
mod http;
mod inputs;
mod killing;
mod kind;
mod network;
mod parts;
mod permissions;
mod proxy;
mod refusing;
mod requests;
mod retention;
mod same;
mod servers;
mod settings;
mod stopping;
mod stores;
mod together;
mod world;

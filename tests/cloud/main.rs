//! Sets in buckets: s3s-fs and moto as stores, and a proxy in front of them that counts requests and makes them fail.
#![cfg(all(feature = "cli", feature = "cloud"))]

#[path = "../suite/support.rs"]
mod support;

mod cases;
mod http;
mod inputs;
mod killing;
mod moto;
mod network;
mod proxy;
mod refusing;
mod requests;
mod retention;
mod same;
mod servers;
mod together;
mod world;

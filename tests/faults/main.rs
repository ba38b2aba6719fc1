//! The fault catalogue: each test injects faults into runs and checks what a crawler then sees. README.md lists all
//! faults and their tests.
#![cfg(feature = "cli")]

#[path = "../suite/support/mod.rs"]
mod support;

mod around;
mod calls;
mod clock;
mod disks;
mod killing;
mod links;
mod reading;
mod sets;
mod signals;
mod together;
mod world;

//! The fault catalogue: what breaks around a run is broken on purpose, and what is left is held against what a crawler must
//! see. README.md has the table of all faults, and where each is tested.
#![cfg(feature = "cli")]

#[path = "../suite/support.rs"]
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

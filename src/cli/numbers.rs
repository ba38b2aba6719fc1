//! Numbers in messages.

pub use sitemill::escape::{grouped, plural};

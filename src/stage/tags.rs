//! Tags: what may stand beside a `<loc>`, checked and normalised, or the reason for leaving it out.
//!
//! A tag that cannot be written is dropped and counted; its URL stays. Nothing is invented: no value, no tag. What comes
//! out is legal in both versions of the protocol, so none of this asks which one is spoken.

mod changefreq;
mod lastmod;
mod priority;
mod reason;
mod zone;

pub use changefreq::{Changefreq, changefreq};
pub use lastmod::{LASTMOD_BYTES_MAX, Lastmod, LastmodRules, LastmodUnit, lastmod};
pub use priority::{PRIORITY_BYTES_MAX, Priority, priority};
pub use reason::{DroppedTags, TagReason};
pub use zone::LastmodZone;

#[cfg(test)]
mod tests;

//! Patterns that look at all bytes of a URL at once, for those that have too many states for a small automaton.
//!
//! Bit *n* of a stream says something about byte *n* of a URL: whether it is a slash, or whether a pattern has matched what is
//! before it. A step of a pattern, such as one more byte of a class, takes a few instructions for all bytes. A large automaton
//! takes as many for each byte, because every step waits for the one before it. The method is that of Parabix: R. D. Cameron and
//! others, "Bitwise Data Parallelism in Regular Expression Matching", 2014.

mod begun;
mod bits;
mod both;
mod classes;
mod finder;
mod lines;
mod program;
mod run;
mod urls;
#[cfg(target_arch = "x86_64")]
mod wide;
#[cfg(target_arch = "x86_64")]
mod wider;

pub use lines::{LineMatch, LineStreams};
pub use urls::{Streams, TooLong};

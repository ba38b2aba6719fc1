//! Gzip: one member per file; equal content gives equal bytes.

use std::io::Write;

use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};

use super::deflate::Encoder;
use crate::common::contain::contained;
use crate::common::fallible::reserve;
use crate::error::{Error, Result};

/// Compression level, 0 to 9: 0 stores without compression, 1 is fastest, 9 gives the smallest files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level(u8);

impl Level {
    /// Creates a level. `None` if `level` is above 9.
    pub fn new(level: u8) -> Option<Self> {
        (level <= 9).then_some(Self(level))
    }

    /// Returns the level as a number, 0 to 9.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl Default for Level {
    /// Level 2: on shop URLs, files are as small as with level 4 of zlib, in a third of the time. Level 3 takes twice as long as
    /// level 2 and saves five percent of the bytes.
    fn default() -> Self {
        Self(2)
    }
}

/// The compressor. Both write ordinary gzip; they differ only in speed and in the size of the output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// The compressor of sitemill, which is optimised for sitemaps. This is the default.
    #[default]
    Records,
    /// The crate `flate2`, a general-purpose compressor. Tests and benchmarks compare with it.
    Flate2,
}

impl Engine {
    /// All engines and their names on the command line.
    pub const ALL: [(&'static str, Self); 2] = [("records", Self::Records), ("flate2", Self::Flate2)];
}

impl std::str::FromStr for Engine {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let named = Self::ALL.into_iter().find(|(name, _)| *name == word);
        named.map(|(_, engine)| engine).ok_or_else(|| "expected records or flate2".into())
    }
}

impl std::fmt::Display for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, _) = Self::ALL.iter().find(|(_, engine)| engine == self).expect("ALL has every engine");
        f.write_str(name)
    }
}

/// Compresses one gzip member after another, reusing its memory.
#[derive(Debug)]
pub struct Compressor(Inner);

#[derive(Debug)]
enum Inner {
    Records(Box<Encoder>),
    /// The encoder of the current member, from [`Compressor::reserve`] to [`Compressor::finish`].
    Flate2(Option<Box<GzEncoder<Vec<u8>>>>, Level),
}

/// Approximate bytes of a flate2 encoder, for the error message.
const FLATE2_BYTES: usize = 300_000;

/// An encoder with an RFC 1952 header with time 0 and no file name: equal content gives equal bytes.
///
/// # Errors
/// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if the memory is not available.
fn flate2(level: Level) -> Result<Box<GzEncoder<Vec<u8>>>> {
    let begin = || GzBuilder::new().mtime(0).write(Vec::new(), Compression::new(level.0.into()));
    // For a level from 0 to 9, it panics only if there is no memory.
    contained(begin).map(Box::new).map_err(|_| Error::no_memory(FLATE2_BYTES))
}

impl Compressor {
    /// Creates a compressor of `level`, at the start of a member.
    pub fn new(engine: Engine, level: Level) -> Self {
        Self(match engine {
            Engine::Records => Inner::Records(Box::new(Encoder::new(level.0))),
            Engine::Flate2 => Inner::Flate2(None, level),
        })
    }

    /// Reserves memory for a member of about `bytes`. Every member begins with this.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if the memory is not available.
    pub fn reserve(&mut self, bytes: usize) -> Result<()> {
        match &mut self.0 {
            Inner::Records(encoder) => encoder.reserve(bytes),
            Inner::Flate2(encoder, level) => reserve(encoder.insert(flate2(*level)?).get_mut(), bytes),
        }
    }

    /// Compresses `bytes`.
    pub fn push(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            Inner::Records(encoder) => encoder.push(bytes),
            Inner::Flate2(encoder, _) => {
                let encoder = encoder.as_mut().expect("reserve begins every member");
                encoder.write_all(bytes).expect("writing to memory cannot fail");
            }
        }
    }

    /// Ends the member and returns its bytes.
    pub fn finish(&mut self) -> Vec<u8> {
        match &mut self.0 {
            Inner::Records(encoder) => encoder.finish(),
            Inner::Flate2(encoder, _) => {
                let encoder = encoder.take().expect("reserve begins every member");
                encoder.finish().expect("writing to memory cannot fail")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_engine_parses_back_to_it() {
        for (name, engine) in Engine::ALL {
            assert_eq!((name.parse(), engine.to_string().as_str()), (Ok(engine), name));
        }
        assert!("zlib".parse::<Engine>().is_err());
    }

    #[test]
    fn both_engines_compress_the_same_content() {
        let xml = b"<url><loc>https://h.example/a</loc></url>\n".repeat(1_000);
        for (_, engine) in Engine::ALL {
            let mut compressor = Compressor::new(engine, Level::default());
            let mut first = Vec::new();
            for nth in 0..3 {
                compressor.reserve(xml.len()).expect("there is memory");
                xml.chunks(1_000).for_each(|piece| compressor.push(piece));
                let (mut plain, gzip) = (Vec::new(), compressor.finish());
                std::io::copy(&mut ::flate2::read::GzDecoder::new(&gzip[..]), &mut plain)
                    .expect("it is a member");
                assert!(plain == xml && gzip.len() < xml.len() / 10);
                if nth == 0 {
                    first = gzip;
                } else {
                    assert!(gzip == first, "what came before cannot be seen");
                }
            }
        }
    }
}

//! A sample of URLs, in bounded memory.

use crate::common::fallible::{copy, reserve_more};
use crate::error::Result;

/// Keeps every nth URL. When the sample would exceed its memory, every second URL is dropped and n doubles.
pub struct Sample {
    urls: Vec<Vec<u8>>,
    bytes: usize,
    bytes_max: usize,
    seen: usize,
    distance: usize,
}

impl Sample {
    /// An empty sample of at most `bytes_max` bytes, or one URL if that is larger.
    pub fn new(bytes_max: usize) -> Self {
        Self { urls: Vec::new(), bytes: 0, bytes_max, seen: 0, distance: 1 }
    }

    /// Adds the next URL, or skips it.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there is no room for it.
    pub fn push(&mut self, url: &[u8]) -> Result<()> {
        if self.seen.is_multiple_of(self.distance) {
            reserve_more(&mut self.urls, 1)?;
            self.urls.push(copy(url)?);
            self.bytes += bytes(url);
            while self.bytes > self.bytes_max && self.urls.len() > 1 {
                self.thin();
            }
        }
        self.seen += 1;
        Ok(())
    }

    fn thin(&mut self) {
        let mut is_even = false;
        self.urls.retain(|_| {
            is_even = !is_even;
            is_even
        });
        self.bytes = self.urls.iter().map(|url| bytes(url)).sum();
        self.distance *= 2;
    }

    /// The URLs that were kept, in the order in which they were added.
    pub fn finish(self) -> Vec<Vec<u8>> {
        self.urls
    }
}

/// Bytes of memory that `url` takes.
fn bytes(url: &[u8]) -> usize {
    url.len() + size_of::<Vec<u8>>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_stays_within_its_size_and_covers_all_positions_evenly() {
        for (urls, url_bytes, bytes_max) in [(5_000, 2_000, 1 << 20), (5_000, 60, 1 << 20), (9, 50, 0)] {
            let mut sample = Sample::new(bytes_max);
            for n in 0..urls {
                sample.push(format!("{n:0url_bytes$}").as_bytes()).unwrap();
            }
            let (distance, kept) = (sample.distance, sample.finish());
            let kept_bytes: usize = kept.iter().map(|url| bytes(url)).sum();
            assert!(kept_bytes <= bytes_max || kept.len() == 1, "{kept_bytes} of {bytes_max}");
            // At least half of the room is used if it is not enough for all URLs.
            assert!(distance == 1 || bytes_max == 0 || 2 * kept_bytes > bytes_max - 2 * url_bytes);
            let numbers = kept.iter().map(|url| str::from_utf8(url).unwrap().parse::<usize>().unwrap());
            assert!(numbers.eq((0..urls).step_by(distance)), "every {distance}th");
        }
    }
}

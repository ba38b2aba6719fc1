//! Compress: gzip members, by our own compressor or by flate2's.

mod deflate;
pub mod gzip;

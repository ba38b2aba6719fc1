//! Compress: gzip members, made by sitemill's own compressor or by flate2.

mod deflate;
pub mod gzip;

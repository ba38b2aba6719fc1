//! Leaf modules that any layer may use: nothing here knows what a sitemap is, apart from the phases and estimates in
//! [`progress`].

pub mod array;
pub mod contain;
pub mod counts;
pub mod digest;
pub mod disk;
pub mod external_sort;
pub mod fallible;
pub mod field;
pub mod frequent;
pub mod gzip_members;
pub mod ordered;
pub mod output;
pub mod pipe;
pub mod pool;
pub mod prefetch;
pub mod progress;
pub mod quick_hash;
pub mod quick_numbers;
#[cfg(test)]
pub mod random;
pub mod secret;
pub mod simd;
pub mod stop;
pub mod thread_pool;
pub mod time;
pub mod unlinked;
pub mod whole_file;

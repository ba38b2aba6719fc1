//! Numbers in messages.

pub use sitemill::escape::grouped;

/// `1 sitemap`, `2 sitemaps`.
pub fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

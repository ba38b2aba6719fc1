//! Pages with numbers, which the fault tests publish in directories and in buckets.

/// The site of the pages.
pub const BASE: &str = "http://h.example/";

/// `http://h.example/0000001` and so on from FIRST to LAST, one per line. Input order and sorted order are the same.
pub fn pages(first: u32, last: u32) -> String {
    (first..=last).map(|page| format!("{BASE}{page:07}\n")).collect()
}

/// The URLs of [`pages`] as a list.
pub fn urls(first: u32, last: u32) -> Vec<String> {
    pages(first, last).lines().map(Into::into).collect()
}

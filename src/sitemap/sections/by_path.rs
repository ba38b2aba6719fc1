//! Sections by path: URLs whose paths have the same first segment belong together.

use super::names::REST;
use crate::clean::scope::{Base, ScopeRule, origin_of};
use crate::common::simd;
use crate::sitemap::segments::root;

/// Finds the first segment of paths.
#[derive(Debug, Clone)]
pub struct PathSegments {
    root: Root,
}

/// The text that is skipped before the segment.
#[derive(Debug, Clone)]
enum Root {
    /// This beginning, or the origin of URLs that begin otherwise.
    Url(String),
    /// The origin of any URL, and this path after it.
    Path(String),
}

impl PathSegments {
    /// The segments of sets at `base`. In the scope of a directory, the directory that all URLs share does not count.
    pub fn new(base: &Base, scope: ScopeRule) -> Self {
        let root = match (base, scope) {
            (Base::Directory(url), _) => Root::Url(root(url, scope).to_owned()),
            (Base::EachOrigin(path), ScopeRule::Directory) => Root::Path(path.below_root().to_owned()),
            (Base::EachOrigin(_), _) => Root::Path(String::new()),
        };
        Self { root }
    }

    /// The first segment of the path of the canonical URL that `text` begins with, padded with zeros. The URL ends where the text
    /// does, or with a byte that no canonical URL has. `None` if the segment has to be found by [`PathSegments::of`]: if it is
    /// long, or the URL begins otherwise than most. Takes no branch that depends on the length of the segment.
    #[inline(always)]
    pub fn padded(&self, text: &[u8]) -> Option<u128> {
        let Root::Url(root) = &self.root else { return None };
        simd::before_any(without(root, text)?.first_chunk()?, *b"/?", b' ')
    }

    /// The first segment of the path of `url`. Empty if there is none, or if it is the name of the section of such URLs.
    #[inline(always)]
    pub fn of<'u>(&self, url: &'u [u8]) -> &'u [u8] {
        let after_origin = || &url[origin_of(url).len()..];
        let path = match &self.root {
            Root::Url(root) => without(root, url).unwrap_or_else(after_origin),
            Root::Path(root) => {
                let path = after_origin();
                without(root, path).unwrap_or(path)
            }
        };
        let segment = &path[..simd::find_any(path, *b"/?").unwrap_or(path.len())];
        if segment == REST.as_bytes() { &[] } else { segment }
    }
}

/// The rest of `url` after `root`, if it begins with that.
#[inline]
fn without<'u>(root: &str, url: &'u [u8]) -> Option<&'u [u8]> {
    simd::starts_with(url, root.as_bytes()).then(|| &url[root.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_segment_is_what_follows_the_directory_of_the_set() {
        let segments = |base: &str, scope| PathSegments::new(&base.parse().unwrap(), scope);
        let below = segments("https://h.example/shop/", ScopeRule::Directory);
        let of_host = segments("https://h.example/shop/", ScopeRule::Host);
        let of_each = segments("{origin}/shop/", ScopeRule::Directory);
        for (url, in_directory, on_host, of_any) in [
            ("https://h.example/shop/shoes/1", "shoes", "shop", "shoes"),
            ("https://h.example/shop/shoes?x=/y", "shoes", "shop", "shoes"),
            ("https://h.example/shop/", "", "shop", ""),
            ("https://h.example/shop/?a=b", "", "shop", ""),
            ("https://h.example/shop/rest/1", "", "shop", ""),
            ("https://other.example/a/b", "a", "a", "a"),
            ("https://other.example/shop/b/c", "shop", "shop", "b"),
            ("https://h.example/rest?x", "", "", ""),
            ("https://h.example/resting", "resting", "resting", "resting"),
            ("https://h.example/", "", "", ""),
        ] {
            assert_eq!(below.of(url.as_bytes()), in_directory.as_bytes(), "{url}");
            assert_eq!(of_host.of(url.as_bytes()), on_host.as_bytes(), "{url}");
            assert_eq!(of_each.of(url.as_bytes()), of_any.as_bytes(), "{url}");
        }
    }

    #[test]
    fn a_padded_segment_is_the_segment_and_what_is_not_padded_is_long_or_elsewhere() {
        let segments = PathSegments::new(&"https://h.example/shop/".parse().unwrap(), ScopeRule::Directory);
        let shoes = "shoes-and-socks-of-all-sizes";
        for length in 0..shoes.len() {
            let segment = &shoes[..length];
            for after in ["", "/1", "?x", "/?\x00", "!/", "0?", "~", "@/"] {
                for end in ["", "\n", "\r\n", "\r", "\0", "\n/?\u{7ff}"] {
                    let url = format!("https://h.example/shop/{segment}{after}");
                    let text = format!("{url}{end}https://h.example/shop/x/y\u{fe}");
                    // Only a line ends before the text does.
                    let url = if end.is_empty() { &text } else { &url };
                    let found = segments.padded(text.as_bytes());
                    let want = segments.of(url.as_bytes());
                    let mut padded = [0; 16];
                    match found {
                        Some(found) => {
                            padded[..want.len()].copy_from_slice(want);
                            assert_eq!(found.to_le_bytes(), padded, "{text:?}");
                        }
                        None => assert!(want.len() >= padded.len(), "{text:?}"),
                    }
                }
            }
        }
        for text in [
            "https://h.example/shop",
            "https://h.example/shop/x/123456789012",
            "https://i.example/shop/x/123456789012345",
        ] {
            assert_eq!(segments.padded(text.as_bytes()), None);
        }
    }
}

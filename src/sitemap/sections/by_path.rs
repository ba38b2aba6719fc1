//! Sections by path: URLs whose paths have the same first segment belong together.

use crate::clean::scope::{BaseUrl, ScopeRule, origin_of};

/// Finds the first segment of paths.
#[derive(Debug, Clone)]
pub struct PathSegments {
    /// The paths of URLs that begin with this are counted from here on, all others from their origin on.
    root: String,
}

impl PathSegments {
    /// The segments of a set at `base_url`, or of sets at the roots of several origins. In the scope of a directory, the directory
    /// that all URLs share does not count.
    pub fn new(base_url: Option<&BaseUrl>, scope: ScopeRule) -> Self {
        let root = match (base_url, scope) {
            (Some(base_url), ScopeRule::Directory) => base_url.as_str().to_owned(),
            _ => String::new(),
        };
        Self { root }
    }

    /// The first segment of the path of `url`; empty if there is none.
    #[inline]
    pub fn of<'u>(&self, url: &'u [u8]) -> &'u [u8] {
        let path = match url.strip_prefix(self.root.as_bytes()) {
            Some(path) if !self.root.is_empty() => path,
            _ => &url[origin_of(url).len()..],
        };
        let end = path.iter().position(|byte| matches!(byte, b'/' | b'?'));
        &path[..end.unwrap_or(path.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_segment_is_what_follows_the_directory_of_the_set() {
        let base: BaseUrl = "https://h.example/shop/".parse().unwrap();
        let below = PathSegments::new(Some(&base), ScopeRule::Directory);
        let of_host = PathSegments::new(Some(&base), ScopeRule::Host);
        for (url, in_directory, on_host) in [
            ("https://h.example/shop/shoes/1", "shoes", "shop"),
            ("https://h.example/shop/shoes?x=/y", "shoes", "shop"),
            ("https://h.example/shop/", "", "shop"),
            ("https://h.example/shop/?a=b", "", "shop"),
            ("https://other.example/a/b", "a", "a"),
            ("https://h.example/", "", ""),
        ] {
            assert_eq!(below.of(url.as_bytes()), in_directory.as_bytes(), "{url}");
            assert_eq!(of_host.of(url.as_bytes()), on_host.as_bytes(), "{url}");
        }
    }
}

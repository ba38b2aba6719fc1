//! The fingerprint of a job: equal for two jobs whose sitemaps can be published as one set.

use serde::{Deserialize, Serialize};

use super::rules::SetRules;
use crate::clean::screen::robots::Robots;
use crate::common::digest::hex_digest;
use crate::intake::format::FormatOptions;

/// A hash of every option that affects the bytes of sitemaps: 32 hexadecimal digits. It catches mistakes, not forgeries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// The fingerprint of a job with `rules` whose input has the format `options`. One version of sitemill gives equal options the
    /// same fingerprint on every machine.
    pub fn of(rules: &SetRules, options: &FormatOptions) -> Self {
        // Only the publisher makes index files, and the memory limit changes no byte.
        let mut rules = SetRules { sitemaps_per_index: 0, ..rules.clone() };
        // The content of a robots.txt matters, its path does not.
        rules.urls.robots.iter_mut().for_each(Robots::forget_source);
        let options = FormatOptions { page_memory: None, ..options.clone() };
        Self(hex_digest(format!("{options:?} {rules:?}").as_bytes()))
    }

    /// Its digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Order;

    #[test]
    fn options_change_the_fingerprint_if_they_change_sitemaps() {
        let of = |change: fn(&mut SetRules, &mut FormatOptions)| {
            let mut rules = SetRules::new("https://h.example/".parse().unwrap());
            let mut options = FormatOptions::default();
            change(&mut rules, &mut options);
            Fingerprint::of(&rules, &options)
        };
        let same = of(|_, _| {});
        assert_eq!(same, of(|_, options| options.page_memory = Some(1)));
        assert_eq!(same, of(|rules, _| rules.sitemaps_per_index = 7));
        assert_ne!(same, of(|rules, _| rules.base_url = "https://h.example/a/".parse().unwrap()));
        assert_ne!(same, of(|rules, _| rules.urls_per_sitemap = 7));
        assert_ne!(same, of(|rules, _| rules.order = Order::Sorted));
        assert_ne!(same, of(|rules, _| rules.urls.relative_to = Some("https://h.example/".parse().unwrap())));
        assert_ne!(same, of(|rules, _| rules.urls.rewrites = vec!["http://=https://".parse().unwrap()]));
        assert_ne!(same, of(|rules, _| rules.urls.include = vec!["a".parse().unwrap()]));
        assert_ne!(same, of(|rules, _| rules.urls.exclude = vec!["a".parse().unwrap()]));
        fn robots(text: &str) -> Option<Robots> {
            Some(Robots::parse(text.as_bytes(), None))
        }
        let forbids = of(|rules, _| rules.urls.robots = robots("User-agent: *\nDisallow: /a"));
        assert_ne!(same, forbids);
        assert_eq!(forbids, of(|rules, _| rules.urls.robots = robots("user-agent: *\ndisallow: /a # b")));
        assert_ne!(
            same,
            of(|rules, _| rules.tags.default_changefreq = Some(crate::options::Changefreq::Daily))
        );
        assert_ne!(same, of(|_, options| options.format = Some(crate::options::Format::Csv)));
    }
}

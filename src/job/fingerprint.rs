//! The fingerprint of a job: equal for two jobs whose sitemaps can be published as one set.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::Job;
use crate::intake::format::FormOptions;

/// A hash of all options that decide which bytes sitemaps consist of: 32 hexadecimal digits. It finds mistakes, not forgeries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// The fingerprint of `job`. One program version gives equal jobs equal fingerprints on every machine.
    pub fn of(job: &Job) -> Self {
        // No `..`: a new option must be put on one of the two sides.
        let Job {
            form,
            base_url,
            protocol,
            urls_per_sitemap,
            bytes_per_sitemap,
            scope,
            url_encoding,
            tags,
            on_duplicate,
            order,
            divide,
            level,
            gzip_engine,
            inputs: _,
            require_success: _,
            out: _,
            sitemaps_per_index: _,
            memory: _,
            scratch: _,
            threads: _,
            rejects: _,
            max_rejects: _,
            max_dropped_tags: _,
            max_shrink: _,
            allow_empty: _,
            expect_lines: _,
            robots: _,
            robots_any_name: _,
            diff: _,
            keep: _,
            ignore_manifest: _,
            take_over: _,
            replace_set: _,
            time: _,
        } = job;
        let form = FormOptions { page_memory: None, ..form.clone() };
        let urls = (base_url, scope, url_encoding, tags, on_duplicate);
        let files = (protocol, urls_per_sitemap, bytes_per_sitemap, order, divide, level, gzip_engine);
        Self(format!("{:032x}", xxh3_128(format!("{form:?} {urls:?} {files:?}").as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Order;

    #[test]
    fn options_change_the_fingerprint_if_they_change_sitemaps() {
        let job = Job::new(vec!["a".into()], "https://h.example/".parse().unwrap(), "out".into());
        let with = |change: fn(&mut Job)| {
            let mut job = job.clone();
            change(&mut job);
            Fingerprint::of(&job)
        };
        let same = Fingerprint::of(&job);
        assert_eq!(same, with(|job| job.threads = 7.try_into().unwrap()));
        assert_eq!(same, with(|job| job.inputs = vec!["b".into()]));
        assert_eq!(same, with(|job| job.memory = Some(1 << 30)));
        assert_eq!(same, with(|job| job.form.page_memory = Some(1)));
        assert_ne!(same, with(|job| job.base_url = "https://h.example/a/".parse().unwrap()));
        assert_ne!(same, with(|job| job.urls_per_sitemap = 7));
        assert_ne!(same, with(|job| job.order = Order::Sorted));
        assert_ne!(same, with(|job| job.tags.default_changefreq = Some(crate::Changefreq::Daily)));
    }
}

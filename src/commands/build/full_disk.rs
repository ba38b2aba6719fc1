//! A disk that is full when sitemaps are written: what the run needs, and what is free.

use std::error::Error as _;
use std::ffi::OsStr;
use std::io;
use std::io::ErrorKind::{QuotaExceeded, StorageFull};
use std::path::Path;

use crate::common::disk::{free_bytes, free_files};
use crate::common::progress::Estimate;
use crate::error::Error;
use crate::job::Job;
use crate::place::{FreeSpace, is_staged_manifest};
use crate::set::name::is_set_file;
use crate::words::{plural, rounded};

/// Explains the `error` of a file of the set that the full disk of the output directory of `job` has no room for: what the run
/// `needs`, and what is free while the files written so far are still there. Any other error stays as it is, and so does one of a
/// run on a cluster, which has no estimate.
pub fn explain_full_disk(error: Error, job: &Job, needs: &Estimate) -> Error {
    let file = error.path().and_then(Path::file_name).and_then(OsStr::to_str);
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    let is_full = |cause: &&io::Error| matches!(cause.kind(), StorageFull | QuotaExceeded);
    let code = cause.filter(is_full).and_then(io::Error::raw_os_error);
    let is_explained =
        needs.urls > 0 && file.is_some_and(|file| is_set_file(file) || is_staged_manifest(file));
    let Some(code) = code.filter(|_| is_explained) else { return error };
    let out = &*job.publication.out;
    let files = needs.urls.div_ceil(u64::from(job.rules.urls_per_sitemap));
    let bytes = plural(rounded(needs.sitemap_bytes), "byte", "bytes");
    let files = plural(rounded(files), "file", "files");
    let cause = io::Error::from_raw_os_error(code);
    let (free, way_out) = match (FreeSpace { bytes: free_bytes(out), files: free_files(out) }) {
        // A quota leaves less than what is free.
        FreeSpace { bytes: Some(free), files } if cause.kind() == StorageFull => {
            let bytes = plural(free, "byte", "bytes");
            match files {
                Some(0) => (", but no more files can be created".to_owned(), "free some inodes"),
                _ => (format!(", but only {bytes} are free"), "make room"),
            }
        }
        _ => (String::new(), "make room"),
    };
    let all = plural(rounded(needs.urls), "URL", "URLs");
    let words = format!("no room for all sitemaps: {all} take about {bytes} in {files}{free}; {way_out}");
    Error::io(out, words, cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_full_when_a_file_of_the_set_is_written_is_explained_with_what_the_run_needs() {
        let job = Job::new(Vec::new(), "https://h.example/".parse().unwrap(), "/".into());
        let needs = Estimate { urls: 120_000, sitemap_bytes: 1_139_886, ..Estimate::default() };
        let explained = |file: &str, code| {
            let path = Path::new("/.sitemill/staging/1-1").join(file);
            let error = Error::io(&path, "could not be written", io::Error::from_raw_os_error(code));
            explain_full_disk(error, &job, &needs).to_string()
        };
        let sitemap = "sitemap-00001-1f2e3d4c.xml.gz";
        let need = "/: no room for all sitemaps: 120,000 URLs take about 1,140,000 bytes in 3 files";
        let full = explained(sitemap, libc::ENOSPC);
        assert!(full.starts_with(&format!("{need}, but only ")) && full.contains(" are free; "), "{full}");
        for file in [sitemap, "sitemap-index-1.xml", "robots-sitemaps.txt", "manifest.json", "replaced.json"]
        {
            assert_eq!(explained(file, libc::EDQUOT), format!("{need}; make room"));
        }
        for (file, code) in [(sitemap, libc::EIO), ("scratch", libc::ENOSPC)] {
            assert!(explained(file, code).ends_with(&format!("{file}: could not be written")));
        }
    }
}

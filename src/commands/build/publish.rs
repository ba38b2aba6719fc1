//! Publish: combines the batches into sets, and makes all sets live together.

use super::external::ExternalSitemaps;
use super::full_disk::explain_full_disk;
use super::report::Report;
use super::site::Site;
use crate::clean::scope::BaseUrl;
use crate::common::fallible::try_list;
use crate::error::{Error, ErrorKind, Result};
use crate::escape;
use crate::job::Job;
use crate::job::fingerprint::Fingerprint;
use crate::produce::batch::Batch;
use crate::set::manifest::RunCounts;
use crate::set::publish::{Prepared, SetInfo, make_live};
use crate::sitemap::segments::Segments;

/// The result of publishing.
pub enum Published {
    /// All sets are live.
    Live {
        sets: Vec<Prepared>,
        /// Failures after they were live, and sitemaps from elsewhere that none of them lists or that have a `lastmod` which cannot
        /// be read.
        warnings: Vec<Error>,
    },
    /// A dry run ends here: these sets would be live.
    Previewed {
        sets: Vec<Prepared>,
        /// Sitemaps from elsewhere that none of them lists or that have a `lastmod` which cannot be read.
        warnings: Vec<Error>,
    },
    /// No set is live, except those whose switch could not be undone.
    Refused {
        /// Sets whose switch the next run completes.
        begun: Vec<Prepared>,
        why: Error,
    },
}

/// Publishes the batches of all `sites`: all of them become live, or none. `time` is the time of publication.
/// The manifest of a single set remembers the counts of `report`, if the job counts segments.
///
/// # Errors
/// If batches do not belong together, if a set cannot be written, or if the switch fails and was undone completely.
pub fn publish(
    job: &Job,
    report: &Report,
    sites: Vec<Site>,
    external: &ExternalSitemaps,
    time: &str,
) -> Result<Published> {
    let base_urls: Vec<_> = sites.iter().map(|site| &site.base_url).collect();
    let mut warnings = match external.unlisted(job, &base_urls) {
        Ok(warnings) => warnings,
        Err(why) => return Ok(Published::Refused { begun: Vec::new(), why }),
    };
    warnings.extend(external.unread());
    let mut sets = try_list(sites.into_iter().map(|site| prepare(job, report, site, external, time)))?;
    if job.publication.dry_run {
        return Ok(Published::Previewed { sets, warnings });
    }
    match make_live(&mut sets) {
        Ok(failures) => {
            warnings.extend(failures);
            Ok(Published::Live { sets, warnings })
        }
        Err(why) => {
            sets.retain(Prepared::is_begun);
            // For a single set, the error says everything.
            match job.rules.only_site().is_some() || sets.is_empty() {
                true => Err(why),
                false => Ok(Published::Refused { begun: sets, why }),
            }
        }
    }
}

/// Combines the batches of `site` into a set, and syncs it to disk.
fn prepare(
    job: &Job,
    report: &Report,
    site: Site,
    external: &ExternalSitemaps,
    time: &str,
) -> Result<Prepared> {
    let Site { base_url, place, batches, sections, rows } = site;
    check(job, &base_url, &batches)?;
    let counts = counts(job, report, &batches);
    let sitemaps = batches.into_iter().flat_map(|batch| batch.sitemaps).map(|made| made.sitemap).collect();
    let (protocol, index_limits) = (job.rules.protocol, job.rules.index_limits());
    let (scope, also) = (job.rules.scope, external.of_site(job, &base_url)?);
    let base_url = &base_url;
    let explain = &|error| explain_full_disk(error, job, &report.estimate);
    let info =
        SetInfo { base_url, protocol, index_limits, scope, also, sections, counts, rows, time, explain };
    place.prepare(sitemaps, &info, job.publication.keep)
}

/// Returns the facts about the run that the manifest records.
fn counts(job: &Job, report: &Report, batches: &[Batch]) -> Option<RunCounts> {
    let segments: Vec<_> = batches.iter().map(|batch| batch.segments.as_ref()).collect::<Option<_>>()?;
    job.publication.count_segments.then(|| RunCounts {
        lines: report.lines,
        blank: report.blank,
        duplicates: report.duplicates,
        rejected: report.rejected_total(),
        excluded: report.excluded_total(),
        segments: if let [only] = segments[..] { only.clone() } else { Segments::sum(&segments) },
        urls_per_sitemap: Some(job.rules.urls_per_sitemap),
    })
}

/// Refuses batches that do not belong to one set of `job`.
fn check(job: &Job, base_url: &BaseUrl, batches: &[Batch]) -> Result<()> {
    let rules = Fingerprint::of(&job.rules, &job.input.format);
    let version = env!("CARGO_PKG_VERSION");
    for batch in batches {
        if batch.version != version {
            let made_by = escape::shown(batch.version.as_bytes());
            let words = format!("{base_url}: a batch was made by version {made_by}, and this is {version}");
            return Err(Error::data(words));
        }
        if batch.rules != rules {
            return Err(Error::data(format!("{base_url}: a batch was made with other options")));
        }
        if batch.urls() != batch.tally.listed {
            let (urls, listed) = (batch.urls(), batch.tally.listed);
            let words = format!("{base_url}: a batch has {urls} URLs, but should list {listed}");
            return Err(Error::new(ErrorKind::Internal, words));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::tally::Tally;

    #[test]
    fn batches_that_do_not_fit_together_are_refused() {
        let base_url: BaseUrl = "https://h.example/".parse().unwrap();
        let job = Job::new(Vec::new(), "https://h.example/".parse().unwrap(), "out".into());
        let mut other = job.clone();
        other.rules.urls_per_sitemap = 7;
        let of = |job: &Job| {
            Batch::new(Fingerprint::of(&job.rules, &job.input.format), Tally::default(), Vec::new())
        };
        let batch = || of(&job);
        let (mut of_old_version, mut incomplete) = (batch(), batch());
        of_old_version.version = "0.0.0".into();
        incomplete.tally = Tally::of_listed(1);
        let check = |other: Batch| check(&job, &base_url, &[batch(), other]).map_err(|error| error.kind());
        assert_eq!(check(batch()), Ok(()));
        assert_eq!(check(of(&other)), Err(ErrorKind::Data));
        assert_eq!(check(of_old_version), Err(ErrorKind::Data));
        assert_eq!(check(incomplete), Err(ErrorKind::Internal));
    }
}

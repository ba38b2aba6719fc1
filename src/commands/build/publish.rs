//! Publish: batches become sets, and all of them become live together.

use super::guards;
use super::site::Site;
use crate::error::{Error, ErrorKind, Result, try_list};
use crate::job::Job;
use crate::job::fingerprint::Fingerprint;
use crate::set::publish::{Prepared, SetInfo, make_live};

/// What came of publishing.
pub enum Published {
    /// All sets are live.
    Live {
        sets: Vec<Prepared>,
        /// What failed after they were live.
        warnings: Vec<Error>,
    },
    /// No set is live, but for those whose switch could not be taken back.
    Refused {
        /// The next run finishes their switch.
        begun: Vec<Prepared>,
        why: Error,
    },
}

/// Publishes the batches of all `sites` at the time `time`: all of them become live, or none.
///
/// # Errors
/// If batches do not fit together, if a set cannot be brought to disk, or if the switch fails and all of it was taken back.
pub fn publish(job: &Job, sites: Vec<Site>, time: &str) -> Result<Published> {
    if let Err(why) = guards::check_sites(job, &sites) {
        return Ok(Published::Refused { begun: Vec::new(), why });
    }
    let mut sets = try_list(sites.into_iter().map(|site| prepare(job, site, time)))?;
    match make_live(&mut sets) {
        Ok(warnings) => Ok(Published::Live { sets, warnings }),
        Err(why) => {
            sets.retain(Prepared::is_begun);
            // Of a single set, the error says all there is to say.
            match job.only_site().is_some() || sets.is_empty() {
                true => Err(why),
                false => Ok(Published::Refused { begun: sets, why }),
            }
        }
    }
}

/// Makes the batches of `site` one set, and brings it to disk.
fn prepare(job: &Job, site: Site, time: &str) -> Result<Prepared> {
    let Site { base_url, place, batches } = site;
    let rules = Fingerprint::of(job);
    for batch in &batches {
        if batch.rules != rules || batch.version != env!("CARGO_PKG_VERSION") {
            let words =
                format!("{base_url}: a batch was made by other rules, or by version {}", batch.version);
            return Err(Error::data(words));
        }
        if batch.urls() != batch.tally.listed {
            let (urls, listed) = (batch.urls(), batch.tally.listed);
            let words = format!("{base_url}: a batch has {urls} URLs, and {listed} were to be listed");
            return Err(Error::new(ErrorKind::Internal, words));
        }
    }
    let sitemaps = batches.into_iter().flat_map(|batch| batch.sitemaps).map(|made| made.sitemap).collect();
    let (protocol, index_limits) = (job.protocol, job.index_limits());
    let info = SetInfo { base_url: &base_url, protocol, index_limits, scope: job.scope, time };
    place.prepare(sitemaps, &info, job.keep)
}

//! Estimates the resources of a run before it starts, so that a full disk is noticed at once and not an hour later.

use std::cell::LazyCell;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::chunk::{Chunk, extents};
use super::context::Context;
use super::judge::{Judge, Judged};
use super::memory::Memory;
use super::sections::by_copies;
use super::sorted::Plan;
use crate::common::disk::free_bytes;
use crate::common::progress::Estimate;
use crate::error::{Error, ErrorKind, Result, message};
use crate::intake::input::Input;
use crate::intake::scratch;
use crate::job::{Job, Order};
use crate::place::FreeSpace;
use crate::set::publish::Reusable;
use crate::survey::dedup::PARTITIONS;
use crate::words::{grouped, plural, rounded};

/// Maximum number of chunks that are sampled.
const SAMPLED_EXTENTS: usize = 8;

/// Bytes of a row in scratch besides its content.
const ROW_BYTES: usize = 8;

/// Bytes of a URL in memory: its key, its position, its size, and a bit.
const HELD_BYTES: u64 = 18;

/// Bytes of a URL in a compressed sitemap, as measured for shop URLs, shuffled and sorted.
const GZIP_BYTES: [u64; 2] = [19, 10];

/// Maximum factor by which an estimate is assumed to exceed the real need. A run needs at least the estimate divided by it.
const OVERESTIMATE_MAX: u64 = 5;

/// The estimated needs of a run, and its minimum needs.
pub struct Demand {
    /// The estimate, for people and programs.
    pub estimate: Estimate,
    /// Bytes of scratch without which the run must fail, including copies of inputs that exist already.
    scratch_min: u64,
    /// Files that may still be created in the output directory.
    out_free_files: Option<u64>,
}

/// Estimates the needs of the run over `inputs` from a sample of their rows.
///
/// # Errors
/// If there is no memory for the sample.
pub fn estimate(run: Context<'_>, inputs: &[Input], memory: &Memory, out_free: FreeSpace) -> Result<Demand> {
    let job = run.job;
    let extents = extents(inputs)?;
    let input_bytes: u64 = extents.iter().map(|(_, extent)| extent.bytes()).sum();
    let step = extents.len().div_ceil(SAMPLED_EXTENTS).max(1);
    let mut judge = Judge::new(run.rules);
    let (mut bytes, mut entries, mut entry_bytes, mut xml_bytes) = (0, 0, 0, 0);
    for (at, extent) in extents.into_iter().step_by(step) {
        bytes += extent.bytes();
        for row in Chunk::of(at, inputs[at].bytes(), extent).rows(inputs, 0) {
            if let Judged::Entry(entry) = judge.judge(row.content, &mut |_| {}) {
                entries += 1;
                let content_bytes = entry.url.as_bytes().len() + entry.tags.len() + entry.extras.xml.len();
                entry_bytes += (content_bytes + ROW_BYTES) as u64;
                xml_bytes += entry.size().bytes;
            }
        }
    }
    let of_all = |count: u64| (u128::from(count) * u128::from(input_bytes) / u128::from(bytes.max(1))) as u64;
    let (urls, entry_bytes) = (of_all(entries), of_all(entry_bytes));
    let order = OrderDemand::of(run, memory, input_bytes, entry_bytes, urls);
    // Duplicates are not known yet, so all entries are counted as listed.
    let split_bytes = if job.rules.is_split() { entry_bytes } else { 0 };
    let split_bytes = split_bytes.saturating_sub(by_copies::held_bytes_max(memory, 0) as u64);
    let scratch = memory.scratch.directory();
    let copied_bytes = memory.scratch.written();
    let held_by_inputs = inputs.iter().map(Input::held_bytes).sum::<usize>() as u64;
    let copied_to_out = if is_same_disk(&job.publication.out, scratch) { copied_bytes } else { 0 };
    let estimate = Estimate {
        urls,
        partitions: order.partitions as u64,
        memory_bytes: memory.budget,
        held_bytes: held_by_inputs + order.held_bytes.min(memory.hold as u64),
        scratch_bytes: copied_bytes + order.scratch_bytes + split_bytes,
        sitemap_bytes: match job.rules.level.get() == 0 {
            true => of_all(xml_bytes),
            false => urls * GZIP_BYTES[usize::from(job.rules.order == Order::Sorted)],
        },
        scratch_free_bytes: free_bytes(scratch).map(|free| free + copied_bytes),
        out_free_bytes: out_free.bytes.map(|free| free + copied_to_out),
    };
    let scratch_min = copied_bytes + order.scratch_min.max(split_bytes / OVERESTIMATE_MAX);
    Ok(Demand { estimate, scratch_min, out_free_files: out_free.files })
}

/// The needs of the order in which URLs are listed.
struct OrderDemand {
    /// The number of partitions of keys, or of ranges of entries.
    partitions: usize,
    /// Bytes of memory, if there is enough.
    held_bytes: u64,
    scratch_bytes: u64,
    /// Bytes of scratch without which the run must fail.
    scratch_min: u64,
}

impl OrderDemand {
    fn of(run: Context<'_>, memory: &Memory, input_bytes: u64, entry_bytes: u64, urls: u64) -> Self {
        match run.job.rules.order {
            Order::Sorted => {
                let plan = Plan::of(memory, run.job.resources.threads.get(), input_bytes);
                // Entries are stored twice, but without the prefixes that they share.
                let scratch_bytes = entry_bytes.saturating_sub(plan.entries_bytes as u64);
                let scratch_min = scratch_bytes / OVERESTIMATE_MAX;
                Self { partitions: plan.ranges, held_bytes: entry_bytes, scratch_bytes, scratch_min }
            }
            Order::Input => {
                let held_bytes = urls * HELD_BYTES;
                let scratch_bytes = if held_bytes > memory.hold as u64 { held_bytes } else { 0 };
                // Duplicates count: keys are stored before any is found. At the end, memory may be full.
                let scratch_min = held_bytes.saturating_sub(memory.hold as u64);
                Self { partitions: PARTITIONS, held_bytes, scratch_bytes, scratch_min }
            }
        }
    }
}

impl Demand {
    /// Refuses a run that must fail. `reusable` counts the published sitemaps that the run may reuse; it is called only if there is
    /// too little space to write all sitemaps.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if a disk has less space than the run needs at least.
    pub fn check(&self, job: &Job, scratch: &Path, reusable: impl FnOnce() -> Reusable) -> Result<()> {
        let (needs, out) = (&self.estimate, &*job.publication.out);
        let reusable = LazyCell::new(reusable);
        let files = needs.urls / u64::from(job.rules.urls_per_sitemap);
        let in_all = plural(rounded(needs.urls), "URL", "URLs");
        let files_min = least(self.out_free_files, files / OVERESTIMATE_MAX, || reusable.files);
        if let Some(free) = self.out_free_files.filter(|&free| free < files_min) {
            let (files, free) = (plural(rounded(files), "file", "files"), grouped(free));
            return Err(Error::new(
                ErrorKind::Io,
                message!(
                    out,
                    ": the run needs about {files} for {in_all}, but only {free} more can be created; free some inodes"
                ),
            ));
        }
        let (both, both_min) = match is_same_disk(out, scratch) {
            true => (needs.scratch_bytes, self.scratch_min),
            false => (0, 0),
        };
        let sitemaps_min = needs.sitemap_bytes / OVERESTIMATE_MAX;
        let out_min =
            least(needs.out_free_bytes, sitemaps_min + both_min, || reusable.bytes.min(sitemaps_min));
        let of_scratch = (needs.scratch_bytes, self.scratch_min, needs.scratch_free_bytes);
        let of_out = (needs.sitemap_bytes + both, out_min, needs.out_free_bytes);
        for (path, (need, min, free), way_out) in
            [(scratch, of_scratch, scratch::way_out()), (out, of_out, "make room".into())]
        {
            if let Some(free) = free.filter(|&free| free < min) {
                let (need, free) = (plural(rounded(need), "byte", "bytes"), grouped(free));
                return Err(Error::new(
                    ErrorKind::Io,
                    message!(
                        path,
                        ": the run needs about {need} for {in_all}, but only {free} are free; ",
                        way_out
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// The least that a run needs: `all`, minus what it may reuse. `reusable` is called only if less than `all` is free.
fn least(free: Option<u64>, all: u64, reusable: impl FnOnce() -> u64) -> u64 {
    match free {
        Some(free) if free < all => all.saturating_sub(reusable()),
        _ => all,
    }
}

fn is_same_disk(one: &Path, other: &Path) -> bool {
    let device = |path: &Path| path.metadata().map(|meta| meta.dev()).ok();
    device(one).is_some_and(|device_of_one| device(other) == Some(device_of_one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_refused_only_if_it_must_fail_even_if_it_reuses_what_is_published() {
        let mut job = Job::new(Vec::new(), "https://h.example/".parse().unwrap(), "/no/such/place".into());
        job.rules.urls_per_sitemap = 10_000;
        let estimate = Estimate {
            urls: 1_000_000,
            partitions: 1,
            memory_bytes: 0,
            held_bytes: 0,
            scratch_bytes: 0,
            sitemap_bytes: 10_000_000,
            scratch_free_bytes: Some(0),
            out_free_bytes: None,
        };
        let [none, some] = [(0, 0), (7, 400_000)].map(|(files, bytes)| Reusable { files, bytes });
        for (out_free, reusable, said) in [
            (FreeSpace::default(), none, None),
            (FreeSpace { bytes: Some(2_000_000), files: Some(20) }, none, None),
            (FreeSpace { bytes: Some(1_600_000), files: Some(13) }, some, None),
            (
                FreeSpace { bytes: Some(1_999_999), files: None },
                none,
                Some("10,000,000 bytes for 1,000,000 URLs, but only 1,999,999"),
            ),
            (
                FreeSpace { bytes: Some(1_599_999), files: None },
                some,
                Some("10,000,000 bytes for 1,000,000 URLs, but only 1,599,999"),
            ),
            (
                FreeSpace { bytes: None, files: Some(19) },
                none,
                Some("100 files for 1,000,000 URLs, but only 19 more"),
            ),
            (
                FreeSpace { bytes: None, files: Some(12) },
                some,
                Some("100 files for 1,000,000 URLs, but only 12 more"),
            ),
        ] {
            let estimate = Estimate { out_free_bytes: out_free.bytes, ..estimate };
            let demand = Demand { estimate, scratch_min: 0, out_free_files: out_free.files };
            let checked = demand.check(&job, Path::new("/"), || reusable);
            let message = checked.err().map(|error| error.to_string());
            assert_eq!(message.is_some(), said.is_some(), "{out_free:?}: {message:?}");
            assert!(message.is_none_or(|message| message.contains(said.unwrap())), "{out_free:?}");
        }
    }
}

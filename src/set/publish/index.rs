//! Index files. They depend only on the manifest, so a restored set gets the index files that it had.

use crate::clean::scope::BaseUrl;
use crate::common::fallible::{reserve, try_list};
use crate::error::Result;
use crate::limits::Protocol;
use crate::set::manifest::{ExternalEntry, Manifest, Sitemap};
use crate::set::name::Stem;
use crate::sitemap::divide::{Divider, EntrySize, Limits};
use crate::sitemap::xml::{self, Frame};

/// The names and contents of the index files of a set, whose own sections are those of `stem`. Each section has its own. Sitemaps
/// that sitemill did not write follow those of a set without sections; otherwise they have index files of their own.
///
/// # Errors
/// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if they do not fit in memory.
pub fn index_files(set: &Manifest, stem: &Stem, protocol: Protocol) -> Result<Vec<(String, Vec<u8>)>> {
    let stem_of = |sitemap: &Sitemap| Stem::of_file(&sitemap.file);
    let own = |sitemap: &Sitemap, out: &mut Vec<u8>| {
        xml::push_sitemap(&format!("{}{}", set.base_url, sitemap.file), &sitemap.lastmod, out);
    };
    let mut groups = Vec::new();
    let mut external: &[ExternalEntry] = &set.also;
    for sitemaps in set.sitemaps.chunk_by(|one, other| stem_of(one) == stem_of(other)) {
        let group_stem = stem_of(&sitemaps[0]).unwrap_or_else(|| stem.clone());
        // Several sections have stems of their own.
        let external = if group_stem == *stem { std::mem::take(&mut external) } else { &[] };
        groups.push((group_stem, sitemaps, external));
    }
    if !external.is_empty() {
        groups.push((stem.clone(), &[], external));
    }
    let mut files = Vec::new();
    for (stem, sitemaps, external) in groups {
        let entry = |at: usize, out: &mut Vec<u8>| match sitemaps.get(at) {
            Some(sitemap) => own(sitemap, out),
            None => push_external(&external[at - sitemaps.len()], out),
        };
        let of_group = files_of(set, protocol, sitemaps.len() + external.len(), entry)?;
        files.extend((1..).map(|number| stem.index_file(number)).zip(of_group));
    }
    Ok(files)
}

/// The index files of a published set. If it has a protocol of a later version, none are known.
///
/// # Errors
/// Same as [`index_files`].
pub fn index_files_of_live(live: &Manifest, stem: &Stem) -> Result<Vec<(String, Vec<u8>)>> {
    live.protocol.parse().map_or_else(|_| Ok(Vec::new()), |protocol| index_files(live, stem, protocol))
}

/// The index files of `count` sitemaps, whose entries `entry` writes.
fn files_of(
    set: &Manifest,
    protocol: Protocol,
    count: usize,
    entry: impl Fn(usize, &mut Vec<u8>),
) -> Result<Vec<Vec<u8>>> {
    let frame = Frame::index(protocol);
    let limits = Limits { entries_max: set.sitemaps_per_index, bytes_max: set.index_bytes_max };
    let mut divider = Divider::new(limits, &frame);
    let mut scratch = Vec::new();
    for at in 0..count {
        scratch.clear();
        entry(at, &mut scratch);
        divider.push(at, EntrySize::plain(scratch.len() as u64))?;
    }
    let files = divider.finish().into_iter().map(|part| {
        let mut file = Vec::new();
        reserve(&mut file, part.bytes as usize)?;
        frame.open(&mut file);
        (part.first..).take(part.entries as usize).for_each(|at| entry(at, &mut file));
        frame.close(&mut file);
        Ok(file)
    });
    try_list(files)
}

fn push_external(entry: &ExternalEntry, out: &mut Vec<u8>) {
    match &entry.lastmod {
        Some(lastmod) => xml::push_sitemap(&entry.loc, lastmod, out),
        None => xml::push_undated_sitemap(&entry.loc, out),
    }
}

/// Bytes of an index file that lists only a sitemap from elsewhere.
pub fn external_bytes(protocol: Protocol, loc: &str) -> u64 {
    let mut entry = Vec::new();
    xml::push_sitemap(loc, "2005-06-26T00:00:00+00:00", &mut entry);
    Frame::index(protocol).bytes() + entry.len() as u64
}

/// Bytes of an index file with one entry, for the sitemap with the longest number.
pub fn index_bytes_min(protocol: Protocol, base_url: &BaseUrl) -> u64 {
    let mut entry = Vec::new();
    let loc = format!("{base_url}{}", Stem::default().sitemap_file(u32::MAX, "00000000"));
    xml::push_sitemap(&loc, "2005-06-26T00:00:00Z", &mut entry);
    Frame::index(protocol).bytes() + entry.len() as u64
}

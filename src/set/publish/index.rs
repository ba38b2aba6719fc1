//! Index files. They depend only on the manifest, so a restored set gets the index files that it had.

use crate::clean::scope::BaseUrl;
use crate::error::{Result, reserve, try_list};
use crate::limits::Protocol;
use crate::set::manifest::{AlsoListed, Manifest, Sitemap};
use crate::set::name::Stem;
use crate::sitemap::divide::{Divider, Limits, Room};
use crate::sitemap::xml::{self, Frame};

/// The index files of a set, in the order of their numbers.
///
/// # Errors
/// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if they do not fit in memory.
pub fn index_files(set: &Manifest, protocol: Protocol) -> Result<Vec<Vec<u8>>> {
    let frame = Frame::index(protocol);
    let own = |sitemap: &Sitemap, out: &mut Vec<u8>| {
        xml::push_sitemap(&format!("{}{}", set.base_url, sitemap.file), &sitemap.lastmod, out);
    };
    // Those that sitemill did not write follow its own.
    let entry = |at: usize, out: &mut Vec<u8>| match set.sitemaps.get(at) {
        Some(sitemap) => own(sitemap, out),
        None => push_also(&set.also[at - set.sitemaps.len()], out),
    };
    let limits = Limits { entries_max: set.sitemaps_per_index, bytes_max: set.index_bytes_max };
    let mut divider = Divider::new(limits, &frame);
    let mut scratch = Vec::new();
    for at in 0..set.sitemaps.len() + set.also.len() {
        scratch.clear();
        entry(at, &mut scratch);
        divider.push(at, Room::plain(scratch.len() as u64))?;
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

fn push_also(also: &AlsoListed, out: &mut Vec<u8>) {
    match &also.lastmod {
        Some(lastmod) => xml::push_sitemap(&also.loc, lastmod, out),
        None => xml::push_undated_sitemap(&also.loc, out),
    }
}

/// Bytes of an index file that lists only a sitemap from elsewhere.
pub fn also_bytes(protocol: Protocol, loc: &str) -> u64 {
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

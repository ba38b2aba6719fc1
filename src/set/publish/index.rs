//! Index files. They depend only on the manifest, so a restored set gets the index files that it had.

use crate::clean::scope::BaseUrl;
use crate::error::{Result, reserve, try_list};
use crate::limits::Protocol;
use crate::set::manifest::{Manifest, Sitemap};
use crate::set::name::sitemap_file;
use crate::sitemap::divide::{Divider, Limits, Room};
use crate::sitemap::xml::{self, Frame};

/// The index files of a set, in the order of their numbers.
///
/// # Errors
/// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if they do not fit in memory.
pub fn index_files(set: &Manifest, protocol: Protocol) -> Result<Vec<Vec<u8>>> {
    let frame = Frame::index(protocol);
    let entry = |sitemap: &Sitemap, out: &mut Vec<u8>| {
        xml::push_sitemap(&format!("{}{}", set.base_url, sitemap.file), &sitemap.lastmod, out);
    };
    let limits = Limits { entries_max: set.sitemaps_per_index, bytes_max: set.index_bytes_max };
    let mut divider = Divider::new(limits, &frame);
    let mut scratch = Vec::new();
    for (at, sitemap) in set.sitemaps.iter().enumerate() {
        scratch.clear();
        entry(sitemap, &mut scratch);
        divider.push(at, Room::plain(scratch.len() as u64))?;
    }
    let files = divider.finish().into_iter().map(|part| {
        let mut file = Vec::new();
        reserve(&mut file, part.bytes as usize)?;
        frame.open(&mut file);
        let listed = &set.sitemaps[part.first..][..part.entries as usize];
        listed.iter().for_each(|sitemap| entry(sitemap, &mut file));
        frame.close(&mut file);
        Ok(file)
    });
    try_list(files)
}

/// Bytes of an index file with one entry, for the sitemap with the longest number.
pub fn index_bytes_min(protocol: Protocol, base_url: &BaseUrl) -> u64 {
    let mut entry = Vec::new();
    let loc = format!("{base_url}{}", sitemap_file(u32::MAX, "00000000"));
    xml::push_sitemap(&loc, "2005-06-26T00:00:00Z", &mut entry);
    Frame::index(protocol).bytes() + entry.len() as u64
}

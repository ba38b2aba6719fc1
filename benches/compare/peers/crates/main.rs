//! Builds sitemaps with one of two crates as in their documentation, plus a `HashSet` for the duplicates:
//! `crates sitemap-rs|sitemap_generator URLS OUT LEVEL`.
//!
//! Each crate validates as it does by default and returns the XML of a whole sitemap; flate2 compresses it.

use std::collections::HashSet;
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

const URLS_PER_SITEMAP: usize = 50_000;
const BASE_URL: &str = "https://www.example.com/";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The functions of a crate that make the XML of a sitemap and of an index file.
struct Peer {
    sitemap: fn(Vec<String>) -> Result<Vec<u8>>,
    index: fn(Vec<String>) -> Result<Vec<u8>>,
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [name, urls, out, level] = args.as_slice() else {
        return Err("usage: crates sitemap-rs|sitemap_generator URLS OUT LEVEL".into());
    };
    let peer = match name.as_str() {
        "sitemap-rs" => Peer { sitemap: sitemap_rs::sitemap, index: sitemap_rs::index },
        "sitemap_generator" => Peer { sitemap: sitemap_generator::sitemap, index: sitemap_generator::index },
        other => return Err(format!("{other}: no such peer").into()),
    };
    run(&peer, Path::new(urls), Path::new(out), Compression::new(level.parse()?))
}

fn run(peer: &Peer, urls: &Path, out: &Path, level: Compression) -> Result<()> {
    let (mut seen, mut sitemap, mut names) = (HashSet::new(), Vec::new(), Vec::new());
    let mut write = |urls: Vec<String>| -> Result<()> {
        let name = format!("sitemap-{:05}.xml.gz", names.len() + 1);
        let mut gzip = GzEncoder::new(File::create(out.join(&name))?, level);
        gzip.write_all(&(peer.sitemap)(urls)?)?;
        gzip.finish()?;
        names.push(format!("{BASE_URL}{name}"));
        Ok(())
    };
    for line in BufReader::with_capacity(1 << 20, File::open(urls)?).lines() {
        let line = line?;
        if seen.insert(line.clone()) {
            sitemap.push(line);
        }
        if sitemap.len() == URLS_PER_SITEMAP {
            write(std::mem::take(&mut sitemap))?;
        }
    }
    if !sitemap.is_empty() {
        write(sitemap)?;
    }
    std::fs::write(out.join("sitemap-index.xml"), (peer.index)(names)?)?;
    Ok(())
}

mod sitemap_rs {
    use ::sitemap_rs::sitemap::Sitemap;
    use ::sitemap_rs::sitemap_index::SitemapIndex;
    use ::sitemap_rs::url::Url;
    use ::sitemap_rs::url_set::UrlSet;

    use super::Result;

    pub fn sitemap(urls: Vec<String>) -> Result<Vec<u8>> {
        let urls =
            urls.into_iter().map(|url| Url::builder(url).build()).collect::<std::result::Result<_, _>>()?;
        let mut xml = Vec::new();
        UrlSet::new(urls)?.write(&mut xml)?;
        Ok(xml)
    }

    pub fn index(urls: Vec<String>) -> Result<Vec<u8>> {
        let sitemaps = urls.into_iter().map(|url| Sitemap::new(url, None)).collect();
        let mut xml = Vec::new();
        SitemapIndex::new(sitemaps)?.write(&mut xml)?;
        Ok(xml)
    }
}

mod sitemap_generator {
    use ::sitemap_generator::{SitemapBuilder, SitemapIndexBuilder, SitemapIndexEntry, UrlEntry};

    use super::Result;

    pub fn sitemap(urls: Vec<String>) -> Result<Vec<u8>> {
        let mut builder = SitemapBuilder::with_capacity(urls.len());
        for url in urls {
            builder.add_url(UrlEntry::new(url));
        }
        Ok(builder.build_bytes()?)
    }

    pub fn index(urls: Vec<String>) -> Result<Vec<u8>> {
        let mut builder = SitemapIndexBuilder::with_capacity(urls.len());
        for url in urls {
            builder.add_sitemap(SitemapIndexEntry::new(url));
        }
        Ok(builder.build_bytes()?)
    }
}

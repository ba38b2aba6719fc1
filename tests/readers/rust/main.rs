//! Reads a published set with one of two crates: `readers CRATE FOLDER BASE_URL INDEX_URL...` follows the index files
//! through their unpacked copies in FOLDER and prints a JSON object for each URL. Any error of the crate ends the program.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use ::sitemap::reader::{SiteMapEntity, SiteMapReader};
use ::sitemap::structs::{ChangeFreq, LastMod, Location, Priority};
use ::sitemaps::{Entries, SitemapsFile};
use serde::Serialize;

/// The content of one file.
enum Content {
    Sitemaps(Vec<String>),
    Urls(Vec<Record>),
}

#[derive(Serialize)]
struct Record {
    loc: String,
    lastmod: Option<String>,
    changefreq: Option<String>,
    priority: Option<f32>,
}

type Result<T> = std::result::Result<T, Box<dyn Error>>;
type Read = fn(BufReader<File>) -> Result<Content>;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [name, folder, base_url, index_urls @ ..] = args.as_slice() else {
        return Err("usage: readers CRATE FOLDER BASE_URL INDEX_URL...".into());
    };
    let read = match name.as_str() {
        "sitemaps" => with_sitemaps,
        "sitemap" => with_sitemap,
        _ => return Err(format!("{name}: no such reader").into()),
    };
    index_urls.iter().try_for_each(|url| follow(read, Path::new(folder), base_url, url))
}

fn follow(read: Read, folder: &Path, base_url: &str, url: &str) -> Result<()> {
    let name = url.strip_prefix(base_url).ok_or_else(|| format!("{url} is not below {base_url}"))?;
    let file = File::open(folder.join(name.trim_end_matches(".gz")))?;
    match read(BufReader::new(file))? {
        Content::Sitemaps(urls) => urls.iter().try_for_each(|url| follow(read, folder, base_url, url)),
        Content::Urls(records) => records.iter().try_for_each(|record| {
            println!("{}", serde_json::to_string(record)?);
            Ok(())
        }),
    }
}

fn with_sitemaps(file: BufReader<File>) -> Result<Content> {
    Ok(match SitemapsFile::read(file)? {
        SitemapsFile::SiteIndex(index) => Content::Sitemaps(index.locs()),
        SitemapsFile::Sitemap(sitemap) => {
            let records = sitemap.entries.into_iter().map(|entry| Record {
                loc: entry.loc,
                lastmod: entry.last_mod.map(|time| time.to_string()),
                changefreq: entry.change_freq.map(|word| word.to_string()),
                priority: entry.priority.map(|priority| priority.0),
            });
            Content::Urls(records.collect())
        }
    })
}

fn with_sitemap(file: BufReader<File>) -> Result<Content> {
    let (mut sitemaps, mut records) = (Vec::new(), Vec::new());
    for entity in SiteMapReader::new(file) {
        match entity {
            SiteMapEntity::Err(error) => return Err(error.into()),
            SiteMapEntity::SiteMap(entry) => sitemaps.push(address(entry.loc)?),
            SiteMapEntity::Url(entry) => records.push(Record {
                loc: address(entry.loc)?,
                lastmod: match entry.lastmod {
                    LastMod::None => None,
                    LastMod::DateTime(time) => Some(time.to_rfc3339()),
                    LastMod::ParseErr(error) => return Err(error.into()),
                },
                changefreq: match entry.changefreq {
                    ChangeFreq::None => None,
                    ChangeFreq::ParseErr(error) => return Err(error.to_string().into()),
                    word => Some(word.as_str().to_owned()),
                },
                priority: match entry.priority {
                    Priority::None => None,
                    Priority::Value(value) => Some(value),
                    refused => return Err(format!("priority: {refused:?}").into()),
                },
            }),
        }
    }
    Ok(if records.is_empty() { Content::Sitemaps(sitemaps) } else { Content::Urls(records) })
}

fn address(loc: Location) -> Result<String> {
    match loc {
        Location::Url(url) => Ok(url.into()),
        refused => Err(format!("loc: {refused:?}").into()),
    }
}

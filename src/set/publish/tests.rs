//! Publishing is interrupted after every change of the file system, with and without power loss. A crawler must always find a
//! complete set, and after the next run it must be the whole old set or the whole new one.

mod failing;
mod foreign;
mod leftovers;
mod named;
mod names;
mod unexpected;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{Read, Write};
use std::path::Path;
use std::slice;
use std::sync::Arc;

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::retention::Keep;
use super::*;
use crate::clean::scope::ScopeRule;
use crate::common::progress::Silent;
use crate::common::stop::Stop;
use crate::error::{ErrorKind, Result};
use crate::limits::Protocol;
use crate::place::fs::memory::{self, Memory, State};
use crate::place::fs::{FileSystem, exists};
use crate::place::{DirectoryPlace, DirectoryView, LocalFile, Record, SetName, Unsynced, View, switch_file};
use crate::set::content::{ContentHash, seal};
use crate::set::manifest::{Manifest, Sitemap};
use crate::set::name::{ROBOTS_FILE, SitemapId, Stem, robots_file};
use crate::set::robots::{Owner, list_indexes};
use crate::set::shelf::{Shelf, Shelved};
use crate::sitemap::divide::Limits;

const OUT: &str = "/srv/www/maps";
const ROBOTS: &str = "/srv/robots.txt";
const BASE: &str = "https://h.example/";

thread_local! {
    /// The name of the set that the functions below publish and crawl.
    static NAME: RefCell<Option<SetName>> = const { RefCell::new(None) };
}

fn name() -> Option<SetName> {
    NAME.with_borrow(Clone::clone)
}

fn open(fs: &Memory) -> Workspace {
    open_with(fs, OnDamage::Refuse)
}

fn open_with(fs: &Memory, on_damage: OnDamage) -> Workspace {
    open_place(fs, on_damage).unwrap()
}

fn open_place(fs: &Memory, on_damage: OnDamage) -> Result<Workspace> {
    let place = DirectoryPlace::open(Arc::new(fs.clone()), OUT.as_ref(), name().as_ref())?;
    Workspace::open_place(Box::new(place), on_damage)
}

fn view(fs: &Memory) -> DirectoryView {
    DirectoryView::of(Arc::new(fs.clone()), OUT.as_ref(), name().as_ref())
}

/// Changes the file system as a command does. Returns the number of changes before it reported success; failures after that are
/// warnings.
type Job = fn(&Memory) -> Result<usize>;

/// Publishes a sitemap for each of `texts` as a build does, two in an index file. The replaced set is not kept.
fn build(fs: &Memory, texts: &[&str], time: &str) -> Result<usize> {
    build_with(fs, texts, time, OnDamage::Refuse)
}

fn build_with(fs: &Memory, texts: &[&str], time: &str, on_damage: OnDamage) -> Result<usize> {
    let workspace = open_place(fs, on_damage)?;
    let sitemaps = stage_all(&workspace, texts, time)?;
    let keep = Keep { time: "1d".parse().unwrap(), sets: 0 };
    let mut prepared = prepare(workspace, sitemaps, time, keep)?;
    make_live(slice::from_mut(&mut prepared))?;
    list_in_robots_txt(fs, &prepared);
    let done = fs.steps().len();
    let _ = prepared.workspace().expire(prepared.set(), keep);
    Ok(done)
}

/// Stages a sitemap for each of `texts`.
fn stage_all(workspace: &Workspace, texts: &[&str], time: &str) -> Result<Vec<Sitemap>> {
    let sitemap = |(number, text): (u32, &&str)| {
        let staged = stage(workspace, number, text.as_bytes(), Compression::fast())?;
        staged.unsynced.map_or(Ok(()), Unsynced::sync)?;
        Ok(Sitemap {
            file: staged.file,
            content: content_of(text.as_bytes()).to_string(),
            urls: 1,
            xml_bytes: text.len() as u64,
            gzip_bytes: staged.gzip_bytes,
            lastmod: time.into(),
            seals: None,
        })
    };
    (1..).zip(texts).map(sitemap).collect()
}

/// Lists the index files of a set in robots.txt.
fn list_in_robots_txt(fs: &Memory, set: &Prepared) {
    let owner = Owner { base_url: BASE, name: set.workspace().name() };
    let _ = list_indexes(LocalFile::of(fs, ROBOTS.as_ref()), owner, &set.set().indexes, &Stop::default());
}

/// Prepares a set of `sitemaps`, two in an index file.
fn prepare(workspace: Workspace, sitemaps: Vec<Sitemap>, time: &str, keep: Keep) -> Result<Prepared> {
    prepare_for(BASE, workspace, sitemaps, time, keep)
}

fn prepare_for(
    base_url: &str,
    workspace: Workspace,
    sitemaps: Vec<Sitemap>,
    time: &str,
    keep: Keep,
) -> Result<Prepared> {
    let info = SetInfo {
        base_url: &base_url.parse().unwrap(),
        protocol: Protocol::V0_9,
        index_limits: Limits { entries_max: 2, bytes_max: 10_000 },
        scope: ScopeRule::Directory,
        also: Vec::new(),
        sections: Vec::new(),
        counts: None,
        rows: None,
        time,
        explain: &|error| error,
    };
    workspace.prepare(sitemaps, &info, keep)
}

/// Prepares an empty set: it has robots lines and no index file.
fn prepare_empty(workspace: Workspace) -> Prepared {
    prepare(workspace, Vec::new(), "2026-11-20T02:00:00Z", Keep::default()).unwrap()
}

/// Restores the set before the live one.
fn roll_back(fs: &Memory) -> Result<usize> {
    let workspace = open_place(fs, OnDamage::Refuse)?;
    let mut prepared = workspace.roll_back(None, "2026-11-20T02:00:00Z", &Silent, &Stop::default())?;
    make_live(slice::from_mut(&mut prepared))?;
    list_in_robots_txt(fs, &prepared);
    Ok(fs.steps().len())
}

/// Stages sitemap `number` with the content `text`.
fn stage(workspace: &Workspace, number: u32, text: &[u8], compression: Compression) -> Result<Shelved> {
    let xml = seal(&workspace.secret, text);
    workspace.shelf().put(SitemapId { section: None, number }, content_of(text), xml, gzip(text, compression))
}

fn gzip(text: &[u8], compression: Compression) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), compression);
    gzip.write_all(text).unwrap();
    gzip.finish().unwrap()
}

fn content_of(text: &[u8]) -> ContentHash {
    ContentHash(xxhash_rust::xxh3::xxh3_128(text))
}

/// An output directory in which three sets were published within five days, next to a robots.txt.
fn world() -> Memory {
    let fs = empty();
    build(&fs, &["a", "b", "c"], "2026-11-15T02:00:00Z").unwrap();
    build(&fs, &["a", "e", "f"], "2026-11-16T02:00:00Z").unwrap();
    build(&fs, &["a", "e", "g", "h", "i"], "2026-11-18T02:00:00Z").unwrap();
    fs
}

/// A file system with a robots.txt and no output directory.
fn empty() -> Memory {
    let fs = Memory::default();
    fs.put(ROBOTS.as_ref(), b"User-agent: *\n");
    fs
}

/// The robots lines and the index files by name, each with its bytes and the contents of the sitemaps that it lists.
type Set = BTreeMap<String, (Vec<u8>, BTreeMap<String, Vec<u8>>)>;

/// Reads, as a crawler does, all index files that exist or that the robots lines name.
fn crawl(fs: &Memory) -> Result<Set, String> {
    let read = |file: &str| fs.read(&Path::new(OUT).join(file)).map_err(|error| format!("{file}: {error}"));
    let text = |file: &str| read(file).map(|bytes| String::from_utf8(bytes).unwrap());
    let (robots, stem) = (robots_file(name().as_ref()), Stem::of_set(name().as_ref()));
    let named = text(&robots).unwrap_or_default();
    let named = named.lines().map(|line| line.rsplit('/').next().unwrap().to_owned());
    let is_index = |name: &String| name.starts_with(&format!("{stem}-index-"));
    let indexes: BTreeSet<String> = files(fs).into_iter().filter(is_index).chain(named).collect();
    let index = |file: String| {
        let xml = text(&file)?;
        if !xml.ends_with("</sitemapindex>\n") {
            return Err(format!("{file} is cut off"));
        }
        let listed = xml.split("<loc>").skip(1).map(|rest| rest.split("</loc>").next().unwrap());
        let sitemap = |url: &str| {
            let file = url.strip_prefix(BASE).unwrap();
            let mut text = Vec::new();
            let whole = MultiGzDecoder::new(&read(file)?[..]).read_to_end(&mut text);
            whole.map(|_| (file.into(), text)).map_err(|error| format!("{file}: {error}"))
        };
        let sitemaps = listed.map(sitemap).collect::<Result<_, String>>()?;
        Ok((file, (xml.into_bytes(), sitemaps)))
    };
    let lines = read(&robots).ok().map(|lines| Ok((robots.clone(), (lines, BTreeMap::new()))));
    indexes.into_iter().map(index).chain(lines).collect()
}

fn files(fs: &Memory) -> Vec<String> {
    let listed = fs.list(OUT.as_ref()).unwrap_or_default();
    listed.into_iter().map(|(name, _)| name.into_string().unwrap()).collect()
}

/// Whether users who may not read the journal see that there is one.
fn is_marked(fs: &Memory) -> bool {
    exists(fs, &Path::new(OUT).join(switch_file(name().as_ref()))).unwrap()
}

/// Whether a step renames a file into the output directory.
fn shows_file(what: &str) -> bool {
    what.rsplit_once(" to ").is_some_and(|(_, to)| Path::new(to).parent() == Some(OUT.as_ref()))
}

/// Fails unless `fs` contains one of the sets `whole`, and no leftovers.
fn assert_at_rest(fs: &Memory, whole: &[&Set], when: &str) {
    let set = crawl(fs).unwrap_or_else(|why| panic!("{when}: {why}"));
    let view = view(fs);
    let manifest = Manifest::read(&view, &Record::Live).unwrap();
    // Superseded index files may exist or not. Crawling has checked those that exist.
    let old_indexes = manifest.iter().flat_map(|set| &set.superseded_indexes);
    let old_indexes: HashSet<&String> = old_indexes.map(|old| &old.file).collect();
    let named = |set: &Set| -> Set {
        set.iter()
            .filter(|(file, _)| !old_indexes.contains(file))
            .map(|(f, i)| (f.clone(), i.clone()))
            .collect()
    };
    assert!(whole.iter().any(|whole| named(whole) == named(&set)), "{when}: {:?}", set.keys());
    let sitemaps = manifest.iter().flat_map(|set| set.sitemaps.iter().map(|sitemap| &sitemap.file));
    let old = manifest.iter().flat_map(|set| set.superseded.iter().map(|old| &old.file));
    let known: Vec<_> = sitemaps.chain(old).collect();
    let stem = Stem::of_set(name().as_ref());
    let is_sitemap = |file: &String| file.ends_with(".gz") && Stem::of_file(file).as_ref() == Some(&stem);
    let stray: Vec<_> = files(fs).into_iter().filter(is_sitemap).collect();
    let stray: Vec<_> = stray.iter().filter(|file| !known.contains(file)).collect();
    assert!(stray.is_empty(), "{when}: no manifest lists {stray:?}");
    assert_eq!(view.runs(), [""; 0], "{when}");
    assert!(!view.has_record(&Record::Journal) && !is_marked(fs), "{when}");
    for earlier in manifest.iter().flat_map(|set| &set.earlier) {
        let kept = Manifest::read(&view, &Record::kept(&earlier.run)).unwrap();
        let kept = kept.unwrap_or_else(|| panic!("{when}: set {} is lost", earlier.number));
        kept.sitemaps.iter().for_each(|sitemap| assert!(occupant::is_there(&view, sitemap).unwrap()));
    }
}

/// The states that can be found if the process ends or the power is lost in `state`, with descriptions.
fn endings(state: &State) -> impl Iterator<Item = (String, State)> {
    [("the process ends".into(), state.clone())].into_iter().chain(state.after_power_loss())
}

/// A file system with the durable part of `fs`, without history.
fn on_disk(fs: &Memory) -> Memory {
    Memory::of(fs.state().after_power_loss().remove(0).1)
}

/// Interrupts `job` after every step, and the next run, which repairs the result, after every step as well.
fn replay(before: &Memory, job: Job) {
    let fs = on_disk(before);
    let old = crawl(&fs).unwrap();
    let robots = fs.read(ROBOTS.as_ref()).unwrap();
    let done = job(&fs).unwrap();
    let new = crawl(&fs).unwrap();
    let robots = [robots, fs.read(ROBOTS.as_ref()).unwrap()];
    let steps = fs.steps();
    assert!(old != new && steps.len() > done);
    let assert_whole = |fs: &Memory, is_done: bool, when: &str| {
        let set = crawl(fs).unwrap_or_else(|why| panic!("{when}: {why}"));
        let is_whole = |(file, index)| [&old, &new].iter().any(|whole| whole.get(file) == Some(index));
        assert!(set.iter().all(is_whole), "{when}: {:?}", set.keys());
        // An index file that both sets have is never gone.
        assert!(
            old.keys().filter(|&file| new.contains_key(file)).all(|file| set.contains_key(file)),
            "{when}"
        );
        assert!(robots.contains(&fs.read(ROBOTS.as_ref()).unwrap()), "{when}");
        let is_new = new.iter().all(|(file, index)| set.get(file) == Some(index));
        assert!(!is_done || is_new && fs.read(ROBOTS.as_ref()).unwrap() == robots[1], "{when}");
    };
    // Many steps leave the same state.
    let mut seen = HashSet::new();
    for (at, step) in (1..).zip(&steps) {
        let is_done = at >= done;
        let after = Memory::of(step.state.clone());
        assert!(is_marked(&after) || !view(&after).has_record(&Record::Journal), "{at}: {}", step.what);
        let either = if is_done { &[&new][..] } else { &[&old, &new] };
        for (how, state) in endings(&step.state) {
            if !seen.insert((is_done, state.clone())) {
                continue;
            }
            let fs = Memory::of(state);
            let when = format!("after step {at} of {}, {}: {how}", steps.len(), step.what);
            assert_whole(&fs, is_done, &when);
            drop(open(&fs));
            assert_at_rest(&fs, either, &when);
            for step in fs.steps() {
                let after = Memory::of(step.state.clone());
                let is_known = is_marked(&after) || !view(&after).has_record(&Record::Journal);
                assert!(is_known || !shows_file(&step.what), "{when}; {}", step.what);
                for (how, state) in endings(&step.state) {
                    if !seen.insert((is_done, state.clone())) {
                        continue;
                    }
                    let fs = Memory::of(state);
                    let when = format!("{when}; in the next run after {}: {how}", step.what);
                    assert_whole(&fs, is_done, &when);
                    drop(open(&fs));
                    assert_at_rest(&fs, either, &when);
                }
            }
        }
    }
}

fn first(fs: &Memory) -> Result<usize> {
    build(fs, &["a", "b", "c"], "2026-11-20T02:00:00Z")
}

fn larger(fs: &Memory) -> Result<usize> {
    build(fs, &["a", "e", "c", "h", "i", "j", "k"], "2026-11-20T02:00:00Z")
}

fn smaller(fs: &Memory) -> Result<usize> {
    build(fs, &["k", "e"], "2026-11-20T02:00:00Z")
}

#[test]
fn a_first_set_is_published_as_a_whole_or_not_at_all() {
    replay(&empty(), first);
}

#[test]
fn after_a_crash_at_any_step_a_larger_set_has_replaced_the_old_one_or_not() {
    replay(&world(), larger);
}

#[test]
fn after_a_crash_at_any_step_a_smaller_set_has_replaced_the_old_one_or_not() {
    replay(&world(), smaller);
}

#[test]
fn after_a_crash_at_any_step_an_earlier_set_is_restored_or_not() {
    replay(&world(), roll_back);
}

/// The manifest or the journal is damaged, or the manifest is missing. Wherever the build is interrupted, the old set stays
/// complete until the new one replaces it, and the build can be repeated.
#[test]
fn after_a_crash_at_any_step_a_set_without_a_manifest_is_replaced_or_not() {
    let rebuild =
        |fs: &Memory| build_with(fs, &["a", "x"], "2026-11-20T02:00:00Z", OnDamage::SetAside).unwrap();
    let state = view(&Memory::default()).record_path(&Record::Live).parent().unwrap().to_owned();
    for lost in ["manifest.json", "manifest.next.json", ""] {
        let fs = on_disk(&world());
        match lost {
            "" => fs.remove(&state.join("manifest.json")).and_then(|()| fs.sync_directory(&state)).unwrap(),
            lost => fs.put(&state.join(lost), b"{"),
        }
        let fs = on_disk(&fs);
        let old = crawl(&fs).unwrap();
        rebuild(&fs);
        let new = crawl(&fs).unwrap();
        assert_eq!((old.len(), new.len()), (4, 4), "index files without a successor stay");
        assert_at_rest(&fs, &[&new], lost);
        let mut seen = HashSet::new();
        for (at, step) in fs.steps().into_iter().enumerate() {
            for (how, state) in endings(&step.state).filter(|(_, state)| seen.insert(state.clone())) {
                let fs = Memory::of(state);
                let when = format!("{lost} lost, after step {at}, {}: {how}", step.what);
                let set = crawl(&fs).unwrap_or_else(|why| panic!("{when}: {why}"));
                let is_whole =
                    |(file, index)| [&old, &new].iter().any(|whole| whole.get(file) == Some(index));
                assert!(set.iter().all(is_whole), "{when}: {:?}", set.keys());
                rebuild(&fs);
                assert_at_rest(&fs, &[&new], &when);
            }
        }
    }
}

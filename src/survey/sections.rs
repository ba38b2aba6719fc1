//! Sections and sites of a layout: which entries belong to which origin and section.
//!
//! If the survey could [record](recorded) the position and section of every row within a quarter of the memory, each part refers to
//! its rows by position ([`by_places`]), provided that these positions fit in another quarter. Otherwise, the entries are read
//! again and copied ([`by_copies`]).

pub(super) mod by_copies;
mod by_places;
mod chosen;
mod entry_sizes;
mod key;
mod parts;
pub(super) mod picks;
pub(super) mod recorded;

use std::collections::HashMap;

use super::context::Context;
use super::layout::Layout;
use super::memory::Memory;
use crate::clean::scope::origin_of;
use crate::common::fallible::{list, try_list};
use crate::error::{Error, Result, Setting, message};
use crate::escape::shown;
use crate::job::SectionsBy;
use crate::sitemap::sections::by_path::PathSegments;
use crate::sitemap::sections::word::word_of;
use crate::sitemap::sections::{REST, SECTIONS_MAX, SectionNames};
use crate::words::grouped;
use by_copies::{Split, split};
pub use chosen::LeftOut;
use chosen::{Chosen, most_frequent, most_urls};
use key::{EntryKey, REST_NUMBER, SectionKey, number_key, numbers_of, section_name};
use recorded::Recorded;

/// The sections of a site: the name and the layout of each.
type Sections = Vec<(String, Layout)>;

/// The layouts of all sites of a job.
#[derive(Debug)]
pub struct SiteLayouts {
    /// The layout of each site, in the order in which the origins first occur.
    pub sites: Vec<SiteLayout>,
    /// For sections by rules, the number of URLs that each rule has put into its section.
    pub urls_by_rule: Vec<u64>,
    /// For sections by path, the segments that are in the rest because others have more URLs.
    pub left_out: LeftOut,
}

/// The layout of a site.
#[derive(Debug)]
pub struct SiteLayout {
    /// The origin of its URLs; `None` if the job has a single site.
    pub origin: Option<String>,
    /// The layout of its entries.
    pub layout: Layout,
}

/// Splits the layout of all listed entries among sites and sections, as the job wants.
///
/// # Errors
/// If memory or scratch runs out, an input has changed, or `stop` is raised; [`ErrorKind::Data`](crate::ErrorKind::Data) if there
/// are more sections than the job allows, or two of them would have the same name in files.
pub fn of_sites(run: Context<'_>, mut layout: Layout, memory: &Memory) -> Result<SiteLayouts> {
    if !run.job.rules.is_split() {
        let sites = vec![SiteLayout { origin: None, layout }];
        return Ok(SiteLayouts { sites, urls_by_rule: Vec::new(), left_out: LeftOut::default() });
    }
    let by_origin = run.job.rules.only_site().is_none();
    let all_names = run.rules.section_names().map_or(Ok(Vec::new()), |names| check_number(run, names))?;
    let segments = PathSegments::new(&run.job.rules.base_url, run.job.rules.scope);
    let (Split { parts, counts }, left_out) = parts(run, &mut layout, memory, &segments)?;
    // The entries are in the parts now.
    drop(layout);
    let mut sites: Vec<(Option<String>, Sections)> = Vec::new();
    let mut by_name: HashMap<Option<String>, usize> = HashMap::new();
    for (key, part) in parts {
        let origin = if by_origin { origin_of(&key) } else { &[] };
        let name = section_name(run.job.rules.sections.as_ref(), &all_names, &key[origin.len()..]);
        let origin = by_origin.then(|| String::from_utf8_lossy(origin).into_owned());
        let at = *by_name.entry(origin.clone()).or_insert_with(|| {
            sites.push((origin, Vec::new()));
            sites.len() - 1
        });
        sites[at].1.push((name, part));
    }
    let has_sections = run.job.rules.sections.is_some();
    let rest = rest_of(run.job.rules.sections.as_ref());
    let sites = sites.into_iter().map(|(origin, mut parts)| {
        let layout = match has_sections {
            true => joined(parts, rest)?,
            false => parts.pop().expect("a site has entries").1,
        };
        Ok(SiteLayout { origin, layout })
    });
    Ok(SiteLayouts { sites: try_list(sites)?, urls_by_rule: counts, left_out })
}

/// The parts of `layout`, in the order in which they first occur.
fn parts(
    run: Context<'_>,
    layout: &mut Layout,
    memory: &Memory,
    segments: &PathSegments,
) -> Result<(Split, LeftOut)> {
    if let Some(recorded) = layout.recorded.take()
        && let Some(split) = picked(run, layout, recorded, memory)?
    {
        return Ok(split);
    }
    let by_origin = run.job.rules.only_site().is_none();
    let mut chosen: Option<Chosen> = None;
    loop {
        let key = || {
            let chosen = chosen.as_ref().map(|chosen| &chosen.segments);
            let sections = SectionKey::of(run.job.rules.sections.as_ref(), segments, chosen);
            EntryKey { by_origin, sections }
        };
        // Most sites have few first segments, so these are counted only if there turn out to be many.
        let parts_max = match (&run.job.rules.sections, &chosen) {
            (Some(SectionsBy::Path { sections_max }), None) => *sections_max as usize,
            _ => usize::MAX,
        };
        match split(run, layout, memory, parts_max, key)? {
            Some(split) => {
                return Ok((split, chosen.map_or_else(LeftOut::default, |chosen| chosen.left_out)));
            }
            None => chosen = Some(most_frequent(run, layout, segments, parts_max)?),
        }
    }
}

/// The parts of `layout`, whose entries are `recorded`. `None` if they would take too much memory.
fn picked(
    run: Context<'_>,
    layout: &Layout,
    recorded: Recorded,
    memory: &Memory,
) -> Result<Option<(Split, LeftOut)>> {
    let sections = run.job.rules.sections.as_ref().expect("entries are recorded only for sections");
    let numbers = recorded.numbers(sections);
    let counts = match sections {
        SectionsBy::Column { .. } => Vec::new(),
        SectionsBy::Path { sections_max } if numbers <= *sections_max as usize => Vec::new(),
        SectionsBy::Path { .. } | SectionsBy::Rules(_) => by_places::count(run, layout, &recorded, numbers)?,
    };
    let mut left_out = LeftOut::default();
    let of_number = |number: u16| number_key(number).to_vec();
    let keys: Vec<Vec<u8>> = match sections {
        SectionsBy::Column { .. } => (0..numbers).map(|number| of_number(number as u16)).collect(),
        SectionsBy::Rules(rules) => {
            std::iter::once(REST_NUMBER).chain(numbers_of(rules)).map(of_number).collect()
        }
        SectionsBy::Path { sections_max } => {
            let chosen = most_urls(&recorded.segments, &counts, *sections_max as usize);
            let is_chosen = |it: &[u8]| chosen.as_ref().is_none_or(|chosen| chosen.segments.contains(it));
            let segments = recorded.segments.iter();
            let keys = segments.map(|it| if is_chosen(it) { it.clone() } else { Vec::new() }).collect();
            left_out = chosen.map_or(left_out, |chosen| chosen.left_out);
            keys
        }
    };
    // Several numbers may have the same key.
    let mut parts: HashMap<&[u8], u32> = HashMap::new();
    let mut part_keys = Vec::new();
    let part_of: Vec<u32> = list(keys.iter().map(|key| {
        *parts.entry(key).or_insert_with(|| {
            part_keys.push(key);
            part_keys.len() as u32 - 1
        })
    }))?;
    let Some(parts) = by_places::pick(run, layout, recorded, &part_of, memory)? else { return Ok(None) };
    let parts = parts.into_iter().map(|(at, part)| (part_keys[at].clone(), part)).collect();
    let is_by_rules = matches!(sections, SectionsBy::Rules(_));
    let counts = if is_by_rules { counts[1..].to_vec() } else { Vec::new() };
    Ok(Some((Split { parts, counts }, left_out)))
}

/// The name of the section of URLs that belong to no other.
pub fn rest_of(sections: Option<&SectionsBy>) -> &str {
    match sections {
        Some(SectionsBy::Rules(rules)) => rules.rest(),
        _ => REST,
    }
}

/// Returns the names of the sections in a column, by their numbers, and refuses more than the job allows.
fn check_number(run: Context<'_>, names: &SectionNames) -> Result<Vec<String>> {
    let all = names.all();
    let Some(SectionsBy::Column { column, sections_max }) = &run.job.rules.sections else { return Ok(all) };
    // The first name is that of the rest.
    let count = all.len() - 1;
    let (found, example) = match names.beyond() {
        Some(beyond) => (format!("more than {} sections", grouped(count as u64)), beyond),
        None if count > *sections_max as usize => {
            (format!("{} sections or more", grouped(count as u64)), all[count].clone())
        }
        None => return Ok(all),
    };
    let (example, most) = (shown(example.as_bytes()), grouped((*sections_max).into()));
    let or_more = if *sections_max < SECTIONS_MAX { ", or raise the limit" } else { "" };
    Err(Error::data(message!(
        Setting::SectionColumn.with(column),
        ": has {found}, such as {example}, but ",
        Setting::SectionsMax,
        " is {most}; nothing was published; use a different column{or_more}"
    )))
}

/// Joins the parts of a site into a layout with sections, sorted by name, the rest last.
fn joined(mut parts: Sections, rest: &str) -> Result<Layout> {
    parts.sort_by(|(one, _), (other, _)| (one == rest, one).cmp(&(other == rest, other)));
    let mut words: HashMap<String, String> = HashMap::new();
    let mut sections = Vec::with_capacity(parts.len());
    for (name, layout) in parts {
        let word = word_of(&name);
        if let Some(other) = words.insert(word.clone(), name.clone()) {
            let [other, name] = [other, name].map(|name| shown(name.as_bytes()));
            return Err(Error::data(format!(
                "the sections {other} and {name} would both be {word} in file names; rename one of them"
            )));
        }
        sections.push((name, word, layout));
    }
    Layout::of_sections(sections)
}

//! Sections have the same entries and sitemaps whether their rows are picked where they are or copied.

use std::sync::Arc;

use super::{Directory, for_each_listed, job, rows, with_run};
use crate::common::stop::Stop;
use crate::intake::input::Input;
use crate::job::{OnDuplicate, SectionsBy};
use crate::sitemap::divide::Divide;
use crate::sitemap::sections::by_rule::SectionRules;
use crate::survey::chunk::RowsAt;
use crate::survey::context::Context;
use crate::survey::layout::{Layout, ListedChunk};
use crate::survey::memory::Memory;
use crate::survey::sections::{SiteLayouts, of_sites};
use crate::survey::{Surveyed, survey};

/// The results that must be the same for both.
type Outcome = (Vec<(String, String, u64)>, Vec<(u32, u32, u64)>, Vec<(String, String)>, Vec<u64>);

/// The section of the row in `line`: first runs of the same, then mixed.
fn section(line: u64) -> String {
    let number = if line < 9_000 { line / 2_000 } else { line * line % 23 };
    if number == 3 { String::new() } else { format!(" section {number}") }
}

/// Lines of canonical URLs, then lines that become such.
fn lines(directory: &Directory, rows: &[(String, String)]) -> Vec<Input> {
    let clean: String = rows.iter().map(|(url, _)| format!("{url}/a&b\n")).collect();
    let long = "x".repeat(700);
    let other: String =
        rows.iter().map(|(url, _)| format!(" {}/b c/{long}\r\n", url.replace("h.ex", "H.ex"))).collect();
    let input = |text: &str| Input::lines(&directory.0, &directory.file(text.as_bytes()), None).unwrap();
    vec![input(&clean), input(&other)]
}

fn flat(run: Context<'_>, layout: &Layout, urls_by_rule: Vec<u64>) -> Outcome {
    let sections = layout.sections.iter();
    let sections = sections.map(|section| (section.name.clone(), section.word.clone(), section.listed));
    let sitemaps = layout.sitemaps.iter().map(|part| (part.number, part.entries, part.bytes)).collect();
    let mut entries = Vec::new();
    for_each_listed(run, layout, |_, entry| {
        let text = |bytes: &[u8]| String::from_utf8(bytes.into()).unwrap();
        entries.push((text(entry.url.as_bytes()), text(entry.tags)));
    });
    (sections.collect(), sitemaps, entries, urls_by_rule)
}

fn all_sections(directory: &Directory) -> Vec<SectionsBy> {
    let rules = directory.0.join("rules.toml");
    std::fs::write(&rules, "a = ['/1/', '/2', '[5-7]$']\nb = ['/10/', '/3']\nrest = 'others'").unwrap();
    vec![
        SectionsBy::Column { column: "section".into(), sections_max: 30 },
        SectionsBy::Rules(SectionRules::read(&rules, &Stop::default()).unwrap()),
        SectionsBy::Path { sections_max: 1_000 },
        SectionsBy::Path { sections_max: 7 },
    ]
}

#[test]
fn sections_do_not_depend_on_whether_rows_are_picked_or_copied() {
    let directory = Directory::new("sections");
    let rows = rows();
    let mut all = vec![directory.input_with_sections(&rows[..30_000], section)];
    all.extend(lines(&directory, &rows[20_000..30_000]));
    let inputs: Arc<[Input]> = all.into();
    for sections in all_sections(&directory) {
        for (divide, threads) in [(Divide::Fill, 3), (Divide::Stable, 1)] {
            let mut job = job(OnDuplicate::First, threads);
            (job.rules.sections, job.rules.divide) = (Some(sections.clone()), divide);
            // What memory allows: no input in memory, everything, no record, and a record whose picks are too large.
            let plan = |budget, hold| {
                with_run(&job, |run| {
                    let memory = Memory { budget, ..directory.memory(hold) };
                    let Surveyed { layout, .. } = survey(run, &inputs, &memory).unwrap();
                    let is_recorded = layout.recorded.is_some();
                    let SiteLayouts { mut sites, urls_by_rule, left_out } =
                        of_sites(run, layout, &memory).unwrap();
                    let layout = sites.pop().unwrap().layout;
                    let rows = |listed: &ListedChunk| matches!(listed.chunk.rows, RowsAt::Picked { .. });
                    let are_picked = layout.chunks.iter().all(rows);
                    ((is_recorded, are_picked), (flat(run, &layout, urls_by_rule), left_out))
                })
            };
            let ((is_recorded, are_picked), want) = plan(0, usize::MAX);
            let (flat, left_out) = &want;
            assert!(!is_recorded && !are_picked && flat.0.len() > 2 && flat.2.len() > 20_000);
            assert_eq!(left_out.urls_of("none"), Some(0));
            let mut ways = Vec::new();
            for hold in [usize::MAX, 2_000_000, 1_500_000, 1 << 18] {
                let (way, outcome) = plan(u64::MAX, hold);
                assert!(outcome == want, "{sections:?}, {divide:?}, {hold}");
                ways.push(way);
            }
            assert_eq!((ways[0], ways[3]), ((true, true), (false, false)));
        }
    }
}

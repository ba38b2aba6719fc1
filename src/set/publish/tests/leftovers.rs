//! Leftovers: files of dead runs where hard links are not available, and index files that the new set does not replace.

use super::*;
use crate::place::switch::Removal;

/// Makes `fs` refuse hard links.
pub fn linkless(fs: Memory) -> Memory {
    fs.forbid_links();
    fs
}

#[test]
fn without_links_a_crash_at_any_step_leaves_the_old_set_or_the_new_one() {
    replay(&linkless(empty()), first);
    replay(&linkless(world()), larger);
}

#[test]
fn without_links_renamed_files_are_removed_and_foreign_files_are_not() {
    let fs = linkless(world());
    let before = files(&fs);
    let staged: Vec<String> = {
        let workspace = open(&fs);
        let texts = [b"x", b"y", b"z"];
        let sitemaps: Vec<Sitemap> = (1..)
            .zip(texts)
            .map(|(number, text)| {
                let staged = stage(&workspace, number, text, Compression::fast()).unwrap();
                staged.unsynced.unwrap().sync().unwrap();
                let seals = None;
                let (content, lastmod) = (String::new(), String::new());
                Sitemap { file: staged.file, content, urls: 1, xml_bytes: 1, gzip_bytes: 1, lastmod, seals }
            })
            .collect();
        let files: Vec<&str> = sitemaps.iter().map(|sitemap| &*sitemap.file).collect();
        workspace.place.make_sitemaps_visible(&files).unwrap();
        // The process dies.
        std::mem::forget(workspace);
        sitemaps.into_iter().map(|sitemap| sitemap.file).collect()
    };
    assert_eq!(files(&fs).len(), before.len() + 3);
    fs.put(&Path::new(OUT).join(&staged[1]), b"theirs");
    drop(open(&fs));
    assert_eq!(files(&fs).len(), before.len() + 1);
    assert_eq!(fs.read(&Path::new(OUT).join(&staged[1])).unwrap(), b"theirs");
}

/// A build after the retention time of the old index files and their sitemaps.
fn next_day_but_one(fs: &Memory) -> Result<usize> {
    build(fs, &["k", "l"], "2026-11-22T02:00:00Z")
}

#[test]
fn old_index_files_are_removed_before_the_sitemaps_that_they_list_even_in_a_crash() {
    let fs = world();
    smaller(&fs).unwrap();
    assert_eq!(index_files(&fs), ["sitemap-index-1.xml", "sitemap-index-2.xml", "sitemap-index-3.xml"]);
    replay(&fs, next_day_but_one);
    next_day_but_one(&fs).unwrap();
    assert_eq!(index_files(&fs), ["sitemap-index-1.xml"]);
}

#[test]
fn an_old_index_file_goes_live_again_or_stays_as_someone_else_replaced_it() {
    let fs = world();
    smaller(&fs).unwrap();
    let theirs = Path::new(OUT).join("sitemap-index-3.xml");
    fs.put(&theirs, b"theirs");
    build(&fs, &["a", "b", "c", "d"], "2026-11-20T03:00:00Z").unwrap();
    let live = Manifest::read(&view(&fs), &Record::Live).unwrap().unwrap();
    assert_eq!(live.indexes, ["sitemap-index-1.xml", "sitemap-index-2.xml"]);
    // Its retention time ends, but somebody else has replaced it.
    build(&fs, &["a", "b"], "2026-11-22T03:00:00Z").unwrap();
    build(&fs, &["a", "b"], "2026-11-24T03:00:00Z").unwrap();
    assert_eq!(index_files(&fs), ["sitemap-index-1.xml", "sitemap-index-3.xml"]);
    assert_eq!(fs.read(&theirs).unwrap(), b"theirs");
}

#[test]
fn an_index_file_that_stays_is_not_replaced_even_by_the_run_that_completes_the_switch() {
    let fs = world();
    let kept = Path::new(OUT).join("sitemap-index-1.xml");
    let before = fs.look(&kept).unwrap();
    larger(&fs).unwrap();
    assert_eq!(fs.look(&kept).unwrap(), before);
    let is_next_renamed = |step: &memory::Step| {
        step.what.starts_with("rename ") && step.what.ends_with(" to /srv/www/maps/sitemap-index-2.xml")
    };
    let steps = fs.steps();
    let last = steps.iter().rposition(is_next_renamed).unwrap();
    let mut switching = 0;
    for step in &steps[last..] {
        let fs = Memory::of(step.state.clone());
        if !view(&fs).has_record(&Record::Journal) {
            break;
        }
        // The run dies, and somebody edits the file before the next one.
        fs.put(&kept, b"theirs");
        drop(open(&fs));
        assert_eq!(fs.read(&kept).unwrap(), b"theirs", "after {}", step.what);
        switching += 1;
    }
    assert!(switching > 3);
}

#[test]
fn an_old_index_file_that_is_also_in_the_staging_of_a_dead_run_stays() {
    let fs = world();
    smaller(&fs).unwrap();
    let (before, old) = (index_files(&fs), "sitemap-index-3.xml");
    let workspace = open(&fs);
    fs.link(&Path::new(OUT).join(old), &workspace.scratch().join(old)).unwrap();
    // The process dies.
    std::mem::forget(workspace);
    drop(open(&fs));
    assert_eq!(index_files(&fs), before);
}

fn index_files(fs: &Memory) -> Vec<String> {
    files(fs).into_iter().filter(|file| file.starts_with("sitemap-index-")).collect()
}

#[test]
fn an_old_sitemap_that_cannot_be_looked_up_is_not_forgotten() {
    let fs = world();
    let mut workspace = open(&fs);
    let superseded = &mut workspace.live.as_mut().unwrap().superseded;
    let (gone, long) =
        ("sitemap-00009-1f2e3d4c.xml.gz", format!("sitemap-{}-00001-1f2e3d4c.xml.gz", "a".repeat(300)));
    superseded[0].file = gone.into();
    superseded[1].file.clone_from(&long);
    let removal = |file: &str| Removal { file: file.into(), content: None };
    let next = "sitemap-00008-1f2e3d4c.xml.gz";
    fs.put(&Path::new(OUT).join(next), b"old");
    assert!(workspace.place.remove(&[removal(&long), removal(next)]).is_err());
    assert!(!workspace.place.view().is_file(next.as_ref()), "those after it are removed");
    let prepared = prepare_empty(workspace);
    let names: Vec<_> = prepared.set().superseded.iter().map(|old| &*old.file).collect();
    assert!(names.contains(&&*long) && !names.contains(&gone), "{names:?}");
}

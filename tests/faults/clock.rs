//! A clock that runs backwards within a run and between runs.

use std::path::Path;
use std::process::Command;

use crate::support::{finish, published, sitemill};
use crate::world::{BASE, World, pages};

/// The `lastmod` of each sitemap in the index files, in order.
fn lastmods(out: &Path) -> Vec<String> {
    let indexes = published(out, BASE).into_iter().filter(|(file, _)| !file.ends_with(".gz"));
    let lastmod = |rest: &str| rest.split('<').next().unwrap().to_owned();
    indexes.flat_map(|(_, xml)| xml.split("<lastmod>").skip(1).map(lastmod).collect::<Vec<_>>()).collect()
}

#[test]
fn a_clock_that_runs_backwards_breaks_nothing() {
    let world = World::new();
    let library = world.directory.join("clock.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/clock.c");
    let mut cc = Command::new("cc");
    finish(cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).arg("-ldl"), b"").expect(0);
    let run = |command: &mut Command, hours_back: u32, input: &str| {
        command.env_remove("SOURCE_DATE_EPOCH").env("LD_PRELOAD", &library);
        command.env("HOURS_BACK", hours_back.to_string());
        finish(command, input.as_bytes()).expect(0);
    };
    let old = lastmods(&world.out);

    run(&mut world.build(), 0, &pages(1, 80));
    world.assert_new(1, 80);
    let first = lastmods(&world.out);
    assert!(first[..3] == old && first[3] > old[0], "{first:?}");

    // Built a year before the set that it replaces.
    run(&mut world.build(), 10_000, &pages(1, 90));
    world.assert_new(1, 90);
    let second = lastmods(&world.out);
    assert!(second[..4] == first && second[4] < first[3], "{second:?}");

    let mut rollback = sitemill();
    run(rollback.args(["rollback", "--quiet", "--out"]).arg(&world.out), 20_000, "");
    world.assert_new(1, 80);
    assert_eq!(lastmods(&world.out), first);

    run(&mut world.build(), 30_000, &pages(1, 60));
    world.assert_new(1, 60);
    assert_eq!(lastmods(&world.out), old);
}

//! A live set that changes between the start of a run and its switch, although the run holds the lock.

use super::*;

type Change = fn(&Memory, &Path);

#[test]
fn a_set_that_another_run_published_meanwhile_is_not_replaced() {
    let manifest = Path::new(OUT).join(".sitemill/manifest.json");
    // The manifest is changed, new, or missing.
    let changes: [(&str, Memory, Change); 3] = [
        ("changed", world(), |fs, path| fs.put(path, &[fs.read(path).unwrap(), b"\n".to_vec()].concat())),
        ("new", empty(), |fs, path| fs.put(path, b"{}")),
        ("gone", world(), |fs, path| fs.remove(path).unwrap()),
    ];
    for (what, fs, change) in changes {
        let mut prepared = [prepare_empty(open(&fs))];
        let before = crawl(&fs).unwrap();
        change(&fs, &manifest);
        let refused = make_live(&mut prepared).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Busy, "{what}: {refused}");
        assert!(refused.to_string().starts_with(manifest.to_str().unwrap()), "{what}: {refused}");
        assert!(!prepared[0].is_begun() && crawl(&fs).unwrap() == before, "{what}");
        drop(prepared);
        assert_eq!(fs.list(&Path::new(OUT).join(".sitemill/staging")).unwrap(), [], "{what}");
        assert!(!view(&fs).has_record(&Record::Journal), "{what}");
    }
}

#[test]
fn a_run_expects_the_set_that_it_completed_or_reconstructed() {
    let fs = on_disk(&world());
    larger(&fs).unwrap();
    // A dead run has committed, and the next one completes its switch before it publishes its own set.
    let steps = fs.steps();
    let is_decision = |step: &&memory::Step| step.what.ends_with("manifest.next.json");
    let fs = Memory::of(steps.iter().find(is_decision).unwrap().state.clone());
    assert!(make_live(&mut [prepare_empty(open(&fs))]).unwrap().is_empty());
    // A damaged manifest is replaced by a stand-in first.
    fs.put(&Path::new(OUT).join(".sitemill/manifest.json"), b"{");
    build_with(&fs, &["a"], "2026-11-21T02:00:00Z", OnDamage::SetAside).unwrap();
}

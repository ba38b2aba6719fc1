//! Several sets in one directory: each is published as if it were alone, and leaves the files of the others as they are.

use super::*;

/// Runs `work` with the set `name`, or with the set without a name.
fn with<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let before = NAME.replace(name.parse().ok());
    let done = work();
    NAME.set(before);
    done
}

/// The world of a set without a name and of a set `shop`, with three sets each, in which the set of the current name was published
/// three times, too.
fn shared_world() -> Memory {
    let fs = with("", world);
    for name in ["shop".to_owned(), name().map(String::from).unwrap()] {
        with(&name, || {
            build(&fs, &["a", "b", "c"], "2026-11-15T03:00:00Z").unwrap();
            build(&fs, &["a", "e", "f"], "2026-11-16T03:00:00Z").unwrap();
            build(&fs, &["a", "e", "g", "h", "i"], "2026-11-18T03:00:00Z").unwrap();
        });
    }
    fs
}

/// Interrupts `job` for the set `blog` after every step, next to other sets, and checks that all of their files stay.
fn replay_beside_others(before: &Memory, job: Job) {
    let others = |fs: &Memory| ["", "shop"].map(|name| with(name, || crawl(fs)));
    let state =
        |fs: &Memory| ["", "shop"].map(|name| with(name, || view(fs).read_record(&Record::Live).unwrap()));
    let (crawled, manifests) = (others(before), state(before));
    replay(before, job);
    let fs = on_disk(before);
    job(&fs).unwrap();
    for step in fs.steps() {
        for (how, after) in endings(&step.state) {
            let fs = Memory::of(after);
            drop(open(&fs));
            assert_eq!(
                (others(&fs), state(&fs)),
                (crawled.clone(), manifests.clone()),
                "{}: {how}",
                step.what
            );
        }
    }
}

#[test]
fn after_a_crash_at_any_step_a_named_set_was_replaced_or_not_and_the_others_stay() {
    with("blog", || {
        let first_beside_others = {
            let fs = with("", world);
            with("shop", || build(&fs, &["a", "b"], "2026-11-15T03:00:00Z").unwrap());
            fs
        };
        replay_beside_others(&first_beside_others, first);
        replay_beside_others(&shared_world(), larger);
        replay_beside_others(&shared_world(), smaller);
        replay_beside_others(&shared_world(), roll_back);
    });
}

#[test]
fn a_named_set_without_its_manifest_is_rebuilt_and_takes_no_file_of_another() {
    with("blog", after_a_crash_at_any_step_a_set_without_a_manifest_is_replaced_or_not);
    for (lost, others) in [("blog", ["", "shop"]), ("", ["blog", "shop"])] {
        for also_lost in [None, Some("shop")] {
            let fs = with("blog", shared_world);
            let before = others.map(|other| with(other, || crawl(&fs).unwrap()));
            for lost in [lost].into_iter().chain(also_lost) {
                with(lost, || fs.remove(&view(&fs).record_path(&Record::Live)).unwrap());
            }
            // Nothing is kept for longer than a moment.
            with(lost, || {
                for time in ["2026-11-20T02:00:00Z", "2026-11-30T02:00:00Z", "2026-12-10T02:00:00Z"] {
                    build_with(&fs, &["x"], time, OnDamage::SetAside).unwrap();
                }
                let stem = Stem::of_set(name().as_ref());
                let own = files(&fs).into_iter().filter(|file| Stem::of_file(file).as_ref() == Some(&stem));
                assert_eq!(own.count(), 2, "a sitemap and an index file");
            });
            assert_eq!(
                others.map(|other| with(other, || crawl(&fs).unwrap())),
                before,
                "{lost:?}, {also_lost:?}"
            );
        }
    }
}

#[test]
fn files_of_a_set_whose_state_is_lost_are_left_alone() {
    for (rebuilt, other) in [("", "blog"), ("blog", "blog-en"), ("blog-en", "blog")] {
        let whole = empty();
        for name in [rebuilt, other] {
            with(name, || first(&whole).unwrap());
        }
        let fs = empty();
        // Copied without `.sitemill`.
        for file in files(&whole).iter().filter(|file| !file.starts_with('.')) {
            let path = Path::new(OUT).join(file);
            fs.put(&path, &whole.read(&path).unwrap());
        }
        let before = with(other, || crawl(&fs).unwrap());
        for time in ["2026-11-20T03:00:00Z", "2026-11-30T02:00:00Z", "2026-12-10T02:00:00Z"] {
            with(rebuilt, || build_with(&fs, &["x"], time, OnDamage::SetAside).unwrap());
        }
        assert_eq!(with(other, || crawl(&fs).unwrap()), before, "{rebuilt:?}, {other}");
        with(other, || build_with(&fs, &["y"], "2026-12-11T02:00:00Z", OnDamage::SetAside).unwrap());
    }
}

#[test]
fn files_that_a_set_has_are_not_published_by_another() {
    let fs = empty();
    // As if the set `blog` had a section `en`.
    with("blog-en", || first(&fs).unwrap());
    let state = |name: &str| with(name, || view(&fs).record_path(&Record::Live).parent().unwrap().to_owned());
    let [from, to] = [state("blog-en"), state("blog")];
    with("blog", || drop(open(&fs)));
    fs.put(&to.join("manifest.json"), &fs.read(&from.join("manifest.json")).unwrap());
    fs.remove(&from.join("manifest.json")).unwrap();
    let before = files(&fs);
    let refused = with("blog-en", || first(&fs)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Data);
    let why = "the set blog-en would have files named sitemap-blog-en-…, as the set blog has; nothing was published; use another `name`";
    assert!(refused.to_string().ends_with(why), "{refused}");
    assert_eq!(files(&fs), before);
    // Before any work, too.
    let consent = Consent { take_over: true, replace_set: true };
    let admit = || open(&fs).admit(&BASE.parse().unwrap(), Protocol::V0_9, consent);
    assert_eq!(with("blog-en", admit).unwrap_err().to_string(), refused.to_string());
    with("blog-de", || first(&fs).unwrap());
}

#[test]
fn of_two_sets_with_the_same_files_at_the_same_time_one_is_refused() {
    let fs = empty();
    let mut blog = with("blog", || open(&fs));
    // As if it had a section `en`.
    blog.stem = Stem::default().with("blog-en");
    let time = "2026-11-20T02:00:00Z";
    let sitemaps = stage_all(&blog, &["a"], time).unwrap();
    let prepared = prepare(blog, sitemaps, time, Keep::default()).unwrap();
    let refused = with("blog-en", || first(&fs)).unwrap_err();
    assert!(refused.to_string().contains("as the set blog has"), "{refused}");
    drop(prepared);
    with("blog-en", || first(&fs).unwrap());
}

#[test]
fn the_first_set_of_a_name_has_the_base_url_of_the_other_sets() {
    let fs = with("", world);
    let admit = |name: &str, base: &str, replace_set| {
        let consent = Consent { take_over: false, replace_set };
        with(name, || open(&fs).admit(&base.parse().unwrap(), Protocol::V0_84, consent))
    };
    let refused = admit("blog", "https://h.example/blog/", false).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Data);
    for word in ["the set without a name there has base URL https://h.example/,", "`out`", "`replace_set`"] {
        assert!(refused.to_string().contains(word), "{refused}");
    }
    admit("blog", "https://h.example/blog/", true).unwrap();
    // The protocols of two sets are their own business.
    admit("blog", BASE, false).unwrap();
}

#[test]
fn of_two_first_sets_with_other_base_urls_at_the_same_time_one_is_refused() {
    let (other, time) = ("https://other.example/", "2026-11-20T02:00:00Z");
    for replace_set in [false, true] {
        let fs = empty();
        let admitted = |name: &str| {
            with(name, || {
                let mut workspace = open(&fs);
                let consent = Consent { take_over: false, replace_set };
                workspace.admit(&other.parse().unwrap(), Protocol::V0_9, consent).map(|()| workspace)
            })
        };
        let is_refused = |workspace: Workspace| {
            let Err(error) = prepare_for(other, workspace, Vec::new(), time, Keep::default()) else {
                return false;
            };
            let why = "the set blog there has base URL https://h.example/, and this run has";
            assert!(error.kind() == ErrorKind::Data && error.to_string().contains(why), "{error}");
            true
        };
        let [late, last] = ["late", "last"].map(|name| admitted(name).unwrap());
        let mut blog = with("blog", || prepare_empty(open(&fs)));
        assert_eq!(is_refused(late), !replace_set, "it is not live yet");
        make_live(slice::from_mut(&mut blog)).unwrap();
        assert_eq!(is_refused(last), !replace_set);
        assert_eq!(admitted("new").is_err(), !replace_set);
    }
}

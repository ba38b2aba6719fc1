//! Tasks that fail or run twice, results that are lost or damaged, and jobs that a cluster cannot do.

use super::super::block::Sealed;
use super::super::plan::stamp_of;
use super::*;

#[test]
fn tasks_that_ran_twice_or_left_half_of_their_files_change_nothing() {
    ROWS_PER_BORDER_HERE.set(100);
    let (directory, rows) = (Directory::new(), rows(4_000, 2));
    let [one, job] = ["one", "cluster"].map(|out| directory.job(out));
    on_one_machine(&one, &rows);
    let mut run = Run::map(&job, &rows, 5, 4).unwrap();
    // A killed attempt: it received only some blocks and wrote half a file.
    let all = run.routed.clone();
    run.routed.iter_mut().for_each(|blocks| blocks.truncate(blocks.len() / 2));
    run.reduce_all(&job).unwrap();
    fs::write(staging(&job)[0].join("sitemap-00001-00000000.xml.gz.0000000000000001.attempt"), b"ha")
        .unwrap();
    run.routed = all;
    let first = run.reduce_all(&job).unwrap();
    let files = staged(&job);
    let mut second = run.reduce_all(&job).unwrap();
    assert_eq!(staged(&job), files, "a second attempt finds the files of the first");
    // A file that a power failure truncated is written again.
    let torn = &second[0].batch.sitemaps[0].sitemap;
    fs::write(staging(&job)[0].join(&torn.file), b"torn").unwrap();
    let task = second[0].region as usize % 4;
    let again = run.reduce(&job, task).unwrap();
    second.retain(|batch| batch.region as usize % 4 != task);
    second.extend(again);
    assert_eq!(first.len(), second.len());
    run.publish(second).unwrap();
    is_same(&job, &one);
}

/// Publishes `rows` on a cluster with a fault in the batches. Returns the error.
fn refused(job: &Job, rows: &[SourceRow], fault: impl FnOnce(&mut Run, &mut Vec<RegionBatch>)) -> Error {
    let before = published(job);
    let mut run = Run::map(job, rows, 4, 3).unwrap();
    let mut batches = run.reduce_all(job).unwrap();
    fault(&mut run, &mut batches);
    let error = run.publish(batches).unwrap_err();
    assert_eq!(published(job), before, "{error}");
    assert!(staging(job).is_empty(), "{error}");
    error
}

#[test]
fn what_was_lost_or_counted_twice_or_belongs_elsewhere_is_not_published() {
    ROWS_PER_BORDER_HERE.set(100);
    let (directory, rows) = (Directory::new(), rows(2_000, 3));
    let job = directory.job("cluster");
    on_one_machine(&job, &rows[..1_500]);
    let check = |wanted: &str, fault: fn(&mut Run, &mut Vec<RegionBatch>)| {
        let error = refused(&job, &rows, fault);
        assert_eq!(error.kind(), ErrorKind::Data, "{error}");
        assert!(error.to_string().contains(wanted), "{error}");
    };
    check("is missing", |_, batches| drop(batches.pop()));
    check("was given twice", |_, batches| batches.push(batches[0].clone()));
    check("rows were accepted", |run, _| drop(run.packed.pop()));
    check("rows were accepted", |run, _| run.packed.push(run.packed[0].clone()));
    check("rows were accepted", |_, batches| batches[0].rows -= 1);
    check("has read other rows", |run, _| run.packed[0].sum ^= 1);
    check("another plan", |run, _| run.plan.accepted += 1);
    check("another run", |run, _| run.packed[0].provenance.run.push('0'));
    check("sitemill 9.9.9", |_, batches| batches[0].provenance.version = "9.9.9".into());
    let error = refused(&job, &rows, |_, batches| {
        let sitemaps = batches.iter().flat_map(|batch| &batch.batch.sitemaps);
        let out = &job.publication.out;
        let new = sitemaps.map(|made| &made.sitemap.file).find(|file| !out.join(file).exists()).unwrap();
        fs::remove_file(staging(&job)[0].join(new)).unwrap();
    });
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    on_cluster(&job, &rows, 4, 3).unwrap();
}

#[test]
fn a_run_that_fails_names_the_set_whose_switch_it_has_completed() {
    let (directory, rows) = (Directory::new(), rows(300, 8));
    let job = directory.job("cluster");
    on_one_machine(&job, &rows);
    let manifest = fs::read(state(&job).join("manifest.json")).unwrap();
    let mut journal: Value = serde_json::from_slice(&manifest).unwrap();
    journal["run"] = "dead-run".into();
    journal.as_object_mut().unwrap().remove("checksum");
    fs::write(state(&job).join("manifest.next.json"), journal.to_string()).unwrap();
    let mut run = Run::map(&job, &rows, 2, 2).unwrap();
    run.packed[0].provenance.run.push('0');
    let planned = run.driver.plan(&run.packed).map(drop);
    run.packed[0].provenance.run.pop();
    let published = run.publish(Vec::new()).map(drop);
    for (failed, why) in [(planned, "another run"), (published, "arrived in the regions")] {
        let error = failed.unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("of https://h.example/ is live now"), "{error}");
    }
}

#[test]
fn damaged_blocks_and_messages_of_other_versions_or_options_are_refused() {
    ROWS_PER_BORDER_HERE.set(100);
    let (directory, rows) = (Directory::new(), rows(900, 4));
    let job = directory.job("cluster");
    let run = Run::map(&job, &rows, 1, 1).unwrap();
    let work_order = run.driver.work_order();
    let kind = |result: Result<()>| result.map_err(|error| error.kind());
    let (region, block) = run.routed[0][0].clone();
    let push = |region: u32, block: &[u8]| {
        Regions::new(&job, work_order, &run.plan, &std::env::temp_dir())
            .and_then(|mut to| to.push(region, block))
    };
    assert_eq!(kind(push(region, &block)), Ok(()));
    assert_eq!(kind(push(region ^ 1, &block)), Err(ErrorKind::Data), "another region");
    assert_eq!(kind(push(99, &block)), Err(ErrorKind::Data), "no such region");
    for at in (0..50).chain([block.len() - 1]) {
        let mut damaged = block.clone();
        damaged[at] ^= 1;
        assert_eq!(kind(push(region, &damaged)), Err(ErrorKind::Data), "byte {at}");
    }
    for bytes in [0, 10, 31, 32, block.len() - 1] {
        assert_eq!(kind(push(region, &block[..bytes])), Err(ErrorKind::Data), "{bytes} bytes");
    }
    let routed = Router::new(&run.plan, 0).unwrap().push(&block, &mut |_, _| Ok(()));
    assert_eq!(kind(routed), Err(ErrorKind::Data), "it was routed before");

    let of_version = work_order.to_json().replace(env!("CARGO_PKG_VERSION"), "9.9.9");
    assert!(WorkOrder::from_json(&of_version).unwrap_err().to_string().contains("9.9.9"));
    assert_eq!(WorkOrder::from_json("{}").unwrap_err().kind(), ErrorKind::Data);
    assert!(!format!("{work_order:?}").contains(&work_order.secret));
    let mut other = job.clone();
    other.rules.urls_per_sitemap = 51;
    let packed = pack(&other, work_order, Source::rows("", ["x"]), 0, &mut |_| Ok(()), &Stop::default());
    assert_eq!(packed.unwrap_err().kind(), ErrorKind::Data);
}

#[test]
fn a_driver_that_is_gone_leaves_nothing_and_its_workers_fail() {
    let (directory, rows) = (Directory::new(), rows(400, 6));
    let job = directory.job("cluster");
    let mut run = Run::map(&job, &rows, 2, 2).unwrap();
    run.reduce_all(&job).unwrap();
    assert_eq!(Driver::open(&job, &Stop::default()).unwrap_err().kind(), ErrorKind::Busy);
    let work_order = run.driver.work_order().clone();
    let mut late = Regions::new(&job, &work_order, &run.plan, &std::env::temp_dir()).unwrap();
    run.routed[0].iter().for_each(|(region, block)| late.push(*region, block).unwrap());
    let other = directory.job("other");
    run.driver = Driver::open(&other, &Stop::default()).unwrap();
    assert!(staging(&job).is_empty());
    let error = late.finish(&Stop::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Output, "{error}");
    assert!(error.to_string().contains("has ended"), "{error}");
    assert!(staging(&job).is_empty() && !job.publication.out.join(".sitemill/manifest.json").exists());
    for work_order in [&work_order, &WorkOrder { probe: "0".into(), ..run.driver.work_order().clone() }] {
        let error = work_order.check_reachable().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Output);
        assert!(error.to_string().contains("not shared"), "{error}");
    }
    run.driver.work_order().check_reachable().unwrap();
}

#[test]
fn a_job_that_a_cluster_cannot_do_is_refused_with_the_reason() {
    let directory = Directory::new();
    let check = |wanted: &str, change: fn(&mut Job)| {
        let mut job = directory.job("cluster");
        change(&mut job);
        let error = Driver::open(&job, &Stop::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
        assert!(error.to_string().contains(wanted), "{error}");
    };
    check("`on_duplicate: newest`", |job| job.rules.on_duplicate = OnDuplicate::First);
    check("`order: sorted`", |job| job.rules.order = Order::Input);
    check("`divide: stable`", |job| job.rules.divide = Divide::Fill);
    check("one site", |job| job.rules.base_url = "{origin}/".parse().unwrap());
    check("its source", |job| job.input.paths = vec!["urls.txt".into()]);
    check("`rejects`", |job| job.publication.rejects = Some("rejects.tsv".into()));
    check("`urls_per_sitemap", |job| job.rules.urls_per_sitemap = 0);
}

#[test]
fn rows_of_another_region_are_an_error_and_no_duplicates() {
    ROWS_PER_BORDER_HERE.set(100);
    let directory = Directory::new();
    let job = directory.job("cluster");
    let mut run = Run::map(&job, &rows(2_000, 6), 3, 1).unwrap();
    let stamp = run.plan.stamp();
    let (region, block) = run.routed[0].iter_mut().find(|(region, _)| *region > 0).unwrap();
    let sealed = Sealed::of(block, stamp_of(stamp, *region)).unwrap();
    *block = sealed.with_stamp(stamp_of(stamp, *region - 1)).unwrap();
    *region -= 1;
    let error = run.reduce_all(&job).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert!(error.to_string().contains("rows, but"), "{error}");
}

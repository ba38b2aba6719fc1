//! The results of pack: its blocks, what becomes of them on their way to the regions, and candidates for borders.

use super::super::block::{Decoder, Sealed};
use super::*;

/// So many that the ranges are chosen before the last of them is read.
const PAGES: usize = 200_000;

/// Rows whose order is not that of their URLs.
fn pages() -> Vec<SourceRow> {
    let page = |n: usize| format!("https://h.example/a-shop-with-long-names/{:06}", n * 7_919 % PAGES);
    (0..PAGES).map(|n| SourceRow::new(page(n))).collect()
}

/// Packs `rows` as one partition. Returns the result and the blocks.
fn packed(job: &Job, driver: &Driver, rows: Vec<SourceRow>) -> (Packed, Vec<Vec<u8>>) {
    let mut blocks = Vec::new();
    let mut emit = |block| {
        blocks.push(block);
        Ok(())
    };
    let packed =
        pack(job, driver.work_order(), Source::rows("", rows), 0, &mut emit, &Stop::default()).unwrap();
    (packed, blocks)
}

#[test]
fn a_block_has_similar_urls_and_says_which_are_the_first_and_the_last() {
    let directory = Directory::new();
    let job = directory.job("cluster");
    let driver = Driver::open(&job, &Stop::default()).unwrap();
    let (stamp, mut decoder) = (driver.work_order().provenance.stamp(), Decoder::new().unwrap());
    let mut check = |rows: Vec<SourceRow>| {
        let (count, (packed, blocks)) = (rows.len(), packed(&job, &driver, rows));
        assert_eq!(packed.accepted(), count as u64);
        let mut all = Vec::new();
        let mut ends: Vec<[Vec<u8>; 2]> = Vec::new();
        for block in &blocks {
            let block = Sealed::of(block, stamp).unwrap();
            let mut urls = Vec::new();
            let entries = block.open(&mut decoder).unwrap();
            let mut add = |entry: crate::sitemap::entry::Entry<'_>| {
                urls.push(entry.url.as_bytes().to_vec());
                Ok(())
            };
            entries.try_for_each(&mut add).unwrap();
            urls.sort_unstable();
            assert_eq!((entries.rows as usize, block.first), (urls.len(), &urls[0][..]));
            assert_eq!(block.last, urls.last().unwrap());
            ends.push([block.first.to_vec(), block.last.to_vec()]);
            all.extend(urls);
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        ends.sort_unstable();
        ends
    };
    // Ranges do not overlap, and each has one or two blocks.
    let ends = check(pages());
    assert!((200..600).contains(&ends.len()), "{}", ends.len());
    let overlaps = ends.windows(2).filter(|two| two[0][1] >= two[1][0]).count();
    assert!(overlaps <= ends.len() / 2, "{overlaps} of {}", ends.len());
    // Almost all rows come after the URLs from which the ranges were chosen.
    let mut sorted = pages();
    sorted.sort_unstable_by_key(|row| format!("{row:?}"));
    let ends = check(sorted);
    assert!(ends.windows(2).all(|two| two[0][1] < two[1][0]));
    assert_eq!(check(pages().into_iter().take(5).collect()).len(), 1);
    assert!(check(Vec::new()).is_empty());
}

#[test]
fn a_block_is_opened_on_its_way_only_if_a_border_is_among_its_urls() {
    ROWS_PER_BORDER_HERE.set(PAGES as u64 / 8);
    let directory = Directory::new();
    let [one, job] = ["one", "cluster"].map(|out| {
        let mut job = directory.job(out);
        job.rules.urls_per_sitemap = 2_000;
        job
    });
    on_one_machine(&one, &pages());
    let mut driver = Driver::open(&job, &Stop::default()).unwrap();
    let (packed, blocks) = packed(&job, &driver, pages());
    let packed = vec![packed];
    let Planned::Ready(plan) = driver.plan(&packed).unwrap() else { panic!("there are candidates enough") };
    assert_eq!(plan.regions(), 9);
    let mut router = Router::new(&plan, 64 << 20).unwrap();
    let (mut routed, mut opened) = (Vec::new(), 0);
    for block in &blocks {
        let before = routed.len();
        let mut emit = |region, routed_block: Vec<u8>| {
            assert_eq!(routed_block.len(), block.len());
            routed.push((region, routed_block));
            Ok(())
        };
        router.push(block, &mut emit).unwrap();
        opened += usize::from(routed.len() == before);
    }
    assert!((1..=16).contains(&opened), "{opened} of {}", blocks.len());
    let mut emit = |region, block| {
        routed.push((region, block));
        Ok(())
    };
    router.finish(&mut emit).unwrap();
    let run = Run { driver, packed, plan, routed: vec![routed] };
    let batches = run.reduce_all(&job).unwrap();
    run.publish(batches).unwrap();
    is_same(&job, &one);
}

#[test]
fn if_there_are_too_few_candidates_for_borders_the_driver_asks_for_more() {
    ROWS_PER_BORDER_HERE.set(10);
    let (directory, rows) = (Directory::new(), rows(3_000, 7));
    let [one, job] = ["one", "cluster"].map(|out| directory.job(out));
    on_one_machine(&one, &rows);
    let stop = Stop::default();
    let mut driver = Driver::open(&job, &stop).unwrap();
    let mut blocks = Vec::new();
    let mut packed = |candidates: usize| {
        let (source, work_order) = (Source::rows("", rows.clone()), driver.work_order().clone());
        blocks.clear();
        let mut emit = |block| {
            blocks.push(block);
            Ok(())
        };
        let packed = vec![pack(&job, &work_order, source, candidates, &mut emit, &stop).unwrap()];
        (driver.plan(&packed).unwrap(), packed)
    };
    let (Planned::MoreCandidates(wanted), _) = packed(0) else { panic!("64 are enough") };
    assert_eq!(wanted, 256);
    let (Planned::Ready(plan), packed) = packed(wanted) else { panic!("{wanted} are not enough") };
    let mut routed = vec![Vec::new()];
    let mut router = Router::new(&plan, 1 << 20).unwrap();
    let mut emit = |region, block| {
        routed[0].push((region, block));
        Ok(())
    };
    blocks.iter().for_each(|block| router.push(block, &mut emit).unwrap());
    router.finish(&mut emit).unwrap();
    let run = Run { driver, packed, plan, routed };
    let batches = run.reduce_all(&job).unwrap();
    run.publish(batches).unwrap();
    is_same(&job, &one);
}

//! moto as a second opinion on the basics: another implementation of the protocol, with different responses.

use crate::proxy::{Fault, Moment};
use crate::support::finish;
use crate::world::{PREFIX, Store, pages, urls};

#[test]
fn moto_keeps_sets_as_s3s_fs_does() {
    let (moto, s3s) = (Store::moto(), Store::new());
    let (bucket, other) = (moto.bucket("bucket"), s3s.bucket("bucket"));
    for bucket in [&bucket, &other] {
        bucket.put_foreign();
        bucket.publish(1, 60).expect(0);
        bucket.publish(1, 75).expect(0);
    }
    let published = |bucket: &crate::world::Bucket| {
        let mut objects = bucket.objects(PREFIX);
        objects.retain(|key, _| !key.starts_with(".sitemill/"));
        objects
    };
    assert_eq!(published(&bucket), published(&other));
    bucket.assert_nothing_is_left();
    bucket.assert_foreign();

    // Without changes, no sitemap is uploaded or requested.
    bucket.proxy.forward();
    bucket.publish(1, 75).expect(0);
    assert!(!bucket.proxy.log().iter().any(|request| request.key.ends_with(".gz")));
    // Responses are lost.
    bucket.proxy.plan(|request| {
        if request.method == "PUT" && request.attempt == 1 { Fault::LoseAnswer } else { Fault::None }
    });
    bucket.publish(1, 90).expect(0);
    assert_eq!(bucket.urls(), urls(1, 90));
    // A run is killed during the switch.
    let mut indexes = 0;
    bucket.proxy.plan(move |request| {
        let is_index = request.method == "PUT" && request.key.starts_with("maps/sitemap-index-");
        indexes += usize::from(is_index);
        if is_index && indexes == 2 { Fault::Kill(Moment::Before) } else { Fault::None }
    });
    let input = moto.directory.file("urls.txt", pages(31, 90));
    assert_eq!(bucket.run_as_target(&mut bucket.build(), &input).exit, 137);
    bucket.crawl();
    bucket.proxy.forward();
    finish(&mut bucket.build(), b"").expect(65);
    assert_eq!(bucket.urls(), urls(31, 90));
    bucket.assert_nothing_is_left();
    // A rollback, a sitemap that another tool replaced, and a missing bucket.
    let rollback = ["rollback", "--quiet", "--out", &bucket.out()].map(str::to_owned);
    finish(bucket.sitemill().args(rollback), b"").expect(0);
    assert_eq!(bucket.urls(), urls(1, 90));
    let damaged =
        bucket.json("maps/.sitemill/manifest.json")["sitemaps"][0]["file"].as_str().unwrap().to_owned();
    bucket.put(&format!("{PREFIX}{damaged}"), b"other bytes");
    bucket.publish(1, 90).expect(0);
    assert_eq!(bucket.urls(), urls(1, 90));
    bucket.assert_nothing_is_left();
    bucket.assert_foreign();
    moto.without_bucket("nowhere").publish(1, 30).expect(73);
}

//! Runs whose credentials do not permit all requests.

use crate::proxy::Fault;
use crate::support::finish;
use crate::world::{Store, pages, urls};

const DENIED: Fault = Fault::Answer(403, "AccessDenied");

#[test]
fn a_role_that_may_not_delete_is_a_warning_of_each_run_that_names_the_permission() {
    let store = Store::new();
    // S3 gives an answer for each object, or one for all.
    for (case, denied, answer) in [
        ("each", Fault::DenyDeletion("AccessDenied"), "Access Denied"),
        ("all", DENIED, "Injected by a test."),
    ] {
        let bucket = store.bucket(case);
        bucket.proxy.plan(move |request| {
            let is_deletion = request.method == "POST" && request.query.starts_with("delete");
            if is_deletion { denied } else { Fault::None }
        });
        // What a refused run leaves, the next one cannot remove either.
        finish(&mut bucket.build(), b"").expect(65);
        assert!(bucket.keys().iter().any(|key| key.contains("/staging/")));
        for last in [60, 75] {
            let run = bucket.publish(1, last).expect(0);
            let staging = format!("warning: {}/.sitemill/staging/", bucket.out());
            let denial = format!(
                "could not be removed: the request was denied (AccessDenied: {answer}); it needs the permission \
                 s3:DeleteObject; the credentials are from the environment (AWS_ACCESS_KEY_ID)"
            );
            assert!(run.stderr.contains(&staging) && run.stderr.contains(&denial), "{}", run.stderr);
            assert_eq!(bucket.urls(), urls(1, last));
        }
        // A run that may remove objects removes what the others have left.
        bucket.proxy.forward();
        assert_eq!(bucket.publish(1, 90).expect(0).stderr, "");
        bucket.assert_nothing_is_left();
    }
}

#[test]
fn an_object_that_may_be_read_but_not_listed_is_an_input() {
    let store = Store::new();
    let bucket = store.bucket("exports");
    bucket.put("day/urls.txt", pages(1, 3).as_bytes());
    bucket.proxy.plan(|request| {
        let is_listing = request.query.contains("list-type=2");
        let is_missing = request.key == "day/none.txt";
        if is_listing || is_missing { DENIED } else { Fault::None }
    });
    let clean = |input: &str| finish(bucket.sitemill().args(["clean", "--quiet", input]), b"");
    assert_eq!(clean("s3://exports/day/urls.txt").expect(0).stdout, pages(1, 3).as_bytes());
    // Only a listing would show these.
    for input in ["s3://exports/day/none.txt", "s3://exports/day/", "s3://exports/day/*.txt"] {
        let refused = clean(input).expect(77);
        assert!(refused.stderr.contains("could not be read: the request was denied"), "{}", refused.stderr);
        assert!(refused.stderr.contains("; it needs the permission s3:ListBucket;"), "{}", refused.stderr);
    }
}

#[test]
fn an_object_that_may_not_be_looked_up_may_be_missing_and_a_token_that_has_expired_is_named() {
    let store = Store::new();
    // A response to a HEAD request has no body.
    for (case, fault, said) in [
        ("denied", DENIED, "s3:GetObject, or s3:ListBucket if there is no such object"),
        ("expired", Fault::Answer(400, "ExpiredToken"), "ExpiredToken"),
    ] {
        let bucket = store.bucket(case);
        bucket.publish(1, 60).expect(0);
        bucket.proxy.plan(move |request| {
            let is_kept_set = request.key.contains("/.sitemill/sets/") && !request.is_write();
            if is_kept_set { fault } else { Fault::None }
        });
        let refused = bucket.publish(1, 75).expect(77).stderr;
        assert!(refused.contains("could not be accessed") && refused.contains(said), "{refused}");
    }
}

#[test]
fn a_run_whose_commit_is_denied_has_published_nothing() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    bucket.publish(1, 60).expect(0);
    let mut is_expired = false;
    bucket.proxy.plan(move |request| {
        // The last object before the commit.
        let is_staged = request.key.contains("/staging/") && request.key.ends_with("/manifest.json");
        let is_denied = is_expired && request.is_write() && !request.key.contains("/sets/");
        is_expired |= is_staged && request.is_write();
        if is_denied { Fault::Answer(400, "ExpiredToken") } else { Fault::None }
    });
    let refused = bucket.publish(1, 75).expect(77).stderr;
    assert!(refused.contains("journal.json") && refused.contains("ExpiredToken"), "{refused}");
    assert!(!refused.contains("has begun"), "{refused}");
    bucket.proxy.forward();
    assert_eq!(bucket.urls(), urls(1, 60));
    bucket.publish(1, 75).expect(0);
    bucket.assert_nothing_is_left();
}

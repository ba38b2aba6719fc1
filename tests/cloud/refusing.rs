//! Stores, keys and objects that a run must refuse.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::proxy::{Fault, Request};
use crate::servers::{ACCESS_KEY, SECRET_KEY};
use crate::support::{ROBOTS_FILE, assert_says, ended, finish};
use crate::world::{BASE, Bucket, PREFIX, Store, pages, urls};

/// Every command that accesses a store.
fn commands(bucket: &Bucket) -> Vec<Command> {
    let out = bucket.out();
    let lines: [&[&str]; 6] = [
        &["check", &out],
        &["urls", &out],
        &["diff", &out, &out],
        &["status", &out],
        &["rollback", "--out", &out],
        &[],
    ];
    let command = |line: &&[&str]| {
        let mut command = if line.is_empty() { bucket.build() } else { bucket.sitemill() };
        command.args(*line);
        command
    };
    lines.iter().map(command).collect()
}

#[test]
fn a_bucket_that_does_not_exist_is_named() {
    let store = Store::new();
    let _other = store.bucket("other");
    let bucket = store.without_bucket("nowhere");
    let refused = bucket.publish(1, 30).expect(73);
    assert_says(&refused, &["s3://nowhere", "there is no such bucket", "NoSuchBucket"]);
    for mut command in commands(&bucket) {
        let run = finish(&mut command, pages(1, 30).as_bytes());
        let exit = if command.get_args().any(|argument| argument == "build") { 73 } else { 66 };
        assert_eq!(run.exit, exit, "{command:?}: {}", run.stderr);
        assert_says(&run, &["s3://nowhere"]);
    }
    // Nothing was created.
    assert_eq!(bucket.request("GET", "", "list-type=2", b"").status, 404);
}

/// Fails if `text` contains a key, or parts of a signature that a store may repeat.
#[track_caller]
fn assert_no_secrets(what: &str, text: &[u8], secrets: &[&str]) {
    let text = String::from_utf8_lossy(text);
    for secret in secrets.iter().chain(&["Signature=", "StringToSign", "AWS4-HMAC"]) {
        assert!(!text.contains(secret), "{what} contains {secret}: {text}");
    }
}

#[test]
fn a_wrong_key_is_refused_without_being_shown() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    bucket.publish(1, 30).expect(0);
    bucket.proxy.forward();
    let before = bucket.objects("");
    let report = store.directory.join("report.json");
    let [wrong_id, wrong_secret] = ["AKIAWRONGWRONGWRONG1", "WrongSecretWrongSecretWrongSecretWrong01"];
    for (id, secret) in [(ACCESS_KEY, wrong_secret), (wrong_id, wrong_secret), (wrong_id, SECRET_KEY)] {
        for mut command in commands(&bucket) {
            command.env("AWS_ACCESS_KEY_ID", id).env("AWS_SECRET_ACCESS_KEY", secret);
            if command.get_args().any(|argument| argument == "build") {
                command.arg("--report").arg(&report);
            }
            let run = finish(&mut command, pages(1, 45).as_bytes()).expect(77);
            assert_says(&run, &["s3://bucket", "AWS_ACCESS_KEY_ID"]);
            // The responses of s3s-fs to wrong secrets and unknown keys.
            let answers = ["SignatureDoesNotMatch", "NotSignedUp"];
            assert!(answers.iter().any(|answer| run.stderr.contains(answer)), "{}", run.stderr);
            let secrets = [id, secret];
            assert_no_secrets("standard error", run.stderr.as_bytes(), &secrets);
            assert_no_secrets("standard output", &run.stdout, &secrets);
            assert_no_secrets("the report", &std::fs::read(&report).unwrap_or_default(), &secrets);
        }
    }
    assert_eq!(bucket.objects(""), before);
}

#[test]
fn nothing_that_a_run_writes_contains_the_key() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    let secrets = [ACCESS_KEY, SECRET_KEY];
    let report = store.directory.join("report.json");
    let html = store.directory.join("report.html");
    for (log, last) in [("text", 60), ("json", 75)] {
        let mut build = bucket.sitemill();
        build.args([
            "build",
            "--base-url",
            BASE,
            "--out",
            &bucket.out(),
            "--log",
            log,
            "--progress",
            "always",
        ]);
        build.arg("--report").arg(&report).arg("--html").arg(&html).env("RUST_LOG", "trace");
        let run = finish(&mut build, pages(1, last).as_bytes()).expect(0);
        assert_no_secrets("standard error", run.stderr.as_bytes(), &secrets);
        for file in [&report, &html] {
            assert_no_secrets("a report", &std::fs::read(file).unwrap(), &secrets);
        }
    }
    for (key, bytes) in bucket.objects("") {
        assert_no_secrets(&key, &bytes, &secrets);
    }
    // Messages about a failing store do not contain it either.
    bucket.proxy.plan(|_| Fault::Answer(403, "AccessDenied"));
    let run = bucket.publish(1, 30).expect(77);
    assert_says(&run, &["AccessDenied", "AWS_ACCESS_KEY_ID"]);
    assert_no_secrets("standard error", run.stderr.as_bytes(), &secrets);
}

#[test]
fn a_profile_has_the_key_and_messages_name_its_file() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    let credentials = |secret: &str| {
        let text = format!("[night]\naws_access_key_id = {ACCESS_KEY}\naws_secret_access_key = {secret}\n");
        store.directory.file("credentials", text)
    };
    let build = |file: &Path| {
        let mut build = bucket.build();
        build.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
        build.env("AWS_SHARED_CREDENTIALS_FILE", file).env("AWS_PROFILE", "night");
        finish(&mut build, pages(1, 30).as_bytes())
    };
    build(&credentials(SECRET_KEY)).expect(0);
    assert_eq!(bucket.urls(), urls(1, 30));
    let file = credentials("wrong");
    let refused = build(&file).expect(77);
    assert_says(&refused, &[file.to_str().unwrap(), "SignatureDoesNotMatch"]);
    assert_no_secrets("standard error", refused.stderr.as_bytes(), &[ACCESS_KEY, "wrong"]);
    // No key at all.
    std::fs::write(&file, "").unwrap();
    let mut nothing = bucket.build();
    nothing
        .env_remove("AWS_ACCESS_KEY_ID")
        .env_remove("AWS_SECRET_ACCESS_KEY")
        .env("AWS_SHARED_CREDENTIALS_FILE", &file);
    // A cloud machine may have a role.
    assert_says(&finish(&mut nothing, b"").expect(77), &["s3://bucket", "credentials"]);
}

#[test]
fn a_role_needs_no_permissions_outside_the_prefix() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    let is_outside = |request: &Request| !request.key.is_empty() && !request.key.starts_with(PREFIX);
    let denied = Fault::Answer(403, "AccessDenied");
    bucket.proxy.plan(move |request| if is_outside(request) { denied } else { Fault::None });
    bucket.publish(1, 30).expect(0);
    bucket.publish(1, 45).expect(0);
    assert!(bucket.proxy.log().iter().any(is_outside));
    bucket.assert_nothing_is_left();
}

#[test]
fn a_bucket_in_another_region_is_a_usage_error_that_says_what_to_set() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    for mut command in commands(&bucket) {
        bucket.proxy.plan(|_| Fault::Answer(301, "PermanentRedirect"));
        let refused = finish(&mut command, pages(1, 30).as_bytes()).expect(2);
        assert_says(&refused, &["s3://bucket", "; set AWS_REGION to the region of the bucket"]);
        // `status` asks for some objects twice.
        assert!(bucket.proxy.log().iter().all(|request| request.attempt <= 2), "{command:?}");
    }
}

#[test]
fn a_scheme_that_is_not_known_is_a_usage_error_with_those_that_are() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    for location in ["ftp://h.example/maps", "hdfs://h/maps"] {
        let mut build = bucket.sitemill();
        build.args(["build", "--base-url", BASE, "--out", location]);
        let refused = finish(&mut build, pages(1, 3).as_bytes()).expect(2);
        assert_says(&refused, &["s3://", "gs://", "az://"]);
        let refused = finish(bucket.sitemill().args(["check", location]), b"").expect(2);
        assert_says(&refused, &["s3://", "gs://", "az://"]);
    }
    assert!(bucket.proxy.log().is_empty());
}

#[test]
fn an_endpoint_gets_no_requests_for_two_kinds_of_stores() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    bucket.publish(1, 30).expect(0);
    let endpoint = format!("http://{}", bucket.proxy.address);
    let mut diff = bucket.sitemill();
    diff.env("AZURE_STORAGE_ACCOUNT", "shop").env("AZURE_STORAGE_KEY", "c2VjcmV0");
    diff.args(["diff", "--endpoint", &endpoint, &bucket.out(), "az://bucket/set"]);
    let refused = finish(&mut diff, b"").expect(2);
    assert_says(&refused, &["az://bucket/set", "--endpoint", "AZURE_STORAGE_ENDPOINT"]);
    assert!(bucket.proxy.log().iter().all(|request| !request.query.contains("comp=")));
}

#[test]
fn a_url_of_google_that_is_none_is_a_usage_error_and_an_empty_one_does_not_count() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    let status = |url: &str| {
        let mut status = bucket.sitemill();
        status
            .env("GOOGLE_BASE_URL", url)
            .env("GOOGLE_ALLOW_HTTP", "")
            .env("GOOGLE_SERVICE_ACCOUNT", "/none");
        finish(status.args(["status", "gs://bucket/set"]), b"").expect(2)
    };
    assert_says(&status("storage.example.com"), &["GOOGLE_BASE_URL", "is not the URL of a store"]);
    assert_says(&status(""), &["gs://bucket/set", "/none"]);
}

#[test]
fn a_store_that_ignores_conditions_is_refused_unless_that_is_allowed() {
    let store = Store::new();
    for last in [0, 60] {
        let bucket = store.bucket(&format!("bucket-{last}"));
        if last > 0 {
            bucket.publish(1, last).expect(0);
        }
        let published = |bucket: &Bucket| {
            let mut objects = bucket.objects(PREFIX);
            objects.retain(|key, _| !key.ends_with("/journal.json"));
            objects
        };
        let before = published(&bucket);
        bucket.proxy.plan(|_| Fault::IgnoreConditions);
        let refused = bucket.publish(1, 75).expect(73);
        assert_says(&refused, &[&bucket.out(), "ignores the conditions", "--allow-unsafe-store"]);
        assert_eq!(published(&bucket), before);
        let mut allowed = bucket.build();
        finish(allowed.arg("--allow-unsafe-store"), pages(1, 75).as_bytes()).expect(0);
        assert_eq!(bucket.urls(), urls(1, 75));
        bucket.proxy.forward();
        bucket.publish(1, 60).expect(0);
        bucket.assert_nothing_is_left();
    }
}

#[test]
fn a_store_of_the_files_that_ignores_conditions_is_refused_if_the_state_is_elsewhere() {
    let store = Store::new();
    let (bucket, private) = (store.bucket("bucket"), store.bucket("private"));
    let ignore = |bucket: &'static str| {
        move |request: &Request| match request.head.first_line.contains(&format!(" /{bucket}/")) {
            true => Fault::IgnoreConditions,
            false => Fault::None,
        }
    };
    let build = |options: &[&str]| {
        let mut build = bucket.build();
        build.args(["--state", &private.location("state")]).args(options);
        finish(&mut build, pages(1, 75).as_bytes())
    };
    for (unsafe_bucket, named) in [("bucket", bucket.out()), ("private", private.location("state"))] {
        bucket.proxy.plan(ignore(unsafe_bucket));
        let refused = build(&[]).expect(73);
        assert_says(
            &refused,
            &[&format!("{named}: the store ignores the conditions"), "--allow-unsafe-store"],
        );
        assert_eq!(bucket.keys(), [""; 0]);
    }
    build(&["--allow-unsafe-store"]).expect(0);
    bucket.proxy.forward();
    build(&[]).expect(0);
    assert!(!bucket.keys().iter().any(|key| key.contains(".sitemill")), "{:?}", bucket.keys());
    // The bucket of the state shows what a store does with conditions in the same bucket.
    let probes = |log: &[Request]| log.iter().filter(|request| request.key.ends_with("/probe.json")).count();
    assert!(probes(&bucket.proxy.log()) > 0);
    bucket.proxy.forward();
    finish(bucket.build().args(["--state", &bucket.location("state")]), pages(1, 75).as_bytes()).expect(73);
    assert_eq!(probes(&bucket.proxy.log()), 0);
}

#[test]
fn a_store_that_rejects_conditions_is_refused_unless_that_is_allowed() {
    let store = Store::new();
    for (case, rejected) in [&["if-match", "if-none-match"][..], &["if-match"]].into_iter().enumerate() {
        let bucket = store.bucket(&format!("bucket-{case}"));
        let unknown = Fault::Answer(400, "InvalidArgument");
        bucket.proxy.plan(move |request| {
            let is_rejected = rejected.iter().any(|name| request.head.header(name).is_some());
            if request.method == "PUT" && is_rejected { unknown } else { Fault::None }
        });
        let refused = bucket.publish(1, 75).expect(73);
        assert_says(&refused, &["the conditions of uploads", "--allow-unsafe-store"]);
        finish(bucket.build().arg("--allow-unsafe-store"), pages(1, 75).as_bytes()).expect(0);
        assert_eq!(bucket.urls(), urls(1, 75));
    }
}

#[test]
fn foreign_objects_under_our_names_are_refused_or_taken_over_with_a_copy() {
    let store = Store::new();
    for (case, name) in ["sitemap-index-1.xml", ROBOTS_FILE].into_iter().enumerate() {
        let bucket = store.bucket(&format!("bucket-{case}"));
        let key = format!("{PREFIX}{name}");
        bucket.put_foreign();
        bucket.put(&key, b"their words");
        let before = bucket.objects(PREFIX);
        let refused = bucket.publish(1, 60).expect(73);
        assert_says(&refused, &[&bucket.location(&key), "is in the way", "--take-over"]);
        let mut after = bucket.objects(PREFIX);
        after.retain(|key, _| !key.starts_with(".sitemill/"));
        assert_eq!(after, before);
        finish(bucket.build().arg("--take-over"), pages(1, 60).as_bytes()).expect(0);
        assert_eq!(bucket.urls(), urls(1, 60));
        let copies = bucket.objects(&format!("{PREFIX}.sitemill/taken-over/"));
        assert_eq!(copies.into_values().collect::<Vec<_>>(), [b"their words"]);
        bucket.publish(1, 75).expect(0);
        assert_eq!(bucket.urls(), urls(1, 75));
        bucket.assert_foreign();
    }
}

#[test]
fn an_object_with_other_bytes_under_the_name_of_a_sitemap_is_a_damaged_sitemap_as_in_a_directory() {
    let store = Store::new();
    let (bucket, other) = (store.bucket("bucket"), store.bucket("other"));
    other.publish(1, 60).expect(0);
    let name = other.keys().into_iter().find(|key| key.ends_with(".gz")).unwrap();
    bucket.put(&name, b"other bytes");
    bucket.publish(1, 60).expect(0);
    assert_eq!(bucket.crawl(), other.crawl());
    bucket.assert_nothing_is_left();
}

#[test]
fn index_files_that_another_tool_changes_during_a_run_are_not_overwritten() {
    assert_changed_index_is_not_overwritten(&Store::new());
}

/// Changes an index file just before a run replaces it, and fails if the run does.
pub fn assert_changed_index_is_not_overwritten(store: &Store) {
    let bucket = store.bucket("bucket");
    bucket.publish(1, 60).expect(0);
    let key = format!("{PREFIX}sitemap-index-1.xml");
    let is_index = |request: &Request| request.method == "PUT" && request.key == "maps/sitemap-index-1.xml";
    bucket.proxy.plan(move |request| if is_index(request) { Fault::Hold } else { Fault::None });
    let input = store.directory.file("urls.txt", pages(31, 90));
    let run = bucket.start(&mut bucket.build(), &input);
    while !bucket.proxy.log().iter().any(is_index) {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    bucket.put(&key, b"their words");
    bucket.proxy.release();
    let run = ended(run);
    assert!([73, 75].contains(&run.exit), "exit {}: {}", run.exit, run.stderr);
    assert_says(&run, &[&bucket.location(&key)]);
    assert_eq!(bucket.get(&key).expect("theirs"), b"their words");
}

#[test]
fn a_journal_that_is_none_is_named() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    bucket.publish(1, 60).expect(0);
    bucket.put("maps/.sitemill/journal.json", b"{}");
    for options in [&[][..], &["--dry-run"]] {
        let refused = finish(bucket.build().args(options), pages(1, 75).as_bytes()).expect(65);
        assert_says(&refused, &["s3://bucket/maps/.sitemill/journal.json"]);
    }
    assert_eq!(bucket.urls(), urls(1, 60));
    let status: Value = bucket.status();
    assert_eq!(status["live"]["number"], 1);
}

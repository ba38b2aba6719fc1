//! A set in a bucket is identical to a set in a directory, and all commands print the same for both.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{Run, contents, finish, run};
use crate::world::{BASE, Bucket, PREFIX, Store, pages, urls};

/// Names and contents of all files below `directory`, except the state.
fn files_below(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_file() {
            files.insert(name, std::fs::read(entry.path()).unwrap());
        } else if name != ".sitemill" {
            let below = files_below(&entry.path());
            files.extend(below.into_iter().map(|(rest, bytes)| (format!("{name}/{rest}"), bytes)));
        }
    }
    files
}

/// Names and contents of all objects below the location of the set, except the state.
fn objects(bucket: &Bucket) -> BTreeMap<String, Vec<u8>> {
    let mut objects = bucket.objects(PREFIX);
    objects.retain(|key, _| !key.split('/').any(|part| part == ".sitemill"));
    objects
}

#[test]
fn a_set_in_a_bucket_is_byte_for_byte_the_set_in_a_directory() {
    let store = Store::new();
    let sections =
        store.directory.file("sections.toml", "first = [\"/0000001\", \"/0000002\", \"/0000003\"]\n");
    let sections = sections.to_str().unwrap();
    let input = |last: u32| pages(1, last) + &pages(7, 9) + "not a url\n";
    let cases: [&[&str]; 6] = [
        &[],
        &["--order", "sorted", "--divide", "stable"],
        &["--name", "shop"],
        &["--sections", sections],
        &["--base-url", "{origin}/"],
        &["--protocol", "0.84", "--level", "9"],
    ];
    for (case, options) in cases.into_iter().enumerate() {
        let out = store.directory.join(format!("out-{case}"));
        let bucket = store.bucket(&format!("bucket-{case}"));
        // The second run keeps some sitemaps.
        for last in [60, 75] {
            let build = |command: &mut std::process::Command, out: &str| {
                command.args(["build", "--quiet", "--urls-per-sitemap", "7", "--sitemaps-per-index", "4"]);
                let base: &[&str] = if options.contains(&"--base-url") { &[] } else { &["--base-url", BASE] };
                finish(command.args(base).args(options).args(["--out", out]), input(last).as_bytes())
            };
            let local = build(&mut crate::support::sitemill(), out.to_str().unwrap()).expect(0);
            let remote = build(&mut bucket.sitemill(), &bucket.out()).expect(0);
            assert_eq!(
                local.stderr,
                remote.stderr.replace(&bucket.out(), out.to_str().unwrap()),
                "{options:?}"
            );
            let (there, here) = (objects(&bucket), files_below(&out));
            assert!(here.len() > 10, "{options:?}: {:?}", here.keys());
            assert_eq!(there.keys().collect::<Vec<_>>(), here.keys().collect::<Vec<_>>(), "{options:?}");
            here.iter().for_each(|(file, bytes)| assert!(there[file] == *bytes, "{options:?}: {file}"));
        }
    }
}

/// The exit code and the output of a run, with its location replaced by `OUT` and without its speed.
fn said(run: Run, location: &str) -> (i32, String, String) {
    let named = |text: &str| text.replace(location, "OUT");
    let without_speed = |line: &str| match line.rsplit_once(" (") {
        Some((rest, speed)) if speed.contains(" s, ") => rest.to_owned(),
        _ => line.to_owned(),
    };
    let stderr: Vec<String> = named(&run.stderr).lines().map(without_speed).collect();
    (run.exit, named(std::str::from_utf8(&run.stdout).unwrap()), stderr.join("\n"))
}

#[test]
fn check_urls_diff_and_status_say_the_same_of_a_bucket_and_a_directory() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    let out = store.directory.join("out");
    for last in [60, 45] {
        bucket.publish(1, last).expect(0);
        let mut local = crate::support::build_command(&out, BASE);
        local.args(["--urls-per-sitemap", "10", "--sitemaps-per-index", "3", "--max-shrink", "100"]);
        finish(&mut local, pages(1, last).as_bytes()).expect(0);
    }
    let other = store.directory.join("other");
    finish(&mut crate::support::build_command(&other, BASE), pages(30, 50).as_bytes()).expect(0);
    let other = other.to_str().unwrap();
    let cases: [&[&str]; 8] = [
        &["check", "OUT"],
        &["check", "--quiet", "OUT/sitemap-index-1.xml"],
        &["urls", "OUT"],
        &["urls", "OUT/sitemap-index-2.xml"],
        &["diff", other, "OUT"],
        &["diff", "--tsv", "OUT", other],
        &["status", "--out", "OUT"],
        &["status", "OUT"],
    ];
    let compare = |what: &str| {
        for case in cases {
            let at = |out: &str| case.iter().map(|word| word.replace("OUT", out)).collect::<Vec<_>>();
            let local = said(run(at(out.to_str().unwrap())), out.to_str().unwrap());
            let remote = finish(bucket.sitemill().args(at(&bucket.out())), b"");
            assert_eq!(said(remote, &bucket.out()), local, "{what}: {case:?}");
        }
    };
    compare("a complete set");
    // One sitemap is damaged, and one is missing.
    let sitemaps: Vec<String> = contents(&out).into_iter().map(|(file, _)| file).collect();
    let sitemaps: Vec<&String> = sitemaps.iter().filter(|file| file.ends_with(".gz")).collect();
    std::fs::write(out.join(sitemaps[0]), "no gzip").unwrap();
    bucket.put(&format!("{PREFIX}{}", sitemaps[0]), b"no gzip");
    std::fs::remove_file(out.join(sitemaps[1])).unwrap();
    bucket.delete(&format!("{PREFIX}{}", sitemaps[1]));
    compare("a damaged set");
}

#[test]
fn an_endpoint_can_be_given_to_every_command() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    let endpoint = format!("http://{}", bucket.proxy.address);
    let sitemill = || {
        let mut command = bucket.sitemill();
        command.env_remove("AWS_ENDPOINT_URL");
        command
    };
    let build = ["build", "--quiet", "--endpoint", &endpoint, "--base-url", BASE, "--out", &bucket.out()];
    for last in [30, 40] {
        finish(sitemill().args(build), pages(1, last).as_bytes()).expect(0);
    }
    for command in ["check", "urls", "status"] {
        finish(sitemill().args([command, "--endpoint", &endpoint, &bucket.out()]), b"").expect(0);
    }
    let rollback = ["rollback", "--endpoint", &endpoint, "--out", &bucket.out()];
    finish(sitemill().args(rollback), b"").expect(0);
    let diff = ["diff", "--endpoint", &endpoint, &bucket.out(), &bucket.out()];
    finish(sitemill().args(diff), b"").expect(0);
    assert_eq!(bucket.urls().len(), 30);
}

/// The SHA-256 of `bytes` in hexadecimal.
fn sha256(bytes: &[u8]) -> String {
    let sum = finish(&mut Command::new("sha256sum"), bytes).expect(0);
    String::from_utf8_lossy(&sum.stdout).split_whitespace().next().unwrap().to_owned()
}

/// The CRC-64/NVME of `bytes`, eight bytes in big-endian order, computed bit by bit.
fn crc64_nvme(bytes: &[u8]) -> Vec<u8> {
    let step = |crc: u64, _| if crc & 1 == 1 { crc >> 1 ^ 0x9a6c_9329_ac4b_c9b5 } else { crc >> 1 };
    let crc = bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u64::from(byte), step));
    (!crc).to_be_bytes().to_vec()
}

#[test]
fn sitemaps_are_only_created_and_the_store_can_verify_their_bytes() {
    assert_eq!(
        crc64_nvme(b"123456789"),
        0xae8b_1486_0a79_9888_u64.to_be_bytes(),
        "the published check value"
    );
    let store = Store::new();
    for (name, unsigned) in [("default", None), ("unsigned", Some("true")), ("signed", Some("false"))] {
        let bucket = store.bucket(name);
        let mut build = bucket.build();
        unsigned.map(|value| build.env("AWS_UNSIGNED_PAYLOAD", value));
        finish(&mut build, pages(1, 60).as_bytes()).expect(0);
        let log = bucket.proxy.log();
        let puts: Vec<_> = log.iter().filter(|request| request.is_sitemap()).collect();
        assert_eq!(puts.len(), 6);
        for put in puts {
            let header = |name: &str| put.head.header(name).unwrap_or_default();
            let body = bucket.get(&put.key).body;
            assert_eq!(header("if-none-match"), "*", "{name}: {}", put.key);
            let sum = finish(Command::new("base64").arg("-d"), header("x-amz-checksum-crc64nvme").as_bytes());
            assert_eq!(sum.expect(0).stdout, crc64_nvme(&body), "{name}: {}", put.key);
            // The endpoint is on this machine, so the signature need not protect the body.
            let hash = if name == "signed" { sha256(&body) } else { "UNSIGNED-PAYLOAD".into() };
            assert_eq!(header("x-amz-content-sha256"), hash, "{name}: {}", put.key);
            for covered in ["x-amz-content-sha256", "x-amz-checksum-crc64nvme"] {
                assert!(header("authorization").contains(covered), "{name}: {}", put.key);
            }
        }
    }
}

#[test]
fn objects_have_the_headers_that_crawlers_need_and_options_change_them() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    bucket.publish(1, 60).expect(0);
    let headers = |key: &str| {
        let response = bucket.get(&format!("{PREFIX}{key}"));
        assert_eq!(response.status, 200, "{key}");
        let header = |name: &str| response.header(name).map(ToOwned::to_owned);
        assert_eq!(header("content-encoding"), None, "{key}");
        let run = header("x-amz-meta-sitemillrun");
        (header("content-type").unwrap(), header("cache-control").unwrap(), run)
    };
    let keys: Vec<String> = objects(&bucket).into_keys().collect();
    let (sitemaps, rest): (Vec<_>, Vec<_>) = keys.iter().partition(|key| key.ends_with(".gz"));
    assert_eq!((sitemaps.len(), rest.len()), (6, 3));
    for sitemap in &sitemaps {
        let (content_type, cache, run) = headers(sitemap);
        assert_eq!(content_type, "application/gzip", "{sitemap}");
        assert_eq!(cache, "public, max-age=31536000, immutable", "{sitemap}");
        assert!(run.is_some_and(|run| !run.is_empty()), "{sitemap}");
    }
    for file in rest {
        let (content_type, cache, _) = headers(file);
        let kind = if file.ends_with(".xml") { "application/xml" } else { "text/plain" };
        assert!(content_type.starts_with(kind), "{file}: {content_type}");
        assert_eq!(cache, "max-age=600", "{file}");
    }
    let changed = store.bucket("changed");
    let options =
        ["--sitemap-header", "Cache-Control: max-age=60", "--index-header", "Cache-Control: no-cache"];
    let more = ["--index-header", "Content-Language: en", "--sitemap-header", "x-amz-meta-team: shop"];
    finish(changed.build().args(options).args(more), pages(1, 60).as_bytes()).expect(0);
    for key in changed.keys().iter().filter(|key| !key.contains(".sitemill")) {
        let response = changed.get(key);
        let is_sitemap = key.ends_with(".gz");
        let cache = if is_sitemap { "max-age=60" } else { "no-cache" };
        assert_eq!(response.header("cache-control"), Some(cache), "{key}");
        assert_eq!(response.header("x-amz-meta-team"), is_sitemap.then_some("shop"), "{key}");
        if key.ends_with(".xml") {
            assert_eq!(response.header("content-language"), Some("en"), "{key}");
            assert_eq!(response.header("content-type"), Some("application/xml"), "{key}");
        }
    }
}

#[test]
fn the_state_can_be_kept_in_another_bucket() {
    let store = Store::new();
    let (bucket, state) = (store.bucket("bucket"), store.bucket("private"));
    bucket.put_foreign();
    let options = ["--state", "s3://private/of/maps"];
    for (last, exit) in [(60, 0), (75, 0), (1, 65)] {
        finish(bucket.build().args(options), pages(1, last).as_bytes()).expect(exit);
        let public = bucket.keys();
        assert!(!public.iter().any(|key| key.contains(".sitemill/")), "{public:?}");
        let private = state.keys();
        assert!(private.iter().any(|key| key.ends_with("/manifest.json")), "{private:?}");
        assert!(private.iter().all(|key| key.starts_with("of/maps/")), "{private:?}");
    }
    assert_eq!(bucket.urls().len(), 75);
    let status =
        finish(bucket.sitemill().args(["status", "--json"]).args(options).arg(bucket.out()), b"").expect(0);
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["live"]["number"], 2);
    finish(bucket.sitemill().args(["rollback", "--quiet"]).args(options).args(["--out", &bucket.out()]), b"")
        .expect(0);
    assert_eq!(bucket.urls().len(), 60);
    bucket.assert_foreign();
    // Without `--state`, sitemill does not recognise the files as its own.
    let refused = bucket.publish(1, 60).expect(73);
    assert!(refused.stderr.contains("are in the way"), "{}", refused.stderr);
    assert_eq!(bucket.urls().len(), 60);
}

#[test]
fn a_kept_set_whose_state_is_elsewhere_is_compared_with_the_live_set() {
    let store = Store::new();
    let (bucket, state) = (store.bucket("bucket"), store.bucket("private"));
    let options = ["--state", "s3://private/of/maps"];
    for last in [20, 30] {
        finish(bucket.build().args(options), pages(1, last).as_bytes()).expect(0);
    }
    let keys = state.keys();
    let kept = keys.iter().find(|key| key.contains("/sets/")).expect("the first set is kept");
    let (kept, set) = (state.location(kept), bucket.out());
    let index = format!("{set}/sitemap-index-1.xml");
    let diff =
        |old: &str, new: &str| finish(bucket.sitemill().arg("diff").args(options).args([old, new]), b"");
    for (old, new, sign) in [(&kept, &set, '+'), (&set, &kept, '-'), (&kept, &index, '+')] {
        let told = String::from_utf8(diff(old, new).expect(0).stdout).unwrap();
        let want: Vec<String> = urls(21, 30).iter().map(|url| format!("{sign} {url}")).collect();
        assert_eq!(told.lines().collect::<Vec<_>>(), want, "{old} {new}");
    }
    for other in ["s3://private/of/maps/.sitemill/manifest.json", "."] {
        let refused = diff(&kept, other).expect(2);
        let said = format!("{kept}: is in --state, which does not say where the set is published");
        assert!(refused.stderr.contains(&said), "{}", refused.stderr);
    }
}

#[test]
fn one_set_and_the_sets_of_sites_exclude_each_other_in_a_bucket_as_in_a_directory() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    let directory = store.directory.join("sites");
    for out in [directory.to_str().unwrap(), "s3://bucket/sites", "s3://bucket"] {
        let build = |base: &str, below: &str, options: &[&str]| {
            let mut command = bucket.sitemill();
            command.args(["build", "--quiet", "--base-url", base, "--out", &format!("{out}{below}")]);
            finish(command.args(options), b"https://a.example/1\nhttps://b.example/maps/2\n")
        };
        let (sites, single) = ("{origin}/", "https://a.example/");
        // The directory of a site may have sets, and other sets may be below one.
        build("https://b.example/maps/", "/b.example/maps", &[]).expect(0);
        build("https://b.example/", "/b.example", &[]).expect(0);
        build(sites, "", &[]).expect(0);
        for options in [&[][..], &["--dry-run"], &["--name", "blog"]] {
            let refused = build(single, "", options).expect(65);
            let said = format!("{out}: the sets of sites are published below it, such as {out}/");
            assert!(
                refused.stderr.contains(&said) && refused.stderr.contains("--replace-set"),
                "{refused:?}"
            );
        }
        build(single, "/a.example", &[]).expect(0);
        build(single, "", &["--replace-set"]).expect(0);
        build(single, "", &[]).expect(0);
        build(sites, "", &[]).expect(65);
        build(sites, "", &["--replace-set"]).expect(0);
    }
}

#[test]
fn a_dry_run_writes_nothing() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    let dry = || finish(bucket.build().arg("--dry-run"), pages(1, 75).as_bytes()).expect(0);
    dry();
    assert_eq!(bucket.keys(), [""; 0]);
    bucket.publish(1, 60).expect(0);
    let before = bucket.objects("");
    bucket.proxy.forward();
    dry();
    let log = bucket.proxy.log();
    let writes: Vec<_> = log.iter().filter(|request| request.is_write()).collect();
    assert!(writes.is_empty() && !log.is_empty(), "{writes:?}");
    assert_eq!(bucket.objects(""), before);
}

#[test]
fn a_command_runs_once_the_set_in_the_bucket_is_live() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    let command = "sh -c 'grep -c ^...lines...30,$; echo $SITEMILL_RUN_OUT $SITEMILL_RUN_LISTED'";
    let run = finish(bucket.build().args(["--then", command]), pages(1, 30).as_bytes()).expect(0);
    assert_eq!(run.stderr, format!("1\n{} 30\n", bucket.out()));
}

//! Settings: variables of the environment, profiles, endpoints, and the location of the state.

use std::process::Command;

use crate::kind::{ACCOUNT, ACCOUNT_KEY};
use crate::proxy::Fault;
use crate::support::{Run, finish};
use crate::world::{BASE, Bucket, Store, pages, urls};

/// A build into the bucket, changed by `change`.
fn build(bucket: &Bucket, change: impl FnOnce(&mut Command)) -> Run {
    let mut build = bucket.build();
    change(&mut build);
    finish(&mut build, pages(1, 30).as_bytes())
}

/// The key, the region and the token that the last request was signed with.
fn signed(bucket: &Bucket) -> (String, String, Option<String>) {
    let log = bucket.proxy.log();
    let head = &log.last().expect("a request").head;
    let authorization = head.header("authorization").expect("a signature");
    let (_, scope) = authorization.split_once("Credential=").unwrap();
    let parts: Vec<&str> = scope.split('/').collect();
    (parts[0].into(), parts[2].into(), head.header("x-amz-security-token").map(Into::into))
}

#[test]
fn variables_with_line_ends_work_or_are_named() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    // A secret in a file usually ends with a line feed.
    build(&bucket, |build| {
        for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_ENDPOINT_URL"] {
            let value = build.get_envs().find(|(known, _)| *known == name).unwrap().1.unwrap().to_owned();
            build.env(name, format!("{}\n", value.to_str().unwrap()));
        }
    })
    .expect(0);
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN", "AWS_REGION"] {
        let refused = build(&bucket, |build| _ = build.env(name, "5ec\nret")).expect(2);
        assert!(refused.stderr.contains(name) && !refused.stderr.contains("ret"), "{}", refused.stderr);
    }
    for value in ["60", "1m", "90s"] {
        build(&bucket, |build| _ = build.env("AWS_TIMEOUT", value)).expect(0);
    }
    let refused = build(&bucket, |build| _ = build.env("AWS_TIMEOUT", "soon")).expect(2);
    assert!(refused.stderr.contains("AWS_TIMEOUT") && refused.stderr.contains("90s"), "{}", refused.stderr);
}

#[test]
fn endpoints_and_locations_that_no_request_can_be_sent_to_are_usage_errors() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    for endpoint in ["http://127.0.0.1:99999", "http://user:5ec@127.0.0.1:1", "http://127.0.0.1:1/?x=5ec"] {
        for refused in [
            build(&bucket, |build| _ = build.args(["--endpoint", endpoint])),
            build(&bucket, |build| _ = build.env("AWS_ENDPOINT_URL", endpoint)),
        ] {
            let refused = refused.expect(2);
            let is_named =
                ["--endpoint", "AWS_ENDPOINT_URL"].iter().any(|name| refused.stderr.contains(name));
            assert!(is_named && !refused.stderr.contains("5ec"), "{}", refused.stderr);
        }
    }
    for location in ["s3://my bucket/x", "s3://b?x/y", "s3://user:pw@b/x"] {
        finish(bucket.sitemill().args(["status", location]), b"").expect(2);
        build(&bucket, |build| _ = build.arg(location)).expect(2);
    }
    for url in ["http://127.0.0.1:99999/x", "http://[zz]/a", "http://256.256.256.256/x"] {
        build(&bucket, |build| _ = build.arg(url)).expect(2);
    }
    let refused = build(&bucket, |build| _ = build.args(["--state", "https://h.example/x"])).expect(2);
    assert!(refused.stderr.contains("--state https://h.example/x"), "{}", refused.stderr);
    assert!(bucket.proxy.log().is_empty());
}

#[test]
fn a_store_that_does_not_answer_is_named_with_where_its_address_comes_from() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    let build = |change: &dyn Fn(&mut Command)| {
        let refused = build(&bucket, |build| {
            build.env("AWS_ENDPOINT_URL", "http://127.0.0.1:1").env("AWS_MAX_ATTEMPTS", "1");
            change(build);
        });
        refused.expect(74).stderr
    };
    let said = build(&|_| ());
    assert!(said.contains("(the endpoint is http://127.0.0.1:1, from AWS_ENDPOINT_URL)"), "{said}");
    let said = build(&|build| _ = build.args(["--endpoint", "http://127.0.0.1:2"]));
    assert!(said.contains("(the endpoint is http://127.0.0.1:2)"), "{said}");
    let said = build(&|build| _ = build.env("HTTP_PROXY", "http://127.0.0.1:3"));
    assert!(said.contains(", from AWS_ENDPOINT_URL; HTTP_PROXY names a proxy)"), "{said}");
}

#[test]
fn a_machine_without_a_role_is_told_to_set_credentials() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    for answer in [Fault::Answer(404, "NotFound"), Fault::Answer(400, "invalid_request")] {
        bucket.proxy.plan(move |_| answer);
        let refused = build(&bucket, |build| {
            build.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
            build.env("AWS_METADATA_ENDPOINT", format!("http://{}", bucket.proxy.address));
        });
        let said = refused.expect(77).stderr;
        assert!(said.contains("there are no credentials from the role of this machine ("), "{said}");
        assert!(said.contains("; set AWS_ACCESS_KEY_ID"), "{said}");
        // No answer of the store is waited for, and the request for a token is made once for each object.
        let log = bucket.proxy.log();
        assert!(log.len() <= 2 && log.iter().all(|request| request.key == "api/token"), "{log:?}");
    }
}

#[test]
fn a_variable_that_the_client_library_cannot_use_is_named_or_does_not_count() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    for (name, value) in [("AWS_CHECKSUM_ALGORITHM", "crc32"), ("AWS_SKIP_SIGNATURE", "maybe")] {
        let refused = build(&bucket, |build| _ = build.env(name, value)).expect(2).stderr;
        assert!(refused.contains(&format!("{name}: ")) && refused.contains(value), "{refused}");
    }
    for value in ["disabled", "dynamo:t"] {
        build(&bucket, |build| _ = build.env("AWS_CONDITIONAL_PUT", value)).expect(0);
    }
}

#[test]
fn an_endpoint_in_a_profile_for_s3_alone_is_not_replaced_by_that_of_amazon() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    let config = "[profile night]\nservices = local\n[services local]\ns3 =\n  endpoint_url = http://127.0.0.1:1\n\
         [profile day]\ns3 =\n  endpoint_url = http://127.0.0.1:1\n\
         [profile dusk]\ndynamodb =\n  endpoint_url = http://127.0.0.1:1\n  region = us-gov-1\n";
    let config = store.directory.file("config", config);
    let of_profile = |build: &mut Command| {
        build.env("AWS_CONFIG_FILE", &config).env("AWS_PROFILE", "night");
    };
    for (profile, section) in [("night", "[services local]"), ("day", "[profile day]")] {
        let refused = build(&bucket, |build| {
            of_profile(build);
            build.env("AWS_PROFILE", profile).env_remove("AWS_ENDPOINT_URL");
        });
        let refused = refused.expect(2).stderr;
        assert!(refused.contains(section) && refused.contains("AWS_ENDPOINT_URL_S3"), "{refused}");
    }
    build(&bucket, of_profile).expect(0);
    // What applies to another service is not the profile's own.
    let endpoint = format!("http://{}", bucket.proxy.address);
    build(&bucket, |build| {
        of_profile(build);
        build.env("AWS_PROFILE", "dusk").env_remove("AWS_REGION").args(["--endpoint", &endpoint]);
    })
    .expect(0);
    assert_eq!(signed(&bucket).1, "us-east-1");
}

#[test]
fn the_file_of_a_profile_may_begin_with_a_tilde() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    let (id, secret) = (crate::servers::ACCESS_KEY, crate::servers::SECRET_KEY);
    store
        .directory
        .file("cr", format!("[default]\nAWS_ACCESS_KEY_ID = {id}\nAWS_SECRET_ACCESS_KEY = {secret}\n"));
    build(&bucket, |build| {
        build.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
        build.env("HOME", store.directory.path()).env("AWS_SHARED_CREDENTIALS_FILE", "~/cr");
    })
    .expect(0);
}

#[test]
fn a_run_without_the_state_of_a_set_is_told_to_name_it() {
    let store = Store::new();
    let (bucket, private) = (store.bucket("bucket"), store.bucket("private"));
    build(&bucket, |build| _ = build.args(["--state", &private.location("so")])).expect(0);
    for (exit, refused) in [
        (65, bucket.run(&["status"])),
        (73, build(&bucket, |_| ())),
        (65, bucket.run(&["rollback"])),
        (73, build(&bucket, |build| _ = build.args(["--state", &private.location("other")]))),
    ] {
        let said = refused.expect(exit).stderr;
        assert!(said.contains(" give --state if .sitemill of the set there is elsewhere"), "{said}");
    }
}

#[test]
fn half_a_key_is_refused_with_the_missing_half() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
        let refused = build(&bucket, |build| _ = build.env_remove(name)).expect(77);
        assert!(refused.stderr.contains(&format!("but {name} is not")), "{}", refused.stderr);
    }
}

#[test]
fn the_region_of_a_profile_applies_to_other_keys_and_a_token_only_to_its_own() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    let config = store.directory.file("config", "[profile night]\nregion = ap-south-1\nsso_session = x\n");
    let of_profile = |build: &mut Command| {
        build.env("AWS_CONFIG_FILE", &config).env("AWS_PROFILE", "night").env_remove("AWS_REGION");
    };
    build(&bucket, of_profile).expect(0);
    assert_eq!(signed(&bucket), (crate::servers::ACCESS_KEY.into(), "ap-south-1".into(), None));
    // A profile that is not there has no region.
    build(&bucket, |build| _ = build.env("AWS_PROFILE", "gone")).expect(0);
    let key = format!(
        "[default]\naws_access_key_id = {}\naws_secret_access_key = {}\n",
        crate::servers::ACCESS_KEY,
        crate::servers::SECRET_KEY
    );
    let credentials = store.directory.file("credentials", key);
    build(&bucket, |build| {
        build.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
        build.env("AWS_SHARED_CREDENTIALS_FILE", &credentials).env("AWS_SESSION_TOKEN", "stale");
    })
    .expect(0);
    assert_eq!(signed(&bucket).2, None);
}

#[test]
fn the_state_of_a_site_is_below_that_of_all_sites() {
    let store = Store::new();
    let (bucket, private) = (store.bucket("bucket"), store.bucket("private"));
    let state = private.location("so");
    let sitemill = |args: &[&str], state: &str| {
        let mut command = bucket.sitemill();
        command.env("SITEMILL_STATE", state).args(args);
        command
    };
    for pages in ["http://a.example/1\nhttp://b.example/1\n", "http://a.example/2\nhttp://b.example/1\n"] {
        let build = ["build", "--quiet", "--base-url", "{origin}/", "--out", &bucket.out()];
        finish(&mut sitemill(&build, &state), pages.as_bytes()).expect(0);
    }
    let refused = finish(&mut sitemill(&["rollback", &bucket.out()], &state), b"").expect(65);
    // The next line says that the option is from the environment.
    let line = refused.stderr.lines().next().expect("there is a message");
    let (_, named) = line.split_once("such as ").expect(line);
    let words: Vec<&str> = named.split(' ').collect();
    let [site, "with", "--state", of_site] = words[..] else { panic!("{named}") };
    assert!(of_site.starts_with(&state), "{named}");
    finish(&mut sitemill(&["rollback", site], of_site), b"").expect(0);
}

#[test]
fn the_state_of_one_set_is_not_that_of_another() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    let private = store.bucket("private");
    let sets = ["a.com", "b.com"].map(|name| format!("{}/{name}", bucket.out()));
    let states = ["a", "b"].map(|name| private.location(name));
    let [first, second] = &sets;
    for (set, state) in sets.iter().zip(&states) {
        let mut build = bucket.sitemill();
        build.args(["build", "--quiet", "--base-url", "https://h.example/", "--out", set, "--state", state]);
        let url = if set == first { "https://h.example/1\n" } else { "https://h.example/2\n" };
        finish(&mut build, url.as_bytes()).expect(0);
    }
    for command in ["check", "urls", "diff"] {
        let refused =
            finish(bucket.sitemill().args([command, first, second, "--state", &states[0]]), b"").expect(2);
        assert!(refused.stderr.contains("--state is that of one set, and"), "{}", refused.stderr);
        finish(bucket.sitemill().env("SITEMILL_STATE", &states[0]).args([command, first, second]), b"")
            .expect(2);
        let read = finish(bucket.sitemill().args([command, first, second]), b"").expect(0);
        if command == "diff" {
            let lines = String::from_utf8(read.stdout).unwrap();
            assert!(
                lines.contains("https://h.example/1") && lines.contains("https://h.example/2"),
                "{lines}"
            );
        }
    }
    // Files of the set, and what is not in a store.
    let index = format!("{first}/sitemap-index-1.xml");
    let local = store.directory.file("sitemap.txt", "https://h.example/1\n");
    for others in [[&index, &**first], [&**first, local.to_str().unwrap()]] {
        finish(bucket.sitemill().arg("check").args(others).args(["--state", &states[0]]), b"").expect(0);
    }
}

#[test]
fn the_page_of_a_set_in_a_bucket_is_made_from_its_manifest() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    let report = store.directory.join("report.json");
    build(&bucket, |build| _ = build.arg("--report").arg(&report)).expect(0);
    let page = bucket.run(&["report", "--output", "-"]).expect(0);
    let page = String::from_utf8(page.stdout).unwrap();
    assert!(page.starts_with("<!") && page.contains(BASE.trim_end_matches('/')), "{page}");
    // A report in a bucket is like a report in a file.
    bucket.put("report.json", &std::fs::read(&report).unwrap());
    let of =
        |path: &str| finish(bucket.sitemill().args(["report", "--output", "-", path]), b"").expect(0).stdout;
    assert!(of(&bucket.location("report.json")) == of(report.to_str().unwrap()));
    finish(bucket.sitemill().args(["report", "--output", "-", &bucket.location("none")]), b"").expect(66);
}

#[test]
fn the_account_of_azure_has_the_names_of_its_command_line_and_those_of_the_library() {
    let store = Store::azurite();
    let bucket = store.bucket("bucket");
    let build = |variables: &[(&str, &str)]| {
        build(&bucket, |build| {
            build.env_remove("AZURE_STORAGE_ACCOUNT").env_remove("AZURE_STORAGE_KEY");
            build.envs(variables.iter().copied());
        })
    };
    build(&[("AZURE_STORAGE_ACCOUNT", ACCOUNT), ("AZURE_STORAGE_KEY", ACCOUNT_KEY)]).expect(0);
    build(&[("AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT), ("AZURE_STORAGE_ACCOUNT_KEY", ACCOUNT_KEY)]).expect(0);
    let refused = build(&[("AZURE_STORAGE_CONNECTION_STRING", "AccountName=shop")]).expect(2);
    assert!(refused.stderr.contains("set AZURE_STORAGE_ACCOUNT, "), "{}", refused.stderr);
}

#[test]
fn a_set_its_state_and_its_input_can_be_in_three_kinds_of_stores() {
    let (fake_gcs, azurite, s3s) = (Store::fake_gcs(), Store::azurite(), Store::new());
    let (set, state, input) = (fake_gcs.bucket("set"), azurite.bucket("state"), s3s.bucket("input"));
    input.put("urls.txt", pages(1, 60).as_bytes());
    let variables = [&state, &input].map(|bucket| bucket.kind.variables(bucket.proxy.address, bucket.open));
    let mut build = set.build();
    build.envs(variables.into_iter().flatten()).env_remove("SITEMILL_ENDPOINT");
    build.env("GOOGLE_BASE_URL", format!("http://{}", set.proxy.address)).env("GOOGLE_ALLOW_HTTP", "true");
    build.env("AZURE_STORAGE_ENDPOINT", format!("http://{}/{ACCOUNT}", state.proxy.address));
    build.env("AZURE_ALLOW_HTTP", "true");
    build.args(["--state", &state.location("private"), &input.location("urls.txt")]);
    finish(&mut build, b"").expect(0);
    assert_eq!(set.urls(), urls(1, 60));
    assert!(!set.keys().iter().any(|key| key.contains(".sitemill")), "{:?}", set.keys());
    assert!(state.keys().contains(&"private/.sitemill/manifest.json".to_owned()), "{:?}", state.keys());
    assert_eq!(input.keys(), ["urls.txt"]);
}

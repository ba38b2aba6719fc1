//! Compares `clean` with the URL cases of the Web Platform Tests, which every browser runs.
//!
//! The cases are part of the sources of the `url` crate. Cases on its list of known failures are skipped and counted.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use sitemill::internals::{Cleaned, Cleaner};
use sitemill::limits::{URL_BYTES_MAX, URL_BYTES_MIN};
use sitemill::report::Reason;

use crate::support::testdata;

/// The directory with the tests of the `url` crate that this build uses.
fn url_crate() -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("Cargo runs this test");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("Cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("packages are a list");
    let url = packages.iter().find(|package| package["name"] == "url").expect("sitemill depends on it");
    let manifest = url["manifest_path"].as_str().expect("a path is text");
    PathBuf::from(manifest).parent().expect("a manifest lies in a directory").join("tests")
}

/// Turns a browser's form of a URL into sitemill's: no fragment, and only RFC 3986's alphabet in path and query.
fn canonical(href: &str) -> String {
    let without_fragment = href.split('#').next().expect("split gives one part");
    let path_at = without_fragment.find("://").map_or(0, |at| at + 3);
    let path_at = without_fragment[path_at..].find('/').map_or(without_fragment.len(), |at| path_at + at);
    let (origin, tail) = without_fragment.split_at(path_at);
    let bytes = tail.as_bytes();
    let mut canonical = origin.to_owned();
    for (at, &byte) in bytes.iter().enumerate() {
        let hex = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_hexdigit);
        let legal = match byte {
            b'%' => hex(at + 1) && hex(at + 2),
            b'?' => true,
            _ => byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte),
        };
        if legal { canonical.push(byte.into()) } else { canonical += &format!("%{byte:02X}") }
    }
    canonical
}

#[test]
fn clean_agrees_with_the_browsers() {
    let directory = url_crate();
    let cases = fs::read(directory.join("urltestdata.json")).expect("the url crate ships the cases");
    let cases: Vec<Value> = serde_json::from_slice(&cases).expect("they are JSON");
    let known = fs::read_to_string(directory.join("expected_failures.txt")).unwrap_or_default();
    let known: HashSet<&str> = known.lines().map(str::trim).collect();

    let (mut accepted, mut refused, mut left_out, mut changed) = (0, 0, 0, 0);
    for case in cases.iter().filter(|case| case.is_object()) {
        let Some(input) = case["input"].as_str() else { continue };
        let has_base = case["base"].as_str().is_some_and(|base| base != "about:blank");
        // Browsers tolerate control characters, sitemill does not; a lone surrogate is not UTF-8.
        if has_base || input.contains(|c: char| c.is_ascii_control()) || input.trim().is_empty() {
            continue;
        }
        if known.iter().any(|name| name.contains(&format!("<{input}>"))) {
            left_out += 1;
            continue;
        }
        let mut cleaner = Cleaner::default();
        let cleaned = match cleaner.clean(input.as_bytes()) {
            Cleaned::Url(url) => Ok(str::from_utf8(url.as_bytes()).expect("it is ASCII").to_owned()),
            Cleaned::Rejected(reason) => Err(reason),
            Cleaned::Blank => unreachable!("it is not blank"),
        };
        // Until June 2026 the standard refused punycode that decodes to nothing valid. Sites with such names exist,
        // and the standard now accepts every ASCII host unchanged. The cases of this `url` crate are older.
        if case["failure"] == true && input.is_ascii() && input.to_ascii_lowercase().contains("xn--") {
            assert!(cleaned.is_ok() || !input.starts_with("http"), "{input:?} became {cleaned:?}");
            changed += 1;
            continue;
        }
        let href = case["href"].as_str().filter(|_| case["failure"] != true);
        match href.filter(|href| href.starts_with("http://") || href.starts_with("https://")) {
            None => {
                assert!(cleaned.is_err(), "{input:?} is not an http URL but became {cleaned:?}");
                refused += 1;
            }
            Some(href) => {
                let want = canonical(href);
                let credentials = case["username"] != "" || case["password"] != "";
                let host_bytes = case["hostname"].as_str().unwrap_or_default();
                let want = match () {
                    () if credentials => Err(Reason::Credentials),
                    () if !can_exist(host_bytes) => Err(Reason::Host),
                    () if want.len() < URL_BYTES_MIN => Err(Reason::TooShort),
                    () if want.len() > URL_BYTES_MAX => Err(Reason::TooLong),
                    () => Ok(want),
                };
                assert_eq!(cleaned, want, "{input:?}");
                accepted += 1;
            }
        }
    }
    // Fails if the file was misread and holds too few cases.
    assert!(accepted > 100 && refused > 300, "{accepted} accepted, {refused} refused");
    println!("{accepted} accepted, {refused} refused, {left_out} left out, {changed} changed since");
}

/// Whether `host` is valid in RFC 3986 and in DNS: labels of 1 to 63 bytes, 253 in all, and an optional final dot.
fn can_exist(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host);
    !host.contains(['"', '{', '}', '`'])
        && name.len() <= 253
        && name.split('.').all(|label| !label.is_empty() && label.len() <= 63)
}

#[test]
fn a_host_is_listed_if_browsers_accept_it_and_dns_allows_it() {
    let table = fs::read_to_string(testdata().join("hosts.tsv")).unwrap();
    let (mut listed, mut refused) = (0, 0);
    for row in table.lines().filter(|row| !row.starts_with("# ")) {
        let (host, ada) = row.split_once('\t').unwrap();
        let mut cleaner = Cleaner::default();
        let line = format!("http://{host}/path");
        // The second time, the origin is in the cache.
        for _ in 0..2 {
            let cleaned = match cleaner.clean(line.as_bytes()) {
                Cleaned::Url(url) => Ok(str::from_utf8(url.as_bytes()).unwrap().to_owned()),
                Cleaned::Rejected(reason) => Err(reason),
                Cleaned::Blank => unreachable!("it is not blank"),
            };
            let want = match ada != "-" && can_exist(ada) {
                true => Ok(format!("http://{ada}/path")),
                false => Err(Reason::Host),
            };
            assert_eq!(cleaned, want, "{host}");
        }
        if ada == "-" { refused += 1 } else { listed += 1 }
    }
    assert!(listed > 50 && refused > 20, "{listed} accepted by ada, {refused} refused");
}

//! `az://` with Azurite, Microsoft's emulator: its headers, conditions and responses differ from those of S3.

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::http::{Response, request};
use crate::servers::Server;
use crate::support::{ROBOTS_FILE, Run, TempDir, finish, locs, published_by, sitemill};
use crate::world::{BASE, pages, urls};

/// The emulator's account, from its documentation.
const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

struct Azure {
    server: Server,
    directory: TempDir,
}

impl Azure {
    /// Starts a server with the container `maps`.
    fn new() -> Self {
        Self::with_blobs(&[])
    }

    /// Starts a server with these empty blobs in the container `maps`.
    fn with_blobs(blobs: &[&str]) -> Self {
        let directory = TempDir::in_memory();
        let azure = Self { server: Server::azurite(directory.path()), directory };
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cloud/azurite/container.py");
        let mut create = Command::new("python3");
        create.args([script, &azure.endpoint(), ACCOUNT, KEY, "maps"]).args(blobs);
        finish(&mut create, b"").expect(0);
        azure
    }

    fn endpoint(&self) -> String {
        format!("http://{}/{ACCOUNT}", self.server.address)
    }

    fn sitemill_with(&self, key: &str) -> Command {
        let mut command = sitemill();
        command.env("HOME", self.directory.path());
        command.env("AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT).env("AZURE_STORAGE_ACCOUNT_KEY", key);
        command
    }

    /// A build of small sitemaps to `out`.
    fn build(&self, key: &str, out: &str) -> Command {
        let mut build = self.sitemill_with(key);
        build.args(["build", "--quiet", "--base-url", BASE, "--out", out, "--endpoint", &self.endpoint()]);
        build.args(["--urls-per-sitemap", "10", "--sitemaps-per-index", "3", "--max-shrink", "100"]);
        build
    }

    fn publish(&self, first: u32, last: u32) -> Run {
        finish(&mut self.build(KEY, "az://maps/set"), pages(first, last).as_bytes())
    }

    fn run(&self, args: &[&str]) -> Run {
        let mut command = self.sitemill_with(KEY);
        finish(command.args(args).args(["--endpoint", &self.endpoint()]), b"")
    }

    fn get(&self, target: &str) -> Response {
        request(self.server.address, "GET", &format!("/{ACCOUNT}/maps{target}"), &[], b"")
    }

    /// The URLs that a crawler finds.
    fn urls(&self) -> Vec<String> {
        let read = |file: &str| match self.get(&format!("/set/{file}")) {
            response if response.status == 200 => Ok(response.body),
            response => Err(response.head.first_line),
        };
        let files = published_by(read, ROBOTS_FILE, BASE);
        files.iter().filter(|(file, _)| file.ends_with(".gz")).flat_map(|(_, xml)| locs(xml)).collect()
    }

    /// The names of all objects.
    fn names(&self) -> Vec<String> {
        let list = self.get("?restype=container&comp=list").expect("listing");
        let list = String::from_utf8(list).unwrap();
        list.split("<Name>").skip(1).map(|rest| rest.split('<').next().unwrap().to_owned()).collect()
    }
}

#[test]
fn azure_keeps_sets_as_other_stores_do() {
    let azure = Azure::new();
    azure.publish(1, 60).expect(0);
    assert_eq!(azure.urls(), urls(1, 60));
    let sitemap = azure.names().into_iter().find(|name| name.ends_with(".xml.gz")).unwrap();
    let served = azure.get(&format!("/{sitemap}"));
    assert_eq!(served.header("content-type"), Some("application/gzip"));
    assert_eq!(served.header("cache-control"), Some("public, max-age=31536000, immutable"));
    // In the second run, some sitemaps change; in the third, nothing changes.
    azure.publish(1, 75).expect(0);
    assert_eq!(azure.urls(), urls(1, 75));
    let before = azure.names();
    azure.publish(1, 75).expect(0);
    let sitemaps = |names: &[String]| -> Vec<String> {
        names.iter().filter(|name| name.ends_with(".gz")).cloned().collect()
    };
    assert_eq!(sitemaps(&azure.names()), sitemaps(&before));
    azure.run(&["check", "--quiet", "az://maps/set"]).expect(0);
    let listed = azure.run(&["urls", "--quiet", "az://maps/set"]).expect(0);
    assert_eq!(String::from_utf8(listed.stdout).unwrap(), pages(1, 75));
    azure.run(&["rollback", "--quiet", "--out", "az://maps/set"]).expect(0);
    azure.run(&["status", "az://maps/set"]).expect(0);
    assert_eq!(azure.urls(), urls(1, 75), "the third set had the same URLs");
    azure.run(&["rollback", "--quiet", "--to", "1", "--out", "az://maps/set"]).expect(0);
    assert_eq!(azure.urls(), urls(1, 60));
    // The published set is the input of another one.
    azure
        .run(&["build", "--quiet", "--base-url", BASE, "--out", "az://maps/copy", "az://maps/set"])
        .expect(0);
    let listed = azure.run(&["urls", "--quiet", "az://maps/copy"]).expect(0);
    assert_eq!(String::from_utf8(listed.stdout).unwrap(), pages(1, 60));
}

#[test]
fn of_two_runs_on_azure_one_wins_and_a_dead_one_is_cleaned_up_after() {
    let azure = Azure::new();
    azure.publish(1, 60).expect(0);
    let mut build = azure.build(KEY, "az://maps/set");
    let mut first = build.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The first run has claimed the place and waits for its input.
    while !azure.names().iter().any(|name| name.contains("/staging/")) {
        assert!(first.try_wait().unwrap().is_none(), "it waits for its input");
        thread::sleep(Duration::from_millis(20));
    }
    azure.publish(1, 75).expect(75);
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(azure.urls(), urls(1, 60));
    azure.publish(1, 75).expect(0);
    assert_eq!(azure.urls(), urls(1, 75));
    assert!(!azure.names().iter().any(|name| name.contains("/staging/")), "{:?}", azure.names());
}

#[test]
fn blobs_with_odd_names_stop_no_run_and_those_that_stand_for_folders_are_no_inputs() {
    let azure = Azure::with_blobs(&["set//x", "set/folder/", "set/new/a/"]);
    azure.publish(1, 60).expect(0);
    azure.publish(1, 75).expect(0);
    azure.run(&["check", "--quiet", "az://maps/set"]).expect(0);
    assert_eq!(azure.urls(), urls(1, 75));
    let refused = azure.run(&["clean", "az://maps/set/new/"]).expect(66);
    assert!(refused.stderr.contains("no "), "{}", refused.stderr);
}

#[test]
fn the_account_and_the_key_have_the_names_of_azures_own_command_line_too() {
    let azure = Azure::new();
    azure.publish(1, 9).expect(0);
    let status = |variables: &[(&str, &str)]| {
        let mut status = sitemill();
        status.env("HOME", azure.directory.path()).envs(variables.iter().copied());
        finish(status.args(["status", "az://maps/set", "--endpoint", &azure.endpoint()]), b"")
    };
    status(&[("AZURE_STORAGE_ACCOUNT", ACCOUNT), ("AZURE_STORAGE_KEY", KEY)]).expect(0);
    let refused = status(&[("AZURE_STORAGE_CONNECTION_STRING", "AccountName=shop")]).expect(2);
    assert!(refused.stderr.contains("set AZURE_STORAGE_ACCOUNT, "), "{}", refused.stderr);
}

#[test]
fn a_container_that_does_not_exist_and_a_wrong_key_are_named() {
    let azure = Azure::new();
    let refused = finish(&mut azure.build(KEY, "az://nowhere/set"), pages(1, 9).as_bytes()).expect(73);
    assert!(refused.stderr.contains("no such bucket"), "{}", refused.stderr);
    let wrong = "d3JvbmcrS2V5K1RoYXQrTm9ib2R5K0tub3dz";
    let refused = finish(&mut azure.build(wrong, "az://maps/set"), pages(1, 9).as_bytes()).expect(77);
    assert!(refused.stderr.contains("AZURE_STORAGE_ACCOUNT"), "{}", refused.stderr);
    assert!(!refused.stderr.contains(wrong), "{}", refused.stderr);
    assert!(azure.names().is_empty());
}

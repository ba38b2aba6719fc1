//! Stores with buckets, runs that publish to them through a proxy, and what a crawler finds there.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::http::{Response, request};
use crate::kind::Kind;
use crate::proxy::Proxy;
use crate::servers::Server;
use crate::support::{ROBOTS_FILE, Run, TempDir, ended, finish, locs, published_by, sitemill};

pub use crate::support::pages::{BASE, pages, urls};

/// The prefix of the set in its bucket.
pub const PREFIX: &str = "maps/";
/// Objects that sitemill did not write.
pub const FOREIGN: [(&str, &[u8]); 4] = [
    ("index.html", b"theirs"),
    ("maps/notes.txt", b"theirs"),
    ("maps/sitemap-00001-00000000.xml.gz", b"theirs"),
    ("maps/.sitemill-not/manifest.json", b"theirs"),
];
/// Headers that a store wants in the requests of the tests.
type Headers = &'static [(&'static str, &'static str)];

/// A signature for moto, which requires one for private objects but accepts any.
const ANY_SIGNATURE: Headers = &[(
    "Authorization",
    "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=any",
)];
/// What a PUT uploads to Azure.
const BLOCK_BLOB: Headers = &[("x-ms-blob-type", "BlockBlob")];

/// Server processes with the same buckets, and a directory for the test.
pub struct Store {
    pub directory: TempDir,
    /// The directory with the buckets of s3s-fs.
    root: PathBuf,
    /// The server that checks signatures.
    signed: Server,
    /// The server that does not; `None` if the other server also accepts requests with `headers`.
    open: Option<Server>,
    kind: Kind,
    headers: Headers,
}

impl Store {
    /// Starts s3s-fs.
    pub fn new() -> Self {
        let directory = TempDir::in_memory();
        let root = directory.join("store");
        fs::create_dir(&root).unwrap();
        let (signed, open) = (Server::s3s_fs(&root), Server::s3s_fs_for_anybody(&root));
        Self { directory, root, signed, open: Some(open), kind: Kind::S3, headers: &[] }
    }

    /// Starts moto.
    pub fn moto() -> Self {
        Self::other(Kind::S3, ANY_SIGNATURE, |_| Server::moto())
    }

    /// Starts Azurite.
    pub fn azurite() -> Self {
        Self::other(Kind::Az, BLOCK_BLOB, Server::azurite)
    }

    /// Starts fake-gcs-server.
    pub fn fake_gcs() -> Self {
        Self::other(Kind::Gs, &[], |_| Server::fake_gcs())
    }

    fn other(kind: Kind, headers: Headers, start: fn(&Path) -> Server) -> Self {
        let directory = TempDir::in_memory();
        let signed = start(directory.path());
        Self { root: directory.join("none"), directory, signed, open: None, kind, headers }
    }

    /// Creates a bucket.
    pub fn bucket(&self, name: &str) -> Bucket {
        let bucket = self.without_bucket(name);
        bucket.request("PUT", "", self.kind.creation(), b"").expect("creating a bucket");
        bucket
    }

    /// A bucket that does not exist.
    pub fn without_bucket(&self, name: &str) -> Bucket {
        let open = self.open.as_ref().unwrap_or(&self.signed).address;
        Bucket {
            name: name.into(),
            kind: self.kind,
            open,
            headers: self.headers,
            proxy: Proxy::new(self.signed.address, open),
            home: self.directory.path().into(),
        }
    }

    /// Creates a bucket in s3s-fs with the same objects as `from`.
    pub fn copied(&self, from: &Bucket, name: &str) -> Bucket {
        copy(&self.root.join(&from.name), &self.root.join(name));
        // s3s-fs keeps ETags, checksums and headers in files next to the buckets.
        let of = |bucket: &str| format!(".bucket-{}.", base64url(bucket.as_bytes()));
        for entry in fs::read_dir(&self.root).unwrap() {
            let path = entry.unwrap().path();
            let file = path.file_name().unwrap().to_str().unwrap();
            if let Some(rest) = file.strip_prefix(&of(&from.name)) {
                fs::copy(&path, self.root.join(of(name) + rest)).unwrap();
            }
        }
        self.without_bucket(name)
    }

    /// Makes an object in s3s-fs look as if it had been uploaded `seconds` ago.
    pub fn age(&self, bucket: &Bucket, key: &str, seconds: u64) {
        let object = fs::File::options().write(true).open(self.root.join(&bucket.name).join(key)).unwrap();
        object.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    }

    /// Removes a bucket from s3s-fs, so that hundreds of buckets do not fill the disk.
    pub fn remove(&self, bucket: Bucket) {
        let _ = fs::remove_dir_all(self.root.join(&bucket.name));
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Base64 for file names, without padding.
fn base64url(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits =
            group.iter().chain(&[0; 3]).take(3).fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte));
        text.extend((0..=group.len()).map(|digit| char::from(DIGITS[bits >> (18 - 6 * digit) & 63])));
    }
    text
}

/// The index files that a crawler sees, in the order of the robots lines, each with all URLs of its sitemaps.
pub type Seen = Vec<(String, Vec<String>)>;

/// A bucket, with its own proxy for the runs that publish to it.
pub struct Bucket {
    pub name: String,
    pub proxy: Proxy,
    pub kind: Kind,
    /// The server that accepts the requests of the tests.
    pub open: SocketAddr,
    headers: Headers,
    home: PathBuf,
}

impl Bucket {
    /// The location of the set.
    pub fn out(&self) -> String {
        self.location(PREFIX.trim_end_matches('/'))
    }

    pub fn location(&self, key: &str) -> String {
        format!("{}://{}/{key}", self.kind.scheme(), self.name)
    }

    /// A command that accesses the bucket through the proxy, with only the server's key in its environment.
    pub fn sitemill(&self) -> Command {
        let mut command = sitemill();
        for (name, _) in std::env::vars_os() {
            let is_of_stores =
                |name: &str| ["AWS_", "AZURE_", "GOOGLE_"].iter().any(|of| name.starts_with(of));
            if name.to_str().is_some_and(|name| is_of_stores(name) || name.to_lowercase().ends_with("_proxy"))
            {
                command.env_remove(name);
            }
        }
        command.env("HOME", &self.home).envs(self.kind.variables(self.proxy.address, self.open));
        command
    }

    /// A build of small sitemaps into the bucket: 10 URLs each, 3 of them per index file.
    pub fn build(&self) -> Command {
        let mut command = self.build_with_one_index();
        command.args(["--sitemaps-per-index", "3"]);
        command
    }

    /// A build of small sitemaps with one index file: 10 URLs in each sitemap.
    pub fn build_with_one_index(&self) -> Command {
        let mut command = self.sitemill();
        command.args([
            "build",
            "--quiet",
            "--base-url",
            BASE,
            "--out",
            &self.out(),
            "--urls-per-sitemap",
            "10",
        ]);
        command
    }

    /// Publishes pages FIRST to LAST.
    pub fn publish(&self, first: u32, last: u32) -> Run {
        finish(self.build().args(["--max-shrink", "100"]), pages(first, last).as_bytes())
    }

    /// Runs a command on the location of the set.
    pub fn run(&self, args: &[&str]) -> Run {
        finish(self.sitemill().args(args).arg(self.out()), b"")
    }

    /// Sends a request that bypasses the proxy, without the credentials of the runs.
    #[track_caller]
    pub fn request(&self, method: &str, key: &str, query: &str, body: &[u8]) -> Response {
        request(self.open, method, &self.kind.target(&self.name, key, query), self.headers, body)
    }

    #[track_caller]
    pub fn get(&self, key: &str) -> Response {
        self.request("GET", key, "", b"")
    }

    /// Uploads an object as another tool would.
    #[track_caller]
    pub fn put(&self, key: &str, body: &[u8]) {
        self.request("PUT", key, "", body).expect(key);
    }

    #[track_caller]
    pub fn delete(&self, key: &str) {
        self.request("DELETE", key, "", b"").expect(key);
    }

    pub fn put_foreign(&self) {
        FOREIGN.iter().for_each(|(key, body)| self.put(key, body));
    }

    #[track_caller]
    pub fn assert_foreign(&self) {
        FOREIGN.iter().for_each(|(key, body)| assert_eq!(self.get(key).expect(key), *body, "{key}"));
    }

    /// The keys of all objects, sorted.
    #[track_caller]
    pub fn keys(&self) -> Vec<String> {
        let (query, element) = self.kind.listing();
        let list = String::from_utf8(self.request("GET", "", query, b"").expect("listing")).unwrap();
        assert!(!list.contains("<IsTruncated>true"), "a test has fewer than a thousand objects");
        list.split(element).skip(1).map(|rest| rest.split('<').next().unwrap().to_owned()).collect()
    }

    /// All objects whose keys begin with `prefix`, named without it.
    #[track_caller]
    pub fn objects(&self, prefix: &str) -> BTreeMap<String, Vec<u8>> {
        let keys = self.keys();
        let named = keys.iter().filter_map(|key| Some((key, key.strip_prefix(prefix)?)));
        named.map(|(key, rest)| (rest.to_owned(), self.get(key).expect(key))).collect()
    }

    /// Reads and parses a JSON object.
    #[track_caller]
    pub fn json(&self, key: &str) -> Value {
        serde_json::from_slice(&self.get(key).expect(key)).unwrap()
    }

    /// Crawls the set from its robots lines. Fails if a listed file is missing or broken.
    #[track_caller]
    pub fn crawl(&self) -> Seen {
        self.crawl_at(PREFIX, ROBOTS_FILE, BASE)
    }

    /// Crawls the set whose robots lines are in `robots` below `prefix`.
    #[track_caller]
    pub fn crawl_at(&self, prefix: &str, robots: &str, base_url: &str) -> Seen {
        let read = |file: &str| {
            let response = self.get(&format!("{prefix}{file}"));
            if response.status == 200 { Ok(response.body) } else { Err(response.head.first_line) }
        };
        let mut seen = Seen::new();
        for (file, xml) in published_by(read, robots, base_url) {
            match seen.last_mut() {
                Some((_, urls)) if file.ends_with(".gz") => urls.extend(locs(&xml)),
                _ => seen.push((file, Vec::new())),
            }
        }
        seen
    }

    /// The URLs that a crawler finds.
    #[track_caller]
    pub fn urls(&self) -> Vec<String> {
        self.crawl().into_iter().flat_map(|(_, urls)| urls).collect()
    }

    /// Fails unless the bucket contains only foreign objects and the objects of the live set and of kept sets, all complete.
    #[track_caller]
    pub fn assert_nothing_is_left(&self) {
        let state = format!("{PREFIX}.sitemill/");
        let manifest = self.json(&format!("{state}manifest.json"));
        let lists = ["sitemaps", "superseded", "superseded_indexes"];
        let listed = lists.iter().filter_map(|list| manifest[list].as_array());
        let is_known = |file: &str| listed.clone().flatten().any(|sitemap| sitemap["file"] == file);
        let seen = self.crawl();
        for key in self.keys() {
            let is_state = ["manifest.json", "journal.json", "ledger.json"]
                .iter()
                .any(|file| key == format!("{state}{file}"))
                || key.starts_with(&format!("{state}sets/"));
            let file = key.strip_prefix(PREFIX).unwrap_or(&key);
            let is_of_set =
                file == ROBOTS_FILE || is_known(file) || seen.iter().any(|(index, _)| index == file);
            let is_foreign = FOREIGN.iter().any(|(foreign, _)| *foreign == key);
            assert!(is_state || is_of_set || is_foreign, "{key} was left behind");
        }
        self.run(&["check", "--quiet"]).expect(0);
        let status = self.status();
        let sets = status["earlier"].as_array().unwrap().iter().chain([&status["live"]]);
        sets.for_each(|set| assert_eq!(set["missing"], 0, "set {} can come back", set["number"]));
    }

    /// The output of `status --json`.
    #[track_caller]
    pub fn status(&self) -> Value {
        let status = self.run(&["status", "--json", "--out"]).expect(0);
        serde_json::from_slice(&status.stdout).unwrap()
    }

    /// Runs `command` with `input` as the process that the proxy kills.
    pub fn run_as_target(&self, command: &mut Command, input: &Path) -> Run {
        ended(self.start(command, input))
    }

    /// Starts `command` with `input`, as the process that the proxy kills.
    pub fn start(&self, command: &mut Command, input: &Path) -> Child {
        let command = command.arg(input).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        self.proxy.aim_at(child.id());
        child
    }
}

/// Fails unless every index file in `seen` belongs to one of the `sets`.
#[track_caller]
pub fn assert_each_of(seen: &Seen, sets: &[&Seen]) {
    for index in seen {
        assert!(sets.iter().any(|set| set.contains(index)), "a mixture: {index:?}");
    }
}

//! Files on web servers, with and without support for range requests.

use std::io::BufReader;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use ::parquet::basic::Compression;

use super::{build, parquet, report};
use crate::http::{Head, read_head};
use crate::servers;
use crate::support::{TempDir, finish, gzip, published_urls, sitemill};
use crate::world::{BASE, Bucket, Store, pages, urls};

/// How a server responds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// With parts and ETags.
    Parts,
    /// With whole files of known length.
    Whole,
    /// With whole files of unknown length, which end with the connection.
    Endless,
    /// With a different ETag for each request.
    Restless,
}

/// A web server with the same file at every path except `/none`. `/moved` redirects to it, and `/secret` is forbidden.
struct Server {
    address: SocketAddr,
    /// The ranges that were requested.
    ranges: Arc<Mutex<Vec<Option<String>>>>,
}

impl Server {
    fn new(kind: Kind, file: Vec<u8>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let (address, ranges) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let (of_thread, file) = (Arc::clone(&ranges), Arc::new(file));
        // The thread ends with the process.
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (ranges, file) = (Arc::clone(&of_thread), Arc::clone(&file));
                thread::spawn(move || serve(stream, kind, &file, &ranges));
            }
        });
        Self { address, ranges }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    fn ranges(&self) -> Vec<Option<String>> {
        std::mem::take(&mut self.ranges.lock().unwrap())
    }
}

/// Answers one request, and closes the connection.
fn serve(mut stream: TcpStream, kind: Kind, file: &[u8], ranges: &Mutex<Vec<Option<String>>>) {
    let mut from = BufReader::new(stream.try_clone().unwrap());
    let Ok(Some(request)) = read_head(&mut from) else { return };
    let head = |line: &str| {
        Head { first_line: format!("HTTP/1.1 {line}"), headers: Vec::new() }.with("Connection", "close")
    };
    let path = request.first_line.split(' ').nth(1).unwrap();
    let empty = match path.split('?').next().unwrap() {
        "/none" => Some(head("404 Not Found")),
        "/secret" => Some(head("403 Forbidden")),
        "/moved" => Some(head("302 Found").with("Location", "/urls")),
        _ => None,
    };
    if let Some(head) = empty {
        return head.with("Content-Length", 0).write(b"", &mut stream).unwrap_or_default();
    }
    let range = request.header("range").map(str::to_owned);
    let mut ranges = ranges.lock().unwrap();
    ranges.push(range.clone());
    let tag = if kind == Kind::Restless { format!("\"{}\"", ranges.len()) } else { "\"one\"".into() };
    drop(ranges);
    let part = range.and_then(|range| {
        let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
        Some(first.parse::<usize>().ok()?..last.parse::<usize>().ok()? + 1)
    });
    let (head, body) = match part.filter(|_| matches!(kind, Kind::Parts | Kind::Restless)) {
        Some(part) => {
            let range = format!("bytes {}-{}/{}", part.start, part.end - 1, file.len());
            (head("206 Partial Content").with("Content-Range", range).with("ETag", tag), &file[part])
        }
        None => (head("200 OK"), file),
    };
    let head = if kind == Kind::Endless { head } else { head.with("Content-Length", body.len()) };
    let _ = head.write(body, &mut stream);
}

fn bucket() -> (Store, Bucket) {
    let store = Store::new();
    let bucket = store.bucket("unused");
    (store, bucket)
}

#[test]
fn a_file_is_read_with_and_without_requests_for_parts() {
    let (_store, bucket) = bucket();
    let directory = TempDir::new();
    let packed = gzip(pages(1, 50_000).as_bytes());
    for kind in [Kind::Parts, Kind::Whole, Kind::Endless] {
        let server = Server::new(kind, packed.clone());
        for path in ["urls.txt.gz", "moved?key=5ec2e7"] {
            let out = directory.join(format!("{kind:?}{}", path.len()));
            let run = build(&bucket, &out, &[&server.url(path)], &["--quiet"]).expect(0);
            assert_eq!(published_urls(&out, BASE), urls(1, 50_000));
            let input = &report(&run)["inputs"][0];
            assert_eq!((&input["bytes"], &input["packing"]), (&packed.len().into(), &"gzip".into()));
            // A query may be a signature.
            assert_eq!(
                input["path"],
                server.url(path.split("key").next().unwrap()) + if path.contains('?') { "…" } else { "" }
            );
            assert!(server.ranges().len() > 1);
        }
    }
}

#[test]
fn parquet_is_read_in_parts_if_the_server_sends_them() {
    let (_store, bucket) = bucket();
    let directory = TempDir::new();
    let out = directory.join("out");
    let file = parquet(20_000, 7_000, Compression::SNAPPY);
    let server = Server::new(Kind::Parts, file.clone());
    for path in ["urls.parquet?key=5ec2e7", "export"] {
        build(&bucket, &out, &[&server.url(path)], &["--quiet"]).expect(0);
        assert_eq!(published_urls(&out, BASE), urls(1, 20_000));
        assert!(server.ranges().iter().all(Option::is_some), "{path}");
    }
    for path in ["urls.parquet", "export"] {
        let server = Server::new(Kind::Whole, file.clone());
        let refused = build(&bucket, &out, &[&server.url(path)], &[]).expect(65);
        assert!(
            refused.stderr.contains("the server only sends the whole file; download it"),
            "{}",
            refused.stderr
        );
    }
}

#[test]
fn a_file_that_changes_is_missing_or_is_forbidden_is_not_read() {
    let (_store, bucket) = bucket();
    let directory = TempDir::new();
    let out = directory.join("out");
    let server = Server::new(Kind::Restless, pages(1, 1000).into());
    let changed = build(&bucket, &out, &[&server.url("urls")], &[]).expect(65);
    assert!(
        changed.stderr.contains("changed while it was being read; run again on a copy"),
        "{}",
        changed.stderr
    );
    for (path, exit, said) in [
        ("none", 66, "the server has no such file"),
        ("secret?key=5ec2e7", 77, "the request was denied (403 Forbidden)"),
    ] {
        let refused = build(&bucket, &out, &[&server.url(path)], &[]).expect(exit);
        assert!(refused.stderr.contains(said) && !refused.stderr.contains("5ec2e7"), "{}", refused.stderr);
    }
    let nobody = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let refused = build(&bucket, &out, &[&format!("http://{nobody}/a?key=5ec2e7")], &[]).expect(74);
    assert!(refused.stderr.contains("refused") && !refused.stderr.contains("5ec2e7"), "{}", refused.stderr);
    let address = server.url("a").replace("://", "://user:5ec2e7@");
    let refused = build(&bucket, &out, &[&address], &[]).expect(2);
    assert!(
        refused.stderr.contains("has a user name") && !refused.stderr.contains("5ec2e7"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_file_is_read_over_tls_unless_the_certificate_of_the_server_is_not_trusted() {
    let (directory, elsewhere) = (TempDir::new(), TempDir::new());
    directory.file("urls.txt", pages(1, 40));
    let server = servers::Server::tls(directory.path());
    let _other = servers::Server::tls(elsewhere.path());
    let url = format!("https://localhost:{}/urls.txt", server.address.port());
    let out = directory.join("out");
    let build = |trusted: &TempDir| {
        let mut command = sitemill();
        command.args(["build", "--base-url", BASE, "--quiet", &url, "--out"]).arg(&out);
        command.env("SSL_CERT_FILE", trusted.join("certificate.pem")).env_remove("SSL_CERT_DIR");
        finish(&mut command, b"")
    };
    let refused = build(&elsewhere).expect(74);
    assert!(refused.stderr.contains("invalid peer certificate"), "{}", refused.stderr);
    build(&directory).expect(0);
    assert_eq!(published_urls(&out, BASE), urls(1, 40));
}

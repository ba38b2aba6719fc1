//! The recipes of docs/recipes.md, run as they are printed there.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::support::{EPOCH, Run, TempDir, files, finish, published_urls, run};

const BASE: &str = "https://www.example.com/";

/// The code blocks below the heading `title` of a page.
fn blocks(page: &str, title: &str) -> Vec<String> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(page)).unwrap();
    let (_, section) =
        page.split_once(&format!("\n## {title}\n")).unwrap_or_else(|| panic!("no recipe {title}"));
    let section = section.split("\n## ").next().unwrap();
    let blocks = section.split("\n```").skip(1).step_by(2);
    blocks.map(|block| block.split_once('\n').unwrap().1.to_owned() + "\n").collect()
}

/// A directory in which a recipe is tried: its files are there, and so is `urls.txt`.
struct Kitchen {
    directory: TempDir,
    commands: Vec<String>,
}

impl Kitchen {
    fn new(title: &str, urls: &str) -> Self {
        Self::of(blocks("recipes.md", title), urls)
    }

    fn of(blocks: Vec<String>, urls: &str) -> Self {
        let directory = TempDir::new();
        directory.file("urls.txt", urls);
        let (scripts, commands): (Vec<_>, Vec<_>) =
            blocks.into_iter().partition(|block| block.starts_with("#!"));
        assert!(!commands.is_empty(), "a recipe has a command");
        for script in scripts {
            let name = script.lines().nth(1).unwrap().trim_start_matches("# ").split(':').next().unwrap();
            let path = directory.file(name, &script);
            fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
        }
        Self { directory, commands }
    }

    /// Runs the commands of the recipe with these variables. None of them may warn.
    fn cook(&self, variables: &[(&str, &str)]) -> Run {
        let done = self.cook_with_warnings(variables);
        assert!(!done.stderr.contains("warning:"), "{}", done.stderr);
        done
    }

    /// Runs the commands of the recipe with these variables.
    fn cook_with_warnings(&self, variables: &[(&str, &str)]) -> Run {
        let binary = Path::new(env!("CARGO_BIN_EXE_sitemill")).parent().unwrap();
        let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell.args(["-euc", &self.commands.concat()]).current_dir(self.directory.path());
        shell.env("PATH", path).env("SOURCE_DATE_EPOCH", EPOCH).envs(variables.iter().copied());
        finish(&mut shell, b"").expect(0)
    }

    fn html(&self) -> PathBuf {
        self.directory.join("html")
    }

    fn write_urls(&self, urls: &str) {
        self.directory.file("urls.txt", urls);
    }
}

fn pages(numbers: std::ops::Range<u32>) -> String {
    numbers.map(|n| format!("{BASE}{n:06}\n")).collect()
}

/// A request that a server got.
#[derive(Debug, Clone)]
struct Request {
    method: String,
    path: String,
    headers: Vec<String>,
    body: Vec<u8>,
}

impl Request {
    fn read(stream: &TcpStream) -> Self {
        let mut lines = BufReader::new(stream);
        let mut line = || {
            let mut line = String::new();
            lines.read_line(&mut line).unwrap();
            line.trim_end().to_owned()
        };
        let first = line();
        let headers: Vec<String> =
            std::iter::from_fn(|| Some(line()).filter(|line| !line.is_empty())).collect();
        let length = headers.iter().find_map(|header| {
            let (name, value) = header.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length").then(|| value.parse().unwrap())
        });
        let mut body = vec![0; length.unwrap_or(0)];
        lines.read_exact(&mut body).unwrap();
        let mut words = first.split(' ').map(str::to_owned);
        Self { method: words.next().unwrap(), path: words.next().unwrap(), headers, body }
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    fn has(&self, header: &str) -> bool {
        self.headers.iter().any(|there| there.eq_ignore_ascii_case(header))
    }
}

/// A server on this machine that answers every request with `{"success": true}` and remembers it.
struct Server {
    url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::<Mutex<Vec<Request>>>::default();
        let got = Arc::clone(&requests);
        // The thread ends with the process.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let request = Request::read(&stream);
                got.lock().unwrap().push(request);
                let answer = "{\"success\": true}";
                write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
                    answer.len()
                )
                .unwrap();
            }
        });
        Self { url, requests }
    }

    /// The requests since the last call.
    fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }
}

#[test]
fn indexnow_gets_every_change_in_batches_of_ten_thousand() {
    let server = Server::start();
    let kitchen = Kitchen::new("IndexNow", &pages(0..25_000));
    let variables = [("INDEXNOW_ENDPOINT", &*server.url)];
    kitchen.cook(&variables);
    let sent: Vec<Value> = server.requests().iter().map(Request::json).collect();
    let sizes: Vec<usize> = sent.iter().map(|body| body["urlList"].as_array().unwrap().len()).collect();
    assert_eq!(sizes, [10_000, 10_000, 5_000]);
    assert!(sent.iter().all(|body| body["host"] == "www.example.com" && body["key"] == "0123456789abcdef"));
    assert_eq!(sent[2]["urlList"][4_999], format!("{BASE}024999"));

    kitchen.write_urls(&pages(1..25_001));
    kitchen.cook(&variables);
    let [request] = &server.requests()[..] else { panic!("one request") };
    assert_eq!(request.json()["urlList"], json!([format!("{BASE}000000"), format!("{BASE}025000")]));
    assert!(
        request.method == "POST" && request.has("Content-Type: application/json; charset=utf-8"),
        "{request:?}"
    );

    kitchen.cook(&variables);
    assert!(server.requests().is_empty(), "nothing has changed");
}

#[test]
fn search_console_gets_every_index_file() {
    let server = Server::start();
    let kitchen = Kitchen::new("Search Console", &pages(0..3));
    kitchen.cook(&[
        ("SEARCH_CONSOLE_API", &server.url),
        ("SEARCH_CONSOLE_TOKEN", "secret"),
        ("SITEMILL_URLS_PER_SITEMAP", "1"),
        ("SITEMILL_SITEMAPS_PER_INDEX", "2"),
    ]);
    let requests = server.requests();
    let site = "https%3A%2F%2Fwww.example.com%2F";
    let paths = [1, 2].map(|n| format!("/sites/{site}/sitemaps/{site}sitemap-index-{n}.xml"));
    assert_eq!(requests.iter().map(|request| request.path.clone()).collect::<Vec<_>>(), paths);
    assert!(
        requests.iter().all(|request| request.method == "PUT" && request.has("Authorization: Bearer secret"))
    );
}

#[test]
fn a_cdn_is_purged_of_the_files_that_change_if_something_has_changed() {
    let server = Server::start();
    let kitchen = Kitchen::new("Purging a CDN", &pages(0..33));
    let variables = [
        ("CLOUDFLARE_API", &*server.url),
        ("CLOUDFLARE_TOKEN", "secret"),
        ("SITEMILL_URLS_PER_SITEMAP", "1"),
        ("SITEMILL_SITEMAPS_PER_INDEX", "1"),
    ];
    kitchen.cook(&variables);
    let requests = server.requests();
    let purged: Vec<Value> =
        requests.iter().flat_map(|request| request.json()["files"].as_array().unwrap().clone()).collect();
    assert_eq!((requests.len(), purged.len()), (2, 34));
    assert_eq!(
        purged[32..],
        [json!(format!("{BASE}sitemap-index-33.xml")), json!(format!("{BASE}robots-sitemaps.txt"))]
    );
    assert_eq!(requests[0].path, "/zones/023e105f4ecef8ad9ca31a8372d0c353/purge_cache");
    kitchen.cook(&variables);
    assert!(server.requests().is_empty());

    // The files of this set are removed after the next one is live.
    let variables = [&variables[..], &[("SITEMILL_KEEP", "0"), ("SITEMILL_KEEP_SETS", "0")]].concat();
    kitchen.write_urls(&pages(0..31));
    kitchen.cook(&variables);
    let purged: Vec<Value> = server
        .requests()
        .iter()
        .flat_map(|request| request.json()["files"].as_array().unwrap().clone())
        .collect();
    let gone = [32, 33].map(|number| json!(format!("{BASE}sitemap-index-{number}.xml")));
    assert_eq!((&purged[..2], purged.len()), (&gone[..], 2 + 31 + 1));
}

#[test]
fn rclone_copies_sitemaps_then_index_files_and_removes_old_index_files_before_old_sitemaps() {
    let kitchen = Kitchen::new("Uploading to object storage", &pages(0..5));
    let (remote, log) = (kitchen.directory.join("remote"), kitchen.directory.join("log"));
    fs::create_dir_all(remote.join("below")).unwrap();
    fs::write(remote.join("theirs.xml.gz"), "").unwrap();
    fs::write(remote.join("below/sitemap-00001-00000000.xml.gz"), "").unwrap();
    let variables = [
        ("REMOTE", remote.to_str().unwrap()),
        ("SITEMILL_URLS_PER_SITEMAP", "1"),
        ("SITEMILL_SITEMAPS_PER_INDEX", "4"),
        ("SITEMILL_KEEP", "0"),
        ("SITEMILL_KEEP_SETS", "0"),
        ("RCLONE_CONFIG", "/dev/null"),
        ("RCLONE_LOG_LEVEL", "INFO"),
        ("RCLONE_LOG_FILE", log.to_str().unwrap()),
    ];
    kitchen.cook(&variables);
    let uploaded = |log: &Path| -> Vec<String> {
        let text = fs::read_to_string(log).unwrap();
        let lines = text.lines().filter(|line| line.contains(": Copied") || line.contains(": Deleted"));
        lines.map(|line| line.split("INFO  : ").nth(1).unwrap().to_owned()).collect()
    };
    let first = uploaded(&log);
    assert_eq!(first.len(), 8, "{first:?}");
    assert!(first[..5].iter().all(|line| line.contains(".xml.gz: Copied")), "{first:?}");
    assert!(first[5..7].iter().all(|line| line.starts_with("sitemap-index-")), "{first:?}");
    assert!(first[7].starts_with("robots-sitemaps.txt"), "{first:?}");
    assert!(!remote.join(".sitemill").exists());
    run(["check".as_ref(), "-q".as_ref(), remote.as_os_str()]).expect(0);

    // What is no longer kept here goes there, too, and nothing else does.
    kitchen.write_urls(&pages(1..5));
    fs::remove_file(&log).unwrap();
    kitchen.cook(&[&variables[..], &[("SITEMILL_ORDER", "sorted")]].concat());
    let second = uploaded(&log);
    let first_deleted = second.iter().position(|line| line.contains(": Deleted")).unwrap();
    assert!(second[..first_deleted].iter().all(|line| line.contains(": Copied")), "{second:?}");
    let deleted = &second[first_deleted..];
    assert!(deleted[0].starts_with("sitemap-index-2.xml: Deleted"), "{second:?}");
    assert!(
        deleted.len() > 1 && deleted[1..].iter().all(|line| line.contains(".xml.gz: Deleted")),
        "{second:?}"
    );
    let mut there = files(&remote);
    there.retain(|file| file != "below" && file != "theirs.xml.gz");
    assert_eq!(there, files(&kitchen.html()));
    assert!(
        remote.join("theirs.xml.gz").exists() && remote.join("below/sitemap-00001-00000000.xml.gz").exists()
    );
}

#[test]
fn without_object_stores_three_commands_copy_a_set_in_the_right_order() {
    let mut kitchen = Kitchen::of(blocks("operations.md", "Where it runs"), &pages(0..5));
    let copy = kitchen.commands.concat();
    assert_eq!(copy.lines().count(), 3);
    kitchen.commands =
        vec![format!("sitemill build urls.txt --base-url {BASE} -o html --urls-per-sitemap 1 -q")];
    kitchen.cook(&[]);
    let remote = kitchen.directory.join("remote");
    let variables = [("REMOTE", remote.to_str().unwrap()), ("RCLONE_CONFIG", "/dev/null")];
    for (command, there) in copy.lines().zip([5, 6, 7]) {
        kitchen.commands = vec![command.replace("REMOTE", "\"$REMOTE\"")];
        kitchen.cook(&variables);
        assert_eq!(files(&remote).len(), there, "{command}");
    }
    assert_eq!(files(&remote), files(&kitchen.html()));
    run(["check".as_ref(), "-q".as_ref(), remote.as_os_str()]).expect(0);
}

#[test]
fn each_department_has_its_own_index_files() {
    let urls = format!("{BASE}products/1\n{BASE}blog/1\n{BASE}products/2\n{BASE}faq\n{BASE}about\n");
    let kitchen = Kitchen::new("A section for each department", &urls);
    let done = kitchen.cook(&[]);
    let index = |section: &str| format!("{BASE}sitemap-{section}-index-1.xml");
    let want = [("editorial", 1), ("shop", 2), ("support", 1), ("marketing", 1)];
    let want: String = want.iter().map(|(name, urls)| format!("{name}\t{urls}\t{}\n", index(name))).collect();
    assert_eq!(String::from_utf8(done.stdout).unwrap(), want);
    assert_eq!(published_urls(&kitchen.html(), BASE).len(), 5);
}

#[test]
fn each_language_has_its_set_and_its_lines_in_one_robots_txt() {
    let urls = format!("{BASE}de/1\n{BASE}en/1\n{BASE}de/2\n{BASE}fr/1\n");
    let kitchen = Kitchen::new("One set per language", &urls);
    fs::create_dir(kitchen.html()).unwrap();
    kitchen.cook(&[]);
    let of = |language: &str| published_urls(&kitchen.html().join(language), &format!("{BASE}{language}/"));
    assert_eq!(of("de"), [format!("{BASE}de/1"), format!("{BASE}de/2")]);
    assert_eq!(of("en"), [format!("{BASE}en/1")]);
    let robots = fs::read_to_string(kitchen.html().join("robots.txt")).unwrap();
    for language in ["de", "en"] {
        assert!(robots.contains(&format!("Sitemap: {BASE}{language}/sitemap-index-1.xml\n")), "{robots}");
    }
}

#[test]
fn a_site_moves_from_another_generator() {
    let kitchen = Kitchen::new("Moving from another generator", &format!("{BASE}1\n{BASE}3\n"));
    let html = kitchen.html();
    fs::create_dir_all(html.join("old")).unwrap();
    let entry = |name: &str, loc: &str| format!("<{name}><loc>{BASE}{loc}</loc></{name}>");
    let root = |name: &str, entries: &str| {
        format!("<{name} xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</{name}>")
    };
    let urls = root("urlset", &[entry("url", "1"), entry("url", "2")].concat());
    let index = root("sitemapindex", &entry("sitemap", "old/1.xml"));
    let robots = format!("Sitemap: {BASE}sitemap.xml\n");
    let theirs = [("old/1.xml", &urls), ("sitemap.xml", &index), ("robots.txt", &robots)];
    theirs.iter().for_each(|(name, text)| fs::write(html.join(name), text).unwrap());

    let done = kitchen.cook_with_warnings(&[]);
    assert!(done.stderr.contains(&format!("robots.txt: lists {BASE}sitemap.xml, which")), "{}", done.stderr);
    let changes = fs::read_to_string(kitchen.directory.join("changes.tsv")).unwrap();
    assert!(changes.contains(&format!("removed\t{BASE}2\t")), "{changes}");
    assert!(changes.contains(&format!("added\t{BASE}3\t")), "{changes}");
    assert_eq!(published_urls(&html, BASE), [format!("{BASE}1"), format!("{BASE}3")]);
    assert_eq!(fs::read_to_string(html.join("old/1.xml")).unwrap(), urls);
    assert_eq!(fs::read_to_string(html.join("sitemap.xml")).unwrap(), index);
    let lines = fs::read_to_string(html.join("robots.txt")).unwrap();
    assert!(lines.starts_with(&robots) && lines.contains("/sitemap-index-1.xml\n"), "{lines}");
}

#[test]
fn a_site_moves_from_http_to_https() {
    let http = "http://www.example.com/";
    let kitchen = Kitchen::new("From http to https", &format!("{http}1\n{http}2\n{BASE}2\n"));
    let mut before = crate::support::build_command(&kitchen.html(), http);
    finish(&mut before, format!("{http}1\n{http}2\n").as_bytes()).expect(0);
    kitchen.cook(&[]);
    assert_eq!(published_urls(&kitchen.html(), BASE), [format!("{BASE}1"), format!("{BASE}2")]);
    assert!(fs::read_to_string(kitchen.html().join("robots.txt")).unwrap().contains(BASE));
}

#[test]
fn every_recipe_has_a_test() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/recipes.md")).unwrap();
    let tests = include_str!("recipes.rs");
    let titles: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(titles.len(), 8);
    for title in titles {
        assert!(tests.contains(&format!("Kitchen::new(\"{title}\"")), "{title}");
    }
}

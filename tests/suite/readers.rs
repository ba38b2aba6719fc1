//! Independent gzip readers read what sitemill compresses.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Once;

use sitemill::internals::gzip::Compressor;
use sitemill::options::{Engine, Level};

use crate::corpus::{Corpus, Order, Recipe};
use crate::support::{TempDir, finish};

const PYTHON: &str = "import sys, zlib
member = zlib.decompressobj(31)
plain = member.decompress(open(sys.argv[1], 'rb').read()) + member.flush()
assert member.eof and not member.unused_data
sys.stdout.buffer.write(plain)";

const NODE: &str = "const gzip = require('fs').readFileSync(process.argv[1]);
process.stdout.write(require('zlib').gunzipSync(gzip));";

const JAVA: &str = "import java.io.*;
import java.util.zip.GZIPInputStream;

class Gunzip {
    public static void main(String[] files) throws IOException {
        for (String file : files) {
            try (InputStream plain = new GZIPInputStream(new FileInputStream(file))) {
                plain.transferTo(System.out);
            }
        }
        System.out.flush();
    }
}
";

/// A sitemap of shop URLs in `order`.
fn sitemap(order: Order) -> Vec<u8> {
    let recipe = Recipe { lines: 20_000, order, non_ascii: 0.1, ..Recipe::default() };
    let urls = Corpus::new(&recipe).expect("the recipe is sound").text();
    let mut xml = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset>\n".to_vec();
    for url in urls.split(|&byte| byte == b'\n').filter(|url| !url.is_empty()) {
        xml.extend([b"<url><loc>", url, b"</loc></url>\n"].concat());
    }
    xml.extend(b"</urlset>\n");
    xml
}

/// Bytes that cannot be compressed: xorshift64.
fn noise(bytes: usize) -> Vec<u8> {
    let next = |state: &u64| {
        let state = state ^ (state << 13);
        let state = state ^ (state >> 7);
        Some(state ^ (state << 17))
    };
    std::iter::successors(Some(1), next).map(|state: u64| (state >> 32) as u8).take(bytes).collect()
}

#[test]
fn every_reader_decompresses_every_level() {
    let documents =
        [sitemap(Order::Shuffled), sitemap(Order::Sorted), b"a".repeat(100_000), noise(100_000), Vec::new()];
    let directory = TempDir::new();
    let java = directory.file("Gunzip.java", JAVA);
    let (mut files, mut plain_of_all) = (Vec::new(), Vec::new());
    for (n, plain) in documents.iter().enumerate() {
        for level in 0..=9 {
            let mut compressor = Compressor::new(Engine::Records, Level::new(level).expect("it is 0 to 9"));
            compressor.push(plain);
            let file = directory.file(&format!("{n}-{level}.xml.gz"), compressor.finish());
            let file = file.into_os_string().into_string().expect("tests write plain names");
            let readers: [&[&str]; 7] = [
                &["gzip", "-t"],
                &["gzip", "-dc"],
                &["pigz", "-dc"],
                &["igzip", "-dc"],
                &["libdeflate-gunzip", "-c"],
                &["python3", "-c", PYTHON],
                &["node", "-e", NODE],
            ];
            for reader in readers {
                let plain = if reader[1] == "-t" { &[][..] } else { plain };
                check(reader, &[&file], plain);
            }
            plain_of_all.extend_from_slice(plain);
            files.push(file);
        }
    }
    // Java starts slowly, so one process reads all files.
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    check(&["java", java.to_str().expect("tests write plain names")], &files, &plain_of_all);
}

/// Fails unless `reader` reads `plain` from `files`.
#[track_caller]
fn check(reader: &[&str], files: &[&str], plain: &[u8]) {
    if Command::new(reader[0]).arg("--help").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        return without(reader[0]);
    }
    let run = finish(Command::new(reader[0]).args(&reader[1..]).args(files), b"").expect(0);
    assert!(run.stdout == plain, "{} read other bytes from {files:?}", reader[0]);
}

fn without(reader: &str) {
    static SAID: Once = Once::new();
    assert!(
        std::env::var_os("SITEMILL_NO_READERS").is_some(),
        "{reader} is not on the PATH; scripts/test installs it to read what was compressed. Install it, or set \
         SITEMILL_NO_READERS=1 to test without some of the readers"
    );
    // Written directly, because the harness hides the output of passing tests.
    let warning = "\nSITEMILL_NO_READERS: some gzip readers are missing in this run\n";
    SAID.call_once(|| drop(std::io::stderr().write_all(warning.as_bytes())));
}

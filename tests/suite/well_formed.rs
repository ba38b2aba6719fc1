//! Compares `sitemill check` with `xmllint` on thousands of damaged documents. Both must refuse the same ones, except
//! those that `check` refuses deliberately.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::corpus::SplitMix64;
use crate::support::{TempDir, finish, lint_findings, sitemill};

/// The number of mutants of each document.
const MUTATIONS: usize = 700;

/// The valid documents that are mutated. Each uses XML that the others do not.
const DOCUMENTS: [&str; 6] = [
    "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone='yes' ?>\n\
     <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n<url><loc>http://h.example/a</loc></url>\n</urlset>\n",
    "<?xml version='1.0'?><!-- a - b --><?target some words?>\
     <urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns:h=\"http://www.w3.org/1999/xhtml\">\
     <url ><loc>http://h.example/?a=1&amp;b=&#50;</loc >\
     <h:link rel=\"alternate\" hreflang='de' href = \"http://h.example/de?a&amp;b\"/></url></urlset><!---->",
    "\u{feff}<?xml version=\"1.0\" encoding='utf-8'?>\r\n<s:sitemapindex xmlns:s=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
     <s:sitemap><s:loc>http://h.example/a.xml</s:loc><s:lastmod>2005-06-26</s:lastmod></s:sitemap></s:sitemapindex>\n",
    "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
     xmlns:i=\"http://www.google.com/schemas/sitemap-image/1.1\" xmlns:x=\"urn:x\" xmlns:y=\"urn:y\">\
     <x:head x:a='1' y:a=\"&lt;\"><![CDATA[<&]] >]]></x:head><url><loc>http://h.example/\u{fc}</loc><priority>0.5</priority>\
     <i:image><i:loc>http://h.example/i</i:loc><i:title>a &gt; b</i:title></i:image><y:b/></url></urlset>",
    "<urlset xmlns=\"http://www.google.com/schemas/sitemap/0.84\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
     xsi:schemaLocation=\"a b\"><url><changefreq>daily</changefreq><loc>http://h.example/&#x61;</loc></url>\
     <?a?><url><loc>http://h.example/\n</loc></url></urlset>",
    "<?xml version=\"1.0\"?><?xml-stylesheet type=\"text/xsl\" href='a.xsl'?>\
     <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>http://h.example/1</loc>\
     <lastmod>2005-06-26T00:00:00Z</lastmod></url><url/></urlset>",
];

/// The pieces to insert: XML syntax, and characters that XML does not allow.
const PIECES: [&[u8]; 62] = [
    b"<",
    b">",
    b"&",
    b"\"",
    b"'",
    b"/",
    b"?",
    b"!",
    b"-",
    b"--",
    b"]]>",
    b"<!--",
    b"-->",
    b"<![CDATA[",
    b"<?",
    b"?>",
    b"=",
    b":",
    b";",
    b"#",
    b" ",
    b"\t",
    b"\r",
    b"\n",
    b"\x0b",
    b"\x0c",
    b"\0",
    b"\x7f",
    b"\xff",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xef\xbf\xbe",
    b"\xef\xbb\xbf",
    b"\xc2\xb7",
    b"\xc2\x85",
    b"\xc3\xbc",
    b"1",
    b"a",
    b"xml",
    b"XML",
    b"<?xml version=\"1.0\"?>",
    b"<?xml?>",
    b"<?XML a?>",
    b"<?a:b c?>",
    b"<!DOCTYPE urlset>",
    b"<a/>",
    b"<x:y z='1'/>",
    b"</a>",
    b" a='1'",
    b" x:a='2'",
    b" xmlns:a=''",
    b" xmlns:xml='urn:x'",
    b" encoding=\"UTF-16\"",
    b" standalone='maybe'",
    b" version='1.1'",
    b"&nbsp;",
    b"&#0;",
    b"&#x1F;",
    b"&#xD800;",
    b"&#xFFFE;",
    b"&#x10FFFF;",
    b"&#x110000;",
];

/// `document`, damaged in one to three places.
fn mutant(document: &[u8], random: &mut SplitMix64) -> Vec<u8> {
    let mut bytes = document.to_vec();
    for _ in 0..=random.below(3) {
        let mut place = || random.below(bytes.len() as u64) as usize;
        let (at, from) = (place(), place());
        // Mostly a few bytes, sometimes a whole element.
        let longest = if random.below(4) == 0 { 40 } else { 4 };
        let length = 1 + random.below(longest) as usize;
        let (to, end) = ((from + length).min(bytes.len()), (at + length).min(bytes.len()));
        let piece = PIECES[random.below(PIECES.len() as u64) as usize];
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => drop(bytes.drain(from..to)),
            2 => {
                let copy = bytes[from..to].to_vec();
                bytes.splice(at..at, copy).for_each(drop);
            }
            3 => drop(bytes.splice(at..end, piece.iter().copied())),
            _ => drop(bytes.splice(at..at, piece.iter().copied())),
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

/// Rule and message of each finding of `check`, by file.
fn findings(files: &[PathBuf]) -> BTreeMap<PathBuf, Vec<(String, String)>> {
    let mut check = sitemill();
    check.args(["check", "--json", "--quiet", "--limit-findings", "100000000"]).args(files);
    let run = finish(&mut check, b"");
    let mut found = BTreeMap::new();
    for line in str::from_utf8(&run.stdout).unwrap().lines() {
        let finding: Value = serde_json::from_str(line).unwrap();
        let word = |key: &str| finding[key].as_str().map(str::to_owned);
        if let (Some(file), Some(rule), Some(words)) = (word("file"), word("rule"), word("words")) {
            found.entry(file.into()).or_insert_with(Vec::new).push((rule, words));
        }
    }
    found
}

/// Whether the finding means that the document is not XML or was not read to its end.
fn is_refusal((rule, words): &(String, String)) -> bool {
    let is_foreign_root = rule == "namespace" && words.ends_with("is in no namespace of the protocol");
    ["well-formed", "encoding", "doctype", "entity", "root", "too-deep"].contains(&rule.as_str())
        || is_foreign_root
}

/// Whether `check` deliberately refuses something that `xmllint` accepts.
fn is_deliberate((rule, words): &(String, String), document: &[u8]) -> bool {
    match rule.as_str() {
        // XML allows these; the protocol or `check` does not.
        "encoding" | "doctype" | "root" | "too-deep" | "namespace" => true,
        "well-formed" => {
            words.starts_with("the XML declaration does not begin with version 1.0")
                // XML forbids both, but libxml2 requires no white space before standalone and stops at a zero byte.
                || words.starts_with("no white space before an attribute in the XML declaration")
                || document.contains(&0)
        }
        _ => false,
    }
}

/// All disagreements about mutants of all documents.
fn disagreements(directory: &Path, seed: u64, mutations: usize) -> Vec<String> {
    let mut random = SplitMix64::new(seed);
    let mut files = BTreeMap::new();
    for document in DOCUMENTS {
        for _ in 0..mutations {
            let path = directory.join(format!("{seed}-{}.xml", files.len()));
            let bytes = mutant(document.as_bytes(), &mut random);
            std::fs::write(&path, &bytes).unwrap();
            files.insert(path, bytes);
        }
    }
    let paths: Vec<PathBuf> = files.keys().cloned().collect();
    let found = findings(&paths);
    let Some(lint) = lint_findings(&paths) else { return Vec::new() };
    let refused: BTreeSet<&Path> =
        lint.iter().filter(|(_, kind)| kind != "namespace").map(|(path, _)| &**path).collect();
    let misnamed: BTreeSet<&Path> =
        lint.iter().filter(|(_, kind)| kind == "namespace").map(|(path, _)| &**path).collect();
    assert!((files.len() / 4..files.len()).contains(&refused.len()), "{} refused", refused.len());
    let mut disagreements = Vec::new();
    for (path, bytes) in &files {
        let found = found.get(path).map_or(&[][..], |found| found);
        let document = String::from_utf8_lossy(bytes);
        if refused.contains(&**path) {
            if !found.iter().any(is_refusal) {
                disagreements.push(format!("only xmllint refuses {document:?}"));
            }
            continue;
        }
        if misnamed.contains(&**path)
            && !found.iter().any(|found| found.0 == "namespace" || is_refusal(found))
        {
            disagreements.push(format!("only xmllint finds a wrong namespace in {document:?}"));
        }
        if let Some(first) =
            found.iter().find(|found| is_refusal(found)).filter(|found| !is_deliberate(found, bytes))
        {
            disagreements.push(format!("only check refuses, {first:?}: {document:?}"));
        }
    }
    disagreements
}

#[test]
fn check_and_xmllint_refuse_the_same_damaged_documents() {
    let directory = TempDir::in_memory();
    let found = disagreements(directory.path(), 1, MUTATIONS);
    assert!(found.is_empty(), "{} disagreements:\n{}", found.len(), found.join("\n"));
}

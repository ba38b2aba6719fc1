//! Validates XML with `xmllint`: by the schemas in `testdata/schemas`, or whether it is well-formed.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Once;

use super::{TempDir, finish, published, testdata};

/// Fails unless `xmllint` finds every file of the set in `out` valid by the schemas of `protocol`.
#[track_caller]
pub fn assert_valid_set(out: &Path, base_url: &str, protocol: &str) {
    let unpacked = TempDir::new();
    let mut by_schema = [("siteindex", Vec::new()), ("sitemap", Vec::new())];
    for (file, xml) in published(out, base_url) {
        let schema = usize::from(file.ends_with(".gz"));
        by_schema[schema].1.push(unpacked.file(&file.replace(".gz", ""), xml));
    }
    for (schema, files) in by_schema {
        assert!(!files.is_empty(), "a set has index files and sitemaps");
        // Images, videos and news have schemas of their own.
        let extended = if (schema, protocol) == ("sitemap", "0.9") { "-extended" } else { "" };
        lint(&format!("{schema}-{protocol}{extended}"), &files, b"");
    }
}

/// Fails unless `xmllint` finds `xml` valid by `testdata/schemas/SCHEMA.xsd`.
#[track_caller]
pub fn assert_valid(xml: &str, schema: &str) {
    lint(schema, &["-".into()], xml.as_bytes());
}

/// Runs `xmllint` once for all of `files`, where `-` is `stdin`.
#[track_caller]
fn lint(schema: &str, files: &[PathBuf], stdin: &[u8]) {
    if Command::new("xmllint").arg("--version").stderr(Stdio::null()).status().is_err() {
        return without_xmllint();
    }
    let path = testdata().join("schemas").join(format!("{schema}.xsd"));
    let mut xmllint = Command::new("xmllint");
    let run = finish(xmllint.args(["--nonet", "--noout", "--schema"]).arg(path).args(files), stdin);
    assert_eq!(run.exit, 0, "not valid by {schema}.xsd:\n{}", run.stderr);
}

/// File and kind (`parser` or `namespace`) of every error that `xmllint` finds in `files` without a schema.
/// `None` if it is not installed and need not be.
pub fn lint_findings(files: &[PathBuf]) -> Option<Vec<(PathBuf, String)>> {
    if Command::new("xmllint").arg("--version").stderr(Stdio::null()).status().is_err() {
        without_xmllint();
        return None;
    }
    let mut found = Vec::new();
    for files in files.chunks(1_000) {
        let mut xmllint = Command::new("xmllint");
        // Its messages quote the files, which may contain any bytes.
        let output = xmllint.args(["--nonet", "--noout"]).args(files).output().expect("it is installed");
        for line in String::from_utf8_lossy(&output.stderr).lines() {
            // Namespaces are compared as strings and need not be valid URIs.
            let Some((place, _)) =
                line.split_once(" error : ").filter(|(_, words)| !words.contains("is not a valid URI"))
            else {
                continue;
            };
            let mut parts = place.splitn(3, ':').map(str::trim);
            if let (Some(file), Some(_), Some(kind)) = (parts.next(), parts.next(), parts.next()) {
                found.push((file.into(), kind.to_owned()));
            }
        }
    }
    Some(found)
}

fn without_xmllint() {
    static SAID: Once = Once::new();
    assert!(
        std::env::var_os("SITEMILL_NO_XMLLINT").is_some(),
        "xmllint is not on the PATH; scripts/test needs it to hold what is written against the schemas. Install \
         it (package libxml2-utils or libxml2), or set SITEMILL_NO_XMLLINT=1 to test without a second opinion"
    );
    // Written directly, because the harness hides the output of passing tests.
    let warning = "\nSITEMILL_NO_XMLLINT: no XML is validated in this run\n";
    SAID.call_once(|| drop(std::io::stderr().write_all(warning.as_bytes())));
}

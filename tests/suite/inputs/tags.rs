//! Every tag of the input is written, dropped or refused, in every format. A run that lost one would fail.

use std::fs;

use serde_json::{Value, json};

use super::{BASE, report_of};
use crate::support::{TempDir, published};

/// Rows of URL, lastmod, changefreq and priority, with valid and invalid values.
fn rows() -> Vec<[String; 4]> {
    let row = |n: u32| {
        let url = match n % 10 {
            0 => "nonsense".into(),
            1 => format!("https://elsewhere.example/{n}"),
            2 => format!("{BASE}twice"),
            _ => format!("{BASE}page/{n}?a&b"),
        };
        let lastmod = ["", "2024-05-01", "yesterday", " 2024-05-01T10:00:00Z", " "][n as usize % 5];
        let changefreq = ["", "daily", "DAILY", "often"][n as usize % 4];
        let priority = ["", "0.5", "2", "1.0", "0", " "][n as usize % 6];
        [url, lastmod.into(), changefreq.into(), priority.into()]
    };
    (0..20_000).map(row).collect()
}

/// The number of entries in the set that have each tag.
fn written(directory: &TempDir) -> [usize; 3] {
    let set = published(&directory.join("out"), BASE);
    ["<lastmod>2", "<changefreq>", "<priority>"]
        .map(|tag| set.iter().skip(1).map(|(_, xml)| xml.matches(tag).count()).sum())
}

#[test]
fn tags_add_up_in_every_form_order_and_protocol_with_and_without_defaults() {
    let directory = TempDir::new();
    let rows = rows();
    let csv = rows.iter().map(|row| row.join(",") + "\n").collect::<String>();
    directory.file("a.csv", format!("url,lastmod,changefreq,priority\n{csv}"));
    let json = |[url, lastmod, changefreq, priority]: &[String; 4]| {
        let links = if lastmod.is_empty() {
            "[]".into()
        } else {
            format!("[{{\"hreflang\":\"de\",\"href\":\"{url}\"}}]")
        };
        format!(
            "{{\"url\":\"{url}\",\"lastmod\":\"{lastmod}\",\"changefreq\":\"{changefreq}\",\"priority\":\"{priority}\",\
             \"alternates\":{links},\"images\":[\"{url}\",\"mailto:x\"]}}\n"
        )
    };
    directory.file("a.jsonl", rows.iter().map(json).collect::<String>());
    let xml = |[url, lastmod, changefreq, priority]: &[String; 4]| {
        let url = url.replace('&', "&amp;");
        format!(
            "<url><loc>{url}</loc><lastmod>{lastmod}</lastmod><changefreq>{changefreq}</changefreq>\
             <priority>{priority}</priority><xhtml:link rel='alternate' hreflang='de' href='{url}'/></url>\n"
        )
    };
    directory.file("a.xml", format!("<urlset>{}</urlset>", rows.iter().map(xml).collect::<String>()));
    for input in ["a.csv", "a.jsonl", "a.xml"] {
        for order in ["input", "sorted"] {
            for options in [&[][..], &["--default-changefreq", "weekly", "--default-priority", "0.3"]] {
                for protocol in ["0.9", "0.84"] {
                    let mut all = vec!["--order", order, "--protocol", protocol, "--max-shrink", "100"];
                    all.extend(options);
                    let _ = fs::remove_dir_all(directory.join("out"));
                    let (_, report) = report_of(&directory, &[input], &all, b"");
                    // The default is for entries without the tag. It does not replace an invalid one.
                    let want =
                        if options.is_empty() { [6_000, 7_001, 7_334] } else { [6_000, 10_001, 12_000] };
                    assert_eq!(written(&directory), want, "{input}, {all:?}");
                    assert_eq!(report["given_tags"]["lastmod"], given(&rows));
                }
            }
        }
    }
}

/// The number of tags in accepted rows.
fn given(rows: &[[String; 4]]) -> Value {
    let of_entries = rows.iter().filter(|row| row[0].starts_with(BASE));
    json!(of_entries.filter(|row| !row[1].trim().is_empty()).count())
}

#[test]
fn tags_of_an_entry_that_is_too_large_are_refused_with_it() {
    let directory = TempDir::new();
    let images: Vec<String> = (0..200).map(|n| format!("\"{BASE}images/{n}.png\"")).collect();
    let row = format!(
        "\"lastmod\":\"yesterday\",\"priority\":0.5,\"images\":[\"no url\",{}]}}\n",
        images.join(",")
    );
    let small = format!("{{\"url\":\"{BASE}b\",\"lastmod\":\"2024-05-01\"}}\n");
    directory.file("a.jsonl", format!("{{\"url\":\"{BASE}a\",{row}{small}"));
    for order in ["input", "sorted"] {
        let options = ["--bytes-per-sitemap", "5000", "--order", order, "--rejects", "rejects.tsv"];
        let (_, report) = report_of(&directory, &["a.jsonl"], &options, b"");
        assert_eq!(report["rejected"], json!({ "entry-too-large": 1 }));
        assert_eq!(report["dropped_tags"], json!({}));
        assert_eq!(report["given_tags"], json!({ "lastmod": 1 }));
        assert_eq!(report["refused_tags"], json!({ "lastmod": 1, "priority": 1, "images": 201 }));
        let rejects = fs::read_to_string(directory.join("rejects.tsv")).unwrap();
        assert_eq!(rejects.lines().count(), 2, "the header and the row: {rejects}");
    }
}

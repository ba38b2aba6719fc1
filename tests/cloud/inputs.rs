//! Inputs: objects, prefixes, patterns, and files on web servers.

mod names;
mod replaced;
mod web;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use ::parquet::basic::Compression;
use ::parquet::data_type::{ByteArray, ByteArrayType};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use serde_json::{Value, json};

use crate::proxy::{Fault, Request};
use crate::servers::SECRET_KEY;
use crate::support::{Run, TempDir, contents, finish, gzip, published_urls};
use crate::world::{BASE, Bucket, Store, pages, urls};

/// Builds `inputs` into the directory `out`.
fn build(bucket: &Bucket, out: &Path, inputs: &[&str], options: &[&str]) -> Run {
    let mut command = bucket.sitemill();
    command.args(["build", "--json", "--base-url", BASE, "--out"]).arg(out).args(options).args(inputs);
    finish(&mut command, b"")
}

fn report(run: &Run) -> Value {
    serde_json::from_slice(&run.stdout).expect("a line of JSON")
}

/// A Parquet file of `rows` pages in row groups of `group_rows`, with a column that is never read.
fn parquet(rows: u32, group_rows: usize, codec: Compression) -> Vec<u8> {
    let schema = "message m { required binary url (STRING); required binary blob; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_compression(codec).set_dictionary_enabled(false).build();
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    let all: Vec<ByteArray> = urls(1, rows).iter().map(|url| ByteArray::from(&**url)).collect();
    for urls in all.chunks(group_rows) {
        let mut group = file.next_row_group().unwrap();
        let blobs = vec![ByteArray::from(vec![7_u8; 100]); urls.len()];
        for values in [urls, &blobs] {
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<ByteArrayType>().write_batch(values, None, None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    file.into_inner().unwrap()
}

#[test]
fn objects_in_every_form_are_read_like_files() {
    let store = Store::new();
    let bucket = store.bucket("exports");
    let directory = TempDir::new();
    let rows = "url,lastmod,sku\nhttp://h.example/1,2024-05-01,7\nhttp://h.example/2,,8\nnone,,9\n";
    let objects: [(&str, Vec<u8>); 7] = [
        ("a.txt", [pages(1, 2000).as_bytes(), b"\nbad line\n"].concat()),
        ("b.csv", rows.into()),
        ("c.jsonl.gz", gzip(b"{\"url\":\"http://h.example/3\",\"x\":1}\n{\"url\":\"http://h.example/4\"}\n")),
        ("d.txt.zst", zstd::encode_all(pages(3000, 4000).as_bytes(), 3).unwrap()),
        ("e.parquet", parquet(5000, 1000, Compression::SNAPPY)),
        ("f.xml", b"<urlset><url><loc>http://h.example/5</loc></url></urlset>".to_vec()),
        ("g", parquet(10, 10, Compression::UNCOMPRESSED)),
    ];
    for (name, bytes) in &objects {
        bucket.put(&format!("in/{name}"), bytes);
        directory.file(name, bytes);
    }
    let mut sets = Vec::new();
    for (root, out) in [(directory.path().to_str().unwrap(), "of-files"), ("s3://exports/in", "of-objects")] {
        let inputs: Vec<String> = objects.iter().map(|(name, _)| format!("{root}/{name}")).collect();
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let home = TempDir::new();
        let (out, rejects) = (home.join(out), home.join("rejects"));
        let options = ["--rejects", rejects.to_str().unwrap(), "--expect-lines", "8019"];
        let mut report = report(&build(&bucket, &out, &inputs, &options).expect(0));
        for input in report["inputs"].as_array_mut().unwrap() {
            let path = input["path"].as_str().unwrap().strip_prefix(root).unwrap().to_owned();
            input["path"] = path.into();
        }
        let rejects = fs::read_to_string(rejects).unwrap().replace(root, "");
        sets.push((published_urls(&out, BASE), report["inputs"].clone(), rejects));
        let sitemaps = contents(&out).into_iter().filter(|(name, _)| name.starts_with("sitemap-0"));
        assert!(sitemaps.count() > 0);
    }
    assert!(sets[0] == sets[1], "{:?} {:?}", sets[0].1, sets[1].1);
    assert_eq!(sets[1].1[4]["bytes"], objects[4].1.len());
    assert!(sets[1].2.contains("/b.csv\t4\t"), "{}", sets[1].2);
    // The same lines in the same order.
    let cleaned = |root: &str| {
        let mut clean = bucket.sitemill();
        clean.arg("clean").args(objects.iter().map(|(name, _)| format!("{root}/{name}")));
        finish(&mut clean, b"").expect(0).stdout
    };
    assert!(cleaned("s3://exports/in") == cleaned(directory.path().to_str().unwrap()));
}

#[test]
fn of_parquet_only_the_index_and_the_columns_that_are_used_are_fetched() {
    let store = Store::new();
    let bucket = store.bucket("exports");
    // Each column is larger than several windows.
    let file = parquet(400_000, 250_000, Compression::UNCOMPRESSED);
    bucket.put("urls.parquet", &file);
    bucket.proxy.forward();
    let out = TempDir::new();
    let run = build(&bucket, &out.join("out"), &["s3://exports/urls.parquet"], &["--quiet"]).expect(0);
    assert_eq!(report(&run)["listed"], 400_000);
    let log = bucket.proxy.log();
    let range = |request: &Request| {
        let range = request.head.header("range")?.strip_prefix("bytes=")?;
        let (first, last) = range.split_once('-')?;
        Some(last.parse::<usize>().ok()? + 1 - first.parse::<usize>().ok()?)
    };
    // Ignores the listing that tells an object from a prefix.
    let gets = log.iter().filter(|request| request.method == "GET" && request.key.ends_with(".parquet"));
    let gets: Vec<_> = gets.collect();
    let fetched: usize = gets.iter().map(|request| range(request).expect("a part")).sum();
    assert!(fetched < file.len() / 3, "{fetched} of {} bytes were fetched", file.len());
    assert!(gets.iter().all(|request| request.head.header("if-match").is_some()));
    assert!(gets.len() < 30, "{} requests", gets.len());
}

#[test]
fn a_prefix_is_read_like_a_directory() {
    let store = Store::new();
    let bucket = store.bucket("exports");
    for (key, text) in [
        ("day/part-2.txt", pages(4, 6)),
        ("day/hour=1/part-1.txt", pages(1, 3)),
        ("day/_temporary/0/part-9.txt", pages(90, 99)),
        ("day/_temporary/1/part-9.txt", pages(90, 99)),
        ("day/notes.txt", "notes".into()),
        ("days.txt", pages(80, 89)),
    ] {
        bucket.put(key, text.as_bytes());
    }
    let directory = TempDir::new();
    let out = directory.join("out");
    for prefix in ["s3://exports/day/", "s3://exports/day"] {
        let run = build(&bucket, &out, &[prefix], &[]).expect(0);
        assert!(
            run.stderr.contains("skipped 1 path in input directories: s3://exports/day/notes.txt"),
            "{run:?}"
        );
        let report = report(&run);
        let paths: Vec<_> = report["inputs"].as_array().unwrap().iter().map(|input| &input["path"]).collect();
        assert_eq!(paths, ["s3://exports/day/hour=1/part-1.txt", "s3://exports/day/part-2.txt"]);
        assert_eq!(
            report["skipped"],
            json!([
                { "path": "s3://exports/day/_temporary", "reason": "its name begins with . or _" },
                { "path": "s3://exports/day/notes.txt", "reason": "there are part-* files, and only these are read" },
            ])
        );
        assert_eq!(published_urls(&out, BASE), urls(1, 6));
    }
    let refused = build(&bucket, &out, &["s3://exports/day/"], &["--require-success-marker"]).expect(65);
    assert!(
        refused.stderr.contains("s3://exports/day: has no _SUCCESS (data files: 2)"),
        "{}",
        refused.stderr
    );
    bucket.put("day/_SUCCESS", b"");
    build(&bucket, &out, &["s3://exports/day/"], &["--require-success-marker"]).expect(0);
}

#[test]
fn an_object_with_the_name_of_a_prefix_is_found_by_one_request() {
    let store = Store::moto();
    let bucket = store.bucket("exports");
    for key in ["day", "day/1.txt", "days.txt", "night-1.txt", "night/1.txt"] {
        bucket.put(key, pages(1, 3).as_bytes());
    }
    let out = TempDir::new();
    for (input, skipped) in [
        ("s3://exports/day", &["s3://exports/day"][..]),
        ("s3://exports/day/", &[]),
        ("s3://exports/night", &[]),
    ] {
        bucket.proxy.forward();
        let report = report(&build(&bucket, &out.join("out"), &[input], &["--quiet"]).expect(0));
        let paths: Vec<_> = report["skipped"].as_array().unwrap().iter().map(|one| &one["path"]).collect();
        assert_eq!(paths, skipped);
        let log = bucket.proxy.log();
        let lists: Vec<_> = log.iter().filter(|request| request.query.contains("list-type")).collect();
        assert_eq!(lists.len(), if input.ends_with('/') { 1 } else { 2 }, "{lists:?}");
        assert!(lists.iter().all(|request| !request.query.contains("delimiter")), "{lists:?}");
    }
}

#[test]
fn a_pattern_is_expanded_in_order() {
    let store = Store::new();
    let bucket = store.bucket("exports");
    for key in
        ["day=1/part-2.csv", "day=1/part-1.csv", "day=2/part-1.csv", "day=2/other.csv", "day=3x/part-1.csv"]
    {
        let number: String = key.chars().filter(char::is_ascii_digit).collect();
        bucket.put(key, format!("url\n{BASE}{number}\n").as_bytes());
    }
    let directory = TempDir::new();
    let out = directory.join("out");
    for (pattern, want) in [
        ("s3://exports/day=?/part-*.csv", &["11", "12", "21"][..]),
        ("s3://exports/day=[2-9]*/part-1.csv", &["21", "31"]),
        ("s3://exports/day=?", &["11", "12", "21"]),
        ("s3://exports/*/", &["11", "12", "21", "31"]),
    ] {
        build(&bucket, &out, &[pattern], &["--max-shrink", "100"]).expect(0);
        let want: Vec<String> = want.iter().map(|number| format!("{BASE}{number}")).collect();
        assert_eq!(published_urls(&out, BASE), want, "{pattern}");
    }
    let refused = build(&bucket, &out, &["s3://exports/day=1/*.parquet"], &[]).expect(66);
    assert!(refused.stderr.contains("no object matches this pattern"), "{}", refused.stderr);
}

#[test]
fn only_keys_that_begin_like_the_pattern_are_listed() {
    let store = Store::new();
    let bucket = store.bucket("exports");
    for key in ["logs/a.txt", "logs/zz-1.txt", "logs/zz-2.txt", "logs/zz-3/a.txt"] {
        bucket.put(key, format!("{BASE}{}\n", key.len()).as_bytes());
    }
    bucket.proxy.forward();
    let out = TempDir::new();
    let report = report(&build(&bucket, &out.join("out"), &["s3://exports/logs/zz-*.txt"], &[]).expect(0));
    assert_eq!(report["lines"], 2);
    let log = bucket.proxy.log();
    let lists: Vec<_> = log.iter().filter(|request| request.query.contains("list-type")).collect();
    assert_eq!(lists.len(), 1, "{lists:?}");
    assert!(lists[0].query.contains("prefix=logs%2Fzz-&") || lists[0].query.ends_with("prefix=logs%2Fzz-"));
}

#[test]
fn a_set_in_a_bucket_is_read_as_its_sitemaps() {
    let store = Store::new();
    let bucket = store.bucket("exports");
    bucket.publish(1, 100).expect(0);
    bucket.publish(51, 120).expect(0);
    let directory = TempDir::new();
    let index = format!("{}/sitemap-index-1.xml", bucket.out());
    for (input, first, last) in [(bucket.out(), 51, 120), (index, 51, 80)] {
        let out = directory.join(last.to_string());
        build(&bucket, &out, &[&input], &[]).expect(0);
        assert_eq!(published_urls(&out, BASE), urls(first, last), "{input}");
    }
    // The output location cannot be an input, and is skipped in a larger input location.
    let refused = finish(bucket.build().arg(bucket.out() + "/"), b"").expect(2);
    assert!(refused.stderr.contains("publishes there"), "{}", refused.stderr);
    bucket.put("more.txt", pages(1, 10).as_bytes());
    finish(bucket.build().args(["--max-shrink", "100", "s3://exports"]), b"").expect(0);
    assert_eq!(bucket.urls(), urls(1, 10));
}

#[test]
fn a_set_that_the_run_replaces_is_no_input_not_even_by_a_pattern() {
    let store = Store::new();
    let bucket = store.bucket("exports");
    let (sites, lines) = ("s3://exports/sites", b"https://a.example/1\nhttps://b.example/2\n");
    let build = |base: &str, out: &str, inputs: &[&str]| {
        let mut command = bucket.sitemill();
        command.args(["build", "--quiet", "--max-shrink", "100", "--base-url", base, "--out", out]);
        finish(command.args(inputs), lines)
    };
    build("{origin}/", sites, &[]).expect(0);
    bucket.publish(1, 10).expect(0);
    bucket.put("sites/data/urls.txt", lines);
    let index = "s3://exports/sites/a.example/sitemap-index-1.xml";
    for (base, out, input, refused) in [
        (
            "{origin}/",
            sites,
            "s3://exports/sites/a.example",
            Some("s3://exports/sites/a.example: is an input"),
        ),
        ("{origin}/", sites, "s3a://exports/sites/a.example/", Some("a.example/: is an input")),
        ("{origin}/", sites, "s3://exports/sites/b*", Some("s3://exports/sites/b.example: is an input")),
        ("{origin}/", sites, "s3://exports/sites", Some("s3://exports/sites: is an input")),
        ("{origin}/", sites, "s3://exports/sit*", Some("s3://exports/sites: is an input")),
        ("{origin}/", sites, "s3://exports/sites/data/", None),
        ("{origin}/", sites, index, None),
        (BASE, &bucket.out(), "s3://exports/m*", Some("s3://exports/maps: is an input")),
        // The set of another job.
        ("https://a.example/", "s3://exports/other", "s3://exports/sites/a.example", None),
    ] {
        let run = build(base, out, &[input]);
        assert_eq!(run.exit, if refused.is_some() { 2 } else { 0 }, "{input}: {}", run.stderr);
        assert!(run.stderr.contains(refused.unwrap_or_default()), "{input}: {}", run.stderr);
    }
}

#[test]
fn an_input_that_cannot_be_read_is_named_with_the_answer_of_the_store() {
    let store = Store::new();
    let bucket = store.bucket("exports");
    bucket.put("urls.txt", pages(1, 3).as_bytes());
    let directory = TempDir::new();
    let out = directory.join("out");
    for (input, exit, said) in [
        ("s3://exports/none.txt", 66, "s3://exports/none.txt: there is no such object, and none below it"),
        ("s3://exports/none/", 66, "s3://exports/none: there is no such object, and none below it"),
        ("s3://nowhere/urls.txt", 66, "s3://nowhere/urls.txt: there is no such bucket (NoSuchBucket"),
        ("s3://exports/none/a*", 66, "no object matches this pattern"),
        ("s3://", 2, "names no bucket"),
        ("s3://exports/day//urls.txt", 2, "s3://exports/day//urls.txt: has two slashes in a row"),
        ("s3://exports/../urls.txt", 2, "s3://exports/../urls.txt: contains . or .."),
        (r"az://exports/a\b", 2, r"az://exports/a\\b: has a backslash"),
        ("s3://E/urls.txt", 66, "s3://E/urls.txt: there is no such bucket (InvalidBucketName"),
        ("swift://exports/urls.txt", 2, "s3://, gs:// and az://"),
    ] {
        let refused = build(&bucket, &out, &[input], &[]).expect(exit);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
        assert!(!refused.stderr.contains("rclone"), "{}", refused.stderr);
    }
    let wrong = "bm90IHRoZSByaWdodCBzZWNyZXQga2V5IGF0IGFsbA";
    for input in ["s3://exports/urls.txt", "s3://exports/", "s3://exports/*.txt"] {
        let mut command = bucket.sitemill();
        command.env("AWS_SECRET_ACCESS_KEY", wrong).args(["clean", input]);
        let refused = finish(&mut command, b"").expect(77);
        for said in [input.trim_end_matches(['/', '*', '.', 't', 'x']), "403", "AWS_ACCESS_KEY_ID"] {
            let is_said =
                refused.stderr.contains(said) || (said == "403" && refused.stderr.contains("Signature"));
            assert!(is_said, "{said}: {}", refused.stderr);
        }
        assert!(
            ![wrong, SECRET_KEY].iter().any(|secret| refused.stderr.contains(secret)),
            "{}",
            refused.stderr
        );
    }
    assert!(!out.join("sitemap-index-1.xml").exists());
}

#[test]
fn reading_survives_failures_of_single_requests() {
    let store = Store::new();
    let bucket = store.bucket("exports");
    bucket.put("a.txt", pages(1, 200_000).as_bytes());
    bucket.put("b.parquet", &parquet(100_000, 30_000, Compression::UNCOMPRESSED));
    let mut clean = bucket.sitemill();
    clean.args(["clean", "--quiet", "s3://exports/a.txt", "s3://exports/b.parquet"]);
    let want = finish(&mut clean, b"").expect(0).stdout;
    assert_eq!(want.len(), pages(1, 200_000).len() + pages(1, 100_000).len());
    for fault in [Fault::CutAnswer, Fault::LoseAnswer, Fault::Answer(503, "SlowDown")] {
        bucket.proxy.plan(move |request| if request.attempt == 1 { fault } else { Fault::None });
        assert!(finish(&mut clean, b"").expect(0).stdout == want, "{fault:?}");
    }
}

#[test]
fn the_example_in_the_documentation_works() {
    let store = Store::new();
    let bucket = store.bucket("exports");
    bucket.put("2024-05-01/part-1.parquet", &parquet(10, 10, Compression::SNAPPY));
    bucket.put("2024-05-01/part-2.parquet", &parquet(20, 7, Compression::SNAPPY));
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/inputs.md")).unwrap();
    let (_, section) = page.split_once("\n## Object stores and web servers\n").unwrap();
    let block = section.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let directory = TempDir::new();
    let sitemill = bucket.sitemill();
    let binary = Path::new(sitemill.get_program()).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-euc", &block.replace("https://www.example.com/", BASE)]).current_dir(directory.path());
    shell.envs(sitemill.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("PATH", path);
    finish(&mut shell, b"").expect(0);
    assert_eq!(published_urls(&directory.join("public"), BASE), urls(1, 20));
}

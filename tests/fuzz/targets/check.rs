//! `check` accepts any bytes and has the same findings for plain and compressed files. libFuzzer stops a check that takes
//! too long.
#![no_main]

use std::io::Write;
use std::num::NonZero;

use libfuzzer_sys::fuzz_target;
use sitemill::{CheckJob, Silent, Stop, check};

fuzz_target!(|data: &[u8]| {
    let directory = std::env::temp_dir().join(format!("sitemill-fuzz-check-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory can be made");
    let rules = |name: &str, bytes: &[u8]| {
        let path = directory.join(name);
        std::fs::write(&path, bytes).expect("there is room for a small file");
        let mut job = CheckJob::new(vec![path]);
        job.threads = NonZero::<usize>::MIN;
        let report = check(&job, &Silent, &Stop::default(), &mut |_| Ok(())).expect("the file can be read");
        (report.urls, report.rules)
    };
    // No seed lists these names: an index file that lists itself has other findings.
    let plain = rules("one-of-a-kind.xml", data);
    // A file named .gz need not be gzip.
    rules("hostile.xml.gz", data);
    // A file that starts like gzip is read as gzip, whatever its name.
    if data.starts_with(b"\x1f\x8b") {
        return;
    }
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(data).expect("writing to memory cannot fail");
    let gzip = gzip.finish().expect("writing to memory cannot fail");
    assert_eq!(rules("one-of-a-kind.xml.gz", &gzip), plain);
});

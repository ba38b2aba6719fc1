//! Any bytes are read as a manifest or refused. A manifest that was read and written again is unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sitemill::internals::manifest::Manifest;

fuzz_target!(|data: &[u8]| {
    let path = std::env::temp_dir().join(format!("sitemill-fuzz-manifest-{}.json", std::process::id()));
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("there is room for a small file");
        Manifest::read_file(&path)
    };
    if let Ok(manifest) = read(data) {
        let json = manifest.to_json();
        let again = read(&json).expect("it is what was written");
        assert!(again.to_json() == json);
    }
});

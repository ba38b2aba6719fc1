//! A damaged small Parquet file, in any encoding and codec, is read or refused without a panic and without more memory
//! than the file accounts for.
#![no_main]

use std::fs::File;
use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sitemill::ErrorKind;
use sitemill::internals::format::{self, Format, FormatOptions, RawInput, Record, Sink};
use sitemill::report::Reason;

#[path = "../../../src/intake/format/parquet/tests/small.rs"]
mod small;

/// Accepts all rows.
struct Rows;

impl Sink for Rows {
    fn record(&mut self, _: &Record<'_>) -> sitemill::Result<()> {
        Ok(())
    }

    fn bad_row(&mut self, _: u64, _: u64, _: Reason, _: &[u8]) -> sitemill::Result<()> {
        Ok(())
    }
}

static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(small::small_files);

// The number of a file, then changes: two bytes for the position, one for the bits to flip.
fuzz_target!(|data: &[u8]| {
    let Some((&number, changes)) = data.split_first() else { return };
    let mut bytes = FILES[usize::from(number) % FILES.len()].clone();
    for &[high, low, bits] in changes.as_chunks().0 {
        let at = usize::from(u16::from_be_bytes([high, low])) % bytes.len();
        bytes[at] ^= bits;
    }
    let path = std::env::temp_dir().join(format!("sitemill-fuzz-{}.parquet", std::process::id()));
    std::fs::write(&path, &bytes).expect("there is room for a small file");
    let file = File::open(&path).expect("it was just written");
    let (format, page_memory) = (Some(Format::Parquet), Some(1 << 20));
    let mut options = FormatOptions::default();
    (options.format, options.page_memory) = (format, page_memory);
    match format::read(Path::new("urls"), RawInput::File(file), &options, &mut Rows) {
        Ok(_) => {}
        Err(error) => {
            assert!(error.kind() == ErrorKind::Data && error.to_string().starts_with("urls: "), "{error}");
        }
    }
});

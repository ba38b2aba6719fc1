//! A clean URL is clean: cleaning it again changes nothing. And the answer does not depend on the lines before.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sitemill::internals::{Cleaned, Cleaner};
use sitemill::internals::lines::lines;

fuzz_target!(|data: &[u8]| {
    // Knows the origin of the line before, which is the fast way; the other one never knows any.
    let mut seasoned = Cleaner::default();
    for line in lines(data, 0) {
        let mut fresh = Cleaner::default();
        let first = fresh.clean(line.raw);
        assert_eq!(seasoned.clean(line.raw), first);
        if let Cleaned::Url(url) = first {
            let mut again = Cleaner::default();
            assert_eq!(again.clean(url.as_bytes()), first);
            assert_eq!(seasoned.clean(url.as_bytes()), first);
        }
    }
});

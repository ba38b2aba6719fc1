//! Cleaning a clean URL changes nothing, and the result does not depend on earlier lines.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sitemill::internals::lines::lines;
use sitemill::internals::{Cleaned, Cleaner};

fuzz_target!(|data: &[u8]| {
    // This cleaner has cached the origin of the previous line; the other one has not.
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

//! An XML reader reads back every escaped URL, and the entry has the predicted size.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quick_xml::events::Event;
use sitemill::internals::entry::Entry;
use sitemill::internals::lines::lines;
use sitemill::internals::{Cleaned, Cleaner};

fuzz_target!(|data: &[u8]| {
    let mut cleaner = Cleaner::default();
    for line in lines(data, 0) {
        let Cleaned::Url(url) = cleaner.clean(line.raw) else { continue };
        let (entry, mut xml) = (Entry::of(url), Vec::new());
        entry.push(&mut xml);
        assert_eq!(xml.len() as u64, entry.size().bytes);
        assert_eq!(text(&xml).trim_ascii(), url.as_bytes());
    }
});

/// The text of a document.
fn text(document: &[u8]) -> Vec<u8> {
    let mut reader = quick_xml::Reader::from_reader(document);
    let mut text = Vec::new();
    loop {
        match reader.read_event().expect("it is well-formed") {
            Event::Text(part) => text.extend_from_slice(part.as_bytes()),
            Event::GeneralRef(name) => {
                let reference = format!("&{};", &*name);
                let value = quick_xml::escape::unescape(&reference).expect("it is known");
                text.extend_from_slice(value.as_bytes());
            }
            Event::Eof => return text,
            _ => {}
        }
    }
}

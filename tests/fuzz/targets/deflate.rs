//! flate2 reads back any compressed text, at every level and with pushes of any size.
#![no_main]

use std::io::Read;

use libfuzzer_sys::fuzz_target;
use sitemill::internals::gzip::Compressor;
use sitemill::options::{Engine, Level};

fuzz_target!(|data: &[u8]| {
    // The first bytes choose the size of the pushes and how often the rest is repeated, so that matches occur.
    let Some((&[push, times], said)) = data.split_first_chunk() else { return };
    let plain = said.repeat(1 + usize::from(times % 8));
    for level in 0..=9 {
        let mut compressor = Compressor::new(Engine::Records, Level::new(level).expect("it is 0 to 9"));
        // An earlier member must leave no state.
        compressor.push(said);
        compressor.finish();
        plain.chunks(1 + usize::from(push) * 16).for_each(|piece| compressor.push(piece));
        let member = compressor.finish();
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&member[..]).read_to_end(&mut unpacked).expect("it is a gzip member");
        assert!(unpacked == plain, "level {level}");
        compressor.push(&plain);
        assert!(compressor.finish() == member, "level {level}: in one push");
    }
});

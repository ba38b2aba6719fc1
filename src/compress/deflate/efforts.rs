//! Efforts: how each of them finds seams and encodes the bytes between them.

use super::by_text::{ByText, Dense};
use super::deep::Deep;
use super::either::Either;
use super::finder::Depth;
use super::greedy::Greedy;
use super::joint::Joint;
use super::lazy::Lazy;
use super::medium::Medium;
use super::parser::SeamParser;
use super::payoff::NEXT_TO_NOTHING;
use super::prefixes::Prefixes;
use super::seams::{self, Seams};

/// See [`Prefixes::new`]. If neighbours share much, this is often enough that some record in reach has its prefixes inserted.
const QUICK_SCAN_INTERVAL: u32 = 128;

/// How the bytes between seams are encoded.
#[derive(Debug)]
pub enum Method {
    /// There are no seams, and bytes are stored.
    Store,
    /// Seams are taken as they are.
    Quick(ByText),
    /// Seams may begin later, or be replaced.
    Deep(Box<dyn SeamParser>),
}

/// The method of finding seams, see the table in the module above.
pub fn seams_of(effort: u8) -> Seams {
    let prefixes = || Prefixes::new(QUICK_SCAN_INTERVAL, true);
    let either = |fraction| seams::Method::Either(Box::new(Either::new(prefixes(), fraction)));
    Seams::new(match effort {
        0..=1 => seams::Method::Prefixes(Prefixes::new(QUICK_SCAN_INTERVAL, false)),
        2 => seams::Method::Prefixes(prefixes()),
        3 => either(24),
        4..=5 => either(32),
        6 => either(64),
        7.. => either(512),
    })
}

/// The method of encoding, see the table in the module above.
pub fn method_of(effort: u8) -> Method {
    // For numbers of buckets. 8 K buckets of one position fit in the first-level cache together with the window.
    const K: usize = 1024;
    let quickest = Box::<Greedy<8, { 8 * K }, 4, 24, 4>>::default;
    let quick = || Box::<Greedy<8, { 8 * K }, 4, 24, NEXT_TO_NOTHING>>::default();
    let greedy = Box::<Greedy<5, { 8 * K }, 1, 6, NEXT_TO_NOTHING>>::default;
    let lazy = Box::<Lazy>::default;
    let medium = || Box::new(Medium::<u64, false>::new(Depth { steps: 1, enough: 24 }));
    let dense = |matches| Some(Dense { parser: medium(), matches });
    match effort {
        0 => Method::Store,
        1 => Method::Quick(ByText::new(quickest(), None, None)),
        2 => Method::Quick(ByText::new(greedy(), Some(quick()), dense(4))),
        3 => Method::Quick(ByText::new(lazy(), None, dense(2))),
        4 => Method::Deep(medium()),
        5 => Method::Deep(Box::new(Medium::<u32, true>::new(Depth { steps: 12, enough: 64 }))),
        6 => Method::Deep(Box::new(Deep::<u16, false>::new(Depth { steps: 1, enough: 32 }, 16))),
        7 => Method::Deep(Box::new(Deep::<u32, true>::new(Depth { steps: 8, enough: 32 }, 16))),
        8 => Method::Deep(Box::new(Joint::new(Deep::<u64, true>::new(Depth { steps: 24, enough: 64 }, 16)))),
        9.. => {
            Method::Deep(Box::new(Joint::new(Deep::<u64, true>::new(Depth { steps: 64, enough: 128 }, 24))))
        }
    }
}

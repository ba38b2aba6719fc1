//! How hard to look for matches.

use super::block::Lengths;
use super::greedy::Greedy;
use super::thorough::Thorough;
use super::tokens::Tokens;

/// Says bytes in literals and matches.
pub trait Parser: std::fmt::Debug + Send {
    /// Says `data[from..to]`, with matches that begin at most `reach` bytes ago.
    fn parse(&mut self, data: &[u8], from: usize, to: usize, reach: usize, tokens: &mut Tokens);

    /// Remembers places that something else has said already; a quick parser has no time for it.
    fn pass(&mut self, _data: &[u8], _from: usize, _to: usize) {}

    /// Takes the code of the last block as that of the next one.
    fn learn(&mut self, _lengths: &Lengths) {}

    /// Forgets everything.
    fn clear(&mut self);
}

/// The parser of an effort from 1 to 9, each slower than the one before and writing less; 4 to 6 are one.
pub fn of_effort(effort: u8) -> Box<dyn Parser> {
    match effort {
        ..=1 => Box::<Greedy<u16, 4, true>>::default(),
        2 => Box::<Greedy<u16, 5, false>>::default(),
        3 => Box::<Greedy<u32, 5, false>>::default(),
        // What lies between the best of the quick and the quickest of the thorough has not been found yet.
        4..=6 => Box::<Greedy<u64, 5, false>>::default(),
        7 => Box::<Thorough<u16, u16, 8>>::default(),
        8 => Box::<Thorough<u16, u16, 16>>::default(),
        9.. => Box::<Thorough<u64, u64, 48>>::default(),
    }
}

//! Chooses the parser of each block by the text of the previous block.

use super::block::Lengths;
use super::parser::Parser;
use super::symbols::{CODED_LENGTHS, MATCH_MIN};
use super::tokens::Frequencies;

/// Number of blocks after which the usual parser encodes one again, to see whether the text has changed.
const PERIOD: u32 = 8;
/// Lengths of short matches. If they save little, they make the output larger: they are farther away than long ones, and spread the
/// code over more symbols.
const SHORT_BYTES: std::ops::Range<usize> = 5..9;
/// Text is sparse if it has at least this many literals per match, and short matches save less than this fraction of the bits.
const SPARSE_LITERALS: u32 = 4;
const SPARSE_FRACTION: u64 = 16;

/// A parser for usual text, and perhaps for others.
#[derive(Debug)]
pub struct ByText {
    /// The parser of this block: the usual one, or another that it was swapped with.
    parser: Box<dyn Parser>,
    sparse: Option<Box<dyn Parser>>,
    dense: Option<Dense>,
    text: Text,
    /// Whether another parser than the usual one has been used.
    is_varied: bool,
    /// Literals per match, in sixteenths, in the first block since the text was judged; 0 before it.
    literals_per_match: u32,
    /// Number of blocks until the usual parser is used again.
    blocks: u32,
}

/// The parser of dense text.
#[derive(Debug)]
pub struct Dense {
    /// The parser.
    pub parser: Box<dyn Parser>,
    /// Text is dense if the usual parser finds more matches per literal than this.
    pub matches: u32,
}

/// How much of a text repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Text {
    Usual,
    /// Next to nothing.
    Sparse,
    /// Nearly everything.
    Dense,
}

impl ByText {
    /// Uses `sparse` for text such as random numbers and `dense` for text of few words, if they are given.
    pub fn new(usual: Box<dyn Parser>, sparse: Option<Box<dyn Parser>>, dense: Option<Dense>) -> Self {
        Self {
            parser: usual,
            sparse,
            dense,
            text: Text::Usual,
            is_varied: false,
            literals_per_match: 0,
            blocks: 0,
        }
    }

    /// The parser of this block.
    #[inline(always)]
    pub fn parser(&mut self) -> &mut dyn Parser {
        &mut *self.parser
    }

    /// Chooses the parser of the next block.
    pub fn end_block(&mut self, frequencies: &Frequencies, lengths: &Lengths) {
        if self.sparse.is_none() && self.dense.is_none() {
            return;
        }
        if self.text == Text::Usual {
            (self.blocks, self.literals_per_match) = (PERIOD, 0);
            let dense_matches = self.dense.as_ref().map_or(u32::MAX, |dense| dense.matches);
            return self.change_to(Text::of(frequencies, lengths, dense_matches));
        }
        let (literals, matches) = frequencies.literals_and_matches();
        let now = 16 * literals / matches.max(1);
        if self.literals_per_match == 0 {
            self.literals_per_match = now;
        }
        let first = self.literals_per_match;
        self.blocks -= 1;
        // Another text may begin at any time, above all among sorted URLs.
        let is_other_text = 4 * now < 3 * first || 3 * now > 4 * first;
        if self.blocks == 0 || is_other_text {
            self.change_to(Text::Usual);
        }
    }

    fn change_to(&mut self, text: Text) {
        // First, back to the usual parser.
        for text in [self.text, text] {
            let other = match text {
                Text::Usual => None,
                Text::Sparse => self.sparse.as_mut(),
                Text::Dense => self.dense.as_mut().map(|dense| &mut dense.parser),
            };
            if let Some(other) = other {
                std::mem::swap(&mut self.parser, other);
            }
        }
        self.text = text;
        self.is_varied |= text != Text::Usual;
    }

    /// Removes all positions.
    pub fn clear(&mut self) {
        self.change_to(Text::Usual);
        self.blocks = 0;
        self.parser.clear();
        if std::mem::take(&mut self.is_varied) {
            let dense = self.dense.iter_mut().map(|dense| &mut dense.parser);
            self.sparse.iter_mut().chain(dense).for_each(|parser| parser.clear());
        }
    }
}

impl Text {
    /// Judges a block that the usual parser encoded. It is dense if it has more than `dense_matches` matches per literal.
    fn of(frequencies: &Frequencies, lengths: &Lengths, dense_matches: u32) -> Self {
        let costs = lengths.costs(frequencies);
        let (literals, matches) = frequencies.literals_and_matches();
        if matches > dense_matches.saturating_mul(literals) {
            return Self::Dense;
        }
        if literals < SPARSE_LITERALS * matches {
            return Self::Usual;
        }
        let mean = |cost: u64, count: u32| cost / u64::from(count.max(1));
        let saved = SHORT_BYTES.map(|bytes| {
            let symbol = usize::from(CODED_LENGTHS[bytes - MATCH_MIN].symbol);
            let cost = u64::from(lengths.litlen(symbol)) + mean(costs.distances, matches);
            let replaced = bytes as u64 * costs.literals / u64::from(literals.max(1));
            u64::from(frequencies.litlens[symbol]) * replaced.saturating_sub(cost)
        });
        let total = costs.literals + costs.lengths + costs.distances;
        if saved.sum::<u64>() * SPARSE_FRACTION < total { Self::Sparse } else { Self::Usual }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::deflate::symbols::{DISTANCES, LITLENS};

    /// Judges a block with ten different letters and matches of five bytes at ten distances, each as often as given.
    #[track_caller]
    fn check(literals: u32, short_matches: u32, want: Text) {
        let mut frequencies = Frequencies {
            litlens: [0; LITLENS],
            distances: [0; DISTANCES],
            length_extra_bits: 0,
            distance_extra_bits: u64::from(10 * short_matches * 13),
        };
        frequencies.litlens[usize::from(b'0')..][..10].fill(literals);
        frequencies.litlens[usize::from(CODED_LENGTHS[5 - MATCH_MIN].symbol)] = 10 * short_matches;
        frequencies.distances[DISTANCES - 10..].fill(short_matches);
        assert_eq!(Text::of(&frequencies, &Lengths::best(&frequencies), 4), want);
    }

    #[test]
    fn text_is_sparse_or_dense_by_how_much_its_matches_replace() {
        check(1_000, 0, Text::Sparse);
        check(1_000, 20, Text::Sparse);
        check(1_000, 500, Text::Usual);
        check(100, 1_000, Text::Dense);
    }
}

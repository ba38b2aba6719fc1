//! Options of benchmarks that measure kinds of URLs.

use super::corpus::Draw;

/// What to measure.
pub struct Options {
    /// Which URLs of each kind.
    pub draw: Draw,
    /// Only the kinds whose names contain it.
    pub kind: String,
    /// URLs of each kind.
    pub urls: usize,
    /// Rounds of measurement.
    pub rounds: usize,
    /// All other words.
    pub others: Vec<String>,
}

impl Options {
    /// Reads the words after `--`. `urls` and `rounds` are the defaults.
    pub fn read(urls: usize, rounds: usize) -> Self {
        let mut options = Self { draw: Draw::Tuning, kind: String::new(), urls, rounds, others: Vec::new() };
        for word in std::env::args().skip(1) {
            let number = |digits: &str| digits.parse().unwrap_or_else(|_| panic!("{word}: not a number"));
            match word.split_once('=').unwrap_or((&word, "")) {
                // Added by cargo.
                ("--bench", _) => (),
                ("--test", _) => (options.urls, options.rounds) = (2_000, 1),
                ("--held-out", _) => options.draw = Draw::HeldOut,
                ("--kind", name) => options.kind = name.to_owned(),
                ("--urls", digits) => options.urls = number(digits),
                ("--rounds", digits) => options.rounds = number(digits),
                _ => options.others.push(word),
            }
        }
        options
    }
}

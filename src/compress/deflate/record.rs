//! Records in the window: the one that is being compressed, and similar earlier ones.

use super::positions::hash;
use super::sizes::TAIL_BYTES;
use super::window::Window;

/// The bytes in which a seam may lie.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// The first byte that is not encoded yet.
    pub floor: usize,
    /// The start of the record.
    pub from: usize,
    /// The end of the record.
    pub to: usize,
    /// The first byte of the document that is still in the window.
    pub start: usize,
}

/// An earlier record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Found {
    /// The length of the prefix that it shares with the new record.
    pub shared: usize,
    /// The distance back to it.
    pub distance: usize,
}

/// The end of the URL before a record, such as `html` or a query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tail {
    /// Identifies it, nearly always.
    pub key: u64,
    /// Whether it has eight bytes or more, so that it is worth a match by itself.
    pub is_long: bool,
}

impl Tail {
    /// The tail before the record at `from`: what follows the last digit, hyphen, period or slash, but at least two bytes and at
    /// most sixteen. What comes before it, such as a number, differs from record to record.
    #[inline(always)]
    pub fn before(window: &Window, from: usize) -> Self {
        const WORD_BYTES: u32 = u64::BITS / 8;
        let last = window.word(from - TAIL_BYTES - 8);
        let bytes = bytes_after_break(last);
        if bytes < WORD_BYTES {
            return Self { key: hash(last >> (u64::BITS - 8 * bytes.max(2))), is_long: false };
        }
        let first = window.word(from - TAIL_BYTES - 16);
        let first = first.checked_shr(u64::BITS - 8 * bytes_after_break(first)).unwrap_or(0);
        Self { key: hash(last ^ hash(first)), is_long: true }
    }
}

/// The number of bytes at the end of `word` after the last digit, hyphen, period or slash; eight if there is none. The four kinds
/// are neighbours in ASCII.
#[inline(always)]
fn bytes_after_break(word: u64) -> u32 {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGH_BITS: u64 = 0x80 * ONES;
    // Subtracts from all bytes at once. Their high bits keep them from borrowing, and remain set in those that are large enough.
    let at_least = |least: u8| (word | HIGH_BITS) - u64::from(least) * ONES;
    let breaks = at_least(b'-') & !at_least(b'9' + 1) & HIGH_BITS;
    breaks.leading_zeros() / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tail of a URL.
    fn tail(url: &str) -> Tail {
        let mut window = Window::default();
        window.push(format!("<url><loc>https://h.example/{url}</loc></url>\n").as_bytes());
        Tail::before(&window, window.end())
    }

    #[test]
    fn bytes_are_counted_after_the_last_digit_hyphen_period_or_slash() {
        for break_at in 0..8 {
            for byte in b' '..=b'~' {
                let mut word = *b"++++++++";
                word[break_at] = byte;
                let is_break = matches!(byte, b'0'..=b'9' | b'-' | b'.' | b'/');
                let want = if is_break { 7 - break_at } else { 8 };
                assert_eq!(bytes_after_break(u64::from_le_bytes(word)) as usize, want, "{byte}");
            }
        }
    }

    #[test]
    fn tails_are_equal_if_what_follows_the_last_number_or_word_is() {
        assert_eq!(tail("chair-17.html"), tail("lamp-2904.html"));
        assert_eq!(tail("item/17?view=list&amp;ref=home"), tail("item/2904?view=list&amp;ref=home"));
        assert_ne!(tail("item/17?view=list&amp;ref=home"), tail("item/17?view=grid&amp;ref=home"));
        assert_eq!(tail("red-chair"), tail("blue-chair"));
        assert_ne!(tail("id/1234"), tail("id/1235"), "at least two bytes");
        assert!(tail("item/17?sort=price").is_long && !tail("chair-17.html").is_long);
    }
}

//! `priority`: a decimal number from 0.0 to 1.0, kept as given.

use crate::sitemap::tag_names::TagReason;

/// Maximum length of a `priority` in bytes: `0.` and the 18 digits that every XML Schema processor must support
/// (part 2, section 3.2.3, "minimally conforming processors").
pub const PRIORITY_BYTES_MAX: usize = 20;

/// A checked `priority`: the given text without surrounding blanks. `Priority::try_from("0.5")` checks a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Priority<'a>(&'a [u8]);

impl<'a> Priority<'a> {
    /// Returns the number as decimal ASCII text.
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }
}

/// A number from 0.0 to 1.0.
impl<'a> TryFrom<&'a str> for Priority<'a> {
    type Error = String;

    fn try_from(text: &'a str) -> Result<Self, String> {
        priority(text.as_bytes()).ok().flatten().ok_or_else(|| "expected a number from 0.0 to 1.0".into())
    }
}

/// Reads a `priority`; `None` if there are only blanks. The number is neither rounded nor rewritten: `0.85` stays
/// `0.85`, and `0.0` is a value like any other.
///
/// # Errors
/// [`TagReason::Priority`] if it is not an `xsd:decimal` from 0 to 1, has a sign, or has more than 20 bytes.
pub fn priority(raw: &[u8]) -> Result<Option<Priority<'_>>, TagReason> {
    let text = raw.trim_ascii();
    if text.is_empty() {
        return Ok(None);
    }
    if text.len() > PRIORITY_BYTES_MAX {
        return Err(TagReason::Priority);
    }
    let point = text.iter().position(|&byte| byte == b'.').unwrap_or(text.len());
    let (whole, fraction) = (&text[..point], text.get(point + 1..).unwrap_or(&[]));
    let is_number =
        !(whole.is_empty() && fraction.is_empty()) && whole.iter().chain(fraction).all(u8::is_ascii_digit);
    let all_zero = |digits: &[u8]| digits.iter().all(|&digit| digit == b'0');
    let at_most_one = match whole.split_last() {
        Some((b'1', before)) => all_zero(before) && all_zero(fraction),
        _ => all_zero(whole),
    };
    if is_number && at_most_one { Ok(Some(Priority(text))) } else { Err(TagReason::Priority) }
}

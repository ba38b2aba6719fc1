//! `priority`: a decimal number from 0.0 to 1.0, kept as given.

use std::str::FromStr;

use crate::sitemap::tag_names::TagReason;

/// Maximum length of a `priority` in bytes: `0.` and the 18 digits that every XML Schema processor must support
/// (part 2, section 3.2.3, "minimally conforming processors").
pub const PRIORITY_BYTES_MAX: usize = 20;

/// A checked `priority`: the given text without surrounding blanks. `"0.5".parse()` checks a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Priority(Box<[u8]>);

impl Priority {
    /// Returns the number as decimal ASCII text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The same number as that of a row.
    pub(super) fn of_row(&self) -> RowPriority<'_> {
        RowPriority(&self.0)
    }
}

/// A number from 0.0 to 1.0.
impl FromStr for Priority {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match priority(text.as_bytes()) {
            Ok(Some(RowPriority(text))) => Ok(Self(text.into())),
            _ => Err("expected a number from 0.0 to 1.0".into()),
        }
    }
}

/// A checked `priority` of a row: a [`Priority`] that borrows its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowPriority<'a>(&'a [u8]);

impl<'a> RowPriority<'a> {
    /// The number as decimal ASCII text.
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }
}

/// Reads a `priority`; `None` if there are only blanks. The number is neither rounded nor rewritten: `0.85` stays
/// `0.85`, and `0.0` is a value like any other.
///
/// # Errors
/// [`TagReason::Priority`] if it is not an `xsd:decimal` from 0 to 1, has a sign, or has more than 20 bytes.
pub fn priority(raw: &[u8]) -> Result<Option<RowPriority<'_>>, TagReason> {
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
    if is_number && at_most_one { Ok(Some(RowPriority(text))) } else { Err(TagReason::Priority) }
}

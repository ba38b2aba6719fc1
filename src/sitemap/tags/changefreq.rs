//! `changefreq`: one of seven words.

use std::str::FromStr;

use crate::sitemap::tag_names::TagReason;

/// How often a page is expected to change: the seven words of both protocols ("XML tag definitions").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Changefreq {
    Always,
    Hourly,
    Daily,
    Weekly,
    Monthly,
    Yearly,
    Never,
}

impl Changefreq {
    /// All seven words.
    pub const ALL: [Self; 7] =
        [Self::Always, Self::Hourly, Self::Daily, Self::Weekly, Self::Monthly, Self::Yearly, Self::Never];

    /// Returns its word in the schemas.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Hourly => "hourly",
            Self::Daily => "daily",
            Self::Weekly => "weekly",
            Self::Monthly => "monthly",
            Self::Yearly => "yearly",
            Self::Never => "never",
        }
    }
}

/// One of the seven words, in any letter case.
impl FromStr for Changefreq {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let words = || "use one of always, hourly, daily, weekly, monthly, yearly, never".into();
        changefreq(word.as_bytes()).ok().flatten().ok_or_else(words)
    }
}

/// Reads a `changefreq`; `None` if there are only blanks. Case does not matter, because databases often export enumerations in
/// capitals.
///
/// # Errors
/// [`TagReason::Changefreq`] for any other word.
pub fn changefreq(raw: &[u8]) -> Result<Option<Changefreq>, TagReason> {
    let word = raw.trim_ascii();
    if word.is_empty() {
        return Ok(None);
    }
    let known =
        Changefreq::ALL.into_iter().find(|known| word.eq_ignore_ascii_case(known.as_str().as_bytes()));
    known.map(Some).ok_or(TagReason::Changefreq)
}

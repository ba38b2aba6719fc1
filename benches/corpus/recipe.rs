//! The recipe: what somebody wants, and what comes of it, counted before it is cooked.

use super::bad::REASONS;

/// What to write.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Lines in all: fresh, repeated and bad ones.
    pub lines: u64,
    /// Another seed gives other URLs of the same kind.
    pub seed: u64,
    /// Share of the lines that repeat an earlier URL byte for byte, 0 to 1.
    pub duplicates: f64,
    /// Share of the URLs with a word in another script, half of them raw UTF-8 and half percent-encoded.
    pub non_ascii: f64,
    /// Share of the lines that must be rejected; the [`REASONS`] take turns.
    pub bad: f64,
    /// Whether neighbours are alike.
    pub order: Order,
    /// What every good URL starts with: scheme, host, directory.
    pub base_url: String,
}

impl Default for Recipe {
    fn default() -> Self {
        let base_url = "https://www.example.com/".to_string();
        Recipe {
            lines: 0,
            seed: 1,
            duplicates: 0.0,
            non_ascii: 0.0,
            bad: 0.0,
            order: Order::Shuffled,
            base_url,
        }
    }
}

/// The order in which the URLs' numbers are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A permutation: neighbours share little beyond the host.
    Shuffled,
    /// 0, 1, 2, …: neighbours share category and words, as in a shop's export. Not the order of bytes.
    Sorted,
}

/// What a corpus holds, known by construction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Lines in all.
    pub lines: u64,
    /// Different valid URLs: what a sitemap of this corpus must list.
    pub distinct: u64,
    /// Lines that repeat an earlier valid URL.
    pub duplicates: u64,
    /// Lines to be rejected.
    pub bad: u64,
    /// The same, reason by reason, in the order of [`REASONS`].
    pub rejected: [u64; REASONS.len()],
}

/// More lines than anybody's disk holds; below it no sum of numbers overflows.
const LINES_MAX: u64 = 1 << 48;
/// Keeps the longest URL far below the limit of 2,047 characters.
const BASE_URL_BYTES_MAX: usize = 256;

/// How many lines of which kind this recipe makes; the error says why it cannot be met.
pub fn count(recipe: &Recipe) -> Result<Counts, String> {
    let lines = recipe.lines;
    if lines > LINES_MAX {
        return Err(format!("{lines} lines: at most {LINES_MAX} can be made"));
    }
    let duplicates = (lines as f64 * share("duplicates", recipe.duplicates)?).round() as u64;
    let bad = (lines as f64 * share("bad", recipe.bad)?).round() as u64;
    let distinct = lines.saturating_sub(duplicates + bad);
    if duplicates + bad > lines || (duplicates > 0 && distinct == 0) {
        return Err(
            "duplicates and bad lines leave no line for a URL to repeat; lower their shares".to_string()
        );
    }
    let reasons = REASONS.len() as u64;
    let rejected = std::array::from_fn(|reason| bad / reasons + u64::from((reason as u64) < bad % reasons));
    Ok(Counts { lines, distinct, duplicates, bad, rejected })
}

/// The share, if it is one.
pub fn share(name: &str, share: f64) -> Result<f64, String> {
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err(format!("{name}: a share lies between 0 and 1"))
    }
}

/// A base URL, taken apart.
pub struct Base {
    /// All of it, with a slash at the end.
    pub url: Vec<u8>,
    /// `http` or `https`.
    pub scheme: String,
    /// Lower case, ASCII, no address.
    pub host: String,
    /// Empty, or a colon and digits.
    pub port: String,
}

impl Base {
    /// Takes it apart; the error shows how one looks.
    pub fn parse(base_url: &str) -> Result<Base, String> {
        let wrong = || {
            format!(
                "{base_url}: a base URL looks like https://www.example.com/ or http://shop.example:8080/de/"
            )
        };
        let (scheme, rest) = base_url.split_once("://").ok_or_else(wrong)?;
        let (authority, directory) = rest.split_once('/').unwrap_or((rest, ""));
        let (host, port) = authority.split_at(authority.find(':').unwrap_or(authority.len()));
        let top_level = host.rsplit('.').next().unwrap_or_default();
        // Narrower than the rules of URLs, so that every line made from it is what it is said to be.
        let plain = (scheme == "http" || scheme == "https")
            && base_url.len() <= BASE_URL_BYTES_MAX
            && top_level.starts_with(|c: char| c.is_ascii_lowercase())
            && host.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'.' || c == b'-')
            && (port.is_empty() || port[1..].parse::<u16>().is_ok())
            && directory.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'/' || c == b'-' || c == b'_');
        if !plain {
            return Err(wrong());
        }
        let slash = if directory.is_empty() || directory.ends_with('/') { "" } else { "/" };
        let url = format!("{scheme}://{authority}/{directory}{slash}").into_bytes();
        Ok(Base { url, scheme: scheme.to_string(), host: host.to_string(), port: port.to_string() })
    }
}

//! The recipe of a corpus, and the counts that follow from it.

use super::bad::REASONS;

/// The lines to write.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// All lines: fresh, repeated and bad.
    pub lines: u64,
    /// A different seed gives different URLs of the same kind.
    pub seed: u64,
    /// Share of the lines that repeat an earlier URL byte for byte, 0 to 1.
    pub duplicates: f64,
    /// Share of the URLs with a word in another script, half of them raw UTF-8 and half percent-encoded.
    pub non_ascii: f64,
    /// Share of the lines that must be rejected, for each of the [`REASONS`] in turn.
    pub bad: f64,
    /// Whether adjacent lines are similar.
    pub order: Order,
    /// What URLs look like.
    pub style: Style,
    /// The start of every good URL: scheme, host, directory.
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
            style: Style::Shop,
            base_url,
        }
    }
}

/// The order of the numbers of the URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A permutation: adjacent lines share little beyond the host.
    Shuffled,
    /// 0, 1, 2, …: adjacent lines share category and words, as in a shop's export. This is not byte order.
    Sorted,
}

/// What the URLs of a corpus look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Products, articles and listings of a shop, about 71 bytes each.
    Shop,
    /// The base URL and a number in base 36: 30 bytes, with the default base URL and a billion of them.
    Short,
}

/// The exact counts of a corpus, known by construction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// All lines.
    pub lines: u64,
    /// Distinct valid URLs, which the sitemaps of this corpus must list.
    pub distinct: u64,
    /// Lines that repeat an earlier valid URL.
    pub duplicates: u64,
    /// Lines that must be rejected.
    pub bad: u64,
    /// Rejected lines by reason, in the order of [`REASONS`].
    pub rejected: [u64; REASONS.len()],
}

/// More lines than fit on any disk, and few enough that no sum overflows.
const LINES_MAX: u64 = 1 << 48;
/// Keeps the longest URL far below the limit of 2,047 characters.
const BASE_URL_BYTES_MAX: usize = 256;

/// The counts of this recipe. The error says why they are impossible.
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

/// The style of this recipe. The error says why the recipe contradicts it.
pub fn style(recipe: &Recipe) -> Result<Style, String> {
    if recipe.style == Style::Short && recipe.non_ascii > 0.0 {
        return Err("short URLs have no words; leave out the share of non-ASCII ones".to_string());
    }
    Ok(recipe.style)
}

/// `share` if it is in range.
pub fn share(name: &str, share: f64) -> Result<f64, String> {
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err(format!("{name}: a share lies between 0 and 1"))
    }
}

/// A parsed base URL.
pub struct Base {
    /// The whole URL, with a final slash.
    pub url: Vec<u8>,
    /// `http` or `https`.
    pub scheme: String,
    /// A lower-case ASCII name, not an IP address.
    pub host: String,
    /// Empty, or a colon and digits.
    pub port: String,
}

impl Base {
    /// Parses a base URL. The error shows an example.
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
        // Stricter than the rules for URLs, so that every line made from it is of the intended kind.
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

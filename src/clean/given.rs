//! URLs that options give: their blanks, and what is wrong with them.

use super::Reason;

/// The message for a URL without a host.
pub const NO_HOST: &str = "it needs a scheme and a host, such as https://www.example.com/";

/// `given` without the spaces and tabs around it.
pub fn trimmed(given: &str) -> &str {
    given.trim_matches([' ', '\t'])
}

/// The message for a URL that was rejected for this reason.
pub fn refusal(reason: Reason) -> String {
    match reason {
        Reason::NotAbsolute => NO_HOST.into(),
        Reason::Scheme => "it must begin with https:// or http://".into(),
        reason => format!("it is not a valid URL ({})", reason.as_str()),
    }
}

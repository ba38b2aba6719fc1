//! Advice: what each reason means, and how to fix it.

/// A sentence or two on the reason `word`; none if this version does not know it.
pub fn advice(word: &str) -> Option<&'static str> {
    Some(match word {
        "control-character" => {
            "The line has a control character. If the input is UTF-16, use the option input-encoding with utf-16le; otherwise the export \
             is damaged."
        }
        "not-absolute" => {
            "The line has no scheme. Export absolute URLs that begin with http:// or https://, or name the column of the \
             URL with the option columns: url=NAME."
        }
        "scheme" => "Only http and https URLs can be listed. Leave out other schemes in the export.",
        "credentials" => "Remove the user name and password before the @ in the export.",
        "host" => "No server can have this host. Correct it in the export.",
        "port" => "No server can have this port. Correct it in the export.",
        "not-encodable" => {
            "The charset of the option url-encoding lacks a character of the URL. Use the charset of the server."
        }
        "too-long" => {
            "A URL has at most 2,047 bytes once it is percent-encoded. Shorten it, or leave it out."
        }
        "too-short" => "A URL has at least 12 bytes. Correct it in the export.",
        "out-of-scope" => {
            "The URL is not below the base URL. If robots.txt of its host names the sitemaps, the option scope with host or any \
             may list it; the option base-url with {origin}/ makes a set for each origin."
        }
        "no-site" => {
            "The origin can have no set of its own: its base URL is too long, or bytes-per-sitemap is too small for an \
             index file."
        }
        "entry-too-large" => {
            "The entry alone is larger than bytes-per-sitemap allows. Raise the limit, or give it fewer tags."
        }
        "bad-row" => {
            "The row does not match the format of the input. Name the format with the option format, or fix the export."
        }
        "bad-encoding" => {
            "The line is not in the charset of the input. Name the charset with the option input-encoding."
        }
        "no-url" => "The row has no URL. Name its column or key with the option columns: url=NAME.",
        "tag-lastmod" => "The value is no date. Write dates as 2024-05-01 or 2024-05-01T12:00:00Z.",
        "tag-lastmod-zone" => {
            "The time has no zone. Name the zone of the data with the option lastmod-zone, for example UTC."
        }
        "tag-lastmod-epoch" => {
            "The number is a time since 1970. Name its unit with the option lastmod-unit, for example seconds."
        }
        "tag-lastmod-precision" => "A year or a month is not precise enough: the schema wants a full date.",
        "tag-changefreq" => "Use one of always, hourly, daily, weekly, monthly, yearly, never.",
        "tag-priority" => "Use a number from 0.0 to 1.0.",
        _ if word.starts_with("tag-") => {
            "The value cannot be written, and its URL is listed without it. See docs/tags.md."
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::Reason;
    use crate::sitemap::tags::TagReason;

    #[test]
    fn every_reason_has_advice() {
        let words = Reason::ALL.map(Reason::as_str).into_iter().chain(TagReason::ALL.map(TagReason::as_str));
        for word in words {
            assert!(advice(word).is_some(), "{word}");
        }
        assert_eq!(advice("of-a-later-version"), None);
    }
}

//! Advice: what each reason means, and how to fix it.

use crate::error::{Message, Setting, message};

/// Returns a sentence or two on the reason `word`, or `None` if this version does not know it.
pub fn advice(word: &str) -> Option<Message> {
    if let Some(words) = of_export(word) {
        return Some(words.into());
    }
    Some(match word {
        "control-character" => message!(
            "The line has a control character. If the input is UTF-16, use ",
            Setting::InputEncoding.with("utf-16le"),
            "; otherwise the export is damaged."
        ),
        "not-absolute" => message!(
            "The line has no scheme. Export absolute URLs that begin with http:// or https://, resolve relative lines with ",
            Setting::RelativeTo.with("https://www.example.com/"),
            ", or name the column of the URL with ",
            Setting::Columns.with("url=NAME"),
            "."
        ),
        "not-encodable" => message!(
            "The charset of ",
            Setting::UrlEncoding,
            " lacks a character of the URL. Use the charset of the server."
        ),
        "out-of-scope" => message!(
            "The URL is not below the base URL. ",
            Setting::Scope.with("host"),
            " or ",
            Setting::Scope.with("any"),
            " lists it, if robots.txt of its host names the sitemaps. ",
            Setting::BaseUrl.with("{origin}/"),
            " makes a set for each origin."
        ),
        "no-site" => message!(
            "The origin cannot have its own set: its base URL is too long, or ",
            Setting::BytesPerSitemap,
            " is too small for an index file."
        ),
        "entry-too-large" => message!(
            "The entry alone is larger than ",
            Setting::BytesPerSitemap,
            " allows. Raise the limit, or give the URL fewer tags."
        ),
        "bad-row" => message!(
            "The row does not match the format of the input. Name the format with ",
            Setting::Format,
            ", or fix the export."
        ),
        "bad-encoding" => message!(
            "The line is not in the charset of the input. Name the charset with ",
            Setting::InputEncoding,
            "."
        ),
        "no-url" => message!(
            "The row has no URL. Name its column or key with ",
            Setting::Columns.with("url=NAME"),
            "."
        ),
        _ => return of_tag(word),
    })
}

/// Returns advice for dropped tags that a setting would keep.
fn of_tag(word: &str) -> Option<Message> {
    Some(match word {
        "tag-lastmod-zone" => message!(
            "The time has no zone. Name the zone of the data, for example with ",
            Setting::LastmodZone.with("UTC"),
            "."
        ),
        "tag-lastmod-epoch" => message!(
            "The number is a Unix time. Name its unit, for example with ",
            Setting::LastmodUnit.with("seconds"),
            "."
        ),
        _ if word.starts_with("tag-") => {
            "The value cannot be written, and its URL is listed without it. See docs/tags.md.".into()
        }
        _ => return None,
    })
}

/// Returns advice for reasons that only a different export resolves.
fn of_export(word: &str) -> Option<&'static str> {
    Some(match word {
        "scheme" => "Only http and https URLs can be listed. Leave out other schemes in the export.",
        "credentials" => "Remove the user name and password before the @ in the export.",
        "host" => "No server can have this host. Correct it in the export.",
        "port" => "No server can have this port. Correct it in the export.",
        "too-long" => {
            "A URL has at most 2,047 bytes once it is percent-encoded. Shorten it, or leave it out."
        }
        "too-short" => "A URL has at least 12 bytes. Correct it in the export.",
        "tag-lastmod" => "The value is not a date. Write dates as 2024-05-01 or 2024-05-01T12:00:00Z.",
        "tag-lastmod-precision" => "A year or a month is not precise enough: the schema needs a full date.",
        "tag-changefreq" => "Use one of always, hourly, daily, weekly, monthly, yearly, never.",
        "tag-priority" => "Use a number from 0.0 to 1.0.",
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

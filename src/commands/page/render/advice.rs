//! Advice: what each reason means, and how to fix it.

use crate::clean::Reason;
use crate::error::{Message, Setting, message};
use crate::limits::{URL_BYTES_MAX, URL_BYTES_MIN};
use crate::sitemap::tags::TagReason;
use crate::words::grouped;

/// Returns a sentence or two on the reason `word`, or `None` if this version does not know it.
pub fn advice(word: &str) -> Option<Message> {
    let of_line = Reason::ALL.into_iter().find(|reason| reason.as_str() == word).map(of_line);
    of_line.or_else(|| TagReason::ALL.into_iter().find(|reason| reason.as_str() == word).map(of_tag))
}

/// Returns advice for rejected lines.
fn of_line(reason: Reason) -> Message {
    match reason {
        Reason::ControlCharacter => message!(
            "The line has a control character. If the input is UTF-16, use ",
            Setting::InputEncoding.with("utf-16le"),
            "; otherwise the export is damaged."
        ),
        Reason::NotAbsolute => not_absolute(),
        Reason::Scheme => {
            "Only http and https URLs can be listed. Leave out other schemes in the export.".into()
        }
        Reason::Credentials => "Remove the user name and password before the @ in the export.".into(),
        Reason::Host => "No server can have this host. Correct it in the export.".into(),
        Reason::Port => "No server can have this port. Correct it in the export.".into(),
        Reason::NotEncodable => message!(
            "The charset of ",
            Setting::UrlEncoding,
            " lacks a character of the URL. Use the charset of the server."
        ),
        Reason::TooLong => {
            let most = grouped(URL_BYTES_MAX as u64);
            message!(
                "A URL has at most {most} bytes once it is percent-encoded. Shorten it, or leave it out."
            )
        }
        Reason::TooShort => message!("A URL has at least {URL_BYTES_MIN} bytes. Correct it in the export."),
        Reason::OutOfScope => out_of_scope(),
        Reason::NoSite => message!(
            "The origin cannot have its own set: its base URL is too long, or ",
            Setting::BytesPerSitemap,
            " is too small for an index file."
        ),
        Reason::EntryTooLarge => message!(
            "The entry alone is larger than ",
            Setting::BytesPerSitemap,
            " allows. Raise the limit, or give the URL fewer tags."
        ),
        Reason::BadRow => message!(
            "The row does not match the format of the input. Set the format with ",
            Setting::Format,
            ", or fix the export."
        ),
        Reason::BadEncoding => message!(
            "The line is not in the charset of the input. Set the charset with ",
            Setting::InputEncoding,
            "."
        ),
        Reason::NoUrl => message!(
            "The row has no URL. Set its column or key with ",
            Setting::Columns.with("url=NAME"),
            "."
        ),
    }
}

fn not_absolute() -> Message {
    message!(
        "The line has no scheme. Export absolute URLs that begin with http:// or https://, resolve relative lines with ",
        Setting::RelativeTo.with("https://www.example.com/"),
        ", or set the column of the URL with ",
        Setting::Columns.with("url=NAME"),
        "."
    )
}

fn out_of_scope() -> Message {
    message!(
        "The URL is not below the base URL. ",
        Setting::Scope.with("host"),
        " or ",
        Setting::Scope.with("any"),
        " lists it, if robots.txt of its host lists the sitemaps. ",
        Setting::BaseUrl.with("{origin}/"),
        " makes a set for each origin."
    )
}

/// Returns advice for dropped tags.
fn of_tag(reason: TagReason) -> Message {
    match reason {
        TagReason::Lastmod => {
            "The value is not a date. Write dates as 2024-05-01 or 2024-05-01T12:00:00Z.".into()
        }
        TagReason::LastmodZone => message!(
            "The offset of the time from UTC is not known. Set the time zone of the data, for example with ",
            Setting::LastmodZone.with("Europe/Berlin"),
            "."
        ),
        TagReason::LastmodEpoch => message!(
            "The number is a Unix time. Set its unit, for example with ",
            Setting::LastmodUnit.with("seconds"),
            "."
        ),
        TagReason::LastmodPrecision => {
            "A year or a month is not precise enough: the schema needs a full date.".into()
        }
        TagReason::Changefreq => "Use one of always, hourly, daily, weekly, monthly, yearly, never.".into(),
        TagReason::Priority => "Use a number from 0.0 to 1.0.".into(),
        // Those of extensions.
        _ => "The value cannot be written, and its URL is listed without it. See docs/tags.md.".into(),
    }
}

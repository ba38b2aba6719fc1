//! A hint for inputs with mostly rejected lines: what the lines have in common, and how to fix it.

use super::shape::{self, LineSource};
use crate::clean::scope::BaseUrl;
use crate::clean::screen::{LineCleaner, Screen, Screened, UrlRules};
use crate::clean::{Cleaned, Cleaner, Reason};
use crate::commands::build::report::{Report, most_frequent};
use crate::error::{Message, Piece, Setting, message};
use crate::escape::{shown, unescape};
use crate::intake::format::{Delimiter, escaped_quotes};
use crate::intake::report::InputReport;
use crate::job::Job;
use crate::limits::{URL_BYTES_MAX, URL_BYTES_MIN};
use crate::survey::rejects::Example;
use crate::words::grouped;

/// Returns a hint about the most frequent reason if nothing is listed, or if it rejected more than half of the URLs. `samples`
/// returns the first lines that were rejected for a reason.
pub fn hint(job: &Job, report: &Report, samples: impl Fn(Reason) -> Vec<Example>) -> Option<Message> {
    let urls = report.lines - report.blank;
    let count = |reason: Reason| report.rejected.get(reason.as_str()).copied().unwrap_or(0);
    // Of equally frequent reasons, the first in checking order.
    let reason = Reason::ALL.into_iter().rev().max_by_key(|&reason| count(reason))?;
    let excluded = report.excluded_total();
    if report.listed == 0 && excluded > count(reason) {
        return Some(left_out(report, &Rejected { count: excluded, of: urls }));
    }
    if count(reason) == 0 || report.listed > 0 && count(reason) * 2 <= urls {
        return None;
    }
    let example = report.examples.iter().find(|example| example.reason == reason.as_str())?;
    let first = &example.text;
    let source = |of: &Example| LineSource::of(report.inputs.iter().find(|input| input.path == of.input));
    let rejected = Rejected { count: count(reason), of: urls };
    if reason == Reason::NotAbsolute
        && let Some(other_url) = report.inputs.iter().find_map(InputReport::other_url)
    {
        let lines = rejected.described("line", "lines", "rejected as not-absolute", first);
        return Some(message!("{lines}; ", other_url));
    }
    Some(match reason {
        Reason::OutOfScope => outside(job, report, &rejected, first),
        Reason::ControlCharacter | Reason::NotAbsolute | Reason::Scheme => {
            // Each line is to be corrected in its own input.
            let of = if reason == Reason::ControlCharacter { shape::of_damaged } else { shape::of };
            let shape = |sample: Example| {
                of(&sample.text, site(job), &source(&sample)).map(|shape| (sample.text, shape))
            };
            match samples(reason).into_iter().find_map(shape) {
                Some((line, (what, way_out))) if line == *first => {
                    let lines = rejected.described("line", "lines", what, first);
                    message!("{lines}; ", way_out)
                }
                Some((line, (what, way_out))) => {
                    let (lines, reason) = (rejected.subject("line", "lines"), reason.as_str());
                    message!("{lines} rejected as {reason}; lines such as {line} are {what}; ", way_out)
                }
                None => other(job, reason, &rejected, first, &source(example)),
            }
        }
        Reason::NoUrl if report.inputs.iter().all(InputReport::is_xml) => {
            let lines = rejected.described("entry", "entries", "rejected as no-url", first);
            message!(
                "{lines}; a URL is the <loc> of a <url> or the <link> of an item, in lower case and in the namespace of the root element"
            )
        }
        _ => other(job, reason, &rejected, first, &source(example)),
    })
}

/// Returns the hint for rules that leave out all or most URLs.
fn left_out(report: &Report, excluded: &Rejected) -> Message {
    let (rule, lines) = most_frequent(&report.excluded).first().copied().unwrap_or_default();
    let subject = excluded.subject("line", "lines");
    let by = match lines == excluded.count {
        true => String::new(),
        false => format!(", {} of them", grouped(lines)),
    };
    message!("{subject} excluded{by} by the rule {rule}; change the filters")
}

/// The number of rejected URLs, and of all URLs.
struct Rejected {
    count: u64,
    of: u64,
}

impl Rejected {
    /// Returns the subject and the verb of a sentence: `all 20 URLs are`.
    fn subject(&self, one: &str, many: &str) -> String {
        let Self { count, of } = *self;
        match (count, of) {
            (_, 1) => format!("the only {one} is"),
            (1, _) => format!("1 of {} {many} is", grouped(of)),
            _ if count == of => format!("all {} {many} are", grouped(of)),
            _ => format!("{} of {} {many} are", grouped(count), grouped(of)),
        }
    }

    /// Returns a sentence that says what the URLs are, and shows the first one.
    fn described(&self, one: &str, many: &str, what: &str, first: &str) -> String {
        match self.of {
            1 if !first.is_empty() => format!("the only {one}, {first}, is {what}"),
            _ if first.is_empty() => format!("{} {what}", self.subject(one, many)),
            _ => format!("{} {what}; the first is {first}", self.subject(one, many)),
        }
    }
}

/// Returns scheme, host and port of the site, or an example.
fn site(job: &Job) -> &str {
    job.rules.only_site().map_or("https://www.example.com", |url| url.origin().trim_end_matches('/'))
}

fn outside(job: &Job, report: &Report, rejected: &Rejected, first: &str) -> Message {
    let changed = changed(job, first);
    let both = changed.as_ref().map(|url| format!("{url} (from {first})"));
    let (url, first) = (changed.as_deref().unwrap_or(first), both.as_deref().unwrap_or(first));
    let outside = |origins: &str| {
        let what = format!("outside {}{origins}", job.rules.base_url);
        rejected.described("URL", "URLs", &what, first)
    };
    let Some(base) = job.rules.only_site() else {
        let outside = outside("");
        return message!("{outside}; list every URL of a site with ", Setting::Scope.with("host"));
    };
    let largest = report.out_of_scope.iter().max_by_key(|&(_, &urls)| urls);
    let (largest, urls) = largest.map_or((base.origin(), 0), |(origin, &urls)| (&**origin, urls));
    let is_alone = report.out_of_scope.len() == 1;
    let origins = match is_alone {
        true => String::new(),
        false => format!(" ({})", report.out_of_scope_words()),
    };
    let outside = outside(&origins);
    if largest == base.origin() {
        return message!(
            "{outside}; use ",
            Setting::Scope.with("host"),
            " if robots.txt lists the sitemaps, or ",
            Setting::BaseUrl.with(largest),
            " if the files are published there"
        );
    }
    if is_alone || urls * 2 > rejected.count {
        if let Some(rewrite) = without_doubled_scheme(base, largest, url) {
            return message!("{outside}; the scheme is doubled; remove one with ", rewrite);
        }
        let suggested = Setting::BaseUrl.with(suggested(base, largest, url));
        return message!("{outside}; did you mean ", suggested, "?");
    }
    message!(
        "{outside}; ",
        Setting::BaseUrl.with("{origin}/"),
        " makes a set for each scheme, host and port; ",
        Setting::Scope.with("any"),
        " lists all in one set"
    )
}

/// Returns the rule that removes the first scheme of URLs such as `https://https://h.example/a`: their `origin` has the second one
/// as its host. The host is that of `url` or, if this URL is another one, that of `base`. On the host of `base`, the rule also
/// sets the scheme of `base`, or the URLs would still be outside.
fn without_doubled_scheme(base: &BaseUrl, origin: &str, url: &str) -> Option<Piece> {
    let scheme = doubled_scheme(origin)?;
    let mut cleaner = Cleaner::default();
    let url = match cleaner.clean(url.as_bytes()) {
        Cleaned::Url(url) => String::from_utf8_lossy(url.as_bytes()).into_owned(),
        _ => String::new(),
    };
    let (_, own) = base.origin().trim_end_matches('/').split_once("://")?;
    let host = match url.strip_prefix(origin) {
        // Without the slash, `https` is only a host with this name.
        Some(rest) => rest.strip_prefix('/')?.split('/').next()?,
        None => own,
    };
    let to = match host.eq_ignore_ascii_case(own) {
        true => base.origin().to_owned(),
        false => format!("{scheme}://{host}/"),
    };
    Some(Setting::Rewrite.with(format_args!("{origin}/{host}/={to}")))
}

/// The host of `origin`, if it is the scheme of URLs.
pub(super) fn doubled_scheme(origin: &str) -> Option<&str> {
    let (_, host) = origin.split_once("://")?;
    let host = host.split('/').next()?;
    matches!(host, "http" | "https").then_some(host)
}

/// Returns the URL that `rules.urls` of `job` made of the line `first`, if it is not that of the line itself. Both may be
/// truncated.
fn changed(job: &Job, first: &str) -> Option<String> {
    let mut rules = UrlRules::default();
    rules.relative_to.clone_from(&job.rules.urls.relative_to);
    rules.rewrites.clone_from(&job.rules.urls.rewrites);
    let encoding = job.rules.url_encoding;
    let screen = Screen::of(&rules, encoding).ok()??;
    let whole = first.strip_suffix('…');
    let line = unescape(whole.unwrap_or(first).as_bytes());
    let (mut cleaner, mut plain) = (LineCleaner::new(encoding, Some(&screen)), Cleaner::new(encoding));
    match (cleaner.clean(&line), plain.clean(&line)) {
        (Screened::Url(url), Cleaned::Url(own)) if url.as_bytes() == own.as_bytes() => None,
        (Screened::Url(url), _) => {
            let end = if whole.is_some() { "…" } else { "" };
            Some(shown(url.as_bytes()) + end)
        }
        _ => None,
    }
}

/// Returns the directory of `base` on another origin if the first URL is below it, otherwise the whole origin.
fn suggested(base: &BaseUrl, origin: &str, first: &str) -> String {
    let there = format!("{origin}{}", &base.as_str()[base.origin().len()..]);
    let mut cleaner = Cleaner::default();
    match cleaner.clean(first.as_bytes()) {
        Cleaned::Url(url) if url.as_bytes().starts_with(there.as_bytes()) => there,
        _ => origin.to_owned(),
    }
}

/// Returns the hint for lines such as `line`, which is escaped, if it is a URL and values after a control character.
fn values_after_url(line: &str) -> Option<Message> {
    let divides = |by: &Delimiter| line.contains(&shown(&[by.as_byte()]));
    let by = Delimiter::CONTROLS.into_iter().find(divides).filter(|_| shape::is_url(line))?;
    Some(message!(
        "values follow the URLs; read the input with ",
        Setting::Format.with("csv"),
        " ",
        Setting::Delimiter.with(by.word()),
        " ",
        Setting::Columns.with("url=1")
    ))
}

/// Returns the hint for a reason that needs no look at the lines.
fn other(job: &Job, reason: Reason, rejected: &Rejected, first: &str, source: &LineSource) -> Message {
    let has_escape = job.input.format.escape.is_some();
    let way_out = match reason {
        Reason::ControlCharacter if first.contains(r"\x00") => with_nul(first, source),
        Reason::ControlCharacter => with_control(first, source),
        Reason::NotAbsolute if job.rules.urls.relative_to.is_some() => {
            "a fragment such as #top, a missing value such as NULL, or a text in quotes or brackets is no page".into()
        }
        Reason::NotAbsolute => message!(
            "a URL begins with http:// or https://; ",
            Setting::RelativeTo,
            " resolves relative lines"
        ),
        Reason::Scheme => "only http and https URLs can be listed".into(),
        Reason::Credentials => "remove the user name and password before the @".into(),
        Reason::Host => "the host is invalid".into(),
        Reason::Port => "the port is invalid".into(),
        Reason::NotEncodable => {
            message!("a character does not exist in the charset of ", Setting::UrlEncoding)
        }
        Reason::TooLong => {
            let most = grouped(URL_BYTES_MAX as u64);
            message!("a URL has at most {most} bytes once encoded")
        }
        Reason::TooShort => message!("a URL has at least {URL_BYTES_MIN} bytes"),
        Reason::OutOfScope => message!(Setting::Scope, " sets which URLs may be listed"),
        Reason::NoSite => {
            let why = "the base URL of its set is too short or too long";
            message!("{why}, or ", Setting::BytesPerSitemap, " too small")
        }
        Reason::EntryTooLarge => message!("the entry alone exceeds ", Setting::BytesPerSitemap),
        Reason::BadRow if !has_escape && first.contains(r#"\\""#) && !first.starts_with('{') => {
            escaped_quotes()
        }
        Reason::BadRow if first.starts_with('{') && first.ends_with(',') => {
            "remove the comma after each JSON object: sed 's/,[[:space:]]*$//'".into()
        }
        Reason::BadRow => {
            message!("it does not match the header or the format; ", Setting::Format, " sets the format")
        }
        Reason::BadEncoding => message!(Setting::InputEncoding, " sets the charset of the input"),
        Reason::NoUrl => message!(Setting::Columns.with("url=NAME"), " sets the column or key of the URL"),
    };
    let what = format!("rejected as {}", reason.as_str());
    let rejected = rejected.described("line", "lines", &what, first);
    message!("{rejected}; ", way_out)
}

/// Returns the way out for a line with a control character other than a byte 0.
fn with_control(first: &str, source: &LineSource) -> Message {
    let note = source.note();
    match source {
        LineSource::Rows(urls) => format!("correct {urls} in the export").into(),
        _ if first.contains(r"\rhttp") || first.contains(r"\r/") => {
            message!(r"lines end with CR alone; convert them: tr '\r' '\n'{note}")
        }
        _ if first.ends_with(r"\r") => message!(r"lines end with CR CR LF; remove the CRs: tr -d '\r'{note}"),
        _ => values_after_url(first).unwrap_or_else(|| "the export is damaged".into()),
    }
}

/// Returns the way out for a line with a byte 0.
fn with_nul(first: &str, source: &LineSource) -> Message {
    let line = unescape(first.as_bytes());
    // Every second byte of ASCII in UTF-16 is 0: the first one only if the high byte comes first. The start is enough.
    let start = &line[..line.len().min(16)];
    let are_zero = |from: usize| start.len() > 1 && start.iter().skip(from).step_by(2).all(|&byte| byte == 0);
    if let Some((_, label)) = [(0, "utf-16be"), (1, "utf-16le")].into_iter().find(|&(from, _)| are_zero(from))
    {
        return message!("if the input is UTF-16, use ", Setting::InputEncoding.with(label));
    }
    let is_text = line.iter().all(|&byte| byte == 0 || byte >= b' ');
    match source {
        LineSource::List | LineSource::PackedList if is_text => {
            let note = source.note();
            message!(r"if a NUL ends each line, convert them: tr '\0' '\n'{note}")
        }
        LineSource::List | LineSource::PackedList => {
            "the input is not text; save the list as text or CSV".into()
        }
        LineSource::Rows(urls) => format!("correct {urls} in the export").into(),
    }
}

//! Failed requests: what the store answered, without secrets.

#[cfg(test)]
mod tests;

use std::error::Error as StdError;
use std::fmt;
use std::path::Path;

use super::credentials::NoCredentials;
use crate::error::{Error, ErrorKind, Message, message};
use crate::escape::cut;

/// Maximum number of characters shown of an answer that is not XML.
const ANSWER_CHARS_MAX: usize = 300;
/// How many of them are from the beginning of an error that is not an answer, because its cause is at the end.
const BEGINNING_CHARS: usize = 80;

/// Error codes of S3 and Azure for a bucket that does not exist, or cannot exist because of its name.
const NO_BUCKET: [&str; 3] = ["NoSuchBucket", "InvalidBucketName", "ContainerNotFound"];

/// Error codes of S3 for an upload that met another request. It was not carried out, and may be repeated. The status is 409, as for
/// an object that exists.
const CONFLICTS: [&str; 2] = ["ConditionalRequestConflict", "OperationAborted"];

/// Error codes of stores that know no such header or request.
const REFUSALS: [&str; 4] = ["InvalidArgument", "InvalidRequest", "NotImplemented", "NotSupported"];

/// Error codes of S3 and Azure for credentials without a permission.
const DENIALS: [&str; 2] = ["AccessDenied", "AuthorizationFailure"];

/// Error codes of S3 and Azure for credentials that are not valid.
const INVALID_CREDENTIALS: [&str; 7] = [
    "AuthenticationFailed",
    "ExpiredToken",
    "InvalidAccessKeyId",
    "InvalidToken",
    "NotSignedUp",
    "RequestTimeTooSkewed",
    "SignatureDoesNotMatch",
];

/// Error codes of S3 for a bucket in another region. A signature for a wrong region has one that it shares with other errors.
const OTHER_REGION: [&str; 2] = ["PermanentRedirect", "IllegalLocationConstraintException"];
const MALFORMED_SIGNATURE: &str = "AuthorizationHeaderMalformed";

/// The words of the client library for a redirect that does not say where to, which S3 sends for a bucket in another region.
const NO_LOCATION: &str = "redirect without LOCATION";

/// The words of the HTTP library for a request that was not sent, because nothing answers at the address.
const NO_CONNECTION: &str = "client error (Connect)";

/// HTTP statuses of a request that was denied.
const STATUSES_OF_DENIAL: [&str; 2] = ["401", "403"];

/// HTTP statuses, or how they begin, for which the client library itself repeats a request.
const STATUSES_OF_REPETITION: [&str; 3] = ["408", "429", "5"];

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// There is no such bucket.
    NoBucket,
    /// There is no such object.
    Missing,
    /// The credentials are invalid, or do not permit the request.
    Denied,
    /// No credentials could be fetched. The request was not sent.
    NoCredentials,
    /// The bucket is in another region of S3.
    OtherRegion,
    /// A precondition failed: the object exists, or has a different ETag.
    Condition,
    /// The store does not support this request.
    Unsupported,
    /// This signal stopped the run before the store answered.
    Stopped(i32),
    /// Anything else, such as a network or server error. A retry may help.
    Other,
}

/// A request that failed.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Why.
    pub kind: FailureKind,
    /// The response of the store, without credentials and signatures.
    pub answer: String,
    /// The source of the credentials.
    pub credentials: String,
    /// The permission that the request needs, if it was denied and that is known.
    pub permission: Option<&'static str>,
    /// Whether earlier attempts of the request failed, which the store may have carried out.
    pub was_repeated: bool,
    /// Whether the client library has already made as many attempts as the settings allow.
    pub is_exhausted: bool,
}

impl Failure {
    /// Converts an `error` of the client library. `credentials` describes where the credentials come from.
    pub fn of(error: &object_store::Error, credentials: &str) -> Self {
        use object_store::Error as Cause;
        if let Some(NoCredentials { cause, way_out }) = NoCredentials::of(error) {
            let why = answer(&chain(cause));
            let answer = format!("there are no credentials from {credentials} ({why}); {way_out}");
            return Self { kind: FailureKind::NoCredentials, ..Self::other(answer) };
        }
        let text = chain(error);
        let (code, message) = code_and_message(&text).unwrap_or_default();
        let is_no_bucket = NO_BUCKET.contains(&code) || text.contains("notFound: bucket");
        let is_elsewhere = OTHER_REGION.contains(&code)
            || code == MALFORMED_SIGNATURE && message.contains("region")
            || matches!(error, Cause::Generic { store: "S3", .. }) && text.contains(NO_LOCATION);
        let kind = match error {
            _ if is_no_bucket => FailureKind::NoBucket,
            _ if is_elsewhere => FailureKind::OtherRegion,
            _ if CONFLICTS.contains(&code) => FailureKind::Other,
            Cause::NotFound { .. } => FailureKind::Missing,
            Cause::AlreadyExists { .. } | Cause::Precondition { .. } => FailureKind::Condition,
            Cause::PermissionDenied { .. } | Cause::Unauthenticated { .. } => FailureKind::Denied,
            // The library reports denials of object requests, but not of listings.
            _ if DENIALS.contains(&code) || INVALID_CREDENTIALS.contains(&code) => FailureKind::Denied,
            _ if STATUSES_OF_DENIAL.iter().any(|status| *status == code || is_answered(&text, status)) => {
                FailureKind::Denied
            }
            Cause::NotSupported { .. } | Cause::NotImplemented { .. } | Cause::InvalidPath { .. } => {
                FailureKind::Unsupported
            }
            _ if REFUSALS.contains(&code) || is_answered(&text, "501") => FailureKind::Unsupported,
            _ => FailureKind::Other,
        };
        let answer = match error {
            Cause::InvalidPath { source } => {
                format!("{source}; objects with such keys cannot be read or written")
            }
            _ => answer(&text),
        };
        Self {
            kind,
            credentials: credentials.into(),
            was_repeated: text.contains(" retries, max_retries: "),
            is_exhausted: text.contains(NO_CONNECTION)
                || STATUSES_OF_REPETITION.iter().any(|status| is_answered(&text, status)),
            ..Self::other(answer)
        }
    }

    /// The same failure. If there was no connection, it says where the request was sent, as described in `address`.
    pub fn at(mut self, address: &str) -> Self {
        if self.kind == FailureKind::Other && self.answer.contains(NO_CONNECTION) && !address.is_empty() {
            self.answer = format!("{} ({address})", self.answer);
        }
        self
    }

    /// The same failure. If the credentials are valid but do not permit the request, it names the `permission`.
    pub fn needing(self, permission: Option<&'static str>) -> Self {
        let is_invalid = INVALID_CREDENTIALS.iter().any(|code| self.answer.starts_with(code));
        if is_invalid { self } else { Self { permission, ..self } }
    }

    /// Whether the store may have carried out the request, or may still do so.
    pub fn is_in_doubt(&self) -> bool {
        self.was_repeated || matches!(self.kind, FailureKind::Stopped(_) | FailureKind::Other)
    }

    /// Whether another attempt may help, and the client library does not make it.
    pub fn may_be_repeated(&self) -> bool {
        self.kind == FailureKind::Other && !self.is_exhausted
    }

    /// Whether the store refused the request without saying why.
    pub fn has_no_reason(&self) -> bool {
        self.kind == FailureKind::Other && is_answered(&self.answer, "400")
    }

    /// A failure that did not come from a store.
    pub fn other(answer: impl Into<String>) -> Self {
        let answer = answer.into();
        let (kind, credentials) = (FailureKind::Other, String::new());
        Self { kind, answer, credentials, permission: None, was_repeated: false, is_exhausted: false }
    }

    /// The failure of a request on which the client library panicked, as on some answers that no store should give.
    pub fn panicked() -> Self {
        Self::other("the client library panicked, as the message above says")
    }

    /// The failure of a request for an object that has been replaced since it was found.
    pub fn replaced() -> Self {
        Self { kind: FailureKind::Condition, ..Self::other("it was replaced") }
    }

    /// Converts the failure into an error about the object at `path`, to which a run would write.
    pub fn into_error_of_output(self, path: &Path, doing: impl Into<Message>) -> Error {
        let kind = self.kind;
        let error = self.into_error(path, doing);
        if kind == FailureKind::NoBucket {
            Error::new(ErrorKind::Output, error.message().clone())
        } else {
            error
        }
    }

    /// Converts the failure into an error about the object at `path`. `doing` says what failed, such as "could not be read".
    pub fn into_error(self, path: &Path, doing: impl Into<Message>) -> Error {
        let Self { kind, answer, credentials, permission, .. } = self;
        match kind {
            FailureKind::NoBucket => {
                let words = "there is no such bucket; create it first, or correct the location";
                Error::new(ErrorKind::Input, message!(path, ": {words} ({answer})"))
            }
            FailureKind::Denied => {
                let whose = match credentials.is_empty() {
                    true => String::new(),
                    false => format!("; the credentials are from {credentials}"),
                };
                let needs = permission.map(|name| format!("; it needs the permission {name}"));
                let needs = needs.unwrap_or_default();
                let words = format!(": the request was denied ({answer}){needs}{whose}");
                Error::new(ErrorKind::Permission, message!(path, ": ", doing.into(), "{words}"))
            }
            FailureKind::NoCredentials => {
                Error::new(ErrorKind::Permission, message!(path, ": ", doing.into(), ": {answer}"))
            }
            FailureKind::OtherRegion => {
                let words = format!(": {answer}; set AWS_REGION to the region of the bucket");
                Error::usage(message!(path, ": ", doing.into(), "{words}"))
            }
            FailureKind::Stopped(signal) => {
                Error::new(ErrorKind::Signal(signal), message!(path, ": ", doing.into(), ": {answer}"))
            }
            FailureKind::Missing | FailureKind::Condition | FailureKind::Unsupported | FailureKind::Other => {
                Error::new(ErrorKind::Io, message!(path, ": ", doing.into(), ": {answer}"))
            }
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.answer)
    }
}

/// Whether the `text` of an error says that the server answered with the HTTP status `code`.
fn is_answered(text: &str, code: &str) -> bool {
    text.split_once("status code: ").is_some_and(|(_, status)| status.starts_with(code))
}

/// The error code and the message in the `text` of an error. The message may be empty.
fn code_and_message(text: &str) -> Option<(&str, &str)> {
    match element(text, "Code") {
        Some(code) => Some((code, element(text, "Message").unwrap_or_default())),
        None => of_deletion(text),
    }
}

/// The error code, or for Azure the HTTP status, and the message about one object in a request that removes several. The client
/// library's words about the request precede them.
fn of_deletion(text: &str) -> Option<(&str, &str)> {
    let (before, code) = text.rsplit_once("(code: ")?;
    let (_, message) = before.split_once(" request failed for key ")?.1.split_once(": ")?;
    Some((code.split_once(')')?.0, message.trim_end()))
}

/// The text of an error and of those causes that add information.
fn chain(error: &object_store::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}

/// Extracts the store's answer from the `text` of an error. Only the code and the message of an XML body are shown, because S3
/// repeats the access key and the signature in other elements.
fn answer(text: &str) -> String {
    match code_and_message(text) {
        Some((code, "")) => return code.into(),
        Some((code, message)) => return format!("{code}: {}", crate::escape::shown(message.as_bytes())),
        None => {}
    }
    let text = without_attempts(text);
    let text = text.split("<?xml").next().unwrap_or(text).trim().trim_end_matches(':');
    shortened(text).trim().to_owned()
}

/// The cause of a request's failure, after the client library's words about its attempts: the method, the URL, times and numbers.
fn without_attempts(text: &str) -> &str {
    let attempts = text.split_once("Error performing ").map_or("", |(_, attempts)| attempts);
    attempts.split_once(" - ").map_or(text, |(_, cause)| cause)
}

/// The beginning of an answer, or the beginning and the end of another error: a chain of causes ends with the one that tells most.
/// Escaped.
pub fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= ANSWER_CHARS_MAX {
        return cut(text.as_bytes(), usize::MAX);
    }
    let from_start = if text.starts_with("Server returned") { ANSWER_CHARS_MAX } else { BEGINNING_CHARS };
    let left_out = count - ANSWER_CHARS_MAX;
    let (beginning, end) = (text.chars().take(from_start), text.chars().skip(from_start + left_out));
    cut(beginning.chain(['…']).chain(end).collect::<String>().as_bytes(), usize::MAX)
}

/// The content of the first element `name` in `text`.
fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    Some(rest.split_once("</")?.0)
}

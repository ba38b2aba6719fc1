//! Failed requests: what the store answered, without secrets.

use std::error::Error as StdError;
use std::fmt;
use std::path::Path;

use crate::error::{Error, ErrorKind, Message, message};

/// Maximum number of characters shown of an answer that is not XML.
const ANSWER_CHARS_MAX: usize = 300;

/// Error codes of S3 and Azure that mean the request was denied.
const DENIALS: [&str; 7] = [
    "AccessDenied",
    "AuthenticationFailed",
    "AuthorizationFailure",
    "ExpiredToken",
    "InvalidAccessKeyId",
    "InvalidToken",
    "SignatureDoesNotMatch",
];

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// There is no such bucket.
    NoBucket,
    /// There is no such object.
    Missing,
    /// The credentials are missing or invalid, or do not permit the request.
    Denied,
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
    /// What the store answered, without credentials and signatures.
    pub answer: String,
    /// Where the credentials come from.
    pub credentials: String,
}

impl Failure {
    /// Converts an `error` of the client library. `credentials` describes where the credentials come from.
    pub fn of(error: &object_store::Error, credentials: &str) -> Self {
        use object_store::Error as Cause;
        let text = chain(error);
        let code = element(&text, "Code").unwrap_or_default();
        let is_no_bucket =
            matches!(code, "NoSuchBucket" | "ContainerNotFound") || text.contains("notFound: bucket");
        // If no credentials can be obtained, the error comes from the library, not the store. URLs may contain any word.
        let words = text.split_whitespace().filter(|word| !word.contains("://"));
        let words = words.collect::<Vec<_>>().join(" ").to_lowercase();
        let has_none = ["credential", "metadata", "token"].iter().any(|word| words.contains(word));
        let kind = match error {
            _ if is_no_bucket => FailureKind::NoBucket,
            Cause::NotFound { .. } => FailureKind::Missing,
            Cause::AlreadyExists { .. } | Cause::Precondition { .. } => FailureKind::Condition,
            Cause::PermissionDenied { .. } | Cause::Unauthenticated { .. } => FailureKind::Denied,
            // The library reports denials of object requests, but not of listings.
            _ if DENIALS.contains(&code) || ["401", "403"].iter().any(|code| is_answered(&text, code)) => {
                FailureKind::Denied
            }
            Cause::NotSupported { .. } | Cause::NotImplemented { .. } => FailureKind::Unsupported,
            _ if has_none && code.is_empty() => FailureKind::Denied,
            _ => FailureKind::Other,
        };
        Self { kind, answer: answer(&text), credentials: credentials.into() }
    }

    /// Whether the store may have carried out the request, or may still do so.
    pub fn is_in_doubt(&self) -> bool {
        matches!(self.kind, FailureKind::Stopped(_) | FailureKind::Other)
    }

    /// A failure that did not come from a store.
    pub fn other(answer: impl Into<String>) -> Self {
        Self { kind: FailureKind::Other, answer: answer.into(), credentials: String::new() }
    }

    /// The failure of a request for an object that has been replaced since it was found.
    pub fn replaced() -> Self {
        Self { kind: FailureKind::Condition, ..Self::other("it was replaced") }
    }

    /// Converts the failure into an error about the object at `path`. `doing` says what failed, such as "could not be read".
    pub fn into_error(self, path: &Path, doing: impl Into<Message>) -> Error {
        let Self { kind, answer, credentials } = self;
        match kind {
            FailureKind::NoBucket => {
                let words = "there is no such bucket; create it first, or correct the location";
                Error::new(ErrorKind::Output, message!(path, ": {words} ({answer})"))
            }
            FailureKind::Denied => {
                let whose = match credentials.is_empty() {
                    true => String::new(),
                    false => format!("; the credentials are from {credentials}"),
                };
                let words = format!(": the request was denied ({answer}){whose}");
                Error::new(ErrorKind::Permission, message!(path, ": ", doing.into(), "{words}"))
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
    if let Some(code) = element(text, "Code") {
        return match element(text, "Message").filter(|message| !message.is_empty()) {
            Some(message) => format!("{code}: {}", crate::escape::shown(message.as_bytes())),
            None => code.into(),
        };
    }
    let text = match text.find("Server returned") {
        Some(at) => &text[at..],
        None => text,
    };
    let text = text.split("<?xml").next().unwrap_or(text).trim().trim_end_matches(':');
    let short: String = text.chars().take(ANSWER_CHARS_MAX).collect();
    crate::escape::shown(short.as_bytes()).trim().to_owned()
}

/// The content of the first element `name` in `text`.
fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    Some(rest.split_once("</")?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_code_and_message_and_nothing_secret() {
        let body = "Error performing PUT http://h/b/k in 1ms - Server returned non-2xx status code: 403 Forbidden: <?xml version=\"1.0\"?><Error>\
                    <Code>SignatureDoesNotMatch</Code><Message>The signature differs.</Message><AWSAccessKeyId>AKIA1</AWSAccessKeyId>\
                    <StringToSign>secret</StringToSign></Error>";
        assert_eq!(answer(body), "SignatureDoesNotMatch: The signature differs.");
        let plain = "Generic S3 error: Error performing GET http://h/b/k in 1ms - Server returned non-2xx status code: 502 Bad Gateway: busy";
        assert_eq!(answer(plain), "Server returned non-2xx status code: 502 Bad Gateway: busy");
    }
}

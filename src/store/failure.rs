//! Failures of requests: what the store answered, without anything that is secret.

use std::error::Error as StdError;
use std::fmt;
use std::path::Path;

use crate::error::{Error, ErrorKind, Message, message};

/// Characters of an answer that is no XML that are shown.
const ANSWER_CHARS_MAX: usize = 300;

/// The codes of S3 and Azure for requests that are denied, of those that are no other kind of failure.
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
    /// The store knows no such user, or denies the request.
    Denied,
    /// The object is not as the request demands: it exists, or has another entity tag.
    Condition,
    /// The store cannot do this.
    Unsupported,
    /// The run was asked to stop by this signal, and the store has not answered.
    Stopped(i32),
    /// Anything else: the network, the store. It may work later.
    Other,
}

/// A request that failed.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Why.
    pub kind: FailureKind,
    /// What the store answered. It has no credentials and no signature.
    pub answer: String,
    /// Where the credentials come from.
    pub credentials: String,
}

impl Failure {
    /// The failure that `error` is, with credentials from `credentials`.
    pub fn of(error: &object_store::Error, credentials: &str) -> Self {
        use object_store::Error as Cause;
        let text = chain(error);
        let code = element(&text, "Code").unwrap_or_default();
        let is_no_bucket =
            matches!(code, "NoSuchBucket" | "ContainerNotFound") || text.contains("notFound: bucket");
        // Credentials that cannot be had at all are no answer of the store. URLs may contain any word.
        let words = text.split_whitespace().filter(|word| !word.contains("://"));
        let words = words.collect::<Vec<_>>().join(" ").to_lowercase();
        let has_none = ["credential", "metadata", "token"].iter().any(|word| words.contains(word));
        let kind = match error {
            _ if is_no_bucket => FailureKind::NoBucket,
            Cause::NotFound { .. } => FailureKind::Missing,
            Cause::AlreadyExists { .. } | Cause::Precondition { .. } => FailureKind::Condition,
            Cause::PermissionDenied { .. } | Cause::Unauthenticated { .. } => FailureKind::Denied,
            // The library says so of requests for objects alone, and not of lists.
            _ if DENIALS.contains(&code) || ["401", "403"].iter().any(|code| is_answered(&text, code)) => {
                FailureKind::Denied
            }
            Cause::NotSupported { .. } | Cause::NotImplemented { .. } => FailureKind::Unsupported,
            _ if has_none && code.is_empty() => FailureKind::Denied,
            _ => FailureKind::Other,
        };
        Self { kind, answer: answer(&text), credentials: credentials.into() }
    }

    /// Whether the store may have done what was asked, or may do it yet.
    pub fn is_in_doubt(&self) -> bool {
        matches!(self.kind, FailureKind::Stopped(_) | FailureKind::Other)
    }

    /// A failure that no store answered.
    pub fn other(answer: impl Into<String>) -> Self {
        Self { kind: FailureKind::Other, answer: answer.into(), credentials: String::new() }
    }

    /// The failure of a request for an object that is no longer the one that was found.
    pub fn replaced() -> Self {
        Self { kind: FailureKind::Condition, ..Self::other("it was replaced") }
    }

    /// The error for the object at `path`. `doing` describes the failure, such as "could not be read".
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

/// Whether the server has answered with the HTTP status `code`, according to the `text` of an error.
fn is_answered(text: &str, code: &str) -> bool {
    text.split_once("status code: ").is_some_and(|(_, status)| status.starts_with(code))
}

/// The text of an error and of its causes, as far as they say more.
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

/// What a store answered, from the `text` of an error. Of an XML body only the code and the message are shown, because S3 repeats the
/// access key and the signature in others of its elements.
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

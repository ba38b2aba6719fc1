//! The faults that a proxy injects.

use std::time::Duration;

/// When a process is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The store does not get the request.
    Before,
    /// The store has done what was requested, and its answer is lost.
    After,
}

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is forwarded, and so is its answer.
    None,
    /// The connection is closed, and all others are refused for this time.
    Refuse(Duration),
    /// The connection breaks in the middle of the request's body.
    CutRequest,
    /// The connection breaks in the middle of the answer's body, or of its head if it has no body.
    CutAnswer,
    /// The store gets the request, and its answer is lost.
    LoseAnswer,
    /// The request is not forwarded, and the store answers with this status and this code.
    Answer(u16, &'static str),
    /// The request is not forwarded, and nobody answers until the client gives up.
    Hang,
    /// The request is forwarded, and nobody answers until the client gives up.
    HangAfter,
    /// The process is killed.
    Kill(Moment),
    /// The request is forwarded after [`Proxy::release`](super::Proxy::release).
    Hold,
    /// The request is forwarded without its conditions, as to a store that ignores them.
    IgnoreConditions,
}

/// `503 SlowDown`, which S3 answers if there are too many requests.
pub const SLOW_DOWN: Fault = Fault::Answer(503, "SlowDown");
/// `500 InternalError`, which S3 answers now and then.
pub const INTERNAL_ERROR: Fault = Fault::Answer(500, "InternalError");

/// The body of an answer with the error `code`.
pub fn error_body(code: &str) -> Vec<u8> {
    let element = format!(
        "<Code>{code}</Code><Message>Injected by a test.</Message><RequestId>4442587FB7D0A2F9</RequestId>"
    );
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error>{element}</Error>").into_bytes()
}

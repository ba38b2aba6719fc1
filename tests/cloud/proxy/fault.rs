//! The faults that a proxy injects.

use std::time::Duration;

/// When a process is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Before the request reaches the store.
    Before,
    /// After the store has carried out the request, before its response arrives.
    After,
}

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The request and its response are forwarded.
    None,
    /// The connection is closed, and new connections are refused for this time.
    Refuse(Duration),
    /// The connection breaks in the middle of the request's body.
    CutRequest,
    /// The last byte of the request's body is changed on the way.
    Damage,
    /// The connection breaks in the middle of the response's body, or of its head if it has no body.
    CutAnswer,
    /// The request is forwarded, but its response is lost.
    LoseAnswer,
    /// The request is not forwarded, and the client gets this status and error code.
    Answer(u16, &'static str),
    /// The request is not forwarded, and the connection hangs until the client gives up.
    Hang,
    /// The request is forwarded, but the connection hangs until the client gives up.
    HangAfter,
    /// The process is killed.
    Kill(Moment),
    /// The request is forwarded after [`Proxy::release`](super::Proxy::release).
    Hold,
    /// The request is forwarded without its conditions, to simulate a store that ignores them.
    IgnoreConditions,
    /// The request is forwarded, and the response has this date.
    Date(&'static str),
    /// A request that removes several objects is not forwarded. As in S3, the answer is 200, with this error for each object.
    DenyDeletion(&'static str),
}

/// `503 SlowDown`, which S3 returns if there are too many requests.
pub const SLOW_DOWN: Fault = Fault::Answer(503, "SlowDown");
/// `500 InternalError`, which S3 returns occasionally.
pub const INTERNAL_ERROR: Fault = Fault::Answer(500, "InternalError");

/// The body of the response to a request that removes several objects, which are in its `body`: the error `code` for each.
pub fn deletion_body(code: &str, body: &[u8]) -> Vec<u8> {
    let body = String::from_utf8_lossy(body);
    let keys = body.split("<Key>").skip(1).filter_map(|rest| rest.split("</Key>").next());
    let error =
        |key| format!("<Error><Key>{key}</Key><Code>{code}</Code><Message>Access Denied</Message></Error>");
    format!("<DeleteResult>{}</DeleteResult>", keys.map(error).collect::<String>()).into_bytes()
}

/// The body of a response with the error `code`.
pub fn error_body(code: &str) -> Vec<u8> {
    let element = format!(
        "<Code>{code}</Code><Message>Injected by a test.</Message><RequestId>4442587FB7D0A2F9</RequestId>"
    );
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error>{element}</Error>").into_bytes()
}

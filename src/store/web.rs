//! Files on web servers (read-only).

use std::fmt;
use std::future;
use std::ops::Range;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse,
    ReqwestConnector,
};

use super::failure::{Failure, FailureKind, shortened};
use super::parts::Parts;
use super::runtime::{Task, spawn, wait};
use super::tls::choose_cryptography;

/// Connection timeout, and read timeout: how long a server may send nothing before a request fails.
const CONNECT_TIME: Duration = Duration::from_secs(5);
const SILENCE: Duration = Duration::from_secs(60);

/// Maximum number of attempts, and the pause before the first retry. The pause doubles with each retry.
const ATTEMPTS_MAX: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// The size from which a piece of a stream is passed on.
const PIECE_BYTES: usize = 256 << 10;

/// A client with connections of its own.
fn connect() -> Result<HttpClient, Failure> {
    choose_cryptography();
    let options = ClientOptions::new()
        .with_allow_http(true)
        .with_timeout_disabled()
        .with_connect_timeout(CONNECT_TIME)
        .with_read_timeout(SILENCE);
    ReqwestConnector::default().connect(&options).map_err(|error| Failure::other(error.to_string()))
}

/// A file on a web server, in the version that was found. Redirects are followed.
#[derive(Clone)]
pub struct WebFile {
    /// Not shared by all files: threads and connections do not survive a fork, and programs in Python fork.
    client: HttpClient,
    url: String,
    /// Its size in bytes, if the server states it.
    pub bytes: Option<u64>,
    /// Its ETag or, without one, its `Last-Modified` time.
    version: Option<String>,
    /// Whether the server supports range requests for it.
    sends_parts: bool,
}

/// A request for the next piece of a file that is read from start to end. It returns the piece and the rest of the stream.
pub type Pieces = Task<(Result<Bytes, Failure>, ByteStream)>;

type ByteStream = BoxStream<'static, Result<Bytes, Failure>>;

impl WebFile {
    /// Looks up the file at `url`; `None` if it does not exist. Requests its first byte, because many servers and signed URLs allow
    /// only GET.
    ///
    /// # Errors
    /// If the request fails or is refused.
    pub fn find(url: &str) -> Result<Option<Self>, Failure> {
        let client = connect()?;
        let this = Self { client, url: url.to_owned(), bytes: None, version: None, sends_parts: false };
        wait(async move {
            let response = match this.answer(Some(0..1)).await {
                Err(failure) if failure.kind == FailureKind::Missing => return Ok(None),
                response => response?,
            };
            let status = response.status().as_u16();
            let version = version_of(&response);
            let (bytes, sends_parts) = match status {
                206 => total_of(&response).map_or((None, false), |bytes| (Some(bytes), version.is_some())),
                // The file is empty.
                416 => (Some(0), version.is_some()),
                _ => (header(&response, "content-length").and_then(|bytes| bytes.parse().ok()), false),
            };
            Ok(Some(Self { bytes, version, sends_parts, ..this }))
        })
    }

    /// Whether parts of it can be requested. Otherwise, it can only be read from start to end.
    pub fn sends_parts(&self) -> bool {
        self.sends_parts && self.bytes.is_some()
    }

    /// Requests the whole file.
    pub fn open(&self) -> Pieces {
        let this = self.clone();
        spawn(async move {
            match this.whole().await {
                Ok(stream) => piece(stream).await,
                Err(failure) => (Err(failure), stream::empty().boxed()),
            }
        })
    }

    /// Requests the next piece of a stream. An empty piece marks the end.
    pub fn next(stream: ByteStream) -> Pieces {
        spawn(piece(stream))
    }

    /// Requests the whole file, as a stream that fails if it turns out to be another file or a part of this one.
    async fn whole(&self) -> Result<ByteStream, Failure> {
        let response = self.answer(None).await?;
        if response.status().as_u16() == 206 {
            // Broken caches do that.
            return Err(Failure::other("the server sent a part of the file when asked for all of it"));
        }
        if self.is_replaced(&response) {
            return Err(Failure::replaced());
        }
        // The size of a file that the server compresses for the transfer is not that of the file.
        let bytes = self.bytes.filter(|_| header(&response, "content-encoding").is_none());
        let stream = response.into_body().bytes_stream().map(|bytes| bytes.map_err(of_error)).boxed();
        Ok(match bytes {
            Some(bytes) => of_size(bytes, stream),
            None => stream,
        })
    }

    /// Requests the whole file or a part of it. Retries after connection errors, 429 and 5xx.
    async fn answer(&self, range: Option<Range<u64>>) -> Result<HttpResponse, Failure> {
        let mut pause = FIRST_PAUSE;
        for attempt in 1.. {
            let answer = self.client.execute(self.request_of(range.clone())?).await;
            let (failure, may_help) = match answer {
                Ok(response) => match refusal(&response, range.is_some()) {
                    None => return Ok(response),
                    Some(failure) => (failure, matches!(response.status().as_u16(), 429 | 500..)),
                },
                Err(error) => {
                    use HttpErrorKind::{Connect, Interrupted, Request};
                    let may_help = matches!(error.kind(), Connect | Interrupted | Request);
                    (of_error(error), may_help)
                }
            };
            if !may_help || attempt == ATTEMPTS_MAX {
                return Err(failure);
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
        unreachable!("the last attempt returns")
    }

    fn request_of(&self, range: Option<Range<u64>>) -> Result<HttpRequest, Failure> {
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.uri_mut() = self.url.parse().map_err(|_| Failure::other("it is not a valid URL"))?;
        let Some(range) = range else { return Ok(request) };
        let bytes = format!("bytes={}-{}", range.start, range.end - 1);
        let tag = self.version.as_ref().filter(|version| version.starts_with('"'));
        for (name, value) in [("range", Some(&bytes)), ("if-match", tag)] {
            if let Some(value) = value.and_then(|value| value.parse().ok()) {
                request.headers_mut().insert(name, value);
            }
        }
        Ok(request)
    }

    fn is_replaced(&self, response: &HttpResponse) -> bool {
        self.version.is_some() && version_of(response) != self.version
    }

    async fn part(&self, range: Range<u64>) -> Result<Bytes, Failure> {
        let mut pause = FIRST_PAUSE;
        for attempt in 1.. {
            let response = self.answer(Some(range.clone())).await?;
            if response.status().as_u16() != 206 {
                let words = "the server no longer accepts requests for parts of the file";
                return Err(Failure { kind: FailureKind::Unsupported, ..Failure::other(words) });
            }
            if self.is_replaced(&response) || total_of(&response) != self.bytes {
                return Err(Failure::replaced());
            }
            let starts_at = format!("bytes {}-", range.start);
            let is_there =
                header(&response, "content-range").is_some_and(|sent| sent.starts_with(&starts_at));
            match response.into_body().bytes().await {
                Ok(bytes) if is_there && bytes.len() as u64 == range.end - range.start => return Ok(bytes),
                Ok(_) => {
                    return Err(Failure::other("the server sent a different part than requested"));
                }
                Err(error) if attempt == ATTEMPTS_MAX => return Err(of_error(error)),
                Err(_) => tokio::time::sleep(pause).await,
            }
            pause *= 2;
        }
        unreachable!("the last attempt returns")
    }
}

impl Parts for WebFile {
    fn request(&self, range: Range<u64>) -> Task<Result<Bytes, Failure>> {
        let this = self.clone();
        spawn(async move { this.part(range).await })
    }
}

impl fmt::Debug for WebFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL may be signed.
        f.debug_struct("WebFile").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// Reads the next piece of a stream. Returns it with the rest of the stream.
async fn piece(mut stream: ByteStream) -> (Result<Bytes, Failure>, ByteStream) {
    let mut piece = Vec::new();
    while piece.len() < PIECE_BYTES {
        match stream.next().await {
            Some(Ok(bytes)) => piece.extend_from_slice(&bytes),
            Some(Err(failure)) => return (Err(failure), stream),
            None => break,
        }
    }
    (Ok(piece.into()), stream)
}

/// Makes a stream fail unless it has this number of bytes: without an ETag or a time, nothing else shows that the file is
/// another one.
fn of_size(bytes: u64, stream: ByteStream) -> ByteStream {
    let mut sent = 0;
    let checked = stream.map(Some).chain(stream::iter([None])).filter_map(move |next| {
        if let Some(Ok(piece)) = &next {
            sent += piece.len() as u64;
        }
        let is_at_end = next.is_none();
        let is_other = sent > bytes || is_at_end && sent < bytes;
        future::ready(if is_other { Some(Err(Failure::replaced())) } else { next })
    });
    checked.boxed()
}

/// Returns the failure if the server refused the request.
fn refusal(response: &HttpResponse, is_of_part: bool) -> Option<Failure> {
    let status = response.status();
    let kind = match status.as_u16() {
        200..=299 => return None,
        416 if is_of_part => return None,
        401 | 403 | 407 => FailureKind::Denied,
        404 | 410 => FailureKind::Missing,
        412 => FailureKind::Condition,
        _ => FailureKind::Other,
    };
    Some(Failure { kind, ..Failure::other(status.to_string()) })
}

fn of_error(error: HttpError) -> Failure {
    use std::error::Error;
    // The outer causes name layers of the client.
    let mut innermost: &dyn Error = &error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    Failure::other(shortened(&innermost.to_string()))
}

fn header<'r>(response: &'r HttpResponse, name: &str) -> Option<&'r str> {
    response.headers().get(name)?.to_str().ok()
}

fn version_of(response: &HttpResponse) -> Option<String> {
    header(response, "etag").or_else(|| header(response, "last-modified")).map(str::to_owned)
}

/// The size of the whole file in bytes, from the response to a request for a part.
fn total_of(response: &HttpResponse) -> Option<u64> {
    header(response, "content-range")?.rsplit_once('/')?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// Looks up a file on a server that answers the first request with `found` and the second with `whole`, and reads it from start
    /// to end.
    fn read(found: &'static str, whole: &'static str) -> Result<Vec<u8>, String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/x", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            for answer in [found, whole] {
                let (mut client, _) = listener.accept().unwrap();
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    client.read_exact(&mut byte).unwrap();
                    request.extend(byte);
                }
                let answer = answer.replace("\n", "\r\n");
                client.write_all(format!("HTTP/1.1 {answer}").as_bytes()).unwrap();
            }
        });
        let file = WebFile::find(&url).unwrap().unwrap();
        let (mut bytes, mut pieces) = (Vec::new(), file.open());
        let read = loop {
            let (piece, rest) = pieces.wait_unless(&|| false).unwrap();
            match piece {
                Ok(piece) if piece.is_empty() => break Ok(bytes),
                Ok(piece) => bytes.extend_from_slice(&piece),
                Err(failure) => break Err(failure.to_string()),
            }
            pieces = WebFile::next(rest);
        };
        server.join().unwrap();
        read
    }

    #[test]
    fn a_part_is_never_taken_for_the_whole_file() {
        const FOUND: &str =
            "206 Partial Content\nConnection: close\nContent-Range: bytes 0-0/9\nContent-Length: 1\n\na";
        let whole = "200 OK\nConnection: close\nContent-Length: 9\n\nabcdefghi";
        assert_eq!(read(FOUND, whole), Ok(b"abcdefghi".to_vec()));
        // A file that is compressed for the transfer has another size.
        let packed = "200 OK\nConnection: close\nContent-Encoding: gzip\nContent-Length: 3\n\nabc";
        assert_eq!(read(FOUND, packed), Ok(b"abc".to_vec()));
        for (whole, why) in [
            (
                "206 Partial Content\nConnection: close\nContent-Range: bytes 0-2/9\nContent-Length: 3\n\nabc",
                "the server sent a part of the file when asked for all of it",
            ),
            ("200 OK\nConnection: close\nContent-Length: 3\n\nabc", "it was replaced"),
            ("200 OK\nConnection: close\n\nabc", "it was replaced"),
            ("200 OK\nConnection: close\nContent-Length: 10\n\nabcdefghij", "it was replaced"),
        ] {
            assert_eq!(read(FOUND, whole), Err(why.into()), "{whole}");
        }
    }
}

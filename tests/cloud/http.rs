//! As much HTTP/1.1 as the proxy and the crawler of these tests need: heads, bodies, and one connection per request.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A timeout that no response reaches, so that a hanging test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// The first line of a request or a response, and its headers.
#[derive(Debug, Clone, Default)]
pub struct Head {
    pub first_line: String,
    pub headers: Vec<(String, String)>,
}

impl Head {
    /// The value of the header `name` (upper or lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| &**value)
    }

    /// Returns a copy without the headers `names`.
    pub fn without(&self, names: &[&str]) -> Self {
        let is_named = |header: &str| names.iter().any(|name| name.eq_ignore_ascii_case(header));
        let headers = self.headers.iter().filter(|(name, _)| !is_named(name)).cloned().collect();
        Self { first_line: self.first_line.clone(), headers }
    }

    /// Adds the header `name` at the end.
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.headers.push((name.into(), value.to_string()));
        self
    }

    /// The length of the body in bytes, if the head states it.
    pub fn body_bytes(&self) -> Option<usize> {
        self.header("content-length").map(|value| value.parse().expect("a length is a number"))
    }

    fn bytes(&self) -> Vec<u8> {
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        format!("{}\r\n{}\r\n", self.first_line, headers.collect::<String>()).into_bytes()
    }

    /// Writes the head and `body` at once.
    pub fn write(&self, body: &[u8], to: &mut TcpStream) -> io::Result<()> {
        to.write_all(&[&self.bytes(), body].concat())
    }
}

/// Reads a head; `None` at the end of the connection.
pub fn read_head(from: &mut BufReader<TcpStream>) -> io::Result<Option<Head>> {
    let mut head = Head::default();
    loop {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        match line.split_once(": ").or(line.split_once(':')) {
            _ if head.first_line.is_empty() => head.first_line = line.into(),
            _ if line.is_empty() => return Ok(Some(head)),
            Some((name, value)) => head.headers.push((name.into(), value.into())),
            None => return Err(io::Error::other(format!("not a header: {line}"))),
        }
    }
}

/// A response with its whole body.
#[derive(Debug, Clone)]
pub struct Response {
    pub status: u16,
    pub head: Head,
    pub body: Vec<u8>,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.header(name)
    }

    /// The body, if the request has succeeded.
    #[track_caller]
    pub fn expect(self, what: &str) -> Vec<u8> {
        assert!(self.status < 300, "{what}: {} {}", self.status, String::from_utf8_lossy(&self.body));
        self.body
    }
}

/// Sends a request with `head` and `body` on a new connection, and returns the response.
pub fn exchange(server: SocketAddr, head: &Head, body: &[u8]) -> io::Result<Response> {
    let mut stream = TcpStream::connect(server)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    head.without(&["connection", "expect"]).with("Connection", "close").write(body, &mut stream)?;
    let mut from = BufReader::new(stream);
    let head = read_head(&mut from)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let status = head.first_line.split(' ').nth(1).and_then(|word| word.parse().ok());
    let status = status.ok_or_else(|| io::Error::other(format!("not a status: {}", head.first_line)))?;
    Ok(Response { status, body: read_body(&mut from, &head)?, head })
}

fn read_body(from: &mut BufReader<TcpStream>, head: &Head) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if head.header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
        loop {
            let mut line = String::new();
            from.read_line(&mut line)?;
            let bytes = u64::from_str_radix(line.trim_end(), 16).map_err(io::Error::other)?;
            from.take(bytes).read_to_end(&mut body)?;
            from.read_line(&mut String::new())?;
            if bytes == 0 {
                return Ok(body);
            }
        }
    }
    // The response to a HEAD request has a length but no body.
    from.read_to_end(&mut body)?;
    Ok(body)
}

/// Sends a request without credentials, as a browser or a crawler does. `target` is a path with a query.
#[track_caller]
pub fn request(
    server: SocketAddr,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Response {
    let mut head = Head { first_line: format!("{method} {target} HTTP/1.1"), headers: Vec::new() };
    head = head.with("Host", server).with("Content-Length", body.len());
    for (name, value) in headers {
        head = head.with(name, value);
    }
    exchange(server, &head, body).unwrap_or_else(|error| panic!("{method} {target}: {error}"))
}

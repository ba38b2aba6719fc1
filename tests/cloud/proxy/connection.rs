//! A connection to the proxy: reads requests, gets a fault from the plan, and forwards or fails them.

use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::fault::{deletion_body, error_body};
use super::{Fault, Moment, Request, Shared, lock};
use crate::http::{Head, Response, exchange, read_head};

/// Headers that make a write conditional.
const CONDITIONS: [&str; 2] = ["If-None-Match", "If-Match"];
/// Headers that belong to a signature.
const SIGNATURE: [&str; 4] = ["Authorization", "X-Amz-Content-Sha256", "X-Amz-Date", "X-Amz-Security-Token"];

/// Whether the connection can take another request.
#[derive(PartialEq, Eq)]
enum Next {
    Keep,
    Close,
}

/// Answers the requests of a client until either side closes the connection.
pub(super) fn serve(stream: TcpStream, shared: &Shared) {
    let _ = stream.set_nodelay(true);
    let Ok(mut to) = stream.try_clone() else { return };
    let mut from = BufReader::new(stream);
    while let Ok(Some(head)) = read_head(&mut from) {
        shared.active.fetch_add(1, Ordering::SeqCst);
        let next = Call { shared, from: &mut from, to: &mut to }.answer(&head);
        shared.active.fetch_sub(1, Ordering::SeqCst);
        if !matches!(next, Ok(Next::Keep)) {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

/// A request whose head has been read.
struct Call<'c> {
    shared: &'c Shared,
    from: &'c mut BufReader<TcpStream>,
    to: &'c mut TcpStream,
}

impl Call<'_> {
    fn answer(&mut self, head: &Head) -> io::Result<Next> {
        // The process is dead, or the store is down.
        if self.shared.is_silent.load(Ordering::SeqCst) || self.shared.is_ended.load(Ordering::SeqCst) {
            return Ok(Next::Close);
        }
        let (request, fault) = self.registered(head);
        match fault {
            Fault::None => {}
            Fault::Refuse(time) => return Ok(self.refuse(time)),
            Fault::CutRequest => return self.cut_request(head),
            Fault::Hang => return Ok(self.hang()),
            Fault::Kill(Moment::Before) => return Ok(self.kill()),
            Fault::Hold => self.hold(),
            Fault::Answer(status, code) => {
                self.body(head)?;
                return self.answer_with(&format!("{status} {code}"), &error_body(code), &request);
            }
            Fault::DenyDeletion(code) => {
                let body = deletion_body(code, &self.body(head)?);
                return self.answer_with("200 OK", &body, &request);
            }
            Fault::CutAnswer | Fault::LoseAnswer | Fault::HangAfter | Fault::Kill(Moment::After) => {}
            Fault::Damage | Fault::IgnoreConditions | Fault::Date(_) => {}
        }
        let mut body = self.body(head)?;
        if fault == Fault::Damage {
            body.last_mut().into_iter().for_each(|byte| *byte ^= 1);
        }
        let response = match fault {
            Fault::IgnoreConditions => {
                let head = head.without(&CONDITIONS).without(&SIGNATURE);
                self.forwarded(&request, self.shared.open, &head, &body)?
            }
            _ => self.forwarded(&request, self.shared.signed, head, &body)?,
        };
        match fault {
            Fault::LoseAnswer => Ok(Next::Close),
            Fault::HangAfter => Ok(self.hang()),
            Fault::Kill(_) => Ok(self.kill()),
            Fault::CutAnswer => self.cut_answer(&response),
            _ => {
                let head = framed(&response, &request);
                let head = match fault {
                    Fault::Date(date) => head.without(&["date"]).with("Date", date),
                    _ => head,
                };
                head.write(&response.body, self.to)?;
                Ok(Next::Keep)
            }
        }
    }

    /// Answers a request that is not forwarded.
    fn answer_with(&mut self, status: &str, body: &[u8], request: &Request) -> io::Result<Next> {
        let head = Head { first_line: format!("HTTP/1.1 {status}"), headers: Vec::new() };
        let head = head.with("Content-Type", "application/xml").with("Content-Length", body.len());
        head.write(if request.method == "HEAD" { b"" } else { body }, self.to)?;
        Ok(Next::Keep)
    }

    /// Records the request, and returns it with the fault that the plan chooses for it.
    fn registered(&self, head: &Head) -> (Request, Fault) {
        let mut request = Request::new(head);
        // Requests are numbered in the order in which the plan sees them.
        let mut plan = lock(&self.shared.plan);
        let mut log = lock(&self.shared.log);
        request.number = log.len() + 1;
        request.attempt += log.iter().filter(|earlier| earlier.is_same(&request)).count();
        log.push(request.clone());
        drop(log);
        let fault = plan(&request);
        (request, fault)
    }

    fn body(&mut self, head: &Head) -> io::Result<Vec<u8>> {
        let mut body = vec![0; head.body_bytes().unwrap_or(0)];
        self.from.read_exact(&mut body)?;
        Ok(body)
    }

    fn forwarded(&self, request: &Request, to: SocketAddr, head: &Head, body: &[u8]) -> io::Result<Response> {
        let store = &self.shared.store;
        let response = if request.is_write() {
            let _alone = store.write().unwrap_or_else(PoisonError::into_inner);
            exchange(to, head, body)
        } else {
            let _shared = store.read().unwrap_or_else(PoisonError::into_inner);
            exchange(to, head, body)
        }?;
        if let Some(logged) = lock(&self.shared.log).get_mut(request.number - 1) {
            logged.status = Some(response.status);
        }
        Ok(response)
    }

    fn refuse(&self, time: Duration) -> Next {
        self.shared.is_silent.store(true, Ordering::SeqCst);
        self.shared.is_down.store(true, Ordering::SeqCst);
        *lock(&self.shared.down) = Some(time);
        // Wakes the listener, which stops listening.
        let _ = self.to.local_addr().and_then(TcpStream::connect);
        Next::Close
    }

    /// Sends half of the body to the store. The client gets a connection reset because the rest is never read.
    fn cut_request(&mut self, head: &Head) -> io::Result<Next> {
        let mut half = vec![0; head.body_bytes().unwrap_or(0) / 2];
        self.from.read_exact(&mut half)?;
        if !half.is_empty() {
            let mut server = TcpStream::connect(self.shared.signed)?;
            head.write(&half, &mut server)?;
        }
        Ok(Next::Close)
    }

    fn cut_answer(&mut self, response: &Response) -> io::Result<Next> {
        let body = &response.body[..response.body.len() / 2];
        if body.is_empty() {
            self.to.write_all(b"HTTP/1.1 200")?;
        } else {
            let head = response.head.without(&["transfer-encoding", "content-length", "connection"]);
            head.with("Content-Length", response.body.len()).write(body, self.to)?;
        }
        Ok(Next::Close)
    }

    /// Reads and ignores everything until the client closes the connection.
    fn hang(&mut self) -> Next {
        // `settle` must not wait for this request, because it never gets a response.
        self.shared.active.fetch_sub(1, Ordering::SeqCst);
        let _ = self.to.set_read_timeout(Some(Duration::from_millis(50)));
        while !self.shared.is_ended.load(Ordering::SeqCst) {
            match self.from.read(&mut [0; 4096]) {
                Ok(0) => break,
                Err(error)
                    if ![io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut].contains(&error.kind()) =>
                {
                    break;
                }
                _ => {}
            }
        }
        self.shared.active.fetch_add(1, Ordering::SeqCst);
        Next::Close
    }

    fn hold(&self) {
        self.shared.active.fetch_sub(1, Ordering::SeqCst);
        let (released, changed) = &self.shared.is_released;
        let waiting = released.lock().unwrap_or_else(PoisonError::into_inner);
        drop(changed.wait_while(waiting, |is_released| !*is_released));
        self.shared.active.fetch_add(1, Ordering::SeqCst);
    }

    /// Kills the process. Requests that it has already sent on other connections may still be answered, but no later ones.
    fn kill(&self) -> Next {
        self.shared.is_silent.store(true, Ordering::SeqCst);
        let victim = loop {
            match *lock(&self.shared.victim) {
                Some(victim) => break victim,
                None => thread::yield_now(),
            }
        };
        let victim = i32::try_from(victim).ok().and_then(Pid::from_raw).expect("an ID of a process");
        let _ = kill_process(victim, Signal::KILL);
        Next::Close
    }
}

/// The head of a response whose whole body is sent at once, on a connection that stays open.
fn framed(response: &Response, request: &Request) -> Head {
    let head = response.head.without(&["transfer-encoding", "connection"]);
    let is_head = request.method == "HEAD" || [204, 304].contains(&response.status);
    if is_head { head } else { head.without(&["content-length"]).with("Content-Length", response.body.len()) }
}

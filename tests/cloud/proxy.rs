//! A proxy between sitemill and a store. It records every request, and injects the fault that a test's plan chooses for it.
//!
//! The Host header is forwarded unchanged, so that signatures stay valid. Writes are forwarded one at a time, and reads are not
//! forwarded during a write: s3s-fs checks a condition before it writes, and stores an ETag after the bytes. A real store does
//! this atomically.

mod connection;
mod fault;

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub use fault::{Fault, INTERNAL_ERROR, Moment, SLOW_DOWN};

use crate::http::Head;
use crate::kind::ACCOUNT;

/// A request that the proxy has seen.
#[derive(Debug, Clone)]
pub struct Request {
    /// From 1, in the order of arrival.
    pub number: usize,
    /// The attempt, from 1: how often the same request has arrived.
    pub attempt: usize,
    pub method: String,
    /// Without the bucket, the query and percent-encoding.
    pub key: String,
    /// The part of the URL after the `?`; may be empty.
    pub query: String,
    pub head: Head,
    /// The status of the response that was forwarded.
    pub status: Option<u16>,
}

impl Request {
    fn new(head: &Head) -> Self {
        let mut words = head.first_line.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        // Azurite has an account before the bucket.
        let path = path.trim_start_matches('/').trim_start_matches(ACCOUNT).trim_start_matches('/');
        let (_, key) = path.split_once('/').unwrap_or_default();
        Self {
            number: 0,
            attempt: 1,
            method: method.into(),
            key: unescaped(key),
            query: query.into(),
            head: head.clone(),
            status: None,
        }
    }

    /// Whether it changes the store if it succeeds.
    pub fn is_write(&self) -> bool {
        !["GET", "HEAD"].contains(&&*self.method)
    }

    /// Whether it uploads a sitemap.
    pub fn is_sitemap(&self) -> bool {
        self.method == "PUT" && self.key.ends_with(".xml.gz")
    }

    fn is_same(&self, other: &Self) -> bool {
        (&self.method, &self.key, &self.query) == (&other.method, &other.key, &other.query)
    }
}

/// Decodes percent-encoding: `%2F` is a slash.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at(2);
        bytes.push(u8::from_str_radix(digits, 16).expect("two hexadecimal digits"));
        bytes.extend(rest.bytes());
    }
    String::from_utf8(bytes).expect("keys are UTF-8")
}

type Plan = Box<dyn FnMut(&Request) -> Fault + Send>;

/// The state that the threads of a proxy share.
struct Shared {
    signed: SocketAddr,
    /// The server for requests whose signature is no longer valid.
    open: SocketAddr,
    plan: Mutex<Plan>,
    log: Mutex<Vec<Request>>,
    /// The process to kill.
    victim: Mutex<Option<u32>>,
    /// Reads share this lock; a write takes it exclusively.
    store: RwLock<()>,
    /// Whether held requests may continue.
    is_released: (Mutex<bool>, Condvar),
    /// The number of requests that are being answered.
    active: AtomicUsize,
    /// Whether no request is answered, because the process is dead or the store is down.
    is_silent: AtomicBool,
    /// How long to refuse connections from now on.
    down: Mutex<Option<Duration>>,
    /// Whether connections are being refused.
    is_down: AtomicBool,
    is_ended: AtomicBool,
}

/// A proxy for one store. It stops on drop.
pub struct Proxy {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Starts a proxy that forwards to `signed`. Requests that it changes go to `open`, which does not check signatures.
    pub fn new(signed: SocketAddr, open: SocketAddr) -> Self {
        let listener = free_port();
        let address = listener.local_addr().expect("it listens");
        let shared = Arc::new(Shared {
            signed,
            open,
            plan: Mutex::new(Box::new(|_| Fault::None)),
            log: Mutex::default(),
            victim: Mutex::default(),
            store: RwLock::default(),
            is_released: Default::default(),
            active: AtomicUsize::new(0),
            is_silent: AtomicBool::new(false),
            down: Mutex::default(),
            is_down: AtomicBool::new(false),
            is_ended: AtomicBool::new(false),
        });
        let of_listener = Arc::clone(&shared);
        let listening = thread::spawn(move || listen(listener, address, &of_listener));
        Self { address, shared, listening: Some(listening) }
    }

    /// Clears the log, and injects the faults that `plan` chooses from now on.
    pub fn plan(&self, plan: impl FnMut(&Request) -> Fault + Send + 'static) {
        self.settle();
        *lock(&self.shared.plan) = Box::new(plan);
        lock(&self.shared.log).clear();
        *lock(&self.shared.victim) = None;
        *lock(&self.shared.is_released.0) = false;
        self.shared.is_silent.store(false, Ordering::SeqCst);
    }

    /// Clears the log, and forwards everything from now on.
    pub fn forward(&self) {
        self.plan(|_| Fault::None);
    }

    /// Sets the process that [`Fault::Kill`] kills.
    pub fn aim_at(&self, process: u32) {
        *lock(&self.shared.victim) = Some(process);
    }

    /// Releases the requests that [`Fault::Hold`] holds, disables it, and accepts connections again.
    pub fn release(&self) {
        *lock(&self.shared.is_released.0) = true;
        self.shared.is_released.1.notify_all();
        while self.shared.is_down.load(Ordering::SeqCst) && !self.shared.is_ended.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// The requests since the log was cleared.
    pub fn log(&self) -> Vec<Request> {
        self.settle();
        lock(&self.shared.log).clone()
    }

    /// Waits until all requests that have arrived are answered or dropped.
    fn settle(&self) {
        while self.shared.active.load(Ordering::SeqCst) > 0 {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_ended.store(true, Ordering::SeqCst);
        self.release();
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
        let _ = self.listening.take().map(JoinHandle::join);
    }
}

/// Listens on a port outside the kernel's ephemeral range, so that no other program gets it while connections are refused.
fn free_port() -> TcpListener {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 12_000 + (std::process::id() % 10_000) as u16;
    loop {
        let port = first + NEXT.fetch_add(1, Ordering::Relaxed) % 10_000;
        if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)) {
            return listener;
        }
    }
}

fn listen(mut listener: TcpListener, address: SocketAddr, shared: &Arc<Shared>) {
    while !shared.is_ended.load(Ordering::SeqCst) {
        // Once the store is down, a connection only wakes this thread.
        let accepted = listener.accept();
        if let Some(time) = lock(&shared.down).take() {
            drop((accepted, listener));
            listener = match up_after(time, address, shared) {
                Some(listener) => listener,
                None => return,
            };
        } else if let Ok((stream, _)) = accepted {
            let shared = Arc::clone(shared);
            thread::spawn(move || connection::serve(stream, &shared));
        }
    }
}

/// Waits for `time` or [`Proxy::release`], then listens again; `None` if the proxy stops first.
fn up_after(time: Duration, address: SocketAddr, shared: &Shared) -> Option<TcpListener> {
    let begun = std::time::Instant::now();
    while begun.elapsed() < time {
        if shared.is_ended.load(Ordering::SeqCst) {
            return None;
        }
        if *lock(&shared.is_released.0) {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
    let bound: io::Result<TcpListener> = TcpListener::bind(address);
    let listener = bound.expect("nobody else uses the port");
    shared.is_silent.store(false, Ordering::SeqCst);
    shared.is_down.store(false, Ordering::SeqCst);
    Some(listener)
}

/// Locks a mutex, even if another thread panicked while it held the lock.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

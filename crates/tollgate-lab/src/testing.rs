//! A small server inside the test's process, and its observations, to check the load engine's claims.
//!
//! The scripted truth server is a program of its own, for truth tests; this one is for tests of parts.

use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tollgate_net::clock::Clock;
use tollgate_net::http1::server::{Abort, Counters, Exchange, ExchangeError, Server, Service, Shutdown};
use tollgate_net::limits::Limits;
use tollgate_net::listen::{ListenOptions, Reserved};
use tollgate_net::tls::server::Acceptor;

use crate::traffic::request::RequestShape;

/// A GET to any server.
pub(crate) fn get() -> RequestShape {
    RequestShape { method: "GET".to_owned(), ..RequestShape::default() }
}

/// Entities of `/items`.
pub(crate) const ITEMS: u64 = 7;
/// Yields of a request: only requests that yield are seen to overlap.
const YIELDS: usize = 3;

/// A running server; dropping it ends it.
pub(crate) struct TestServer {
    /// The reserved port: after the server's end, no other test's server answers there.
    reserved: Reserved,
    shutdown: Shutdown,
    pub(crate) counters: Arc<Counters>,
    pub(crate) seen: Arc<Seen>,
    thread: Option<JoinHandle<()>>,
}

/// Its observations.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) at_once_max: AtomicU64,
    at_once: AtomicU64,
    /// Paths requested below `/noted/`, in order.
    pub(crate) noted: Mutex<Vec<String>>,
    /// Client ports of the requests, in order; repeated ones in a row appear once.
    pub(crate) ports: Mutex<Vec<u16>>,
}

impl TestServer {
    pub(crate) fn start() -> TestServer {
        TestServer::start_as(|server| server)
    }

    /// The same server over TLS.
    pub(crate) fn start_tls(acceptor: Acceptor) -> TestServer {
        TestServer::start_as(|server| server.with_tls(acceptor))
    }

    fn start_as(change: impl FnOnce(Server) -> Server) -> TestServer {
        let reserved = Reserved::on_loopback().unwrap();
        let server = change(Server::bind(&ListenOptions::new(reserved.address())).unwrap());
        let (shutdown, counters, seen) = (Shutdown::new(), Arc::new(Counters::new(1)), Arc::new(Seen::default()));
        let (ending, counting, noting) = (shutdown.clone(), Arc::clone(&counters), Arc::clone(&seen));
        let thread = std::thread::spawn(move || {
            let service = |_| Scripted { seen: Arc::clone(&noting), requests: Rc::default() };
            server.run(service, Limits::default(), Clock::system(), ending, counting).unwrap();
        });
        TestServer { reserved, shutdown, counters, seen, thread: Some(thread) }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.reserved.address())
    }

    /// Ends the server and waits for it, so that all counts are final.
    pub(crate) fn end(&mut self) {
        self.shutdown.begin();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.end();
    }
}

/// Paths of the server: `/items` lists [`ITEMS`] entities `/items/ID`, `/paged` the same on two pages. The entities of
/// `/wrong` are all the first one, `/only/ID` lists that entity, `/thinned` lacks entity 1 (404), `/gone` lists only
/// that one. `/client` is OData V2 and answers 400 without `client=7`, `/changing` lists other entities after the first
/// request, and its second page fails at the seventh. `/noted/…` is recorded, `/growing` is longer each time.
/// `/every-third-fails` answers 503 and `/every-third-closes` nothing to each third request.
struct Scripted {
    seen: Arc<Seen>,
    requests: Rc<std::cell::Cell<u64>>,
}

impl Service for Scripted {
    async fn serve(&self, exchange: &mut Exchange<'_>) -> Result<(), ExchangeError> {
        let at_once = self.seen.at_once.fetch_add(1, Ordering::Relaxed) + 1;
        self.seen.at_once_max.fetch_max(at_once, Ordering::Relaxed);
        for _ in 0..YIELDS {
            tokio::task::yield_now().await;
        }
        self.seen.at_once.fetch_sub(1, Ordering::Relaxed);
        {
            let mut ports = self.seen.ports.lock().unwrap_or_else(PoisonError::into_inner);
            ports.push(exchange.peer().port());
            ports.dedup();
        }
        let count = self.requests.get() + 1;
        self.requests.set(count);
        let target = exchange.request().target().to_owned();
        if target == "/every-third-closes" && count.is_multiple_of(3) {
            return Err(ExchangeError::Abort(Abort::Close));
        }
        if let Some(noted) = target.strip_prefix("/noted/") {
            self.seen.noted.lock().unwrap_or_else(PoisonError::into_inner).push(noted.to_owned());
        }
        let response = exchange.respond();
        if target == "/every-third-fails" && count.is_multiple_of(3) || target == "/changing?page=2" && count == 7 {
            response.status = 503;
        }
        if target == "/thin/1" {
            response.status = 404;
        }
        if target.starts_with("/client") && !target.contains("client=7") {
            response.status = 400;
        }
        response.body.extend_from_slice(body(&target, count).as_bytes());
        Ok(())
    }
}

fn body(target: &str, count: u64) -> String {
    let list = |ids: std::ops::Range<u64>, next: &str| {
        let items: Vec<String> = ids.map(|id| format!("{{\"@odata.id\":\"items/{id}\",\"id\":\"{id}\"}}")).collect();
        format!("{{\"value\":[{}]{next}}}", items.join(","))
    };
    match target {
        "/items" | "/wrong" => list(0..ITEMS, ""),
        "/thinned" => list(0..ITEMS, "").replace("items/", "thin/"),
        "/gone" => list(1..2, "").replace("items/", "thin/"),
        "/paged" => list(0..3, ",\"@odata.nextLink\":\"/paged?page=2\""),
        "/paged?page=2" => list(3..ITEMS, ""),
        "/changing" => {
            let ids = if count == 1 { 0..2 } else { 5..7 };
            list(ids, ",\"@odata.nextLink\":\"/changing?page=2\"").replace("items/", "noted/")
        }
        "/changing?page=2" => list(2..3, "").replace("items/", "noted/"),
        "/empty" => list(0..0, ""),
        "/growing" => "x".repeat(count as usize),
        _ if target.starts_with("/client?") => {
            let of = |id| format!("{{\"__metadata\":{{\"uri\":\"http://elsewhere/client('{id}')\"}},\"ID\":\"{id}\"}}");
            format!("{{\"d\":{{\"results\":[{}]}}}}", (0..ITEMS).map(of).collect::<Vec<_>>().join(","))
        }
        _ if target.starts_with("/client(") => format!("{{\"d\":{{\"ID\":\"{}\"}}}}", &target[9..10]),
        _ if target.starts_with("/only/") => format!("{{\"value\":[{{\"id\":\"{}\"}}]}}", &target[6..]),
        _ if target.starts_with("/wrong/") => "{\"id\":\"0\"}".to_owned(),
        _ => match target.strip_prefix("/items/").or_else(|| target.strip_prefix("/thin/")) {
            Some(id) => format!("{{\"id\":\"{id}\"}}"),
            None => "plain".to_owned(),
        },
    }
}

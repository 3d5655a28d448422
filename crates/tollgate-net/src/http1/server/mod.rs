//! The serving half: one runtime per core, each with its own listener on the shared address, each connection a task.
//!
//! The [`Service`] interprets requests. Upgrade is not here.

mod buffers;
mod connection;
mod core;
mod counters;
mod door;
mod exchange;
mod guests;
mod handshake;
mod held;
mod link;
mod response;
mod shutdown;
mod unsent;
mod wave;

/// About how many bytes an exchange takes while it waits for its service.
pub const WAITING_BYTES: usize = buffers::WAITING_BYTES;

/// Most bytes of buffers that each of a server's threads keeps for the next requests.
pub const KEPT_BYTES_MAX: usize = buffers::POOL_BYTES_MAX;

pub use counters::{CloseCause, ConnectionState, Counters};
pub use exchange::{Abort, Asking, Body, Enclosed, Exchange, ExchangeError, ForwardError, Gathered, Keeping, Patience};
pub use response::{Delimiter, Response, reason, rendered_fields};
pub use shutdown::Shutdown;

use std::fmt::Display;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use tokio::runtime::{Builder, LocalOptions};

use self::core::{Core, TICK};
use self::door::Door;
use self::guests::{Exempt, Guests};
use super::error::Fault;
use super::head::RequestHead;
use crate::clock::Clock;
use crate::limits::Limits;
use crate::listen::{ListenOptions, listen};
use crate::tls::server::{Acceptor, HandshakeFailure};

/// Answers requests. Each core has one of its own, which need not be `Send`.
pub trait Service: 'static {
    /// Answers one request: by filling in [`Exchange::respond`], or part by part with [`Exchange::flush_part`].
    ///
    /// # Errors
    /// A [`Fault`] before anything was sent is answered by [`Service::refusal`]; any other error ends the connection.
    fn serve(&self, exchange: &mut Exchange<'_>) -> impl Future<Output = Result<(), ExchangeError>>;

    /// Fills in the answer to a request that the engine refuses, in the caller's protocol. The status is set
    /// beforehand;
    /// `request` is what could be read of a head, `None` where that was not even the request line. The connection closes
    /// after it.
    fn refusal(&self, fault: Fault, request: Option<&RequestHead>, response: &mut Response) {
        let _ = request;
        response.header("Content-Type", "text/plain; charset=utf-8");
        if matches!(fault, Fault::ConnectionsFull | Fault::ClientConnectionsFull | Fault::MemoryFull) {
            response.header("Retry-After", "1");
        }
        response.body.extend_from_slice(fault.to_string().as_bytes());
        response.body.push(b'\n');
    }

    /// Hears a few times a second what time it is: for what a service has to clean up.
    fn tick(&self, now: Instant) {
        let _ = now;
    }

    /// Hears of a connection that was refused because its client has as many as it may have.
    fn client_refused(&self, peer: SocketAddr) {
        let _ = peer;
    }

    /// Hears of a TLS handshake that failed, for a log: `detail` is more than the cause says, where there is more. A
    /// flood of them must not become a flood of lines.
    fn handshake_failed(&self, failure: HandshakeFailure, peer: SocketAddr, detail: Option<&dyn Display>) {
        let _ = (failure, peer, detail);
    }
}

/// A server that has its address and does not accept yet.
#[derive(Debug)]
pub struct Server {
    listeners: Vec<TcpListener>,
    address: SocketAddr,
    blocking_threads_max: usize,
    blocking_niceness: i32,
    acceptor: Option<Acceptor>,
    exempt: Exempt,
}

/// Threads that each of a server's threads may start for blocking work, by default.
const BLOCKING_THREADS_MAX: usize = 64;

impl Server {
    /// Takes the address with one listener per thread.
    ///
    /// # Errors
    /// When the address is taken or not allowed.
    pub fn bind(options: &ListenOptions) -> io::Result<Server> {
        let listeners = listen(options)?;
        let address = listeners[0].local_addr()?;
        Ok(Server {
            listeners,
            address,
            blocking_threads_max: BLOCKING_THREADS_MAX,
            blocking_niceness: 0,
            acceptor: None,
            exempt: Exempt::default(),
        })
    }

    /// Bounds the threads that each of the server's threads may start for work that blocks; more work than that waits.
    /// Without a bound a new one starts whenever work comes just before an old one is idle: 133 were seen for 20 jobs.
    /// They run with this niceness, where the system lets them.
    #[must_use]
    pub fn with_blocking_threads(mut self, max: usize, niceness: i32) -> Server {
        (self.blocking_threads_max, self.blocking_niceness) = (max.max(1), niceness);
        self
    }

    /// Speaks TLS on every connection.
    #[must_use]
    pub fn with_tls(mut self, acceptor: Acceptor) -> Server {
        self.acceptor = Some(acceptor);
        self
    }

    /// Serves any number of connections from the addresses that `is_exempt` tells.
    #[must_use]
    pub fn with_exempt_clients(mut self, is_exempt: impl Fn(IpAddr) -> bool + Send + Sync + 'static) -> Server {
        self.exempt = Exempt::new(is_exempt);
        self
    }

    /// The address, with the assigned port if any port was requested.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Number of threads that will serve.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.listeners.len()
    }

    /// Serves until `shutdown` begins, then drains: accepts no more, finishes what is in flight, closes what is idle,
    /// at the latest after [`Limits::drain_timeout`]. Blocks all that time. `make_service` is called once on each
    /// thread with the thread's index.
    ///
    /// # Errors
    /// When a thread's runtime cannot be had from the system.
    ///
    /// # Panics
    /// When `counters` are for fewer threads, or when `make_service` panics.
    pub fn run<S: Service>(
        self,
        make_service: impl Fn(usize) -> S + Sync,
        limits: Limits,
        clock: Clock,
        shutdown: Shutdown,
        counters: Arc<Counters>,
    ) -> io::Result<()> {
        assert!(counters.cores() >= self.listeners.len(), "there are counters for each thread");
        let limits = limits.within_ceilings();
        let (blocking_threads_max, blocking_niceness) = (self.blocking_threads_max, self.blocking_niceness);
        let (acceptor, exempt, guests) = (self.acceptor.as_ref(), &self.exempt, &Arc::new(Guests::default()));
        let threads = self.listeners.len();
        let of_each = Limits {
            connections_max: limits.connections_max.div_ceil(threads).max(1),
            connections_waiting_max: limits.connections_waiting_max.div_ceil(threads),
            ..limits
        };
        std::thread::scope(|scope| {
            let mut running = Vec::with_capacity(threads);
            for (index, listener) in self.listeners.into_iter().enumerate() {
                let (make_service, limits, clock) = (&make_service, of_each.clone(), clock.clone());
                let (shutdown, counters) = (&shutdown, counters.clone());
                running.push(std::thread::Builder::new().name(format!("serve-{index}")).spawn_scoped(
                    scope,
                    move || {
                        let _ends_all = EndsAll(shutdown);
                        // Timers are for services; the engine itself has one tick per core.
                        let runtime = Builder::new_current_thread()
                            .enable_all()
                            .max_blocking_threads(blocking_threads_max)
                            .on_thread_start(move || {
                                // On Linux of the new thread alone.
                                if blocking_niceness != 0 {
                                    let _ = rustix::process::setpriority_process(None, blocking_niceness);
                                }
                            })
                            .build_local(LocalOptions::default())?;
                        runtime.block_on(async {
                            let core = Rc::new(Core::new(index, limits, clock.clone(), counters));
                            let guests = (Arc::clone(guests), exempt.clone());
                            let door = Door::new(core, Rc::new(make_service(index)), acceptor.cloned(), guests);
                            serve_core(listener, &door, &clock, shutdown).await
                        })
                    },
                )?);
            }
            let mut results = running.into_iter().map(|thread| thread.join());
            results.try_for_each(|joined| joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    }
}

/// Ends the other threads when this one ends, for any reason.
struct EndsAll<'s>(&'s Shutdown);

impl Drop for EndsAll<'_> {
    fn drop(&mut self) {
        self.0.begin();
    }
}

async fn serve_core<S: Service>(
    listener: TcpListener,
    door: &Door<S>,
    clock: &Clock,
    shutdown: &Shutdown,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let core = door.core();
    let ticking = {
        let (core, service, mut ticker) = (core.clone(), door.service().clone(), clock.ticker(TICK));
        tokio::task::spawn_local(async move {
            loop {
                ticker.tick().await;
                core.tick();
                service.tick(core.now());
            }
        })
    };
    let mut pause = clock.ticker(TICK);
    let mut waited = clock.ticker(TICK);
    let accepting = async {
        loop {
            let accepted = tokio::select! {
                biased;
                () = core.place_freed(), if door.has_waiting() => {
                    door.let_in();
                    continue;
                }
                _ = waited.tick(), if door.has_waiting() => {
                    door.turn_late_away();
                    continue;
                }
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((socket, peer)) => door.enter(socket, peer),
                Err(_) => {
                    // Out of descriptors or memory: trying again at once would only burn the core.
                    core.counters().accept_errors.add(1);
                    pause.tick().await;
                }
            }
        }
    };
    tokio::select! {
        biased;
        () = accepting => {}
        () = shutdown.begun() => {}
    }
    core.draining.set(true);
    // Whoever is already connected as far as the system is concerned still gets an answer.
    while let Some((socket, peer)) = accept_now(&listener).await {
        door.enter(socket, peer);
    }
    // Whoever waits to be let in was promised nothing yet, and places become free one by one.
    door.turn_all_away();
    drop(listener);
    core.wake_all();
    let deadline = core.now() + core.limits.drain_timeout;
    let mut ticker = clock.ticker(TICK);
    tokio::select! {
        biased;
        () = core.emptied() => {}
        () = async {
            while clock.now() < deadline {
                ticker.tick().await;
            }
        } => {}
    }
    ticking.abort();
    Ok(())
}

/// Accepts a connection that is waiting already.
async fn accept_now(listener: &tokio::net::TcpListener) -> Option<(tokio::net::TcpStream, SocketAddr)> {
    std::future::poll_fn(|cx| {
        std::task::Poll::Ready(match listener.poll_accept(cx) {
            std::task::Poll::Ready(Ok(accepted)) => Some(accepted),
            std::task::Poll::Ready(Err(_)) | std::task::Poll::Pending => None,
        })
    })
    .await
}

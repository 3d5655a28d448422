//! The engine's client with nothing above it: asks one URL over some connections. For comparison with wrk.
//!
//! `cargo run --release -p tollgate-net --example ask -- URL [CONNECTIONS [SECONDS [kept|full|resumed]]]`
//!
//! Defaults: 20 connections, 5 seconds, kept; `full` opens one for each request with a full handshake, `resumed`
//! resumes sessions. One thread. It prints requests, requests per second, its own CPU-us per request, and the mean time
//! of an exchange; a real recorder costs about 11 ns more per request.
#![allow(clippy::print_stdout, reason = "its figures are its result")]

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, LocalOptions};
use tollgate_net::http1::client::{Connector, Discard, RequestTemplate, Target};
use tollgate_net::tls::{Resumption, TlsChoice};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let target = Target::parse(&arguments.next().ok_or("a URL is needed")?)?;
    let connections: usize = arguments.next().unwrap_or_else(|| "20".to_owned()).parse()?;
    let seconds: u64 = arguments.next().unwrap_or_else(|| "5".to_owned()).parse()?;
    let (life, resumption) = match arguments.next().as_deref() {
        None | Some("kept") => (Life::Kept, Resumption::Allowed),
        Some("full") => (Life::OneRequest, Resumption::Disabled),
        Some("resumed") => (Life::OneRequest, Resumption::Allowed),
        Some(other) => return Err(format!("kept, full or resumed is expected, but `{other}` was given").into()),
    };
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?;
    let connector = Connector::new(TlsChoice::Insecure).resumption(resumption);
    runtime.block_on(run(connector, target, connections, life, Duration::from_secs(seconds)))
}

/// Lifetime of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Life {
    Kept,
    OneRequest,
}

async fn run(
    connector: Connector,
    target: Target,
    connections: usize,
    life: Life,
    time: Duration,
) -> Result<(), Box<dyn std::error::Error>> {
    let addresses = connector.resolve(&target).await?;
    let template = RequestTemplate::builder("GET", target.authority()).target_slot();
    let template = if life == Life::OneRequest { template.header("Connection", "close") } else { template };
    let template = template.build()?;
    let answers = template.answers();
    let mut request = Vec::new();
    template.render(&[target.path_and_query()], &mut request);
    let request: Rc<[u8]> = request.into();
    let mut opened = Vec::with_capacity(connections);
    for _ in 0..connections {
        opened.push(connector.open_at(&target, &addresses).await?);
    }
    let (requests, took_ns) = (Rc::new(Cell::new(0_u64)), Rc::new(Cell::new(0_u64)));
    let cpu_before_ns = cpu_ns()?;
    let start = Instant::now();
    let end = start + time;
    let users: Vec<_> = opened
        .into_iter()
        .map(|mut connection| {
            let (request, requests, took_ns) = (request.clone(), requests.clone(), took_ns.clone());
            let (connector, target, addresses) = (connector.clone(), target.clone(), addresses.clone());
            tokio::task::spawn_local(async move {
                loop {
                    let exchanged = connection.exchange(&request, answers, &mut Discard).await;
                    let exchanged = exchanged.map_err(|error| error.to_string())?;
                    requests.set(requests.get() + 1);
                    took_ns.set(took_ns.get() + (exchanged.last_byte - exchanged.sent).as_nanos() as u64);
                    if exchanged.last_byte >= end || (life == Life::Kept && !exchanged.reusable) {
                        return Ok::<(), String>(());
                    }
                    if life == Life::OneRequest {
                        connection = connector.open_at(&target, &addresses).await.map_err(|error| error.to_string())?;
                    }
                }
            })
        })
        .collect();
    for user in users {
        user.await??;
    }
    let (elapsed, cpu_ns) = (start.elapsed(), cpu_ns()? - cpu_before_ns);
    let count = requests.get() as f64;
    println!(
        "{} requests, {:.0} requests/s, {:.2} CPU-us per request, {:.1} µs mean exchange",
        requests.get(),
        count / elapsed.as_secs_f64(),
        cpu_ns as f64 / 1e3 / count,
        took_ns.get() as f64 / 1e3 / count
    );
    Ok(())
}

/// The CPU time of this thread, the only one that works.
fn cpu_ns() -> Result<u64, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split_whitespace().next().ok_or("schedstat is empty")?.parse()?)
}

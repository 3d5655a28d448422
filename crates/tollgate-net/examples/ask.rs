//! The engine's client with nothing above it: asks one URL over so many connections. For holding it against wrk.
//!
//! `cargo run --release -p tollgate-net --example ask -- URL [CONNECTIONS [SECONDS]]`
//!
//! Defaults: 20 connections, 5 seconds, one thread. It prints requests, requests per second, its own CPU-us per request,
//! and the mean time of an exchange; a real recorder costs about 11 ns more per request.
#![allow(clippy::print_stdout, reason = "its figures are its result")]

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, LocalOptions};
use tollgate_net::http1::client::{Connector, Discard, RequestTemplate, Target};
use tollgate_net::tls::TlsChoice;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let target = Target::parse(&arguments.next().ok_or("a URL is needed")?)?;
    let connections: usize = arguments.next().unwrap_or_else(|| "20".to_owned()).parse()?;
    let seconds: u64 = arguments.next().unwrap_or_else(|| "5".to_owned()).parse()?;
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?;
    runtime.block_on(run(target, connections, Duration::from_secs(seconds)))
}

async fn run(target: Target, connections: usize, time: Duration) -> Result<(), Box<dyn std::error::Error>> {
    let connector = Connector::new(TlsChoice::Insecure);
    let addresses = connector.resolve(&target).await?;
    let template = RequestTemplate::builder("GET", target.authority()).target_slot().build()?;
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
            tokio::task::spawn_local(async move {
                loop {
                    let exchanged = connection.exchange(&request, answers, &mut Discard).await?;
                    requests.set(requests.get() + 1);
                    took_ns.set(took_ns.get() + (exchanged.last_byte - exchanged.sent).as_nanos() as u64);
                    if exchanged.last_byte >= end || !exchanged.reusable {
                        return Ok::<(), tollgate_net::http1::client::ExchangeError>(());
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
        "{} requests, {:.0} requests/s, {:.2} CPU-us per request, {:.1} us mean exchange",
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

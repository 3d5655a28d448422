//! The engine's server with nothing behind it: answers every request with a fixed body. For holding it against nginx.
//!
//! `cargo run --release -p tollgate-net --example fixed_answer -- [ADDRESS [BYTES [THREADS]]]`
//!
//! Defaults: 127.0.0.1:8090, 1024 bytes, 1 thread. It runs until it is killed. Measure its CPU from outside: the sum
//! over
//! `/proc/PID/task/*/schedstat` before and after a run of wrk, divided by the requests that wrk counted.

use std::sync::Arc;

use tollgate_net::clock::Clock;
use tollgate_net::http1::server::{Counters, Exchange, ExchangeError, Server, Service, Shutdown};
use tollgate_net::limits::Limits;
use tollgate_net::listen::ListenOptions;

struct Fixed {
    body: Vec<u8>,
}

impl Service for Fixed {
    async fn serve(&self, exchange: &mut Exchange<'_>) -> Result<(), ExchangeError> {
        let response = exchange.respond();
        response.header("Content-Type", "text/plain");
        response.body.extend_from_slice(&self.body);
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8090".to_owned()).parse()?;
    let bytes: usize = arguments.next().unwrap_or_else(|| "1024".to_owned()).parse()?;
    let threads: usize = arguments.next().unwrap_or_else(|| "1".to_owned()).parse()?;
    let server = Server::bind(&ListenOptions { threads, ..ListenOptions::new(address) })?;
    let counters = Arc::new(Counters::new(server.threads()));
    let service = |_| Fixed { body: vec![b'x'; bytes] };
    server.run(service, Limits::default(), Clock::system(), Shutdown::new(), counters)?;
    Ok(())
}

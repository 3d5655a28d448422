//! Cost of a cached answer: `cargo run --release --example cached_hits -- 100000 1024`, so many times a page of so many
//! bytes over one connection. Under callgrind the instructions of `cache::front::turn`, divided by the hits, are those
//! of one look at the cache.
//!
//! The client shares the machine with the server, so the time is that of both.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use tollgate_gateway::{Config, Gateway};
use tollgate_net::http1::server::Shutdown;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<usize>());
    let requests = arguments.next().transpose()?.unwrap_or(100_000);
    let page_bytes = arguments.next().transpose()?.unwrap_or(1024);
    let config = "[listen]\naddresses = [\"127.0.0.1:0\"]\nthreads = 1\n[[service]]\nkind = \"fibonacci\"\n";
    let gateway = Gateway::start(Config::parse(config, "example")?)?;
    let address = gateway.addresses().public[0];
    let shutdown = Shutdown::new();
    let server = std::thread::spawn({
        let shutdown = shutdown.clone();
        move || gateway.run(&shutdown)
    });
    let mut socket = TcpStream::connect(address)?;
    socket.set_nodelay(true)?;
    let request = format!("GET /fibonacci?n=20&bytes={page_bytes} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let mut answer = vec![0; page_bytes + 1024];
    let began = Instant::now();
    for _ in 0..requests {
        socket.write_all(request.as_bytes())?;
        let mut have = 0;
        // The page ends its last line, and only there.
        while have < page_bytes || answer[have - 1] != b'\n' {
            have += socket.read(&mut answer[have..])?;
        }
    }
    let each = began.elapsed() / u32::try_from(requests.max(1))?;
    shutdown.begin();
    drop(socket);
    server.join().map_err(|_| "the server panicked")??;
    writeln!(std::io::stdout(), "{requests} answers of {page_bytes} bytes, {each:?} each")?;
    Ok(())
}

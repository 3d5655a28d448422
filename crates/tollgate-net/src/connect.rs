//! Connecting: names to addresses, and a TCP connection without delay, each step timed.
//!
//! It does not retry and keeps no pool; TLS over the connection stands in [`tls`](crate::tls).

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use tokio::net::TcpStream;

/// Finds the addresses of a host; an address in text form is only parsed.
///
/// # Errors
/// When the name is unknown or the resolver fails.
pub async fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let addresses: Vec<_> = tokio::net::lookup_host((host, port)).await?.collect();
    if addresses.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("no address for {host}")));
    }
    Ok(addresses)
}

/// Connects to the first address that answers and says how long that one took.
///
/// # Errors
/// The last address's error; [`io::ErrorKind::TimedOut`] when `timeout` passed first.
pub async fn connect(addresses: &[SocketAddr], timeout: Duration) -> io::Result<(TcpStream, SocketAddr, Duration)> {
    let attempts = async {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "no address to connect to");
        for address in addresses {
            let start = Instant::now();
            match TcpStream::connect(address).await {
                Ok(socket) => {
                    let took = start.elapsed();
                    // Requests are written whole: waiting to fill a segment only adds the delayed-ack time.
                    socket.set_nodelay(true)?;
                    return Ok((socket, *address, took));
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    };
    match tokio::time::timeout(timeout, attempts).await {
        Ok(result) => result,
        Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, format!("no connection within {timeout:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_on<F: Future>(future: F) -> F::Output {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn an_address_in_text_form_is_only_parsed() {
        assert_eq!(block_on(resolve("127.0.0.1", 80)).unwrap(), ["127.0.0.1:80".parse().unwrap()]);
        assert_eq!(block_on(resolve("::1", 80)).unwrap(), ["[::1]:80".parse().unwrap()]);
    }

    #[test]
    fn the_first_address_that_answers_is_taken() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let open = listener.local_addr().unwrap();
        let closed = {
            let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            gone.local_addr().unwrap()
        };
        let (_, address, _) = block_on(connect(&[closed, open], Duration::from_secs(5))).unwrap();
        assert_eq!(address, open);
        let refused = block_on(connect(&[closed], Duration::from_secs(5))).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
    }
}

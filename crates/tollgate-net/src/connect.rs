//! Connecting: names to addresses, and a TCP connection without delay, each step timed.
//!
//! If a name has several addresses, a silent one hides none of the others: they are asked beside it, one after the
//! other (RFC 8305, section 5). It does not retry and keeps no pool; TLS over the connection is in [`tls`](crate::tls).

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::net::{TcpSocket, TcpStream, UnixStream};

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

/// Options of the sockets that connect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// The address that they connect from; absent: as the machine chooses.
    pub from: Option<IpAddr>,
    /// Bytes of the kernel's buffers, each way; absent: as the kernel chooses, which lets them grow.
    pub buffer_bytes: Option<u32>,
}

impl SocketOptions {
    async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
        if *self == SocketOptions::default() {
            return TcpStream::connect(address).await;
        }
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        if let Some(bytes) = self.buffer_bytes {
            socket.set_send_buffer_size(bytes)?;
            socket.set_recv_buffer_size(bytes)?;
        }
        if let Some(from) = self.from {
            socket.bind(SocketAddr::new(from, 0))?;
        }
        socket.connect(address).await
    }
}

/// Time that an address has before the next one is asked beside it; less if the time is too short for all of them.
const HEAD_START: Duration = Duration::from_millis(250);

/// An address that is being asked.
type Attempt = Pin<Box<dyn Future<Output = io::Result<(TcpStream, SocketAddr, Duration)>> + Send>>;

/// Connects to the first address that answers, and returns its time. They are asked in their order: the next one when
/// one fails, or is silent for a quarter of a second, or for half its share of `timeout`.
///
/// # Errors
/// The last address's error; [`io::ErrorKind::TimedOut`] when `timeout` passed first.
pub async fn connect(addresses: &[SocketAddr], timeout: Duration) -> io::Result<(TcpStream, SocketAddr, Duration)> {
    connect_with(addresses, SocketOptions::default(), timeout).await
}

/// The same by sockets that are like this.
///
/// # Errors
/// As [`connect`].
pub async fn connect_with(
    addresses: &[SocketAddr],
    options: SocketOptions,
    timeout: Duration,
) -> io::Result<(TcpStream, SocketAddr, Duration)> {
    let attempts = async {
        match addresses {
            [only] => attempt(*only, options).await,
            several => race(several, options, timeout).await,
        }
    };
    match tokio::time::timeout(timeout, attempts).await {
        Ok(result) => result,
        Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, format!("no connection within {timeout:?}"))),
    }
}

/// Connects to a Unix socket and times it. Reading and writing are the same system calls for both families, so the type
/// of TCP's sockets carries it; the kernel then does not report what only TCP has (its counts, addresses).
///
/// # Errors
/// As [`connect`].
pub async fn connect_unix(path: &Path, timeout: Duration) -> io::Result<(TcpStream, Duration)> {
    let start = Instant::now();
    let socket = match tokio::time::timeout(timeout, UnixStream::connect(path)).await {
        Ok(connected) => connected?,
        Err(_) => return Err(io::Error::new(io::ErrorKind::TimedOut, format!("no connection within {timeout:?}"))),
    };
    let took = start.elapsed();
    let socket = std::net::TcpStream::from(OwnedFd::from(socket.into_std()?));
    Ok((TcpStream::from_std(socket)?, took))
}

async fn race(
    addresses: &[SocketAddr],
    options: SocketOptions,
    timeout: Duration,
) -> io::Result<(TcpStream, SocketAddr, Duration)> {
    let count = u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
    // Half of its share: the last one is to have time too.
    let head_start = HEAD_START.min(timeout / 2 / count);
    let mut last = io::Error::new(io::ErrorKind::NotFound, "no address to connect to");
    let mut left = addresses.iter();
    let mut asked: Vec<Attempt> = Vec::new();
    loop {
        if let Some(address) = left.next() {
            asked.push(Box::pin(attempt(*address, options)));
        } else if asked.is_empty() {
            return Err(last);
        }
        let mut next = std::pin::pin!(tokio::time::sleep(head_start));
        let is_last = left.len() == 0;
        let ended = std::future::poll_fn(|cx| {
            for index in 0..asked.len() {
                if let Poll::Ready(ended) = asked[index].as_mut().poll(cx) {
                    drop(asked.swap_remove(index));
                    return Poll::Ready(Some(ended));
                }
            }
            match is_last {
                true => Poll::Pending,
                false => next.as_mut().poll(cx).map(|()| None),
            }
        });
        match ended.await {
            Some(Ok(connected)) => return Ok(connected),
            Some(Err(error)) => last = error,
            None => {}
        }
    }
}

async fn attempt(address: SocketAddr, options: SocketOptions) -> io::Result<(TcpStream, SocketAddr, Duration)> {
    let start = Instant::now();
    let socket = options.connect(address).await?;
    let took = start.elapsed();
    // Requests are written whole: waiting to fill a segment only adds the delayed-ack time.
    socket.set_nodelay(true)?;
    Ok((socket, address, took))
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
        let reserved = crate::listen::Reserved::on_loopback().unwrap();
        let closed = reserved.address();
        let (_, address, _) = block_on(connect(&[closed, open], Duration::from_secs(5))).unwrap();
        assert_eq!(address, open);
        let refused = block_on(connect(&[closed], Duration::from_secs(5))).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        assert_eq!(block_on(connect(&[], Duration::from_secs(5))).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    /// An address whose queue is full: what comes now is not even refused.
    fn silent() -> (std::net::TcpListener, Vec<std::net::TcpStream>) {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
        socket.listen(0).unwrap();
        let listener = std::net::TcpListener::from(socket);
        let address = listener.local_addr().unwrap();
        let mut waiting = Vec::new();
        while let Ok(stream) = std::net::TcpStream::connect_timeout(&address, Duration::from_millis(100)) {
            waiting.push(stream);
        }
        (listener, waiting)
    }

    #[test]
    fn an_address_that_says_nothing_hides_no_other() {
        let (silent, _waiting) = silent();
        let silent = silent.local_addr().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let open = listener.local_addr().unwrap();
        for addresses in [&[silent, open][..], &[silent, silent, open]] {
            let (_, address, _) = block_on(connect(addresses, Duration::from_secs(30))).unwrap();
            assert_eq!(address, open);
        }
        let late = block_on(connect(&[silent, silent], Duration::from_millis(20))).unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_socket_comes_from_where_it_was_told_to() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let from = "127.0.0.9".parse().unwrap();
        let options = SocketOptions { from: Some(from), buffer_bytes: Some(8192) };
        let (socket, ..) = block_on(connect_with(&[address], options, Duration::from_secs(5))).unwrap();
        assert_eq!(socket.local_addr().unwrap().ip(), from);
        assert_eq!(listener.accept().unwrap().1.ip(), from);
    }
}

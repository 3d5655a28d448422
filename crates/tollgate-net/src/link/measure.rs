//! Measures the time of a small message to an echo and back, and the bytes a second that come back from it.
//!
//! It deliberately judges nothing, and knows no link: any address behind which there is an echo will do.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Bytes of a message.
const MESSAGE_BYTES: usize = 64;
/// The connection has to be open within this time.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// Longest silence of an echo.
pub(super) const SILENCE_MAX: Duration = Duration::from_secs(65);
/// Samples that must lie beyond a percentile for it to be reported.
const BEYOND_MIN: usize = 30;

/// Times of small messages to an echo and back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundTrips {
    /// Ascending.
    sorted_ns: Vec<u64>,
}

impl RoundTrips {
    pub(super) fn of(mut times_ns: Vec<u64>) -> RoundTrips {
        times_ns.sort_unstable();
        RoundTrips { sorted_ns: times_ns }
    }

    /// Number of round trips: at least one.
    #[must_use]
    pub fn count(&self) -> usize {
        self.sorted_ns.len()
    }

    /// The shortest.
    #[must_use]
    pub fn least(&self) -> Duration {
        Duration::from_nanos(self.sorted_ns[0])
    }

    /// The median time.
    #[must_use]
    pub fn median(&self) -> Duration {
        Duration::from_nanos(self.sorted_ns[(self.count() - 1) / 2])
    }

    /// The p99 time; `None` if fewer than 30 are longer.
    #[must_use]
    pub fn p99(&self) -> Option<Duration> {
        let rank = (self.count() * 99).div_ceil(100);
        (self.count() - rank >= BEYOND_MIN).then(|| Duration::from_nanos(self.sorted_ns[rank - 1]))
    }

    /// The longest.
    #[must_use]
    pub fn most(&self) -> Duration {
        Duration::from_nanos(self.sorted_ns[self.count() - 1])
    }
}

/// Sends `count` messages of 64 bytes, one every `spacing` whether or not the last one is back, and times each.
///
/// # Errors
/// When the connection breaks, the echo is silent for 65 s, or what comes back is not what was sent.
pub fn round_trips(address: SocketAddr, count: usize, spacing: Duration) -> io::Result<RoundTrips> {
    let mut socket = connect(address)?;
    let (mut sent_at, mut times_ns) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let mut answer = [0; MESSAGE_BYTES];
    let mut next = Instant::now();
    while times_ns.len() < count {
        let now = Instant::now();
        if sent_at.len() < count && now >= next {
            next = (next + spacing).max(now);
            sent_at.push(Instant::now());
            socket.write_all(&message(sent_at.len() - 1))?;
            continue;
        }
        let left = if sent_at.len() < count { next - now } else { SILENCE_MAX };
        if is_readable(&socket, left)? {
            socket.read_exact(&mut answer)?;
            let index = times_ns.len();
            let sent_at = sent_at.get(index).copied();
            match sent_at.filter(|_| answer == message(index)) {
                Some(sent_at) => times_ns.push(sent_at.elapsed().as_nanos() as u64),
                None => return Err(io::Error::new(ErrorKind::InvalidData, "it sends back what was not sent")),
            }
        } else if left == SILENCE_MAX {
            return Err(io::Error::new(ErrorKind::TimedOut, format!("nothing came back within {SILENCE_MAX:?}")));
        }
    }
    if times_ns.is_empty() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "at least one message has to be sent"));
    }
    Ok(RoundTrips::of(times_ns))
}

/// Sends `bytes` in one stream and says how many bytes a second came back, from the first to the last: how long the
/// first one was under way is not in it.
///
/// # Errors
/// As [`round_trips`].
pub fn throughput(address: SocketAddr, bytes: u64) -> io::Result<f64> {
    let mut socket = connect(address)?;
    let mut sender = socket.try_clone()?;
    let sending = std::thread::Builder::new().name("sender".to_owned()).spawn(move || -> io::Result<()> {
        let block = vec![0x2a; 256 * 1024];
        let mut left = bytes;
        while left > 0 {
            let part = left.min(block.len() as u64) as usize;
            sender.write_all(&block[..part])?;
            left -= part as u64;
        }
        sender.shutdown(Shutdown::Write)
    })?;
    let mut buffer = vec![0; 256 * 1024];
    let first = socket.read(&mut buffer)? as u64;
    let (mut received, began) = (first, Instant::now());
    let mut last = began;
    loop {
        match socket.read(&mut buffer)? {
            0 => break,
            more => received += more as u64,
        }
        last = Instant::now();
    }
    sending.join().unwrap_or_else(|_| Err(io::Error::other("the sender panicked")))?;
    if received != bytes {
        let message = format!("{bytes} bytes were sent and {received} came back");
        return Err(io::Error::new(ErrorKind::InvalidData, message));
    }
    let seconds = (last - began).as_secs_f64();
    Ok(if seconds > 0.0 { (received - first) as f64 / seconds } else { f64::INFINITY })
}

fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpStream::connect_timeout(&address, CONNECT_WITHIN)?;
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(SILENCE_MAX))?;
    socket.set_write_timeout(Some(SILENCE_MAX))?;
    Ok(socket)
}

fn message(index: usize) -> [u8; MESSAGE_BYTES] {
    let mut message = [0x2a; MESSAGE_BYTES];
    message[..8].copy_from_slice(&(index as u64).to_be_bytes());
    message
}

pub(super) fn is_readable(socket: impl AsFd, within: Duration) -> io::Result<bool> {
    let timeout = Timespec { tv_sec: within.as_secs() as i64, tv_nsec: i64::from(within.subsec_nanos()) };
    let mut watched = [PollFd::new(&socket, PollFlags::IN)];
    match poll(&mut watched, Some(&timeout)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_sorted_times() {
        let times = |count: u64| RoundTrips::of((1..=count).rev().collect());
        let check = |count: u64, median: u64, p99: Option<u64>| {
            let times = times(count);
            assert_eq!(times.median(), Duration::from_nanos(median), "{count}");
            assert_eq!(times.p99(), p99.map(Duration::from_nanos), "{count}");
        };
        check(1, 1, None);
        check(100, 50, None);
        check(2999, 1500, None);
        check(3000, 1500, Some(2970));
        assert_eq!((times(7).least(), times(7).most()), (Duration::from_nanos(1), Duration::from_nanos(7)));
    }
}

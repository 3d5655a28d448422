//! The kernel's counters of one TCP connection, from TCP_INFO.
//!
//! Only the few counts that are reported are taken out; nothing is set.

use std::os::fd::AsRawFd;
use std::time::Duration;

use tokio::net::TcpStream;

/// Counts of a connection since it was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpCounts {
    /// Segments sent, those without data included.
    pub segments_sent: u32,
    /// Segments received, those without data included.
    pub segments_received: u32,
    /// Segments sent that carried data.
    pub data_segments_sent: u32,
    /// Segments received that carried data.
    pub data_segments_received: u32,
    /// Segments sent again.
    pub retransmitted: u32,
    /// Segments with data that came before one that was sent earlier; 0 if the kernel does not report them.
    pub out_of_order: u32,
    /// The smoothed round-trip time.
    pub round_trip_time: Duration,
}

/// Bytes of the kernel's answer up to the last count that is read.
const INFO_BYTES: usize = 228;
/// Bytes up to the counts of data segments: the least that kernels answer with; those before 5.4 do not count segments
/// out of order.
const INFO_BYTES_LEAST: usize = 160;

// Offsets in the kernel's `struct tcp_info` (linux/tcp.h), of which fields are only ever added at the end.
const ROUND_TRIP_TIME_US: usize = 68;
const RETRANSMITTED: usize = 100;
const SEGMENTS_SENT: usize = 136;
const SEGMENTS_RECEIVED: usize = 140;
const DATA_SEGMENTS_RECEIVED: usize = 152;
const DATA_SEGMENTS_SENT: usize = 156;
const OUT_OF_ORDER: usize = 224;

impl TcpCounts {
    /// The counts now; absent if the kernel does not report them.
    pub fn of(socket: &TcpStream) -> Option<TcpCounts> {
        let mut info = [0_u8; INFO_BYTES];
        let mut length = INFO_BYTES as libc::socklen_t;
        // There is no safe wrapper of TCP_INFO. The kernel writes at most `length` bytes into a buffer of that size.
        #[allow(unsafe_code, reason = "TCP_INFO has no safe wrapper")]
        let result = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                info.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        (result == 0 && length as usize >= INFO_BYTES_LEAST).then(|| TcpCounts::read(&info))
    }

    fn read(info: &[u8; INFO_BYTES]) -> TcpCounts {
        let at = |offset: usize| {
            let bytes = [info[offset], info[offset + 1], info[offset + 2], info[offset + 3]];
            u32::from_ne_bytes(bytes)
        };
        TcpCounts {
            segments_sent: at(SEGMENTS_SENT),
            segments_received: at(SEGMENTS_RECEIVED),
            data_segments_sent: at(DATA_SEGMENTS_SENT),
            data_segments_received: at(DATA_SEGMENTS_RECEIVED),
            retransmitted: at(RETRANSMITTED),
            out_of_order: at(OUT_OF_ORDER),
            round_trip_time: Duration::from_micros(u64::from(at(ROUND_TRIP_TIME_US))),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[test]
    fn a_request_and_its_answer_are_a_segment_with_data_each() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let mut near = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (mut far, _) = listener.accept().await.unwrap();
            let mut buffer = [0; 16];
            near.write_all(b"request").await.unwrap();
            far.read_exact(&mut buffer[..7]).await.unwrap();
            far.write_all(b"answer").await.unwrap();
            near.read_exact(&mut buffer[..6]).await.unwrap();
            let counts = TcpCounts::of(&near).unwrap();
            assert_eq!((counts.data_segments_sent, counts.data_segments_received), (1, 1), "{counts:?}");
            // SYN, its acknowledgement and the request; SYN-ACK and the answer; acknowledgements may come apart.
            assert!(counts.segments_sent >= 3 && counts.segments_received >= 2, "{counts:?}");
            assert!(counts.round_trip_time > Duration::ZERO, "{counts:?}");
        });
    }
}

//! The way of a connection to its target: straight, by a Unix socket, or through a proxy's tunnel.
//!
//! A request to a proxy in the clear (an http URL in the request line) is no tunnel: that is an ordinary connection.

use std::io;
use std::path::PathBuf;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::target::Target;

/// The largest head of a proxy's answer to CONNECT.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// The way of a connection to its target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Route {
    /// To the given addresses.
    #[default]
    Direct,
    /// To a Unix socket; the given addresses are ignored.
    Unix(PathBuf),
    /// By CONNECT through the proxy at the addresses that are given (RFC 9110, section 9.3.6).
    Tunnel {
        /// The value of `Proxy-Authorization`.
        authorization: Option<String>,
    },
}

/// Asks the proxy behind `socket` for a tunnel to the target.
///
/// # Errors
/// The proxy's other answer, or its absence.
pub(super) async fn tunnel(socket: &mut TcpStream, target: &Target, authorization: Option<&str>) -> io::Result<()> {
    let host = if target.host().contains(':') { format!("[{}]", target.host()) } else { target.host().to_owned() };
    let place = format!("{host}:{}", target.port());
    let authorization = authorization.map(|value| format!("Proxy-Authorization: {value}\r\n")).unwrap_or_default();
    socket.write_all(format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{authorization}\r\n").as_bytes()).await?;
    let mut head = Vec::with_capacity(512);
    while !head.ends_with(b"\r\n\r\n") {
        // Byte by byte: what stands behind the head is the target's. It is one head for each connection.
        match socket.read_u8().await {
            Ok(byte) if head.len() < HEAD_BYTES_MAX => head.push(byte),
            Ok(_) => return Err(io::Error::other("the proxy's answer to CONNECT has no end")),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(io::Error::other("the proxy closed the connection before it answered CONNECT"));
            }
            Err(error) => return Err(error),
        }
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let status = line.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)).and_then(|status| status.parse().ok());
    match status {
        Some(200..=299_u16) => Ok(()),
        Some(_) => {
            let answer = line.split_once(' ').map_or("", |(_, answer)| answer);
            Err(io::Error::other(format!("the proxy answered CONNECT {place} with {answer}")))
        }
        None => Err(io::Error::other("the proxy's answer to CONNECT is no HTTP")),
    }
}

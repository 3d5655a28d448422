//! The smallest HTTP client with a kept connection: it reads only status and body of a response.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Longest wait for an answer; only a failure takes this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client of one server.
pub(crate) struct Client {
    authority: String,
    connection: Option<BufReader<TcpStream>>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

impl Client {
    /// A client of the server at `url`.
    pub(crate) fn new(url: &str) -> Client {
        Client { authority: url.trim_start_matches("http://").to_owned(), connection: None }
    }

    pub(crate) fn get(&mut self, path: &str) -> io::Result<Answer> {
        self.ask("GET", path, "", b"")
    }

    pub(crate) fn post_json(&mut self, path: &str, body: &str) -> io::Result<Answer> {
        self.ask("POST", path, "Content-Type: application/json\r\n", body.as_bytes())
    }

    /// Sends a request; `fields` are further header lines, each with its end.
    pub(crate) fn ask(&mut self, method: &str, path: &str, fields: &str, body: &[u8]) -> io::Result<Answer> {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\n{fields}Content-Length: {}\r\n\r\n",
            self.authority,
            body.len()
        );
        self.send(&[head.as_bytes(), body])
    }

    /// Sends these bytes as they are and reads the answer.
    pub(crate) fn send(&mut self, parts: &[&[u8]]) -> io::Result<Answer> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let stream = TcpStream::connect(&self.authority)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                BufReader::new(stream)
            }
        };
        for part in parts {
            // A server that refuses a body closes while it is sent: its answer may stand there all the same.
            if connection.get_mut().write_all(part).is_err() {
                break;
            }
        }
        let (answer, is_kept) = read(&mut connection)?;
        if is_kept {
            self.connection = Some(connection);
        }
        Ok(answer)
    }
}

fn read(connection: &mut BufReader<TcpStream>) -> io::Result<(Answer, bool)> {
    let mut line = String::new();
    connection.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, format!("no answer: {line:?}")))?;
    let (mut length, mut is_chunked, mut is_kept) = (0, false, true);
    loop {
        line.clear();
        connection.read_line(&mut line)?;
        let lower = line.trim_end().to_ascii_lowercase();
        match lower.split_once(": ") {
            None => break,
            Some(("content-length", value)) => length = value.parse().unwrap(),
            Some(("transfer-encoding", value)) => is_chunked = value == "chunked",
            Some(("connection", value)) => is_kept = value != "close",
            Some(_) => {}
        }
    }
    let mut body = Vec::new();
    if is_chunked {
        loop {
            line.clear();
            connection.read_line(&mut line)?;
            let size = u64::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
            connection.by_ref().take(size).read_to_end(&mut body)?;
            connection.read_line(&mut line)?;
            if size == 0 {
                break;
            }
        }
    } else {
        body.resize(length, 0);
        connection.read_exact(&mut body)?;
    }
    Ok((Answer { status, body }, is_kept))
}

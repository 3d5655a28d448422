//! A builder that runs the binary, a guard that serves with it, and a minimal HTTP client.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Longest wait for anything; only a failure takes this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command line under construction.
pub(crate) struct Tollgate {
    command: Command,
    stdin: Vec<u8>,
}

/// The outcome of a command.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// `tollgate` with these arguments.
pub(crate) fn tollgate<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Tollgate {
    tollgate_by(Command::new(env!("CARGO_BIN_EXE_tollgate")), arguments)
}

/// Runs a command that ends by starting `tollgate` with these arguments.
pub(crate) fn tollgate_by<A: AsRef<OsStr>>(mut command: Command, arguments: impl IntoIterator<Item = A>) -> Tollgate {
    command.args(arguments).env_remove("RUST_BACKTRACE").stdin(Stdio::null());
    Tollgate { command, stdin: Vec::new() }
}

impl Tollgate {
    /// Sets its working folder.
    pub(crate) fn within(mut self, folder: &Path) -> Tollgate {
        self.command.current_dir(folder);
        self
    }

    /// Sets its stdin; the text must fit a pipe.
    pub(crate) fn fed(mut self, stdin: &str) -> Tollgate {
        self.command.stdin(Stdio::piped());
        self.stdin = stdin.into();
        self
    }

    /// Runs it to its end.
    pub(crate) fn finish(self) -> Finished {
        self.start().finish()
    }

    /// Starts it.
    pub(crate) fn start(mut self) -> Running {
        let mut child = self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(&self.stdin).unwrap();
        }
        Running { child }
    }
}

impl Finished {
    /// Checks the exit code and the expected content of both streams.
    pub(crate) fn check(&self, code: i32, out: &str, err: &str) -> &Finished {
        let as_expected = self.code == code && self.out.contains(out) && self.err.contains(err);
        assert!(as_expected, "expected {code}, {out:?}, {err:?}: {self:#?}");
        self
    }
}

/// A child process that is killed when this is dropped.
pub(crate) struct Running {
    child: Child,
}

impl Running {
    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Whether it has ended; does not wait for it.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Its process id.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end.
    pub(crate) fn finish(mut self) -> Finished {
        let stderr = self.child.stderr.take().unwrap();
        // Both streams at once: a full pipe would hold the child up.
        let err = std::thread::spawn(move || std::io::read_to_string(stderr).unwrap());
        let out = self.child.stdout.take().map(|stdout| std::io::read_to_string(stdout).unwrap()).unwrap_or_default();
        let status = self.child.wait().unwrap();
        let err = err.join().unwrap();
        let code = status.code().unwrap_or_else(|| panic!("it was killed: {status}, {err}"));
        Finished { code, out, err }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Gone already if it was waited for: killing a reaped child does nothing.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `tollgate serve`, ready.
pub(crate) struct Serving {
    pub(crate) running: Running,
    pub(crate) url: String,
    pub(crate) admin: String,
}

/// Serves the built-in services on free ports.
pub(crate) fn serving(arguments: &[&str]) -> Serving {
    serving_by(Command::new(env!("CARGO_BIN_EXE_tollgate")), arguments)
}

/// Serves by a command that ends by starting `tollgate`.
pub(crate) fn serving_by(mut command: Command, arguments: &[&str]) -> Serving {
    command.args(["serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"]).args(arguments);
    let mut running = Tollgate { command, stdin: Vec::new() }.start();
    let mut stdout = BufReader::new(running.child.stdout.take().unwrap());
    let (mut url, mut admin) = (String::new(), String::new());
    while url.is_empty() || admin.is_empty() {
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        match line.trim_end().split_once(' ') {
            Some(("listening", address)) => url = address.to_owned(),
            Some(("admin", address)) => admin = address.to_owned(),
            _ => panic!("serve said {line:?}: {:?}", running.finish()),
        }
    }
    Serving { running, url, admin }
}

/// Status and body of a GET of `url`, on a connection of its own.
pub(crate) fn get(url: &str) -> (u16, String) {
    let rest = url.strip_prefix("http://").expect("tests ask over plain HTTP");
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = TcpStream::connect(authority).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // HTTP/1.0, so that the end of the connection is the end of the body.
    write!(stream, "GET /{path} HTTP/1.0\r\nHost: {authority}\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// Status of a request with a body of JSON, on a connection of its own.
pub(crate) fn sent(method: &str, url: &str, body: &str) -> u16 {
    let (authority, path) = url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).unwrap();
    let mut stream = TcpStream::connect(authority).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let (kind, length) = ("Content-Type: application/json", body.len());
    write!(
        stream,
        "{method} /{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n{kind}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).split(' ').nth(1).unwrap().parse().unwrap()
}

/// Calls `found` repeatedly until it returns something.
pub(crate) fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "no {what} within {PATIENCE:?}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Every file below a folder.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files_below(&path)) } else { found.push(path) }
    }
    found
}

//! A gateway on a free port and a minimal client: the tests share no code with the tested server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::{Arc, LazyLock, Once};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use rustix::net::{AddressFamily, SocketType};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tollgate_net::clock::{Clock, ManualClock};
use tollgate_net::http1::server::Shutdown;

use crate::base::client::Client;
use crate::config::Config;
use crate::front::{Addresses, Gateway, Reloader, Shared};
use crate::work::board::Task;

/// The seed's service below its first name.
pub(super) const V2: &str = "/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/";
/// The V4 service.
pub(super) const V4: &str = "/odata/v4/flights/";

/// Longer than any test waits: a guard against hanging, not a measure.
const GUARD: Duration = Duration::from_secs(60);

/// A task of any client.
pub(super) fn somebody() -> Task<'static> {
    static SOMEBODY: LazyLock<Client> = LazyLock::new(|| Client::at(Ipv4Addr::LOCALHOST.into()));
    Task { method: "GET", path: "/somewhere", client: &SOMEBODY, asked: Instant::now() }
}

/// Raises the limit of descriptors: some systems allow only a thousand by default, which parallel tests use up.
fn allow_descriptors() {
    static ASKED: Once = Once::new();
    ASKED.call_once(|| {
        let limit = getrlimit(Resource::Nofile);
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    });
}

/// A gateway that runs until it is dropped.
pub(super) struct Running {
    pub(super) addresses: Addresses,
    pub(super) shared: Arc<Shared>,
    pub(super) shutdown: Shutdown,
    pub(super) remarks: Vec<String>,
    reloader: Reloader,
    config: Config,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

/// The response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// An open connection.
pub(super) struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

impl Running {
    /// Starts a gateway with this configuration on top of the test's defaults: loopback, any port, one thread.
    pub(super) fn start(config: &str) -> Running {
        Running::start_with(Running::config(config).unwrap(), Clock::system())
    }

    /// The same with a clock that is moved by hand, from this time on. Idle time counts from the last tick before a
    /// connection: if the clock moved between the two, the next tick would close it, so such a gateway has a long idle
    /// limit.
    pub(super) fn start_by_hand(config: &str, from: SystemTime) -> (Running, ManualClock) {
        const PATIENT_MS: u32 = 3_600_000;
        let mut config = Running::config(config).unwrap();
        let limits = &mut config.limits;
        for ms in [&mut limits.header_ms_max, &mut limits.idle_ms_max, &mut limits.stall_ms_max] {
            *ms = PATIENT_MS;
        }
        let (clock, hand) = Clock::manual(from);
        (Running::start_with(config, clock), hand)
    }

    /// The same with a configuration from this file: paths in it are relative to the file.
    pub(super) fn start_file(config: &str, file_name: &str) -> Running {
        Running::start_with(Running::config_of(config, file_name).unwrap(), Clock::system())
    }

    fn start_with(config: Config, clock: Clock) -> Running {
        allow_descriptors();
        let gateway = Gateway::start_by(config.clone(), clock).unwrap();
        let reloader = gateway.reloader();
        let addresses = gateway.addresses().clone();
        let shared = gateway.shared();
        let remarks = gateway.remarks().to_vec();
        let shutdown = Shutdown::new();
        let thread = std::thread::spawn({
            let shutdown = shutdown.clone();
            move || gateway.run(&shutdown)
        });
        Running { addresses, shared, shutdown, remarks, reloader, config, thread: Some(thread) }
    }

    fn config(text: &str) -> Result<Config, String> {
        Running::config_of(text, "test.toml")
    }

    fn config_of(text: &str, file_name: &str) -> Result<Config, String> {
        let mut config = Config::parse(text, file_name).map_err(|error| error.to_string())?;
        config.listen.addresses = vec!["127.0.0.1:0".parse().unwrap()];
        config.listen.threads = config.listen.threads.or(Some(1));
        Ok(config)
    }

    /// Gives it another configuration while it runs.
    pub(super) fn reload(&self, config: &str) -> Result<(), String> {
        self.reloader.reload(Running::config(config))
    }

    /// Gives it its first configuration again: files that it names are read again.
    ///
    /// # Errors
    /// An error in them.
    pub(super) fn reload_the_same(&self) -> Result<(), String> {
        self.reloader.reload(Ok(self.config.clone()))
    }

    /// A gateway without configuration, shared by the tests that only read.
    pub(super) fn shared() -> &'static Running {
        static SHARED: std::sync::OnceLock<Running> = std::sync::OnceLock::new();
        SHARED.get_or_init(|| Running::start(""))
    }

    pub(super) fn connect(&self) -> Connection {
        Connection::open(self.addresses.public[0])
    }

    /// Connects from another address of this machine.
    pub(super) fn connect_from(&self, address: &str) -> Connection {
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        rustix::net::bind(&socket, &SocketAddr::new(address.parse().unwrap(), 0)).unwrap();
        let gateway = self.addresses.public[0];
        rustix::net::connect(&socket, &gateway).unwrap();
        Connection::over(socket.into(), gateway)
    }

    pub(super) fn admin(&self) -> Connection {
        Connection::open(self.addresses.admin)
    }

    pub(super) fn get(&self, target: &str) -> Answer {
        self.connect().ask("GET", target, &[])
    }

    pub(super) fn get_with(&self, target: &str, headers: &[(&str, &str)]) -> Answer {
        self.connect().ask("GET", target, headers)
    }

    pub(super) fn ask(&self, method: &str, target: &str) -> Answer {
        self.connect().ask(method, target, &[])
    }

    /// The value of a metric's sample; without labels the sum over all samples of that name.
    pub(super) fn metric(&self, sample: &str) -> u64 {
        let text = self.admin().ask("GET", "/metrics", &[]).text();
        let values = text.lines().filter_map(|line| {
            let rest = line.strip_prefix(sample).filter(|rest| rest.starts_with([' ', '{']))?;
            rest.rsplit(' ').next()?.parse().ok()
        });
        values.reduce(|sum: u64, value: u64| sum + value).unwrap_or_else(|| panic!("{sample} in {text}"))
    }

    /// Reads a metric until it has the wanted value.
    pub(super) fn wait_for_metric(&self, sample: &str, wanted: impl Fn(u64) -> bool) {
        let began = Instant::now();
        loop {
            let value = self.metric(sample);
            if wanted(value) {
                return;
            }
            assert!(began.elapsed() < GUARD, "it does not come: {sample} is {value}");
            std::thread::yield_now();
        }
    }

    /// Stops it and waits for its end.
    pub(super) fn stop(&mut self) {
        self.shutdown.begin();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.stop();
        }
    }
}

impl Connection {
    fn open(address: SocketAddr) -> Connection {
        Connection::over(TcpStream::connect(address).unwrap(), address)
    }

    fn over(stream: TcpStream, address: SocketAddr) -> Connection {
        // A test that hangs is worse than one that fails.
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Connection { stream: BufReader::new(stream), host: address.to_string() }
    }

    /// Sends a request and reads its answer.
    pub(super) fn ask(&mut self, method: &str, target: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(method, target, headers);
        self.read(method)
    }

    /// Sends a request with a body and reads its answer.
    pub(super) fn ask_with(
        &mut self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Answer {
        let body = body.as_ref();
        let length = body.len().to_string();
        let mut headers = headers.to_vec();
        headers.push(("Content-Length", &length));
        self.send(method, target, &headers);
        // Whoever refuses it by its head may be gone before all of it is written: the answer is there all the same.
        let _ = self.stream.get_mut().write_all(body);
        self.read(method)
    }

    /// Sends a request.
    pub(super) fn send(&mut self, method: &str, target: &str, headers: &[(&str, &str)]) {
        let mut request = format!("{method} {target} HTTP/1.1\r\n");
        if !headers.iter().any(|header| header.0.eq_ignore_ascii_case("host")) {
            request.push_str(&format!("Host: {}\r\n", self.host));
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
    }

    /// The client's socket.
    pub(super) fn stream(&mut self) -> &mut TcpStream {
        self.stream.get_mut()
    }

    /// Sends bytes as they are.
    pub(super) fn send_raw(&mut self, bytes: &str) {
        self.stream.get_mut().write_all(bytes.as_bytes()).unwrap();
    }

    /// Sends bytes to a server that may have gone.
    pub(super) fn try_send_raw(&mut self, bytes: &str) -> std::io::Result<()> {
        self.stream.get_mut().write_all(bytes.as_bytes())
    }

    /// Reads an answer's head and body.
    pub(super) fn read(&mut self, method: &str) -> Answer {
        let mut answer = self.read_head();
        if method == "HEAD" || matches!(answer.status, 204 | 304) {
            return answer;
        }
        if answer.header("transfer-encoding") == Some("chunked") {
            answer.body = self.read_chunks();
            return answer;
        }
        let length = answer.header("content-length").unwrap().parse().unwrap();
        answer.body.resize(length, 0);
        self.stream.read_exact(&mut answer.body).unwrap();
        answer
    }

    /// Reads an answer's head.
    pub(super) fn read_head(&mut self) -> Answer {
        let status = self.line().split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        Answer { status, headers, body: Vec::new() }
    }

    /// Reads a chunked body.
    pub(super) fn read_chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let size = usize::from_str_radix(&self.line(), 16).unwrap();
            let start = body.len();
            body.resize(start + size, 0);
            self.stream.read_exact(&mut body[start..]).unwrap();
            assert_eq!(self.line(), "");
            if size == 0 {
                return body;
            }
        }
    }

    /// Reads everything until the other end closes.
    pub(super) fn read_to_end(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let _ = self.stream.read_to_end(&mut bytes);
        bytes
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        line.strip_suffix("\r\n").unwrap_or_else(|| panic!("a whole line, not {line:?}")).to_owned()
    }
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.0 == name).map(|header| header.1.as_str())
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// Checks the status and that the body contains `fragment`.
    pub(super) fn expect(&self, status: u16, fragment: &str) -> &Answer {
        let text = self.text();
        assert!(
            self.status == status && text.contains(fragment),
            "expected {status} with {fragment:?}, got {self:?} {text}"
        );
        self
    }
}

//! Cost of creating a record on the server, as a single POST, in batches of each form and in a change set: microseconds
//! of CPU, the records in memory, one client over loopback.
//!
//! `cargo run --release -p tollgate-gateway --example batches [seconds]`; for a profile `perf record` it. CPU is that
//! of the server's threads, as the scheduler counts it; the client sends the same bytes again and again, and looks only
//! at the status and the length of what comes back.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use tollgate_gateway::{Config, Gateway};
use tollgate_net::http1::server::Shutdown;
use tollgate_wire::batch::{Outgoing, json, multipart};

/// About 600 bytes, as the reference server's.
const RECORD: &str = concat!(
    r#"{"stringField":"Lorem ipsum dolor sit amet","largeStringField":"Lorem ipsum dolor sit amet, consetetur "#,
    r#"sadipscing elitr, sed diam nonumy eirmod tempor invidunt ut labore et dolore magna aliquyam erat, sed diam "#,
    r#"voluptua. At vero eos et accusam et justo duo dolores et ea rebum.","booleanField":true,"integerField":42,"#,
    r#""integer64Field":9007199254740993,"decimalField":1234.5678,"doubleField":3.14159,"dateField":"2024-02-29","#,
    r#""timeField":"12:34:56","dateTimeField":"2024-02-29T12:34:56Z","timeStampField":"2024-02-29T12:34:56.1234567Z"}"#
);

const SET: &str = "/odata/v4/refsvc/TestRecords";
const BATCH: &str = "/odata/v4/refsvc/$batch";
const JSON: [(&str, &str); 1] = [("content-type", "application/json")];
const MINIMAL: [(&str, &str); 2] = [("content-type", "application/json"), ("prefer", "return=minimal")];

#[expect(clippy::print_stdout, reason = "an example shows its figures")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds = std::env::args().nth(1).and_then(|seconds| seconds.parse().ok()).unwrap_or(1.0);
    let mut config = Config::parse("", "none")?;
    config.listen.addresses = vec!["127.0.0.1:0".parse()?];
    config.listen.threads = Some(1);
    let gateway = Gateway::start(config)?;
    let address = gateway.addresses().public[0];
    let shutdown = Shutdown::new();
    let server = std::thread::spawn({
        let shutdown = shutdown.clone();
        move || gateway.run(&shutdown)
    });
    let multipart = "multipart/mixed; boundary=batch_1";
    println!("{:<32} {:>10} {:>12}", "", "us CPU", "us elapsed");
    for (name, target, content_type, records, body) in [
        ("single POST", SET, JSON[0].1, 1, RECORD.as_bytes().to_vec()),
        ("JSON batch of 10", BATCH, JSON[0].1, 10, json_batch(10, &JSON)),
        ("JSON batch of 100", BATCH, JSON[0].1, 100, json_batch(100, &JSON)),
        ("JSON batch of 1000", BATCH, JSON[0].1, 1000, json_batch(1000, &JSON)),
        ("JSON batch of 100, minimal", BATCH, JSON[0].1, 100, json_batch(100, &MINIMAL)),
        ("multipart batch of 100", BATCH, multipart, 100, multipart_batch(100, false)),
        ("change set of 100", BATCH, multipart, 100, multipart_batch(100, true)),
    ] {
        let mut client = Client::connect(address)?;
        let rounds_cpu = run(&mut client, seconds, target, content_type, &body)?;
        let records = (rounds_cpu.rounds * records) as f64;
        let each = |time: Duration| time.as_secs_f64() * 1e6 / records;
        println!("{name:<32} {:>10.2} {:>12.2}", each(rounds_cpu.cpu), each(rounds_cpu.elapsed));
        client.ask("DELETE", "/rest/records?all=true", JSON[0].1, b"")?;
    }
    shutdown.begin();
    server.join().map_err(|_| "the server panicked")??;
    Ok(())
}

/// Measurements of repeated runs of the same request.
struct Rounds {
    rounds: usize,
    cpu: Duration,
    elapsed: Duration,
}

fn run(client: &mut Client, seconds: f64, target: &str, content_type: &str, body: &[u8]) -> io::Result<Rounds> {
    let mut rounds = 0;
    let (cpu, since) = (server_cpu()?, Instant::now());
    while since.elapsed().as_secs_f64() < seconds {
        let (status, told) = client.ask("POST", target, content_type, body)?;
        let created = if target == SET { usize::from(status == 201) } else { count(&told, b"201") };
        assert!((200..300).contains(&status) && (created > 0 || count(&told, b"204") > 0), "nothing was created");
        rounds += 1;
    }
    Ok(Rounds { rounds, cpu: server_cpu()?.saturating_sub(cpu), elapsed: since.elapsed() })
}

fn count(text: &[u8], wanted: &[u8]) -> usize {
    text.windows(wanted.len()).filter(|window| *window == wanted).count()
}

fn json_batch(records: usize, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut body = Vec::new();
    let mut writer = json::RequestWriter::new(&mut body);
    for id in 0..records {
        let id = id.to_string();
        let post = Outgoing { id: Some(&id), method: "POST", target: "TestRecords", headers, ..Outgoing::default() };
        writer.request(&Outgoing { body: RECORD.as_bytes(), ..post });
    }
    writer.finish();
    body
}

fn multipart_batch(records: usize, as_change_set: bool) -> Vec<u8> {
    let mut body = Vec::new();
    let mut writer = multipart::RequestWriter::new(&mut body, "batch_1");
    if as_change_set {
        writer.begin_change_set();
    }
    for id in 0..records {
        let id = id.to_string();
        let post =
            Outgoing { id: Some(&id), method: "POST", target: "TestRecords", headers: &JSON, ..Outgoing::default() };
        writer.request(&Outgoing { body: RECORD.as_bytes(), ..post });
    }
    if as_change_set {
        writer.end_change_set();
    }
    writer.finish();
    body
}

/// CPU time of all threads but this one.
fn server_cpu() -> io::Result<Duration> {
    let own = fs::read_link("/proc/thread-self")?;
    let mut sum_ns = 0;
    for task in fs::read_dir("/proc/self/task")? {
        let task = task?;
        if Some(task.file_name().as_os_str()) == own.file_name() {
            continue;
        }
        // A thread may end meanwhile.
        let Ok(stat) = fs::read_to_string(task.path().join("schedstat")) else { continue };
        sum_ns += stat.split(' ').next().and_then(|ns| ns.parse::<u64>().ok()).unwrap_or(0);
    }
    Ok(Duration::from_nanos(sum_ns))
}

struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    fn connect(address: SocketAddr) -> io::Result<Client> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Client { stream: BufReader::with_capacity(1 << 20, stream) })
    }

    fn ask(&mut self, method: &str, target: &str, content_type: &str, body: &[u8]) -> io::Result<(u16, Vec<u8>)> {
        let length = body.len();
        let mut request = format!(
            "{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n"
        )
        .into_bytes();
        request.extend_from_slice(body);
        self.stream.get_mut().write_all(&request)?;
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let mut length = 0;
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            match line.trim_end().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse().unwrap_or(0);
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok((status, body))
    }
}

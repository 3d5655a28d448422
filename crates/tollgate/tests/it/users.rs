//! `tollgate password` makes a users file, and `tollgate serve --users` keeps to it, also when it changes.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use rustix::process::Signal;

use crate::helper::{Serving, serving, tollgate, wait_for};

/// `ann:open sesame`
const ANN: &str = "YW5uOm9wZW4gc2VzYW1l";
/// `bob:open sesame`
const BOB: &str = "Ym9iOm9wZW4gc2VzYW1l";

/// A line of a users file whose password is `open sesame`.
fn line(name: &str, group: &str) -> String {
    let made = tollgate(["password", name, "--group", group]).fed("open sesame\n").finish();
    made.check(0, &format!("{name}:$argon2id$v=19$m=19456,t=2,p=1$"), "");
    assert!(made.out.ends_with(&format!(":{group}\n")) && !made.out.contains("sesame"), "{made:?}");
    made.out
}

/// The status of a request with these credentials.
fn status(gateway: &Serving, credentials: &str) -> u16 {
    let authority = gateway.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(authority).unwrap();
    let field = format!("Authorization: Basic {credentials}\r\n");
    let field = if credentials.is_empty() { "" } else { &field };
    write!(stream, "GET /rest/carriers/AA HTTP/1.0\r\nHost: {authority}\r\n{field}\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn users_of_the_file_are_let_in_and_it_is_read_again_on_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("users");
    let (ann, bob) = (line("ann", "agents"), line("bob", "editors"));
    fs::write(&file, &ann).unwrap();
    let gateway = serving(&["--users", file.to_str().unwrap()]);
    let statuses = || [status(&gateway, ANN), status(&gateway, BOB), status(&gateway, "")];
    assert_eq!(statuses(), [200, 401, 401]);
    fs::write(&file, format!("{ann}{bob}")).unwrap();
    gateway.running.signal(Signal::HUP);
    wait_for("second user", || (statuses() == [200, 200, 401]).then_some(()));
    // What is broken changes nothing; that it was looked at is seen by what is read after it.
    fs::write(&file, "ann:open sesame").unwrap();
    gateway.running.signal(Signal::HUP);
    assert_eq!(statuses(), [200, 200, 401]);
    gateway.running.signal(Signal::TERM);
    let finished = gateway.running.finish();
    finished.check(0, "", "401 for \"bob\" from 127.0.0.1");
    assert!(!finished.err.contains("sesame"), "{}", finished.err);
}

/// Resident memory of a process, in MiB.
fn resident_mib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().split(' ').next().unwrap().parse::<u64>().unwrap() / 1024
}

#[test]
fn wrong_passwords_leave_no_memory_behind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("users");
    fs::write(&file, line("ann", "agents")).unwrap();
    let gateway = serving(&["--users", file.to_str().unwrap()]);
    assert_eq!(status(&gateway, ""), 401);
    let (pid, before) = (gateway.running.process(), resident_mib(gateway.running.process()));
    // `a:x`, `b:x` and `c:x`.
    std::thread::scope(|scope| {
        for wrong in ["YTp4", "Yjp4", "Yzp4"].repeat(8) {
            let gateway = &gateway;
            scope.spawn(move || assert_eq!(status(gateway, wrong), 401));
        }
    });
    wait_for("memory that was given back", || (resident_mib(pid) <= before + 16).then_some(()));
}

//! `tollgate cert` and `serve` over TLS, from outside: files, ready lines, new certificates on SIGHUP, and foreign clients
//! where the machine has them.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::helper::{tollgate, wait_for};

fn cert(folder: &Path, more: &[&str]) -> crate::helper::Finished {
    let out = folder.to_str().unwrap();
    tollgate(["cert", "--out", out].iter().chain(more)).finish()
}

#[test]
fn keys_are_for_their_owner_and_are_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let made = cert(folder.path(), &[]);
    made.check(0, "server.key", "");
    assert_eq!(made.out.lines().count(), 4, "{}", made.out);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    for key in ["ca.key", "server.key"] {
        let mode = std::fs::metadata(folder.path().join(key)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{key}");
    }
    let (authority, server) = (read("ca.pem"), read("server.pem"));
    assert_eq!(server.matches("BEGIN CERTIFICATE").count(), 1);
    cert(folder.path(), &[]).check(1, "", "is there already");
    assert_eq!(read("server.pem"), server);
    cert(folder.path(), &["--force", "--chain", "3", "--name", "gateway.example"]).check(0, "server.pem", "");
    assert_eq!(read("server.pem").matches("BEGIN CERTIFICATE").count(), 3);
    cert(folder.path(), &["--client", "alice/../bob"]).check(2, "", "expected the name of a host");
    cert(folder.path(), &["--client", "alice@example.org"]).check(0, "client-alice@example.org.key", "");
    assert_eq!(read("ca.pem"), authority);
    std::fs::remove_file(folder.path().join("ca.key")).unwrap();
    cert(folder.path(), &["--force"]).check(1, "", "without its key");
}

#[test]
fn what_is_wrong_with_a_certificate_is_told_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    cert(folder.path(), &[]).check(0, "", "");
    let config = "[listen]\naddresses = []\n[[tls]]\naddresses = [\"127.0.0.1:0\"]\ncertificate = \"server.pem\"\nkey = \"ca.key\"\n";
    std::fs::write(folder.path().join("gateway.toml"), config).unwrap();
    let finished = tollgate(["serve", "gateway.toml"]).within(folder.path()).finish();
    finished.check(2, "", "is not that of the first certificate").check(2, "", "gateway.toml:6:");
    let missing = config.replace("server.pem", "none.pem");
    std::fs::write(folder.path().join("gateway.toml"), missing).unwrap();
    let finished = tollgate(["serve", "gateway.toml"]).within(folder.path()).finish();
    finished.check(2, "", "cannot be read").check(2, "", "gateway.toml:5:");
}

#[test]
fn services_are_offered_over_tls_and_a_new_certificate_on_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    cert(folder.path(), &[]).check(0, "", "");
    let mut child = Command::new(env!("CARGO_BIN_EXE_tollgate"))
        .args(["serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--tls-listen", "127.0.0.1:0"])
        .args(["--certificate", "server.pem", "--key", "server.key"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines: Vec<String> =
        BufReader::new(child.stdout.take().unwrap()).lines().take(3).map(|line| line.unwrap()).collect();
    let starts = ["listening http://", "listening https://", "admin http://"];
    assert!(lines.iter().zip(starts).all(|(line, start)| line.starts_with(start)), "{lines:?}");
    let address = lines[1].strip_prefix("listening https://").unwrap();
    let process = Pid::from_child(&child);
    let hangup = || kill_process(process, Signal::HUP).unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut logged = |what: &str| wait_for(what, || log.next().unwrap().ok().filter(|line| line.contains(what)));

    if runs("curl") {
        let root = format!("https://{address}/odata/v4/flights/");
        let answer =
            Command::new("curl").args(["-sS", "--cacert", "ca.pem", &root]).current_dir(folder.path()).output();
        let answer = answer.unwrap();
        let text = String::from_utf8_lossy(&answer.stdout);
        assert!(text.contains(&format!("\"@odata.context\":\"{root}$metadata\"")), "{text} {answer:?}");
    }
    let shown = || {
        let client = format!("openssl s_client -connect {address} -CAfile ca.pem -verify_return_error < /dev/null");
        let shown = Command::new("sh").args(["-c", &client]).current_dir(folder.path()).output().unwrap();
        String::from_utf8_lossy(&shown.stdout).lines().skip_while(|line| !line.contains("BEGIN CERT")).take(3).collect()
    };
    let found = runs("openssl");
    let before: String = if found { shown() } else { String::new() };
    cert(folder.path(), &["--force"]).check(0, "", "");
    hangup();
    logged("is served from now on");
    let renewed: String = if found { shown() } else { String::new() };
    assert!(!found || before != renewed, "{renewed}");
    std::fs::write(folder.path().join("server.key"), "broken").unwrap();
    hangup();
    logged("expected a private key in PEM");
    assert!(!found || renewed == shown());
    kill_process(process, Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Whether the machine has this program; if not, prints that its test is left out.
#[expect(clippy::print_stderr, reason = "whoever runs the tests is to know what they did not show")]
fn runs(program: &str) -> bool {
    let found = Command::new(program)
        .arg(if program == "openssl" { "version" } else { "--version" })
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok();
    if !found {
        eprintln!("left out: {program} is not installed");
    }
    found
}

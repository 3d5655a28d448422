//! Marks that need more than a test server: the built-in gateway, a stopped lab, a kernel whose figures the test
//! writes. Each is provoked by its fault; the others are tested in the lab.

use std::fs;
use std::io::{Read, Seek, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;
use tollgate_lab::cores::Cores;

use crate::helper::{Finished, Running, serving, serving_by, tollgate, tollgate_by};
use crate::scenarios::pause;

/// A folder with this experiment.
fn folder(text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.toml"), format!("name = \"mine\"\nquestion = \"Is it marked?\"\n{text}"))
        .unwrap();
    folder
}

const RUN: [&str; 5] = ["run", "mine.toml", "--quick", "--out", "run"];

fn result(folder: &Path, run: &Finished) -> Value {
    let text = fs::read_to_string(folder.join("run/result.json")).unwrap_or_else(|_| panic!("{run:#?}"));
    serde_json::from_str(&text).unwrap()
}

/// The mark of a rule, which must be there with its remedy.
fn mark<'r>(result: &'r Value, rule: &str) -> &'r Value {
    let marks = result["validity"].as_array().unwrap();
    let mark = marks.iter().find(|mark| mark["rule"] == rule).unwrap_or_else(|| panic!("no mark `{rule}`: {marks:#?}"));
    assert!(!mark["remedy"].as_str().unwrap().is_empty() && mark["value"] != mark["bound"], "{mark:#}");
    mark
}

/// One flight by two closed users, and then at a share of their throughput.
fn at_equal_rate(rate_slice_ms: u32, connection: &str) -> String {
    at_share(2, 0.2, rate_slice_ms, connection)
}

/// The same by this many users, and at this share.
fn at_share(users: u32, share: f64, rate_slice_ms: u32, connection: &str) -> String {
    // A variant that says by a URL of its own where it is asked needs none.
    let path = if connection.contains("url") { "" } else { "path = \"/rest/flights/AA/0017/20110601\"\n" };
    format!(
        "[factor]\nname = \"encryption\"\n[[factor.level]]\ntitle = \"TLS 1.3\"\ntls = \"1.3\"\nkey = \"p256\"\n\
         [workload]\nkind = \"request\"\n{path}contains = \"AA\"\nusers = {users}\n\
         [equal_rate]\nshare = {share}\n\
         [extent.quick]\nblocks = 1\nslice_ms = 500\nrate_blocks = 1\nrate_slice_ms = {rate_slice_ms}\n\
         [[variant]]\nname = \"service\"\n{connection}\n"
    )
}

/// Duration for which the lab is stopped …
const STOPPED: Duration = Duration::from_millis(300);
/// … and resumed, in turn.
const GOING_ON: Duration = Duration::from_millis(400);

#[test]
fn a_lab_that_is_stopped_again_and_again_is_marked_at_equal_rate_and_what_it_says_of_it_is_refused() {
    let gateway = serving(&[]);
    let folder = folder(&at_equal_rate(2000, ""));
    let subject = format!("service={}", gateway.url);
    let mut run = tollgate([&RUN[..], &["--subject", &subject]].concat()).within(folder.path()).start();
    while !run.has_ended() {
        run.signal(Signal::STOP);
        pause(STOPPED);
        run.signal(Signal::CONT);
        pause(GOING_ON);
    }
    let run = run.finish();
    let result = result(folder.path(), &run);
    assert_eq!(mark(&result, "rate-stalls")["verdict"], "marked", "{run:#?}");
    let late = mark(&result, "lateness");
    assert_eq!((&late["verdict"], run.code), (&"refused".into(), 3), "{run:#?}");
    assert!(late["remedy"].as_str().unwrap().contains("give it cores of its own"), "{late:#}");
}

/// A `/proc/stat` of many cores with this many stolen ticks; always of one length, so that it is overwritten in one
/// piece.
fn ticks(stolen: u64) -> String {
    (0..64).map(|core| format!("cpu{core} 1000 0 0 1000 0 0 0 {stolen:08} 0 0\n")).collect()
}

#[test]
fn time_that_the_kernel_says_was_stolen_is_marked() {
    let folder = tempfile::tempdir().unwrap();
    let stat = folder.path().join("stat");
    fs::write(&stat, ticks(0)).unwrap();
    // In a mount namespace of its own, where /proc/stat is a file of the test's.
    let within = |command: &str, url: &str| {
        let mut unshare = Command::new("unshare");
        let text = format!("mount --bind \"$1\" /proc/stat && {command}");
        unshare.args(["--mount", "--", "sh", "-c", &text, env!("CARGO_BIN_EXE_tollgate"), stat.to_str().unwrap(), url]);
        unshare.output()
    };
    if !within("true", "").is_ok_and(|tried| tried.status.success()) {
        println!(
            "skipped: no mount namespace of its own (root, util-linux), in which /proc/stat could be another file"
        );
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let written = stat.clone();
    // The load has read the file before it asks, and reads it again once it is answered.
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 1024];
        assert!(stream.read(&mut request).unwrap() > 0);
        fs::write(&written, ticks(50)).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
    });
    let load = within("exec \"$0\" load --json -n 1 \"$2\"", &url).unwrap();
    assert!(load.status.success(), "{load:?}");
    answering.join().unwrap();
    let found: Value = serde_json::from_slice(&load.stdout).unwrap();
    let marks = found["validity"].as_array().unwrap();
    let mark = marks.iter().find(|mark| mark["rule"] == "steal").unwrap_or_else(|| panic!("no mark: {found:#}"));
    // 50 ticks of 50.
    assert_eq!((&mark["verdict"], mark["value"].as_f64()), (&"marked".into(), Some(1.0)), "{mark:#}");
}

#[test]
fn time_that_the_kernel_says_was_stolen_at_equal_rate_is_marked() {
    let gateway = serving(&[]);
    let folder = folder(&at_equal_rate(1000, ""));
    let stat = folder.path().join("stat");
    fs::write(&stat, ticks(0)).unwrap();
    // In a mount namespace of its own, where /proc/stat is a file of the test's.
    let within = |command: &str| {
        let mut unshare = Command::new("unshare");
        let text = format!("mount --bind stat /proc/stat && {command}");
        let subject = format!("service={}", gateway.url);
        unshare.args(["--mount", "--", "sh", "-c", &text, env!("CARGO_BIN_EXE_tollgate"), &subject]);
        unshare.current_dir(folder.path()).output()
    };
    if !within("true").is_ok_and(|tried| tried.status.success()) {
        println!(
            "skipped: no mount namespace of its own (root, util-linux), in which /proc/stat could be another file"
        );
        return;
    }
    // A tick more with each millisecond, from the beginning to the end of the run.
    let ended = Arc::new(AtomicBool::new(false));
    let stealing = std::thread::spawn({
        let ended = Arc::clone(&ended);
        move || {
            let mut file = fs::File::options().write(true).open(stat).unwrap();
            for stolen in (1..).take_while(|_| !ended.load(Ordering::Relaxed)) {
                file.rewind().unwrap();
                file.write_all(ticks(stolen).as_bytes()).unwrap();
                pause(Duration::from_millis(1));
            }
        }
    });
    let run = within(&format!("exec \"$0\" {} --subject \"$1\"", RUN.join(" "))).unwrap();
    ended.store(true, Ordering::Relaxed);
    stealing.join().unwrap();
    let text = fs::read_to_string(folder.path().join("run/result.json")).unwrap_or_else(|_| panic!("{run:?}"));
    let result: Value = serde_json::from_str(&text).unwrap();
    // Of nothing but stolen ticks all are stolen.
    for rule in ["steal", "rate-steal"] {
        let mark = mark(&result, rule);
        assert_eq!((&mark["verdict"], mark["value"].as_f64()), (&"marked".into(), Some(1.0)), "{mark:#}");
    }
}

#[test]
fn a_server_without_tickets_is_marked_where_sessions_are_to_be_taken_up() {
    let folder = folder(&at_equal_rate(500, "connection = \"new\"\ntls = \"resumed\""));
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    tollgate(["cert", "--out", folder.path().to_str().unwrap()]).finish().check(0, "server.pem", "");
    let (certificate, key) = (file("server.pem"), file("server.key"));
    let text = format!(
        "[[tls]]\naddresses = [\"127.0.0.1:0\"]\ncertificate = \"{certificate}\"\nkey = \"{key}\"\ntickets = false\n"
    );
    fs::write(folder.path().join("gateway.toml"), text).unwrap();
    let gateway = serving(&[&file("gateway.toml")]);
    assert!(gateway.url.starts_with("https://"), "{}", gateway.url);
    let subject = format!("service={}", gateway.url);
    let authority = file("ca.pem");
    let line = [&RUN[..], &["--subject", &subject, "--ca", &authority]].concat();
    let run = tollgate(line).within(folder.path()).finish();
    let result = result(folder.path(), &run);
    for rule in ["handshakes", "rate-handshakes"] {
        let mark = mark(&result, rule);
        // All of them are full ones.
        assert_eq!((&mark["verdict"], mark["value"].as_f64()), (&"marked".into(), Some(1.0)), "{mark:#}");
    }
}

#[test]
fn a_server_that_speaks_another_tls_than_its_label_says_is_refused() {
    let folder = folder("");
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    tollgate(["cert", "--out", folder.path().to_str().unwrap()]).finish().check(0, "server.pem", "");
    let (certificate, key) = (file("server.pem"), file("server.key"));
    let text = format!(
        "[[tls]]\naddresses = [\"127.0.0.1:0\"]\ncertificate = \"{certificate}\"\nkey = \"{key}\"\nversions = [\"1.2\"]\n"
    );
    fs::write(folder.path().join("gateway.toml"), text).unwrap();
    let gateway = serving(&[&file("gateway.toml")]);
    let authority = file("ca.pem");
    let connection = format!(
        "connection = \"new\"\ntls = \"full\"\nurl = \"{}/rest/flights/AA/0017/20110601\"",
        gateway.url.trim_end_matches('/')
    );
    let text = at_equal_rate(500, &connection).replace("title = \"TLS 1.3\"", "title = \"TLS 1.3, RSA-2048\"");
    fs::write(folder.path().join("mine.toml"), format!("name = \"mine\"\nquestion = \"Is it so?\"\n{text}")).unwrap();
    let run = tollgate([&RUN[..], &["--ca", &authority]].concat()).within(folder.path()).finish();
    let result = result(folder.path(), &run);
    let (cell, rate) = (&result["cells"][0], &result["cells"][0]["equal_rate"]);
    for (rule, of) in [("negotiated", cell), ("rate-negotiated", rate)] {
        let (mark, found) = (mark(&result, rule), of["negotiated"].as_array().unwrap());
        let reason = mark["reason"].as_str().unwrap();
        assert_eq!(mark["verdict"], "refused", "{mark:#}");
        assert!(reason.contains("`TLS 1.3, RSA-2048` says TLS 1.3 and key rsa-2048, but "), "{reason}");
        assert!(reason.contains("connections negotiated TLS 1.2, ECDHE-ECDSA-AES128-GCM-SHA256, key p256"), "{reason}");
        // Each request has a connection of its own.
        assert_eq!(found.len(), 1, "{found:#?}");
        let answered = of["requests"].as_u64().or_else(|| of["answered"].as_u64());
        assert!(found[0]["connections"].as_u64() >= answered, "{of:#}");
    }
}

#[test]
fn a_server_of_yours_beside_the_built_in_one_is_marked() {
    let flight = "url = \"/rest/flights/AA/0017/20110601\"\ncontains = \"AA\"\n";
    let folder = folder(&format!(
        "[factor]\nname = \"concurrency\"\nlevels = [1]\n[workload]\nkind = \"request\"\n[extent.quick]\nblocks = 2\nslice_ms = 50\n\
         [[variant]]\nname = \"one\"\n{flight}[[variant]]\nname = \"other\"\nbaseline = \"one\"\n{flight}"
    ));
    let gateway = serving(&[]);
    let subject = format!("one={}", gateway.url);
    let run = tollgate([&RUN[..], &["--subject", &subject]].concat()).within(folder.path()).finish();
    let result = result(folder.path(), &run);
    let mark = mark(&result, "different-backend");
    assert_eq!((&mark["verdict"], &mark["variant"]), (&"marked".into(), &"other".into()), "{mark:#}");
    let time = result["tolls"].as_array().unwrap().iter().find(|toll| toll["figure"] == "unit-time").unwrap();
    assert_eq!(time["verdict"], "refused", "{time:#}");
}

/// Starts `tollgate` on these cores only.
fn on_cores(cores: &[usize]) -> Command {
    let list = cores.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let mut command = Command::new("taskset");
    command.args(["-c", &list, env!("CARGO_BIN_EXE_tollgate")]);
    command
}

/// Two cores: a lab on them has one for its generator and one for its subjects, however many the machine has. For one
/// test at a time.
fn two_cores() -> Option<([usize; 2], MutexGuard<'static, ()>)> {
    static TAKEN: Mutex<()> = Mutex::new(());
    let two = Cores::divide().all.first_chunk().copied()?;
    Some((two, TAKEN.lock().unwrap_or_else(PoisonError::into_inner)))
}

#[test]
fn a_backend_that_has_its_part_of_full_cores_is_marked() {
    let Some((cores, _taken)) = two_cores() else {
        println!("left out: there is one core for all");
        return;
    };
    let folder = folder(
        "[factor]\nname = \"concurrency\"\nlevels = [40]\n[workload]\nkind = \"request\"\ncontains = \"0123456789\"\n\
         [subject]\nconfiguration = \"mediator.toml\"\n[[backend]]\nname = \"echo\"\narguments = [\"--service\", \"echo\"]\n\
         [extent.quick]\nblocks = 1\nslice_ms = 1000\n\
         [[variant]]\nname = \"direct\"\nbackend = \"echo\"\nurl = \"/echo?bytes=1024\"\n\
         [[variant]]\nname = \"through\"\nbaseline = \"direct\"\nurl = \"/through\"\n",
    );
    let mediator = "[listen]\naddresses = [\"127.0.0.1:0\"]\n[[endpoint]]\nname = \"echo\"\nurls = [\"{echo}\"]\n\
                    in_flight_max = 1000\nconnections_idle_max = 1000\n\
                    [[route]]\npath = \"/through\"\nendpoint = \"echo\"\nto = \"/echo?bytes=1024\"\n";
    fs::write(folder.path().join("mediator.toml"), mediator).unwrap();
    let run = tollgate_by(on_cores(&cores), RUN).within(folder.path()).finish();
    let result = result(folder.path(), &run);
    let cells = result["cells"].as_array().unwrap();
    let through = cells.iter().find(|cell| cell["variant"] == "through").unwrap_or_else(|| panic!("{run:#?}"));
    let share = |of: &str| through[of]["cpu_share"].as_f64().unwrap();
    // Forty users leave mediator and backend no rest, unless others take their core.
    if share("subject") + share("backend") <= 0.9 {
        println!("left out: others had the cores of mediator and backend: {}, {}", share("subject"), share("backend"));
        return;
    }
    let mark = mark(&result, "backend");
    assert_eq!((&mark["verdict"], &mark["variant"]), (&"marked".into(), &"through".into()), "{mark:#}");
}

/// Stops a lab repeatedly until it ends, and resumes it for less than a round trip of any of its links.
fn hold_up(run: &mut Running) {
    while !run.has_ended() {
        run.signal(Signal::STOP);
        pause(Duration::from_millis(5));
        run.signal(Signal::CONT);
        pause(Duration::from_millis(1));
    }
}

#[test]
fn a_link_before_remote_variants_whose_lab_is_stopped_again_and_again_is_marked() {
    let folder = folder(
        "[factor]\nname = \"records\"\nlevels = [2]\n[workload]\nkind = \"insert\"\n\
         service = \"/odata/v4/refsvc/\"\nentity_set = \"TestRecords\"\n\
         insert_all = \"/rest/mass-change/insertAll\"\ndelete_all = \"/rest/mass-change/deleteAllRecs\"\n\
         [remote]\nround_trip_ms = 5\n[extent.quick]\nblocks = 1\nslice_ms = 10\n\
         [[variant]]\nname = \"each\"\nmode = \"sequential\"\n",
    );
    let mut run = tollgate(RUN).within(folder.path()).start();
    hold_up(&mut run);
    let run = run.finish();
    let result = result(folder.path(), &run);
    assert_eq!(mark(&result, "link")["verdict"], "marked", "{run:#?}");
}

#[test]
fn a_link_whose_lab_is_stopped_again_and_again_is_off_and_refused() {
    let folder = folder(
        "[factor]\nname = \"processes\"\nlevels = [1]\n[workload]\nkind = \"batch\"\n\
         [extent.quick]\nblocks = 4\nslice_ms = 40\n\
         [[variant]]\nname = \"rtt-0\"\nround_trip_us = 0\n\
         [[variant]]\nname = \"rtt-5ms\"\nbaseline = \"rtt-0\"\nround_trip_us = 5000\n",
    );
    let mut run = tollgate(RUN).within(folder.path()).start();
    // The first block is sound, most of those behind it are not: the link stands in the lab.
    let stored = folder.path().join("run/result.json");
    while !run.has_ended() && !stored.exists() {
        pause(Duration::from_millis(5));
    }
    hold_up(&mut run);
    let run = run.finish();
    if run.err.contains("PostgreSQL is not installed") {
        println!("skipped: PostgreSQL is not installed");
        return;
    }
    let result = result(folder.path(), &run);
    if !result["cells"].as_array().unwrap().iter().any(|cell| cell["variant"] == "rtt-5ms") {
        println!("left out: the machine is so busy that the link could not keep 5 ms before it was held up");
        return;
    }
    let off = mark(&result, "link");
    assert_eq!((&off["verdict"], &off["variant"], run.code), (&"refused".into(), &"rtt-5ms".into(), 3), "{run:#?}");
}

#[test]
fn a_generator_that_verifies_more_than_the_server_signs_is_marked_at_nine_tenths_of_what_it_reached() {
    let Some((cores, _taken)) = two_cores() else {
        println!("left out: there is one core for all");
        return;
    };
    let folder = folder(&at_share(8, 0.9, 1000, "connection = \"new\"\ntls = \"full\""));
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    tollgate(["cert", "--out", folder.path().to_str().unwrap()]).finish().check(0, "server.pem", "");
    let (certificate, key) = (file("server.pem"), file("server.key"));
    let line = ["--tls-listen", "127.0.0.1:0", "--certificate", &certificate, "--key", &key];
    let gateway = serving_by(on_cores(&cores[..1]), &line);
    let subject = format!("service={}", gateway.url);
    let authority = file("ca.pem");
    let line = [&RUN[..], &["--subject", &subject, "--ca", &authority]].concat();
    // Its generator has the other one of the two.
    let run = tollgate_by(on_cores(&cores), line).within(folder.path()).finish();
    let result = result(folder.path(), &run);
    let marks = result["validity"].as_array().unwrap();
    let is_marked = |rule: &str| marks.iter().any(|mark| mark["rule"] == rule);
    // Before the rate, when it was found out what the generator reaches, or while it was kept.
    let is_robbed = ["run-queue", "steal", "rate-run-queue", "rate-steal"].into_iter().any(is_marked);
    if !is_marked("rate-client-saturation") && is_robbed {
        println!("left out: others had the generator's core, which a generator at its limit wants for itself");
        return;
    }
    assert_eq!(mark(&result, "rate-client-saturation")["verdict"], "marked", "{run:#?}");
}

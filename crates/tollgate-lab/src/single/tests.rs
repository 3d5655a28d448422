//! The engine against a server in the same process: the counts of one side are compared with those of the other.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use tollgate_net::http1::client::Target;
use tollgate_net::tls::TlsChoice;
use tollgate_net::tls::authority::{Authority, KeyKind, Validity};
use tollgate_net::tls::server::{Acceptor, Settings};
use tollgate_wire::links::Template;

use super::*;
use crate::conduct::options::RunError;
use crate::conduct::stop::StopFlag;
use crate::load::REQUEST_TIMEOUT;
use crate::load::answer::failure::ErrorClass;
use crate::load::pass::Pass;
use crate::load::record::course::Course;
use crate::load::record::recorder::{Recorder, Tally};
use crate::load::renewal::Renewal;
use crate::load::script::Script;
use crate::load::target::LoadTarget;
use crate::load::worker::{Order, ReportEnd, Work, Worker};
use crate::testing::{ITEMS, TestServer, get};
use crate::traffic::model::{Arrivals, End, Load};
use crate::traffic::request::{ListFormat, RequestShape};
use tollgate_facts::results::load::QuickResult;

const PATIENCE: Duration = Duration::from_secs(20);

fn load(server: &TestServer, path: &str, change: impl FnOnce(&mut QuickLoad)) -> QuickResult {
    let mut load = QuickLoad { requests: Some(500), concurrency: 5, ..QuickLoad::new(server.url(path)) };
    change(&mut load);
    quick(&load, &StopFlag::new()).unwrap()
}

#[test]
fn counts_bytes_and_connections_are_those_that_the_server_saw() {
    let mut server = TestServer::start();
    let result = load(&server, "/", |_| {});
    server.end();
    assert_eq!((result.requests, result.errors.len()), (500, 0));
    assert_eq!((server.counters.requests(), server.counters.responses(2)), (500, 500));
    assert_eq!(result.bytes_received, server.counters.sent_bytes());
    assert_eq!(result.bytes_sent, server.counters.received_bytes());
    assert_eq!((result.connections, server.counters.connections_accepted()), (5, 5));
    assert!(result.response_time_ms.p50.unwrap() > 0.0 && result.response_time_ms.p99.is_none());
}

#[test]
fn there_are_never_more_requests_at_once_than_users() {
    for users in [1, 4, 32] {
        let server = TestServer::start();
        load(&server, "/", |load| load.concurrency = users);
        let at_once = server.seen.at_once_max.load(Ordering::Relaxed);
        assert!(at_once <= users as u64, "{at_once} at once with {users} users");
        assert!(users == 1 || at_once > 1, "{users} users never asked at the same time");
    }
}

#[test]
fn a_connection_for_each_request_is_opened_when_asked() {
    let mut server = TestServer::start();
    let result = load(&server, "/", |load| (load.connection, load.requests) = (Connection::New, Some(50)));
    server.end();
    assert_eq!((result.connections, server.counters.connections_accepted()), (50, 50));
}

#[test]
fn a_connection_takes_so_many_requests_and_is_then_opened_anew() {
    let ten = Connection::Requests(NonZeroU32::new(10).unwrap());
    for (users, most) in [(1, 10), (5, 14)] {
        let mut server = TestServer::start();
        let result = load(&server, "/", |load| {
            (load.connection, load.requests, load.concurrency) = (ten, Some(100), users);
        });
        server.end();
        assert_eq!((result.requests, result.connections), (100, server.counters.connections_accepted()));
        assert!((10..=most).contains(&result.connections), "{} connections of {users} users", result.connections);
    }
}

#[test]
fn the_time_of_a_request_that_opened_its_connection_is_taken_apart() {
    let server = TestServer::start();
    let result = load(&server, "/", |load| (load.connection, load.requests) = (Connection::New, Some(100)));
    let (phases, first) = (result.phases.unwrap(), result.first_request.unwrap());
    assert_eq!((phases.n, phases.tls_ms, first.n, result.handshakes), (100, None, 100, None));
    let parts = [phases.waited_ms, phases.connect_ms, phases.first_byte_ms, phases.last_byte_ms];
    assert!(parts.iter().map(|part| part.mean).sum::<f64>() <= result.response_time_ms.mean * 1.001);
    // One for TCP, one for the request.
    assert!((first.round_trips.unwrap() - 2.0).abs() < 1e-9, "{first:?}");
    let segments = first.segments.unwrap();
    assert!(segments.n >= 6 && segments.sent >= 3.0, "{segments:?}");
    assert_eq!(result.wire_bytes_received, result.bytes_received, "nothing is below HTTP without TLS");
    assert_eq!(load(&server, "/", |_| {}).phases.unwrap().n, 5, "each user opens one");
}

#[test]
fn at_a_rate_every_intended_request_is_sent_once() {
    for (arrivals, threads) in [(Arrivals::Constant, 1), (Arrivals::Poisson, 1), (Arrivals::Constant, 3)] {
        let mut server = TestServer::start();
        let result = load(&server, "/", |load| {
            load.rate = Some(Rate { per_second: 5000.0, arrivals, seed: 7 });
            (load.concurrency, load.threads) = (100, Some(threads));
        });
        server.end();
        let offered = result.offered.unwrap();
        assert_eq!((result.requests, offered.intended, offered.unsent), (500, 500, 0), "{arrivals:?} {threads}");
        assert_eq!(server.counters.requests(), 500);
        assert!(offered.users <= 100 && result.connections <= offered.users, "{offered:?}");
        assert_eq!(result.littles_law, None);
        // 500 requests at 5,000 per second take 100 ms by themselves; drawn ones about as long.
        assert!(result.duration_ms >= 80.0, "{}", result.duration_ms);
    }
}

#[test]
fn what_is_due_at_the_end_and_has_a_user_is_sent() {
    let server = TestServer::start();
    for seed in 0..20 {
        let result = load(&server, "/", |load| {
            load.rate = Some(Rate { per_second: 20_000.0, arrivals: Arrivals::Poisson, seed });
            (load.requests, load.duration, load.concurrency) = (None, Some(Duration::from_millis(5)), 1000);
        });
        let offered = result.offered.unwrap();
        assert_eq!((offered.unsent, result.requests), (0, offered.intended), "{seed}");
    }
}

#[test]
fn what_users_do_while_they_come_does_not_count() {
    let come = || {
        let mut server = TestServer::start();
        let result = load(&server, "/", |load| {
            // The last one comes 100 ms before the end: time enough to connect on a busy machine.
            (load.ramp_up, load.requests, load.concurrency) = (Duration::from_millis(400), Some(200), 4);
        });
        server.end();
        assert_eq!(result.requests, 200);
        assert!(server.counters.requests() > 200, "nobody asked while the others came");
        let answered_first = result.course.iter().find(|piece| piece.requests_per_second > 0.0).unwrap();
        assert!(answered_first.until_s < 0.4, "the course begins with those who came: {:?}", result.course);
        let law = result.littles_law.unwrap();
        assert!(!law.is_broken(), "{law:?}");
        (result.tcp.segments_sent, server.counters.requests(), result.connections)
    };
    // Each request is a segment at least, and its answer another one: those of before are not among them. Segments are the
    // machine's, which may do something else in the meantime, or hold the last user up beyond the 100 ms.
    let mut tries = (0..10).map(|_| come());
    let found = tries.any(|(segments, requests, connections)| segments < requests && connections == 0);
    assert!(found, "what was sent while the others came counts");
}

#[test]
fn what_fails_while_users_come_is_told_and_a_connection_that_is_opened_again_is_nobodys_first() {
    let server = TestServer::start();
    let come = |path: &str| {
        load(&server, path, |load| {
            (load.ramp_up, load.requests, load.concurrency) = (Duration::from_millis(400), Some(200), 4);
        })
    };
    let told = |result: &QuickResult, rule: &str| {
        result.validity.iter().find(|mark| mark.rule == rule).cloned().unwrap_or_else(|| panic!("no mark `{rule}`"))
    };
    let failed = told(&come("/every-third-fails"), "settling");
    assert!(failed.reason.contains("while users came") && failed.reason.contains("status-503: "), "{failed:?}");
    let result = come("/every-third-closes");
    assert!(result.connections > 0, "{result:?}");
    let again = told(&result, "fresh-connections").value * result.requests as f64;
    assert!((again - result.connections as f64).abs() < 1e-6, "{again} of {}", result.connections);
    assert!(come("/").validity.iter().all(|mark| mark.rule != "settling"));
}

#[test]
fn failures_are_counted_by_class_and_kept_out_of_the_answers() {
    let server = TestServer::start();
    let result = load(&server, "/every-third-fails", |load| load.requests = Some(300));
    assert_eq!((result.requests, result.errors["status-503"]), (200, 100));
    assert_eq!(result.error_examples["status-503"], "503 Service Unavailable: plain");
}

#[test]
fn a_connection_closed_instead_of_an_answer_is_an_error_and_nothing_is_repeated() {
    for method in ["GET", "POST"] {
        let server = TestServer::start();
        let result = load(&server, "/every-third-closes", |load| {
            (load.requests, load.concurrency, load.method) = (Some(300), 1, method.to_owned());
        });
        assert_eq!((result.requests, result.errors["closed-before-answer"]), (200, 100), "{method}");
    }
}

#[test]
fn several_threads_share_users_and_requests() {
    let server = TestServer::start();
    let result = load(&server, "/", |load| load.threads = Some(3));
    assert_eq!((result.requests, result.connections), (500, 5));
}

#[test]
fn a_load_ends_by_time_and_by_the_stop_flag() {
    let server = TestServer::start();
    let by_time = load(&server, "/", |load| (load.requests, load.duration) = (None, Some(Duration::from_millis(30))));
    assert!(by_time.requests > 0 && by_time.duration_ms >= 30.0 && !by_time.interrupted);
    let stop = StopFlag::new();
    stop.stop();
    let endless = QuickLoad { duration: Some(Duration::from_secs(3600)), ..QuickLoad::new(server.url("/")) };
    assert!(quick(&endless, &stop).unwrap().interrupted);
}

#[test]
fn what_may_not_be_loaded_is_a_fault_of_the_caller() {
    let check = |url: &str, expected: &str| {
        let error = quick(&QuickLoad::new(url), &StopFlag::new()).unwrap_err();
        assert_eq!(error, RunError::Usage(expected.to_owned()));
    };
    check("nowhere", "`nowhere`: column 1: a URL begins with http:// or https://");
    check(
        "http://192.0.2.1/",
        "192.0.2.1 is not loopback, and load can harm it: if you may load it, say --i-may-load 192.0.2.1",
    );
    let nobody = QuickLoad { concurrency: 0, ..QuickLoad::new("http://127.0.0.1/") };
    assert!(matches!(quick(&nobody, &StopFlag::new()), Err(RunError::Usage(_))));
}

/// Ends after this many passes, however long they take.
fn passes(count: u64) -> End {
    End { after: None, units: Some(count) }
}

/// Ends at the first list that fails: a walk without a pass has no other end.
const FIRST_FAILURE: End = End { after: Some(Duration::ZERO), units: None };

/// Walks `path` with `users` users on these workers until `end`, in `trials` trials.
fn walk(
    server: &TestServer,
    path: &str,
    (users, workers): (usize, usize),
    end: End,
    trials: usize,
) -> Vec<(Tally, ReportEnd)> {
    let shape = RequestShape {
        format: Some(ListFormat::OdataV4Json),
        detail: (path == "/wrong").then(|| Template::parse("wrong/{id}").unwrap()),
        key: vec!["id".to_owned()],
        ..get()
    };
    let target = Target::parse(&server.url(path)).unwrap();
    let target = Arc::new(LoadTarget::new(target, shape, &[], Connection::KeepAlive).unwrap());
    let start = |_| Worker::start(None, REQUEST_TIMEOUT, None).unwrap();
    let workers: Vec<Worker> = (0..workers).map(start).collect();
    let trial = |_| {
        let pass = Arc::new(Pass::new(users, workers.len()));
        let mut cancels = Vec::new();
        for (index, worker) in workers.iter().enumerate() {
            cancels.push(worker.run(Order {
                slot: 0,
                target: Arc::clone(&target),
                load: Load { end, ..Load::closed(users, end).share(index, workers.len()) },
                work: Work::Walk(Arc::clone(&pass)),
                renewal: Renewal::Kept,
                gate: Arc::default(),
                course: Course::Unrecorded,
                recorder: Recorder::default(),
            }));
        }
        let mut tally = Tally::default();
        let mut end = ReportEnd::Whole;
        for worker in &workers {
            let report = worker.report(PATIENCE).expect("the trial ends");
            tally.add(&report.recorder.tally);
            end = if report.end == ReportEnd::Whole { end } else { report.end };
        }
        (tally, end)
    };
    (0..trials).map(trial).collect()
}

#[test]
fn a_walk_gets_the_list_and_each_entity_once_a_pass_whatever_the_number_of_users() {
    for (path, lists) in [("/items", 1), ("/paged", 2)] {
        for users in [(1, 1), (3, 1), (20, 1), (6, 3)] {
            let mut server = TestServer::start();
            let trials = walk(&server, path, users, passes(4), 2);
            server.end();
            for (tally, end) in &trials {
                assert_eq!((*end, tally.units, tally.failures()), (ReportEnd::Whole, 4, 0), "{path} {users:?}");
                assert_eq!(tally.requests, 4 * (lists + ITEMS));
                assert_eq!(tally.checked, tally.requests, "everything is verified");
                assert!(tally.response_total_ns <= tally.busy_ns, "no user answers longer than it is there: {tally:?}");
            }
            assert_eq!(server.counters.requests(), 2 * 4 * (lists + ITEMS));
            let opened: u64 = trials.iter().map(|(tally, _)| tally.connections).sum();
            assert!(opened <= users.0 as u64, "connections stay open between trials");
        }
    }
}

#[test]
fn entities_of_a_list_that_changed_are_got_even_where_its_last_page_failed_meanwhile() {
    let server = TestServer::start();
    let (tally, end) = &walk(&server, "/changing", (1, 1), passes(2), 1)[0];
    assert_eq!((*end, tally.units), (ReportEnd::Whole, 2));
    assert_eq!(*server.seen.noted.lock().unwrap(), ["0", "1", "2", "5", "6", "2"]);
}

#[test]
fn users_who_find_no_entity_left_are_not_there() {
    let server = TestServer::start();
    for (tally, _) in &walk(&server, "/items", (200, 1), passes(4), 2) {
        // With the time of some 190 who find nothing, until each is told, the users would be there for many times as long.
        assert!(tally.busy_ns < 2 * tally.response_total_ns, "{tally:?}");
    }
}

#[test]
fn an_answer_that_is_another_entity_is_an_error_of_content() {
    let server = TestServer::start();
    let (tally, _) = &walk(&server, "/wrong", (2, 1), passes(1), 1)[0];
    assert_eq!((tally.requests, tally.failures()), (2, ITEMS - 1));
    let error = &tally.errors[0];
    assert_eq!(error.class, ErrorClass::Content);
    assert!(error.example.starts_with("asked for (") && error.example.ends_with("came (0)"), "{}", error.example);
}

#[test]
fn a_list_that_names_nothing_or_is_none_ends_the_trial_without_a_pass() {
    let server = TestServer::start();
    for (path, example) in [("/empty", "the list names no entity"), ("/", "the list cannot be read: ")] {
        let (tally, end) = &walk(&server, path, (4, 2), FIRST_FAILURE, 1)[0];
        assert_eq!((*end, tally.units), (ReportEnd::Whole, 0));
        assert!(tally.errors[0].example.starts_with(example), "{}", tally.errors[0].example);
    }
}

#[test]
fn a_walk_on_a_server_that_is_gone_fails_in_its_class_and_ends() {
    let mut server = TestServer::start();
    server.end();
    let (tally, end) = &walk(&server, "/items", (3, 1), FIRST_FAILURE, 1)[0];
    assert_eq!((*end, tally.requests), (ReportEnd::Whole, 0));
    assert_eq!(tally.errors[0].class.to_string(), "connect-refused");
}

fn over_tls(certificate: &str, key: &str) -> TestServer {
    let folder = tempfile::tempdir().unwrap();
    let files = [(certificate, "server.pem"), (key, "server.key")].map(|(text, name)| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    });
    let [certificate, key] = files;
    TestServer::start_tls(Acceptor::new(&Settings::new(certificate, key)).unwrap())
}

#[test]
fn a_certificate_that_is_refused_says_why_in_plain_words_and_what_helps() {
    let now = SystemTime::now();
    let [trusted, other] = [(); 2].map(|()| Authority::new(KeyKind::P256, now).unwrap());
    let authorities = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(authorities.path(), trusted.certificate()).unwrap();
    let server = |authority: &Authority, name: &str| {
        let issued = authority.server(KeyKind::P256, &[name.to_owned()], 0, Validity::days(now, 1)).unwrap();
        over_tls(&issued.certificate, &issued.key)
    };
    let check = |server: TestServer, expected: &str| {
        let url = server.url("/").replace("http:", "https:");
        let tls = ClientSettings { authorities: Some(authorities.path().into()), ..ClientSettings::default() };
        let load = QuickLoad { requests: Some(1), concurrency: 1, tls, ..QuickLoad::new(url) };
        let found = quick(&load, &StopFlag::new()).unwrap();
        let error = &found.error_examples["tls"];
        assert!(error.contains(expected) && error.contains("; --ca FILE") && error.contains("--insecure"), "{error}");
    };
    check(server(&other, "127.0.0.1"), "its certificate is signed by nobody who is trusted here;");
    check(over_tls(trusted.certificate(), trusted.key()), "is an authority's (CA:TRUE) and must not be a server's");
    check(server(&trusted, "127.0.0.2"), "its certificate is refused: certificate not valid for name");
}

#[test]
fn users_with_a_session_each_take_it_up_and_no_request_but_theirs_counts() {
    const USERS: usize = 3;
    const REQUESTS: u64 = 30;
    let now = SystemTime::now();
    let authority = Authority::new(KeyKind::P256, now).unwrap();
    let issued = authority.server(KeyKind::P256, &["127.0.0.1".to_owned()], 0, Validity::days(now, 1)).unwrap();
    let mut server = over_tls(&issued.certificate, &issued.key);
    let url = server.url("/").replace("http:", "https:");
    let target = LoadTarget::new(Target::parse(&url).unwrap(), get(), &[], Connection::New).unwrap();
    let target = Arc::new(target.with_tls(TlsChoice::Insecure));
    let worker = Worker::start(None, REQUEST_TIMEOUT, None).unwrap();
    let _cancel = worker.run(Order {
        slot: 0,
        target: Arc::clone(&target),
        load: Load::closed(USERS, passes(REQUESTS)),
        work: Work::Script(Arc::new(Script::of_target(&target))),
        renewal: Renewal::Kept,
        gate: Arc::default(),
        course: Course::Unrecorded,
        recorder: Recorder::default(),
    });
    let found = worker.report(PATIENCE).expect("the trial ends").recorder.tally;
    server.end();
    assert_eq!((found.requests, found.handshakes.resumed, found.failures()), (REQUESTS, REQUESTS, 0), "{found:?}");
    let primed = server.counters.requests() - REQUESTS;
    assert!((1..=USERS as u64).contains(&primed), "{primed}");
}

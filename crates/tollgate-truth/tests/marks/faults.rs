//! A fault each, and the mark that it must have.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tollgate_facts::results::load::{Mark, QuickResult};
use tollgate_facts::results::{Percentiles, Verdict};
use tollgate_lab::cores::Cores;
use tollgate_lab::probe::network::tcp_counts;
use tollgate_lab::probe::system::Ticks;
use tollgate_lab::run::StopFlag;
use tollgate_lab::single::{QuickLoad, Rate, Wrapping, quick};
use tollgate_lab::traffic::model::Arrivals;

use crate::burning::{Alone, Burning};
use crate::server::{Answering, SOUND, Server};

/// Loads, and gives back what was found.
pub(crate) fn load(load: &QuickLoad) -> QuickResult {
    quick(load, &StopFlag::new()).unwrap()
}

/// The mark of a rule, which must be there, with its number beyond its bound and with its remedy.
pub(crate) fn mark<'r>(found: &'r QuickResult, rule: &str, verdict: Verdict) -> &'r Mark {
    let mark = found.validity.iter().find(|mark| mark.rule == rule);
    let mark = mark.unwrap_or_else(|| panic!("no mark `{rule}`: {found:#?}"));
    assert_eq!(mark.verdict, verdict, "{mark:?}");
    assert!(!mark.remedy.is_empty() && mark.reason.contains(char::is_numeric), "{mark:?}");
    assert!((mark.value - mark.bound).abs() > 0.0, "{mark:?}");
    mark
}

/// A number of requests by a number of users; each answer is checked.
pub(crate) fn closed(server: &Server, requests: u64, concurrency: usize) -> QuickLoad {
    let contains = Some("right".to_owned());
    QuickLoad { requests: Some(requests), concurrency, contains, ..QuickLoad::new(server.url()) }
}

fn at_a_rate(server: &Server, per_second: f64, concurrency: usize) -> QuickLoad {
    QuickLoad {
        requests: None,
        duration: Some(Duration::from_secs(1)),
        rate: Some(Rate { per_second, arrivals: Arrivals::Constant, seed: 1 }),
        ..closed(server, 0, concurrency)
    }
}

#[test]
fn a_server_that_fails_once_in_ten_is_marked() {
    let server = Server::start(Answering { each_fails: 10, ..SOUND });
    let found = load(&closed(&server, 500, 1));
    assert_eq!(found.errors["status-500"], 50);
    mark(&found, "errors", Verdict::Marked);
}

#[test]
fn a_wrong_body_is_an_error_and_not_a_fast_answer() {
    let server = Server::start(Answering { body: "wrong", ..SOUND });
    let found = load(&closed(&server, 100, 2));
    assert_eq!((found.requests, found.errors["content"]), (0, 100));
    mark(&found, "answers", Verdict::Refused);
    mark(&found, "content", Verdict::Refused);
}

#[test]
fn a_wrong_body_among_right_ones_refuses_them_all() {
    let server = Server::start(Answering { each_errs: 10, ..SOUND });
    let found = load(&closed(&server, 500, 1));
    assert_eq!((found.requests, found.errors["content"]), (450, 50));
    mark(&found, "content", Verdict::Refused);
}

#[test]
fn a_page_that_is_no_envelope_is_no_answer_over_soap() {
    let server = Server::start(Answering { body: "<html>We are down for maintenance</html>", ..SOUND });
    let wrapping = Wrapping::Soap { action: "urn:a".to_owned(), version: None };
    let call = QuickLoad { wrapping, body: b"<q/>".to_vec(), contains: None, ..closed(&server, 100, 2) };
    let found = load(&call);
    assert_eq!((found.requests, found.errors.get("content")), (0, Some(&100)), "{found:#?}");
    mark(&found, "answers", Verdict::Refused);
}

#[test]
fn answers_whose_content_nobody_looks_at_are_marked() {
    let server = Server::start(Answering { body: "wrong", ..SOUND });
    let found = load(&QuickLoad { contains: None, ..closed(&server, 400, 2) });
    assert_eq!((found.requests, found.checked), (400, 0));
    mark(&found, "content", Verdict::Marked);
}

#[test]
fn a_few_answers_are_marked() {
    let server = Server::start(SOUND);
    mark(&load(&closed(&server, 299, 1)), "samples", Verdict::Marked);
}

#[test]
fn a_40_ms_answer_to_one_user_at_500_a_second_refuses_the_rate_and_asks_for_more_users() {
    let server = Server::start(Answering { takes: Duration::from_millis(40), ..SOUND });
    let found = load(&at_a_rate(&server, 500.0, 1));
    // One user gets 25 answers a second at most.
    assert!(found.requests <= 30, "{found:#?}");
    let rate = mark(&found, "rate", Verdict::Refused);
    assert!(found.is_refused());
    // A machine that does something else may hold the generator up as well, and then that is what to mend.
    let Percentiles { p50, p90, p95, .. } = found.offered.as_ref().unwrap().overdue_ms;
    if [p50, p90, p95].into_iter().flatten().any(|late_ms| late_ms > 50.0) {
        eprintln!("left out: the generator was held up: {:?}", found.offered);
        return;
    }
    assert_eq!(rate.remedy, "all users were at work: allow more (-c), or offer less");
}

#[test]
fn a_load_beyond_what_a_server_can_do_is_refused_and_has_no_times() {
    let server = Server::start(Answering { takes: Duration::from_millis(4), ..SOUND });
    // One user gets 250 answers a second at most.
    let found = load(&at_a_rate(&server, 500.0, 1));
    let steady = mark(&found, "steady", Verdict::Refused);
    assert!(steady.reason.contains("of 500 requests/s were answered"), "{steady:?}");
    assert_eq!(found.response_time_ms, Percentiles::default(), "{found:#?}");
    assert!(found.served_within_ms.iter().all(|(_, time)| time.is_none()), "{found:#?}");
}

#[test]
fn requests_that_still_wait_when_the_load_ends_are_marked_where_a_percentile_lacks_them() {
    // The only user waits for its 994th answer until the second is over, and behind it wait six of a thousand requests.
    let server = Server::start(Answering { pauses_at: Some((994, Duration::from_secs(1))), ..SOUND });
    let found = load(&at_a_rate(&server, 1000.0, 1));
    let unsent = found.offered.as_ref().unwrap().unsent;
    if unsent > 6 {
        eprintln!("left out: this machine was held up, and {unsent} requests waited");
        return;
    }
    let rate = mark(&found, "rate", Verdict::Marked);
    assert!(rate.reason.starts_with("6 of 1000 requests waited until the load ended"), "{rate:?}");
    assert!(rate.reason.ends_with("missing from p95"), "{rate:?}");
}

/// Far more than any generator can write down: its thread never rests.
const TOO_MUCH_PER_S: f64 = 2e6;

#[test]
fn a_stall_that_a_user_who_waits_meets_once_is_marked_by_his_time_and_not_at_a_rate() {
    // One answer of 600: beyond p95 lie 30, with the one that opened its connection where others were not held up for longer,
    // and take 100 ms on average.
    let server = Server::start(Answering { pauses_at: Some((300, Duration::from_secs(3))), ..SOUND });
    let found = load(&closed(&server, 600, 1));
    let tail = found.tail.unwrap();
    assert!((tail.quantile - 0.95).abs() < 1e-9 && (29..=30).contains(&tail.answers), "{tail:?}");
    assert!(tail.mean_ms >= 100.0 && tail.time_share > 0.05, "{tail:?}");
    let hidden = mark(&found, "hidden-time", Verdict::Marked);
    assert!(
        hidden.remedy.contains("--rate") && hidden.reason.contains(&format!("{} answers", tail.answers)),
        "{hidden:?}"
    );
    drop(server);
    let server = Server::start(Answering { pauses_at: Some((100, Duration::from_millis(400))), ..SOUND });
    let open = load(&at_a_rate(&server, 300.0, 1));
    assert!(open.tail.is_none() && open.validity.iter().all(|mark| mark.rule != "hidden-time"), "{open:#?}");
}

#[test]
fn a_generator_that_never_rests_is_marked_as_the_limit_or_as_kept_from_its_core() {
    let server = Server::start(SOUND);
    let cores = Cores::divide().all;
    let (before, begun) = (Ticks::now(&cores), Instant::now());
    let found = load(&at_a_rate(&server, TOO_MUCH_PER_S, 4));
    let stolen_ms = Ticks::now(&cores).since(before).stolen_ms();
    // It has its core, or it waits for it, unless the host has it.
    let is_limit = |mark: &Mark| ["client-saturation", "run-queue"].contains(&mark.rule);
    let is_marked = found.validity.iter().any(is_limit);
    if !is_marked && stolen_ms > begun.elapsed().as_secs_f64() * 100.0 {
        eprintln!("left out: the host had cores for {stolen_ms} ms");
        return;
    }
    assert!(is_marked, "{found:#?}");
    assert_eq!(found.generator_cpu_share > 0.8, found.validity.iter().any(|mark| mark.rule == "client-saturation"));
}

#[test]
fn threads_that_burn_beside_the_generator_are_marked() {
    let alone = Alone::wait();
    let server = alone.server(SOUND);
    // The generator has one share in nine of its core.
    let _burning = Burning::beside_the_generator(&alone, 8 * Cores::divide().generator.len().max(1));
    let found = load(&at_a_rate(&server, TOO_MUCH_PER_S / 10.0, 4));
    mark(&found, "run-queue", Verdict::Marked);
}

#[test]
fn a_machine_whose_cores_are_all_busy_is_marked() {
    let alone = Alone::wait();
    let server = alone.server(SOUND);
    let cores = Cores::divide().all;
    let _burning = Burning::anywhere(&alone, 3 * cores.len());
    let before = Ticks::now(&cores);
    let found = load(&QuickLoad { requests: None, duration: Some(Duration::from_secs(1)), ..closed(&server, 0, 2) });
    // A group of processes may get less than its cores.
    if Ticks::now(&cores).since(before).busy_share() < 0.97 {
        eprintln!("left out: this machine does not let its cores be busy");
        return;
    }
    mark(&found, "joint", Verdict::Marked);
}

#[test]
fn connections_that_the_server_closes_though_they_were_to_be_kept_are_marked() {
    let server = Server::start(Answering { answers_a_connection: 20, ..SOUND });
    let found = load(&closed(&server, 1000, 2));
    assert!(found.connections >= 50, "{found:#?}");
    mark(&found, "fresh-connections", Verdict::Marked);

    drop(server);
    // At a rate a thousand users may come, and a few do: theirs are the only connections that may be opened.
    let server = Server::start(Answering { answers_a_connection: 1, ..SOUND });
    let found = load(&at_a_rate(&server, 200.0, 1000));
    let (came, requests) = (found.offered.as_ref().unwrap().users, found.requests);
    assert!(found.connections >= requests, "{found:#?}");
    if came * 2 > requests {
        eprintln!("left out: this machine was held up, and called {came} users for {requests} requests");
        return;
    }
    let fresh = found.connections - came;
    let value = mark(&found, "fresh-connections", Verdict::Marked).value;
    assert!((value - fresh as f64 / requests as f64).abs() < 1e-9, "{found:#?}");
}

#[test]
fn an_overload_in_stages_is_a_finding_and_at_a_rate_that_is_to_be_kept_a_refusal() {
    let server = Server::start(Answering { takes: Duration::from_millis(20), ..SOUND });
    let overload = |stages: Option<&str>| {
        let stages = stages.map(|stages| Arc::new(stages.parse().unwrap()));
        load(&QuickLoad { stages, ..at_a_rate(&server, 1000.0, 1) })
    };
    // One user has 50 a second.
    mark(&overload(None), "rate", Verdict::Refused);
    mark(&overload(Some("1s:1000..1000/s")), "rate", Verdict::Marked);
    let users = load(&QuickLoad {
        requests: None,
        stages: Some(Arc::new("300ms:4,300ms:0".parse().unwrap())),
        duration: Some(Duration::from_millis(600)),
        ..closed(&server, 0, 4)
    });
    // Four users were never there: what was found of them would be a figure of none.
    assert!(users.littles_law.is_none() && users.staged.is_some(), "{users:#?}");
}

#[test]
fn a_log_without_room_for_every_request_is_marked() {
    let server = Server::start(SOUND);
    let found = load(&QuickLoad { log_requests_max: Some(100), ..closed(&server, 500, 1) });
    assert!((mark(&found, "log", Verdict::Marked).value - 400.0).abs() < f64::EPSILON);
}

#[test]
fn a_listener_with_a_backlog_of_1_that_does_not_accept_is_marked() {
    let (server, found) = through_a_full_listener();
    drop(server);
    mark(&found, "listen-overflow", Verdict::Marked);
    assert!(found.tcp.turned_away() > 0);
}

/// Above the retransmitted segments that a rule ignores, and below the 14 of 16 users who do not fit a queue of two.
const TURNED_AWAY: u64 = 8;

/// Users who connect at once to a server that takes nobody in before the kernel has turned some of them away.
pub(crate) fn through_a_full_listener() -> (Server, QuickResult) {
    let listener = crate::namespace::listener_with_backlog_of_1();
    let before = tcp_counts();
    let until_full = move || while tcp_counts().since(before).listen_overflows < TURNED_AWAY {};
    let server = Server::on(listener, SOUND, until_full);
    let found = load(&closed(&server, 64, 16));
    assert_eq!(found.requests, 64, "{found:#?}");
    (server, found)
}

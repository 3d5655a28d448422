//! Limits of one client from outside: its requests, its connections, its wrong passwords, behind proxies and without.

use std::time::{Duration, SystemTime};

use super::auth::{ANN, BOB, Guarded};
use super::client::{Answer, Running};

const LISTS: &str = "/rest/carriers";

/// A gateway whose clock stands still.
fn at_rest(config: &str) -> (Running, tollgate_net::clock::ManualClock) {
    Running::start_by_hand(config, SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000))
}

fn from(address: &str) -> [(&'static str, &str); 1] {
    [("X-Forwarded-For", address)]
}

/// Whether it was refused, and for how many seconds.
fn refused(answer: &Answer) -> Option<&str> {
    let is_refused = answer.status == 429;
    assert!(is_refused || answer.status == 200, "{answer:?}");
    is_refused.then(|| answer.header("retry-after").unwrap())
}

#[test]
fn a_client_that_asks_too_often_is_told_when_to_ask_again() {
    let (gateway, hand) = at_rest("[[client_limit]]\npath = \"/rest/\"\nrequests_per_second = 2\nburst = 3");
    let ask = || refused(&gateway.get(LISTS)).map(str::to_owned);
    assert_eq!([ask(), ask(), ask()], [None, None, None]);
    let answer = gateway.get(LISTS);
    assert_eq!((answer.status, answer.header("retry-after")), (429, Some("1")));
    answer.expect(429, "\"code\":\"TooManyRequests\"");
    gateway.get("/odata/v4/flights/").expect(200, "");
    hand.advance(Duration::from_millis(500));
    assert_eq!([ask(), ask()], [None, Some("1".to_owned())]);
    assert_eq!(gateway.metric("tollgate_client_refusals_total{reason=\"rate\"}"), 2);
    let met = "tollgate_limit_met_total{of=\"each client at /rest/\",limit=\"requests_per_second\"}";
    assert_eq!(gateway.metric(met), 2);
    let status = gateway.admin().ask("GET", "/status.json", &[]).text();
    let expected = "\"refused\":[{\"client\":\"127.0.0.1\",\"count\":2,\"reason\":\"rate\",\"seconds_ago\":0.0}]";
    assert!(status.contains(expected), "{status}");
    gateway.admin().ask("GET", "/", &[]).expect(200, "127.0.0.1");
}

#[test]
fn requests_in_flight_are_counted_until_they_are_answered() {
    let (gateway, _hand) = at_rest("[[client_limit]]\nin_flight_max = 1\npath = \"/rest\"");
    let mut slow = gateway.connect();
    let head = [("Content-Type", "application/json"), ("Content-Length", "2")];
    slow.send("POST", "/rest/bookings", &head);
    // Whoever asks before the other one is in flight is answered.
    gateway.wait_for_metric("tollgate_client_refusals_total{reason=\"in-flight\"}", |count| {
        refused(&gateway.get(LISTS));
        count > 0
    });
    slow.send_raw("{}");
    assert_eq!(slow.read("POST").status, 400, "an empty booking");
    gateway.get(LISTS).expect(200, "");
    assert!(gateway.metric("tollgate_client_refusals_total{reason=\"in-flight\"}") >= 1);
}

#[test]
fn behind_a_trusted_proxy_each_client_is_counted_by_itself() {
    let limit = "[[client_limit]]\nrequests_per_second = 1\n[clients]\nexempt = [\"198.51.100.0/24\"]\n";
    let (gateway, _hand) = at_rest(&format!("{limit}trusted_proxies = [\"127.0.0.1\", \"10.0.0.0/8\"]"));
    let ask = |address: &str| refused(&gateway.get_with(LISTS, &from(address))).is_some();
    assert_eq!([ask("192.0.2.1"), ask("192.0.2.1"), ask("192.0.2.2")], [false, true, false]);
    assert!(ask("203.0.113.5, 192.0.2.2, 10.1.1.1"), "what a client says of itself does not count");
    assert_eq!([ask("198.51.100.7"), ask("198.51.100.7")], [false, false]);
    assert_eq!([ask("2001:db8::1"), ask("2001:db8::2"), ask("2001:db8:0:1::1")], [false, true, false]);

    let (gateway, _hand) = at_rest(limit);
    let ask = |address: &str| refused(&gateway.get_with(LISTS, &from(address))).is_some();
    assert_eq!([ask("192.0.2.1"), ask("192.0.2.2")], [false, true], "nobody is trusted");
}

#[test]
fn users_are_counted_by_name_once_they_are_known() {
    let limits = "[[client_limit]]\nby = \"user\"\nrequests_per_second = 1\nburst = 2\n[[rule]]\nallow = [\"anyone\"]";
    let (guarded, _hand) = Guarded::start_by_hand(limits);
    let ask = |user: &[(&str, &str)]| refused(&guarded.gateway.get_with(LISTS, user)).is_some();
    assert_eq!([ask(&[ANN]), ask(&[ANN]), ask(&[ANN]), ask(&[BOB])], [false, false, true, false]);
    assert_eq!([ask(&[]), ask(&[]), ask(&[])], [false, false, true]);
}

#[test]
fn limits_that_stay_keep_their_counts_over_a_new_configuration() {
    let limit = |rate: u32| format!("[[client_limit]]\nrequests_per_second = {rate}\nburst = 1");
    let (gateway, _hand) = at_rest(&limit(1));
    let ask = || refused(&gateway.get(LISTS)).is_some();
    assert_eq!([ask(), ask()], [false, true]);
    gateway.reload(&format!("{}\n[pages]\nsize = 10", limit(1))).unwrap();
    assert!(ask());
    gateway.reload(&limit(2)).unwrap();
    assert_eq!([ask(), ask()], [false, true]);
}

#[test]
fn a_client_has_so_many_connections_and_others_have_theirs() {
    let gateway = Running::start("[limits]\nconnections_per_client_max = 2");
    let held = [gateway.connect(), gateway.connect()].map(|mut connection| {
        connection.ask("GET", LISTS, &[]).expect(200, "");
        connection
    });
    let refused = gateway.connect().read("GET");
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("1")));
    let mut other = gateway.connect_from("127.0.0.2");
    other.ask("GET", LISTS, &[]).expect(200, "");
    assert_eq!(gateway.metric("tollgate_client_refusals_total{reason=\"connections\"}"), 1);
    let met = "tollgate_limit_met_total{of=\"connections\",limit=\"connections_per_client_max\"}";
    assert_eq!(gateway.metric(met), 1);
    drop(held);
    gateway.wait_for_metric("tollgate_connections_open", |open| open <= 1);
    gateway.get(LISTS).expect(200, "");
}

#[test]
fn wrong_passwords_make_an_address_wait_and_nobody_else() {
    let patience = "[authentication]\nwrong_passwords_free = 2\nwrong_password_seconds_max = 4\n\
                    [clients]\ntrusted_proxies = [\"127.0.0.1\"]\n";
    let (guarded, hand) = Guarded::start_by_hand(patience);
    let gateway = &guarded.gateway;
    // Each time another one: the same one again is no guess.
    let guess = |number: u8, address: &str| {
        let mut wrong = Vec::new();
        tollgate_wire::base64::encode(&mut wrong, format!("ann:wrong{number}").as_bytes());
        let wrong = format!("Basic {}", String::from_utf8(wrong).unwrap());
        let answer = gateway.get_with(LISTS, &[("Authorization", wrong.as_str()), from(address)[0]]);
        (answer.status, answer.header("retry-after").map(str::to_owned))
    };
    let wait = |seconds: &str| (429, Some(seconds.to_owned()));
    let (eve, ann) = ("192.0.2.66", "192.0.2.7");
    assert_eq!([guess(0, eve), guess(1, eve), guess(1, eve)].map(|answer| answer.0), [401, 401, 401]);
    assert_eq!([guess(2, eve), guess(3, eve)], [(401, None), wait("1")]);
    assert_eq!(guess(4, ann).0, 401, "another address does not wait");
    let ask = |user: (&str, &str), address: &str| gateway.get_with(LISTS, &[user, from(address)[0]]).status;
    assert_eq!(ask(ANN, ann), 200, "who is guessed can sign in");
    assert_eq!(ask(ANN, eve), 200, "and from the same address, as the password was right before");
    assert_eq!(ask(BOB, eve), 429, "whoever was never there waits with it");
    hand.advance(Duration::from_secs(1));
    assert_eq!([guess(5, eve).0, guess(6, eve).0], [401, 429]);
    hand.advance(Duration::from_secs(2));
    assert_eq!(ask(BOB, eve), 200);
    let outcome = |name: &str| gateway.metric(&format!("tollgate_authentications_total{{outcome=\"{name}\"}}"));
    assert_eq!((outcome("refused"), outcome("repeated"), outcome("delayed")), (5, 1, 3));
    gateway.reload(&guarded.config("[authentication]\nwrong_password_seconds_max = 0")).unwrap();
    assert_eq!([guess(7, "127.0.0.1").0, guess(8, "127.0.0.1").0], [401, 401]);
}

#[test]
fn limits_that_can_mean_nothing_are_refused_with_their_place() {
    let (gateway, _hand) = at_rest("");
    let check = |config: &str, expected: &str| {
        let error = gateway.reload(config).unwrap_err();
        assert!(error.contains(expected) && error.contains("test.toml:"), "{config}: {error}");
    };
    check("[[client_limit]]\npath = \"/rest\"", "expected `requests_per_second` or `in_flight_max`");
    check("[[client_limit]]\nburst = 2\nin_flight_max = 1", "`burst` is for `requests_per_second`");
    check("[[client_limit]]\nin_flight_max = 1\npath = \"rest\"", "begins with `/`");
    check("[[client_limit]]\nin_flight_max = 1\npath = \"/nothing/here\"", "the limit is for nothing");
    check("[[client_limit]]\nin_flight_max = 0", "expected a number from 1");
    check("[clients]\ntrusted_proxies = [\"10.0.0.0/33\"]", "expected an address such as");
    check("[clients]\nexempt = [\"10.0.0.1/8\"]", "expected an address such as");
    check("[clients]\nproxies = []", "unknown key `proxies`");
}

//! The response cache from outside: hits, lifetimes, audience, and answers that are never stored.

use std::time::{Duration, SystemTime};

use tollgate_net::clock::ManualClock;

use super::client::{Answer, Running, V2, V4, somebody};
use crate::cache::Which;
use crate::work::dispatcher::WorkProcess;

const FLIGHTS: &str = "[[service]]\nkind = \"flights\"\n";
const CARRIER: &str = "/odata/v4/flights/CarrierCollection('AA')";

fn by_hand(config: &str) -> (Running, ManualClock) {
    Running::start_by_hand(config, SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000))
}

/// A gateway whose clock is stopped: stored answers never age.
fn timeless(config: &str) -> Running {
    by_hand(config).0
}

/// A gateway whose flights have this `Cache-Control`.
fn stating(cache_control: &str) -> Running {
    timeless(&format!("{FLIGHTS}cache_control = \"{cache_control}\"\n"))
}

/// Age of an answer, if it came from the cache.
fn age(answer: &Answer) -> Option<u64> {
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.header("age").map(|age| age.parse().unwrap())
}

/// Takes the only permit to compute.
fn occupy(gateway: &Running) -> WorkProcess<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let fibonacci = gateway.shared.built_in[0].service.work_processes().unwrap();
    runtime.block_on(fibonacci.acquire(&somebody())).unwrap()
}

fn computed(gateway: &Running) -> u64 {
    gateway.metric("tollgate_work_processes_admitted_total{service=\"fibonacci\"}")
}

#[test]
fn a_number_is_computed_once_in_its_lifetime() {
    let (gateway, hand) = by_hand("");
    let fresh = gateway.get("/fibonacci?n=20&bytes=1024");
    assert_eq!(age(&fresh), None);
    for (seconds, expected) in [(0, Some(0)), (1, Some(1)), (298, Some(299)), (1, None), (0, Some(0))] {
        hand.advance(Duration::from_secs(seconds));
        let again = gateway.get("/fibonacci?n=20&bytes=1024");
        assert_eq!((age(&again), &again.body), (expected, &fresh.body));
        assert_eq!(again.header("etag"), fresh.header("etag"));
        assert_eq!(again.header("content-type"), fresh.header("content-type"));
    }
    assert_eq!(computed(&gateway), 2);
    let figures =
        ["hits", "misses", "stored", "expired"].map(|name| gateway.metric(&format!("tollgate_cache_{name}_total")));
    assert_eq!(figures, [4, 2, 2, 1]);
    assert_eq!(gateway.metric("tollgate_cache_entries"), 1);
    assert!(gateway.metric("tollgate_cache_bytes") > 1024);
}

#[test]
fn a_lifetime_that_is_configured_holds_and_none_keeps_nothing() {
    let (gateway, hand) = by_hand("[[service]]\nkind = \"fibonacci\"\nlifetime_seconds = 2\n");
    gateway.get("/fibonacci?n=3");
    hand.advance(Duration::from_secs(1));
    assert_eq!(age(&gateway.get("/fibonacci?n=3")), Some(1));
    hand.advance(Duration::from_secs(1));
    assert_eq!(age(&gateway.get("/fibonacci?n=3")), None);
    for config in ["[cache]\nenabled = false\n", "[[service]]\nkind = \"fibonacci\"\nlifetime_seconds = 0\n"] {
        let gateway = timeless(config);
        gateway.get("/fibonacci?n=3");
        assert_eq!(age(&gateway.get("/fibonacci?n=3")), None, "{config}");
        assert_eq!(gateway.shared.cache.statistics().entries, 0);
    }
}

#[test]
fn heads_and_conditions_are_answered_from_what_a_get_left() {
    let gateway = timeless("");
    let target = "/fibonacci?n=18&bytes=5000";
    assert_eq!(gateway.ask("HEAD", target).header("age"), None);
    assert_eq!(gateway.shared.cache.statistics().entries, 0, "an answer without a body is not kept");
    // The first who asks has it already; what is kept is whole all the same.
    let etag = gateway.ask("HEAD", target).header("etag").unwrap().to_owned();
    let not_modified = gateway.get_with(target, &[("If-None-Match", &etag)]);
    assert_eq!((not_modified.status, not_modified.header("etag")), (304, Some(&*etag)));
    let whole = gateway.get(target);
    assert_eq!((age(&whole), whole.body.len()), (Some(0), 5000));
    let head = gateway.ask("HEAD", target);
    assert_eq!((age(&head), head.header("content-length"), head.body.len()), (Some(0), Some("5000"), 0));
    let kept = gateway.get_with(target, &[("If-None-Match", &etag)]);
    assert_eq!((kept.status, kept.header("age"), kept.header("etag")), (304, Some("0"), Some(&*etag)));
    let other = gateway.get_with(target, &[("If-None-Match", "\"other\"")]);
    assert_eq!((age(&other), other.body.len()), (Some(0), 5000));
    // What is conditional on a known state, or a part, is not the cache's business.
    for (name, value) in [("If-Match", &*etag), ("Range", "bytes=0-9"), ("If-Unmodified-Since", "x"), ("If-Range", "x")]
    {
        assert_eq!(age(&gateway.get_with(target, &[(name, value)])), None, "{name}");
    }
    assert_eq!(gateway.get_with(target, &[("If-Match", "\"other\"")]).status, 412);
}

#[test]
fn each_form_and_each_spelling_is_kept_by_itself() {
    let gateway = timeless("");
    for (target, accept) in [
        ("/fibonacci?n=9", "*/*"),
        ("/fibonacci?n=9", "application/json"),
        ("/fibonacci?n=9&", "*/*"),
        ("/fibonacci?n=09", "*/*"),
    ] {
        let ask = || gateway.get_with(target, &[("Accept", accept)]);
        assert_eq!((age(&ask()), age(&ask())), (None, Some(0)), "{target} {accept}");
    }
    // Ways to ask for the same form, and names for the same host, find the same answer.
    let plain =
        gateway.get_with("/fibonacci?n=9", &[("Accept", "text/html;q=0.1, text/plain"), ("Host", "example.com")]);
    assert_eq!(age(&plain), Some(0));
    assert_eq!(gateway.shared.cache.statistics().entries, 4);
}

#[test]
fn errors_are_never_kept() {
    let gateway = timeless("");
    for target in ["/fibonacci?n=-1", "/fibonacci?n=abc", "/fibonacci"] {
        for _ in 0..2 {
            let answer = gateway.get(target);
            assert_eq!((answer.status, answer.header("age")), (400, None), "{target}");
        }
    }
    let statistics = gateway.shared.cache.statistics();
    assert_eq!((statistics.stored_total, statistics.entries, statistics.misses_total), (0, 0, 6));
}

#[test]
fn many_who_ask_the_same_on_several_loops_wait_for_one_who_computes() {
    let gateway = timeless("work_processes.limit = 1\nlisten.threads = 2\n");
    let held = occupy(&gateway);
    let mut clients: Vec<_> = (0..20).map(|_| gateway.connect()).collect();
    for client in &mut clients {
        client.send("GET", "/fibonacci?n=20&bytes=100000", &[]);
    }
    gateway.wait_for_metric("tollgate_cache_waits_total", |waits| waits == 19);
    gateway.wait_for_metric("tollgate_work_processes_waiting{service=\"fibonacci\"}", |waiting| waiting == 1);
    drop(held);
    for client in &mut clients {
        let answer = client.read("GET");
        answer.expect(200, "= 6765");
        assert_eq!(answer.body.len(), 100_000);
    }
    // Mine, and one for all of them.
    assert_eq!(computed(&gateway), 2);
}

#[test]
fn a_client_that_goes_away_while_it_fetches_takes_nothing_from_the_others() {
    let gateway = timeless("work_processes.limit = 1\n");
    let held = occupy(&gateway);
    let mut gone = gateway.connect();
    gone.send("GET", "/fibonacci?n=20", &[]);
    gateway.wait_for_metric("tollgate_work_processes_waiting{service=\"fibonacci\"}", |waiting| waiting == 1);
    let mut waits = gateway.connect();
    waits.send("GET", "/fibonacci?n=20", &[]);
    gateway.wait_for_metric("tollgate_cache_waits_total", |waits| waits == 1);
    drop(gone);
    drop(held);
    waits.read("GET").expect(200, "= 6765");
    assert_eq!(age(&gateway.get("/fibonacci?n=20")), Some(0));
}

#[test]
fn where_the_fetch_fails_everybody_is_told_what_they_find_themselves() {
    let gateway = timeless("work_processes = { limit = 1, queue_max = 1, wait_ms_max = 100 }\n");
    let held = occupy(&gateway);
    let mut clients: Vec<_> = (0..5).map(|_| gateway.connect()).collect();
    for client in &mut clients {
        client.send("GET", "/fibonacci?n=20", &[]);
    }
    for client in &mut clients {
        client.read("GET").expect(503, "ask again later");
    }
    assert_eq!(gateway.shared.cache.statistics().entries, 0);
    drop(held);
    assert_eq!(age(&gateway.get("/fibonacci?n=20")), None);
    assert_eq!(age(&gateway.get("/fibonacci?n=20")), Some(0));
}

#[test]
fn bodies_are_kept_up_to_the_limit_and_entries_as_many_as_allowed() {
    let gateway = timeless("[cache]\nentry_bytes_max = 1000\nentries_max = 2\n");
    for (bytes, kept) in [(1000, Some(0)), (1001, None)] {
        let target = format!("/fibonacci?n=2&bytes={bytes}");
        gateway.get(&target);
        assert_eq!(age(&gateway.get(&target)), kept, "{bytes}");
    }
    assert_eq!(gateway.metric("tollgate_cache_too_large_total"), 2);
    gateway.get("/fibonacci?n=3");
    assert_eq!(gateway.shared.cache.statistics().entries, 2);
    gateway.get("/fibonacci?n=4");
    let statistics = gateway.shared.cache.statistics();
    assert_eq!((statistics.entries, statistics.evicted_total), (2, 1));
    // It was asked for, the other was not.
    assert_eq!(age(&gateway.get("/fibonacci?n=2&bytes=1000")), Some(0));
    let small = timeless("[cache]\nbytes_max = 100\n");
    small.get("/fibonacci?n=3");
    assert_eq!((age(&small.get("/fibonacci?n=3")), small.shared.cache.statistics().bytes), (None, 0));
}

#[test]
fn the_operator_sees_what_is_kept_and_throws_it_away() {
    let gateway = stating("public, max-age=60");
    let cache = &gateway.shared.cache;
    for target in [CARRIER, CARRIER, "/rest/carriers/AA", "/rest/carriers"] {
        gateway.get_with(target, &[("Host", "localhost")]);
    }
    let listed: Vec<_> = cache.entries(10).into_iter().map(|entry| (entry.key, entry.hits)).collect();
    assert_eq!(listed[0], (format!("http://localhost{CARRIER}"), 1));
    assert_eq!((listed.len(), cache.entries(1).len()), (3, 1));
    let first = &cache.entries(1)[0];
    assert_eq!((first.varies[0].as_str(), first.lifetime, first.age.as_secs()), ("accept", Duration::from_secs(60), 0));
    assert_eq!(cache.invalidate(Which::One(&listed[0].0)), 1);
    assert_eq!(cache.invalidate(Which::Prefix("/rest/carriers")), 2);
    assert_eq!(cache.invalidate(Which::All), 0);
    assert_eq!(gateway.metric("tollgate_cache_invalidated_total"), 3);
    assert_eq!(age(&gateway.get_with(CARRIER, &[("Host", "localhost")])), None);
}

#[test]
fn reads_of_a_service_are_kept_as_it_states_and_say_so() {
    let gateway = stating("public, max-age=60");
    for target in [
        CARRIER,
        "/rest/carriers/AA",
        &format!("{V2}CarrierCollection"),
        &format!("{V4}FlightCollection/$count"),
        &format!("{V4}$metadata"),
    ] {
        let fresh = gateway.get(target);
        assert_eq!((age(&fresh), fresh.header("cache-control")), (None, Some("public, max-age=60")), "{target}");
        let kept = gateway.get(target);
        assert_eq!((age(&kept), &kept.body), (Some(0), &fresh.body), "{target}");
        assert_eq!(kept.header("cache-control"), Some("public, max-age=60"), "{target}");
    }
    let missing = gateway.get(&format!("{V4}CarrierCollection('ZZ')"));
    assert_eq!((missing.status, missing.header("cache-control")), (404, None));
    // Without the statement nothing is said, and nothing is kept.
    let silent = Running::shared();
    silent.get(CARRIER);
    let answer = silent.get(CARRIER);
    assert_eq!((age(&answer), answer.header("cache-control")), (None, None));
}

#[test]
fn links_name_the_host_that_was_asked_and_fields_choose() {
    let gateway = stating("public, max-age=60");
    let ask = |fields: &[(&str, &str)]| gateway.get_with(&format!("{V4}CarrierCollection"), fields);
    let first = ask(&[("Host", "a.example")]);
    first.expect(200, "http://a.example/odata/v4/flights/");
    let fields: [&[(&str, &str)]; 5] = [
        &[("Host", "b.example")],
        &[("Host", "a.example"), ("Accept", "application/json;odata.metadata=full")],
        &[("Host", "a.example"), ("Prefer", "odata.maxpagesize=2")],
        &[("Host", "a.example"), ("OData-MaxVersion", "4.0")],
        &[("Host", "a.example"), ("Accept", "*/*"), ("Prefer", "odata.maxpagesize=3")],
    ];
    for fields in fields {
        let (fresh, kept) = (ask(fields), ask(fields));
        assert_eq!((age(&fresh), age(&kept)), (None, Some(0)), "{fields:?}");
        assert_eq!(fresh.body, kept.body, "{fields:?}");
    }
    assert_eq!(age(&ask(&[("Host", "a.example")])), Some(0));
    assert_eq!(ask(&[("Host", "a.example"), ("OData-MaxVersion", "3.0")]).status, 400);
}

#[test]
fn whatever_is_written_is_read_at_once_through_every_mount() {
    let gateway = stating("public, max-age=60");
    let targets = [CARRIER, "/rest/carriers/AA", &format!("{V2}CarrierCollection('AA')?$format=json")];
    let read = || targets.map(|target| gateway.get(target));
    read();
    assert!(read().iter().all(|answer| age(answer) == Some(0)));
    let etag = gateway.get(CARRIER).header("etag").map(str::to_owned);
    let json = ("Content-Type", "application/json");
    let batch = "{\"requests\":[{\"id\":\"1\",\"method\":\"PATCH\",\"url\":\"CarrierCollection('AA')\",\
        \"headers\":{\"content-type\":\"application/json\",\"if-match\":\"*\"},\"body\":{\"CARRNAME\":\"Batched\"}}]}";
    for (number, (method, target, body, name)) in [
        ("PATCH", CARRIER, "{\"CARRNAME\":\"First\"}", "First"),
        ("PATCH", "/rest/carriers/AA", "{\"CARRNAME\":\"Second\"}", "Second"),
        ("POST", "/odata/v4/flights/$batch", batch, "Batched"),
    ]
    .into_iter()
    .enumerate()
    {
        let written = gateway.connect().ask_with(method, target, &[json, ("If-Match", "*")], body);
        assert!((200..300).contains(&written.status), "{number}: {written:?} {} {etag:?}", written.text());
        for answer in read() {
            assert_eq!(age(&answer), None, "{number}");
            answer.expect(200, name);
        }
        assert!(read().iter().all(|answer| age(answer) == Some(0)), "{number}");
    }
}

#[test]
fn a_request_says_what_it_takes_from_a_cache() {
    let (gateway, hand) = by_hand(&format!("{FLIGHTS}cache_control = \"public, max-age=60\"\n"));
    let ask = |control: &str| gateway.get_with(CARRIER, &[("Cache-Control", control)]);
    ask("only-if-cached").expect(504, "only-if-cached");
    assert_eq!(age(&ask("no-store")), None);
    assert_eq!(age(&gateway.get(CARRIER)), None, "what came before was not to be kept");
    assert_eq!(age(&ask("only-if-cached")), Some(0));
    hand.advance(Duration::from_secs(20));
    assert_eq!(age(&ask("max-age=20")), Some(20));
    assert_eq!(age(&ask("min-fresh=40")), Some(20));
    assert_eq!(age(&ask("min-fresh=41")), None);
    assert_eq!(age(&gateway.get(CARRIER)), Some(0), "who wanted it fresher left it for all");
    hand.advance(Duration::from_secs(20));
    assert_eq!(age(&ask("max-age=19")), None);
    hand.advance(Duration::from_secs(1));
    assert_eq!(age(&ask("no-cache")), None);
    assert_eq!(age(&gateway.get(CARRIER)), Some(0));
    // A handler that states the lifetime itself knows what it says.
    gateway.get("/rest/carriers");
}

#[test]
fn an_answer_to_somebody_is_kept_only_where_it_is_said_to_be_for_all() {
    for (cache_control, kept) in
        [("max-age=60", None), ("public, max-age=60", Some(0)), ("s-maxage=60", Some(0)), ("private, max-age=60", None)]
    {
        let gateway = stating(cache_control);
        let ask = || gateway.get_with(CARRIER, &[("Authorization", "Basic YTpi")]);
        assert_eq!((age(&ask()), age(&ask())), (None, kept), "{cache_control}");
    }
}

#[test]
fn a_token_is_never_shared() {
    let gateway = stating("public, max-age=60");
    gateway.get(CARRIER);
    let token = || gateway.get_with(CARRIER, &[("X-CSRF-Token", "Fetch")]);
    let (first, second) = (token(), token());
    for answer in [&first, &second] {
        assert_eq!((age(answer), answer.header("cache-control")), (None, Some("private, no-store")));
    }
    assert_ne!(first.header("x-csrf-token"), second.header("x-csrf-token"));
    assert_eq!(gateway.get(CARRIER).header("x-csrf-token"), None);
}

#[test]
fn nobody_waits_for_a_client_that_reads_slowly_what_is_too_large_to_be_kept() {
    let gateway =
        timeless(&format!("{FLIGHTS}cache_control = \"public, max-age=60\"\n[cache]\nentry_bytes_max = 1000\n"));
    // More than sockets hold: it cannot all be sent before it is read.
    let large = format!("{V2}FlightCollection?$expand=flightBookings");
    let mut slow = gateway.connect();
    slow.send("GET", &large, &[]);
    assert_eq!(slow.read_head().status, 200);
    gateway.get(&large).expect(200, "");
    assert_eq!(gateway.metric("tollgate_cache_waits_total"), 0);
    assert_eq!(gateway.metric("tollgate_cache_too_large_total"), 2);
}

#[test]
fn a_list_that_leaves_in_parts_is_kept_whole_or_sent_as_it_comes() {
    let list = format!("{V2}FlightCollection");
    let gateway = stating("public, max-age=60");
    let fresh = gateway.get(&list);
    assert!(fresh.header("content-length").is_some() && fresh.body.len() > 500_000, "{}", fresh.body.len());
    let kept = gateway.get(&list);
    assert_eq!((age(&kept), kept.body == fresh.body), (Some(0), true));
    let narrow = format!("{FLIGHTS}cache_control = \"public, max-age=60\"\n[cache]\nentry_bytes_max = 100000\n");
    let gateway = timeless(&narrow);
    for _ in 0..2 {
        let answer = gateway.get(&list);
        assert_eq!((age(&answer), answer.header("transfer-encoding")), (None, Some("chunked")));
        assert_eq!(answer.body.len(), fresh.body.len());
    }
}

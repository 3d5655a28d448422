//! Limits of the answer to one read: at the limit and one above, over HTTP.

use super::client::{Running, V2, V4};

fn limited(limits: &str) -> Running {
    Running::start(&format!("pages.size = 100000\n[[service]]\nkind = \"flights\"\nlimits = {{ {limits} }}\n"))
}

fn met(gateway: &Running, limit: &str) -> u64 {
    gateway.metric(&format!("tollgate_limit_met_total{{of=\"flights\",limit=\"{limit}\"}}"))
}

/// Addresses in answers are of one length.
const HOST: &[(&str, &str)] = &[("Host", "h.example")];

#[test]
fn an_answer_has_as_many_bytes_as_it_may_and_with_one_more_it_is_413() {
    let shared = Running::shared();
    for target in [
        format!("{V4}FlightCollection?$top=20"),
        format!("{V4}CarrierCollection?$expand=carrierFlights($top=2)&$top=2"),
        format!("{V4}CarrierCollection('AA')?$expand=carrierFlights($expand=FlightCarrier;$top=10)"),
        format!("{V4}CarrierCollection('AA')/CARRNAME/$value"),
        format!("{V2}CarrierCollection('AA')?$format=json&$expand=carrierFlights"),
        "/rest/flights?limit=20".to_owned(),
        "/rest/carriers/AA".to_owned(),
    ] {
        let whole = shared.get_with(&target, HOST);
        let length = whole.expect(200, "").body.len();
        let gateway = limited(&format!("answer_bytes_max = {length}"));
        assert_eq!(gateway.get_with(&target, HOST).body, whole.body, "{target}");
        let gateway = limited(&format!("answer_bytes_max = {}", length - 1));
        let told = format!("the answer would have more than {} bytes", length - 1);
        gateway.get_with(&target, HOST).expect(413, &told);
        assert_eq!(met(&gateway, "answer_bytes_max"), 1, "{target}");
    }
}

#[test]
fn an_answer_has_as_many_entities_as_it_may_with_those_it_expands() {
    let gateway = limited("answer_entities_max = 4");
    let told = "the answer would have more than 4 entities";
    for (at_limit, beyond) in [
        ("FlightCollection?$top=4", "FlightCollection?$top=5"),
        (
            "CarrierCollection?$top=2&$expand=carrierFlights($top=1)",
            "CarrierCollection?$top=3&$expand=carrierFlights($top=1)",
        ),
        (
            "CarrierCollection('AA')?$expand=carrierFlights($top=3)",
            "CarrierCollection('AA')?$expand=carrierFlights($top=4)",
        ),
    ] {
        gateway.get(&format!("{V4}{at_limit}")).expect(200, "");
        gateway.get(&format!("{V4}{beyond}")).expect(413, told);
    }
    assert_eq!((met(&gateway, "answer_entities_max"), met(&gateway, "answer_bytes_max")), (3, 0));
    // In a batch it is the fault of one request.
    let requests = r#"{"requests":[{"id":"1","method":"GET","url":"FlightCollection?$top=5"},{"id":"2","method":"GET","url":"FlightCollection?$top=4"}]}"#;
    let json = ("Content-Type", "application/json");
    let answer = gateway.connect().ask_with("POST", &format!("{V4}$batch"), &[json], requests);
    answer.expect(200, "\"status\":413").expect(200, "\"status\":200");
}

#[test]
fn an_answer_that_has_begun_is_cut_off_where_it_has_too_many_bytes() {
    const BYTES_MAX: usize = 1_000_000;
    let gateway = limited(&format!("answer_bytes_max = {BYTES_MAX}"));
    let mut client = gateway.connect();
    client.send("GET", &format!("{V4}BookingCollection"), &[]);
    assert_eq!(client.read_head().status, 200);
    let rest = client.read_to_end();
    assert!(rest.len() < BYTES_MAX && !rest.ends_with(b"0\r\n\r\n"), "{} bytes", rest.len());
    assert_eq!(met(&gateway, "answer_bytes_max"), 1);
    gateway.get("/rest/carriers/AA").expect(200, "AA");
}

#[test]
fn one_entity_is_counted_before_all_that_it_expands_is_read() {
    // What carriers expand here would be some 100 MB for each of them.
    let flights =
        "carrierFlights($expand=FlightCarrier($expand=carrierFlights($expand=FlightCarrier($expand=carrierFlights))))";
    let gateway = limited("answer_bytes_max = 3000000");
    for target in [format!("CarrierCollection?$expand={flights}"), format!("CarrierCollection('AA')?$expand={flights}")]
    {
        gateway.get(&format!("{V4}{target}")).expect(413, "more than 3000000 bytes");
    }
    // The buffer that it outgrew was accounted for, and is given back.
    let room = |gateway: &Running| gateway.shared.services[0].hosted.answers.room().use_of();
    let (now, peak, met) = room(&gateway);
    assert!(now == 0 && (2_900_000..4_000_000).contains(&peak) && met == 0, "{now} {peak} {met}");
}

#[test]
fn nested_conditions_end_with_the_time_of_a_read() {
    let gateway = Running::start("[[service]]\nkind = \"flights\"\nread_ms_max = 1");
    let nested = "FlightCarrier/carrierFlights/any(a:a/flightBookings/any(b:b/bookedFlight/flightBookings/any(c:c/PASSNAME%20eq%20'nobody')))";
    let target = format!("{V4}FlightCollection?$filter={nested}&$count=true&$top=1");
    gateway.get(&target).expect(503, "the query took longer than its time budget");
}

#[test]
fn readers_that_take_nothing_are_cut_off_where_their_answers_need_too_much_memory() {
    // Each of them holds three parts of 136 KiB: two have room.
    let gateway = Running::start("limits.unsent_bytes_max = 1000000");
    let target = format!("{V4}FlightCollection?$expand=flightBookings($expand=bookedFlight($expand=flightBookings))");
    let mut slow: Vec<_> = (0..6).map(|_| gateway.connect()).collect();
    slow.iter_mut().for_each(|client| client.send("GET", &target, &[]));
    let cut = "tollgate_limit_met_total{of=\"connections\",limit=\"unsent_bytes_max\"}";
    gateway.wait_for_metric(cut, |cut| cut >= 4);
    assert!(gateway.metric("tollgate_unsent_bytes") <= 1_000_000);
    gateway.get("/rest/carriers/AA").expect(200, "AA");
    drop(slow);
    gateway.wait_for_metric("tollgate_unsent_bytes", |bytes| bytes == 0);
}

//! Attempts to bypass a rule: none succeeds. Bookings are for agents; everybody may read the rest, and editors may
//! write it.

use super::{ANN, BOB, Guarded, JSON};
use crate::tests::client::{Running, V2, V4};

const RULES: &str = r#"
    [[rule]]
    entity_sets = ["BookingCollection"]
    allow = ["group:agents"]
    [[rule]]
    methods = ["GET"]
    allow = ["anyone"]
    [[rule]]
    allow = ["group:agents", "group:editors"]
"#;

/// The older name of the V2 service.
const SDATA: &str = "/sap/opu/sdata/iwfnd/RMTSAMPLEFLIGHT/";
const FLIGHT_V4: &str = "FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)";
const FLIGHT_V2: &str = "FlightCollection(carrid='AA',connid='0017',fldate=datetime'2011-06-01T00:00:00')";

const AVAILABLE: &str =
    "GetAvailableFlights(fromdate=2011-06-01,todate=2011-07-01,cityfrom='new%20york',cityto='san%20francisco')";

fn bookings(gateway: &Running) -> String {
    gateway.get_with(&format!("{V4}BookingCollection/$count"), &[ANN]).text()
}

#[test]
fn no_url_reads_what_is_not_permitted() {
    let Guarded { gateway, .. } = Guarded::start(RULES);
    let v4 = |rest: &str| format!("{V4}{rest}");
    for target in [
        v4("BookingCollection"),
        v4("BookingCollection/$count"),
        v4("%42ooking%43ollection"),
        v4("BookingCollection?$top=0"),
        v4(&format!("{FLIGHT_V4}/flightBookings")),
        v4(&format!("{FLIGHT_V4}/flightBookings/$count")),
        v4(&format!("{FLIGHT_V4}/flight%42ookings")),
        v4(&format!("{FLIGHT_V4}/flightbooking")),
        v4(&format!("{FLIGHT_V4}/flightbooking/bookid")),
        v4(&format!("{FLIGHT_V4}/flightbooking/bookedFlight")),
        v4(&format!("{FLIGHT_V4}?$expand=flightBookings")),
        v4("FlightCollection?$expand=flightBookings&$top=1"),
        v4("FlightCollection?%24expand=flightBookings&$top=1"),
        v4("FlightCollection?$expand=flightBookings($select=bookid)&$top=1"),
        v4("FlightCollection?$filter=flightbooking/bookid%20ne%20null&$top=1"),
        v4("FlightCollection?$filter=not%20(1%20eq%202%20and%20contains(flightbooking/CUSTOMID,'1'))&$top=1"),
        v4("FlightCollection?$orderby=PRICE,flightbooking/bookid%20desc&$top=1"),
        v4("CarrierCollection('AA')/carrierFlights?$expand=flightBookings&$top=1"),
        v4("FlightCollection?$expand=*&$top=1"),
        v4("FlightCollection?$expand=*($levels=2)&$top=1"),
        v4("FlightCollection?$expand=flightBookings/$ref&$top=1"),
        v4("FlightCollection?$expand=flightBookings/$count&$top=1"),
        v4("CarrierCollection?$expand=carrierFlights($expand=flightBookings)&$top=1"),
        v4("CarrierCollection?$expand=carrierFlights($filter=flightbooking/bookid%20ne%20null)&$top=1"),
        v4("CarrierCollection?$expand=carrierFlights($orderby=flightBookings/$count)&$top=1"),
        v4("CarrierCollection?$expand=carrierFlights($compute=flightbooking/bookid%20as%20b)&$top=1"),
        v4("FlightCollection?$filter=flightBookings/any()&$top=1"),
        v4("FlightCollection?$filter=flightBookings/any(b:b/bookid%20eq%20'1')&$top=1"),
        v4("FlightCollection?$filter=flightBookings/all(b:b/bookid%20ne%20'1')&$top=1"),
        v4("CarrierCollection?$filter=carrierFlights/any(f:f/flightBookings/any())&$top=1"),
        v4("CarrierCollection?$filter=carrierFlights/any(f:f/flightbooking/bookid%20eq%20'1')&$top=1"),
        v4("FlightCollection?$filter=flightBookings/$count%20gt%200&$top=1"),
        v4("FlightCollection?$filter=flightBookings/$count($filter=bookid%20ne%20'1')%20gt%200&$top=1"),
        v4("FlightCollection?$orderby=flightBookings/$count%20desc&$top=1"),
        v4("FlightCollection?$filter=flightbooking/bookid%20in%20('1')&$top=1"),
        v4("FlightCollection?$filter=case(flightbooking/bookid%20eq%20'1':true)&$top=1"),
        v4("FlightCollection?$filter=case(true:flightBookings/any())&$top=1"),
        v4("FlightCollection?$filter=@p&@p=flightbooking/bookid%20ne%20null&$top=1"),
        v4("FlightCollection?$filter=contains(@p,'1')&@p=flightbooking/bookid&$top=1"),
        v4("FlightCollection/$count?$filter=flightBookings/any()"),
        v4("FlightCollection?$compute=flightbooking/bookid%20as%20b&$select=b&$top=1"),
        v4("FlightCollection?$compute=flightBookings/$count%20as%20n&$filter=n%20gt%201&$top=1"),
        v4("FlightCollection?$apply=filter(flightbooking/bookid%20ne%20null)"),
        v4("FlightCollection?$apply=filter(flightBookings/any())/aggregate($count%20as%20n)"),
        v4("FlightCollection?$apply=groupby((flightbooking/CUSTOMID))"),
        v4("FlightCollection?$apply=groupby((carrid),aggregate(flightbooking/CUSTOMID%20with%20max%20as%20m))"),
        v4("FlightCollection?$apply=aggregate(flightbooking/CUSTOMID%20with%20countdistinct%20as%20n)"),
        v4("FlightCollection?$apply=compute(flightbooking/CUSTOMID%20as%20c)/groupby((c))"),
        v4("FlightCollection?$apply=concat(groupby((carrid)),filter(flightBookings/any())/groupby((carrid)))"),
        v4("BookingCollection?$apply=aggregate($count%20as%20n)"),
        v4("BookingCollection?$search=1"),
        v4(&format!("{AVAILABLE}?$expand=flightBookings")),
        v4(&format!("{AVAILABLE}?$filter=flightBookings/any()")),
        v4(&format!("{AVAILABLE}?$orderby=flightbooking/bookid")),
        format!("{V2}BookingCollection"),
        format!("{V2}BookingCollection?$format=json"),
        format!("{SDATA}BookingCollection"),
        format!("{V2}{FLIGHT_V2}/flightBookings"),
        format!("{V2}{FLIGHT_V2}?$expand=flightBookings"),
        format!("{V2}FlightCollection?$expand=flightBookings&$top=1"),
        format!("{V2}FlightCollection?$filter=flightbooking/bookid%20ne%20''&$top=1"),
        format!("{V2}{FLIGHT_V2}/$links/flightBookings"),
        v4(&format!("{FLIGHT_V4}/flightBookings/$ref")),
        "/rest/bookings".to_owned(),
        "/rest/bookings?limit=1".to_owned(),
        "/rest/bookings?carrid=AA&fields=bookid&sort=-bookid".to_owned(),
        "/rest/bookings?limit=0&count=true".to_owned(),
        "/rest/bookings?CUSTOMER=1".to_owned(),
        "/rest/bookings?cursor=AQ".to_owned(),
        "/rest/bookings/AA?fields=bookid".to_owned(),
        "/rest/book%69ngs".to_owned(),
        "/rest/bookings/AA/0017/2011-06-01/00000001".to_owned(),
    ] {
        for method in ["GET", "HEAD", "OPTIONS"] {
            let status = |user: &[(&str, &str)]| gateway.connect().ask(method, &target, user).status;
            assert_eq!((status(&[]), status(&[BOB])), (401, 403), "{method} {target}");
            assert!(!matches!(status(&[ANN]), 401 | 403), "{method} {target}");
        }
    }
    // What leads past them stays open.
    for target in [v4("FlightCollection?$top=1"), v4("CarrierCollection('AA')/carrierFlights?$top=1"), v4("$metadata")]
    {
        gateway.get(&target).expect(200, "");
    }
}

#[test]
fn what_plain_rest_has_is_described_to_those_who_may_read_what_is_no_entity_set() {
    let rules = r#"
        [[rule]]
        entity_sets = ["CarrierCollection"]
        methods = ["GET"]
        allow = ["anyone"]
        [[rule]]
        allow = ["user:ann"]
    "#;
    let Guarded { gateway, .. } = Guarded::start(rules);
    for method in ["GET", "HEAD", "OPTIONS", "DELETE"] {
        let status = |user: &[(&str, &str)]| gateway.connect().ask(method, "/rest/openapi.json", user).status;
        assert_eq!((status(&[]), status(&[BOB])), (401, 403), "{method}");
        assert!(!matches!(status(&[ANN]), 401 | 403), "{method}");
    }
    let document = gateway.get_with("/rest/openapi.json", &[ANN]);
    let document: serde_json::Value = serde_json::from_slice(&document.body).unwrap();
    let security = |path: &str, method: &str| document["paths"][path][method]["security"].to_string();
    assert_eq!(security("/rest/carriers", "get"), r#"[{"basic":[]},{}]"#);
    assert_eq!(security("/rest/carriers", "post"), r#"[{"basic":[]}]"#);
    assert_eq!(security("/rest/bookings", "get"), r#"[{"basic":[]}]"#);
    assert_eq!(document["components"]["securitySchemes"]["basic"]["scheme"], "basic");
}

#[test]
fn no_batch_reads_what_is_not_permitted() {
    let Guarded { gateway, .. } = Guarded::start(RULES);
    let ask = |root: &str, content: (&str, &str), body: &str| {
        gateway.connect().ask_with("POST", &format!("{root}$batch"), &[content, BOB], body).text()
    };
    let escaped = FLIGHT_V4;
    for url in [
        "BookingCollection".to_owned(),
        "%42ookingCollection".to_owned(),
        format!("{V4}BookingCollection"),
        format!("http://127.0.0.1{V4}BookingCollection"),
        format!("{escaped}?$expand=flightBookings"),
        format!("{escaped}/flightBookings"),
        "$0/flightBookings".to_owned(),
        "$0/flightbooking/bookedFlight".to_owned(),
    ] {
        let first = format!(r#"{{"id":"0","method":"GET","url":"{escaped}"}}"#);
        let body = format!(r#"{{"requests":[{first},{{"id":"1","method":"get","url":"{url}"}}]}}"#);
        let told: serde_json::Value = serde_json::from_str(&ask(V4, JSON, &body)).unwrap();
        assert_eq!(
            (&told["responses"][0]["status"], &told["responses"][1]["status"]),
            (&200.into(), &403.into()),
            "{url}"
        );
    }
    let multipart = ("Content-Type", "multipart/mixed; boundary=b");
    for (root, target) in [
        (V2, "BookingCollection".to_owned()),
        (V2, format!("{FLIGHT_V2}/flightBookings")),
        (V2, format!("{V2}BookingCollection")),
        (V4, "BookingCollection".to_owned()),
    ] {
        let part = format!("--b\r\nContent-Type: application/http\r\n\r\nGET {target} HTTP/1.1\r\n\r\n\r\n--b--\r\n");
        let told = ask(root, multipart, &part);
        assert!(told.contains("HTTP/1.1 403"), "{target} {told}");
    }
}

#[test]
fn nothing_is_written_by_way_of_something_else() {
    let Guarded { gateway, .. } = Guarded::start(RULES);
    let before = bookings(&gateway);
    let booking = r#"{"carrid":"AA","connid":"0017","fldate":"2011-06-01","bookid":"99999999"}"#;
    let below = r#"{"bookid":"99999999"}"#;
    let flight = r#"{"carrid":"AA","connid":"9999","fldate":"2011-06-01","flightBookings":[{"bookid":"1"}]}"#;
    let carrier = r#"{"carrid":"ZZ","carrierFlights":[{"connid":"0001","fldate":"2011-06-01","flightBookings":[{"bookid":"1"}]}]}"#;
    let stored = "BookingCollection(carrid='AA',connid='0017',fldate=2011-06-01,bookid='00000001')";
    let link =
        format!(r#"{{"carrid":"AA","connid":"9998","fldate":"2011-06-01","flightBookings@odata.bind":["{stored}"]}}"#);
    let reference = format!(r#"{{"@odata.id":"{stored}"}}"#);
    let v4 = |rest: &str| format!("{V4}{rest}");
    let v2 = |rest: &str| format!("{V2}{rest}");
    for (method, target, headers, body) in [
        ("POST", v4("BookingCollection"), vec![], booking),
        ("POST", v4(&format!("{FLIGHT_V4}/flightBookings")), vec![], below),
        ("POST", v4("FlightCollection"), vec![], flight),
        ("POST", v4("CarrierCollection"), vec![], carrier),
        (
            "POST",
            v4("FlightCollection?$expand=flightBookings"),
            vec![],
            r#"{"carrid":"AA","connid":"9997","fldate":"2011-06-01"}"#,
        ),
        ("POST", v4("FlightCollection"), vec![], &link),
        ("POST", v4(&format!("{FLIGHT_V4}/flightBookings/$ref")), vec![], &reference),
        ("PUT", v4(&format!("{FLIGHT_V4}/flightbooking/$ref")), vec![], &reference),
        ("DELETE", v4(&format!("{FLIGHT_V4}/flightbooking/$ref")), vec![], ""),
        ("PATCH", v4(stored), vec![("If-Match", "*")], r#"{"CLASS":"F"}"#),
        ("PUT", v4(&format!("{stored}/CLASS")), vec![("If-Match", "*")], r#"{"value":"F"}"#),
        ("DELETE", v4(&format!("{stored}/CLASS")), vec![("If-Match", "*")], ""),
        ("DELETE", v4(stored), vec![("If-Match", "*")], ""),
        ("PATCH", v4(&format!("{FLIGHT_V4}/flightbooking")), vec![("If-Match", "*")], r#"{"CLASS":"F"}"#),
        (
            "POST",
            v2("BookingCollection"),
            vec![],
            r#"{"carrid":"AA","connid":"0017","fldate":"/Date(1306886400000)/","bookid":"99999999"}"#,
        ),
        ("POST", v2(&format!("{FLIGHT_V2}/flightBookings")), vec![], below),
        ("POST", v2(&format!("{FLIGHT_V2}/flightbooking")), vec![("X-HTTP-Method", "MERGE")], "{}"),
        ("POST", "/rest/bookings".to_owned(), vec![], booking),
        ("POST", "/rest/bookings".to_owned(), vec![], "[]"),
        ("POST", "/rest/flights".to_owned(), vec![], flight),
        ("POST", "/rest/carriers".to_owned(), vec![], carrier),
        ("DELETE", "/rest/bookings?all=true".to_owned(), vec![], ""),
        ("PATCH", "/rest/bookings/AA/0017/2011-06-01/00000001".to_owned(), vec![("If-Match", "*")], "{}"),
    ] {
        let mut headers = headers;
        headers.extend([JSON, BOB]);
        let answer = gateway.connect().ask_with(method, &target, &headers, body);
        answer.expect(403, "bob may not");
        let nobody: Vec<_> = headers.iter().copied().filter(|header| *header != BOB).collect();
        let answer = gateway.connect().ask_with(method, &target, &nobody, body);
        assert_eq!(answer.status, 401, "{method} {target} {}", answer.text());
    }
    // An array is refused for what one of its entities brings along, with all of it.
    let array = format!(r#"[{{"carrid":"AA","connid":"9996","fldate":"2011-06-01"}},{flight}]"#);
    gateway.connect().ask_with("POST", "/rest/flights", &[JSON, BOB], &array).expect(403, "BookingCollection");
    gateway.get("/rest/flights/AA/9996/2011-06-01").expect(404, "");
    assert_eq!(bookings(&gateway), before);
    let mut client = gateway.connect();
    client.ask_with("POST", &v4("FlightCollection"), &[JSON, ANN], flight).expect(201, "");
    client.ask_with("POST", &v4("BookingCollection"), &[JSON, ANN], booking).expect(201, "");
}

#[test]
fn a_method_that_is_not_permitted_is_not_done_by_another() {
    let Guarded { gateway, .. } = Guarded::start(
        r#"
        [[rule]]
        entity_sets = ["CarrierCollection"]
        methods = ["PATCH"]
        allow = ["user:bob"]
        [[rule]]
        entity_sets = ["CarrierCollection", "TestRecords"]
        methods = ["POST"]
        allow = ["authenticated"]
        [[rule]]
        entity_sets = ["CarrierCollection", "TestRecords", "TravelagencyCollection"]
        allow = ["user:ann"]
        "#,
    );
    let carrier = format!("{V4}CarrierCollection('AA')");
    let carrier_v2 = format!("{V2}CarrierCollection('AA')");
    let ask = |method: &str, target: &str, more: &[(&str, &str)], body: &str| {
        let headers = [&[JSON, BOB, ("If-Match", "*")], more].concat();
        gateway.connect().ask_with(method, target, &headers, body)
    };
    let name = r#"{"CARRNAME":"x"}"#;
    assert_eq!(ask("PATCH", &carrier, &[], name).status, 204);
    assert_eq!(ask("MERGE", &carrier_v2, &[], name).status, 204);
    assert_eq!(ask("DELETE", &format!("{carrier}/URL"), &[], "").status, 204);
    // What is answered is read.
    ask("PATCH", &carrier, &[("Prefer", "return=representation")], name).expect(403, "may not read");
    ask("PATCH", "/rest/carriers/AA", &[], name).expect(403, "may not read");
    ask("PUT", &carrier, &[], name).expect(403, "may not replace");
    ask("PUT", &format!("{carrier}/CARRNAME"), &[], r#"{"value":"x"}"#).expect(403, "may not replace");
    ask("DELETE", &carrier, &[], "").expect(403, "may not delete");
    // An action changes what it is done to.
    let call = r#"{"agencynum":"00000055","telephone":"1"}"#;
    ask("POST", &format!("{V4}UpdateAgencyPhoneNo"), &[], call).expect(403, "may not change");
    let call = format!("{V2}UpdateAgencyPhoneNo?agencynum='00000055'&telephone='1'");
    ask("PUT", &call, &[], "").expect(403, "may not change");
    // The method that is tunnelled is the one that counts.
    for (tunnelled, refused) in [("DELETE", "may not delete"), ("PUT", "may not replace")] {
        ask("POST", &carrier_v2, &[("X-HTTP-Method", tunnelled)], name).expect(403, refused);
    }
    ask("POST", "/rest/mass-change/deleteAllRecs", &[], "{}").expect(403, "may not delete entities of TestRecords");
    ask("DELETE", "/rest/records?all=true", &[], "").expect(403, "may not delete");
    let insert = r#"{"insEntity":"TestRecords","insArray":[{}]}"#;
    ask("POST", "/rest/mass-change/insertAll", &[], insert).expect(201, "");
}

#[test]
fn who_may_change_but_not_create_creates_nothing_by_changing() {
    let Guarded { gateway, .. } = Guarded::start(
        "[[rule]]\nmethods = [\"GET\", \"PATCH\", \"PUT\"]\nallow = [\"user:bob\"]\n[[rule]]\nallow = [\"user:ann\"]",
    );
    let target = format!("{V4}CarrierCollection('ZZ')");
    for method in ["PATCH", "PUT"] {
        gateway.connect().ask_with(method, &target, &[JSON, BOB], r#"{"CARRNAME":"x"}"#).expect(404, "");
    }
    gateway.connect().ask_with("PATCH", &target, &[JSON, ANN], r#"{"CARRNAME":"x"}"#).expect(403, "may not change");
    gateway
        .connect()
        .ask_with("POST", &format!("{V4}CarrierCollection"), &[JSON, ANN], r#"{"carrid":"ZZ"}"#)
        .expect(201, "");
}

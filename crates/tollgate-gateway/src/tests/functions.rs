//! Functions of the flight service: as V2 and as V4 call them, on SQLite and on PostgreSQL.

use std::sync::OnceLock;

use super::client::{Running, V2, V4};
use super::cluster::cluster;

const V2_FLIGHT: &str = "?airlineid='AA'&connectionid='0017'&flightdate=datetime'2011-06-01T00:00:00'";
const V4_FLIGHT: &str = "(airlineid='AA',connectionid='0017',flightdate=2011-06-01)";

/// Runs `test` with a gateway over SQLite, and with one over PostgreSQL where installed.
fn on_both(test: impl Fn(&Running)) {
    static POSTGRES: OnceLock<Running> = OnceLock::new();
    test(Running::shared());
    if let Some(cluster) = cluster() {
        let service = || format!("[[service]]\nkind = \"flights\"\ndatabase = \"{}\"", cluster.url(""));
        test(POSTGRES.get_or_init(|| Running::start(&service())));
    }
}

fn json(gateway: &Running, target: &str) -> serde_json::Value {
    let answer = gateway.connect().ask("GET", target, &[("Accept", "application/json")]);
    assert_eq!(answer.status, 200, "{target}: {}", answer.text());
    serde_json::from_str(&answer.text()).unwrap()
}

#[test]
fn what_is_computed_of_a_flight_is_a_complex_value() {
    on_both(|gateway| {
        let flight = json(gateway, &format!("{V4}FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)"));
        let free = |class: &str| {
            let seats = |name: &str| flight[format!("{name}{class}")].as_i64().unwrap();
            seats("SEATSMAX") - seats("SEATSOCC")
        };
        let expected = serde_json::json!({
            "ECONOMAX": flight["SEATSMAX"], "ECONOFREE": free(""), "BUSINMAX": flight["SEATSMAX_B"],
            "BUSINFREE": free("_B"), "FIRSTMAX": flight["SEATSMAX_F"], "FIRSTFREE": free("_F"),
        });
        let mut v4 = json(gateway, &format!("{V4}CheckFlightAvailability{V4_FLIGHT}"));
        let context = v4.as_object_mut().unwrap().remove("@odata.context").unwrap();
        assert!(context.as_str().unwrap().ends_with("$metadata#RMTSAMPLEFLIGHT.FlightAvailability"), "{context}");
        assert_eq!(v4, expected);
        let mut v2 = json(gateway, &format!("{V2}CheckFlightAvailability{V2_FLIGHT}"));
        let value = v2["d"]["CheckFlightAvailability"].as_object_mut().unwrap();
        let metadata = value.remove("__metadata").unwrap();
        assert_eq!(metadata, serde_json::json!({"type": "RMTSAMPLEFLIGHT.FlightAvailability"}));
        assert_eq!(v2["d"]["CheckFlightAvailability"], expected);
        let details = json(gateway, &format!("{V4}GetFlightDetails{V4_FLIGHT}"));
        for (name, value) in flight["flightDetails"].as_object().unwrap() {
            assert_eq!(details[name], *value, "{name}");
        }
    });
}

#[test]
fn a_value_is_xml_in_v2_with_the_functions_name() {
    for compatible in ["'20110601'", "datetime'2011-06-01T00:00:00'"] {
        let target = format!(
            "{V2}CheckFlightAvailability?airlineid='AA'&connectionid='0017'&flightdate={compatible}&sap-client=1"
        );
        let answer = Running::shared().get(&target);
        answer.expect(200, "?><d:CheckFlightAvailability xmlns:d=");
        answer.expect(200, " m:type=\"RMTSAMPLEFLIGHT.FlightAvailability\"><d:ECONOMAX>385</d:ECONOMAX>");
        assert_eq!(answer.header("content-type"), Some("application/xml;charset=utf-8"));
        assert_eq!(answer.header("etag"), None);
    }
}

#[test]
fn entities_of_a_function_are_asked_for_like_those_of_a_set() {
    on_both(|gateway| {
        let range = "fromdate=2011-06-01,todate=2011-08-31";
        let call = format!("GetAvailableFlights({range},cityfrom='new%20york',cityto='SAN%20FRANCISCO')");
        let all = json(gateway, &format!("{V4}{call}"));
        let found = all["value"].as_array().unwrap();
        assert!(!found.is_empty());
        for flight in found {
            assert_eq!(flight["flightDetails"]["cityFrom"], "new york");
            let date = flight["fldate"].as_str().unwrap();
            assert!(("2011-06-01"..="2011-08-31").contains(&date), "{date}");
        }
        let count = gateway.connect().ask("GET", &format!("{V4}{call}/$count"), &[]).text();
        assert_eq!(count, found.len().to_string());
        let options = "?$filter=PRICE%20gt%200&$orderby=fldate%20desc&$top=1&$count=true&$expand=FlightCarrier";
        let one = json(gateway, &format!("{V4}{call}{options}"));
        assert_eq!(one["@odata.count"], found.len());
        assert_eq!(one["value"].as_array().unwrap().len(), 1);
        assert!(one["value"][0]["FlightCarrier"]["CARRNAME"].is_string());
        let aliases = "GetAvailableFlights(fromdate=@a,todate=@b,cityfrom=@c,cityto=@d)\
                       ?@a=2011-06-01&@b=2011-08-31&@c='new%20york'&@d='SAN%20FRANCISCO'";
        assert_eq!(json(gateway, &format!("{V4}{aliases}"))["value"], all["value"]);
        let v2 = "GetAvailableFlights?fromdate=datetime'2011-06-01T00:00:00'&todate=datetime'2011-08-31T00:00:00'\
                  &cityfrom='new%20york'&cityto='SAN%20FRANCISCO'&$inlinecount=allpages&$select=carrid";
        let v2 = json(gateway, &format!("{V2}{v2}"));
        assert_eq!(v2["d"]["__count"], found.len().to_string());
    });
}

#[test]
fn the_next_page_of_a_function_has_its_parameters() {
    let gateway = Running::start("[pages]\nsize = 2\n");
    let mut client = gateway.connect();
    let mut target = format!(
        "{V2}GetAvailableFlights?fromdate='20110601'&todate='20110831'&cityfrom='new%20york'\
         &cityto='SAN%20FRANCISCO'&$format=json"
    );
    let mut seen = std::collections::HashSet::new();
    let mut pages = 0;
    loop {
        let page: serde_json::Value = serde_json::from_str(&client.ask("GET", &target, &[]).text()).unwrap();
        for flight in page["d"]["results"].as_array().unwrap() {
            assert!(seen.insert(flight["__metadata"]["uri"].as_str().unwrap().to_owned()));
        }
        pages += 1;
        let Some(next) = page["d"]["__next"].as_str() else { break };
        target = next[next.find("/sap").unwrap()..].to_owned();
    }
    assert!(pages > 1, "{pages} page");
}

#[test]
fn one_entity_of_a_function_has_properties_behind_it() {
    on_both(|gateway| {
        let set = json(gateway, &format!("{V4}TravelagencyCollection?$top=1"));
        let number = set["value"][0]["agencynum"].as_str().unwrap();
        let found = json(gateway, &format!("{V4}GetAgencyDetails(agencynum='{number}')"));
        assert_eq!(found["NAME"], set["value"][0]["NAME"]);
        let name = format!("{V2}GetAgencyDetails/NAME/$value?agencynum='{number}'");
        gateway.connect().ask("GET", &name, &[]).expect(200, found["NAME"].as_str().unwrap());
    });
}

#[test]
fn wrong_calls_say_what_is_wrong() {
    let call = |rest: &str| format!("CheckFlightAvailability{rest}");
    for (root, below, status, fragment) in [
        (V2, call(""), 400, "the parameter 'airlineid' of CheckFlightAvailability is missing"),
        (V2, call("?airlineid='AA'&airlineid='AA'"), 400, "stands twice"),
        (V2, call("?airlineid=5"), 400, "Edm.String"),
        (V2, call("?airlineid=null"), 400, "cannot be null"),
        (V2, call("?airlineid='AA"), 400, "does not end"),
        (V2, call("(airlineid='AA')"), 400, "as query options"),
        (V2, call("?airlineid='AA'&connectionid='1'&flightdate='2011-06-01'"), 400, "flightdate"),
        (V4, call(V4_FLIGHT) + "/ECONOMAX", 404, "nothing can follow"),
        (V4, call(V4_FLIGHT) + "?$select=ECONOMAX", 400, "the value of a function"),
        (V4, call("(airline='AA')"), 400, "did you mean airlineid?"),
        (V4, call("(airlineid='AA',airlineid='AB')"), 400, "stands twice"),
        (V4, call("(airlineid='AA'"), 400, "parenthesis"),
        (V4, call("(airlineid='AA',connectionid='0017',flightdate=@p)"), 400, "flightdate"),
        (V4, call("(airlineid='ZZ',connectionid='0017',flightdate=2011-06-01)"), 404, "no entity with this key"),
        (V4, "GetAgencyDetails(agencynum='1')?$apply=identity".into(), 400, "$apply"),
    ] {
        let answer = Running::shared().connect().ask("GET", &format!("{root}{below}"), &[]);
        answer.expect(status, fragment);
    }
}

#[test]
fn what_a_function_finds_can_only_be_read() {
    for (method, below) in [
        ("POST", "GetAvailableFlights(fromdate=2011-06-01,todate=2011-08-31,cityfrom='A',cityto='B')"),
        ("PATCH", "GetAgencyDetails(agencynum='00000001')"),
        ("DELETE", "GetAgencyDetails(agencynum='00000001')"),
        ("DELETE", "GetAgencyDetails(agencynum='00000001')/NAME"),
    ] {
        let body = ("Content-Type", "application/json");
        let answer = Running::shared().connect().ask_with(method, &format!("{V4}{below}"), &[body], "{}");
        answer.expect(405, "");
        assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS"), "{method} {below}");
    }
}

#[test]
fn a_value_is_never_a_part_of_a_statement() {
    on_both(|gateway| {
        for hostile in [
            "' or '1'='1",
            "new york' or 1 eq 1 or cityFrom eq '",
            "x'; DROP TABLE \"Flight\"; --",
            "') UNION SELECT * FROM sqlite_master --",
            "@cityto",
            "%25",
            "a) or (1 eq 1",
        ] {
            let quoted = hostile.replace('\'', "''");
            let mut encoded = String::new();
            for byte in quoted.bytes() {
                encoded.push_str(&format!("%{byte:02X}"));
            }
            let call =
                format!("GetAvailableFlights(fromdate=2011-01-01,todate=2012-01-01,cityfrom='{encoded}',cityto='x')");
            assert_eq!(json(gateway, &format!("{V4}{call}"))["value"], serde_json::json!([]), "{hostile}");
            let v2 = format!("{V2}GetAgencyDetails?agencynum='{encoded}'");
            gateway.connect().ask("GET", &v2, &[]).expect(404, "no entity with this key");
        }
        let count = gateway.connect().ask("GET", &format!("{V4}FlightCollection/$count"), &[]).text();
        assert_eq!(count, "400");
    });
}

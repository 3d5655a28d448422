//! OData V4.

use super::client::{Answer, Running, V4};

const FLIGHT: &str = "FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)";
const UI5: &str = "application/json;odata.metadata=minimal;IEEE754Compatible=true";

fn get(below: &str, headers: &[(&str, &str)]) -> Answer {
    let headers: Vec<_> = [("Host", "gateway.example")].iter().chain(headers).copied().collect();
    Running::shared().get_with(&format!("{V4}{below}"), &headers)
}

#[test]
fn an_entity_is_answered_with_minimal_metadata() {
    let answer = get(FLIGHT, &[]);
    insta::assert_snapshot!(answer.text());
    assert_eq!(answer.header("content-type"), Some("application/json;odata.metadata=minimal"));
    assert_eq!(answer.header("odata-version"), Some("4.0"));
}

#[test]
fn metadata_levels_add_and_take_away_control_information() {
    insta::assert_snapshot!("full", get(FLIGHT, &[("Accept", "application/json;odata.metadata=full")]).text());
    let none = get(FLIGHT, &[("Accept", "application/json;odata.metadata=none")]);
    assert!(!none.text().contains('@'), "{}", none.text());
    assert_eq!(none.header("content-type"), Some("application/json;odata.metadata=none"));
}

#[test]
fn ieee754_compatible_writes_decimals_as_strings() {
    let price = |answer: &Answer| {
        let text = answer.text();
        text.split("\"PRICE\":").nth(1).unwrap().split(',').next().unwrap().to_owned()
    };
    let strings = get(FLIGHT, &[("Accept", UI5)]);
    let content_type = "application/json;odata.metadata=minimal;IEEE754Compatible=true";
    assert_eq!(strings.header("content-type"), Some(content_type));
    assert_eq!(price(&strings), format!("\"{}\"", price(&get(FLIGHT, &[]))));
}

#[test]
fn the_service_document_lists_the_sets() {
    insta::assert_snapshot!(get("", &[]).text());
}

#[test]
fn reads_are_answered() {
    for (below, fragment) in [
        ("FlightCollection?$top=2", "\"@odata.context\""),
        ("FlightCollection?$filter=contains(flightDetails/cityFrom,'O')&$top=1", "\"value\":["),
        ("FlightCollection?$filter=fldate%20eq%202011-06-01&$count=true&$top=0", "\"@odata.count\":16"),
        ("FlightCollection?$orderby=PRICE%20desc&$top=1", "\"PRICE\":"),
        ("FlightCollection?$select=PRICE&$top=1", "\"PRICE\":"),
        ("FlightCollection/$count", "400"),
        ("FlightCollection?$expand=flightBookings&$top=1", "\"flightBookings\":["),
        ("FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)/FlightCarrier", "\"CARRNAME\":"),
        ("FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)/PRICE", "\"value\":"),
        ("FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)/CURRENCY/$value", "USD"),
        ("FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)/flightDetails", "\"cityFrom\":"),
        ("$metadata", "Version=\"4.0\""),
    ] {
        get(below, &[]).expect(200, fragment);
    }
}

#[test]
fn versions_that_are_not_spoken_are_refused() {
    get(FLIGHT, &[("OData-Version", "2.0")]).expect(400, "OData-Version");
    get(FLIGHT, &[("OData-MaxVersion", "3.0")]).expect(400, "OData-MaxVersion");
    get(FLIGHT, &[("OData-Version", "5.0")]).expect(400, "OData-Version");
    get(FLIGHT, &[("OData-Version", "4.01"), ("OData-MaxVersion", "4.01")]).expect(200, "0017");
}

#[test]
fn the_later_release_is_answered_where_it_is_understood() {
    let later = [("OData-MaxVersion", "4.01"), ("Accept", "application/json;metadata=full")];
    for below in [
        FLIGHT,
        "FlightCollection?$top=1&$count=true&$expand=flightBookings($count=true;$top=1)",
        "FlightCollection?$apply=aggregate($count as n)",
        "FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)/PRICE",
        "FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)/flightDetails",
        "FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)/FlightCarrier/$ref",
        "GetFlightDetails(airlineid='AA',connectionid='0017',flightdate=2011-06-01)",
        "",
    ] {
        let answer = get(&below.replace(' ', "%20"), &later);
        answer.expect(200, "\"@context\":");
        let text = answer.text();
        assert!(!text.contains("odata."), "{below}: {text}");
        assert_eq!(answer.header("odata-version"), Some("4.01"), "{below}");
        assert_eq!(answer.header("content-type"), Some("application/json;metadata=full"), "{below}");
        // The same but for the names of control information.
        let earlier = get(&below.replace(' ', "%20"), &later[1..]);
        assert_eq!(earlier.header("odata-version"), Some("4.0"), "{below}");
        let shorter = earlier.text().replace("@odata.", "@");
        assert_eq!(shorter, text, "{below}");
    }
    assert_eq!(get("FlightCollection/$count", &later).header("odata-version"), Some("4.01"));
    assert_eq!(get("nothing", &later).header("odata-version"), Some("4.01"));
    // Options without `$` and in any case.
    get("FlightCollection?TOP=1&orderBy=PRICE", &later).expect(200, "value");
}

#[test]
fn metadata_is_there_as_json_too() {
    let json = get("$metadata", &[("Accept", "application/json")]);
    json.expect(200, "{\"$Version\":\"4.01\",\"$EntityContainer\":\"RMTSAMPLEFLIGHT.RMTSAMPLEFLIGHT_Entities\"");
    assert_eq!(json.header("content-type"), Some("application/json"));
    assert_eq!(json.header("vary"), Some("Accept"));
    assert_eq!(get("$metadata?$format=json", &[("Accept", "application/xml")]).text(), json.text());
    let xml = get("$metadata", &[]);
    assert_eq!(xml.header("content-type"), Some("application/xml;charset=utf-8"));
    assert_ne!(xml.header("etag"), json.header("etag"));
    let etag = json.header("etag").unwrap().to_owned();
    assert_eq!(get("$metadata", &[("Accept", "application/json"), ("If-None-Match", &etag)]).status, 304);
    assert_eq!(get("$metadata", &[("If-None-Match", &etag)]).status, 200);
}

#[test]
fn preferences_are_kept_as_far_as_they_can_be() {
    let check = |below: &str, prefer: &str, status: u16, applied: Option<&str>| {
        let answer = get(below, &[("Prefer", prefer)]);
        answer.expect(status, "");
        assert_eq!(answer.header("preference-applied"), applied, "{below} {prefer}");
    };
    let collection = "FlightCollection?$top=1";
    check(
        collection,
        "respond-async, wait=10, odata.track-changes, odata.callback; url=\"http://a.example/\"",
        200,
        None,
    );
    check(collection, "maxpagesize=3, respond-async", 200, Some("maxpagesize=3"));
    check(collection, "return=minimal", 200, None);
    check(collection, "odata.include-annotations=\"*\"", 200, Some("odata.include-annotations=\"*\""));
    check(collection, "handling=lenient", 200, Some("handling=lenient"));
    check("FlightCollection?foo=1&$top=1", "handling=lenient", 200, Some("handling=lenient"));
    check("FlightCollection?foo=1&$top=1", "handling=strict", 400, None);
    check("FlightCollection?sap-client=100&$top=1", "handling=strict", 200, Some("handling=strict"));
    check(FLIGHT, "handling=strict", 200, Some("handling=strict"));
    check(FLIGHT, "maxpagesize=3", 200, None);
}

#[test]
fn a_preferred_page_size_is_applied_and_said() {
    let answer = get("FlightCollection", &[("Prefer", "odata.maxpagesize=7")]);
    assert_eq!(answer.header("preference-applied"), Some("odata.maxpagesize=7"));
    answer.expect(200, "\"@odata.nextLink\":\"http://gateway.example/odata/v4/flights/FlightCollection?$skiptoken=");
    assert_eq!(answer.text().matches("\"connid\"").count(), 7);
    assert_eq!(get("FlightCollection?$top=1", &[]).header("preference-applied"), None);
}

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
    assert_eq!(answer.header("content-type"), Some("application/json;odata.metadata=minimal;charset=utf-8"));
    assert_eq!(answer.header("odata-version"), Some("4.0"));
}

#[test]
fn metadata_levels_add_and_take_away_control_information() {
    insta::assert_snapshot!("full", get(FLIGHT, &[("Accept", "application/json;odata.metadata=full")]).text());
    let none = get(FLIGHT, &[("Accept", "application/json;odata.metadata=none")]);
    assert!(!none.text().contains('@'), "{}", none.text());
    assert_eq!(none.header("content-type"), Some("application/json;odata.metadata=none;charset=utf-8"));
}

#[test]
fn ieee754_compatible_writes_decimals_as_strings() {
    let price = |answer: &Answer| {
        let text = answer.text();
        text.split("\"PRICE\":").nth(1).unwrap().split(',').next().unwrap().to_owned()
    };
    let strings = get(FLIGHT, &[("Accept", UI5)]);
    let content_type = "application/json;odata.metadata=minimal;IEEE754Compatible=true;charset=utf-8";
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
    get(FLIGHT, &[("OData-Version", "4.01"), ("OData-MaxVersion", "4.01")]).expect(200, "0017");
}

#[test]
fn a_preferred_page_size_is_applied_and_said() {
    let answer = get("FlightCollection", &[("Prefer", "odata.maxpagesize=7")]);
    assert_eq!(answer.header("preference-applied"), Some("odata.maxpagesize=7"));
    answer.expect(200, "\"@odata.nextLink\":\"http://gateway.example/odata/v4/flights/FlightCollection?$skiptoken=");
    assert_eq!(answer.text().matches("\"connid\"").count(), 7);
    assert_eq!(get("FlightCollection?$top=1", &[]).header("preference-applied"), None);
}

//! Reading of references: V4's `$ref` and V2's `$links`.

use super::client::{Running, V2, V4};

const JSON: (&str, &str) = ("Accept", "application/json");

/// Sends a request below a service root and compares status, type and a part of the answer with the expected ones.
fn check(root: &str, headers: &[(&str, &str)], target: &str, status: u16, content_type: &str, fragment: &str) {
    let gateway = Running::start("");
    let answer = gateway.connect().ask("GET", &format!("{root}{target}"), headers);
    answer.expect(status, fragment);
    assert_eq!(answer.header("content-type").unwrap_or_default(), content_type, "{target}");
    assert_eq!(answer.header("etag"), None, "{target}");
}

const V4_JSON: &str = "application/json;odata.metadata=minimal";
const V2_JSON: &str = "application/json;charset=utf-8";
const XML: &str = "application/xml;charset=utf-8";
const FLIGHT_V4: &str = "FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)";
const FLIGHT_V2: &str = "FlightCollection(carrid='AA',connid='0017',fldate='20110601')";

#[test]
fn v4_answers_ids() {
    let one = format!("{FLIGHT_V4}/FlightCarrier/$ref");
    check(V4, &[], &one, 200, V4_JSON, "$metadata#$ref\",\"@odata.id\":\"http://");
    check(V4, &[], &one, 200, V4_JSON, "/CarrierCollection('AA')\"}");
    let many = "CarrierCollection('AA')/carrierFlights/$ref?$top=2&$orderby=PRICE%20desc&$count=true";
    check(V4, &[], many, 200, V4_JSON, "$metadata#Collection($ref)\",\"@odata.count\":");
    check(V4, &[], many, 200, V4_JSON, ",\"value\":[{\"@odata.id\":\"http://");
    check(V4, &[], "CarrierCollection/$ref?$filter=carrid%20eq%20'LH'", 200, V4_JSON, "/CarrierCollection('LH')\"}]}");
    check(V4, &[], "CarrierCollection('AA')/$ref", 200, V4_JSON, "/CarrierCollection('AA')\"}");
}

#[test]
fn v2_answers_uris_as_xml_or_json() {
    let one = format!("{FLIGHT_V2}/$links/FlightCarrier");
    check(V2, &[], &one, 200, XML, "<uri xmlns=\"http://schemas.microsoft.com/ado/2007/08/dataservices\">http://");
    check(V2, &[JSON], &one, 200, V2_JSON, "/CarrierCollection('AA')\"}}");
    let many = "CarrierCollection('AA')/$links/carrierFlights?$top=1&$inlinecount=allpages";
    check(V2, &[], many, 200, XML, "</m:count><uri>http://");
    check(V2, &[JSON], many, 200, V2_JSON, "\"results\":[{\"uri\":\"http://");
}

#[test]
fn what_is_not_there_has_no_reference() {
    let problem = "application/json;odata.metadata=minimal";
    check(V4, &[], "CarrierCollection('ZZ')/$ref", 404, problem, "no entity with this key");
    check(V4, &[], "CarrierCollection('ZZ')/carrierFlights/$ref", 404, problem, "does not exist");
    check(V2, &[JSON], "CarrierCollection('ZZ')/$links/carrierFlights", 404, V2_JSON, "does not exist");
    check(V4, &[], "CarrierCollection('AA')/carrierFlights/$ref?$select=PRICE", 400, problem, "$select does not apply");
}

#[test]
fn references_are_paged() {
    let gateway = Running::start("[pages]\nsize = 5\n");
    let mut client = gateway.connect();
    let mut target = format!("{V4}CarrierCollection('AA')/carrierFlights/$ref?$orderby=PRICE");
    let mut seen = std::collections::HashSet::new();
    let mut pages = 0;
    loop {
        let answer: serde_json::Value = serde_json::from_str(&client.ask("GET", &target, &[]).text()).unwrap();
        for reference in answer["value"].as_array().unwrap() {
            assert!(seen.insert(reference["@odata.id"].as_str().unwrap().to_owned()), "{reference} stands twice");
        }
        pages += 1;
        let Some(next) = answer["@odata.nextLink"].as_str() else { break };
        target = next[next.find("/odata").unwrap()..].to_owned();
    }
    let count = client.ask("GET", &format!("{V4}CarrierCollection('AA')/carrierFlights/$count"), &[]).text();
    assert_eq!(seen.len().to_string(), count);
    assert!(pages > 1, "{pages} page");
}

#[test]
fn a_batch_reads_references_too() {
    let gateway = Running::start("");
    let body = r#"{"requests":[{"id":"1","method":"get","url":"CarrierCollection('AA')/carrierFlights/$ref?$top=1"}]}"#;
    let content = ("Content-Type", "application/json");
    let answer = gateway.connect().ask_with("POST", &format!("{V4}$batch"), &[content], body);
    answer.expect(200, "\"status\":200").expect(200, "Collection($ref)");
}

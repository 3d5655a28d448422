//! OData V2 under the seed's own paths.

use super::client::{Running, V2};

const HOST: (&str, &str) = ("Host", "gateway.example");
const FLIGHT: &str = "FlightCollection(carrid='AA',connid='0017',fldate='20110601')";

fn get(below: &str, headers: &[(&str, &str)]) -> super::client::Answer {
    let headers: Vec<_> = [HOST].iter().chain(headers).copied().collect();
    Running::shared().get_with(&format!("{V2}{below}"), &headers)
}

#[test]
fn the_seeds_own_url_answers_an_atom_entry_of_about_its_size() {
    let answer = get(FLIGHT, &[]);
    let text = answer.text();
    let (before, rest) = text.split_once("<updated>").unwrap();
    let (updated, after) = rest.split_once("</updated>").unwrap();
    assert!(updated.len() == 20 && updated.ends_with('Z'), "{updated}");
    insta::assert_snapshot!(format!("{before}{after}"));
    assert_eq!(answer.header("content-type"), Some("application/atom+xml;type=entry;charset=utf-8"));
    assert_eq!(answer.header("dataserviceversion"), Some("2.0"));
    assert!((2_300..2_900).contains(&answer.body.len()), "{}", answer.body.len());
}

#[test]
fn with_format_json_it_answers_json() {
    let answer = get(&format!("{FLIGHT}?$format=json"), &[]);
    insta::assert_snapshot!(answer.text());
    assert_eq!(answer.header("content-type"), Some("application/json;charset=utf-8"));
}

#[test]
fn both_key_forms_and_both_names_of_the_service_name_the_same_flight() {
    let gateway = Running::shared();
    for below in [FLIGHT, "FlightCollection(carrid='AA',connid='0017',fldate=datetime'2011-06-01T00:00:00')"] {
        for root in [V2, "/sap/opu/sdata/iwfnd/RMTSAMPLEFLIGHT/"] {
            gateway
                .get(&format!("{root}{below}?$format=json"))
                .expect(200, "\"connid\":\"0017\"")
                .expect(200, &format!("{root}FlightCollection("));
        }
    }
}

#[test]
fn the_service_document_lists_the_sets_with_and_without_the_last_slash() {
    let answer = get("", &[]);
    insta::assert_snapshot!(answer.text());
    assert_eq!(answer.header("content-type"), Some("application/atomsvc+xml;charset=utf-8"));
    let bare = Running::shared().get_with(V2.trim_end_matches('/'), &[HOST]);
    assert_eq!(bare.body, answer.body);
    get("?$format=json", &[]).expect(200, "FlightCollection");
}

#[test]
fn reads_are_answered() {
    for (below, fragment) in [
        ("FlightCollection?$top=2&$format=json", "\"results\""),
        ("FlightCollection?$filter=carrid%20eq%20'AA'&$top=1&$format=json", "\"carrid\":\"AA\""),
        ("FlightCollection?$filter=year(fldate)%20eq%202011%20and%20PRICE%20gt%200&$top=1&$format=json", "results"),
        ("FlightCollection?$orderby=PRICE%20desc&$top=1&$format=json", "\"PRICE\":\""),
        ("FlightCollection?$select=carrid,PRICE&$top=1&$format=json", "\"PRICE\":\""),
        ("FlightCollection?$inlinecount=allpages&$top=1&$format=json", "\"__count\":\"400\""),
        ("FlightCollection/$count", "400"),
        ("FlightCollection/$count?$filter=carrid%20eq%20'??'", "0"),
        ("FlightCollection?$expand=FlightCarrier&$top=1&$format=json", "\"CARRNAME\":\""),
        ("FlightCollection(carrid='AA',connid='0017',fldate='20110601')/FlightCarrier?$format=json", "\"CARRNAME\":\""),
        ("FlightCollection(carrid='AA',connid='0017',fldate='20110601')/flightBookings?$format=json", "\"bookid\":\""),
        ("FlightCollection(carrid='AA',connid='0017',fldate='20110601')/CURRENCY?$format=json", "\"CURRENCY\":\"USD\""),
        ("FlightCollection(carrid='AA',connid='0017',fldate='20110601')/CURRENCY/$value", "USD"),
        ("FlightCollection(carrid='AA',connid='0017',fldate='20110601')/flightDetails/cityFrom/$value", ""),
        ("FlightCollection(carrid='AA',connid='0017',fldate='20110601')/flightDetails?$format=json", "\"cityFrom\":\""),
        ("CarrierCollection('AA')?$format=json", "\"carrid\":\"AA\""),
        ("CarrierCollection('AA')/carrierFlights/$count", "50"),
        ("CarrierCollection('AA')/$links/carrierFlights/$count", "50"),
        ("TravelagencyCollection?$top=1&$format=json", "\"agencynum\":\""),
        ("$metadata", "RMTSAMPLEFLIGHT"),
    ] {
        get(below, &[]).expect(200, fragment);
    }
}

#[test]
fn accept_and_format_choose_between_atom_and_json() {
    for (below, accept, content_type) in [
        (FLIGHT, "application/json", "application/json;charset=utf-8"),
        (FLIGHT, "application/atom+xml", "application/atom+xml;type=entry;charset=utf-8"),
        (FLIGHT, "text/html,application/xml;q=0.9,*/*;q=0.8", "application/atom+xml;type=entry;charset=utf-8"),
        ("FlightCollection?$top=1", "*/*", "application/atom+xml;type=feed;charset=utf-8"),
        ("FlightCollection?$top=1&$format=json", "application/atom+xml", "application/json;charset=utf-8"),
        ("FlightCollection?$top=1&$format=atom", "application/json", "application/atom+xml;type=feed;charset=utf-8"),
        ("$metadata", "application/xml", "application/xml;charset=utf-8"),
        ("FlightCollection/$count", "*/*", "text/plain;charset=utf-8"),
    ] {
        let answer = get(below, &[("Accept", accept)]);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(content_type)), "{below} {accept}");
    }
}

#[test]
fn versions_that_are_not_spoken_are_refused() {
    get(FLIGHT, &[("DataServiceVersion", "3.0")]).expect(400, "DataServiceVersion");
    get(FLIGHT, &[("MaxDataServiceVersion", "1.0")]).expect(400, "MaxDataServiceVersion");
    get(FLIGHT, &[("MaxDataServiceVersion", "3.0"), ("DataServiceVersion", "2.0")]).expect(200, "0017");
}

#[test]
fn a_media_entity_says_of_what_type_its_stream_is_whatever_was_selected() {
    for option in ["", "?$select=carrid"] {
        let path = format!("CarrierCollection('AA'){option}");
        let answer = get(&path, &[]).expect(200, "<content type=\"image/svg+xml\" src=").text();
        assert!(!answer.contains("edit-media"), "nothing can be written: {answer}");
    }
    get("CarrierCollection('AA')?$format=json", &[]).expect(200, "\"content_type\":\"image/svg+xml\"");
}

#[test]
fn expanded_entities_are_expanded_themselves_along_a_path() {
    let carrier = "CarrierCollection('AA')?$expand=carrierFlights/flightBookings,carrierFlights/FlightCarrier";
    let answer = get(&format!("{carrier}&$format=json"), &[]);
    let carrier_json: serde_json::Value = serde_json::from_str(&answer.text()).unwrap();
    let flights = carrier_json["d"]["carrierFlights"]["results"].as_array().unwrap();
    assert_eq!(flights.len(), 50);
    for flight in flights {
        assert_eq!(flight["FlightCarrier"]["carrid"], "AA");
        assert!(flight["FlightCarrier"]["carrierFlights"]["__deferred"].is_object());
    }
    let bookings = flights.iter().flat_map(|flight| flight["flightBookings"]["results"].as_array().unwrap());
    assert!(bookings.clone().count() > 0 && bookings.clone().all(|booking| booking["carrid"] == "AA"));
    let chosen = "&$select=CARRNAME,carrierFlights/PRICE,carrierFlights/flightBookings/PASSNAME";
    let answer = get(&format!("{carrier}{chosen}&$format=json"), &[]);
    let carrier_json: serde_json::Value = serde_json::from_str(&answer.text()).unwrap();
    let flight = &carrier_json["d"]["carrierFlights"]["results"][0];
    let names = |value: &serde_json::Value| {
        let names = value.as_object().unwrap().keys().filter(|name| *name != "__metadata");
        names.cloned().collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>()
    };
    assert_eq!(names(flight), ["PRICE", "flightBookings"]);
    assert_eq!(names(&flight["flightBookings"]["results"][0]), ["PASSNAME"]);
    let atom = get(carrier, &[]).expect(200, "<m:inline><feed").text();
    assert_eq!(atom.matches("<m:inline>").count(), 1 + 50 * 2, "one feed, and two inside of each flight");
}

#[test]
fn the_stream_of_a_carrier_is_its_name_drawn() {
    let atom = get("CarrierCollection('AA')", &[]).text();
    let source = atom.split("<content type=\"image/svg+xml\" src=\"").nth(1).unwrap().split('"').next().unwrap();
    let below = &source[source.find("CarrierCollection").unwrap()..];
    let answer = get(below, &[("Accept", "*/*")]);
    answer.expect(200, "American Airlines</text></svg>").expect(200, "<svg xmlns=");
    assert_eq!(answer.header("content-type"), Some("image/svg+xml"));
    Running::shared().get("/odata/v4/flights/CarrierCollection('AA')/$value").expect(200, "American Airlines");
    get("CarrierCollection('ZZ')/$value", &[]).expect(404, "no entity with this key");
    get("CarrierCollection('AA')/$value/x", &[]).expect(404, "nothing can follow $value");
    get("CarrierCollection('AA')/$value?$select=carrid", &[]).expect(400, "a media stream");
    let flight = "FlightCollection(carrid='AA',connid='0017',fldate='20110601')";
    get(&format!("{flight}/FlightCarrier/$value"), &[]).expect(200, "American Airlines");
    get(&format!("{flight}/$value"), &[]).expect(404, "not a media entity");
}

#[test]
fn a_name_in_a_stream_is_text_and_a_media_type_no_field() {
    let gateway = Running::start("");
    let mut client = gateway.connect();
    let body = r#"{"carrid":"XX","CARRNAME":"<a>&\"b","mimeType":"a/b\r\nSet-Cookie: c=d"}"#;
    let json = ("Content-Type", "application/json");
    client.ask_with("POST", "/odata/v4/flights/CarrierCollection", &[json], body).expect(201, "");
    let answer = client.ask("GET", &format!("{V2}CarrierCollection('XX')/$value"), &[]);
    answer.expect(200, ">&lt;a>&amp;\"b</text>");
    assert_eq!(answer.header("content-type"), Some("application/octet-stream"));
    assert_eq!(answer.header("set-cookie"), None);
    client.ask("PUT", &format!("{V2}CarrierCollection('XX')/$value"), &[]).expect(405, "");
}

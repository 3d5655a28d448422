//! Plain REST's parameters: filtering, order, and paging.

use serde_json::Value;

use super::client::{Answer, Running, V4};
use super::cluster::cluster;

fn document(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.expect(200, "").body).unwrap()
}

/// The keys of the entities in a document's list.
fn keys(list: &Value) -> Vec<String> {
    let key = |item: &Value| ["carrid", "connid", "fldate"].map(|name| item[name].as_str().unwrap()).join("/");
    list.as_array().unwrap().iter().map(key).collect()
}

/// Path and query of a URL.
fn target(url: &str) -> String {
    let below = url.strip_prefix("http://").unwrap();
    below[below.find('/').unwrap()..].to_owned()
}

/// The page in the `Link` of an answer.
fn link(answer: &Answer) -> Option<String> {
    let page = answer.header("link")?.strip_prefix('<')?.strip_suffix(">; rel=\"next\"")?;
    Some(target(page))
}

/// Checks that each parameter finds the same as the equivalent OData condition, on any store.
fn check_conditions(gateway: &Running) {
    for (query, filter, order) in [
        ("carrid=AA", "carrid eq 'AA'", ""),
        ("carrid=AA&carrid=LH&connid=0017", "carrid in ('AA','LH') and connid eq '0017'", ""),
        ("carrid.ne=AA&carrid.ne=LH", "not (carrid in ('AA','LH'))", ""),
        ("PRICE.ge=500&PRICE.lt=900.00", "PRICE ge 500 and PRICE lt 900", ""),
        ("fldate.gt=2011-06-01&fldate.le=2011-07-31", "fldate gt 2011-06-01 and fldate le 2011-07-31", ""),
        ("SEATSMAX.ne=385", "SEATSMAX ne 385", ""),
        ("flightDetails.cityFrom.starts=NEW", "startswith(flightDetails/cityFrom,'NEW')", ""),
        ("flightDetails.cityFrom.contains=%25", "contains(flightDetails/cityFrom,'%25')", ""),
        ("flightDetails.cityFrom.contains=O", "contains(flightDetails/cityFrom,'O')", ""),
        ("flightDetails.cityFrom=x'%20or%20'1'%3D'1", "flightDetails/cityFrom eq 'x'' or ''1''=''1'", ""),
        ("PRICE.null=false&sort=-PRICE,carrid", "PRICE ne null", "PRICE desc,carrid"),
        ("PRICE.null=true", "PRICE eq null", ""),
        ("sort=flightDetails.cityTo,-fldate", "true", "flightDetails/cityTo,fldate desc"),
    ] {
        let plain = document(&gateway.get(&format!("/rest/flights?{query}&count=true")));
        let order = if order.is_empty() { String::new() } else { format!("&$orderby={}", order.replace(' ', "%20")) };
        let filter = filter.replace(' ', "%20");
        let odata = document(&gateway.get(&format!("{V4}FlightCollection?$filter={filter}&$count=true{order}")));
        assert_eq!(keys(&plain["items"]), keys(&odata["value"]), "{query}");
        assert_eq!(plain["count"], odata["@odata.count"], "{query}");
    }
}

#[test]
fn a_parameter_finds_what_odata_finds() {
    check_conditions(Running::shared());
}

#[test]
fn a_parameter_finds_the_same_in_postgresql() {
    let Some(cluster) = cluster() else { return };
    let url = cluster.url("");
    let gateway = Running::start(&format!("[[service]]\nkind = \"flights\"\ndatabase = \"{url}\""));
    check_conditions(&gateway);
    check_pages(&gateway, "limit=150&sort=-PRICE", &[150, 150, 100]);
    gateway.get("/rest/flights?carrid=%00").expect(400, "U+0000");
}

/// Follows the next links and checks the number of entities on each page. None comes twice.
fn check_pages(gateway: &Running, query: &str, expected: &[usize]) {
    let (mut counts, mut all) = (Vec::new(), Vec::new());
    let mut page = Some(format!("/rest/flights?{query}"));
    while let Some(here) = page {
        let answer = gateway.get(&here);
        let list = document(&answer);
        let found = keys(&list["items"]);
        counts.push(found.len());
        all.extend(found);
        page = list["next"].as_str().map(target);
        // What leaves before its end is known leads on by an offset, past the last page to an empty one.
        let behind = link(&answer).map(|link| keys(&document(&gateway.get(&link))["items"]));
        let next = page.as_ref().map(|page| keys(&document(&gateway.get(page))["items"]));
        assert_eq!(behind.unwrap_or_default(), next.unwrap_or_default(), "{here}");
    }
    assert_eq!(counts, expected, "{query}");
    let read = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), read, "{query}: no entity stands on two pages");
}

#[test]
fn pages_follow_each_other_by_cursors_and_by_their_links() {
    let gateway = Running::shared();
    check_pages(gateway, "", &[400]);
    check_pages(gateway, "limit=150", &[150, 150, 100]);
    check_pages(gateway, "limit=200", &[200, 200]);
    check_pages(gateway, "offset=395&limit=2", &[2, 2, 1]);
    check_pages(gateway, "offset=400", &[0]);
    check_pages(gateway, "limit=0", &[0]);
    check_pages(gateway, "sort=-PRICE&limit=99&offset=1&carrid.ne=XX", &[99, 99, 99, 99, 3]);
    let small = Running::start("pages.size = 150");
    check_pages(&small, "", &[150, 150, 100]);
    check_pages(&small, "limit=1000", &[150, 150, 100]);
}

#[test]
fn a_short_page_leads_on_by_a_cursor_and_a_long_one_by_an_offset() {
    let gateway = Running::shared();
    let answer = gateway.get("/rest/flights?limit=2&carrid=AA");
    let next = document(&answer)["next"].as_str().map(target);
    assert_eq!((link(&answer), next.is_some()), (next.clone(), true));
    assert!(next.unwrap().starts_with("/rest/flights?limit=2&carrid=AA&cursor="));
    assert_eq!(gateway.get("/rest/flights?limit=20&offset=380").header("link"), None);
    // The list of 400 is longer than what is sent at once, and nobody knows yet that it is all there is.
    assert_eq!(
        link(&gateway.get("/rest/flights?fields=carrid&limit=399")).map(|link| link.contains("cursor")),
        Some(true)
    );
    assert_eq!(link(&gateway.get("/rest/flights?limit=399")).as_deref(), Some("/rest/flights?limit=399&offset=399"));
    assert_eq!(
        gateway.ask("HEAD", "/rest/flights?limit=2").header("link").map(|link| link.contains("cursor")),
        Some(true)
    );
}

#[test]
fn fields_are_answered_as_they_are_chosen() {
    let gateway = Running::shared();
    let flight = "/rest/flights/AA/0017/2011-06-01";
    gateway.get(&format!("{flight}?fields=PRICE")).expect(200, "{\"PRICE\":");
    let text = gateway.get(&format!("{flight}?fields=flightDetails.cityTo,carrid")).text();
    assert!(text.starts_with("{\"carrid\":\"AA\",\"flightDetails\":{\"cityTo\":"), "{text}");
    assert_eq!(text.matches(':').count(), 3, "{text}");
    let list = document(&gateway.get("/rest/flights?fields=connid&limit=1&sort=connid"));
    assert_eq!(list["items"][0].as_object().unwrap().len(), 1);
    let xml = gateway.get_with("/rest/flights?fields=connid&limit=1", &[("Accept", "application/xml")]).text();
    assert!(xml.contains("<connid>") && !xml.contains("<carrid>"), "{xml}");
}

#[test]
fn a_property_that_has_the_name_of_a_parameter_is_asked_for_by_an_operator() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("odd.db");
    let tables = "CREATE TABLE rows (id INTEGER PRIMARY KEY, \"limit\" INTEGER, sort TEXT, \"größe\" REAL);
                  INSERT INTO rows VALUES (1, 5, 'a', 1.5), (2, NULL, 'b', NULL), (3, 7, NULL, 2)";
    rusqlite::Connection::open(&file).unwrap().execute_batch(tables).unwrap();
    let url = file.display();
    let gateway = Running::start(&format!("[[service]]\nkind = \"database\"\ndatabase = \"sqlite:{url}\""));
    for (query, expected) in [
        ("limit.eq=5", vec![1]),
        ("limit=1&sort=-limit", vec![3]),
        ("sort=sort", vec![3, 1, 2]),
        ("sort.ne=a", vec![2, 3]),
        ("sort.ne=a&sort.ne=b", vec![3]),
        ("limit.null=true", vec![2]),
        ("gr%C3%B6%C3%9Fe.gt=1e0", vec![1, 3]),
    ] {
        let list = document(&gateway.get(&format!("/rest/odd/rows?fields=id&{query}")));
        let found: Vec<i64> = list["items"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect();
        assert_eq!(found, expected, "{query}");
    }
}

//! Server-driven paging: following the next links to the end returns everything once.

use std::collections::BTreeSet;

use super::client::{Running, V2, V4};

/// Follows the next links from `target`, at most 100; returns the number of entities on each page, and all their ids.
fn walk(gateway: &Running, target: &str, next_mark: &str, id_mark: &str) -> (Vec<usize>, BTreeSet<String>) {
    let mut target = target.to_owned();
    let mut ids = BTreeSet::new();
    let mut pages = Vec::new();
    for _ in 0..100 {
        let answer = gateway.get(&target);
        let text = answer.expect(200, "").text();
        let found: Vec<_> = text.split(id_mark).skip(1).map(|rest| rest.split(['"', '<']).next().unwrap()).collect();
        pages.push(found.len());
        ids.extend(found.into_iter().map(str::to_owned));
        let Some((_, next)) = text.split_once(next_mark) else { return (pages, ids) };
        let next = next.split('"').next().unwrap().replace("&amp;", "&");
        let path = next.strip_prefix("http://").expect("next links are absolute");
        target = path[path.find('/').unwrap()..].to_owned();
    }
    panic!("the next links do not end: {target}");
}

#[test]
fn following_next_links_gives_all_400_flights_once() {
    let gateway = Running::start("pages.size = 60");
    for (target, next, id) in [
        (format!("{V2}FlightCollection"), "<link rel=\"next\" href=\"", "<id>http://"),
        (format!("{V2}FlightCollection?$format=json"), "\"__next\":\"", "\"uri\":\"http://"),
        (
            format!("{V2}FlightCollection?$format=json&$orderby=PRICE%20desc,PLANETYPE"),
            "\"__next\":\"",
            "\"uri\":\"http://",
        ),
        (
            format!("{V2}FlightCollection?$format=json&$inlinecount=allpages&$select=carrid"),
            "\"__next\":\"",
            "\"uri\":\"http://",
        ),
    ] {
        let (pages, ids) = walk(&gateway, &target, next, id);
        // Verbose JSON names the links of navigation by `uri` too: each entity's own is the one without a property.
        let ids = ids.iter().filter(|id| id.ends_with(')') && !id.contains("/$")).count();
        assert_eq!((pages.len(), ids), (7, 400), "{target} {pages:?}");
    }
}

#[test]
fn v4_pages_keep_the_other_options_and_top() {
    let gateway = Running::start("pages.size = 60");
    let price = "\"PRICE\":";
    for (query, expected) in [
        ("$orderby=fldate,carrid", vec![60, 60, 60, 60, 60, 60, 40]),
        ("$top=100", vec![60, 40]),
        ("$top=60", vec![60]),
        ("$skip=300", vec![60, 40]),
        ("$skip=390&$top=5", vec![5]),
        ("$filter=fldate%20lt%202000-01-01", vec![0]),
    ] {
        let target = format!("{V4}FlightCollection?{query}");
        assert_eq!(walk(&gateway, &target, "\"@odata.nextLink\":\"", price).0, expected, "{query}");
    }
}

#[test]
fn a_token_of_another_order_is_refused() {
    let gateway = Running::start("pages.size = 5");
    let text = gateway.get(&format!("{V4}FlightCollection")).text();
    let token = text.split("$skiptoken=").nth(1).unwrap().split('"').next().unwrap().to_owned();
    gateway.get(&format!("{V4}FlightCollection?$skiptoken={token}")).expect(200, "value");
    for query in [format!("$orderby=PRICE&$skiptoken={token}"), "$skiptoken=nonsense".to_owned()] {
        gateway.get(&format!("{V4}FlightCollection?{query}")).expect(400, "token");
    }
}

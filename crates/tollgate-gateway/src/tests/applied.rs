//! `$apply` from outside: the members that rows of the document have, and those they lack.

use super::client::{Answer, Running, V4};

fn get(query: &str, headers: &[(&str, &str)]) -> Answer {
    Running::shared().get_with(&format!("{V4}{query}").replace(' ', "%20"), headers)
}

/// Compares the values of a collection, as their JSON in the document, with the expected ones.
fn check(query: &str, expected: &str) {
    let text = get(query, &[]).text();
    let (_, rows) = text.split_once("\"value\":[").unwrap_or_else(|| panic!("{query}: {text}"));
    assert_eq!(rows.split_once(']').map_or("", |(rows, _)| rows), expected, "{query}");
}

const SEATS: &str = "aggregate(SEATSOCC with sum as seats)";

#[test]
fn a_part_of_concat_has_its_own_properties_and_no_others() {
    check(
        "FlightCollection?$apply=filter(carrid eq 'AA')/concat(aggregate($count as all),groupby((connid),aggregate($count as n))/orderby(connid desc))",
        r#"{"all":50},{"connid":"0064","n":25},{"connid":"0017","n":25}"#,
    );
    // As UI5 asks for a grand total, the number of groups and a page of them.
    check(
        "FlightCollection?$apply=filter(carrid eq 'AA' or carrid eq 'UA')/concat(aggregate($count as total),groupby((carrid),aggregate($count as n))/orderby(carrid desc)/concat(aggregate($count as groups),top(1)))",
        r#"{"total":100},{"groups":2},{"carrid":"UA","n":50}"#,
    );
}

#[test]
fn a_rollup_leaves_out_what_it_has_rolled_up() {
    check(
        "FlightCollection?$apply=filter(carrid eq 'AA')/groupby((rollup($all,carrid,connid)),aggregate($count as n))",
        r#"{"carrid":"AA","connid":"0017","n":25},{"carrid":"AA","connid":"0064","n":25},{"carrid":"AA","n":50},{"n":50}"#,
    );
    // Without an aggregate the whole is one row without properties.
    check(
        "FlightCollection?$apply=filter(carrid eq 'AA')/groupby((rollup($all,carrid,connid)))",
        r#"{"carrid":"AA","connid":"0017"},{"carrid":"AA","connid":"0064"},{"carrid":"AA"},{}"#,
    );
    let count = get("FlightCollection/$count?$apply=filter(carrid eq 'AA')/groupby((rollup($all,carrid,connid)))", &[]);
    assert_eq!(count.text(), "4");
}

#[test]
fn what_stands_behind_a_path_is_nested() {
    check(
        "FlightCollection?$apply=filter(carrid eq 'AA')/groupby((FlightCarrier/CARRNAME,carrid),topcount(1,fldate))&$select=FlightCarrier,carrid",
        r#"{"carrid":"AA","FlightCarrier":{"CARRNAME":"American Airlines"}}"#,
    );
    check("FlightCollection?$apply=topcount(1,FlightCarrier/CARRNAME)&$select=carrid", r#"{"carrid":"UA"}"#);
}

#[test]
fn rows_are_counted_and_paged_in_their_order() {
    let page = get(
        &format!("FlightCollection?$apply=groupby((carrid),{SEATS})/orderby(carrid desc)&$count=true&$select=carrid"),
        &[("Prefer", "odata.maxpagesize=2")],
    );
    let text = page.text();
    assert!(text.contains(r#""@odata.count":"#) && text.contains(r#"[{"carrid":"UA"},{"carrid":"#), "{text}");
    assert!(text.contains("@odata.nextLink"), "{text}");
    let count = get("FlightCollection/$count?$apply=groupby((carrid))", &[]);
    assert!(text.contains(&format!(r#""@odata.count":{},"#, count.text())), "{text}: {}", count.text());
}

#[test]
fn what_is_not_built_is_said_by_its_name() {
    for (query, expected) in [
        (
            "CarrierCollection?$apply=aggregate(carrierFlights/PRICE with sum as s)",
            "the aggregation of related entities",
        ),
        ("CarrierCollection?$apply=groupby((carrierFlights/connid))", "groups of related entities"),
        ("FlightCollection?$apply=groupby((rollup(FlightHierarchy)))", "rollup over a named hierarchy"),
        ("FlightCollection?$apply=aggregate(fldate sub 2013-09-25 with max as m)", "min or max of Edm.Duration"),
        ("FlightCollection?$apply=aggregate(PRICE with Custom.median as m)", "the aggregation method 'Custom'"),
        ("FlightCollection?$apply=aggregate(PRICE with sum from connid with max as m)", "'from' in aggregate"),
        (
            "FlightCollection?$apply=groupby((carrid),topsum(5,SEATSOCC)/aggregate($count as n))",
            "aggregate inside of groupby behind what may leave groups without rows",
        ),
    ] {
        let answer = get(query, &[]);
        assert_eq!(answer.status, 501, "{query}: {}", answer.text());
        assert!(answer.text().contains(expected), "{query}: {}", answer.text());
    }
    let refused = get("FlightCollection?$filter=carrid eq 'a%00b'", &[]);
    assert_eq!(refused.status, 400);
}

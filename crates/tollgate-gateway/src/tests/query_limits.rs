//! The limits of a query over HTTP: each at the limit, and one beyond it with its status and its place.

use super::client::{Running, V2, V4};

/// Checks that a query at a limit is answered 200, and one beyond refused with `status` and a sentence that contains
/// `fragment`.
fn check(root: &str, at_limit: &str, beyond: &str, status: u16, fragment: &str) {
    let gateway = Running::shared();
    let target = |below: &str| format!("{root}{}", below.replace(' ', "%20"));
    gateway.get(&target(at_limit)).expect(200, "");
    gateway.get(&target(beyond)).expect(status, fragment);
}

fn filter(condition: &str) -> String {
    format!("FlightCollection?$top=1&$filter={condition}")
}

#[test]
fn nesting_ends_at_64_with_the_place_of_the_next_parenthesis() {
    let nested = |depth: usize| filter(&format!("{}true{}", "(".repeat(depth), ")".repeat(depth)));
    for root in [V2, V4] {
        check(root, &nested(64), &nested(65), 400, "nested more than 64 deep in $filter at column 66");
    }
}

#[test]
fn an_expression_ends_at_128_levels() {
    let sums = |count: usize| filter(&format!("SEATSMAX{} gt 0", " add 1".repeat(count)));
    // The comparison and the property are levels, too.
    check(V4, &sums(126), &sums(127), 400, "an expression of more than 128 levels in $filter at column 1");
}

#[test]
fn literals_names_and_operators_end_at_10_000_counted_at_each_mention_of_an_alias() {
    // 73 mentions of 136 parts, and 72 operators between them.
    let alias = format!("1 in (1{})", ",1".repeat(133));
    let mentions = ["@a"; 73].join(" or ");
    let query = |condition: &str| format!("{}&@a={alias}", filter(condition));
    check(
        V4,
        &query(&mentions),
        &query(&format!("not {mentions}")),
        400,
        "more than 10000 names, literals and operators in $filter at column",
    );
}

#[test]
fn a_path_passes_four_to_one_navigation_properties() {
    let through = |steps: &str| format!("BookingCollection?$top=1&$filter={steps} ne null");
    check(
        V4,
        &through("bookedFlight/flightbooking/bookedFlight/FlightCarrier/CARRNAME"),
        &through("bookedFlight/flightbooking/bookedFlight/flightbooking/bookedFlight/PRICE"),
        400,
        "more than 4 navigation properties in a path in $filter at column 55",
    );
}

#[test]
fn questions_about_related_entities_nest_four_deep() {
    let question = |depth: usize| {
        let asked = (0..depth).map(|number| match number {
            0 => "flightBookings/any(v0:".to_owned(),
            number => format!("v{}/bookedFlight/flightBookings/any(v{number}:", number - 1),
        });
        filter(&format!("{}true{}", asked.collect::<String>(), ")".repeat(depth)))
    };
    let fragment = "more than 4 questions about related entities or values within each other in $filter at column";
    check(V4, &question(4), &question(5), 400, fragment);
}

#[test]
fn an_order_has_16_keys() {
    let order = |keys: usize| format!("FlightCollection?$top=1&$orderby={}", vec!["PRICE"; keys].join(","));
    for root in [V2, V4] {
        check(root, &order(16), &order(17), 400, "more than 16 keys of an order in $orderby at column 97");
    }
}

#[test]
fn a_search_has_32_words() {
    let search = |words: usize| format!("FlightCollection?$top=1&$search={}", vec!["A"; words].join(" "));
    check(V4, &search(32), &search(33), 400, "more than 32 words and phrases in $search at column 65");
}

/// So many expansions from a type on, at most so many levels deep.
fn expansions(entity_type: &str, levels: usize, left: &mut usize) -> String {
    let navigation: &[(&str, &str)] = match entity_type {
        "flight" => &[("flightbooking", "booking"), ("flightBookings", "booking"), ("FlightCarrier", "carrier")],
        "booking" => &[("bookedFlight", "flight")],
        _ => &[("carrierFlights", "flight")],
    };
    let mut items = Vec::new();
    for (name, target) in navigation {
        if *left == 0 {
            break;
        }
        *left -= 1;
        let inner = if levels > 1 && *left > 0 { expansions(target, levels - 1, left) } else { String::new() };
        items.push(if inner.is_empty() { (*name).to_owned() } else { format!("{name}($top=1;$expand={inner})") });
    }
    // Only many entities have a first one.
    ["flightbooking", "FlightCarrier", "bookedFlight"]
        .iter()
        .fold(items.join(","), |text, one| text.replace(&format!("{one}($top=1;"), &format!("{one}(")))
}

#[test]
fn a_request_has_32_expansions() {
    let expanding = |count: usize| {
        let mut left = count;
        let text = expansions("flight", 6, &mut left);
        assert_eq!(left, 0);
        format!("FlightCollection?$top=1&$expand={text}")
    };
    check(V4, &expanding(32), &expanding(33), 400, "more than 32 expansions in $expand at column");
}

#[test]
fn expansions_nest_six_levels_deep() {
    let chain = |levels: usize| {
        let mut text = String::new();
        for level in (0..levels).rev() {
            let name = if level % 2 == 0 { "FlightCarrier" } else { "carrierFlights" };
            let options = if level % 2 == 0 { "" } else { "$top=1;" };
            text = match text.is_empty() {
                true => name.to_owned(),
                false => format!("{name}({options}$expand={text})"),
            };
        }
        format!("FlightCollection?$top=1&$expand={text}")
    };
    check(V4, &chain(6), &chain(7), 400, "more than 6 levels of expansion in $expand at column");
    let path = |levels: usize| {
        let names = (0..levels).map(|level| if level % 2 == 0 { "flightBookings" } else { "bookedFlight" });
        format!("FlightCollection?$top=1&$expand={}", names.collect::<Vec<_>>().join("/"))
    };
    check(V2, &path(6), &path(7), 400, "more than 6 levels of expansion in $expand at column 85");
}

#[test]
fn apply_has_16_transformations() {
    let apply = |count: usize| format!("FlightCollection?$apply={}", vec!["identity"; count].join("/"));
    check(
        V4,
        &format!("{}&$top=1", apply(16)),
        &apply(17),
        400,
        "more than 16 transformations in $apply at column 145",
    );
}

#[test]
fn what_is_computed_has_128_names() {
    let computed = |count: usize| {
        let items: Vec<String> = (0..count).map(|number| format!("1 as c{number}")).collect();
        format!("FlightCollection?$top=1&$select=carrid&$compute={}", items.join(","))
    };
    check(V4, &computed(128), &computed(129), 400, "more than 128 computed properties in $compute at column");
}

#[test]
fn a_path_has_16_segments() {
    let path = |segments: usize| {
        let names = (1..segments).map(|at| {
            if at % 2 == 1 { "carrierFlights(carrid='AA',connid='0017',fldate=2011-06-01)" } else { "FlightCarrier" }
        });
        format!("CarrierCollection('AA')/{}", names.collect::<Vec<_>>().join("/"))
    };
    let gateway = Running::shared();
    let at_limit = gateway.get(&format!("{V4}{}", path(16))).status;
    assert!(matches!(at_limit, 200 | 404), "{at_limit}");
    gateway.get(&format!("{V4}{}", path(17))).expect(400, "more than 16 segments in the path at column");
}

#[test]
fn a_target_has_8192_bytes() {
    let long = |bytes: usize| {
        let begin = format!("{V4}FlightCollection?$top=1&long=");
        let rest = bytes - begin.len();
        begin + &"x".repeat(rest)
    };
    let gateway = Running::shared();
    gateway.get(&long(8192)).expect(200, "");
    assert_eq!(gateway.get(&long(8193)).status, 414);
}

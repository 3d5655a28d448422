//! Wrong URLs, and attacks: each is refused with the right status and the place, and nothing of it ever becomes a part
//! of a statement.

use super::client::{Running, V2, V4};

/// Escapes characters not allowed in a request line, and leaves existing escapes.
fn escaped(below: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}#".contains(&byte);
    below.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// Checks that each is refused with that status, and that its message names the column, or whatever `place` is.
fn check(root: &str, status: u16, place: &str, below: &[&str]) {
    let mut client = Running::shared().connect();
    for below in below {
        let answer = client.ask("GET", &format!("{root}{}", escaped(below)), &[("Accept", "application/json")]);
        let text = answer.text();
        assert_eq!(answer.status, status, "{root}{below}: {text}");
        assert!(text.contains(place), "{root}{below}: expected {place:?} in {text}");
        assert!(!text.contains("SELECT "), "{root}{below} tells a statement: {text}");
    }
}

const FLIGHT: &str = "FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)";

#[test]
fn v4_names_the_column_of_what_does_not_follow_the_grammar() {
    check(
        V4,
        400,
        "at column",
        &[
            "FlightCollection?$filter=",
            "FlightCollection?$filter= ",
            "FlightCollection?$filter=carrid",
            "FlightCollection?$filter=carrid eq",
            "FlightCollection?$filter=eq 'AA'",
            "FlightCollection?$filter=carrid eq 'AA",
            "FlightCollection?$filter=carrid eq AA'",
            "FlightCollection?$filter=carrid eq 'A'A'",
            "FlightCollection?$filter=carrid eq \"AA\"",
            "FlightCollection?$filter=carrid = 'AA'",
            "FlightCollection?$filter=carrid eq 'AA' PRICE gt 1",
            "FlightCollection?$filter=carrid eq 'AA' and",
            "FlightCollection?$filter=and carrid eq 'AA'",
            "FlightCollection?$filter=(carrid eq 'AA'",
            "FlightCollection?$filter=carrid eq 'AA')",
            "FlightCollection?$filter=()",
            "FlightCollection?$filter=not",
            "FlightCollection?$filter=PRICE add gt 1",
            "FlightCollection?$filter=PRICE gt 1 gt 2 or",
            "FlightCollection?$filter=contains(carrid)",
            "FlightCollection?$filter=contains(carrid,'A'",
            "FlightCollection?$filter=contains(carrid 'A')",
            "FlightCollection?$filter=contains carrid,'A')",
            "FlightCollection?$filter=carrid in",
            "FlightCollection?$filter=carrid in ()",
            "FlightCollection?$filter=carrid in ('AA'",
            "FlightCollection?$filter=carrid in ('AA',)",
            "FlightCollection?$filter=carrid in 'AA'",
            "FlightCollection?$filter=fldate eq 2011-13-01",
            "FlightCollection?$filter=fldate eq 2011-02-30",
            "FlightCollection?$filter=flightDetails/departureTime eq 25:00:00",
            "FlightCollection?$filter=PRICE eq 1.2.3",
            "FlightCollection?$filter=PRICE eq 0x10",
            "FlightCollection?$filter=PRICE eq 1e",
            "FlightCollection?$filter=flightBookings/any(b b/CUSTTYPE eq 'P')",
            "FlightCollection?$filter=flightBookings/any(b:)",
            "FlightCollection?$filter=flightBookings/all()",
            "FlightCollection?$filter=case(true)",
            "FlightCollection?$filter=cast(PRICE)",
            "FlightCollection?$orderby=",
            "FlightCollection?$orderby=PRICE up",
            "FlightCollection?$orderby=PRICE desc asc",
            "FlightCollection?$orderby=PRICE,",
            "FlightCollection?$orderby=,PRICE",
            "FlightCollection?$select=",
            "FlightCollection?$select=PRICE,,CURRENCY",
            "FlightCollection?$select=PRICE CURRENCY",
            "FlightCollection?$expand=",
            "FlightCollection?$expand=flightBookings(",
            "FlightCollection?$expand=flightBookings()x",
            "FlightCollection?$expand=flightBookings($top)",
            "FlightCollection?$expand=flightBookings($top=a)",
            "FlightCollection?$expand=flightBookings($top=1;$top=2)",
            "FlightCollection?$expand=flightBookings($levels=0)",
            "FlightCollection?$expand=flightBookings($levels=-1)",
            "FlightCollection?$expand=flightBookings($foo=1)",
            "FlightCollection?$expand=flightBookings,flightBookings",
            "FlightCollection?$top=",
            "FlightCollection?$top=-1",
            "FlightCollection?$top=1.5",
            "FlightCollection?$top=1e3",
            "FlightCollection?$top=9223372036854775808",
            "FlightCollection?$skip=one",
            "FlightCollection?$count=yes",
            "FlightCollection?$count=1",
            "FlightCollection?$search=",
            "FlightCollection?$search=a AND",
            "FlightCollection?$search=(a",
            "FlightCollection?$search=\"a",
            "FlightCollection?$compute=PRICE",
            "FlightCollection?$compute=PRICE as",
            "FlightCollection?$compute=PRICE mul 2 as PRICE",
            "FlightCollection?$apply=",
            "FlightCollection?$apply=groupby",
            "FlightCollection?$apply=groupby((carrid)",
            "FlightCollection?$apply=aggregate(PRICE)",
            "FlightCollection?$apply=aggregate(PRICE with sum)",
            "FlightCollection?$apply=filter(PRICE)",
            "FlightCollection?$apply=top(-1)",
            "FlightCollection(",
            "FlightCollection(carrid='AA'",
            "FlightCollection(carrid='AA',connid='0017',fldate=)",
            "FlightCollection(carrid='AA',carrid='AA',fldate=2011-06-01)",
            "FlightCollection('AA')",
            "CarrierCollection(AA)",
            "CarrierCollection(carrid='AA',)",
            "CarrierCollection(null)",
            "CarrierCollection('A'A')",
            "CarrierCollection(@p)",
            "FlightCollection//$count",
            "%zz",
            "FlightCollection%",
            "FlightCollection%2F$count",
            "CarrierCollection(%FF)",
            "FlightCollection?$filter=carrid eq '%zz'",
            "FlightCollection?$filter=carrid eq '%ff'",
            "FlightCollection?%zz=1",
        ],
    );
}

#[test]
fn v4_names_the_column_of_what_has_the_wrong_type_or_name() {
    check(
        V4,
        400,
        "at column",
        &[
            "FlightCollection?$filter=PRICE",
            "FlightCollection?$filter=PRICE eq 'AA'",
            "FlightCollection?$filter=carrid eq 1",
            "FlightCollection?$filter=carrid gt 2011-06-01",
            "FlightCollection?$filter=fldate eq 'yesterday'",
            "FlightCollection?$filter=carrid add 1 gt 2",
            "FlightCollection?$filter=-carrid eq 'A'",
            "FlightCollection?$filter=not PRICE",
            "FlightCollection?$filter=PRICE and true",
            "FlightCollection?$filter=contains(PRICE,'1')",
            "FlightCollection?$filter=year(carrid) eq 1",
            "FlightCollection?$filter=length(PRICE) eq 1",
            "FlightCollection?$filter=round(carrid) eq 1",
            "FlightCollection?$filter=carrid in (1,2)",
            "FlightCollection?$filter=substringof('A',carrid)",
            "FlightCollection?$filter=colour eq 1",
            "FlightCollection?$filter=FlightCarrier/colour eq 1",
            "FlightCollection?$filter=flightBookings/PRICE eq 1",
            "FlightCollection?$filter=flightBookings/any(b:b/colour eq 1)",
            "FlightCollection?$filter=flightBookings/any(b:c/bookid eq '1')",
            "FlightCollection?$filter=nosuch(carrid)",
            "FlightCollection?$select=colour",
            "FlightCollection?$expand=carrid",
            "FlightCollection?$expand=flightBookings($filter=PRICE eq 1)",
            "FlightCollection?$expand=FlightCarrier($top=1)",
            "FlightCollection?$apply=groupby((colour))",
            "FlightCollection?$apply=aggregate(carrid with sum as s)",
            "FlightCollection?$apply=aggregate(PRICE with sum as a b)",
            "CarrierCollection(1)",
            "CarrierCollection(colour='AA')",
        ],
    );
    check(V4, 404, "at column", &["Nothing", "FlightCollection/PRICE", "$nothing", "$metadata/x"]);
    check(
        V4,
        404,
        "at column",
        &[&format!("{FLIGHT}/colour"), &format!("{FLIGHT}/PRICE/colour"), &format!("{FLIGHT}/$count")],
    );
    check(V4, 400, "$top does not apply", &[&format!("{FLIGHT}?$top=1")]);
    check(V4, 400, "stands twice", &["FlightCollection?$top=1&$top=2", "FlightCollection?$top=1&TOP=2"]);
    check(V4, 400, "$foo", &["FlightCollection?$foo=1", "FlightCollection?$foo"]);
    check(V4, 400, "$inlinecount", &["FlightCollection?$inlinecount=allpages"]);
    check(V4, 400, "$skiptoken", &["FlightCollection?$skiptoken=abc", "FlightCollection?$skiptoken=' or 1=1 --"]);
}

#[test]
fn what_is_valid_elsewhere_is_named_with_its_column_too() {
    let unbuilt = [
        "FlightCollection?$filter=flightBookings/$filter(bookid eq '1')/any()",
        "FlightCollection?$filter=geo.length(carrid) eq 1",
        "FlightCollection?$orderby=flightBookings",
        "FlightCollection?$orderby=flightDetails",
        "FlightCollection?$select=flightBookings($top=1)",
        "FlightCollection?$apply=aggregate(PRICE with total as s)",
    ];
    check(V4, 501, "at column", &unbuilt);
}

#[test]
fn v2_names_the_column_of_what_is_wrong() {
    check(
        V2,
        400,
        "at column",
        &[
            "FlightCollection?$filter=carrid eq",
            "FlightCollection?$filter=carrid eq 'AA",
            "FlightCollection?$filter=carrid eq 'AA') or (1 eq 1",
            "FlightCollection?$filter=PRICE eq 'AA'",
            "FlightCollection?$filter=fldate eq datetime'2011-13-01T00:00:00'",
            "FlightCollection?$filter=fldate eq datetime'yesterday'",
            "FlightCollection?$filter=contains(carrid,'A')",
            "FlightCollection?$filter=substringof('A')",
            "FlightCollection?$filter=colour eq 1",
            "FlightCollection?$orderby=colour",
            "FlightCollection?$orderby=PRICE up",
            "FlightCollection?$select=colour",
            "FlightCollection?$expand=colour",
            "FlightCollection?$expand=FlightCarrier/colour",
            "FlightCollection?$top=-1",
            "FlightCollection?$skip=x",
            "FlightCollection?$inlinecount=perhaps",
            "FlightCollection(carrid='AA')",
            "CarrierCollection(1)",
            "CarrierCollection('A'A')",
            "FlightCollection%2F$count",
            "FlightCollection?$filter=carrid eq '%zz'",
        ],
    );
    check(V2, 404, "at column", &["Nothing", "$nothing", "FlightCollection/PRICE"]);
    check(V2, 400, "$count", &["FlightCollection?$count=true"]);
    check(V2, 400, "$foo", &["FlightCollection?$foo=1"]);
}

#[test]
fn what_nobody_reserves_is_ignored_and_a_large_top_is_a_page() {
    let gateway = Running::shared();
    for target in [
        format!("{V2}FlightCollection?foo=1&sap-client=100&$top=1"),
        format!("{V4}FlightCollection?foo=1&sap-client=100&$top=1"),
        format!("{V4}FlightCollection?$top=9223372036854775807&$select=carrid"),
        format!("{V2}FlightCollection?$top=9223372036854775807&$select=carrid"),
        format!("{V4}CarrierCollection('A%2FA%27%27%3Bx')/carrierFlights/$count"),
    ] {
        let answer = gateway.connect().ask("GET", &target, &[]);
        assert!(matches!(answer.status, 200 | 404), "{target}: {}", answer.text());
    }
}

#[test]
fn each_limit_holds_and_one_beyond_is_named() {
    let mut client = Running::shared().connect();
    let mut ask = |below: &str| client.ask("GET", &format!("{V4}{}", escaped(below)), &[]);
    let repeated = |what: &str, count: usize| what.repeat(count);
    let keys = ["PRICE", "carrid", "connid", "fldate", "CURRENCY", "PLANETYPE", "SEATSMAX", "SEATSOCC", "PAYMENTSUM"];
    let order = |count: usize| {
        let key =
            |index: usize| format!("{} {}", keys[index % keys.len()], if index < keys.len() { "asc" } else { "desc" });
        (0..count).map(key).collect::<Vec<_>>().join(",")
    };
    let levels = |count: usize| {
        let names = ["flightBookings", "bookedFlight"];
        let innermost = names[(count + 1) % 2].to_owned();
        (1..count).rev().fold(innermost, |inner, level| format!("{}($expand={inner})", names[(level + 1) % 2]))
    };
    let words = |count: usize| (0..count).map(|word| format!("w{word}")).collect::<Vec<_>>().join(" OR ");
    let questions = |count: usize| {
        let open = (0..count).map(|depth| match depth {
            0 => "flightBookings/any(v0:".to_owned(),
            depth => format!("v{}/bookedFlight/flightBookings/any(v{depth}:", depth - 1),
        });
        format!("{}v{}/bookid ne '1'{}", open.collect::<String>(), count - 1, ")".repeat(count))
    };
    for (what, bound, beyond, limit) in [
        (
            "nesting",
            format!("$filter={}true{}", repeated("(", 63), repeated(")", 63)),
            format!("$filter={}true{}", repeated("(", 65), repeated(")", 65)),
            "64",
        ),
        ("order", format!("$orderby={}&$top=1", order(16)), format!("$orderby={}&$top=1", order(17)), "16"),
        ("levels", format!("$expand={}&$top=1", levels(6)), format!("$expand={}&$top=1", levels(7)), "6"),
        ("search", format!("$search={}&$top=1", words(32)), format!("$search={}&$top=1", words(33)), "32"),
        ("questions", format!("$filter={}&$top=1", questions(4)), format!("$filter={}&$top=1", questions(5)), "4"),
    ] {
        let held = ask(&format!("FlightCollection?{bound}"));
        assert_eq!(held.status, 200, "{what}: {}", held.text());
        let refused = ask(&format!("FlightCollection?{beyond}"));
        let text = refused.text();
        assert!(refused.status == 400 && text.contains("\"code\":\"Limit\"") && text.contains(limit), "{what}: {text}");
        assert!(text.contains("at column"), "{what}: {text}");
    }
    let path = |count: usize| {
        format!(
            "{FLIGHT}{}",
            "/FlightCarrier/carrierFlights(carrid='AA',connid='0017',fldate=2011-06-01)".repeat(count)
        )
    };
    assert_eq!(ask(&path(7)).status, 200);
    ask(&path(8)).expect(400, "at column");
    // Longer than any line that is read.
    let long = client.ask("GET", &format!("{V4}FlightCollection?$filter=carrid%20eq%20'{}'", "a".repeat(200_000)), &[]);
    assert!(matches!(long.status, 414 | 431), "{}", long.status);
}

/// Texts that would end a literal, a name or a statement, or widen a condition, if a client's text were ever part of a
/// statement.
const ATTACKS: &[&str] = &[
    "' or 1=1 --",
    "'; DROP TABLE flights; --",
    "' UNION SELECT name FROM sqlite_master --",
    "\") OR 1=1 --",
    "1; SELECT pg_sleep(10)",
    "x' || (SELECT 1) || 'x",
    "\\'; --",
    "%' OR '%'='",
    "$1",
    "?",
    "{fn now()}",
    "/**/",
    "\u{0}",
    "x'||randomblob(1000000000)||'",
];

#[test]
fn attacks_are_values_or_refused_wherever_they_stand() {
    let gateway = Running::shared();
    let flights = || gateway.get(&format!("{V4}FlightCollection/$count")).text();
    let before = flights();
    let mut client = gateway.connect();
    for attack in ATTACKS {
        let quoted = attack.replace('\'', "''");
        let coded = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
        // As the value of a literal it finds nothing, and is no error of the server.
        for (root, below) in [
            (V4, format!("FlightCollection?$filter=carrid%20eq%20'{}'", coded(&quoted))),
            (V2, format!("FlightCollection?$filter=carrid%20eq%20'{}'", coded(&quoted))),
            (V4, format!("FlightCollection?$filter=contains(CURRENCY,'{}')", coded(&quoted))),
            (V4, format!("FlightCollection?$filter=carrid%20in%20('{}')", coded(&quoted))),
            (V4, format!("FlightCollection?$filter=carrid%20eq%20@p&@p='{}'", coded(&quoted))),
            (V4, format!("CarrierCollection('{}')", coded(&quoted))),
            (V2, format!("CarrierCollection('{}')", coded(&quoted))),
            (V4, format!("CarrierCollection(@p)?@p='{}'", coded(&quoted))),
            (
                V4,
                format!("FlightCollection?$expand=flightBookings($filter=CUSTTYPE%20eq%20'{}')&$top=1", coded(&quoted)),
            ),
            (
                V4,
                format!(
                    "GetAvailableFlights(fromdate=2011-01-01,todate=2012-01-01,cityfrom='{}',cityto='x')",
                    coded(&quoted)
                ),
            ),
        ] {
            let answer = client.ask("GET", &format!("{root}{below}"), &[]);
            assert!(matches!(answer.status, 200 | 400 | 404), "{below}: {} {}", answer.status, answer.text());
            let found = answer.text().matches("\"connid\"").count();
            assert!(found == 0 || below.contains("$expand"), "{below} finds {found}");
        }
        // As a name, a number or an option it is refused.
        for (root, below) in [
            (V4, format!("FlightCollection?$filter={}%20eq%201", coded(attack))),
            (V4, format!("FlightCollection?$orderby={}", coded(attack))),
            (V4, format!("FlightCollection?$select={}", coded(attack))),
            (V4, format!("FlightCollection?$expand={}", coded(attack))),
            (V4, format!("FlightCollection?$top={}", coded(attack))),
            (V4, format!("FlightCollection?$skip={}", coded(attack))),
            (V4, format!("FlightCollection?$skiptoken={}", coded(attack))),
            (V4, format!("FlightCollection?$apply=groupby(({}))", coded(attack))),
            (V4, format!("FlightCollection?$compute=PRICE%20as%20{}", coded(attack))),
            (V4, format!("FlightCollection?${}=1", coded(attack))),
            (V4, coded(attack)),
            (V2, format!("FlightCollection?$filter={}%20eq%201", coded(attack))),
            (V2, format!("FlightCollection?$orderby={}", coded(attack))),
            (V2, format!("FlightCollection({})", coded(attack))),
        ] {
            let answer = client.ask("GET", &format!("{root}{below}"), &[]);
            assert!(matches!(answer.status, 400 | 404 | 501), "{below}: {} {}", answer.status, answer.text());
        }
    }
    assert_eq!(flights(), before);
}

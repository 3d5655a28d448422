//! From the text of a URL to rows of the flight service: the URL parser's types are those of the store.

use std::sync::LazyLock;

use tollgate_gateway::services::flights;
use tollgate_store::sqlite::{Location, SqliteDatabase};
use tollgate_store::{Flow, RowSink};
use tollgate_wire::edm::Version;
use tollgate_wire::plan::{Resource, Shape};
use tollgate_wire::value::{Cell, Row};
use tollgate_wire::{query, url};

static FLIGHTS: LazyLock<SqliteDatabase> = LazyLock::new(|| {
    let database = SqliteDatabase::open(Location::Memory, flights::mapping()).unwrap();
    flights::create(&mut database.connection().unwrap(), flights::SEED).unwrap();
    database
});

/// The total, and the first three columns of the first row.
#[derive(Default)]
struct Answer {
    total: Option<u64>,
    first: Option<String>,
}

impl RowSink for Answer {
    fn total(&mut self, count: u64) -> Flow {
        self.total = Some(count);
        Flow::Continue
    }

    fn entity<R: Row>(&mut self, row: &R) -> Flow {
        let text = |column| match row.cell(column) {
            Cell::Text(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
            cell => panic!("the first columns are texts: {cell:?}"),
        };
        self.first.get_or_insert_with(|| [0, 1, 2].map(text).join(" "));
        Flow::Continue
    }
}

/// Reads all pages of a URL and compares the number of its rows, or its count, with `expected`.
fn check(version: Version, path: &str, options: &str, expected: u64) {
    assert_eq!(read(version, path, options).0, expected, "{path}?{options}");
}

fn v2(filter: &str, expected: u64) {
    check(Version::V2, "FlightCollection", &format!("$filter={filter}"), expected);
}

fn v4(filter: &str, expected: u64) {
    check(Version::V4, "FlightCollection", &format!("$filter={filter}"), expected);
}

/// Number of rows, and the first three columns of the first.
fn read(version: Version, path: &str, options: &str) -> (u64, String) {
    let model = flights::model();
    let connection = FLIGHTS.connection().unwrap();
    let mut answer = Answer::default();
    let (mut rows, mut token) = (0, None);
    loop {
        let options = match &token {
            None => options.to_owned(),
            Some(token) => format!("{options}&$skiptoken={}", query::skip_token::write(token)),
        };
        let (resource, _) = url::parse(&model, version, path, Some(&options)).unwrap();
        let Resource::Read(plan) = resource else { panic!("{path} reads no data") };
        let outcome = connection.read(&model, &plan, Some(97), &mut answer).unwrap();
        assert!(outcome.found, "{path}");
        if plan.shape == Shape::Count {
            return (answer.total.unwrap(), String::new());
        }
        rows += outcome.rows;
        token = outcome.next;
        if token.is_none() {
            return (rows, answer.first.unwrap_or_default());
        }
    }
}

#[test]
fn both_forms_of_the_date_in_a_key_find_the_flight() {
    for key in ["fldate='20110601'", "fldate=datetime'2011-06-01T00:00:00'"] {
        let path = format!("FlightCollection(carrid='AA',connid='0017',{key})");
        assert_eq!(read(Version::V2, &path, ""), (1, "AA 0017 2011-06-01".into()));
    }
    check(Version::V4, "FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)", "", 1);
}

#[test]
fn numbers_are_compared_by_value() {
    v2("PRICE gt 422.939M and PRICE lt 422.9401M", 50);
    v2("PRICE eq 422.940", 50);
    v4("PRICE eq 422.94", 50);
    v4("SEATSMAX add 15 eq 400", 125);
    v4("PRICE mul 2 eq 845.88", 50);
    v4("SEATSMAX div 2 eq 192", 125);
    v4("round(PRICE) eq 423", 50);
    v4("-SEATSMAX lt -400", 50);
}

#[test]
fn texts_are_searched_exactly() {
    v2("flightDetails/cityFrom eq 'new york'", 100);
    v2("flightDetails/cityFrom eq 'NEW YORK'", 0);
    v2("toupper(flightDetails/cityFrom) eq 'NEW YORK'", 100);
    v2("substringof('FRAN',flightDetails/cityTo)", 175);
    v4("contains(flightDetails/cityTo,'FRANC')", 75);
    v4("startswith(PLANETYPE,'747') or endswith(PLANETYPE,'800')", 175);
    v4("indexof(PLANETYPE,'-') eq 3 and length(PLANETYPE) eq 7", 225);
}

#[test]
fn dates_are_compared_and_taken_apart() {
    v2("fldate eq datetime'2013-09-25T00:00:00'", 16);
    v2("fldate lt datetime'2011-06-01T12:00:00'", 16);
    v4("fldate eq 2013-09-25", 16);
    v4("year(fldate) eq 2013", 144);
    v2("flightDetails/departureTime lt time'PT9H'", 50);
    v4("hour(flightDetails/departureTime) lt 9", 50);
}

#[test]
fn navigation_leads_on_in_filters_and_paths() {
    v2("FlightCarrier/CURRCODE eq 'EUR'", 100);
    check(Version::V2, "CarrierCollection('AA')/carrierFlights/$count", "", 50);
    check(Version::V4, "CarrierCollection('AC')/carrierFlights", "", 0);
    let flight = "FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)";
    assert_eq!(read(Version::V4, &format!("{flight}/FlightCarrier"), "").1, "AA American Airlines USD");
}

#[test]
fn null_is_found_and_left_out() {
    let birth = |filter: &str| read(Version::V4, "BookingCollection", &format!("$filter={filter}")).0;
    assert_eq!(birth("PASSBIRTH eq null"), birth("CUSTTYPE eq 'B'"));
    assert_eq!(birth("PASSBIRTH eq null") + birth("PASSBIRTH ne null"), birth("true"));
    assert_eq!(birth("not (PASSBIRTH lt 1900-01-01)"), birth("true"));
}

#[test]
fn orders_reach_over_pages() {
    let first = |order: &str| read(Version::V4, "FlightCollection", &format!("$orderby={order}"));
    assert_eq!(first("PRICE desc,fldate desc"), (400, "QF 0006 2013-12-11".into()));
    assert_eq!(first("FlightCarrier/CARRNAME desc"), (400, "UA 0941 2011-06-01".into()));
    check(Version::V2, "FlightCollection", "$orderby=PRICE mul 3 desc&$top=250&$skip=100", 250);
    check(
        Version::V2,
        "BookingCollection",
        "$orderby=PASSBIRTH,PASSNAME desc",
        read(Version::V2, "BookingCollection", "").0,
    );
}

#[test]
fn a_count_of_v2_is_of_what_top_and_skip_leave() {
    for (options, expected) in [
        ("", 400),
        ("$top=5", 5),
        ("$top=0", 0),
        ("$top=1000", 400),
        ("$skip=390", 10),
        ("$skip=401", 0),
        ("$skip=9223372036854775807", 0),
        ("$skip=390&$top=7", 7),
        ("$skip=45&$top=7&$filter=carrid eq 'AA'", 5),
    ] {
        check(Version::V2, "FlightCollection/$count", options, expected);
    }
    // A total beside a page is of all that match.
    check(Version::V2, "FlightCollection", "$top=5&$inlinecount=allpages", 5);
}

//! The query of plain REST: what it reads, as which plan, and the exact sentence for what it does not.

use crate::fixture;
use crate::reading::{V4, describe, options};
use tollgate_wire::edm::SetId;
use tollgate_wire::plan::{Counting, Direction, Select, SkipToken};
use tollgate_wire::query::rest::{self, Asked};
use tollgate_wire::query::skip_token;
use tollgate_wire::value::Value;

const FLIGHTS: usize = 0;

fn read(set: usize, query: &str) -> Result<Asked, String> {
    let model = fixture::model();
    rest::parse(&model, model.type_of(SetId(set)), query).map_err(|error| format!("{} {error}", error.status()))
}

fn check(query: &str, expected: &str) {
    let model = fixture::model();
    let found = match read(FLIGHTS, query) {
        Ok(asked) => asked
            .options
            .filter
            .map_or("all".to_owned(), |filter| describe(&model, model.type_of(SetId(FLIGHTS)), &filter)),
        Err(error) => error,
    };
    assert_eq!(found, expected, "{query}");
}

#[test]
fn a_condition_is_the_one_that_odata_would_read() {
    let model = fixture::model();
    let flight = model.type_of(SetId(FLIGHTS));
    for (query, filter) in [
        ("carrid=AA", "carrid eq 'AA'"),
        ("carrid.eq=AA", "carrid eq 'AA'"),
        ("carrid=O%27Neil+%26+son", "carrid eq 'O''Neil %26 son'"),
        ("carrid=", "carrid eq ''"),
        ("carrid=AA&carrid=LH", "carrid in ('AA','LH')"),
        ("carrid.ne=AA", "carrid ne 'AA'"),
        ("PRICE.ge=100&PRICE.lt=200.50", "PRICE ge 100 and PRICE lt 200.50"),
        ("fldate.gt=2011-06-01", "fldate gt 2011-06-01"),
        ("flightDetails.cityFrom.starts=NEW", "startswith(flightDetails/cityFrom,'NEW')"),
        ("flightDetails.cityFrom.contains=%25", "contains(flightDetails/cityFrom,'%25')"),
        ("SEATSMAX=385", "SEATSMAX eq 385"),
    ] {
        let filter = options(V4, "FlightCollection", &format!("$filter={filter}")).unwrap().filter.unwrap();
        check(query, &describe(&model, flight, &filter));
    }
    check("PRICE.null=true", "(Equal PRICE null)");
    check("PRICE.null=false", "(NotEqual PRICE null)");
    check("", "all");
    check("&&", "all");
    check("carrid.ne=AA&carrid.ne=LH", "(Or (Equal carrid null) (not (carrid in [String(\"AA\"), String(\"LH\")])))");
}

#[test]
fn what_cannot_be_meant_is_refused_with_what_could_be() {
    check(
        "colour=1",
        "400 unknown parameter 'colour': expected a property of Flight, or limit, offset, cursor, sort, fields, count",
    );
    check("PRYCE=1", "400 unknown parameter 'PRYCE': did you mean PRICE?");
    check("limt=1", "400 unknown parameter 'limt': did you mean limit?");
    check(
        "PRICE.above=1",
        "400 unknown parameter 'PRICE.above': there is no .above, but .eq, .ne, .gt, .ge, .lt, .le, .starts, .contains, .null",
    );
    check(
        "PRICE.=1",
        "400 unknown parameter 'PRICE.': there is no ., but .eq, .ne, .gt, .ge, .lt, .le, .starts, .contains, .null",
    );
    check("flightDetails=1", "400 unknown parameter 'flightDetails': did you mean flightDetails.cityFrom?");
    check(
        "flightDetails/cityFrom=1",
        "400 unknown parameter 'flightDetails/cityFrom': did you mean flightDetails.cityFrom?",
    );
    check(
        "$filter=1",
        "400 unknown parameter '$filter': expected a property of Flight, or limit, offset, cursor, sort, fields, count",
    );
    check("PRICE=cheap", "400 'cheap' is no value for 'PRICE': expected a number, such as 12.50");
    check("PRICE=", "400 '' is no value for 'PRICE': expected a number, such as 12.50");
    check(
        "SEATSMAX=2147483648",
        "400 '2147483648' is no value for 'SEATSMAX': expected a whole number that the type has room for",
    );
    check("fldate=10000-01-01", "400 '10000-01-01' is no value for 'fldate': expected a date, such as 2013-09-25");
    check("carrid=%00", "400 the character U+0000, which no text of a database has in carrid at column 1");
    check("PRICE.null=1", "400 '1' is no value for 'PRICE': expected true or false");
    check("PRICE.starts=1", "400 'PRICE' is no text: .starts cannot be asked of it");
    check("PRICE.gt=1&PRICE.gt=2", "400 the parameter 'PRICE.gt' stands twice");
    check("limit=1&limit=1", "400 the parameter 'limit' stands twice");
    check("limit=many", "400 expected a whole number from 0 to 9223372036854775807, found 'many' in limit at column 1");
    check("offset=-1", "400 expected a whole number from 0 to 9223372036854775807, found '-1' in offset at column 1");
    check("count=yes", "400 expected count to be true or false, found 'yes'");
    check("sort=carrid,,PRICE", "400 unknown property '' in sort at column 8: Flight has no such property");
    check("sort=PRYCE", "400 unknown property 'PRYCE' in sort at column 1: did you mean PRICE?");
    check("fields=carrid,PRYCE", "400 unknown property 'PRYCE' in fields at column 8: did you mean PRICE?");
    check(
        "cursor=abc",
        "400 the cursor was not issued by this service, or it was changed: follow the next link as it was answered",
    );
    check(
        "carrid=%2",
        "400 '%' is not followed by two hexadecimal digits in carrid at column 1: write a percent sign as %25",
    );
    let many: Vec<String> = (0..1001).map(|number| format!("PRICE={number}")).collect();
    check(&many.join("&"), "400 more than 1000 values of 'PRICE'");
    check(&["sort=", &["carrid"; 17].join(",")].concat(), "400 more than 16 keys of an order in sort at column 113");
}

#[test]
fn order_page_fields_and_count_become_options() {
    let asked =
        read(FLIGHTS, "sort=-PRICE,carrid&limit=5&offset=10&count=true&fields=flightDetails,PRICE,carrid,PRICE")
            .unwrap();
    let order: Vec<Direction> = asked.options.order_by.iter().map(|order| order.direction).collect();
    assert_eq!(order, [Direction::Descending, Direction::Ascending]);
    assert_eq!((asked.limit, asked.options.top, asked.options.skip), (Some(5), None, Some(10)));
    assert_eq!(asked.options.count, Counting::Total);
    let model = fixture::model();
    let flight = model.type_of(SetId(FLIGHTS));
    let Select::Only { leaves, navigation } = &asked.options.select else { panic!("all is selected") };
    let names: Vec<&str> = leaves.iter().map(|leaf| flight.leaves[leaf.0].path.split('/').next().unwrap()).collect();
    assert!(names.contains(&"carrid") && names.contains(&"PRICE") && names.contains(&"flightDetails"), "{names:?}");
    assert!(!names.contains(&"fldate") && navigation.is_empty());
    let none = read(FLIGHTS, "limit=0").unwrap();
    assert_eq!((none.limit, none.options.top), (Some(0), Some(0)));
    assert_eq!(rest::parse_of_one(flight, "fields=flightDetails.cityFrom").unwrap().select, {
        let leaf = flight.leaf("flightDetails/cityFrom").unwrap();
        Select::Only { leaves: vec![leaf], navigation: Vec::new() }
    });
    for query in ["limit=1", "fields=carrid&fields=carrid", "fields="] {
        assert!(rest::parse_of_one(flight, query).is_err(), "{query}");
    }
}

#[test]
fn a_cursor_belongs_to_its_order() {
    let text = |text: &str| Value::String(text.to_owned());
    let date = Value::Text(tollgate_wire::edm::Primitive::Date, "2011-06-01".to_owned());
    let token = SkipToken { after: vec![text("AA"), text("AA"), text("0017"), date], answered: 3 };
    let cursor = skip_token::write(&token);
    assert_eq!(read(FLIGHTS, &format!("cursor={cursor}&sort=carrid")).unwrap().options.skip_token, Some(token));
    for (query, fragment) in [
        (format!("cursor={cursor}"), "another sort"),
        (format!("cursor={cursor}&sort=PRICE"), "another sort"),
        (format!("cursor={cursor}&sort=carrid&offset=1"), "no offset beside it"),
    ] {
        let error = read(FLIGHTS, &query).unwrap_err();
        assert!(error.contains(fragment), "{query}: {error}");
    }
}

//! Query options other than expressions, read into plans or refused.

use crate::fixture;
use crate::reading::{V2, V4, check_error, describe, options};
use proptest::prelude::*;
use tollgate_wire::edm::{EntityType, Primitive, Version};
use tollgate_wire::plan::{Counting, Direction, Resource, Select, SkipToken};
use tollgate_wire::query::{self, skip_token};
use tollgate_wire::url;
use tollgate_wire::value::Value;

#[test]
fn order_page_and_count_options() {
    let model = fixture::model();
    let order = |version, text: &str| {
        let options = options(version, "FlightCollection", text).unwrap();
        let entity_type = &model.entity_types[0];
        let describe = |order: &tollgate_wire::plan::OrderBy| {
            let direction = if order.direction == Direction::Descending { " down" } else { "" };
            describe(&model, entity_type, &order.expression) + direction
        };
        options.order_by.iter().map(describe).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(order(V2, "$orderby=PRICE desc,carrid asc, connid"), "PRICE down, carrid, connid");
    assert_eq!(order(V4, "OrderBy=PRICE%20DESC"), "PRICE down");
    assert_eq!(
        order(V4, "$orderby=PRICE mul 2 desc,length(carrid)"),
        "(Multiply PRICE 2:Decimal) down, (Length carrid)"
    );
    assert_eq!(order(V2, "$orderby=FlightCarrier/CARRNAME"), "FlightCarrier/CARRNAME");
    let found =
        options(V2, "FlightCollection", "$top=5&$skip=10&$inlinecount=allpages&$format=application/atom+xml").unwrap();
    assert_eq!((found.top, found.skip, found.count), (Some(5), Some(10), Counting::Total));
    assert_eq!(found.format.as_deref(), Some("application/atom+xml"));
    let found =
        options(V4, "FlightCollection", "top=5&skip=10&Count=true&$format=application/json;odata.metadata=none")
            .unwrap();
    assert_eq!((found.top, found.skip, found.count), (Some(5), Some(10), Counting::Total));
    assert_eq!(found.format.as_deref(), Some("application/json;odata.metadata=none"));
    assert!(options(V4, "FlightCollection/$count", "$filter=PRICE+gt+5").unwrap().filter.is_some());
    assert_eq!(options(V2, "FlightCollection/$count", "$top=5").unwrap().top, Some(5));

    check_error(
        V2,
        "FlightCollection",
        "$orderby=PRYCE",
        "400 unknown property 'PRYCE' in $orderby at column 1: Flight has PRICE",
    );
    check_error(
        V2,
        "FlightCollection",
        "$orderby=PRICE down",
        "400 expected an operator or the end, found 'down' in $orderby at column 7",
    );
    check_error(
        V2,
        "FlightCollection",
        "$orderby=PRICE,",
        "400 expected a property, a literal or a function, found the end in $orderby at column 7",
    );
    check_error(
        V2,
        "FlightCollection",
        "$top=-1",
        "400 expected a whole number from 0 to 9223372036854775807, found '-1' in $top at column 1",
    );
    check_error(
        V2,
        "FlightCollection",
        "$skip=9223372036854775808",
        "400 expected a whole number from 0 to 9223372036854775807, found '9223372036854775808' in $skip at column 1",
    );
    check_error(
        V2,
        "FlightCollection",
        "$inlinecount=true",
        "400 expected allpages or none, found 'true' in $inlinecount at column 1",
    );
    check_error(V4, "FlightCollection", "$count=yes", "400 expected true or false, found 'yes' in $count at column 1");
    check_error(
        V4,
        "FlightCollection",
        "$format=",
        "400 expected json, atom, xml or a media type, found '' in $format at column 1",
    );
}

#[test]
fn options_are_known_by_version_and_stand_once() {
    check_error(V2, "FlightCollection", "$fliter=x", "400 unknown query option '$fliter': did you mean $filter?");
    check_error(V2, "FlightCollection", "$Filter=x", "400 unknown query option '$Filter': did you mean $filter?");
    check_error(V2, "FlightCollection", "$zzzzzz", "400 unknown query option '$zzzzzz'");
    check_error(
        V2,
        "FlightCollection",
        "$count=true",
        "400 the query option $count is of OData V4: V2 writes $inlinecount=allpages",
    );
    check_error(
        V4,
        "FlightCollection",
        "$inlinecount=allpages",
        "400 the query option $inlinecount is of OData V2: V4 writes $count=true",
    );
    check_error(V2, "FlightCollection", "$search=x", "400 the query option $search is of OData V4");
    check_error(V2, "FlightCollection", "$top=1&$top=1", "400 the option $top stands twice");
    check_error(V4, "FlightCollection", "$top=1&Top=1", "400 the option $top stands twice");
    check_error(V2, "CarrierCollection('AA')", "$filter=true", "400 $filter does not apply: the path names one entity");
    check_error(
        V2,
        "CarrierCollection('AA')/URL",
        "$select=URL",
        "400 $select does not apply: the path names a property",
    );
    check_error(
        V4,
        "CarrierCollection('AA')/URL",
        "$select=URL",
        "400 $select does not apply: the path names a property",
    );
    check_error(
        V4,
        "FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)/flightDetails",
        "$select=cityFrom",
        "501 $select of a complex property is not implemented in $select at column 1",
    );
    check_error(V4, "FlightCollection/$count", "$top=1", "400 $top does not apply: the path names a count");
    check_error(V2, "$metadata", "$top=1", "400 $top does not apply: the path names no data");
    check_error(
        V2,
        "FlightCollection",
        "$filter=%zz",
        "400 '%' is not followed by two hexadecimal digits in $filter at column 1: write a percent sign as %25",
    );

    let (resource, custom) =
        url::parse(&fixture::model(), V2, "$metadata", Some("sap-client=001&&filter=a+b%26&x&$format=xml")).unwrap();
    assert_eq!(resource, Resource::Metadata);
    let custom: Vec<(&str, &str)> = custom.iter().map(|option| (&*option.name, &*option.value)).collect();
    assert_eq!(custom, [("sap-client", "001"), ("filter", "a b&"), ("x", "")]);
    let (_, custom) = url::parse(&fixture::model(), V4, "GetAvailableFlights", Some("cityfrom='x'&@p=5")).unwrap();
    assert_eq!(custom.len(), 1);
}

#[test]
fn the_format_is_found_even_where_the_rest_is_wrong() {
    assert_eq!(query::format_of(V2, Some("$filter=((&%24format=json")).as_deref(), Some("json"));
    assert_eq!(
        query::format_of(V4, Some("x=%&Format=application/json;odata.metadata=full")).as_deref(),
        Some("application/json;odata.metadata=full")
    );
    assert_eq!(query::format_of(V2, Some("format=json")), None);
    assert_eq!(query::format_of(V2, None), None);
}

/// Selected leaves and navigation by name, and the same of each expansion.
fn check_select(version: Version, query: &str, expected: &str) {
    let model = fixture::model();
    let describe = |entity_type: &EntityType, select: &Select| match select {
        Select::All => "all".to_owned(),
        Select::Only { leaves, navigation } => {
            let leaves = leaves.iter().map(|leaf| entity_type.leaves[leaf.0].path.as_str());
            let links = navigation.iter().map(|id| entity_type.navigation[id.0].name.as_str());
            leaves.chain(links).collect::<Vec<_>>().join(" ")
        }
    };
    let found = match options(version, "FlightCollection", query) {
        Err(error) => error,
        Ok(options) => {
            let entity_type = &model.entity_types[0];
            let mut out = describe(entity_type, &options.select);
            for expand in &options.expand {
                let target = model.type_of(expand.target);
                out += &format!(
                    " + {}: {}",
                    entity_type.navigation[expand.navigation.0].name,
                    describe(target, &expand.options.select)
                );
            }
            out
        }
    };
    assert_eq!(found, expected, "{version:?} {query}");
}

#[test]
fn select_and_expand_name_leaves_and_links() {
    for version in [V2, V4] {
        check_select(version, "$top=1", "all");
        check_select(version, "$select=PRICE,carrid, PRICE", "carrid PRICE");
        check_select(
            version,
            "$select=flightDetails",
            "flightDetails/cityFrom flightDetails/flightTime flightDetails/departureTime flightDetails/distance",
        );
        check_select(version, "$select=flightDetails/distance,flightBookings", "flightDetails/distance flightBookings");
        check_select(version, "$expand=flightBookings,FlightCarrier", "all + flightBookings: all + FlightCarrier: all");
        check_select(version, "$select=PRYCE", "400 unknown property 'PRYCE' in $select at column 1: Flight has PRICE");
        check_select(
            version,
            "$select=PRICE,flightDetails/x",
            "400 unknown property 'x' in $select at column 21: it is none of FlightDetails",
        );
        check_select(
            version,
            "$select=PRICE/x",
            "400 'PRICE' is no complex property and has no 'x' in $select at column 7",
        );
        check_select(version, "$select=", "400 expected a property or * in $select at column 1");
        check_select(
            version,
            "$expand=FlightCarier",
            "400 unknown navigation property 'FlightCarier' in $expand at column 1: Flight has FlightCarrier",
        );
        check_select(
            version,
            "$expand=xxxxxxxx",
            "400 unknown navigation property 'xxxxxxxx' in $expand at column 1: Flight has flightBookings, FlightCarrier",
        );
    }
    check_select(V2, "$select=*", "all");
    check_select(V2, "$select=carrid&$expand=FlightCarrier", "carrid");
    check_select(V2, "$select=carrid,FlightCarrier&$expand=FlightCarrier", "carrid FlightCarrier + FlightCarrier: all");
    check_select(
        V2,
        "$select=carrid,FlightCarrier/URL&$expand=FlightCarrier",
        "carrid FlightCarrier + FlightCarrier: URL",
    );
    check_select(
        V2,
        "$select=FlightCarrier,FlightCarrier/URL&$expand=FlightCarrier",
        "FlightCarrier + FlightCarrier: all",
    );
    check_select(
        V2,
        "$select=FlightCarrier/URL",
        "400 'FlightCarrier' is selected from but not expanded in $select at column 1: add $expand=FlightCarrier",
    );
    check_select(
        V2,
        "$select=FlightCarrier/X&$expand=FlightCarrier",
        "400 unknown property 'X' in $select at column 15: it is none of Carrier",
    );
    check_select(V2, "$expand=FlightCarrier,FlightCarrier", "all + FlightCarrier: all");
    check_select(
        V2,
        "$expand=flightBookings/bookedFlihgt",
        "400 unknown navigation property 'bookedFlihgt' in $expand at column 16: Booking has bookedFlight",
    );
    check_select(V4, "$select=carrid&$expand=FlightCarrier", "carrid + FlightCarrier: all");
    check_select(
        V4,
        "$expand=FlightCarrier($select=URL,carrid),flightBookings",
        "all + FlightCarrier: carrid URL + flightBookings: all",
    );
    check_select(V4, "expand=*", "all + flightBookings: all + FlightCarrier: all");
    check_select(
        V4,
        "$expand=FlightCarrier,FlightCarrier",
        "400 'FlightCarrier' is expanded twice in $expand at column 15",
    );
    check_select(
        V4,
        "$expand=FlightCarrier($select=URI)",
        "400 unknown property 'URI' in $expand at column 23: Carrier has URL",
    );
    check_select(
        V4,
        "$expand=flightBookings($select=PASSNAME;$filter=PASSNAME eq 'a;b')",
        "all + flightBookings: PASSNAME",
    );
    check_select(V4, "$expand=flightBookings(x=4)", "400 unknown option 'x' inside of $expand in $expand at column 16");
    check_select(V4, "$expand=flightBookings/$ref", "all + flightBookings: carrid connid fldate bookid");
    check_select(
        V4,
        "$expand=flightBookings/bookedFlight",
        "501 a path in $expand is not implemented in $expand at column 15",
    );
    check_select(
        V4,
        "$expand=Model.VipFlight/x",
        "501 type casts in $expand is not implemented in $expand at column 1",
    );
    check_select(
        V4,
        "$expand=flightBookings($select=PASSNAME",
        "400 a parenthesis that is not closed at the end of its item in $expand at column 15",
    );
    check_select(
        V4,
        "$select=flightDetails($select=x)",
        "501 nested options in $select is not implemented in $select at column 14",
    );
    check_select(
        V4,
        "$select=Model.Action",
        "501 the qualified name 'Model.Action' in $select is not implemented in $select at column 1",
    );
    check_select(
        V4,
        "$select=FlightCarrier/URL",
        "400 'FlightCarrier' leads to other entities in $select at column 1: write $expand=…($select=…)",
    );
}

#[test]
fn a_skip_token_is_taken_as_it_was_written() {
    let token = SkipToken {
        after: vec![
            Value::Decimal("422.94".to_owned()),
            Value::Null,
            Value::String("AA".to_owned()),
            Value::String("0017".to_owned()),
            Value::Text(Primitive::Date, "2013-09-25".to_owned()),
        ],
        answered: 7,
    };
    let text = skip_token::write(&token);
    let query = format!("$orderby=PRICE,CURRENCY&$skiptoken={text}");
    assert_eq!(options(V2, "FlightCollection", &query).unwrap().skip_token, Some(token.clone()));
    assert_eq!(options(V4, "FlightCollection", &query).unwrap().skip_token, Some(token));
    let other = "400 the $skiptoken belongs to another $orderby or entity set: follow the next link as it was answered";
    check_error(V2, "FlightCollection", &format!("$orderby=PRICE&$skiptoken={text}"), other);
    check_error(V2, "FlightCollection", &format!("$orderby=CURRENCY,PRICE&$skiptoken={text}"), other);
    let changed =
        "400 the $skiptoken was not issued by this service, or it was changed: follow the next link as it was answered";
    for bad in ["", "x", "AAAA", &text[1..], &text[..text.len() - 4], &text.to_lowercase()] {
        check_error(V2, "FlightCollection", &format!("$skiptoken={bad}"), changed);
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Boolean),
        any::<i64>().prop_map(Value::Integer),
        any::<f64>().prop_filter("NaN equals nothing", |value| !value.is_nan()).prop_map(Value::Real),
        "-?[1-9][0-9]{0,30}\\.[0-9]{1,9}".prop_map(Value::Decimal),
        "\\PC{0,30}".prop_map(Value::String),
        proptest::collection::vec(any::<u8>(), 0..30).prop_map(Value::Binary),
        Just(Value::Text(Primitive::Guid, "01234567-89ab-cdef-0123-456789abcdef".to_owned())),
        Just(Value::Text(Primitive::TimeOfDay { precision: 0 }, "11:00:00".to_owned())),
        Just(Value::Text(Primitive::DateTime { precision: 0 }, "2013-09-25T11:00:00.5".to_owned())),
        Just(Value::Text(Primitive::DateTimeOffset { precision: 0 }, "2013-09-25T11:00:00Z".to_owned())),
    ]
}

proptest! {
    #[test]
    fn skip_tokens_round_trip(after in proptest::collection::vec(any_value(), 0..6), answered in any::<u64>()) {
        let token = SkipToken { after, answered };
        let text = skip_token::write(&token);
        prop_assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
        prop_assert_eq!(skip_token::parse(&text), Some(token));
    }

    #[test]
    fn a_tampered_skip_token_is_refused(after in proptest::collection::vec(any_value(), 0..6), at in any::<prop::sample::Index>(), with in "[A-Za-z0-9_-]") {
        let text = skip_token::write(&SkipToken { after, answered: 0 });
        let at = at.index(text.len());
        let mut changed = text.clone();
        changed.replace_range(at..=at, &with);
        if changed != text {
            prop_assert_eq!(skip_token::parse(&changed), None);
        }
    }

    #[test]
    fn no_query_panics(query in "\\PC{0,40}|\\$(filter|orderby|select|expand|skiptoken)=[a-zA-Z0-9 ()'/,;$@.*%-]{0,60}") {
        for version in [V2, V4] {
            let _ = options(version, "FlightCollection", &query);
        }
    }
}

#[test]
fn what_stands_in_the_parentheses_of_an_expansion_is_checked_with_its_place() {
    let check = |expand: &str, expected: &str| {
        check_error(V4, "FlightCollection", &format!("$expand={expand}"), expected);
    };
    check(
        "FlightCarrier,flightBookings($filter=PASNAME eq 'x')",
        "400 unknown property 'PASNAME' in $expand at column 38: Booking has PASSNAME",
    );
    check(
        "flightBookings($expand=bookedFlight($select=PRYCE))",
        "400 unknown property 'PRYCE' in $expand at column 45: Flight has PRICE",
    );
    check("FlightCarrier($top=1)", "400 $top does not apply: the expansion is of one entity in $expand at column 15");
    check("FlightCarrier/$count", "400 'FlightCarrier' leads to one entity in $expand at column 14");
    check(
        "flightBookings/$count($top=1)",
        "400 $top does not apply: the expansion is of a count in $expand at column 23",
    );
    check(
        "flightBookings/$ref($select=PASSNAME)",
        "400 $select does not apply: the expansion is of references in $expand at column 21",
    );
    check("flightBookings($format=json)", "400 $format does not apply inside of $expand in $expand at column 16");
    check("flightBookings($top=1;$top=2)", "400 $top stands twice in $expand at column 23");
    check("flightBookings($apply=identity)", "501 $apply inside of $expand is not implemented in $expand at column 16");
    check(
        "flightBookings($filter=$it/PRICE gt 1)",
        "501 $it inside of $expand is not implemented in $expand at column 24",
    );
    check("flightBookings(levels=0)", "400 expected max or a whole number from 1, found '0' in $expand at column 23");
    check(
        "*($top=1)",
        "501 '*' with options in $expand is not implemented in $expand at column 3: only $levels can stand there",
    );
    let deep = |levels: usize| {
        let open: String = (0..levels)
            .map(|level| if level % 2 == 0 { "flightBookings(expand=" } else { "bookedFlight(expand=" })
            .collect();
        open + if levels.is_multiple_of(2) { "FlightCarrier" } else { "bookedFlight" } + &")".repeat(levels)
    };
    assert!(options(V4, "FlightCollection", &format!("$expand={}", deep(5))).is_ok());
    let beyond = options(V4, "FlightCollection", &format!("$expand={}", deep(6))).unwrap_err();
    assert!(beyond.starts_with("400 more than 6 levels of expansion"), "{beyond}");
    check(&"(".repeat(3_000), "400 expected a navigation property in $expand at column 1");
}

#[test]
fn a_function_adds_its_condition_with_bound_values_to_that_of_the_request() {
    let model = fixture::model();
    let filter = |version, path: &str, query: &str| match url::parse(&model, version, path, Some(query)) {
        Ok((Resource::Read(plan), _)) => {
            describe(&model, &model.entity_types[0], plan.options.filter.as_ref().expect("a function has a condition"))
        }
        Ok((other, _)) => format!("{other:?}"),
        Err(error) => format!("{} {error}", error.status()),
    };
    let plain = filter(V4, "FlightsSince(airline='a''b',since=2013-09-25)", "");
    assert_eq!(plain, filter(V4, "FlightsSince(since=@s,airline=@a)", "@a='a''b'&@s=2013-09-25"));
    assert_eq!(plain, filter(V4, "FlightsSince", "airline='a''b'&since=2013-09-25"));
    assert_eq!(plain, filter(V2, "FlightsSince", "airline='a''b'&since=datetime'2013-09-25T00:00:00'"));
    assert_eq!(plain, filter(V2, "FlightsSince", "airline='a''b'&since='20130925'&sap-client=100"));
    assert!(plain.contains("'a'b'") || plain.contains("a'b"), "the value is one literal: {plain}");
    let both = filter(V4, "FlightsSince(airline='a''b',since=2013-09-25)", "$filter=PRICE gt 5");
    assert!(both.contains("PRICE") && both.contains("carrid"), "{both}");
    for (version, path, query, expected) in [
        (V2, "FlightsSince", "airline='a'", "400 the parameter 'since' of FlightsSince is missing"),
        (V4, "FlightsSince()", "", "400 the parameter 'airline' of FlightsSince is missing"),
        (V4, "FlightsSince(airline='a',since=5)", "", "400 the parameter 'since' is Edm.Date"),
        (V4, "FlightsSince(airline=)", "", "400 expected a literal for the parameter 'airline'"),
        (V4, "FlightsSince(airline='a' since=5)", "", "400 expected ',' or ')' behind a parameter"),
    ] {
        let found = filter(version, path, query);
        assert!(found.starts_with(expected), "{version:?} {path}?{query}: {found}");
    }
}

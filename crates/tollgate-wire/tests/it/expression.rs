//! Expressions: what `$filter` accepts, as which tree, and the exact sentence for what it does not.

use crate::fixture;
use crate::reading::{V2, V4, check_error, describe, options};
use proptest::prelude::*;
use tollgate_wire::edm::{SetId, Version};

/// The same expression in the versions that are named, against the set that is named.
fn check_filter(versions: &[Version], set: usize, text: &str, expected: &str) {
    let model = fixture::model();
    for version in versions {
        let found =
            match options(*version, &model.entity_sets[set].name, &format!("$filter={}", text.replace('%', "%25"))) {
                Ok(options) => describe(&model, model.type_of(SetId(set)), &options.filter.unwrap()),
                Err(error) => error,
            };
        assert_eq!(found, expected, "{version:?} {text}");
    }
}

fn check_flight(versions: &[Version], text: &str, expected: &str) {
    check_filter(versions, 0, text, expected);
}

#[test]
fn operators_bind_as_the_specifications_say() {
    let both = &[V2, V4];
    check_flight(both, "SEATSOCC add 2 mul 3 gt 5", "(Greater (Add SEATSOCC (Multiply 2:Int32 3:Int32)) 5:Int32)");
    check_flight(both, "(SEATSOCC add 2) mul 3 gt 5", "(Greater (Multiply (Add SEATSOCC 2:Int32) 3:Int32) 5:Int32)");
    check_flight(both, "SEATSOCC sub 1 sub 2 eq 0", "(Equal (Subtract (Subtract SEATSOCC 1:Int32) 2:Int32) 0:Int32)");
    check_flight(
        both,
        "carrid eq 'AA' or carrid eq 'LH' and SEATSMAX le 100",
        "(Or (Equal carrid 'AA':String) (And (Equal carrid 'LH':String) (LessOrEqual SEATSMAX 100:Int32)))",
    );
    check_flight(both, "not (carrid eq 'AA') and true", "(And (not (Equal carrid 'AA':String)) true)");
    check_flight(both, "not startswith(carrid,'A')", "(not (StartsWith carrid 'A':String))");
    check_flight(both, "-SEATSMAX lt -5", "(Less (- SEATSMAX) -5:Int32)");
    check_flight(both, "SEATSMAX gt 5 eq true", "(Equal (Greater SEATSMAX 5:Int32) true)");
    check_flight(both, " carrid  eq\t'AA' ", "(Equal carrid 'AA':String)");
    check_flight(both, "carrid eq null", "(Equal carrid null)");
    check_flight(both, "((((true))))", "true");
    check_flight(both, "flightDetails/cityFrom eq 'O''Neil'", "(Equal flightDetails/cityFrom 'O'Neil':String)");
    check_flight(both, "FlightCarrier/CARRNAME ne 'Δ%'", "(NotEqual FlightCarrier/CARRNAME 'Δ%':String)");
    check_flight(
        &[V4],
        "Carrid Eq 'AA' OR true",
        "400 unknown property 'Carrid' in $filter at column 1: Flight has carrid",
    );
    check_flight(&[V4], "carrid Eq 'AA' OR TRUE", "(Or (Equal carrid 'AA':String) true)");
    check_flight(&[V4], "$it/carrid eq 'AA'", "(Equal carrid 'AA':String)");
    check_filter(
        both,
        2,
        "bookedFlight/FlightCarrier/CARRNAME eq ''",
        "(Equal bookedFlight/FlightCarrier/CARRNAME '':String)",
    );
}

#[test]
fn a_chain_of_logic_is_a_balanced_tree() {
    check_flight(&[V2, V4], "true or false or true or false or true", "(Or (Or (Or true false) (Or true false)) true)");
    let chain = vec!["carrid eq 'AA'"; 2_000].join(" or ");
    assert!(options(V2, "FlightCollection", &format!("$filter={chain}")).is_ok());
}

#[test]
fn literals_take_the_type_of_what_they_meet() {
    let both = &[V2, V4];
    check_flight(both, "PRICE gt 100", "(Greater PRICE 100:Decimal)");
    check_flight(both, "100 lt PRICE", "(Less 100:Decimal PRICE)");
    check_flight(both, "PRICE eq 422.940", "(Equal PRICE 422.940:Decimal)");
    check_flight(both, "PRICE eq 9007199254740993.01", "(Equal PRICE 9007199254740993.01:Decimal)");
    check_flight(both, "PRICE add 0.1 eq 1e2", "(Equal (Add PRICE 0.1:Decimal) 100:Decimal)");
    check_flight(both, "SEATSMAX gt 10.5", "(Greater SEATSMAX 10.5:Decimal)");
    check_flight(&[V2], "PRICE eq 1.5M", "(Equal PRICE 1.5:Decimal)");
    check_flight(&[V2], "fldate eq datetime'2013-09-25T00:00:00'", "(Equal fldate 2013-09-25:Date)");
    check_flight(&[V2], "fldate gt datetime'2013-09-25T12:00'", "(Greater fldate 2013-09-25T12:00:00:DateTime)");
    check_flight(
        &[V2],
        "flightDetails/departureTime ge time'PT11H30M'",
        "(GreaterOrEqual flightDetails/departureTime 11:30:00:TimeOfDay)",
    );
    check_flight(
        &[V4],
        "flightDetails/departureTime ge 11:30",
        "(GreaterOrEqual flightDetails/departureTime 11:30:00:TimeOfDay)",
    );
    check_flight(&[V4], "fldate eq 2013-09-25", "(Equal fldate 2013-09-25:Date)");
    check_flight(&[V4], "fldate eq 2013-09-25T00:00:00Z", "(Equal fldate 2013-09-25:Date)");
    check_flight(&[V4], "fldate lt 2013-09-25T14:00:00+02:00", "(Less fldate 2013-09-25T12:00:00:DateTime)");
    let set = 3;
    check_filter(&[V2], set, "id eq 9007199254740993L", "(Equal id 9007199254740993:Int64)");
    check_filter(&[V4], set, "id eq 9007199254740993", "(Equal id 9007199254740993:Int64)");
    check_filter(both, set, "double lt 1", "(Less double 1:Double)");
    check_filter(
        &[V2],
        set,
        "single lt 1.5f and double gt -2d",
        "(And (Less single 1.5:Single) (Greater double -2:Double))",
    );
    check_filter(
        both,
        set,
        "double eq INF or double eq -INF",
        "(Or (Equal double inf:Double) (Equal double -inf:Double))",
    );
    check_filter(both, set, "byte eq 300", "(Equal byte 300:Int32)");
    check_filter(
        &[V2],
        set,
        "guid eq guid'01234567-89AB-cdef-0123-456789abcdef'",
        "(Equal guid 01234567-89ab-cdef-0123-456789abcdef:Guid)",
    );
    check_filter(
        &[V4],
        set,
        "guid eq a1234567-89AB-cdef-0123-456789abcdef",
        "(Equal guid a1234567-89ab-cdef-0123-456789abcdef:Guid)",
    );
    check_filter(
        &[V2],
        set,
        "binary eq X'00fF' or binary eq binary'00'",
        "(Or (Equal binary Binary([0, 255]):Binary) (Equal binary Binary([0]):Binary))",
    );
    check_filter(&[V4], set, "binary eq binary'AP8'", "(Equal binary Binary([0, 255]):Binary)");
    check_filter(
        &[V2],
        set,
        "instant lt datetimeoffset'2013-09-25T00:00:00+02:00'",
        "(Less instant 2013-09-24T22:00:00Z:DateTimeOffset)",
    );
    check_filter(
        &[V4],
        set,
        "instant lt 2013-09-25 and moment lt 2013-09-25T00:00Z",
        "(And (Less instant 2013-09-25T00:00:00Z:DateTimeOffset) (Less moment 2013-09-25T00:00:00:DateTime))",
    );
    check_filter(both, set, "boolean", "boolean");
    check_filter(both, set, "boolean eq false", "(Equal boolean false)");
}

#[test]
fn functions_have_the_names_of_their_version() {
    let both = &[V2, V4];
    check_flight(&[V2], "substringof('merc',PLANETYPE)", "(Contains PLANETYPE 'merc':String)");
    check_flight(&[V4], "contains(PLANETYPE,'merc')", "(Contains PLANETYPE 'merc':String)");
    check_flight(both, "length(concat(carrid, connid)) eq 7", "(Equal (Length (Concat carrid connid)) 7:Int32)");
    check_flight(
        both,
        "substring(PLANETYPE,1) eq substring(PLANETYPE,1,SEATSMAX)",
        "(Equal (Substring PLANETYPE 1:Int32) (Substring PLANETYPE 1:Int32 SEATSMAX))",
    );
    check_flight(
        both,
        "indexof( tolower(carrid) , trim(toupper('a')) ) ge 0",
        "(GreaterOrEqual (IndexOf (ToLower carrid) (Trim (ToUpper 'a':String))) 0:Int32)",
    );
    check_flight(
        &[V2],
        "replace(carrid,'A','B') eq 'BB'",
        "(Equal (Replace carrid 'A':String 'B':String) 'BB':String)",
    );
    check_flight(
        both,
        "year(fldate) eq 2013 and month(fldate) eq 9 and day(fldate) gt 1",
        "(And (And (Equal (Year fldate) 2013:Int32) (Equal (Month fldate) 9:Int32)) (Greater (Day fldate) 1:Int32))",
    );
    check_flight(&[V2], "hour(fldate) eq 0", "(Equal (Hour fldate) 0:Int32)");
    check_flight(
        both,
        "minute(flightDetails/departureTime) eq 0",
        "(Equal (Minute flightDetails/departureTime) 0:Int32)",
    );
    check_flight(
        both,
        "round(PRICE) eq 423 and floor(PRICE) lt ceiling(2.5)",
        "(And (Equal (Round PRICE) 423:Decimal) (Less (Floor PRICE) (Ceiling 2.5:Decimal)))",
    );
    check_filter(
        &[V4],
        3,
        "date(instant) eq 2013-09-25 and time(moment) lt 12:00:00",
        "(And (Equal (Date instant) 2013-09-25:Date) (Less (Time moment) 12:00:00:TimeOfDay))",
    );
}

#[test]
fn a_wrong_filter_says_where_and_what_would_be_right() {
    let both = &[V2, V4];
    check_flight(both, "PRYCE gt 100", "400 unknown property 'PRYCE' in $filter at column 1: Flight has PRICE");
    check_flight(
        both,
        "carrid eq 5",
        "400 cannot compare Edm.String with Edm.Int32 in $filter at column 8: write the text in quotes",
    );
    check_flight(
        both,
        "PRICE gt '5'",
        "400 cannot compare Edm.Decimal with Edm.String in $filter at column 7: write the number without quotes",
    );
    check_flight(
        &[V2],
        "fldate eq '20130925'",
        "400 cannot compare Edm.DateTime with Edm.String in $filter at column 8: write datetime'2013-09-25T00:00:00'",
    );
    check_flight(
        &[V4],
        "fldate eq '2013-09-25'",
        "400 cannot compare Edm.Date with Edm.String in $filter at column 8: write the date without quotes, as 2013-09-25",
    );
    check_flight(
        &[V2],
        "fldate eq 2013-09-25",
        "400 '2013-09-25' is a literal of OData V4 in $filter at column 11: V2 writes datetime'2013-09-25T00:00:00', time'PT11H00M00S' and guid'…'",
    );
    check_flight(
        &[V4],
        "fldate eq datetime'2013-09-25T00:00'",
        "400 datetime'…' is a literal of OData V2 in $filter at column 11: in V4 dates, times and guids stand without prefix and quotes",
    );
    check_flight(
        both,
        "PRICE",
        "400 expected a Boolean expression, found one of type Edm.Decimal in $filter at column 1: compare it, as in PRICE gt 100",
    );
    check_flight(both, "PRICE and true", "400 and takes Boolean operands, not Edm.Decimal in $filter at column 1");
    check_flight(
        both,
        "not PRICE eq 5",
        "400 not takes Boolean operands, not Edm.Decimal in $filter at column 5: it binds closest: write not (… eq …)",
    );
    check_flight(both, "carrid add 1 eq 2", "400 add takes numbers, not Edm.String in $filter at column 1");
    check_flight(both, "PRICE div 0.0 eq 2", "400 division by zero in $filter at column 11");
    check_flight(
        both,
        "PRICE equals 5",
        "400 expected an operator or the end, found 'equals' in $filter at column 7: did you mean eq?",
    );
    check_flight(
        both,
        "PRICE gt",
        "400 expected a property, a literal or a function, found the end in $filter at column 9",
    );
    check_flight(both, "", "400 expected a property, a literal or a function, found the end in $filter at column 1");
    check_flight(
        both,
        "(PRICE gt 5",
        "400 expected ')', found the end in $filter at column 12: it closes the parenthesis at column 1",
    );
    check_flight(both, "PRICE gt 5)", "400 expected an operator or the end, found ')' in $filter at column 11");
    check_flight(both, "PRICE gt 5x", "400 '5x' is no number in $filter at column 10");
    check_flight(both, "PRICE > 5", "400 expected an operator or the end, found '> 5' in $filter at column 7");
    check_flight(both, "'ÄÖÜ' eq PRYCE", "400 unknown property 'PRYCE' in $filter at column 10: Flight has PRICE");
    check_flight(
        &[V2],
        "flightDetails eq 5",
        "400 'flightDetails' is complex and no value in $filter at column 1: name a member, as flightDetails/cityFrom",
    );
    check_flight(
        both,
        "flightDetails/cityForm eq 'x'",
        "400 unknown property 'cityForm' in $filter at column 15: FlightDetails has cityFrom",
    );
    check_flight(
        both,
        "FlightCarrier/CARNAME eq 'x'",
        "400 unknown property 'CARNAME' in $filter at column 15: Carrier has CARRNAME",
    );
    check_flight(
        &[V2],
        "flightBookings/PASSNAME eq 'x'",
        "400 'flightBookings' leads to many entities in $filter at column 1: only navigation to one entity can stand in an expression",
    );
    check_flight(&[V2], "PRICE/x eq 'x'", "400 nothing can follow a primitive property in $filter at column 6");
    check_flight(
        both,
        "length(5) eq 1",
        "400 length takes Edm.String as argument 1, not Edm.Int32 in $filter at column 8",
    );
    check_flight(both, "length(carrid,carrid) eq 1", "400 length takes 1 argument, not 2 in $filter at column 1");
    check_flight(
        both,
        "substring(carrid) eq 'x'",
        "400 substring takes 2 to 3 arguments, not 1 in $filter at column 1",
    );
    check_flight(
        both,
        "lenght(carrid) eq 1",
        "400 unknown function 'lenght' in $filter at column 1: did you mean length?",
    );
    check_flight(
        &[V2],
        "contains(carrid,'x')",
        "400 unknown function 'contains' in $filter at column 1: V2 writes substringof(part, text)",
    );
    check_flight(
        &[V4],
        "substringof('x',carrid)",
        "400 unknown function 'substringof' in $filter at column 1: V4 writes contains(text, part)",
    );
    check_flight(
        &[V4],
        "hour(fldate) eq 1",
        "400 hour takes Edm.DateTimeOffset or Edm.TimeOfDay as argument 1, not Edm.Date in $filter at column 6",
    );
    check_filter(
        both,
        3,
        "binary gt binary",
        "400 Edm.Binary has no order in $filter at column 8: it can be compared by eq and ne",
    );
    check_filter(
        &[V2],
        3,
        "guid eq 'x'",
        "400 cannot compare Edm.Guid with Edm.String in $filter at column 6: write guid'…'",
    );
}

#[test]
fn moments_move_by_durations_and_have_durations_between_them() {
    check_filter(&[V4], 3, "instant gt now() sub duration'P7D'", "(Greater instant (Subtract (Now ) P7D:Duration))");
    check_flight(
        &[V4],
        "fldate add duration'P1D' gt 2013-09-25",
        "(Greater (Add fldate P1D:Duration) 2013-09-25:Date)",
    );
    check_filter(
        &[V4],
        3,
        "instant sub moment lt duration'PT1H' and date sub 2013-09-25 gt duration'P1D'",
        "(And (Less (Subtract instant moment) PT1H:Duration) (Greater (Subtract date 2013-09-25:Date) P1D:Duration))",
    );
    // What null moves, or is far from, is null.
    check_flight(&[V4], "fldate sub @d eq null", "(Equal null null)");
    check_flight(&[V4], "null sub duration'P1D' eq null", "(Equal null null)");
}

#[test]
fn a_list_behind_in_may_be_an_array_of_json() {
    check_flight(&[V4], "carrid in ['AA', \"L\\u0048\\\"\"]", "(carrid in [String(\"AA\"), String(\"LH\\\"\")])");
    check_flight(&[V4], "SEATSMAX in [1,2 ]", "(SEATSMAX in [Integer(1), Integer(2)])");
    check_flight(
        &[V4],
        "fldate in [\"2013-09-25\",2013-09-26]",
        "(fldate in [Text(Date, \"2013-09-25\"), Text(Date, \"2013-09-26\")])",
    );
    check_flight(&[V4], "carrid in []", "false");
    check_flight(
        &[V4],
        "fldate in [\"x\"]",
        "400 cannot compare Edm.Date with Edm.String in $filter at column 8: write the date without quotes, as 2013-09-25",
    );
}

#[test]
fn what_is_no_odata_is_told_so_even_behind_what_is_not_built() {
    check_flight(&[V4], "geo.length(PRICE) gt", "400 expected more, found the end in $filter at column 21");
    check_flight(&[V4], "$root/FlightCollection('x' eq 1", "400 expected ')' in $filter at column 32");
    let alias = options(V4, "FlightCollection", "$filter=$it eq @p&@p={\"a\":}").unwrap_err();
    assert_eq!(alias, "400 expected a property, a literal or a function in @p at column 6");
}

#[test]
fn what_is_not_built_is_refused_by_its_name() {
    for (text, name, column) in [
        ("PLANETYPE has Model.Pattern'Yellow'", "the enumeration type 'Model.Pattern'", 15),
        ("$root/FlightCollection", "$root in an expression", 1),
        ("geo.length(PRICE) gt 5", "the function 'geo.length'", 1),
        ("Model.Flight/PRICE gt 5", "the type cast 'Model.Flight'", 1),
        ("PLANETYPE eq Model.Pattern'Yellow'", "the enumeration type 'Model.Pattern'", 14),
        ("carrid eq @Core.Description", "an annotation or a path behind an alias in an expression", 11),
        ("cast(RMTSAMPLEFLIGHT.Flight) eq null", "cast of an entity as a value", 1),
        ("cast(PRICE,Edm.Stream) eq 'x'", "cast to 'Edm.Stream'", 12),
        ("cast(carrid,Edm.Int32) eq 5", "cast from Edm.String to Edm.Int32", 13),
        ("flightBookings/any(b:b eq null)", "the entity 'b' as a value", 22),
        ("flightBookings/$count($search=x) gt 2", "$search behind $count in an expression", 23),
        ("[carrid] in [['AA']]", "a collection in an expression", 1),
        (
            "duration'P1D' add duration'P1D' gt duration'PT1H'",
            "arithmetic of dates and durations other than to move a moment or to find what lies between two",
            15,
        ),
        ("flightDetails eq null", "the complex property 'flightDetails' as a value", 1),
        ("flightBookings/Model.Late/any()", "'Model.Late/any()' behind a collection", 16),
        ("FlightCarrier eq null", "the entity 'FlightCarrier' as a value", 1),
        ("PRICE/@Measures.Currency eq 'EUR'", "'@Measures.Currency eq 'EUR'' behind a property", 6),
    ] {
        let error = options(V4, "FlightCollection", &format!("$filter={text}")).unwrap_err();
        let rest = error.strip_prefix(&format!("501 {name} is not implemented in $filter at column {column}"));
        assert!(rest.is_some(), "{text}: {error}");
    }
    check_error(V4, "FlightCollection", "$deltatoken=x", "501 $deltatoken is not implemented");
}

#[test]
fn hostile_nesting_is_an_error_and_costs_little_stack() {
    let texts = [
        "(".repeat(10_000) + "true" + &")".repeat(10_000),
        "not ".repeat(10_000) + "true",
        "-".repeat(10_000) + "SEATSMAX eq 1",
        "tolower(".repeat(10_000) + "carrid" + &")".repeat(10_000) + " eq 'x'",
        "SEATSMAX".to_owned() + &" add 1".repeat(9_000) + " eq 1",
        vec!["true"; 100_000].join(" or "),
    ];
    let run = move || {
        for version in [V2, V4] {
            for text in &texts {
                let error = options(version, "FlightCollection", &format!("$filter={text}")).unwrap_err();
                assert!(error.starts_with("400 ") && error.len() < 200, "{error}");
            }
            // The deepest that is allowed.
            let deepest = "(".repeat(63) + "true" + &")".repeat(63);
            assert!(options(version, "FlightCollection", &format!("$filter={deepest}")).is_ok());
        }
    };
    // A quarter of the stack that the smallest usual thread has.
    std::thread::Builder::new().stack_size(512 * 1024).spawn(run).unwrap().join().unwrap();
}

proptest! {
    #[test]
    fn no_expression_panics(words in proptest::collection::vec(prop_oneof![
        Just("PRICE"), Just("carrid"), Just("fldate"), Just("5"), Just("'x'"), Just("("), Just(")"), Just("eq"), Just("and"),
        Just("not"), Just("-"), Just("add"), Just("div"), Just("length("), Just("substring("), Just(","), Just("null"),
        Just("FlightCarrier/"), Just("flightBookings/"), Just("flightDetails/"), Just("cityFrom"), Just("2013-09-25"),
        Just("datetime'2013-09-25T00:00:00'"), Just("true"), Just("1.5"), Just("gt"), Just("$it/"), Just("any("), Just("ä"),
    ], 0..12), spaced in any::<bool>()) {
        let text = words.join(if spaced { " " } else { "" });
        for version in [V2, V4] {
            let _ = options(version, "FlightCollection", &format!("$filter={text}"));
        }
    }
}

#[test]
fn a_word_of_another_version_is_told_as_such_and_never_as_meant() {
    check_flight(
        &[V2],
        "carrid in ('AA')",
        "400 expected an operator or the end, found 'in' in $filter at column 8: in is an operator of OData V4",
    );
    check_flight(
        &[V2],
        "carrid like 'A'",
        "400 expected an operator or the end, found 'like' in $filter at column 8: did you mean substringof?",
    );
    check_flight(&[V4], "matchesPattern(carrid,'A')", "(MatchesPattern carrid 'A':String)");
    check_flight(&[V2], "matchesPattern(carrid,'A')", "400 unknown function 'matchesPattern' in $filter at column 1");
}

#[test]
fn years_that_no_store_can_compare_are_refused_with_their_place() {
    for (version, filter, found) in [
        (V4, "fldate gt -0044-03-15", "-0044-03-15"),
        (V4, "fldate lt 10000-01-01", "10000-01-01"),
        (V4, "fldate gt 0000-01-01", "0000-01-01"),
        (V4, "fldate lt 9999-12-31T23:59:59-14:00", "10000-01-01T13:59:59Z"),
        (V2, "fldate lt datetime'10000-01-01T00:00:00'", "10000-01-01T00:00:00"),
    ] {
        let expected = format!("400 '{found}' is not in the years 0001 to 9999 in $filter at column 11");
        check_flight(&[version], filter, &expected);
    }
}

//! Query options, read into plans or refused.

use crate::fixture;
use proptest::prelude::*;
use tollgate_wire::edm::{EntityType, Model, Primitive, SetId, Version};
use tollgate_wire::plan::{Counting, Direction, Expression, ExpressionKind, Options, Resource, Select, SkipToken};
use tollgate_wire::query::{self, skip_token};
use tollgate_wire::url;
use tollgate_wire::value::Value;

const V2: Version = Version::V2;
const V4: Version = Version::V4;

/// An expression as nested lists; literals with the type that they were given.
fn describe(model: &Model, entity_type: &EntityType, expression: &Expression) -> String {
    let inner = |expression: &Expression| describe(model, entity_type, expression);
    match &expression.kind {
        ExpressionKind::Literal(Value::Null) => "null".to_owned(),
        ExpressionKind::Literal(Value::Boolean(value)) => value.to_string(),
        ExpressionKind::Literal(value) => {
            let text = match value {
                Value::Text(_, text) | Value::Decimal(text) => text.clone(),
                Value::Integer(value) => value.to_string(),
                Value::Real(value) => value.to_string(),
                Value::String(text) => format!("'{text}'"),
                other => format!("{other:?}"),
            };
            format!("{text}:{}", name(expression.primitive))
        }
        ExpressionKind::Leaf { through, leaf } => {
            let mut path = String::new();
            let mut reached = entity_type;
            for (navigation, target) in through {
                path += &format!("{}/", reached.navigation[navigation.0].name);
                reached = model.type_of(*target);
            }
            path + &reached.leaves[leaf.0].path
        }
        ExpressionKind::Not(operand) => format!("(not {})", inner(operand)),
        ExpressionKind::Negate(operand) => format!("(- {})", inner(operand)),
        ExpressionKind::Logic(logic, a, b) => format!("({logic:?} {} {})", inner(a), inner(b)),
        ExpressionKind::Compare(comparison, a, b) => format!("({comparison:?} {} {})", inner(a), inner(b)),
        ExpressionKind::Arithmetic(operation, a, b) => format!("({operation:?} {} {})", inner(a), inner(b)),
        ExpressionKind::Call(function, arguments) => {
            let arguments: Vec<String> = arguments.iter().map(inner).collect();
            format!("({function:?} {})", arguments.join(" "))
        }
    }
}

fn name(primitive: Option<Primitive>) -> String {
    let full = format!("{:?}", primitive.unwrap());
    full.split(' ').next().unwrap().to_owned()
}

fn options(version: Version, path: &str, query: &str) -> Result<Options, String> {
    match url::parse(&fixture::model(), version, path, Some(query)) {
        Ok((Resource::Read(plan), _)) => Ok(plan.options),
        Ok((other, _)) => Err(format!("{other:?}")),
        Err(error) => Err(format!("{} {error}", error.status())),
    }
}

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

fn check_error(version: Version, path: &str, query: &str, expected: &str) {
    assert_eq!(options(version, path, query), Err(expected.to_owned()), "{version:?} {query}");
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
fn what_is_not_built_is_refused_by_its_name() {
    for (text, name, column) in [
        ("carrid in ('AA','LH')", "the operator in", 8),
        ("PLANETYPE has Model.Pattern'Yellow'", "the operator has", 11),
        ("PRICE divby 2 gt 5", "the operator divby", 7),
        ("flightBookings/any(b:b/PASSNAME eq 'x')", "the lambda operator any", 16),
        ("flightBookings/all(b:true)", "the lambda operator all", 16),
        ("flightBookings/$count gt 2", "$count in an expression", 16),
        ("$root/FlightCollection", "$root in an expression", 1),
        ("now() gt 2013-09-25T00:00:00Z", "the function now", 1),
        ("cast(PRICE,Edm.String) eq 'x'", "the function cast", 1),
        ("geo.length(PRICE) gt 5", "the function 'geo.length'", 1),
        ("Model.Flight/PRICE gt 5", "the type cast 'Model.Flight'", 1),
        ("PLANETYPE eq Model.Pattern'Yellow'", "the enumeration type 'Model.Pattern'", 14),
        ("carrid eq @p", "a parameter alias or annotation", 11),
        ("[carrid] in [['AA']]", "a collection in an expression", 1),
        ("fldate add duration'P1D' gt 2013-09-25", "arithmetic of dates and durations", 8),
        ("flightDetails eq null", "the complex property 'flightDetails' as a value", 1),
        ("flightBookings/Model.Late/any()", "'Model.Late/any()' behind a collection", 16),
        ("FlightCarrier eq null", "the entity 'FlightCarrier' as a value", 1),
        ("PRICE/@Measures.Currency eq 'EUR'", "'@Measures.Currency eq 'EUR'' behind a property", 6),
    ] {
        let error = options(V4, "FlightCollection", &format!("$filter={text}")).unwrap_err();
        let rest = error.strip_prefix(&format!("501 {name} is not implemented in $filter at column {column}"));
        assert!(rest.is_some(), "{text}: {error}");
    }
    for name in ["$search", "$apply", "$compute", "$deltatoken", "$index", "$schemaversion"] {
        check_error(V4, "FlightCollection", &format!("{name}=x"), &format!("501 {name} is not implemented"));
    }
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
                    describe(target, &expand.select)
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
        "$expand=flightBookings/bookedFlight",
        "501 $expand of more than one level is not implemented in $expand at column 15",
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
        "501 $filter inside of $expand is not implemented in $expand at column 33",
    );
    check_select(
        V4,
        "$expand=flightBookings(levels=4)",
        "501 $levels inside of $expand is not implemented in $expand at column 16",
    );
    check_select(V4, "$expand=flightBookings(x=4)", "400 unknown option 'x' inside of $expand in $expand at column 16");
    check_select(V4, "$expand=flightBookings/$ref", "501 $ref in $expand is not implemented in $expand at column 15");
    check_select(
        V4,
        "$expand=flightBookings/$count($filter=true)",
        "501 $count in $expand is not implemented in $expand at column 15",
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

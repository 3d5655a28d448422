//! Expressions of V4 beyond those of V2: lists, lambda operators, casts, cases, aliases.

use crate::reading::*;

/// A filter of flights in V4, described, or its error.
fn check(filter: &str, expected: &str) {
    check_with(&format!("$filter={filter}"), expected);
}

fn check_with(query: &str, expected: &str) {
    let model = crate::fixture::model();
    let found = match options(V4, "FlightCollection", query) {
        Ok(options) => describe(&model, &model.entity_types[0], &options.filter.unwrap()),
        Err(error) => error,
    };
    assert_eq!(found, expected, "{query}");
}

#[test]
fn a_list_of_literals_stays_a_list_and_the_rest_is_compared() {
    check("carrid in ('AA','LH')", "(carrid in [String(\"AA\"), String(\"LH\")])");
    check("SEATSMAX in (1, 2)", "(SEATSMAX in [Integer(1), Integer(2)])");
    check("PRICE in (1,2.5)", "(PRICE in [Decimal(\"1\"), Decimal(\"2.5\")])");
    check(
        "carrid in ('AA',null,CURRENCY)",
        "(Or (Or (carrid in [String(\"AA\")]) (Equal carrid null)) (Equal carrid CURRENCY))",
    );
    check("SEATSMAX in (1.5)", "(Equal SEATSMAX 1.5:Decimal)");
    check("not (carrid in ('AA'))", "(not (carrid in [String(\"AA\")]))");
    check(
        "carrid in (5)",
        "400 cannot compare Edm.String with Edm.Int32 in $filter at column 8: write the text in quotes",
    );
    check("carrid in 'AA'", "400 expected a list behind 'in' in $filter at column 11: write it as ('a','b')");
    check(
        "carrid in ('AA'",
        "400 expected ')', found the end in $filter at column 16: it closes the parenthesis at column 11",
    );
    check("carrid in ()", "400 expected a property, a literal or a function, found ')' in $filter at column 12");
}

#[test]
fn questions_about_related_entities_nest_and_know_what_is_around_them() {
    check("flightBookings/any()", "(Any flightBookings )");
    check("flightBookings/any(b:b/PASSNAME eq 'x')", "(Any flightBookings (Equal $0/PASSNAME 'x':String))");
    check("flightBookings/all(b: b/fldate eq fldate)", "(All flightBookings (Equal $0/fldate fldate))");
    check("flightBookings/ANY(b:b/PASSNAME eq $it/carrid)", "(Any flightBookings (Equal $0/PASSNAME carrid))");
    check(
        "FlightCarrier/carrierFlights/any(f:f/flightBookings/any(b:b/fldate eq f/fldate and f/PRICE gt PRICE))",
        "(Any FlightCarrier/carrierFlights (Any flightBookings (And (Equal $1/fldate $0/fldate) (Greater $0/PRICE PRICE))))",
    );
    check("flightBookings/$count gt 2", "(Greater (Count flightBookings ) 2:Int64)");
    check(
        "flightBookings/$count($filter=PASSNAME eq 'x' and $this/bookid eq $it/carrid) ge 1",
        "(GreaterOrEqual (Count flightBookings (And (Equal $0/PASSNAME 'x':String) (Equal $0/bookid carrid))) 1:Int64)",
    );
    check("flightBookings/all()", "400 all needs a condition in $filter at column 20: as in all(x:x/A gt 1)");
    check(
        "flightBookings/any(b/PASSNAME eq 'x')",
        "400 expected a variable and a colon in $filter at column 20: as in any(x:x/A gt 1)",
    );
    check(
        "flightBookings/any(b:b/PASNAME eq 'x')",
        "400 unknown property 'PASNAME' in $filter at column 24: Booking has PASSNAME",
    );
    check(
        "flightBookings/any(b:b/bookedFlight/flightBookings/any(b:true))",
        "400 the variable 'b' stands twice in $filter at column 56",
    );
    check("flightBookings/any(b:b/PASSNAME)", "400 any takes Boolean operands, not Edm.String in $filter at column 24");
    check(
        "flightBookings/PASSNAME eq 'x'",
        "400 'flightBookings' leads to many entities in $filter at column 1: only navigation to one entity can stand in an expression",
    );
    let deep = |levels: usize| {
        let open: String = (0..levels)
            .map(|level| match level {
                0 => "flightBookings/any(v0:".to_owned(),
                _ => format!("v{}/bookedFlight/flightBookings/any(v{level}:", level - 1),
            })
            .collect();
        open + "true" + &")".repeat(levels)
    };
    assert!(options(V4, "FlightCollection", &format!("$filter={}", deep(4))).is_ok());
    let beyond = options(V4, "FlightCollection", &format!("$filter={}", deep(5))).unwrap_err();
    assert!(beyond.starts_with("400 more than 4 questions about related entities"), "{beyond}");
}

#[test]
fn types_are_cast_and_asked_for() {
    check("cast(SEATSMAX,Edm.String) eq '5'", "(Equal (SEATSMAX as String) '5':String)");
    check("cast(PRICE,Edm.Int32) eq 5", "(Equal ((PRICE as Int64) as Int32) 5:Int32)");
    check("cast(carrid,Edm.String) eq 'x'", "(Equal carrid 'x':String)");
    check("isof(PRICE,Edm.Decimal)", "(NotEqual PRICE null)");
    check("isof(PRICE,Edm.String)", "false");
    check("isof(RMTSAMPLEFLIGHT.Flight)", "true");
    check("isof(Edm.String)", "false");
    check("cast(fldate,Edm.Boolean)", "400 cannot cast Edm.Date to Edm.Boolean in $filter at column 13");
    check("SEATSMAX divby 2 gt 5", "(Greater (Divide (SEATSMAX as Decimal) (2:Int32 as Decimal)) 5:Decimal)");
    check(
        "case(PRICE gt 1:1,true:2.5) eq 1",
        "(Equal (case (Greater PRICE 1:Decimal): (1:Int32 as Decimal), true: 2.5:Decimal) 1:Decimal)",
    );
    check("case(true:10,true:null) eq 1", "(Equal (case true: 10:Int32, true: null) 1:Int32)");
    check("case(true:'x',true:1) eq 1", "400 case gives Edm.String and Edm.Int32 in $filter at column 20");
}

#[test]
fn functions_of_time() {
    check("ORDER eq now()", "400 unknown property 'ORDER' in $filter at column 1: it is none of Flight");
    check("now() gt 2013-09-25T00:00:00Z", "(Greater (Now ) 2013-09-25T00:00:00Z:DateTimeOffset)");
    check(
        "mindatetime() lt maxdatetime()",
        "(Less 0001-01-01T00:00:00Z:DateTimeOffset 9999-12-31T23:59:59.999999Z:DateTimeOffset)",
    );
    check("totaloffsetminutes(now()) eq 0", "(Equal (TotalOffsetMinutes (Now )) 0:Int32)");
    check("totalseconds(duration'PT1M') gt 5.5", "(Greater (TotalSeconds PT1M:Duration) 5.5:Decimal)");
    check(
        "fractionalseconds(flightDetails/departureTime) lt 0.5",
        "(Less (FractionalSeconds flightDetails/departureTime) 0.5:Decimal)",
    );
    check("now(1) gt 2013-09-25T00:00:00Z", "400 now takes 0 arguments, not 1 in $filter at column 1");
}

#[test]
fn aliases_are_read_where_they_stand() {
    check_with("$filter=carrid eq @p&@p='AA'", "(Equal carrid 'AA':String)");
    check_with(
        "$filter=PRICE gt @p and PRICE lt @p add 1&@p=5",
        "(And (Greater PRICE 5:Decimal) (Less PRICE (Add 5:Int32 1:Int32)))",
    );
    check_with("$filter=carrid eq @p", "(Equal carrid null)");
    check_with("$filter=carrid in @list&@list=('AA','LH')", "(carrid in [String(\"AA\"), String(\"LH\")])");
    check_with("$filter=@a&@a=carrid eq @b&@b='x'", "(Equal carrid 'x':String)");
    check_with(
        "$filter=@a&@a=not @a",
        "400 the alias '@a' stands in itself at column 5 of '@a' in $filter at column 1",
    );
    check_with(
        "$filter=true and @a&@a=PRYCE eq 1",
        "400 unknown property 'PRYCE' at column 1 of '@a' in $filter at column 10: Flight has PRICE",
    );
    check_with(
        "$filter=@a&@a=true) or (true",
        "400 expected an operator or the end, found ') or (true' at column 5 of '@a' in $filter at column 1",
    );
    check_with("$filter=true&@a=1&@a=2", "400 the alias @a stands twice");
    // Each mention counts: two to the power of fourteen are beyond the limit.
    let doubled: String = (1..=13).map(|level| format!("&@a{level}=(@a{} and @a{})", level - 1, level - 1)).collect();
    let beyond = options(V4, "FlightCollection", &format!("$filter=@a13&@a0=PRICE gt 1{doubled}")).unwrap_err();
    assert!(beyond.starts_with("400 more than 10000 names, literals and operators"), "{beyond}");
}

#[test]
fn a_search_is_a_condition_of_the_texts() {
    let model = crate::fixture::model();
    let of = |search: &str| match options(V4, "CarrierCollection", &format!("$search={search}")) {
        Ok(options) => describe(&model, &model.entity_types[1], &options.filter.unwrap())
            .replace("(Equal (Contains (ToLower ", "<")
            .replace(":String) true)", ">"),
        Err(error) => error,
    };
    let each = |word: &str| format!("(Or (Or <carrid) '{word}'> <CARRNAME) '{word}'>) <URL) '{word}'>)");
    let check = |search: &str, expected: &str| assert_eq!(of(search), expected, "{search}");
    check("Air", &each("air"));
    check("\"New York\"", &each("new york"));
    check("\"a\\\"b\"", &each("a\"b"));
    check("100%25_", &each("100%_"));
    check("a b", &format!("(And {} {})", each("a"), each("b")));
    check("a OR b AND NOT c", &format!("(Or {} (And {} (not {})))", each("a"), each("b"), each("c")));
    check("(a OR b) c", &format!("(And (Or {} {}) {})", each("a"), each("b"), each("c")));
    check("", "400 expected a word, a phrase or '(', found the end in $search at column 1");
    check("a AND", "400 expected a word, a phrase or '(', found the end in $search at column 6");
    check("(a", "400 expected ')' in $search at column 3");
    check("a)", "400 expected a word or the end, found ')' in $search at column 2");
    check("\"a", "400 a phrase that does not end in $search at column 1: close it with a quotation mark");
    check(&"a ".repeat(33), "400 more than 32 words and phrases in $search at column 65");
    check(&"(".repeat(100), "400 nested more than 64 deep in $search at column 65");
}

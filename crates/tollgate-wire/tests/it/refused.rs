//! Texts that the grammar forbids are refused as the client's fault, at the right place: the table is `refused.txt`.

use crate::fixture;
use crate::reading::V4;
use tollgate_wire::url::{self, Fault, Place};

#[test]
fn what_the_grammar_forbids_is_refused_at_its_place() {
    let model = fixture::model();
    let lines = include_str!("refused.txt").lines().filter(|line| !line.starts_with('#'));
    let mut faults = Vec::new();
    let mut count = 0;
    for line in lines {
        count += 1;
        let address = line.replace('¦', "");
        let (path, query) = address.split_once('?').map_or((&*address, None), |(path, query)| (path, Some(query)));
        let found = match url::parse(&model, V4, path, query) {
            Ok(_) => "accepted".to_owned(),
            Err(error) if error.status() != 400 => format!("{} {error}", error.status()),
            Err(error) => {
                let begin = match &error.place {
                    Place::Path => 0,
                    Place::Option(name) => address.find(&format!("{name}=")).map_or(0, |at| at + name.len() + 1),
                };
                let marked = line.contains('¦') && line.chars().nth(begin + error.position) == Some('¦');
                if marked || !line.contains('¦') { continue } else { error.to_string() }
            }
        };
        faults.push(format!("{line}\n    {found}"));
    }
    assert!(count > 350 && faults.is_empty(), "{count} lines\n{}", faults.join("\n"));
}

#[test]
fn broken_percent_codes_are_refused_at_their_place() {
    for (path, query, position) in [
        ("EverythingSet%", None, 13),
        ("EverythingSet(%2)", None, 14),
        ("EverythingSet(%zz)", None, 14),
        ("EverythingSet('%ff')", None, 15),
        ("EverythingSet%2F1", None, 13),
        ("EverythingSet('a%00')", None, 16),
        ("EverythingSet", Some("$filter=%"), 0),
        ("EverythingSet", Some("$filter=text eq '%e4'"), 9),
        ("EverythingSet", Some("$filter=text eq '%4'"), 9),
        ("EverythingSet", Some("$filter=text eq '%c3%28'"), 9),
        ("EverythingSet", Some("%24filter%=true"), 7),
    ] {
        let error = url::parse(&fixture::model(), V4, path, query).unwrap_err();
        assert_eq!(
            (error.status(), &error.fault, error.position),
            (400, &Fault::Syntax, position),
            "{path} {query:?} {error}"
        );
    }
}

#[test]
fn whatever_is_read_follows_the_grammar() {
    let texts = include_str!("read.txt").lines().filter(|line| !line.starts_with('#'));
    for line in texts {
        let (path, query) = line.split_once('?').unwrap();
        url::parse(&fixture::model(), V4, path, Some(query)).unwrap_or_else(|error| panic!("{line}: {error}"));
        for option in query.split('&') {
            let (name, text) = option.split_once('=').unwrap();
            assert_eq!(tollgate_wire::query::follows_grammar(name, text), Ok(()), "{line}");
        }
    }
}

#[test]
fn each_part_of_a_key_may_be_a_segment() {
    for (path, same) in [
        ("CarrierCollection/LH", "CarrierCollection('LH')"),
        ("CarrierCollection/O'N", "CarrierCollection('O''N')"),
        ("CarrierCollection/1.5", "CarrierCollection('1.5')"),
        ("CarrierCollection/joe@example.com", "CarrierCollection('joe@example.com')"),
        ("CarrierCollection/L%20H/CARRNAME", "CarrierCollection('L H')/CARRNAME"),
        ("FlightCollection/LH/400/2013-09-25", "FlightCollection(carrid='LH',connid='400',fldate=2013-09-25)"),
        (
            "CarrierCollection/LH/carrierFlights/LH/400/2013-09-25/PRICE/$value",
            "CarrierCollection('LH')/carrierFlights(carrid='LH',connid='400',fldate=2013-09-25)/PRICE/$value",
        ),
        ("EverythingSet/-5/text", "EverythingSet(-5)/text"),
        ("EverythingSet/5/$ref", "EverythingSet(5)/$ref"),
    ] {
        let read = |path| url::parse(&fixture::model(), V4, path, None).map(|(resource, _)| resource);
        assert_eq!(read(path).unwrap(), read(same).unwrap(), "{path}");
    }
    for (path, status, message) in [
        ("FlightCollection/LH/400", 400, "the key of Flight has 3 parts, 'fldate' is missing in the path at column 24"),
        ("FlightCollection/LH/400/x", 400, "'x' is no value of the key property 'fldate' in the path at column 25"),
        (
            "EverythingSet/x",
            404,
            "'x' cannot follow the collection 'EverythingSet' in the path at column 15: only a key or $count can",
        ),
        (
            "EverythingSet/text",
            404,
            "'text' cannot follow the collection 'EverythingSet' in the path at column 15: name one entity by its key first",
        ),
        (
            "CarrierCollection/a.b",
            501,
            "the type cast or bound operation 'a.b' is not implemented in the path at column 19",
        ),
    ] {
        let error = url::parse(&fixture::model(), V4, path, None).unwrap_err();
        assert_eq!((error.status(), &*error.message), (status, message), "{path}");
    }
}

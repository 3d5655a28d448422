//! Bad experiments as data, each with the whole message to its author.

use crate::experiment::{Extent, Location, UpTo, Variant};
use crate::kinds::*;
use crate::traffic::mode::Mode;
use crate::traffic::places::{InsertPlaces, OwnRecord, Record};
use tollgate_facts::results::Distance;

const GOOD: &str = r#"name = "mine"
question = "What does it cost?"

[factor]
name = "concurrency"
levels = [1, 20]

[workload]
kind = "walk"

[[variant]]
name = "plain"
url = "/rest/flights"
format = "json"
detail = "flights/{carrid}"

[[variant]]
name = "atom"
baseline = "plain"
url = "http://127.0.0.1:8080/FlightCollection"
format = "odata-v2-atom"
"#;

fn refused(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "the good file has no `{from}`");
    Experiment::parse(&GOOD.replacen(from, to, 1), "mine.toml").unwrap_err().to_string()
}

#[test]
fn the_band_of_no_toll_is_a_share_that_the_file_may_say() {
    let of = |share: &str| GOOD.replacen("\n[factor]", &format!("equivalence = {share}\n\n[factor]"), 1);
    let check = |share: &str, expected: Option<u32>| {
        let found = Experiment::parse(&of(share), "mine.toml").ok().and_then(|experiment| experiment.equivalence_ppm);
        assert_eq!(found, expected, "{share}");
    };
    assert_eq!(Experiment::parse(GOOD, "mine.toml").unwrap().equivalence_ppm, None);
    check("0.015", Some(15_000));
    check("1.0", Some(1_000_000));
    check("0.0", None);
    check("1.1", None);
    check("-0.03", None);
    check("nan", None);
    let message = Experiment::parse(&of("3.0"), "mine.toml").unwrap_err().to_string();
    assert!(message.contains("the band of no toll is 3") && message.contains("0.015 is 1.5 %"), "{message}");
    assert!(message.contains("mine.toml:3"), "{message}");
}

#[test]
fn the_built_in_experiments_are_right() {
    for (name, _) in BUILT_IN {
        let experiment = Experiment::builtin(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(experiment.name, *name);
        for distance in [Distance::Local, Distance::Remote] {
            let mut bottoms = experiment.variants.iter().filter(|variant| variant.baseline.is_none());
            let bottoms = bottoms.by_ref().filter(|variant| variant.distance == distance && variant.backend.is_none());
            assert!(bottoms.count() <= 1);
        }
    }
}

#[test]
fn mediation_is_the_one_that_was_specified() {
    let mediation = Experiment::builtin("mediation").unwrap();
    assert_eq!(mediation.levels, [20, 40, 80, 160, 320, 640, 1280, 2560]);
    let of = |name: &str| &mediation.variants[mediation.variant(name).unwrap()];
    let check = |name: &str, baseline: &str, bytes: usize| {
        let (variant, baseline) = (of(name), of(baseline));
        assert_eq!(variant.baseline.as_ref(), Some(&baseline.name));
        assert_eq!((variant.request.body.len(), variant.backend.is_none()), (bytes, baseline.backend.is_some()));
        assert_eq!((&variant.request.method, !variant.request.headers.is_empty()), (&"POST".to_owned(), true));
    };
    check("pass-through-1k", "direct-1k", 1024);
    check("pass-through-5k", "direct-5k", 5120);
    check("routing", "direct-quote", 310);
    check("transformation", "direct-quote", 305);
    assert_eq!(of("direct-quote").request.body, of("routing").request.body);
    let urls = ["echo", "quote"].map(|name| (name.to_owned(), format!("http://127.0.0.1:1/{name}")));
    let configuration = mediation.configuration.unwrap().filled(&urls);
    assert!(configuration.contains("[\"http://127.0.0.1:1/quote/services/"), "{configuration}");
}

#[test]
fn what_a_backend_does_past_any_subject_stands_once_and_is_everybodys_baseline() {
    let subjects = ["tollgate", "nginx"].map(str::to_owned);
    let both = Experiment::builtin("mediation").unwrap().on_subjects(&subjects).unwrap();
    let names = |experiment: &Experiment| -> Vec<(String, String)> {
        let pair = |variant: &Variant| (variant.name.clone(), variant.baseline.clone().unwrap_or_default());
        experiment.variants.iter().map(pair).collect()
    };
    let found = names(&both);
    assert_eq!(found.len(), 3 + 4 + 4);
    let pair = |name: &str, baseline: &str| (name.to_owned(), baseline.to_owned());
    assert_eq!(found[2], pair("direct-quote", ""));
    assert_eq!(found[4], pair("pass-through-5k", "direct-5k"));
    assert_eq!(found[9], pair("nginx-routing", "direct-quote"));
    let less = both.clone().without(|variant| variant.name == "nginx-routing");
    assert_eq!(less.variants.len(), 10);
    assert_eq!(names(&less)[9], pair("nginx-transformation", "direct-quote"));
    let none = both.without(|variant| variant.name == "direct-quote");
    assert!(names(&none).iter().all(|(_, baseline)| baseline != "direct-quote"));
    assert_eq!(none.variants.len(), 6, "who is compared with what is not there goes, too");
}

#[test]
fn batching_is_the_one_that_was_specified() {
    let batching = Experiment::builtin("batching").unwrap();
    assert_eq!((batching.levels.len(), batching.levels[0], batching.levels[47]), (48, 5, 20_000));
    let names: Vec<&str> = batching.variants.iter().map(|variant| variant.name.as_str()).collect();
    assert_eq!(names[..3], ["custom-rest", "sequential", "batch-10"]);
    assert_eq!(names[15..18], ["custom-rest-remote", "sequential-remote", "batch-10-remote"]);
    for (position, variant) in batching.variants.iter().enumerate() {
        assert_eq!(variant.own::<Mode>().unwrap().to_string(), variant.base_name());
        let baseline = batching.baseline(position).map(|baseline| &batching.variants[baseline]);
        assert_eq!(baseline.is_none(), variant.base_name() == "custom-rest");
        assert!(baseline.is_none_or(|baseline| baseline.distance == variant.distance));
    }
    assert_eq!((batching.round_trip_ms, batching.extents[&Extent::Full].round_trip_ms), (Some(20), Some(UpTo(160))));
    assert_eq!(batching.variants_named("sequential").unwrap(), [1, 16]);
    assert_eq!(batching.variants_named("sequential-remote").unwrap(), [16]);
}

#[test]
fn subjects_side_by_side_have_variants_of_their_own() {
    let subjects = ["cap".to_owned(), "tollgate".to_owned()];
    let both = Experiment::builtin("batching").unwrap().on_subjects(&subjects).unwrap();
    assert_eq!(both.variants.len(), 60);
    assert_eq!((both.variants[1].name.as_str(), both.variants[1].peer.as_deref()), ("cap-sequential", Some("cap")));
    assert_eq!((both.variants[31].name.as_str(), both.baseline(31)), ("sequential", Some(30)));
    assert_eq!(both.variants_named("sequential").unwrap(), [1, 16, 31, 46]);
    let quick = PlanOptions { extent: Extent::Quick, ..PlanOptions::default() };
    let quick = Plan::new(&both, &quick).unwrap().variants;
    assert!(quick.contains(&0) && quick.contains(&30) && quick.len() == 32, "{quick:?}");
    let twice = Experiment::builtin("batching").unwrap().on_subjects(&["cap".to_owned(), "cap".to_owned()]);
    assert_eq!(twice.unwrap_err(), "subject `cap` stands twice");
}

const INSERT: &str = r#"name = "mine"
question = "What does it cost?"

[factor]
name = "records"
levels = [5]

[workload]
kind = "insert"
service = "/odata/v4/refsvc"
entity_set = "TestRecords"
insert_all = "/all"
delete_all = "/none"

[[variant]]
name = "one"
mode = "batch-10"
"#;

#[test]
fn an_insert_says_where_and_how() {
    let experiment = Experiment::parse(INSERT, "mine.toml").unwrap();
    assert_eq!(experiment.variants[0].at, Location::Gateway("/odata/v4/refsvc/$batch".to_owned()));
    assert_eq!(experiment.variants[0].request.method, "POST");
    let check = |from: &str, to: &str, expected: &str| {
        assert!(INSERT.contains(from));
        let message = Experiment::parse(&INSERT.replacen(from, to, 1), "mine.toml").unwrap_err().message;
        assert_eq!(message, expected);
    };
    check(r#"mode = "batch-10""#, "", "variant `one` does not say how it sends its records");
    check("batch-10", "batch-0", "`batch-0`: the number is from 1 to 20000");
    check(r#"service = "/odata/v4/refsvc""#, "", "an insert needs `service`");
    check("/all", "all", "`all` is no path");
    check("TestRecords", "Test Records", "`Test Records` is no entity set");
    check(r#"entity_set = "TestRecords""#, "", "an insert needs `entity_set`");
    let all = "insert_all = \"/all\"\ndelete_all = \"/none\"";
    check(all, "record = \"published\"", "published records have no key to be deleted by");
    check("\"batch-10\"", "\"custom-rest\"\ninsert_all = 1", "`insert_all` has no meaning here");
    check(r#"name = "records""#, r#"name = "concurrency""#, "factor and workload do not fit");
    check(r#"kind = "insert""#, r#"kind = "walk""#, "factor and workload do not fit");
}

#[test]
fn an_insert_goes_into_any_entity_set() {
    let places = |experiment: &Experiment| experiment.own::<InsertPlaces>().unwrap().clone();
    let text = INSERT.replacen("/odata/v4/refsvc", "https://h:8443/admin", 1).replacen(
        "insert_all = \"/all\"\ndelete_all = \"/none\"",
        "values = { author_ID = 7 }",
        1,
    );
    let own = Experiment::parse(&text, "mine.toml").unwrap();
    assert_eq!(own.variants[0].at, Location::Url("https://h:8443/admin/$batch".to_owned()));
    let given = serde_json::from_str("{\"author_ID\":7}").unwrap();
    let record = Record::Described(OwnRecord { values: given, file: None });
    assert_eq!((places(&own).service.as_str(), places(&own).record), ("/admin/", record));
    let custom = text.replacen("batch-10", "custom-rest", 1);
    let message = Experiment::parse(&custom, "mine.toml").unwrap_err().message;
    assert_eq!(message, "`custom-rest` needs `insert_all`");

    let batching = || Experiment::builtin("batching").unwrap();
    assert_eq!(places(&batching()).record, Record::Published);
    let into = batching().into_entity_set("http://h:1/odata/v4/admin/Books").unwrap();
    let known = |name: &str| into.variants.iter().find(|variant| variant.name == name);
    assert!(known("custom-rest").is_none() && known("sequential-remote").is_none());
    for (name, baseline, path) in [
        ("sequential", None, "Books"),
        ("parallel-10", Some("sequential"), "Books"),
        ("batch-10", Some("sequential"), "$batch"),
    ] {
        let variant = known(name).unwrap();
        assert_eq!(variant.baseline.as_deref(), baseline, "{name}");
        assert_eq!(variant.at, Location::Url(format!("http://h:1/odata/v4/admin/{path}")), "{name}");
    }
    assert_eq!(places(&into).entity_path(), "/odata/v4/admin/Books");
    let refused = |experiment: Experiment, url: &str| experiment.into_entity_set(url).unwrap_err();
    assert!(refused(batching(), "http://h/").contains("is no URL of an entity set: such as "));
    assert_eq!(refused(Experiment::builtin("protocol").unwrap(), "http://h/s/B"), "`protocol` inserts no records");
}

#[test]
fn records_of_ones_own_stand_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let mine = file("mine.toml", "");
    file("books.csv", "title,stock\nOne,1\n");
    let all = "insert_all = \"/all\"\ndelete_all = \"/none\"";
    let text = |keys: &str| INSERT.replacen(all, keys, 1);
    let experiment = Experiment::parse(&text("records = \"books.csv\""), &mine).unwrap();
    let Record::Described(own) = &experiment.own::<InsertPlaces>().unwrap().record else { panic!("{experiment:?}") };
    assert_eq!(own.file.as_ref().unwrap().count(), 1);
    let check = |keys: &str, expected: &str| {
        let error = Experiment::parse(&text(keys), &mine).unwrap_err();
        assert_eq!((error.message.as_str(), error.line()), (expected, Some(12)), "{error}");
    };
    let twice = "books.csv, line 1, column 2: `stock` stands in `values`, too";
    check("records = \"books.csv\"\nvalues = { stock = 1 }", twice);
    check("records = \"none.csv\"", "`none.csv` cannot be read");
    file("bad.csv", "a,b\n1\n");
    check("records = \"bad.csv\"", "bad.csv, line 2: 1 values where the first row has 2 names");
    let published = "record = \"published\"\nrecords = \"books.csv\"\ndelete_all = \"/none\"";
    check(published, "published records stand in no file");

    let into = || Experiment::builtin("batching").unwrap().into_entity_set("http://h:1/s/Books").unwrap();
    let with = into().with_records(&file("b.json", "{}")).unwrap();
    assert!(matches!(&with.own::<InsertPlaces>().unwrap().record, Record::Described(own) if own.file.is_some()));
    let refused = |experiment: Experiment, file: &str| experiment.with_records(file).unwrap_err();
    assert!(refused(Experiment::builtin("batching").unwrap(), "b.csv").contains("--entity-set names a set of yours"));
    assert_eq!(refused(Experiment::builtin("protocol").unwrap(), "b.csv"), "`protocol` inserts no records");
}

#[test]
fn a_variant_inserts_into_the_set_of_the_experiment() {
    let check = |url: &str, expected: Option<&str>| {
        let text = INSERT.replacen("mode =", &format!("url = \"{url}\"\nmode ="), 1);
        let found = Experiment::parse(&text, "mine.toml").map_err(|error| error.message);
        let found = found.map(|experiment| experiment.variants[0].at.clone());
        let at = Location::Url("http://h:2/odata/v4/refsvc/$batch".to_owned());
        assert_eq!(found, expected.map_or(Ok(at), |told| Err(told.to_owned())), "{url}");
    };
    check("http://h:2/odata/v4/refsvc/$batch", None);
    check("http://h:2", None);
    let told = "variant `one` inserts at /other/$batch, where rows of /odata/v4/refsvc/TestRecords are counted and deleted: \
                expected /odata/v4/refsvc/$batch";
    check("http://h:2/other/$batch", Some(told));
}

#[test]
fn the_example_of_an_insert_of_ones_own_is_right() {
    let text = include_str!("../../../../../examples/own/batching.toml");
    let example = Experiment::parse(text, "batching.toml").unwrap();
    assert_eq!(example.variants[0].at, Location::Url("http://127.0.0.1:4004/odata/v4/admin/Books".to_owned()));
}

#[test]
fn the_protocol_is_the_one_that_was_specified() {
    let protocol = Experiment::builtin("protocol").unwrap();
    let names: Vec<&str> = protocol.variants.iter().map(|variant| variant.name.as_str()).collect();
    assert_eq!(
        names,
        ["rest-json", "rest-xml-padded", "odata-v2-atom", "odata-v2-json", "odata-v4-json", "odata-v4-json-full"]
    );
    assert_eq!(protocol.levels, [1, 5, 10, 20]);
    let quick = PlanOptions { extent: Extent::Quick, ..PlanOptions::default() };
    assert_eq!(Plan::new(&protocol, &quick).unwrap().levels, [1, 20]);
    assert!(protocol.published.len() >= 10);
}

proptest::proptest! {
    #[test]
    fn no_text_breaks_the_reader_and_every_fault_can_be_shown(
        at in 0..GOOD.len(), gone in 0_usize..12, put in "[\\[\\]{}=\"'.,0-9a-zü→\n\r\t ]{0,6}",
    ) {
        let text = format!("{}{put}{}", &GOOD[..at], &GOOD[(at + gone).min(GOOD.len())..]);
        if let Err(error) = Experiment::parse(&text, "mine.toml") {
            let shown = error.to_string();
            proptest::prop_assert!(shown.contains("mine.toml"), "{}", shown);
            proptest::prop_assert!(error.line().is_none_or(|line| line <= text.lines().count() + 1));
        }
    }
}

#[test]
fn a_users_file_is_read() {
    let experiment = Experiment::parse(GOOD, "mine.toml").unwrap();
    assert_eq!(experiment.baseline(1), Some(0));
    assert_eq!(experiment.variants[1].at, Location::Url("http://127.0.0.1:8080/FlightCollection".to_owned()));
}

#[test]
fn a_key_in_another_table_and_a_number_for_a_name_are_told_what_to_write() {
    let check = |from: &str, to: &str, expected: [&str; 2]| {
        let message = refused(from, to);
        assert!(expected.iter().all(|expected| message.contains(expected)), "{message}");
    };
    let way = "name = \"plain\"\n";
    let misplaced = ["`connections` has no meaning here", "help: write it below `[workload]`"];
    check(way, &format!("{way}connections = 5\n"), misplaced);
    let work = "kind = \"walk\"\n";
    let said = |value: &str| format!("{work}connections = {value}\n");
    check(work, &said("5"), ["`connections` is the number 5", "help: each user has one"]);
    check(work, &said("\"keep\""), ["unknown name `keep`", "help: expected per-block, per-start"]);
    check(work, &said("true"), ["expected how long connections stay open", "such as `\"per-block\"`"]);
}

#[test]
fn an_unknown_key_is_shown_with_the_nearest_known_one() {
    insta::assert_snapshot!(refused("levels = [1, 20]", "lvels = [1, 20]"), @r#"
    unknown key `lvels`
     --> mine.toml:6:1
      |
    6 | lvels = [1, 20]
      | ^^^^^
      |
      = help: did you mean `levels`?
    "#);
}

#[test]
fn a_wrong_type_is_shown() {
    insta::assert_snapshot!(refused("levels = [1, 20]", "levels = [1, \"twenty\"]"), @r#"
    invalid type: string "twenty", expected a whole number
     --> mine.toml:6:14
      |
    6 | levels = [1, "twenty"]
      |              ^^^^^^^^
    "#);
}

#[test]
fn a_missing_key_is_named() {
    insta::assert_snapshot!(refused("question = \"What does it cost?\"\n", ""), @r#"
    missing key `question`
     --> mine.toml:1:1
      |
    1 | name = "mine"
      | ^
      |
      = help: add it: it has no default
    "#);
}

#[test]
fn broken_toml_is_shown() {
    insta::assert_snapshot!(refused("name = \"mine\"", "name = \"mine"), @r#"
    invalid basic string, expected `"`
     --> mine.toml:1:13
      |
    1 | name = "mine
      |             ^
    "#);
}

#[test]
fn an_unknown_baseline_is_shown_with_the_nearest_known_one() {
    insta::assert_snapshot!(refused("baseline = \"plain\"", "baseline = \"plian\""), @r#"
    there is no variant `plian` to be the baseline
      --> mine.toml:19:12
       |
    19 | baseline = "plian"
       |            ^^^^^^^
       |
       = help: did you mean `plain`?
    "#);
}

#[test]
fn an_unknown_format_is_shown_with_the_nearest_known_one() {
    insta::assert_snapshot!(refused("odata-v2-atom", "odata-v2-atm"), @r#"
    unknown name `odata-v2-atm`
      --> mine.toml:21:10
       |
    21 | format = "odata-v2-atm"
       |          ^^^^^^^^^^^^^^
       |
       = help: did you mean `odata-v2-atom`?
    "#);
}

#[test]
fn an_unknown_factor_is_shown() {
    insta::assert_snapshot!(refused("name = \"concurrency\"", "name = \"concurency\""), @r#"
    unknown name `concurency`
     --> mine.toml:5:8
      |
    5 | name = "concurency"
      |        ^^^^^^^^^^^^
      |
      = help: did you mean `concurrency`?
    "#);
}

#[test]
fn a_level_of_zero_is_shown() {
    insta::assert_snapshot!(refused("levels = [1, 20]", "levels = [0, 20]"), @r#"
    a level is 0
     --> mine.toml:6:11
      |
    6 | levels = [0, 20]
      |           ^
      |
      = help: it is from 1 to 20000
    "#);
}

#[test]
fn levels_must_ascend() {
    insta::assert_snapshot!(refused("levels = [1, 20]", "levels = [20, 1]"), @r#"
    level 1 does not ascend
     --> mine.toml:6:15
      |
    6 | levels = [20, 1]
      |               ^
      |
      = help: list each level once, the smallest first
    "#);
}

#[test]
fn an_extent_with_a_level_that_the_factor_has_not_is_shown() {
    insta::assert_snapshot!(refused("[workload]", "[extent.quick]\nlevels = [1, 3]\n\n[workload]"), @r#"
    level 3 is none of the factor's
     --> mine.toml:9:14
      |
    9 | levels = [1, 3]
      |              ^
      |
      = help: known are [1, 20]
    "#);
}

#[test]
fn a_variant_twice_is_shown() {
    insta::assert_snapshot!(refused("name = \"atom\"", "name = \"plain\""), @r#"
    variant `plain` stands twice
      --> mine.toml:18:8
       |
    18 | name = "plain"
       |        ^^^^^^^
       |
       = help: give each variant a name of its own
    "#);
}

#[test]
fn a_circle_of_baselines_is_shown() {
    insta::assert_snapshot!(refused("name = \"plain\"\n", "name = \"plain\"\nbaseline = \"atom\"\n"), @r#"
    the baselines lead from `plain` back to it
      --> mine.toml:13:12
       |
    13 | baseline = "atom"
       |            ^^^^^^
       |
       = help: the bottom variant has no `baseline`
    "#);
}

#[test]
fn plain_json_needs_to_know_where_an_entity_is() {
    insta::assert_snapshot!(refused("detail = \"flights/{carrid}\"\n", ""), @r#"
    variant `plain` does not say where an entity is
      --> mine.toml:12:8
       |
    12 | name = "plain"
       |        ^^^^^^^
       |
       = help: plain JSON and XML have no links: add `detail`, such as `detail = "flights/{carrid}/{connid}"`
    "#);
}

#[test]
fn braces_must_pair() {
    insta::assert_snapshot!(refused("{carrid}", "{carrid"), @r#"
    '{' without '}' behind it (at column 9)
      --> mine.toml:15:10
       |
    15 | detail = "flights/{carrid"
       |          ^^^^^^^^^^^^^^^^^
       |
       = help: write `{property}`
    "#);
}

#[test]
fn a_url_without_scheme_is_shown() {
    insta::assert_snapshot!(refused("http://127.0.0.1", "127.0.0.1"), @r#"
    `127.0.0.1:8080/FlightCollection` is neither a path nor a URL: column 1: a URL begins with http:// or https://
      --> mine.toml:20:7
       |
    20 | url = "127.0.0.1:8080/FlightCollection"
       |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       |
       = help: write a path such as `/rest/flights`, or a URL such as `http://127.0.0.1:8080/flights`
    "#);
}

#[test]
fn a_header_that_breaks_the_framing_is_shown() {
    insta::assert_snapshot!(refused("format = \"json\"", "format = \"json\"\nheaders = { Host = \"x\" }"), @r#"
    header field `Host`: this field is set by the engine, but "Host" was given
      --> mine.toml:15:20
       |
    15 | headers = { Host = "x" }
       |                    ^^^
       |
       = help: write it as `headers = { Name = "value" }`
    "#);
}

#[test]
fn an_unknown_experiment_is_answered_with_the_known_ones() {
    insta::assert_snapshot!(Experiment::builtin("protocl").unwrap_err().to_string(), @r#"
    protocl: there is no experiment `protocl`
      help: did you mean `protocol`?; a file of your own ends in `.toml`
    "#);
}

#[test]
fn the_schema_describes_every_key() {
    let schema = serde_json::to_value(schema()).unwrap();
    for key in ["name", "question", "factor", "workload", "extent", "variant", "published"] {
        assert!(schema["properties"][key]["description"].is_string(), "{key} has no description");
    }
}

//! The floors tested on small made-up houses: planted faults must be found, and nothing else.

use std::collections::BTreeSet;

use super::arrows::{Crate, read};
use super::floors::{KNOT_MAX, Row, beyond, estranged, largest_knots, over, siblings, upward};
use super::graph::{knots, order};
use super::modules::Tree;
use super::names::{Part, needless, shared};

const FLOORS: &[Row] = &[("x", &["store", "operation", "front"])];

/// A crate `x` of three rooms: `operation` with its facades, and a file of `store` and of `front` to plant in.
const HOUSE: &[(&str, &str)] = &[
    (
        "lib.rs",
        "mod front; mod operation; mod store;
         pub use operation::Reach as Extent;",
    ),
    (
        "operation/mod.rs",
        "mod error; mod limits; mod reach; mod macros;
         pub(crate) use error::error;
         pub(crate) use reach::{Reach, Sort, reach};
         pub(crate) use self::limits as far;
         pub(crate) mod all { pub(crate) use super::reach::*; pub(crate) use super::*; }",
    ),
    ("operation/error.rs", "pub fn error() {}"),
    ("operation/macros.rs", "made! { made_by_a_macro }"),
    ("operation/reach.rs", "pub struct Reach; pub enum Sort { Near } pub fn reach() {}"),
    ("operation/limits.rs", "pub const FAR: u8 = 1;"),
    ("store/mod.rs", "mod read;"),
    ("store/read.rs", ""),
    ("front/mod.rs", "mod read;"),
    ("front/read.rs", ""),
];

/// The house with some files replaced.
fn house(planted: &[(&str, &str)]) -> Vec<Crate> {
    read(&tree(planted))
}

fn tree(planted: &[(&str, &str)]) -> Tree {
    let files = HOUSE.iter().chain(planted);
    files.map(|(path, text)| (format!("crates/x/src/{path}"), (*text).to_owned())).collect()
}

#[test]
fn an_upward_arrow_of_every_form_is_found_and_a_downward_one_is_none() {
    let forms = [
        ("use crate::operation::Reach;", "crate::operation::Reach"),
        ("use crate::{front::read, operation::{Reach}};", "crate::operation::Reach"),
        ("use crate::operation::Reach as Place;", "crate::operation::Reach"),
        ("use crate::operation::{reach as go};", "crate::operation::reach"),
        ("use crate::operation as work; fn f(_: work::Reach) {}", "work::Reach"),
        ("use crate::operation::{self}; fn f() { operation::reach() }", "operation::reach"),
        ("use crate::operation::error;", "crate::operation::error"),
        ("use super::super::operation::Reach;", "super::super::operation::Reach"),
        ("use super::{super::operation::Reach};", "super::super::operation::Reach"),
        ("pub use crate::operation::Reach;", "crate::operation::Reach"),
        ("pub(crate) use crate::operation::far::FAR;", "crate::operation::far::FAR"),
        ("use crate::operation::all::Reach;", "crate::operation::all::Reach"),
        ("use crate::operation::all::*; fn f() -> Reach {}", "Reach"),
        ("use crate::operation::Sort::*;", "crate::operation::Sort"),
        ("use crate::Extent;", "crate::Extent"),
        ("fn f(_: &[crate::Extent]) {}", "crate::Extent"),
        ("fn f() { crate::operation::reach() }", "crate::operation::reach"),
        ("fn f() { super::super::operation::Sort::Near; }", "super::super::operation::Sort::Near"),
        ("fn f() { use crate::operation::Reach; }", "crate::operation::Reach"),
        ("mod inner { use super::super::super::operation::Reach; }", "super::super::super::operation::Reach"),
        ("impl From<crate::operation::Reach> for u8 {}", "crate::operation::Reach"),
        ("fn f() { vec![1, crate::operation::reach(2)] }", "crate::operation::reach"),
        ("use crate::operation; fn f() { print!(\"{}\", a.b(operation::reach)) }", "operation::reach"),
        ("macro_rules! m { () => { $crate::operation::reach() } }", "crate::operation::reach"),
        ("m! { use crate::operation::{Reach}; }", "crate::operation::Reach"),
        ("#[derive(X)] #[serde(with = \"crate::operation::reach\")] struct S;", "crate::operation::reach"),
        ("use crate::operation::far; fn f() { far::FAR }", "far::FAR"),
    ];
    for (form, name) in forms {
        let text = format!("//! Planted.\n{form}");
        let expected = format!("crates/x/src/store/read.rs:2: `store` is below `operation`, and names `{name}`");
        assert_eq!(upward(FLOORS, &house(&[("store/read.rs", &text)])), [expected], "{form}");
        let down = house(&[("front/read.rs", &text)]);
        assert_eq!(upward(FLOORS, &down), [""; 0], "{form}");
        let definers = ["reach", "error", "limits"].map(|file| format!("crates/x/src/operation/{file}.rs"));
        assert!(down[0].inside.iter().any(|arrow| definers.contains(&arrow.to)), "{form}");
    }
}

#[test]
fn what_a_macro_defines_is_looked_for_in_the_file_that_calls_it() {
    let found = house(&[("store/read.rs", "use crate::operation::macros::made_by_a_macro;")]);
    assert!(found[0].inside.iter().any(|arrow| arrow.to.ends_with("operation/macros.rs")));
}

#[test]
fn what_does_not_ship_and_what_is_no_name_is_no_arrow() {
    let texts = [
        "#[cfg(test)] mod tests { use crate::operation::Reach; }",
        "#[cfg(test)] use crate::operation::Reach;",
        "#[cfg(all(test, unix))] fn f() { crate::operation::reach() }",
        "impl S { #[cfg(test)] fn f() { crate::operation::reach() } }",
        "#[cfg(test)] mod other;",
        "mod tests;",
        "// crate::operation::Reach\n/// [`crate::operation::Reach`]\nstruct S;",
        "fn f() { \"crate::operation::reach\"; }",
        "fn f(operation: u8) { g!(operation, operation.reach, a::reach()) }",
        "use ::operation::Reach; use operation::Reach as R;",
        "pub(in crate::store) struct Reach; fn f(_: Reach) {}",
    ];
    for text in texts {
        let test = "use crate::operation::Reach;";
        let found = house(&[("store/read.rs", text), ("store/read/other.rs", test), ("store/read/tests.rs", test)]);
        assert_eq!(found[0].inside, BTreeSet::new(), "{text}");
    }
}

#[test]
fn a_parent_has_an_arrow_to_a_child_that_it_uses_and_none_as_its_facade() {
    let arrows = |text: &str| {
        let found = house(&[("store/mod.rs", text), ("store/read.rs", "pub struct Reader;")]);
        found[0].inside.iter().map(|arrow| format!("{} {}", arrow.line, arrow.name)).collect::<Vec<_>>()
    };
    assert_eq!(arrows("mod read;\npub use read::Reader;"), [""; 0]);
    assert_eq!(arrows("mod read;\nuse read::Reader;"), ["2 read::Reader"]);
    assert_eq!(arrows("mod read;\npub use read::Reader;\nfn f(_: Reader) {}"), ["3 Reader"]);
    assert_eq!(arrows("mod read;\n\nfn f() { read::Reader }"), ["3 read::Reader"]);
}

#[test]
fn a_room_without_a_floor_a_floor_without_a_room_and_a_look_up_to_the_root_are_found() {
    let found = upward(&[("x", &["store", "cellar", "operation"])], &house(&[]));
    assert_eq!(found, ["crates/x/src/front: which floor?", "x: there is no room `cellar`"]);
    let found = upward(FLOORS, &house(&[("lib.rs", "mod store; fn f() {}"), ("store/read.rs", "use crate::f;")]));
    assert!(found.contains(&"crates/x/src/store/read.rs:1: `store` is below `x`, and names `crate::f`".to_owned()));
}

#[test]
fn a_folder_has_floors_of_its_own() {
    let planted = [
        ("store/mod.rs", "mod read; mod plan; pub struct Store;"),
        ("store/read.rs", "use super::plan::Plan; use super::Store;"),
        ("store/plan.rs", "pub struct Plan;"),
    ];
    let check = |row: &[&str]| upward(&[("x/store", row)], &house(&planted));
    assert_eq!(check(&["mod", "plan", "read"]), [""; 0]);
    let to_the_folder = "crates/x/src/store/read.rs:1: `read` is below `x/store`, and names `super::Store`";
    assert_eq!(check(&["plan", "read"]), [to_the_folder]);
    let to_plan = "crates/x/src/store/read.rs:1: `read` is below `plan`, and names `super::plan::Plan`";
    assert_eq!(check(&["mod", "read", "plan"]), [to_plan]);
    assert_eq!(check(&["mod", "plan", "*"]), [""; 0], "all that are not named stand on one floor");
    assert_eq!(check(&["mod", "*", "plan"]), [to_plan]);
}

#[test]
fn strangers_that_meet_and_places_that_know_too_much_are_found() {
    let kinds = house(&[
        ("lib.rs", "mod kinds; mod stats;"),
        ("stats.rs", "pub fn mean() {}"),
        ("kinds/mod.rs", "mod walk; mod ladder; mod shared; use walk::page::Page;"),
        ("kinds/shared.rs", "pub struct Shared;"),
        ("kinds/walk.rs", "pub mod page; pub mod facts;"),
        ("kinds/walk/facts.rs", "pub struct Facts;"),
        (
            "kinds/walk/page.rs",
            "use super::facts::Facts; use crate::stats::mean; use tollgate_net::clock; pub struct Page;",
        ),
        ("kinds/ladder.rs", "use super::walk::facts::Facts; use super::shared::Shared;"),
    ]);
    let met = "crates/x/src/kinds/ladder.rs:1: `ladder` must not know `walk`, and names `super::walk::facts::Facts`";
    assert_eq!(estranged(&[("x/kinds", &["shared"])], &kinds), [met]);
    let page = "x/kinds/*/page";
    let knows = |to: &str, name: &str| {
        format!("crates/x/src/kinds/walk/page.rs:1: `{page}` must not know `{to}`, and names `{name}`")
    };
    let (facts, stats, net) = ("x/kinds/*/facts", "x/stats", "tollgate-net");
    assert_eq!(beyond(&[(page, &[facts, stats, net])], &kinds), [""; 0]);
    assert_eq!(
        beyond(&[(page, &["x/kinds/ladder"])], &kinds),
        [
            knows("x/kinds/walk/facts", "super::facts::Facts"),
            knows("x/stats", "crate::stats::mean"),
            knows("tollgate-net", "tollgate_net::clock"),
        ]
    );
    assert_eq!(beyond(&[("x/kinds/*/plan", &[])], &kinds), ["x/kinds/*/plan: there is no such file"]);
}

#[test]
fn a_ring_of_files_is_a_knot_and_falls_apart_without_one_arrow() {
    let count = KNOT_MAX + 1;
    let ring = |closed: bool| {
        let names: Vec<String> = (0..count).map(|at| format!("ring{at}.rs")).collect();
        let root = (0..count).map(|at| format!("mod ring{at};")).collect::<String>();
        let next = |at: usize| format!("pub fn f() {{ crate::ring{}::f() }}", (at + 1) % count);
        let end = |at: usize| if closed || at > 0 { next(at) } else { "pub fn f() {}".to_owned() };
        let texts: Vec<String> = (0..count).map(end).collect();
        let files = names.iter().map(String::as_str).zip(texts.iter().map(String::as_str));
        house(&[("lib.rs", root.as_str())].into_iter().chain(files).collect::<Vec<_>>())
    };
    let found = over(KNOT_MAX, &largest_knots(&ring(true)));
    assert!(found[0].starts_with("x: 9, at most 8\n    crates/x/src/ring0.rs:1: `crate::ring1::f`"), "{found:?}");
    assert_eq!(over(KNOT_MAX, &largest_knots(&ring(false))), [""; 0]);
    let weights = super::floors::by_file(&ring(true)[0]);
    let knot = knots(&weights).remove(0);
    let order = order(&knot, &weights);
    let floor = |file: &String| order.iter().position(|other| other == file);
    assert_eq!(weights.keys().filter(|(from, to)| floor(from) < floor(to)).count(), 1);
}

#[test]
fn a_crowd_is_found() {
    let counts = siblings(&house(&[]));
    assert_eq!(over(5, &counts), [""; 0]);
    assert_eq!(over(4, &counts), ["crates/x/src/operation: 5, at most 4"]);
}

#[test]
fn a_third_type_of_a_name_is_found_unless_it_is_a_part_of_a_list_or_no_type_that_ships() {
    let check = |parts: &[Part], third: &str| {
        // `operation/reach.rs` defines a `Reach` already.
        let second = "mod read; pub trait Reach {}";
        let tree = tree(&[("front/mod.rs", second), ("store/read.rs", third)]);
        let house = read(&tree);
        (over(0, &shared(parts, &house, &tree)), needless(parts, &house, &tree))
    };
    let found = "x: 1, at most 0\n    `Reach` stands for 3 types: crates/x/src/front/mod.rs:1, \
                 crates/x/src/operation/reach.rs:1, crates/x/src/store/read.rs:1";
    let none = Vec::<String>::new();
    let types = ["struct Reach;", "enum Reach {}", "trait Reach {}", "type Reach = u8;", "union Reach { a: u8 }"];
    for third in types.into_iter().chain(["mod inner { struct Reach; }", "fn f() { struct Reach; }"]) {
        assert_eq!(check(&[], third), (vec![found.to_owned()], none.clone()), "{third}");
    }
    let others = [
        "impl Iterator for Far { type Reach = u8; }",
        "trait Far { type Reach; }",
        "use crate::operation::Reach;",
        "#[cfg(test)] mod tests { struct Reach; }",
        "fn reach() {} const REACH: u8 = 1;",
    ];
    for third in others {
        assert_eq!(check(&[], third), (none.clone(), none.clone()), "{third}");
    }
    let part: Part = ("x", "Reach", "each room has its own");
    assert_eq!(check(&[part], "struct Reach;"), (none.clone(), none.clone()));
    assert_eq!(check(&[part], ""), (none.clone(), vec!["x: `Reach` needs no exception".to_owned()]));
    assert_eq!(check(&[("x", "Reach", "")], "struct Reach;").1.len(), 1);
}

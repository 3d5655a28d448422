//! A look at the arrows of a crate while its rooms are put in order:
//! `TIDY_CRATE=tollgate-gateway cargo test -p tollgate --test tidy -- --ignored --nocapture arrows`
//!
//! It judges nothing. Where a crate has no floors yet, it proposes an order in which few arrows lead up.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::arrows::{Arrow, Crate};
use super::floors::{FLOORS, KNOT_MAX, by_file, house, room};
use super::graph::{Weights, knots, order};

/// The arrows of `weights` that lead up in an order.
fn up<'a>(order: &[String], weights: &'a Weights) -> Vec<&'a (String, String)> {
    let floor = |name: &String| order.iter().position(|other| other == name);
    let rises = |(from, to): &&(String, String)| floor(from).zip(floor(to)).is_some_and(|(from, to)| from < to);
    weights.keys().filter(rises).collect()
}

fn line(arrow: &Arrow) -> String {
    format!("    {}:{} `{}` ({})\n", arrow.from, arrow.line, arrow.name, arrow.to)
}

fn summary(of: &Crate, by_room: &Weights) -> String {
    let (files, rooms) = (knots(&by_file(of)), knots(by_room));
    let sizes =
        |knots: &[BTreeSet<String>]| knots.iter().map(|knot| knot.len().to_string()).collect::<Vec<_>>().join(" ");
    format!(
        "{}: {} files, {} arrows; knots of files: {}; {} rooms, knots of rooms: {}\n",
        of.name,
        of.files.len(),
        by_file(of).len(),
        if files.is_empty() { "none".to_owned() } else { sizes(&files) },
        rooms_of(of).len(),
        if rooms.is_empty() { "none".to_owned() } else { sizes(&rooms) },
    )
}

/// All rooms of a crate, without its root.
fn rooms_of(of: &Crate) -> BTreeSet<String> {
    let rooms = of.files.iter().filter_map(|file| room(&source(of), file).map(str::to_owned));
    rooms.filter(|room| room != "mod").collect()
}

fn source(of: &Crate) -> String {
    format!("crates/{}/src", of.name)
}

/// Number of arrows from file to file between each two rooms.
fn by_room(of: &Crate) -> Weights {
    let mut weights = Weights::new();
    for (from, to) in by_file(of).into_keys() {
        if let (Some(from), Some(to)) = (room(&source(of), &from), room(&source(of), &to))
            && from != to
        {
            *weights.entry((from.to_owned(), to.to_owned())).or_default() += 1;
        }
    }
    weights
}

fn look(of: &Crate) -> String {
    let rooms = by_room(of);
    let mut text = summary(of, &rooms);
    let source = source(of);
    let row = FLOORS.iter().find(|(key, _)| *key == of.name);
    let floors = row.map_or_else(
        || order(&rooms_of(of), &rooms),
        |(_, rooms)| rooms.iter().map(|room| (*room).to_owned()).collect(),
    );
    let _ = writeln!(
        text,
        "\n{} from the ground up, with what each names:",
        if row.is_some() { "floors" } else { "an order" }
    );
    for room in floors.iter().chain([&"mod".to_owned()]) {
        let named: Vec<String> = rooms
            .iter()
            .filter(|((from, _), _)| from == room)
            .map(|((_, to), count)| format!("{to} {count}"))
            .collect();
        let _ = writeln!(text, "  {room}: {}", named.join(", "));
    }
    let _ = writeln!(text, "\nknots of rooms:");
    for knot in knots(&rooms) {
        let _ = writeln!(text, "  {}", knot.into_iter().collect::<Vec<_>>().join(" "));
    }
    let _ = writeln!(text, "\narrows up between rooms:");
    let mut roofed = floors.clone();
    roofed.push("mod".to_owned());
    for (from, to) in up(&roofed, &rooms) {
        let _ = writeln!(text, "  {from} -> {to}");
        let between = |arrow: &&Arrow| room(&source, &arrow.from) == Some(from) && room(&source, &arrow.to) == Some(to);
        text.extend(of.inside.iter().filter(between).map(line));
    }
    for knot in knots(&by_file(of)).into_iter().filter(|knot| knot.len() > KNOT_MAX) {
        let mut weights = by_file(of);
        weights.retain(|(from, to), _| knot.contains(from) && knot.contains(to));
        let _ = writeln!(text, "\na knot of {} files and {} arrows:", knot.len(), weights.len());
        knot.iter().for_each(|file| text.extend(["  ", file, "\n"]));
        let order = order(&knot, &weights);
        let tying = up(&order, &weights);
        let _ = writeln!(text, "  without these {} it falls apart:", tying.len());
        let ties = |arrow: &&Arrow| tying.iter().any(|(from, to)| *from == arrow.from && *to == arrow.to);
        text.extend(of.inside.iter().filter(ties).map(line));
    }
    text
}

#[test]
#[ignore = "judges nothing: it prints what a crate's rooms name, for whoever puts them in order"]
fn arrows_of_a_crate() {
    let name = std::env::var("TIDY_CRATE").ok();
    for of in house() {
        match &name {
            Some(name) if *name == of.name => println!("{}", look(of)),
            Some(_) => {}
            None => print!("{}", summary(of, &by_room(of))),
        }
    }
}

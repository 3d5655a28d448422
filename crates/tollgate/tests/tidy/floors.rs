//! The floor plan of every crate as tables, and the faults found: order of rooms, strangers, knots, crowds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use super::arrows::{self, Arrow, Crate};
use super::graph::{Weights, knots};
use super::modules::Tree;

/// A crate (`tollgate-lab`) or a folder of it (`tollgate-lab/kinds`), and its rooms from the ground up.
///
/// A room is a file or a folder there. The crate's root is above all; so is a folder's own file (`mod.rs`), unless the
/// row contains `mod`. `*` stands for all rooms that are not named, on one floor.
pub(crate) type Row<'a> = (&'a str, &'a [&'a str]);

/// Arrows lead down only.
pub(crate) const FLOORS: &[Row] = &[
    ("tollgate", &["failure", "readable", "signals", "values", "progress", "commands", "cli"]),
    (
        "tollgate/commands",
        &["input", "asking", "output", "stored", "experiment", "load", "link", "machine", "gateway", "tools"],
    ),
    (
        "tollgate-net",
        &["clock", "limits", "memory", "meter", "tcp", "connect", "listen", "link", "pacer", "tls", "stream", "http1"],
    ),
    ("tollgate-truth", &["deadlines", "gate", "ledger", "draw", "behaviour", "body", "table", "service", "burden"]),
    (
        "tollgate-xml",
        &["characters", "error", "budget", "names", "tree", "forest", "parse", "serialize", "xpath", "xslt"],
    ),
    (
        "tollgate-wire",
        &[
            "edm", "text", "syntax", "value", "format", "plan", "address", "query", "url", "stencil", "json", "atom",
            "rest", "soap", "document", "describe", "body", "batch",
        ],
    ),
    (
        "tollgate-wire/query",
        &[
            "limits",
            "list",
            "context",
            "cast",
            "grammar",
            "expression",
            "options",
            "function",
            "action",
            "stream",
            "rest",
        ],
    ),
    ("tollgate-facts", &["names", "stats", "results", "rules", "quantity", "toll", "across", "threshold"]),
    (
        "tollgate-gateway",
        &[
            "base",
            "http",
            "services",
            "work",
            "error",
            "auth",
            "clients",
            "cache",
            "mediate",
            "visit",
            "built_in",
            "config",
            "generate",
            "hosted",
            "operation",
            "serve",
            "front",
        ],
    ),
    ("tollgate-net/http1", &["scratch", "decimal", "error", "chunked", "body", "head", "upstream", "client", "server"]),
    (
        "tollgate-net/tls",
        &[
            "agreement",
            "names",
            "scratch",
            "der",
            "certificate",
            "records",
            "channel",
            "server",
            "client",
            "authority",
            "flow",
            "speed",
        ],
    ),
    (
        "tollgate-lab",
        &[
            "cores",
            "probe",
            "secret",
            "traffic",
            "experiment",
            "plan",
            "load",
            "judge",
            "subject",
            "conduct",
            "kinds",
            "run",
            "single",
            "check",
        ],
    ),
    ("tollgate-store", &["error", "mapping", "store", "sql", "introspect", "sqlite", "postgres", "connection"]),
    (
        "tollgate-gateway/generate",
        &[
            "error",
            "report",
            "names",
            "statements",
            "transform",
            "values",
            "sqlite",
            "postgres",
            "database",
            "session",
            "sample",
            "batch",
        ],
    ),
    (
        "tollgate-gateway/work",
        &[
            "attempts",
            "board",
            "answer_room",
            "parts",
            "allowance",
            "settings",
            "queue",
            "dispatcher",
            "weight",
            "pool",
        ],
    ),
    (
        "tollgate-gateway/mediate",
        &[
            "edits",
            "effort",
            "pattern",
            "payload",
            "pointer",
            "redact",
            "way",
            "view",
            "message",
            "mediator",
            "sequence",
            "wsdl",
            "away",
            "reading",
            "condition",
            "source",
            "mediators",
        ],
    ),
    ("tollgate-gateway/visit", &["plans", "room", "common", "memory"]),
    (
        "tollgate-gateway/front",
        &["start_error", "launch", "tls", "shared", "core", "index", "reload", "admin", "route", "chain", "server"],
    ),
    ("tollgate-lab/kinds", &["listed", "http", "*"]),
    ("tollgate-page", &["gather", "number", "text", "chart", "blocks", "words", "parts"]),
    ("tollgate-report", &["formats", "load", "across"]),
];

/// Folders whose children do not name each other, and the children that all may name. `mod.rs` is exempt.
const STRANGERS: &[Row] = &[
    ("tollgate-gateway/built_in", &["service"]),
    ("tollgate-gateway/mediate/mediators", &[]),
    ("tollgate-gateway/serve", &[]),
    // The server and the client: what they share stands below them.
    ("tollgate-net/http1", &["scratch", "decimal", "error", "chunked", "body", "head", "upstream"]),
    ("tollgate-lab/kinds", &["http", "listed"]),
];

/// Places and all that they may name, in their crate and in our other crates. `*` means one name, and among the
/// permitted ones the same name again; a place covers everything below it.
const ONLY: &[Row] = &[("tollgate-lab/kinds/*/page", &["tollgate-facts", "tollgate-page"])];

/// Files that reach each other in a circle are read as one.
pub(crate) const KNOT_MAX: usize = 8;

/// Number of files that a reader takes in at once.
const SIBLINGS_MAX: usize = 20;

/// The crates of the repository.
pub(crate) fn house() -> &'static [Crate] {
    static HOUSE: OnceLock<Vec<Crate>> = OnceLock::new();
    HOUSE.get_or_init(|| arrows::read(&super::rust_files().into_iter().collect::<Tree>()))
}

/// The row's key as a folder of the repository: `tollgate-lab/kinds` is `crates/tollgate-lab/src/kinds`.
fn folder(key: &str) -> String {
    let (name, rest) = key.split_once('/').unwrap_or((key, ""));
    format!("crates/{name}/src/{rest}").trim_end_matches('/').to_owned()
}

/// The room of a file below a folder: `None` outside, `mod` for the folder's own file and a crate's roots.
pub(crate) fn room<'a>(folder: &str, file: &'a str) -> Option<&'a str> {
    if file.strip_suffix(".rs") == Some(folder) {
        return Some("mod");
    }
    let rest = file.strip_prefix(folder)?.strip_prefix('/')?;
    let first = rest.split('/').next()?;
    let name = first.strip_suffix(".rs").unwrap_or(first);
    let is_root = folder.ends_with("/src") && matches!(name, "lib" | "main" | "bin");
    Some(if is_root { "mod" } else { name })
}

/// Arrows from a lower room to a higher one, rooms without a floor and floors without a room.
pub(crate) fn upward(floors: &[Row], house: &[Crate]) -> Vec<String> {
    let mut broken = Vec::new();
    for (key, rooms) in floors {
        let folder = folder(key);
        let name = key.split('/').next().unwrap_or_default();
        let Some(of) = house.iter().find(|of| of.name == name) else {
            broken.push(format!("{key}: there is no such crate"));
            continue;
        };
        let standing: BTreeSet<&str> = of.files.iter().filter_map(|file| room(&folder, file)).collect();
        let others = rooms.iter().position(|room| *room == "*");
        let missing = standing.iter().filter(|room| others.is_none() && **room != "mod" && !rooms.contains(room));
        broken.extend(missing.map(|room| format!("{folder}/{room}: which floor?")));
        let gone = rooms.iter().filter(|room| **room != "*" && !standing.contains(*room));
        broken.extend(gone.map(|room| format!("{key}: there is no room `{room}`")));
        let floor = |room: &str| match rooms.iter().position(|other| *other == room) {
            None if room != "mod" => others.unwrap_or(rooms.len()),
            place => place.unwrap_or(rooms.len()),
        };
        for arrow in &of.inside {
            let (Some(from), Some(to)) = (room(&folder, &arrow.from), room(&folder, &arrow.to)) else { continue };
            if floor(from) < floor(to) {
                let to = if to == "mod" { key } else { to };
                broken.push(format!("{}: `{from}` is below `{to}`, and names `{}`", at(arrow), arrow.name));
            }
        }
    }
    broken
}

fn at(arrow: &Arrow) -> String {
    format!("{}:{}", arrow.from, arrow.line)
}

pub(crate) fn estranged(strangers: &[Row], house: &[Crate]) -> Vec<String> {
    let mut broken = Vec::new();
    for (key, known) in strangers {
        let folder = folder(key);
        let mut found = false;
        for of in house {
            found |= of.files.iter().any(|file| room(&folder, file).is_some());
            for arrow in &of.inside {
                let (Some(from), Some(to)) = (room(&folder, &arrow.from), room(&folder, &arrow.to)) else { continue };
                let exempt = from == to || from == "mod" || to == "mod" || known.contains(&to);
                if !exempt {
                    broken.push(format!("{}: `{from}` must not know `{to}`, and names `{}`", at(arrow), arrow.name));
                }
            }
        }
        if !found {
            broken.push(format!("{key}: there is no such folder"));
        }
    }
    broken
}

/// A file or a crate as the tables name it: `tollgate-lab/kinds/walk/page`.
fn place(target: &str) -> String {
    let place = target.trim_start_matches("crates/").replacen("/src/", "/", 1);
    let place = place.strip_suffix(".rs").unwrap_or(&place);
    place.strip_suffix("/mod").unwrap_or(place).to_owned()
}

/// The names that `*` matched, where the place is at or below the pattern; else `None`.
fn matched(pattern: &str, place: &str) -> Option<Vec<String>> {
    let (pattern, place): (Vec<_>, Vec<_>) = (pattern.split('/').collect(), place.split('/').collect());
    let fits = pattern.len() <= place.len() && pattern.iter().zip(&place).all(|(want, is)| *want == "*" || want == is);
    let stars = pattern.iter().zip(&place).filter(|(want, _)| **want == "*");
    fits.then(|| stars.map(|(_, is)| (*is).to_owned()).collect())
}

pub(crate) fn beyond(only: &[Row], house: &[Crate]) -> Vec<String> {
    let mut broken = Vec::new();
    for (pattern, allowed) in only {
        if !house.iter().flat_map(|of| &of.files).any(|file| matched(pattern, &place(file)).is_some()) {
            broken.push(format!("{pattern}: there is no such file"));
        }
        for arrow in house.iter().flat_map(|of| of.inside.iter().chain(&of.outside)) {
            let Some(stars) = matched(pattern, &place(&arrow.from)) else { continue };
            let filled =
                |pattern: &str| stars.iter().fold(pattern.to_owned(), |text, star| text.replacen('*', star, 1));
            let to = place(&arrow.to);
            let may = [pattern].into_iter().chain(*allowed).any(|allowed| matched(&filled(allowed), &to).is_some());
            if !may {
                broken.push(format!("{}: `{pattern}` must not know `{to}`, and names `{}`", at(arrow), arrow.name));
            }
        }
    }
    broken
}

/// The arrows from file to file, each pair once.
pub(crate) fn by_file(of: &Crate) -> Weights {
    of.inside.iter().map(|arrow| ((arrow.from.clone(), arrow.to.clone()), 1)).collect()
}

/// Each crate's largest knot with the arrows in it.
pub(crate) fn largest_knots(house: &[Crate]) -> BTreeMap<String, (usize, String)> {
    let largest = |of: &Crate| {
        let knot = knots(&by_file(of)).into_iter().next().unwrap_or_default();
        let within = of.inside.iter().filter(|arrow| knot.contains(&arrow.from) && knot.contains(&arrow.to));
        let arrows: Vec<String> =
            within.map(|arrow| format!("\n    {}: `{}` ({})", at(arrow), arrow.name, arrow.to)).collect();
        (of.name.clone(), (knot.len(), arrows.concat()))
    };
    house.iter().map(largest).collect()
}

/// Number of files and folders in each folder of shipped code.
pub(crate) fn siblings(house: &[Crate]) -> BTreeMap<String, (usize, String)> {
    let mut children: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in house.iter().flat_map(|of| &of.files) {
        let mut path = file.as_str();
        while let Some((folder, _)) = path.rsplit_once('/').filter(|(folder, _)| folder.contains("/src")) {
            children.entry(folder).or_default().insert(path);
            path = folder;
        }
    }
    children.into_iter().map(|(folder, within)| (folder.to_owned(), (within.len(), String::new()))).collect()
}

/// The counts that exceed their limit.
pub(crate) fn over(max: usize, counts: &BTreeMap<String, (usize, String)>) -> Vec<String> {
    let over = counts.iter().filter(|(_, (count, _))| *count > max);
    over.map(|(key, (count, detail))| format!("{key}: {count}, at most {max}{detail}")).collect()
}

#[test]
fn arrows_lead_down_the_floors() {
    let mut broken = upward(FLOORS, house());
    let without = house().iter().filter(|of| !FLOORS.iter().any(|(key, _)| *key == of.name));
    broken.extend(without.map(|of| format!("{} has no floors", of.name)));
    super::check("a room names one above it", broken);
}

#[test]
fn strangers_do_not_name_each_other() {
    super::check("what they share stands below them", estranged(STRANGERS, house()));
}

#[test]
fn some_places_know_only_what_a_table_allows() {
    super::check("a place knows too much", beyond(ONLY, house()));
}

#[test]
fn few_files_reach_each_other_in_a_circle() {
    super::check("files of the largest knot", over(KNOT_MAX, &largest_knots(house())));
}

#[test]
fn a_folder_can_be_taken_in_at_a_glance() {
    super::check("files and folders in a folder", over(SIBLINGS_MAX, &siblings(house())));
}

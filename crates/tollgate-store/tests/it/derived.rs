//! Random questions about entities of several types: casts and `isof` find the same in a database as a walk over the
//! entities themselves.
//!
//! The walk knows types and no discriminators; rows contain values that their type does not have, which must stay
//! hidden.

use proptest::prelude::*;
use tollgate_wire::edm::{
    Changes, EntitySet, EntityType, Hierarchy, LeafId, Model, Multiplicity, NavigationId, NavigationProperty,
    Primitive, Property, PropertyKind, SetId, Subtype, SubtypeId, TypeId, Version,
};
use tollgate_wire::plan::Resource;
use tollgate_wire::url;
use tollgate_wire::value::Value;

use crate::stores::{self, Opened, on_every_store};
use crate::world::{Answer, insert};
use tollgate_store::{Mapping, Store};

const PEOPLE: SetId = SetId(0);

/// A type: its name, its stored value, and its base type.
const TYPES: [(&str, Option<&str>, Option<usize>); 5] = [
    ("Person", Some("p"), None),
    ("Staff", None, Some(0)),
    ("Employee", Some("e"), Some(1)),
    ("Boss", Some("b"), Some(2)),
    ("Guest", Some("g"), Some(0)),
];

/// A property: its name and the type that declares it.
const PROPERTIES: [(&str, usize); 7] =
    [("id", 0), ("kind", 0), ("age", 0), ("friend", 0), ("salary", 1), ("boss", 2), ("budget", 3)];

/// Navigation: its name, its property, and the type that declares it.
const WAYS: [(&str, usize, usize); 2] = [("friends", 3, 0), ("bosses", 5, 2)];

fn model() -> Model {
    let property = |(name, _): (&str, usize)| Property {
        name: name.to_owned(),
        kind: PropertyKind::Primitive(match name {
            "kind" => Primitive::String { length_max: 0 },
            _ => Primitive::Int64,
        }),
        nullable: name != "id",
        annotations: Default::default(),
    };
    let way = |name: String, multiplicity, here: usize, there: usize| NavigationProperty {
        association: name.clone(),
        name,
        target: PEOPLE,
        multiplicity,
        on: vec![(LeafId(here), LeafId(there))],
        partner: None,
    };
    let to_one = WAYS.map(|(name, leaf, _)| way(format!("{name}One"), Multiplicity::ZeroOrOne, leaf, 0));
    let to_many = WAYS.map(|(name, leaf, _)| way(name.to_owned(), Multiplicity::Many, 0, leaf));
    let subtype = |(at, (name, stored, base)): (usize, (&str, Option<&str>, Option<usize>))| Subtype {
        name: name.to_owned(),
        base: base.map(SubtypeId),
        stored: stored.map(|stored| Value::String(stored.to_owned())),
        properties: (0..PROPERTIES.len()).filter(|property| PROPERTIES[*property].1 == at && at > 0).collect(),
        navigation: (0..WAYS.len()).filter(|way| WAYS[*way].2 == at && at > 0).map(NavigationId).collect(),
        label: None,
    };
    let hierarchy =
        Hierarchy { discriminator: LeafId(1), subtypes: TYPES.into_iter().enumerate().map(subtype).collect() };
    let person = EntityType {
        name: "Person".to_owned(),
        properties: PROPERTIES.into_iter().map(property).collect(),
        key: vec![LeafId(0)],
        navigation: to_one.into_iter().chain(to_many).collect(),
        hierarchy: Some(hierarchy),
        ..EntityType::default()
    };
    let people = EntitySet { name: "People".to_owned(), entity_type: TypeId(0), label: None, changes: Changes::ALL };
    let mut model = Model {
        namespace: "own".to_owned(),
        entity_types: vec![person],
        entity_sets: vec![people],
        ..Model::default()
    };
    model.finish();
    model.finish_hierarchies();
    model
}

/// A row; its position is its id.
#[derive(Debug, Clone)]
struct Row {
    kind: Option<&'static str>,
    /// Values of the properties after the discriminator.
    values: [Option<i64>; 5],
}

impl Row {
    /// Its type: the first if the stored value means none.
    fn type_of(&self) -> usize {
        let stored = |(_, stored, _): &(&str, Option<&str>, Option<usize>)| stored.is_some() && *stored == self.kind;
        TYPES.iter().position(stored).unwrap_or(0)
    }

    fn is_a(&self, wanted: usize) -> bool {
        is_a(self.type_of(), wanted)
    }
}

fn is_a(mut at: usize, wanted: usize) -> bool {
    while at != wanted {
        let Some(base) = TYPES[at].2 else { return false };
        at = base;
    }
    true
}

/// A question about an entity.
#[derive(Debug, Clone)]
enum Asked {
    /// `isof` of it, or of the target of a navigation.
    IsOf(Option<usize>, usize),
    /// A property compared with a number, after casts and an optional navigation.
    Property(Option<usize>, usize, &'static str, i64),
    /// A property is null.
    Null(Option<usize>, usize),
    /// A question about those that refer to it and are of the type.
    Related(usize, usize, bool, Box<Asked>),
    /// A condition on their number.
    Number(usize, usize, i64),
    Not(Box<Asked>),
    And(Box<Asked>, Box<Asked>),
    Or(Box<Asked>, Box<Asked>),
}

fn asked() -> impl Strategy<Value = Asked> {
    let way = || prop_oneof![2 => Just(None), 1 => (0..WAYS.len()).prop_map(Some)];
    let property = || prop_oneof![Just(2_usize), Just(4), Just(6)];
    let operator = prop_oneof![Just("eq"), Just("ne"), Just("gt"), Just("le")];
    let leaf = prop_oneof![
        (way(), 0..TYPES.len()).prop_map(|(way, wanted)| Asked::IsOf(way, wanted)),
        (way(), property(), operator, 0..4_i64)
            .prop_map(|(way, at, operator, number)| { Asked::Property(way, at, operator, number) }),
        (way(), property()).prop_map(|(way, at)| Asked::Null(way, at)),
        (0..WAYS.len(), 0..TYPES.len(), 0..3_i64).prop_map(|(way, wanted, number)| Asked::Number(way, wanted, number)),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            (0..WAYS.len(), 0..TYPES.len(), any::<bool>(), boxed())
                .prop_map(|(way, wanted, all, inner)| Asked::Related(way, wanted, all, inner)),
            boxed().prop_map(Asked::Not),
            (boxed(), boxed()).prop_map(|(left, right)| Asked::And(left, right)),
            (boxed(), boxed()).prop_map(|(left, right)| Asked::Or(left, right)),
        ]
    })
}

/// The path to the entity itself (no `way`) or to a navigation's target, with the type it has there.
fn path(of: &str, seen: usize, way: Option<usize>) -> Option<(String, usize)> {
    Some(match way {
        None => (of.to_owned(), seen),
        Some(way) => (format!("{of}{}{}One/", cast_to(seen, WAYS[way].2)?, WAYS[way].0), 0),
    })
}

/// The cast from one type to another that has all its properties; `None` if neither derives from the other.
fn cast_to(seen: usize, wanted: usize) -> Option<String> {
    match (is_a(seen, wanted), is_a(wanted, seen)) {
        (true, _) => Some(String::new()),
        (false, true) => Some(format!("own.{}/", TYPES[wanted].0)),
        (false, false) => None,
    }
}

impl Asked {
    /// The question in OData, for a value of the type `seen`; `of` is its owner, with a slash, empty for the current
    /// entity. `None` if it asks entities of one type for properties of another.
    fn text(&self, of: &str, seen: usize, depth: usize) -> Option<String> {
        Some(match self {
            Asked::IsOf(way, wanted) => {
                let (path, seen) = path(of, seen, *way)?;
                cast_to(seen, *wanted)?;
                match path.is_empty() {
                    true => format!("isof(own.{})", TYPES[*wanted].0),
                    false => format!("isof({},own.{})", path.trim_end_matches('/'), TYPES[*wanted].0),
                }
            }
            Asked::Property(way, at, operator, number) => {
                let ((path, seen), (name, declared)) = (path(of, seen, *way)?, PROPERTIES[*at]);
                format!("{path}{}{name} {operator} {number}", cast_to(seen, declared)?)
            }
            Asked::Null(way, at) => {
                let ((path, seen), (name, declared)) = (path(of, seen, *way)?, PROPERTIES[*at]);
                format!("{path}{}{name} eq null", cast_to(seen, declared)?)
            }
            Asked::Related(way, wanted, all, inner) => {
                let (cast, question) = (cast_to(0, *wanted)?, if *all { "all" } else { "any" });
                let inner = inner.text(&format!("v{depth}/"), *wanted, depth + 1)?;
                format!("{of}{}/{cast}{question}(v{depth}:{inner})", WAYS[*way].0)
            }
            Asked::Number(way, wanted, number) => {
                let cast = cast_to(0, *wanted)?;
                format!("{of}{}/{cast}$count ge {number}", WAYS[*way].0)
            }
            Asked::Not(inner) => format!("not ({})", inner.text(of, seen, depth)?),
            Asked::And(left, right) => {
                format!("({}) and ({})", left.text(of, seen, depth)?, right.text(of, seen, depth)?)
            }
            Asked::Or(left, right) => {
                format!("({}) or ({})", left.text(of, seen, depth)?, right.text(of, seen, depth)?)
            }
        })
    }

    /// Whether it is true, by a walk over the entities.
    fn holds(&self, people: &[Row], row: &Row, id: usize) -> bool {
        let over = |way: &Option<usize>| match way {
            None => Some(row),
            Some(way) => {
                let (_, leaf, declared) = WAYS[*way];
                let there = row.values[leaf - 2].filter(|_| row.is_a(declared))?;
                usize::try_from(there).ok().and_then(|there| people.get(there))
            }
        };
        let value = |way: &Option<usize>, at: usize| {
            over(way).filter(|row| row.is_a(PROPERTIES[at].1)).and_then(|row| row.values[at - 2])
        };
        // Who leads here is told by the column, of whatever type they are.
        let related = |way: usize, wanted: usize| {
            let leads = move |other: &&(usize, &Row)| {
                let there = other.1.values[WAYS[way].1 - 2];
                there.is_some_and(|there| usize::try_from(there) == Ok(id)) && other.1.is_a(wanted)
            };
            people.iter().enumerate().collect::<Vec<_>>().iter().filter(leads).copied().collect::<Vec<_>>()
        };
        match self {
            Asked::IsOf(way, wanted) => over(way).is_some_and(|row| row.is_a(*wanted)),
            Asked::Property(way, at, operator, number) => match (*operator, value(way, *at)) {
                ("eq", found) => found == Some(*number),
                ("ne", found) => found != Some(*number),
                ("gt", found) => found.is_some_and(|found| found > *number),
                (_, found) => found.is_some_and(|found| found <= *number),
            },
            Asked::Null(way, at) => value(way, *at).is_none(),
            Asked::Related(way, wanted, all, inner) => {
                let mut related = related(*way, *wanted).into_iter();
                match all {
                    true => related.all(|(id, row)| inner.holds(people, row, id)),
                    false => related.any(|(id, row)| inner.holds(people, row, id)),
                }
            }
            Asked::Number(way, wanted, number) => related(*way, *wanted).len() as i64 >= *number,
            Asked::Not(inner) => !inner.holds(people, row, id),
            Asked::And(left, right) => left.holds(people, row, id) && right.holds(people, row, id),
            Asked::Or(left, right) => left.holds(people, row, id) || right.holds(people, row, id),
        }
    }
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let kind = prop_oneof![Just(None), Just(Some("?"))];
    let kind = prop_oneof![1 => kind, 6 => prop::sample::select(vec![Some("p"), Some("e"), Some("b"), Some("g")])];
    let value = || prop::option::weighted(0.7, 0..4_i64);
    let person = || prop::option::weighted(0.7, 0..12_i64);
    let values = (value(), person(), value(), person(), value());
    let row = (kind, values).prop_map(|(kind, (age, friend, salary, boss, budget))| Row {
        kind,
        values: [age, friend, salary, boss, budget],
    });
    prop::collection::vec(row, 1..14)
}

fn stored(model: &Model, people: &[Row]) -> Opened {
    let opened = stores::open(model, Mapping::by_type_name(model));
    let mut connection = opened.connection();
    connection.begin().unwrap();
    for (id, row) in people.iter().enumerate() {
        let number = |value: Option<i64>| value.map_or(Value::Null, Value::Integer);
        let kind = row.kind.map_or(Value::Null, |kind| Value::String(kind.to_owned()));
        let values = [Value::Integer(id as i64), kind].into_iter().chain(row.values.map(number));
        insert(&mut connection, model, PEOPLE, &values.collect::<Vec<_>>()).unwrap();
    }
    connection.commit().unwrap();
    drop(connection);
    opened
}

on_every_store! {
    #[test]
    fn casts_find_whom_a_walk_finds() {
        let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(stores::cases()) };
        let questions = prop::collection::vec((0..TYPES.len(), asked()), 6);
        proptest!(config, |(people in rows(), questions in questions)| {
            let model = model();
            let opened = stored(&model, &people);
            for (wanted, asked) in questions {
                let Some(filter) = asked.text("", wanted, 0) else { continue };
                let path = match wanted {
                    0 => "People".to_owned(),
                    wanted => format!("People/own.{}", TYPES[wanted].0),
                };
                let query = format!("$orderby=id&$filter={}", filter.replace(' ', "%20"));
                let (resource, _) = url::parse(&model, Version::V4, &path, Some(&query)).unwrap();
                let Resource::Read(plan) = resource else { panic!("{path} reads no data") };
                let mut answer = Answer::of_columns(1);
                opened.connection().read(&model, &plan, None, &mut answer).unwrap();
                let found: Vec<String> = answer.rows.into_iter().map(|row| row.concat()).collect();
                let everybody = people.iter().enumerate();
                let wanted = everybody.filter(|(id, row)| row.is_a(wanted) && asked.holds(&people, row, *id));
                let wanted: Vec<String> = wanted.map(|(id, _)| id.to_string()).collect();
                prop_assert_eq!(found, wanted, "{}?{}", path, filter);
            }
        });
    }
}

//! A small model with every type of property, rows for it, and ways to read them.

use std::cell::RefCell;

use tollgate_store::{Connection, Discard, Flow, Mapping, Outcome, RowSink, Store, StoreError};
use tollgate_wire::edm::{
    Annotations, Changes, EntitySet, EntityType, LeafId, Model, Multiplicity, NavigationId, NavigationProperty,
    Primitive, Property, PropertyKind, SetId, TypeId,
};
use tollgate_wire::entry::Entry;
use tollgate_wire::plan::{Columns, Key, Options, Plan, Shape, SkipToken};
use tollgate_wire::value::{Cell, Row, Value};

use crate::stores::{self, Kind, Opened};

pub(crate) const ITEMS: SetId = SetId(0);
pub(crate) const OWNERS: SetId = SetId(1);

/// `Item/owner`, to one, by the owner's key.
pub(crate) const ITEM_OWNER: NavigationId = NavigationId(0);
/// `Item/peer`, to the first item of the same owner: several match.
pub(crate) const ITEM_PEER: NavigationId = NavigationId(1);
/// `Owner/items`, to many.
pub(crate) const OWNER_ITEMS: NavigationId = NavigationId(0);

/// The leaves of an item, by the names of their types; those after `number` may be null.
pub(crate) const ITEM_LEAVES: [(&str, Primitive); 14] = [
    ("id", STRING),
    ("number", Primitive::Int32),
    ("flag", Primitive::Boolean),
    ("whole", Primitive::Int64),
    ("real", Primitive::Double),
    ("amount", DECIMAL),
    ("text", STRING),
    ("guid", Primitive::Guid),
    ("date", Primitive::Date),
    ("moment", MOMENT),
    ("instant", INSTANT),
    ("time", TIME),
    ("duration", Primitive::Duration),
    ("bytes", Primitive::Binary { length_max: 0 }),
];

/// The leaf of an item with its owner's name; it may be null or name nobody.
pub(crate) const ITEM_OWNER_NAME: LeafId = LeafId(14);

pub(crate) const OWNER_LEAVES: [(&str, Primitive); 3] =
    [("name", STRING), ("rank", Primitive::Int32), ("amount", DECIMAL)];

pub(crate) const STRING: Primitive = Primitive::String { length_max: 0 };
pub(crate) const DECIMAL: Primitive = Primitive::Decimal { precision: 0, scale: 0 };
pub(crate) const MOMENT: Primitive = Primitive::DateTime { precision: 0 };
pub(crate) const INSTANT: Primitive = Primitive::DateTimeOffset { precision: 0 };
pub(crate) const TIME: Primitive = Primitive::TimeOfDay { precision: 0 };

pub(crate) fn model() -> Model {
    let leaf = |nullable_from: usize| {
        move |(index, (name, primitive)): (usize, &(&str, Primitive))| Property {
            name: (*name).into(),
            kind: PropertyKind::Primitive(*primitive),
            nullable: index >= nullable_from,
            annotations: Annotations::default(),
        }
    };
    let mut items: Vec<Property> = ITEM_LEAVES.iter().enumerate().map(leaf(2)).collect();
    items.push(leaf(0)((0, &("owner", STRING))));
    let entity_type = |name: &str, properties| EntityType { name: name.into(), properties, ..EntityType::default() };
    let navigation = |name: &str, target, multiplicity, on| NavigationProperty {
        name: name.into(),
        target,
        multiplicity,
        on: vec![on],
        association: String::new(),
        partner: None,
    };
    let mut model = Model {
        entity_types: vec![
            entity_type("Item", items),
            entity_type("Owner", OWNER_LEAVES.iter().enumerate().map(leaf(1)).collect()),
        ],
        entity_sets: ["Items", "Owners"]
            .iter()
            .enumerate()
            .map(|(index, name)| EntitySet {
                name: (*name).into(),
                entity_type: TypeId(index),
                label: None,
                changes: Changes::ALL,
            })
            .collect(),
        ..Model::default()
    };
    model.finish();
    model.entity_types[0].key = vec![LeafId(0), LeafId(1)];
    model.entity_types[1].key = vec![LeafId(0)];
    model.entity_types[0].navigation = vec![
        navigation("owner", OWNERS, Multiplicity::ZeroOrOne, (ITEM_OWNER_NAME, LeafId(0))),
        navigation("peer", ITEMS, Multiplicity::ZeroOrOne, (ITEM_OWNER_NAME, ITEM_OWNER_NAME)),
    ];
    model.entity_types[1].navigation =
        vec![navigation("items", ITEMS, Multiplicity::Many, (LeafId(0), ITEM_OWNER_NAME))];
    model
}

/// A model with rows, as values and in a database.
pub(crate) struct World {
    pub(crate) model: Model,
    /// Rows by set.
    pub(crate) rows: [Vec<Vec<Value>>; 2],
    connection: RefCell<Connection>,
    _opened: Opened,
}

impl World {
    pub(crate) fn new(mut items: Vec<Vec<Value>>, mut owners: Vec<Vec<Value>>) -> World {
        if stores::kind() == Kind::Found {
            items.iter_mut().chain(&mut owners).flatten().for_each(keep);
        }
        let model = model();
        let opened = stores::open(&model, Mapping::by_type_name(&model));
        let mut connection = opened.connection();
        connection
            .transaction(|connection| {
                items.iter().try_for_each(|row| insert(connection, &model, ITEMS, row))?;
                owners.iter().try_for_each(|row| insert(connection, &model, OWNERS, row))
            })
            .unwrap();
        World { model, rows: [items, owners], connection: RefCell::new(connection), _opened: opened }
    }

    pub(crate) fn read(&self, plan: &Plan, page_size: Option<u64>) -> Result<(Outcome, Answer), StoreError> {
        let entity_type = self.model.type_of(plan.set());
        let columns = Columns::new(entity_type, &plan.options.select, &plan.options.expand);
        let mut answer = Answer { columns: columns.leaves.len(), ..Answer::default() };
        let outcome = self.read_into(plan, page_size, &mut answer)?;
        Ok((outcome, answer))
    }

    pub(crate) fn read_into<S: RowSink>(
        &self,
        plan: &Plan,
        page_size: Option<u64>,
        sink: &mut S,
    ) -> Result<Outcome, StoreError> {
        self.connection.borrow_mut().read(&self.model, plan, page_size, sink)
    }
}

/// Reduces a decimal to the digits that a binary number keeps.
fn keep(value: &mut Value) {
    let Value::Decimal(digits) = value else { return };
    let few = digits.len() <= 15;
    let trimmed = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { &digits[..] };
    *digits = if few { trimmed.to_owned() } else { "-7.25".to_owned() };
}

/// Inserts an entity with a value for each of its leaves.
pub(crate) fn insert(
    connection: &mut impl Store,
    model: &Model,
    set: SetId,
    values: &[Value],
) -> Result<(), StoreError> {
    connection.insert(model, set, &Entry::of_values(values), None::<&mut Discard>)
}

/// Calls of a sink, as text: one line for each call.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    columns: usize,
    pub(crate) total: Option<u64>,
    /// The rows of the entities.
    pub(crate) rows: Vec<Vec<String>>,
    /// The rows of the expanded entities of each entity.
    pub(crate) expanded: Vec<String>,
    /// Places to continue cut expansions.
    pub(crate) more: Vec<SkipToken>,
    /// Nesting depth of expansions at the sink, and number of the next one.
    depth: usize,
    counted: String,
    /// Number of entities after which the sink stops.
    stop_after: Option<usize>,
}

impl Answer {
    /// Creates a sink for the first columns of each entity.
    pub(crate) fn of_columns(columns: usize) -> Answer {
        Answer { columns, ..Answer::default() }
    }

    /// Creates a sink that stops after so many entities.
    pub(crate) fn stopping_after(entities: usize) -> Answer {
        Answer { columns: 2, stop_after: Some(entities), ..Answer::default() }
    }
}

impl RowSink for Answer {
    fn total(&mut self, count: u64) -> Flow {
        self.total = Some(count);
        Flow::Continue
    }

    fn entity<R: Row>(&mut self, row: &R) -> Flow {
        self.rows.push((0..self.columns).map(|column| cell_text(row.cell(column))).collect());
        Flow::Continue
    }

    fn expand_begin<R: Row>(&mut self, index: usize, parent: &R) -> Flow {
        let begun = format!("[{}{index}:", std::mem::take(&mut self.counted));
        match self.depth {
            0 => self.expanded.push(cell_text(parent.cell(0)) + &begun),
            _ => *self.expanded.last_mut().unwrap() += &begun,
        }
        self.depth += 1;
        Flow::Continue
    }

    fn expand_total(&mut self, _index: usize, count: u64) -> Flow {
        self.counted = format!("#{count} ");
        Flow::Continue
    }

    fn expand_entity<R: Row>(&mut self, _index: usize, row: &R) -> Flow {
        *self.expanded.last_mut().unwrap() += &format!(" {}", cell_text(row.cell(0)));
        Flow::Continue
    }

    fn expand_more<R: Row>(&mut self, _index: usize, _parent: &R, next: &SkipToken) -> Flow {
        self.more.push(next.clone());
        *self.expanded.last_mut().unwrap() += " …";
        Flow::Continue
    }

    fn expand_end<R: Row>(&mut self, _index: usize, _parent: &R) -> Flow {
        *self.expanded.last_mut().unwrap() += "]";
        self.depth -= 1;
        Flow::Continue
    }

    fn entity_end<R: Row>(&mut self, _row: &R) -> Flow {
        if self.stop_after == Some(self.rows.len()) { Flow::Stop } else { Flow::Continue }
    }
}

pub(crate) fn cell_text(cell: Cell<'_>) -> String {
    match cell {
        Cell::Null => "null".into(),
        Cell::Integer(integer) => integer.to_string(),
        // SQLite keeps no negative zero.
        Cell::Real(real) => format!("{:?}", real + 0.0),
        Cell::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
        Cell::Bytes(bytes) => format!("{bytes:02x?}"),
    }
}

pub(crate) fn collection(set: SetId, options: Options) -> Plan {
    Plan { root: set, key: None, steps: Vec::new(), shape: Shape::Collection, options }
}

/// A text; PostgreSQL cannot store the character U+0000.
pub(crate) fn string(text: &str) -> Value {
    match stores::kind() {
        Kind::Memory | Kind::File | Kind::Found => Value::String(text.into()),
        Kind::Postgres => Value::String(text.replace('\0', "\u{1}")),
    }
}

pub(crate) fn item_key(id: &str, number: i64) -> Key {
    Key(vec![string(id), Value::Integer(number)])
}

/// An item with only its key and its owner.
pub(crate) fn bare_item(id: &str, number: i64, owner: Option<&str>) -> Vec<Value> {
    let mut row = vec![Value::Null; ITEM_LEAVES.len() + 1];
    row[0] = string(id);
    row[1] = Value::Integer(number);
    row[ITEM_OWNER_NAME.0] = owner.map_or(Value::Null, string);
    row
}

pub(crate) fn owner(name: &str, rank: Option<i64>) -> Vec<Value> {
    vec![string(name), rank.map_or(Value::Null, Value::Integer), Value::Null]
}

//! Collections of values compared with a naive evaluation in memory: random lists with nulls, questions about them, and
//! reading written values again.

use proptest::prelude::*;
use tollgate_store::{Connection, Mapping, Store};
use tollgate_wire::edm::{
    Annotations, Changes, EntitySet, EntityType, Item, LeafId, Model, Primitive, Property, PropertyKind, SetId, TypeId,
};
use tollgate_wire::entry::Entry;
use tollgate_wire::items::Writer;
use tollgate_wire::plan::{Comparison, Expression, ExpressionKind, Function, Items, Logic, Options, Origin, Question};
use tollgate_wire::value::{Cell, Value};

use crate::naive::compare;
use crate::stores::{self, on_every_store};
use crate::world::{Answer, collection, insert};

const LISTS: [(&str, Item); 6] = [
    ("texts", Item::String { length_max: 0 }),
    ("integers", Item::Int64),
    ("decimals", Item::Decimal { precision: 0, scale: 0 }),
    ("truths", Item::Boolean),
    ("moments", Item::DateTime { precision: 0 }),
    ("instants", Item::DateTimeOffset { precision: 0 }),
];

fn model() -> Model {
    let property = |name: &str, primitive, nullable| Property {
        name: name.into(),
        kind: PropertyKind::Primitive(primitive),
        nullable,
        annotations: Annotations::default(),
    };
    let mut properties = vec![property("id", Primitive::Int64, false)];
    properties.extend(LISTS.map(|(name, item)| property(name, Primitive::Collection(item), true)));
    let entity_type = EntityType { name: "Holder".into(), properties, key: vec![LeafId(0)], ..EntityType::default() };
    let set = EntitySet { name: "Holders".into(), entity_type: TypeId(0), label: None, changes: Changes::ALL };
    let mut model = Model { entity_types: vec![entity_type], entity_sets: vec![set], ..Model::default() };
    model.finish();
    model
}

/// Few values, so that equal ones occur.
fn pool(item: Item) -> Vec<Value> {
    let text = |text: &str| Value::Text(item.primitive(), text.to_owned());
    match item {
        Item::String { .. } => ["", "a", "ä\"\\,{}", "NULL", "null"].map(|text| Value::String(text.into())).to_vec(),
        Item::Int64 => [0, -1, i64::MAX, i64::MIN].map(Value::Integer).to_vec(),
        Item::Decimal { .. } => {
            ["0", "1.50", "1.5", "-12345678901234567890.12345"].map(|digits| Value::Decimal(digits.into())).to_vec()
        }
        Item::Boolean => vec![Value::Boolean(true), Value::Boolean(false)],
        Item::DateTime { .. } => {
            ["2013-09-25T10:00:00", "2013-09-25T10:00:00.5", "1969-12-31T23:59:59"].map(text).to_vec()
        }
        _ => ["2013-09-25T10:00:00Z", "2013-09-25T10:00:00.5Z", "0001-01-01T00:00:00Z"].map(text).to_vec(),
    }
}

fn value(item: Item) -> impl Strategy<Value = Value> {
    prop_oneof![1 => Just(Value::Null), 5 => proptest::sample::select(pool(item))]
}

fn typed(kind: ExpressionKind, primitive: Option<Primitive>) -> Expression {
    Expression { kind, primitive, position: 0 }
}

fn literal(value: Value, primitive: Primitive) -> Expression {
    let primitive = Some(primitive).filter(|_| value != Value::Null);
    typed(ExpressionKind::Literal(value), primitive)
}

/// A condition on a value: a few comparisons with literals.
fn condition(item: Item) -> impl Strategy<Value = Expression> {
    let boolean = Some(Primitive::Boolean);
    let comparison = proptest::sample::select(vec![
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ]);
    let leaf = (comparison, value(item)).prop_map(move |(comparison, value)| {
        let one = typed(ExpressionKind::Item(0), Some(item.primitive()));
        let kind = ExpressionKind::Compare(comparison, Box::new(one), Box::new(literal(value, item.primitive())));
        typed(kind, boolean)
    });
    leaf.prop_recursive(2, 4, 2, move |inner| {
        prop_oneof![
            inner.clone().prop_map(move |inner| typed(ExpressionKind::Not(Box::new(inner)), boolean)),
            (inner.clone(), inner, any::<bool>()).prop_map(move |(left, right, both)| {
                let logic = if both { Logic::And } else { Logic::Or };
                typed(ExpressionKind::Logic(logic, Box::new(left), Box::new(right)), boolean)
            }),
        ]
    })
}

/// Whether a condition is true of a value. Comparisons are never null, and neither are their combinations.
fn holds(condition: &Expression, at: &Value) -> bool {
    let of = |expression: &Expression| match &expression.kind {
        ExpressionKind::Literal(value) => value.clone(),
        _ => at.clone(),
    };
    match &condition.kind {
        ExpressionKind::Not(inner) => !holds(inner, at),
        ExpressionKind::Logic(Logic::And, left, right) => holds(left, at) && holds(right, at),
        ExpressionKind::Logic(Logic::Or, left, right) => holds(left, at) || holds(right, at),
        ExpressionKind::Compare(comparison, left, right) => {
            compare(*comparison, of(left), of(right)) == Value::Boolean(true)
        }
        other => panic!("no condition of this test has {other:?}"),
    }
}

fn answer(question: Question, condition: Option<&Expression>, list: &[Value]) -> Value {
    let met = list.iter().filter(|value| condition.is_none_or(|condition| holds(condition, value))).count();
    match question {
        Question::Any => Value::Boolean(met > 0),
        Question::All => Value::Boolean(met == list.len()),
        Question::Count => Value::Integer(met as i64),
    }
}

/// Whether a list contains the wanted values in their order.
fn has_subsequence(list: &[Value], wanted: &[Value]) -> bool {
    let mut rest = list.iter();
    wanted.iter().all(|wanted| {
        rest.any(|value| compare(Comparison::Equal, value.clone(), wanted.clone()) == Value::Boolean(true))
    })
}

fn array(item: Item, list: &[Value]) -> String {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out);
    list.iter().for_each(|value| writer.push(item.primitive(), value.cell()));
    writer.finish();
    String::from_utf8(out).unwrap()
}

struct Holders {
    model: Model,
    connection: std::cell::RefCell<Connection>,
    _opened: stores::Opened,
}

impl Holders {
    /// Creates holders with these values in the leaf.
    fn new(leaf: usize, lists: &[Option<Vec<Value>>]) -> Holders {
        let model = model();
        let opened = stores::open(&model, Mapping::by_type_name(&model));
        let mut connection = opened.connection();
        connection
            .transaction(|connection| {
                lists.iter().enumerate().try_for_each(|(id, list)| {
                    let mut row = vec![Value::Null; 1 + LISTS.len()];
                    row[0] = Value::Integer(id as i64);
                    if let Some(list) = list {
                        let item = LISTS[leaf - 1].1;
                        row[leaf] = Value::Text(Primitive::Collection(item), array(item, list));
                    }
                    insert(connection, &model, SetId(0), &row)
                })
            })
            .unwrap();
        Holders { model, connection: std::cell::RefCell::new(connection), _opened: opened }
    }

    /// The rows that match a filter.
    fn rows(&self, filter: Option<Expression>) -> Vec<Vec<String>> {
        let plan = collection(SetId(0), Options { filter, ..Options::default() });
        let mut answer = Answer::of_columns(1 + LISTS.len());
        self.connection.borrow_mut().read(&self.model, &plan, None, &mut answer).unwrap();
        answer.rows
    }

    fn ids(&self, filter: Expression) -> Vec<usize> {
        self.rows(Some(filter)).iter().map(|row| row[0].parse().unwrap()).collect()
    }
}

type Lists = Vec<Option<Vec<Value>>>;

/// A leaf, lists in it, and a question about them: `all` always has a condition.
fn asked() -> impl Strategy<Value = (usize, Lists, (Question, Option<Expression>), Vec<Value>)> {
    (1..=LISTS.len()).prop_flat_map(|leaf| {
        let item = LISTS[leaf - 1].1;
        let list = proptest::option::weighted(0.9, proptest::collection::vec(value(item), 0..5));
        (
            Just(leaf),
            proptest::collection::vec(list, 1..6),
            prop_oneof![
                1 => proptest::sample::select(vec![(Question::Any, None), (Question::Count, None)]),
                9 => (
                    proptest::sample::select(vec![Question::Any, Question::All, Question::Count]),
                    condition(item).prop_map(Some),
                ),
            ],
            proptest::collection::vec(value(item), 0..4),
        )
    })
}

fn check(
    (leaf, lists, (question, condition), wanted): (usize, Lists, (Question, Option<Expression>), Vec<Value>),
) -> Result<(), TestCaseError> {
    let holders = Holders::new(leaf, &lists);
    let item = LISTS[leaf - 1].1;
    let rows = holders.rows(None);
    for (row, list) in rows.iter().zip(&lists) {
        let expected = list.as_ref().map_or("null".to_owned(), |list| array(item, list));
        prop_assert_eq!(&row[leaf], &expected);
    }
    let list = |id: &usize| lists[*id].as_deref().unwrap_or_default();
    let items =
        Items { of: Origin::It, through: Vec::new(), leaf: LeafId(leaf), question, condition: condition.clone() };
    let (primitive, is) = match question {
        Question::Any | Question::All => (Primitive::Boolean, Value::Boolean(true)),
        Question::Count => (Primitive::Int64, Value::Integer(2)),
    };
    let asked = typed(ExpressionKind::Items(Box::new(items)), Some(primitive));
    let equal = ExpressionKind::Compare(Comparison::Equal, Box::new(asked), Box::new(literal(is.clone(), primitive)));
    let expected: Vec<usize> =
        (0..lists.len()).filter(|id| answer(question, condition.as_ref(), list(id)) == is).collect();
    prop_assert_eq!(holders.ids(typed(equal, Some(Primitive::Boolean))), expected);

    let leaf_of = ExpressionKind::Leaf { of: Origin::It, through: Vec::new(), leaf: LeafId(leaf) };
    let mut arguments = vec![typed(leaf_of, Some(Primitive::Collection(item)))];
    arguments.extend(wanted.iter().map(|value| literal(value.clone(), item.primitive())));
    let has = typed(ExpressionKind::Call(Function::HasSubsequence, arguments), Some(Primitive::Boolean));
    let expected: Vec<usize> = (0..lists.len()).filter(|id| has_subsequence(list(id), &wanted)).collect();
    prop_assert_eq!(holders.ids(has), expected);
    Ok(())
}

on_every_store! {
    #[test]
    fn questions_about_lists_have_the_naive_answers() {
        let config = ProptestConfig { cases: stores::cases(), failure_persistence: None, ..ProptestConfig::default() };
        proptest!(config, |(asked in asked())| check(asked)?);
    }

    /// Checks the time: looking from each place anew would take far too long.
    #[test]
    fn equal_values_in_their_order_are_found_in_one_walk() {
        let sevens = |count| Some(vec![Value::Integer(7); count]);
        let holders = Holders::new(2, &[sevens(40), sevens(15), sevens(16), None]);
        let leaf_of = ExpressionKind::Leaf { of: Origin::It, through: Vec::new(), leaf: LeafId(2) };
        let mut arguments = vec![typed(leaf_of, Some(Primitive::Collection(Item::Int64)))];
        arguments.extend(vec![literal(Value::Integer(7), Primitive::Int64); 16]);
        let has = typed(ExpressionKind::Call(Function::HasSubsequence, arguments), Some(Primitive::Boolean));
        assert_eq!(holders.ids(has), [0, 2]);
    }

    #[test]
    fn a_list_is_changed_as_a_whole() {
        let holders = Holders::new(1, &[Some(vec![Value::String("a".into())]), None]);
        let mut entry = Entry::new(1 + LISTS.len());
        entry.set(LeafId(1), Cell::Text(br#"["b",null,"c"]"#));
        entry.set(LeafId(2), Cell::Text(b"[]"));
        let key = tollgate_wire::plan::Key(vec![Value::Integer(1)]);
        let mut connection = holders.connection.borrow_mut();
        let updated = connection.transaction(|connection| connection.update(&holders.model, SetId(0), &key, &entry));
        drop(connection);
        assert!(updated.unwrap());
        let rows = holders.rows(None);
        assert_eq!((&rows[0][1][..], &rows[1][1][..], &rows[1][2][..]), (r#"["a"]"#, r#"["b",null,"c"]"#, "[]"));
    }
}

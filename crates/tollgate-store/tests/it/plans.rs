//! Random rows and random typed expressions over the leaves of [`world`](crate::world), from pools that contain nulls,
//! Unicode, empty texts and numbers at their limits.

use proptest::prelude::*;
use proptest::sample::select;
use tollgate_wire::edm::{LeafId, NavigationId, Primitive, SetId};
use tollgate_wire::plan::{
    Arithmetic, Comparison, Counting, Direction, Expression, ExpressionKind, Function, Logic, Options, OrderBy, Origin,
    Question, Related,
};
use tollgate_wire::value::Value;

use crate::world::*;

/// Nesting of expressions.
const DEPTH: u32 = 3;

const TEXTS: [&str; 16] = [
    "",
    " ",
    "a",
    "A",
    "aa",
    "Straße",
    "STRASSE",
    "ß",
    "İstanbul",
    "naïve",
    "😀a😀",
    "'; DROP TABLE \"Item\"; --",
    "%_%",
    " trim\tme\n",
    "zz\u{0}z",
    "Ǆungla",
];
const DECIMALS: [&str; 12] = [
    "0",
    "0.00",
    "-0.5",
    "0.5",
    "1.5",
    "2.5",
    "422.94",
    "422.940",
    "-1",
    "99999999999999999999.9999999999",
    "-12345678901234567890",
    "0.00000000000000000001",
];
const WHOLES: [i64; 10] = [0, 1, -1, 2, 7, -7, 1 << 53, (1 << 53) + 1, i64::MAX, i64::MIN];
const REALS: [f64; 9] = [0.0, -0.0, 0.5, -2.5, 422.94, 9_007_199_254_740_993.0, 1e300, -1e-300, f64::MAX];
const DATES: [&str; 5] = ["0001-01-01", "1999-12-31", "2000-02-29", "2013-09-25", "9999-12-31"];
const TIMES: [&str; 5] = ["00:00:00", "00:00:00.5", "11:00:00", "11:00:00.25", "23:59:59.999"];
const DURATIONS: [&str; 7] = ["PT0S", "PT36H", "P1DT12H", "PT1.5S", "-PT1M", "P1D", "PT90000S"];
const GUIDS: [&str; 3] = [
    "00000000-0000-0000-0000-000000000000",
    "0a1b2c3d-0000-4000-8000-00000000000f",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
];
const OWNERS_NAMES: [&str; 4] = ["ann", "bob", "Çem", "nobody"];

/// A value of that type that is not null.
fn some(primitive: Primitive) -> BoxedStrategy<Value> {
    let text = |primitive, pool: &'static [&'static str]| {
        select(pool).prop_map(move |text| Value::Text(primitive, text.to_owned())).boxed()
    };
    let joined = |primitive, end: &'static str| {
        (select(&DATES), select(&TIMES))
            .prop_map(move |(date, time)| Value::Text(primitive, format!("{date}T{time}{end}")))
            .boxed()
    };
    match primitive {
        Primitive::Boolean => any::<bool>().prop_map(Value::Boolean).boxed(),
        Primitive::Byte | Primitive::SByte | Primitive::Int16 | Primitive::Int32 => {
            (-3_i64..4).prop_map(Value::Integer).boxed()
        }
        Primitive::Int64 => select(&WHOLES).prop_map(Value::Integer).boxed(),
        Primitive::Single | Primitive::Double => select(&REALS).prop_map(Value::Real).boxed(),
        Primitive::Decimal { .. } => select(&DECIMALS).prop_map(|digits| Value::Decimal(digits.to_owned())).boxed(),
        Primitive::String { .. } => select(&TEXTS).prop_map(string).boxed(),
        Primitive::Binary { .. } => proptest::collection::vec(0_u8..3, 0..3).prop_map(Value::Binary).boxed(),
        Primitive::Guid => text(primitive, &GUIDS),
        Primitive::Date => text(primitive, &DATES),
        Primitive::DateTime { .. } => joined(primitive, ""),
        Primitive::DateTimeOffset { .. } => joined(primitive, "Z"),
        Primitive::TimeOfDay { .. } => text(primitive, &TIMES),
        Primitive::Duration => text(primitive, &DURATIONS),
        Primitive::Collection(item) => some(item.primitive()),
    }
}

fn or_null(primitive: Primitive) -> BoxedStrategy<Value> {
    prop_oneof![1 => Just(Value::Null), 3 => some(primitive)].boxed()
}

/// Up to so many items with different keys, and owners; some items have none.
pub(crate) fn rows(items_max: usize) -> impl Strategy<Value = (Vec<Vec<Value>>, Vec<Vec<Value>>)> {
    let values: Vec<_> = ITEM_LEAVES[2..].iter().map(|(_, primitive)| or_null(*primitive)).collect();
    let owner = prop_oneof![Just(Value::Null), select(&OWNERS_NAMES).prop_map(string)];
    let item = (some(STRING), values, owner);
    let owners: Vec<_> = OWNERS_NAMES[..3].iter().map(|_| (or_null(Primitive::Int32), or_null(DECIMAL))).collect();
    (proptest::collection::vec(item, 0..items_max), owners).prop_map(|(items, owners)| {
        let item = |(number, (id, values, owner)): (usize, (Value, Vec<Value>, Value))| {
            [vec![id, Value::Integer(number as i64 % 5 + number as i64 / 5 * 100)], values, vec![owner]].concat()
        };
        let owner = |(name, (rank, amount)): (&&str, (Value, Value))| vec![string(name), rank, amount];
        (items.into_iter().enumerate().map(item).collect(), OWNERS_NAMES.iter().zip(owners).map(owner).collect())
    })
}

pub(crate) fn expression(primitive: Option<Primitive>, kind: ExpressionKind) -> Expression {
    Expression { kind, primitive, position: 0 }
}

pub(crate) fn literal(primitive: Primitive, value: Value) -> Expression {
    expression(Some(primitive), ExpressionKind::Literal(value))
}

pub(crate) fn leaf(through: &[(NavigationId, SetId)], leaf: usize, primitive: Primitive) -> Expression {
    expression(Some(primitive), ExpressionKind::Leaf { of: Origin::It, through: through.to_vec(), leaf: LeafId(leaf) })
}

pub(crate) fn item_leaf(name: &str) -> Expression {
    let position = ITEM_LEAVES.iter().position(|(leaf, _)| *leaf == name).expect("it is a leaf of an item");
    leaf(&[], position, ITEM_LEAVES[position].1)
}

pub(crate) fn compare(comparison: Comparison, left: Expression, right: Expression) -> Expression {
    expression(Some(Primitive::Boolean), ExpressionKind::Compare(comparison, Box::new(left), Box::new(right)))
}

pub(crate) fn logic(logic: Logic, left: Expression, right: Expression) -> Expression {
    expression(Some(Primitive::Boolean), ExpressionKind::Logic(logic, Box::new(left), Box::new(right)))
}

pub(crate) fn not(inner: Expression) -> Expression {
    expression(Some(Primitive::Boolean), ExpressionKind::Not(Box::new(inner)))
}

pub(crate) fn call(primitive: Primitive, function: Function, arguments: Vec<Expression>) -> Expression {
    expression(Some(primitive), ExpressionKind::Call(function, arguments))
}

/// The entities that have the same owner, as a question about them.
fn question(question: Question, condition: Option<Expression>) -> Expression {
    let primitive = match question {
        Question::Any | Question::All => Primitive::Boolean,
        Question::Count => Primitive::Int64,
    };
    let related = Related {
        of: Origin::It,
        through: vec![(ITEM_OWNER, OWNERS)],
        navigation: OWNER_ITEMS,
        target: ITEMS,
        question,
        condition,
    };
    expression(Some(primitive), ExpressionKind::Related(Box::new(related)))
}

/// Every second leaf as one of the related entity: both are items.
fn of_variable(expression: &mut Expression, count: &mut usize) {
    let mut inner = |expression: &mut Expression| of_variable(expression, count);
    match &mut expression.kind {
        ExpressionKind::Leaf { of, .. } => {
            if *of == Origin::It && count.is_multiple_of(2) {
                *of = Origin::Variable(0);
            }
            *count += 1;
        }
        ExpressionKind::Literal(_)
        | ExpressionKind::Column(_)
        | ExpressionKind::Related(_)
        | ExpressionKind::Items(_)
        | ExpressionKind::Item(_) => {}
        ExpressionKind::Not(operand)
        | ExpressionKind::Negate(operand)
        | ExpressionKind::Cast(operand)
        | ExpressionKind::In(operand, _) => inner(operand),
        ExpressionKind::Logic(_, left, right)
        | ExpressionKind::Compare(_, left, right)
        | ExpressionKind::Arithmetic(_, left, right) => {
            inner(left);
            inner(right);
        }
        ExpressionKind::Call(_, arguments) => arguments.iter_mut().for_each(inner),
        ExpressionKind::Case(branches) => branches.iter_mut().for_each(|(condition, value)| {
            inner(condition);
            inner(value);
        }),
    }
}

fn null() -> Expression {
    expression(None, ExpressionKind::Literal(Value::Null))
}

/// The promotion of the URL parser, implemented again.
fn promoted(left: &Expression, right: &Expression) -> Option<Primitive> {
    let rank = |expression: &Expression| match expression.primitive {
        Some(Primitive::Double) => 3,
        Some(Primitive::Decimal { .. }) => 2,
        Some(_) => 1,
        None => 0,
    };
    [None, Some(Primitive::Int64), Some(DECIMAL), Some(Primitive::Double)][rank(left).max(rank(right))]
}

/// Literals and leaves of a type, own or over to-one navigation.
fn atom(primitive: Primitive) -> BoxedStrategy<Expression> {
    let same = move |(_, candidate): &(usize, Primitive)| *candidate == primitive;
    let leaves =
        |leaves: &[(&str, Primitive)]| leaves.iter().map(|(_, primitive)| *primitive).enumerate().collect::<Vec<_>>();
    let peer = (ITEM_PEER, ITEMS);
    let owner = (ITEM_OWNER, OWNERS);
    let mut atoms = vec![some(primitive).prop_map(move |value| literal(primitive, value)).boxed()];
    for (position, primitive) in leaves(&ITEM_LEAVES).into_iter().filter(same) {
        let own = leaf(&[], position, primitive);
        atoms.push(prop_oneof![8 => Just(own.clone()), 1 => Just(leaf(&[peer], position, primitive))].boxed());
    }
    for (position, primitive) in leaves(&OWNER_LEAVES).into_iter().filter(same) {
        let near = leaf(&[owner], position, primitive);
        atoms.push(prop_oneof![3 => Just(near), 1 => Just(leaf(&[peer, owner], position, primitive))].boxed());
    }
    proptest::strategy::Union::new(atoms).boxed()
}

/// An expression of a type.
fn of(primitive: Primitive, depth: u32) -> BoxedStrategy<Expression> {
    let atom = atom(primitive);
    if depth == 0 {
        return atom;
    }
    let of = move |primitive| of(primitive, depth - 1);
    let call = move |function, arguments: Vec<BoxedStrategy<Expression>>| {
        arguments.prop_map(move |arguments| call(primitive, function, arguments)).boxed()
    };
    let arithmetic = |left: BoxedStrategy<Expression>, right: BoxedStrategy<Expression>| {
        (select(&OPERATORS[..]), left, right)
            .prop_map(|(operator, left, right)| {
                let primitive = promoted(&left, &right);
                expression(primitive, ExpressionKind::Arithmetic(operator, Box::new(left), Box::new(right)))
            })
            .boxed()
    };
    let negated = || {
        of(primitive)
            .prop_map(move |inner| expression(Some(primitive), ExpressionKind::Negate(Box::new(inner))))
            .boxed()
    };
    let rounded = || {
        (select(&[Function::Round, Function::Floor, Function::Ceiling][..]), of(primitive))
            .prop_map(move |(function, inner)| expression(Some(primitive), ExpressionKind::Call(function, vec![inner])))
            .boxed()
    };
    let cast = |from| {
        of(from).prop_map(move |inner| expression(Some(primitive), ExpressionKind::Cast(Box::new(inner)))).boxed()
    };
    let condition = || {
        of(Primitive::Boolean).prop_map(|mut condition| {
            of_variable(&mut condition, &mut 0);
            condition
        })
    };
    let case = || {
        proptest::collection::vec((of(Primitive::Boolean), of(primitive)), 1..3)
            .prop_map(move |branches| expression(Some(primitive), ExpressionKind::Case(branches)))
            .boxed()
    };
    let whole = || of(Primitive::Int32);
    let text = || of(STRING);
    let others: Vec<BoxedStrategy<Expression>> = match primitive {
        Primitive::Boolean => {
            let comparable = [
                (Primitive::Boolean, Primitive::Boolean),
                (Primitive::Int32, Primitive::Int64),
                (Primitive::Int64, DECIMAL),
                (DECIMAL, DECIMAL),
                (DECIMAL, Primitive::Double),
                (Primitive::Double, Primitive::Int64),
                (STRING, STRING),
                (Primitive::Guid, Primitive::Guid),
                (Primitive::Date, Primitive::Date),
                (Primitive::Date, MOMENT),
                (MOMENT, INSTANT),
                (INSTANT, INSTANT),
                (TIME, TIME),
                (Primitive::Duration, Primitive::Duration),
                (Primitive::Binary { length_max: 0 }, Primitive::Binary { length_max: 0 }),
            ];
            let pairs = comparable.map(|(left, right)| {
                let (left, right) = (of(left), of(right));
                let right = prop_oneof![9 => right, 1 => Just(null())];
                (select(&COMPARISONS[..]), left, right)
                    .prop_map(|(comparison, left, right)| compare(comparison, left, right))
                    .boxed()
            });
            let mut others = pairs.to_vec();
            let lists = [
                Primitive::Int64,
                DECIMAL,
                Primitive::Double,
                STRING,
                Primitive::Guid,
                Primitive::Date,
                INSTANT,
                Primitive::Duration,
            ];
            others.extend(lists.map(|primitive| {
                (of(primitive), proptest::collection::vec(some(primitive), 1..4))
                    .prop_map(|(operand, values)| {
                        expression(Some(Primitive::Boolean), ExpressionKind::In(Box::new(operand), values))
                    })
                    .boxed()
            }));
            others.extend([
                (select(&[Question::Any, Question::All][..]), condition())
                    .prop_map(|(asked, condition)| question(asked, Some(condition)))
                    .boxed(),
                Just(question(Question::Any, None)).boxed(),
                case(),
                of(primitive).prop_map(not).boxed(),
                (select(&[Logic::And, Logic::Or][..]), of(primitive), of(primitive))
                    .prop_map(|(operator, left, right)| logic(operator, left, right))
                    .boxed(),
                (select(&[Logic::And, Logic::Or][..]), of(primitive), of(primitive))
                    .prop_map(|(operator, left, right)| logic(operator, left, right))
                    .boxed(),
                call(Function::Contains, vec![text(), text()]),
                call(Function::StartsWith, vec![text(), text()]),
                call(Function::EndsWith, vec![text(), text()]),
                call(Function::Has, vec![whole(), whole()]),
            ]);
            others
        }
        Primitive::Int64 => vec![
            arithmetic(whole(), of(primitive)),
            arithmetic(of(primitive), of(primitive)),
            negated(),
            rounded(),
            case(),
            cast(DECIMAL),
            cast(Primitive::Double),
            condition().prop_map(|condition| question(Question::Count, Some(condition))).boxed(),
            call(Function::TotalOffsetMinutes, vec![of(INSTANT)]),
            call(Function::Length, vec![text()]),
            call(Function::IndexOf, vec![text(), text()]),
        ],
        Primitive::Int32 => {
            let part = |functions: &'static [Function], kind| {
                (select(functions), of(kind))
                    .prop_map(move |(function, argument)| {
                        expression(Some(primitive), ExpressionKind::Call(function, vec![argument]))
                    })
                    .boxed()
            };
            vec![
                cast(Primitive::Int64),
                part(&CALENDAR, Primitive::Date),
                part(&CALENDAR, MOMENT),
                part(&CALENDAR, INSTANT),
                part(&CLOCK, TIME),
                part(&CLOCK, MOMENT),
                part(&CLOCK, INSTANT),
                part(&CLOCK, Primitive::Date),
            ]
        }
        Primitive::Decimal { .. } => vec![
            arithmetic(of(primitive), of(primitive)),
            arithmetic(of(Primitive::Int64), of(primitive)),
            negated(),
            rounded(),
            case(),
            cast(Primitive::Int64),
            call(Function::TotalSeconds, vec![of(Primitive::Duration)]),
            call(Function::FractionalSeconds, vec![of(TIME)]),
            call(Function::FractionalSeconds, vec![of(INSTANT)]),
        ],
        Primitive::Double => vec![
            arithmetic(of(primitive), of(primitive)),
            arithmetic(of(primitive), of(DECIMAL)),
            arithmetic(of(Primitive::Int64), of(primitive)),
            negated(),
            rounded(),
        ],
        Primitive::String { .. } => vec![
            call(Function::Substring, vec![text(), whole()]),
            call(Function::Substring, vec![text(), whole(), whole()]),
            call(Function::Replace, vec![text(), text(), text()]),
            call(Function::ToLower, vec![text()]),
            call(Function::ToUpper, vec![text()]),
            call(Function::Trim, vec![text()]),
            call(Function::Concat, vec![text(), text()]),
            cast(Primitive::Int64),
            cast(Primitive::Boolean),
            case(),
        ],
        Primitive::Date => vec![call(Function::Date, vec![of(MOMENT)]), call(Function::Date, vec![of(INSTANT)])],
        Primitive::TimeOfDay { .. } => {
            vec![call(Function::Time, vec![of(MOMENT)]), call(Function::Time, vec![of(INSTANT)])]
        }
        Primitive::Byte
        | Primitive::SByte
        | Primitive::Int16
        | Primitive::Single
        | Primitive::Binary { .. }
        | Primitive::Guid
        | Primitive::DateTime { .. }
        | Primitive::DateTimeOffset { .. }
        | Primitive::Duration
        | Primitive::Collection(_) => Vec::new(),
    };
    if others.is_empty() {
        return atom;
    }
    prop_oneof![2 => atom, 3 => proptest::strategy::Union::new(others)].boxed()
}

const COMPARISONS: [Comparison; 6] = [
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Less,
    Comparison::LessOrEqual,
    Comparison::Greater,
    Comparison::GreaterOrEqual,
];
const OPERATORS: [Arithmetic; 5] =
    [Arithmetic::Add, Arithmetic::Subtract, Arithmetic::Multiply, Arithmetic::Divide, Arithmetic::Modulo];
const CALENDAR: [Function; 3] = [Function::Year, Function::Month, Function::Day];
const CLOCK: [Function; 3] = [Function::Hour, Function::Minute, Function::Second];

/// A filter.
pub(crate) fn filter() -> BoxedStrategy<Expression> {
    of(Primitive::Boolean, DEPTH)
}

/// Keys of an order, of any type that sorts.
fn order_by() -> impl Strategy<Value = Vec<OrderBy>> {
    let kinds: Vec<_> = ITEM_LEAVES.iter().map(|(_, primitive)| of(*primitive, 1)).collect();
    let key = (proptest::strategy::Union::new(kinds), any::<bool>()).prop_map(|(expression, descending)| OrderBy {
        expression,
        direction: if descending { Direction::Descending } else { Direction::Ascending },
    });
    proptest::collection::vec(key, 0..3)
}

/// Options for a collection of items.
pub(crate) fn options() -> impl Strategy<Value = Options> {
    let few = || prop_oneof![Just(None), (0_u64..12).prop_map(Some)];
    (proptest::option::of(filter()), order_by(), few(), few(), any::<bool>()).prop_map(
        |(filter, order_by, top, skip, count)| Options {
            filter,
            order_by,
            top,
            skip,
            count: if count { Counting::Total } else { Counting::Without },
            ..Options::default()
        },
    )
}

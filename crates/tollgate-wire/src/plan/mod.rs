//! The plan of a request, in one form for V2 and V4: the parsers of URLs and query options produce it, the stores and
//! writers consume it.
//!
//! A plan is checked against the model: every name is resolved, every expression typed. It contains no SQL.

pub mod relation;
mod size;

use crate::edm::{ComplexId, EntityType, EnumerationId, LeafId, NavigationId, Primitive, SetId, SubtypeId, Value};
use relation::Applied;

/// The resource that a URL names.
#[derive(Debug, Clone, PartialEq)]
pub enum Resource {
    /// The service document at the root.
    ServiceDocument,
    /// `$metadata`.
    Metadata,
    /// `$batch`.
    Batch,
    /// A function or action of the model, by its position in `Model::function_imports`.
    Function(usize),
    /// Data to read.
    Read(Box<Plan>),
    /// References to the entities that the plan leads to (V2 `$links`, V4 `$ref`): the relation, not the entities.
    References(Box<Plan>),
    /// An action to be done (in V2 a function import that changes something).
    Act(Box<Act>),
}

/// A call of an action.
#[derive(Debug, Clone, PartialEq)]
pub struct Act {
    /// Its position in [`Model::function_imports`](crate::edm::Model::function_imports).
    pub action: usize,
    /// Its binding or the set that it changes, with the options of its answer.
    pub plan: Plan,
    /// The values of the parameters where the URL has them, as in V2; V4 has them in the body.
    pub arguments: Option<Vec<Value>>,
}

/// A request for data.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The set where the path begins.
    pub root: SetId,
    /// The key behind the root, if any.
    pub key: Option<Key>,
    /// Navigation from there, in order.
    pub steps: Vec<Step>,
    /// The requested part of the last segment.
    pub shape: Shape,
    /// The system query options.
    pub options: Options,
}

/// A key predicate: one value for each leaf of [`EntityType::key`], in that order.
#[derive(Debug, Clone, PartialEq)]
pub struct Key(pub Vec<Value>);

/// One navigation step of a path.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The navigation property of the type reached so far.
    pub navigation: NavigationId,
    /// The set that it leads to.
    pub target: SetId,
    /// The key behind it, if any.
    pub key: Option<Key>,
}

/// The requested part of the addressed entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The entities of a collection.
    Collection,
    /// One entity.
    Entity,
    /// The number of entities in a collection, as plain text.
    Count,
    /// A property of one entity, by its position in `EntityType::properties`; a complex one as a whole.
    Property(usize),
    /// A primitive leaf of one entity, as a document.
    Leaf(LeafId),
    /// The raw value of a leaf (`/$value`), or of one that is a collection how many values it has (`/$count`).
    RawValue(LeafId),
    /// The stream of a media entity (`/$value`): the only thing that is computed of it.
    Stream,
}

/// System query options, resolved. Absent ones are at their defaults.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// `$filter`: a Boolean expression.
    pub filter: Option<Expression>,
    /// `$orderby`, in order.
    pub order_by: Vec<OrderBy>,
    /// `$top`.
    pub top: Option<u64>,
    /// `$skip`.
    pub skip: Option<u64>,
    /// `$skiptoken`: where the next page begins.
    pub skip_token: Option<SkipToken>,
    /// `$select`.
    pub select: Select,
    /// `$expand`.
    pub expand: Vec<Expand>,
    /// `$inlinecount=allpages` or `$count=true`.
    pub count: Counting,
    /// `$format`.
    pub format: Option<String>,
    /// `$compute`.
    pub compute: Vec<Computed>,
    /// `$apply`, where it makes other rows than entities: then filter, compute and search are in it, and expressions of the
    /// order name its columns.
    pub apply: Option<Box<Applied>>,
    /// `$id`: the URL of the entity whose reference is meant.
    pub id: Option<String>,
    /// The function that the path calls.
    pub called: Option<Called>,
    /// The singleton that the path names and does not lead away from, by its position in
    /// [`Model::singletons`](crate::edm::Model::singletons): it cannot be deleted, and its document has its name.
    pub singleton: Option<usize>,
    /// The type that the path casts what it ends in to, which is that of the set where it does not.
    pub subtype: SubtypeId,
    /// Conditions on the entities of the path that its casts require.
    pub casts: Vec<Cast>,
}

/// A type cast in a path.
#[derive(Debug, Clone, PartialEq)]
pub struct Cast {
    /// Number of steps before it.
    pub behind: usize,
    /// The condition that is true exactly for entities of the type.
    pub condition: Expression,
}

/// A call of a function, whose answer the rest of the plan finds: it can only be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Called {
    /// Its position in [`Model::function_imports`](crate::edm::Model::function_imports).
    pub function: usize,
    /// The type of what it returns where that is no entity: its values are what was computed.
    pub returned: Option<ComplexId>,
}

/// An expression with a name. Each mention is replaced by the expression itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Computed {
    /// Its name.
    pub name: String,
    /// Its type.
    pub primitive: Primitive,
    /// The enumeration that it is a member of; the expression is the stored value.
    pub enumeration: Option<EnumerationId>,
    /// The expression.
    pub expression: Expression,
    /// Whether it is part of the answer.
    pub shown: bool,
}

/// Whether the total number of matching entities goes with the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Counting {
    /// No.
    #[default]
    Without,
    /// Yes.
    Total,
}

/// `$select`: which leaves and navigation links are answered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Select {
    /// Everything.
    #[default]
    All,
    /// These leaves (in declaration order, without repetition) and these navigation links.
    Only {
        /// Selected leaves.
        leaves: Vec<LeafId>,
        /// Navigation properties that were named.
        navigation: Vec<NavigationId>,
    },
}

/// One expanded navigation property.
#[derive(Debug, Clone, PartialEq)]
pub struct Expand {
    /// The navigation property.
    pub navigation: NavigationId,
    /// The set that it leads to.
    pub target: SetId,
    /// The type whose entities have it.
    pub of: SubtypeId,
    /// In which form.
    pub shown: Shown,
    /// The options in its parentheses.
    pub options: Options,
    /// Most entities of one parent in one answer; a link leads to the rest.
    pub page: Option<u64>,
    /// The options as those of a request of its own, percent-encoded, for that link.
    pub query: String,
}

/// In which form related entities are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shown {
    /// As entities.
    #[default]
    Entities,
    /// As references to them (`/$ref`).
    References,
    /// As their number only (`/$count`).
    Number,
}

impl Computed {
    /// The properties that are answered, in the order of their columns behind those of the entity.
    pub fn shown(computed: &[Computed]) -> impl Iterator<Item = &Computed> {
        computed.iter().filter(|computed| computed.shown)
    }

    /// Whether the documents of both lists look the same.
    pub fn same_documents(left: &[Computed], right: &[Computed]) -> bool {
        let same = |left: &Computed, right: &Computed| left.name == right.name && left.primitive == right.primitive;
        Computed::shown(left).count() == Computed::shown(right).count()
            && Computed::shown(left).zip(Computed::shown(right)).all(|(left, right)| same(left, right))
    }
}

impl Expand {
    /// All related entities with their selected properties.
    pub fn new(navigation: NavigationId, target: SetId, select: Select) -> Expand {
        let options = Options { select, ..Options::default() };
        let (of, shown) = (SubtypeId::ROOT, Shown::Entities);
        Expand { navigation, target, of, shown, options, page: None, query: String::new() }
    }

    /// Limits the entities of one parent in one answer to `page`, in all levels.
    pub fn cut(expand: &mut [Expand], page: u64) {
        for expand in expand {
            expand.page = Some(page);
            Expand::cut(&mut expand.options.expand, page);
        }
    }

    /// The expansion at these positions, each within the one before.
    pub fn at(expand: &[Expand], mut positions: impl Iterator<Item = usize>) -> Option<&Expand> {
        let first = expand.get(positions.next()?)?;
        positions.try_fold(first, |outer, position| outer.options.expand.get(position))
    }

    /// Whether the number of related entities is part of the answer.
    pub fn counts(&self) -> bool {
        self.shown == Shown::Number || self.options.count == Counting::Total
    }

    /// Whether the documents of both lists look the same, independent of their entities.
    pub fn same_documents(left: &[Expand], right: &[Expand]) -> bool {
        let same = |left: &Expand, right: &Expand| {
            left.navigation == right.navigation
                && left.target == right.target
                && left.of == right.of
                && left.options.subtype == right.options.subtype
                && left.shown == right.shown
                && left.counts() == right.counts()
                && Computed::same_documents(&left.options.compute, &right.options.compute)
                && left.options.select == right.options.select
                && Expand::same_documents(&left.options.expand, &right.options.expand)
        };
        left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
    }
}

/// One key of an order.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderBy {
    /// The compared expression.
    pub expression: Expression,
    /// The direction.
    pub direction: Direction,
}

/// The direction of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Smallest first; null before all.
    #[default]
    Ascending,
    /// Largest first; null after all.
    Descending,
}

/// The start of the next page of server-driven paging: after the row with these values of the order's keys, followed by
/// the values of the entity's key. Opaque to the client; [`Options::order_by`] must be the same.
#[derive(Debug, Clone, PartialEq)]
pub struct SkipToken {
    /// One value for each key of the order, then one for each leaf of the entity's key.
    pub after: Vec<Value>,
    /// Number of entities of the caller's `$top` on the pages before.
    pub answered: u64,
}

/// A typed expression with its place in the option's text.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// The kind of expression.
    pub kind: ExpressionKind,
    /// The type of its value; `None` for the null literal.
    pub primitive: Option<Primitive>,
    /// Byte offset in the decoded text of the option, for errors.
    pub position: usize,
}

/// The kinds of expression.
#[derive(Debug, Clone, PartialEq)]
pub enum ExpressionKind {
    /// A constant.
    Literal(Value),
    /// A leaf of an entity, or of one reached from it over to-one navigation.
    Leaf {
        /// The entity that it belongs to.
        of: Origin,
        /// To-one navigation on the way; empty for the entity's own.
        through: Vec<(NavigationId, SetId)>,
        /// The leaf.
        leaf: LeafId,
    },
    /// `not`.
    Not(Box<Expression>),
    /// Unary minus.
    Negate(Box<Expression>),
    /// `and`, `or`. Chains of one of them come as a balanced tree.
    Logic(Logic, Box<Expression>, Box<Expression>),
    /// `eq`, `ne`, `lt`, `le`, `gt`, `ge`. A literal has the type of the other side where that loses nothing. Two leaves
    /// may still differ within numbers (Double wins over Single, Single over Decimal, Decimal over integers) and within
    /// Date, DateTime and, in V4, DateTimeOffset (a date is its midnight, in UTC).
    Compare(Comparison, Box<Expression>, Box<Expression>),
    /// `add`, `sub`, `mul`, `div`, `mod` of numbers; promoted as in a comparison, which is the type of the result.
    Arithmetic(Arithmetic, Box<Expression>, Box<Expression>),
    /// A function call.
    Call(Function, Vec<Expression>),
    /// `in`: whether the value is one of these, none of which is null; each has the type of the operand.
    In(Box<Expression>, Vec<Value>),
    /// `case`: the value behind the first condition that is true, or null.
    Case(Vec<(Expression, Expression)>),
    /// `cast`: the value as one of the expression's type; null where it has none.
    Cast(Box<Expression>),
    /// A column of the rows that `$apply` has made so far.
    Column(usize),
    /// A question about the entities that to-many navigation leads to.
    Related(Box<Related>),
    /// A question about the values of a collection.
    Items(Box<Items>),
    /// The value that the question with this number is at, which asks a collection.
    Item(usize),
}

/// The entity that a named leaf or navigation belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The entity at hand (`$it`).
    It,
    /// A related entity of the question that surrounds the expression; the outermost question, be it about entities or
    /// values, has number 0.
    Variable(usize),
}

/// A question about related entities: the lambda operators, and how many there are.
#[derive(Debug, Clone, PartialEq)]
pub struct Related {
    /// The entity that it starts from.
    pub of: Origin,
    /// To-one navigation on the way.
    pub through: Vec<(NavigationId, SetId)>,
    /// The to-many navigation at its end.
    pub navigation: NavigationId,
    /// The set that it leads to.
    pub target: SetId,
    /// The kind of question.
    pub question: Question,
    /// The Boolean expression asked of each; in it the related entity is the next [`Origin::Variable`].
    pub condition: Option<Expression>,
}

/// A question about the values of a collection.
#[derive(Debug, Clone, PartialEq)]
pub struct Items {
    /// The entity that they belong to.
    pub of: Origin,
    /// To-one navigation on the way.
    pub through: Vec<(NavigationId, SetId)>,
    /// The leaf with the values.
    pub leaf: LeafId,
    /// The kind of question.
    pub question: Question,
    /// The Boolean expression asked of each; in it the value is the next [`ExpressionKind::Item`].
    pub condition: Option<Expression>,
}

/// The kinds of question about related entities, or about values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// `any`: whether the condition is true of one.
    Any,
    /// `all`: whether it is true of each, as it is where there are none.
    All,
    /// `$count`: of how many it is true.
    Count,
}

/// Logical operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logic {
    /// `and`.
    And,
    /// `or`.
    Or,
}

/// Comparison operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `eq`: null equals null.
    Equal,
    /// `ne`.
    NotEqual,
    /// `lt`.
    Less,
    /// `le`.
    LessOrEqual,
    /// `gt`.
    Greater,
    /// `ge`.
    GreaterOrEqual,
}

/// Arithmetic operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// `add`.
    Add,
    /// `sub`.
    Subtract,
    /// `mul`.
    Multiply,
    /// `div`: of integers an integer, as both versions say.
    Divide,
    /// `mod`.
    Modulo,
}

/// Canonical functions, in one form for both versions (`substringof(a, b)` of V2 becomes `Contains(b, a)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// `contains(text, part)`; V2 `substringof(part, text)`.
    Contains,
    /// `startswith(text, part)`.
    StartsWith,
    /// `endswith(text, part)`.
    EndsWith,
    /// `length(text)`: characters.
    Length,
    /// `indexof(text, part)`: from 0, or -1.
    IndexOf,
    /// `substring(text, start[, length])`: from 0.
    Substring,
    /// `replace(text, find, by)` (V2).
    Replace,
    /// `tolower(text)`.
    ToLower,
    /// `toupper(text)`.
    ToUpper,
    /// `trim(text)`.
    Trim,
    /// `concat(a, b)`.
    Concat,
    /// `matchespattern(text, pattern)` (V4): the pattern is a literal in the form that all stores read alike.
    MatchesPattern,
    /// `year(date)`.
    Year,
    /// `month(date)`.
    Month,
    /// `day(date)`.
    Day,
    /// `hour(time)`.
    Hour,
    /// `minute(time)`.
    Minute,
    /// `second(time)`.
    Second,
    /// `date(instant)` (V4).
    Date,
    /// `time(instant)` (V4).
    Time,
    /// `round(number)`: half away from zero.
    Round,
    /// `floor(number)`.
    Floor,
    /// `ceiling(number)`.
    Ceiling,
    /// `now()`: when the statement runs, in milliseconds (V4).
    Now,
    /// `totaloffsetminutes(instant)` (V4): 0, since stores keep instants in UTC.
    TotalOffsetMinutes,
    /// `totalseconds(duration)`: a decimal (V4).
    TotalSeconds,
    /// `hassubsequence` (V4): whether the collection has these literals in their order, with or without others between.
    HasSubsequence,
    /// `has`: whether the first whole number has all bits of the second (V4).
    Has,
    /// `fractionalseconds(time)`: a decimal below 1 (V4).
    FractionalSeconds,
}

/// The leaves that a store must answer for one entity, in order: the selected ones, then those of the key, the
/// ETag, the media type and the type of the entity that were not selected (links and ETags need them), then those that the
/// expansions join on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// The leaves; the position in this list is the column of a [`crate::value::Row`].
    pub leaves: Vec<LeafId>,
    /// Number of them, from the front, that the answer shows.
    pub shown: usize,
}

impl Columns {
    /// The columns of an entity of `entity_type` under a `select` and with these navigation properties expanded.
    pub fn new(entity_type: &EntityType, select: &Select, expand: &[Expand]) -> Columns {
        let mut leaves: Vec<LeafId> = match select {
            Select::All => (0..entity_type.leaves.len()).map(LeafId).collect(),
            Select::Only { leaves, .. } => leaves.clone(),
        };
        let shown = leaves.len();
        let joins =
            expand.iter().flat_map(|expand| entity_type.navigation[expand.navigation.0].on.iter().map(|on| on.0));
        let kind = entity_type.hierarchy.as_ref().map(|hierarchy| hierarchy.discriminator);
        let said = [entity_type.etag, entity_type.media_type, kind].into_iter().flatten();
        for leaf in entity_type.key.iter().copied().chain(said).chain(joins) {
            if !leaves.contains(&leaf) {
                leaves.push(leaf);
            }
        }
        Columns { leaves, shown }
    }

    /// The column of a leaf.
    pub fn of(&self, leaf: LeafId) -> Option<usize> {
        self.leaves.iter().position(|candidate| *candidate == leaf)
    }
}

impl Select {
    /// The key and nothing else: what a reference needs.
    pub fn key_of(entity_type: &EntityType) -> Select {
        let mut leaves = entity_type.key.clone();
        leaves.sort_unstable();
        Select::Only { leaves, navigation: Vec::new() }
    }
}

impl Plan {
    /// The set whose entities are answered.
    pub fn set(&self) -> SetId {
        self.steps.last().map_or(self.root, |step| step.target)
    }
}

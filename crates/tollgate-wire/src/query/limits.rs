//! How much a query may ask for: each limit with the reason why it is none larger. What is beyond is a 400 that names it.

/// How deep parentheses, calls and signs may nest: each level costs stack here.
pub(super) const NESTING_MAX: usize = 64;

/// How high a finished tree may be, chains of arithmetic included: each level costs stack in the stores. Chains of `and`
/// and `or` are balanced and hardly count.
pub(super) const HEIGHT_MAX: usize = 128;

/// How many literals, names and operators an expression may have, those of aliases and computed properties counted at
/// each mention.
pub(super) const NODES_MAX: usize = 10_000;

/// How many to-one navigation properties a path may pass: each is a join.
pub(super) const NAVIGATION_MAX: usize = 4;

/// How deep questions about related entities may nest: each is a subquery for each row of the one around it.
pub(super) const QUESTIONS_MAX: usize = 4;

/// Values of an array that a collection is held against: each is a subquery within that of the one before.
pub(super) const ARRAY_VALUES_MAX: usize = 16;

/// Keys of an order.
pub const ORDER_KEYS_MAX: usize = 16;

/// Expanded navigation properties of one request, in all levels: each is a statement.
pub(super) const EXPANSIONS_MAX: usize = 32;

/// Transformations of `$apply`, those inside of `concat` included: each is a subquery.
pub(super) const TRANSFORMATIONS_MAX: usize = 16;

/// Columns of what `$apply` makes, and computed properties.
pub(super) const COLUMNS_MAX: usize = 128;

/// Words and phrases of a search: each is looked for in each text of an entity.
pub(super) const SEARCH_TERMS_MAX: usize = 32;

/// Characters of a pattern.
pub(super) const PATTERN_CHARS_MAX: usize = 256;

/// Groups of a pattern within each other: each level costs stack here and in the engines.
pub(super) const PATTERN_NESTING_MAX: usize = 16;

/// Characters of a pattern as if its repetitions were written out, which engines do.
pub(super) const PATTERN_SIZE_MAX: usize = 1_000;

/// Levels of expansion within expansion, also where `$levels=max` asks for all there are.
pub(super) const EXPAND_LEVELS_MAX: usize = 6;

/// Parameters of plain REST by which entities are chosen: each is a condition.
pub const CONDITIONS_MAX: usize = 64;

/// Values that such a condition may list.
pub const LISTED_MAX: usize = 1_000;

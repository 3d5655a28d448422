//! Limits of a query, each with the reason why it is not larger. A request beyond one is answered 400 with its name.

/// Deepest nesting of parentheses, calls and signs: each level costs stack here.
pub(super) const NESTING_MAX: usize = 64;

/// Largest height of a finished tree, chains of arithmetic included: each level costs stack in the stores. Chains of
/// `and` and `or` are balanced and hardly count.
pub(super) const HEIGHT_MAX: usize = 128;

/// Most literals, names and operators in an expression, those of aliases and computed properties counted at each
/// mention.
pub(super) const NODES_MAX: usize = 10_000;

/// Most to-one navigation properties in a path: each is a join.
pub(super) const NAVIGATION_MAX: usize = 4;

/// Deepest nesting of questions about related entities: each is a subquery for each row of the one around it.
pub(super) const QUESTIONS_MAX: usize = 4;

/// Values of an array that is compared with a collection: each is a subquery within that of the one before.
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

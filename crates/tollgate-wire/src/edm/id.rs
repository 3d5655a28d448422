//! Positions in a model: what one part of it names another by.
//!
//! They deliberately know no model: each says in which list it is a position.

/// Position of an entity type in [`Model::entity_types`](super::Model::entity_types).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub usize);

/// Position of a complex type in [`Model::complex_types`](super::Model::complex_types).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ComplexId(pub usize);

/// Position of an entity set in [`Model::entity_sets`](super::Model::entity_sets).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SetId(pub usize);

/// Position of a leaf in [`EntityType::leaves`](super::EntityType::leaves): a primitive property, those inside complex properties included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeafId(pub usize);

/// Position of a navigation property in [`EntityType::navigation`](super::EntityType::navigation).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NavigationId(pub usize);

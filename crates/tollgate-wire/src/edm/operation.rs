//! Functions and actions of a model: what they are called on, what they are given, and how their answer is found or what
//! they change.
//!
//! Their effect is given in expressions of OData over the model; SQL is the stores' business.

use super::enumeration::EnumerationId;
use super::id::{ComplexId, LeafId, NavigationId, SetId};
use super::primitive::Primitive;

/// A function or an action that the service declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionImport {
    /// Name.
    pub name: String,
    /// The HTTP method in V2.
    pub method: FunctionMethod,
    /// The binding (V4); `None` if it is called by itself.
    pub bound: Option<Binding>,
    /// Parameters in order, what it is called on left out.
    pub parameters: Vec<Parameter>,
    /// The type of its result.
    pub returns: FunctionReturn,
    /// The way to its answer, or its effect.
    pub answer: FunctionAnswer,
}

/// A parameter of an operation; it is never null.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type; for an enumeration that of the stored value, which V2 shows.
    pub primitive: Primitive,
    /// The enumeration whose members are its values.
    pub enumeration: Option<EnumerationId>,
}

/// The entities that a bound operation is called on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    /// The set of the entities.
    pub set: SetId,
    /// One of them, or a collection of them.
    pub to: BoundTo,
    /// To-many navigation of one entity that a function follows before its condition is checked.
    pub through: Option<NavigationId>,
}

/// Number of entities that a bound operation is called on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundTo {
    /// One.
    Entity,
    /// All entities that the path leads to.
    Collection,
}

/// The answer of a function, as expressions of OData V4, in which `@name` is the value of a parameter. They are read
/// like those of a client, so that no value ever becomes a part of a statement.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum FunctionAnswer {
    /// None: the function is only declared.
    #[default]
    Nothing,
    /// The entities of the returned set for which this condition is true.
    Matching(String),
    /// The entity of the returned set whose key these parameters are, by their positions, in the key's order.
    Keyed(Vec<usize>),
    /// A complex value that is computed of one entity.
    Computed {
        /// The set of the entity.
        set: SetId,
        /// The parameters that are its key.
        key: Vec<usize>,
        /// An expression for each property of the complex type, in its order.
        values: Vec<String>,
    },
    /// The effect of an action; its answer is the changed entities.
    Acting(Effect),
}

/// The effect of an action: properties of entities get the values of expressions, which are evaluated over the entity
/// as it is. Values are read, checked against the property's type and bound in a statement like those of any change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// The set of the entities that it changes.
    pub set: SetId,
    /// The entities that are changed.
    pub reached: Reached,
    /// The condition that each must meet; otherwise nothing is changed.
    pub condition: Option<String>,
    /// The properties, and an expression for each.
    pub values: Vec<(LeafId, String)>,
}

/// The entities that an action changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reached {
    /// The one that it is called on.
    Bound,
    /// The one whose key these parameters are, by their positions, in the key's order.
    Keyed(Vec<usize>),
    /// Those for which this condition is true: of the set, or of the collection that it is called on.
    Matching(String),
}

/// The HTTP method of a V2 function import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FunctionMethod {
    /// Reads.
    Get,
    /// Creates or acts.
    Post,
    /// Changes.
    Put,
}

/// The result of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FunctionReturn {
    /// Nothing.
    Nothing,
    /// A complex value.
    Complex(ComplexId),
    /// Entities of a set.
    Entities(SetId),
    /// One entity of a set.
    Entity(SetId),
}

impl Parameter {
    /// A parameter of a primitive type.
    pub fn new(name: impl Into<String>, primitive: Primitive) -> Parameter {
        Parameter { name: name.into(), primitive, enumeration: None }
    }
}

impl FunctionImport {
    /// The position of the parameter of that name.
    pub fn parameter(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|parameter| parameter.name == name)
    }

    /// The effect, if it is an action.
    pub fn effect(&self) -> Option<&Effect> {
        match &self.answer {
            FunctionAnswer::Acting(effect) => Some(effect),
            FunctionAnswer::Nothing
            | FunctionAnswer::Matching(_)
            | FunctionAnswer::Keyed(_)
            | FunctionAnswer::Computed { .. } => None,
        }
    }

    /// The set of the entities that it answers; nothing where it answers no entities.
    pub fn answered_set(&self) -> Option<SetId> {
        match self.returns {
            FunctionReturn::Entities(set) | FunctionReturn::Entity(set) => Some(set),
            FunctionReturn::Nothing | FunctionReturn::Complex(_) => None,
        }
    }

    /// Whether its call may be followed by paths and query options: behind a function that answers entities, not behind
    /// an action (CSDL, 12.3).
    pub fn is_composable(&self) -> bool {
        self.method == FunctionMethod::Get && self.answered_set().is_some()
    }
}

//! Members that a body of each entity set may have, compiled once: names, with the leaf or the set behind each.
//!
//! Clients mostly send members in the order of their declaration, so a reader compares with the next one first, quotes
//! and colon included; only other members are looked up.

use std::sync::Arc;

use super::error::BodyError;
use crate::address::quoted;
use crate::edm::{
    Enumeration, FunctionImport, Item, Leaf as Declared, LeafId, Model, Multiplicity, NavigationId, Primitive,
    PropertyKind, SetId,
};
use crate::suggest;

/// The shapes of all sets of a model, and of what its operations are given.
#[derive(Debug)]
pub(crate) struct Shapes {
    sets: Vec<Shape>,
    operations: Vec<Shape>,
}

/// Members that the object of an entity or of a complex value may have.
#[derive(Debug)]
pub(crate) struct Shape {
    /// The name of the type, with namespace.
    pub(crate) type_name: String,
    /// The names of the types of an entity's hierarchy.
    pub(crate) subtypes: Vec<String>,
    /// Number of leaves of the entity type.
    pub(crate) leaves: usize,
    pub(crate) members: Vec<ShapeMember>,
    /// Positions in `members`, by length of the name and then by the name.
    sorted: Vec<u16>,
}

#[derive(Debug)]
pub(crate) struct ShapeMember {
    pub(crate) name: String,
    /// The name as JSON has it, with quotes and colon.
    pub(crate) quoted: Box<[u8]>,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Leaf(Leaf),
    Complex(Complex),
    Navigation(Navigation),
}

#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    pub(crate) id: LeafId,
    pub(crate) primitive: Primitive,
    pub(crate) nullable: bool,
    /// The enumeration whose members are its values.
    pub(crate) enumeration: Option<Arc<Enumeration>>,
}

#[derive(Debug)]
pub(crate) struct Complex {
    pub(crate) shape: Shape,
    pub(crate) nullable: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Navigation {
    pub(crate) id: NavigationId,
    pub(crate) target: SetId,
    pub(crate) multiplicity: Multiplicity,
}

impl Shapes {
    pub(crate) fn compile(model: &Model) -> Shapes {
        let operations = model.function_imports.iter().map(|operation| parameters(model, operation));
        Shapes {
            sets: (0..model.entity_sets.len()).map(|set| compile(model, SetId(set))).collect(),
            operations: operations.collect(),
        }
    }

    pub(crate) fn of(&self, set: SetId) -> &Shape {
        &self.sets[set.0]
    }

    /// The parameters of an operation, each a leaf with its position for an id.
    pub(crate) fn of_operation(&self, operation: usize) -> &Shape {
        &self.operations[operation]
    }
}

fn compile(model: &Model, set: SetId) -> Shape {
    let entity_type = model.type_of(set);
    let leaf = |property: usize, inner: Option<usize>| {
        let mut leaves = (0..entity_type.leaves.len()).map(LeafId);
        let is_it = |leaf: &Declared| leaf.property == property && leaf.inner == inner;
        let id = leaves.find(|id| is_it(&entity_type.leaves[id.0]))?;
        Some(Kind::Leaf(Leaf::of(model, &entity_type.leaves[id.0], id)))
    };
    let qualified = |name: &str| format!("{}.{name}", model.namespace);
    let mut members = Vec::new();
    for (position, property) in entity_type.properties.iter().enumerate() {
        let kind = match property.kind {
            PropertyKind::Primitive(_) | PropertyKind::Enumeration(..) => leaf(position, None),
            PropertyKind::Complex(id) => {
                let complex = &model.complex_types[id.0];
                let fields = complex.properties.iter().enumerate();
                let fields =
                    fields.filter_map(|(inner, field)| Some(member(&field.name, leaf(position, Some(inner))?)));
                let shape = Shape::new(qualified(&complex.name), entity_type.leaves.len(), fields.collect());
                Some(Kind::Complex(Complex { shape, nullable: property.nullable }))
            }
        };
        members.extend(kind.map(|kind| member(&property.name, kind)));
    }
    for (id, navigation) in entity_type.navigation.iter().enumerate() {
        let kind = Kind::Navigation(Navigation {
            id: NavigationId(id),
            target: navigation.target,
            multiplicity: navigation.multiplicity,
        });
        members.push(member(&navigation.name, kind));
    }
    let subtypes = entity_type.hierarchy.iter().flat_map(|hierarchy| &hierarchy.subtypes);
    let subtypes = subtypes.map(|subtype| qualified(&subtype.name)).collect();
    Shape { subtypes, ..Shape::new(qualified(&entity_type.name), entity_type.leaves.len(), members) }
}

fn parameters(model: &Model, operation: &FunctionImport) -> Shape {
    let parameters = operation.parameters.iter().enumerate();
    let members = parameters.map(|(position, parameter)| {
        let enumeration = parameter.enumeration.map(|enumeration| Arc::clone(&model.enumerations[enumeration.0]));
        let leaf = Leaf { id: LeafId(position), primitive: parameter.primitive, nullable: false, enumeration };
        member(&parameter.name, Kind::Leaf(leaf))
    });
    let name = format!("{}.{}", model.namespace, operation.name);
    Shape::new(name, operation.parameters.len(), members.collect())
}

fn member(name: &str, kind: Kind) -> ShapeMember {
    ShapeMember { name: name.to_owned(), quoted: format!("\"{name}\":").into_bytes().into(), kind }
}

impl Leaf {
    /// The leaf as it is declared.
    pub(crate) fn of(model: &Model, declared: &Declared, id: LeafId) -> Leaf {
        let enumeration = declared.enumeration.map(|enumeration| Arc::clone(&model.enumerations[enumeration.0]));
        Leaf { id, primitive: declared.primitive, nullable: declared.nullable, enumeration }
    }

    /// A leaf for one value of a collection.
    pub(crate) fn of_item(&self) -> Leaf {
        let primitive = self.primitive.item().map_or(self.primitive, Item::primitive);
        Leaf { id: LeafId(0), primitive, nullable: self.nullable, enumeration: self.enumeration.clone() }
    }
}

impl Shape {
    fn new(type_name: String, leaves: usize, members: Vec<ShapeMember>) -> Shape {
        let count = u16::try_from(members.len()).expect("a type has fewer than 65,536 properties");
        let mut sorted: Vec<u16> = (0..count).collect();
        let rank = |position: u16| {
            let name = &members[usize::from(position)].name;
            (name.len(), name.as_str())
        };
        sorted.sort_by(|a, b| rank(*a).cmp(&rank(*b)));
        Shape { type_name, subtypes: Vec::new(), leaves, members, sorted }
    }

    /// The position of the member of that name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let rank = |position: &u16| {
            let found = &self.members[usize::from(*position)].name;
            found.len().cmp(&name.len()).then_with(|| found.as_str().cmp(name))
        };
        self.sorted.binary_search_by(rank).ok().map(|at| usize::from(self.sorted[at]))
    }

    /// The error about a name that is no member's.
    #[cold]
    pub(crate) fn unknown_at(&self, name: &str, position: usize) -> Box<BodyError> {
        let near = suggest::nearest(name, self.members.iter().map(|member| member.name.as_str()));
        let hint = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
        let name = quoted(name);
        let message = format!("{} has no property {name}{hint}", self.type_name);
        BodyError::new(position, message).inside(&name[1..name.len() - 1])
    }
}

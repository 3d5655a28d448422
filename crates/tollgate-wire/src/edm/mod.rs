//! The entity data model: entity types, complex types, navigation and entity sets, in one form for V2 and V4.
//!
//! It contains names and shapes only; the place where a property is stored is the store's business.

mod enumeration;
mod hierarchy;
mod id;
mod operation;
mod primitive;
mod value;

pub use enumeration::{Arity, Enumeration, EnumerationId, Member};
pub(crate) use hierarchy::Declaration;
pub use hierarchy::{Hierarchy, Seen, Subtype, SubtypeId};
pub use id::{ComplexId, LeafId, NavigationId, SetId, TypeId};
pub use operation::{
    Binding, BoundTo, Effect, FunctionAnswer, FunctionImport, FunctionMethod, FunctionReturn, Parameter, Reached,
};
pub use primitive::{Item, Primitive, Version};
pub use value::{Cell, Row, Value};

use std::sync::Arc;

/// A whole service as its `$metadata` describes it. Built once, then only read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Model {
    /// Namespace of the schema, such as `RMTSAMPLEFLIGHT`.
    pub namespace: String,
    /// Name of the entity container, such as `RMTSAMPLEFLIGHT_Entities`.
    pub container: String,
    /// All entity types.
    pub entity_types: Vec<EntityType>,
    /// All complex types.
    pub complex_types: Vec<ComplexType>,
    /// All enumerations.
    pub enumerations: Vec<Arc<Enumeration>>,
    /// All entity sets.
    pub entity_sets: Vec<EntitySet>,
    /// Entities that a URL of V4 names by themselves.
    pub singletons: Vec<Singleton>,
    /// Associations as V2 names them; V4 metadata is written from the navigation properties.
    pub associations: Vec<Association>,
    /// Functions and actions: function imports in V2, operations with their imports in V4.
    pub function_imports: Vec<FunctionImport>,
}

/// A type of entity with its key.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EntityType {
    /// Name without namespace.
    pub name: String,
    /// Properties in declaration order.
    pub properties: Vec<Property>,
    /// The primitive leaves in declaration order, complex properties flattened. Filled by [`Model::finish`].
    pub leaves: Vec<Leaf>,
    /// The key, in declaration order.
    pub key: Vec<LeafId>,
    /// Navigation properties.
    pub navigation: Vec<NavigationProperty>,
    /// The leaf whose value is the ETag, if the type has optimistic concurrency (V2 `ConcurrencyMode="Fixed"`).
    pub etag: Option<LeafId>,
    /// Whether the entity is a media entity (V2 `m:HasStream`).
    pub media: bool,
    /// The leaf that says of what media type that stream is; without it nothing more than bytes is promised.
    pub media_type: Option<LeafId>,
    /// The stream, as an expression of OData V2 over the entity; without it the stream is declared only.
    pub stream: Option<String>,
    /// Leaves whose value the server provides, at most one rule each; all others come from the client.
    pub provided: Vec<(LeafId, Provided)>,
    /// `sap:label` of the type.
    pub label: Option<String>,
    /// The types that derive from it, whose properties are among its own.
    pub hierarchy: Option<Hierarchy>,
    /// The one of its types as which it is seen here; `None` if it is seen with all properties.
    pub seen: Option<Seen>,
    /// It, as seen as each of its types. Filled by [`Model::finish_hierarchies`].
    pub views: Vec<EntityType>,
}

/// The way in which the server provides the value of a leaf. A client's value for a managed or computed leaf is read,
/// checked and ignored, as both versions ask of values that a client may not set.
#[derive(Debug, Clone, PartialEq)]
pub enum Provided {
    /// This value, where an entity is created without one.
    Default(Value),
    /// A new random UUID (version 4), where an entity is created without one.
    Uuid,
    /// The database's own default (`DEFAULT`, a serial), where an entity is created without one.
    Database,
    /// Always computed by the database: never written.
    Computed,
    /// The time at which the entity was created.
    CreatedAt,
    /// The user who created it.
    CreatedBy,
    /// The time of its last change, creation included.
    ModifiedAt,
    /// The user who changed it last.
    ModifiedBy,
}

/// The changes that a set allows, beside reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changes {
    /// Entities can be created.
    pub insert: bool,
    /// Entities can be changed.
    pub update: bool,
    /// Entities can be deleted.
    pub delete: bool,
}

/// A structured value without a key.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ComplexType {
    /// Name without namespace.
    pub name: String,
    /// Properties in declaration order; all primitive.
    pub properties: Vec<Property>,
}

/// A property of an entity or complex type.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// Name in documents and URLs.
    pub name: String,
    /// Its type.
    pub kind: PropertyKind,
    /// Whether null is allowed.
    pub nullable: bool,
    /// Further V2 metadata, as `sap:` attributes.
    pub annotations: Annotations,
}

/// The type of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyKind {
    /// A primitive with its facets.
    Primitive(Primitive),
    /// Members of an enumeration, whose values are stored as that primitive; V2 knows the primitive only.
    Enumeration(EnumerationId, Primitive),
    /// A complex type.
    Complex(ComplexId),
}

/// `sap:` attributes of a property in V2 metadata (written only where they differ from SAP's defaults).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Annotations {
    /// `sap:label`.
    pub label: Option<String>,
    /// `sap:unit`: path of the property with the unit or currency.
    pub unit: Option<String>,
    /// `sap:semantics`, such as `currency-code`.
    pub semantics: Option<String>,
    /// `sap:creatable="false"` when set.
    pub not_creatable: bool,
    /// `sap:updatable="false"` when set.
    pub not_updatable: bool,
    /// `sap:sortable="false"` when set.
    pub not_sortable: bool,
    /// `sap:filterable="false"` when set.
    pub not_filterable: bool,
}

/// A primitive property reached from the entity, complex properties flattened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// Position of the property in [`EntityType::properties`].
    pub property: usize,
    /// Position inside the complex type's properties, where the property is complex.
    pub inner: Option<usize>,
    /// The names from the entity down, joined by `/`: `PRICE`, `flightDetails/cityFrom`.
    pub path: String,
    /// Its type.
    pub primitive: Primitive,
    /// Whether null is allowed.
    pub nullable: bool,
    /// The enumeration that its values are members of.
    pub enumeration: Option<EnumerationId>,
}

/// Number of entities at one end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Multiplicity {
    /// None or one (`0..1`).
    ZeroOrOne,
    /// Exactly one (`1`).
    One,
    /// Any number (`*`).
    Many,
}

/// A way from one entity to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NavigationProperty {
    /// Name in documents and URLs.
    pub name: String,
    /// The set that it leads to.
    pub target: SetId,
    /// Number of entities that it leads to.
    pub multiplicity: Multiplicity,
    /// Pairs (leaf here, leaf there) that are equal for related entities.
    pub on: Vec<(LeafId, LeafId)>,
    /// V2's name of the association.
    pub association: String,
    /// The navigation property at the other end that leads back, by name.
    pub partner: Option<String>,
}

/// A V2 association with its two ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Association {
    /// Name without namespace.
    pub name: String,
    /// The principal end first.
    pub ends: [AssociationEnd; 2],
    /// Pairs (principal leaf, dependent leaf): the referential constraint.
    pub constraint: Vec<(LeafId, LeafId)>,
}

/// One end of an association.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssociationEnd {
    /// Role name.
    pub role: String,
    /// The entity set at this end.
    pub set: SetId,
    /// Number of entities at this end.
    pub multiplicity: Multiplicity,
}

/// One entity of a set that a URL of V4 names without a key.
#[derive(Debug, Clone, PartialEq)]
pub struct Singleton {
    /// Its name.
    pub name: String,
    /// The set that it is in.
    pub set: SetId,
    /// Its key: one value for each leaf of [`EntityType::key`], in that order.
    pub key: Vec<Value>,
}

/// A set of entities that a URL can name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntitySet {
    /// Name, such as `FlightCollection`.
    pub name: String,
    /// The type of its entities.
    pub entity_type: TypeId,
    /// `sap:label` of the set.
    pub label: Option<String>,
    /// The changes that its entities allow.
    pub changes: Changes,
}

impl Model {
    /// Fills what follows from the declarations (the leaves). Call it once, after the last type was added and before
    /// keys, which name leaves, are resolved with [`EntityType::leaf`].
    pub fn finish(&mut self) {
        let complex = &self.complex_types;
        for entity_type in &mut self.entity_types {
            entity_type.leaves.clear();
            for (property, declared) in entity_type.properties.iter().enumerate() {
                match declared.kind {
                    PropertyKind::Primitive(primitive) | PropertyKind::Enumeration(_, primitive) => {
                        entity_type.leaves.push(Leaf {
                            property,
                            inner: None,
                            path: declared.name.clone(),
                            primitive,
                            nullable: declared.nullable,
                            enumeration: declared.kind.enumeration(),
                        });
                    }
                    PropertyKind::Complex(id) => {
                        for (inner, field) in complex[id.0].properties.iter().enumerate() {
                            let Some(primitive) = field.kind.primitive() else { continue };
                            entity_type.leaves.push(Leaf {
                                property,
                                inner: Some(inner),
                                path: format!("{}/{}", declared.name, field.name),
                                primitive,
                                nullable: declared.nullable || field.nullable,
                                enumeration: field.kind.enumeration(),
                            });
                        }
                    }
                }
            }
        }
    }

    /// The set of that name.
    pub fn set(&self, name: &str) -> Option<SetId> {
        self.entity_sets.iter().position(|set| set.name == name).map(SetId)
    }

    /// The type of the entities in `set`.
    pub fn type_of(&self, set: SetId) -> &EntityType {
        &self.entity_types[self.entity_sets[set.0].entity_type.0]
    }
}

impl Property {
    /// Whether a version shows it: V2 has no collections.
    pub fn is_shown_in(&self, version: Version) -> bool {
        version == Version::V4 || self.kind.primitive().and_then(Primitive::item).is_none()
    }
}

impl PropertyKind {
    /// The primitive that its values are stored as; nothing where it is complex.
    pub fn primitive(self) -> Option<Primitive> {
        match self {
            PropertyKind::Primitive(primitive) | PropertyKind::Enumeration(_, primitive) => Some(primitive),
            PropertyKind::Complex(_) => None,
        }
    }

    fn enumeration(self) -> Option<EnumerationId> {
        match self {
            PropertyKind::Enumeration(enumeration, _) => Some(enumeration),
            PropertyKind::Primitive(_) | PropertyKind::Complex(_) => None,
        }
    }
}

impl Changes {
    /// Everything.
    pub const ALL: Changes = Changes { insert: true, update: true, delete: true };
    /// No changes: the set is read-only.
    pub const NONE: Changes = Changes { insert: false, update: false, delete: false };
}

impl Provided {
    /// Whether the server alone decides the value: what a client sends is ignored.
    pub fn is_managed(&self) -> bool {
        match self {
            Provided::Default(_) | Provided::Uuid | Provided::Database => false,
            Provided::Computed
            | Provided::CreatedAt
            | Provided::CreatedBy
            | Provided::ModifiedAt
            | Provided::ModifiedBy => true,
        }
    }
}

impl EntityType {
    /// The way in which the server provides a leaf, if it does.
    pub fn provided(&self, leaf: LeafId) -> Option<&Provided> {
        self.provided.iter().find(|(provided, _)| *provided == leaf).map(|(_, how)| how)
    }

    /// The way in which the server provides a non-complex property, by its position in [`EntityType::properties`].
    pub(crate) fn provided_for(&self, property: usize) -> Option<&Provided> {
        let is_it = |leaf: &Leaf| leaf.property == property && leaf.inner.is_none();
        self.provided.iter().find(|(leaf, _)| is_it(&self.leaves[leaf.0])).map(|(_, how)| how)
    }

    /// The leaf of that path (`PRICE`, `flightDetails/cityFrom`).
    pub fn leaf(&self, path: &str) -> Option<LeafId> {
        let known = self.leaves.iter().position(|leaf| leaf.path == path && self.sees_property(leaf.property));
        known.map(LeafId)
    }

    /// The property of that name, as its position in [`EntityType::properties`].
    pub fn property(&self, name: &str) -> Option<usize> {
        let known = self.properties.iter().position(|property| property.name == name);
        known.filter(|known| self.sees_property(*known))
    }

    /// The property of that name where a version has it.
    pub fn property_in(&self, version: Version, name: &str) -> Option<usize> {
        self.property(name).filter(|property| self.properties[*property].is_shown_in(version))
    }

    /// The navigation property of that name.
    pub fn navigation(&self, name: &str) -> Option<NavigationId> {
        let known = self.navigation.iter().position(|navigation| navigation.name == name).map(NavigationId);
        known.filter(|known| self.sees_navigation(*known))
    }
}

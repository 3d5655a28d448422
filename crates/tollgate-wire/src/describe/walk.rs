//! The one walk over a model that all forms of `$metadata` are written by: what is declared, in which order, with names
//! and types resolved as a version has them.
//!
//! It deliberately writes nothing: a [`Form`] does.

use crate::address;
use crate::base64;
use crate::edm::{
    Association, Binding, Changes, Declaration, EntitySet, EntityType, Enumeration, EnumerationId, FunctionImport,
    FunctionMethod, FunctionReturn, LeafId, Model, Multiplicity, NavigationId, NavigationProperty, Primitive, Property,
    PropertyKind, Provided, Value, Version,
};
use crate::stencil::raw;

/// The name of the parameter that a bound operation is called on.
pub(super) const BOUND: &str = "it";

/// A form of the document: it is called with each element in document order. It passes over elements that it does not
/// have.
pub(super) trait Form {
    /// The version whose names and types it has.
    fn version(&self) -> Version;

    /// Whether operations of one name are grouped at the place of the first.
    fn groups_overloads(&self) -> bool {
        false
    }

    /// Writes everything before the first type.
    fn begin(&mut self, model: &Model);

    /// Begins an entity type, whose properties and navigation properties follow.
    fn entity_type(&mut self, declared: &TypeElement<'_>);

    /// Begins a complex type, whose properties follow.
    fn complex_type(&mut self, name: &str);

    /// Writes a property.
    fn property(&mut self, declared: &PropertyElement<'_>);

    /// Writes a navigation property.
    fn navigation(&mut self, declared: &NavigationElement<'_>);

    /// Ends a type.
    fn end_type(&mut self, kind: &'static str);

    /// Writes an enumeration.
    fn enumeration(&mut self, _: &Enumeration) {}

    /// Writes an association.
    fn association(&mut self, _: &Model, _: &Association) {}

    /// Begins operations of one name.
    fn overloads(&mut self, _: &str) {}

    /// Writes a function or an action.
    fn operation(&mut self, _: &OperationElement<'_>) {}

    /// Ends operations of one name.
    fn end_overloads(&mut self) {}

    /// Begins the entity container, with all that follows.
    fn container(&mut self, model: &Model);

    /// Writes an entity set.
    fn entity_set(&mut self, declared: &SetElement<'_>);

    /// Writes a singleton.
    fn singleton(&mut self, _: &str, _: &SetElement<'_>) {}

    /// Writes the set of an association.
    fn association_set(&mut self, _: &Model, _: &Association) {}

    /// Writes what calls an operation that is called on nothing.
    fn import(&mut self, declared: &OperationElement<'_>);

    /// Ends the document.
    fn end(&mut self);
}

/// A type as the document declares it.
pub(super) struct TypeElement<'m> {
    pub(super) name: &'m str,
    pub(super) entity_type: &'m EntityType,
    /// The base type, which then declares the key and the stream.
    pub(super) base: Option<String>,
    pub(super) is_abstract: bool,
}

/// The type of a property or parameter.
pub(super) enum TypeOf<'m> {
    Primitive(Primitive),
    /// Members of an enumeration: one, or a collection.
    Members(&'m Enumeration, Many),
    /// A complex type with its namespace.
    Complex(String),
}

/// Whether there may be several.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Many {
    One,
    Several,
}

pub(super) struct PropertyElement<'m> {
    pub(super) property: &'m Property,
    pub(super) type_of: TypeOf<'m>,
    /// The way in which the server provides it.
    pub(super) provided: Option<&'m Provided>,
    /// The default value.
    pub(super) default: Option<String>,
    pub(super) is_key: bool,
    pub(super) is_etag: bool,
}

pub(super) struct NavigationElement<'m> {
    pub(super) model: &'m Model,
    pub(super) from: &'m EntityType,
    pub(super) navigation: &'m NavigationProperty,
    /// The type that it leads to, with its namespace.
    pub(super) target: String,
    /// The reference to the key of exactly one other entity: the path here, and the path there.
    pub(super) constraint: Vec<(&'m str, &'m str)>,
}

pub(super) struct SetElement<'m> {
    pub(super) set: &'m EntitySet,
    /// The type of its entities, with its namespace.
    pub(super) type_name: String,
    /// The targets of navigation: the path of the property, and the set.
    pub(super) bindings: Vec<(String, &'m str)>,
    /// The property whose value is the ETag.
    pub(super) etag: Option<&'m str>,
}

pub(super) struct OperationElement<'m> {
    pub(super) function: &'m FunctionImport,
    /// Its name with the namespace.
    pub(super) qualified: String,
    /// The binding parameter, and its type.
    pub(super) bound: Option<(&'m Binding, String)>,
    /// The way to what it answers from what it is called on.
    pub(super) path: Option<String>,
    pub(super) parameters: Vec<(&'m str, TypeOf<'m>)>,
    /// The type of what it returns, with its namespace.
    pub(super) returns: Option<(String, Many)>,
    /// The set of the entities that it returns.
    pub(super) set: Option<&'m str>,
}

/// Walks over a model.
pub(super) fn walk(model: &Model, form: &mut impl Form) {
    let version = form.version();
    form.begin(model);
    for entity_type in &model.entity_types {
        for declaration in declarations(version, entity_type) {
            declared_type(model, form, entity_type, &declaration);
        }
    }
    for complex in &model.complex_types {
        form.complex_type(&complex.name);
        for property in complex.properties.iter().filter(|property| property.is_shown_in(version)) {
            form.property(&PropertyElement {
                property,
                type_of: type_of(version, model, property.kind),
                provided: None,
                default: None,
                is_key: false,
                is_etag: false,
            });
        }
        form.end_type("ComplexType");
    }
    for enumeration in &model.enumerations {
        form.enumeration(enumeration);
    }
    operations(model, form);
    for association in &model.associations {
        form.association(model, association);
    }
    form.container(model);
    for set in &model.entity_sets {
        form.entity_set(&set_element(model, set));
    }
    for singleton in &model.singletons {
        form.singleton(&singleton.name, &set_element(model, &model.entity_sets[singleton.set.0]));
    }
    for association in &model.associations {
        form.association_set(model, association);
    }
    for function in model.function_imports.iter().filter(|function| function.bound.is_none()) {
        form.import(&operation_element(version, model, function));
    }
    form.end();
}

/// V2 has one type for all of a hierarchy.
fn declarations(version: Version, entity_type: &EntityType) -> Vec<Declaration<'_>> {
    match version {
        Version::V4 => entity_type.declarations(),
        Version::V2 => vec![Declaration {
            name: &entity_type.name,
            base: None,
            is_abstract: false,
            properties: (0..entity_type.properties.len()).collect(),
            navigation: (0..entity_type.navigation.len()).map(NavigationId).collect(),
        }],
    }
}

fn declared_type(model: &Model, form: &mut impl Form, entity_type: &EntityType, declaration: &Declaration<'_>) {
    let version = form.version();
    let base = declaration.base.map(|base| qualified(model, base));
    let is_abstract = declaration.is_abstract;
    form.entity_type(&TypeElement { name: declaration.name, entity_type, base, is_abstract });
    for position in &declaration.properties {
        let property = &entity_type.properties[*position];
        if !property.is_shown_in(version) {
            continue;
        }
        let is_it = |leaf: &LeafId| entity_type.leaves[leaf.0].property == *position;
        let provided = entity_type.provided_for(*position);
        form.property(&PropertyElement {
            property,
            type_of: type_of(version, model, property.kind),
            provided,
            default: default(version, model, property, provided),
            is_key: entity_type.key.iter().any(is_it),
            is_etag: entity_type.etag.as_ref().is_some_and(is_it),
        });
    }
    for id in &declaration.navigation {
        let navigation = &entity_type.navigation[id.0];
        let target = model.type_of(navigation.target);
        let depends = navigation.multiplicity != Multiplicity::Many
            && target.key.iter().all(|leaf| navigation.on.iter().any(|(_, there)| there == leaf));
        let paths = navigation
            .on
            .iter()
            .filter(|_| depends)
            .map(|(here, there)| (entity_type.leaves[here.0].path.as_str(), target.leaves[there.0].path.as_str()));
        let (constraint, target) = (paths.collect(), qualified(model, &target.name));
        form.navigation(&NavigationElement { model, from: entity_type, navigation, target, constraint });
    }
    form.end_type("EntityType");
}

/// Writes the operations; those that differ only in their binding are overloads of one name.
fn operations(model: &Model, form: &mut impl Form) {
    let all = &model.function_imports;
    for (position, function) in all.iter().enumerate() {
        let is_overload = |other: &&FunctionImport| form.groups_overloads() && other.name == function.name;
        if all[..position].iter().any(|other| is_overload(&other)) {
            continue;
        }
        let more: Vec<&FunctionImport> = all[position + 1..].iter().filter(is_overload).collect();
        form.overloads(&function.name);
        for function in std::iter::once(function).chain(more) {
            form.operation(&operation_element(form.version(), model, function));
        }
        form.end_overloads();
    }
}

fn operation_element<'m>(version: Version, model: &'m Model, function: &'m FunctionImport) -> OperationElement<'m> {
    let bound = function.bound.as_ref();
    // What is answered is of the set that it is called on, unless the way leads on.
    let path = bound.filter(|_| function.answered_set().is_some()).map(|bound| match bound.through {
        None => BOUND.to_owned(),
        Some(navigation) => format!("{BOUND}/{}", model.type_of(bound.set).navigation[navigation.0].name),
    });
    let parameters = function.parameters.iter().map(|parameter| {
        let kind = match parameter.enumeration {
            Some(id) => PropertyKind::Enumeration(id, parameter.primitive),
            None => PropertyKind::Primitive(parameter.primitive),
        };
        (parameter.name.as_str(), type_of(version, model, kind))
    });
    let returns = match function.returns {
        FunctionReturn::Nothing => None,
        FunctionReturn::Complex(id) => Some((qualified(model, &model.complex_types[id.0].name), Many::One)),
        FunctionReturn::Entity(set) => Some((qualified(model, &model.type_of(set).name), Many::One)),
        FunctionReturn::Entities(set) => Some((qualified(model, &model.type_of(set).name), Many::Several)),
    };
    OperationElement {
        function,
        qualified: qualified(model, &function.name),
        bound: bound.map(|bound| (bound, qualified(model, &model.type_of(bound.set).name))),
        path,
        parameters: parameters.collect(),
        returns,
        set: function.answered_set().map(|set| model.entity_sets[set.0].name.as_str()),
    }
}

fn set_element<'m>(model: &'m Model, set: &'m EntitySet) -> SetElement<'m> {
    let entity_type = &model.entity_types[set.entity_type.0];
    let bindings = entity_type.bound_navigation().map(|(derived, navigation)| {
        let path = match derived {
            None => navigation.name.clone(),
            Some(derived) => format!("{}/{}", qualified(model, derived), navigation.name),
        };
        (path, model.entity_sets[navigation.target.0].name.as_str())
    });
    SetElement {
        set,
        type_name: qualified(model, &entity_type.name),
        bindings: bindings.collect(),
        etag: entity_type.etag.map(|etag| entity_type.leaves[etag.0].path.as_str()),
    }
}

/// A name with the namespace of the model.
pub(super) fn qualified(model: &Model, name: &str) -> String {
    format!("{}.{name}", model.namespace)
}

/// The name of a type, or of a collection of it.
pub(super) fn several(name: &str, many: Many) -> String {
    match many {
        Many::One => name.to_owned(),
        Many::Several => format!("Collection({name})"),
    }
}

/// V2 has what is stored for members.
fn type_of(version: Version, model: &Model, kind: PropertyKind) -> TypeOf<'_> {
    match (kind, version) {
        (PropertyKind::Primitive(primitive), _) | (PropertyKind::Enumeration(_, primitive), Version::V2) => {
            TypeOf::Primitive(primitive)
        }
        (PropertyKind::Enumeration(EnumerationId(id), stored), Version::V4) => {
            let many = if stored.item().is_some() { Many::Several } else { Many::One };
            TypeOf::Members(&model.enumerations[id], many)
        }
        (PropertyKind::Complex(id), _) => TypeOf::Complex(qualified(model, &model.complex_types[id.0].name)),
    }
}

impl TypeOf<'_> {
    /// The whole name.
    pub(super) fn name(&self, version: Version) -> String {
        match self {
            TypeOf::Primitive(primitive) => address::type_name(version, Some(*primitive)).to_owned(),
            TypeOf::Members(enumeration, many) => several(&enumeration.full_name, *many),
            TypeOf::Complex(name) => name.clone(),
        }
    }

    /// The facets by name.
    pub(super) fn facets(&self, version: Version) -> Vec<(&'static str, String)> {
        match self {
            TypeOf::Primitive(primitive) => facets(version, *primitive),
            TypeOf::Members(..) | TypeOf::Complex(_) => Vec::new(),
        }
    }
}

/// V2 says the precision of times even where it is 0; V4 lets a decimal without a scale have no digits after its point.
pub(super) fn facets(version: Version, primitive: Primitive) -> Vec<(&'static str, String)> {
    let v2 = version == Version::V2;
    match primitive {
        Primitive::Collection(item) if !v2 => facets(version, item.primitive()),
        Primitive::String { length_max } | Primitive::Binary { length_max } if length_max > 0 => {
            vec![("MaxLength", length_max.to_string())]
        }
        Primitive::Decimal { precision, scale } if precision > 0 => {
            vec![("Precision", precision.to_string()), ("Scale", scale.to_string())]
        }
        Primitive::Decimal { .. } if !v2 => vec![("Scale", "variable".to_owned())],
        Primitive::Date if v2 => vec![("Precision", "0".to_owned())],
        Primitive::DateTime { precision }
        | Primitive::DateTimeOffset { precision }
        | Primitive::TimeOfDay { precision }
            if v2 || precision > 0 =>
        {
            vec![("Precision", precision.to_string())]
        }
        _ => Vec::new(),
    }
}

/// The default of a property as a document has the value: a member by its names in V4. A collection has none in CSDL
/// (V4.01, section 7.2.7).
fn default(version: Version, model: &Model, property: &Property, provided: Option<&Provided>) -> Option<String> {
    let (Some(Provided::Default(value)), Some(primitive)) = (provided, property.kind.primitive()) else {
        return None;
    };
    if primitive.item().is_some() {
        return None;
    }
    if let (PropertyKind::Enumeration(id, _), Version::V4) = (property.kind, version) {
        let mut names = String::new();
        model.enumerations[id.0].write_names(&mut names, value.cell());
        return Some(names).filter(|names| !names.is_empty());
    }
    let mut text = Vec::new();
    match value {
        Value::Null => return None,
        Value::Binary(bytes) if version == Version::V2 => base64::encode(&mut text, bytes),
        Value::Binary(bytes) => base64::encode_url(&mut text, bytes),
        value => raw::write(&mut text, Some(version), primitive, value.cell()),
    }
    String::from_utf8(text).ok()
}

/// The term of the core vocabulary that says how a value is provided.
pub(super) fn provided_term(provided: Option<&Provided>) -> Option<&'static str> {
    match provided {
        Some(Provided::Uuid | Provided::Database) => Some("Core.ComputedDefaultValue"),
        Some(provided) if provided.is_managed() => Some("Core.Computed"),
        _ => None,
    }
}

/// The changes that a set does not allow: the term of the capabilities vocabulary and its property.
pub(super) fn restrictions(changes: Changes) -> impl Iterator<Item = (&'static str, &'static str)> {
    let Changes { insert, update, delete } = changes;
    let all = [
        (insert, "Capabilities.InsertRestrictions", "Insertable"),
        (update, "Capabilities.UpdateRestrictions", "Updatable"),
        (delete, "Capabilities.DeleteRestrictions", "Deletable"),
    ];
    all.into_iter().filter(|(allowed, ..)| !allowed).map(|(_, term, property)| (term, property))
}

/// Whether the vocabulary of capabilities is needed.
pub(super) fn is_restricted(model: &Model) -> bool {
    model.entity_sets.iter().any(|set| set.changes != Changes::ALL)
}

/// A function has no side effects; what V2 calls with POST or PUT is an action.
pub(super) fn kind(function: &FunctionImport) -> &'static str {
    match function.method {
        FunctionMethod::Get => "Function",
        FunctionMethod::Post | FunctionMethod::Put => "Action",
    }
}

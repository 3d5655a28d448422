//! `$metadata` of OData V4 as JSON (CSDL JSON 4.01): the same model as the XML document, in the same order.
//!
//! It deliberately leaves SAP's labels and units to V2, where their clients look for them.

use crate::base64;
use crate::edm::{
    Arity, BoundTo, Changes, Declaration, EntitySet, EntityType, FunctionImport, FunctionMethod, FunctionReturn, Model,
    Multiplicity, NavigationProperty, Parameter, Primitive, Property, PropertyKind, Provided, Version,
};
use crate::escape;
use crate::json::v4;
use crate::stencil::raw;
use crate::value::Value;

/// The name of the parameter that a bound operation is called on.
const BOUND: &str = "it";

const CORE: (&str, &str, &str) =
    ("https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Core.V1.json", "Org.OData.Core.V1", "Core");
const CAPABILITIES: (&str, &str, &str) = (
    "https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Capabilities.V1.json",
    "Org.OData.Capabilities.V1",
    "Capabilities",
);

/// Writes the document.
pub fn write(model: &Model, out: &mut Vec<u8>) {
    let mut json = Writer { out, first: true };
    json.object("", |json| {
        json.text("$Version", "4.01");
        json.text("$EntityContainer", &format!("{}.{}", model.namespace, model.container));
        json.object("$Reference", |json| {
            json.reference(CORE);
            if model.entity_sets.iter().any(|set| set.changes != Changes::ALL) {
                json.reference(CAPABILITIES);
            }
        });
        json.object(&model.namespace, |json| schema(json, model));
    });
}

fn schema(json: &mut Writer<'_>, model: &Model) {
    for entity_type in &model.entity_types {
        for declaration in entity_type.declarations() {
            json.object(declaration.name, |json| write_entity_type(json, model, entity_type, &declaration));
        }
    }
    for complex in &model.complex_types {
        json.object(&complex.name, |json| {
            json.text("$Kind", "ComplexType");
            for declared in &complex.properties {
                json.object(&declared.name, |json| property(json, model, declared, None));
            }
        });
    }
    for enumeration in &model.enumerations {
        json.object(enumeration.name(), |json| {
            json.text("$Kind", "EnumType");
            json.text("$UnderlyingType", &format!("Edm.{}", v4::type_name(enumeration.underlying())));
            if enumeration.arity == Arity::Flags {
                json.truth("$IsFlags", true);
            }
            for member in &enumeration.members {
                json.raw(&member.name, &member.number.to_string());
            }
        });
    }
    for (position, function) in model.function_imports.iter().enumerate() {
        // What differs in what it is called on only is overloads under one name.
        let is_overload = |other: &&FunctionImport| other.name == function.name;
        if model.function_imports[..position].iter().any(|other| is_overload(&other)) {
            continue;
        }
        json.array(&function.name, |json| {
            for overload in model.function_imports[position..].iter().filter(is_overload) {
                json.object("", |json| operation(json, model, overload));
            }
        });
    }
    json.object(&model.container, |json| {
        json.text("$Kind", "EntityContainer");
        for set in &model.entity_sets {
            json.object(&set.name, |json| entity_set(json, model, set));
        }
        for singleton in &model.singletons {
            let entity_type = model.type_of(singleton.set);
            json.object(&singleton.name, |json| {
                json.text("$Type", &qualified(model, &entity_type.name));
                bindings(json, model, entity_type);
            });
        }
        for function in model.function_imports.iter().filter(|function| function.bound.is_none()) {
            json.object(&function.name, |json| import(json, model, function));
        }
    });
}

fn write_entity_type(json: &mut Writer<'_>, model: &Model, entity_type: &EntityType, declaration: &Declaration<'_>) {
    json.text("$Kind", "EntityType");
    match declaration.base {
        Some(base) => json.text("$BaseType", &qualified(model, base)),
        None if entity_type.media => json.truth("$HasStream", true),
        None => {}
    }
    if declaration.is_abstract {
        json.truth("$Abstract", true);
    }
    // What a type derives from says its key.
    if declaration.base.is_none() {
        json.array("$Key", |json| {
            for leaf in &entity_type.key {
                let path = &entity_type.leaves[leaf.0].path;
                match path.contains('/') {
                    false => json.text("", path),
                    // What is no name of its own needs one.
                    true => json.object("", |json| json.text(&path.replace('/', "_"), path)),
                }
            }
        });
    }
    for position in &declaration.properties {
        let declared = &entity_type.properties[*position];
        let provided = entity_type.provided_for(*position);
        json.object(&declared.name, |json| property(json, model, declared, provided));
    }
    for id in &declaration.navigation {
        let declared = &entity_type.navigation[id.0];
        json.object(&declared.name, |json| navigation(json, model, entity_type, declared));
    }
}

fn property(json: &mut Writer<'_>, model: &Model, property: &Property, provided: Option<&Provided>) {
    match property.kind {
        PropertyKind::Primitive(primitive) => typed(json, primitive),
        PropertyKind::Enumeration(id, stored) => {
            if stored.item().is_some() {
                json.truth("$Collection", true);
            }
            json.text("$Type", &model.enumerations[id.0].full_name);
        }
        PropertyKind::Complex(id) => json.text("$Type", &qualified(model, &model.complex_types[id.0].name)),
    }
    if property.nullable {
        json.truth("$Nullable", true);
    }
    if let Some(Provided::Default(value)) = provided {
        match property.kind {
            PropertyKind::Primitive(primitive) => default(json, primitive, value),
            PropertyKind::Enumeration(_, Primitive::Collection(_)) => {}
            PropertyKind::Enumeration(id, _) => {
                let mut names = String::new();
                model.enumerations[id.0].write_names(&mut names, value.cell());
                if !names.is_empty() {
                    json.text("$DefaultValue", &names);
                }
            }
            PropertyKind::Complex(_) => {}
        }
    }
    match provided {
        Some(Provided::Uuid | Provided::Database) => json.truth("@Core.ComputedDefaultValue", true),
        Some(provided) if provided.is_managed() => json.truth("@Core.Computed", true),
        _ => {}
    }
}

/// A primitive type with its facets; strings are what is meant where nothing stands.
fn typed(json: &mut Writer<'_>, primitive: Primitive) {
    if let Primitive::Collection(item) = primitive {
        json.truth("$Collection", true);
        return typed(json, item.primitive());
    }
    if !matches!(primitive, Primitive::String { .. }) {
        json.text("$Type", &format!("Edm.{}", v4::type_name(primitive)));
    }
    match primitive {
        Primitive::String { length_max } | Primitive::Binary { length_max } if length_max > 0 => {
            json.raw("$MaxLength", &length_max.to_string());
        }
        Primitive::Decimal { precision, scale } if precision > 0 => {
            json.raw("$Precision", &precision.to_string());
            json.raw("$Scale", &scale.to_string());
        }
        Primitive::Decimal { .. } => json.text("$Scale", "variable"),
        Primitive::DateTime { precision }
        | Primitive::DateTimeOffset { precision }
        | Primitive::TimeOfDay { precision }
            if precision > 0 =>
        {
            json.raw("$Precision", &precision.to_string());
        }
        _ => {}
    }
}

/// A default as a document would have the value.
fn default(json: &mut Writer<'_>, primitive: Primitive, value: &Value) {
    let mut text = Vec::new();
    match value {
        Value::Null => return,
        _ if primitive.item().is_some() => return,
        Value::Binary(bytes) => base64::encode_url(&mut text, bytes),
        value => raw::write(&mut text, Some(Version::V4), primitive, value.cell()),
    }
    let text = String::from_utf8_lossy(&text);
    let is_bare = match primitive {
        Primitive::Boolean
        | Primitive::Byte
        | Primitive::SByte
        | Primitive::Int16
        | Primitive::Int32
        | Primitive::Int64
        | Primitive::Decimal { .. } => true,
        // What is no number of JSON stands as a text.
        Primitive::Single | Primitive::Double => text.bytes().any(|byte| byte.is_ascii_digit()),
        _ => false,
    };
    match is_bare {
        true => json.raw("$DefaultValue", &text),
        false => json.text("$DefaultValue", &text),
    }
}

fn navigation(json: &mut Writer<'_>, model: &Model, from: &EntityType, navigation: &NavigationProperty) {
    let target = model.type_of(navigation.target);
    json.text("$Kind", "NavigationProperty");
    if navigation.multiplicity == Multiplicity::Many {
        json.truth("$Collection", true);
    }
    json.text("$Type", &qualified(model, &target.name));
    if navigation.multiplicity == Multiplicity::ZeroOrOne {
        json.truth("$Nullable", true);
    }
    if let Some(partner) = &navigation.partner {
        json.text("$Partner", partner);
    }
    // A constraint says that this entity refers to the key of exactly one other.
    let depends = navigation.multiplicity != Multiplicity::Many
        && target.key.iter().all(|leaf| navigation.on.iter().any(|(_, there)| there == leaf));
    if depends {
        json.object("$ReferentialConstraint", |json| {
            for (here, there) in &navigation.on {
                json.text(&from.leaves[here.0].path, &target.leaves[there.0].path);
            }
        });
    }
}

fn entity_set(json: &mut Writer<'_>, model: &Model, set: &EntitySet) {
    let entity_type = &model.entity_types[set.entity_type.0];
    json.truth("$Collection", true);
    json.text("$Type", &qualified(model, &entity_type.name));
    bindings(json, model, entity_type);
    if let Some(etag) = entity_type.etag {
        json.array("@Core.OptimisticConcurrency", |json| json.text("", &entity_type.leaves[etag.0].path));
    }
    let Changes { insert, update, delete } = set.changes;
    for (allowed, term, property) in [
        (insert, "@Capabilities.InsertRestrictions", "Insertable"),
        (update, "@Capabilities.UpdateRestrictions", "Updatable"),
        (delete, "@Capabilities.DeleteRestrictions", "Deletable"),
    ] {
        if !allowed {
            json.object(term, |json| json.truth(property, false));
        }
    }
}

fn bindings(json: &mut Writer<'_>, model: &Model, entity_type: &EntityType) {
    if entity_type.navigation.is_empty() {
        return;
    }
    json.object("$NavigationPropertyBinding", |json| {
        for (derived, navigation) in entity_type.bound_navigation() {
            let target = &model.entity_sets[navigation.target.0].name;
            match derived {
                None => json.text(&navigation.name, target),
                Some(derived) => {
                    json.text(&format!("{}/{}", qualified(model, derived), navigation.name), target);
                }
            }
        }
    });
}

/// A function has no side effects; what V2 calls with POST or PUT is an action.
fn kind(function: &FunctionImport) -> &'static str {
    match function.method {
        FunctionMethod::Get => "Function",
        FunctionMethod::Post | FunctionMethod::Put => "Action",
    }
}

fn operation(json: &mut Writer<'_>, model: &Model, function: &FunctionImport) {
    json.text("$Kind", kind(function));
    if let Some(bound) = &function.bound {
        json.truth("$IsBound", true);
        if function.answered_set().is_some() {
            // What is answered is of the set that it is called on, unless the way leads on.
            let path = match bound.through {
                None => BOUND.to_owned(),
                Some(navigation) => format!("{BOUND}/{}", model.type_of(bound.set).navigation[navigation.0].name),
            };
            json.text("$EntitySetPath", &path);
        }
    }
    if function.is_composable() {
        json.truth("$IsComposable", true);
    }
    if function.bound.is_some() || !function.parameters.is_empty() {
        json.array("$Parameter", |json| {
            if let Some(bound) = &function.bound {
                json.object("", |json| {
                    json.text("$Name", BOUND);
                    if bound.to == BoundTo::Collection {
                        json.truth("$Collection", true);
                    }
                    json.text("$Type", &qualified(model, &model.type_of(bound.set).name));
                });
            }
            for Parameter { name, primitive, enumeration } in &function.parameters {
                json.object("", |json| {
                    json.text("$Name", name);
                    match enumeration {
                        Some(id) => json.text("$Type", &model.enumerations[id.0].full_name),
                        None => typed(json, *primitive),
                    }
                });
            }
        });
    }
    let (name, many) = match function.returns {
        FunctionReturn::Nothing => return,
        FunctionReturn::Complex(id) => (&model.complex_types[id.0].name, false),
        FunctionReturn::Entity(set) => (&model.type_of(set).name, false),
        FunctionReturn::Entities(set) => (&model.type_of(set).name, true),
    };
    json.object("$ReturnType", |json| {
        if many {
            json.truth("$Collection", true);
        }
        json.text("$Type", &qualified(model, name));
    });
}

fn import(json: &mut Writer<'_>, model: &Model, function: &FunctionImport) {
    let name = match kind(function) {
        "Function" => "$Function",
        _ => "$Action",
    };
    json.text(name, &qualified(model, &function.name));
    if let FunctionReturn::Entity(set) | FunctionReturn::Entities(set) = function.returns {
        json.text("$EntitySet", &model.entity_sets[set.0].name);
    }
}

fn qualified(model: &Model, name: &str) -> String {
    format!("{}.{name}", model.namespace)
}

/// Members of objects and items of arrays, which have no name, one behind the other.
struct Writer<'o> {
    out: &'o mut Vec<u8>,
    /// Whether nothing stands in the object or array yet.
    first: bool,
}

impl Writer<'_> {
    fn name(&mut self, name: &str) {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
        if !name.is_empty() {
            self.quoted(name);
            self.out.push(b':');
        }
    }

    fn quoted(&mut self, text: &str) {
        self.out.push(b'"');
        escape::json_text(self.out, text.as_bytes());
        self.out.push(b'"');
    }

    fn text(&mut self, name: &str, text: &str) {
        self.name(name);
        self.quoted(text);
    }

    /// A value that is JSON as it stands.
    fn raw(&mut self, name: &str, json: &str) {
        self.name(name);
        self.out.extend_from_slice(json.as_bytes());
    }

    fn truth(&mut self, name: &str, value: bool) {
        self.raw(name, if value { "true" } else { "false" });
    }

    fn object(&mut self, name: &str, members: impl FnOnce(&mut Self)) {
        self.nested(name, [b'{', b'}'], members);
    }

    fn array(&mut self, name: &str, items: impl FnOnce(&mut Self)) {
        self.nested(name, [b'[', b']'], items);
    }

    fn nested(&mut self, name: &str, [open, close]: [u8; 2], inside: impl FnOnce(&mut Self)) {
        self.name(name);
        self.out.push(open);
        self.first = true;
        inside(self);
        self.first = false;
        self.out.push(close);
    }

    fn reference(&mut self, (url, namespace, alias): (&str, &str, &str)) {
        self.object(url, |json| {
            json.array("$Include", |json| {
                json.object("", |json| {
                    json.text("$Namespace", namespace);
                    json.text("$Alias", alias);
                });
            });
        });
    }
}

#[cfg(test)]
mod tests;

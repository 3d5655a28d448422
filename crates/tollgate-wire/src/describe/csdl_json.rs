//! `$metadata` of OData V4 as JSON (CSDL JSON 4.01).
//!
//! It deliberately leaves SAP's labels and units to V2, where their clients look for them. The walk reads the
//! declarations of the model.

use super::walk::{
    BOUND, Form, Many, NavigationElement, OperationElement, PropertyElement, SetElement, TypeElement, TypeOf, facets,
    is_restricted, kind, provided_term, qualified, restrictions, walk,
};
use crate::address::type_name;
use crate::edm::{Arity, BoundTo, Enumeration, Model, Multiplicity, Primitive, Version};
use crate::escape;

const CORE: (&str, &str, &str) =
    ("https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Core.V1.json", "Org.OData.Core.V1", "Core");
const CAPABILITIES: (&str, &str, &str) = (
    "https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Capabilities.V1.json",
    "Org.OData.Capabilities.V1",
    "Capabilities",
);

/// Writes the document.
pub fn write(model: &Model, out: &mut Vec<u8>) {
    walk(model, &mut CsdlJson { out, first: true });
}

/// Members of objects and items of arrays, which have no name, one behind the other.
struct CsdlJson<'o> {
    out: &'o mut Vec<u8>,
    /// Whether the object or array is still empty.
    first: bool,
}

impl Form for CsdlJson<'_> {
    fn version(&self) -> Version {
        Version::V4
    }

    fn groups_overloads(&self) -> bool {
        true
    }

    fn begin(&mut self, model: &Model) {
        self.open("", b'{');
        self.text("$Version", "4.01");
        self.text("$EntityContainer", &qualified(model, &model.container));
        self.object("$Reference", |json| {
            json.reference(CORE);
            if is_restricted(model) {
                json.reference(CAPABILITIES);
            }
        });
        self.open(&model.namespace, b'{');
    }

    fn entity_type(&mut self, declared: &TypeElement<'_>) {
        let TypeElement { name, entity_type, base, is_abstract } = declared;
        self.open(name, b'{');
        self.text("$Kind", "EntityType");
        match base {
            Some(base) => self.text("$BaseType", base),
            None if entity_type.media => self.truth("$HasStream", true),
            None => {}
        }
        if *is_abstract {
            self.truth("$Abstract", true);
        }
        if base.is_none() {
            self.array("$Key", |json| {
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
    }

    fn complex_type(&mut self, name: &str) {
        self.open(name, b'{');
        self.text("$Kind", "ComplexType");
    }

    fn property(&mut self, declared: &PropertyElement<'_>) {
        self.object(&declared.property.name, |json| {
            json.typed(&declared.type_of);
            if declared.property.nullable {
                json.truth("$Nullable", true);
            }
            if let Some(default) = &declared.default {
                match is_bare(&declared.type_of, default) {
                    true => json.raw("$DefaultValue", default),
                    false => json.text("$DefaultValue", default),
                }
            }
            if let Some(term) = provided_term(declared.provided) {
                json.truth(&format!("@{term}"), true);
            }
        });
    }

    fn navigation(&mut self, declared: &NavigationElement<'_>) {
        let NavigationElement { navigation, target, constraint, .. } = declared;
        self.object(&navigation.name, |json| {
            json.text("$Kind", "NavigationProperty");
            if navigation.multiplicity == Multiplicity::Many {
                json.truth("$Collection", true);
            }
            json.text("$Type", target);
            if navigation.multiplicity == Multiplicity::ZeroOrOne {
                json.truth("$Nullable", true);
            }
            if let Some(partner) = &navigation.partner {
                json.text("$Partner", partner);
            }
            if !constraint.is_empty() {
                json.object("$ReferentialConstraint", |json| {
                    constraint.iter().for_each(|(here, there)| json.text(here, there));
                });
            }
        });
    }

    fn end_type(&mut self, _: &'static str) {
        self.close(b'}');
    }

    fn enumeration(&mut self, enumeration: &Enumeration) {
        self.object(enumeration.name(), |json| {
            json.text("$Kind", "EnumType");
            json.text("$UnderlyingType", type_name(Version::V4, Some(enumeration.underlying())));
            if enumeration.arity == Arity::Flags {
                json.truth("$IsFlags", true);
            }
            for member in &enumeration.members {
                json.raw(&member.name, &member.number.to_string());
            }
        });
    }

    fn overloads(&mut self, name: &str) {
        self.open(name, b'[');
    }

    fn operation(&mut self, declared: &OperationElement<'_>) {
        self.object("", |json| {
            json.text("$Kind", kind(declared.function));
            if declared.bound.is_some() {
                json.truth("$IsBound", true);
            }
            if let Some(path) = &declared.path {
                json.text("$EntitySetPath", path);
            }
            if declared.function.is_composable() {
                json.truth("$IsComposable", true);
            }
            if declared.bound.is_some() || !declared.parameters.is_empty() {
                json.array("$Parameter", |json| json.parameters(declared));
            }
            if let Some((name, many)) = &declared.returns {
                json.object("$ReturnType", |json| {
                    if *many == Many::Several {
                        json.truth("$Collection", true);
                    }
                    json.text("$Type", name);
                });
            }
        });
    }

    fn end_overloads(&mut self) {
        self.close(b']');
    }

    fn container(&mut self, model: &Model) {
        self.open(&model.container, b'{');
        self.text("$Kind", "EntityContainer");
    }

    fn entity_set(&mut self, declared: &SetElement<'_>) {
        self.object(&declared.set.name, |json| {
            json.truth("$Collection", true);
            json.bindings(declared);
            if let Some(etag) = declared.etag {
                json.array("@Core.OptimisticConcurrency", |json| json.text("", etag));
            }
            for (term, property) in restrictions(declared.set.changes) {
                json.object(&format!("@{term}"), |json| json.truth(property, false));
            }
        });
    }

    fn singleton(&mut self, name: &str, declared: &SetElement<'_>) {
        self.object(name, |json| json.bindings(declared));
    }

    fn import(&mut self, declared: &OperationElement<'_>) {
        self.object(&declared.function.name, |json| {
            json.text(&format!("${}", kind(declared.function)), &declared.qualified);
            if let Some(set) = declared.set {
                json.text("$EntitySet", set);
            }
        });
    }

    fn end(&mut self) {
        for _ in ["container", "schema", "document"] {
            self.close(b'}');
        }
    }
}

/// Whether a default is written without quotes, as a number or Boolean of JSON is.
fn is_bare(type_of: &TypeOf<'_>, default: &str) -> bool {
    match type_of {
        TypeOf::Primitive(
            Primitive::Boolean
            | Primitive::Byte
            | Primitive::SByte
            | Primitive::Int16
            | Primitive::Int32
            | Primitive::Int64
            | Primitive::Decimal { .. },
        ) => true,
        TypeOf::Primitive(Primitive::Single | Primitive::Double) => default.bytes().any(|byte| byte.is_ascii_digit()),
        TypeOf::Primitive(_) | TypeOf::Members(..) | TypeOf::Complex(_) => false,
    }
}

impl CsdlJson<'_> {
    /// A type with its facets; a type that is not written means a string.
    fn typed(&mut self, type_of: &TypeOf<'_>) {
        match type_of {
            TypeOf::Primitive(primitive) => {
                let item = primitive.item().map(|item| item.primitive());
                if item.is_some() {
                    self.truth("$Collection", true);
                }
                let primitive = item.unwrap_or(*primitive);
                if !matches!(primitive, Primitive::String { .. }) {
                    self.text("$Type", type_name(Version::V4, Some(primitive)));
                }
                for (name, value) in facets(Version::V4, primitive) {
                    let name = format!("${name}");
                    match value.bytes().all(|byte| byte.is_ascii_digit()) {
                        true => self.raw(&name, &value),
                        false => self.text(&name, &value),
                    }
                }
            }
            TypeOf::Members(enumeration, many) => {
                if *many == Many::Several {
                    self.truth("$Collection", true);
                }
                self.text("$Type", &enumeration.full_name);
            }
            TypeOf::Complex(name) => self.text("$Type", name),
        }
    }

    fn parameters(&mut self, declared: &OperationElement<'_>) {
        if let Some((bound, name)) = &declared.bound {
            self.object("", |json| {
                json.text("$Name", BOUND);
                if bound.to == BoundTo::Collection {
                    json.truth("$Collection", true);
                }
                json.text("$Type", name);
            });
        }
        for (name, type_of) in &declared.parameters {
            self.object("", |json| {
                json.text("$Name", name);
                json.typed(type_of);
            });
        }
    }

    /// The type of entities, and where navigation from them leads.
    fn bindings(&mut self, declared: &SetElement<'_>) {
        self.text("$Type", &declared.type_name);
        if !declared.bindings.is_empty() {
            self.object("$NavigationPropertyBinding", |json| {
                declared.bindings.iter().for_each(|(path, target)| json.text(path, target));
            });
        }
    }

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

    /// A value that is already JSON.
    fn raw(&mut self, name: &str, json: &str) {
        self.name(name);
        self.out.extend_from_slice(json.as_bytes());
    }

    fn truth(&mut self, name: &str, value: bool) {
        self.raw(name, if value { "true" } else { "false" });
    }

    fn object(&mut self, name: &str, members: impl FnOnce(&mut Self)) {
        self.open(name, b'{');
        members(self);
        self.close(b'}');
    }

    fn array(&mut self, name: &str, items: impl FnOnce(&mut Self)) {
        self.open(name, b'[');
        items(self);
        self.close(b']');
    }

    fn open(&mut self, name: &str, bracket: u8) {
        self.name(name);
        self.out.push(bracket);
        self.first = true;
    }

    fn close(&mut self, bracket: u8) {
        self.first = false;
        self.out.push(bracket);
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

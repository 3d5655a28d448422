//! Checks the document against the rules of CSDL JSON 4.01, and against its model.

use serde_json::{Map, Value as Json};

use super::*;
use crate::testing;

fn written(model: &Model) -> Json {
    let mut out = Vec::new();
    write(model, &mut out);
    serde_json::from_slice(&out).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&out)))
}

/// Members that an element of a kind may have, with the section of the standard that says so.
const MEMBERS: &[(&str, &[&str])] = &[
    // 4
    ("document", &["$Version", "$EntityContainer", "$Reference"]),
    // 6.1
    ("EntityType", &["$Kind", "$BaseType", "$Abstract", "$OpenType", "$HasStream", "$Key"]),
    // 9
    ("ComplexType", &["$Kind", "$BaseType", "$Abstract", "$OpenType"]),
    // 7
    (
        "Property",
        &[
            "$Kind",
            "$Type",
            "$Collection",
            "$Nullable",
            "$MaxLength",
            "$Unicode",
            "$Precision",
            "$Scale",
            "$SRID",
            "$DefaultValue",
        ],
    ),
    // 8
    (
        "NavigationProperty",
        &[
            "$Kind",
            "$Type",
            "$Collection",
            "$Nullable",
            "$Partner",
            "$ContainsTarget",
            "$ReferentialConstraint",
            "$OnDelete",
        ],
    ),
    // 12
    ("Function", &["$Kind", "$IsBound", "$IsComposable", "$EntitySetPath", "$Parameter", "$ReturnType"]),
    ("Action", &["$Kind", "$IsBound", "$EntitySetPath", "$Parameter", "$ReturnType"]),
    ("Parameter", &["$Name", "$Type", "$Collection", "$Nullable", "$MaxLength", "$Precision", "$Scale", "$SRID"]),
    ("ReturnType", &["$Type", "$Collection", "$Nullable", "$MaxLength", "$Precision", "$Scale", "$SRID"]),
    // 13
    ("EntityContainer", &["$Kind", "$Extends"]),
    ("EntitySet", &["$Collection", "$Type", "$NavigationPropertyBinding", "$IncludeInServiceDocument"]),
    ("Singleton", &["$Type", "$Nullable", "$NavigationPropertyBinding"]),
    ("FunctionImport", &["$Function", "$EntitySet", "$IncludeInServiceDocument"]),
    ("ActionImport", &["$Action", "$EntitySet"]),
    // 10
    ("EnumType", &["$Kind", "$UnderlyingType", "$IsFlags"]),
];

/// Primitive types that a model may have.
const EDM: &[&str] = &[
    "Binary",
    "Boolean",
    "Byte",
    "Date",
    "DateTimeOffset",
    "Decimal",
    "Double",
    "Duration",
    "Guid",
    "Int16",
    "Int32",
    "Int64",
    "SByte",
    "Single",
    "Stream",
    "TimeOfDay",
];

/// A document with its elements by name.
struct Rules<'d> {
    namespace: &'d str,
    schema: &'d Map<String, Json>,
    aliases: Vec<&'d str>,
}

/// Checks a document against the rules; panics with the place where one is broken.
fn check(document: &Json) {
    let document = document.as_object().expect("the document is an object");
    assert_eq!(document["$Version"], "4.01");
    let includes = document["$Reference"].as_object().unwrap().values().flat_map(|reference| {
        assert!(reference.as_object().unwrap().keys().all(|name| name == "$Include"));
        reference["$Include"].as_array().unwrap()
    });
    let aliases = includes.map(|include| include["$Alias"].as_str().unwrap()).collect();
    let schemas: Vec<_> = document.iter().filter(|(name, _)| !name.starts_with('$')).collect();
    let [(namespace, schema)] = schemas[..] else { panic!("one schema, not {}", schemas.len()) };
    let rules = Rules { namespace, schema: schema.as_object().unwrap(), aliases };
    let container = rules.named(document["$EntityContainer"].as_str().unwrap(), "EntityContainer");
    rules.members("document", "document", document, |_, _| {});
    for (name, element) in rules.schema {
        assert!(is_name(name), "{name}");
        if let Some(overloads) = element.as_array() {
            assert!(!overloads.is_empty(), "{name}");
            overloads.iter().for_each(|overload| rules.operation(name, overload.as_object().unwrap()));
            continue;
        }
        let element = element.as_object().unwrap_or_else(|| panic!("{name} is no object"));
        match element["$Kind"].as_str().unwrap() {
            kind @ ("EntityType" | "ComplexType") => rules.structured(name, kind, element),
            "EnumType" => rules.members(name, "EnumType", element, |name, value| {
                assert!(value.is_i64(), "{name} is no number");
            }),
            "EntityContainer" => assert!(std::ptr::eq(element, container), "a second container"),
            kind => panic!("{name} is of no kind: {kind}"),
        }
    }
    rules.container(container);
}

impl<'d> Rules<'d> {
    /// The element with this qualified name, which must be of that kind.
    fn named(&self, qualified: &str, kind: &str) -> &'d Map<String, Json> {
        let name = qualified.strip_prefix(self.namespace).and_then(|rest| rest.strip_prefix('.'));
        let name = name.unwrap_or_else(|| panic!("{qualified} is not qualified by {}", self.namespace));
        let found = self.schema.get(name).unwrap_or_else(|| panic!("{qualified} is not there"));
        let found = if found.is_array() { &found[0] } else { found };
        assert_eq!(found["$Kind"], kind, "{qualified}");
        found.as_object().unwrap()
    }

    /// Each member is one that the kind may have, an annotation, or handed to `other`.
    fn members(&self, place: &str, kind: &str, element: &Map<String, Json>, other: impl Fn(&str, &Json)) {
        let allowed = MEMBERS.iter().find(|known| known.0 == kind).unwrap().1;
        for (name, value) in element {
            match name.split_once('@') {
                Some((_, annotation)) => {
                    let alias = annotation.split_once('.').unwrap_or_else(|| panic!("{place}: @{annotation}")).0;
                    assert!(self.aliases.contains(&alias), "{place}: @{annotation} has no reference");
                }
                None if name.starts_with('$') => assert!(allowed.contains(&name.as_str()), "{place}: {name}"),
                None => other(name, value),
            }
        }
        // What says only what is so anyway is left out.
        for (name, default) in [("$Nullable", false), ("$Collection", false), ("$HasStream", false)] {
            assert_ne!(element.get(name), Some(&Json::Bool(default)), "{place}: {name}");
        }
    }

    fn structured(&self, place: &str, kind: &str, element: &Map<String, Json>) {
        self.members(place, kind, element, |name, property| {
            let place = format!("{place}/{name}");
            assert!(is_name(name), "{place}");
            let property = property.as_object().unwrap_or_else(|| panic!("{place} is no object"));
            match property.get("$Kind") {
                None => self.typed(&place, "Property", property),
                Some(kind) => {
                    assert_eq!(kind, "NavigationProperty", "{place}");
                    self.navigation(&place, element, property);
                }
            }
        });
        if kind == "EntityType" {
            let keys = element["$Key"].as_array().unwrap();
            assert!(!keys.is_empty(), "{place}");
            for key in keys {
                let path = key.as_str().or_else(|| key.as_object()?.values().next()?.as_str()).unwrap();
                let first = path.split('/').next().unwrap();
                assert!(element[first].get("$Nullable").is_none(), "{place}: the key {path} may be null");
            }
        }
    }

    /// A type that exists, and facets that it has.
    fn typed(&self, place: &str, kind: &str, element: &Map<String, Json>) {
        self.members(place, kind, element, |name, _| panic!("{place}: {name}"));
        let name = element.get("$Type").map_or("Edm.String", |name| name.as_str().unwrap());
        assert_ne!(element.get("$Type"), Some(&Json::from("Edm.String")), "{place}: it is that anyway");
        let primitive = name.strip_prefix("Edm.");
        match primitive {
            Some("String") => {}
            Some(primitive) => assert!(EDM.contains(&primitive), "{place}: {name}"),
            None => {
                let local = name.strip_prefix(self.namespace).unwrap().trim_start_matches('.');
                assert!(self.schema.contains_key(local), "{place}: {name} is not there");
            }
        }
        for (facet, of) in [
            ("$MaxLength", &["String", "Binary"][..]),
            ("$Precision", &["Decimal", "DateTimeOffset", "Duration", "TimeOfDay"]),
            ("$Scale", &["Decimal"]),
        ] {
            let Some(value) = element.get(facet) else { continue };
            assert!(primitive.is_some_and(|primitive| of.contains(&primitive)), "{place}: {facet} of {name}");
            assert!(value.is_u64() || (facet == "$Scale" && value == "variable"), "{place}: {facet} is {value}");
        }
        if let Some(default) = element.get("$DefaultValue") {
            let number = matches!(primitive, Some("Byte" | "SByte" | "Int16" | "Int32" | "Int64" | "Decimal"));
            assert_eq!(default.is_number(), number, "{place}: {default}");
            assert_eq!(default.is_boolean(), primitive == Some("Boolean"), "{place}: {default}");
        }
    }

    fn navigation(&self, place: &str, from: &Map<String, Json>, element: &Map<String, Json>) {
        self.members(place, "NavigationProperty", element, |name, _| panic!("{place}: {name}"));
        let target = self.named(element["$Type"].as_str().unwrap(), "EntityType");
        assert!(element.get("$Collection").is_none() || element.get("$Nullable").is_none(), "{place}");
        if let Some(partner) = element.get("$Partner") {
            assert_eq!(target[partner.as_str().unwrap()]["$Kind"], "NavigationProperty", "{place}");
        }
        for (here, there) in element.get("$ReferentialConstraint").into_iter().flat_map(|it| it.as_object().unwrap()) {
            assert!(from.contains_key(here.split('/').next().unwrap()), "{place}: {here}");
            assert!(target.contains_key(there.as_str().unwrap().split('/').next().unwrap()), "{place}: {there}");
        }
    }

    fn operation(&self, place: &str, element: &Map<String, Json>) {
        self.members(place, element["$Kind"].as_str().unwrap(), element, |name, _| panic!("{place}: {name}"));
        for parameter in element.get("$Parameter").into_iter().flat_map(|it| it.as_array().unwrap()) {
            assert!(is_name(parameter["$Name"].as_str().unwrap()), "{place}");
            self.typed(place, "Parameter", parameter.as_object().unwrap());
        }
        if let Some(returned) = element.get("$ReturnType") {
            self.typed(place, "ReturnType", returned.as_object().unwrap());
        }
        assert!(element["$Kind"] == "Action" || element.contains_key("$ReturnType"), "{place} returns nothing");
    }

    fn container(&self, container: &Map<String, Json>) {
        self.members("container", "EntityContainer", container, |name, child| {
            assert!(is_name(name), "{name}");
            let child = child.as_object().unwrap();
            let nothing = |inner: &str, _: &Json| panic!("{name}: {inner}");
            let exists = |set: &Json| assert!(container.contains_key(set.as_str().unwrap()), "{name}: {set}");
            if let Some(function) = child.get("$Function") {
                self.members(name, "FunctionImport", child, nothing);
                self.named(function.as_str().unwrap(), "Function");
            } else if let Some(action) = child.get("$Action") {
                self.members(name, "ActionImport", child, nothing);
                self.named(action.as_str().unwrap(), "Action");
            } else {
                let kind = if child.contains_key("$Collection") { "EntitySet" } else { "Singleton" };
                self.members(name, kind, child, nothing);
                let entity_type = self.named(child["$Type"].as_str().unwrap(), "EntityType");
                for (path, set) in
                    child.get("$NavigationPropertyBinding").into_iter().flat_map(|it| it.as_object().unwrap())
                {
                    assert_eq!(entity_type[path]["$Kind"], "NavigationProperty", "{name}: {path}");
                    exists(set);
                }
            }
            child.get("$EntitySet").into_iter().for_each(exists);
        });
    }
}

/// A simple identifier (section 17.2).
fn is_name(name: &str) -> bool {
    let mut characters = name.chars();
    let first = characters.next().is_some_and(|first| first.is_alphabetic() || first == '_');
    first && name.chars().count() <= 128 && characters.all(|next| next.is_alphanumeric() || next == '_')
}

#[test]
fn what_is_written_keeps_the_rules_of_the_standard() {
    check(&written(&testing::model()));
    check(&written(&testing::managed()));
}

#[test]
fn everything_of_the_model_is_there() {
    let model = testing::model();
    let document = written(&model);
    let schema = &document[&model.namespace];
    for entity_type in &model.entity_types {
        let written = &schema[&entity_type.name];
        assert_eq!(written["$Key"].as_array().unwrap().len(), entity_type.key.len());
        for property in &entity_type.properties {
            assert_eq!(written[&property.name].get("$Nullable").is_some(), property.nullable, "{}", property.name);
        }
        assert!(entity_type.navigation.iter().all(|navigation| written.get(&navigation.name).is_some()));
    }
    let container = &schema[&model.container];
    assert!(model.entity_sets.iter().all(|set| container.get(&set.name).is_some()));
    assert!(model.function_imports.iter().all(|function| container.get(&function.name).is_some()));
}

#[test]
fn a_managed_model_says_who_provides_what() {
    let mut out = Vec::new();
    write(&testing::managed(), &mut out);
    insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r##"{"$Version":"4.01","$EntityContainer":"Test.Container","$Reference":{"https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Core.V1.json":{"$Include":[{"$Namespace":"Org.OData.Core.V1","$Alias":"Core"}]},"https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Capabilities.V1.json":{"$Include":[{"$Namespace":"Org.OData.Capabilities.V1","$Alias":"Capabilities"}]}},"Test":{"Record":{"$Kind":"EntityType","$Key":["ID"],"ID":{"$Type":"Edm.Guid","@Core.ComputedDefaultValue":true},"createdAt":{"$Type":"Edm.DateTimeOffset","$Precision":7,"$Nullable":true,"@Core.Computed":true},"createdBy":{"$MaxLength":255,"$Nullable":true,"@Core.Computed":true},"number":{"$Type":"Edm.Int32","$Nullable":true,"@Core.ComputedDefaultValue":true},"total":{"$Type":"Edm.Int32","$Nullable":true,"@Core.Computed":true},"weight":{"$Type":"Edm.Decimal","$Precision":9,"$Scale":4,"$Nullable":true,"$DefaultValue":1.5000},"day":{"$Type":"Edm.Date","$Nullable":true,"$DefaultValue":"2013-09-25"},"note":{"$Nullable":true}},"Container":{"$Kind":"EntityContainer","Records":{"$Collection":true,"$Type":"Test.Record","@Capabilities.UpdateRestrictions":{"Updatable":false},"@Capabilities.DeleteRestrictions":{"Deletable":false}}}}}"##);
}

#[test]
fn the_rules_find_what_breaks_them() {
    let breaks = |pointer: &str, change: &dyn Fn(&mut Map<String, Json>)| {
        let mut document = written(&testing::model());
        change(document.pointer_mut(pointer).unwrap().as_object_mut().unwrap());
        let outcome = std::panic::catch_unwind(|| check(&document));
        assert!(outcome.is_err(), "{pointer} was not found");
    };
    let schema = "/RMTSAMPLEFLIGHT";
    breaks("", &|document| drop(document.insert("$Version".into(), "4.0".into())));
    breaks(&format!("{schema}/Flight/PRICE"), &|price| drop(price.insert("$Type".into(), "Edm.Money".into())));
    breaks(&format!("{schema}/Flight/PRICE"), &|price| drop(price.insert("$MaxLength".into(), 3.into())));
    breaks(&format!("{schema}/Flight/PRICE"), &|price| drop(price.insert("$Nullable".into(), false.into())));
    breaks(&format!("{schema}/Flight/carrid"), &|carrid| drop(carrid.insert("$Nullable".into(), true.into())));
    breaks(&format!("{schema}/Flight/FlightCarrier"), &|to| drop(to.insert("$Type".into(), "Carrier".into())));
    breaks(&format!("{schema}/RMTSAMPLEFLIGHT_Entities/FlightCollection"), &|set| {
        drop(set.insert("$Kind".into(), "EntitySet".into()))
    });
    breaks(&format!("{schema}/RMTSAMPLEFLIGHT_Entities/FlightCollection"), &|set| {
        drop(set.insert("@Org.Unknown".into(), true.into()));
    });
}

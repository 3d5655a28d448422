//! The positive cases of the OASIS OData ABNF, as far as the parser goes today: none panics, every literal is accepted,
//! and other URLs are refused as "not implemented", with the exceptions listed here. Cases that say where they fail
//! (`FailAt`, as the TC's negative ones do) are refused as the client's fault.
//!
//! The cases are not part of this repository: `TOLLGATE_ODATA_CASES` names their folder.

use crate::fixture;
use serde_json::Value as Json;
use tollgate_wire::edm::{
    Annotations, Changes, ComplexId, ComplexType, EntitySet, EntityType, FunctionAnswer, FunctionImport,
    FunctionMethod, FunctionReturn, Model, Multiplicity, NavigationProperty, Primitive, Property, PropertyKind, SetId,
    TypeId, Version,
};
use tollgate_wire::url::{self, Fault, UrlError};

/// Texts whose cases are refused otherwise than as "not implemented", each with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("Addresses", "the model has no collections of complex values"),
    ("EmailAddresses", "the model has no collections of primitive values"),
    ("Names", "the model has no collections of primitive values"),
    ("Sizes", "the model has no collections of primitive values"),
    ("Thumbnail", "the model has no stream properties"),
    ("MainSupplier", "the model has no singletons"),
    ("AddressWithLocation", "the model has no derived types, so an unqualified one is an unknown name"),
    ("BestSellingProduct", "the model has no derived types, so an unqualified one is an unknown name"),
    ("ActionName", "an unqualified bound operation is an unknown name"),
    ("Address/Country", "the model has no navigation from complex values"),
    ("Address/Products", "the model has no navigation from complex values"),
    ("MostPopularName()", "the constraints of the cases do not declare this function import"),
    ("People/O", "of a key as a segment only the grammar is known here, not its type"),
    ("OrderItems/2001/1", "the model's key has one part"),
    ("Products/AllOrders", "an unqualified bound function is an unknown name"),
    ("Customers/MostPopularAddresses()", "an unqualified bound function is an unknown name"),
    ("lambda/Name eq", "a lambda variable outside of its lambda is an unknown name"),
    ("$format=json&$Format=", "the protocol forbids what the grammar allows: the option stands twice"),
    ("$format=JSON&$format=", "the protocol forbids what the grammar allows: the option stands twice"),
    ("-10000-04-01", "a year outside of 0001 to 9999 is refused, since stores compare dates as texts"),
    ("$metadata#", "a fragment never reaches a server"),
    ("$search=OR AND", "an operator that nothing follows is a slip, not a word"),
    ("index=", "no collection of the model keeps an order of its own"),
    ("schemaversion=0001", "the model has one version, which is `*`"),
    ("schemaversion=second", "the model has one version, which is `*`"),
    ("Manager($search", "the protocol forbids what the grammar allows: one entity is not searched"),
];

/// The same for the cases of aggregation.
const AGGREGATION_EXCEPTIONS: &[(&str, &str)] = &[
    ("$metadata#", "a fragment never reaches a server"),
    ("Forecast", "the model has no custom aggregates, so one is an unknown name"),
    ("Discounts", "the model has no collections of complex values"),
    ("orderby(Country asc", "the constraints of the cases do not declare this property"),
];

#[test]
fn positive_grammar_cases_are_accepted_or_named_as_not_implemented() {
    let Some(found) = judged("odata-abnf-cases.json", EXCEPTIONS) else { return };
    assert!(found.accepted + found.unbuilt + found.excepted > 300, "{found:?}");
    assert!(found.faults.is_empty(), "{} faults:\n{}", found.faults.len(), found.faults.join("\n"));
}

#[test]
fn positive_cases_of_aggregation_are_accepted_or_named_as_not_implemented() {
    let Some(found) = judged("odata-aggregation-cases.json", AGGREGATION_EXCEPTIONS) else { return };
    assert!(found.accepted + found.unbuilt + found.excepted > 100, "{found:?}");
    assert!(found.faults.is_empty(), "{} faults:\n{}", found.faults.len(), found.faults.join("\n"));
}

/// Number of cases of a file by outcome.
#[derive(Debug, Default)]
struct Judged {
    accepted: usize,
    refused: usize,
    unbuilt: usize,
    excepted: usize,
    faults: Vec<String>,
}

/// The cases of a file; nothing where the folder is not named.
#[expect(clippy::print_stderr, reason = "whoever runs the tests is to know what they showed")]
fn judged(file: &str, exceptions: &[(&str, &str)]) -> Option<Judged> {
    let Some(folder) = std::env::var_os("TOLLGATE_ODATA_CASES") else {
        eprintln!("skipped: TOLLGATE_ODATA_CASES names no folder with {file}");
        return None;
    };
    let path = std::path::Path::new(&folder).join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let cases: Json = serde_json::from_str(&text).unwrap();
    let model = model(&cases["Constraints"]);
    let mut judged = Judged::default();
    for case in cases["TestCases"].as_array().unwrap() {
        let (rule, input) = (case["Rule"].as_str().unwrap(), case["Input"].as_str().unwrap());
        let Some(outcome) = outcome(&model, rule, input) else { continue };
        if case.get("FailAt").is_some() {
            match outcome {
                Err(error) if error.status() < 500 => judged.refused += 1,
                Err(error) => judged.faults.push(format!("{rule}: {input}\n    is wrong, and {error}")),
                Ok(()) => judged.faults.push(format!("{rule}: {input}\n    is wrong, and read")),
            }
            continue;
        }
        let Err(error) = outcome else {
            judged.accepted += 1;
            continue;
        };
        // Of a key and of operands only the grammar is known here, not the types; of literals both.
        let of_types = matches!(error.fault, Fault::BadKey | Fault::Type) && literal_property(rule, input).is_none();
        // The cases declare neither derived types nor bound operations, so that no qualified name is known here.
        let of_undeclared = error.message.starts_with("unknown type '");
        if error.status() == 501 {
            judged.unbuilt += 1;
        } else if of_types || of_undeclared || exceptions.iter().any(|(text, _)| input.contains(text)) {
            judged.excepted += 1;
        } else {
            judged.faults.push(format!("{rule}: {input}\n    {} {error}", error.status()));
        }
    }
    let Judged { accepted, refused, unbuilt, excepted, faults } = &judged;
    eprintln!(
        "{file}: {} cases, {accepted} accepted, {refused} refused as they say, {unbuilt} not implemented, {excepted} excepted, {} faults",
        accepted + refused + unbuilt + excepted + faults.len(),
        faults.len()
    );
    Some(judged)
}

/// The parser's result for a case; `None` for rules that are no part of a URL below the service root.
fn outcome(model: &Model, rule: &str, input: &str) -> Option<Result<(), UrlError>> {
    let version = Version::V4;
    let on = |path: &str, query: String| url::parse(model, version, path, Some(&query)).map(|_| ());
    Some(match rule {
        "odataRelativeUri" => {
            let (path, query) = input.split_once('?').map_or((input, None), |(path, query)| (path, Some(query)));
            url::parse(model, version, path, query).map(|_| ())
        }
        "resourcePath" => url::parse(model, version, input, None).map(|_| ()),
        "queryOptions" | "filter" | "orderby" | "orderBy" | "select" | "expand" | "compute" | "systemQueryOption"
        | "customQueryOption" | "search" => on("Products", input.to_owned()),
        "commonExpr" | "boolCommonExpr" | "boolcommonExpr" | "isofExpr" | "firstMemberExpr" | "propertyPathExpr" => {
            on("Products", format!("$orderby={}", input.replace('&', "%26")))
        }
        _ => {
            let property = literal_property(rule, input)?;
            let literal = match rule.ends_with("Value") {
                // A value as a document has it: in a URL its plus sign would be coded.
                true => input.replace('+', "%2B"),
                false => input.replace('&', "%26"),
            };
            let literals = fixture::model();
            let query = format!("$filter={property} eq {literal}");
            url::parse(&literals, version, "EverythingSet", Some(&query)).map(|_| ())
        }
    })
}

/// The property of `Everything` with which a literal of that rule can be compared.
fn literal_property(rule: &str, input: &str) -> Option<&'static str> {
    Some(match rule {
        "binaryLiteral" => "binary",
        "boolean" | "booleanValue" => "boolean",
        "date" => "date",
        "dateTimeOffsetLiteral" | "dateTimeOffsetValue" | "dateTimeOffsetValueInUrl" => "instant",
        "decimalValue" | "doubleValue" | "singleLiteral" | "singleValue" | "sbyteLiteral" | "sbyteValue"
        | "int16Value" | "int32Literal" | "int64Literal" | "int64Value" => "decimal",
        "primitiveLiteral" => "double",
        "stringLiteral" => "text",
        "timeOfDayLiteral" | "timeOfDayValue" => "daytime",
        "durationLiteral" => "duration",
        "enumLiteral" => "text",
        "primitiveValue" if input.len() == 36 => "guid",
        "primitiveValue" if input.starts_with(|first: char| first.is_ascii_digit()) => "decimal",
        _ if rule.starts_with("geography") || rule.starts_with("geometry") => "text",
        _ => return None,
    })
}

/// One entity type with everything that the constraints name; types follow from the cases' use of the names.
fn model(constraints: &Json) -> Model {
    let names = |rule: &str| -> Vec<String> {
        let list = constraints[rule].as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let mut properties: Vec<Property> = names("primitiveKeyProperty")
        .into_iter()
        .chain(names("primitiveNonKeyProperty"))
        .map(|name| {
            let primitive = primitive(&name);
            property(name, PropertyKind::Primitive(primitive))
        })
        .collect();
    properties.dedup_by(|a, b| a.name == b.name);
    let complex = ComplexType { name: "Address".to_owned(), properties: properties.clone() };
    properties
        .extend(names("complexProperty").into_iter().map(|name| property(name, PropertyKind::Complex(ComplexId(0)))));
    let navigation = |multiplicity| {
        move |name| NavigationProperty {
            name,
            target: SetId(0),
            multiplicity,
            on: Vec::new(),
            association: String::new(),
            partner: None,
        }
    };
    let mut anything = EntityType {
        name: "Anything".to_owned(),
        properties,
        navigation: names("entityNavigationProperty").into_iter().map(navigation(Multiplicity::ZeroOrOne)).collect(),
        media: true,
        ..EntityType::default()
    };
    anything.navigation.extend(names("entityColNavigationProperty").into_iter().map(navigation(Multiplicity::Many)));
    let functions = constraints.as_object().unwrap().keys().filter(|rule| rule.ends_with("Import"));
    let mut model = Model {
        namespace: "Model".to_owned(),
        entity_types: vec![anything],
        complex_types: vec![complex],
        entity_sets: names("entitySetName")
            .into_iter()
            .map(|name| EntitySet { name, entity_type: TypeId(0), label: None, changes: Changes::ALL })
            .collect(),
        function_imports: functions
            .flat_map(|rule| names(rule))
            .map(|name| FunctionImport {
                name,
                method: FunctionMethod::Get,
                bound: None,
                parameters: Vec::new(),
                returns: FunctionReturn::Nothing,
                answer: FunctionAnswer::Nothing,
            })
            .collect(),
        ..Model::default()
    };
    model.finish();
    model.entity_types[0].key = vec![model.entity_types[0].leaf("ID").unwrap()];
    model
}

fn property(name: String, kind: PropertyKind) -> Property {
    Property { name, kind, nullable: true, annotations: Annotations::default() }
}

fn primitive(name: &str) -> Primitive {
    match name {
        "Age" | "Rating" | "Quantity" | "Population" | "Size" | "ID" => Primitive::Int32,
        "Amount" | "Cost" | "Price" | "Revenue" => Primitive::Decimal { precision: 0, scale: 0 },
        "BirthDate" | "ReleaseDate" => Primitive::DateTimeOffset { precision: 0 },
        "Completed" => Primitive::Boolean,
        "LifeTime" => Primitive::Duration,
        _ => Primitive::String { length_max: 0 },
    }
}

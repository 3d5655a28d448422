//! Links and properties out of JSON: verbose (OData V2), V4, and plain.

use serde_json::{Map, Value};

use super::{Document, Found, Kind};

type Object = Map<String, Value>;

/// Verbose JSON of OData V2: everything below `d`, links below `__metadata`.
pub(super) fn v2(text: &str, kind: Kind) -> Result<Document, String> {
    let mut outer = object(parse(text)?)?;
    let inner = outer.remove("d").ok_or("the answer has no `d`")?;
    let link = |object: &Object| {
        let metadata = object.get("__metadata")?;
        string(metadata.get("uri").or_else(|| metadata.get("id")))
    };
    let found = |value: Value| object(value).map(|object| Found { id: link(&object), ..properties(&object) });
    match (kind, inner) {
        (Kind::Single, inner) => Ok(Document { found: vec![found(inner)?], ..Document::default() }),
        (Kind::List, Value::Array(results)) => {
            Ok(Document { found: results.into_iter().map(found).collect::<Result<_, _>>()?, ..Document::default() })
        }
        (Kind::List, inner) => {
            let mut inner = object(inner)?;
            let next = string(inner.get("__next"));
            let results = array(inner.remove("results"), "`d.results`")?;
            let found = results.into_iter().map(found).collect::<Result<_, _>>()?;
            Ok(Document { base: None, found, next })
        }
    }
}

/// JSON of OData V4: annotations with or without `odata.` (both are allowed since 4.01), links relative to the context.
pub(super) fn v4(text: &str, kind: Kind) -> Result<Document, String> {
    let mut outer = object(parse(text)?)?;
    let annotation = |object: &Object, name: &str| {
        string(object.get(&format!("@odata.{name}")).or_else(|| object.get(&format!("@{name}"))))
    };
    let found = |object: &Object| Found {
        id: annotation(object, "id"),
        link: annotation(object, "readLink").or_else(|| annotation(object, "editLink")),
        ..properties(object)
    };
    let base = annotation(&outer, "context");
    if kind == Kind::Single {
        return Ok(Document { base, found: vec![found(&outer)], next: None });
    }
    let next = annotation(&outer, "nextLink");
    let values = array(outer.remove("value"), "`value`")?;
    let found = values.into_iter().map(|value| object(value).map(|object| found(&object))).collect::<Result<_, _>>()?;
    Ok(Document { base, found, next })
}

/// Plain JSON: an array of objects, alone or as the first array in an object.
pub(super) fn plain(text: &str, kind: Kind) -> Result<Document, String> {
    let value = parse(text)?;
    let values = match (kind, value) {
        (Kind::Single, value) => vec![value],
        (Kind::List, Value::Array(values)) => values,
        (Kind::List, Value::Object(object)) => {
            array(object.into_iter().map(|(_, value)| value).find(Value::is_array), "an array")?
        }
        (Kind::List, _) => return Err("the list is neither an array nor an object with one".to_owned()),
    };
    let found =
        values.into_iter().map(|value| object(value).map(|object| properties(&object))).collect::<Result<_, _>>()?;
    Ok(Document { base: None, found, next: None })
}

fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("the answer is not JSON: {error}"))
}

fn object(value: Value) -> Result<Object, String> {
    match value {
        Value::Object(object) => Ok(object),
        other => Err(format!("an object was expected, {} came", name(&other))),
    }
}

fn array(value: Option<Value>, what: &str) -> Result<Vec<Value>, String> {
    match value {
        Some(Value::Array(values)) => Ok(values),
        _ => Err(format!("the list has no array in {what}")),
    }
}

fn string(value: Option<&Value>) -> Option<String> {
    value?.as_str().map(str::to_owned)
}

fn properties(object: &Object) -> Found {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    let properties = object.iter().filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect();
    Found { id: None, link: None, properties }
}

fn name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a Boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

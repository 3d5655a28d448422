//! Targets of a REST URL: a list (`/rest/flights`), or one entity by its key in the path
//! (`/rest/flights/AA/0017/2011-06-01`).
//!
//! It ends in the same [`Plan`] as an OData URL does, so that both read the same rows by the same statements. The query
//! is read by [`tollgate_wire::query::rest`].

use tollgate_wire::document::Scalar;
use tollgate_wire::edm::{Model, Primitive, SetId, Version};
use tollgate_wire::plan::{Key, Options, Plan, Shape};
use tollgate_wire::query::rest as query;
use tollgate_wire::url::decode_segment;
use tollgate_wire::value::Value;

use crate::error::Fault;
use crate::hosted::rest::Resource;

/// Request of a URL.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RestRequest<'r> {
    /// The list.
    pub(crate) resource: &'r Resource,
    /// Plan of the read.
    pub(crate) plan: Plan,
    /// Largest number of entities on a page, if given.
    pub(crate) limit: Option<u64>,
}

/// Finds the one of `resources` that a path below `/rest/` begins with.
///
/// # Errors
/// 404 for an unknown name.
pub(crate) fn find<'r>(resources: &'r [Resource], path: &str) -> Result<&'r Resource, Fault> {
    let name = first_segment(path);
    resources.iter().find(|resource| resource.is(name)).ok_or_else(|| unknown(resources, name))
}

/// Parses the path of a list or of one of its entities, and the query of a reading request.
///
/// # Errors
/// 400 for a bad key or parameter, 404 for a path below one entity.
pub(crate) fn parse<'r>(
    model: &Model,
    resource: &'r Resource,
    path: &str,
    query: Option<&str>,
) -> Result<RestRequest<'r>, Fault> {
    let name = first_segment(path);
    let set = resource.set;
    let entity_type = model.type_of(set);
    let rest = path.get(name.len() + 1..).unwrap_or_default();
    let query = query.unwrap_or_default();
    let mut plan =
        Plan { root: set, key: None, steps: Vec::new(), shape: Shape::Collection, options: Options::default() };
    if rest.is_empty() {
        let asked = query::parse(model, entity_type, query)?;
        plan.options = asked.options;
        return Ok(RestRequest { resource, plan, limit: asked.limit });
    }
    let mut values = Vec::with_capacity(entity_type.key.len());
    let mut given = rest.split('/');
    for leaf in &entity_type.key {
        let leaf = &entity_type.leaves[leaf.0];
        let segment = given.next().filter(|segment| !segment.is_empty()).ok_or_else(|| key_shape(model, set))?;
        values.push(
            key_value(leaf.primitive, segment)
                .ok_or_else(|| Fault::bad_request("path", format!("`{segment}` is no value for {}", leaf.path)))?,
        );
    }
    if given.next().is_some() {
        return Err(Fault::not_found(format!("nothing stands below one of {name}")));
    }
    plan.options = query::parse_of_one(entity_type, query)?;
    plan.key = Some(Key(values));
    plan.shape = Shape::Entity;
    Ok(RestRequest { resource, plan, limit: None })
}

/// Parses a key's value from a path segment, in canonical form.
fn key_value(primitive: Primitive, segment: &str) -> Option<Value> {
    let text = decode_segment(segment)?.into_owned();
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return None;
    }
    // 20110601 is how the flights' own keys are written in their older form.
    let is_compact = primitive == Primitive::Date && text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit());
    let text = if is_compact { format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..]) } else { text };
    Scalar::Text(text).value(Version::V4, primitive).filter(query::is_comparable)
}

/// Checks that the request confirms to mean a list as a whole.
///
/// # Errors
/// 400 without that confirmation.
pub(super) fn check_all(query: Option<&str>) -> Result<(), Fault> {
    if query == Some("all=true") {
        return Ok(());
    }
    Err(Fault::bad_request(
        "query",
        "deleting a whole list wants to be confirmed by `?all=true`, and takes no other option",
    ))
}

fn first_segment(path: &str) -> &str {
    path.split('/').next().unwrap_or_default()
}

fn unknown(resources: &[Resource], name: &str) -> Fault {
    let known: Vec<&str> = resources.iter().map(|resource| &*resource.list).collect();
    Fault::not_found(format!("`{name}` is not here, but {}", known.join(", ")))
}

pub(super) fn unknown_option(option: &str, expected: &str) -> Fault {
    let name = option.split('=').next().unwrap_or_default();
    Fault::bad_request("query", format!("unknown option `{name}`: expected {expected}"))
}

fn key_shape(model: &Model, set: SetId) -> Fault {
    let entity_type = model.type_of(set);
    let parts: Vec<&str> = entity_type.key.iter().map(|leaf| entity_type.leaves[leaf.0].path.as_str()).collect();
    Fault::bad_request("path", format!("expected a key of {} segments: {}", parts.len(), parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::flights;

    fn parsed(path: &str, query: Option<&str>) -> Result<Plan, Fault> {
        let resources = [Resource::new("flights", "flight", SetId(0))];
        parse(&flights::model(), find(&resources, path)?, path, query).map(|asked| asked.plan)
    }

    #[test]
    fn a_key_in_the_path_is_decoded_and_typed() {
        let plan = parsed("flights/A%2FB/%30017/20110601", None).unwrap();
        let date = Value::Text(Primitive::Date, "2011-06-01".to_owned());
        let expected = vec![Value::String("A/B".to_owned()), Value::String("0017".to_owned()), date];
        assert_eq!((plan.key, plan.shape), (Some(Key(expected)), Shape::Entity));
    }

    #[test]
    fn a_year_that_no_store_can_compare_is_refused() {
        for date in ["10000-01-01", "-0044-03-15", "00000101"] {
            assert!(parsed(&format!("flights/AA/0017/{date}"), None).is_err(), "{date}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_path_is_read_without_panic(path in "(flights)?[/%0-9A-Fa-z\u{e9}-]{0,40}", query in "[a-z=&0-9]{0,30}") {
            let _ = parsed(&path, Some(&query));
        }
    }
}

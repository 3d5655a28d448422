//! Parameters: those by which a list is filtered, ordered and paged, and the parts of a key.

use serde_json::{Map, Value, json};
use tollgate_wire::query::rest::{self, CONDITIONS_MAX, LISTED_MAX, OPERATORS, ORDER_KEYS_MAX, RESERVED};

use super::Subject;

/// Parameters that all lists share.
pub(super) fn common() -> Map<String, Value> {
    let number = || json!({ "type": "integer", "format": "int64", "minimum": 0, "maximum": i64::MAX });
    let query = |name: &str, description: &str, schema: Value| json!({ "name": name, "in": "query", "description": description, "schema": schema });
    let condition = |name: &str, description: &str| json!({ "name": name, "in": "header", "description": description, "schema": { "type": "string" } });
    [
        ("limit", query("limit", "how many entities the page has at most, within the gateway's own limit", number())),
        ("offset", query("offset", "how many entities are left out before the page", number())),
        (
            "cursor",
            query(
                "cursor",
                "where the page begins, as a next link says it; not with offset",
                json!({ "type": "string" }),
            ),
        ),
        ("count", query("count", "whether to tell how many there are on all pages", json!({ "type": "boolean" }))),
        (
            "all",
            json!({
                "name": "all", "in": "query", "required": true, "schema": { "type": "string", "enum": ["true"] },
                "description": "that the whole list is really meant",
            }),
        ),
        ("If-Match", condition("If-Match", "the ETag of the state that is meant, or *")),
        ("If-None-Match", condition("If-None-Match", "ETags of states that are not meant, or *")),
        (
            "X-CSRF-Token",
            json!({
                "name": "X-CSRF-Token", "in": "header", "required": true, "schema": { "type": "string" },
                "description": "what a request of OData with X-CSRF-Token: Fetch is answered, beside its cookie",
            }),
        ),
    ]
    .map(|(name, parameter)| (name.to_owned(), parameter))
    .into_iter()
    .collect()
}

/// A reference to one of the parameters.
pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/parameters/{name}") })
}

impl Subject<'_> {
    /// Adds the parameters of its list: the order, the fields and all conditions.
    pub(super) fn parameters(&self, out: &mut Map<String, Value>) {
        let list = self.name();
        for (name, parameter) in self.own() {
            out.insert(format!("{list}.{name}"), parameter);
        }
    }

    /// References to all parameters of its list.
    pub(super) fn of_list(&self) -> Vec<Value> {
        let list = self.name();
        let common = ["limit", "offset", "cursor", "count"].map(reference);
        let own = self.own().map(|(name, _)| reference(&format!("{list}.{name}")));
        common.into_iter().chain(own).collect()
    }

    /// The reference to the parameter that selects the answered fields.
    pub(super) fn fields(&self) -> Value {
        reference(&format!("{}.fields", self.name()))
    }

    /// The path template with the parts of its key, and their parameters.
    pub(super) fn key(&self) -> (String, Vec<Value>) {
        let mut path = String::new();
        let mut parameters = Vec::new();
        for leaf in &self.entity_type.key {
            let leaf = &self.entity_type.leaves[leaf.0];
            let name = rest::name(&leaf.path);
            path.push_str(&format!("/{{{name}}}"));
            let mut schema = self.asked(leaf);
            if schema["type"] == "string" {
                schema["minLength"] = 1.into();
            }
            parameters.push(json!({ "name": name, "in": "path", "required": true, "schema": schema }));
        }
        (path, parameters)
    }

    /// Its own parameters, each with a valid component name.
    fn own(&self) -> impl Iterator<Item = (String, Value)> {
        let leaves = &self.entity_type.leaves;
        let names = || leaves.iter().map(|leaf| rest::name(&leaf.path));
        let of_order = leaves.iter().filter(|leaf| rest::has_order(leaf.primitive)).map(|leaf| rest::name(&leaf.path));
        let keys: Vec<String> = of_order.flat_map(|name| [format!("-{name}"), name]).collect();
        let complex = self.entity_type.properties.iter().map(|property| property.name.clone());
        let mut fields: Vec<String> = names().chain(complex).collect();
        fields.sort_unstable();
        fields.dedup();
        let listed = |name: &str, description: &str, most: Option<usize>, values: Vec<String>| {
            let mut schema = json!({ "type": "array", "minItems": 1, "items": { "type": "string", "enum": values } });
            if let Some(most) = most {
                schema["maxItems"] = most.into();
            }
            let parameter = json!({
                "name": name, "in": "query", "description": description, "style": "form", "explode": false,
                "schema": schema,
            });
            (name.to_owned(), parameter)
        };
        let sort =
            listed("sort", "the order; a minus is for descending, null is the least", Some(ORDER_KEYS_MAX), keys);
        let fields = listed("fields", "what is answered of an entity", None, fields);
        let conditions = leaves.iter().enumerate().flat_map(move |(index, leaf)| {
            let name = rest::name(&leaf.path);
            let operators = OPERATORS.iter().filter(|known| known.applies_to(leaf));
            operators.filter_map(move |operator| {
                // One form of equality is enough, and the shorter one where the name is free.
                let is_free = !RESERVED.contains(&name.as_str());
                let name = match operator.suffix {
                    "" if is_free => name.clone(),
                    "" => return None,
                    "eq" if is_free => return None,
                    suffix => format!("{name}.{suffix}"),
                };
                let value = if operator.asks_for_null() { json!({ "type": "boolean" }) } else { self.asked(leaf) };
                let mut parameter = json!({ "name": name, "in": "query", "description": operator.meaning });
                if operator.takes_several() {
                    let schema = json!({ "type": "array", "minItems": 1, "maxItems": LISTED_MAX, "items": value });
                    parameter["schema"] = schema;
                    (parameter["style"], parameter["explode"]) = ("form".into(), true.into());
                } else {
                    parameter["schema"] = value;
                }
                Some((format!("{index}.{}", operator.suffix), parameter))
            })
        });
        [sort, fields].into_iter().chain(conditions)
    }
}

/// Description of a list's conditions as a whole.
pub(super) fn of_conditions() -> String {
    format!("All conditions must hold, at most {CONDITIONS_MAX} of them. `name=value` may be written `name.eq=value`.")
}

//! Operations: input and answers of each path, with the possible problems.

use serde_json::{Map, Value, json};

use super::Subject;
use super::parameters::{of_conditions, reference};
use super::schemas::reference as schema;
use crate::auth::Verb;
use crate::auth::csrf::Csrf;
use crate::config::rules::IfMatch;

/// Problems by their status: the name of the response, and its description.
const PROBLEMS: [(u16, &str, &str); 15] = [
    (400, "BadRequest", "a parameter, a part of the key or the body is wrong; target names it"),
    (401, "Unauthorized", "who asks has not shown who they are"),
    (403, "Forbidden", "who asks may not do that, or has no token"),
    (404, "NotFound", "there is no such entity"),
    (406, "NotAcceptable", "Accept allows neither JSON nor XML"),
    (408, "RequestTimeout", "the body came too slowly, or took too long"),
    (409, "Conflict", "it exists already, or others refer to it"),
    (412, "PreconditionFailed", "the entity is not in the state that If-Match or If-None-Match names"),
    (413, "ContentTooLarge", "the body is longer than is taken"),
    (414, "UriTooLong", "the URL is longer than is taken"),
    (415, "UnsupportedMediaType", "the body is neither JSON nor XML"),
    (428, "PreconditionRequired", "expected If-Match"),
    (431, "FieldsTooLarge", "the fields of the head are longer than is taken"),
    (503, "ServiceUnavailable", "there is too much to do at the moment, or it took too long"),
    (507, "InsufficientStorage", "the database has no room"),
];

/// Name of the response for all other problems: errors of the protocol below, or of the server.
const OTHERWISE: &str = "Otherwise";

/// The responses that operations refer to.
pub(super) fn problems() -> Map<String, Value> {
    let problem = |description: &str| {
        let content = json!({
            "application/problem+json": { "schema": schema("Problem") },
            "application/problem+xml": {},
        });
        json!({ "description": description, "content": content })
    };
    let mut responses: Map<String, Value> = PROBLEMS
        .iter()
        .map(|(status, name, description)| {
            let mut response = problem(description);
            let header = match status {
                401 => Some(("WWW-Authenticate", "how to show it")),
                503 => Some(("Retry-After", "after how many seconds to ask again")),
                _ => None,
            };
            if let Some((name, description)) = header {
                let mut headers = json!({ name: { "description": description, "schema": { "type": "string" } } });
                headers[name]["required"] = false.into();
                response["headers"] = headers;
            }
            ((*name).to_owned(), response)
        })
        .collect();
    responses.insert(OTHERWISE.to_owned(), problem("what the protocol below refuses, or our own failure"));
    responses
}

/// The fields of answers that operations refer to.
pub(super) fn headers() -> Value {
    let text = |description: &str| json!({ "description": description, "schema": { "type": "string" } });
    json!({
        "Allow": text("the methods that there are"),
        "Link": text("the next page, with rel=next; of a page that leaves before its end is known, one that may be empty"),
        "Location": text("where the entity is"),
        "ETag": text("the state of the entity"),
    })
}

/// The path of the description itself.
pub(super) fn description() -> Value {
    let document = json_only(json!({ "type": "object" }), "this document");
    let otherwise = json!({ "$ref": format!("#/components/responses/{OTHERWISE}") });
    let responses = json!({ "200": document, "default": otherwise });
    json!({ "get": { "operationId": "openapi", "summary": "describes what there is", "responses": responses } })
}

/// Parts of an operation beside those that all have.
struct Operation {
    id: String,
    summary: String,
    verb: Verb,
    parameters: Vec<Value>,
    body: Option<Value>,
    answers: Vec<(&'static str, Value)>,
    problems: &'static [u16],
}

impl Subject<'_> {
    /// Adds its paths.
    pub(super) fn paths(&self, out: &mut Map<String, Value>) {
        let list = format!("{}{}", self.service.rest.root, self.resource.segment);
        let (key, parts) = self.key();
        out.insert(list.clone(), self.list());
        out.insert(format!("{list}{key}"), self.one(parts));
        if self.service.rest.mass_changed == Some(self.resource.set) {
            let root = &self.service.rest.root;
            out.insert(format!("{root}mass-change/insertAll"), self.insert_all());
            out.insert(format!("{root}mass-change/deleteAllRecs"), self.delete_all_records());
        }
    }

    fn list(&self) -> Value {
        let (name, item) = (self.name(), &self.resource.item);
        let changes = self.service.hosted.model.entity_sets[self.resource.set.0].changes;
        let page = self.documents(&format!("{name}_list"), "a page of the list", &["Link"]);
        let mut path = Map::new();
        let reading: &'static [u16] = &[400, 406, 503];
        let read = |id: &str, page: Value| Operation {
            id: format!("{name}_{id}"),
            summary: format!("reads {}", self.resource.list),
            verb: Verb::Get,
            parameters: self.of_list(),
            body: None,
            answers: vec![("200", page)],
            problems: reading,
        };
        let mut listed = self.described(read("list", page));
        listed["description"] = of_conditions().into();
        path.insert("get".to_owned(), listed);
        let head = json!({ "description": "what the page is answered with", "headers": header_references(&["Link"]) });
        path.insert("head".to_owned(), self.described(read("head", head)));
        path.insert("options".to_owned(), self.options("options"));
        if changes.insert {
            let made = json!({ "anyOf": [schema(name), schema("Inserted")] });
            let fields = if self.entity_type.etag.is_some() { &["Location", "ETag"][..] } else { &["Location"] };
            let entity = schema(&format!("{name}_new"));
            let array = json!({ "type": "array", "items": entity });
            let body = json!({
                "required": true,
                "content": {
                    "application/json": { "schema": { "anyOf": [entity, array] } },
                    "application/xml": { "schema": entity },
                },
            });
            let post = Operation {
                id: format!("{name}_create"),
                summary: format!("creates a {item}, or all of an array or none"),
                verb: Verb::Post,
                parameters: self.token(),
                body: Some(body),
                answers: vec![("201", self.content(made, "what was created, or how many were", fields))],
                problems: &[400, 406, 408, 409, 413, 415, 503, 507],
            };
            path.insert("post".to_owned(), self.described(post));
        }
        if changes.delete {
            let mut parameters = vec![reference("all")];
            parameters.extend(self.token());
            let delete = Operation {
                id: format!("{name}_delete_all"),
                summary: format!("deletes all {}", self.resource.list),
                verb: Verb::Delete,
                parameters,
                body: None,
                answers: vec![("200", json_only(schema("Deleted"), "how many there were"))],
                problems: &[400, 409, 503],
            };
            path.insert("delete".to_owned(), self.described(delete));
        }
        path.into()
    }

    fn one(&self, parts: Vec<Value>) -> Value {
        let (name, item) = (self.name(), &self.resource.item);
        let changes = self.service.hosted.model.entity_sets[self.resource.set.0].changes;
        let has_etag = self.entity_type.etag.is_some();
        let fields: &[&str] = if has_etag { &["ETag"] } else { &[] };
        let conditions = |also: Vec<Value>| {
            let conditions = has_etag.then(|| ["If-Match", "If-None-Match"].map(reference));
            also.into_iter().chain(conditions.into_iter().flatten()).collect::<Vec<_>>()
        };
        let mut path = Map::new();
        path.insert("parameters".to_owned(), parts.into());
        for (method, id) in [("get", "read"), ("head", "head_one")] {
            let answer = match method {
                "get" => self.documents(&format!("{name}_selected"), &format!("the {item}"), fields),
                _ => json!({ "description": "what it is answered with", "headers": header_references(fields) }),
            };
            let mut answers = vec![("200", answer)];
            if has_etag {
                let unchanged =
                    json!({ "description": "it is as the client knows it", "headers": header_references(fields) });
                answers.push(("304", unchanged));
            }
            let read = Operation {
                id: format!("{name}_{id}"),
                summary: format!("reads a {item}"),
                verb: Verb::Get,
                parameters: conditions(vec![self.fields()]),
                body: None,
                answers,
                problems: if has_etag { &[400, 404, 406, 412, 503] } else { &[400, 404, 406, 503] },
            };
            path.insert(method.to_owned(), self.described(read));
        }
        path.insert("options".to_owned(), self.options("options_one"));
        if changes.update {
            for (method, verb, summary) in
                [("put", Verb::Put, "replaces"), ("patch", Verb::Patch, "changes what is sent of")]
            {
                let entity = schema(&format!("{name}_change"));
                let body = json!({
                    "required": true,
                    "content": { "application/json": { "schema": entity }, "application/xml": { "schema": entity } },
                });
                let change = Operation {
                    id: format!("{name}_{method}"),
                    summary: format!("{summary} a {item}"),
                    verb,
                    parameters: conditions(self.token()),
                    body: Some(body),
                    answers: vec![("200", self.documents(name, "what it is now", fields))],
                    problems: match self.needs_match() {
                        true => &[400, 404, 406, 408, 409, 412, 413, 415, 428, 503, 507],
                        false => &[400, 404, 406, 408, 409, 412, 413, 415, 503, 507],
                    },
                };
                path.insert(method.to_owned(), self.described(change));
            }
        }
        if changes.delete {
            let delete = Operation {
                id: format!("{name}_delete"),
                summary: format!("deletes a {item}"),
                verb: Verb::Delete,
                parameters: conditions(self.token()),
                body: None,
                answers: vec![("204", json!({ "description": "it is gone" }))],
                problems: match self.needs_match() {
                    true => &[400, 404, 406, 409, 412, 428, 503],
                    false => &[400, 404, 406, 409, 412, 503],
                },
            };
            path.insert("delete".to_owned(), self.described(delete));
        }
        path.into()
    }

    fn insert_all(&self) -> Value {
        let name = self.name();
        let entities = json!({ "type": "array", "items": schema(&format!("{name}_new")) });
        let set = &self.service.hosted.model.entity_sets[self.resource.set.0].name;
        let array = json!({
            "type": "object",
            "properties": { "insEntity": { "type": "string", "enum": [set] }, "insArray": entities },
            "required": ["insEntity", "insArray"],
            "additionalProperties": false,
        });
        let post = Operation {
            id: format!("{name}_insert_all"),
            summary: "inserts all of an array or none".to_owned(),
            verb: Verb::Post,
            parameters: self.token(),
            body: Some(json!({ "required": true, "content": { "application/json": { "schema": array } } })),
            answers: vec![("201", json_only(schema("Inserted"), "how many were inserted"))],
            problems: &[400, 408, 409, 413, 415, 503, 507],
        };
        json!({ "post": self.described(post), "options": self.options("insert_all_options") })
    }

    fn delete_all_records(&self) -> Value {
        let post = Operation {
            id: format!("{}_delete_all_records", self.name()),
            summary: format!("deletes all {}", self.resource.list),
            verb: Verb::Delete,
            parameters: self.token(),
            body: None,
            answers: vec![("200", json_only(schema("Deleted"), "how many there were"))],
            problems: &[409, 503],
        };
        json!({ "post": self.described(post), "options": self.options("delete_all_records_options") })
    }

    fn options(&self, id: &str) -> Value {
        let allow = json!({ "description": "the methods that there are", "headers": header_references(&["Allow"]) });
        self.described(Operation {
            id: format!("{}_{id}", self.name()),
            summary: "tells the methods that there are".to_owned(),
            verb: Verb::Get,
            parameters: Vec::new(),
            body: None,
            answers: vec![("204", allow)],
            problems: &[400],
        })
    }

    fn described(&self, operation: Operation) -> Value {
        let Operation { id, summary, verb, parameters, body, answers, problems } = operation;
        let mut responses: Map<String, Value> =
            answers.into_iter().map(|(status, answer)| (status.to_owned(), answer)).collect();
        let security = self.security(verb);
        let asks = security.is_some() || !self.schemes.is_empty();
        let writes = verb != Verb::Get;
        let may_refuse = asks || writes && self.service.hosted.rules.csrf == Csrf::Required;
        for (status, name, _) in PROBLEMS {
            let told = match status {
                401 => asks,
                403 => may_refuse,
                414 | 431 => true,
                _ => problems.contains(&status),
            };
            if told {
                let problem = json!({ "$ref": format!("#/components/responses/{name}") });
                responses.insert(status.to_string(), problem);
            }
        }
        let otherwise = json!({ "$ref": format!("#/components/responses/{OTHERWISE}") });
        responses.insert("default".to_owned(), otherwise);
        let mut described =
            json!({ "operationId": id, "summary": summary, "tags": [self.name()], "responses": responses });
        if !parameters.is_empty() {
            described["parameters"] = parameters.into();
        }
        if let Some(body) = body {
            described["requestBody"] = body;
        }
        if let Some(security) = security {
            described["security"] = security;
        }
        described
    }

    /// Token required for writing.
    fn token(&self) -> Vec<Value> {
        match self.service.hosted.rules.csrf {
            Csrf::Required => vec![reference("X-CSRF-Token")],
            Csrf::Off => Vec::new(),
        }
    }

    fn needs_match(&self) -> bool {
        self.entity_type.etag.is_some() && self.service.hosted.rules.if_match == IfMatch::Required
    }

    /// An answer in both formats.
    fn documents(&self, name: &str, description: &str, fields: &[&str]) -> Value {
        self.content(schema(name), description, fields)
    }

    fn content(&self, schema: Value, description: &str, fields: &[&str]) -> Value {
        let mut answer = json_only(schema, description);
        answer["content"]["application/xml"] = json!({});
        if !fields.is_empty() {
            answer["headers"] = header_references(fields);
        }
        answer
    }
}

fn json_only(schema: Value, description: &str) -> Value {
    json!({ "description": description, "content": { "application/json": { "schema": schema } } })
}

fn header_references(names: &[&str]) -> Value {
    let reference = |name: &&str| ((*name).to_owned(), json!({ "$ref": format!("#/components/headers/{name}") }));
    names.iter().map(reference).collect::<Map<_, _>>().into()
}

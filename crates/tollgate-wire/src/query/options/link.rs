//! The options of an expansion as those of a request of its own: what the link to the rest of its entities repeats.
//!
//! It deliberately knows neither the path of that request nor where its page begins.

use crate::edm::{EntityType, Model};
use crate::plan::{Expand, Select};
use crate::query::context::Context;
use crate::url::encode_beside;

/// Bytes that the value of a query option may contain unescaped.
const PLAIN: &[u8] = b"-._~!$'()*,;:@/?=";

/// The query of an expansion in V4, from the options in its parentheses (by their positions among those of the
/// context). `again` is the same expansion within, where `$levels` asks for one.
pub(super) fn of_nested(context: &Context<'_>, values: &[Option<(usize, &str)>], again: Option<&str>) -> String {
    let mut query = String::new();
    let mut expands = Vec::new();
    for (option, value) in context.options.iter().zip(values) {
        match (option.name, value) {
            ("$expand", value) => {
                expands.extend(value.map(|(_, text)| text));
                expands.extend(again);
                if !expands.is_empty() {
                    append(&mut query, option.name, &expands.join(","));
                }
            }
            (name, Some((_, text))) => append(&mut query, name, text),
            (_, None) => {}
        }
    }
    let text: Vec<&str> = values.iter().flatten().map(|(_, text)| *text).collect();
    for (name, value) in context.aliases {
        if text.iter().any(|text| text.contains(name.as_str())) {
            append(&mut query, name, value);
        }
    }
    query
}

/// The expansion of that name with these options and levels, as `$expand` has it.
pub(super) fn leveled(context: &Context<'_>, name: &str, values: &[Option<(usize, &str)>], levels: usize) -> String {
    let mut options: Vec<String> = Vec::new();
    for (option, value) in context.options.iter().zip(values) {
        options.extend(value.map(|(_, text)| format!("{}={text}", option.name)));
    }
    if levels > 1 {
        options.push(format!("$levels={levels}"));
    }
    match options.is_empty() {
        true => name.to_owned(),
        false => format!("{name}({})", options.join(";")),
    }
}

/// The query of an expansion by `*`, with this number of levels within.
pub(super) fn of_star(levels: usize) -> String {
    let mut query = String::new();
    match levels {
        0 => {}
        1 => append(&mut query, "$expand", "*"),
        levels => append(&mut query, "$expand", &format!("*($levels={levels})")),
    }
    query
}

/// Gives the expansions of V2 their queries; the request's options contain theirs as paths.
pub(in crate::query) fn of_v2(model: &Model, expand: &mut [Expand]) {
    for expand in expand {
        let target = model.type_of(expand.target);
        let mut paths = Vec::new();
        let mut selected = Vec::new();
        expansions(model, target, expand, "", &mut paths);
        if selects(expand) {
            selections(model, target, expand, "", &mut selected);
        }
        expand.query.clear();
        for (name, items) in [("$expand", paths), ("$select", selected)] {
            if !items.is_empty() {
                append(&mut expand.query, name, &items.join(","));
            }
        }
        of_v2(model, &mut expand.options.expand);
    }
}

fn expansions(model: &Model, entity_type: &EntityType, of: &Expand, before: &str, paths: &mut Vec<String>) {
    for inner in &of.options.expand {
        let path = format!("{before}{}", entity_type.navigation[inner.navigation.0].name);
        expansions(model, model.type_of(inner.target), inner, &format!("{path}/"), paths);
        paths.push(path);
    }
}

/// Whether anything is selected of it, or within.
fn selects(expand: &Expand) -> bool {
    expand.options.select != Select::All || expand.options.expand.iter().any(selects)
}

fn selections(model: &Model, entity_type: &EntityType, of: &Expand, before: &str, paths: &mut Vec<String>) {
    let mut push = |name: &str| {
        let path = format!("{before}{name}");
        if !paths.contains(&path) {
            paths.push(path);
        }
    };
    match &of.options.select {
        Select::All => push("*"),
        Select::Only { leaves, navigation } => {
            leaves.iter().for_each(|leaf| {
                push(&entity_type.properties[entity_type.leaves[leaf.0].property].name);
            });
            navigation.iter().for_each(|id| push(&entity_type.navigation[id.0].name));
        }
    }
    for inner in &of.options.expand {
        let path = format!("{before}{}/", entity_type.navigation[inner.navigation.0].name);
        selections(model, model.type_of(inner.target), inner, &path, paths);
    }
}

fn append(query: &mut String, name: &str, value: &str) {
    if !query.is_empty() {
        query.push('&');
    }
    query.push_str(name);
    query.push('=');
    let mut encoded = Vec::with_capacity(value.len());
    encode_beside(&mut encoded, value.as_bytes(), PLAIN);
    query.push_str(&String::from_utf8_lossy(&encoded));
}

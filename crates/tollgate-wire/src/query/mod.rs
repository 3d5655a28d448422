//! The query part of a URL: [`OPTIONS`] lists the system query options, one file each; the rest are the service's own.
//!
//! It deliberately touches no data. An option ends as a checked part of [`crate::plan::Options`], or as an error with
//! its column.

mod action;
pub(crate) mod cast;
mod context;
mod expression;
mod function;
mod grammar;
mod limits;
mod list;
mod options;
pub mod rest;
mod stream;

pub use action::{Effected, check as check_action, resolve as resolve_action};
pub use context::{CustomOption, SystemOption};
pub use function::check as check_function;
pub use options::format::format_of;
pub use options::{OPTIONS, skip_token};
pub(crate) use stream::resolve as resolve_stream;

use std::cell::Cell;

use context::{ANYTHING, COLLECTION, COUNT, COUNT_OF_V2, Context, ENTITY, REFERENCES, REFERENCES_OF_MANY, find};
use options::link;

use crate::address::{Call, Fault, Parsed, Place, Plus, Problem, UrlError, decode, quoted};
use crate::edm::{EntityType, LeafId, Model, Version};
use crate::plan::{Called, Options, Plan, Resource, Shape};
use crate::suggest;

/// Reads the query string into the plan of `resource`, and hands back the options that are not OData's.
pub(crate) fn read(
    model: &Model,
    version: Version,
    query: &str,
    resource: &mut Resource,
    call: Option<&Call>,
) -> Result<Vec<CustomOption>, UrlError> {
    let mut custom = Vec::new();
    let mut aliases = Vec::new();
    let mut values: [Option<&str>; OPTIONS.len()] = [None; OPTIONS.len()];
    for part in query.split('&').filter(|part| !part.is_empty()) {
        let (raw_name, raw_value) = part.split_once('=').unwrap_or((part, ""));
        let name = decode(raw_name, Plus::Space)
            .map_err(|problem| problem.located(Place::Option(raw_name.to_owned().into()), raw_name))?;
        match find(&OPTIONS, version, &name) {
            Some(index) if values[index].is_some() => {
                let what = format!("the option {} stands twice", OPTIONS[index].name);
                let place = Place::Option(OPTIONS[index].name.into());
                return Err(Problem::whole(Fault::DuplicateOption, what).located(place, ""));
            }
            Some(index) => values[index] = Some(raw_value),
            None if name.starts_with('$') => return Err(unknown(version, &name)),
            None if name.starts_with('@') && version == Version::V4 => {
                let place = || Place::Option(name.clone().into_owned().into());
                if aliases.iter().any(|(known, _): &(String, String)| *known == name) {
                    return Err(Problem::whole(Fault::DuplicateOption, format!("the alias {name} stands twice"))
                        .located(place(), ""));
                }
                let value = decode(raw_value, Plus::Space).map_err(|problem| problem.located(place(), raw_value))?;
                aliases.push((name.into_owned(), value.into_owned()));
            }
            None => {
                let value = decode(raw_value, Plus::Space)
                    .map_err(|problem| problem.located(Place::Option(name.clone().into_owned().into()), raw_value))?;
                custom.push(CustomOption { name: name.into_owned(), value: value.into_owned() });
            }
        }
    }
    let mut scratch = Options::default();
    let (named, set, options) = match resource {
        Resource::Read(plan) => {
            let named = match plan.options.called {
                Some(Called { returned: Some(_), .. }) => Addressed(0, "the value of a function"),
                _ => Addressed::of(version, model, plan),
            };
            (named, Some(plan.set()), &mut plan.options)
        }
        Resource::References(plan) => {
            let many = if plan.shape == Shape::Collection { REFERENCES_OF_MANY } else { 0 };
            (Addressed(REFERENCES | many, "references"), Some(plan.set()), &mut plan.options)
        }
        // It is not built, so its options have no meaning.
        Resource::Function(_) => return Ok(custom),
        Resource::Act(act) => {
            let named = match model.function_imports[act.action].answered_set() {
                Some(_) => Addressed::of(version, model, &act.plan),
                None => Addressed(0, "an action without an answer"),
            };
            (named, Some(act.plan.set()), &mut act.plan.options)
        }
        Resource::ServiceDocument | Resource::Metadata | Resource::Batch => {
            (Addressed(0, "no data"), None, &mut scratch)
        }
    };
    let nothing = EntityType::default();
    let entity_type = set.map_or(&nothing, |set| model.seen(version, set, options.subtype));
    let context = Context {
        model,
        version,
        entity_type,
        aliases: &aliases,
        depth: 0,
        expansions: &Cell::new(0),
        options: &OPTIONS,
    };
    for (option, raw) in OPTIONS.iter().zip(values) {
        let Some(raw) = raw else { continue };
        let text =
            decode(raw, option.plus).map_err(|problem| problem.located(Place::Option(option.name.into()), raw))?;
        (|| {
            check_applies(option, version, &named)?;
            if options.apply.is_some() && matches!(option.name, "$expand" | "$search") {
                return Err(Problem::not_implemented(0, format!("{} of what $apply has made", option.name)));
            }
            (option.parse)(&context, &text, options)
        })()
        .map_err(|problem| match (version, &problem.fault) {
            (Version::V4, Fault::NotImplemented(_)) => unbuilt_or_wrong(*problem, (option, &text), &aliases),
            _ => problem.located(Place::Option(option.name.into()), &text),
        })?;
    }
    if let (Version::V2, Resource::Read(plan)) = (version, &mut *resource) {
        link::of_v2(model, &mut plan.options.expand);
    }
    match (call, resource) {
        (Some(call), Resource::Read(plan) | Resource::References(plan)) => {
            function::resolve(model, version, call, (&mut custom, &aliases), plan)?;
        }
        (Some(call), Resource::Act(act)) => {
            act.arguments = Some(function::arguments(version, model, call, &mut custom, &aliases)?);
        }
        _ => {}
    }
    Ok(custom)
}

/// The error for an option that is not built, or for an invalid text in it or in an alias beside it.
#[cold]
fn unbuilt_or_wrong(unbuilt: Problem, (option, text): (&SystemOption, &str), aliases: &[(String, String)]) -> UrlError {
    let wrong = |option, text| grammar::check(option, text).err().filter(|problem| problem.is_of_grammar());
    let place = || Place::Option(option.name.into());
    if let Some(problem) = wrong(option.name, text) {
        return problem.located(place(), text);
    }
    let alias = aliases.iter().find_map(|(name, text)| Some((name, text, wrong("$filter", text)?)));
    match alias {
        Some((name, text, problem)) => problem.located(Place::Option(name.clone().into()), text),
        None => unbuilt.located(place(), text),
    }
}

/// Checks that the text of an option of V4, decoded and by its name with `$`, follows the grammar as far as it has one
/// of its own, without a model.
///
/// # Errors
/// At which byte it departs.
pub fn follows_grammar(option: &str, text: &str) -> Result<(), usize> {
    grammar::check(option, text).map_err(|problem| problem.at.unwrap_or(0))
}

/// The parameter aliases of a query of V4 with their `@`, as far as they can be read: an error in one is reported when
/// the query itself is read.
pub(crate) fn aliases_of(query: &str) -> Vec<(String, String)> {
    let alias = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let name = decode(name, Plus::Space).ok().filter(|name| name.starts_with('@'))?;
        Some((name.into_owned(), decode(value, Plus::Space).ok()?.into_owned()))
    };
    query.split('&').filter_map(alias).collect()
}

/// The kind of target that a path names, as a set of applicable options, and in words.
struct Addressed(u8, &'static str);

/// The target of a path for which V4's `$select` has a meaning that is not built.
const COMPLEX: &str = "a complex property";

/// The target of a path for which V4's options of collections have a meaning that is not built.
const VALUES: &str = "a collection of values";

impl Addressed {
    fn of(version: Version, model: &Model, plan: &Plan) -> Addressed {
        let holds_values = |leaf: LeafId| model.type_of(plan.set()).leaves[leaf.0].primitive.item().is_some();
        match plan.shape {
            Shape::Collection => Addressed(COLLECTION, "a collection"),
            Shape::Entity => Addressed(ENTITY, "one entity"),
            Shape::Count if version == Version::V2 => Addressed(COUNT | COUNT_OF_V2, "a count"),
            Shape::Count => Addressed(COUNT, "a count"),
            Shape::Property(_) => Addressed(0, COMPLEX),
            Shape::Leaf(leaf) | Shape::RawValue(leaf) if holds_values(leaf) => Addressed(0, VALUES),
            Shape::Leaf(_) | Shape::RawValue(_) => Addressed(0, "a property"),
            Shape::Stream => Addressed(0, "a media stream"),
        }
    }
}

fn check_applies(option: &SystemOption, version: Version, named: &Addressed) -> Parsed<()> {
    let Addressed(bits, words) = *named;
    if option.applies_to == ANYTHING || option.applies_to & bits != 0 {
        return Ok(());
    }
    if version == Version::V4 && words == COMPLEX && option.name == "$select" {
        return Err(Problem::not_implemented(0, "$select of a complex property"));
    }
    if words == VALUES && matches!(option.name, "$filter" | "$orderby" | "$count" | "$skip" | "$top") {
        return Err(Problem::not_implemented(0, format!("{} of {VALUES}", option.name)));
    }
    Err(Problem::whole(Fault::NotApplicable, format!("{} does not apply: the path names {words}", option.name)))
}

fn unknown(version: Version, name: &str) -> UrlError {
    let elsewhere =
        OPTIONS.iter().find(|option| option.name.eq_ignore_ascii_case(name) && !option.versions.contains(&version));
    let problem = match elsewhere {
        Some(option) => {
            let other = if version == Version::V2 { "V4" } else { "V2" };
            let hint = (!option.elsewhere.is_empty()).then(|| option.elsewhere.to_owned());
            let what = format!("the query option {} is of OData {other}", option.name);
            Problem::whole(Fault::UnknownOption, what).hint_if(hint)
        }
        None => {
            let names = OPTIONS.iter().filter(|option| option.versions.contains(&version)).map(|option| option.name);
            let hint = suggest::nearest(name, names).map(|name| format!("did you mean {name}?"));
            Problem::whole(Fault::UnknownOption, format!("unknown query option {}", quoted(name))).hint_if(hint)
        }
    };
    problem.located(Place::Option(name.to_owned().into()), "")
}

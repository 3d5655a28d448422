//! The resource path: set, key, navigation, properties and what may stand behind them.
//!
//! It deliberately does not read data: a key is a value of the right type, not an entity that exists.

use super::error::{Fault, Parsed, Problem, quoted};
use super::function::{self, Call};
use super::key;
use super::percent::Quotes;
use crate::edm::{EntityType, Model, Multiplicity, PropertyKind, SetId, Version};
use crate::plan::{Called, Options, Plan, Resource, Shape, Step};
use crate::suggest;

/// Segments of a path, at most: each one is a join for the store.
const SEGMENTS_MAX: usize = 16;

/// Reads a decoded path; where it calls a function, the plan still waits for the arguments.
pub(crate) fn parse(model: &Model, version: Version, path: &str) -> Parsed<(Resource, Option<Call>)> {
    let mut segments = Segments { path, position: 0, taken: 0 };
    let Some(first) = segments.next()? else { return Ok((Resource::ServiceDocument, None)) };
    if first.text.starts_with('$') {
        let resource = system_resource(version, &first)?;
        return match segments.next()? {
            None => Ok((resource, None)),
            Some(next) => Err(nothing_follows(&next, first.text)),
        };
    }
    let name = match first.name.strip_prefix(model.container.as_str()).and_then(|rest| rest.strip_prefix('.')) {
        Some(name) if !model.container.is_empty() => name,
        _ => first.name,
    };
    let mut call = None;
    let mut called = None;
    let (root, shape, root_key) = match model.set(name) {
        Some(root) => {
            let entity_type = model.type_of(root);
            let predicate = first.predicate.map(|text| key::parse(version, entity_type, text, first.predicate_at));
            let root_key = predicate.transpose()?.flatten();
            (root, if root_key.is_some() { Shape::Entity } else { Shape::Collection }, root_key)
        }
        None => {
            let Some(index) = model.function_imports.iter().position(|function| function.name == name) else {
                return Err(unknown_root(model, &first));
            };
            let Some((root, shape, returned)) = function::leads_to(&model.function_imports[index]) else {
                return Ok((Resource::Function(index), None));
            };
            let arguments = first.predicate.map(|text| (text, first.predicate_at));
            call = Some(function::read(model, version, index, arguments)?);
            called = Some(Called { function: index, returned });
            (root, shape, None)
        }
    };
    let references = References::Unnamed;
    let mut walk = Walk { model, version, set: root, shape, root_key, steps: Vec::new(), references };
    while let Some(segment) = segments.next()? {
        if called.is_some_and(|called| called.returned.is_some()) {
            return Err(nothing_follows(&segment, first.name));
        }
        walk.step(&segment)?;
    }
    let Walk { shape, root_key, steps, references, .. } = walk;
    let options = Options { called, ..Options::default() };
    let plan = Box::new(Plan { root, key: root_key, steps, shape, options });
    match references {
        References::Unnamed => Ok((Resource::Read(plan), call)),
        References::Named => Ok((Resource::References(plan), call)),
        References::Awaited => Err(unknown(path.len(), "$links without a navigation property behind it".to_owned())),
    }
}

/// A segment cut at its parentheses.
struct Segment<'p> {
    text: &'p str,
    at: usize,
    name: &'p str,
    predicate: Option<&'p str>,
    predicate_at: usize,
}

struct Segments<'p> {
    path: &'p str,
    position: usize,
    taken: usize,
}

impl<'p> Segments<'p> {
    fn next(&mut self) -> Parsed<Option<Segment<'p>>> {
        let at = self.position;
        if at >= self.path.len() {
            return Ok(None);
        }
        let rest = &self.path[at..];
        // Most slashes are plain: only one behind a quote needs the walk through the quotes.
        let length = match rest.find('/') {
            None => rest.len(),
            Some(slash) if !rest.as_bytes()[..slash].contains(&b'\'') => slash,
            Some(_) => {
                let mut quotes = Quotes::default();
                rest.bytes().position(|byte| quotes.outside(byte) && byte == b'/').unwrap_or(rest.len())
            }
        };
        let text = &rest[..length];
        self.position = at + length + 1;
        if text.is_empty() {
            return Err(Problem::syntax(at, "an empty segment"));
        }
        self.taken += 1;
        if self.taken > SEGMENTS_MAX {
            return Err(Problem::new(Fault::Limit, at, format!("more than {SEGMENTS_MAX} segments")));
        }
        let (name, predicate) = match text.find('(') {
            None => (text, None),
            Some(open) => match text[open + 1..].strip_suffix(')') {
                Some(predicate) => (&text[..open], Some(predicate)),
                None => {
                    return Err(Problem::syntax(at + open, "a parenthesis that is not closed at the segment's end")
                        .hint("a quote inside of a string is written twice"));
                }
            },
        };
        Ok(Some(Segment { text, at, name, predicate, predicate_at: at + name.len() + 1 }))
    }
}

/// Whether the path names references.
#[derive(Clone, Copy, PartialEq, Eq)]
enum References {
    Unnamed,
    /// `$links` was read; the navigation property must follow.
    Awaited,
    /// Nothing can follow.
    Named,
}

struct Walk<'m> {
    model: &'m Model,
    version: Version,
    set: SetId,
    shape: Shape,
    root_key: Option<crate::plan::Key>,
    steps: Vec<Step>,
    references: References,
}

impl Walk<'_> {
    fn step(&mut self, segment: &Segment<'_>) -> Parsed<()> {
        let entity_type = self.model.type_of(self.set);
        match self.references {
            // There are as many links as entities behind them.
            References::Named
                if self.version == Version::V2 && self.shape == Shape::Collection && segment.text == "$count" =>
            {
                self.references = References::Unnamed;
                self.shape = Shape::Count;
                return Ok(());
            }
            References::Named => return Err(unknown(segment.at, "nothing can follow references".to_owned())),
            References::Awaited if entity_type.navigation(segment.name).is_none() => {
                let what = format!("{} has no navigation property {}", entity_type.name, quoted(segment.text));
                return Err(unknown(segment.at, what));
            }
            References::Awaited => {
                self.references = References::Named;
                return self.behind_entity(entity_type, segment);
            }
            References::Unnamed => {}
        }
        let entities = matches!(self.shape, Shape::Entity | Shape::Collection);
        match (segment.text, self.version) {
            ("$links", Version::V2) if self.shape == Shape::Entity => {
                self.references = References::Awaited;
                return Ok(());
            }
            ("$ref", Version::V4) if entities => {
                self.references = References::Named;
                return Ok(());
            }
            _ => {}
        }
        match self.shape {
            Shape::Collection => self.behind_collection(entity_type, segment),
            Shape::Entity => self.behind_entity(entity_type, segment),
            Shape::Property(property) => self.behind_complex(entity_type, property, segment),
            Shape::Leaf(leaf) if segment.text == "$value" => {
                self.shape = Shape::RawValue(leaf);
                Ok(())
            }
            Shape::Leaf(leaf) => {
                not_built(self.version, segment)?;
                let what = format!(
                    "{} cannot follow the property '{}'",
                    quoted(segment.text),
                    entity_type.leaves[leaf.0].path
                );
                Err(unknown(segment.at, what).hint("only $value can"))
            }
            Shape::Count | Shape::RawValue(_) | Shape::Stream => Err(unknown(
                segment.at,
                format!("nothing can follow {}", if self.shape == Shape::Count { "$count" } else { "$value" }),
            )),
        }
    }

    fn behind_collection(&mut self, entity_type: &EntityType, segment: &Segment<'_>) -> Parsed<()> {
        if segment.text == "$count" {
            self.shape = Shape::Count;
            return Ok(());
        }
        not_built(self.version, segment)?;
        let known = entity_type.navigation(segment.name).is_some() || entity_type.property(segment.name).is_some();
        let set = &self.model.entity_sets[self.set.0].name;
        let problem = unknown(segment.at, format!("{} cannot follow the collection '{set}'", quoted(segment.text)));
        Err(problem.hint(if known {
            "name one entity by its key first"
        } else {
            "only a key in parentheses or $count can"
        }))
    }

    fn behind_entity(&mut self, entity_type: &EntityType, segment: &Segment<'_>) -> Parsed<()> {
        if let Some(navigation) = entity_type.navigation(segment.name) {
            let declared = &entity_type.navigation[navigation.0];
            let mut step = Step { navigation, target: declared.target, key: None };
            let many = declared.multiplicity == Multiplicity::Many;
            if let Some(predicate) = segment.predicate {
                if !many {
                    let what = format!("'{}' leads to one entity and takes no key", declared.name);
                    return Err(Problem::new(Fault::BadKey, segment.predicate_at - 1, what));
                }
                step.key = key::parse(self.version, self.model.type_of(step.target), predicate, segment.predicate_at)?;
            }
            self.shape = if many && step.key.is_none() { Shape::Collection } else { Shape::Entity };
            self.set = step.target;
            self.steps.push(step);
            return Ok(());
        }
        if let Some(property) = entity_type.property(segment.text) {
            self.shape = match entity_type.leaf(segment.text) {
                Some(leaf) => Shape::Leaf(leaf),
                None => Shape::Property(property),
            };
            return Ok(());
        }
        if segment.text == "$value" {
            if entity_type.stream.is_some() {
                self.shape = Shape::Stream;
                return Ok(());
            }
            if entity_type.media {
                return Err(Problem::not_implemented(segment.at, "the media stream of an entity ($value)"));
            }
            let what = format!("{} is not a media entity and has no $value", entity_type.name);
            return Err(unknown(segment.at, what));
        }
        not_built(self.version, segment)?;
        let names = entity_type
            .properties
            .iter()
            .map(|property| property.name.as_str())
            .chain(entity_type.navigation.iter().map(|navigation| navigation.name.as_str()));
        let hint = suggest::nearest(segment.name, names).map(|name| format!("{} has {name}", entity_type.name));
        Err(unknown(segment.at, format!("{} has no property {}", entity_type.name, quoted(segment.text))).hint_if(hint))
    }

    fn behind_complex(&mut self, entity_type: &EntityType, property: usize, segment: &Segment<'_>) -> Parsed<()> {
        let declared = &entity_type.properties[property];
        let PropertyKind::Complex(id) = declared.kind else {
            return Err(unknown(segment.at, format!("nothing can follow '{}'", declared.name)));
        };
        let complex = &self.model.complex_types[id.0];
        let leaf = entity_type.leaves.iter().position(|leaf| {
            leaf.property == property && leaf.inner.is_some_and(|inner| complex.properties[inner].name == segment.text)
        });
        if let Some(leaf) = leaf {
            self.shape = Shape::Leaf(crate::edm::LeafId(leaf));
            return Ok(());
        }
        not_built(self.version, segment)?;
        let names = complex.properties.iter().map(|property| property.name.as_str());
        let hint = suggest::nearest(segment.name, names).map(|name| format!("{} has {name}", complex.name));
        Err(unknown(segment.at, format!("{} has no property {}", complex.name, quoted(segment.text))).hint_if(hint))
    }
}

fn system_resource(version: Version, segment: &Segment<'_>) -> Parsed<Resource> {
    match (segment.text, segment.name, version) {
        ("$metadata", ..) => Ok(Resource::Metadata),
        ("$batch", ..) => Ok(Resource::Batch),
        (_, "$all" | "$crossjoin" | "$entity" | "$root", Version::V4) => {
            Err(Problem::not_implemented(segment.at, segment.name))
        }
        _ => {
            let hint =
                suggest::nearest(segment.name, ["$metadata", "$batch"]).map(|name| format!("did you mean {name}?"));
            Err(unknown(segment.at, format!("unknown resource {}", quoted(segment.text))).hint_if(hint))
        }
    }
}

/// Segments that the versions have and this parser does not follow.
fn not_built(version: Version, segment: &Segment<'_>) -> Parsed<()> {
    let name = match (segment.name, version) {
        ("$links", Version::V2) => "$links",
        ("$ref" | "$filter" | "$each" | "$query" | "$value" | "$it", Version::V4) => segment.name,
        (name, Version::V4) if name.contains('.') => {
            let what = format!("the type cast or bound operation {}", quoted(name));
            return Err(Problem::not_implemented(segment.at, what));
        }
        _ => return Ok(()),
    };
    Err(Problem::not_implemented(segment.at, name))
}

fn unknown_root(model: &Model, segment: &Segment<'_>) -> Box<Problem> {
    let names = model
        .entity_sets
        .iter()
        .map(|set| set.name.as_str())
        .chain(model.function_imports.iter().map(|function| function.name.as_str()));
    let hint = match suggest::nearest(segment.name, names) {
        Some(name) => format!("did you mean {name}?"),
        None => {
            let sets: Vec<&str> = model.entity_sets.iter().map(|set| set.name.as_str()).take(8).collect();
            format!("there are {}", sets.join(", "))
        }
    };
    unknown(segment.at, format!("unknown entity set {}", quoted(segment.name))).hint(hint)
}

fn nothing_follows(segment: &Segment<'_>, before: &str) -> Box<Problem> {
    unknown(segment.at, format!("nothing can follow '{before}'"))
}

fn unknown(at: usize, what: String) -> Box<Problem> {
    Problem::new(Fault::UnknownSegment, at, what)
}

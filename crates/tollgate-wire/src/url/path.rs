//! The resource path: set, key, navigation, properties and their suffixes.
//!
//! It deliberately does not read data: a key is a value of the right type, not an entity that exists.

use crate::address::{
    Aliases, Call, Fault, Parsed, Problem, Quotes, leads_to, of_segment, quoted, read_call, read_key,
};
use crate::edm::{
    BoundTo, EntityType, FunctionImport, LeafId, Model, Multiplicity, PropertyKind, Reached, SetId, Singleton,
    SubtypeId, Version,
};
use crate::plan::{Act, Called, Cast, Key, Options, Origin, Plan, Resource, Shape, Step};
use crate::query::cast;
use crate::suggest;
use crate::value::Value;

/// Segments of a path, at most: each one is a join for the store.
const SEGMENTS_MAX: usize = 16;

/// Reads a decoded path; where it calls a function, or an action of V2, the plan still waits for the arguments.
pub(crate) fn parse(
    model: &Model,
    version: Version,
    path: &str,
    aliases: &Aliases,
) -> Parsed<(Resource, Option<Call>)> {
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
    let named = |known: &Singleton| version == Version::V4 && known.name == name;
    let singleton = model.singletons.iter().position(named);
    let (root, shape, root_key) = match (model.set(name), singleton) {
        (None, Some(index)) => {
            let singleton = &model.singletons[index];
            if first.predicate.is_some() {
                let what = format!("'{}' is one entity and takes no key", first.name);
                return Err(Problem::new(Fault::BadKey, first.predicate_at - 1, what));
            }
            (singleton.set, Shape::Entity, Some(Key(singleton.key.clone())))
        }
        (Some(root), _) => {
            let entity_type = model.type_of(root);
            let predicate = first.predicate;
            let predicate = predicate.map(|text| read_key((version, aliases), entity_type, text, first.predicate_at));
            let root_key = predicate.transpose()?.flatten();
            (root, if root_key.is_some() { Shape::Entity } else { Shape::Collection }, root_key)
        }
        (None, None) => {
            let named = |function: &FunctionImport| function.bound.is_none() && function.name == name;
            let Some(index) = model.function_imports.iter().position(named) else {
                return Err(unknown_root(model, &first));
            };
            if let Some(effect) = model.function_imports[index].effect() {
                let shape = match effect.reached {
                    Reached::Bound | Reached::Keyed(_) => Shape::Entity,
                    Reached::Matching(_) => Shape::Collection,
                };
                let call = action_call(model, version, index, &first)?;
                let plan = Plan { root: effect.set, key: None, steps: Vec::new(), shape, options: Options::default() };
                return match segments.next()? {
                    None => Ok((Resource::Act(Box::new(Act { action: index, plan, arguments: None })), call)),
                    Some(next) => Err(nothing_follows(&next, first.name)),
                };
            }
            let Some((root, shape, returned)) = leads_to(&model.function_imports[index]) else {
                return Ok((Resource::Function(index), None));
            };
            let arguments = first.predicate.map(|text| (text, first.predicate_at));
            call = Some(read_call(model, version, index, arguments)?);
            called = Some(Called { function: index, returned });
            (root, shape, None)
        }
    };
    let references = References::Unnamed;
    let steps = Vec::new();
    let mut walk = Walk {
        model,
        version,
        aliases,
        set: root,
        subtype: SubtypeId::ROOT,
        casts: Vec::new(),
        shape,
        root_key,
        parts: Vec::new(),
        steps,
        references,
        called,
        call,
        act: None,
    };
    while let Some(segment) = segments.next()? {
        if called.is_some_and(|called| called.returned.is_some()) {
            return Err(nothing_follows(&segment, first.name));
        }
        walk.step(&segment)?;
    }
    walk.whole_key(path.len())?;
    let Walk { subtype, casts, shape, root_key, steps, references, called, call, act, .. } = walk;
    let singleton = singleton.filter(|_| steps.is_empty() && shape == Shape::Entity);
    let options = Options { called, singleton, subtype, casts, ..Options::default() };
    let plan = Plan { root, key: root_key, steps, shape, options };
    if let Some(action) = act {
        return Ok((Resource::Act(Box::new(Act { action, plan, arguments: None })), None));
    }
    let plan = Box::new(plan);
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
    aliases: &'m Aliases,
    set: SetId,
    /// The type as which the entities of the path so far are seen.
    subtype: SubtypeId,
    casts: Vec<Cast>,
    shape: Shape,
    root_key: Option<crate::plan::Key>,
    /// The first parts of a key, each a segment, while others must follow.
    parts: Vec<Value>,
    steps: Vec<Step>,
    references: References,
    /// The function that was called on the way, with what the path gives it.
    called: Option<Called>,
    call: Option<Call>,
    /// The action that the path ends in.
    act: Option<usize>,
}

impl Walk<'_> {
    fn step(&mut self, segment: &Segment<'_>) -> Parsed<()> {
        if !self.parts.is_empty() {
            return self.key_segment(segment);
        }
        if let Some(action) = self.act {
            return Err(nothing_follows(segment, &self.model.function_imports[action].name));
        }
        let entity_type = self.model.seen(self.version, self.set, self.subtype);
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
            (_, Version::V4) if entities => {
                if let Some(operation) = self.bound_operation(segment.name) {
                    return self.operation(operation, segment);
                }
                if segment.name.contains('.')
                    && !self.is_operation(segment.name)
                    && let Some(subtype) =
                        cast::target(self.model, entity_type, segment.name, (Fault::UnknownSegment, segment.at))?
                {
                    return self.cast(entity_type, subtype, segment);
                }
            }
            _ => {}
        }
        match self.shape {
            Shape::Collection => self.behind_collection(entity_type, segment),
            Shape::Entity => self.behind_entity(entity_type, segment),
            Shape::Property(property) => self.behind_complex(entity_type, property, segment),
            Shape::Leaf(leaf) if segment.text == of_leaf(entity_type, leaf) => {
                self.shape = Shape::RawValue(leaf);
                Ok(())
            }
            Shape::Leaf(leaf) => {
                if entity_type.leaves[leaf.0].primitive.item().is_none() || segment.text != "$value" {
                    not_built(self.version, segment)?;
                }
                let what = format!(
                    "{} cannot follow the property '{}'",
                    quoted(segment.text),
                    entity_type.leaves[leaf.0].path
                );
                Err(unknown(segment.at, what).hint(format!("only {} can", of_leaf(entity_type, leaf))))
            }
            Shape::Count | Shape::RawValue(_) | Shape::Stream => Err(unknown(
                segment.at,
                format!("nothing can follow {}", if self.shape == Shape::Count { "$count" } else { "$value" }),
            )),
        }
    }

    /// Whether there is an operation with that qualified name.
    fn is_operation(&self, name: &str) -> bool {
        let name = name.strip_prefix(self.model.namespace.as_str()).and_then(|rest| rest.strip_prefix('.'));
        name.is_some_and(|name| self.model.function_imports.iter().any(|operation| operation.name == name))
    }

    /// The operation of that qualified name that can be called on what the path leads to so far.
    fn bound_operation(&self, name: &str) -> Option<usize> {
        let name = name.strip_prefix(self.model.namespace.as_str())?.strip_prefix('.')?;
        let to = if self.shape == Shape::Entity { BoundTo::Entity } else { BoundTo::Collection };
        self.model.function_imports.iter().position(|operation| {
            operation.name == name && operation.bound.is_some_and(|bound| bound.set == self.set && bound.to == to)
        })
    }

    /// Calls an operation on what the path leads to so far.
    fn operation(&mut self, index: usize, segment: &Segment<'_>) -> Parsed<()> {
        let declared = &self.model.function_imports[index];
        if self.called.is_some() {
            return Err(Problem::not_implemented(segment.at, "an operation on what a function has found"));
        }
        if declared.effect().is_some() {
            action_call(self.model, self.version, index, segment)?;
            self.act = Some(index);
            return Ok(());
        }
        let arguments = segment.predicate.map(|text| (text, segment.predicate_at));
        self.call = Some(read_call(self.model, self.version, index, arguments)?);
        self.called = Some(Called { function: index, returned: None });
        if let Some(navigation) = declared.bound.and_then(|bound| bound.through) {
            let target = self.model.type_of(self.set).navigation[navigation.0].target;
            self.steps.push(Step { navigation, target, key: None });
            (self.set, self.subtype) = (target, SubtypeId::ROOT);
        }
        self.shape = Shape::Collection;
        Ok(())
    }

    /// Continues with only the entities of the type; a key may follow its name.
    fn cast(&mut self, entity_type: &EntityType, subtype: SubtypeId, segment: &Segment<'_>) -> Parsed<()> {
        let behind = self.steps.len();
        let condition = cast::condition(entity_type, (Origin::It, &[]), subtype, segment.at);
        self.casts.extend(condition.map(|condition| Cast { behind, condition }));
        self.subtype = subtype;
        let Some(predicate) = segment.predicate else { return Ok(()) };
        if self.shape != Shape::Collection {
            let what = "one entity takes no key behind its type".to_owned();
            return Err(Problem::new(Fault::BadKey, segment.predicate_at - 1, what));
        }
        let key = read_key((self.version, self.aliases), entity_type, predicate, segment.predicate_at)?;
        if key.is_some() {
            self.shape = Shape::Entity;
        }
        match self.steps.last_mut() {
            Some(step) => step.key = key,
            None => self.root_key = key,
        }
        Ok(())
    }

    fn behind_collection(&mut self, entity_type: &EntityType, segment: &Segment<'_>) -> Parsed<()> {
        if segment.text == "$count" {
            self.shape = Shape::Count;
            return Ok(());
        }
        not_built(self.version, segment)?;
        let known = entity_type.navigation(segment.name).is_some() || entity_type.property(segment.name).is_some();
        if !known && self.takes_key_segments() && of_segment(entity_type, 0, segment.text).is_some() {
            return self.key_segment(segment);
        }
        let set = &self.model.entity_sets[self.set.0].name;
        let problem = unknown(segment.at, format!("{} cannot follow the collection '{set}'", quoted(segment.text)));
        Err(problem.hint(match (known, self.version) {
            (true, _) => "name one entity by its key first",
            (false, Version::V2) => "only a key in parentheses or $count can",
            (false, Version::V4) => "only a key or $count can",
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
                let target = self.model.type_of(step.target);
                step.key = read_key((self.version, self.aliases), target, predicate, segment.predicate_at)?;
            }
            self.shape = if many && step.key.is_none() { Shape::Collection } else { Shape::Entity };
            (self.set, self.subtype) = (step.target, SubtypeId::ROOT);
            self.steps.push(step);
            return Ok(());
        }
        if let Some(property) = entity_type.property_in(self.version, segment.text) {
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
        let hint = suggest::nearest(segment.name, entity_type.names(self.version))
            .map(|name| format!("{} has {name}", entity_type.name));
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
            self.shape = Shape::Leaf(LeafId(leaf));
            return Ok(());
        }
        not_built(self.version, segment)?;
        let names = complex.properties.iter().map(|property| property.name.as_str());
        let hint = suggest::nearest(segment.name, names).map(|name| format!("{} has {name}", complex.name));
        Err(unknown(segment.at, format!("{} has no property {}", complex.name, quoted(segment.text))).hint_if(hint))
    }
}

/// Keys with a segment for each part (`Flights/LH/400/2013-09-25`, Conventions 4.01 section 4.3.6).
impl Walk<'_> {
    /// Whether keys may be segments: not in V2, and not behind a function, whose answer is chosen by its arguments.
    fn takes_key_segments(&self) -> bool {
        self.version == Version::V4 && self.called.is_none()
    }

    /// Takes a segment as the next part of a key; the last one makes an entity of the collection.
    fn key_segment(&mut self, segment: &Segment<'_>) -> Parsed<()> {
        let entity_type = self.model.type_of(self.set);
        let Some(value) = of_segment(entity_type, self.parts.len(), segment.text) else {
            let leaf = &entity_type.leaves[entity_type.key[self.parts.len()].0];
            let what = format!("{} is no value of the key property '{}'", quoted(segment.text), leaf.path);
            return Err(Problem::new(Fault::BadKey, segment.at, what));
        };
        self.parts.push(value);
        if self.parts.len() == entity_type.key.len() {
            let key = Some(Key(std::mem::take(&mut self.parts)));
            match self.steps.last_mut() {
                Some(step) => step.key = key,
                None => self.root_key = key,
            }
            self.shape = Shape::Entity;
        }
        Ok(())
    }

    /// Checks that no part of a key is missing at the end of the path.
    fn whole_key(&self, at: usize) -> Parsed<()> {
        if self.parts.is_empty() {
            return Ok(());
        }
        let entity_type = self.model.type_of(self.set);
        let missing = &entity_type.leaves[entity_type.key[self.parts.len()].0].path;
        let what =
            format!("the key of {} has {} parts, '{missing}' is missing", entity_type.name, entity_type.key.len());
        Err(Problem::new(Fault::BadKey, at, what))
    }
}

/// The call of an action, as far as the path gives it: its arguments follow in the query (V2), or in the body.
fn action_call(model: &Model, version: Version, index: usize, segment: &Segment<'_>) -> Parsed<Option<Call>> {
    match (segment.predicate, version) {
        (Some(text), Version::V4) if !text.trim().is_empty() => {
            let what = format!("the action '{}' has its parameters in the body", segment.name);
            Err(Problem::syntax(segment.predicate_at, what))
        }
        (_, Version::V4) => Ok(None),
        (predicate, Version::V2) => {
            let arguments = predicate.map(|text| (text, segment.predicate_at));
            read_call(model, version, index, arguments).map(Some)
        }
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

/// The allowed suffix of a leaf: its bare value, or for a collection the number of its values.
fn of_leaf(entity_type: &EntityType, leaf: LeafId) -> &'static str {
    match entity_type.leaves[leaf.0].primitive.item() {
        None => "$value",
        Some(_) => "$count",
    }
}

/// Segments that the versions have and this parser does not follow.
fn not_built(version: Version, segment: &Segment<'_>) -> Parsed<()> {
    let name = match (segment.name, version) {
        ("$links", Version::V2) => "$links",
        ("$ref" | "$filter" | "$each" | "$query" | "$value" | "$it", Version::V4) => segment.name,
        (name, Version::V4) if is_qualified(name) => {
            let what = format!("the type cast or bound operation {}", quoted(name));
            return Err(Problem::not_implemented(segment.at, what));
        }
        _ => return Ok(()),
    };
    Err(Problem::not_implemented(segment.at, name))
}

/// Whether a text can be a qualified name: identifiers with dots between them.
fn is_qualified(text: &str) -> bool {
    let is_identifier = |part: &str| {
        part.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && part.chars().all(|character| character.is_alphanumeric() || character == '_')
    };
    text.contains('.') && text.split('.').all(is_identifier)
}

fn unknown_root(model: &Model, segment: &Segment<'_>) -> Box<Problem> {
    let is_name = |character: char| character.is_alphanumeric() || matches!(character, '_' | '.' | '-');
    if let Some(strange) = segment.name.find(|character| !is_name(character)) {
        return Problem::syntax(segment.at + strange, format!("{} is no name", quoted(segment.name)));
    }
    let names = model
        .entity_sets
        .iter()
        .map(|set| set.name.as_str())
        .chain(model.singletons.iter().map(|singleton| singleton.name.as_str()))
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

//! Paths in expressions: from an entity over navigation to a leaf, or to a question about what navigation leads to.
//!
//! It deliberately reads nothing else: the text before a path decides its owner.

use super::parser::{Asked, Collection, Holds, Node, Parser, Variable};
use crate::address::{Fault, Parsed, Problem, quoted};
use crate::edm::{EntityType, LeafId, Multiplicity, NavigationId, Primitive, PropertyKind, SetId, SubtypeId, Version};
use crate::plan::{Expression, ExpressionKind, Logic, Origin};
use crate::query::cast;
use crate::query::limits::NAVIGATION_MAX;
use crate::suggest;

/// An entity that a path leads to.
pub(super) struct Entity<'c> {
    pub(super) of: Origin,
    pub(super) through: Vec<(NavigationId, SetId)>,
    pub(super) entity_type: &'c EntityType,
    /// The condition for it, from the casts on the way.
    pub(super) only_if: Option<Expression>,
}

impl<'c> Parser<'c> {
    /// A path from an entity of that type to a leaf, or to a question about related entities.
    pub(super) fn path(&mut self, of: Origin, entity_type: &'c EntityType) -> Parsed<Node> {
        self.path_from(Entity { of, through: Vec::new(), entity_type, only_if: None })
    }

    /// The same from an entity that a path leads to.
    pub(super) fn path_from(&mut self, entity: Entity<'c>) -> Parsed<Node> {
        let Entity { of, mut through, mut entity_type, mut only_if } = entity;
        let at = self.position;
        let context = self.context;
        let leaf = loop {
            let segment_at = self.position;
            if let Some((subtype, length)) = self.cast_here(entity_type, segment_at)? {
                let condition = cast::condition(entity_type, (of, &through), subtype, segment_at);
                only_if = both(only_if, condition);
                entity_type = context.model.seen_as(entity_type, subtype);
                self.position += length;
                continue;
            }
            let name = self.word();
            self.position += name.len();
            if let Some(property) = entity_type.property_in(context.version, name) {
                let leaf = self.leaf(entity_type, property)?;
                let declared = &entity_type.leaves[leaf.0];
                if let Primitive::Collection(item) = declared.primitive {
                    let asked = Asked::Values(leaf, item, declared.enumeration);
                    let collection = Collection { of, through, asked, of_subtype: None, only_if };
                    return self.question(collection, name, at, segment_at);
                }
                break leaf;
            }
            let Some(navigation) = entity_type.navigation(name) else {
                self.position = segment_at;
                return Err(self.unknown_name(entity_type, name));
            };
            let declared = &entity_type.navigation[navigation.0];
            if declared.multiplicity == Multiplicity::Many {
                let target = declared.target;
                let (subtype, of_subtype) = self.collection_cast(target)?;
                let asked = Asked::Entities(navigation, target, subtype);
                let collection = Collection { of, through, asked, of_subtype, only_if };
                return self.question(collection, &declared.name, at, segment_at);
            }
            if !self.rest().starts_with('/') {
                return Err(Problem::not_implemented(segment_at, format!("the entity '{name}' as a value"))
                    .hint("name one of its properties behind a slash"));
            }
            if through.len() == NAVIGATION_MAX {
                let what = format!("more than {NAVIGATION_MAX} navigation properties in a path");
                return Err(Problem::new(Fault::Limit, segment_at, what));
            }
            self.position += 1;
            through.push((navigation, declared.target));
            entity_type = context.model.seen(context.version, declared.target, SubtypeId::ROOT);
        };
        if self.rest().starts_with('/') {
            let behind = quoted(&self.rest()[1..]);
            return match context.version {
                Version::V4 => Err(Problem::not_implemented(self.position, format!("{behind} behind a property"))),
                Version::V2 => Err(Problem::syntax(self.position, "nothing can follow a primitive property")),
            };
        }
        let declared = &entity_type.leaves[leaf.0];
        let (primitive, enumeration) = (Some(declared.primitive), declared.enumeration);
        let expression = Expression { kind: ExpressionKind::Leaf { of, through, leaf }, primitive, position: at };
        let node = self.node(expression, 0)?;
        let node = self.only_if(only_if, node)?;
        // V2 knows what is stored.
        Ok(Node { enumeration: enumeration.filter(|_| context.version == Version::V4), ..node })
    }

    /// The entity that follows as the argument of a call, with a comma behind it; `None` if something else follows.
    pub(super) fn entity_argument(&mut self) -> Parsed<Option<Entity<'c>>> {
        let begin = self.position;
        let entity = self.entity()?;
        self.space();
        if entity.is_none() || !self.rest().starts_with(',') {
            self.position = begin;
            return Ok(None);
        }
        Ok(entity)
    }

    fn entity(&mut self) -> Parsed<Option<Entity<'c>>> {
        let context = self.context;
        let version = context.version;
        let (mut of, mut entity_type) = (self.here, self.here_type);
        let mut more = true;
        if let Some(word @ ("it" | "this")) = self.rest().strip_prefix('$').map(|_| self.word_behind(1)) {
            let is_value = self.variables.last().is_some_and(|last| matches!(last.holds, Holds::Value(..)));
            match word {
                "it" => (of, entity_type) = (Origin::It, context.entity_type),
                _ if is_value => return Ok(None),
                _ => {}
            }
            self.position += 1 + word.len();
            more = self.take_slash();
        } else if let Some(number) =
            self.variables.iter().rposition(|known| known.name == self.word() && !known.name.is_empty())
        {
            let Variable { name, holds: Holds::Entity(set, subtype) } = self.variables[number] else { return Ok(None) };
            (of, entity_type) = (Origin::Variable(number), context.model.seen(version, set, subtype));
            self.position += name.len();
            more = self.take_slash();
        }
        let mut entity = Entity { of, through: Vec::new(), entity_type, only_if: None };
        while more {
            let at = self.position;
            if let Some((subtype, length)) = self.cast_here(entity.entity_type, at)? {
                let condition = cast::condition(entity.entity_type, (of, &entity.through), subtype, at);
                entity.only_if = both(entity.only_if, condition);
                entity.entity_type = context.model.seen_as(entity.entity_type, subtype);
                self.position += length;
                continue;
            }
            let name = self.word();
            let Some(navigation) = entity.entity_type.navigation(name) else { return Ok(None) };
            let declared = &entity.entity_type.navigation[navigation.0];
            if declared.multiplicity == Multiplicity::Many || entity.through.len() == NAVIGATION_MAX {
                return Ok(None);
            }
            self.position += name.len();
            entity.through.push((navigation, declared.target));
            entity.entity_type = context.model.seen(version, declared.target, SubtypeId::ROOT);
            more = self.take_slash();
        }
        Ok(Some(entity))
    }

    fn take_slash(&mut self) -> bool {
        let taken = self.rest().starts_with('/');
        self.position += usize::from(taken);
        taken
    }

    /// The type cast that follows, with something behind it: the type, and how long it is with its slash.
    fn cast_here(&mut self, entity_type: &EntityType, at: usize) -> Parsed<Option<(SubtypeId, usize)>> {
        let name = self.qualified();
        if self.context.version == Version::V2 || !name.contains('.') || !self.rest()[name.len()..].starts_with('/') {
            return Ok(None);
        }
        let subtype = cast::target(self.context.model, entity_type, name, (Fault::UnknownProperty, at))?;
        Ok(subtype.map(|subtype| (subtype, name.len() + 1)))
    }

    /// The type that the collection which was just read is cast to, with what is true of its entities then.
    fn collection_cast(&mut self, target: SetId) -> Parsed<(SubtypeId, Option<Expression>)> {
        let context = self.context;
        let entity_type = context.model.seen(context.version, target, SubtypeId::ROOT);
        let slash = self.position;
        if !self.rest().starts_with('/') {
            return Ok((SubtypeId::ROOT, None));
        }
        self.position += 1;
        let Some((subtype, length)) = self.cast_here(entity_type, slash + 1)? else {
            self.position = slash;
            return Ok((SubtypeId::ROOT, None));
        };
        // The question stands behind the slash that ends the cast.
        self.position += length - 1;
        let variable = Origin::Variable(self.variables.len());
        Ok((subtype, cast::condition(entity_type, (variable, &[]), subtype, slash + 1)))
    }

    /// A value that there is only under a condition.
    pub(super) fn only_if(&mut self, condition: Option<Expression>, node: Node) -> Parsed<Node> {
        let Some(condition) = condition else { return Ok(node) };
        let Expression { primitive, position, .. } = node.expression;
        let kind = ExpressionKind::Case(vec![(condition, node.expression)]);
        // Of the casts in a path none is higher than this.
        let height = node.height.max(2 + NAVIGATION_MAX);
        let enumeration = node.enumeration;
        Ok(Node { enumeration, ..self.node(Expression { kind, primitive, position }, height)? })
    }

    /// The leaf of a property that was read; a complex one needs its member.
    fn leaf(&mut self, entity_type: &EntityType, property: usize) -> Parsed<LeafId> {
        let declared = &entity_type.properties[property];
        let mut leaves = entity_type.leaves.iter().enumerate().filter(|(_, leaf)| leaf.property == property);
        let PropertyKind::Complex(id) = declared.kind else {
            let (leaf, _) = leaves.next().expect("a primitive property has a leaf");
            return Ok(LeafId(leaf));
        };
        let complex = &self.context.model.complex_types[id.0];
        if !self.rest().starts_with('/') {
            let at = self.position - declared.name.len();
            let problem = match self.context.version {
                Version::V2 => Problem::new(Fault::Type, at, format!("'{}' is complex and no value", declared.name)),
                Version::V4 => {
                    Problem::not_implemented(at, format!("the complex property '{}' as a value", declared.name))
                }
            };
            let example =
                complex.properties.first().map(|member| format!("name a member, as {}/{}", declared.name, member.name));
            return Err(problem.hint_if(example));
        }
        self.position += 1;
        let name = self.word();
        let found = leaves.find(|(_, leaf)| leaf.inner.is_some_and(|inner| complex.properties[inner].name == name));
        if let Some((leaf, _)) = found {
            self.position += name.len();
            return Ok(LeafId(leaf));
        }
        let names = complex.properties.iter().map(|member| member.name.as_str());
        let hint = suggest::nearest(name, names).map(|name| format!("{} has {name}", complex.name));
        if self.context.version == Version::V4 && (name.is_empty() || self.rest()[name.len()..].starts_with('.')) {
            let what = format!("{} behind a complex property", quoted(self.rest()));
            return Err(Problem::not_implemented(self.position, what));
        }
        Err(Problem::new(Fault::UnknownProperty, self.position, format!("unknown property {}", quoted(name)))
            .hint_if(hint))
    }

    fn unknown_name(&self, entity_type: &EntityType, name: &str) -> Box<Problem> {
        let at = self.position;
        if name.is_empty() {
            let rest = self.rest();
            let unbuilt = self.context.version == Version::V4 && rest.starts_with(['$', '@']);
            return match unbuilt {
                true => Problem::not_implemented(at, format!("{} in a path", quoted(rest))),
                false => Problem::syntax(at, "expected a property"),
            };
        }
        if self.context.version == Version::V4 && self.rest()[name.len()..].starts_with('.') {
            return Problem::not_implemented(at, format!("the type cast {}", quoted(self.qualified())));
        }
        let hint = match suggest::nearest(name, entity_type.names(self.context.version)) {
            Some(name) => format!("{} has {name}", entity_type.name),
            None => format!("it is none of {}", entity_type.name),
        };
        Problem::new(Fault::UnknownProperty, at, format!("unknown property {}", quoted(name))).hint(hint)
    }
}

/// Both conditions, as far as there are any.
pub(super) fn both(left: Option<Expression>, right: Option<Expression>) -> Option<Expression> {
    match (left, right) {
        (Some(left), Some(right)) => {
            let position = left.position;
            let kind = ExpressionKind::Logic(Logic::And, Box::new(left), Box::new(right));
            Some(Expression { kind, primitive: Some(Primitive::Boolean), position })
        }
        (left, right) => left.or(right),
    }
}

//! Paths in expressions: from an entity over navigation to a leaf, or to a question about what navigation leads to.
//!
//! It deliberately reads nothing else: what stands before a path decides whose it is.

use super::{Node, Parser, related};
use crate::edm::{EntityType, LeafId, Multiplicity, NavigationId, Primitive, PropertyKind, SetId, Version};
use crate::plan::{Expression, ExpressionKind, Origin};
use crate::query::limits::NAVIGATION_MAX;
use crate::suggest;
use crate::url::{Fault, Parsed, Problem, quoted};

impl<'c> Parser<'c> {
    /// A path from an entity of that type to a leaf, or to a question about related entities.
    pub(super) fn path(&mut self, of: Origin, mut entity_type: &'c EntityType) -> Parsed<Node> {
        let at = self.position;
        let context = self.context;
        let mut through: Vec<(NavigationId, SetId)> = Vec::new();
        let leaf = loop {
            let segment_at = self.position;
            let name = self.word();
            self.position += name.len();
            if let Some(property) = entity_type.property_in(context.version, name) {
                let leaf = self.leaf(entity_type, property)?;
                let declared = &entity_type.leaves[leaf.0];
                if let Primitive::Collection(item) = declared.primitive {
                    let asked = related::Asked::Values(leaf, item, declared.enumeration);
                    let collection = related::Collection { of, through, asked };
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
                let asked = related::Asked::Entities(navigation, declared.target);
                let collection = related::Collection { of, through, asked };
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
            entity_type = context.model.type_of(declared.target);
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
        // V2 knows what is stored.
        Ok(Node { enumeration: enumeration.filter(|_| context.version == Version::V4), ..node })
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
            return Problem::not_implemented(at, format!("the type cast {}", quoted(self.rest())));
        }
        let names = entity_type
            .properties
            .iter()
            .filter(|property| property.is_shown_in(self.context.version))
            .map(|property| property.name.as_str())
            .chain(entity_type.navigation.iter().map(|navigation| navigation.name.as_str()));
        let hint = match suggest::nearest(name, names) {
            Some(name) => format!("{} has {name}", entity_type.name),
            None => format!("it is none of {}", entity_type.name),
        };
        Problem::new(Fault::UnknownProperty, at, format!("unknown property {}", quoted(name))).hint(hint)
    }
}

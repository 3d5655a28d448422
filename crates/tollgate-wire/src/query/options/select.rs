//! `$select`: properties, members of complex ones, navigation properties and `*`; in V2 also properties of what is
//! expanded (`flightBookings/PASSNAME`).

use crate::address::{Fault, Parsed, Problem, quoted};
use crate::edm::{EntityType, LeafId, NavigationId, PropertyKind, Version};
use crate::plan::{Expand, Options, Select};
use crate::query::context::Context;
use crate::query::{cast, list};
use crate::relation::Applied;
use crate::suggest;

pub(super) fn parse(context: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    if let Some(applied) = &mut options.apply {
        return of_columns(applied, text);
    }
    let everything = list::items(text, b',').any(|(_, item)| item == "*");
    for computed in &mut options.compute {
        computed.shown = everything;
    }
    let mut items: Vec<(usize, &str)> = list::items(text, b',').collect();
    items.retain(|(_, item)| match options.compute.iter_mut().find(|computed| computed.name == *item) {
        Some(computed) => {
            computed.shown = true;
            false
        }
        None => true,
    });
    options.select = of_entities(context, context.entity_type, &items, &mut options.expand)?;
    Ok(())
}

/// The selection of entities, and in V2 of those that are expanded in them.
fn of_entities(
    context: &Context<'_>,
    entity_type: &EntityType,
    items: &[(usize, &str)],
    expand: &mut Vec<Expand>,
) -> Parsed<Select> {
    let mut own = Chosen::default();
    let mut nested: Vec<Vec<(usize, &str)>> = vec![Vec::new(); expand.len()];
    for &(at, item) in items {
        let behind = item.split_once('/').filter(|_| context.version == Version::V2);
        let navigation = behind.and_then(|(name, rest)| Some((name, rest, entity_type.navigation(name)?)));
        let Some((name, rest, navigation)) = navigation else {
            own.add(context, entity_type, item, at)?;
            continue;
        };
        let Some(expanded) = expand.iter().position(|expand| expand.navigation == navigation) else {
            let what = format!("'{name}' is selected from but not expanded");
            return Err(Problem::new(Fault::BadValue, at, what).hint(format!("add $expand={name}")));
        };
        nested[expanded].push((at + name.len() + 1, rest));
    }
    for (expand, items) in expand.iter_mut().zip(nested).filter(|(_, items)| !items.is_empty()) {
        let mut inner = expand.options.expand.clone();
        let select = of_entities(context, context.model.type_of(expand.target), &items, &mut inner)?;
        // Naming the navigation property itself selects all of it.
        if !own.navigation.contains(&expand.navigation) {
            own.navigation.push(expand.navigation);
            (expand.options.select, expand.options.expand) = (select, inner);
        }
    }
    let select = own.finish(context, entity_type);
    if let (Version::V2, Select::Only { navigation, .. }) = (context.version, &select) {
        // V2 answers an expansion only where it is selected too (MS-ODATA 2.2.3.6.1.11); V4 answers it always.
        expand.retain(|expand| navigation.contains(&expand.navigation));
    }
    Ok(select)
}

/// The columns of what `$apply` has made: each by its path, or all that a path begins.
fn of_columns(applied: &mut Applied, text: &str) -> Parsed<()> {
    let mut shown: Vec<usize> = Vec::new();
    for (at, item) in list::items(text, b',') {
        let before = shown.len();
        for (index, column) in applied.columns.iter().enumerate().filter(|(_, column)| !column.is_hidden()) {
            let begins = column.path.strip_prefix(item).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            if (item == "*" || !item.is_empty() && begins) && !shown.contains(&index) {
                shown.push(index);
            }
        }
        if shown.len() == before && !applied.columns.iter().any(|column| column.path == item) {
            let shown = applied.columns.iter().filter(|column| !column.is_hidden());
            let names = shown.map(|column| column.path.as_str());
            return Err(unknown(at, item, "what $apply has made", names));
        }
    }
    shown.sort_unstable();
    applied.shown = shown;
    Ok(())
}

/// The properties that a list has named so far.
#[derive(Default)]
struct Chosen {
    star: bool,
    leaves: Vec<LeafId>,
    navigation: Vec<NavigationId>,
}

impl Chosen {
    fn add(&mut self, context: &Context<'_>, entity_type: &EntityType, item: &str, at: usize) -> Parsed<()> {
        if item == "*" {
            self.star = true;
            return Ok(());
        }
        if item.is_empty() {
            return Err(Problem::syntax(at, "expected a property or *"));
        }
        if context.version == Version::V4 {
            if let Some(open) = item.find('(') {
                return Err(Problem::not_implemented(at + open, "nested options in $select"));
            }
            if item.starts_with('@') {
                return Err(Problem::not_implemented(at, "annotations in $select"));
            }
            if let Some((qualified, rest)) = item.split_once('/')
                && qualified.contains('.')
                && let Some(subtype) =
                    cast::target(context.model, entity_type, qualified, (Fault::UnknownProperty, at))?
            {
                let seen = context.model.seen_as(entity_type, subtype);
                return self.add(context, seen, rest, at + qualified.len() + 1);
            }
            if item.contains('.') {
                return Err(Problem::not_implemented(at, format!("the qualified name {} in $select", quoted(item))));
            }
        }
        let (name, member) = match item.split_once('/') {
            Some((name, member)) => (name, Some(member)),
            None => (item, None),
        };
        if let Some(property) = entity_type.property_in(context.version, name) {
            let before = self.leaves.len();
            for (id, leaf) in entity_type.leaves.iter().enumerate().filter(|(_, leaf)| leaf.property == property) {
                if member.is_none_or(|member| leaf.inner.is_some() && leaf.path[name.len() + 1..] == *member) {
                    self.leaves.push(LeafId(id));
                }
            }
            if self.leaves.len() > before {
                return Ok(());
            }
            let member = member.unwrap_or_default();
            let PropertyKind::Complex(id) = entity_type.properties[property].kind else {
                let what = format!("'{name}' is no complex property and has no {}", quoted(member));
                return Err(Problem::new(Fault::UnknownProperty, at + name.len() + 1, what));
            };
            let complex = &context.model.complex_types[id.0];
            let names = complex.properties.iter().map(|property| property.name.as_str());
            return Err(unknown(at + name.len() + 1, member, &complex.name, names));
        }
        if let Some(navigation) = entity_type.navigation(name) {
            if member.is_some() {
                let what = format!("'{name}' leads to other entities");
                return Err(Problem::new(Fault::BadValue, at, what).hint("write $expand=…($select=…)"));
            }
            if !self.navigation.contains(&navigation) {
                self.navigation.push(navigation);
            }
            return Ok(());
        }
        Err(unknown(at, name, &entity_type.name, entity_type.names(context.version)))
    }

    fn finish(mut self, context: &Context<'_>, entity_type: &EntityType) -> Select {
        if self.star {
            // V2's star includes the links, V4's only the properties.
            if context.version == Version::V2 {
                return Select::All;
            }
            let seen = entity_type.seen_subtype();
            let can_have = |leaf: &LeafId| {
                let of = entity_type.declares(*leaf);
                entity_type.is_a(seen, of) || entity_type.is_a(of, seen)
            };
            self.leaves = (0..entity_type.leaves.len()).map(LeafId).filter(can_have).collect();
        }
        self.leaves.sort_unstable();
        self.leaves.dedup();
        self.navigation.sort_unstable();
        Select::Only { leaves: self.leaves, navigation: self.navigation }
    }
}

fn unknown<'n>(at: usize, name: &str, type_name: &str, names: impl Iterator<Item = &'n str>) -> Box<Problem> {
    let hint = suggest::nearest(name, names).map(|name| format!("{type_name} has {name}"));
    let hint = hint.or_else(|| Some(format!("it is none of {type_name}")));
    Problem::new(Fault::UnknownProperty, at, format!("unknown property {}", quoted(name))).hint_if(hint)
}

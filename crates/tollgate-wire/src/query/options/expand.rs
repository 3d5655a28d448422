//! `$expand`: navigation properties whose entities are answered inside; in V4 with options of their own, to any depth
//! that the limits allow.
//!
//! `$levels` and `*` end here: the plan has each expansion as if it had been written out.

use super::link;
use crate::address::{Fault, Parsed, Problem, quoted};
use crate::edm::{EntityType, Multiplicity, NavigationId, SubtypeId, Version};
use crate::plan::{Cast, Expand, Options, Origin, Select, Shown};
use crate::query::context::{Context, find};
use crate::query::limits::{EXPAND_LEVELS_MAX, EXPANSIONS_MAX};
use crate::query::{cast, list};
use crate::suggest;

pub(super) fn parse(context: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    match context.version {
        Version::V2 => list::items(text, b',')
            .try_for_each(|(at, item)| parse_v2(context, context.entity_type, (item, at), 0, &mut options.expand)),
        Version::V4 => parse_v4(context, text, options),
    }
}

/// A path of navigation properties, each expanded inside of the one before it, where it is not already.
fn parse_v2(
    context: &Context<'_>,
    entity_type: &EntityType,
    (path, at): (&str, usize),
    depth: usize,
    expanded: &mut Vec<Expand>,
) -> Parsed<()> {
    let (name, deeper) = path.split_once('/').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let expand = resolve(entity_type, name, at)?;
    let known = expanded.iter().position(|known| known.navigation == expand.navigation);
    let index = match known {
        Some(index) => index,
        None => {
            one_more(context, depth, at)?;
            expanded.push(expand);
            expanded.len() - 1
        }
    };
    let Some(rest) = deeper else { return Ok(()) };
    let expand = &mut expanded[index];
    let target = context.model.type_of(expand.target);
    parse_v2(context, target, (rest, at + name.len() + 1), depth + 1, &mut expand.options.expand)
}

/// Parses the V4 form; named items come first, so that `*` leaves them as requested.
fn parse_v4(context: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    let is_star = |item: &str| item == "*" || item.starts_with("*/") || item.starts_with("*(");
    for (at, item) in list::items(text, b',').filter(|(_, item)| !is_star(item)) {
        let expand = parse_item(context, item, at)?;
        if options.expand.iter().any(|known| known.navigation == expand.navigation) {
            let name = &context.entity_type.navigation[expand.navigation.0].name;
            return Err(Problem::new(Fault::BadValue, at, format!("'{name}' is expanded twice")));
        }
        options.expand.push(expand);
    }
    for (at, item) in list::items(text, b',').filter(|(_, item)| is_star(item)) {
        let (shown, levels) = match &item[1..] {
            "" => (Shown::Entities, 1),
            "/$ref" => (Shown::References, 1),
            behind => match behind.strip_prefix('(').and_then(|inside| inside.strip_suffix(')')) {
                Some(inside) => (Shown::Entities, levels_of(inside, at + 2)?),
                None => {
                    return Err(Problem::not_implemented(at + 1, format!("{} behind '*' in $expand", quoted(behind))));
                }
            },
        };
        star(context, context.entity_type, shown, (levels, context.depth), at, &mut options.expand)?;
    }
    Ok(())
}

/// All navigation properties that are not expanded yet, with this number of levels.
fn star(
    context: &Context<'_>,
    entity_type: &EntityType,
    shown: Shown,
    (levels, depth): (usize, usize),
    at: usize,
    expanded: &mut Vec<Expand>,
) -> Parsed<()> {
    for (id, navigation) in entity_type.navigation.iter().enumerate() {
        if expanded.iter().any(|known| known.navigation.0 == id) || !entity_type.sees_navigation(NavigationId(id)) {
            continue;
        }
        let mut expand = Expand::new(NavigationId(id), navigation.target, Select::All);
        shown_as(context, &mut expand, shown);
        one_more(context, depth, at)?;
        if levels > 1 && depth + 1 < EXPAND_LEVELS_MAX {
            let target = context.model.seen(context.version, navigation.target, SubtypeId::ROOT);
            star(context, target, shown, (levels - 1, depth + 1), at, &mut expand.options.expand)?;
            expand.query = link::of_star(levels - 1);
        }
        expanded.push(expand);
    }
    Ok(())
}

fn parse_item(context: &Context<'_>, item: &str, at: usize) -> Parsed<Expand> {
    if let Some((qualified, behind)) = item.split_once('/')
        && qualified.contains('.')
        && !qualified.contains('(')
        && let Some(of) = cast::target(context.model, context.entity_type, qualified, (Fault::UnknownProperty, at))?
    {
        let seen = Context { entity_type: context.model.seen_as(context.entity_type, of), ..*context };
        let mut expand = parse_item(&seen, behind, at + qualified.len() + 1)?;
        if expand.of == SubtypeId::ROOT {
            expand.of = of;
        }
        return Ok(expand);
    }
    let name_length = item.find(['(', '/']).unwrap_or(item.len());
    let (name, rest) = item.split_at(name_length);
    let unbuilt = match name.bytes().next() {
        Some(b'@') => Some("annotations in $expand"),
        Some(b'$') => Some("$value in $expand"),
        _ if name.contains('.') => Some("type casts in $expand"),
        _ => None,
    };
    if let Some(unbuilt) = unbuilt {
        return Err(Problem::not_implemented(at, unbuilt));
    }
    if rest.starts_with('/') && context.entity_type.property(name).is_some() {
        return Err(Problem::not_implemented(at, "navigation from complex properties in $expand"));
    }
    let mut expand = resolve(context.entity_type, name, at)?;
    one_more(context, context.depth, at)?;
    let mut rest_at = at + name.len();
    let mut behind = rest;
    if let Some((subtype, length)) = cast_behind(context, &expand, rest, rest_at)? {
        let target = context.model.seen(context.version, expand.target, SubtypeId::ROOT);
        let condition = cast::condition(target, (Origin::It, &[]), subtype, rest_at);
        expand.options.subtype = subtype;
        expand.options.casts.extend(condition.map(|condition| Cast { behind: 0, condition }));
        behind = &rest[length..];
        rest_at += length;
    }
    if let Some(path) = behind.strip_prefix('/') {
        let end = path.find('(').unwrap_or(path.len());
        let shown = match &path[..end] {
            "$ref" => Shown::References,
            "$count" => Shown::Number,
            _ => return Err(Problem::not_implemented(rest_at, "a path in $expand")),
        };
        if shown == Shown::Number && !leads_to_many(context, &expand) {
            return Err(Problem::new(Fault::NotApplicable, rest_at, format!("'{name}' leads to one entity")));
        }
        shown_as(context, &mut expand, shown);
        behind = &path[end..];
        rest_at += 1 + end;
    }
    if !behind.is_empty() {
        let Some(nested) = behind[1..].strip_suffix(')') else {
            return Err(Problem::syntax(rest_at, "a parenthesis that is not closed at the end of its item"));
        };
        parse_nested(context, &mut expand, nested, rest_at + 1)?;
    }
    Ok(expand)
}

/// The type that the entities of an expansion are cast to, with the length of what says that.
fn cast_behind(context: &Context<'_>, expand: &Expand, behind: &str, at: usize) -> Parsed<Option<(SubtypeId, usize)>> {
    let Some(path) = behind.strip_prefix('/') else { return Ok(None) };
    let name = &path[..path.find(['/', '(']).unwrap_or(path.len())];
    if !name.contains('.') {
        return Ok(None);
    }
    let target = context.model.seen(context.version, expand.target, SubtypeId::ROOT);
    let subtype = cast::target(context.model, target, name, (Fault::UnknownProperty, at + 1))?;
    Ok(subtype.map(|subtype| (subtype, name.len() + 1)))
}

/// The options inside of the parentheses, which begin at `at`.
fn parse_nested(context: &Context<'_>, expand: &mut Expand, text: &str, at: usize) -> Parsed<()> {
    let mut values: Vec<Option<(usize, &str)>> = vec![None; context.options.len()];
    let mut levels = None;
    for (offset, option) in list::items(text, b';') {
        let option_at = at + offset;
        let Some((written, value)) = option.split_once('=') else {
            let what = format!("expected an option such as $select=…, found {}", quoted(option));
            return Err(Problem::syntax(option_at, what));
        };
        let name = written.trim();
        let value_at = option_at + written.len() + 1;
        let bare = name.strip_prefix('$').unwrap_or(name);
        if bare.eq_ignore_ascii_case("levels") {
            levels = Some(levels_value(value, value_at)?);
            continue;
        }
        let Some(index) = find(context.options, Version::V4, name) else {
            return Err(match name.starts_with('@') {
                true => Problem::not_implemented(option_at, "a parameter alias inside of $expand"),
                false => {
                    let what = format!("unknown option {} inside of $expand", quoted(name));
                    Problem::new(Fault::UnknownOption, option_at, what)
                }
            });
        };
        check_nested(context, expand, index, option_at)?;
        if values[index].replace((value_at, value)).is_some() {
            let what = format!("{} stands twice", context.options[index].name);
            return Err(Problem::new(Fault::DuplicateOption, option_at, what));
        }
    }
    let inner = Context {
        entity_type: context.model.seen(context.version, expand.target, expand.options.subtype),
        depth: context.depth + 1,
        expansions: context.expansions,
        aliases: context.aliases,
        ..*context
    };
    for (option, value) in context.options.iter().zip(&values) {
        if let Some((value_at, value)) = value {
            (option.parse)(&inner, value, &mut expand.options).map_err(|problem| problem.behind(*value_at))?;
        }
    }
    expand.query = link::of_nested(context, &values, None);
    if let Some(levels) = levels {
        repeat(context, expand, (levels, &values), at)?;
    }
    Ok(())
}

/// Checks that an option may be in the parentheses of that expansion.
fn check_nested(context: &Context<'_>, expand: &Expand, index: usize, at: usize) -> Parsed<()> {
    let name = context.options[index].name;
    let of_entities = matches!(name, "$select" | "$expand" | "$compute");
    let of_many = matches!(name, "$filter" | "$search");
    let of_lists = matches!(name, "$orderby" | "$top" | "$skip" | "$count");
    if !of_entities && !of_many && !of_lists {
        return Err(match name {
            "$apply" => Problem::not_implemented(at, format!("{name} inside of $expand")),
            _ => Problem::new(Fault::NotApplicable, at, format!("{name} does not apply inside of $expand")),
        });
    }
    let applies = match expand.shown {
        Shown::Entities => true,
        Shown::References => !of_entities,
        Shown::Number => of_many,
    };
    if !applies || (!of_entities && !leads_to_many(context, expand)) {
        let named = match (expand.shown, leads_to_many(context, expand)) {
            (_, false) => "one entity",
            (Shown::Entities, true) => "entities",
            (Shown::References, true) => "references",
            (Shown::Number, true) => "a count",
        };
        let what = format!("{name} does not apply: the expansion is of {named}");
        return Err(Problem::new(Fault::NotApplicable, at, what));
    }
    Ok(())
}

/// `$levels`: the same expansion inside of what it leads to, as long as that has the same navigation property.
fn repeat(
    context: &Context<'_>,
    expand: &mut Expand,
    (levels, values): (usize, &[Option<(usize, &str)>]),
    at: usize,
) -> Parsed<()> {
    let declared = &context.entity_type.navigation[expand.navigation.0];
    let navigation = expand.navigation;
    let recursive = std::ptr::eq(context.model.type_of(expand.target), context.model.whole(context.entity_type));
    if !recursive || levels < 2 || context.depth + 1 >= EXPAND_LEVELS_MAX {
        return Ok(());
    }
    let mut inner = expand.clone();
    one_more(context, context.depth + 1, at)?;
    let deeper = Context { depth: context.depth + 1, ..*context };
    repeat(&deeper, &mut inner, (levels - 1, values), at)?;
    let name = match context.entity_type.declares_navigation(navigation) {
        SubtypeId::ROOT => declared.name.clone(),
        subtype => format!("{}/{}", context.model.qualified(context.entity_type, subtype), declared.name),
    };
    expand.query = link::of_nested(context, values, Some(&link::leveled(context, &name, values, levels - 1)));
    expand.options.expand.retain(|known| known.navigation != navigation);
    expand.options.expand.push(inner);
    Ok(())
}

fn shown_as(context: &Context<'_>, expand: &mut Expand, shown: Shown) {
    expand.shown = shown;
    if shown != Shown::Entities {
        expand.options.select = Select::key_of(context.model.type_of(expand.target));
    }
}

fn leads_to_many(context: &Context<'_>, expand: &Expand) -> bool {
    context.entity_type.navigation[expand.navigation.0].multiplicity == Multiplicity::Many
}

/// Counts an expansion at this depth.
fn one_more(context: &Context<'_>, depth: usize, at: usize) -> Parsed<()> {
    if depth == EXPAND_LEVELS_MAX {
        return Err(Problem::new(Fault::Limit, at, format!("more than {EXPAND_LEVELS_MAX} levels of expansion")));
    }
    context.expansions.set(context.expansions.get() + 1);
    if context.expansions.get() > EXPANSIONS_MAX {
        return Err(Problem::new(Fault::Limit, at, format!("more than {EXPANSIONS_MAX} expansions")));
    }
    Ok(())
}

/// The only option allowed behind `*`.
fn levels_of(text: &str, at: usize) -> Parsed<usize> {
    let value = text.split_once('=').filter(|(name, _)| {
        let name = name.trim();
        name.strip_prefix('$').unwrap_or(name).eq_ignore_ascii_case("levels")
    });
    match value {
        Some((name, value)) => levels_value(value, at + name.len() + 1),
        None => Err(Problem::not_implemented(at, "'*' with options in $expand").hint("only $levels can stand there")),
    }
}

fn levels_value(text: &str, at: usize) -> Parsed<usize> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("max") {
        return Ok(EXPAND_LEVELS_MAX);
    }
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let levels = text.parse().ok().filter(|levels: &usize| digits && *levels > 0);
    levels.ok_or_else(|| {
        Problem::new(Fault::BadValue, at, format!("expected max or a whole number from 1, found {}", quoted(text)))
    })
}

fn resolve(entity_type: &EntityType, name: &str, at: usize) -> Parsed<Expand> {
    if let Some(navigation) = entity_type.navigation(name) {
        let target = entity_type.navigation[navigation.0].target;
        return Ok(Expand::new(navigation, target, Select::All));
    }
    if name.is_empty() {
        return Err(Problem::syntax(at, "expected a navigation property"));
    }
    let problem = Problem::new(Fault::UnknownProperty, at, format!("unknown navigation property {}", quoted(name)));
    let seen =
        entity_type.navigation.iter().enumerate().filter(|(at, _)| entity_type.sees_navigation(NavigationId(*at)));
    let names: Vec<&str> = seen.map(|(_, navigation)| navigation.name.as_str()).collect();
    let hint = match suggest::nearest(name, names.iter().copied()) {
        Some(name) => format!("{} has {name}", entity_type.name),
        None if names.is_empty() => format!("{} has none", entity_type.name),
        None => format!("{} has {}", entity_type.name, names.join(", ")),
    };
    Err(problem.hint(hint))
}

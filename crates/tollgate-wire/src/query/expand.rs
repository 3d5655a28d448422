//! `$expand`: navigation properties whose entities are answered inside, one level deep; in V4 with a `$select` each.

use super::limits::EXPANSIONS_MAX;
use super::{Context, OPTIONS, list, select};
use crate::edm::Version;
use crate::plan::{Expand, Options, Select};
use crate::suggest;
use crate::url::{Fault, Parsed, Problem, quoted};

pub(super) fn parse(context: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    for (at, item) in list::items(text, b',') {
        match context.version {
            Version::V2 => parse_v2(context, item, at, options)?,
            Version::V4 => parse_v4(context, item, at, options)?,
        }
        if options.expand.len() > EXPANSIONS_MAX {
            return Err(Problem::new(Fault::Limit, at, format!("more than {EXPANSIONS_MAX} expansions")));
        }
    }
    Ok(())
}

fn parse_v2(context: &Context<'_>, item: &str, at: usize, options: &mut Options) -> Parsed<()> {
    let (name, deeper) = item.split_once('/').map_or((item, None), |(name, rest)| (name, Some(rest)));
    let expand = resolve(context, name, at)?;
    if deeper.is_some() {
        return Err(Problem::not_implemented(at + name.len(), "$expand of more than one level"));
    }
    if !options.expand.iter().any(|known| known.navigation == expand.navigation) {
        options.expand.push(expand);
    }
    Ok(())
}

fn parse_v4(context: &Context<'_>, item: &str, at: usize, options: &mut Options) -> Parsed<()> {
    if item == "*" {
        for navigation in &context.entity_type.navigation {
            parse_v4(context, &navigation.name, at, options)?;
        }
        return Ok(());
    }
    let name_length = item.find(['(', '/']).unwrap_or(item.len());
    let (name, rest) = item.split_at(name_length);
    let unbuilt = match name.bytes().next() {
        Some(b'@') => Some("annotations in $expand"),
        Some(b'$') => Some("$value in $expand"),
        Some(b'*') => Some("'*' with options in $expand"),
        _ if name.contains('.') => Some("type casts in $expand"),
        _ => None,
    };
    if let Some(unbuilt) = unbuilt {
        return Err(Problem::not_implemented(at, unbuilt));
    }
    if rest.starts_with('/') && context.entity_type.property(name).is_some() {
        return Err(Problem::not_implemented(at, "navigation from complex properties in $expand"));
    }
    let mut expand = resolve(context, name, at)?;
    if options.expand.iter().any(|known| known.navigation == expand.navigation) {
        return Err(Problem::new(Fault::BadValue, at, format!("'{name}' is expanded twice")));
    }
    let rest_at = at + name.len();
    if let Some(path) = rest.strip_prefix('/') {
        let end = path.find('(').unwrap_or(path.len());
        let what = match &path[..end] {
            known @ ("$ref" | "$count") => format!("{known} in $expand"),
            _ => "a path in $expand".to_owned(),
        };
        return Err(Problem::not_implemented(rest_at, what));
    }
    if !rest.is_empty() {
        let Some(nested) = rest[1..].strip_suffix(')') else {
            return Err(Problem::syntax(rest_at, "a parenthesis that is not closed at the end of its item"));
        };
        for (offset, option) in list::items(nested, b';') {
            parse_nested(context, &mut expand, option, rest_at + 1 + offset)?;
        }
    }
    options.expand.push(expand);
    Ok(())
}

/// One option inside of the parentheses.
fn parse_nested(context: &Context<'_>, expand: &mut Expand, text: &str, at: usize) -> Parsed<()> {
    let Some((written, value)) = text.split_once('=') else {
        return Err(Problem::syntax(at, format!("expected an option such as $select=…, found {}", quoted(text))));
    };
    let name = written.trim();
    let bare = name.strip_prefix('$').unwrap_or(name);
    if bare.eq_ignore_ascii_case("select") {
        if expand.select != Select::All {
            return Err(Problem::new(Fault::DuplicateOption, at, "$select stands twice"));
        }
        let target = context.model.type_of(expand.target);
        expand.select = select::parse_nested(context, target, value, at + written.len() + 1)?;
        return Ok(());
    }
    let known =
        OPTIONS.iter().map(|option| option.name).chain(["$levels"]).find(|known| known[1..].eq_ignore_ascii_case(bare));
    match known {
        Some(known) => Err(Problem::not_implemented(at, format!("{known} inside of $expand"))),
        None if name.starts_with('@') => Err(Problem::not_implemented(at, "a parameter alias inside of $expand")),
        None => {
            Err(Problem::new(Fault::UnknownOption, at, format!("unknown option {} inside of $expand", quoted(name))))
        }
    }
}

fn resolve(context: &Context<'_>, name: &str, at: usize) -> Parsed<Expand> {
    let entity_type = context.entity_type;
    if let Some(navigation) = entity_type.navigation(name) {
        let target = entity_type.navigation[navigation.0].target;
        return Ok(Expand { navigation, target, select: Select::All });
    }
    if name.is_empty() {
        return Err(Problem::syntax(at, "expected a navigation property"));
    }
    let problem = Problem::new(Fault::UnknownProperty, at, format!("unknown navigation property {}", quoted(name)));
    let names: Vec<&str> = entity_type.navigation.iter().map(|navigation| navigation.name.as_str()).collect();
    let hint = match suggest::nearest(name, names.iter().copied()) {
        Some(name) => format!("{} has {name}", entity_type.name),
        None if names.is_empty() => format!("{} has none", entity_type.name),
        None => format!("{} has {}", entity_type.name, names.join(", ")),
    };
    Err(problem.hint(hint))
}

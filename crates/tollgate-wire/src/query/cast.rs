//! Type casts: which type a qualified name means, and what is true of its entities.
//!
//! A plan knows no casts. An entity is of a type where its discriminator has one of the type's values, and what is named
//! behind a cast has no value elsewhere.

use crate::address::{Fault, Parsed, Problem, quoted};
use crate::edm::{EntityType, Model, NavigationId, Primitive, SetId, SubtypeId};
use crate::plan::{Expression, ExpressionKind, Origin};
use crate::suggest;

/// The type that the qualified name at `at` casts entities of `from` to; `None` if it is not a name of this service.
///
/// # Errors
/// It names no type, or one that does not derive from theirs.
pub(crate) fn target(
    model: &Model,
    from: &EntityType,
    qualified: &str,
    (fault, at): (Fault, usize),
) -> Parsed<Option<SubtypeId>> {
    let Some(name) = qualified.strip_prefix(model.namespace.as_str()).and_then(|rest| rest.strip_prefix('.')) else {
        return Ok(None);
    };
    let whole = model.whole(from);
    if let Some(subtype) = model.subtype(whole, qualified)
        && whole.is_a(subtype, from.seen_subtype())
    {
        return Ok(Some(subtype));
    }
    let subtypes = |entity_type: &EntityType| {
        let derived = entity_type.hierarchy.iter().flat_map(|hierarchy| &hierarchy.subtypes);
        derived.map(|subtype| subtype.name.clone()).chain([entity_type.name.clone()]).collect::<Vec<String>>()
    };
    if model.entity_types.iter().any(|other| subtypes(other).iter().any(|known| known == name)) {
        let from = model.qualified(whole, from.seen_subtype());
        return Err(Problem::new(fault, at, format!("{} does not derive from {from}", quoted(qualified))));
    }
    let names = subtypes(whole);
    let hint = suggest::nearest(name, names.iter().map(String::as_str));
    let hint = hint.map(|name| format!("did you mean {}.{name}?", model.namespace));
    Err(Problem::new(fault, at, format!("unknown type {}", quoted(qualified))).hint_if(hint))
}

/// The condition that is true exactly for entities of `subtype`; `None` if it is true for all that are seen.
pub(crate) fn condition(
    entity_type: &EntityType,
    (of, through): (Origin, &[(NavigationId, SetId)]),
    subtype: SubtypeId,
    position: usize,
) -> Option<Expression> {
    let hierarchy = entity_type.hierarchy.as_ref()?;
    if hierarchy.is_a(entity_type.seen_subtype(), subtype) {
        return None;
    }
    let leaf = hierarchy.discriminator;
    let primitive = Some(entity_type.leaves[leaf.0].primitive);
    let kind = ExpressionKind::Leaf { of, through: through.to_vec(), leaf };
    let kind = ExpressionKind::In(Box::new(Expression { kind, primitive, position }), hierarchy.stored(subtype));
    Some(Expression { kind, primitive: Some(Primitive::Boolean), position })
}

#[cfg(test)]
mod tests {
    use crate::edm::Version;
    use crate::testing;
    use crate::url;

    /// Checks the error about a URL of the staff; it is empty for a correct URL.
    fn check(path: &str, query: &str, expected: &str) {
        let said = url::parse(&testing::staff(), Version::V4, path, Some(query));
        let said = said.map_or_else(|error| format!("{} {error}", error.status()), |_| String::new());
        assert_eq!(said, expected, "{path}?{query}");
    }

    #[test]
    fn names_behind_a_cast_are_those_of_the_type() {
        for (path, query) in [
            ("People/staff.Employee", "$filter=salary gt 1 and boss/name ne null"),
            ("People/staff.Employee/staff.Manager", "$orderby=budget,salary"),
            ("People(1)/staff.Employee/boss/staff.Manager/budget", ""),
            ("People/staff.Manager(1)/boss/$ref", ""),
            ("People/staff.Person/$count", ""),
            ("People", "$filter=staff.Manager/boss/staff.Employee/salary gt 1"),
            (
                "People",
                "$filter=People_by_boss/staff.Employee/any(e:e/staff.Manager/budget gt 1 and isof(e,staff.Manager))",
            ),
            ("People", "$filter=isof($it/friend,staff.Guest) or isof(staff.Employee/boss,staff.Manager)"),
            ("People", "$select=name,staff.Guest/until,staff.Employee/boss&$expand=staff.Employee/boss"),
            (
                "People",
                "$expand=People_by_friend/staff.Guest($filter=until gt 2020-01-01),People_by_boss/staff.Employee/$count",
            ),
            (
                "People",
                "$apply=filter(isof(staff.Employee))/groupby((name),aggregate(staff.Employee/salary with sum as total))",
            ),
            ("People", "$compute=cast(staff.Employee)/salary mul 2 as twice&$select=twice"),
        ] {
            check(path, &query.replace(' ', "%20"), "");
        }
    }

    #[test]
    fn what_is_wrong_with_a_cast_is_told_with_its_place() {
        let not_derived = "does not derive from staff.";
        check(
            "People/staff.Gest",
            "",
            "404 unknown type 'staff.Gest' in the path at column 8: did you mean staff.Guest?",
        );
        check(
            "People/staff.Guest/staff.Employee",
            "",
            &format!("404 'staff.Employee' {not_derived}Guest in the path at column 20"),
        );
        check(
            "People",
            "$filter=id%20gt%201%20and%20staff.Guest/staff.Person/id%20gt%201",
            &format!("400 'staff.Person' {not_derived}Guest in $filter at column 25"),
        );
    }
}

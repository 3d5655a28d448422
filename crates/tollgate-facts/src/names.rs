//! Words for names: the help for one that is in no list, and the singular of a unit.

use tollgate_wire::suggest;

/// The nearest of `known` if one is near, else all of them.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match suggest::nearest(name, known.iter().copied()) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => format!("known are {}", known.iter().map(|known| format!("`{known}`")).collect::<Vec<_>>().join(", ")),
    }
}

/// The singular of a unit.
pub fn singular(unit: &str) -> &str {
    match unit.strip_suffix("es") {
        Some(one) if one.ends_with("ss") => one,
        _ => unit.strip_suffix('s').unwrap_or(unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_suggested_and_a_far_one_is_answered_with_the_list() {
        let check = |name: &str, expected: &str| assert_eq!(did_you_mean(name, ["levels", "name"]), expected);
        check("lvels", "did you mean `levels`?");
        check("leevls", "did you mean `levels`?");
        check("nmae", "did you mean `name`?");
        check("colour", "known are `levels`, `name`");
    }
}

//! The help for a name that is in no list.

use tollgate_wire::suggest;

/// The nearest of `known` if one is near, else all of them.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match suggest::nearest(name, known.iter().copied()) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => format!("known are {}", known.iter().map(|known| format!("`{known}`")).collect::<Vec<_>>().join(", ")),
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

//! "Did you mean": the nearest of some names to one that is unknown.
//!
//! It deliberately does not decide what is said; it only picks.

/// Names longer than this are not compared: a hostile name must not cost its square.
const NAME_CHARS_MAX: usize = 64;

/// The candidate with the fewest edits from `name`, ignoring case, if it is near enough to have been meant.
pub(crate) fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let length = name.chars().count();
    if length > NAME_CHARS_MAX {
        return None;
    }
    let edits_max = (length / 3).max(1);
    candidates
        .into_iter()
        .filter_map(|candidate| Some((edits(name, candidate)?, candidate)))
        .filter(|(edits, _)| *edits <= edits_max)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein distance without regard to ASCII case.
fn edits(a: &str, b: &str) -> Option<usize> {
    let b: Vec<char> = b.chars().map(|c| c.to_ascii_lowercase()).collect();
    if b.len() > NAME_CHARS_MAX {
        return None;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (above, a) in a.chars().map(|c| c.to_ascii_lowercase()).enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (at, b) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row.last().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_and_a_far_one_is_not() {
        let names = ["PRICE", "PLANETYPE", "carrid", "connid"];
        for (name, expected) in [
            ("PRYCE", Some("PRICE")),
            ("price", Some("PRICE")),
            ("carid", Some("carrid")),
            ("x", None),
            ("completely", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, names), expected, "{name}");
        }
        assert_eq!(nearest(&"P".repeat(100_000), names), None);
    }
}

//! "Did you mean": the nearest of some names to one that is unknown.
//!
//! It deliberately words no message; it only picks.

/// Names longer than this are not compared: a hostile name must not cost its square.
const NAME_CHARS_MAX: usize = 64;

/// Shorter names begin too many others.
const BEGINNING_CHARS_MIN: usize = 3;

/// The candidate with the fewest edits from `name`, ignoring case, if it is near enough to have been meant: within a third
/// of the letters, which is enough for a slip or two and too few for another word, or `name` is its beginning.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let length = name.chars().count();
    if length > NAME_CHARS_MAX {
        return None;
    }
    let edits_max = (length / 3).max(1);
    let is_beginning = |candidate: &str| {
        length >= BEGINNING_CHARS_MIN
            && candidate.get(..name.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(name))
    };
    candidates
        .into_iter()
        .filter_map(|candidate| Some((edits(name, candidate)?, candidate)))
        .filter(|(edits, candidate)| *edits <= edits_max || is_beginning(candidate))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment), without regard to ASCII case.
fn edits(from: &str, to: &str) -> Option<usize> {
    let letters = |text: &str| text.chars().map(|letter| letter.to_ascii_lowercase()).collect::<Vec<char>>();
    let (from, to) = (letters(from), letters(to));
    if to.len() > NAME_CHARS_MAX {
        return None;
    }
    // The rows of the letter before the last one, of the last one, and of this one.
    let mut before = vec![0; to.len() + 1];
    let mut last: Vec<usize> = (0..=to.len()).collect();
    let mut this = before.clone();
    for row in 1..=from.len() {
        this[0] = row;
        for column in 1..=to.len() {
            let replaced = last[column - 1] + usize::from(from[row - 1] != to[column - 1]);
            this[column] = replaced.min(last[column] + 1).min(this[column - 1] + 1);
            let swapped = row > 1 && column > 1 && from[row - 1] == to[column - 2] && from[row - 2] == to[column - 1];
            if swapped {
                this[column] = this[column].min(before[column - 2] + 1);
            }
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut this);
    }
    last.last().copied()
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
            ("plane", Some("PLANETYPE")),
            ("pl", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, names), expected, "{name}");
        }
        assert_eq!(nearest(&"P".repeat(100_000), names), None);
    }

    #[test]
    fn edits_are_counted_as_people_slip() {
        for (from, to, expected) in [
            ("", "", 0),
            ("a", "", 1),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("limits", "Limit", 1),
            ("lmiit", "limit", 1),
            ("cpa", "cap", 1),
            ("abcd", "badc", 2),
        ] {
            assert_eq!(edits(from, to), Some(expected), "{from} {to}");
        }
    }
}

//! Names of a model out of names of a database: valid as OData identifiers (OData V4 CSDL, section 15.2), unique, and
//! in the singular for one of many.
//!
//! The way back is in the mapping.

/// Longest identifier in characters.
const IDENTIFIER_CHARS_MAX: usize = 128;

/// The identifier nearest to a name: invalid characters become `_`.
pub(super) fn identifier(name: &str) -> String {
    let begins_badly = name.chars().next().is_none_or(|first| !(first.is_alphabetic() || first == '_'));
    let mut made = String::with_capacity(name.len() + 1);
    if begins_badly && name.chars().next().is_none_or(char::is_alphanumeric) {
        made.push('_');
    }
    made.extend(name.chars().map(|character| if is_part(character) { character } else { '_' }));
    made.chars().take(IDENTIFIER_CHARS_MAX).collect()
}

fn is_part(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The first of `candidates` that is free; if none is, the last with a number appended.
pub(super) fn free(candidates: &[String], taken: impl Fn(&str) -> bool) -> String {
    if let Some(free) = candidates.iter().find(|candidate| !taken(candidate)) {
        return free.clone();
    }
    let last = candidates.last().expect("there is a candidate");
    let numbered = |number: usize| {
        let end = format!("_{number}");
        let kept: String = last.chars().take(IDENTIFIER_CHARS_MAX - end.len()).collect();
        kept + &end
    };
    (2..).map(numbered).find(|candidate| !taken(candidate)).expect("numbers do not end")
}

/// Singular of an English plural, as far as rules go; otherwise the name itself.
pub(super) fn singular(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let without = |letters: usize, end: &str| format!("{}{end}", &name[..name.len() - letters]);
    let upper = name.len() > 1 && name.bytes().all(|byte| !byte.is_ascii_lowercase());
    let cased = |end: &'static str, capital: &'static str| if upper { capital } else { end };
    let ends = |ends: &[&str]| ends.iter().any(|end| lower.ends_with(end));
    if lower.len() < 4 || ends(&["ss", "us", "is", "series", "species", "news"]) {
        name.to_owned()
    } else if ends(&["ies"]) && lower.len() > 4 {
        without(3, cased("y", "Y"))
    } else if ends(&["sses", "xes", "ches", "shes", "zzes"]) {
        without(2, "")
    } else if ends(&["s"]) {
        without(1, "")
    } else {
        name.to_owned()
    }
}

/// Name of a referring column's target, without the ending for references; `None` without such an ending.
pub(super) fn referred(column: &str) -> Option<&str> {
    const ENDS: [&str; 8] = ["_id", "_ID", "_Id", "_fk", "_key", "_uuid", "Id", "ID"];
    let stem = ENDS.iter().find_map(|end| column.strip_suffix(end))?;
    (!stem.is_empty()).then_some(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_table_is_called_becomes_an_identifier() {
        for (name, expected) in [
            ("orders", "orders"),
            ("Order Details", "Order_Details"),
            ("2024", "_2024"),
            ("größe", "größe"),
            ("a.b-c", "a_b_c"),
            ("", "_"),
            ("-x", "_x"),
            ("\"; DROP TABLE x", "___DROP_TABLE_x"),
        ] {
            assert_eq!(identifier(name), expected, "{name}");
        }
        assert_eq!(identifier(&"ä".repeat(500)).chars().count(), IDENTIFIER_CHARS_MAX);
    }

    #[test]
    fn names_that_are_taken_give_way() {
        let free = |candidates: &[&str]| {
            let candidates: Vec<String> = candidates.iter().map(|name| (*name).to_owned()).collect();
            free(&candidates, |name| ["a", "b", "b_2"].contains(&name))
        };
        assert_eq!(free(&["a", "c"]), "c");
        assert_eq!(free(&["a", "b"]), "b_3");
    }

    #[test]
    fn one_of_many_is_in_the_singular() {
        for (many, one) in [
            ("orders", "order"),
            ("Categories", "Category"),
            ("CITIES", "CITY"),
            ("addresses", "address"),
            ("boxes", "box"),
            ("branches", "branch"),
            ("status", "status"),
            ("Bus", "Bus"),
            ("sheep", "sheep"),
            ("news", "news"),
            ("öls", "öl"),
        ] {
            assert_eq!(singular(many), one, "{many}");
        }
    }

    #[test]
    fn a_referring_column_names_what_it_refers_to() {
        for (column, expected) in [
            ("customer_id", Some("customer")),
            ("BuyerId", Some("Buyer")),
            ("id", None),
            ("_id", None),
            ("parent", None),
        ] {
            assert_eq!(referred(column), expected, "{column}");
        }
    }
}

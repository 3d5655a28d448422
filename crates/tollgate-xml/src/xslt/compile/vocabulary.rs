//! The elements of XSLT 1.0, their attributes and their places.

/// The role of an element of XSLT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It is at the top of a stylesheet.
    TopLevel,
    /// It is in a template.
    Instruction,
    /// It is only in certain others.
    Part,
    /// It is the stylesheet.
    Whole,
}

/// An element of XSLT.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: &'static str,
    pub(super) roles: &'static [Role],
    pub(super) required: &'static [&'static str],
    pub(super) optional: &'static [&'static str],
}

use Role::{Instruction, Part, TopLevel, Whole};

const fn element(
    name: &'static str,
    roles: &'static [Role],
    required: &'static [&'static str],
    optional: &'static [&'static str],
) -> Element {
    Element { name, roles, required, optional }
}

/// All of them, in alphabetical order.
const ELEMENTS: [Element; 35] = [
    element("apply-imports", &[Instruction], &[], &[]),
    element("apply-templates", &[Instruction], &[], &["select", "mode"]),
    element("attribute", &[Instruction], &["name"], &["namespace"]),
    element("attribute-set", &[TopLevel], &["name"], &["use-attribute-sets"]),
    element("call-template", &[Instruction], &["name"], &[]),
    element("choose", &[Instruction], &[], &[]),
    element("comment", &[Instruction], &[], &[]),
    element("copy", &[Instruction], &[], &["use-attribute-sets"]),
    element("copy-of", &[Instruction], &["select"], &[]),
    element(
        "decimal-format",
        &[TopLevel],
        &[],
        &[
            "name",
            "decimal-separator",
            "grouping-separator",
            "infinity",
            "minus-sign",
            "NaN",
            "percent",
            "per-mille",
            "zero-digit",
            "digit",
            "pattern-separator",
        ],
    ),
    element("element", &[Instruction], &["name"], &["namespace", "use-attribute-sets"]),
    element("fallback", &[Instruction], &[], &[]),
    element("for-each", &[Instruction], &["select"], &[]),
    element("if", &[Instruction], &["test"], &[]),
    element("import", &[TopLevel], &["href"], &[]),
    element("include", &[TopLevel], &["href"], &[]),
    element("key", &[TopLevel], &["name", "match", "use"], &[]),
    element("message", &[Instruction], &[], &["terminate"]),
    element("namespace-alias", &[TopLevel], &["stylesheet-prefix", "result-prefix"], &[]),
    element(
        "number",
        &[Instruction],
        &[],
        &["level", "count", "from", "value", "format", "lang", "letter-value", "grouping-separator", "grouping-size"],
    ),
    element("otherwise", &[Part], &[], &[]),
    element(
        "output",
        &[TopLevel],
        &[],
        &[
            "method",
            "version",
            "encoding",
            "omit-xml-declaration",
            "standalone",
            "doctype-public",
            "doctype-system",
            "cdata-section-elements",
            "indent",
            "media-type",
        ],
    ),
    element("param", &[TopLevel, Part], &["name"], &["select"]),
    element("preserve-space", &[TopLevel], &["elements"], &[]),
    element("processing-instruction", &[Instruction], &["name"], &[]),
    element("sort", &[Part], &[], &["select", "lang", "data-type", "order", "case-order"]),
    element("strip-space", &[TopLevel], &["elements"], &[]),
    element("stylesheet", &[Whole], &["version"], &["id", "extension-element-prefixes", "exclude-result-prefixes"]),
    element("template", &[TopLevel], &[], &["match", "name", "priority", "mode"]),
    element("text", &[Instruction], &[], &["disable-output-escaping"]),
    element("transform", &[Whole], &["version"], &["id", "extension-element-prefixes", "exclude-result-prefixes"]),
    element("value-of", &[Instruction], &["select"], &["disable-output-escaping"]),
    element("variable", &[TopLevel, Instruction], &["name"], &["select"]),
    element("when", &[Part], &["test"], &[]),
    element("with-param", &[Part], &["name"], &["select"]),
];

/// The element of XSLT of this name.
pub(super) fn known(name: &str) -> Option<&'static Element> {
    ELEMENTS.binary_search_by(|known| known.name.cmp(name)).ok().map(|index| &ELEMENTS[index])
}

/// Whether a name is that of an instruction, for `element-available()` (section 15).
pub(crate) fn is_instruction(name: &str) -> bool {
    known(name).is_some_and(|element| element.roles.contains(&Instruction))
}

impl Element {
    /// Whether it has an attribute of this name.
    pub(super) fn has(&self, attribute: &str) -> bool {
        self.required.contains(&attribute) || self.optional.contains(&attribute)
    }

    /// The attribute that was meant, if one is near.
    pub(super) fn nearest(&self, attribute: &str) -> Option<&'static str> {
        let all = self.required.iter().chain(self.optional);
        let near = all.map(|known| (*known, distance(known, attribute))).min_by_key(|(_, distance)| *distance);
        near.filter(|(known, distance)| *distance <= known.len().div_ceil(3)).map(|(known, _)| known)
    }
}

/// The element of XSLT that was meant, if one is near.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let near =
        ELEMENTS.iter().map(|known| (known.name, distance(known.name, name))).min_by_key(|(_, distance)| *distance);
    near.filter(|(known, distance)| *distance <= known.len().div_ceil(3)).map(|(known, _)| known)
}

/// Levenshtein's distance over bytes: names of XSLT have no others.
fn distance(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, letter) in left.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, other) in right.bytes().enumerate() {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_names_near_ones() {
        assert!(ELEMENTS.is_sorted_by_key(|element| element.name));
        assert_eq!(known("value-of").map(|element| element.required), Some(&["select"][..]));
        assert_eq!(nearest("foreach"), Some("for-each"));
        assert_eq!(known("sort").and_then(|sort| sort.nearest("ordre")), Some("order"));
        assert_eq!(nearest("frobnicate"), None);
        assert!(is_instruction("if") && !is_instruction("template") && !is_instruction("when"));
    }
}

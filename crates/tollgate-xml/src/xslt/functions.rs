//! The functions that XSLT 1.0 adds to XPath (section 12 and 15), and `exsl:node-set`: their names and numbers.
//!
//! Their code is in the run that calls them.

use crate::xpath::Foreign;

/// The namespace of the common extensions; of these `node-set` is known.
pub(crate) const EXSLT_COMMON: &str = "http://exslt.org/common";

pub(crate) const CURRENT: u32 = 0;
pub(crate) const DOCUMENT: u32 = 1;
pub(crate) const ELEMENT_AVAILABLE: u32 = 2;
pub(crate) const FORMAT_NUMBER: u32 = 3;
pub(crate) const FUNCTION_AVAILABLE: u32 = 4;
pub(crate) const GENERATE_ID: u32 = 5;
pub(crate) const KEY: u32 = 6;
pub(crate) const NODE_SET: u32 = 7;
pub(crate) const SYSTEM_PROPERTY: u32 = 8;
pub(crate) const UNPARSED_ENTITY_URI: u32 = 9;
pub(crate) const OBJECT_TYPE: u32 = 10;

/// Numbers with this bit are those of errors that are raised where the function is called.
pub(crate) const DEFERRED: u32 = 1 << 30;

/// A number contains the function and, above it, the declarations in scope where it is called.
const FUNCTION_BITS: u32 = 8;

/// The function of a number.
pub(crate) fn function_of(number: u32) -> u32 {
    number & ((1 << FUNCTION_BITS) - 1)
}

/// The scope of a number.
pub(crate) fn scope_of(number: u32) -> usize {
    (number >> FUNCTION_BITS) as usize
}

/// A function called in a scope.
pub(crate) fn in_scope(function: u32, scope: u32) -> u32 {
    function | scope << FUNCTION_BITS
}

/// Namespace, name, number, least and most arguments.
const TABLE: [(&str, &str, u32, usize, usize); 11] = [
    ("", "current", CURRENT, 0, 0),
    ("", "document", DOCUMENT, 1, 2),
    ("", "element-available", ELEMENT_AVAILABLE, 1, 1),
    ("", "format-number", FORMAT_NUMBER, 2, 3),
    ("", "function-available", FUNCTION_AVAILABLE, 1, 1),
    ("", "generate-id", GENERATE_ID, 0, 1),
    ("", "key", KEY, 2, 2),
    (EXSLT_COMMON, "node-set", NODE_SET, 1, 1),
    ("", "system-property", SYSTEM_PROPERTY, 1, 1),
    ("", "unparsed-entity-uri", UNPARSED_ENTITY_URI, 1, 1),
    (EXSLT_COMMON, "object-type", OBJECT_TYPE, 1, 1),
];

/// The function of this name, called with this number of arguments.
pub(crate) fn named(uri: &str, local: &str, arguments: usize) -> Foreign {
    match TABLE.iter().find(|(known_uri, known, ..)| *known_uri == uri && *known == local) {
        None => Foreign::Unknown,
        Some((_, _, number, least, most)) if (*least..=*most).contains(&arguments) => Foreign::Known(*number),
        Some((_, _, _, least, most)) => {
            let expected = if least == most { format!("{least}") } else { format!("{least} to {most}") };
            Foreign::Refused(format!("`{local}()` takes {expected} arguments, found {arguments}"))
        }
    }
}

/// Whether there is such a function, among those of XPath too, for `function-available()`.
pub(crate) fn is_available(uri: &str, local: &str) -> bool {
    let is_ours = TABLE.iter().any(|(known_uri, known, ..)| *known_uri == uri && *known == local);
    is_ours || (uri.is_empty() && crate::xpath::is_function(local))
}

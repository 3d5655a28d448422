//! Binary operators by name, with their precedence (OData V4.01 URL conventions section 5.1.1.17; V2 has the same order).

use crate::edm::Version;
use crate::plan::{Arithmetic, Comparison, Logic};
use crate::suggest;

/// A binary operator.
pub(super) struct Operator {
    pub(super) name: &'static str,
    /// Higher binds closer.
    pub(super) precedence: u8,
    pub(super) operation: Operation,
}

/// The operation of an operator.
#[derive(Clone, Copy)]
pub(super) enum Operation {
    Logic(Logic),
    Compare(Comparison),
    Arithmetic(Arithmetic),
    /// `divby`: division that leaves no rest out.
    DivideExactly,
    /// `in`: a list follows.
    In,
    /// `has`: a member of an enumeration follows.
    Has,
}

static OPERATORS: [Operator; 16] = [
    operator("or", 0, Operation::Logic(Logic::Or)),
    operator("and", 1, Operation::Logic(Logic::And)),
    operator("eq", 2, Operation::Compare(Comparison::Equal)),
    operator("ne", 2, Operation::Compare(Comparison::NotEqual)),
    operator("gt", 3, Operation::Compare(Comparison::Greater)),
    operator("ge", 3, Operation::Compare(Comparison::GreaterOrEqual)),
    operator("lt", 3, Operation::Compare(Comparison::Less)),
    operator("le", 3, Operation::Compare(Comparison::LessOrEqual)),
    operator("add", 4, Operation::Arithmetic(Arithmetic::Add)),
    operator("sub", 4, Operation::Arithmetic(Arithmetic::Subtract)),
    operator("mul", 5, Operation::Arithmetic(Arithmetic::Multiply)),
    operator("div", 5, Operation::Arithmetic(Arithmetic::Divide)),
    operator("mod", 5, Operation::Arithmetic(Arithmetic::Modulo)),
    operator("divby", 5, Operation::DivideExactly),
    operator("has", 6, Operation::Has),
    operator("in", 6, Operation::In),
];

const fn operator(name: &'static str, precedence: u8, operation: Operation) -> Operator {
    Operator { name, precedence, operation }
}

/// The operator of that name. V4.01 does not mind the case.
pub(super) fn find(version: Version, word: &str) -> Option<&'static Operator> {
    OPERATORS.iter().find(|operator| match version {
        Version::V2 => {
            let newer = matches!(operator.operation, Operation::Has | Operation::DivideExactly | Operation::In);
            operator.name == word && !newer
        }
        Version::V4 => operator.name.eq_ignore_ascii_case(word),
    })
}

/// A suggestion for a word that is no operator of the version.
pub(super) fn hint(version: Version, word: &str) -> Option<String> {
    let meant = match word {
        "" => return None,
        "equals" | "is" => "eq",
        "like" if version == Version::V2 => "substringof",
        "like" => "contains",
        _ if version == Version::V2 && find(Version::V4, word).is_some_and(|operator| operator.name == word) => {
            return Some(format!("{word} is an operator of OData V4"));
        }
        _ => {
            let names = OPERATORS.iter().map(|operator| operator.name).filter(|name| find(version, name).is_some());
            suggest::nearest(word, names)?
        }
    };
    Some(format!("did you mean {meant}?"))
}

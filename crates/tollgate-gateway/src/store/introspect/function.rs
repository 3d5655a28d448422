//! Functions of a mapping file: the entities of a set for which a condition with parameters is true.
//!
//! The condition is an expression of OData V4, so what a client gives is always a bound value. SQL of one's own belongs into a
//! view of the database, which is a set like any other.

use std::ops::Range;

use serde::Deserialize;
use tollgate_wire::edm::{FunctionAnswer, FunctionImport, FunctionMethod, FunctionReturn, Model, Primitive};
use tollgate_wire::query::check_function;
use toml::Spanned;

/// A function as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WantedFunction {
    returns: Spanned<String>,
    r#where: Spanned<String>,
    #[serde(default)]
    parameters: Vec<WantedParameter>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct WantedParameter {
    name: Spanned<String>,
    r#type: Spanned<String>,
}

/// What is wrong, and where.
type Wrong = (Range<usize>, String);

impl WantedFunction {
    /// The function as the model declares it.
    pub(super) fn declared(&self, model: &Model, name: &str) -> Result<FunctionImport, Wrong> {
        let Some(set) = model.set(self.returns.get_ref()) else {
            let sets: Vec<&str> = model.entity_sets.iter().map(|set| set.name.as_str()).take(8).collect();
            let wrong = format!("no entity set `{}` is served: there are {}", self.returns.get_ref(), sets.join(", "));
            return Err((self.returns.span(), wrong));
        };
        let mut parameters: Vec<(String, Primitive)> = Vec::with_capacity(self.parameters.len());
        for parameter in &self.parameters {
            let (name, kind) = (parameter.name.get_ref(), parameter.r#type.get_ref());
            if super::name::identifier(name) != *name || parameters.iter().any(|(known, _)| known == name) {
                return Err((parameter.name.span(), format!("`{name}` is no name, or stands twice")));
            }
            let Some((_, primitive)) = TYPES.iter().find(|(known, _)| known == kind) else {
                let types = TYPES.map(|(known, _)| known).join(", ");
                return Err((parameter.r#type.span(), format!("unknown type `{kind}`: expected one of {types}")));
            };
            parameters.push((name.clone(), *primitive));
        }
        let function = FunctionImport {
            name: name.to_owned(),
            method: FunctionMethod::Get,
            parameters,
            returns: FunctionReturn::Entities(set),
            answer: FunctionAnswer::Matching(self.r#where.get_ref().clone()),
        };
        self.check_mentions(&function)?;
        match check_function(model, &function) {
            Ok(()) => Ok(function),
            Err(error) => Err((self.r#where.span(), error.to_string())),
        }
    }

    /// An alias that is no parameter would be null, which is hardly meant.
    fn check_mentions(&self, function: &FunctionImport) -> Result<(), Wrong> {
        // Every second part stands between quotes.
        for text in self.r#where.get_ref().split('\'').step_by(2) {
            for mention in text.split('@').skip(1) {
                let length = mention.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(mention.len());
                let name = &mention[..length];
                if !function.parameters.iter().any(|(known, _)| known == name) {
                    return Err((self.r#where.span(), format!("`@{name}` is no parameter of the function")));
                }
            }
        }
        Ok(())
    }
}

/// The types that a parameter can have.
const TYPES: [(&str, Primitive); 14] = [
    ("Edm.Boolean", Primitive::Boolean),
    ("Edm.Byte", Primitive::Byte),
    ("Edm.SByte", Primitive::SByte),
    ("Edm.Int16", Primitive::Int16),
    ("Edm.Int32", Primitive::Int32),
    ("Edm.Int64", Primitive::Int64),
    ("Edm.Single", Primitive::Single),
    ("Edm.Double", Primitive::Double),
    ("Edm.Decimal", Primitive::Decimal { precision: 0, scale: 0 }),
    ("Edm.String", Primitive::String { length_max: 0 }),
    ("Edm.Guid", Primitive::Guid),
    ("Edm.Date", Primitive::Date),
    ("Edm.DateTimeOffset", Primitive::DateTimeOffset { precision: 0 }),
    ("Edm.TimeOfDay", Primitive::TimeOfDay { precision: 0 }),
];

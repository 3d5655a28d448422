//! Functions of a mapping file: the entities of a set, or those that belong to an entity, for which a condition with
//! parameters is true.
//!
//! The condition is an expression of OData V4, so a client's value is always bound. Custom SQL belongs in a view of the
//! database, which is a set like any other.

use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;
use tollgate_wire::edm::{
    Binding, BoundTo, Enumeration, EnumerationId, FunctionAnswer, FunctionImport, FunctionMethod, FunctionReturn,
    Model, Multiplicity, NavigationId, Parameter, Primitive, SetId,
};
use tollgate_wire::query::check_function;
use toml::Spanned;

/// A function as written in the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WantedFunction {
    returns: Option<Spanned<String>>,
    bound_to: Option<Spanned<String>>,
    through: Option<Spanned<String>>,
    r#where: Spanned<String>,
    #[serde(default)]
    parameters: Vec<WantedParameter>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WantedParameter {
    name: Spanned<String>,
    r#type: Spanned<String>,
}

/// Error and its place.
pub(super) type Wrong = (Range<usize>, String);

impl WantedFunction {
    /// Declares the function in the model.
    pub(super) fn declared(&self, model: &Model, name: &str) -> Result<FunctionImport, Wrong> {
        let (bound, set) = match &self.bound_to {
            None => (None, self.returned(model)?),
            Some(bound_to) => {
                let (set, to) = bound(model, bound_to)?;
                let through = self.through(model, (set, to), bound_to)?;
                let returned = through.map_or(set, |navigation| model.type_of(set).navigation[navigation.0].target);
                if let Some(returns) = self.returns.as_ref().filter(|_| self.returned(model) != Ok(returned)) {
                    let wrong = format!("it returns what it leads to, {}", model.entity_sets[returned.0].name);
                    return Err((returns.span(), wrong));
                }
                (Some(Binding { set, to, through }), returned)
            }
        };
        if let Some(through) = self.through.as_ref().filter(|_| bound.is_none()) {
            return Err((through.span(), "only a function that is bound_to entities leads on from them".to_owned()));
        }
        let function = FunctionImport {
            name: name.to_owned(),
            method: FunctionMethod::Get,
            bound,
            parameters: parameters(model, &self.parameters)?,
            returns: FunctionReturn::Entities(set),
            answer: FunctionAnswer::Matching(self.r#where.get_ref().clone()),
        };
        check_mentions(&function, &self.r#where)?;
        match check_function(model, &function) {
            Ok(()) => Ok(function),
            Err(error) => Err((self.r#where.span(), error.to_string())),
        }
    }

    fn returned(&self, model: &Model) -> Result<SetId, Wrong> {
        match &self.returns {
            Some(returns) => set(model, returns),
            None => {
                Err((self.r#where.span(), "expected `returns`, the entity set that it finds entities of".to_owned()))
            }
        }
    }

    /// The navigation property from the bound entity to the function's result.
    fn through(
        &self,
        model: &Model,
        (set, to): (SetId, BoundTo),
        bound_to: &Spanned<String>,
    ) -> Result<Option<NavigationId>, Wrong> {
        let entity_type = model.type_of(set);
        match (&self.through, to) {
            (None, BoundTo::Collection) => Ok(None),
            (Some(through), BoundTo::Collection) => {
                Err((through.span(), "only what is called on one entity leads on from it".to_owned()))
            }
            (through, BoundTo::Entity) => {
                let many =
                    |navigation: &NavigationId| entity_type.navigation[navigation.0].multiplicity == Multiplicity::Many;
                let asked = through.as_ref().and_then(|through| entity_type.navigation(through.get_ref()));
                asked.filter(many).map(Some).ok_or_else(|| {
                    let known = entity_type.navigation.iter().filter(|known| known.multiplicity == Multiplicity::Many);
                    let known: Vec<&str> = known.map(|known| known.name.as_str()).collect();
                    let span = through.as_ref().unwrap_or(bound_to).span();
                    let known = known.join(", ");
                    (span, format!("expected `through`, where it leads from one entity to many: there are {known}"))
                })
            }
        }
    }
}

/// The entity set of that name.
pub(super) fn set(model: &Model, name: &Spanned<String>) -> Result<SetId, Wrong> {
    model.set(name.get_ref()).ok_or_else(|| {
        let sets: Vec<&str> = model.entity_sets.iter().map(|set| set.name.as_str()).take(8).collect();
        (name.span(), format!("no entity set `{}` is served: there are {}", name.get_ref(), sets.join(", ")))
    })
}

/// Meaning of `Orders`, one of these entities, and `Collection(Orders)`.
pub(super) fn bound(model: &Model, bound_to: &Spanned<String>) -> Result<(SetId, BoundTo), Wrong> {
    let text = bound_to.get_ref().as_str();
    let inner = text.strip_prefix("Collection(").and_then(|rest| rest.strip_suffix(')'));
    let to = if inner.is_some() { BoundTo::Collection } else { BoundTo::Entity };
    let name = Spanned::new(bound_to.span(), inner.unwrap_or(text).to_owned());
    Ok((set(model, &name)?, to))
}

/// The parameters with their types.
pub(super) fn parameters(model: &Model, wanted: &[WantedParameter]) -> Result<Vec<Parameter>, Wrong> {
    let mut parameters: Vec<Parameter> = Vec::with_capacity(wanted.len());
    for parameter in wanted {
        let (name, kind) = (parameter.name.get_ref(), parameter.r#type.get_ref());
        if super::name::identifier(name) != *name || parameters.iter().any(|known| known.name == *name) {
            return Err((parameter.name.span(), format!("`{name}` is no name, or stands twice")));
        }
        let named = |known: &Arc<Enumeration>| known.full_name == *kind || known.name() == kind;
        let primitive = TYPES.iter().find(|(known, _)| known == kind).map(|(_, primitive)| *primitive);
        parameters.push(match (primitive, model.enumerations.iter().position(named)) {
            (Some(primitive), _) => Parameter::new(name, primitive),
            (None, Some(id)) => {
                let (primitive, enumeration) = (model.enumerations[id].primitive(), Some(EnumerationId(id)));
                Parameter { name: name.clone(), primitive, enumeration }
            }
            (None, None) => {
                let types = TYPES.map(|(known, _)| known).join(", ");
                let enumerations: String =
                    model.enumerations.iter().map(|known| format!(", {}", known.name())).collect();
                let wrong = format!("unknown type `{kind}`: expected one of {types}{enumerations}");
                return Err((parameter.r#type.span(), wrong));
            }
        });
    }
    Ok(parameters)
}

/// Refuses aliases that are no parameters: they would be null, which is hardly intended.
pub(super) fn check_mentions(function: &FunctionImport, expression: &Spanned<String>) -> Result<(), Wrong> {
    // Every second part stands between quotes.
    for text in expression.get_ref().split('\'').step_by(2) {
        for mention in text.split('@').skip(1) {
            let length = mention.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(mention.len());
            let name = &mention[..length];
            if function.parameter(name).is_none() {
                return Err((expression.span(), format!("`@{name}` is no parameter")));
            }
        }
    }
    Ok(())
}

/// The types that a parameter can have.
pub(super) const TYPES: [(&str, Primitive); 14] = [
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

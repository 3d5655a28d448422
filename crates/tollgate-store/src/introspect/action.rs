//! Actions of a mapping file: properties of entities get the values of expressions with parameters, under a condition.
//!
//! Expressions are those of OData V4 over the entity as it is, so a client's value is always bound. Effects beyond
//! that, such as rows in other tables, belong in a trigger of the database.

use std::collections::BTreeMap;

use serde::Deserialize;
use tollgate_wire::edm::{
    Binding, BoundTo, Effect, FunctionAnswer, FunctionImport, FunctionMethod, FunctionReturn, Leaf, LeafId, Model,
    Parameter, Primitive, Provided, Reached, SetId,
};
use tollgate_wire::query::check_action;
use toml::Spanned;

use super::function::{WantedParameter, Wrong, bound, check_mentions, parameters, set};

/// An action as written in the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WantedAction {
    bound_to: Option<Spanned<String>>,
    changes: Option<Spanned<String>>,
    key: Option<Spanned<Vec<String>>>,
    r#where: Option<Spanned<String>>,
    when: Option<Spanned<String>>,
    set: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    parameters: Vec<WantedParameter>,
    #[serde(default)]
    answers: Answers,
}

/// Answer of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Answers {
    #[default]
    Nothing,
    Changed,
}

impl WantedAction {
    /// Declares the action in the model.
    pub(super) fn declared(&self, model: &Model, name: &Spanned<String>) -> Result<FunctionImport, Wrong> {
        let wrong = |wrong: &str| Err((name.span(), wrong.to_owned()));
        let (binding, set) = match (&self.bound_to, &self.changes) {
            (Some(bound_to), None) => {
                let (set, to) = bound(model, bound_to)?;
                (Some(Binding { set, to, through: None }), set)
            }
            (None, Some(changes)) => (None, set(model, changes)?),
            _ => {
                return wrong(
                    "expected either `bound_to`, what it is called on, or `changes`, the set that it changes",
                );
            }
        };
        let parameters = parameters(model, &self.parameters)?;
        let reached = match (binding.map(|binding| binding.to), &self.key, &self.r#where) {
            (Some(BoundTo::Entity), None, None) => Reached::Bound,
            (None, Some(key), None) => Reached::Keyed(self.keyed(model, set, &parameters, key)?),
            (None | Some(BoundTo::Collection), None, Some(condition)) => Reached::Matching(condition.get_ref().clone()),
            (Some(BoundTo::Entity), ..) => {
                return wrong("what it is called on says which entity it changes: expected neither `key` nor `where`");
            }
            (Some(BoundTo::Collection), ..) => return wrong("expected `where`, which of the entities it changes"),
            (None, ..) => return wrong("expected either `key`, the parameters that are it, or `where`"),
        };
        let changed = &model.entity_sets[set.0];
        if !changed.changes.update {
            return wrong(&format!("entities of {} cannot be changed", changed.name));
        }
        let values = self.set.iter().map(|(property, text)| Ok((self.settable(model, set, property)?, text)));
        let values: Vec<(LeafId, &Spanned<String>)> = values.collect::<Result<_, Wrong>>()?;
        let returns = match (self.answers, &reached) {
            (Answers::Nothing, _) => FunctionReturn::Nothing,
            (Answers::Changed, Reached::Matching(_)) => FunctionReturn::Entities(set),
            (Answers::Changed, Reached::Bound | Reached::Keyed(_)) => FunctionReturn::Entity(set),
        };
        let effect = Effect {
            set,
            reached,
            condition: self.when.as_ref().map(|when| when.get_ref().clone()),
            values: values.iter().map(|(leaf, text)| (*leaf, text.get_ref().clone())).collect(),
        };
        let action = FunctionImport {
            name: name.get_ref().clone(),
            method: FunctionMethod::Post,
            bound: binding,
            parameters,
            returns,
            answer: FunctionAnswer::Acting(effect.clone()),
        };
        let expressions = self.r#where.iter().chain(&self.when).chain(values.iter().map(|(_, text)| *text));
        expressions.into_iter().try_for_each(|expression| check_mentions(&action, expression))?;
        match check_action(model, &action, &effect) {
            Ok(()) => Ok(action),
            Err(error) => Err((name.span(), error.to_string())),
        }
    }

    /// The positions of the key parameters.
    fn keyed(
        &self,
        model: &Model,
        set: SetId,
        parameters: &[Parameter],
        key: &Spanned<Vec<String>>,
    ) -> Result<Vec<usize>, Wrong> {
        let entity_type = model.type_of(set);
        let parts: Vec<_> = entity_type.key.iter().map(|leaf| &entity_type.leaves[leaf.0]).collect();
        let position = |name: &String| parameters.iter().position(|known| known.name == *name);
        let positions: Option<Vec<usize>> = key.get_ref().iter().map(position).collect();
        let of_type = |(position, part): (&usize, &&Leaf)| same_kind(&parameters[*position], part.primitive);
        match positions {
            Some(positions) if positions.len() == parts.len() && positions.iter().zip(&parts).all(of_type) => {
                Ok(positions)
            }
            _ => {
                let parts: Vec<String> = parts.iter().map(|part| part.path.clone()).collect();
                Err((
                    key.span(),
                    format!("expected a parameter of its type for each part of the key: {}", parts.join(", ")),
                ))
            }
        }
    }

    /// The leaf of a property, if an action may set it.
    fn settable(&self, model: &Model, set: SetId, property: &Spanned<String>) -> Result<LeafId, Wrong> {
        let entity_type = model.type_of(set);
        let name = property.get_ref();
        let Some(leaf) = entity_type.leaf(name) else {
            let known: Vec<&str> = entity_type.leaves.iter().map(|leaf| leaf.path.as_str()).take(12).collect();
            let wrong = format!("{} has no property `{name}`: there are {}", entity_type.name, known.join(", "));
            return Err((property.span(), wrong));
        };
        if entity_type.key.contains(&leaf) {
            return Err((property.span(), format!("`{name}` is part of the key, which does not change")));
        }
        if entity_type.provided(leaf).is_some_and(Provided::is_managed) {
            return Err((property.span(), format!("`{name}` is set by the server or the database alone")));
        }
        Ok(leaf)
    }
}

/// Whether values of both types are written the same: integers are, in any range. A key has no members.
fn same_kind(parameter: &Parameter, right: Primitive) -> bool {
    use Primitive as P;
    let left = parameter.primitive;
    let is_whole = |primitive| matches!(primitive, P::Byte | P::SByte | P::Int16 | P::Int32 | P::Int64);
    let same = is_whole(left) && is_whole(right) || std::mem::discriminant(&left) == std::mem::discriminant(&right);
    same && parameter.enumeration.is_none()
}

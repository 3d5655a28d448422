//! `choose`: cases in their order. The first true condition decides on the endpoint and further mediators; without any,
//! `otherwise` does.

use std::cell::OnceCell;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;
use toml::de::DeValue;

use super::SequenceTable;
use crate::base::config_error::ConfigError;
use crate::error::Fault;
use crate::mediate::condition::{Condition, ConditionTable, Looking};
use crate::mediate::mediator::{Mediator, Need, Outcome, Touches};
use crate::mediate::message::Passing;
use crate::mediate::reading::{MediatorKind, MediatorReader, Namespaces, Value, take};
use crate::mediate::sequence::Sequence;
use crate::mediate::view::Unreadable;

pub(super) const KIND: MediatorKind =
    MediatorKind { name: "choose", make, schema: |generator| generator.subschema_for::<Table>() };

/// Most cases of one mediator.
const CASES_MAX: usize = 256;

/// Chooses the endpoint and further mediators by the message.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Choose")]
struct Table {
    /// The cases: the first true condition decides.
    #[serde(default)]
    #[schemars(required, with = "Vec<CaseTable>")]
    #[expect(dead_code, reason = "it describes the table, and is taken out of it to be read by itself")]
    choose: (),
    /// Used if no case matches.
    #[serde(default)]
    #[schemars(with = "Option<ThenTable>")]
    #[expect(dead_code, reason = "it describes the table, and is taken out of it to be read by itself")]
    otherwise: (),
    /// Prefixes of the XPaths, and their namespaces. `soap11`, `soap12` and `wsa` are known.
    #[serde(default)]
    namespaces: Namespaces,
}

/// A case: its condition, and the action for matching messages.
#[derive(JsonSchema)]
#[schemars(rename = "Case")]
#[expect(dead_code, reason = "it describes the table; its two halves are read by themselves")]
struct CaseTable {
    #[schemars(flatten)]
    condition: ConditionTable,
    #[schemars(flatten)]
    then: ThenTable,
}

/// Action for a message.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Then")]
#[expect(dead_code, reason = "it describes the table; its keys are read one by one")]
struct ThenTable {
    /// The name of the endpoint for the message.
    #[schemars(with = "Option<String>")]
    endpoint: Option<Spanned<String>>,
    /// The further mediators for the message.
    #[serde(default)]
    then: SequenceTable,
}

#[derive(Debug)]
struct Choose {
    cases: Box<[Case]>,
    otherwise: Then,
    need: Need,
}

#[derive(Debug)]
struct Case {
    condition: Condition,
    then: Then,
}

#[derive(Debug, Default)]
struct Then {
    endpoint: Option<usize>,
    sequence: Sequence,
}

fn make(table: Value<'_>, reading: &MediatorReader<'_>) -> Result<Box<dyn Mediator>, ConfigError> {
    let span = table.span();
    let DeValue::Table(mut entries) = table.into_inner() else { return Err(reading.wrong(span, "expected a table")) };
    let (cases, otherwise) = (take(&mut entries, "choose"), take(&mut entries, "otherwise"));
    let Table { namespaces, .. } = reading.table(Spanned::new(span.clone(), DeValue::Table(entries)))?;
    let cases = match cases.map(|cases| (cases.span(), cases.into_inner())) {
        Some((_, DeValue::Array(cases))) if (1..=CASES_MAX).contains(&cases.len()) => cases,
        other => {
            let wrong = format!(
                "expected an array of 1 to {CASES_MAX} cases, such as [{{ path = \"/a/*\", endpoint = \"a\" }}]"
            );
            return Err(reading.wrong(other.map_or(span, |(span, _)| span), &wrong));
        }
    };
    let case = |case: Value<'_>| {
        let (then, rest) = split(case, reading)?;
        let condition: ConditionTable = reading.table(rest.clone())?;
        let condition = Condition::read(Spanned::new(rest.span(), condition), &namespaces, reading)?;
        Ok(Case { condition, then })
    };
    let cases: Box<[Case]> = cases.into_iter().map(case).collect::<Result<_, ConfigError>>()?;
    let otherwise = match otherwise {
        None => Then::default(),
        Some(table) => {
            let (then, rest) = split(table, reading)?;
            match rest.get_ref() {
                DeValue::Table(entries) if entries.is_empty() => then,
                _ => return Err(reading.wrong(rest.span(), "expected `endpoint` or `then`, and nothing else")),
            }
        }
    };
    let of_case = |case: &Case| case.condition.need().max(case.then.sequence.need());
    let need = cases.iter().map(of_case).max().unwrap_or_default().max(otherwise.sequence.need());
    Ok(Box::new(Choose { cases, otherwise, need }))
}

/// Splits a table into the action of a case and the other keys.
fn split<'t>(table: Value<'t>, reading: &MediatorReader<'_>) -> Result<(Then, Value<'t>), ConfigError> {
    let span = table.span();
    let DeValue::Table(mut entries) = table.into_inner() else { return Err(reading.wrong(span, "expected a table")) };
    let sequence = match take(&mut entries, "then") {
        Some(then) => reading.sequence(then)?,
        None => Sequence::default(),
    };
    let endpoint = match take(&mut entries, "endpoint") {
        Some(name) => Some(reading.endpoint(&reading.text(name)?)?),
        None => None,
    };
    Ok((Then { endpoint, sequence }, Spanned::new(span, DeValue::Table(entries))))
}

impl Mediator for Choose {
    fn need(&self) -> Need {
        self.need
    }

    fn fields<'m>(&'m self, note: &mut dyn FnMut(Touches, &'m str)) {
        for case in &self.cases {
            case.condition.fields(note);
        }
        for then in self.cases.iter().map(|case| &case.then).chain([&self.otherwise]) {
            then.sequence.fields(note);
        }
    }

    fn mediate(&self, passing: &mut Passing<'_>) -> Result<Outcome, Fault> {
        let chosen = self.chosen(passing)?;
        if chosen.endpoint.is_some() {
            passing.endpoint = chosen.endpoint;
        }
        chosen.sequence.pass(passing)
    }
}

impl Choose {
    fn chosen(&self, passing: &mut Passing<'_>) -> Result<&Then, Fault> {
        let (view, tools) = passing.split();
        let limits = view.budget();
        let text = OnceCell::new();
        let mut looking = Looking::new(&view, tools.workspace, &limits, &text);
        let mut chosen = &self.otherwise;
        for case in &self.cases {
            // Each condition has a budget of its own in the document that they share.
            if view.effort.is_spent(view.body.len()) {
                return Err(view.refuse(Unreadable::Wrong(view.effort.explanation(view.body.len()))));
            }
            if case.condition.holds(&mut looking)? {
                chosen = &case.then;
                break;
            }
        }
        looking.end();
        Ok(chosen)
    }
}

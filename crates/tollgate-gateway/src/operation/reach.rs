//! Permission check for all sets that a request's head reaches: every entity set on its path, in `$expand`, and in the
//! expressions of `$filter` and `$orderby`.
//!
//! Sets reached by its body are checked where they are written ([`super::create`], [`super::reference`]): there is no
//! other way to write.

use tollgate_net::http1::Method;
use tollgate_wire::plan::{Expression, ExpressionKind, Options, Plan, Resource, Shape};

use crate::auth::{Access, Verb};
use crate::error::Fault;

/// Checks that the caller may make this request.
///
/// # Errors
/// 401 or 403.
pub(crate) fn check(access: &Access, resource: &Resource, method: Method) -> Result<(), Fault> {
    if access.is_open() {
        return Ok(());
    }
    match resource {
        Resource::ServiceDocument | Resource::Metadata | Resource::Function(_) => {
            access.check_document(Verb::of(method))
        }
        // Each of its requests is checked by itself.
        Resource::Batch => access.check_any(),
        Resource::Read(plan) => {
            let verb = match (plan.shape, method) {
                // A value that is cleared is a change of its entity.
                (Shape::Property(_) | Shape::Leaf(_) | Shape::RawValue(_), Method::Delete) => Verb::Patch,
                _ => Verb::of(method),
            };
            check_plan(access, plan, verb)
        }
        // Whether the side that holds the foreign key may be changed is asked by whoever changes it.
        Resource::References(plan) => check_plan(access, plan, Verb::Get),
        // It changes what it is called on, however it is called; the rest is asked once its arguments are known.
        Resource::Act(act) => {
            let verb = match Verb::of(method) {
                Verb::Post | Verb::Put => Verb::Patch,
                verb => verb,
            };
            check_plan(access, &act.plan, verb)
        }
    }
}

/// Checks that the caller may do `verb` at the end of the plan's path, and read everything else that the plan reaches.
fn check_plan(access: &Access, plan: &Plan, verb: Verb) -> Result<(), Fault> {
    let mut way = plan.root;
    for step in &plan.steps {
        access.check(way, Verb::Get)?;
        way = step.target;
    }
    access.check(way, verb)?;
    check_options(access, &plan.options)
}

fn check_options(access: &Access, options: &Options) -> Result<(), Fault> {
    for expanded in &options.expand {
        access.check(expanded.target, Verb::Get)?;
        check_options(access, &expanded.options)?;
    }
    if let Some(applied) = &options.apply {
        applied.relation.try_each(&mut |expression| check_expression(access, expression))?;
    }
    options.compute.iter().try_for_each(|computed| check_expression(access, &computed.expression))?;
    let expressions = options.filter.iter().chain(options.order_by.iter().map(|key| &key.expression));
    expressions.into_iter().try_for_each(|expression| check_expression(access, expression))
}

/// Checks that the caller may read everything that an expression reaches.
///
/// # Errors
/// 401 or 403.
pub(super) fn check_expression(access: &Access, expression: &Expression) -> Result<(), Fault> {
    match &expression.kind {
        ExpressionKind::Literal(_) | ExpressionKind::Column(_) | ExpressionKind::Item(_) => Ok(()),
        ExpressionKind::Leaf { of: _, through, leaf: _ } => {
            through.iter().try_for_each(|(_, target)| access.check(*target, Verb::Get))
        }
        ExpressionKind::Not(inner)
        | ExpressionKind::Negate(inner)
        | ExpressionKind::Cast(inner)
        | ExpressionKind::In(inner, _) => check_expression(access, inner),
        ExpressionKind::Logic(_, left, right)
        | ExpressionKind::Compare(_, left, right)
        | ExpressionKind::Arithmetic(_, left, right) => {
            check_expression(access, left)?;
            check_expression(access, right)
        }
        ExpressionKind::Case(branches) => branches.iter().try_for_each(|(condition, value)| {
            check_expression(access, condition)?;
            check_expression(access, value)
        }),
        ExpressionKind::Related(related) => {
            related.through.iter().try_for_each(|(_, target)| access.check(*target, Verb::Get))?;
            access.check(related.target, Verb::Get)?;
            related.condition.iter().try_for_each(|condition| check_expression(access, condition))
        }
        ExpressionKind::Items(items) => {
            items.through.iter().try_for_each(|(_, target)| access.check(*target, Verb::Get))?;
            items.condition.iter().try_for_each(|condition| check_expression(access, condition))
        }
        ExpressionKind::Call(_, arguments) => {
            arguments.iter().try_for_each(|argument| check_expression(access, argument))
        }
    }
}

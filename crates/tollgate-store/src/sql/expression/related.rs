//! Questions about related entities: a subquery for each, bound to the entity around it.

use tollgate_wire::plan::{Question, Related};

use super::{Nulls, Scope, Variable, Variables, boolean};
use crate::StoreError;
use crate::sql::Sql;
use crate::sql::navigation::{Decimals, leaf_value};

pub(super) fn related<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    question: &'p Related,
    depth: usize,
) -> Result<(), StoreError> {
    let number = scope.variables.0.map_or(0, |variable| variable.number + 1);
    let alias = format!("v{number}");
    let (from, _) = scope.of(question.of);
    let last = question.through.last().map_or(from, |(_, set)| *set);
    let navigation = &scope.model.type_of(last).navigation[question.navigation.0];
    sql.push(match question.question {
        Question::Any => "EXISTS (SELECT 1 FROM ",
        // Alone it binds looser than the operators that may stand around it.
        Question::All => "(NOT EXISTS (SELECT 1 FROM ",
        Question::Count => "(SELECT COUNT(*) FROM ",
    });
    sql.table_as(scope.mapping.table(question.target), &alias);
    sql.push(" WHERE ");
    sql.list(" AND ", &navigation.on, |sql, (here, there)| {
        sql.column(&alias, scope.mapping.column(question.target, *there));
        sql.push(" = ");
        match question.through.is_empty() {
            // As it is stored, so that an index serves it.
            true => {
                let (set, outer) = scope.of(question.of);
                sql.column(outer, scope.mapping.column(set, *here));
            }
            false => leaf_value(sql, scope, question.of, &question.through, *here, Decimals::AsStored),
        }
    });
    if let Some(condition) = &question.condition {
        let variable = Variable { number, set: question.target, alias: &alias, around: scope.variables };
        let inner = Scope { variables: Variables(Some(&variable)), ..*scope };
        match question.question {
            Question::Any | Question::Count => {
                sql.push(" AND ");
                boolean(sql, &inner, condition, Nulls::AsFalse, depth + 1)?;
            }
            Question::All => {
                sql.push(" AND (");
                boolean(sql, &inner, condition, Nulls::AsFalse, depth + 1)?;
                sql.push(") IS NOT TRUE");
            }
        }
    }
    sql.push(match question.question {
        Question::Any | Question::Count => ")",
        Question::All => "))",
    });
    Ok(())
}

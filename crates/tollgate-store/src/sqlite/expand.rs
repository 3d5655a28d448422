//! Expansions: a statement for each, run again for each parent while SQLite is at the parent's row.

use rusqlite::CachedStatement;
use tollgate_wire::edm::SetId;
use tollgate_wire::plan::{Columns, Expand, Shown};

use super::SqliteConnection;
use super::form::Converter;
use super::read::{bind, converted, token};
use super::row::SqliteRow;
use crate::sql::page::{Tokens, cut_at};
use crate::sql::statement::Source;
use crate::sql::{Parameter, Sql};
use crate::{Flow, RowSink, StoreError};

/// The related entities of one parent after the other.
pub(super) struct Expansion<'c> {
    /// Statement for the entities; `None` if only their number is answered.
    entities: Option<PerParent<'c>>,
    total: Option<PerParent<'c>>,
    converter: Option<Converter<'c>>,
    /// Limit of entities, and the tokens to continue after it.
    cut: Option<(u64, Tokens<'c>)>,
    expansions: Vec<Expansion<'c>>,
}

/// A statement whose other parameters are bound.
struct PerParent<'c> {
    statement: CachedStatement<'c>,
    /// Marks and the parent's columns for them.
    bound: Vec<(usize, usize)>,
}

impl SqliteConnection {
    /// Creates the expansions of entities in `set` that are read with these columns.
    pub(super) fn expansions<'c>(
        &'c self,
        source: &Source<'c>,
        set: SetId,
        expand: &'c [Expand],
        columns: &Columns,
    ) -> Result<Vec<Expansion<'c>>, StoreError> {
        expand.iter().map(|expand| self.expansion(source, set, expand, columns)).collect()
    }

    fn expansion<'c>(
        &'c self,
        source: &Source<'c>,
        set: SetId,
        expand: &'c Expand,
        columns: &Columns,
    ) -> Result<Expansion<'c>, StoreError> {
        let joined: Vec<usize> = source
            .joined_leaves(set, expand)
            .map(|leaf| columns.of(leaf).expect("the columns of a read hold what expansions join on"))
            .collect();
        let options = &expand.options;
        let child = Columns::new(source.model.type_of(expand.target), &options.select, &options.expand);
        let per_parent = |sql: Sql<'_>| self.per_parent(&sql, &joined);
        let total = expand.counts().then(|| source.expansion_total(set, expand).and_then(per_parent)).transpose()?;
        let entities = match expand.shown {
            Shown::Number => None,
            Shown::Entities | Shown::References => Some(per_parent(source.expansion(set, expand, &child)?)?),
        };
        let converter = Converter::new(source.model, source.mapping, expand.target, child.leaves.iter().copied());
        let expansions = self.expansions(source, expand.target, &options.expand, &child)?;
        let cut = cut_at(source, set, expand).map(|most| (most, Tokens::of_expansion(source, expand, &child)));
        Ok(Expansion { entities, total, converter, cut, expansions })
    }

    fn per_parent(&self, sql: &Sql<'_>, joined: &[usize]) -> Result<PerParent<'_>, StoreError> {
        let marks = sql.parameters.iter().enumerate();
        let bound = marks.filter_map(|(index, parameter)| match parameter {
            Parameter::Parent(position) => Some((index + 1, joined[*position])),
            Parameter::Value(_) | Parameter::Key(..) | Parameter::Count(_) => None,
        });
        Ok(PerParent { bound: bound.collect(), statement: self.prepared(sql)? })
    }
}

impl PerParent<'_> {
    /// Runs the statement for a parent. Null equals nothing, so a parent without the value has no related entities.
    fn of(&mut self, parent: &SqliteRow<'_, '_>) -> Result<rusqlite::Rows<'_>, StoreError> {
        for (mark, column) in &self.bound {
            bind(&mut self.statement, *mark, parent.raw.get_ref(*column)?)?;
        }
        Ok(self.statement.raw_query())
    }
}

impl Expansion<'_> {
    /// Passes on the related entities of a parent.
    pub(super) fn read<S: RowSink>(
        &mut self,
        index: usize,
        parent: &SqliteRow<'_, '_>,
        sink: &mut S,
    ) -> Result<Flow, StoreError> {
        if let Some(total) = &mut self.total {
            let mut rows = total.of(parent)?;
            let count: i64 = rows.next()?.expect("a count has a row").get(0)?;
            if sink.expand_total(index, count.unsigned_abs()) == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        if sink.expand_begin(index, parent) == Flow::Stop {
            return Ok(Flow::Stop);
        }
        if let Some(entities) = &mut self.entities {
            let mut rows = entities.of(parent)?;
            let mut handed_out = 0;
            let mut next = None;
            while let Some(row) = rows.next()? {
                if let Some(next) = &next {
                    if sink.expand_more(index, parent, next) == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                    break;
                }
                let row = converted(row, &mut self.converter)?;
                handed_out += 1;
                if sink.expand_entity(index, &row) == Flow::Stop {
                    return Ok(Flow::Stop);
                }
                for (inner, expansion) in self.expansions.iter_mut().enumerate() {
                    if expansion.read(inner, &row, sink)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
                if sink.expand_entity_end(index, &row) == Flow::Stop {
                    return Ok(Flow::Stop);
                }
                if let Some((most, tokens)) = &self.cut
                    && *most == handed_out
                {
                    next = Some(token(tokens, &row, handed_out)?);
                }
            }
        }
        Ok(sink.expand_end(index, parent))
    }
}

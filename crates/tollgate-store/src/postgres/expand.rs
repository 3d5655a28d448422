//! Expansions: the related entities of many parents with one statement, passed on parent by parent.
//!
//! If the parents come in parts, so do their related entities, however many one parent has.

use std::collections::VecDeque;

use bytes::BytesMut;
use postgres::{Row as Sent, Statement};
use tollgate_wire::edm::{Primitive, SetId};
use tollgate_wire::plan::{Columns, Computed, Expand, Shown};
use tollgate_wire::value::{Cell, Row};

use super::bind::Bound;
use super::failure::Failure;
use super::read::{Reach, Stopped, bound, located};
use super::row::{Kind, Reader};
use super::write::references;
use crate::sql::Sql;
use crate::sql::page::{Tokens, cut_at};
use crate::sql::statement::Source;
use crate::{Flow, RowSink, StoreError};

/// Parents whose related entities are fetched together.
pub(super) const PARENTS_AT_ONCE: i32 = 128;

/// Related entities fetched at once.
const RELATED_AT_ONCE: i32 = 512;

/// The related entities of one parent after the other.
pub(super) struct Expansion<'p, R: Reach> {
    /// Statement for the entities; `None` if only their number is answered.
    entities: Option<OfMany<'p>>,
    totals: Option<OfMany<'p>>,
    /// Number for each of the current parents.
    counted: Vec<u64>,
    /// Set of the related entities.
    target: SetId,
    columns: Columns,
    kinds: Vec<Kind>,
    /// Limit of entities for one parent, and the tokens to continue after it.
    cut: Option<(u64, Tokens<'p>)>,
    /// The parent's joined columns, with their types.
    joined: Vec<(usize, Primitive)>,
    reader: Reader,
    cursor: Option<R::Cursor>,
    fetched: VecDeque<Sent>,
    /// Number of the last fetched ones that were passed on.
    taken: usize,
    expansions: Vec<Expansion<'p, R>>,
}

/// A statement for many parents.
struct OfMany<'p> {
    sql: Sql<'p>,
    statement: Option<Statement>,
}

/// Data of the parents.
pub(super) struct Parents<'p> {
    pub(super) source: &'p Source<'p>,
    pub(super) set: SetId,
    pub(super) columns: &'p Columns,
    pub(super) kinds: &'p [Kind],
}

impl OfMany<'_> {
    fn prepared<R: Reach>(&mut self, reach: &mut R) -> Result<Statement, Failure> {
        if self.statement.is_none() {
            self.statement = Some(reach.statement(&self.sql.text)?);
        }
        Ok(self.statement.clone().expect("it was prepared just before"))
    }
}

impl<'p, R: Reach> Expansion<'p, R> {
    /// Creates the expansions of entities in `set` that are read with these columns.
    pub(super) fn all(
        source: &Source<'p>,
        set: SetId,
        expand: &'p [Expand],
        columns: &Columns,
    ) -> Result<Vec<Expansion<'p, R>>, StoreError> {
        expand.iter().map(|expand| Expansion::new(source, set, expand, columns)).collect()
    }

    fn new(
        source: &Source<'p>,
        set: SetId,
        expand: &'p Expand,
        columns: &Columns,
    ) -> Result<Expansion<'p, R>, StoreError> {
        let (parent, target) = (source.model.type_of(set), source.model.type_of(expand.target));
        let options = &expand.options;
        let related = Columns::new(target, &options.select, &options.expand);
        let joined = source.joined_leaves(set, expand).map(|leaf| {
            let column = columns.of(leaf).expect("the columns of a read hold what expansions join on");
            (column, parent.leaves[leaf.0].primitive)
        });
        let kinds = related.leaves.iter().map(|leaf| Kind::of_leaf(target, *leaf));
        let computed = Computed::shown(&options.compute).map(|computed| Kind::of(Some(computed.primitive)));
        let cut = cut_at(source, set, expand).map(|most| (most, Tokens::of_expansion(source, expand, &related)));
        let order = options.order_by.iter().filter(|_| cut.is_some());
        let order = order.map(|by| Kind::of_order(by.expression.primitive));
        let of_many = |sql| OfMany { sql, statement: None };
        let entities = match expand.shown {
            Shown::Number => None,
            Shown::Entities | Shown::References => Some(source.expansion_of_many(set, expand, &related)?),
        };
        let totals = expand.counts().then(|| source.totals_of_many(set, expand)).transpose()?;
        Ok(Expansion {
            entities: entities.map(of_many),
            totals: totals.map(of_many),
            counted: Vec::new(),
            kinds: kinds.chain(computed).chain(order).chain([Kind::Integer]).collect(),
            cut,
            joined: joined.collect(),
            target: expand.target,
            expansions: Expansion::all(source, expand.target, &options.expand, &related)?,
            columns: related,
            reader: Reader::default(),
            cursor: None,
            fetched: VecDeque::new(),
            taken: 0,
        })
    }

    /// Starts fetching the related entities of these parents.
    pub(super) fn of_parents<'s>(
        &mut self,
        reach: &mut R,
        reader: &mut Reader,
        of: &Parents<'_>,
        parents: impl Iterator<Item = &'s Sent>,
    ) -> Result<(), Stopped> {
        let mut lists = vec![String::from("{"); self.joined.len()];
        for parent in parents {
            let row = reader.read(parent, of.kinds);
            let row = row.map_err(|failure| located(failure, of.source, of.set, of.columns, parent))?;
            for (list, (column, primitive)) in lists.iter_mut().zip(&self.joined) {
                append(list, row.cell(*column), *primitive);
            }
        }
        lists.iter_mut().for_each(|list| list.push('}'));
        if let Some(totals) = &mut self.totals {
            let statement = totals.prepared(reach)?;
            let rows = reach.few(&statement, &references(&bound(&totals.sql, &lists)?))?;
            let count = |row: &Sent| row.try_get::<_, i64>(0).map(i64::unsigned_abs);
            self.counted = rows.iter().map(count).collect::<Result<_, _>>()?;
        }
        if let Some(entities) = &mut self.entities {
            let statement = entities.prepared(reach)?;
            self.cursor = Some(reach.open(&statement, &references(&bound(&entities.sql, &lists)?))?);
        }
        self.fetched.clear();
        self.taken = 0;
        Ok(())
    }

    /// Passes on the related entities of the parent at `index` among these.
    pub(super) fn hand_out<S: RowSink>(
        &mut self,
        reach: &mut R,
        source: &Source<'_>,
        (position, index): (usize, usize),
        parent: &impl Row,
        sink: &mut S,
    ) -> Result<Flow, Stopped> {
        if self.totals.is_some() {
            let count = self.counted.get(index).copied().unwrap_or(0);
            if sink.expand_total(position, count) == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        if sink.expand_begin(position, parent) == Flow::Stop {
            return Ok(Flow::Stop);
        }
        let number_column = self.kinds.len() - 1;
        let number = index as i64 + 1;
        let mut handed_out = 0;
        let mut next = None;
        loop {
            self.fetch(reach, source)?;
            let Some(sent) = self.fetched.front() else { break };
            let row = self.reader.read(sent, &self.kinds);
            let row = row.map_err(|failure| located(failure, source, self.target, &self.columns, sent))?;
            match row.cell(number_column) {
                // What a cut has left of the parents before.
                Cell::Integer(other) if other < number => {
                    self.taken += 1;
                    self.fetched.pop_front();
                    continue;
                }
                Cell::Integer(own) if own == number => {}
                _ => break,
            }
            if let Some(next) = &next {
                if sink.expand_more(position, parent, next) == Flow::Stop {
                    return Ok(Flow::Stop);
                }
                break;
            }
            handed_out += 1;
            if sink.expand_entity(position, &row) == Flow::Stop {
                return Ok(Flow::Stop);
            }
            for (inner, expansion) in self.expansions.iter_mut().enumerate() {
                if expansion.hand_out(reach, source, (inner, self.taken), &row, sink)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
            if sink.expand_entity_end(position, &row) == Flow::Stop {
                return Ok(Flow::Stop);
            }
            if let Some((most, tokens)) = &self.cut
                && *most == handed_out
            {
                next = Some(tokens.after(&row, handed_out));
            }
            self.taken += 1;
            self.fetched.pop_front();
        }
        Ok(sink.expand_end(position, parent))
    }

    /// Fetches further related entities if none are left and more may come, and starts the expansions within them.
    fn fetch(&mut self, reach: &mut R, source: &Source<'_>) -> Result<(), Stopped> {
        if self.fetched.is_empty()
            && let Some(mut cursor) = self.cursor.take()
        {
            let fetched = reach.fetch(&mut cursor, RELATED_AT_ONCE)?;
            if fetched.len() == RELATED_AT_ONCE.unsigned_abs() as usize {
                self.cursor = Some(cursor);
            }
            self.fetched.extend(fetched);
            self.taken = 0;
            if !self.fetched.is_empty() {
                let of = Parents { source, set: self.target, columns: &self.columns, kinds: &self.kinds };
                for expansion in &mut self.expansions {
                    expansion.of_parents(reach, &mut self.reader, &of, self.fetched.iter())?;
                }
            }
        }
        Ok(())
    }
}

/// Appends a value to a list such as `{"a","b",NULL`. Null equals nothing, so a parent without the value has no related
/// entities.
fn append(list: &mut String, cell: Cell<'_>, primitive: Primitive) {
    if list.len() > 1 {
        list.push(',');
    }
    let mut written = BytesMut::new();
    match Bound::of_cell(cell, primitive) {
        Bound::Null => return list.push_str("NULL"),
        Bound::Bytes(bytes) => {
            written.extend_from_slice(b"\\x");
            bytes.iter().for_each(|byte| written.extend_from_slice(format!("{byte:02x}").as_bytes()));
        }
        value => value.append(&mut written),
    }
    list.push('"');
    for character in String::from_utf8_lossy(&written).chars() {
        if matches!(character, '"' | '\\') {
            list.push('\\');
        }
        list.push(character);
    }
    list.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_hold_any_text() {
        let text = Primitive::String { length_max: 0 };
        let mut list = String::from("{");
        for value in [&b"a"[..], b"", b"NULL", br#"{"x",\}"#] {
            append(&mut list, Cell::Text(value), text);
        }
        append(&mut list, Cell::Null, text);
        append(&mut list, Cell::Bytes(&[0, 255]), Primitive::Binary { length_max: 0 });
        append(&mut list, Cell::Integer(1), Primitive::Boolean);
        assert_eq!(list, r#"{"a","","NULL","{\"x\",\\}",NULL,"\\x00ff","t""#);
    }
}

//! The statements of expansions: the related entities of one parent (SQLite, where a statement costs microseconds), or of
//! many parents at once (PostgreSQL, where it costs a round trip), and how many there are.

use tollgate_wire::edm::{EntityType, Multiplicity, NavigationProperty, SetId};
use tollgate_wire::plan::{Columns, Computed, Expand, OrderBy, Origin};

use super::class::Class;
use super::dialect::postgres_type;
use super::expression::{Scope, condition, value};
use super::navigation::{Decimals, ambiguous, leaf_value};
use super::order::{computed_columns, order_columns, order_keys};
use super::page::cut_at;
use super::statement::{ANSWER, Source, Window, bounded};
use super::{Parameter, Sql};
use crate::StoreError;

/// A part of several parents' related entities.
const PART: &str = "r";

impl Source<'_> {
    /// The statement for the entities of an expansion of one entity in `set`.
    ///
    /// # Errors
    ///
    /// Errors of the expansion's expressions.
    pub fn expansion<'p>(&self, set: SetId, expand: &'p Expand, columns: &Columns) -> Result<Sql<'p>, StoreError> {
        let mut sql = Sql::new(self.dialect);
        let navigation = self.navigation(set, expand);
        self.select(&mut sql, expand.target, columns);
        computed_columns(&mut sql, &self.scope(expand.target), &expand.options.compute)?;
        if cut_at(self, set, expand).is_some() {
            order_columns(&mut sql, &self.scope(expand.target), &expand.options.order_by)?;
        }
        self.of_one_parent(&mut sql, navigation, expand)?;
        sql.push(" ORDER BY ");
        order_keys(&mut sql, &self.scope(expand.target), &expand.options.order_by)?;
        match navigation.multiplicity {
            Multiplicity::Many => self.window(&mut sql, self.window_of(set, expand)),
            Multiplicity::One | Multiplicity::ZeroOrOne => sql.push(" LIMIT 1"),
        }
        Ok(sql)
    }

    /// The statement for their number, ignoring `$top` and `$skip`.
    ///
    /// # Errors
    ///
    /// Errors of the expansion's filter.
    pub fn expansion_total<'p>(&self, set: SetId, expand: &'p Expand) -> Result<Sql<'p>, StoreError> {
        let mut sql = Sql::new(self.dialect);
        sql.push("SELECT COUNT(*)");
        self.of_one_parent(&mut sql, self.navigation(set, expand), expand)?;
        Ok(sql)
    }

    fn of_one_parent<'p>(
        &self,
        sql: &mut Sql<'p>,
        navigation: &NavigationProperty,
        expand: &'p Expand,
    ) -> Result<(), StoreError> {
        sql.push(" FROM ");
        sql.table_as(self.mapping.table(expand.target), ANSWER);
        sql.push(" WHERE ");
        sql.list(" AND ", navigation.on.iter().enumerate(), |sql, (index, (_, there))| {
            sql.column(ANSWER, self.mapping.column(expand.target, *there));
            sql.push(" = ");
            sql.parameter(Parameter::Parent(index));
        });
        self.filtered(sql, expand)
    }

    fn filtered<'p>(&self, sql: &mut Sql<'p>, expand: &'p Expand) -> Result<(), StoreError> {
        let casts = expand.options.casts.iter().map(|cast| &cast.condition);
        for expression in casts.chain(&expand.options.filter) {
            sql.push(" AND ");
            condition(sql, &self.scope(expand.target), expression)?;
        }
        Ok(())
    }

    /// PostgreSQL's statement for the entities of an expansion of many entities in `set` at once: its parameters of the
    /// parents are lists, one value for each parent. After the columns comes the number of the entity's parent,
    /// counted from 1, and rows come in that order.
    ///
    /// # Errors
    ///
    /// Errors of the expansion's expressions.
    pub fn expansion_of_many<'p>(
        &self,
        set: SetId,
        expand: &'p Expand,
        columns: &Columns,
    ) -> Result<Sql<'p>, StoreError> {
        let navigation = self.navigation(set, expand);
        let window = match ambiguous(navigation, self.model.type_of(expand.target)) {
            // The first by its key is meant.
            true => Window { limit: Some(1), offset: None },
            false => self.window_of(set, expand),
        };
        if window.limit.is_some() || window.offset.is_some() {
            return self.parts_of_many(set, expand, columns, window);
        }
        let mut sql = Sql::new(self.dialect);
        self.select(&mut sql, expand.target, columns);
        computed_columns(&mut sql, &self.scope(expand.target), &expand.options.compute)?;
        if cut_at(self, set, expand).is_some() {
            order_columns(&mut sql, &self.scope(expand.target), &expand.options.order_by)?;
        }
        sql.push(", parents.number");
        self.parents_of(&mut sql, navigation, expand);
        sql.push(" JOIN ");
        sql.table_as(self.mapping.table(expand.target), ANSWER);
        sql.push(" ON ");
        self.of_parent(&mut sql, expand.target, navigation, ANSWER);
        self.filtered(&mut sql, expand)?;
        sql.push(" ORDER BY parents.number, ");
        order_keys(&mut sql, &self.scope(expand.target), &expand.options.order_by)?;
        Ok(sql)
    }

    /// The same if only a part of each parent's entities is wanted. If the target's key begins with the joined columns,
    /// its index leads to each parent's entities, and a subquery for each parent reads no more of them than its part.
    /// Without a known index, a subquery for each could read the whole table for each: then they are joined once and
    /// numbered, and no more than the parts leave the database.
    fn parts_of_many<'p>(
        &self,
        set: SetId,
        expand: &'p Expand,
        columns: &Columns,
        window: Window,
    ) -> Result<Sql<'p>, StoreError> {
        let mut sql = Sql::new(self.dialect);
        let navigation = self.navigation(set, expand);
        let scope = self.scope(expand.target);
        let by_parent = begins_key(navigation, self.model.type_of(expand.target));
        sql.push("SELECT ");
        let computed: Vec<&Computed> = Computed::shown(&expand.options.compute).collect();
        let leaves = columns.leaves.len();
        let order: &[OrderBy] = match cut_at(self, set, expand) {
            Some(_) => &expand.options.order_by,
            None => &[],
        };
        sql.list(", ", 0..leaves + computed.len() + order.len(), |sql, index| sql.push(&format!("{PART}.c{index}")));
        if by_parent {
            sql.push(", parents.number");
            self.parents_of(&mut sql, navigation, expand);
            sql.push(" CROSS JOIN LATERAL (SELECT ");
        } else {
            sql.push(&format!(", {PART}.number FROM (SELECT "));
        }
        sql.list(", ", columns.leaves.iter().enumerate(), |sql, (index, leaf)| {
            self.answered(sql, expand.target, *leaf);
            sql.push(&format!(" AS c{index}"));
        });
        for (index, computed) in computed.iter().enumerate() {
            sql.push(", ");
            let mut written = Ok(());
            sql.answered(Some(computed.primitive), |sql| {
                written = value(sql, &scope, &computed.expression);
            });
            written?;
            sql.push(&format!(" AS c{}", leaves + index));
        }
        for (index, by) in order.iter().enumerate() {
            order_columns(&mut sql, &scope, std::slice::from_ref(by))?;
            sql.push(&format!(" AS c{}", leaves + computed.len() + index));
        }
        sql.push(match by_parent {
            true => ", row_number() OVER (ORDER BY ",
            false => ", parents.number, row_number() OVER (PARTITION BY parents.number ORDER BY ",
        });
        order_keys(&mut sql, &scope, &expand.options.order_by)?;
        sql.push(") AS place");
        if by_parent {
            sql.push(" FROM ");
            sql.table_as(self.mapping.table(expand.target), ANSWER);
            sql.push(" WHERE ");
        } else {
            self.parents_of(&mut sql, navigation, expand);
            sql.push(" JOIN ");
            sql.table_as(self.mapping.table(expand.target), ANSWER);
            sql.push(" ON ");
        }
        self.of_parent(&mut sql, expand.target, navigation, ANSWER);
        self.filtered(&mut sql, expand)?;
        if by_parent {
            // By the keys themselves: by their number all of them would be sorted once more, and so be read.
            sql.push(" ORDER BY ");
            order_keys(&mut sql, &scope, &expand.options.order_by)?;
            self.window(&mut sql, window);
            sql.push(&format!(") AS {PART} ORDER BY parents.number, {PART}.place"));
            return Ok(sql);
        }
        let offset = window.offset.unwrap_or(0);
        sql.push(&format!(") AS {PART} WHERE {PART}.place > "));
        sql.parameter(bounded(offset));
        if let Some(limit) = window.limit {
            sql.push(&format!(" AND {PART}.place <= "));
            sql.parameter(bounded(offset.saturating_add(limit)));
        }
        sql.push(&format!(" ORDER BY {PART}.number, {PART}.place"));
        Ok(sql)
    }

    /// PostgreSQL's statement for the number of entities of each of many parents: one row for each parent, in their
    /// order.
    ///
    /// # Errors
    ///
    /// Errors of the expansion's filter.
    pub fn totals_of_many<'p>(&self, set: SetId, expand: &'p Expand) -> Result<Sql<'p>, StoreError> {
        let mut sql = Sql::new(self.dialect);
        let navigation = self.navigation(set, expand);
        sql.push("SELECT (SELECT COUNT(*) FROM ");
        sql.table_as(self.mapping.table(expand.target), ANSWER);
        sql.push(" WHERE ");
        self.of_parent(&mut sql, expand.target, navigation, ANSWER);
        self.filtered(&mut sql, expand)?;
        sql.push(")");
        self.parents_of(&mut sql, navigation, expand);
        sql.push(" ORDER BY parents.number");
        Ok(sql)
    }

    fn parents_of(&self, sql: &mut Sql<'_>, navigation: &NavigationProperty, expand: &Expand) {
        let target = self.model.type_of(expand.target);
        sql.push(" FROM unnest(");
        sql.list(", ", navigation.on.iter().enumerate(), |sql, (index, (_, there))| {
            sql.push("CAST(");
            sql.parameter(Parameter::Parent(index));
            sql.push(" AS ");
            sql.push(postgres_type(Class::of(Some(target.leaves[there.0].primitive))));
            sql.push("[])");
        });
        sql.push(") WITH ORDINALITY AS parents(");
        for index in 0..navigation.on.len() {
            sql.push(&format!("value{index}, "));
        }
        sql.push("number)");
    }

    /// Appends the condition that the entity `alias` belongs to the current parent.
    fn of_parent(&self, sql: &mut Sql<'_>, target: SetId, navigation: &NavigationProperty, alias: &str) {
        let scope = Scope { set: target, alias, ..self.scope(target) };
        sql.list(" AND ", navigation.on.iter().enumerate(), |sql, (index, (_, there))| {
            leaf_value(sql, &scope, Origin::It, &[], *there, Decimals::AsStored);
            sql.push(&format!(" = parents.value{index}"));
        });
    }

    /// The entities of one parent that are read: if they are cut, one more, to know whether others follow.
    fn window_of(&self, set: SetId, expand: &Expand) -> Window {
        let limit = match cut_at(self, set, expand) {
            Some(most) => Some(most.saturating_add(1)),
            None => expand.options.top,
        };
        Window { limit, offset: expand.options.skip.filter(|skip| *skip > 0) }
    }

    fn navigation(&self, set: SetId, expand: &Expand) -> &NavigationProperty {
        &self.model.type_of(set).navigation[expand.navigation.0]
    }
}

/// Whether the key begins with the joined columns, so that the index of the key leads to them.
fn begins_key(navigation: &NavigationProperty, target: &EntityType) -> bool {
    let joined = navigation.on.len().min(target.key.len());
    let first = &target.key[..joined];
    navigation.on.len() == joined && navigation.on.iter().all(|(_, there)| first.contains(there))
}

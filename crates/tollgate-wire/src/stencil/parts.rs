//! Rows that do not all have the same members: parts of what `$apply` has made, and entities of several types.

use super::program::Program;
use super::{Expansion, Stencil};
use crate::value::{Cell, Row, Value};

/// Rows that do not all have the same members.
#[derive(Debug, Clone)]
pub(crate) struct PartPrograms {
    /// The column that says which program.
    pub(crate) column: usize,
    pub(crate) chosen_by: ChosenBy,
    pub(crate) programs: Vec<Program>,
}

/// The way in which a column chooses the program.
#[derive(Debug, Clone)]
pub(crate) enum ChosenBy {
    /// By its number.
    Number,
    /// By a value for each; any other value means the first.
    Value(Vec<(Value, usize)>),
}

impl PartPrograms {
    fn of<R: Row + ?Sized>(&self, row: &R) -> Option<usize> {
        let cell = row.cell(self.column);
        match (&self.chosen_by, cell) {
            (ChosenBy::Number, Cell::Integer(part)) => usize::try_from(part).ok(),
            (ChosenBy::Number, _) => None,
            (ChosenBy::Value(values), cell) => {
                values.iter().find(|(value, _)| value.cell() == cell).map(|(_, program)| *program).or(Some(0))
            }
        }
    }
}

impl Stencil {
    /// The beginning of an entry.
    #[inline]
    pub(super) fn begin<R: Row + ?Sized>(&self, row: &R) -> &Program {
        match &self.parts {
            None => &self.begin,
            Some(parts) => parts.of(row).and_then(|part| parts.programs.get(part)).unwrap_or(&self.begin),
        }
    }

    /// Whether the entity of a row has that expansion.
    pub(super) fn has_expansion<R: Row + ?Sized>(&self, expansion: &Expansion, row: &R) -> bool {
        match (&expansion.by, &self.parts) {
            (Some(by), Some(parts)) => parts.of(row).and_then(|part| by.get(part)).copied().unwrap_or(false),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::edm::{NavigationId, SubtypeId};
    use crate::format::{Format, Ieee754, Metadata, Release};
    use crate::plan::{Expand, Options, Select};
    use crate::stencil::{Base, FeedHead, Stencil};
    use crate::testing::{PEOPLE, staff};
    use crate::value::Cell;

    const FORMAT: Format =
        Format::V4Json { metadata: Metadata::Minimal, ieee754: Ieee754::Number, release: Release::V40 };

    fn row(id: i64, kind: &'static str) -> Vec<Cell<'static>> {
        let digits = Cell::Text(b"9.50");
        let (boss, friend) = (Cell::Integer(1), Cell::Integer(1));
        vec![Cell::Integer(id), Cell::Text(b"x"), Cell::Text(kind.as_bytes()), friend, digits, boss, digits, Cell::Null]
    }

    #[test]
    fn each_entity_has_the_members_of_its_type() {
        let options = Options { subtype: SubtypeId(1), ..Options::default() };
        let stencil = Stencil::compile_computed(&staff(), PEOPLE, FORMAT, &options);
        let mut out = Vec::new();
        let mut writer = stencil.writer(Base::new("http://h/", ""));
        writer.feed_begin(&mut out, &FeedHead { path: "People/staff.Employee", count: None });
        for row in [row(2, "e"), row(1, "m")] {
            writer.entry(&mut out, &row[..]);
        }
        writer.feed_end(&mut out, None);
        let expected = concat!(
            r##"{"@odata.context":"http://h/$metadata#People/staff.Employee","value":["##,
            r##"{"id":2,"name":"x","kind":"e","friend_id":1,"salary":9.50,"boss_id":1},"##,
            r##"{"@odata.type":"#staff.Manager","id":1,"name":"x","kind":"m","friend_id":1,"##,
            r##""salary":9.50,"boss_id":1,"budget":9.50}]}"##
        );
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn an_expansion_of_another_type_is_passed_over_with_all_within() {
        let mut boss = Expand::new(NavigationId(2), PEOPLE, Select::key_of(staff().type_of(PEOPLE)));
        boss.options.expand = vec![boss.clone()];
        let stencil = Stencil::compile(&staff(), PEOPLE, FORMAT, &Select::key_of(staff().type_of(PEOPLE)), &[boss]);
        let document = |kind| {
            let (outer, inner) = (row(2, kind), row(1, "m"));
            let outer = [outer[0], outer[2], outer[5]];
            let inner = [inner[0], inner[2], inner[5]];
            let mut out = Vec::new();
            let mut writer = stencil.writer(Base::new("http://h/", ""));
            writer.document_begin(&mut out);
            writer.entry_begin(&mut out, &outer[..]);
            writer.expand_begin(&mut out, 0, &outer[..]);
            writer.expand_entity(&mut out, &inner[..]);
            writer.expand_begin(&mut out, 0, &inner[..]);
            writer.expand_end(&mut out);
            writer.expand_entity_end(&mut out, &inner[..]);
            writer.expand_end(&mut out);
            writer.entry_end(&mut out, &outer[..]);
            String::from_utf8(out).unwrap()
        };
        let employee = document("e");
        assert!(
            employee.ends_with(r##""@odata.type":"#staff.Employee","id":2,"boss":{"@odata.type":"#staff.Manager","id":1,"boss":null}}"##),
            "{employee}"
        );
        let guest = document("g");
        assert!(guest.ends_with(r##""@odata.type":"#staff.Guest","id":2}"##), "{guest}");
    }
}

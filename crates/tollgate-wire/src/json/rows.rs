//! Rows of columns as JSON of OData V4: results of `$apply` have neither key nor links, and a column behind a path
//! takes the place of its entity.

use super::Object;
use super::v4::{Style, annotated_field};
use crate::edm::Model;
use crate::relation::Applied;
use crate::stencil::outline::Field;
use crate::stencil::program::Program;
use crate::stencil::{ChosenBy, PartPrograms, Stencil};

/// A column with the names that are still to come.
struct Shown<'c> {
    index: usize,
    names: Vec<&'c str>,
    field: Field<'c>,
}

pub(crate) fn compile(stencil: &mut Stencil, model: &Model, applied: &Applied) {
    let style = Style::of(stencil.format);
    let shown: Vec<Shown<'_>> = applied
        .shown
        .iter()
        .enumerate()
        .map(|(position, index)| {
            let column = &applied.columns[*index];
            let names: Vec<&str> = column.path.split('/').collect();
            let name = names.last().copied().unwrap_or_default();
            let enumeration = column.enumeration.map(|id| &model.enumerations[id.0]);
            let field = Field { name, primitive: column.primitive, column: position, enumeration };
            Shown { index: *index, names, field }
        })
        .collect();
    stencil.context = format!("{}({})", stencil.set_name, context(&shown.iter().collect::<Vec<_>>(), 0));
    stencil.first = "{".to_owned();
    stencil.next = ",{".to_owned();
    let program = |absent: &[usize]| {
        let mut program = Program::default();
        let present: Vec<_> = shown.iter().filter(|column| !absent.contains(&column.index)).collect();
        members(&mut Object::empty(&mut program), &present, 0, style);
        program.text("}");
        program
    };
    stencil.begin = program(&[]);
    stencil.parts = applied.parts.as_ref().map(|parts| {
        let programs = parts.absent.iter().map(|absent| program(absent)).collect();
        // Stores answer it behind the columns that are shown.
        Box::new(PartPrograms { column: shown.len(), chosen_by: ChosenBy::Number, programs })
    });
}

/// The columns by their name at that depth, in the order in which the names come first.
fn by_name<'s, 'c>(shown: &[&'s Shown<'c>], depth: usize) -> Vec<(&'c str, Vec<&'s Shown<'c>>)> {
    let mut groups: Vec<(&'c str, Vec<&'s Shown<'c>>)> = Vec::new();
    for column in shown {
        let name = column.names[depth];
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, group)) => group.push(column),
            None => groups.push((name, vec![column])),
        }
    }
    groups
}

fn members(object: &mut Object<'_>, shown: &[&Shown<'_>], depth: usize, style: Style) {
    for (name, group) in by_name(shown, depth) {
        match group[..] {
            [column] if column.names.len() == depth + 1 => annotated_field(object, column.field, style),
            _ => {
                let program = object.name(&[name]).text("{");
                members(&mut Object::empty(program), &deeper(&group, depth), depth + 1, style);
                program.text("}");
            }
        }
    }
}

/// A name that is both a column and the beginning of paths is shown by the paths.
fn deeper<'s, 'c>(group: &[&'s Shown<'c>], depth: usize) -> Vec<&'s Shown<'c>> {
    group.iter().copied().filter(|column| column.names.len() > depth + 1).collect()
}

fn context(shown: &[&Shown<'_>], depth: usize) -> String {
    let item = |(name, group): (&str, Vec<&Shown<'_>>)| match group[..] {
        [column] if column.names.len() == depth + 1 => name.to_owned(),
        _ => format!("{name}({})", context(&deeper(&group, depth), depth + 1)),
    };
    by_name(shown, depth).into_iter().map(item).collect::<Vec<_>>().join(",")
}

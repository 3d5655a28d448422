//! The notation of each format, and the stencils for each kind of request.
//!
//! It deliberately writes nothing itself: a format is a [`Notation`], a document is filled in by a
//! [`Writer`](crate::stencil::Writer).

use crate::atom::Atom;
use crate::edm::{Model, PropertyKind, SetId, Singleton};
use crate::format::Format;
use crate::json::rows;
use crate::json::v2::JsonV2;
use crate::json::v4::JsonV4;
use crate::plan::{Called, Expand, Options, Select, Shape};
use crate::relation::Applied;
use crate::rest::{RestJson, RestXml};
use crate::stencil::outline::{Field, Member, Outline};
use crate::stencil::{Notation, Stencil, Whole};

fn notation(format: Format) -> &'static dyn Notation {
    match format {
        Format::V2Atom => &Atom,
        Format::V2Json => &JsonV2,
        Format::V4Json { .. } => &JsonV4,
        Format::RestJson => &RestJson,
        Format::RestXml { .. } => &RestXml,
    }
}

impl Stencil {
    /// Compiles the documents of a set. Rows must have their columns in the order of
    /// [`Columns::new`](crate::plan::Columns::new) for the same type, `select` and `expand`.
    pub fn compile(model: &Model, set: SetId, format: Format, select: &Select, expand: &[Expand]) -> Stencil {
        Stencil::of_entities(format, notation(format), &Outline::new(model, set, select, expand))
    }

    /// Compiles the documents of a set under all options: with computed properties, whose columns follow those of the
    /// entity, and seen as the type that the path casts to.
    pub fn compile_computed(model: &Model, set: SetId, format: Format, options: &Options) -> Stencil {
        Stencil::of_entities(format, notation(format), &Outline::under(model, set, format, options))
    }

    /// Compiles the document of a singleton, by its position in the model: that of an entity, except for its context.
    pub fn compile_singleton(
        model: &Model,
        singleton: usize,
        format: Format,
        select: &Select,
        expand: &[Expand],
    ) -> Stencil {
        let Singleton { name, set, .. } = &model.singletons[singleton];
        let outline = Outline { singleton: Some(name), ..Outline::new(model, *set, select, expand) };
        Stencil::of_entities(format, notation(format), &outline)
    }

    /// Compiles the documents of what `$apply` has made, which V4 has only in JSON: rows have the columns that are shown.
    pub fn compile_rows(model: &Model, set: SetId, format: Format, applied: &Applied) -> Stencil {
        let outline = Outline::new(model, set, &Select::All, &[]);
        let mut stencil = Stencil::blank(format, notation(format), &outline);
        stencil.etag = None;
        if let Format::V4Json { .. } = format {
            rows::compile(&mut stencil, model, applied);
        }
        stencil
    }

    /// Compiles the document of one property of an entity: `shape` is [`Shape::Property`] or [`Shape::Leaf`], any other
    /// gives the whole entity. Write it as a document with one entry. Columns as in [`Stencil::compile`].
    pub fn compile_property(model: &Model, set: SetId, format: Format, select: &Select, shape: Shape) -> Stencil {
        let outline = Outline::new(model, set, select, &[]);
        let Some((path, member)) = outline.part(shape) else {
            return Stencil::compile(model, set, format, select, &[]);
        };
        let path = format!("{}{path}", outline.cast_from_set(outline.declares_part(shape)));
        let mut stencil = Stencil::blank(format, notation(format), &outline);
        notation(format).value(&mut stencil, &outline, Whole::Property(&path), &member);
        stencil
    }

    /// Compiles the document of the complex value that a function returns: rows have the columns that `options` select,
    /// and behind them what is computed. `None` where the function returns no such value.
    pub fn compile_returned(
        model: &Model,
        set: SetId,
        format: Format,
        called: &Called,
        options: &Options,
    ) -> Option<Stencil> {
        let complex = called.returned?;
        let outline = Outline::new(model, set, &options.select, &[]);
        let declared = &model.complex_types[complex.0];
        let fields = declared.properties.iter().enumerate().filter_map(|(index, property)| match property.kind {
            PropertyKind::Primitive(primitive) => {
                let column = outline.columns.leaves.len() + index;
                Some(Field { name: &property.name, primitive, column, enumeration: None })
            }
            PropertyKind::Enumeration(..) | PropertyKind::Complex(_) => None,
        });
        let name = &model.function_imports[called.function].name;
        let member = Member::Complex { name, complex, fields: fields.collect() };
        let mut stencil = Stencil::blank(format, notation(format), &outline);
        stencil.etag = None;
        let whole = Whole::Type(&outline.complex_name(complex));
        notation(format).value(&mut stencil, &outline, whole, &member);
        Some(stencil)
    }

    /// Compiles the documents of references to the entities of a set (V4 `$ref`, V2 `$links`). Columns as in
    /// [`Stencil::compile`] with [`Select::key_of`] the type. Plain REST has no references: its entities are shown instead.
    pub fn compile_references(model: &Model, set: SetId, format: Format) -> Stencil {
        Stencil::of_references(format, notation(format), model, set)
    }
}

#[cfg(test)]
mod tests;

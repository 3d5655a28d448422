//! Compiled stencils, kept: those of whole entities for every set and format from the start, those under a `$select` or
//! `$expand` and those of properties on demand, up to a bound.
//!
//! Shared by all loops; the plain ones are reached without a lock.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tollgate_wire::edm::{Model, SetId, SubtypeId};
use tollgate_wire::format::{Format, Ieee754, Metadata, Padding, Release};
use tollgate_wire::plan::{Expand, Options, Select, Shape};
use tollgate_wire::stencil::Stencil;

/// Shaped stencils kept: a client uses a handful, and looking through 64 costs less than compiling one.
const SHAPED_MAX: usize = 64;

/// Every format, in the order of the plain stencils.
const FORMATS: [Format; 11] = [
    Format::V2Atom,
    Format::V2Json,
    v4(Metadata::None, Ieee754::Number),
    v4(Metadata::None, Ieee754::String),
    v4(Metadata::Minimal, Ieee754::Number),
    v4(Metadata::Minimal, Ieee754::String),
    v4(Metadata::Full, Ieee754::Number),
    v4(Metadata::Full, Ieee754::String),
    Format::RestJson,
    Format::RestXml { padding: Padding::Without },
    Format::RestXml { padding: Padding::AtomSize },
];

const fn v4(metadata: Metadata, ieee754: Ieee754) -> Format {
    Format::V4Json { metadata, ieee754, release: Release::V40 }
}

/// The kept stencils of one model.
#[derive(Debug)]
pub(crate) struct Stencils {
    plain: Vec<Arc<Stencil>>,
    // Used last stands last; the first makes room.
    shaped: Mutex<Vec<Shaped>>,
}

#[derive(Debug)]
struct Shaped {
    set: SetId,
    format: Format,
    select: Select,
    expand: Vec<Expand>,
    part: Part,
    stencil: Arc<Stencil>,
}

/// Part of an entity that a stencil writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Entity,
    Property(Shape),
    References,
    /// A singleton, by its position in the model.
    Singleton(usize),
    /// An entity cast to one of its types.
    Subtype(SubtypeId),
}

impl Stencils {
    /// Compiles the plain stencils.
    pub(crate) fn new(model: &Model) -> Stencils {
        let plain = (0..model.entity_sets.len())
            .flat_map(|set| FORMATS.map(|format| (SetId(set), format)))
            .map(|(set, format)| Arc::new(Stencil::compile(model, set, format, &Select::All, &[])))
            .collect();
        Stencils { plain, shaped: Mutex::default() }
    }

    /// The stencil for a property or leaf of an entity, or, for any other shape, for entities under these options.
    pub(crate) fn of(
        &self,
        model: &Model,
        set: SetId,
        shape: Shape,
        format: Format,
        options: &Options,
    ) -> Arc<Stencil> {
        if let Some(called) = &options.called
            && let Some(stencil) = Stencil::compile_returned(model, set, format, called, options)
        {
            return Arc::new(stencil);
        }
        if let Some(applied) = &options.apply {
            // Names and types are the client's: hardly two requests have the same.
            return Arc::new(Stencil::compile_rows(model, set, format, applied));
        }
        if !options.compute.is_empty() {
            return Arc::new(Stencil::compile_computed(model, set, format, options));
        }
        let (select, expand) = (&options.select, options.expand.as_slice());
        let is_entity = matches!(shape, Shape::Collection | Shape::Entity);
        if is_entity && options.subtype != SubtypeId::ROOT {
            return self.shaped_of(model, (set, Part::Subtype(options.subtype)), format, select, expand);
        }
        if let (Some(singleton), Shape::Entity) = (options.singleton, shape) {
            return self.shaped_of(model, (set, Part::Singleton(singleton)), format, select, expand);
        }
        let part = match shape {
            Shape::Property(_) | Shape::Leaf(_) | Shape::RawValue(_) => Part::Property(shape),
            Shape::Collection | Shape::Entity | Shape::Count | Shape::Stream => Part::Entity,
        };
        if part == Part::Entity
            && *select == Select::All
            && expand.is_empty()
            && let Some(index) = FORMATS.iter().position(|candidate| *candidate == format)
        {
            return Arc::clone(&self.plain[set.0 * FORMATS.len() + index]);
        }
        self.shaped_of(model, (set, part), format, select, expand)
    }

    /// The stencil for references to entities.
    pub(crate) fn of_references(&self, model: &Model, set: SetId, format: Format) -> Arc<Stencil> {
        self.shaped_of(model, (set, Part::References), format, &Select::All, &[])
    }

    fn shaped_of(
        &self,
        model: &Model,
        (set, part): (SetId, Part),
        format: Format,
        select: &Select,
        expand: &[Expand],
    ) -> Arc<Stencil> {
        let is_wanted = |kept: &Shaped| {
            kept.set == set
                && kept.format == format
                && kept.part == part
                && kept.select == *select
                && Expand::same_documents(&kept.expand, expand)
        };
        if let Some(stencil) = self.kept(is_wanted) {
            return stencil;
        }
        // Compiled while nobody waits: that two loops may do it at once, the first time, costs less than a lock held.
        let stencil = Arc::new(match part {
            Part::Entity => Stencil::compile(model, set, format, select, expand),
            Part::Property(shape) => Stencil::compile_property(model, set, format, select, shape),
            Part::References => Stencil::compile_references(model, set, format),
            Part::Singleton(singleton) => Stencil::compile_singleton(model, singleton, format, select, expand),
            Part::Subtype(subtype) => {
                let (select, expand) = (select.clone(), expand.to_vec());
                let options = Options { select, expand, subtype, ..Options::default() };
                Stencil::compile_computed(model, set, format, &options)
            }
        });
        let new = Shaped {
            set,
            format,
            select: select.clone(),
            expand: expand.to_vec(),
            part,
            stencil: Arc::clone(&stencil),
        };
        let mut shaped = self.shaped();
        shaped.retain(|kept| !is_wanted(kept));
        if shaped.len() >= SHAPED_MAX {
            shaped.remove(0);
        }
        shaped.push(new);
        stencil
    }

    /// The wanted stencil, if it is kept; it becomes the last one used.
    fn kept(&self, is_wanted: impl Fn(&Shaped) -> bool) -> Option<Arc<Stencil>> {
        let mut shaped = self.shaped();
        let index = shaped.iter().rposition(is_wanted)?;
        shaped[index..].rotate_left(1);
        shaped.last().map(|used| Arc::clone(&used.stencil))
    }

    fn shaped(&self) -> MutexGuard<'_, Vec<Shaped>> {
        self.shaped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tollgate_wire::edm::LeafId;

    use super::*;
    use crate::services::flights;

    fn selecting(leaf: usize) -> Options {
        let select = Select::Only { leaves: vec![LeafId(leaf % 8)], navigation: Vec::new() };
        Options { select, ..Options::default() }
    }

    #[test]
    fn the_same_shape_is_compiled_once_while_it_is_kept() {
        let model = flights::model();
        let stencils = Stencils::new(&model);
        let of = |set, leaf, format| stencils.of(&model, SetId(set), Shape::Entity, format, &selecting(leaf));
        let first = of(0, 0, Format::V2Json);
        let others = FORMATS.iter().flat_map(|format| (0..8).map(move |leaf| (leaf, *format)));
        for (leaf, format) in
            others.filter(|(leaf, format)| (*leaf, *format) != (0, Format::V2Json)).take(SHAPED_MAX - 1)
        {
            let _ = of(0, leaf, format);
        }
        assert!(Arc::ptr_eq(&first, &of(0, 0, Format::V2Json)), "the bound is not met yet");
        let _ = of(2, 0, Format::V2Json);
        assert!(Arc::ptr_eq(&first, &of(0, 0, Format::V2Json)), "used last, it does not make room");
        assert_eq!(stencils.shaped().len(), SHAPED_MAX);
    }
}

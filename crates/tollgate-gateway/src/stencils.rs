//! Compiled stencils, kept: those of whole entities for every set and format from the start, those under a `$select` or
//! `$expand` and those of properties as they come, up to a bound.
//!
//! Shared by all loops; the plain ones are reached without a lock.

use std::sync::{Arc, Mutex, PoisonError};

use tollgate_wire::edm::{Model, SetId};
use tollgate_wire::format::{Format, Ieee754, Metadata, Padding};
use tollgate_wire::plan::{Expand, Options, Select, Shape};
use tollgate_wire::stencil::Stencil;

/// Shaped stencils kept: a client uses a handful, and looking through 64 costs less than compiling one.
const SHAPED_MAX: usize = 64;

/// Every format, in the order of the plain stencils.
const FORMATS: [Format; 10] = [
    Format::V2Atom,
    Format::V2Json,
    v4(Metadata::None, Ieee754::Number),
    v4(Metadata::None, Ieee754::String),
    v4(Metadata::Minimal, Ieee754::Number),
    v4(Metadata::Minimal, Ieee754::String),
    v4(Metadata::Full, Ieee754::Number),
    v4(Metadata::Full, Ieee754::String),
    Format::RestJson,
    Format::RestXml { padding: Padding::AtomSize },
];

const fn v4(metadata: Metadata, ieee754: Ieee754) -> Format {
    Format::V4Json { metadata, ieee754 }
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

/// What of an entity a stencil writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Entity,
    Property(Shape),
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
        let (select, expand) = (&options.select, options.expand.as_slice());
        let part = match shape {
            Shape::Property(_) | Shape::Leaf(_) | Shape::RawValue(_) => Part::Property(shape),
            Shape::Collection | Shape::Entity | Shape::Count => Part::Entity,
        };
        if part == Part::Entity
            && *select == Select::All
            && expand.is_empty()
            && let Some(index) = FORMATS.iter().position(|candidate| *candidate == format)
        {
            return Arc::clone(&self.plain[set.0 * FORMATS.len() + index]);
        }
        let mut shaped = self.shaped.lock().unwrap_or_else(PoisonError::into_inner);
        let found = shaped.iter().position(|kept| {
            kept.set == set
                && kept.format == format
                && kept.part == part
                && kept.select == *select
                && kept.expand == expand
        });
        let used = match found {
            Some(index) => shaped.remove(index),
            None => {
                if shaped.len() >= SHAPED_MAX {
                    shaped.remove(0);
                }
                let stencil = Arc::new(match part {
                    Part::Entity => Stencil::compile(model, set, format, select, expand),
                    Part::Property(shape) => Stencil::compile_property(model, set, format, select, shape),
                });
                Shaped { set, format, select: select.clone(), expand: expand.to_vec(), part, stencil }
            }
        };
        let stencil = Arc::clone(&used.stencil);
        shaped.push(used);
        stencil
    }
}

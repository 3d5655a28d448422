//! The document of a singleton: that of an entity, but for what its context calls it.

use super::Stencil;
use super::outline::Outline;
use crate::edm::{Model, Singleton};
use crate::format::Format;
use crate::json::{self, v4::Style};
use crate::plan::{Expand, Select};

impl Stencil {
    /// Compiles the document of a singleton, by its position in the model.
    pub fn compile_singleton(
        model: &Model,
        singleton: usize,
        format: Format,
        select: &Select,
        expand: &[Expand],
    ) -> Stencil {
        let Singleton { name, set, .. } = &model.singletons[singleton];
        let Format::V4Json { metadata, ieee754, release } = format else {
            return Stencil::compile(model, *set, format, select, expand);
        };
        let outline = Outline { singleton: Some(name), ..Outline::new(model, *set, select, expand) };
        let mut stencil = Stencil::blank(&outline, format);
        json::v4::compile(&mut stencil, &outline, Style { metadata, ieee754, release });
        stencil
    }
}

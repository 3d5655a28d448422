//! Bodies of requests that create or change entities, read into an [`Entry`] and checked in full against the model: every
//! name is known, every value has its type, its length, its digits and its range.
//!
//! A [`Reader`] is compiled once for a model and then reads without allocating for a value. It deliberately does not
//! decide whether a value may be missing or set (that is the operation's business), nor provide any.
//!
//! Precisions of 0 are no limit, for times as for decimals. A date lies in the years 0001 to 9999. `null` for a
//! navigation property that leads to one entity means that none is created.

mod argument;
mod array;
mod check;
pub mod entry;
mod error;
mod json;
mod link;
mod property;
mod reference;
mod shape;
mod xml;

pub use array::{ArrayReader, ArrayStep, Envelope};
pub use error::BodyError;

use crate::edm::{Model, SetId, Version};
use crate::format::Format;
use crate::value::document::Schema;
use entry::Entry;
use error::Read;
use json::Json;
use shape::Shapes;
use std::sync::Arc;
use xml::{Dialect, Xml};

/// Entities inside of each other that are read at most (deep insert).
pub const DEPTH_MAX: usize = 8;
/// Bytes of one record of an array that is read in parts.
pub const RECORD_BYTES_MAX: usize = 1 << 20;
/// Bytes of a member beside the array.
pub const ENVELOPE_TEXT_BYTES_MAX: usize = 1 << 10;

/// Reads the bodies of one service. A clone shares what was compiled.
#[derive(Debug, Clone)]
pub struct Reader {
    compiled: Arc<Compiled>,
}

#[derive(Debug)]
struct Compiled {
    model: Arc<Model>,
    shapes: Shapes,
}

/// Context in which a body is read.
#[derive(Clone, Copy)]
pub(crate) struct Context<'c> {
    pub(crate) model: &'c Model,
    pub(crate) shapes: &'c Shapes,
    /// The absolute URL of the service; URLs in a body may lie below it.
    pub(crate) root: &'c str,
    /// The version of OData that the body is of; plain REST is of none.
    pub(crate) protocol: Option<Version>,
}

impl Context<'_> {
    /// The version whose URLs and forms of values the body has.
    pub(crate) fn version(&self) -> Version {
        self.protocol.unwrap_or(Version::V4)
    }
}

impl Reader {
    /// A reader of bodies for entities of the model.
    pub fn new(model: Arc<Model>) -> Reader {
        let shapes = Shapes::compile(&model);
        Reader { compiled: Arc::new(Compiled { model, shapes }) }
    }

    /// Reads the entity of `set` in `document` into `entry`, which is reset first. `root` is the absolute URL of the
    /// service; it may be empty, then links are relative.
    ///
    /// # Errors
    /// The first error; the content of `entry` is then of no use.
    pub fn read(
        &self,
        document: &[u8],
        format: Format,
        set: SetId,
        root: &str,
        entry: &mut Entry,
    ) -> Result<(), BodyError> {
        read_entity(document, format, set, self.context(format, root), entry).map_err(|error| *error)
    }

    fn context<'c>(&'c self, format: Format, root: &'c str) -> Context<'c> {
        let Compiled { model, shapes } = &*self.compiled;
        Context { model, shapes, root, protocol: format.version() }
    }
}

/// Reads the entity in `document` into `entry`, which is reset first. A [`Reader`] does the same without compiling the
/// model anew.
///
/// # Errors
/// The first thing that is wrong.
pub fn read(document: &[u8], format: Format, schema: Schema<'_>, entry: &mut Entry) -> Result<(), BodyError> {
    let shapes = Shapes::compile(schema.model);
    let context = Context { model: schema.model, shapes: &shapes, root: "", protocol: format.version() };
    read_entity(document, format, schema.set, context, entry).map_err(|error| *error)
}

fn read_entity(document: &[u8], format: Format, set: SetId, context: Context<'_>, entry: &mut Entry) -> Read<()> {
    let scratch = std::mem::take(&mut entry.scratch);
    match format {
        Format::V4Json { .. } | Format::V2Json | Format::RestJson => {
            let mut json = Json::new(document, context, scratch);
            let read = json.entity(set, entry).and_then(|()| json.end());
            entry.scratch = json.scratch;
            read
        }
        Format::V2Atom | Format::RestXml { .. } => {
            let dialect = if format == Format::V2Atom { Dialect::Atom } else { Dialect::Rest };
            let mut xml = Xml::new(document, dialect, context, scratch)?;
            let read = xml.entity(set, entry);
            entry.scratch = xml.scratch;
            read
        }
    }
}

//! Limits of one document, one expression and one transformation, in a table.
//!
//! Hostile input meets a limit and gets an [`Error`] of the kind [`ErrorKind::Budget`] that names it; nothing here measures
//! time.

use std::cell::Cell;

use crate::error::{Error, ErrorKind};

/// The limits. Each applies to each document or run by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Bytes of a document, before it is read.
    pub document_bytes_max: usize,
    /// Deepest nesting of elements.
    pub depth_max: usize,
    /// Nodes of a document, or of all documents that one run reads: elements, attributes, texts, comments, processing
    /// instructions.
    pub nodes_max: usize,
    /// Attributes of one element, namespace declarations among them.
    pub attributes_max: usize,
    /// Bytes of one text or attribute value.
    pub text_bytes_max: usize,
    /// Bytes that entities of an internal subset may expand to, where such are read at all.
    pub entity_bytes_max: usize,
    /// Bytes of a result.
    pub output_bytes_max: usize,
    /// Steps of one transformation or evaluation: a step is a node looked at, a part of an instruction, or some bytes
    /// of a text, and takes about ten nanoseconds, twice that at worst. For a document, it applies to each expression
    /// that is evaluated on it.
    pub instructions_max: u64,
    /// Bytes of the values that one transformation may make for its variables and parameters, all together.
    pub value_bytes_max: usize,
    /// Templates that may call each other in a row.
    pub template_depth_max: usize,
    /// Bytes of stack for a stylesheet's nested instructions and expressions. The caller needs half a MiB more.
    pub stack_bytes_max: usize,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            document_bytes_max: 64 * 1024 * 1024,
            depth_max: 512,
            nodes_max: 10_000_000,
            attributes_max: 1024,
            text_bytes_max: 16 * 1024 * 1024,
            entity_bytes_max: 1024 * 1024,
            output_bytes_max: 64 * 1024 * 1024,
            instructions_max: 250_000_000,
            value_bytes_max: 512 * 1024 * 1024,
            template_depth_max: 1000,
            stack_bytes_max: 1024 * 1024 + 512 * 1024,
        }
    }
}

// Limits that nobody needs to set, since they bound what is ours and not what is asked for.

/// Documents that one run may load; their nodes count together.
pub(crate) const DOCUMENTS_MAX: usize = 256;

/// Modules that may be loaded for one stylesheet.
pub(crate) const MODULES_MAX: usize = 256;

/// Modules that may include or import each other in a row.
pub(crate) const MODULE_DEPTH_MAX: usize = 16;

/// Entities within entities.
pub(crate) const ENTITY_DEPTH_MAX: usize = 16;

/// Expressions within expressions.
pub(crate) const EXPRESSION_DEPTH_MAX: usize = 64;

/// Terms and steps of one expression.
pub(crate) const TERMS_MAX: usize = 1000;

/// Digits behind the point that a number written by a pattern has: no double has more that mean anything.
pub(crate) const FRACTION_DIGITS_MAX: usize = 340;

/// Different prefixes of a document's elements and attributes: as many as two bytes of each node can distinguish.
pub(crate) const PREFIXES_MAX: u16 = u16::MAX;

/// The steps that one evaluation or run may still take.
///
/// It counts all work whose amount a document decides: nodes that are walked or passed over, bytes that are copied,
/// searched or taken apart.
#[derive(Debug)]
pub(crate) struct Meter {
    left: Cell<u64>,
    steps_max: u64,
}

thread_local! {
    /// Steps of all evaluations and runs that have ended on this thread.
    static STEPS_TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// Steps that this thread's evaluations and runs have taken so far; a caller that limits several together compares
/// before and after each.
#[must_use]
pub fn steps_taken() -> u64 {
    STEPS_TAKEN.get()
}

/// Bytes that are copied or compared in one step.
const COPIED_BYTES: usize = 64;
/// Bytes that are searched for a text in one step.
const SEARCHED_BYTES: usize = 16;
/// Bytes that are looked at one by one in one step.
const WALKED_BYTES: usize = 8;

impl Meter {
    pub(crate) fn new(steps_max: u64) -> Meter {
        Meter { left: Cell::new(steps_max), steps_max }
    }

    /// Takes steps off what is left.
    ///
    /// # Errors
    /// There are not as many steps left.
    #[inline]
    pub(crate) fn spend(&self, steps: u64) -> Result<(), Error> {
        match self.left.get().checked_sub(steps) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(self.exceeded()),
        }
    }

    #[cold]
    fn exceeded(&self) -> Error {
        // Nothing that comes after it finds any left.
        self.left.set(0);
        exceeded("steps of an evaluation", self.steps_max)
    }

    fn taken(&self) -> u64 {
        self.steps_max - self.left.get()
    }

    /// Bytes are copied or compared.
    #[inline]
    pub(crate) fn copy(&self, bytes: usize) -> Result<(), Error> {
        self.spend((bytes / COPIED_BYTES) as u64)
    }

    /// Counts the steps of searching bytes for others, with a table of those.
    #[inline]
    pub(crate) fn search(&self, bytes: usize, part_bytes: usize) -> Result<(), Error> {
        self.spend((bytes / SEARCHED_BYTES + part_bytes) as u64)
    }

    /// Characters are looked at one by one.
    #[inline]
    pub(crate) fn walk(&self, bytes: usize) -> Result<(), Error> {
        self.spend((bytes / WALKED_BYTES) as u64)
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        STEPS_TAKEN.set(STEPS_TAKEN.get().wrapping_add(self.taken()));
    }
}

/// The depth of the stack, measured from where it was when this was made.
///
/// Recursive code checks it, so that no stylesheet and no expression ends the process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stack {
    begin: usize,
    bytes_max: usize,
}

impl Stack {
    pub(crate) fn new(bytes_max: usize) -> Stack {
        Stack { begin: here(), bytes_max }
    }

    /// # Errors
    /// It is deeper than allowed.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.begin.abs_diff(here()) > self.bytes_max {
            return Err(exceeded("bytes of stack, for what stands in each other", self.bytes_max as u64));
        }
        Ok(())
    }
}

/// About where the stack ends.
#[inline]
fn here() -> usize {
    let mark = 0_u8;
    std::ptr::from_ref(&mark).addr()
}

/// The error for a limit that was reached.
pub(crate) fn exceeded(what: &str, limit: u64) -> Error {
    Error::new(ErrorKind::Budget, format!("{what}: more than the limit of {limit}"))
}

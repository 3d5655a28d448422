//! Filling in a stencil, one document after the other.
//!
//! It deliberately keeps nothing of a row: what was written is in the caller's buffer.

use std::ops::Range;

use super::{Base, Expansion, FeedHead, Stencil, Total};
use crate::edm::Row;
use crate::number::write_integer;

impl Stencil {
    /// Begins a document.
    pub fn writer<'s>(&'s self, base: Base<'s>) -> Writer<'s> {
        Writer {
            stencil: self,
            base,
            opening: Opening::First,
            object_has_member: false,
            total: 0,
            next_link: None,
            levels: Vec::new(),
            passed_over: 0,
        }
    }
}

/// The beginning of the next entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opening {
    First,
    Next,
    Document,
}

/// Fills one document. The buffer may be emptied between any two calls, never within one.
#[derive(Debug, Clone)]
pub struct Writer<'s> {
    stencil: &'s Stencil,
    base: Base<'s>,
    opening: Opening,
    object_has_member: bool,
    /// The number that the next expansion shows.
    total: u64,
    /// The link to further entities for the expansion that ends next.
    next_link: Option<Vec<u8>>,
    /// The expansions that were begun within each other.
    levels: Vec<Level<'s>>,
    /// Expansions within each other that are passed over, since the entity around them does not have the outermost.
    passed_over: usize,
}

/// An expansion that was begun.
#[derive(Debug, Clone)]
struct Level<'s> {
    expansion: &'s Expansion,
    /// Its position in its entity.
    index: usize,
    /// Entities written so far.
    related: u64,
    object_has_member: bool,
}

impl<'s> Writer<'s> {
    /// The stencil that is filled in.
    pub fn stencil(&self) -> &'s Stencil {
        self.stencil
    }

    /// Begins a collection.
    pub fn feed_begin(&mut self, out: &mut Vec<u8>, head: &FeedHead<'_>) {
        self.opening = Opening::First;
        self.stencil.notation.feed_begin(out, self.stencil, &self.base, head);
    }

    /// Continues a collection after another writer has written at least one entry.
    pub fn feed_resume(&mut self) {
        self.opening = Opening::Next;
    }

    /// Ends a collection; `next_link` is the URL of the next page, absolute or relative to the service root.
    pub fn feed_end(&mut self, out: &mut Vec<u8>, next_link: Option<&str>) {
        self.stencil.notation.feed_end(out, self.stencil, next_link);
    }

    /// Begins a document of one entity, or of one property.
    pub fn document_begin(&mut self, _out: &mut Vec<u8>) {
        self.opening = Opening::Document;
    }

    /// Ends a document of one entity or property.
    pub fn document_end(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.stencil.document_end.as_bytes());
    }

    /// Writes an entry that has no expansions.
    #[inline]
    pub fn entry<R: Row + ?Sized>(&mut self, out: &mut Vec<u8>, row: &R) {
        debug_assert!(self.stencil.expansions.is_empty(), "expansions are written one by one");
        let mut address = None;
        self.open_and_begin(out, &mut address, row);
        self.stencil.end.run(out, &self.base, &self.stencil.key, &mut address, row);
    }

    /// Writes an entry up to its expansions.
    pub fn entry_begin<R: Row + ?Sized>(&mut self, out: &mut Vec<u8>, row: &R) {
        self.open_and_begin(out, &mut None, row);
    }

    /// Sets the total number of entities of the expansion that begins next, shown or not.
    pub fn expand_total(&mut self, total: u64) {
        self.total = total;
    }

    /// Writes the text before the entities of the expansion with that index; `row` is that of its entity.
    pub fn expand_begin<R: Row + ?Sized>(&mut self, out: &mut Vec<u8>, index: usize, row: &R) {
        let (stencil, object_has_member) = match self.levels.last_mut() {
            Some(level) => (&level.expansion.child, &mut level.object_has_member),
            None => (self.stencil, &mut self.object_has_member),
        };
        let expansion = &stencil.expansions[index];
        if self.passed_over > 0 || !stencil.has_expansion(expansion, row) {
            self.passed_over += 1;
            return;
        }
        if *object_has_member {
            out.extend_from_slice(expansion.separator.as_bytes());
        }
        *object_has_member = true;
        if let Some(Total { before, after }) = &expansion.total {
            out.extend_from_slice(before.as_bytes());
            write_integer(out, i64::try_from(self.total).unwrap_or(i64::MAX));
            out.extend_from_slice(after.as_bytes());
        }
        expansion.begin.run(out, &self.base, &stencil.key, &mut None, row);
        self.levels.push(Level { expansion, index, related: 0, object_has_member: false });
    }

    /// Writes an entity of the expansion that was begun last, up to what it has expanded itself.
    pub fn expand_entity<R: Row + ?Sized>(&mut self, out: &mut Vec<u8>, row: &R) {
        if self.passed_over > 0 {
            return;
        }
        let level = self.levels.last_mut().expect("an expansion was begun");
        let child = &level.expansion.child;
        out.extend_from_slice(if level.related == 0 { child.first.as_bytes() } else { child.next.as_bytes() });
        level.related += 1;
        let begin = child.begin(row);
        level.object_has_member = !begin.is_empty();
        let mut address = None;
        begin.run(out, &self.base, &child.key, &mut address, row);
        if child.expansions.is_empty() {
            child.end.run(out, &self.base, &child.key, &mut address, row);
        }
    }

    /// Writes the rest of an entity of an expansion.
    pub fn expand_entity_end<R: Row + ?Sized>(&mut self, out: &mut Vec<u8>, row: &R) {
        if self.passed_over > 0 {
            return;
        }
        let child = &self.levels.last().expect("an expansion was begun").expansion.child;
        if !child.expansions.is_empty() {
            child.end.run(out, &self.base, &child.key, &mut None, row);
        }
    }

    /// The positions of the expansions that were begun within each other.
    pub fn expand_positions(&self) -> impl Iterator<Item = usize> {
        self.levels.iter().map(|level| level.index)
    }

    /// Marks the expansion that was begun last as incomplete: a request with this query, percent-encoded, and this skip
    /// token finds the rest; `row` is that of its entity.
    pub fn expand_more<R: Row + ?Sized>(&mut self, row: &R, query: &str, skip_token: &str) {
        if self.passed_over > 0 {
            return;
        }
        let (level, outer) = self.levels.split_last().expect("an expansion was begun");
        let parent = outer.last().map_or(self.stencil, |level| &level.expansion.child);
        let Some(next) = &level.expansion.next else { return };
        let mut link = self.base.service_root().as_bytes().to_vec();
        parent.key.run_cells(&mut link, row);
        let separator = if query.is_empty() { "" } else { "&" };
        for part in [&next.path, "?", query, separator, "$skiptoken=", skip_token] {
            link.extend_from_slice(part.as_bytes());
        }
        self.next_link = Some(link);
    }

    /// Writes the text behind the entities of the expansion that was begun last.
    pub fn expand_end(&mut self, out: &mut Vec<u8>) {
        if self.passed_over > 0 {
            self.passed_over -= 1;
            return;
        }
        let level = self.levels.pop().expect("an expansion was begun");
        let expansion = level.expansion;
        if level.related == 0 {
            out.extend_from_slice(expansion.nothing.as_bytes());
        }
        out.extend_from_slice(expansion.list_end.as_bytes());
        if let (Some(link), Some(next)) = (self.next_link.take(), &expansion.next) {
            out.extend_from_slice(next.before.as_bytes());
            (next.escape)(out, &link);
            out.extend_from_slice(next.after.as_bytes());
        }
        out.extend_from_slice(expansion.end.as_bytes());
    }

    /// Writes the rest of an entry, behind its expansions.
    pub fn entry_end<R: Row + ?Sized>(&mut self, out: &mut Vec<u8>, row: &R) {
        self.stencil.end.run(out, &self.base, &self.stencil.key, &mut None, row);
    }

    #[inline]
    fn open_and_begin<R: Row + ?Sized>(&mut self, out: &mut Vec<u8>, address: &mut Option<Range<usize>>, row: &R) {
        let stencil = self.stencil;
        let begin = stencil.begin(row);
        self.object_has_member = !begin.is_empty();
        match self.opening {
            Opening::First => {
                out.extend_from_slice(stencil.first.as_bytes());
                self.opening = Opening::Next;
            }
            Opening::Next => out.extend_from_slice(stencil.next.as_bytes()),
            Opening::Document => {
                stencil.document.run(out, &self.base, &stencil.key, address, row);
                self.object_has_member |= stencil.document_has_member;
            }
        }
        begin.run(out, &self.base, &stencil.key, address, row);
    }
}

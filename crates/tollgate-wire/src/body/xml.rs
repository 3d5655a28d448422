//! Entities in XML, read straight into an [`Entry`]: Atom of V2 and the plain XML of REST.
//!
//! Names count by what follows their prefix, as in the documents of answers.

use super::check;
use super::entry::Entry;
use super::error::{BodyError, Read};
use super::json::{null, null_complex, twice};
use super::link::{self, Named};
use super::shape::{Complex, Kind, Leaf, Navigation, Shape};
use super::{Context, DEPTH_MAX};
use crate::atom::RELATED;
use crate::edm::{Multiplicity, Primitive, SetId};
use crate::items;
use crate::syntax::xml::{Tag, XmlReader};
use crate::value::{Cell, Row};

/// The dialect of the XML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Entries with links and `m:properties`.
    Atom,
    /// An element for each property, related entities inside of their property.
    Rest,
}

/// Reads one document.
pub(crate) struct Xml<'d, 'c> {
    reader: XmlReader<'d>,
    context: Context<'c>,
    dialect: Dialect,
    /// Buffer in which a text of several parts is joined.
    pub(crate) scratch: String,
    /// Open entities.
    depth: usize,
}

impl<'d, 'c> Xml<'d, 'c> {
    pub(crate) fn new(
        document: &'d [u8],
        dialect: Dialect,
        context: Context<'c>,
        scratch: String,
    ) -> Read<Xml<'d, 'c>> {
        Ok(Xml { reader: XmlReader::new(document)?, context, dialect, scratch, depth: 0 })
    }

    /// Reads a document of one entity.
    pub(crate) fn entity(&mut self, set: SetId, entry: &mut Entry) -> Read<()> {
        let root = self.reader.root()?;
        if self.dialect == Dialect::Atom && root.name() != "entry" {
            return Err(self.fault(format!("expected an entry, found the element '{}'", root.name())));
        }
        self.inside_entity(set, entry)?;
        Ok(self.reader.end()?)
    }

    /// Reads a document of one property.
    pub(crate) fn property(&mut self, name: &str, kind: &'c Kind, entry: &mut Entry) -> Read<()> {
        let root = self.reader.root()?;
        if root.name() != name {
            return Err(self.fault(format!("expected the element '{name}', found '{}'", root.name())));
        }
        self.value(&root, kind, entry).map_err(|error| error.inside(name))?;
        Ok(self.reader.end()?)
    }

    /// Reads an entity behind its start tag.
    fn inside_entity(&mut self, set: SetId, entry: &mut Entry) -> Read<()> {
        let shape = self.context.shapes.of(set);
        entry.reset(shape.leaves);
        match self.dialect {
            Dialect::Atom => self.inside_entry(shape, entry),
            Dialect::Rest => self.properties(shape, entry),
        }
    }

    fn inside_entry(&mut self, shape: &'c Shape, entry: &mut Entry) -> Read<()> {
        while let Some(tag) = self.reader.child()? {
            match tag.name() {
                "link" => self.link(&tag, shape, entry)?,
                "content" => {
                    while let Some(inner) = self.reader.child()? {
                        match inner.name() {
                            "properties" => self.properties(shape, entry)?,
                            _ => self.reader.skip()?,
                        }
                    }
                }
                // A media entity has them beside its content.
                "properties" => self.properties(shape, entry)?,
                _ => self.reader.skip()?,
            }
        }
        Ok(())
    }

    /// Reads properties up to the end of the element around them.
    fn properties(&mut self, shape: &'c Shape, entry: &mut Entry) -> Read<()> {
        let mut expected = 0;
        while let Some(tag) = self.reader.child()? {
            let name = tag.name();
            let found = match shape.members.get(expected) {
                Some(member) if member.name == name => Some(expected),
                _ => shape.find(name),
            };
            let Some(at) = found else {
                if self.dialect == Dialect::Rest && name == "padding" {
                    self.reader.skip()?;
                    continue;
                }
                return Err(shape.unknown_at(name, self.reader.position()));
            };
            let member = &shape.members[at];
            expected = at + 1;
            self.value(&tag, &member.kind, entry).map_err(|error| error.inside(&member.name))?;
        }
        Ok(())
    }

    /// Reads the value of a property behind its start tag.
    fn value(&mut self, tag: &Tag<'d>, kind: &'c Kind, entry: &mut Entry) -> Read<()> {
        let position = self.reader.position();
        let is_null = tag.attribute("null").is_some_and(|null| null == "true" || null == "1");
        match kind {
            Kind::Leaf(leaf) if entry.is_set(leaf.id) => Err(twice(position)),
            Kind::Leaf(leaf) if is_null => {
                self.reader.skip()?;
                null(leaf, entry, position)
            }
            Kind::Leaf(leaf) if leaf.primitive.item().is_some() => self.values(leaf, entry),
            Kind::Leaf(leaf) => self.leaf(leaf, entry, position),
            Kind::Complex(complex) if is_null => {
                self.reader.skip()?;
                null_complex(complex, entry, position)
            }
            Kind::Complex(Complex { shape, .. }) => self.properties(shape, entry),
            Kind::Navigation(navigation) if self.dialect == Dialect::Rest => {
                if entry.children.iter().any(|(id, _)| *id == navigation.id) {
                    return Err(twice(position));
                }
                self.related(*navigation, entry, None)
            }
            Kind::Navigation(_) => Err(self.fault("related entities stand in a link")),
        }
    }

    fn leaf(&mut self, leaf: &Leaf, entry: &mut Entry, position: usize) -> Read<()> {
        let protocol = self.context.protocol;
        let text = self.reader.text_in(&mut self.scratch)?;
        let text = match leaf.primitive {
            Primitive::String { .. } => &*text,
            _ => text.trim(),
        };
        entry
            .write(leaf.id, |out| check::append(out, protocol, leaf, text))
            .map_err(|wrong| BodyError::new(position, wrong.message(protocol, leaf, text)))
    }

    /// Reads the values of a collection, an element for each, up to the end of the element around them.
    fn values(&mut self, leaf: &Leaf, entry: &mut Entry) -> Read<()> {
        if self.dialect == Dialect::Atom {
            return Err(self.fault("OData V2 has no collections of values"));
        }
        let one = leaf.of_item();
        let (mut value, mut index, mut array) = (Entry::new(1), 0, Vec::new());
        let mut writer = items::Writer::new(&mut array);
        while let Some(tag) = self.reader.child()? {
            let position = self.reader.position();
            value.reset(1);
            let read = if tag.attribute("null").is_some_and(|null| null == "true" || null == "1") {
                self.reader.skip()?;
                null(&one, &mut value, position)
            } else {
                self.leaf(&one, &mut value, position)
            };
            read.and_then(|()| check::finite(value.cell(0)).map_err(|message| BodyError::new(position, message)))
                .map_err(|error| error.inside_item(index, ""))?;
            writer.push(one.primitive, value.cell(0));
            index += 1;
        }
        writer.finish();
        entry.set(leaf.id, Cell::Text(&array));
        Ok(())
    }

    /// Reads a link of an entry behind its start tag: entities inside of it are created, an entity that it names is
    /// linked. A navigation link as servers write it is ignored.
    fn link(&mut self, tag: &Tag<'d>, shape: &'c Shape, entry: &mut Entry) -> Read<()> {
        let position = self.reader.position();
        let relation = tag.attribute("rel").unwrap_or_default();
        let Some(name) = relation.strip_prefix(RELATED) else { return Ok(self.reader.skip()?) };
        let member = shape.find(name).map(|at| &shape.members[at]);
        let Some((member, Kind::Navigation(navigation))) = member.map(|member| (member, &member.kind)) else {
            return Err(shape.unknown_at(name, position));
        };
        let mut read = || {
            let mut inline = false;
            while let Some(child) = self.reader.child()? {
                if child.name() != "inline" {
                    self.reader.skip()?;
                    continue;
                }
                inline = true;
                if entry.children.iter().any(|(id, _)| *id == navigation.id) {
                    return Err(twice(position));
                }
                self.inline(*navigation, entry)?;
            }
            let (false, Some(url)) = (inline, tag.attribute("href")) else { return Ok(()) };
            match link::resolve(&self.context, navigation.target, &url) {
                Ok(Named::Entity(link)) => entry.links.push((navigation.id, link)),
                Ok(Named::Navigation) => {}
                Err(message) => return Err(BodyError::new(position, message)),
            }
            Ok(())
        };
        read().map_err(|error: Box<BodyError>| error.inside(&member.name))
    }

    /// Reads the content of `m:inline`: an entry, a feed, or nothing.
    fn inline(&mut self, navigation: Navigation, entry: &mut Entry) -> Read<()> {
        while let Some(child) = self.reader.child()? {
            match (child.name(), navigation.multiplicity == Multiplicity::Many) {
                ("entry", false) => {
                    let child = self.one(navigation)?;
                    entry.children.push((navigation.id, vec![child]));
                }
                ("feed", true) => self.related(navigation, entry, Some("entry"))?,
                ("entry", true) => return Err(self.fault("expected a feed, found one entry")),
                ("feed", false) => return Err(self.fault("expected one entry, found a feed")),
                _ => self.reader.skip()?,
            }
        }
        Ok(())
    }

    /// Reads entities up to the end of the element around them: those elements that have the name, or all.
    fn related(&mut self, navigation: Navigation, entry: &mut Entry, name: Option<&str>) -> Read<()> {
        let mut children = Vec::new();
        while let Some(tag) = self.reader.child()? {
            if name.is_some_and(|name| name != tag.name()) {
                self.reader.skip()?;
                continue;
            }
            if navigation.multiplicity != Multiplicity::Many && !children.is_empty() {
                return Err(self.fault("expected one entity, found several"));
            }
            let index = children.len() as u64;
            children.push(self.one(navigation).map_err(|error| match navigation.multiplicity {
                Multiplicity::Many => error.inside_item(index, "/"),
                Multiplicity::One | Multiplicity::ZeroOrOne => error,
            })?);
        }
        if navigation.multiplicity == Multiplicity::Many || !children.is_empty() {
            entry.children.push((navigation.id, children));
        }
        Ok(())
    }

    /// Reads a related entity behind its start tag.
    fn one(&mut self, navigation: Navigation) -> Read<Entry> {
        if self.depth == DEPTH_MAX {
            return Err(self.fault(format!("entities are nested deeper than {DEPTH_MAX}")));
        }
        let mut child = Entry::default();
        self.depth += 1;
        self.inside_entity(navigation.target, &mut child)?;
        self.depth -= 1;
        Ok(child)
    }

    fn fault(&self, message: impl Into<String>) -> Box<BodyError> {
        BodyError::new(self.reader.position(), message)
    }
}

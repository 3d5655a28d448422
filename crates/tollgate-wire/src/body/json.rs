//! Entities in JSON, read straight into an [`Entry`]: V4, plain REST and the verbose JSON of V2 differ in their control
//! information and in the forms of some values, not in their shape.
//!
//! One pass validates and decodes; nothing is built on the way.

use super::check::{self, Wrong};
use super::entry::Entry;
use super::error::{BodyError, Read};
use super::link::{self, Named};
use super::shape::{Complex, Kind, Leaf, Navigation, Shape, ShapeMember};
use super::{Context, DEPTH_MAX};
use crate::address::quoted;
use crate::edm::{Multiplicity, Primitive, SetId, SubtypeId, Version};
use crate::items;
use crate::syntax::Lexer;
use crate::syntax::json::{self, Reader};
use crate::value::canonical;
use crate::value::{Cell, Row};

/// Reads from one place of a document.
pub(crate) struct Json<'d, 'c> {
    pub(crate) lexer: Lexer<'d>,
    pub(crate) context: Context<'c>,
    /// Buffer in which text with escapes is decoded.
    pub(crate) scratch: String,
    /// Open entities.
    depth: usize,
}

/// The meaning of a member's name.
enum Name {
    Member(usize),
    /// `@odata.type`.
    Type,
    /// `@odata.id`, or `__metadata` with its `uri`.
    Identity,
    /// `__deferred`.
    Deferred,
    /// `…@odata.bind`, with the position of the navigation property.
    Bind(usize),
    /// Control information that a server ignores.
    Control,
}

/// Identity that an object gives beside its properties; without any it is no entity to create.
#[derive(Default)]
enum Identity {
    #[default]
    Nothing,
    /// The URL of an entity, with its place.
    Url(usize, String),
    /// V2's way to something that was not expanded.
    Deferred,
}

impl<'d, 'c> Json<'d, 'c> {
    /// A reader at the beginning of a document.
    pub(crate) fn new(bytes: &'d [u8], context: Context<'c>, scratch: String) -> Json<'d, 'c> {
        Json { lexer: Lexer::of_document(bytes), context, scratch, depth: 0 }
    }

    /// A reader at a value within a document.
    pub(crate) fn within(bytes: &'d [u8], context: Context<'c>, scratch: String) -> Json<'d, 'c> {
        Json { lexer: Lexer { bytes, at: 0 }, context, scratch, depth: 0 }
    }

    /// Reads an entity at its opening brace.
    pub(crate) fn entity(&mut self, set: SetId, entry: &mut Entry) -> Read<()> {
        let shape = self.context.shapes.of(set);
        entry.reset(shape.leaves);
        self.open("an entity")?;
        if self.context.version() == Version::V2 && self.wrapper(shape)? {
            self.open("one entity")?;
            self.members(shape, entry, None)?;
            return match self.next_name()? {
                true => Err(self.fault("expected nothing behind 'd'")),
                false => Ok(()),
            };
        }
        self.members(shape, entry, None)
    }

    /// Reads an object of that shape; `what` it is, for messages.
    pub(crate) fn object(&mut self, what: &str, shape: &'c Shape, entry: &mut Entry) -> Read<()> {
        self.open(what)?;
        self.members(shape, entry, None)
    }

    /// Whether the opened object only wraps the entity as its member `d`, which is then taken.
    fn wrapper(&mut self, shape: &Shape) -> Read<bool> {
        let begin = self.lexer.at;
        if shape.find("d").is_none() && self.first_name()? && self.plain_name()? == "d" {
            return Ok(true);
        }
        self.lexer.at = begin;
        Ok(false)
    }

    /// Checks that only white space follows.
    pub(crate) fn end(&mut self) -> Read<()> {
        match self.lexer.skip_space() {
            None => Ok(()),
            Some(_) => Err(self.fault("the document goes on behind its value")),
        }
    }

    /// Takes an opening brace.
    pub(crate) fn open(&mut self, what: &str) -> Read<()> {
        match self.lexer.skip_space() {
            Some(b'{') => {
                self.lexer.at += 1;
                Ok(())
            }
            Some(b'[') => Err(self.fault(format!("expected {what}, found an array"))),
            Some(_) => Err(self.fault(format!("expected {what}"))),
            None => Err(self.fault(format!("expected {what}, found nothing"))),
        }
    }

    /// Moves to the first name of an object, behind its opening brace; whether there is one.
    #[inline]
    pub(crate) fn first_name(&mut self) -> Read<bool> {
        match self.lexer.skip_space() {
            Some(b'"') => Ok(true),
            Some(b'}') => {
                self.lexer.at += 1;
                Ok(false)
            }
            _ => Err(self.fault("expected a name in quotes")),
        }
    }

    /// Moves to the next name of an object, behind a value; whether there is one.
    #[inline]
    pub(crate) fn next_name(&mut self) -> Read<bool> {
        match self.lexer.skip_space() {
            Some(b',') => {
                self.lexer.at += 1;
                match self.lexer.skip_space() {
                    Some(b'"') => Ok(true),
                    _ => Err(self.fault("expected a name in quotes")),
                }
            }
            Some(b'}') => {
                self.lexer.at += 1;
                Ok(false)
            }
            _ => Err(self.fault("expected ',' or '}'")),
        }
    }

    /// Reads members behind an opening brace, up to the closing one.
    fn members(&mut self, shape: &'c Shape, entry: &mut Entry, mut identity: Option<&mut Identity>) -> Read<()> {
        let mut more = self.first_name()?;
        let mut expected = 0;
        while more {
            let position = self.lexer.at;
            let name = match shape.members.get(expected) {
                Some(member) if self.lexer.rest().starts_with(&member.quoted) => {
                    self.lexer.at += member.quoted.len();
                    Name::Member(expected)
                }
                _ => self.name(shape)?,
            };
            match name {
                Name::Member(at) => {
                    let member = &shape.members[at];
                    expected = at + 1;
                    self.lexer.skip_space();
                    self.member(member, entry, position).map_err(|error| error.inside(&member.name))?;
                }
                Name::Type => self.type_name(shape, entry)?,
                Name::Identity => self.identity(identity.as_deref_mut())?,
                Name::Deferred => {
                    identity.as_deref_mut().into_iter().for_each(|identity| *identity = Identity::Deferred);
                    self.skip_value()?;
                }
                Name::Bind(at) => {
                    let member = &shape.members[at];
                    if let Kind::Navigation(navigation) = member.kind {
                        self.lexer.skip_space();
                        self.bind(navigation, entry).map_err(|error| error.inside(&member.name))?;
                    }
                }
                Name::Control => self.skip_value()?,
            }
            more = self.next_name()?;
        }
        Ok(())
    }

    /// Takes a name at its quote, and the colon behind it.
    pub(crate) fn plain_name(&mut self) -> Read<&str> {
        let name = self.lexer.string_in(&mut self.scratch)?;
        if self.lexer.skip_space() != Some(b':') {
            return Err(BodyError::new(self.lexer.at, "expected ':' behind a name"));
        }
        self.lexer.at += 1;
        Ok(name)
    }

    fn name(&mut self, shape: &Shape) -> Read<Name> {
        let (position, v2) = (self.lexer.at, self.context.version() == Version::V2);
        let name = self.plain_name()?;
        if let Some(member) = shape.find(name) {
            return Ok(Name::Member(member));
        }
        match (name, name.split_once('@')) {
            ("__metadata", _) if v2 => return Ok(Name::Identity),
            ("__deferred", _) if v2 => return Ok(Name::Deferred),
            (_, Some((property, term))) if !v2 => match (property, term.strip_prefix("odata.").unwrap_or(term)) {
                ("", "type") => return Ok(Name::Type),
                ("", "id") => return Ok(Name::Identity),
                (property, "bind") => match shape.find(property) {
                    Some(member) if matches!(shape.members[member].kind, Kind::Navigation(_)) => {
                        return Ok(Name::Bind(member));
                    }
                    Some(_) => return Err(BodyError::new(position, "the property leads nowhere").inside(property)),
                    None => {}
                },
                _ => return Ok(Name::Control),
            },
            _ => {}
        }
        let name = name.split_once('@').map_or(name, |(property, _)| property);
        Err(shape.unknown_at(name, position))
    }

    /// Reads the value of a member; `position` is that of its name.
    #[inline]
    fn member(&mut self, member: &'c ShapeMember, entry: &mut Entry, position: usize) -> Read<()> {
        match &member.kind {
            Kind::Leaf(leaf) if entry.is_set(leaf.id) => Err(twice(position)),
            Kind::Navigation(navigation) if entry.children.iter().any(|(id, _)| *id == navigation.id) => {
                Err(twice(position))
            }
            kind => self.value(kind, entry),
        }
    }

    /// Reads a value where it begins.
    #[inline]
    pub(crate) fn value(&mut self, kind: &'c Kind, entry: &mut Entry) -> Read<()> {
        match kind {
            Kind::Leaf(leaf) => self.leaf(leaf, entry),
            Kind::Complex(complex) => self.complex(complex, entry),
            Kind::Navigation(navigation) => self.related(*navigation, entry),
        }
    }

    /// Reads a primitive.
    #[inline]
    fn leaf(&mut self, leaf: &Leaf, entry: &mut Entry) -> Read<()> {
        let position = self.lexer.at;
        let protocol = self.context.protocol;
        match self.lexer.bytes.get(position) {
            Some(b'"') => {
                let text = self.lexer.string_in(&mut self.scratch)?;
                if leaf.enumeration.is_none() && !may_be_text(self.context.version(), leaf.primitive, text) {
                    return Err(wrong(Wrong::Type, protocol, leaf, text, position));
                }
                entry
                    .write(leaf.id, |out| check::append(out, protocol, leaf, text))
                    .map_err(|error| wrong(error, protocol, leaf, text, position))
            }
            Some(b'-' | b'0'..=b'9') => {
                let text = self.lexer.number()?;
                match leaf.primitive {
                    _ if leaf.enumeration.is_some() && protocol.is_none() => {
                        Err(wrong(Wrong::Member, protocol, leaf, text, position))
                    }
                    Primitive::Byte | Primitive::SByte | Primitive::Int16 | Primitive::Int32 | Primitive::Int64
                        if leaf.enumeration.is_none() =>
                    {
                        let value = canonical::integer(leaf.primitive, text);
                        let value = value.ok_or_else(|| wrong(Wrong::Type, protocol, leaf, text, position))?;
                        entry.set_integer(leaf.id, value);
                        Ok(())
                    }
                    Primitive::Decimal { .. }
                    | Primitive::Single
                    | Primitive::Double
                    | Primitive::Byte
                    | Primitive::SByte
                    | Primitive::Int16
                    | Primitive::Int32
                    | Primitive::Int64 => entry
                        .write(leaf.id, |out| check::append(out, protocol, leaf, text))
                        .map_err(|error| wrong(error, protocol, leaf, text, position)),
                    _ => Err(wrong(Wrong::Type, protocol, leaf, text, position)),
                }
            }
            Some(b'n') => {
                self.lexer.word("null")?;
                null(leaf, entry, position)
            }
            Some(b't' | b'f') => {
                let is_true = self.lexer.bytes[position] == b't';
                self.lexer.word(if is_true { "true" } else { "false" })?;
                if leaf.primitive != Primitive::Boolean {
                    return Err(wrong(Wrong::Type, protocol, leaf, if is_true { "true" } else { "false" }, position));
                }
                entry.set_integer(leaf.id, i64::from(is_true));
                Ok(())
            }
            Some(b'[') if leaf.primitive.item().is_some() => self.values(leaf, entry),
            Some(b'{' | b'[') => {
                let found = if self.lexer.bytes[position] == b'{' { "an object" } else { "an array" };
                Err(self.fault(format!(
                    "expected {}, found {found}",
                    check::expected(self.context.version(), leaf.primitive)
                )))
            }
            None => Err(self.fault("the document ends where a value is expected")),
            Some(_) => Err(self.fault("expected a value")),
        }
    }

    /// Reads the values of a collection at its opening bracket.
    #[cold]
    fn values(&mut self, leaf: &Leaf, entry: &mut Entry) -> Read<()> {
        if self.context.version() == Version::V2 {
            return Err(self.fault("OData V2 has no collections of values"));
        }
        let one = leaf.of_item();
        let (mut value, mut index, mut array) = (Entry::new(1), 0, Vec::new());
        let mut writer = items::Writer::new(&mut array);
        self.items(|json| {
            let position = json.lexer.at;
            value.reset(1);
            json.leaf(&one, &mut value)
                .and_then(|()| check::finite(value.cell(0)).map_err(|message| BodyError::new(position, message)))
                .map_err(|error| error.inside_item(index, ""))?;
            writer.push(one.primitive, value.cell(0));
            index += 1;
            Ok(())
        })?;
        writer.finish();
        entry.set(leaf.id, Cell::Text(&array));
        Ok(())
    }

    /// Reads a complex value: the leaves inside of it are leaves of the entity.
    pub(crate) fn complex(&mut self, complex: &'c Complex, entry: &mut Entry) -> Read<()> {
        let position = self.lexer.at;
        if self.lexer.bytes.get(position) == Some(&b'n') {
            self.lexer.word("null")?;
            return null_complex(complex, entry, position);
        }
        self.open("an object")?;
        self.members(&complex.shape, entry, None)
    }

    /// Reads the entities to create with the entity, or to link it with.
    fn related(&mut self, navigation: Navigation, entry: &mut Entry) -> Read<()> {
        let position = self.lexer.at;
        let many = navigation.multiplicity == Multiplicity::Many;
        match self.lexer.bytes.get(position) {
            // Nothing is to be created.
            Some(b'n') if !many => Ok(self.lexer.word("null")?),
            Some(b'[') if many => self.collection(navigation, entry),
            Some(b'{') if many && self.context.version() == Version::V2 => self.results(navigation, entry),
            Some(b'{') if !many => {
                let mut children = Vec::new();
                self.one(navigation, entry, &mut children)?;
                if !children.is_empty() {
                    entry.children.push((navigation.id, children));
                }
                Ok(())
            }
            Some(_) if many => Err(self.fault("expected an array of entities")),
            Some(_) => Err(self.fault("expected an entity")),
            None => Err(self.fault("the document ends where a value is expected")),
        }
    }

    /// `{"results": […]}`, or `{"__deferred": …}`, which is ignored.
    fn results(&mut self, navigation: Navigation, entry: &mut Entry) -> Read<()> {
        self.open("an object")?;
        let mut more = self.first_name()?;
        while more {
            let position = self.lexer.at;
            match self.plain_name()? {
                "results" => {
                    if self.lexer.skip_space() != Some(b'[') {
                        return Err(self.fault("expected an array of entities"));
                    }
                    self.collection(navigation, entry)?;
                }
                name if name.starts_with("__") => self.skip_value()?,
                name => return Err(BodyError::new(position, format!("expected 'results', found {}", quoted(name)))),
            }
            more = self.next_name()?;
        }
        Ok(())
    }

    /// Reads entities at the opening bracket.
    fn collection(&mut self, navigation: Navigation, entry: &mut Entry) -> Read<()> {
        let mut children = Vec::new();
        let mut index = 0;
        self.items(|json| {
            json.one(navigation, entry, &mut children).map_err(|error| error.inside_item(index, "/"))?;
            index += 1;
            Ok(())
        })?;
        entry.children.push((navigation.id, children));
        Ok(())
    }

    /// Reads the items of an array at its opening bracket.
    fn items(&mut self, mut item: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        self.lexer.at += 1;
        if self.lexer.skip_space() == Some(b']') {
            self.lexer.at += 1;
            return Ok(());
        }
        loop {
            self.lexer.skip_space();
            item(self)?;
            match self.lexer.skip_space() {
                Some(b',') => self.lexer.at += 1,
                Some(b']') => {
                    self.lexer.at += 1;
                    return Ok(());
                }
                _ => return Err(self.fault("expected ',' or ']'")),
            }
        }
    }

    /// Reads a related entity: one that only says where it is becomes a link.
    fn one(&mut self, navigation: Navigation, entry: &mut Entry, children: &mut Vec<Entry>) -> Read<()> {
        if self.depth == DEPTH_MAX {
            return Err(self.fault(format!("entities are nested deeper than {DEPTH_MAX}")));
        }
        let shape = self.context.shapes.of(navigation.target);
        let mut child = Entry::new(shape.leaves);
        let mut identity = Identity::Nothing;
        self.open("an entity")?;
        self.depth += 1;
        self.members(shape, &mut child, Some(&mut identity))?;
        self.depth -= 1;
        match identity {
            Identity::Url(position, url) if child.is_empty() => self.link(navigation, &url, position, entry),
            Identity::Deferred if child.is_empty() => Ok(()),
            _ => {
                children.push(child);
                Ok(())
            }
        }
    }

    fn link(&self, navigation: Navigation, url: &str, position: usize, entry: &mut Entry) -> Read<()> {
        match link::resolve(&self.context, navigation.target, url) {
            Ok(Named::Entity(link)) => {
                entry.links.push((navigation.id, link));
                Ok(())
            }
            Ok(Named::Navigation) => {
                Err(BodyError::new(position, format!("expected an entity with its key, found {}", quoted(url))))
            }
            Err(message) => Err(BodyError::new(position, message)),
        }
    }

    /// `@odata.bind`: the URL of an entity, or an array of them.
    fn bind(&mut self, navigation: Navigation, entry: &mut Entry) -> Read<()> {
        if self.lexer.bytes.get(self.lexer.at) == Some(&b'[') {
            if navigation.multiplicity != Multiplicity::Many {
                return Err(self.fault("expected the URL of one entity, found an array"));
            }
            return self.items(|json| json.bound(navigation, entry));
        }
        self.bound(navigation, entry)
    }

    fn bound(&mut self, navigation: Navigation, entry: &mut Entry) -> Read<()> {
        let position = self.lexer.at;
        if self.lexer.bytes.get(position) != Some(&b'"') {
            return Err(self.fault("expected the URL of an entity"));
        }
        let url = self.lexer.string()?;
        self.link(navigation, &url, position, entry)
    }

    fn type_name(&mut self, shape: &Shape, entry: &mut Entry) -> Read<()> {
        if self.lexer.skip_space() != Some(b'"') {
            return Err(self.fault("expected the name of a type"));
        }
        let position = self.lexer.at;
        let name = self.lexer.string_in(&mut self.scratch)?;
        // The name may have the URL of its metadata before it.
        let said = name.rsplit('#').next();
        if let Some(subtype) = shape.subtypes.iter().position(|known| Some(known.as_str()) == said) {
            entry.subtype = Some(SubtypeId(subtype));
            return Ok(());
        }
        if said == Some(shape.type_name.as_str()) {
            return Ok(());
        }
        let derived = if shape.subtypes.is_empty() { "" } else { " or one that derives from it" };
        let message = format!("expected the type {}{derived}, found {}", shape.type_name, quoted(name));
        Err(BodyError::new(position, message))
    }

    /// `@odata.id`, or the `uri` of `__metadata`.
    fn identity(&mut self, identity: Option<&mut Identity>) -> Read<()> {
        let first = self.lexer.skip_space();
        let Some(identity) = identity else { return self.skip_value() };
        if first == Some(b'"') {
            *identity = Identity::Url(self.lexer.at, self.lexer.string()?.into_owned());
            return Ok(());
        }
        if self.context.version() != Version::V2 {
            return Err(self.fault("expected the URL of an entity"));
        }
        self.open("an object")?;
        let mut more = self.first_name()?;
        while more {
            let is_url = self.plain_name()? == "uri";
            match self.lexer.skip_space() {
                Some(b'"') if is_url => *identity = Identity::Url(self.lexer.at, self.lexer.string()?.into_owned()),
                _ => self.skip_value()?,
            }
            more = self.next_name()?;
        }
        Ok(())
    }

    /// Passes over a value, which is checked all the same.
    pub(crate) fn skip_value(&mut self) -> Read<()> {
        self.lexer.skip_space();
        let rest = self.lexer.rest();
        let mut reader = Reader::within(rest, json::DEPTH_MAX);
        loop {
            reader.next().map_err(|error| Box::<BodyError>::from(error).moved(self.lexer.at))?;
            if reader.depth() == 0 {
                self.lexer.at += reader.position();
                return Ok(());
            }
        }
    }

    pub(crate) fn fault(&self, message: impl Into<String>) -> Box<BodyError> {
        BodyError::new(self.lexer.at, message)
    }
}

/// Whether a JSON string is allowed as a value of that type. Int64 and Decimal are strings where a client reads numbers
/// into doubles; V2 has strings for reals too, and takes them for all integers.
#[inline]
fn may_be_text(version: Version, primitive: Primitive, text: &str) -> bool {
    match primitive {
        Primitive::Boolean | Primitive::Collection(_) => false,
        Primitive::Byte | Primitive::SByte | Primitive::Int16 | Primitive::Int32 => version == Version::V2,
        Primitive::Single | Primitive::Double => version == Version::V2 || matches!(text, "NaN" | "INF" | "-INF"),
        _ => true,
    }
}

#[cold]
fn wrong(wrong: Wrong, protocol: Option<Version>, leaf: &Leaf, text: &str, position: usize) -> Box<BodyError> {
    BodyError::new(position, wrong.message(protocol, leaf, text))
}

#[cold]
pub(crate) fn twice(position: usize) -> Box<BodyError> {
    BodyError::new(position, "the property stands twice")
}

/// Sets a leaf to null.
pub(crate) fn null(leaf: &Leaf, entry: &mut Entry, position: usize) -> Read<()> {
    if leaf.primitive.item().is_some() {
        return Err(BodyError::new(position, "a collection cannot be null, but empty"));
    }
    if !leaf.nullable {
        return Err(BodyError::new(position, "the property cannot be null"));
    }
    entry.set_null(leaf.id);
    Ok(())
}

/// Sets all leaves of a complex property to null.
pub(crate) fn null_complex(complex: &Complex, entry: &mut Entry, position: usize) -> Read<()> {
    if !complex.nullable {
        return Err(BodyError::new(position, "the property cannot be null"));
    }
    for member in &complex.shape.members {
        if let Kind::Leaf(leaf) = &member.kind {
            if entry.is_set(leaf.id) {
                return Err(twice(position));
            }
            entry.set_null(leaf.id);
        }
    }
    Ok(())
}

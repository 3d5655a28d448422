//! The content of an entity's document, with names and columns resolved: the selected fields with complex ones grouped,
//! the links that stay links, and the key.
//!
//! Formats compile their programs from it; it writes nothing itself but the entity's address.

use std::sync::Arc;

use super::cell::{Form, Syntax};
use super::pattern::{Null, Pattern};
use super::program::Program;
use crate::edm::{
    ComplexId, EntityType, Enumeration, LeafId, Model, NavigationId, NavigationProperty, Primitive, PropertyKind,
    SetId, SubtypeId, Value, Version,
};
use crate::format::Format;
use crate::plan::{Columns, Computed, Expand, Options, Select, Shape};

/// Media type of a stream about which nothing is known except that it is bytes (RFC 2046, section 4.5.1).
const ANY_MEDIA_TYPE: &str = "application/octet-stream";

/// One entity's document, before it has a format.
#[derive(Clone)]
pub(crate) struct Outline<'m> {
    pub(crate) model: &'m Model,
    pub(crate) set: SetId,
    pub(crate) entity_type: &'m EntityType,
    pub(crate) select: &'m Select,
    pub(crate) expand: &'m [Expand],
    /// Its computed properties.
    pub(crate) computed: &'m [Computed],
    pub(crate) columns: Columns,
    /// The name of the one entity, where a URL names it by itself.
    pub(crate) singleton: Option<&'m str>,
    /// The type that the context says, where there are several.
    pub(crate) declared: SubtypeId,
    /// The type of the entity; `None` if the properties of all types are shown.
    pub(crate) subtype: Option<SubtypeId>,
}

/// A primitive of the document.
#[derive(Clone, Copy)]
pub(crate) struct Field<'m> {
    pub(crate) name: &'m str,
    pub(crate) primitive: Primitive,
    pub(crate) column: usize,
    /// The enumeration whose members are its values.
    pub(crate) enumeration: Option<&'m Arc<Enumeration>>,
}

/// A member of the entity.
pub(crate) enum Member<'m> {
    Primitive(Field<'m>),
    Complex { name: &'m str, complex: ComplexId, fields: Vec<Field<'m>> },
}

impl<'m> Outline<'m> {
    pub(crate) fn new(model: &'m Model, set: SetId, select: &'m Select, expand: &'m [Expand]) -> Outline<'m> {
        let entity_type = model.type_of(set);
        Outline {
            model,
            set,
            entity_type,
            select,
            expand,
            computed: &[],
            columns: Columns::new(entity_type, select, expand),
            singleton: None,
            declared: SubtypeId::ROOT,
            subtype: None,
        }
    }

    /// The same under all options. Computed properties, the singleton and the type that the path casts to are V4's.
    pub(crate) fn under(model: &'m Model, set: SetId, format: Format, options: &'m Options) -> Outline<'m> {
        let outline = Outline::new(model, set, &options.select, &options.expand);
        if !matches!(format, Format::V4Json { .. }) {
            return outline;
        }
        let singleton = options.singleton.map(|index| model.singletons[index].name.as_str());
        Outline { computed: &options.compute, singleton, declared: options.subtype, ..outline }
    }

    pub(crate) fn set_name(&self) -> &'m str {
        &self.model.entity_sets[self.set.0].name
    }

    /// The entity type with its namespace.
    pub(crate) fn type_name(&self) -> String {
        self.model.qualified(self.entity_type, self.subtype.unwrap_or_default())
    }

    pub(crate) fn complex_name(&self, complex: ComplexId) -> String {
        format!("{}.{}", self.model.namespace, self.model.complex_types[complex.0].name)
    }

    /// The members that a version shows, in order; neighbouring leaves of one complex property are one member.
    pub(crate) fn members(&self, version: Version) -> Vec<Member<'m>> {
        let mut members: Vec<(usize, Member<'m>)> = Vec::new();
        let leaf = |column: usize| &self.entity_type.leaves[self.columns.leaves[column].0];
        let has = |leaf| self.subtype.is_none_or(|subtype| self.entity_type.has(subtype, leaf));
        let shown = |column: &usize| {
            has(self.columns.leaves[*column]) && (version == Version::V4 || leaf(*column).primitive.item().is_none())
        };
        for column in (0..self.columns.shown).filter(shown) {
            let (property, member) = self.member(column);
            match (members.last_mut(), member) {
                (Some((last, Member::Complex { fields, .. })), Member::Complex { fields: more, .. })
                    if *last == property =>
                {
                    fields.extend(more);
                }
                (_, member) => members.push((property, member)),
            }
        }
        let computed = Computed::shown(self.computed).enumerate().map(|(index, computed)| {
            let column = self.columns.leaves.len() + index;
            let enumeration = computed.enumeration.map(|id| &self.model.enumerations[id.0]);
            Member::Primitive(Field { name: &computed.name, primitive: computed.primitive, column, enumeration })
        });
        members.into_iter().map(|(_, member)| member).chain(computed).collect()
    }

    fn member(&self, column: usize) -> (usize, Member<'m>) {
        let leaf = &self.entity_type.leaves[self.columns.leaves[column].0];
        let property = &self.entity_type.properties[leaf.property];
        let enumeration = leaf.enumeration.map(|enumeration| &self.model.enumerations[enumeration.0]);
        let field = |name| Field { name, primitive: leaf.primitive, column, enumeration };
        let member = match (property.kind, leaf.inner) {
            (PropertyKind::Complex(complex), Some(inner)) => {
                let name = &self.model.complex_types[complex.0].properties[inner].name;
                Member::Complex { name: &property.name, complex, fields: vec![field(name)] }
            }
            _ => Member::Primitive(field(&property.name)),
        };
        (leaf.property, member)
    }

    /// One property or leaf of the entity with its path, as far as the row has it.
    pub(crate) fn part(&self, shape: Shape) -> Option<(String, Member<'m>)> {
        let leaves = &self.entity_type.leaves;
        match shape {
            Shape::Property(property) => {
                let mut columns = (0..self.columns.leaves.len())
                    .filter(|column| leaves[self.columns.leaves[*column].0].property == property);
                let mut whole = self.member(columns.next()?).1;
                for column in columns {
                    if let (Member::Complex { fields, .. }, (_, Member::Complex { fields: more, .. })) =
                        (&mut whole, self.member(column))
                    {
                        fields.extend(more);
                    }
                }
                Some((self.entity_type.properties[property].name.clone(), whole))
            }
            Shape::Leaf(leaf) | Shape::RawValue(leaf) => {
                let field = match self.member(self.columns.of(leaf)?).1 {
                    Member::Primitive(field) => field,
                    Member::Complex { fields, .. } => fields[0],
                };
                Some((leaves[leaf.0].path.clone(), Member::Primitive(field)))
            }
            Shape::Collection | Shape::Entity | Shape::Count | Shape::Stream => None,
        }
    }

    /// Whether entities of a type have a navigation property.
    fn has_navigation(&self, subtype: SubtypeId, id: NavigationId) -> bool {
        self.entity_type.is_a(subtype, self.entity_type.declares_navigation(id))
    }

    /// The types of rows: the column with the discriminator, its values, and the position of the type for each.
    pub(crate) fn kinds(&self) -> Option<(usize, Vec<(Value, usize)>)> {
        let hierarchy = self.entity_type.hierarchy.as_ref()?;
        let column = self.columns.of(hierarchy.discriminator).expect("the columns of an entity hold its type");
        let subtypes = hierarchy.subtypes.iter().enumerate();
        Some((column, subtypes.filter_map(|(at, subtype)| Some((subtype.stored.clone()?, at))).collect()))
    }

    /// The entity as one of each of its types.
    pub(crate) fn of_each_type(&self) -> impl Iterator<Item = Outline<'m>> {
        let subtypes = self.entity_type.hierarchy.as_ref().map_or(0, |hierarchy| hierarchy.subtypes.len());
        (0..subtypes).map(|at| Outline { subtype: Some(SubtypeId(at)), ..self.clone() })
    }

    /// Whether each type's entities have an expansion; `None` if all have it.
    pub(crate) fn expanded_by(&self, expand: &Expand) -> Option<Box<[bool]>> {
        let hierarchy = self.entity_type.hierarchy.as_ref()?;
        let has = |at: usize| {
            let subtype = SubtypeId(at);
            hierarchy.is_a(subtype, expand.of) && self.has_navigation(subtype, expand.navigation)
        };
        let by: Box<[bool]> = (0..hierarchy.subtypes.len()).map(has).collect();
        by.contains(&false).then_some(by)
    }

    /// The path between the address of an entity and the name of a property which that type declares.
    pub(crate) fn cast_from_set(&self, subtype: SubtypeId) -> String {
        cast_from(self.model, self.entity_type, SubtypeId::ROOT, subtype)
    }

    /// The type that declares the property or leaf of a shape.
    pub(crate) fn declares_part(&self, shape: Shape) -> SubtypeId {
        match (shape, &self.entity_type.hierarchy) {
            (Shape::Property(property), Some(hierarchy)) => hierarchy.declares(property),
            (Shape::Leaf(leaf) | Shape::RawValue(leaf), _) => self.entity_type.declares(leaf),
            _ => SubtypeId::ROOT,
        }
    }

    /// Navigation properties that are shown as links.
    pub(crate) fn links(&self) -> impl Iterator<Item = (NavigationId, &'m NavigationProperty)> {
        let shown = |id: NavigationId| {
            let selected = match self.select {
                Select::All => true,
                Select::Only { navigation, .. } => navigation.contains(&id),
            };
            let has = self.subtype.is_none_or(|subtype| self.has_navigation(subtype, id));
            selected && has && !self.expand.iter().any(|expand| expand.navigation == id)
        };
        let navigation = self.entity_type.navigation.iter().enumerate();
        navigation.map(|(position, navigation)| (NavigationId(position), navigation)).filter(move |(id, _)| shown(*id))
    }

    /// The columns of the key.
    fn key_columns(&self) -> impl Iterator<Item = (LeafId, usize)> {
        let column = |leaf: LeafId| self.columns.of(leaf).expect("the columns of an entity hold its key");
        self.entity_type.key.iter().map(move |leaf| (*leaf, column(*leaf)))
    }

    /// Whether a client can compute the address from the shown properties.
    pub(crate) fn shows_key(&self) -> bool {
        self.key_columns().all(|(_, column)| column < self.columns.shown)
    }

    /// The entity's address below the service root: set and key as [`crate::url`] reads them, percent-encoded so that
    /// it is valid in a URL, in XML and in JSON.
    pub(crate) fn address(&self, version: Version) -> Program {
        let mut program = Program::default();
        program.texts(&[self.set_name(), "("]);
        let several = self.entity_type.key.len() > 1;
        for (part, (leaf, column)) in self.key_columns().enumerate() {
            let leaf = &self.entity_type.leaves[leaf.0];
            if part > 0 {
                program.text(",");
            }
            if several {
                program.texts(&[&leaf.path, "="]);
            }
            url_literal(&mut program, version, leaf.primitive, column);
        }
        program.text(")");
        program
    }

    /// The media type of the entity's stream, in the form that its place in the document needs.
    pub(crate) fn media_type(&self, form: Form) -> Program {
        let mut program = Program::default();
        match self.entity_type.media_type {
            Some(leaf) => {
                let column = self.columns.of(leaf).expect("the columns of an entity hold its media type");
                let size = typical_size(self.entity_type.leaves[leaf.0].primitive);
                let pattern = Pattern { before: "", form, after: "" };
                program.value(column, size, pattern, Null { take_back: 0, skip: 0, text: ANY_MEDIA_TYPE }, "");
            }
            None => {
                program.text(ANY_MEDIA_TYPE);
            }
        }
        program
    }

    /// The literal that changes when the entity does.
    pub(crate) fn etag(&self, version: Version) -> Option<Program> {
        let leaf = self.entity_type.etag?;
        let column = self.columns.of(leaf).expect("the columns of an entity hold its ETag");
        let mut program = Program::default();
        url_literal(&mut program, version, self.entity_type.leaves[leaf.0].primitive, column);
        Some(program)
    }
}

/// The cast with its slash that makes a property of `subtype` one that entities have which are seen as `declared`.
pub(crate) fn cast_from(model: &Model, entity_type: &EntityType, declared: SubtypeId, subtype: SubtypeId) -> String {
    match entity_type.is_a(declared, subtype) {
        true => String::new(),
        false => format!("{}/", model.qualified(entity_type, subtype)),
    }
}

/// Writes one value as a literal of a URL. Texts, GUIDs and dates, the usual key types, have static quotes and types
/// around them; the other types are written whole.
fn url_literal(program: &mut Program, version: Version, primitive: Primitive, column: usize) {
    let pattern = match (primitive, version) {
        (Primitive::String { .. }, _) => Pattern { before: "'", form: Form::UrlText, after: "'" },
        (Primitive::Guid, Version::V2) => Pattern { before: "guid'", form: Form::UrlText, after: "'" },
        (Primitive::Guid, Version::V4) => Pattern { before: "", form: Form::UrlText, after: "" },
        (Primitive::Date, Version::V2) => Pattern { before: "datetime'", form: Form::UrlText, after: "T00%3A00%3A00'" },
        (Primitive::Date, Version::V4) => Pattern { before: "", form: Form::UrlText, after: "" },
        (Primitive::Byte | Primitive::SByte | Primitive::Int16 | Primitive::Int32, _) => {
            Pattern { before: "", form: Form::Integer(Syntax::Plain), after: "" }
        }
        _ => Pattern { before: "", form: Form::UrlLiteral(version, primitive), after: "" },
    };
    let null = Null { take_back: pattern.before.len() as u16, skip: pattern.after.len() as u16, text: "null" };
    program.value(column, typical_size(primitive), pattern, null, "");
}

/// Typical size of a value, in bytes. It only guides how much room is reserved, and the padding of plain XML.
pub(crate) fn typical_size(primitive: Primitive) -> usize {
    match primitive {
        Primitive::Boolean => 5,
        Primitive::Byte | Primitive::SByte => 1,
        Primitive::Int16 | Primitive::Int32 => 3,
        Primitive::Int64 | Primitive::Single | Primitive::Double => 10,
        Primitive::Decimal { precision, scale } => usize::from(precision / 2 + scale.min(4)).clamp(4, 12),
        Primitive::String { length_max } => match length_max as usize {
            0 => 20,
            short @ ..=8 => short,
            long => (long / 2).clamp(8, 40),
        },
        Primitive::Binary { .. } => 32,
        Primitive::Guid => 36,
        Primitive::Date => 10,
        Primitive::DateTime { .. } | Primitive::DateTimeOffset { .. } => 20,
        Primitive::TimeOfDay { .. } | Primitive::Duration => 11,
        Primitive::Collection(item) => 4 * typical_size(item.primitive()),
    }
}

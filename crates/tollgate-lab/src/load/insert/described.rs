//! An entity set as the `$metadata` of its service describes it, as far as needed to generate a record (CSDL XML of
//! OData V2 and V4).
//!
//! It draws no values.

use std::collections::BTreeSet;

use serde_json::Value;
use tollgate_facts::names::did_you_mean;
use tollgate_wire::edm::{Primitive, Version};
use tollgate_xml::tree::{NodeId, NodeKind};
use tollgate_xml::{Document, Options};

use crate::traffic::given::GivenRecords;
use crate::traffic::places::OwnRecord;

/// Depth of type inheritance, at most: stops at a type that derives from itself.
const BASES_MAX: usize = 32;

/// An entity set and the properties of a new entity.
#[derive(Debug)]
pub(crate) struct Described {
    /// The version of OData that the service speaks.
    pub(crate) version: Version,
    /// The properties to send, in the order of the document.
    pub(crate) properties: Vec<Property>,
}

/// A property to send.
#[derive(Debug, PartialEq)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) is_key: bool,
    /// Source of its value; absent if it is drawn.
    pub(crate) said: Option<Said>,
    /// The place of a value for it, if it names another entity.
    pub(crate) refers: Option<Reference>,
}

/// Source of a property's value that the user gives.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Said {
    /// One value for all records.
    OfAll(Value),
    /// The user's file, for all records or some.
    InFile,
}

/// Type of a property's values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Plain(Primitive),
    /// An enumeration, with the names of its members.
    Members(Vec<String>),
    /// Any other type: its value must be given.
    Other,
}

/// A property of another entity set.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reference {
    pub(crate) set: String,
    pub(crate) property: String,
}

/// Reads the entity set with this name. Beside the user's properties it has those that a client may and must send: none
/// that the service computes or has a default for, and no optional one that names another entity, is a list or is
/// structured. Records from a file get no optional ones at all.
///
/// # Errors
/// A missing description, or a property that cannot be generated.
pub(crate) fn read(metadata: &[u8], set: &str, own: &OwnRecord) -> Result<Described, String> {
    let parsed = Document::parse_bytes(metadata, &Options::default());
    let document = parsed.map_err(|error| format!("the answer is no XML: {error}"))?;
    let root = document.document_element().filter(|root| document.local_name(*root) == "Edmx");
    let root = root.ok_or("the answer is no description of an OData service")?;
    let csdl = Csdl { document: &document, root };
    let version = match csdl.attribute(root, "Version") {
        Some(version) if version.starts_with('4') => Version::V4,
        _ => Version::V2,
    };
    csdl.entity_set(set, version, own)
}

struct Csdl<'d> {
    document: &'d Document<'d>,
    root: NodeId,
}

/// A type with all its names.
struct Declared {
    element: NodeId,
    names: Vec<String>,
}

impl<'d> Csdl<'d> {
    fn entity_set(&self, name: &str, version: Version, own: &OwnRecord) -> Result<Described, String> {
        let sets = || self.containers().flat_map(|container| self.elements(container, "EntitySet"));
        let set = sets().find(|set| self.attribute(*set, "Name") == Some(name)).ok_or_else(|| {
            let help = did_you_mean(name, sets().filter_map(|set| self.attribute(set, "Name")));
            format!("there is no entity set `{name}`: {help}")
        })?;
        let chain = self.chain(self.attribute(set, "EntityType").unwrap_or_default())?;
        let key: BTreeSet<&str> = chain
            .iter()
            .flat_map(|declared| self.elements(declared.element, "Key"))
            .flat_map(|key| self.elements(key, "PropertyRef"))
            .filter_map(|part| self.attribute(part, "Name"))
            .collect();
        let (mut properties, mut known) = (Vec::new(), Vec::new());
        let named = own.file.as_ref().map(|file| file.names()).unwrap_or_default();
        for declared in &chain {
            for element in self.elements(declared.element, "Property") {
                let Some(name) = self.attribute(element, "Name") else { continue };
                known.push(name);
                if let Some(file) = own.file.as_ref().filter(|_| key.contains(name) && named.contains(&name)) {
                    // How a service compares keys is its own: one that a file says could be that of somebody else's row.
                    let place = file.place(name, None);
                    let help = "which is drawn for each record: leave it out";
                    return Err(format!("{place}: `{name}` is part of the key, {help}"));
                }
                let refers = self.reference(&chain, set, name);
                let said = match own.values.get(name) {
                    Some(value) => Some(Said::OfAll(value.clone())),
                    None => named.contains(&name).then_some(Said::InFile),
                };
                let property = (name, key.contains(name));
                properties.extend(self.property(declared, element, property, refers, (said, own.file.as_deref()))?);
            }
        }
        let all = own.values.keys().map(String::as_str).chain(named);
        if let Some(unknown) = all.into_iter().find(|name| !known.contains(name)) {
            let help = did_you_mean(unknown, known);
            let file = own.file.as_ref().filter(|_| !own.values.contains_key(unknown));
            let place = file.map(|file| format!("{}: ", file.place(unknown, None))).unwrap_or_default();
            return Err(format!("{place}`{name}` has no property `{unknown}`: {help}"));
        }
        Ok(Described { version, properties })
    }

    /// Creates a property, if it is to be sent.
    fn property(
        &self,
        declared: &Declared,
        element: NodeId,
        (name, is_key): (&str, bool),
        refers: Option<Option<Reference>>,
        (said, file): (Option<Said>, Option<&GivenRecords>),
    ) -> Result<Option<Property>, String> {
        let terms = self.annotations(declared, element, name);
        let is_on = |annotation: &&NodeId| self.attribute(**annotation, "Bool") != Some("false");
        let of_term = |term: &'static str| {
            let is_it = move |node: &&NodeId| self.attribute(**node, "Term").is_some_and(|of| of.ends_with(term));
            terms.iter().filter(is_it)
        };
        let says = |term, member: &str| {
            of_term(term).any(|node| self.attribute(*node, "EnumMember").is_some_and(|said| said.ends_with(member)))
        };
        let is_computed = of_term(".Computed").any(|node| is_on(&node))
            || says(".Permissions", "/Read")
            || self.attribute(element, "creatable") == Some("false");
        let is_needed = self.attribute(element, "Nullable") == Some("false") || says(".FieldControl", "/Mandatory");
        let default = self.attribute(element, "DefaultValue");
        if said.is_none() && is_key && is_computed {
            return Err(format!("the service makes the key `{name}` itself, so that no record could be found again"));
        }
        if let (Some(Said::InFile), Some(file), true) = (&said, file, is_computed) {
            let place = file.place(name, None);
            return Err(format!("{place}: the service makes `{name}` itself: leave it out"));
        }
        let is_left_out = is_computed || default.is_some() || (refers.is_some() || file.is_some()) && !is_needed;
        if said.is_none() && !is_key && is_left_out {
            return Ok(None);
        }
        let written = self.attribute(element, "Type").unwrap_or_default();
        let kind = self.kind(written, element);
        let said = match (&kind, said, default) {
            (_, Some(said), _) => Some(said),
            // A key that says whether an entity is a draft, or the like: its usual value.
            (Kind::Plain(Primitive::Boolean), None, default) if is_key => {
                Some(Said::OfAll(Value::Bool(default != Some("false"))))
            }
            (Kind::Other, None, _) if is_key || is_needed && !written.starts_with("Collection(") => {
                return Err(format!("the property `{name}` is of type {written}: give its value"));
            }
            (Kind::Other, None, _) => return Ok(None),
            _ => None,
        };
        Ok(Some(Property { name: name.to_owned(), kind, is_key, said, refers: refers.flatten() }))
    }

    /// Returns the type with this qualified name, after its base types.
    fn chain(&self, name: &str) -> Result<Vec<Declared>, String> {
        let (mut chain, mut next) = (Vec::new(), Some(name));
        while let Some(name) = next.filter(|_| chain.len() < BASES_MAX) {
            let declared = self.declared("EntityType", name).ok_or_else(|| format!("there is no type `{name}`"))?;
            next = self.attribute(declared.element, "BaseType");
            chain.insert(0, declared);
        }
        Ok(chain)
    }

    /// Finds the declaration with this element name and qualified name.
    fn declared(&self, element: &str, qualified: &str) -> Option<Declared> {
        let (namespace, name) = qualified.rsplit_once('.')?;
        self.schemas().find_map(|schema| {
            let own = ["Namespace", "Alias"].map(|attribute| self.attribute(schema, attribute));
            own.contains(&Some(namespace)).then_some(())?;
            let found = self.elements(schema, element).find(|found| self.attribute(*found, "Name") == Some(name))?;
            let names = own.iter().flatten().map(|namespace| format!("{namespace}.{name}")).collect();
            Some(Declared { element: found, names })
        })
    }

    /// Returns the annotations of a property, inside it or elsewhere.
    fn annotations(&self, declared: &Declared, element: NodeId, name: &str) -> Vec<NodeId> {
        let targets: Vec<String> = declared.names.iter().map(|of| format!("{of}/{name}")).collect();
        let is_its =
            |group: &NodeId| self.attribute(*group, "Target").is_some_and(|of| targets.iter().any(|own| own == of));
        let elsewhere = self.schemas().flat_map(|schema| self.elements(schema, "Annotations")).filter(is_its);
        [element].into_iter().chain(elsewhere).flat_map(|at| self.elements(at, "Annotation")).collect()
    }

    /// Returns `Some` if a property names another entity, with the set and property where such values are found, if
    /// stated.
    fn reference(&self, chain: &[Declared], set: NodeId, property: &str) -> Option<Option<Reference>> {
        let links = || chain.iter().flat_map(|declared| self.elements(declared.element, "NavigationProperty"));
        // V4: the navigation property has the constraint, and the set binds it.
        for link in links() {
            let mut constraints = self.elements(link, "ReferentialConstraint");
            let Some(own) = constraints.find(|one| self.attribute(*one, "Property") == Some(property)) else {
                continue;
            };
            let path = self.attribute(link, "Name");
            let mut bindings = self.elements(set, "NavigationPropertyBinding");
            let bound = bindings.find(|binding| self.attribute(*binding, "Path") == path);
            let target = bound.and_then(|binding| self.attribute(binding, "Target"));
            return Some(target.zip(self.attribute(own, "ReferencedProperty")).map(|(set, property)| Reference {
                set: set.rsplit('/').next().unwrap_or(set).to_owned(),
                property: property.to_owned(),
            }));
        }
        // V2: an association has it, whose ends are bound by an association set.
        links().find_map(|link| {
            let association = self.attribute(link, "Relationship")?;
            let declared = self.declared("Association", association)?;
            let constraint = self.elements(declared.element, "ReferentialConstraint").next()?;
            let end = |name: &str| self.elements(constraint, name).next();
            let names = |end: NodeId| self.elements(end, "PropertyRef").map(|part| self.attribute(part, "Name"));
            let (dependent, principal) = (end("Dependent")?, end("Principal")?);
            (self.attribute(dependent, "Role") == self.attribute(link, "FromRole")).then_some(())?;
            let place = names(dependent).position(|name| name == Some(property))?;
            let role = self.attribute(principal, "Role");
            let sets = self.containers().flat_map(|container| self.elements(container, "AssociationSet"));
            let target = sets
                .filter(|set| {
                    self.attribute(*set, "Association").is_some_and(|of| declared.names.iter().any(|name| name == of))
                })
                .flat_map(|set| self.elements(set, "End"))
                .find(|end| self.attribute(*end, "Role") == role);
            let target = target.and_then(|end| self.attribute(end, "EntitySet"));
            let there = names(principal).nth(place).flatten();
            Some(
                target
                    .zip(there)
                    .map(|(set, property)| Reference { set: set.to_owned(), property: property.to_owned() }),
            )
        })
    }

    fn kind(&self, written: &str, element: NodeId) -> Kind {
        let number = |name: &str| self.attribute(element, name).and_then(|text| text.parse::<u32>().ok());
        let length_max = number("MaxLength").unwrap_or(0);
        let plain = match written.strip_prefix("Edm.") {
            Some("Boolean") => Primitive::Boolean,
            Some("Byte") => Primitive::Byte,
            Some("SByte") => Primitive::SByte,
            Some("Int16") => Primitive::Int16,
            Some("Int32") => Primitive::Int32,
            Some("Int64") => Primitive::Int64,
            Some("Single") => Primitive::Single,
            Some("Double") => Primitive::Double,
            Some("Decimal") => {
                let digits = |name: &str| number(name).and_then(|digits| u16::try_from(digits).ok()).unwrap_or(0);
                Primitive::Decimal { precision: digits("Precision"), scale: digits("Scale") }
            }
            Some("String") => Primitive::String { length_max },
            Some("Binary") => Primitive::Binary { length_max },
            Some("Guid") => Primitive::Guid,
            Some("Date") => Primitive::Date,
            Some("DateTime") => Primitive::DateTime { precision: 0 },
            Some("DateTimeOffset") => Primitive::DateTimeOffset { precision: 0 },
            Some("TimeOfDay" | "Time") => Primitive::TimeOfDay { precision: 0 },
            Some("Duration") => Primitive::Duration,
            Some(_) => return Kind::Other,
            None => return self.own_kind(written),
        };
        Kind::Plain(plain)
    }

    /// Returns the kind of a type that the service declares itself.
    fn own_kind(&self, written: &str) -> Kind {
        if let Some(declared) = self.declared("EnumType", written) {
            let members = self.elements(declared.element, "Member");
            let names: Vec<String> = members.filter_map(|one| self.attribute(one, "Name")).map(str::to_owned).collect();
            return if names.is_empty() { Kind::Other } else { Kind::Members(names) };
        }
        match self.declared("TypeDefinition", written) {
            Some(declared) => match self.attribute(declared.element, "UnderlyingType") {
                Some(under) if under.starts_with("Edm.") => self.kind(under, declared.element),
                _ => Kind::Other,
            },
            None => Kind::Other,
        }
    }

    fn schemas(&self) -> impl Iterator<Item = NodeId> {
        self.elements(self.root, "DataServices").flat_map(|services| self.elements(services, "Schema"))
    }

    fn containers(&self) -> impl Iterator<Item = NodeId> {
        self.schemas().flat_map(|schema| self.elements(schema, "EntityContainer"))
    }

    fn elements(&self, of: NodeId, name: &str) -> impl Iterator<Item = NodeId> {
        let document = self.document;
        let is_it = |node: &NodeId| document.kind(*node) == NodeKind::Element && document.local_name(*node) == name;
        document.children(of).filter(is_it).collect::<Vec<_>>().into_iter()
    }

    /// Returns an attribute by its local name.
    fn attribute(&self, of: NodeId, name: &str) -> Option<&'d str> {
        let document = self.document;
        document.attributes(of).find(|node| document.local_name(*node) == name).map(|node| document.value(node))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use super::*;

    pub(in crate::load::insert) const BOOKS: &[u8] = br#"<edmx:Edmx Version="4.0"
        xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Admin" Alias="Self" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityContainer Name="C"><EntitySet Name="Books" EntityType="Admin.Book">
        <NavigationPropertyBinding Path="author" Target="Authors"/></EntitySet>
        <EntitySet Name="Authors" EntityType="Admin.Author"/></EntityContainer>
        <EntityType Name="Managed" Abstract="true"><Property Name="createdAt" Type="Edm.DateTimeOffset"/></EntityType>
        <EntityType Name="Book" BaseType="Self.Managed"><Key><PropertyRef Name="ID"/><PropertyRef Name="IsActive"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="IsActive" Type="Edm.Boolean" Nullable="false" DefaultValue="true"/>
        <Property Name="hasDraft" Type="Edm.Boolean" Nullable="false" DefaultValue="false"/>
        <NavigationProperty Name="author" Type="Admin.Author"><ReferentialConstraint Property="author_ID"
            ReferencedProperty="ID"/></NavigationProperty>
        <NavigationProperty Name="genre" Type="Admin.Genre"><ReferentialConstraint Property="genre_ID"
            ReferencedProperty="ID"/></NavigationProperty>
        <Property Name="author_ID" Type="Edm.Int32"/><Property Name="genre_ID" Type="Edm.Guid"/>
        <Property Name="title" Type="Edm.String" MaxLength="30"/>
        <Property Name="price" Type="Edm.Decimal" Precision="9" Scale="2"/>
        <Property Name="state" Type="Self.State"/><Property Name="tags" Type="Collection(Edm.String)" Nullable="false"/>
        <Property Name="image" Type="Edm.Stream"/></EntityType>
        <EntityType Name="Author"/><EnumType Name="State"><Member Name="New" Value="0"/><Member Name="Old"/></EnumType>
        <Annotations Target="Self.Book/author_ID"><Annotation Term="Common.FieldControl"
            EnumMember="Common.FieldControlType/Mandatory"/></Annotations>
        <Annotations Target="Admin.Managed/createdAt"><Annotation Term="Core.Computed" Bool="true"/></Annotations>
        </Schema></edmx:DataServices></edmx:Edmx>"#;

    pub(in crate::load::insert) const ITEMS: &[u8] = br#"<edmx:Edmx Version="1.0"
        xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices>
        <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"
            xmlns:sap="http://www.sap.com/Protocols/SAPData">
        <EntityType Name="Item"><Key><PropertyRef Name="Order"/><PropertyRef Name="Position"/></Key>
        <Property Name="Order" Type="Edm.String" Nullable="false" MaxLength="10"/>
        <Property Name="Position" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Due" Type="Edm.DateTime"/><Property Name="At" Type="Edm.Time"/>
        <Property Name="Amount" Type="Edm.Decimal" Precision="13" Scale="3"/>
        <Property Name="ChangedBy" Type="Edm.String" sap:creatable="false"/>
        <NavigationProperty Name="ToOrder" Relationship="N.Items" FromRole="item" ToRole="order"/></EntityType>
        <Association Name="Items"><End Type="N.Order" Multiplicity="1" Role="order"/><ReferentialConstraint>
        <Principal Role="order"><PropertyRef Name="Number"/></Principal>
        <Dependent Role="item"><PropertyRef Name="Order"/></Dependent></ReferentialConstraint></Association>
        <EntityContainer Name="C"><EntitySet Name="Items" EntityType="N.Item"/><EntitySet Name="Orders"
            EntityType="N.Order"/><AssociationSet Name="S" Association="N.Items"><End EntitySet="Orders" Role="order"/>
            <End EntitySet="Items" Role="item"/></AssociationSet></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>"#;

    /// Creates a record from these values, and a file with this name and text.
    pub(in crate::load::insert) fn own(values: &str, file: Option<(&str, &str)>) -> OwnRecord {
        let file = file.map(|(name, text)| Arc::new(GivenRecords::parse(name, text.to_owned()).unwrap()));
        OwnRecord { values: serde_json::from_str(values).unwrap(), file }
    }

    fn told(described: &Described) -> Vec<String> {
        let one = |property: &Property| {
            let key = if property.is_key { "key " } else { "" };
            let given = match &property.said {
                None => String::new(),
                Some(Said::OfAll(value)) => format!(" = {value}"),
                Some(Said::InFile) => " in file".to_owned(),
            };
            let refers = property.refers.as_ref().map(|to| format!(" of {}/{}", to.set, to.property));
            format!("{key}{}{given}{}", property.name, refers.unwrap_or_default())
        };
        described.properties.iter().map(one).collect()
    }

    #[test]
    fn what_a_client_must_know_is_sent_and_what_the_service_makes_is_not() {
        let check = |metadata: &[u8], set: &str, values: &str, expected: &[&str]| {
            assert_eq!(told(&read(metadata, set, &own(values, None)).unwrap()), expected, "{set} {values}");
        };
        let usual = ["key ID", "key IsActive = true", "author_ID of Authors/ID", "title", "price", "state"];
        check(BOOKS, "Books", "{}", &usual);
        let some =
            ["key ID", "key IsActive = true", "author_ID = 7 of Authors/ID", "title", "price", "state", "tags = []"];
        check(BOOKS, "Books", r#"{"author_ID":7,"tags":[]}"#, &some);
        check(ITEMS, "Items", "{}", &["key Order of Orders/Number", "key Position", "Due", "At", "Amount"]);
    }

    #[test]
    fn of_records_in_a_file_is_sent_what_they_say_and_what_must_be_known() {
        let read = |file: (&str, &str)| read(BOOKS, "Books", &own("{\"price\": 5}", Some(file)));
        let expected = ["key ID", "key IsActive = true", "author_ID of Authors/ID", "title in file", "price = 5"];
        assert_eq!(told(&read(("b.csv", "title\nOne\n")).unwrap()), expected);
        let all = read(("b.json", r#"[{}, {"title": "", "author_ID": 1, "tags": []}]"#)).unwrap();
        let expected = ["key ID", "key IsActive = true", "author_ID in file of Authors/ID", "title in file"];
        assert_eq!(told(&all), [&expected[..], &["price = 5", "tags in file"]].concat());
        let unknown = "b.csv, line 1, column 2: `Books` has no property `titel`: did you mean `title`?";
        assert_eq!(read(("b.csv", "price,titel\n1,One\n")).unwrap_err(), unknown);
        let computed = "b.csv, line 1, column 1: the service makes `createdAt` itself: leave it out";
        assert_eq!(read(("b.csv", "createdAt\n1\n")).unwrap_err(), computed);
    }

    #[test]
    fn a_file_says_no_part_of_the_key() {
        let check = |metadata: &[u8], set: &str, values: &str, file: (&str, &str), place: &str, name: &str| {
            let error = read(metadata, set, &own(values, Some(file))).unwrap_err();
            let told = format!("{place}: `{name}` is part of the key, which is drawn for each record: leave it out");
            assert_eq!(error, told);
        };
        check(BOOKS, "Books", "{}", ("b.csv", "title,ID\nOne,1\n"), "b.csv, line 1, column 2", "ID");
        check(BOOKS, "Books", "{}", ("b.csv", "IsActive\ntrue\n"), "b.csv, line 1, column 1", "IsActive");
        check(BOOKS, "Books", "{}", ("b.json", r#"[{}, {"ID": null}]"#), "b.json, record 2", "ID");
        check(BOOKS, "Books", "{}", ("b.json", r#"{"ID": "{{unique}}"}"#), "b.json", "ID");
        // Nor does it where `values` say that part, or where it names another entity.
        check(BOOKS, "Books", r#"{"ID": 5}"#, ("b.csv", "ID\n1\n"), "b.csv, line 1, column 1", "ID");
        check(ITEMS, "Items", "{}", ("i.csv", "Due,Order\n,7\n"), "i.csv, line 1, column 2", "Order");
    }

    #[test]
    fn what_cannot_be_made_is_said() {
        let check = |metadata: &[u8], set: &str, values: &str, expected: &str| {
            let error = read(metadata, set, &own(values, None)).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check(BOOKS, "Book", "{}", "there is no entity set `Book`: did you mean `Books`?");
        check(BOOKS, "Books", r#"{"titel":"x"}"#, "`Books` has no property `titel`: did you mean `title`?");
        check(b"{}", "Books", "{}", "the answer is no XML");
        check(b"<html/>", "Books", "{}", "the answer is no description of an OData service");
        let needed = String::from_utf8_lossy(BOOKS).replace("Edm.Stream\"", "Edm.GeographyPoint\" Nullable=\"false\"");
        check(needed.as_bytes(), "Books", "{}", "the property `image` is of type Edm.GeographyPoint: give its value");
    }
}

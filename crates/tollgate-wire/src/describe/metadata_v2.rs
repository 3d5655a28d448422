//! `$metadata` of OData V2 (EDMX 1.0, CSDL 2008/09) as SAP Gateway writes it, with `sap:` annotations.
//!
//! An annotation is written only where it differs from SAP's default (SAP annotations for OData V2, version 2.0). The
//! walk reads the declarations of the model.

use super::walk::{
    Form, NavigationElement, OperationElement, PropertyElement, SetElement, TypeElement, qualified, several, walk,
};
use crate::edm::{
    Annotations, Association, AssociationEnd, Changes, EntityType, FunctionMethod, LeafId, Model, Multiplicity,
    NavigationProperty, Primitive, PropertyKind, Provided, Version,
};
use crate::syntax::tag::{DECLARATION, close, empty, open};

const EDMX: &str = "http://schemas.microsoft.com/ado/2007/06/edmx";
const METADATA: &str = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata";
const SAP: &str = "http://www.sap.com/Protocols/SAPData";
const EDM: &str = "http://schemas.microsoft.com/ado/2008/09/edm";
const VERSION: (&str, &str) = ("sap:content-version", "1");

/// Writes the document.
pub fn write(model: &Model, out: &mut Vec<u8>) {
    walk(model, &mut Edmx { out });
}

struct Edmx<'o> {
    out: &'o mut Vec<u8>,
}

impl Form for Edmx<'_> {
    fn version(&self) -> Version {
        Version::V2
    }

    fn begin(&mut self, model: &Model) {
        let out = &mut *self.out;
        out.extend_from_slice(DECLARATION.as_bytes());
        open(out, "edmx:Edmx", &[("Version", "1.0"), ("xmlns:edmx", EDMX), ("xmlns:m", METADATA), ("xmlns:sap", SAP)]);
        open(out, "edmx:DataServices", &[("m:DataServiceVersion", "2.0")]);
        let schema =
            [("Namespace", model.namespace.as_str()), ("xml:lang", "en"), ("sap:schema-version", "1"), ("xmlns", EDM)];
        open(out, "Schema", &schema);
    }

    fn entity_type(&mut self, declared: &TypeElement<'_>) {
        let entity_type = declared.entity_type;
        let mut attributes = vec![("Name", declared.name)];
        if entity_type.media {
            attributes.push(("m:HasStream", "true"));
        }
        if let Some(label) = &entity_type.label {
            attributes.push(("sap:label", label));
        }
        attributes.push(VERSION);
        open(self.out, "EntityType", &attributes);
        open(self.out, "Key", &[]);
        references(self.out, entity_type, &entity_type.key);
        close(self.out, "Key");
    }

    fn complex_type(&mut self, name: &str) {
        open(self.out, "ComplexType", &[("Name", name)]);
    }

    fn property(&mut self, declared: &PropertyElement<'_>) {
        let PropertyElement { property, type_of, default, .. } = declared;
        let (kind, facets) = (type_of.name(Version::V2), type_of.facets(Version::V2));
        let mut attributes = vec![("Name", property.name.as_str()), ("Type", kind.as_str())];
        if !property.nullable {
            attributes.push(("Nullable", "false"));
        }
        attributes.extend(facets.iter().map(|(name, value)| (*name, value.as_str())));
        attributes.extend(default.as_deref().map(|value| ("DefaultValue", value)));
        if declared.is_etag {
            attributes.push(("ConcurrencyMode", "Fixed"));
        }
        if property.kind == PropertyKind::Primitive(Primitive::Date) {
            attributes.push(("sap:display-format", "Date"));
        }
        annotations(&mut attributes, &property.annotations, declared);
        empty(self.out, "Property", &attributes);
    }

    fn navigation(&mut self, declared: &NavigationElement<'_>) {
        let NavigationElement { model, from, navigation, .. } = *declared;
        let relationship = qualified(model, &navigation.association);
        let mut attributes = vec![("Name", navigation.name.as_str()), ("Relationship", relationship.as_str())];
        let association = model.associations.iter().find(|association| association.name == navigation.association);
        if let Some(association) = association {
            let [here, there] = ends(model, from, navigation, association);
            attributes.extend([("FromRole", here.role.as_str()), ("ToRole", there.role.as_str())]);
        }
        empty(self.out, "NavigationProperty", &attributes);
    }

    fn end_type(&mut self, kind: &'static str) {
        close(self.out, kind);
    }

    fn association(&mut self, model: &Model, association: &Association) {
        write_association(self.out, model, association);
    }

    fn container(&mut self, model: &Model) {
        let attributes = [
            ("Name", model.container.as_str()),
            ("m:IsDefaultEntityContainer", "true"),
            ("sap:supported-formats", "atom json"),
        ];
        open(self.out, "EntityContainer", &attributes);
    }

    fn entity_set(&mut self, declared: &SetElement<'_>) {
        let set = declared.set;
        let mut attributes = vec![("Name", set.name.as_str()), ("EntityType", declared.type_name.as_str())];
        if let Some(label) = &set.label {
            attributes.push(("sap:label", label));
        }
        let Changes { insert, update, delete } = set.changes;
        for (name, allowed) in [("sap:creatable", insert), ("sap:updatable", update), ("sap:deletable", delete)] {
            if !allowed {
                attributes.push((name, "false"));
            }
        }
        attributes.push(VERSION);
        empty(self.out, "EntitySet", &attributes);
    }

    fn association_set(&mut self, model: &Model, association: &Association) {
        let set = format!("{}Set", association.name);
        let name = qualified(model, &association.name);
        open(self.out, "AssociationSet", &[("Name", &set), ("Association", &name), VERSION]);
        for end in &association.ends {
            empty(self.out, "End", &[("EntitySet", &model.entity_sets[end.set.0].name), ("Role", &end.role)]);
        }
        close(self.out, "AssociationSet");
    }

    /// V2 calls nothing on entities, so that imports are all operations.
    fn import(&mut self, declared: &OperationElement<'_>) {
        let returns = declared.returns.as_ref().map(|(name, many)| several(name, *many));
        let mut attributes = vec![("Name", declared.function.name.as_str())];
        attributes.extend(returns.as_deref().map(|returns| ("ReturnType", returns)));
        attributes.extend(declared.set.map(|set| ("EntitySet", set)));
        attributes.push((
            "m:HttpMethod",
            match declared.function.method {
                FunctionMethod::Get => "GET",
                FunctionMethod::Post => "POST",
                FunctionMethod::Put => "PUT",
            },
        ));
        open(self.out, "FunctionImport", &attributes);
        for (name, type_of) in &declared.parameters {
            let (kind, facets) = (type_of.name(Version::V2), type_of.facets(Version::V2));
            let mut attributes = vec![("Name", *name), ("Type", kind.as_str()), ("Mode", "In")];
            attributes.extend(facets.iter().map(|(name, value)| (*name, value.as_str())));
            empty(self.out, "Parameter", &attributes);
        }
        close(self.out, "FunctionImport");
    }

    fn end(&mut self) {
        for name in ["EntityContainer", "Schema", "edmx:DataServices", "edmx:Edmx"] {
            close(self.out, name);
        }
    }
}

fn references(out: &mut Vec<u8>, entity_type: &EntityType, leaves: &[LeafId]) {
    for leaf in leaves {
        empty(out, "PropertyRef", &[("Name", &entity_type.leaves[leaf.0].path)]);
    }
}

fn annotations<'a>(
    attributes: &mut Vec<(&'a str, &'a str)>,
    annotations: &'a Annotations,
    declared: &PropertyElement<'_>,
) {
    let Annotations { label, unit, semantics, not_creatable, not_updatable, not_sortable, not_filterable } =
        annotations;
    for (name, value) in [("sap:unit", unit), ("sap:label", label), ("sap:semantics", semantics)] {
        if let Some(value) = value {
            attributes.push((name, value));
        }
    }
    let is_managed = declared.provided.is_some_and(Provided::is_managed);
    for (name, denied) in [
        ("sap:creatable", *not_creatable || is_managed),
        ("sap:updatable", *not_updatable || is_managed || declared.is_key),
        ("sap:sortable", *not_sortable),
        ("sap:filterable", *not_filterable),
    ] {
        if denied {
            attributes.push((name, "false"));
        }
    }
}

/// The end that a navigation property starts from and the one that it leads to.
fn ends<'m>(
    model: &Model,
    from: &EntityType,
    navigation: &NavigationProperty,
    association: &'m Association,
) -> [&'m AssociationEnd; 2] {
    let [first, second] = &association.ends;
    let leads = |here: &AssociationEnd, there: &AssociationEnd| {
        model.type_of(here.set).name == from.name
            && there.set == navigation.target
            && there.multiplicity == navigation.multiplicity
    };
    if leads(first, second) || !leads(second, first) { [first, second] } else { [second, first] }
}

fn write_association(out: &mut Vec<u8>, model: &Model, association: &Association) {
    open(out, "Association", &[("Name", &association.name), VERSION]);
    for end in &association.ends {
        let kind = qualified(model, &model.type_of(end.set).name);
        let multiplicity = multiplicity(end.multiplicity);
        empty(out, "End", &[("Type", &kind), ("Multiplicity", multiplicity), ("Role", &end.role)]);
    }
    if !association.constraint.is_empty() {
        open(out, "ReferentialConstraint", &[]);
        let (principal, dependent): (Vec<_>, Vec<_>) = association.constraint.iter().copied().unzip();
        for ((name, end), leaves) in
            ["Principal", "Dependent"].into_iter().zip(&association.ends).zip([principal, dependent])
        {
            open(out, name, &[("Role", &end.role)]);
            references(out, model.type_of(end.set), &leaves);
            close(out, name);
        }
        close(out, "ReferentialConstraint");
    }
    close(out, "Association");
}

fn multiplicity(multiplicity: Multiplicity) -> &'static str {
    match multiplicity {
        Multiplicity::ZeroOrOne => "0..1",
        Multiplicity::One => "1",
        Multiplicity::Many => "*",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use insta::assert_snapshot;

    #[test]
    fn v2_metadata_of_the_flight_model() {
        let mut out = Vec::new();
        write(&testing::model(), &mut out);
        assert_snapshot!(testing::indented(&out), @r#"
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns:sap="http://www.sap.com/Protocols/SAPData">
         <edmx:DataServices m:DataServiceVersion="2.0">
          <Schema Namespace="RMTSAMPLEFLIGHT" xml:lang="en" sap:schema-version="1" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
           <EntityType Name="Flight" sap:content-version="1">
            <Key>
             <PropertyRef Name="carrid"/>
             <PropertyRef Name="connid"/>
             <PropertyRef Name="fldate"/>
            </Key>
            <Property Name="carrid" Type="Edm.String" Nullable="false" MaxLength="3" sap:label="Label of carrid" sap:updatable="false"/>
            <Property Name="connid" Type="Edm.String" Nullable="false" MaxLength="4" sap:label="Label of connid" sap:updatable="false"/>
            <Property Name="fldate" Type="Edm.DateTime" Nullable="false" Precision="0" sap:display-format="Date" sap:label="Label of fldate" sap:updatable="false"/>
            <Property Name="flightDetails" Type="RMTSAMPLEFLIGHT.FlightDetails" Nullable="false"/>
            <Property Name="PRICE" Type="Edm.Decimal" Precision="15" Scale="2" sap:unit="CURRENCY" sap:label="Label of PRICE"/>
            <Property Name="CURRENCY" Type="Edm.String" MaxLength="5" sap:label="Label of CURRENCY" sap:semantics="currency-code"/>
            <Property Name="PLANETYPE" Type="Edm.String" MaxLength="10" sap:label="Label of PLANETYPE" sap:sortable="false"/>
            <Property Name="SEATSMAX" Type="Edm.Int32" sap:label="Label of SEATSMAX"/>
            <Property Name="SEATSOCC" Type="Edm.Int32" sap:label="Label of SEATSOCC"/>
            <Property Name="PAYMENTSUM" Type="Edm.Decimal" Precision="17" Scale="2" sap:label="Label of PAYMENTSUM"/>
            <Property Name="SEATSMAX_B" Type="Edm.Int32" sap:label="Label of SEATSMAX_B"/>
            <Property Name="SEATSOCC_B" Type="Edm.Int32" sap:label="Label of SEATSOCC_B"/>
            <Property Name="SEATSMAX_F" Type="Edm.Int32" sap:label="Label of SEATSMAX_F"/>
            <Property Name="SEATSOCC_F" Type="Edm.Int32" sap:label="Label of SEATSOCC_F"/>
            <NavigationProperty Name="flightbooking" Relationship="RMTSAMPLEFLIGHT.BookingFlight" FromRole="Flight" ToRole="Booking"/>
            <NavigationProperty Name="flightBookings" Relationship="RMTSAMPLEFLIGHT.FlightBookings" FromRole="Flight" ToRole="Booking"/>
            <NavigationProperty Name="FlightCarrier" Relationship="RMTSAMPLEFLIGHT.CarrierToFlight" FromRole="Flight" ToRole="Carrier"/>
           </EntityType>
           <EntityType Name="Carrier" m:HasStream="true" sap:content-version="1">
            <Key>
             <PropertyRef Name="carrid"/>
            </Key>
            <Property Name="carrid" Type="Edm.String" Nullable="false" MaxLength="3" sap:label="Label of carrid" sap:updatable="false"/>
            <Property Name="CARRNAME" Type="Edm.String" MaxLength="20" sap:label="Label of CARRNAME"/>
            <Property Name="mimeType" Type="Edm.String" MaxLength="128" sap:label="Label of mimeType"/>
            <NavigationProperty Name="carrierFlights" Relationship="RMTSAMPLEFLIGHT.CarrierToFlight" FromRole="Carrier" ToRole="Flight"/>
           </EntityType>
           <EntityType Name="Booking" sap:content-version="1">
            <Key>
             <PropertyRef Name="carrid"/>
             <PropertyRef Name="connid"/>
             <PropertyRef Name="fldate"/>
             <PropertyRef Name="bookid"/>
            </Key>
            <Property Name="carrid" Type="Edm.String" Nullable="false" MaxLength="3" sap:label="Label of carrid" sap:updatable="false"/>
            <Property Name="connid" Type="Edm.String" Nullable="false" MaxLength="4" sap:label="Label of connid" sap:updatable="false"/>
            <Property Name="fldate" Type="Edm.DateTime" Nullable="false" Precision="0" sap:display-format="Date" sap:label="Label of fldate" sap:updatable="false"/>
            <Property Name="bookid" Type="Edm.String" Nullable="false" MaxLength="8" sap:label="Label of bookid" sap:updatable="false"/>
            <Property Name="LUGGWEIGHT" Type="Edm.Decimal" Precision="9" Scale="4" sap:label="Label of LUGGWEIGHT"/>
            <Property Name="ORDER_DATE" Type="Edm.DateTime" Precision="0" ConcurrencyMode="Fixed" sap:label="Label of ORDER_DATE"/>
            <Property Name="PASSNAME" Type="Edm.String" MaxLength="25" sap:label="Label of PASSNAME"/>
            <NavigationProperty Name="bookedFlight" Relationship="RMTSAMPLEFLIGHT.BookingFlight" FromRole="Booking" ToRole="Flight"/>
           </EntityType>
           <EntityType Name="Sample" sap:content-version="1">
            <Key>
             <PropertyRef Name="id"/>
             <PropertyRef Name="name"/>
            </Key>
            <Property Name="id" Type="Edm.Int64" Nullable="false" sap:label="Label of id" sap:updatable="false"/>
            <Property Name="name" Type="Edm.String" Nullable="false" sap:label="Label of name" sap:updatable="false"/>
            <Property Name="boolean" Type="Edm.Boolean" sap:label="Label of boolean"/>
            <Property Name="byte" Type="Edm.Byte" sap:label="Label of byte"/>
            <Property Name="sbyte" Type="Edm.SByte" sap:label="Label of sbyte"/>
            <Property Name="int16" Type="Edm.Int16" sap:label="Label of int16"/>
            <Property Name="int32" Type="Edm.Int32" sap:label="Label of int32"/>
            <Property Name="int64" Type="Edm.Int64" sap:label="Label of int64"/>
            <Property Name="single" Type="Edm.Single" sap:label="Label of single"/>
            <Property Name="double" Type="Edm.Double" sap:label="Label of double"/>
            <Property Name="decimal" Type="Edm.Decimal" sap:label="Label of decimal"/>
            <Property Name="string" Type="Edm.String" sap:label="Label of string"/>
            <Property Name="binary" Type="Edm.Binary" sap:label="Label of binary"/>
            <Property Name="guid" Type="Edm.Guid" sap:label="Label of guid"/>
            <Property Name="date" Type="Edm.DateTime" Precision="0" sap:display-format="Date" sap:label="Label of date"/>
            <Property Name="dateTime" Type="Edm.DateTime" Precision="3" sap:label="Label of dateTime"/>
            <Property Name="dateTimeOffset" Type="Edm.DateTimeOffset" Precision="3" sap:label="Label of dateTimeOffset"/>
            <Property Name="time" Type="Edm.Time" Precision="0" sap:label="Label of time"/>
            <Property Name="duration" Type="Edm.String" sap:label="Label of duration"/>
           </EntityType>
           <ComplexType Name="FlightDetails">
            <Property Name="countryFrom" Type="Edm.String" MaxLength="3" sap:label="Label of countryFrom"/>
            <Property Name="cityFrom" Type="Edm.String" MaxLength="20" sap:label="Label of cityFrom"/>
            <Property Name="airportFrom" Type="Edm.String" MaxLength="3" sap:label="Label of airportFrom"/>
            <Property Name="countryTo" Type="Edm.String" MaxLength="3" sap:label="Label of countryTo"/>
            <Property Name="cityTo" Type="Edm.String" MaxLength="20" sap:label="Label of cityTo"/>
            <Property Name="airportTo" Type="Edm.String" MaxLength="3" sap:label="Label of airportTo"/>
            <Property Name="flightTime" Type="Edm.Int32" sap:label="Label of flightTime"/>
            <Property Name="departureTime" Type="Edm.Time" Precision="0" sap:label="Label of departureTime"/>
            <Property Name="arrivalTime" Type="Edm.Time" Precision="0" sap:label="Label of arrivalTime"/>
            <Property Name="distance" Type="Edm.Decimal" Precision="9" Scale="4" sap:label="Label of distance"/>
            <Property Name="distanceUnit" Type="Edm.String" MaxLength="3" sap:label="Label of distanceUnit"/>
            <Property Name="flightType" Type="Edm.String" MaxLength="1" sap:label="Label of flightType"/>
            <Property Name="period" Type="Edm.Byte" sap:label="Label of period"/>
           </ComplexType>
           <Association Name="CarrierToFlight" sap:content-version="1">
            <End Type="RMTSAMPLEFLIGHT.Carrier" Multiplicity="1" Role="Carrier"/>
            <End Type="RMTSAMPLEFLIGHT.Flight" Multiplicity="*" Role="Flight"/>
            <ReferentialConstraint>
             <Principal Role="Carrier">
              <PropertyRef Name="carrid"/>
             </Principal>
             <Dependent Role="Flight">
              <PropertyRef Name="carrid"/>
             </Dependent>
            </ReferentialConstraint>
           </Association>
           <Association Name="BookingFlight" sap:content-version="1">
            <End Type="RMTSAMPLEFLIGHT.Flight" Multiplicity="1" Role="Flight"/>
            <End Type="RMTSAMPLEFLIGHT.Booking" Multiplicity="0..1" Role="Booking"/>
            <ReferentialConstraint>
             <Principal Role="Flight">
              <PropertyRef Name="carrid"/>
              <PropertyRef Name="connid"/>
              <PropertyRef Name="fldate"/>
             </Principal>
             <Dependent Role="Booking">
              <PropertyRef Name="carrid"/>
              <PropertyRef Name="connid"/>
              <PropertyRef Name="fldate"/>
             </Dependent>
            </ReferentialConstraint>
           </Association>
           <Association Name="FlightBookings" sap:content-version="1">
            <End Type="RMTSAMPLEFLIGHT.Flight" Multiplicity="1" Role="Flight"/>
            <End Type="RMTSAMPLEFLIGHT.Booking" Multiplicity="*" Role="Booking"/>
            <ReferentialConstraint>
             <Principal Role="Flight">
              <PropertyRef Name="carrid"/>
              <PropertyRef Name="connid"/>
              <PropertyRef Name="fldate"/>
             </Principal>
             <Dependent Role="Booking">
              <PropertyRef Name="carrid"/>
              <PropertyRef Name="connid"/>
              <PropertyRef Name="fldate"/>
             </Dependent>
            </ReferentialConstraint>
           </Association>
           <EntityContainer Name="RMTSAMPLEFLIGHT_Entities" m:IsDefaultEntityContainer="true" sap:supported-formats="atom json">
            <EntitySet Name="FlightCollection" EntityType="RMTSAMPLEFLIGHT.Flight" sap:content-version="1"/>
            <EntitySet Name="CarrierCollection" EntityType="RMTSAMPLEFLIGHT.Carrier" sap:content-version="1"/>
            <EntitySet Name="BookingCollection" EntityType="RMTSAMPLEFLIGHT.Booking" sap:content-version="1"/>
            <EntitySet Name="SampleCollection" EntityType="RMTSAMPLEFLIGHT.Sample" sap:content-version="1"/>
            <AssociationSet Name="CarrierToFlightSet" Association="RMTSAMPLEFLIGHT.CarrierToFlight" sap:content-version="1">
             <End EntitySet="CarrierCollection" Role="Carrier"/>
             <End EntitySet="FlightCollection" Role="Flight"/>
            </AssociationSet>
            <AssociationSet Name="BookingFlightSet" Association="RMTSAMPLEFLIGHT.BookingFlight" sap:content-version="1">
             <End EntitySet="FlightCollection" Role="Flight"/>
             <End EntitySet="BookingCollection" Role="Booking"/>
            </AssociationSet>
            <AssociationSet Name="FlightBookingsSet" Association="RMTSAMPLEFLIGHT.FlightBookings" sap:content-version="1">
             <End EntitySet="FlightCollection" Role="Flight"/>
             <End EntitySet="BookingCollection" Role="Booking"/>
            </AssociationSet>
            <FunctionImport Name="GetAvailableFlights" ReturnType="Collection(RMTSAMPLEFLIGHT.Flight)" EntitySet="FlightCollection" m:HttpMethod="GET">
             <Parameter Name="fromdate" Type="Edm.DateTime" Mode="In" Precision="0"/>
             <Parameter Name="cityfrom" Type="Edm.String" Mode="In" MaxLength="20"/>
            </FunctionImport>
            <FunctionImport Name="GetFlightDetails" ReturnType="RMTSAMPLEFLIGHT.FlightDetails" m:HttpMethod="GET">
             <Parameter Name="airlineid" Type="Edm.String" Mode="In" MaxLength="3"/>
            </FunctionImport>
            <FunctionImport Name="UpdateAgencyPhoneNo" ReturnType="RMTSAMPLEFLIGHT.Carrier" EntitySet="CarrierCollection" m:HttpMethod="PUT">
             <Parameter Name="telephone" Type="Edm.String" Mode="In" MaxLength="30"/>
            </FunctionImport>
           </EntityContainer>
          </Schema>
         </edmx:DataServices>
        </edmx:Edmx>
        "#);
    }

    #[test]
    fn v2_metadata_says_what_cannot_be_written() {
        let mut out = Vec::new();
        write(&testing::managed(), &mut out);
        assert_snapshot!(testing::indented(&out), @r#"
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns:sap="http://www.sap.com/Protocols/SAPData">
         <edmx:DataServices m:DataServiceVersion="2.0">
          <Schema Namespace="Test" xml:lang="en" sap:schema-version="1" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
           <EntityType Name="Record" sap:content-version="1">
            <Key>
             <PropertyRef Name="ID"/>
            </Key>
            <Property Name="ID" Type="Edm.Guid" Nullable="false" sap:label="Label of ID" sap:updatable="false"/>
            <Property Name="createdAt" Type="Edm.DateTimeOffset" Precision="7" sap:label="Label of createdAt" sap:creatable="false" sap:updatable="false"/>
            <Property Name="createdBy" Type="Edm.String" MaxLength="255" sap:label="Label of createdBy" sap:creatable="false" sap:updatable="false"/>
            <Property Name="number" Type="Edm.Int32" sap:label="Label of number"/>
            <Property Name="total" Type="Edm.Int32" sap:label="Label of total" sap:creatable="false" sap:updatable="false"/>
            <Property Name="weight" Type="Edm.Decimal" Precision="9" Scale="4" DefaultValue="1.5000" sap:label="Label of weight"/>
            <Property Name="day" Type="Edm.DateTime" Precision="0" DefaultValue="2013-09-25T00:00:00" sap:display-format="Date" sap:label="Label of day"/>
            <Property Name="note" Type="Edm.String" sap:label="Label of note"/>
           </EntityType>
           <EntityContainer Name="Container" m:IsDefaultEntityContainer="true" sap:supported-formats="atom json">
            <EntitySet Name="Records" EntityType="Test.Record" sap:updatable="false" sap:deletable="false" sap:content-version="1"/>
           </EntityContainer>
          </Schema>
         </edmx:DataServices>
        </edmx:Edmx>
        "#);
    }
}

//! `$metadata` of OData V4 (CSDL XML 4.0).
//!
//! It deliberately leaves SAP's labels and units to V2, where their clients look for them. The walk reads the
//! declarations of the model.

use super::walk::{
    BOUND, Form, Many, NavigationElement, OperationElement, PropertyElement, SetElement, TypeElement, is_restricted,
    kind, provided_term, restrictions, several, walk,
};
use crate::address::type_name;
use crate::edm::{Arity, BoundTo, Enumeration, Model, Multiplicity, Version};
use crate::syntax::tag::{DECLARATION, close, empty, open, text_element};

const EDMX: &str = "http://docs.oasis-open.org/odata/ns/edmx";
const EDM: &str = "http://docs.oasis-open.org/odata/ns/edm";
const CORE: &str = "Org.OData.Core.V1";
const CAPABILITIES: &str = "Org.OData.Capabilities.V1";
const CAPABILITIES_URL: &str =
    "https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Capabilities.V1.xml";
const CORE_URL: &str = "https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Core.V1.xml";

/// Writes the document.
pub fn write(model: &Model, out: &mut Vec<u8>) {
    walk(model, &mut CsdlXml { out });
}

struct CsdlXml<'o> {
    out: &'o mut Vec<u8>,
}

impl Form for CsdlXml<'_> {
    fn version(&self) -> Version {
        Version::V4
    }

    fn begin(&mut self, model: &Model) {
        self.out.extend_from_slice(DECLARATION.as_bytes());
        open(self.out, "edmx:Edmx", &[("Version", "4.0"), ("xmlns:edmx", EDMX)]);
        self.reference(CORE_URL, CORE, "Core");
        if is_restricted(model) {
            self.reference(CAPABILITIES_URL, CAPABILITIES, "Capabilities");
        }
        open(self.out, "edmx:DataServices", &[]);
        open(self.out, "Schema", &[("Namespace", &model.namespace), ("xmlns", EDM)]);
    }

    fn entity_type(&mut self, declared: &TypeElement<'_>) {
        let TypeElement { name, entity_type, base, is_abstract } = declared;
        let mut attributes = vec![("Name", *name)];
        attributes.extend(base.as_deref().map(|base| ("BaseType", base)));
        if *is_abstract {
            attributes.push(("Abstract", "true"));
        }
        if base.is_none() && entity_type.media {
            attributes.push(("HasStream", "true"));
        }
        open(self.out, "EntityType", &attributes);
        if base.is_none() {
            open(self.out, "Key", &[]);
            for leaf in &entity_type.key {
                empty(self.out, "PropertyRef", &[("Name", &entity_type.leaves[leaf.0].path)]);
            }
            close(self.out, "Key");
        }
    }

    fn complex_type(&mut self, name: &str) {
        open(self.out, "ComplexType", &[("Name", name)]);
    }

    fn property(&mut self, declared: &PropertyElement<'_>) {
        let PropertyElement { property, type_of, provided, default, .. } = declared;
        let (kind, facets) = (type_of.name(Version::V4), type_of.facets(Version::V4));
        let mut attributes = vec![("Name", property.name.as_str()), ("Type", kind.as_str())];
        if !property.nullable {
            attributes.push(("Nullable", "false"));
        }
        attributes.extend(facets.iter().map(|(name, value)| (*name, value.as_str())));
        attributes.extend(default.as_deref().map(|value| ("DefaultValue", value)));
        let Some(term) = provided_term(*provided) else { return empty(self.out, "Property", &attributes) };
        open(self.out, "Property", &attributes);
        empty(self.out, "Annotation", &[("Term", term), ("Bool", "true")]);
        close(self.out, "Property");
    }

    fn navigation(&mut self, declared: &NavigationElement<'_>) {
        let NavigationElement { navigation, target, constraint, .. } = declared;
        let many = if navigation.multiplicity == Multiplicity::Many { Many::Several } else { Many::One };
        let kind = several(target, many);
        let mut attributes = vec![("Name", navigation.name.as_str()), ("Type", kind.as_str())];
        if navigation.multiplicity == Multiplicity::One {
            attributes.push(("Nullable", "false"));
        }
        if let Some(partner) = &navigation.partner {
            attributes.push(("Partner", partner));
        }
        if constraint.is_empty() {
            return empty(self.out, "NavigationProperty", &attributes);
        }
        open(self.out, "NavigationProperty", &attributes);
        for (here, there) in constraint {
            empty(self.out, "ReferentialConstraint", &[("Property", here), ("ReferencedProperty", there)]);
        }
        close(self.out, "NavigationProperty");
    }

    fn end_type(&mut self, kind: &'static str) {
        close(self.out, kind);
    }

    fn enumeration(&mut self, enumeration: &Enumeration) {
        let underlying = type_name(Version::V4, Some(enumeration.underlying()));
        let mut attributes = vec![("Name", enumeration.name()), ("UnderlyingType", underlying)];
        if enumeration.arity == Arity::Flags {
            attributes.push(("IsFlags", "true"));
        }
        open(self.out, "EnumType", &attributes);
        for member in &enumeration.members {
            empty(self.out, "Member", &[("Name", &member.name), ("Value", &member.number.to_string())]);
        }
        close(self.out, "EnumType");
    }

    fn operation(&mut self, declared: &OperationElement<'_>) {
        let element = kind(declared.function);
        let mut attributes = vec![("Name", declared.function.name.as_str())];
        if declared.function.is_composable() {
            attributes.push(("IsComposable", "true"));
        }
        if declared.bound.is_some() {
            attributes.push(("IsBound", "true"));
        }
        attributes.extend(declared.path.as_deref().map(|path| ("EntitySetPath", path)));
        open(self.out, element, &attributes);
        if let Some((bound, name)) = &declared.bound {
            let many = if bound.to == BoundTo::Collection { Many::Several } else { Many::One };
            let kind = several(name, many);
            empty(self.out, "Parameter", &[("Name", BOUND), ("Type", &kind), ("Nullable", "false")]);
        }
        for (name, type_of) in &declared.parameters {
            let (kind, facets) = (type_of.name(Version::V4), type_of.facets(Version::V4));
            let mut attributes = vec![("Name", *name), ("Type", kind.as_str()), ("Nullable", "false")];
            attributes.extend(facets.iter().map(|(name, value)| (*name, value.as_str())));
            empty(self.out, "Parameter", &attributes);
        }
        if let Some((name, many)) = &declared.returns {
            empty(self.out, "ReturnType", &[("Type", &several(name, *many)), ("Nullable", "false")]);
        }
        close(self.out, element);
    }

    fn container(&mut self, model: &Model) {
        open(self.out, "EntityContainer", &[("Name", &model.container)]);
    }

    fn entity_set(&mut self, declared: &SetElement<'_>) {
        let out = &mut *self.out;
        open(out, "EntitySet", &[("Name", &declared.set.name), ("EntityType", &declared.type_name)]);
        bindings(out, declared);
        if let Some(etag) = declared.etag {
            open(out, "Annotation", &[("Term", "Core.OptimisticConcurrency")]);
            open(out, "Collection", &[]);
            text_element(out, "PropertyPath", etag);
            close(out, "Collection");
            close(out, "Annotation");
        }
        for (term, property) in restrictions(declared.set.changes) {
            open(out, "Annotation", &[("Term", term)]);
            open(out, "Record", &[]);
            empty(out, "PropertyValue", &[("Property", property), ("Bool", "false")]);
            close(out, "Record");
            close(out, "Annotation");
        }
        close(out, "EntitySet");
    }

    fn singleton(&mut self, name: &str, declared: &SetElement<'_>) {
        open(self.out, "Singleton", &[("Name", name), ("Type", &declared.type_name)]);
        bindings(self.out, declared);
        close(self.out, "Singleton");
    }

    fn import(&mut self, declared: &OperationElement<'_>) {
        let kind = kind(declared.function);
        let mut attributes = vec![("Name", declared.function.name.as_str()), (kind, declared.qualified.as_str())];
        attributes.extend(declared.set.map(|set| ("EntitySet", set)));
        empty(self.out, if kind == "Function" { "FunctionImport" } else { "ActionImport" }, &attributes);
    }

    fn end(&mut self) {
        for name in ["EntityContainer", "Schema", "edmx:DataServices", "edmx:Edmx"] {
            close(self.out, name);
        }
    }
}

impl CsdlXml<'_> {
    fn reference(&mut self, url: &str, namespace: &str, alias: &str) {
        open(self.out, "edmx:Reference", &[("Uri", url)]);
        empty(self.out, "edmx:Include", &[("Namespace", namespace), ("Alias", alias)]);
        close(self.out, "edmx:Reference");
    }
}

fn bindings(out: &mut Vec<u8>, declared: &SetElement<'_>) {
    for (path, target) in &declared.bindings {
        empty(out, "NavigationPropertyBinding", &[("Path", path), ("Target", target)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use insta::assert_snapshot;

    #[test]
    fn v4_metadata_of_the_flight_model() {
        let mut out = Vec::new();
        write(&testing::model(), &mut out);
        assert_snapshot!(testing::indented(&out), @r#"
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
         <edmx:Reference Uri="https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Core.V1.xml">
          <edmx:Include Namespace="Org.OData.Core.V1" Alias="Core"/>
         </edmx:Reference>
         <edmx:DataServices>
          <Schema Namespace="RMTSAMPLEFLIGHT" xmlns="http://docs.oasis-open.org/odata/ns/edm">
           <EntityType Name="Flight">
            <Key>
             <PropertyRef Name="carrid"/>
             <PropertyRef Name="connid"/>
             <PropertyRef Name="fldate"/>
            </Key>
            <Property Name="carrid" Type="Edm.String" Nullable="false" MaxLength="3"/>
            <Property Name="connid" Type="Edm.String" Nullable="false" MaxLength="4"/>
            <Property Name="fldate" Type="Edm.Date" Nullable="false"/>
            <Property Name="flightDetails" Type="RMTSAMPLEFLIGHT.FlightDetails" Nullable="false"/>
            <Property Name="PRICE" Type="Edm.Decimal" Precision="15" Scale="2"/>
            <Property Name="CURRENCY" Type="Edm.String" MaxLength="5"/>
            <Property Name="PLANETYPE" Type="Edm.String" MaxLength="10"/>
            <Property Name="SEATSMAX" Type="Edm.Int32"/>
            <Property Name="SEATSOCC" Type="Edm.Int32"/>
            <Property Name="PAYMENTSUM" Type="Edm.Decimal" Precision="17" Scale="2"/>
            <Property Name="SEATSMAX_B" Type="Edm.Int32"/>
            <Property Name="SEATSOCC_B" Type="Edm.Int32"/>
            <Property Name="SEATSMAX_F" Type="Edm.Int32"/>
            <Property Name="SEATSOCC_F" Type="Edm.Int32"/>
            <NavigationProperty Name="flightbooking" Type="RMTSAMPLEFLIGHT.Booking" Partner="bookedFlight"/>
            <NavigationProperty Name="flightBookings" Type="Collection(RMTSAMPLEFLIGHT.Booking)"/>
            <NavigationProperty Name="FlightCarrier" Type="RMTSAMPLEFLIGHT.Carrier" Nullable="false" Partner="carrierFlights">
             <ReferentialConstraint Property="carrid" ReferencedProperty="carrid"/>
            </NavigationProperty>
           </EntityType>
           <EntityType Name="Carrier" HasStream="true">
            <Key>
             <PropertyRef Name="carrid"/>
            </Key>
            <Property Name="carrid" Type="Edm.String" Nullable="false" MaxLength="3"/>
            <Property Name="CARRNAME" Type="Edm.String" MaxLength="20"/>
            <Property Name="mimeType" Type="Edm.String" MaxLength="128"/>
            <NavigationProperty Name="carrierFlights" Type="Collection(RMTSAMPLEFLIGHT.Flight)" Partner="FlightCarrier"/>
           </EntityType>
           <EntityType Name="Booking">
            <Key>
             <PropertyRef Name="carrid"/>
             <PropertyRef Name="connid"/>
             <PropertyRef Name="fldate"/>
             <PropertyRef Name="bookid"/>
            </Key>
            <Property Name="carrid" Type="Edm.String" Nullable="false" MaxLength="3"/>
            <Property Name="connid" Type="Edm.String" Nullable="false" MaxLength="4"/>
            <Property Name="fldate" Type="Edm.Date" Nullable="false"/>
            <Property Name="bookid" Type="Edm.String" Nullable="false" MaxLength="8"/>
            <Property Name="LUGGWEIGHT" Type="Edm.Decimal" Precision="9" Scale="4"/>
            <Property Name="ORDER_DATE" Type="Edm.DateTimeOffset"/>
            <Property Name="PASSNAME" Type="Edm.String" MaxLength="25"/>
            <NavigationProperty Name="bookedFlight" Type="RMTSAMPLEFLIGHT.Flight" Nullable="false" Partner="flightbooking">
             <ReferentialConstraint Property="carrid" ReferencedProperty="carrid"/>
             <ReferentialConstraint Property="connid" ReferencedProperty="connid"/>
             <ReferentialConstraint Property="fldate" ReferencedProperty="fldate"/>
            </NavigationProperty>
           </EntityType>
           <EntityType Name="Sample">
            <Key>
             <PropertyRef Name="id"/>
             <PropertyRef Name="name"/>
            </Key>
            <Property Name="id" Type="Edm.Int64" Nullable="false"/>
            <Property Name="name" Type="Edm.String" Nullable="false"/>
            <Property Name="boolean" Type="Edm.Boolean"/>
            <Property Name="byte" Type="Edm.Byte"/>
            <Property Name="sbyte" Type="Edm.SByte"/>
            <Property Name="int16" Type="Edm.Int16"/>
            <Property Name="int32" Type="Edm.Int32"/>
            <Property Name="int64" Type="Edm.Int64"/>
            <Property Name="single" Type="Edm.Single"/>
            <Property Name="double" Type="Edm.Double"/>
            <Property Name="decimal" Type="Edm.Decimal" Scale="variable"/>
            <Property Name="string" Type="Edm.String"/>
            <Property Name="binary" Type="Edm.Binary"/>
            <Property Name="guid" Type="Edm.Guid"/>
            <Property Name="date" Type="Edm.Date"/>
            <Property Name="dateTime" Type="Edm.DateTimeOffset" Precision="3"/>
            <Property Name="dateTimeOffset" Type="Edm.DateTimeOffset" Precision="3"/>
            <Property Name="time" Type="Edm.TimeOfDay"/>
            <Property Name="duration" Type="Edm.Duration"/>
           </EntityType>
           <ComplexType Name="FlightDetails">
            <Property Name="countryFrom" Type="Edm.String" MaxLength="3"/>
            <Property Name="cityFrom" Type="Edm.String" MaxLength="20"/>
            <Property Name="airportFrom" Type="Edm.String" MaxLength="3"/>
            <Property Name="countryTo" Type="Edm.String" MaxLength="3"/>
            <Property Name="cityTo" Type="Edm.String" MaxLength="20"/>
            <Property Name="airportTo" Type="Edm.String" MaxLength="3"/>
            <Property Name="flightTime" Type="Edm.Int32"/>
            <Property Name="departureTime" Type="Edm.TimeOfDay"/>
            <Property Name="arrivalTime" Type="Edm.TimeOfDay"/>
            <Property Name="distance" Type="Edm.Decimal" Precision="9" Scale="4"/>
            <Property Name="distanceUnit" Type="Edm.String" MaxLength="3"/>
            <Property Name="flightType" Type="Edm.String" MaxLength="1"/>
            <Property Name="period" Type="Edm.Byte"/>
           </ComplexType>
           <Function Name="GetAvailableFlights" IsComposable="true">
            <Parameter Name="fromdate" Type="Edm.Date" Nullable="false"/>
            <Parameter Name="cityfrom" Type="Edm.String" Nullable="false" MaxLength="20"/>
            <ReturnType Type="Collection(RMTSAMPLEFLIGHT.Flight)" Nullable="false"/>
           </Function>
           <Function Name="GetFlightDetails">
            <Parameter Name="airlineid" Type="Edm.String" Nullable="false" MaxLength="3"/>
            <ReturnType Type="RMTSAMPLEFLIGHT.FlightDetails" Nullable="false"/>
           </Function>
           <Action Name="UpdateAgencyPhoneNo">
            <Parameter Name="telephone" Type="Edm.String" Nullable="false" MaxLength="30"/>
            <ReturnType Type="RMTSAMPLEFLIGHT.Carrier" Nullable="false"/>
           </Action>
           <EntityContainer Name="RMTSAMPLEFLIGHT_Entities">
            <EntitySet Name="FlightCollection" EntityType="RMTSAMPLEFLIGHT.Flight">
             <NavigationPropertyBinding Path="flightbooking" Target="BookingCollection"/>
             <NavigationPropertyBinding Path="flightBookings" Target="BookingCollection"/>
             <NavigationPropertyBinding Path="FlightCarrier" Target="CarrierCollection"/>
            </EntitySet>
            <EntitySet Name="CarrierCollection" EntityType="RMTSAMPLEFLIGHT.Carrier">
             <NavigationPropertyBinding Path="carrierFlights" Target="FlightCollection"/>
            </EntitySet>
            <EntitySet Name="BookingCollection" EntityType="RMTSAMPLEFLIGHT.Booking">
             <NavigationPropertyBinding Path="bookedFlight" Target="FlightCollection"/>
             <Annotation Term="Core.OptimisticConcurrency">
              <Collection>
               <PropertyPath>ORDER_DATE</PropertyPath>
              </Collection>
             </Annotation>
            </EntitySet>
            <EntitySet Name="SampleCollection" EntityType="RMTSAMPLEFLIGHT.Sample">
            </EntitySet>
            <FunctionImport Name="GetAvailableFlights" Function="RMTSAMPLEFLIGHT.GetAvailableFlights" EntitySet="FlightCollection"/>
            <FunctionImport Name="GetFlightDetails" Function="RMTSAMPLEFLIGHT.GetFlightDetails"/>
            <ActionImport Name="UpdateAgencyPhoneNo" Action="RMTSAMPLEFLIGHT.UpdateAgencyPhoneNo" EntitySet="CarrierCollection"/>
           </EntityContainer>
          </Schema>
         </edmx:DataServices>
        </edmx:Edmx>
        "#);
    }

    #[test]
    fn v4_metadata_says_what_cannot_be_written() {
        let mut out = Vec::new();
        write(&testing::managed(), &mut out);
        assert_snapshot!(testing::indented(&out), @r#"
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
         <edmx:Reference Uri="https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Core.V1.xml">
          <edmx:Include Namespace="Org.OData.Core.V1" Alias="Core"/>
         </edmx:Reference>
         <edmx:Reference Uri="https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Capabilities.V1.xml">
          <edmx:Include Namespace="Org.OData.Capabilities.V1" Alias="Capabilities"/>
         </edmx:Reference>
         <edmx:DataServices>
          <Schema Namespace="Test" xmlns="http://docs.oasis-open.org/odata/ns/edm">
           <EntityType Name="Record">
            <Key>
             <PropertyRef Name="ID"/>
            </Key>
            <Property Name="ID" Type="Edm.Guid" Nullable="false">
             <Annotation Term="Core.ComputedDefaultValue" Bool="true"/>
            </Property>
            <Property Name="createdAt" Type="Edm.DateTimeOffset" Precision="7">
             <Annotation Term="Core.Computed" Bool="true"/>
            </Property>
            <Property Name="createdBy" Type="Edm.String" MaxLength="255">
             <Annotation Term="Core.Computed" Bool="true"/>
            </Property>
            <Property Name="number" Type="Edm.Int32">
             <Annotation Term="Core.ComputedDefaultValue" Bool="true"/>
            </Property>
            <Property Name="total" Type="Edm.Int32">
             <Annotation Term="Core.Computed" Bool="true"/>
            </Property>
            <Property Name="weight" Type="Edm.Decimal" Precision="9" Scale="4" DefaultValue="1.5000"/>
            <Property Name="day" Type="Edm.Date" DefaultValue="2013-09-25"/>
            <Property Name="note" Type="Edm.String"/>
           </EntityType>
           <EntityContainer Name="Container">
            <EntitySet Name="Records" EntityType="Test.Record">
             <Annotation Term="Capabilities.UpdateRestrictions">
              <Record>
               <PropertyValue Property="Updatable" Bool="false"/>
              </Record>
             </Annotation>
             <Annotation Term="Capabilities.DeleteRestrictions">
              <Record>
               <PropertyValue Property="Deletable" Bool="false"/>
              </Record>
             </Annotation>
            </EntitySet>
           </EntityContainer>
          </Schema>
         </edmx:DataServices>
        </edmx:Edmx>
        "#);
    }
}

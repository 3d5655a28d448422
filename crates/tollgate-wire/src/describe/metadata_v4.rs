//! `$metadata` of OData V4 (CSDL XML 4.0).
//!
//! It deliberately leaves SAP's labels and units to V2, where their clients look for them.

use crate::edm::{
    Arity, BoundTo, Changes, Declaration, EntitySet, EntityType, Enumeration, FunctionImport, FunctionMethod,
    FunctionReturn, Model, Multiplicity, NavigationProperty, Parameter, Primitive, Property, PropertyKind, Provided,
    Version,
};
use crate::json::v4;
use crate::syntax::tag::{close, empty, open, text_element};

const EDMX: &str = "http://docs.oasis-open.org/odata/ns/edmx";
const EDM: &str = "http://docs.oasis-open.org/odata/ns/edm";
const CORE: &str = "Org.OData.Core.V1";
const CAPABILITIES: &str = "Org.OData.Capabilities.V1";
const CAPABILITIES_URL: &str =
    "https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Capabilities.V1.xml";
const CORE_URL: &str = "https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Core.V1.xml";

/// Writes the document.
pub fn write(model: &Model, out: &mut Vec<u8>) {
    out.extend_from_slice(crate::syntax::tag::DECLARATION.as_bytes());
    open(out, "edmx:Edmx", &[("Version", "4.0"), ("xmlns:edmx", EDMX)]);
    write_reference(out, CORE_URL, CORE, "Core");
    if model.entity_sets.iter().any(|set| set.changes != Changes::ALL) {
        write_reference(out, CAPABILITIES_URL, CAPABILITIES, "Capabilities");
    }
    open(out, "edmx:DataServices", &[]);
    open(out, "Schema", &[("Namespace", &model.namespace), ("xmlns", EDM)]);
    for entity_type in &model.entity_types {
        for declaration in entity_type.declarations() {
            write_entity_type(out, model, entity_type, &declaration);
        }
    }
    for complex in &model.complex_types {
        open(out, "ComplexType", &[("Name", &complex.name)]);
        for property in &complex.properties {
            write_property(out, model, property, None);
        }
        close(out, "ComplexType");
    }
    for enumeration in &model.enumerations {
        write_enumeration(out, enumeration);
    }
    for function in &model.function_imports {
        write_operation(out, model, function);
    }
    open(out, "EntityContainer", &[("Name", &model.container)]);
    for set in &model.entity_sets {
        write_entity_set(out, model, set);
    }
    for singleton in &model.singletons {
        let entity_type = model.type_of(singleton.set);
        let kind = format!("{}.{}", model.namespace, entity_type.name);
        open(out, "Singleton", &[("Name", &singleton.name), ("Type", &kind)]);
        write_bindings(out, model, entity_type);
        close(out, "Singleton");
    }
    for function in model.function_imports.iter().filter(|function| function.bound.is_none()) {
        write_import(out, model, function);
    }
    for name in ["EntityContainer", "Schema", "edmx:DataServices", "edmx:Edmx"] {
        close(out, name);
    }
}

fn write_reference(out: &mut Vec<u8>, url: &str, namespace: &str, alias: &str) {
    open(out, "edmx:Reference", &[("Uri", url)]);
    empty(out, "edmx:Include", &[("Namespace", namespace), ("Alias", alias)]);
    close(out, "edmx:Reference");
}

fn write_entity_type(out: &mut Vec<u8>, model: &Model, entity_type: &EntityType, declaration: &Declaration<'_>) {
    let base = declaration.base.map(|base| format!("{}.{base}", model.namespace));
    let mut attributes = vec![("Name", declaration.name)];
    attributes.extend(base.as_deref().map(|base| ("BaseType", base)));
    if declaration.is_abstract {
        attributes.push(("Abstract", "true"));
    }
    // What a type derives from says these for it.
    if base.is_none() && entity_type.media {
        attributes.push(("HasStream", "true"));
    }
    open(out, "EntityType", &attributes);
    if base.is_none() {
        open(out, "Key", &[]);
        for leaf in &entity_type.key {
            empty(out, "PropertyRef", &[("Name", &entity_type.leaves[leaf.0].path)]);
        }
        close(out, "Key");
    }
    for position in &declaration.properties {
        write_property(out, model, &entity_type.properties[*position], entity_type.provided_for(*position));
    }
    for navigation in &declaration.navigation {
        write_navigation(out, model, entity_type, &entity_type.navigation[navigation.0]);
    }
    close(out, "EntityType");
}

fn write_property(out: &mut Vec<u8>, model: &Model, property: &Property, provided: Option<&Provided>) {
    let (kind, facets) = match property.kind {
        PropertyKind::Primitive(primitive) => (type_name(primitive), facets(primitive)),
        PropertyKind::Enumeration(id, stored) => {
            (of_enumeration(&model.enumerations[id.0].full_name, stored), Vec::new())
        }
        PropertyKind::Complex(id) => (format!("{}.{}", model.namespace, model.complex_types[id.0].name), Vec::new()),
    };
    let mut attributes = vec![("Name", property.name.as_str()), ("Type", kind.as_str())];
    if !property.nullable {
        attributes.push(("Nullable", "false"));
    }
    attributes.extend(facets.iter().map(|(name, value)| (*name, value.as_str())));
    let default = match property.kind {
        PropertyKind::Enumeration(id, stored) if stored.item().is_none() => {
            default_member(&model.enumerations[id.0], provided)
        }
        _ => super::default_value(Version::V4, property, provided),
    };
    attributes.extend(default.as_deref().map(|value| ("DefaultValue", value)));
    let term = match provided {
        Some(Provided::Uuid | Provided::Database) => "Core.ComputedDefaultValue",
        Some(provided) if provided.is_managed() => "Core.Computed",
        _ => return empty(out, "Property", &attributes),
    };
    open(out, "Property", &attributes);
    empty(out, "Annotation", &[("Term", term), ("Bool", "true")]);
    close(out, "Property");
}

fn write_enumeration(out: &mut Vec<u8>, enumeration: &Enumeration) {
    let underlying = type_name(enumeration.underlying());
    let mut attributes = vec![("Name", enumeration.name()), ("UnderlyingType", underlying.as_str())];
    if enumeration.arity == Arity::Flags {
        attributes.push(("IsFlags", "true"));
    }
    open(out, "EnumType", &attributes);
    for member in &enumeration.members {
        empty(out, "Member", &[("Name", &member.name), ("Value", &member.number.to_string())]);
    }
    close(out, "EnumType");
}

/// The default of a property by the names of its members.
fn default_member(enumeration: &Enumeration, provided: Option<&Provided>) -> Option<String> {
    let Some(Provided::Default(value)) = provided else { return None };
    let mut names = String::new();
    enumeration.write_names(&mut names, value.cell());
    Some(names).filter(|names| !names.is_empty())
}

fn write_navigation(out: &mut Vec<u8>, model: &Model, from: &EntityType, navigation: &NavigationProperty) {
    let target = model.type_of(navigation.target);
    let name = format!("{}.{}", model.namespace, target.name);
    let kind = match navigation.multiplicity {
        Multiplicity::Many => format!("Collection({name})"),
        Multiplicity::One | Multiplicity::ZeroOrOne => name,
    };
    let mut attributes = vec![("Name", navigation.name.as_str()), ("Type", kind.as_str())];
    if navigation.multiplicity == Multiplicity::One {
        attributes.push(("Nullable", "false"));
    }
    if let Some(partner) = &navigation.partner {
        attributes.push(("Partner", partner));
    }
    // A constraint says that this entity refers to the key of exactly one other.
    let depends = navigation.multiplicity != Multiplicity::Many
        && target.key.iter().all(|leaf| navigation.on.iter().any(|(_, there)| there == leaf));
    if !depends {
        return empty(out, "NavigationProperty", &attributes);
    }
    open(out, "NavigationProperty", &attributes);
    for (here, there) in &navigation.on {
        let (here, there) = (&from.leaves[here.0].path, &target.leaves[there.0].path);
        empty(out, "ReferentialConstraint", &[("Property", here), ("ReferencedProperty", there)]);
    }
    close(out, "NavigationProperty");
}

fn write_entity_set(out: &mut Vec<u8>, model: &Model, set: &EntitySet) {
    let entity_type = &model.entity_types[set.entity_type.0];
    let kind = format!("{}.{}", model.namespace, entity_type.name);
    open(out, "EntitySet", &[("Name", &set.name), ("EntityType", &kind)]);
    write_bindings(out, model, entity_type);
    if let Some(etag) = entity_type.etag {
        open(out, "Annotation", &[("Term", "Core.OptimisticConcurrency")]);
        open(out, "Collection", &[]);
        text_element(out, "PropertyPath", &entity_type.leaves[etag.0].path);
        close(out, "Collection");
        close(out, "Annotation");
    }
    let Changes { insert, update, delete } = set.changes;
    for (allowed, term, property) in [
        (insert, "Capabilities.InsertRestrictions", "Insertable"),
        (update, "Capabilities.UpdateRestrictions", "Updatable"),
        (delete, "Capabilities.DeleteRestrictions", "Deletable"),
    ] {
        if !allowed {
            open(out, "Annotation", &[("Term", term)]);
            open(out, "Record", &[]);
            empty(out, "PropertyValue", &[("Property", property), ("Bool", "false")]);
            close(out, "Record");
            close(out, "Annotation");
        }
    }
    close(out, "EntitySet");
}

fn write_bindings(out: &mut Vec<u8>, model: &Model, entity_type: &EntityType) {
    for (derived, navigation) in entity_type.bound_navigation() {
        let target = &model.entity_sets[navigation.target.0].name;
        let path = match derived {
            None => navigation.name.clone(),
            Some(derived) => format!("{}.{derived}/{}", model.namespace, navigation.name),
        };
        empty(out, "NavigationPropertyBinding", &[("Path", &path), ("Target", target)]);
    }
}

/// The name of the parameter that is what an operation is called on.
const BOUND: &str = "it";

/// A function has no side effects; what V2 calls with POST or PUT is an action.
fn operation(function: &FunctionImport) -> &'static str {
    match function.method {
        FunctionMethod::Get => "Function",
        FunctionMethod::Post | FunctionMethod::Put => "Action",
    }
}

fn write_operation(out: &mut Vec<u8>, model: &Model, function: &FunctionImport) {
    let mut attributes = vec![("Name", function.name.as_str())];
    if function.is_composable() {
        attributes.push(("IsComposable", "true"));
    }
    if let Some(bound) = &function.bound {
        attributes.push(("IsBound", "true"));
        // What is answered is of the set that it is called on, unless the way leads on.
        let path = match bound.through {
            None => BOUND.to_owned(),
            Some(navigation) => format!("{BOUND}/{}", model.type_of(bound.set).navigation[navigation.0].name),
        };
        if function.answered_set().is_some() {
            attributes.push(("EntitySetPath", &path));
        }
        open(out, operation(function), &attributes);
        let name = format!("{}.{}", model.namespace, model.type_of(bound.set).name);
        let kind = match bound.to {
            BoundTo::Entity => name,
            BoundTo::Collection => format!("Collection({name})"),
        };
        empty(out, "Parameter", &[("Name", BOUND), ("Type", &kind), ("Nullable", "false")]);
    } else {
        open(out, operation(function), &attributes);
    }
    for Parameter { name, primitive, enumeration } in &function.parameters {
        let (kind, facets) = match enumeration {
            Some(id) => (model.enumerations[id.0].full_name.clone(), Vec::new()),
            None => (type_name(*primitive), facets(*primitive)),
        };
        let mut attributes = vec![("Name", name.as_str()), ("Type", kind.as_str()), ("Nullable", "false")];
        attributes.extend(facets.iter().map(|(name, value)| (*name, value.as_str())));
        empty(out, "Parameter", &attributes);
    }
    let returns = match function.returns {
        FunctionReturn::Nothing => None,
        FunctionReturn::Complex(id) => Some(format!("{}.{}", model.namespace, model.complex_types[id.0].name)),
        FunctionReturn::Entity(set) => Some(format!("{}.{}", model.namespace, model.type_of(set).name)),
        FunctionReturn::Entities(set) => Some(format!("Collection({}.{})", model.namespace, model.type_of(set).name)),
    };
    if let Some(returns) = returns {
        empty(out, "ReturnType", &[("Type", &returns), ("Nullable", "false")]);
    }
    close(out, operation(function));
}

fn write_import(out: &mut Vec<u8>, model: &Model, function: &FunctionImport) {
    let kind = operation(function);
    let target = format!("{}.{}", model.namespace, function.name);
    let mut attributes = vec![("Name", function.name.as_str()), (kind, target.as_str())];
    if let FunctionReturn::Entity(set) | FunctionReturn::Entities(set) = function.returns {
        attributes.push(("EntitySet", &model.entity_sets[set.0].name));
    }
    empty(out, if kind == "Function" { "FunctionImport" } else { "ActionImport" }, &attributes);
}

fn type_name(primitive: Primitive) -> String {
    match primitive {
        Primitive::Collection(item) => item.collection_name().to_owned(),
        primitive => format!("Edm.{}", v4::type_name(primitive)),
    }
}

/// The type of what holds members of an enumeration: one, or a collection.
fn of_enumeration(full_name: &str, stored: Primitive) -> String {
    match stored.item() {
        Some(_) => format!("Collection({full_name})"),
        None => full_name.to_owned(),
    }
}

fn facets(primitive: Primitive) -> Vec<(&'static str, String)> {
    match primitive {
        Primitive::Collection(item) => facets(item.primitive()),
        Primitive::String { length_max } | Primitive::Binary { length_max } if length_max > 0 => {
            vec![("MaxLength", length_max.to_string())]
        }
        Primitive::Decimal { precision, scale } if precision > 0 => {
            vec![("Precision", precision.to_string()), ("Scale", scale.to_string())]
        }
        // Without a scale a decimal would have no digits after its point.
        Primitive::Decimal { .. } => vec![("Scale", "variable".to_owned())],
        Primitive::DateTime { precision }
        | Primitive::DateTimeOffset { precision }
        | Primitive::TimeOfDay { precision }
            if precision > 0 =>
        {
            vec![("Precision", precision.to_string())]
        }
        _ => Vec::new(),
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

//! Hierarchies: an entity type with those that derive from it. Their entities are in one set, and one leaf identifies
//! the type of each.
//!
//! An [`EntityType`] that has a hierarchy has the properties of all its types, which is what V2 and plain REST show. V4 sees
//! it as one of its types ([`Model::seen`]): the positions stay the same, names of other types are unknown.
//!
//! It deliberately does not say how a value came into that leaf.

use super::value::{Cell, Value};
use super::{EntityType, LeafId, Model, NavigationId, NavigationProperty, Property, SetId, TypeId, Version};

/// Position of a type in [`Hierarchy::subtypes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SubtypeId(pub usize);

impl SubtypeId {
    /// The base type of all others in the hierarchy; in a type without a hierarchy, that type.
    pub const ROOT: SubtypeId = SubtypeId(0);
}

/// A type and those that derive from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Hierarchy {
    /// The leaf whose value identifies the type of an entity.
    pub discriminator: LeafId,
    /// The types, each behind the one that it derives from.
    pub subtypes: Vec<Subtype>,
}

/// One type of a hierarchy.
#[derive(Debug, Clone, PartialEq)]
pub struct Subtype {
    /// Name without namespace.
    pub name: String,
    /// The base type; none for the root.
    pub base: Option<SubtypeId>,
    /// The value of the discriminator for its entities; an abstract type has none.
    pub stored: Option<Value>,
    /// The properties that it declares itself, as positions in [`EntityType::properties`]; the root has all that no other
    /// type declares.
    pub properties: Vec<usize>,
    /// The navigation properties that it declares itself, in the same way.
    pub navigation: Vec<NavigationId>,
    /// `sap:label` of the type.
    pub label: Option<String>,
}

/// A type as a document of V4 declares it.
pub(crate) struct Declaration<'m> {
    pub(crate) name: &'m str,
    pub(crate) base: Option<&'m str>,
    pub(crate) is_abstract: bool,
    pub(crate) properties: Vec<usize>,
    pub(crate) navigation: Vec<NavigationId>,
}

/// The one of its types as which an [`EntityType`] is seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    whole: TypeId,
    subtype: SubtypeId,
    properties: Vec<bool>,
    navigation: Vec<bool>,
}

impl Hierarchy {
    /// Whether entities of `subtype` are entities of `of`.
    pub fn is_a(&self, subtype: SubtypeId, of: SubtypeId) -> bool {
        let mut at = Some(subtype);
        while let Some(here) = at {
            if here == of {
                return true;
            }
            at = self.subtypes[here.0].base;
        }
        false
    }

    /// Values of the discriminator for entities of `of`, those of its derived types included.
    pub fn stored(&self, of: SubtypeId) -> Vec<Value> {
        let types = self.subtypes.iter().enumerate().filter(|(position, _)| self.is_a(SubtypeId(*position), of));
        types.filter_map(|(_, subtype)| subtype.stored.clone()).collect()
    }

    /// The type of an entity with this discriminator, if there is one.
    pub fn of_value(&self, discriminator: Cell<'_>) -> Option<SubtypeId> {
        let is_it = |subtype: &Subtype| subtype.stored.as_ref().is_some_and(|stored| stored.cell() == discriminator);
        self.subtypes.iter().position(is_it).map(SubtypeId)
    }

    /// The type that declares a property, by its position.
    pub fn declares(&self, property: usize) -> SubtypeId {
        let declares = |subtype: &Subtype| subtype.properties.contains(&property);
        self.subtypes.iter().position(declares).map_or(SubtypeId::ROOT, SubtypeId)
    }

    /// The type that declares a navigation property.
    pub fn declares_navigation(&self, navigation: NavigationId) -> SubtypeId {
        let declares = |subtype: &Subtype| subtype.navigation.contains(&navigation);
        self.subtypes.iter().position(declares).map_or(SubtypeId::ROOT, SubtypeId)
    }
}

impl Model {
    /// Fills how types with a hierarchy are seen. Call it once, after the last navigation property was added.
    pub fn finish_hierarchies(&mut self) {
        for (position, entity_type) in self.entity_types.iter_mut().enumerate() {
            let Some(hierarchy) = &entity_type.hierarchy else { continue };
            let view = |(subtype, declared): (usize, &Subtype)| {
                let subtype = SubtypeId(subtype);
                let properties = 0..entity_type.properties.len();
                let navigation = (0..entity_type.navigation.len()).map(NavigationId);
                let seen = Seen {
                    whole: TypeId(position),
                    subtype,
                    properties: properties.map(|at| hierarchy.is_a(subtype, hierarchy.declares(at))).collect(),
                    navigation: navigation
                        .map(|at| hierarchy.is_a(subtype, hierarchy.declares_navigation(at)))
                        .collect(),
                };
                let name = declared.name.clone();
                EntityType { name, seen: Some(seen), views: Vec::new(), ..entity_type.clone() }
            };
            entity_type.views = hierarchy.subtypes.iter().enumerate().map(view).collect();
        }
    }

    /// The type of the entities in `set` as a version sees it: V4 as the subtype, V2 with all properties that there are.
    pub fn seen(&self, version: Version, set: SetId, subtype: SubtypeId) -> &EntityType {
        let whole = self.type_of(set);
        match version {
            Version::V2 => whole,
            Version::V4 => whole.views.get(subtype.0).unwrap_or(whole),
        }
    }

    /// The same type as another one of its hierarchy.
    pub fn seen_as<'m>(&'m self, entity_type: &'m EntityType, subtype: SubtypeId) -> &'m EntityType {
        self.whole(entity_type).views.get(subtype.0).unwrap_or(entity_type)
    }

    /// The type as it is in [`Model::entity_types`], independent of how it is seen.
    pub fn whole<'m>(&'m self, entity_type: &'m EntityType) -> &'m EntityType {
        entity_type.seen.as_ref().map_or(entity_type, |seen| &self.entity_types[seen.whole.0])
    }

    /// The type of that qualified name in the hierarchy of a type.
    pub fn subtype(&self, entity_type: &EntityType, qualified: &str) -> Option<SubtypeId> {
        let name = qualified.strip_prefix(self.namespace.as_str())?.strip_prefix('.')?;
        match &entity_type.hierarchy {
            Some(hierarchy) => hierarchy.subtypes.iter().position(|known| known.name == name).map(SubtypeId),
            None => (entity_type.name == name).then_some(SubtypeId::ROOT),
        }
    }

    /// The name of a type of a hierarchy, with its namespace.
    pub fn qualified(&self, entity_type: &EntityType, subtype: SubtypeId) -> String {
        let known = entity_type.hierarchy.as_ref().and_then(|hierarchy| hierarchy.subtypes.get(subtype.0));
        let name = known.map_or(&entity_type.name, |subtype| &subtype.name);
        format!("{}.{name}", self.namespace)
    }
}

impl EntityType {
    /// The one of its types as which it is seen.
    pub fn seen_subtype(&self) -> SubtypeId {
        self.seen.as_ref().map_or(SubtypeId::ROOT, |seen| seen.subtype)
    }

    /// Whether entities of one of its types are entities of another.
    pub fn is_a(&self, subtype: SubtypeId, of: SubtypeId) -> bool {
        self.hierarchy.as_ref().is_none_or(|hierarchy| hierarchy.is_a(subtype, of))
    }

    /// The one of its types that declares a leaf.
    pub fn declares(&self, leaf: LeafId) -> SubtypeId {
        let property = self.leaves[leaf.0].property;
        self.hierarchy.as_ref().map_or(SubtypeId::ROOT, |hierarchy| hierarchy.declares(property))
    }

    /// The one of its types that declares a navigation property.
    pub fn declares_navigation(&self, navigation: NavigationId) -> SubtypeId {
        self.hierarchy.as_ref().map_or(SubtypeId::ROOT, |hierarchy| hierarchy.declares_navigation(navigation))
    }

    /// Whether entities of one of its types have a leaf.
    pub fn has(&self, subtype: SubtypeId, leaf: LeafId) -> bool {
        self.is_a(subtype, self.declares(leaf))
    }

    /// The types that a document of V4 declares for it, with the positions of what each declares itself.
    pub(crate) fn declarations(&self) -> Vec<Declaration<'_>> {
        let types = self.hierarchy.as_ref().map_or(1, |hierarchy| hierarchy.subtypes.len());
        let declaration = |at: usize| {
            let id = SubtypeId(at);
            let subtype = self.hierarchy.as_ref().map(|hierarchy| &hierarchy.subtypes[at]);
            let base = subtype.and_then(|subtype| subtype.base).zip(self.hierarchy.as_ref());
            let declares =
                |property: &usize| self.hierarchy.as_ref().is_none_or(|known| known.declares(*property) == id);
            let navigation = (0..self.navigation.len()).map(NavigationId);
            Declaration {
                name: subtype.map_or(&self.name, |subtype| &subtype.name),
                base: base.map(|(base, hierarchy)| hierarchy.subtypes[base.0].name.as_str()),
                is_abstract: subtype.is_some_and(|subtype| subtype.stored.is_none()),
                properties: (0..self.properties.len()).filter(declares).collect(),
                navigation: navigation.filter(|navigation| self.declares_navigation(*navigation) == id).collect(),
            }
        };
        (0..types).map(declaration).collect()
    }

    /// Its navigation properties, each with the name of the type that declares it where that is a derived one.
    pub(crate) fn bound_navigation(&self) -> impl Iterator<Item = (Option<&str>, &NavigationProperty)> {
        self.navigation.iter().enumerate().map(|(at, navigation)| {
            let of = self.declares_navigation(NavigationId(at));
            let derived = self.hierarchy.as_ref().filter(|_| of != SubtypeId::ROOT);
            (derived.map(|hierarchy| hierarchy.subtypes[of.0].name.as_str()), navigation)
        })
    }

    /// Whether the property at this position is one of the type as it is seen.
    pub(crate) fn sees_property(&self, property: usize) -> bool {
        self.seen.as_ref().is_none_or(|seen| seen.properties[property])
    }

    /// Whether the navigation property is one of the type as it is seen.
    pub fn sees_navigation(&self, navigation: NavigationId) -> bool {
        self.seen.as_ref().is_none_or(|seen| seen.navigation[navigation.0])
    }

    /// The names of its properties that a version shows, and of its navigation properties, as it is seen.
    pub fn names(&self, version: Version) -> impl Iterator<Item = &str> {
        let shown = move |(at, property): &(usize, &Property)| self.sees_property(*at) && property.is_shown_in(version);
        let properties = self.properties.iter().enumerate().filter(shown);
        let navigation = self.navigation.iter().enumerate().filter(|(at, _)| self.sees_navigation(NavigationId(*at)));
        properties.map(|(_, property)| property.name.as_str()).chain(navigation.map(|(_, leads)| leads.name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn a_type_is_seen_with_what_it_declares_and_inherits() {
        let model = testing::staff();
        let whole = model.type_of(testing::PEOPLE);
        let check = |subtype: usize, names: &[&str]| {
            let seen = model.seen(Version::V4, testing::PEOPLE, SubtypeId(subtype));
            assert_eq!(seen.names(Version::V4).collect::<Vec<_>>(), names);
            for name in whole.names(Version::V4) {
                let known = seen.property(name).is_some() || seen.navigation(name).is_some();
                assert_eq!(known, names.contains(&name), "{name}");
            }
        };
        check(0, &["id", "name", "kind", "friend_id", "friend", "People_by_friend", "People_by_boss"]);
        check(
            1,
            &[
                "id",
                "name",
                "kind",
                "friend_id",
                "salary",
                "boss_id",
                "friend",
                "People_by_friend",
                "boss",
                "People_by_boss",
            ],
        );
        assert_eq!(whole.names(Version::V4).count(), 12);
        assert_eq!(model.seen(Version::V2, testing::PEOPLE, SubtypeId::ROOT).name, "Person");
    }

    #[test]
    fn entities_of_a_type_are_those_of_its_derived_types_too() {
        let model = testing::staff();
        let hierarchy = model.type_of(testing::PEOPLE).hierarchy.as_ref().unwrap();
        let texts = |of: usize| hierarchy.stored(SubtypeId(of)).into_iter().collect::<Vec<_>>();
        let text = |text: &str| Value::String(text.to_owned());
        assert_eq!(texts(0), [text("p"), text("e"), text("m"), text("g")]);
        assert_eq!(texts(1), [text("e"), text("m")]);
        assert_eq!(texts(3), [text("g")]);
        assert_eq!(hierarchy.of_value(Cell::Text(b"m")), Some(SubtypeId(2)));
        assert_eq!(hierarchy.of_value(Cell::Text(b"?")), None);
        assert!(hierarchy.is_a(SubtypeId(2), SubtypeId::ROOT) && !hierarchy.is_a(SubtypeId(1), SubtypeId(2)));
    }
}

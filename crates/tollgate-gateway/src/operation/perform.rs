//! Performing a prepared operation: changes in the store, and their answer.
//!
//! It runs inside the caller's transaction and undoes nothing: after an error the caller does.

use tollgate_wire::edm::{SetId, Version};
use tollgate_wire::entry::Entry;
use tollgate_wire::format::Format;
use tollgate_wire::plan::{Expand, Key, Options, Plan, Select, Shape};
use tollgate_wire::stencil::Base;
use tollgate_wire::url;
use tollgate_wire::value::Cell;

use super::action::{self, Acted, Acting};
use super::change::{Absent, Changed, How};
use super::create::{self, Creation};
use super::prepare::{Action, Choice, Prepared};
use super::represent::{self, Manner, Represent, Wanted};
use super::request::Performed;
use super::{spare, subtype};
use crate::error::Fault;
use crate::hosted::Hosted;
use crate::http::answer::{Answer, EntityId};
use crate::http::data_version;
use crate::http::headers::Conditions;
use crate::operation::head::preferences::{Preferences, Returning};
use crate::store::Connection;

impl Prepared {
    /// Whether it makes one change at most and reads nothing: it creates an entity that comes alone, into a set that no
    /// other entity refers to, and its answer is the stored row.
    pub(crate) fn is_single_change(&self) -> bool {
        let Action::Create { plan, entry } = &self.action else { return false };
        plan.steps.is_empty() && plan.options == Options::default() && create::is_alone(entry)
    }

    /// Whether it may take so long that others must not wait for it: it affects many entities.
    pub(crate) fn is_for_many(&self) -> bool {
        matches!(&self.action, Action::Act(acting) if acting.is_for_many())
    }

    /// Performs the operation inside a transaction that the caller began. `answer` is begun anew; `root` is the
    /// absolute URL of the service.
    ///
    /// # Errors
    /// The fault for the client; the caller undoes all changes.
    pub(crate) fn perform(
        self,
        service: &Hosted,
        connection: &mut Connection,
        root: &str,
        answer: &mut Answer,
    ) -> Result<Performed, Fault> {
        let Prepared { action, version, author, conditions, preferences, format, choice } = self;
        answer.clear();
        if let Some((name, said)) = data_version::said_with(format) {
            answer.header(name, said);
        }
        let updated = if format == Format::V2Atom { author.stamp().atom() } else { String::new() };
        let manner = Manner { format, root, updated: &updated };
        let mut work = Performing {
            creation: Creation { service, connection, author: &author },
            version,
            preferences,
            manner,
            choice,
            answer,
        };
        match action {
            Action::Create { plan, mut entry } => {
                work.create(*plan, &mut entry)?;
                spare::give_back(entry);
            }
            Action::Change { plan, mut entry, how, absent } => {
                work.change(*plan, &mut entry, (how, absent), &conditions)?;
                spare::give_back(entry);
            }
            Action::Delete { plan } => {
                work.creation.delete(version, *plan, &conditions)?;
                work.answer.status = 204;
            }
            Action::Relate { plan, change } => {
                work.creation.relate(version, *plan, change, &conditions)?;
                work.answer.status = 204;
            }
            Action::Act(acting) => work.act(*acting, &conditions)?,
        }
        Ok(Performed::Wrote)
    }
}

/// An operation being performed.
struct Performing<'a> {
    creation: Creation<'a>,
    version: Version,
    preferences: Preferences,
    manner: Manner<'a>,
    choice: Choice,
    answer: &'a mut Answer,
}

impl Performing<'_> {
    fn create(&mut self, mut plan: Plan, entry: &mut Entry) -> Result<(), Fault> {
        let set = plan.set();
        let mut options = std::mem::take(&mut plan.options);
        plan.options.casts = subtype::uncast(&mut options);
        self.creation.relate_to_parent(plan, entry)?;
        self.insert(set, entry, &mut options)
    }

    /// Creates the entity and answers it.
    fn insert(&mut self, set: SetId, entry: &mut Entry, options: &mut Options) -> Result<(), Fault> {
        let wanted = if self.preferences.returning == Returning::Minimal { Wanted::Fields } else { Wanted::Body };
        let service = self.creation.service;
        let plain = *options == Options::default();
        if plain && create::is_alone(entry) {
            let stencil = service.stencils.of(&service.model, set, Shape::Entity, self.manner.format, options);
            let base = Base::new(self.manner.root, self.manner.updated);
            let mut represent = Represent::new(&stencil, base, wanted, self.answer);
            self.creation.alone(set, entry, &mut represent)?;
        } else {
            // What was created together is answered together, as far as one level of expansion goes.
            let entity_type = service.model.type_of(set);
            if options.expand.is_empty() {
                let created_with = entry.children.iter().map(|(navigation, _)| {
                    Expand::new(*navigation, entity_type.navigation[navigation.0].target, Select::All)
                });
                options.expand = created_with.collect();
            }
            let key = self.creation.with_related(set, entry)?.key(entity_type);
            self.show((set, key), (Shape::Entity, std::mem::take(options)), wanted)?;
        }
        self.answer.status = if wanted == Wanted::Body { 201 } else { 204 };
        self.answer.say_location(
            self.manner.root,
            match self.version {
                Version::V2 => EntityId::Unsaid,
                Version::V4 => EntityId::Said,
            },
        );
        self.say_what_chose(wanted);
        Ok(())
    }

    fn change(
        &mut self,
        mut plan: Plan,
        entry: &mut Entry,
        how: (How, Absent),
        conditions: &Conditions,
    ) -> Result<(), Fault> {
        let mut options = std::mem::take(&mut plan.options);
        plan.options.subtype = options.subtype;
        let casts = subtype::uncast(&mut options);
        if !plan.steps.is_empty() {
            plan.options.casts = casts;
        }
        let shape = plan.shape;
        match self.creation.change(self.version, plan, entry, how, conditions)? {
            Changed::Missing(set) => self.insert(set, entry, &mut options),
            Changed::Updated(set, key) => {
                // A property that has become null is no content (Protocol 11.2.3), and a bare value is not answered.
                let wanted = match (self.preferences.returning, shape) {
                    (Returning::Representation, Shape::Entity) => Wanted::Body,
                    (Returning::Representation, Shape::Property(_) | Shape::Leaf(_)) if !is_null(shape, entry) => {
                        Wanted::Body
                    }
                    _ => Wanted::Fields,
                };
                self.tell((set, key), (shape, options), wanted)
            }
        }
    }

    /// Performs an action and answers the entities that it changed, if the model says so and the client does not prefer
    /// less.
    fn act(&mut self, acting: Acting, conditions: &Conditions) -> Result<(), Fault> {
        let minimal = self.preferences.returning == Returning::Minimal;
        let wanted = if minimal { Wanted::Fields } else { Wanted::Body };
        match self.creation.act(self.version, acting, conditions)? {
            Acted::One(entity, options) => return self.tell(entity, (Shape::Entity, options), wanted),
            Acted::Many(plan) if wanted == Wanted::Body => {
                action::write_many(&mut self.creation, plan, self.manner, self.answer)?;
                self.answer.status = 200;
                self.say_what_chose(Wanted::Body);
            }
            Acted::Nothing | Acted::Many(_) => {
                if !minimal {
                    // There is nothing that could be represented.
                    self.preferences.returning = Returning::Unsaid;
                }
                self.answer.status = 204;
                self.say_what_chose(Wanted::Fields);
            }
        }
        Ok(())
    }

    /// Answers the entity as it is after a change, or only its fields.
    fn tell(&mut self, (set, key): (SetId, Key), what: (Shape, Options), wanted: Wanted) -> Result<(), Fault> {
        let model = &self.creation.service.model;
        if wanted == Wanted::Body || model.type_of(set).etag.is_some() {
            self.show((set, key), what, wanted)?;
        } else {
            url::write_address(&mut self.answer.address, self.version, model, set, &key);
        }
        self.answer.status = if wanted == Wanted::Body { 200 } else { 204 };
        self.say_what_chose(wanted);
        Ok(())
    }

    fn show(&mut self, entity: (SetId, Key), what: (Shape, Options), wanted: Wanted) -> Result<(), Fault> {
        let Creation { service, connection, .. } = &mut self.creation;
        represent::as_stored(service, connection, entity, what, self.manner, wanted, self.answer)
    }

    fn say_what_chose(&mut self, wanted: Wanted) {
        self.preferences.say_written(wanted == Wanted::Body, self.answer);
        if wanted == Wanted::Body && self.choice == Choice::Accept {
            self.answer.header("vary", "Accept");
        }
    }
}

/// Whether the written leaf is null.
fn is_null(shape: Shape, entry: &Entry) -> bool {
    matches!(shape, Shape::Leaf(leaf) if entry.cell_of(leaf) == Some(Cell::Null))
}

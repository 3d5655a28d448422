//! Actions: their effects in the model, applied to the entities that they reach.
//!
//! Values are computed by the database, read, checked against the types of the properties, and written like those of
//! any change: with the managed properties of the entity, its ETag and its conditions. It runs inside the caller's
//! transaction and undoes nothing: after an error the caller does.

use tollgate_net::http1::Method;
use tollgate_wire::edm::{EntityType, FunctionMethod, FunctionReturn, LeafId, Primitive, SetId, Version};
use tollgate_wire::entry::Entry;
use tollgate_wire::format::DocumentKind;
use tollgate_wire::plan::{
    Act, Columns, Comparison, Computed, Expression, ExpressionKind, Key, Logic, Options, Origin, Plan, Select, Shape,
};
use tollgate_wire::query::{Effected, resolve_action};
use tollgate_wire::value::{Row, Value};

use super::create::Creation;
use super::prepare::{Action, Choice, Prepared, check_options};
use super::represent::Manner;
use super::request::{Request, method_text};
use super::target::{self, Presence};
use super::{head, provide, reach, relation, subtype};
use crate::auth::Verb;
use crate::error::Fault;
use crate::hosted::Hosted;
use crate::http::answer::Answer;
use crate::http::headers::Conditions;
use crate::operation::head::methods::allowed_of_action;
use crate::operation::head::negotiation;
use crate::operation::head::preferences::{Preferences, Returning};
use crate::operation::read::feed::{Feed, Next};
use crate::store::{Flow, RowSink, Store};
use crate::work::allowance::Spent;

/// Most entities changed by one call: each costs some statements while others wait for the transaction.
pub(super) const ENTITIES_MAX: u64 = 1_000;

/// An action with the data of its request.
pub(super) struct Acting {
    plan: Plan,
    set: SetId,
    name: String,
    effected: Effected,
    answers: Answers,
}

/// Answer of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answers {
    Nothing,
    /// The entities that it has changed.
    Changed,
}

/// The entities that an action has changed, and the options for showing them.
pub(super) enum Acted {
    Nothing,
    One((SetId, Key), Options),
    Many(Plan),
}

/// Reads and checks a call.
///
/// # Errors
/// All errors that can be found without a database.
pub(super) fn prepare(
    service: &Hosted,
    request: &Request<'_>,
    (method, preferences): (Method, Preferences),
    act: Act,
) -> Result<Prepared, Fault> {
    let Request { version, headers, .. } = *request;
    let model = &*service.model;
    let Act { action, mut plan, arguments } = act;
    let declared = &model.function_imports[action];
    let meant = match (version, declared.method) {
        (Version::V2, FunctionMethod::Put) => Method::Put,
        _ => Method::Post,
    };
    if method != meant {
        return Err(Fault::method_not_allowed(method_text(method), allowed_of_action(version, declared)));
    }
    let Some(effect) = declared.effect() else {
        return Err(Fault::internal("what is no action was called as one"));
    };
    check_options(&plan.options)?;
    let conditions = Conditions::of(headers);
    if plan.shape == Shape::Collection && !conditions.is_empty() {
        return Err(Fault::bad_request("If-Match", "the action is for many entities, whose states differ"));
    }
    let arguments = match arguments {
        Some(arguments) => arguments,
        None => {
            let format = head::body_format(version, headers)?;
            service.bodies.read_arguments(request.body, format, action)?
        }
    };
    let effected = resolve_action(model, declared, effect, &arguments)?;
    let access = request.author.access();
    let expressions = effected.matching.iter().chain(&effected.condition);
    let expressions = expressions.chain(effected.values.iter().map(|(_, expression)| expression));
    expressions.into_iter().try_for_each(|expression| reach::check_expression(access, expression))?;
    let answers = match declared.returns {
        FunctionReturn::Nothing | FunctionReturn::Complex(_) => Answers::Nothing,
        FunctionReturn::Entity(_) | FunctionReturn::Entities(_) => Answers::Changed,
    };
    let option = plan.options.format.take();
    let choice = if option.is_some() { Choice::Option } else { Choice::Accept };
    let format = match answers {
        Answers::Changed if preferences.returning != Returning::Minimal => {
            access.check(effect.set, Verb::Get)?;
            negotiation::document(version, option.as_deref(), headers)?
        }
        Answers::Nothing | Answers::Changed => negotiation::default(version, headers),
    };
    let acting = Acting { plan, set: effect.set, name: declared.name.clone(), effected, answers };
    Ok(Prepared {
        action: Action::Act(Box::new(acting)),
        version,
        author: request.author.clone(),
        conditions,
        preferences,
        format,
        choice,
    })
}

impl Acting {
    /// Whether it may change so many entities that others must not wait for it on the loop.
    pub(super) fn is_for_many(&self) -> bool {
        self.plan.shape == Shape::Collection
    }
}

impl Creation<'_> {
    /// Performs an action.
    ///
    /// # Errors
    /// 404, 412, 428; 409 if its condition is false for an entity; 400 if a value does not fit its property; and errors
    /// of the store.
    pub(super) fn act(&mut self, version: Version, acting: Acting, conditions: &Conditions) -> Result<Acted, Fault> {
        let Acting { mut plan, set, name, effected, answers } = acting;
        let mut options = std::mem::take(&mut plan.options);
        let casts = subtype::uncast(&mut options);
        if plan.shape != Shape::Collection {
            plan.key = effected.key.clone().or(plan.key);
            plan.options.casts = casts;
            let Some((set, key)) = target::locate(self.service, self.connection, plan)? else {
                return Err(Fault::not_found("there is no entity with this key"));
            };
            if target::hold(self.service, self.connection, version, (set, &key), conditions)? == Presence::Missing {
                return Err(Fault::not_found("there is no entity with this key"));
            }
            self.affect(set, &key, &effected, &name)?;
            return Ok(match answers {
                Answers::Nothing => Acted::Nothing,
                Answers::Changed => Acted::One((set, key), options),
            });
        }
        let model = &*self.service.model;
        let filter = effected.matching.clone();
        plan.options = Options { filter, casts, top: Some(ENTITIES_MAX + 1), ..Options::default() };
        let found = self.keys(set, plan)?;
        if found.len() as u64 > ENTITIES_MAX {
            let message = format!("{name} would change more than {ENTITIES_MAX} entities, which is the most at once");
            return Err(Fault::bad_request(&name, message));
        }
        let mut changed = Vec::with_capacity(found.len());
        for key in found {
            if self.connection.lock(model, set, &key)? && self.affect(set, &key, &effected, &name)? {
                changed.push(key);
            }
        }
        Ok(match answers {
            Answers::Nothing => Acted::Nothing,
            Answers::Changed => {
                let filter = Some(one_of(model.type_of(set), &changed));
                let options = Options { filter, ..options };
                Acted::Many(Plan { root: set, key: None, steps: Vec::new(), shape: Shape::Collection, options })
            }
        })
    }

    /// The keys of the entities that `plan` leads to.
    fn keys(&mut self, set: SetId, mut plan: Plan) -> Result<Vec<Key>, Fault> {
        struct KeySink {
            columns: Vec<(usize, Primitive)>,
            keys: Vec<Key>,
        }
        impl RowSink for KeySink {
            fn entity<R: Row>(&mut self, row: &R) -> Flow {
                let part = |(column, primitive): &(usize, Primitive)| Value::of(row.cell(*column), *primitive);
                self.keys.push(Key(self.columns.iter().map(part).collect()));
                Flow::Continue
            }
        }
        let model = &*self.service.model;
        let entity_type = model.type_of(set);
        plan.options.select = Select::key_of(entity_type);
        let columns = Columns::new(entity_type, &plan.options.select, &[]);
        let column = |leaf: &LeafId| {
            let column = columns.of(*leaf).ok_or_else(|| Fault::internal("a part of the key was not selected"))?;
            Ok((column, entity_type.leaves[leaf.0].primitive))
        };
        let columns = entity_type.key.iter().map(column).collect::<Result<_, Fault>>()?;
        let mut sink = KeySink { columns, keys: Vec::new() };
        let outcome = self.connection.read(model, &plan, None, &mut sink)?;
        match outcome.found {
            true => Ok(sink.keys),
            false => Err(Fault::not_found("the path leads through an entity that does not exist")),
        }
    }

    /// Changes the entity with this key, which is locked. False if it no longer matches.
    fn affect(&mut self, set: SetId, key: &Key, effected: &Effected, name: &str) -> Result<bool, Fault> {
        let model = &*self.service.model;
        let entity_type = model.type_of(set);
        let judged = self.judge(set, key, effected)?;
        if !judged.is_meant {
            return Ok(false);
        }
        if !judged.may_be {
            return Err(Fault::not_in_state(name));
        }
        let mut entry = Entry::new(entity_type.leaves.len());
        for ((leaf, _), value) in effected.values.iter().zip(judged.values) {
            self.service.bodies.assign(set, *leaf, value, &mut entry)?;
        }
        if let Some(subtype) = self.subtype_of(set, key)? {
            subtype::check_change(entity_type, subtype, &mut entry)?;
        }
        provide::for_change(entity_type, &mut entry, self.author);
        provide::check_nulls(entity_type, &entry)?;
        let updated = self.connection.update(model, set, key, &entry);
        updated.map_err(|error| relation::refused(model, set, &entry, error))
    }

    /// Evaluates the action's conditions on the entity with this key, and its new values.
    fn judge(&mut self, set: SetId, key: &Key, effected: &Effected) -> Result<Judged, Fault> {
        struct ValueSink {
            first: usize,
            primitives: Vec<Option<Primitive>>,
            values: Vec<Value>,
        }
        impl RowSink for ValueSink {
            fn entity<R: Row>(&mut self, row: &R) -> Flow {
                let value = |(index, primitive): (usize, &Option<Primitive>)| match primitive {
                    Some(primitive) => Value::of(row.cell(self.first + index), *primitive),
                    None => Value::Null,
                };
                self.values = self.primitives.iter().enumerate().map(value).collect();
                Flow::Stop
            }
        }
        let model = &*self.service.model;
        let entity_type = model.type_of(set);
        let given = effected.values.iter().map(|(_, expression)| expression);
        let asked: Vec<&Expression> = effected
            .matching
            .iter()
            .chain(&effected.condition)
            .chain(given.filter(|given| !is_literal(given)))
            .collect();
        let mut sink = ValueSink { first: 0, primitives: Vec::new(), values: Vec::new() };
        if !asked.is_empty() {
            let select = Select::key_of(entity_type);
            sink.first = Columns::new(entity_type, &select, &[]).leaves.len();
            sink.primitives = asked.iter().map(|expression| expression.primitive).collect();
            let compute = asked.iter().enumerate().map(|(index, expression)| Computed {
                name: format!("value{index}"),
                primitive: expression.primitive.unwrap_or(Primitive::Boolean),
                enumeration: None,
                expression: (*expression).clone(),
                shown: true,
            });
            let options = Options { select, compute: compute.collect(), ..Options::default() };
            let plan = Plan { root: set, key: Some(key.clone()), steps: Vec::new(), shape: Shape::Entity, options };
            self.connection.read(model, &plan, None, &mut sink)?;
            if sink.values.len() != asked.len() {
                return Err(Fault::internal("an entity that is held is not there"));
            }
        }
        let mut computed = sink.values.into_iter();
        let mut is_true = |asked: &Option<Expression>| match asked {
            None => true,
            Some(_) => computed.next() == Some(Value::Boolean(true)),
        };
        let (is_meant, may_be) = (is_true(&effected.matching), is_true(&effected.condition));
        let value = |(_, expression): &(LeafId, Expression)| match &expression.kind {
            ExpressionKind::Literal(value) => value.clone(),
            _ => computed.next().unwrap_or(Value::Null),
        };
        Ok(Judged { is_meant, may_be, values: effected.values.iter().map(value).collect() })
    }
}

/// Evaluation of an action for an entity.
struct Judged {
    is_meant: bool,
    may_be: bool,
    values: Vec<Value>,
}

fn is_literal(expression: &Expression) -> bool {
    matches!(expression.kind, ExpressionKind::Literal(_))
}

/// Writes the entities that an action has changed.
pub(super) fn write_many(
    creation: &mut Creation<'_>,
    plan: Plan,
    manner: Manner<'_>,
    answer: &mut Answer,
) -> Result<(), Fault> {
    let Creation { service, connection, .. } = creation;
    let model = &*service.model;
    let set = plan.set();
    answer.header("content-type", manner.format.content_type(DocumentKind::Feed));
    let stencil = service.stencils.of(model, set, plan.shape, manner.format, &plan.options);
    let mut feed = Feed {
        plan,
        stencil,
        root: manner.root.to_owned(),
        updated: manner.updated.to_owned(),
        path: model.entity_sets[set.0].name.clone(),
        next: Next::Token { query: None },
        page_left: ENTITIES_MAX,
        written: 0,
        next_page: None,
        spent: Spent::default(),
    };
    feed.write_whole(service, connection, &mut answer.body)
}

/// Condition that an entity has one of these keys.
fn one_of(entity_type: &EntityType, keys: &[Key]) -> Expression {
    let boolean = |kind| Expression { kind, primitive: Some(Primitive::Boolean), position: 0 };
    let both = |logic: Logic| move |left, right| boolean(ExpressionKind::Logic(logic, Box::new(left), Box::new(right)));
    let is_key = |key: &Key| {
        let parts = entity_type.key.iter().zip(&key.0).map(|(leaf, value)| {
            let of = |kind| {
                Box::new(Expression { kind, primitive: Some(entity_type.leaves[leaf.0].primitive), position: 0 })
            };
            let leaf = of(ExpressionKind::Leaf { of: Origin::It, through: Vec::new(), leaf: *leaf });
            boolean(ExpressionKind::Compare(Comparison::Equal, leaf, of(ExpressionKind::Literal(value.clone()))))
        });
        parts.reduce(both(Logic::And)).unwrap_or_else(|| boolean(ExpressionKind::Literal(Value::Boolean(true))))
    };
    balanced(keys.iter().map(is_key).collect(), both(Logic::Or))
        .unwrap_or_else(|| boolean(ExpressionKind::Literal(Value::Boolean(false))))
}

/// Joins all of them, as a tree whose height is the logarithm of their number.
fn balanced(mut all: Vec<Expression>, join: impl Fn(Expression, Expression) -> Expression) -> Option<Expression> {
    while all.len() > 1 {
        let mut pairs = all.into_iter();
        let mut halved = Vec::new();
        while let Some(left) = pairs.next() {
            halved.push(match pairs.next() {
                None => left,
                Some(right) => join(left, right),
            });
        }
        all = halved;
    }
    all.pop()
}

//! Access rules for reading and writing. They are compiled once for each place where a service is mounted, into a table
//! of entity sets and methods; a request then looks up and compares.
//!
//! A rule for an entity set applies however the set is reached. The sets that a request reaches are not decided here:
//! the code that serves the request checks each set.

use std::fmt;
use std::sync::Arc;

use tollgate_net::http1::Method;
use tollgate_wire::edm::SetId;

use super::caller::{Caller, User};
use crate::error::Fault;

/// One rule. The first match decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessRule {
    /// Path that it applies to, with everything below; absent: any.
    pub path: Option<String>,
    /// Names of the entity sets it applies to; absent: all, and everything that is no entity set.
    pub entity_sets: Option<Vec<String>>,
    /// Methods that it applies to; absent: all.
    pub methods: Option<Vec<Verb>>,
    /// Callers that are allowed.
    pub allow: Allow,
    /// Its file and line, for messages.
    pub place: String,
}

/// Allowed callers. Empty: nobody.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Allow(pub Vec<Principal>);

/// One kind of caller that a rule names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Principal {
    /// Every caller.
    Anyone,
    /// Every authenticated user.
    Authenticated,
    /// The user of this name.
    User(Box<str>),
    /// The users of this group.
    Group(Box<str>),
}

/// Operation on an entity set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Reading; HEAD, OPTIONS and TRACE count as that.
    Get,
    /// Creating an entity.
    Post,
    /// Replacing an entity, or a value of it.
    Put,
    /// Changing an entity: PATCH and MERGE, clearing a value, setting or clearing a relation.
    Patch,
    /// Deleting an entity.
    Delete,
}

/// Number of verbs.
const VERBS: usize = 5;

/// All access rules of a gateway.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    rules: Vec<AccessRule>,
    /// Allowed callers where no rule applies.
    default: Allow,
    /// Challenge for anonymous callers; absent where there is no authentication.
    challenge: Option<Arc<str>>,
}

/// Allowed callers in one place, by entity set and verb.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Grants {
    allows: Vec<Allow>,
    /// Positions in `allows`, for each set.
    sets: Vec<(Box<str>, [usize; VERBS])>,
    /// The same for everything that is no entity set.
    documents: [usize; VERBS],
    /// Each position used in any of them, once.
    any: Vec<usize>,
    /// Positions in `allows` that decide on reading anything here.
    reading: Vec<usize>,
    challenge: Option<Arc<str>>,
}

/// Permissions of one caller in one place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Access {
    caller: Caller,
    grants: Option<Arc<Grants>>,
}

impl Verb {
    /// Verb of an HTTP method.
    pub(crate) fn of(method: Method) -> Verb {
        match method {
            Method::Get | Method::Head | Method::Options | Method::Trace => Verb::Get,
            Method::Put => Verb::Put,
            Method::Patch | Method::Merge => Verb::Patch,
            Method::Delete => Verb::Delete,
            // Nothing has another method; who asks for it is told so, if they may do anything.
            Method::Post | Method::Other => Verb::Post,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Verb::Get => "read",
            Verb::Post => "create",
            Verb::Put => "replace",
            Verb::Patch => "change",
            Verb::Delete => "delete",
        }
    }
}

impl Allow {
    /// Allows everybody.
    pub fn anyone() -> Allow {
        Allow(vec![Principal::Anyone])
    }

    /// Allows every user.
    pub fn authenticated() -> Allow {
        Allow(vec![Principal::Authenticated])
    }

    fn permits(&self, user: Option<&User>) -> bool {
        self.0.iter().any(|principal| match (principal, user) {
            (Principal::Anyone, _) | (Principal::Authenticated, Some(_)) => true,
            (Principal::User(name), Some(user)) => **name == *user.name,
            (Principal::Group(group), Some(user)) => user.groups.contains(group),
            (_, None) => false,
        })
    }
}

impl AccessRule {
    fn is_for(&self, path: &str, set: Option<&str>, verb: usize) -> bool {
        self.path.as_ref().is_none_or(|own| is_within(path, own))
            && self.entity_sets.as_ref().is_none_or(|sets| set.is_some_and(|set| sets.iter().any(|own| own == set)))
            && self.methods.as_ref().is_none_or(|verbs| verbs.iter().any(|own| *own as usize == verb))
    }
}

/// Returns the same positions in their order, each once.
fn each_once(mut positions: Vec<usize>) -> Vec<usize> {
    positions.sort_unstable();
    positions.dedup();
    positions
}

/// Whether `path` is `root` or below it.
pub(crate) fn is_within(path: &str, root: &str) -> bool {
    let (path, root) = (path.trim_end_matches('/'), root.trim_end_matches('/'));
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Policy {
    /// Creates a policy from `rules`, in their order, and `default` where none of them applies.
    pub(crate) fn new(rules: Vec<AccessRule>, default: Allow, challenge: Option<Arc<str>>) -> Policy {
        Policy { rules, default, challenge }
    }

    /// Compiles the grants for `path`, with these paths of entity sets below it; `None` where everything is open.
    pub(crate) fn grants<'s>(
        &self,
        path: &str,
        sets: impl IntoIterator<Item = (&'s str, String)>,
    ) -> Option<Arc<Grants>> {
        if self.rules.is_empty() && self.default.permits(None) {
            return None;
        }
        // The rules in their order, and the default behind them.
        let mut allows: Vec<Allow> = self.rules.iter().map(|rule| rule.allow.clone()).collect();
        allows.push(self.default.clone());
        let decided = |path: &str, set: Option<&str>| -> [usize; VERBS] {
            std::array::from_fn(|verb| {
                let first = self.rules.iter().position(|rule| rule.is_for(path, set, verb));
                first.unwrap_or(self.rules.len())
            })
        };
        let sets: Vec<(Box<str>, [usize; VERBS])> =
            sets.into_iter().map(|(set, path)| (Box::from(set), decided(&path, Some(set)))).collect();
        let documents = decided(path, None);
        let rows = || sets.iter().map(|(_, row)| row).chain([&documents]);
        let any = each_once(rows().flatten().copied().collect());
        let reading = each_once(rows().map(|row| row[Verb::Get as usize]).collect());
        Some(Arc::new(Grants { allows, sets, documents, any, reading, challenge: self.challenge.clone() }))
    }

    /// Paths that the rules name.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().filter_map(|rule| rule.path.as_deref())
    }

    /// Rules that match none of these places: a path with, where it is one, the entity set below it.
    pub(crate) fn idle(&self, places: &[(String, Option<&str>)]) -> Vec<&AccessRule> {
        let is_for_any =
            |rule: &AccessRule| places.iter().any(|(path, set)| (0..VERBS).any(|verb| rule.is_for(path, *set, verb)));
        self.rules.iter().filter(|rule| !is_for_any(rule)).collect()
    }
}

impl Access {
    /// Permissions of `caller` under `grants`.
    pub(crate) fn new(caller: Caller, grants: Option<&Arc<Grants>>) -> Access {
        Access { caller, grants: grants.map(Arc::clone) }
    }

    /// The caller.
    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Bit set of the read rules that permit the caller: callers with the same set may get the same answer. `None` if
    /// there are more rules than bits.
    pub(crate) fn outcome(&self) -> Option<u64> {
        let Some(grants) = &self.grants else { return Some(0) };
        if grants.reading.len() > u64::BITS as usize {
            return None;
        }
        let permits = |allow: &usize| grants.allows[*allow].permits(self.caller.user());
        Some(grants.reading.iter().fold(0, |bits, allow| bits << 1 | u64::from(permits(allow))))
    }

    /// Whether no checks are needed.
    pub(crate) fn is_open(&self) -> bool {
        self.grants.is_none()
    }

    /// Checks that the caller may do anything here; others are refused before their request is read.
    ///
    /// # Errors
    /// 401 or 403.
    pub(crate) fn check_any(&self) -> Result<(), Fault> {
        let Some(grants) = &self.grants else { return Ok(()) };
        match grants.any.iter().any(|position| grants.allows[*position].permits(self.caller.user())) {
            true => Ok(()),
            false => Err(self.refusal(grants, None, "use this service")),
        }
    }

    /// Checks that the caller may do this with entities of a set.
    ///
    /// # Errors
    /// 401 for anonymous callers, 403 for others.
    pub(crate) fn check(&self, set: SetId, verb: Verb) -> Result<(), Fault> {
        let Some(grants) = &self.grants else { return Ok(()) };
        let (name, row) = &grants.sets[set.0];
        match grants.allows[row[verb as usize]].permits(self.caller.user()) {
            true => Ok(()),
            false => Err(self.refusal(grants, Some(name), &format!("{} entities of {name}", verb.name()))),
        }
    }

    /// Whether the caller may do this, without a reason if not.
    pub(crate) fn permits(&self, set: SetId, verb: Verb) -> bool {
        let Some(grants) = &self.grants else { return true };
        grants.allows[grants.sets[set.0].1[verb as usize]].permits(self.caller.user())
    }

    /// Checks the same for everything that is no entity set: the service document, `$metadata`, a function.
    ///
    /// # Errors
    /// As [`check`](Access::check).
    pub(crate) fn check_document(&self, verb: Verb) -> Result<(), Fault> {
        let Some(grants) = &self.grants else { return Ok(()) };
        match grants.allows[grants.documents[verb as usize]].permits(self.caller.user()) {
            true => Ok(()),
            false => Err(self.refusal(grants, None, &format!("{} that", verb.name()))),
        }
    }

    fn refusal(&self, grants: &Grants, target: Option<&str>, what: &str) -> Fault {
        match (self.caller.user(), &grants.challenge) {
            (Some(user), _) => Fault::not_permitted(target, format!("{} may not {what}", user.name)),
            (None, Some(challenge)) => Fault::unauthenticated(Arc::clone(challenge), "expected a name and a password"),
            (None, None) => Fault::not_permitted(target, format!("only known users may {what}")),
        }
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Principal::Anyone => formatter.write_str("anyone"),
            Principal::Authenticated => formatter.write_str("authenticated"),
            Principal::User(name) => write!(formatter, "user:{name}"),
            Principal::Group(name) => write!(formatter, "group:{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(path: Option<&str>, sets: Option<&[&str]>, methods: Option<&[Verb]>, allow: Vec<Principal>) -> AccessRule {
        AccessRule {
            path: path.map(str::to_owned),
            entity_sets: sets.map(|sets| sets.iter().map(|set| (*set).to_owned()).collect()),
            methods: methods.map(<[Verb]>::to_vec),
            allow: Allow(allow),
            place: String::new(),
        }
    }

    fn caller(name: &str, groups: &[&str]) -> Caller {
        Caller::known(Arc::new(User {
            name: name.into(),
            groups: groups.iter().map(|group| (*group).into()).collect(),
        }))
    }

    #[test]
    fn the_first_rule_that_fits_decides_and_the_default_the_rest() {
        let group = |name: &str| Principal::Group(name.into());
        let rules = vec![
            rule(None, Some(&["Secrets"]), None, vec![Principal::User("ann".into())]),
            rule(Some("/v4/"), None, Some(&[Verb::Get]), vec![Principal::Anyone]),
            rule(Some("/v4/Things"), None, Some(&[Verb::Delete]), vec![]),
            rule(Some("/v4"), None, None, vec![group("editors"), Principal::User("zoe".into())]),
        ];
        let policy = Policy::new(rules, Allow::authenticated(), None);
        let sets = [("Secrets", "/v4/Secrets".to_owned()), ("Things", "/v4/Things".to_owned())];
        let grants = policy.grants("/v4/", sets);
        let (nobody, ann, bob) = (Caller::anonymous(), caller("ann", &[]), caller("bob", &["editors", "x"]));
        let (secrets, things) = (SetId(0), SetId(1));
        for (caller, set, verb, expected) in [
            (&nobody, secrets, Verb::Get, false),
            (&bob, secrets, Verb::Get, false),
            (&ann, secrets, Verb::Delete, true),
            (&nobody, things, Verb::Get, true),
            (&nobody, things, Verb::Post, false),
            (&ann, things, Verb::Post, false),
            (&bob, things, Verb::Patch, true),
            (&bob, things, Verb::Delete, false),
            (&caller("zoe", &[]), things, Verb::Put, true),
            (&caller("Zoe", &["editor"]), things, Verb::Put, false),
        ] {
            let access = Access::new(caller.clone(), grants.as_ref());
            assert_eq!(access.permits(set, verb), expected, "{caller:?} {set:?} {verb:?}");
            assert_eq!(access.check(set, verb).is_ok(), expected, "{caller:?} {set:?} {verb:?}");
        }
        let elsewhere = Access::new(nobody.clone(), policy.grants("/v40/", []).as_ref());
        assert!(elsewhere.check_document(Verb::Get).is_err() && elsewhere.check_any().is_err());
        let here = Access::new(nobody, grants.as_ref());
        assert!(here.check_document(Verb::Get).is_ok() && here.check_any().is_ok());
    }

    #[test]
    fn callers_have_the_same_outcome_where_the_same_rules_let_them_read() {
        let ann = rule(None, Some(&["Secrets"]), None, vec![Principal::User("ann".into())]);
        let editors = || rule(None, None, None, vec![Principal::Group("editors".into())]);
        let writers = rule(None, None, Some(&[Verb::Post]), vec![Principal::Authenticated]);
        let policy = Policy::new(vec![ann, writers, editors()], Allow::anyone(), None);
        let grants = policy.grants("/v4/", [("Secrets", "/v4/Secrets".to_owned())]);
        let outcome = |caller: Caller| Access::new(caller, grants.as_ref()).outcome();
        assert_eq!(outcome(Caller::anonymous()), Some(0b00));
        assert_eq!(outcome(caller("bob", &["x"])), Some(0b00));
        assert_eq!(outcome(caller("ann", &["x"])), Some(0b10));
        assert_eq!(outcome(caller("ann", &["editors"])), Some(0b11));
        assert_eq!(outcome(caller("bob", &["editors"])), outcome(caller("zoe", &["x", "editors"])));
        let elsewhere = policy.grants("/other/", []);
        let there = |caller: Caller| Access::new(caller, elsewhere.as_ref()).outcome();
        assert_eq!(there(caller("ann", &["editors"])), there(caller("bob", &["editors"])));
        assert_eq!(Access::default().outcome(), Some(0));
        for (sets, expected) in [(64, Some(0)), (65, None)] {
            let names: Vec<String> = (1..sets).map(|set| format!("Set{set}")).collect();
            let rules = names.iter().map(|name| rule(None, Some(&[name.as_str()]), None, vec![])).collect();
            let many = Policy::new(rules, Allow::authenticated(), None);
            let grants = many.grants("/", names.iter().map(|name| (name.as_str(), format!("/{name}"))));
            assert_eq!(Access::new(Caller::anonymous(), grants.as_ref()).outcome(), expected, "{sets}");
        }
    }

    #[test]
    fn without_rules_and_with_an_open_default_nothing_is_checked() {
        let open = Policy::new(Vec::new(), Allow::anyone(), None);
        assert_eq!(open.grants("/v4/", []), None);
        assert!(Access::default().is_open() && Access::default().check(SetId(7), Verb::Post).is_ok());
    }

    #[test]
    fn a_path_ends_at_a_slash() {
        for (path, root, expected) in [
            ("/v4/", "/v4/", true),
            ("/v4/", "/v4", true),
            ("/v4/Things", "/v4/", true),
            ("/v4/Things", "/v4/Thing", false),
            ("/v4/Thing", "/v4/Things", false),
            ("/v4/", "/", true),
            ("/", "/", true),
            ("/", "/v4", false),
        ] {
            assert_eq!(is_within(path, root), expected, "{path} {root}");
        }
    }

    #[test]
    fn a_rule_for_what_is_not_there_is_found() {
        let rules = vec![
            rule(Some("/v4/"), None, None, vec![]),
            rule(Some("/v5/"), None, None, vec![]),
            rule(None, Some(&["Thing"]), None, vec![]),
            rule(Some("/v4/Things"), Some(&["Things"]), None, vec![]),
        ];
        let policy = Policy::new(rules.clone(), Allow::anyone(), None);
        let idle = policy.idle(&[("/v4/".to_owned(), None), ("/v4/Things".to_owned(), Some("Things"))]);
        assert_eq!(idle, [&rules[1], &rules[2]]);
    }
}

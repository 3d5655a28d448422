//! Users, their authentication and their permissions: `[users]`, `[authentication]`, `[[certificate_user]]`,
//! `[[rule]]`.
//!
//! The tables are the file's contents; [`Authentication`] is their combined meaning, and is always valid.

use std::ops::Range;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::auth::{AccessRule, Allow, CertificateUser, Mark, Principal, Verb};
use crate::base::config_error::Misplaced;
use crate::base::number::within;

/// Users of the gateway and their authentication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authentication {
    /// The users file.
    pub users: Option<PathBuf>,
    /// Realm sent to clients in the challenge.
    pub realm: String,
    /// Whether basic authentication is accepted.
    pub basic: bool,
    /// Connections without TLS that may carry names and passwords.
    pub plain_basic: PlainBasic,
    /// Lifetime of a verified name and password in the cache.
    pub cached_seconds: u32,
    /// Hashes of passwords computed at once.
    pub hashes_at_once: u32,
    /// Requests waiting for one; the next is answered 503.
    pub hashes_waiting_max: u32,
    /// Wrong passwords of one address that cost no wait.
    pub wrong_passwords_free: u32,
    /// Longest wait for it.
    pub wrong_password_seconds_max: u32,
    /// Rules that map certificates to users, in their order.
    pub certificate_users: Vec<CertificateUser>,
    /// The access rules in their order.
    pub rules: Vec<AccessRule>,
    /// Allowed callers where no rule applies.
    pub default: Allow,
}

/// Connections without TLS that may carry names and passwords.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlainBasic {
    /// From this machine only.
    #[default]
    Loopback,
    /// From anywhere: anyone who can read the network can read the passwords.
    Anywhere,
}

/// The users.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Users")]
pub(crate) struct UsersTable {
    /// A file with a line `name:hash:group,group` for each user, as `tollgate password` prints it.
    file: PathBuf,
}

/// Authentication of users.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Authentication")]
pub(crate) struct AuthenticationTable {
    /// Realm sent to clients in the challenge.
    #[schemars(with = "String", length(max = REALM_CHARACTERS_MAX))]
    realm: Spanned<String>,
    /// Whether names and passwords are accepted (basic authentication).
    basic: bool,
    /// Connections without TLS that may carry them.
    plain_basic: PlainBasic,
    /// Lifetime of a verified name and password in the cache; 0: each request costs a hash.
    #[serde(deserialize_with = "within::<0, CACHED_SECONDS_MAX, u32, _>")]
    #[schemars(range(min = 0, max = CACHED_SECONDS_MAX))]
    cached_seconds: u32,
    /// Hashes of passwords computed at once: each takes a core for some 20 ms, and 19 MiB.
    #[serde(deserialize_with = "within::<1, HASHES_AT_ONCE_MAX, u32, _>")]
    #[schemars(range(min = 1, max = HASHES_AT_ONCE_MAX))]
    hashes_at_once: u32,
    /// Requests waiting for one; the next is answered 503.
    #[serde(deserialize_with = "within::<0, HASHES_WAITING_MAX, u32, _>")]
    #[schemars(range(min = 0, max = HASHES_WAITING_MAX))]
    hashes_waiting_max: u32,
    /// Wrong passwords of one address that cost no wait. After each further one the next has to wait: for 1 s, then 2 s, 4 s
    /// and so on, answered 429 until then. One is forgotten each minute. Passwords that were right before do not wait.
    #[serde(deserialize_with = "within::<1, WRONG_PASSWORDS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = WRONG_PASSWORDS_MAX))]
    wrong_passwords_free: u32,
    /// Longest such wait; 0: none ever waits.
    #[serde(deserialize_with = "within::<0, WRONG_PASSWORD_SECONDS_MAX, u32, _>")]
    #[schemars(range(min = 0, max = WRONG_PASSWORD_SECONDS_MAX))]
    wrong_password_seconds_max: u32,
    /// Allowed callers where no rule applies: as `allow` of a rule. Absent: `authenticated` where there are users, else
    /// `anyone`.
    #[schemars(with = "Option<Vec<String>>")]
    default: Option<Spanned<Vec<Spanned<String>>>>,
}

/// Maps client certificates to a user: the first match decides.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CertificateUser")]
pub(crate) struct CertificateTable {
    /// A subject alternative name, exactly: of a host, a mail address, a URI, or an address.
    #[schemars(with = "Option<String>")]
    san: Option<Spanned<String>>,
    /// SHA-256 of the public key (`SubjectPublicKeyInfo`) as 64 hexadecimal digits.
    #[schemars(with = "Option<String>")]
    public_key_sha256: Option<Spanned<String>>,
    /// The user; with the groups of the users file, if listed there.
    #[schemars(with = "String", length(min = 1))]
    user: Spanned<String>,
}

/// An access rule: the first match decides.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Rule")]
pub(crate) struct RuleTable {
    /// A path with everything below it, such as `/odata/v4/flights/` or `/rest/carriers`; absent: any. The rule applies
    /// to an entity set however the set is reached from there.
    #[schemars(with = "Option<String>")]
    path: Option<Spanned<String>>,
    /// Names of entity sets, in any service and protocol; absent: all, and everything that is no entity set.
    #[schemars(length(min = 1))]
    entity_sets: Option<Vec<String>>,
    /// HTTP methods it applies to; absent: all.
    #[schemars(length(min = 1))]
    methods: Option<Vec<MethodName>>,
    /// Allowed callers: `anyone`, `authenticated`, `user:NAME`, `group:NAME`. Nobody, if it is empty.
    #[schemars(with = "Vec<String>")]
    allow: Spanned<Vec<Spanned<String>>>,
}

/// A method of a rule.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum MethodName {
    /// Reading; HEAD and OPTIONS included.
    Get,
    /// Creating.
    Post,
    /// Replacing.
    Put,
    /// Changing, MERGE included, and setting relations.
    Patch,
    /// Deleting.
    Delete,
}

// What a configuration may ask for at most.
const REALM_CHARACTERS_MAX: usize = 128;
const CACHED_SECONDS_MAX: i64 = 3_600;
const HASHES_AT_ONCE_MAX: i64 = 64;
const HASHES_WAITING_MAX: i64 = 10_000;
const WRONG_PASSWORDS_MAX: i64 = 10_000;
const WRONG_PASSWORD_SECONDS_MAX: i64 = 3_600;
const RULES_MAX: usize = 1_000;
const CERTIFICATE_USERS_MAX: usize = 10_000;

/// The tables as written in the file.
pub(crate) struct Tables {
    pub(crate) users: Option<UsersTable>,
    pub(crate) authentication: Option<Spanned<AuthenticationTable>>,
    pub(crate) certificate_users: Vec<Spanned<CertificateTable>>,
    pub(crate) rules: Vec<Spanned<RuleTable>>,
}

/// Combined meaning of the tables of the file `file_name`.
///
/// # Errors
/// The first contradiction, with its place.
pub(crate) fn meaning(tables: Tables, text: &str, file_name: &str) -> Result<Authentication, Misplaced> {
    let Tables { users, authentication: table, certificate_users, rules } = tables;
    let has_users = users.is_some() || !certificate_users.is_empty();
    if let Some(table) = table.as_ref().filter(|_| !has_users && rules.is_empty()) {
        let wrong = "there is nobody to be authenticated: expected [users] with `file`";
        return Err((table.span(), wrong.to_owned()));
    }
    let AuthenticationTable {
        realm,
        basic,
        plain_basic,
        cached_seconds,
        hashes_at_once,
        hashes_waiting_max,
        wrong_passwords_free,
        wrong_password_seconds_max,
        default,
    } = table.map(Spanned::into_inner).unwrap_or_default();
    let plain = |character: char| character.is_ascii_graphic() || character == ' ';
    if realm.as_ref().len() > REALM_CHARACTERS_MAX || !realm.as_ref().chars().all(plain) {
        let wrong = format!("expected at most {REALM_CHARACTERS_MAX} visible characters of ASCII");
        return Err((realm.span(), wrong));
    }
    if let Some(user) = certificate_users.get(CERTIFICATE_USERS_MAX) {
        return Err((user.span(), format!("expected at most {CERTIFICATE_USERS_MAX} of them")));
    }
    if let Some(rule) = rules.get(RULES_MAX) {
        return Err((rule.span(), format!("expected at most {RULES_MAX} rules")));
    }
    let default = match default {
        Some(default) => allowed(default, has_users)?,
        None if has_users => Allow::authenticated(),
        None => Allow::anyone(),
    };
    let rules = rules.into_iter().map(|rule| {
        let line = text[..rule.span().start].matches('\n').count() + 1;
        rule.into_inner().meaning(format!("{file_name}:{line}"), has_users)
    });
    Ok(Authentication {
        users: users.map(|users| users.file),
        realm: realm.into_inner(),
        basic,
        plain_basic,
        cached_seconds,
        hashes_at_once,
        hashes_waiting_max,
        wrong_passwords_free,
        wrong_password_seconds_max,
        certificate_users: certificate_users
            .into_iter()
            .map(|table| (table.span(), table.into_inner()))
            .map(|(whole, table)| table.meaning(whole))
            .collect::<Result<_, _>>()?,
        rules: rules.collect::<Result<_, _>>()?,
        default,
    })
}

impl Authentication {
    /// Whether some reads are restricted.
    pub(crate) fn restricts(&self) -> bool {
        let is_open = |allow: &Allow| allow.0.contains(&Principal::Anyone);
        let reads = |rule: &&AccessRule| rule.methods.as_ref().is_none_or(|methods| methods.contains(&Verb::Get));
        !is_open(&self.default) || self.rules.iter().filter(reads).any(|rule| !is_open(&rule.allow))
    }
}

impl CertificateTable {
    fn meaning(self, whole: Range<usize>) -> Result<CertificateUser, Misplaced> {
        if self.user.as_ref().is_empty() {
            return Err((self.user.span(), "expected the name of a user".to_owned()));
        }
        let mark = match (&self.san, &self.public_key_sha256) {
            (Some(name), None) => Mark::name(name.as_ref()).map_err(|wrong| (name.span(), wrong))?,
            (None, Some(key)) => Mark::public_key(key.as_ref()).map_err(|wrong| (key.span(), wrong))?,
            _ => return Err((whole, "expected either `san` or `public_key_sha256`".to_owned())),
        };
        Ok(CertificateUser { mark, user: self.user.into_inner() })
    }
}

impl RuleTable {
    fn meaning(self, place: String, has_users: bool) -> Result<AccessRule, Misplaced> {
        if let Some(path) = &self.path {
            let plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'?' | b'#' | b'%' | b'*' | b'"');
            if !path.as_ref().starts_with('/') || !path.as_ref().bytes().all(plain) {
                let wrong = "expected a path such as `/odata/v4/flights/`, without `%`, `?` and `*`";
                return Err((path.span(), wrong.to_owned()));
            }
        }
        let methods = self.methods.map(|methods| {
            let verb = |method: &MethodName| match method {
                MethodName::Get => Verb::Get,
                MethodName::Post => Verb::Post,
                MethodName::Put => Verb::Put,
                MethodName::Patch => Verb::Patch,
                MethodName::Delete => Verb::Delete,
            };
            methods.iter().map(verb).collect::<Vec<_>>()
        });
        for (key, is_empty) in [
            ("entity_sets", self.entity_sets.as_ref().is_some_and(Vec::is_empty)),
            ("methods", methods.as_ref().is_some_and(Vec::is_empty)),
        ] {
            if is_empty {
                return Err((self.allow.span(), format!("a rule with empty `{key}` is for nothing: leave it out")));
            }
        }
        Ok(AccessRule {
            path: self.path.map(Spanned::into_inner),
            entity_sets: self.entity_sets,
            methods,
            allow: allowed(self.allow, has_users)?,
            place,
        })
    }
}

fn allowed(names: Spanned<Vec<Spanned<String>>>, has_users: bool) -> Result<Allow, Misplaced> {
    let principal = |name: Spanned<String>| {
        let span = name.span();
        let principal = match name.as_ref().split_once(':') {
            None if name.as_ref() == "anyone" => return Ok(Principal::Anyone),
            None if name.as_ref() == "authenticated" => Principal::Authenticated,
            Some(("user", user)) if !user.is_empty() => Principal::User(user.into()),
            Some(("group", group)) if !group.is_empty() => Principal::Group(group.into()),
            _ => {
                let wrong = format!(
                    "expected `anyone`, `authenticated`, `user:NAME` or `group:NAME`, found `{}`",
                    name.as_ref()
                );
                return Err((span, wrong));
            }
        };
        match has_users {
            true => Ok(principal),
            false => Err((
                span,
                format!("`{principal}` can be nobody: expected [users] with `file`, or a [[certificate_user]]"),
            )),
        }
    };
    Ok(Allow(names.into_inner().into_iter().map(principal).collect::<Result<_, _>>()?))
}

impl Default for Authentication {
    fn default() -> Authentication {
        let table = AuthenticationTable::default();
        Authentication {
            users: None,
            realm: table.realm.into_inner(),
            basic: table.basic,
            plain_basic: table.plain_basic,
            cached_seconds: table.cached_seconds,
            hashes_at_once: table.hashes_at_once,
            hashes_waiting_max: table.hashes_waiting_max,
            wrong_passwords_free: table.wrong_passwords_free,
            wrong_password_seconds_max: table.wrong_password_seconds_max,
            certificate_users: Vec::new(),
            rules: Vec::new(),
            default: Allow::anyone(),
        }
    }
}

impl Default for AuthenticationTable {
    fn default() -> AuthenticationTable {
        AuthenticationTable {
            realm: Spanned::new(0..0, "tollgate".to_owned()),
            basic: true,
            plain_basic: PlainBasic::default(),
            cached_seconds: 60,
            // Two of 19 MiB: what guesses passwords takes no more than two cores.
            hashes_at_once: 2,
            // Some ten seconds of waiting at 20 ms each, two at once: the longest wait.
            hashes_waiting_max: 1_000,
            // As many as a household mistypes within minutes.
            wrong_passwords_free: 20,
            wrong_password_seconds_max: 60,
            default: None,
        }
    }
}

impl Authentication {
    /// Whether callers who did not show who they are may change anything, or whatever no rule is for.
    pub(crate) fn is_open(&self) -> bool {
        let asks = self.takes_basic() || !self.certificate_users.is_empty();
        let is_open = |allow: &Allow| allow.0.contains(&Principal::Anyone);
        let is_reading = |verb: &Verb| *verb == Verb::Get;
        let writes = |rule: &&AccessRule| rule.methods.as_ref().is_none_or(|verbs| !verbs.iter().all(is_reading));
        !asks || is_open(&self.default) || self.rules.iter().filter(writes).any(|rule| is_open(&rule.allow))
    }

    /// Whether names and passwords are accepted.
    pub(crate) fn takes_basic(&self) -> bool {
        self.basic && self.users.is_some()
    }

    /// Admits the users of this file. If there were none before, a default open to anybody is now theirs alone.
    pub fn admit_users_of(&mut self, file: PathBuf) {
        if self.users.is_none() && self.certificate_users.is_empty() && self.default == Allow::anyone() {
            self.default = Allow::authenticated();
        }
        self.users = Some(file);
    }
}

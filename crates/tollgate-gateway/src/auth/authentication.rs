//! Who asks, found out once for each request: by a name and a password, or by the connection's certificate. Credentials
//! that were verified a moment ago are known to the loop, all others are verified away from it, a bounded number at once.
//!
//! What it deliberately does not do: decide who may do what, or say what is asked for in the words of a protocol.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ring::hmac;
use ring::rand::SystemRandom;
use tollgate_net::clock::Clock;
use tollgate_net::http1::server::Exchange;

use super::access::Policy;
use super::basic::{self, Credentials};
use super::caller::Caller;
use super::certificate::{self, CertificateUser, Owners};
use super::current::CurrentUsers;
use super::password::Memory;
use super::users::{Users, UsersError, Verdict};
use super::verified::{Digest, Kept, Verified};
use crate::base::log::Log;
use crate::config;
use crate::error::Fault;
use crate::work::board::Task;
use crate::work::dispatcher::{Dispatcher, Occupancy, Refused};

/// Credentials that are known to one loop at once; 1,024 are some 150 KB.
const KNOWN_TO_A_LOOP_MAX: usize = 1_024;

/// Credentials that are known to all loops at once.
const KNOWN_TO_ALL_MAX: usize = 16_384;

/// How long a request waits to have its password verified.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Characters of a refused name that are logged.
const LOGGED_CHARACTERS_MAX: usize = 64;

/// Finds out who asks.
#[derive(Debug)]
pub struct Authentication {
    users: Arc<CurrentUsers>,
    basic: Option<Basic>,
    certificates: Vec<CertificateUser>,
    tally: Arc<Tally>,
    clock: Clock,
    log: Arc<Log>,
}

/// What basic authentication needs.
#[derive(Debug)]
struct Basic {
    challenge: Arc<str>,
    /// Of the hashes under which verified credentials are kept; lives as long as the process.
    key: hmac::Key,
    kept_for: Duration,
    known_to_all: Mutex<Verified>,
    /// Who may hash now, and the memory for it; the rest waits, and the queue is bounded.
    hashing: Dispatcher<Memory>,
}

/// What a loop knows by itself, so that it asks nobody.
#[derive(Debug)]
pub(crate) struct Local {
    verified: RefCell<Verified>,
    owners: RefCell<Owners>,
    counted: Arc<Counted>,
    tally: Arc<Tally>,
}

/// On cache lines of its own: each loop counts whom it knew.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counted {
    known: AtomicU64,
    certified: AtomicU64,
}

/// What was counted, by whatever configuration.
#[derive(Debug, Default)]
struct Tally {
    /// What each loop counts by itself.
    counted: Mutex<Vec<Arc<Counted>>>,
    outcomes: Outcomes,
}

/// How many attempts ended in which way, but for those that a loop counts by itself.
#[derive(Debug, Default)]
struct Outcomes {
    /// Counted by loops that have others to count by now.
    known: AtomicU64,
    certified: AtomicU64,
    verified: AtomicU64,
    shared: AtomicU64,
    refused: AtomicU64,
    malformed: AtomicU64,
    overloaded: AtomicU64,
}

impl Authentication {
    /// What the configuration asks for. Reads the users file.
    ///
    /// # Errors
    /// What is wrong with that file.
    ///
    /// # Panics
    /// Where the system has no random bytes.
    pub(crate) fn new(
        config: &config::Authentication,
        clock: Clock,
        log: Arc<Log>,
    ) -> Result<Authentication, UsersError> {
        let users = Arc::new(CurrentUsers::new(Authentication::read_users(config)?));
        Ok(Authentication::of(users, config, Arc::default(), clock, log))
    }

    /// The users as their file says they are now; none where there is no file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn read_users(config: &config::Authentication) -> Result<Users, UsersError> {
        Ok(config.users.as_deref().map(Users::read).transpose()?.unwrap_or_default())
    }

    /// Another way for the same users to show who they are. Where they are replaced, that is for both.
    ///
    /// # Panics
    /// As [`new`](Authentication::new).
    pub(crate) fn beside(&self, config: &config::Authentication, clock: Clock) -> Authentication {
        Authentication::of(Arc::clone(&self.users), config, Arc::default(), clock, Arc::clone(&self.log))
    }

    /// The same users under another configuration, which goes on counting.
    ///
    /// # Panics
    /// As [`new`](Authentication::new).
    pub(crate) fn under(&self, config: &config::Authentication) -> Authentication {
        let (users, tally) = (Arc::clone(&self.users), Arc::clone(&self.tally));
        Authentication::of(users, config, tally, self.clock.clone(), Arc::clone(&self.log))
    }

    /// Lets these be the users from now on.
    pub(crate) fn replace_users(&self, users: Users) {
        self.users.replace(users);
    }

    /// What the rules of `config` say for those whom this authenticates.
    pub(crate) fn policy(&self, config: &config::Authentication) -> Policy {
        Policy::new(config.rules.clone(), config.default.clone(), self.challenge())
    }

    fn of(
        users: Arc<CurrentUsers>,
        config: &config::Authentication,
        tally: Arc<Tally>,
        clock: Clock,
        log: Arc<Log>,
    ) -> Authentication {
        let hashes = (0..config.hashes_at_once).map(|_| Memory::default()).collect();
        let basic = config.takes_basic().then(|| Basic {
            challenge: basic::challenge(&config.realm),
            key: hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).expect("the system gives random bytes"),
            kept_for: Duration::from_secs(config.cached_seconds.into()),
            known_to_all: Mutex::new(Verified::new(KNOWN_TO_ALL_MAX)),
            hashing: Dispatcher::new(hashes, config.hashes_waiting_max as usize, WAIT_MAX),
        });
        Authentication { users, basic, certificates: config.certificate_users.clone(), tally, clock, log }
    }

    /// What one loop needs.
    pub(crate) fn local(&self) -> Local {
        let counted = Arc::new(Counted::default());
        lock(&self.tally.counted).push(Arc::clone(&counted));
        let verified = RefCell::new(Verified::new(KNOWN_TO_A_LOOP_MAX));
        Local { verified, owners: RefCell::default(), counted, tally: Arc::clone(&self.tally) }
    }

    /// What those are asked for who have not said who they are.
    pub(crate) fn challenge(&self) -> Option<Arc<str>> {
        self.basic.as_ref().map(|basic| Arc::clone(&basic.challenge))
    }

    /// The ways to show who one is, by the names that descriptions have for them.
    pub(crate) fn schemes(&self) -> Vec<&'static str> {
        let basic = self.basic.as_ref().map(|_| "basic");
        basic.into_iter().chain((!self.certificates.is_empty()).then_some("certificate")).collect()
    }

    /// Whether anybody is asked who they are; else a name is only noted.
    pub(crate) fn is_on(&self) -> bool {
        self.basic.is_some() || !self.certificates.is_empty()
    }

    /// Who asks. A name and a password count before a certificate.
    ///
    /// # Errors
    /// 401 for credentials that are nobody's, 503 where too many are being verified.
    pub(crate) async fn caller(&self, local: &Local, exchange: &Exchange<'_>) -> Result<Caller, Fault> {
        if self.is_on() && exchange.request().nth_value("authorization", 1).is_some() {
            // Another server may take the other one.
            self.tally.outcomes.malformed.fetch_add(1, Ordering::Relaxed);
            return Err(Fault::bad_request("authorization", "expected at most one `Authorization`"));
        }
        if let Some(basic) = &self.basic
            && let Some(text) = exchange.request().header("authorization").and_then(basic::text)
        {
            let digest = basic.digest(text);
            let verified = local.verified.borrow().find(&digest, self.clock.now(), self.users.edition()).cloned();
            if let Some(kept) = verified {
                local.counted.known.fetch_add(1, Ordering::Relaxed);
                return Ok(Caller::known(kept.user));
            }
            // Once in a while: a connection is to be no larger for it.
            return Box::pin(self.verify(basic, local, (text, digest), exchange)).await;
        }
        match exchange.peer_certificate() {
            Some(certificate) if !self.certificates.is_empty() => {
                local.counted.certified.fetch_add(1, Ordering::Relaxed);
                Ok(local.owners.borrow_mut().of(certificate, self.users.edition(), || {
                    let (users, edition) = self.users.users();
                    (certificate::owner(&self.certificates, &users, certificate), edition)
                }))
            }
            _ => Ok(Caller::anonymous()),
        }
    }

    /// How many attempts ended in which way.
    pub(crate) fn outcomes(&self) -> [(&'static str, u64); 6] {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counted = lock(&self.tally.counted);
        let by_loops = |of: fn(&Counted) -> &AtomicU64| counted.iter().map(|counted| count(of(counted))).sum::<u64>();
        let Outcomes { known, certified, verified, shared, refused, malformed, overloaded } = &self.tally.outcomes;
        [
            ("known", by_loops(|counted| &counted.known) + count(known) + count(shared)),
            ("certificate", by_loops(|counted| &counted.certified) + count(certified)),
            ("verified", count(verified)),
            ("refused", count(refused)),
            ("malformed", count(malformed)),
            ("overloaded", count(overloaded)),
        ]
    }

    /// What the hashing of passwords is doing; `None` where there is none.
    pub(crate) fn hashing(&self) -> Option<Occupancy> {
        self.basic.as_ref().map(|basic| basic.hashing.occupancy())
    }

    /// The turns to hash a password.
    #[cfg(test)]
    pub(crate) fn turns(&self) -> Dispatcher<Memory> {
        self.basic.as_ref().unwrap().hashing.clone()
    }

    async fn verify(
        &self,
        basic: &Basic,
        local: &Local,
        (text, digest): (&str, Digest),
        exchange: &Exchange<'_>,
    ) -> Result<Caller, Fault> {
        if let Some(caller) = self.known_to_all(basic, local, &digest) {
            return Ok(caller);
        }
        let outcomes = &self.tally.outcomes;
        let Some(Credentials { name, password }) = Credentials::parse(text) else {
            outcomes.malformed.fetch_add(1, Ordering::Relaxed);
            let message = "expected a name and a password in base64, with a colon between them";
            return Err(Fault::unauthenticated(Arc::clone(&basic.challenge), message));
        };
        let mut turn = basic.hashing.acquire(&Task::of(exchange.request())).await.map_err(|refused| {
            outcomes.overloaded.fetch_add(1, Ordering::Relaxed);
            Fault::overloaded(match refused {
                Refused::QueueFull { queue_max } => {
                    format!("{queue_max} other passwords are waiting to be verified already")
                }
                Refused::WaitedTooLong { .. } => "the password waited too long to be verified".to_owned(),
            })
        })?;
        // Another request with the same credentials may have been first.
        if let Some(caller) = self.known_to_all(basic, local, &digest) {
            return Ok(caller);
        }
        let (users, edition) = self.users.users();
        let shown: String = name.chars().take(LOGGED_CHARACTERS_MAX).collect();
        let hashing = basic.hashing.clone();
        let job = tokio::task::spawn_blocking(move || {
            let verdict = users.verify(&name, password.as_bytes(), &mut turn);
            // The next one needs the memory at once, and nobody else does.
            if hashing.occupancy().waiting == 0 {
                turn.release();
            }
            // The turn goes along: a client that goes away meanwhile makes no room for another hash.
            (verdict, turn)
        });
        let (verdict, turn) = job.await.map_err(|panic| Fault::internal(format!("verifying ended badly: {panic}")))?;
        match verdict {
            Verdict::Verified(user) => {
                outcomes.verified.fetch_add(1, Ordering::Relaxed);
                let now = self.clock.now();
                let kept = Kept { user, until: now + basic.kept_for, edition };
                lock(&basic.known_to_all).keep(digest, kept.clone(), now);
                // Only now: whoever waits with the same credentials finds them verified.
                drop(turn);
                Ok(self.keep(local, digest, kept))
            }
            Verdict::Refused => {
                outcomes.refused.fetch_add(1, Ordering::Relaxed);
                let from = exchange.peer().ip();
                self.log.line(format_args!("401 for {shown:?} from {from}: no user has such a name and password"));
                let message = "there is no user of this name and password";
                Err(Fault::unauthenticated(Arc::clone(&basic.challenge), message))
            }
        }
    }

    /// Whose credentials these are, if another loop, or another request while this one waited, found it out.
    fn known_to_all(&self, basic: &Basic, local: &Local, digest: &Digest) -> Option<Caller> {
        let kept = lock(&basic.known_to_all).find(digest, self.clock.now(), self.users.edition()).cloned()?;
        self.tally.outcomes.shared.fetch_add(1, Ordering::Relaxed);
        Some(self.keep(local, *digest, kept))
    }

    fn keep(&self, local: &Local, digest: Digest, kept: Kept) -> Caller {
        // A copy for this loop alone: counting its holders then disturbs no other core.
        let user = Arc::new((*kept.user).clone());
        local.verified.borrow_mut().keep(digest, Kept { user: Arc::clone(&user), ..kept }, self.clock.now());
        Caller::known(user)
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let mut counted = lock(&self.tally.counted);
        // Under the lock: nobody adds it up twice, or not at all.
        counted.retain(|other| !Arc::ptr_eq(other, &self.counted));
        let outcomes = &self.tally.outcomes;
        outcomes.known.fetch_add(self.counted.known.load(Ordering::Relaxed), Ordering::Relaxed);
        outcomes.certified.fetch_add(self.counted.certified.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

impl Basic {
    fn digest(&self, text: &str) -> Digest {
        let mut digest = Digest::default();
        digest.copy_from_slice(hmac::sign(&self.key, text.as_bytes()).as_ref());
        digest
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

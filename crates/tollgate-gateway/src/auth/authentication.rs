//! Authentication, once for each request: by a name and a password, or by the connection's certificate. Credentials
//! that were verified a moment ago are cached in the loop; all others are verified outside it, a bounded number at
//! once, and an address with many wrong ones has to wait.
//!
//! It does not decide on permissions, and does not write challenges in the words of a protocol.

use std::cell::RefCell;
use std::net::IpAddr;
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
use super::guesses::{Guesses, Patience};
use super::hashing::Hashing;
use super::users::{Users, UsersError, Verdict};
use super::verified::{Digest, Kept, Verified};
use crate::base::client::Client;
use crate::base::log::Log;
use crate::config;
use crate::error::Fault;
use crate::work::board::Task;
use crate::work::dispatcher::{Dispatcher, Occupancy, Refused};

/// Credentials that are known to one loop at once; 1,024 are some 150 KB.
const KNOWN_TO_A_LOOP_MAX: usize = 1_024;

/// Credentials that are known to all loops at once.
const KNOWN_TO_ALL_MAX: usize = 16_384;

/// Longest wait of a request for the verification of its password.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Characters of a refused name that are logged.
const LOGGED_CHARACTERS_MAX: usize = 64;

/// Authenticates callers.
#[derive(Debug)]
pub struct Authentication {
    users: Arc<CurrentUsers>,
    basic: Option<Basic>,
    certificates: Vec<CertificateUser>,
    tally: Arc<Tally>,
    clock: Clock,
    log: Arc<Log>,
}

/// State of basic authentication.
#[derive(Debug)]
struct Basic {
    challenge: Arc<str>,
    kept_for: Duration,
    known: Arc<Known>,
    /// Limits how many hash at once; the others wait in a bounded queue.
    turns: Dispatcher<()>,
    hashing: Hashing,
    patience: Patience,
}

/// Credentials that were verified, whatever the configuration.
#[derive(Debug)]
struct Known {
    /// Key of their hashes; lives as long as the process.
    key: hmac::Key,
    to_all: Mutex<Verified>,
}

/// State of one loop, used without locks.
#[derive(Debug)]
pub(crate) struct Local {
    verified: RefCell<Verified>,
    owners: RefCell<Owners>,
    counted: Arc<Counted>,
    tally: Arc<Tally>,
}

/// Counters of one loop's known callers, on cache lines of their own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counted {
    known: AtomicU64,
    certified: AtomicU64,
}

/// Counters across all configurations.
#[derive(Debug, Default)]
struct Tally {
    /// Counters of each loop.
    counted: Mutex<Vec<Arc<Counted>>>,
    outcomes: Outcomes,
    /// Wrong passwords of late: a new configuration does not forget them.
    guesses: Mutex<Guesses>,
}

/// Attempts by outcome, except those that a loop counts by itself.
#[derive(Debug, Default)]
struct Outcomes {
    /// Counts taken over from dropped [`Local`]s.
    known: AtomicU64,
    certified: AtomicU64,
    verified: AtomicU64,
    shared: AtomicU64,
    refused: AtomicU64,
    repeated: AtomicU64,
    delayed: AtomicU64,
    malformed: AtomicU64,
    overloaded: AtomicU64,
}

impl Authentication {
    /// Creates the authentication that the configuration describes. Reads the users file.
    ///
    /// # Errors
    /// The users file is wrong.
    ///
    /// # Panics
    /// If the system has no random bytes.
    pub(crate) fn new(
        config: &config::Authentication,
        clock: Clock,
        log: Arc<Log>,
    ) -> Result<Authentication, UsersError> {
        let users = Arc::new(CurrentUsers::new(Authentication::read_users(config)?));
        Ok(Authentication::of(users, config, (Arc::default(), None), clock, log))
    }

    /// Reads the users from their file; none if there is no file.
    ///
    /// # Errors
    /// An error in the file.
    pub(crate) fn read_users(config: &config::Authentication) -> Result<Users, UsersError> {
        Ok(config.users.as_deref().map(Users::read).transpose()?.unwrap_or_default())
    }

    /// Creates another way to authenticate the same users. Replacing the users affects both.
    ///
    /// # Panics
    /// As [`new`](Authentication::new).
    pub(crate) fn beside(&self, config: &config::Authentication, clock: Clock) -> Authentication {
        Authentication::of(Arc::clone(&self.users), config, (Arc::default(), None), clock, Arc::clone(&self.log))
    }

    /// Creates an authentication of the same users under another configuration; the counters go on.
    ///
    /// # Panics
    /// As [`new`](Authentication::new).
    pub(crate) fn under(&self, config: &config::Authentication) -> Authentication {
        let (users, tally) = (Arc::clone(&self.users), Arc::clone(&self.tally));
        // They are verified anew, but need not wait for it as guesses do.
        let known = self.basic.as_ref().map(|basic| Arc::clone(&basic.known));
        known.iter().for_each(|known| lock(&known.to_all).expire(self.clock.now()));
        Authentication::of(users, config, (tally, known), self.clock.clone(), Arc::clone(&self.log))
    }

    /// Replaces the users.
    pub(crate) fn replace_users(&self, users: Users) {
        self.users.replace(users);
    }

    /// Access policy of `config` for the callers that this authenticates.
    pub(crate) fn policy(&self, config: &config::Authentication) -> Policy {
        Policy::new(config.rules.clone(), config.default.clone(), self.challenge())
    }

    fn of(
        users: Arc<CurrentUsers>,
        config: &config::Authentication,
        (tally, known): (Arc<Tally>, Option<Arc<Known>>),
        clock: Clock,
        log: Arc<Log>,
    ) -> Authentication {
        let hashes = vec![(); config.hashes_at_once as usize];
        let basic = config.takes_basic().then(|| Basic {
            challenge: basic::challenge(&config.realm),
            kept_for: Duration::from_secs(config.cached_seconds.into()),
            known: known.unwrap_or_else(|| Arc::new(Known::new())),
            turns: Dispatcher::new(hashes, config.hashes_waiting_max as usize, WAIT_MAX),
            hashing: Hashing::start(config.hashes_at_once),
            patience: Patience {
                free: config.wrong_passwords_free,
                wait_max: Duration::from_secs(config.wrong_password_seconds_max.into()),
            },
        });
        Authentication { users, basic, certificates: config.certificate_users.clone(), tally, clock, log }
    }

    /// Creates the state of one loop.
    pub(crate) fn local(&self) -> Local {
        let counted = Arc::new(Counted::default());
        lock(&self.tally.counted).push(Arc::clone(&counted));
        let verified = RefCell::new(Verified::new(KNOWN_TO_A_LOOP_MAX));
        Local { verified, owners: RefCell::default(), counted, tally: Arc::clone(&self.tally) }
    }

    /// Challenge for anonymous callers.
    pub(crate) fn challenge(&self) -> Option<Arc<str>> {
        self.basic.as_ref().map(|basic| Arc::clone(&basic.challenge))
    }

    /// Authentication schemes, by their names in descriptions.
    pub(crate) fn schemes(&self) -> Vec<&'static str> {
        let basic = self.basic.as_ref().map(|_| "basic");
        basic.into_iter().chain((!self.certificates.is_empty()).then_some("certificate")).collect()
    }

    /// Whether callers are authenticated; else a name is only noted.
    pub(crate) fn is_on(&self) -> bool {
        self.basic.is_some() || !self.certificates.is_empty()
    }

    /// Identifies the caller at `address`. A name and a password count before a certificate.
    ///
    /// # Errors
    /// 401 for unknown credentials, 429 after many wrong ones, 503 where too many are being verified.
    pub(crate) async fn caller(
        &self,
        local: &Local,
        exchange: &Exchange<'_>,
        address: IpAddr,
    ) -> Result<Caller, Fault> {
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
            return Box::pin(self.verify(basic, local, (text, digest), exchange, address)).await;
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

    /// Number of attempts by outcome.
    pub(crate) fn outcomes(&self) -> [(&'static str, u64); 8] {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counted = lock(&self.tally.counted);
        let by_loops = |of: fn(&Counted) -> &AtomicU64| counted.iter().map(|counted| count(of(counted))).sum::<u64>();
        let Outcomes { known, certified, verified, shared, refused, repeated, delayed, malformed, overloaded } =
            &self.tally.outcomes;
        [
            ("known", by_loops(|counted| &counted.known) + count(known) + count(shared)),
            ("certificate", by_loops(|counted| &counted.certified) + count(certified)),
            ("verified", count(verified)),
            ("refused", count(refused)),
            ("repeated", count(repeated)),
            ("delayed", count(delayed)),
            ("malformed", count(malformed)),
            ("overloaded", count(overloaded)),
        ]
    }

    /// Occupancy of password hashing; `None` where there is none.
    pub(crate) fn hashing(&self) -> Option<Occupancy> {
        self.basic.as_ref().map(|basic| basic.turns.occupancy())
    }

    /// Turns for hashing a password.
    #[cfg(test)]
    pub(crate) fn turns(&self) -> Dispatcher<()> {
        self.basic.as_ref().unwrap().turns.clone()
    }

    async fn verify(
        &self,
        basic: &Basic,
        local: &Local,
        (text, digest): (&str, Digest),
        exchange: &Exchange<'_>,
        address: IpAddr,
    ) -> Result<Caller, Fault> {
        let client = Client::at(address);
        if let Some(caller) = self.known_to_all(basic, local, &digest) {
            return Ok(caller);
        }
        let outcomes = &self.tally.outcomes;
        let Some(Credentials { name, password }) = Credentials::parse(text) else {
            outcomes.malformed.fetch_add(1, Ordering::Relaxed);
            let message = "expected a name and a password in base64, with a colon between them";
            return Err(Fault::unauthenticated(Arc::clone(&basic.challenge), message));
        };
        self.check_guesses(basic, &client, &digest)?;
        let turn = basic.turns.acquire(&Task::of(&client, exchange.request())).await.map_err(|refused| {
            outcomes.overloaded.fetch_add(1, Ordering::Relaxed);
            Fault::overloaded(match refused {
                Refused::QueueFull { queue_max } => {
                    format!("{queue_max} other passwords are waiting to be verified already")
                }
                Refused::WaitedTooLong { .. } => "the password waited too long to be verified".to_owned(),
            })
        })?;
        // Another request with the same credentials may have been first, and others of this address may have been wrong.
        if let Some(caller) = self.known_to_all(basic, local, &digest) {
            return Ok(caller);
        }
        self.check_guesses(basic, &client, &digest)?;
        let (users, edition) = self.users.users();
        let shown: String = name.chars().take(LOGGED_CHARACTERS_MAX).collect();
        let job = move || {
            // The turn goes along: a client that goes away meanwhile makes no room for another hash.
            (users.verify(&name, password.as_bytes()), turn)
        };
        let ended = basic.hashing.run(job).await;
        let (verdict, turn) = ended.ok_or_else(|| Fault::internal("verifying a password panicked"))?;
        match verdict {
            Verdict::Verified(user) => {
                outcomes.verified.fetch_add(1, Ordering::Relaxed);
                let now = self.clock.now();
                let kept = Kept { user, until: now + basic.kept_for, edition };
                lock(&basic.known.to_all).keep(digest, kept.clone(), now);
                // Only now: whoever waits with the same credentials finds them verified.
                drop(turn);
                Ok(self.keep(local, digest, kept))
            }
            Verdict::Refused => {
                outcomes.refused.fetch_add(1, Ordering::Relaxed);
                lock(&self.tally.guesses).add(&client, (digest, edition), self.clock.now(), basic.patience);
                // Only now: whoever waits with the same credentials finds them refused.
                drop(turn);
                self.log.line(format_args!("401 for {shown:?} from {address}: no user has such a name and password"));
                Err(basic.refusal())
            }
        }
    }

    /// Refuses credentials that were wrong a moment ago, and others of an address with many wrong ones. Those that were
    /// right before need not wait.
    fn check_guesses(&self, basic: &Basic, client: &Client, digest: &Digest) -> Result<(), Fault> {
        let (now, edition) = (self.clock.now(), self.users.edition());
        let guesses = lock(&self.tally.guesses);
        if guesses.is_refused(digest, now, edition) {
            self.tally.outcomes.repeated.fetch_add(1, Ordering::Relaxed);
            return Err(basic.refusal());
        }
        let wait = guesses.wait(client, now, basic.patience);
        drop(guesses);
        if wait.is_zero() || lock(&basic.known.to_all).were_right(digest) {
            return Ok(());
        }
        self.tally.outcomes.delayed.fetch_add(1, Ordering::Relaxed);
        Err(Fault::too_many(wait, "too many wrong passwords came from this address"))
    }

    /// Owner of these credentials, if another loop, or another request while this one waited, verified them.
    fn known_to_all(&self, basic: &Basic, local: &Local, digest: &Digest) -> Option<Caller> {
        let kept = lock(&basic.known.to_all).find(digest, self.clock.now(), self.users.edition()).cloned()?;
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

impl Known {
    fn new() -> Known {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).expect("the system gives random bytes");
        Known { key, to_all: Mutex::new(Verified::new(KNOWN_TO_ALL_MAX)) }
    }
}

impl Basic {
    fn digest(&self, text: &str) -> Digest {
        let mut digest = Digest::default();
        digest.copy_from_slice(hmac::sign(&self.known.key, text.as_bytes()).as_ref());
        digest
    }

    fn refusal(&self) -> Fault {
        Fault::unauthenticated(Arc::clone(&self.challenge), "there is no user of this name and password")
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

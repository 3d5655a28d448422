//! Who asks, found out once for each request: credentials that were verified a moment ago are known to the loop, all
//! others are verified away from it, a bounded number at once.
//!
//! What it deliberately does not do: decide who may do what, or say what is asked for in the words of a protocol.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use ring::hmac;
use ring::rand::SystemRandom;
use tollgate_net::clock::Clock;
use tollgate_net::http1::RequestHead;

use super::basic::{self, Credentials};
use super::caller::Caller;
use super::users::{Users, UsersError, Verdict};
use super::verified::{Digest, Edition, Kept, Verified};
use crate::board::Task;
use crate::config;
use crate::dispatcher::{Dispatcher, Occupancy, Refused};
use crate::error::Fault;
use crate::log::Log;

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
pub(crate) struct Authentication {
    basic: Option<Basic>,
    clock: Clock,
}

/// Basic authentication with all that it needs.
#[derive(Debug)]
struct Basic {
    file: PathBuf,
    current: RwLock<(Arc<Users>, Edition)>,
    /// The same edition, to be read without the lock.
    edition: AtomicU64,
    challenge: Arc<str>,
    /// Of the hashes under which verified credentials are kept; lives as long as the process.
    key: hmac::Key,
    kept_for: Duration,
    known_to_all: Mutex<Verified>,
    /// Who may hash now; the rest waits, and the queue is bounded.
    hashing: Dispatcher<()>,
    outcomes: Outcomes,
    /// What each loop counted of those it knew.
    known: Mutex<Vec<Arc<Known>>>,
}

/// What a loop knows by itself, so that it asks nobody.
#[derive(Debug)]
pub(crate) struct Local {
    verified: RefCell<Verified>,
    known: Arc<Known>,
}

/// On a cache line of its own: each loop counts what it knew.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Known(AtomicU64);

/// How many attempts ended in which way.
#[derive(Debug, Default)]
struct Outcomes {
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
    pub(crate) fn new(config: &config::Authentication, clock: Clock) -> Result<Authentication, UsersError> {
        let Some(file) = config.users.clone() else { return Ok(Authentication { basic: None, clock }) };
        let users = Arc::new(Users::read(&file)?);
        let basic = config.basic.then(|| Basic {
            file,
            current: RwLock::new((users, Edition::default())),
            edition: AtomicU64::new(0),
            challenge: basic::challenge(&config.realm),
            key: hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).expect("the system gives random bytes"),
            kept_for: Duration::from_secs(config.cached_seconds.into()),
            known_to_all: Mutex::new(Verified::new(KNOWN_TO_ALL_MAX)),
            hashing: Dispatcher::new(
                vec![(); config.hashes_at_once as usize],
                config.hashes_waiting_max as usize,
                WAIT_MAX,
            ),
            outcomes: Outcomes::default(),
            known: Mutex::default(),
        });
        Ok(Authentication { basic, clock })
    }

    /// What one loop needs.
    pub(crate) fn local(&self) -> Local {
        let known = Arc::new(Known::default());
        if let Some(basic) = &self.basic {
            lock(&basic.known).push(Arc::clone(&known));
        }
        Local { verified: RefCell::new(Verified::new(KNOWN_TO_A_LOOP_MAX)), known }
    }

    /// What those are asked for who have not said who they are.
    pub(crate) fn challenge(&self) -> Option<Arc<str>> {
        self.basic.as_ref().map(|basic| Arc::clone(&basic.challenge))
    }

    /// Whether names are verified at all; else they are only noted.
    pub(crate) fn is_on(&self) -> bool {
        self.basic.is_some()
    }

    /// Reads the users file again; how many users there are now. What was verified before counts no more.
    ///
    /// # Errors
    /// What is wrong with the file: the users before it stay.
    pub(crate) fn reload(&self) -> Result<Option<usize>, UsersError> {
        let Some(basic) = &self.basic else { return Ok(None) };
        let users = Users::read(&basic.file)?;
        let count = users.count();
        let mut current = basic.current.write().unwrap_or_else(PoisonError::into_inner);
        let edition = Edition(current.1.0 + 1);
        *current = (Arc::new(users), edition);
        basic.edition.store(edition.0, Ordering::Release);
        Ok(Some(count))
    }

    /// Who asks.
    ///
    /// # Errors
    /// 401 for credentials that are nobody's, 503 where too many are being verified.
    pub(crate) async fn caller(
        &self,
        local: &Local,
        (request, peer): (&RequestHead, SocketAddr),
        log: &Log,
    ) -> Result<Caller, Fault> {
        let Some(basic) = &self.basic else { return Ok(Caller::anonymous()) };
        let Some(text) = request.header("authorization").and_then(basic::text) else { return Ok(Caller::anonymous()) };
        let digest = basic.digest(text);
        if let Some(caller) = basic.known_to(local, &digest, &self.clock) {
            return Ok(caller);
        }
        // Once in a while: a connection is to be no larger for it.
        Box::pin(basic.verify(local, (text, digest), &self.clock, (request, peer), log)).await
    }

    /// How many attempts ended in which way.
    pub(crate) fn outcomes(&self) -> Vec<(&'static str, u64)> {
        let Some(basic) = &self.basic else { return Vec::new() };
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let known: u64 = lock(&basic.known).iter().map(|known| count(&known.0)).sum();
        let Outcomes { verified, shared, refused, malformed, overloaded } = &basic.outcomes;
        vec![
            ("known", known + count(shared)),
            ("verified", count(verified)),
            ("refused", count(refused)),
            ("malformed", count(malformed)),
            ("overloaded", count(overloaded)),
        ]
    }

    /// What the hashing of passwords is doing.
    pub(crate) fn hashing(&self) -> Option<Occupancy> {
        self.basic.as_ref().map(|basic| basic.hashing.occupancy())
    }
}

impl Basic {
    fn digest(&self, text: &str) -> Digest {
        let mut digest = Digest::default();
        digest.copy_from_slice(hmac::sign(&self.key, text.as_bytes()).as_ref());
        digest
    }

    fn known_to(&self, local: &Local, digest: &Digest, clock: &Clock) -> Option<Caller> {
        let edition = Edition(self.edition.load(Ordering::Acquire));
        let verified = local.verified.borrow();
        let kept = verified.find(digest, clock.now(), edition)?;
        local.known.0.fetch_add(1, Ordering::Relaxed);
        Some(Caller::known(Arc::clone(&kept.user)))
    }

    /// Whose credentials these are, if another loop, or another request while this one waited, found it out.
    fn known_to_all(&self, local: &Local, digest: &Digest, clock: &Clock) -> Option<Caller> {
        let edition = Edition(self.edition.load(Ordering::Acquire));
        let now = clock.now();
        let kept = lock(&self.known_to_all).find(digest, now, edition).cloned()?;
        self.outcomes.shared.fetch_add(1, Ordering::Relaxed);
        Some(self.keep(local, *digest, kept, clock))
    }

    async fn verify(
        &self,
        local: &Local,
        (text, digest): (&str, Digest),
        clock: &Clock,
        (request, peer): (&RequestHead, SocketAddr),
        log: &Log,
    ) -> Result<Caller, Fault> {
        if let Some(caller) = self.known_to_all(local, &digest, clock) {
            return Ok(caller);
        }
        let Some(Credentials { name, password }) = Credentials::parse(text) else {
            self.outcomes.malformed.fetch_add(1, Ordering::Relaxed);
            let message = "expected a name and a password in base64, with a colon between them";
            return Err(Fault::unauthenticated(Arc::clone(&self.challenge), message));
        };
        let turn = self.hashing.acquire(&Task::of(request)).await.map_err(|refused| {
            self.outcomes.overloaded.fetch_add(1, Ordering::Relaxed);
            Fault::overloaded(match refused {
                Refused::QueueFull { queue_max } => {
                    format!("{queue_max} other passwords are waiting to be verified already")
                }
                Refused::WaitedTooLong { .. } => "the password waited too long to be verified".to_owned(),
            })
        })?;
        if let Some(caller) = self.known_to_all(local, &digest, clock) {
            return Ok(caller);
        }
        let (users, edition) = self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        let shown: String = name.chars().take(LOGGED_CHARACTERS_MAX).collect();
        let job = tokio::task::spawn_blocking(move || {
            let verdict = users.verify(&name, password.as_bytes());
            // Only now: who goes away meanwhile does not make room for another hash.
            drop(turn);
            verdict
        });
        let verdict = job.await.map_err(|panic| Fault::internal(format!("verifying ended badly: {panic}")))?;
        match verdict {
            Verdict::Verified(user) => {
                self.outcomes.verified.fetch_add(1, Ordering::Relaxed);
                let now = clock.now();
                let kept = Kept { user, until: now + self.kept_for, edition };
                lock(&self.known_to_all).keep(digest, kept.clone(), now);
                Ok(self.keep(local, digest, kept, clock))
            }
            Verdict::Refused => {
                self.outcomes.refused.fetch_add(1, Ordering::Relaxed);
                log.line(format_args!("401 for {shown:?} from {}: no such name and password", peer.ip()));
                Err(Fault::unauthenticated(Arc::clone(&self.challenge), "there is no user of this name and password"))
            }
        }
    }

    fn keep(&self, local: &Local, digest: Digest, kept: Kept, clock: &Clock) -> Caller {
        // A copy for this loop alone: counting its holders then disturbs no other core.
        let user = Arc::new((*kept.user).clone());
        local.verified.borrow_mut().keep(digest, Kept { user: Arc::clone(&user), ..kept }, clock.now());
        Caller::known(user)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

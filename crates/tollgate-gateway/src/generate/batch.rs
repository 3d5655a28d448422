//! The work processes of a batch: each claims a document, reads, transforms, stores, commits, and takes the next.
//!
//! One thread waits for the database on behalf of all of them; computing runs on as many threads as there are cores, so
//! that more work processes than cores use all of these and no more. A work process that loses its connection opens
//! another one, a limited number of times: its document waits again, since nothing of it was committed.

use std::cell::{Cell, RefCell};
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::task::{JoinSet, LocalSet};

use super::error::{BatchError, is_about_the_document, may_pass, with_cause};
use super::names::Tables;
use super::report::{Ended, Moment, Report, Sums, Times};
use super::session::Session;
use super::transform::{Gathered, Transform, Understood};
use super::values::{BatchContext, Claimed, Key, Settled, Standing, TimedResult};
use super::{database, postgres, sample, sqlite};
use crate::config::{Generate, Location};
use crate::store::{Database, StoreError};

/// Attempts in a row of a work process after the database failed it. The wait before each is twice as long as the last,
/// 6.3 s in all.
const ATTEMPTS_MAX: u32 = 6;
const ATTEMPT_DELAY: Duration = Duration::from_millis(100);

/// Number of further looks for documents held by others. The wait before each doubles, 6.3 s in all, too.
const LOOKS_MAX: u32 = 6;
const LOOK_DELAY: Duration = Duration::from_millis(100);
/// Longest delay before a wait notices a signal.
const NOTICE_DELAY: Duration = Duration::from_millis(20);

/// Stack size of a computing thread, in bytes: the engine's own limit, and room below.
const STACK_BYTES: usize = 4 << 20;

/// A batch with its tables found and its stylesheet compiled.
#[derive(Debug)]
pub struct Batch {
    database: Database,
    tables: Arc<Tables>,
    transform: Arc<Transform>,
}

/// Handle that stops a batch from taking more documents.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

/// Progress of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Documents that are stored.
    pub stored: u64,
    /// Documents that were set aside.
    pub set_aside: u64,
    /// Documents that waited when it began.
    pub waited: u64,
}

/// State shared by the work processes.
struct BatchWork {
    database: Database,
    transform: Arc<Transform>,
    shared: Rc<BatchContext>,
    agreed: Rc<sqlite::Agreed>,
    cores: Arc<Semaphore>,
    stop: Stop,
    watch: Box<dyn Fn(Progress)>,
    progress: Cell<Progress>,
    /// Reason why no more documents are taken.
    failed: RefCell<Option<String>>,
    sums: RefCell<Sums>,
}

/// Result of one attempt at a document.
enum DocumentStep {
    /// No document waits.
    Nothing,
    /// The document is stored or set aside, or another batch had it.
    Settled,
}

/// Reason why a work process cannot go on with its connection.
enum Trouble {
    Database(StoreError),
    /// It is unknown whether the last transaction was committed.
    InDoubt(Box<Pending>, StoreError),
}

/// A document to be committed.
struct Pending {
    key: Key,
    /// Its error, if it is set aside.
    error: Option<String>,
    round_trips: u64,
    times: Times,
}

/// Reason why a document has no result.
enum Missing {
    /// The document has an error.
    Error(String),
    /// The database failed.
    Database(StoreError),
}

impl Batch {
    /// Creates the batch of a configuration, with a table for the states of documents if the configuration names none.
    ///
    /// # Errors
    /// A mismatch of configuration and database, or a database error.
    pub fn new(location: &Location, generate: &Generate) -> Result<Batch, BatchError> {
        let transform = Transform::of_file(generate).map_err(BatchError::Config)?;
        Batch::over(database::open(location)?, generate, transform)
    }

    /// Creates the batch over the sample.
    ///
    /// # Errors
    /// [`BatchError::NoSample`] if the sample was not made; errors of the database.
    pub fn of_sample(location: &Location) -> Result<Batch, BatchError> {
        let database = database::open(location)?;
        let generate = sample::configuration().map_err(BatchError::Config)?;
        if !sample::is_there(&database.catalog()?) {
            return Err(BatchError::NoSample);
        }
        let transform = sample::transform(&generate).map_err(BatchError::Config)?;
        Batch::over(database, &generate, transform)
    }

    fn over(database: Database, generate: &Generate, transform: Transform) -> Result<Batch, BatchError> {
        let tables = Tables::of(generate, &database.catalog()?, database.dialect()).map_err(BatchError::Config)?;
        let unusable = database::unusable_keys(&database, &tables)?;
        if unusable > 0 {
            let wrong = format!("{unusable} documents have a key that is neither text nor integer, such as null");
            return Err(BatchError::Config(generate.source.key.origin.wrong(&wrong)));
        }
        database::prepare_claims(&database, &tables)?;
        Ok(Batch { database, tables: Arc::new(tables), transform: Arc::new(transform) })
    }

    /// Generates until no document waits, by so many work processes, or until `stop`. `watch` is called whenever a
    /// document is done.
    ///
    /// # Errors
    /// If no work process could begin; later errors are in the report.
    pub fn run(self, processes: usize, stop: &Stop, watch: impl Fn(Progress) + 'static) -> Result<Report, BatchError> {
        run(self, processes, stop, Box::new(watch))
    }
}

impl Stop {
    /// Stops taking documents; current ones are finished.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn has_begun(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Generates until no document waits.
fn run(batch: Batch, processes: usize, stop: &Stop, watch: Box<dyn Fn(Progress)>) -> Result<Report, BatchError> {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    // Work processes on SQLite wait for statements on threads too.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(cores + processes)
        .thread_stack_size(STACK_BYTES)
        .build()
        .map_err(BatchError::Machine)?;
    let work = Rc::new(BatchWork {
        shared: Rc::new(BatchContext::new(&batch.tables, batch.database.dialect())),
        database: batch.database,
        transform: batch.transform,
        agreed: Rc::default(),
        cores: Arc::new(Semaphore::new(cores)),
        stop: stop.clone(),
        watch,
        progress: Cell::default(),
        failed: RefCell::default(),
        sums: RefCell::default(),
    });
    LocalSet::new().block_on(&runtime, work.whole(processes))
}

impl BatchWork {
    async fn whole(self: Rc<BatchWork>, processes: usize) -> Result<Report, BatchError> {
        let connecting = Instant::now();
        let mut opening = JoinSet::new();
        for _ in 0..processes {
            let work = Rc::clone(&self);
            opening.spawn_local(async move { work.open().await });
        }
        let mut sessions = Vec::with_capacity(processes);
        for opened in opening.join_all().await {
            sessions.push(opened?);
        }
        let connect = connecting.elapsed();
        if let Some(session) = sessions.first_mut() {
            self.progress.set(Progress { waited: session.waiting().await?, ..Progress::default() });
        }
        (self.watch)(self.progress.get());

        let begun = Moment::now();
        let mut working = JoinSet::new();
        for session in sessions {
            let work = Rc::clone(&self);
            working.spawn_local(async move { work.process(session).await });
        }
        let mut last = working.join_all().await.into_iter().flatten().last();
        let left = self.left(&mut last).await;
        let failed = self.failed.take();
        let mut report = self.sums.take().report(&begun, connect, processes);
        report.ended = match (&failed, left) {
            (Some(_), _) => Ended::Failed,
            (None, Some(0)) => Ended::Complete,
            (None, _) if self.stop.has_begun() => Ended::Interrupted,
            (None, Some(_)) => Ended::HeldElsewhere,
            (None, None) => Ended::Complete,
        };
        report.left = left;
        report.reason = failed;
        Ok(report)
    }

    /// Counts the documents that wait. Some may be held by another session, which settles or releases them: the count
    /// is repeated for a while.
    async fn left(&self, last: &mut Option<Session>) -> Option<u64> {
        for look in 0.. {
            if last.is_none() {
                *last = self.open().await.ok();
            }
            let left = last.as_mut()?.waiting().await.ok();
            if left == Some(0) || left.is_none() || look == LOOKS_MAX || self.is_over() {
                return left;
            }
            let until = Instant::now() + LOOK_DELAY * 2_u32.pow(look);
            while Instant::now() < until && !self.stop.has_begun() {
                tokio::time::sleep(NOTICE_DELAY).await;
            }
            self.agreed.begin_again().await;
            let Ok(session) = self.open().await else { return left };
            *last = self.process(session).await;
        }
        None
    }

    /// Whether no more documents are taken.
    fn is_over(&self) -> bool {
        self.stop.has_begun() || self.failed.borrow().is_some()
    }

    async fn open(&self) -> Result<Session, StoreError> {
        let shared = Rc::clone(&self.shared);
        Ok(match &self.database {
            Database::Postgres(database) => {
                Session::Postgres(Box::new(postgres::PostgresSession::open(database, shared).await?))
            }
            Database::Sqlite(database) => {
                Session::Sqlite(sqlite::SqliteSession::open(database, shared, Rc::clone(&self.agreed))?)
            }
        })
    }

    /// Runs one work process to its end. Returns its connection.
    async fn process(&self, mut session: Session) -> Option<Session> {
        let mut attempts = 0;
        while !self.is_over() {
            let trouble = match self.one(&mut session).await {
                Ok(DocumentStep::Nothing) => break,
                Ok(DocumentStep::Settled) => {
                    attempts = 0;
                    continue;
                }
                Err(trouble) => trouble,
            };
            self.leave(&session);
            // What the server undoes by itself when the connection ends.
            drop(session);
            self.agreed.begin_again().await;
            session = self.recover(trouble, &mut attempts).await?;
        }
        self.leave(&session);
        Some(session)
    }

    /// Opens a connection to replace one that failed, and settles what that left open.
    async fn recover(&self, trouble: Trouble, attempts: &mut u32) -> Option<Session> {
        let (mut pending, mut error) = match trouble {
            Trouble::Database(error) => (None, error),
            Trouble::InDoubt(pending, error) => (Some(pending), error),
        };
        loop {
            if !may_pass(&error) || *attempts >= ATTEMPTS_MAX {
                let text = with_cause(&error);
                let tried = if *attempts > 0 { format!(", {attempts} attempts in a row") } else { String::new() };
                self.failed.borrow_mut().get_or_insert(format!("{text}{tried}"));
                return None;
            }
            tokio::time::sleep(ATTEMPT_DELAY * 2_u32.pow(*attempts)).await;
            *attempts += 1;
            if self.failed.borrow().is_some() {
                return None;
            }
            error = match self.settle_again(&mut pending).await {
                Ok(session) => return Some(session),
                Err(error) => error,
            };
        }
    }

    /// Opens a new connection and settles a commit in doubt.
    async fn settle_again(&self, pending: &mut Option<Box<Pending>>) -> Result<Session, StoreError> {
        let mut session = self.open().await?;
        self.sums.borrow_mut().reconnects += 1;
        if let Some(doubtful) = pending {
            let standing = session.standing(&doubtful.key).await?;
            let was_committed = match doubtful.error {
                None => standing == Standing::Done,
                Some(_) => standing == Standing::Other,
            };
            if let (true, Some(committed)) = (was_committed, pending.take()) {
                self.settled(*committed);
            }
        }
        Ok(session)
    }

    /// Processes one document, from its claim to its commit.
    async fn one(&self, session: &mut Session) -> Result<DocumentStep, Trouble> {
        let (began, sent) = (Instant::now(), session.round_trips());
        let mut times = Times::default();
        let Some(mut claimed) = timed(&mut times.database, session.claim()).await? else {
            return Ok(DocumentStep::Nothing);
        };
        let mut error = None;
        match self.result(session, &mut claimed, &mut times).await {
            Ok(result) => {
                let waiting = began.elapsed().saturating_sub(times.compute + times.database);
                let outcome = TimedResult { result: &result, times: Times { waiting, ..times } };
                match timed(&mut times.database, session.store(&claimed.key, outcome)).await {
                    Ok(Settled::Here) => {}
                    Ok(Settled::Elsewhere) => {
                        session.abandon().await?;
                        return Ok(DocumentStep::Settled);
                    }
                    Err(refused) if is_about_the_document(&refused) => {
                        session.abandon().await?;
                        error = Some(format!("the result cannot be stored: {}", with_cause(&refused)));
                    }
                    Err(other) => return Err(other.into()),
                }
            }
            Err(Missing::Error(wrong)) => error = Some(wrong),
            Err(Missing::Database(refused)) if is_about_the_document(&refused) => {
                session.abandon().await?;
                error = Some(format!("a dependency cannot be read: {}", with_cause(&refused)));
            }
            Err(Missing::Database(other)) => return Err(other.into()),
        }
        if let Some(wrong) = &mut error {
            self.shorten(wrong);
            let settled = timed(&mut times.database, session.set_aside(&claimed.key, wrong)).await?;
            if settled == Settled::Elsewhere {
                session.abandon().await?;
                return Ok(DocumentStep::Settled);
            }
        }
        let committed = timed(&mut times.database, session.commit()).await;
        times.waiting = began.elapsed().saturating_sub(times.compute + times.database);
        let round_trips = session.round_trips() - sent;
        let pending = Pending { key: claimed.key, error, round_trips, times };
        match committed {
            Ok(()) => {
                self.settled(pending);
                Ok(DocumentStep::Settled)
            }
            Err(doubt @ StoreError::InDoubt(_)) => Err(Trouble::InDoubt(Box::new(pending), doubt)),
            // What is checked at the end of the transaction: a rule that the result breaks.
            Err(refused) if is_about_the_document(&refused) && pending.error.is_none() => {
                let mut wrong = format!("the result cannot be stored: {}", with_cause(&refused));
                self.shorten(&mut wrong);
                session.abandon().await?;
                if session.set_aside(&pending.key, &wrong).await? == Settled::Here {
                    session.commit().await?;
                    self.settled(Pending { error: Some(wrong), round_trips: session.round_trips() - sent, ..pending });
                } else {
                    session.abandon().await?;
                }
                Ok(DocumentStep::Settled)
            }
            Err(other) => Err(other.into()),
        }
    }

    /// Reads the dependencies of a document, and transforms it.
    async fn result(&self, session: &mut Session, claimed: &mut Claimed, times: &mut Times) -> Result<String, Missing> {
        let text = claimed.document.take().ok_or_else(|| Missing::Error("there is no document".to_owned()))?;
        let transform = Arc::clone(&self.transform);
        let understood: Understood = self.compute(times, move || transform.understand(&text)).await?;
        let mut gathered = Gathered::default();
        for (dependency, references) in understood.references.iter().enumerate() {
            match references {
                None => {
                    let rows = timed(&mut times.database, session.rows(dependency, &claimed.key)).await?;
                    self.transform.gather(&mut gathered, dependency, None, rows)?;
                }
                Some(references) => {
                    for reference in references {
                        let key = Key::Text(reference.clone());
                        let rows = timed(&mut times.database, session.rows(dependency, &key)).await?;
                        self.transform.gather(&mut gathered, dependency, Some(reference), rows)?;
                    }
                }
            }
        }
        let (transform, key) = (Arc::clone(&self.transform), claimed.key.to_string());
        Ok(self.compute(times, move || transform.transform(&understood, &gathered, &key)).await?)
    }

    /// Computes on another thread, once a core is free.
    async fn compute<T: Send + 'static>(
        &self,
        times: &mut Times,
        work: impl FnOnce() -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let core = Arc::clone(&self.cores).acquire_owned().await.expect("nobody closes it");
        let job = tokio::task::spawn_blocking(move || {
            let began = Instant::now();
            let made = work();
            drop(core);
            (made, began.elapsed())
        });
        let (made, time) = job.await.map_err(|panic| format!("the computation ended badly: {panic}"))?;
        times.compute += time;
        made
    }

    /// Shortens the error of a document to fit its column, or it could not be set aside.
    fn shorten(&self, error: &mut String) {
        if let Some((end, _)) = error.char_indices().nth(self.shared.tables.ledger.error_characters_max) {
            error.truncate(end);
        }
    }

    /// Counts a document that is stored or set aside.
    fn settled(&self, settled: Pending) {
        let mut progress = self.progress.get();
        {
            let mut sums = self.sums.borrow_mut();
            match &settled.error {
                None => sums.stored += 1,
                Some(error) => {
                    sums.set_aside += 1;
                    sums.note_error(&settled.key, error);
                }
            }
            sums.add(settled.round_trips, settled.times);
            (progress.stored, progress.set_aside) = (sums.stored, sums.set_aside);
        }
        self.progress.set(progress);
        (self.watch)(progress);
    }

    /// Adds the counters of a connection that is no longer used.
    fn leave(&self, session: &Session) {
        self.sums.borrow_mut().round_trips_in_all += session.round_trips();
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Trouble {
        Trouble::Database(error)
    }
}

impl From<StoreError> for Missing {
    fn from(error: StoreError) -> Missing {
        Missing::Database(error)
    }
}

impl From<String> for Missing {
    fn from(error: String) -> Missing {
        Missing::Error(error)
    }
}

/// Waits for the database, and adds the time that it took.
async fn timed<T>(time: &mut Duration, answer: impl Future<Output = T>) -> T {
    let began = Instant::now();
    let answer = answer.await;
    *time += began.elapsed();
    answer
}

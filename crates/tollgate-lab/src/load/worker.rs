//! A worker: one thread on one core of the generator, with one runtime and a task for each user. Connections and
//! knowledge of collections are kept between trials.
//!
//! Orders and reports cross threads only between trials; during a trial, nothing is shared with other threads.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};
use tokio::task::LocalSet;
use tollgate_net::http1::client::Connector;
use tollgate_net::link::Door;
use tollgate_net::pacer::Pacer;

use super::answer::content::LastRight;
use super::insert::{self, Transfer};
use super::pace::asleep;
use super::pace::closing::Closing;
use super::pace::gate::Gate;
use super::pass::Pass;
use super::record::course::Course;
use super::record::heartbeat::Heartbeat;
use super::record::live::{LiveCounter, LiveCounters};
use super::record::recorder::Recorder;
use super::renewal::{self, Greetings, Renewal};
use super::request::{Requests, Uncounted};
use super::scenario::{self, Conduct, Play, Program};
use super::script::{Place, Script};
use super::target::LoadTarget;
use super::user::{Asking, User};
use super::{request, walk};
use crate::cores;
use crate::probe::generator::{ThreadUse, Used};
use crate::traffic::model::{Load, Pace};

/// Wait for a worker's report after a cancellation, before waiting again.
const AFTER_CANCEL: Duration = Duration::from_millis(500);

/// A load thread. Dropping it ends the thread.
#[derive(Debug)]
pub struct Worker {
    orders: Option<mpsc::UnboundedSender<Command>>,
    reports: Receiver<Report>,
    live: Arc<LiveCounter>,
    thread: Option<JoinHandle<()>>,
}

/// Order for a worker: one trial.
pub struct Order {
    /// Number under which connections and knowledge are kept: one for each variant.
    pub slot: usize,
    /// Target of the load, with the lifetime of connections.
    pub target: Arc<LoadTarget>,
    /// Requests to send.
    pub work: Work,
    /// Whether its users keep their connections or renew them.
    pub renewal: Renewal,
    /// This worker's share of the load: number of users or rate, and end. Only scripts and scenarios come at a rate, or
    /// with users who come one after another.
    pub load: Load,
    /// Gate at which workers meet; it records the start and end of the measurement.
    pub gate: Arc<Gate>,
    /// Recording of the course over time.
    pub course: Course,
    /// Record of the trial; reused, so that its memory causes no page faults.
    pub recorder: Recorder,
}

/// Work of a worker.
#[derive(Debug, Clone)]
pub enum Work {
    /// Its part of the pass that all workers share; one user of the first lane gets the list.
    Walk(Arc<Pass>),
    /// Requests of a script. Before the measurement, users get the TLS sessions to resume.
    Script(Arc<Script>),
    /// A scenario, repeated; its workers begin and end the measurement together.
    Scenario(Arc<Program>, Conduct),
    /// Transfers of records, by a single worker.
    Insert(Box<Transfer>),
}

/// Report of a worker.
#[derive(Debug)]
pub struct Report {
    /// Record of the trial.
    pub recorder: Recorder,
    /// Start of the measurement.
    pub started: Instant,
    /// Arrival of the last answer, or end of the measurement.
    pub finished: Instant,
    /// CPU use of the thread in between.
    pub used: Used,
    /// Whether the trial was completed.
    pub end: ReportEnd,
}

/// End of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportEnd {
    /// After a whole unit of work.
    Whole,
    /// Cancelled: the record is not a trial.
    Cancelled,
}

impl Work {
    /// Returns the requests on closed and opened connections; none for a scenario, whose steps may not work alone.
    fn greetings(&self, target: &LoadTarget) -> Greetings {
        let mut greetings = Greetings::default();
        match self {
            Work::Walk(_) => {
                target.render_last(target.target.path_and_query(), &mut greetings.last);
                target.render(target.target.path_and_query(), &mut greetings.first);
            }
            Work::Script(script) => {
                (greetings.last, greetings.first) = (script.first(Place::Last), script.first(Place::GoingOn));
            }
            Work::Scenario(..) | Work::Insert(_) => {}
        }
        greetings
    }
}

enum Command {
    /// Runs a trial, until the other end is dropped.
    Run(Box<Order>, oneshot::Receiver<()>),
    Forget(usize),
}

/// State of a worker for one slot.
#[derive(Default)]
struct Kept {
    users: Vec<User>,
    /// Users of a scenario between trials, each with its own connection.
    resting: Vec<scenario::Resting>,
    walk: walk::Walk,
    aside: User,
    /// Holder of TLS sessions, for this slot only: another variant must not resume them.
    connector: Option<Rc<Connector>>,
}

/// Resources of a worker for all slots.
struct Tools {
    /// The requests of the last transfer, whose memory is reused.
    rendered: Rc<insert::Rendered>,
    thread_use: ThreadUse,
    pacer: Pacer,
    heartbeat: Heartbeat,
    closing: Rc<Closing>,
    live: Arc<LiveCounter>,
    timeout: Duration,
}

impl Worker {
    /// Starts a worker on `core`, or anywhere, and behind a door, if there is one; each request may take `timeout`.
    ///
    /// # Errors
    /// A failure on its thread: the way through the door, the runtime, its timer, or /proc.
    pub fn start(core: Option<usize>, timeout: Duration, door: Option<Door>) -> Result<Worker, String> {
        tollgate_net::tcp::begin_stamping();
        let (orders, commands) = mpsc::unbounded_channel();
        let (report, reports) = channel();
        let (announce, announced) = channel();
        let live = Arc::new(LiveCounter::default());
        let counted = Arc::clone(&live);
        let thread = std::thread::Builder::new()
            .name("load".to_owned())
            .spawn(move || {
                cores::pin(core.as_slice());
                let entered = door.map_or(Ok(()), |door| door.enter());
                let entered = entered.map_err(|error| format!("the load cannot get to its end of the line: {error}"));
                // Whoever started this thread waits for what it says.
                match entered.and_then(|()| prepare(timeout, counted)) {
                    Ok((runtime, tools)) => {
                        let _ = announce.send(Ok(()));
                        work(&runtime, tools, commands, &report);
                    }
                    Err(message) => drop(announce.send(Err(message))),
                }
            })
            .map_err(|error| format!("no thread for the load: {error}"))?;
        let worker = Worker { orders: Some(orders), reports, live, thread: Some(thread) };
        announced.recv().unwrap_or_else(|_| Err("the load thread ended at its start".to_owned()))?;
        Ok(worker)
    }

    /// Starts several workers, each on a core of its own if there are enough.
    ///
    /// # Errors
    /// As [`Worker::start`].
    pub(crate) fn start_all(
        count: usize,
        cores: &[usize],
        timeout: Duration,
        door: Option<&Door>,
    ) -> Result<Vec<Worker>, String> {
        let core = |index: usize| cores.get(index).copied().filter(|_| count <= cores.len());
        (0..count).map(|index| Worker::start(core(index), timeout, door.cloned())).collect()
    }

    /// Returns the live counts of these workers, across trials.
    pub(crate) fn counters(workers: &[Worker]) -> LiveCounters {
        LiveCounters::new(workers.iter().map(|worker| Arc::clone(&worker.live)))
    }

    /// Begins a trial. Dropping the returned sender ends it at once; its report is then [`ReportEnd::Cancelled`].
    #[must_use]
    pub fn run(&self, order: Order) -> oneshot::Sender<()> {
        let (cancel, cancelled) = oneshot::channel();
        self.send(Command::Run(Box::new(order), cancelled));
        cancel
    }

    /// Closes the connections of a slot and forgets its answers.
    pub fn forget(&self, slot: usize) {
        self.send(Command::Forget(slot));
    }

    /// Returns the report of the trial, if it comes within `patience`.
    ///
    /// # Panics
    /// If the worker's thread panicked: a defect of ours, after which no figure can be trusted.
    pub fn report(&self, patience: Duration) -> Option<Report> {
        match self.reports.recv_timeout(patience) {
            Ok(report) => Some(report),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => panic!("the load thread ended while the lab still needed it"),
        }
    }

    fn send(&self, command: Command) {
        if let Some(orders) = &self.orders {
            // A thread that is gone is found out by `report`.
            let _ = orders.send(command);
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed when it happened.
            let _ = thread.join();
        }
    }
}

/// Waits for the reports of workers. If one is not there after `patience`, `on_silence` returns how long to wait again,
/// or `None` to cancel all trials by dropping `cancels`.
pub(crate) fn reports<'w>(
    workers: impl Iterator<Item = &'w Worker>,
    cancels: Vec<oneshot::Sender<()>>,
    mut patience: Duration,
    mut on_silence: impl FnMut() -> Option<Duration>,
) -> Vec<Report> {
    let mut cancels = Some(cancels);
    let wait = |worker: &Worker| loop {
        if let Some(report) = worker.report(patience) {
            return report;
        }
        if cancels.is_some() {
            match on_silence() {
                Some(again) => patience = again,
                None => (cancels, patience) = (None, AFTER_CANCEL),
            }
        }
    };
    workers.map(wait).collect()
}

fn work(runtime: &Runtime, mut tools: Tools, mut commands: mpsc::UnboundedReceiver<Command>, reports: &Sender<Report>) {
    let mut slots: HashMap<usize, Kept> = HashMap::new();
    LocalSet::new().block_on(runtime, async move {
        while let Some(command) = commands.recv().await {
            match command {
                Command::Forget(slot) => {
                    slots.remove(&slot);
                }
                Command::Run(order, cancel) => {
                    let kept = slots.entry(order.slot).or_default();
                    let report = carry_out(*order, cancel, kept, &mut tools).await;
                    if reports.send(report).is_err() {
                        return;
                    }
                }
            }
        }
    });
}

fn prepare(timeout: Duration, live: Arc<LiveCounter>) -> Result<(Runtime, Tools), String> {
    let runtime = asleep::noting(tokio::runtime::Builder::new_current_thread().enable_all()).build();
    let runtime = runtime.map_err(|error| format!("no runtime for the load: {error}"))?;
    let thread_use = ThreadUse::of_this_thread().map_err(|error| format!("/proc/thread-self/schedstat: {error}"))?;
    let (pacer, heartbeat) = {
        let _entered = runtime.enter();
        let timers = Pacer::new().and_then(|pacer| Ok((pacer, Heartbeat::new()?)));
        timers.map_err(|error| format!("no timer for the load: {error}"))?
    };
    let (rendered, closing) = (Rc::default(), Rc::default());
    Ok((runtime, Tools { rendered, thread_use, pacer, heartbeat, closing, live, timeout }))
}

/// Renews the connections of all active users, and returns the record of that. Inactive users only close theirs;
/// resting users of a scenario have their own.
async fn draw(
    work: &Work,
    asking: &Rc<Asking>,
    (users, idle, resting): (&mut [User], &mut Vec<User>, &mut Vec<scenario::Resting>),
) -> Recorder {
    let aside = Rc::new(RefCell::default());
    let mut parting = std::mem::take(idle);
    parting.extend(resting.iter_mut().skip(users.len()).map(|resting| std::mem::take(resting.user())));
    let mut asked: Vec<&mut User> = users.iter_mut().collect();
    asked.iter_mut().zip(resting).for_each(|(user, resting)| *user = resting.user());
    let drawn = asked.iter_mut().map(|user| std::mem::take(*user)).collect();
    renewal::part(parting, asking, &work.greetings(&asking.target).last).await;
    let drawn = renewal::renew(drawn, asking, work.greetings(&asking.target), &aside).await;
    asked.into_iter().zip(drawn).for_each(|(user, drawn)| *user = drawn);
    aside.take()
}

async fn carry_out(order: Order, cancel: oneshot::Receiver<()>, kept: &mut Kept, tools: &mut Tools) -> Report {
    let Order { target, work, renewal, load, gate, course, mut recorder, .. } = order;
    recorder.live = Some(Arc::clone(&tools.live));
    let connector = kept.connector.get_or_insert_with(|| {
        let connector = Connector::new(target.tls.clone()).socket(target.socket).route(target.route.clone());
        Rc::new(connector.exchange_timeout(tools.timeout))
    });
    // Before time counts: roots are read, and forgetting takes longer than an answer. Without roots each request fails
    // with the reason.
    let _ = connector.prepare(&target.target);
    let (connector, closing) = (Rc::clone(connector), Rc::clone(&tools.closing));
    let asking = Rc::new(Asking { connector, target, closing, addresses: Default::default() });
    let mut users = std::mem::take(&mut kept.users);
    // A scenario's users have a setup before they are called.
    if matches!((load.pace, &work), (Pace::Closed { .. }, _) | (_, Work::Scenario(..))) {
        users.resize_with(users.len().max(load.users), User::default);
    }
    let mut resting = users.split_off(load.users.min(users.len()));
    let thread_use = &tools.thread_use;
    let (mut before, mut started) = (thread_use.read(), Instant::now());
    let recorder = Rc::new(RefCell::new(recorder));
    let (written, uncounted) = (Rc::clone(&recorder), Uncounted::default());
    let (mut used_within, mut ended) = (None, None);
    // An insert pauses by itself to count and delete rows, which is in no time: its beats would say nothing.
    let beating = if matches!(work, Work::Insert(_)) { tools.heartbeat.still() } else { tools.heartbeat.begin() };
    let mut on_counted = |now| {
        (started, before) = (now, thread_use.read());
        beating.note(&recorder);
        recorder.borrow_mut().begin(now);
    };
    let asked = async {
        if renewal == Renewal::Anew {
            let mut aside = draw(&work, &asking, (&mut users, &mut resting, &mut kept.resting)).await;
            aside.live = Some(Arc::clone(&tools.live));
            let _ = uncounted.set(RefCell::new(aside));
        }
        if let Work::Script(script) = &work {
            asking.prime(load.users, &script.first(Place::Last)).await;
        }
        recorder.borrow_mut().reset(course, Instant::now());
        // All that is asked from here on counts; but of a scenario nothing before its setup is over, and of requests
        // nothing before all users have come.
        let counts_at_once = match &work {
            Work::Scenario(..) => false,
            Work::Script(_) => load.ramp_up().is_zero(),
            Work::Walk(_) | Work::Insert(_) => true,
        };
        if counts_at_once {
            gate.meet(Gate::begin).await;
            on_counted(Instant::now());
        }
        match work {
            Work::Walk(pass) => {
                let leads = (load.lane.index == 0).then_some(load.end);
                let (walk, users) =
                    walk::run(std::mem::take(&mut kept.walk), users, asking, (pass, leads), written).await;
                kept.walk = walk;
                users
            }
            Work::Script(script) => {
                let on_counted = || {
                    // Users wait while it is read; what they are answered meanwhile does not count.
                    gate.begin();
                    let now = Instant::now();
                    on_counted(now);
                    now
                };
                let (pace, rows, known) = (load.pace, Cell::default(), LastRight::default());
                let asked = Requests { asking, script, load, recorder: written, rows, known };
                match pace {
                    Pace::Closed { .. } => request::run(users, asked, Rc::clone(&uncounted), on_counted).await,
                    Pace::Open(rate) => request::at_a_rate(users, asked, rate, &mut tools.pacer).await,
                }
            }
            Work::Scenario(program, conduct) => {
                let on_ended = |now| {
                    ended = Some((now, thread_use.read()));
                    beating.stop(&recorder);
                };
                let play = Play { program, conduct, load, gate };
                let users = (users, &mut kept.resting);
                scenario::run(users, asking, play, (written, &mut tools.pacer), (on_counted, on_ended)).await
            }
            Work::Insert(transfer) => {
                let (connections, rendered) = ((users, &mut kept.aside), &mut tools.rendered);
                let (users, used) =
                    insert::run(connections, asking, &transfer, load.end, written, rendered, thread_use).await;
                used_within = Some(used);
                users
            }
        }
    };
    let back = tokio::select! {
        biased;
        back = asked => Some(back),
        _ = cancel => None,
        never = beating.run(&recorder) => match never {},
    };
    if let Some(aside) = uncounted.get() {
        recorder.borrow_mut().before.get_or_insert_default().add(&aside.borrow().tally);
    }
    // What fell due at the very end was not noticed yet.
    beating.note(&recorder);
    drop(beating);
    let (finished, after) = ended.unwrap_or_else(|| (Instant::now(), tools.thread_use.read()));
    let used = used_within.unwrap_or_else(|| after.since(before));
    let end = if back.is_some() { ReportEnd::Whole } else { ReportEnd::Cancelled };
    kept.users = back.unwrap_or_default();
    {
        let used = &mut recorder.borrow_mut().tally.used;
        let all = kept.users.iter_mut().chain(kept.resting.iter_mut().map(scenario::Resting::user));
        all.for_each(|user| user.count_connection(used));
    }
    kept.users.extend(resting);
    // Cancelled tasks are dropped when they are next polled, so the recorder may still be shared: then it is copied.
    let recorder = Rc::try_unwrap(recorder).map_or_else(|shared| shared.borrow().clone(), RefCell::into_inner);
    Report { recorder, started, finished, used, end }
}

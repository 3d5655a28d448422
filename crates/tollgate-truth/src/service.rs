//! The scripted answers: `/CLASS/items` is a list, `/CLASS/items/ID` an entity of it, anything else below a class an
//! answer that repeats its path; a table to insert into is below `odata` and `rest`. `/truth/counts`, `/truth/log`,
//! `/truth/log/CLASS`, `/truth/cpu/CLASS` and `/truth/error` report the server's actions, `/truth/faults` those on
//! tables; they are not counted themselves.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tollgate_net::http1::server::{Abort, Delimiter, Exchange, ExchangeError, Service};

use crate::behaviour::{Behaviour, Delimited, Servers, is_hit, stalled};
use crate::body::{Scripted, scripted};
use crate::deadlines::Deadlines;
use crate::draw::loses;
use crate::gate::Gate;
use crate::ledger::{End, Ledger, Visit};
use crate::table::Table;

/// Bytes of a part, at least and at most; between them a hundredth of the body.
const PART_BYTES: (usize, usize) = (1000, 65_536);
/// Interval of the parts of a paced body, or shorter if a part would be too large.
const PACE: Duration = Duration::from_millis(1);

/// Bytes of a body that is inserted.
const BODY_BYTES_MAX: usize = 64 << 20;

/// The tables by class.
pub(crate) type Tables = Arc<Mutex<HashMap<String, Table>>>;

/// The service of the only thread; ledger and tables are shared with the reporting code.
pub(crate) struct Truth {
    ledger: Arc<Mutex<Ledger>>,
    tables: Tables,
    start: Instant,
    classes: RefCell<HashMap<String, Rc<Class>>>,
    deadlines: Rc<Deadlines>,
    /// The class of the last request, and the thread's CPU time then.
    last: RefCell<Option<(Rc<Class>, u64)>>,
}

/// A class with what its requests have in common.
struct Class {
    name: String,
    behaviour: Behaviour,
    gate: Gate,
    /// The time when the only server of a queue is free.
    free_at: Cell<Instant>,
}

/// A request on its way: it is written down as one that left if it ends in any other way than by [`Guard::depart`].
struct Guard<'a> {
    truth: &'a Truth,
    class: &'a Class,
    visit: Visit,
    has_departed: bool,
}

impl Truth {
    pub(crate) fn new(ledger: Arc<Mutex<Ledger>>, tables: Tables) -> Truth {
        let start = ledger.lock().expect("nobody panics while holding the ledger").start();
        Truth { ledger, tables, start, classes: RefCell::default(), deadlines: Rc::default(), last: RefCell::default() }
    }

    fn class(&self, name: &str) -> Result<Rc<Class>, String> {
        if let Some(known) = self.classes.borrow().get(name) {
            return Ok(Rc::clone(known));
        }
        let behaviour = Behaviour::parse(name)?;
        let class = Class { name: name.to_owned(), behaviour, gate: Gate::default(), free_at: Cell::new(self.start) };
        let class = Rc::new(class);
        self.classes.borrow_mut().insert(name.to_owned(), Rc::clone(&class));
        Ok(class)
    }

    /// The report on the server's actions at this path.
    fn told(&self, path: &str) -> Option<(&'static str, String)> {
        Some(match path {
            "counts" => ("application/json", self.ledger().counts()),
            "error" => ("text/plain", self.ledger().error()),
            "log" => ("text/csv", self.ledger().log(None)),
            "faults" => {
                let faults: HashMap<String, u64> =
                    self.tables().iter().map(|(class, table)| (class.clone(), table.faults())).collect();
                ("application/json", serde_json::to_string(&faults).expect("counts by name are JSON"))
            }
            _ => match path.split_once('/')? {
                ("log", class) => ("text/csv", self.ledger().log(Some(class))),
                ("cpu", class) => ("text/csv", self.ledger().cpu(class)),
                _ => return None,
            },
        })
    }

    /// Charges all CPU time of the thread until now to the last request, and returns it.
    fn settle(&self) -> u64 {
        let now_ns = thread_cpu_ns();
        if let Some((last, since_ns)) = self.last.take() {
            self.ledger().used(&last.name, now_ns - since_ns);
        }
        now_ns
    }

    /// A request of a class came from this port: its position, and what it is written down with.
    fn arrive<'a>(&'a self, class: &'a Class, (port, arrival): (u16, Instant)) -> (u64, Guard<'a>) {
        let position = self.ledger().arrive(&class.name);
        let behaviour = &class.behaviour;
        let mut service = behaviour.service_time.of(behaviour.seed, position);
        if loses(behaviour.seed, port.into()) {
            service += behaviour.lottery;
        }
        let begun = match behaviour.servers {
            Servers::Unlimited => arrival,
            Servers::One => arrival.max(class.free_at.get()),
        };
        let stall = stalled(arrival.saturating_duration_since(self.start), behaviour.stall);
        let due = (begun + service).max(arrival + stall).max(arrival + behaviour.burn);
        class.free_at.set(due);
        let visit = Visit { arrival, service, due, burned_ns: 0, end: End::Left };
        (position, Guard { truth: self, class, visit, has_departed: false })
    }

    /// Serves a table: only inserts are recorded, burn and wait; reading and emptying a table is beside the work.
    async fn serve_table(
        &self,
        exchange: &mut Exchange<'_>,
        (class, below): (&Class, &str),
        arrival: Instant,
    ) -> Result<(), ExchangeError> {
        let query = exchange.request().query().unwrap_or_default().to_owned();
        let body = exchange.read_body(BODY_BYTES_MAX).await?.to_vec();
        let behaviour = &class.behaviour;
        let ask = || {
            let mut tables = self.tables();
            match tables.entry(class.name.clone()).or_default().answer(behaviour, below, &query, &body) {
                Some(found) => (found.status, found.content_type, found.body),
                None => (404, "text/plain", String::new()),
            }
        };
        if body.is_empty() || below == "rest/deleteAll" {
            let (status, content_type, text) = ask();
            return answer(exchange, status, content_type, &text);
        }
        let (position, mut guard) = self.arrive(class, (exchange.peer().port(), arrival));
        guard.visit.burned_ns = burn(behaviour.burn);
        if is_hit(position, behaviour.resets_per_mille) {
            self.deadlines.until(guard.visit.due).await;
            guard.depart(End::Reset);
            return Err(ExchangeError::Abort(Abort::Reset));
        }
        let (status, content_type, text) = ask();
        self.deadlines.until(guard.visit.due).await;
        guard.depart(End::Answered { status, body_bytes: text.len() as u64 });
        answer(exchange, status, content_type, &text)
    }

    /// Sends a body in parts, each when it is due, and the last one with its departure.
    async fn send_parts(
        &self,
        exchange: &mut Exchange<'_>,
        guard: &mut Guard<'_>,
        Scripted { status, body, end }: Scripted,
    ) -> Result<(), ExchangeError> {
        let behaviour = &guard.class.behaviour;
        let (pace, begun) = (behaviour.pace_bytes_per_second, guard.visit.due);
        let sent_at = |bytes: usize| match pace {
            0 => begun,
            pace => begun + Duration::from_secs_f64(bytes as f64 / pace as f64),
        };
        let part_bytes = match pace {
            0 => (body.len() / 100).clamp(PART_BYTES.0, PART_BYTES.1),
            pace => ((pace as f64 * PACE.as_secs_f64()) as usize).clamp(1, PART_BYTES.1),
        };
        exchange.respond().delimit(match behaviour.delimited {
            Delimited::Length => Delimiter::Length(body.len() as u64),
            Delimited::Chunks => Delimiter::Automatic,
            Delimited::Close => Delimiter::Close,
        });
        // What is halved ends where half of it is sent.
        let sent = if matches!(end, End::Halved) { &body.as_bytes()[..body.len() / 2] } else { body.as_bytes() };
        guard.visit.due = sent_at(sent.len());
        let mut done = 0;
        loop {
            let part = &sent[done..sent.len().min(done + part_bytes)];
            let is_first = done == 0;
            done += part.len();
            self.deadlines.until(sent_at(done)).await;
            if done == sent.len() {
                guard.depart(end);
            }
            let response = exchange.respond();
            if is_first {
                response.status = status;
                response.header("Content-Type", "application/json");
            }
            response.body.extend_from_slice(part);
            exchange.flush_part().await?;
            if done == sent.len() {
                return if matches!(end, End::Halved) { Err(exchange.cut_short()) } else { Ok(()) };
            }
        }
    }

    fn tables(&self) -> MutexGuard<'_, HashMap<String, Table>> {
        self.tables.lock().expect("nobody panics while holding the tables")
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().expect("nobody panics while holding the ledger")
    }
}

impl Service for Truth {
    async fn serve(&self, exchange: &mut Exchange<'_>) -> Result<(), ExchangeError> {
        let arrival = Instant::now();
        let used_ns = self.settle();
        let path = exchange.request().path().trim_start_matches('/').to_owned();
        let (class, below) = path.split_once('/').unwrap_or((&path, ""));
        if class == "truth"
            && let Some((content_type, text)) = self.told(below)
        {
            return answer(exchange, 200, content_type, &text);
        }
        let class = match self.class(class) {
            Ok(class) => class,
            Err(message) => return answer(exchange, 404, "text/plain", &message),
        };
        if below.starts_with("odata/") || below.starts_with("rest/") {
            return self.serve_table(exchange, (&class, below), arrival).await;
        }
        let behaviour = &class.behaviour;
        let (position, mut guard) = self.arrive(&class, (exchange.peer().port(), arrival));
        self.last.replace(Some((Rc::clone(&class), used_ns)));
        guard.visit.burned_ns = burn(behaviour.burn);
        let answered = scripted(behaviour, position, below);
        if behaviour.gate > 0 {
            class.gate.pass(behaviour.gate).await;
            guard.visit.due = guard.visit.due.max(Instant::now());
        }
        self.deadlines.until(guard.visit.due).await;
        let in_parts = behaviour.delimited != Delimited::Length || behaviour.pace_bytes_per_second > 0;
        match answered.end {
            End::Reset => {
                guard.depart(End::Reset);
                Err(ExchangeError::Abort(Abort::Reset))
            }
            End::Halved => self.send_parts(exchange, &mut guard, answered).await,
            End::Answered { status: 200, .. } | End::Wrong { .. } if in_parts => {
                self.send_parts(exchange, &mut guard, answered).await
            }
            end => {
                guard.depart(end);
                answer(exchange, answered.status, "application/json", &answered.body)
            }
        }
    }
}

impl Guard<'_> {
    /// Records that it is about to be answered.
    fn depart(&mut self, end: End) {
        self.visit.end = end;
        self.has_departed = true;
        self.truth.ledger().depart(&self.class.name, &self.visit, Instant::now());
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if !self.has_departed {
            self.depart(End::Left);
        }
    }
}

fn answer(
    exchange: &mut Exchange<'_>,
    status: u16,
    content_type: &'static str,
    body: &str,
) -> Result<(), ExchangeError> {
    let response = exchange.respond();
    response.status = status;
    response.header("Content-Type", content_type);
    response.body.extend_from_slice(body.as_bytes());
    Ok(())
}

/// Spends CPU time of this thread by its own clock, so that being preempted does not shorten it.
fn burn(time: Duration) -> u64 {
    if time.is_zero() {
        return 0;
    }
    let start = thread_cpu_ns();
    loop {
        let spent = thread_cpu_ns() - start;
        if spent >= time.as_nanos() as u64 {
            return spent;
        }
    }
}

/// CPU time of this thread.
pub(crate) fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

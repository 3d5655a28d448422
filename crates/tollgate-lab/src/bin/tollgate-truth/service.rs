//! The scripted answers: `/CLASS/items` is a list, `/CLASS/items/ID` an entity of it, anything else below a class an
//! answer that repeats its path; a table to insert into stands below `odata` and `rest`. `/truth/counts` and
//! `/truth/log` tell what was done and are not counted themselves.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tollgate_net::http1::server::{Abort, Delimiter, Exchange, ExchangeError, Service};

use crate::behaviour::{Behaviour, Delimited, is_hit, stalled};
use crate::ledger::{End, Ledger};
use crate::table::Table;

/// What is left of a wait when the timer hands over to spinning: the runtime's timers are up to 2 ms late.
const SPIN: Duration = Duration::from_millis(3);

/// Bytes of a chunk.
const PART_BYTES: usize = 1000;

/// Bytes of a body that is inserted.
const BODY_BYTES_MAX: usize = 64 << 20;

/// The tables by class.
pub(crate) type Tables = Arc<Mutex<HashMap<String, Table>>>;

/// The service of one thread; ledger and tables are shared.
pub(crate) struct Truth {
    ledger: Arc<Mutex<Ledger>>,
    tables: Tables,
    start: Instant,
    behaviours: std::cell::RefCell<HashMap<String, Behaviour>>,
}

impl Truth {
    pub(crate) fn new(ledger: Arc<Mutex<Ledger>>, tables: Tables) -> Truth {
        Truth { ledger, tables, start: Instant::now(), behaviours: Default::default() }
    }

    fn behaviour(&self, class: &str) -> Result<Behaviour, String> {
        if let Some(known) = self.behaviours.borrow().get(class) {
            return Ok(known.clone());
        }
        let behaviour = Behaviour::parse(class)?;
        self.behaviours.borrow_mut().insert(class.to_owned(), behaviour.clone());
        Ok(behaviour)
    }

    /// Only what inserts is written down, burns and waits; what reads and empties a table is beside the work.
    async fn serve_table(
        &self,
        exchange: &mut Exchange<'_>,
        (class, below): (&str, &str),
        behaviour: &Behaviour,
        arrival: Instant,
    ) -> Result<(), ExchangeError> {
        let query = exchange.request().query().unwrap_or_default().to_owned();
        let body = exchange.read_body(BODY_BYTES_MAX).await?.to_vec();
        let inserts = !body.is_empty() && below != "rest/deleteAll";
        let position = if inserts { self.ledger().arrive(class) } else { 0 };
        let burned_ns = if inserts { burn(behaviour.burn) } else { 0 };
        let (status, content_type, text, end) = match inserts {
            true if is_hit(position, behaviour.resets_per_mille) => (0, "", String::new(), End::Reset),
            _ => match self.tables().entry(class.to_owned()).or_default().answer(behaviour, below, &query, &body) {
                Some(found) => {
                    let end = End::Answered { status: found.status, body_bytes: found.body.len() as u64 };
                    (found.status, found.content_type, found.body, end)
                }
                None => (404, "text/plain", String::new(), End::Answered { status: 404, body_bytes: 0 }),
            },
        };
        if inserts {
            wait_until(arrival + behaviour.constant).await;
            self.ledger().depart(class, arrival, Instant::now(), burned_ns, end);
        }
        match end {
            End::Reset => Err(ExchangeError::Abort(Abort::Reset)),
            _ => answer(exchange, status, content_type, &text),
        }
    }

    fn tables(&self) -> std::sync::MutexGuard<'_, HashMap<String, Table>> {
        self.tables.lock().expect("nobody panics while holding the tables")
    }

    fn ledger(&self) -> std::sync::MutexGuard<'_, Ledger> {
        self.ledger.lock().expect("nobody panics while holding the ledger")
    }
}

impl Service for Truth {
    async fn serve(&self, exchange: &mut Exchange<'_>) -> Result<(), ExchangeError> {
        let arrival = Instant::now();
        let path = exchange.request().path().to_owned();
        match path.as_str() {
            "/truth/counts" => return answer(exchange, 200, "application/json", &self.ledger().counts()),
            "/truth/faults" => {
                let faults: HashMap<String, u64> =
                    self.tables().iter().map(|(class, table)| (class.clone(), table.faults())).collect();
                let text = serde_json::to_string(&faults).expect("counts by name are JSON");
                return answer(exchange, 200, "application/json", &text);
            }
            "/truth/log" => return answer(exchange, 200, "text/csv", &self.ledger().log()),
            _ => {}
        }
        let (class, below) = path.trim_start_matches('/').split_once('/').unwrap_or((path.trim_start_matches('/'), ""));
        let behaviour = match self.behaviour(class) {
            Ok(behaviour) => behaviour,
            Err(message) => return answer(exchange, 404, "text/plain", &message),
        };
        if below.starts_with("odata/") || below.starts_with("rest/") {
            return self.serve_table(exchange, (class, below), &behaviour, arrival).await;
        }
        let position = self.ledger().arrive(class);

        let burned_ns = burn(behaviour.burn);
        let (status, body, end) = scripted(&behaviour, position, below);
        let since_start = arrival.saturating_duration_since(self.start);
        wait_until(arrival + behaviour.constant.max(stalled(since_start, behaviour.stall))).await;
        let departure = Instant::now();

        self.ledger().depart(class, arrival, departure, burned_ns, end);
        match end {
            End::Reset => Err(ExchangeError::Abort(Abort::Reset)),
            End::Halved => {
                exchange.respond().delimit(Delimiter::Length(body.len() as u64));
                answer(exchange, status, "application/json", &body[..body.len() / 2])?;
                exchange.flush_part().await?;
                Err(ExchangeError::Abort(Abort::Close))
            }
            End::Answered { .. } | End::Wrong { .. } if behaviour.chunked == Delimited::ByChunks => {
                for (position, part) in body.as_bytes().chunks(PART_BYTES).enumerate() {
                    let response = exchange.respond();
                    if position == 0 {
                        response.status = status;
                        response.header("Content-Type", "application/json");
                    }
                    response.body.extend_from_slice(part);
                    exchange.flush_part().await?;
                }
                Ok(())
            }
            End::Answered { .. } | End::Wrong { .. } => answer(exchange, status, "application/json", &body),
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

fn scripted(behaviour: &Behaviour, position: u64, below: &str) -> (u16, String, End) {
    if is_hit(position, behaviour.resets_per_mille) {
        return (0, String::new(), End::Reset);
    }
    if is_hit(position, behaviour.errors_per_mille) {
        let body = "{\"error\":\"as scripted\"}".to_owned();
        let end = End::Answered { status: 500, body_bytes: body.len() as u64 };
        return (500, body, end);
    }
    let wrong = is_hit(position, behaviour.wrong_per_mille);
    let body = match below.strip_prefix("items") {
        Some("") => list(behaviour.entities),
        Some(rest) => entity(rest.trim_start_matches('/'), wrong, behaviour.size_bytes),
        None => entity(below, wrong, behaviour.size_bytes),
    };
    let body_bytes = body.len() as u64;
    let end = match (is_hit(position, behaviour.halves_per_mille), wrong) {
        (true, _) => End::Halved,
        (false, true) => End::Wrong { body_bytes },
        (false, false) => End::Answered { status: 200, body_bytes },
    };
    (200, body, end)
}

fn list(entities: u64) -> String {
    let mut text = String::from("[");
    for id in 0..entities {
        let comma = if id == 0 { "" } else { "," };
        write!(text, "{comma}{{\"id\":\"{id}\"}}").expect("a String takes whatever is written");
    }
    text.push(']');
    text
}

fn entity(id: &str, wrong: bool, size_bytes: usize) -> String {
    let shown = if wrong { "another" } else { id };
    let mut text = format!("{{\"id\":\"{shown}\",\"text\":\"");
    let end = "\"}";
    let filled = size_bytes.saturating_sub(text.len() + end.len());
    text.extend(std::iter::repeat_n('x', filled));
    text.push_str(end);
    text
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

fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Never early, and late only by as long as this thread has no core.
async fn wait_until(deadline: Instant) {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        if left > SPIN {
            tokio::time::sleep(left - SPIN).await;
        } else {
            tokio::task::yield_now().await;
        }
    }
}

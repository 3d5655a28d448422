//! The same request again and again: the workload of quick loads, and of variants that are a single URL.
//!
//! A request is its own unit of work. Content is checked where the variant says what an answer contains.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tollgate_net::http1::client::BodySink;

use super::failure::Failure;
use super::model::End;
use super::recorder::Recorder;
use super::user::{Asking, User};

/// After a failure that no answer came with, a user waits so long: a server that is gone is not hammered.
const AFTER_FAILURE: Duration = Duration::from_millis(10);
/// Bytes of an answer in which its text is looked for.
const SEARCHED_BYTES_MAX: usize = 1024 * 1024;

struct Shared {
    asking: Rc<Asking>,
    recorder: Rc<RefCell<Recorder>>,
    request: Vec<u8>,
    /// Requests begun: with a bound on their number none is begun beyond it.
    begun: Cell<u64>,
    start: Instant,
    end: End,
}

/// Asks until `end` with all `users`, one task each, and gives them back.
pub(super) async fn run(users: Vec<User>, asking: Rc<Asking>, end: End, recorder: Rc<RefCell<Recorder>>) -> Vec<User> {
    let mut request = Vec::new();
    asking.target.render(asking.target.target.path_and_query(), &mut request);
    let start = Instant::now();
    let shared = Rc::new(Shared { asking, recorder, request, begun: Cell::new(0), start, end });
    let mut tasks = JoinSet::new();
    for mut user in users {
        let shared = Rc::clone(&shared);
        tasks.spawn_local(async move {
            repeat(&mut user, &shared).await;
            (user, Instant::now())
        });
    }
    let ended = tasks.join_all().await;
    let end = Instant::now();
    let mut recorder = shared.recorder.borrow_mut();
    // Users times wall time, but for what each had left before the last: no clock read of a record is in it.
    let left_early: Duration = ended.iter().map(|(_, left)| end.duration_since(*left)).sum();
    let stayed = (end.duration_since(shared.start) * ended.len() as u32).saturating_sub(left_early);
    recorder.tally.busy_ns += stayed.as_nanos() as u64;
    let (requests, total_ns) = (recorder.tally.requests, recorder.tally.response_total_ns);
    recorder.tally.units = requests;
    if let Some(mean_ns) = total_ns.checked_div(requests) {
        // One value for the trial: its users' mean, as a request has no end of its own that others wait for.
        recorder.tally.unit_times = vec![Duration::from_nanos(mean_ns)];
    }
    drop(recorder);
    ended.into_iter().map(|(user, _)| user).collect()
}

async fn repeat(user: &mut User, shared: &Shared) {
    let mut previous = shared.start;
    let mut search = Search::new(shared.asking.target.shape.contains.as_deref());
    while !shared.end.is_reached(previous.saturating_duration_since(shared.start), shared.begun.get()) {
        shared.begun.set(shared.begun.get() + 1);
        search.begin();
        let asked = user.ask(&shared.asking, &shared.request, &mut search, &shared.recorder).await;
        let judged = asked.and_then(|answer| search.judge().map(|()| answer));
        let failed_unanswered = {
            let mut recorder = shared.recorder.borrow_mut();
            match judged {
                Ok(answer) => {
                    recorder.answer(previous, answer.sent, answer.finished);
                    recorder.tally.checked += u64::from(search.wanted.is_some());
                    previous = answer.finished;
                    false
                }
                Err(failure) => {
                    let now = Instant::now();
                    recorder.failure(&failure, previous, now);
                    previous = now;
                    failure.is_unanswered()
                }
            }
        };
        if failed_unanswered {
            tokio::time::sleep(AFTER_FAILURE).await;
            let now = Instant::now();
            shared.recorder.borrow_mut().tally.waited_ns += now.duration_since(previous).as_nanos() as u64;
            previous = now;
        }
    }
}

/// Looks for a text in an answer while it arrives.
struct Search<'a> {
    wanted: Option<&'a [u8]>,
    tail: Vec<u8>,
    is_found: bool,
}

impl<'a> Search<'a> {
    fn new(wanted: Option<&'a str>) -> Search<'a> {
        Search { wanted: wanted.map(str::as_bytes), tail: Vec::new(), is_found: false }
    }

    fn begin(&mut self) {
        self.tail.clear();
        self.is_found = false;
    }

    fn judge(&self) -> Result<(), Failure> {
        match self.wanted {
            Some(wanted) if !self.is_found => {
                let wanted = String::from_utf8_lossy(wanted);
                Err(Failure::content(format!("the answer does not contain `{wanted}`")))
            }
            _ => Ok(()),
        }
    }
}

impl BodySink for Search<'_> {
    fn part(&mut self, bytes: &[u8]) {
        let Some(wanted) = self.wanted else { return };
        if self.is_found || self.tail.len() + bytes.len() > SEARCHED_BYTES_MAX {
            return;
        }
        if self.tail.is_empty() && contains(bytes, wanted) {
            self.is_found = true;
            return;
        }
        self.tail.extend_from_slice(bytes);
        self.is_found = contains(&self.tail, wanted);
    }
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    wanted.is_empty() || bytes.windows(wanted.len()).any(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_across_parts() {
        let check = |parts: &[&str], expected: bool| {
            let mut search = Search::new(Some("flight"));
            search.begin();
            for part in parts {
                search.part(part.as_bytes());
            }
            assert_eq!(search.judge().is_ok(), expected, "{parts:?}");
        };
        check(&["a flight"], true);
        check(&["a fli", "ght"], true);
        check(&["a fli", "t"], false);
        check(&[], false);
    }
}

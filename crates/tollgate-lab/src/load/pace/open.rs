//! The same request at a rate, whatever the subject does: an open load. Response times count from the intended start,
//! so that a subject which stalls is charged with all that came meanwhile.
//!
//! It deliberately does not judge its own lateness: [`crate::judge`] does.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use tollgate_net::pacer::Pacer;

use super::arrivals::Schedule;
use super::desk::{Desk, Seat};
use crate::load::answer::content::{LastRight, Search};
use crate::load::record::recorder::Recorder;
use crate::load::request::{ask, place};
use crate::load::script::{Script, Writer};
use crate::load::user::{Asking, User};
use crate::traffic::model::{Lane, Open};
use crate::traffic::stages::Stages;

/// What the users of one worker share.
struct Serving {
    desk: Rc<Desk>,
    asking: Rc<Asking>,
    recorder: Rc<RefCell<Recorder>>,
    script: Arc<Script>,
    lane: Lane,
    /// Rows of the feed that the lane has taken.
    rows: Cell<u64>,
    /// The answer that was last found to be right.
    known: LastRight,
}

/// Asks as the load says, and gives the users back.
pub(in crate::load) async fn run(
    users: Vec<User>,
    asking: Rc<Asking>,
    script: Arc<Script>,
    (open, stages): (Open, Option<Arc<Stages>>),
    recorder: Rc<RefCell<Recorder>>,
    pacer: &mut Pacer,
) -> Vec<User> {
    let desk = Desk::new(&recorder);
    let (rows, known) = (Cell::new(0), LastRight::default());
    let shared = Rc::new(Serving { desk: Rc::clone(&desk), asking, recorder, script, lane: open.lane, rows, known });
    let mut resting = users;
    let start = Instant::now();
    shared.recorder.borrow_mut().begin_stages(stages.as_ref(), start);
    let schedule = Schedule::new(open, stages);
    let came = desk
        .hand_out((open, schedule, start), pacer, |number, seat| {
            let (mut user, shared) = (resting.pop().unwrap_or_default(), Rc::clone(&shared));
            async move {
                serve(&mut user, number, &seat, &shared).await;
                user
            }
        })
        .await;
    shared.recorder.borrow_mut().close_units();
    resting.extend(came);
    resting
}

/// One user: takes what is due, until nothing more comes.
async fn serve(user: &mut User, number: usize, seat: &Rc<Seat>, shared: &Serving) {
    let mut search = Search::new(&shared.asking.target, &shared.known);
    let mut writer = Writer::new(&shared.script, shared.lane, number);
    while let Some(due) = shared.desk.next(seat).await {
        let (intended, begun) = (due.intended, Instant::now());
        shared.recorder.borrow_mut().begun(due, begun);
        // A feed that ends also ends the schedule: there is a row for whatever is due.
        let Some(request) = writer.next(&shared.rows, place(user, &shared.asking)) else { return };
        let judged = ask(user, request, &shared.asking, &mut search, &shared.recorder).await;
        let mut recorder = shared.recorder.borrow_mut();
        match judged {
            Ok(answer) => {
                recorder.judged(intended, &answer, search.verdict());
                let time = answer.finished.saturating_duration_since(intended);
                recorder.unit_ended(intended, (begun, answer.finished), Some(time));
            }
            Err(failure) => {
                let now = Instant::now();
                recorder.failure(&failure, intended, now);
                recorder.unit_ended(intended, (begun, now), None);
            }
        }
    }
}

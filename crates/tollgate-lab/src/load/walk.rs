//! The walk: get a collection, then every entity that its answer names, shared by all users. One pass is one unit of
//! work; a trial ends on a whole pass.
//!
//! The links come out of the list's own answer in every pass, and every entity is checked to be the one asked for: an
//! answer equal to one that was already read and found right is right by comparison, any other is read. The time that
//! the generator itself takes to read the list is no part of the pass.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::compare::{Compare, Compared, KEPT_BYTES_MAX};
use super::failure::Failure;
use super::model::End;
use super::read::{self, Entity, Sameness};
use super::recorder::Recorder;
use super::target::{LoadTarget, resolve};
use super::user::{Asking, User};

/// Pages of one list: a server that never ends its list is stopped here.
const PAGES_MAX: usize = 10_000;
/// After a list that failed, the next is asked for so much later: a server in trouble is not hammered.
const AFTER_FAILURE: Duration = Duration::from_millis(20);

/// What is known of a variant's collection from the passes before.
#[derive(Default)]
pub(super) struct Walk {
    pages: Vec<Page>,
    details: Rc<Vec<Detail>>,
    scratch: Vec<u8>,
}

/// One page of the list.
struct Page {
    request: Vec<u8>,
    body: Vec<u8>,
    entities: Vec<Entity>,
    next: Option<String>,
}

/// One entity to get.
struct Detail {
    request: Vec<u8>,
    entity: Entity,
    /// An answer that was read and found to be this entity.
    right: RefCell<Option<Rc<[u8]>>>,
}

/// What the users of one trial share.
struct Shared {
    asking: Rc<Asking>,
    recorder: Rc<RefCell<Recorder>>,
    details: RefCell<Rc<Vec<Detail>>>,
    next: Cell<usize>,
    phase_start: Cell<Instant>,
    stopped: Cell<bool>,
    kept_bytes: Cell<usize>,
    barrier: Barrier,
}

/// Walks until `end` with all `users`, one task each, and gives back what the next trial goes on with.
pub(super) async fn run(
    mut walk: Walk,
    mut users: Vec<User>,
    asking: Rc<Asking>,
    end: End,
    recorder: Rc<RefCell<Recorder>>,
) -> (Walk, Vec<User>) {
    let start = Instant::now();
    let right = |detail: &Detail| detail.right.borrow().as_ref().map(|right| right.len());
    let shared = Rc::new(Shared {
        asking,
        recorder,
        details: RefCell::default(),
        next: Cell::new(0),
        phase_start: Cell::new(start),
        stopped: Cell::new(false),
        kept_bytes: Cell::new(walk.details.iter().filter_map(right).sum()),
        barrier: Barrier::new(users.len()),
    });
    let Some(mut first) = users.pop() else { return (walk, users) };
    let mut following = JoinSet::new();
    for mut user in users {
        let shared = Rc::clone(&shared);
        following.spawn_local(async move {
            follow(&mut user, &shared).await;
            user
        });
    }
    lead(&mut walk, &mut first, &shared, start, end).await;
    let mut users = following.join_all().await;
    users.push(first);
    (walk, users)
}

/// The first user: gets the list, lets all users share its entities, and decides when the trial is over.
async fn lead(walk: &mut Walk, user: &mut User, shared: &Shared, start: Instant, end: End) {
    loop {
        let list_time = match get_list(walk, user, shared).await {
            Ok(list_time) => list_time,
            Err(()) if end.is_reached(start.elapsed(), 0) => break,
            Err(()) => {
                tokio::time::sleep(AFTER_FAILURE).await;
                continue;
            }
        };
        shared.details.replace(Rc::clone(&walk.details));
        shared.next.set(0);
        let phase_start = Instant::now();
        shared.phase_start.set(phase_start);
        shared.barrier.wait().await;
        get_details(user, shared).await;
        shared.barrier.wait().await;
        let now = Instant::now();
        let mut recorder = shared.recorder.borrow_mut();
        recorder.unit(list_time + now.duration_since(phase_start));
        if end.is_reached(now.duration_since(start), recorder.tally.units) {
            break;
        }
    }
    shared.stopped.set(true);
    shared.barrier.wait().await;
}

/// Any other user.
async fn follow(user: &mut User, shared: &Shared) {
    loop {
        shared.barrier.wait().await;
        if shared.stopped.get() {
            return;
        }
        get_details(user, shared).await;
        shared.barrier.wait().await;
    }
}

/// Gets all pages of the list and says how long the subject took for them.
async fn get_list(walk: &mut Walk, user: &mut User, shared: &Shared) -> Result<Duration, ()> {
    let target = Arc::clone(&shared.asking.target);
    let first = target.target.path_and_query();
    let mut next = Some(first.to_owned());
    let mut index = 0;
    let mut time = Duration::ZERO;
    let mut changed = false;
    while let Some(path) = next {
        if walk.pages.len() == index {
            walk.pages.push(Page { request: Vec::new(), body: Vec::new(), entities: Vec::new(), next: None });
        }
        let page = &mut walk.pages[index];
        target.render(&path, &mut page.request);
        let begun = Instant::now();
        let mut compare = Compare::new(&page.body, &mut walk.scratch);
        let asked = user.ask(&shared.asking, &page.request, &mut compare, &shared.recorder).await;
        let read = asked.and_then(|answer| match compare.finish() {
            Compared::Equal => Ok((answer, None)),
            Compared::Different(body) => {
                let listing = read::list(&target.shape, body).map_err(Failure::content)?;
                Ok((answer, Some((listing, body.to_vec()))))
            }
            Compared::TooLong => Err(too_long()),
        });
        let now = Instant::now();
        let mut recorder = shared.recorder.borrow_mut();
        match read {
            Err(failure) => {
                recorder.tally.busy_ns += now.duration_since(begun).as_nanos() as u64;
                recorder.failure(&failure, begun, now);
                return Err(());
            }
            Ok((answer, fresh)) => {
                let took = answer.finished.saturating_duration_since(begun);
                recorder.tally.busy_ns += took.as_nanos() as u64;
                recorder.answer(begun, answer.sent, answer.finished);
                recorder.tally.checked += 1;
                time += took;
                if let Some((listing, body)) = fresh {
                    changed = true;
                    page.body = body;
                    page.entities = listing.entities;
                    page.next = listing.next;
                }
            }
        }
        index += 1;
        next = page.next.as_deref().map(|link| resolve(&path, link));
        if index == PAGES_MAX && next.is_some() {
            recorder.failure(&Failure::content(format!("the list has more than {PAGES_MAX} pages")), now, now);
            return Err(());
        }
    }
    if index < walk.pages.len() {
        walk.pages.truncate(index);
        changed = true;
    }
    if changed {
        walk.details = Rc::new(details(&walk.pages, &target, &walk.details));
    }
    if walk.details.is_empty() {
        let now = Instant::now();
        shared.recorder.borrow_mut().failure(&Failure::content("the list names no entity"), now, now);
        return Err(());
    }
    Ok(time)
}

/// Gets entities until none is left.
async fn get_details(user: &mut User, shared: &Shared) {
    let details = Rc::clone(&shared.details.borrow());
    let begun = shared.phase_start.get();
    let mut previous = begun;
    let mut scratch = Vec::new();
    loop {
        let index = shared.next.get();
        let Some(detail) = details.get(index) else { break };
        shared.next.set(index + 1);
        let right = detail.right.borrow().clone();
        let mut compare = Compare::new(right.as_deref().unwrap_or_default(), &mut scratch);
        let asked = user.ask(&shared.asking, &detail.request, &mut compare, &shared.recorder).await;
        let judged = asked.and_then(|answer| match compare.finish() {
            Compared::Equal => Ok((answer, Sameness::Same)),
            Compared::Different(body) => Ok((answer, judge(detail, body, shared)?)),
            Compared::TooLong => Err(too_long()),
        });
        let mut recorder = shared.recorder.borrow_mut();
        match judged {
            Ok((answer, sameness)) => {
                recorder.answer(previous, answer.sent, answer.finished);
                recorder.tally.checked += u64::from(sameness == Sameness::Same);
                previous = answer.finished;
            }
            Err(failure) => {
                let now = Instant::now();
                recorder.failure(&failure, previous, now);
                previous = now;
            }
        }
    }
    shared.recorder.borrow_mut().tally.busy_ns += previous.saturating_duration_since(begun).as_nanos() as u64;
}

/// Reads an answer that was not seen before.
fn judge(detail: &Detail, body: &[u8], shared: &Shared) -> Result<Sameness, Failure> {
    let entity = read::entity(&shared.asking.target.shape, body).map_err(Failure::content)?;
    let sameness = detail.entity.compare(&entity).map_err(Failure::content)?;
    let before = detail.right.borrow().as_ref().map_or(0, |right| right.len());
    let kept_bytes = shared.kept_bytes.get() - before + body.len();
    if sameness == Sameness::Same && kept_bytes <= KEPT_BYTES_MAX {
        shared.kept_bytes.set(kept_bytes);
        detail.right.replace(Some(body.into()));
    }
    Ok(sameness)
}

/// The entities of all pages; what was found right before stays right.
fn details(pages: &[Page], target: &LoadTarget, before: &[Detail]) -> Vec<Detail> {
    let base = target.target.path_and_query();
    let entities = pages.iter().flat_map(|page| &page.entities);
    entities
        .enumerate()
        .map(|(index, entity)| {
            let mut request = Vec::new();
            target.render(&resolve(base, &entity.link), &mut request);
            let known = before.get(index).filter(|known| known.request == request && known.entity == *entity);
            let right = RefCell::new(known.and_then(|known| known.right.borrow().clone()));
            Detail { request, entity: entity.clone(), right }
        })
        .collect()
}

fn too_long() -> Failure {
    Failure::content(format!("the answer is longer than {KEPT_BYTES_MAX} bytes"))
}

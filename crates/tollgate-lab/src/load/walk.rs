//! The walk: get a collection, then every entity in it, shared by all users. One pass is one unit of work; a trial ends
//! on a whole pass.
//!
//! In every pass the links come from the list just read, and every entity is checked to be the requested one: an answer
//! equal to an earlier right one is right, any other is read. The time that the generator itself takes to read the list
//! is not part of the pass.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tollgate_wire::content::Checker;
use tollgate_wire::links::{Link, Links};

use super::answer::Verdict;
use super::answer::compare::{Compare, KEPT_BYTES_MAX};
use super::answer::failure::{ErrorClass, Failure};
use super::answer::read;
use super::carried::carry;
use super::pass::{Detail, Now, Pass};
use super::record::recorder::{Bodies, Recorder, nanoseconds};
use super::target::{LoadTarget, resolve};
use super::user::{Answer, Asking, User};
use crate::traffic::model::End;

/// Pages of one list, at most: a server whose list never ends is stopped here.
const PAGES_MAX: usize = 10_000;
/// Wait after a failed list, so that a failing server is not flooded.
const AFTER_FAILURE: Duration = Duration::from_millis(20);

/// A worker's knowledge of a variant's collection from earlier passes.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pages: Vec<Page>,
    /// Whether pages changed since `details` were built.
    is_changed: bool,
    details: Arc<[Detail]>,
    scratch: Vec<u8>,
    known: Known,
}

/// One page of the list.
#[derive(Debug, Default)]
struct Page {
    request: Vec<u8>,
    body: Vec<u8>,
    links: Links,
}

/// Entities and, for each, an answer that was read and found right.
#[derive(Debug, Default)]
struct Known {
    details: Arc<[Detail]>,
    right: Vec<Option<Rc<[u8]>>>,
    kept_bytes: usize,
}

/// State shared by the users of one worker.
struct Shared {
    asking: Rc<Asking>,
    recorder: Rc<RefCell<Recorder>>,
    pass: Arc<Pass>,
    known: RefCell<Known>,
}

/// Walks with all `users`, one task each, and returns the state for the next trial. On the leading worker, one user
/// gets the list; all others wait for it.
pub(super) async fn run(
    mut walk: Walk,
    mut users: Vec<User>,
    asking: Rc<Asking>,
    (pass, leads): (Arc<Pass>, Option<End>),
    recorder: Rc<RefCell<Recorder>>,
) -> (Walk, Vec<User>) {
    let start = Instant::now();
    let known = RefCell::new(std::mem::take(&mut walk.known));
    let shared = Rc::new(Shared { asking, recorder, pass, known });
    let mut leader = leads.and_then(|end| users.pop().zip(Some(end)));
    let mut following = JoinSet::new();
    for user in users {
        following.spawn_local(follow(user, Rc::clone(&shared)));
    }
    if let Some((user, end)) = &mut leader {
        lead(&mut walk, user, &shared, start, *end).await;
    }
    let mut users = following.join_all().await;
    users.extend(leader.map(|(user, _)| user));
    walk.known = shared.known.take();
    (walk, users)
}

/// Runs the leader: it gets the list, lets all users share its entities, and decides when the trial is over.
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
        let phase_start = Instant::now();
        let now = (Arc::clone(&walk.details), phase_start);
        shared.pass.set(Some(now.clone()));
        shared.pass.meet().await;
        get_details(user, shared, now).await;
        shared.pass.meet().await;
        let now = Instant::now();
        let mut recorder = shared.recorder.borrow_mut();
        recorder.unit(list_time + now.duration_since(phase_start));
        if end.is_reached(now.duration_since(start), recorder.tally.units) {
            break;
        }
    }
    shared.pass.set(None);
    shared.pass.meet().await;
}

/// Runs any other user.
async fn follow(mut user: User, shared: Rc<Shared>) -> User {
    loop {
        shared.pass.meet().await;
        let Some(now) = shared.pass.now() else { return user };
        get_details(&mut user, &shared, now).await;
        shared.pass.meet().await;
    }
}

/// Gets all pages of the list, updates the walk's details, and returns the subject's time.
async fn get_list(walk: &mut Walk, user: &mut User, shared: &Shared) -> Result<Duration, ()> {
    let target = Arc::clone(&shared.asking.target);
    let first = target.target.path_and_query();
    let mut next = Some(first.to_owned());
    let mut index = 0;
    let mut time = Duration::ZERO;
    let mut bytes = 0;
    while let Some(path) = next {
        walk.pages.resize_with(walk.pages.len().max(index + 1), Page::default);
        let page = &mut walk.pages[index];
        target.render(&path, &mut page.request);
        let begun = Instant::now();
        let mut back = None;
        let read = |body: &[u8]| {
            back = Some(Instant::now());
            let listing = read::list(&target.shape, body).map_err(Failure::content)?;
            Ok((listing, body.to_vec()))
        };
        let got = get(user, shared, &page.request, &page.body, &mut walk.scratch, read).await;
        let now = Instant::now();
        let mut recorder = shared.recorder.borrow_mut();
        match got {
            Err(failure) => {
                recorder.tally.busy_ns += begun.elapsed().as_nanos() as u64;
                recorder.failure(&failure, begun, now);
                return Err(());
            }
            Ok((answer, fresh)) => {
                recorder.tally.busy_ns += nanoseconds(back.unwrap_or(now), begun);
                recorder.judged(begun, &answer, Verdict::Right);
                time += answer.finished.saturating_duration_since(begun);
                bytes += answer.body_bytes;
                if let Some(fresh) = fresh {
                    walk.is_changed = true;
                    (page.links, page.body) = fresh;
                }
            }
        }
        index += 1;
        next = page.links.next.as_deref().map(|link| carry(first, target.shape.format, resolve(&path, link)));
        if index == PAGES_MAX && next.is_some() {
            recorder.failure(&Failure::content(format!("the list has more than {PAGES_MAX} pages")), now, now);
            return Err(());
        }
    }
    if index < walk.pages.len() {
        walk.pages.truncate(index);
        walk.is_changed = true;
    }
    if std::mem::take(&mut walk.is_changed) {
        walk.details = details_of(&walk.pages, &target);
    }
    if walk.details.is_empty() {
        let now = Instant::now();
        shared.recorder.borrow_mut().failure(&Failure::content("the list names no entity"), now, now);
        return Err(());
    }
    shared.recorder.borrow_mut().tally.lists += Bodies::of(bytes, time);
    Ok(time)
}

/// Gets entities until none is left.
async fn get_details(user: &mut User, shared: &Shared, (details, begun): Now) {
    shared.known.borrow_mut().follow(&details);
    let mut previous = begun;
    let mut took_any = false;
    let leave_out = &shared.asking.target.shape.leave_out;
    let mut scratch = Vec::new();
    loop {
        let position = shared.pass.take();
        let Some(detail) = details.get(position) else { break };
        took_any = true;
        let right = shared.known.borrow().right[position].clone();
        let known = right.as_deref().unwrap_or_default();
        let read = |body: &[u8]| judge(position, detail, body, shared);
        let got = get(user, shared, &detail.request, known, &mut scratch, read).await;
        let mut recorder = shared.recorder.borrow_mut();
        match got {
            Ok((answer, verdict)) => {
                recorder.judged(previous, &answer, verdict.unwrap_or(Verdict::Right));
                let took = answer.finished.saturating_duration_since(previous);
                recorder.tally.details += Bodies::of(answer.body_bytes, took);
                previous = answer.finished;
            }
            Err(failure) => {
                let now = Instant::now();
                match failure.class {
                    ErrorClass::Status(status) if leave_out.contains(&status) => recorder.left_out(previous, now),
                    _ => recorder.failure(&failure, previous, now),
                }
                previous = now;
            }
        }
    }
    // A clock read of its own, not that of the last record: only so can the two be held against each other. Who found
    // no entity left was not there: it only came to know that late.
    if took_any {
        shared.recorder.borrow_mut().tally.busy_ns += begun.elapsed().as_nanos() as u64;
    }
}

/// Gets one answer, and reads it if it is not the `known` one.
async fn get<T>(
    user: &mut User,
    shared: &Shared,
    request: &[u8],
    known: &[u8],
    scratch: &mut Vec<u8>,
    read: impl FnOnce(&[u8]) -> Result<T, Failure>,
) -> Result<(Answer, Option<T>), Failure> {
    let mut compare = Compare::new(known, scratch);
    let answer = user.ask(&shared.asking, request, &mut compare, &shared.recorder).await?;
    let read = compare.finish()?.map(read).transpose()?;
    Ok((answer, read))
}

/// Reads an answer that was not seen before.
fn judge(position: usize, detail: &Detail, body: &[u8], shared: &Shared) -> Result<Verdict, Failure> {
    let target = &shared.asking.target;
    let verdict = match target.checker.as_ref().zip(detail.expected.as_ref()) {
        Some((checker, expected)) if checker.check(body, expected) => Verdict::Right,
        _ => read::entity(&target.shape, body, &detail.key).map_err(Failure::content)?,
    };
    if verdict == Verdict::Right {
        shared.known.borrow_mut().keep(position, body);
    }
    Ok(verdict)
}

impl Known {
    /// Changes to other entities; known right answers are kept if they are the same.
    fn follow(&mut self, details: &Arc<[Detail]>) {
        if Arc::ptr_eq(&self.details, details) {
            return;
        }
        let right = |position: usize| match self.details.get(position) {
            Some(before) if *before == details[position] => self.right[position].clone(),
            _ => None,
        };
        self.right = (0..details.len()).map(right).collect();
        self.kept_bytes = self.right.iter().flatten().map(|right| right.len()).sum();
        self.details = Arc::clone(details);
    }

    /// Keeps a right answer, while there is room.
    fn keep(&mut self, position: usize, body: &[u8]) {
        let before = self.right[position].as_ref().map_or(0, |right| right.len());
        let kept_bytes = self.kept_bytes - before + body.len();
        if kept_bytes <= KEPT_BYTES_MAX {
            self.kept_bytes = kept_bytes;
            self.right[position] = Some(body.into());
        }
    }
}

/// Collects the entities of all pages, with their requests.
fn details_of(pages: &[Page], target: &LoadTarget) -> Arc<[Detail]> {
    let base = target.target.path_and_query();
    let links = pages.iter().flat_map(|page| &page.links.links);
    let detail = |link: &Link| {
        let mut request = Vec::new();
        target.render(&carry(base, target.shape.format, resolve(base, &link.url)), &mut request);
        let expect = |checker: &Checker| checker.expect(link.values.iter().map(String::as_str));
        Detail { request, key: link.values.clone(), expected: target.checker.as_ref().map(expect) }
    };
    links.map(detail).collect()
}

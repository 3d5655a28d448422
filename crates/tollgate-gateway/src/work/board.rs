//! The board of work processes: the state of each, for the admin pages.
//!
//! Its holder writes it, about 40 plain stores for each request: no lock, no locked instruction, no allocation, and no
//! line of memory that another holder writes. A reader that comes in between finds an odd or changed number, and reads
//! again. It does not contain queries, whose values may be secrets.

use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};

use tollgate_net::http1::RequestHead;

use crate::base::client::Client;

/// Words of eight bytes for a path; longer ones are cut.
const PATH_WORDS: usize = 16;

/// Words for a user name.
const USER_WORDS: usize = 4;

/// Reads of one slot before it is shown without its request: a write takes some 20 ns, so more than a few mean that the
/// system has suspended the writer.
const LOOKS_MAX: usize = 64;

/// Task of a work process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task<'r> {
    /// The request's method.
    pub(crate) method: &'r str,
    /// The path of its target, without the query.
    pub(crate) path: &'r str,
    /// The client.
    pub(crate) client: &'r Client,
    /// Time at which a work process was requested.
    pub(crate) asked: Instant,
}

/// State of a work process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessState {
    /// It is free.
    Free,
    /// Given to a request that waited, and has not gone on yet.
    Given,
    /// A request uses it.
    Working,
    /// A request has it and waits until others have left the database.
    WaitingForDatabase,
}

/// Snapshot of one work process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Its state.
    pub(crate) state: ProcessState,
    /// Its request; `None` for none, or while that changes.
    pub(crate) request: Option<SeenRequest>,
    /// Requests served before.
    pub(crate) served: u64,
}

/// The request that uses a work process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeenRequest {
    /// Its method.
    pub(crate) method: String,
    /// Its path, cut, with `…` at its end if so.
    pub(crate) path: String,
    /// The caller, cut in the same way; empty if unknown.
    pub(crate) user: String,
    /// Time since the request got the work process.
    pub(crate) held: Duration,
}

/// A slot for each work process.
#[derive(Debug)]
pub(crate) struct Board {
    began: Instant,
    places: Box<[BoardSlot]>,
}

/// State of one work process, on cache lines of its own. Only the holder of the work process writes it.
#[derive(Debug, Default)]
#[repr(align(128))]
struct BoardSlot {
    /// Odd while a request is being written.
    changes: AtomicU64,
    state: AtomicU64,
    served: AtomicU64,
    held_since_ns: AtomicU64,
    method: Text<1>,
    path: Text<PATH_WORDS>,
    user: Text<USER_WORDS>,
}

/// A text in words, since single bytes would need eight times as many stores.
#[derive(Debug)]
struct Text<const WORDS: usize> {
    /// Length of the whole text; the words may contain only its beginning.
    bytes: AtomicU64,
    words: [AtomicU64; WORDS],
}

impl<'r> Task<'r> {
    /// Task of `client` for `request`, from now on.
    pub(crate) fn of(client: &'r Client, request: &'r RequestHead) -> Task<'r> {
        Task { method: request.method_text(), path: request.path(), client, asked: Instant::now() }
    }

    fn user(&self) -> &'r str {
        match self.client {
            Client::User(name) => name,
            Client::Address(_) => "",
        }
    }
}

impl ProcessState {
    /// Every state, in the order of the enum.
    pub(crate) const ALL: &[ProcessState] =
        &[ProcessState::Free, ProcessState::Given, ProcessState::Working, ProcessState::WaitingForDatabase];

    /// The stable name, in kebab case.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ProcessState::Free => "free",
            ProcessState::Given => "given",
            ProcessState::Working => "working",
            ProcessState::WaitingForDatabase => "waiting-for-database",
        }
    }

    fn from_code(code: u64) -> ProcessState {
        ProcessState::ALL.iter().copied().find(|state| *state as u64 == code).unwrap_or(ProcessState::Free)
    }
}

impl Board {
    /// Creates a board for so many work processes, all of them free.
    pub(crate) fn new(work_processes: usize) -> Board {
        Board { began: Instant::now(), places: (0..work_processes).map(|_| BoardSlot::default()).collect() }
    }

    /// State of each work process, in the order of their numbers.
    pub(crate) fn read(&self) -> Vec<Seen> {
        let now = Instant::now();
        self.places.iter().map(|place| place.read(self.began, now)).collect()
    }

    /// Records that work process `number` works for `task` from `since` on. Called only by its holder.
    pub(crate) fn take(&self, number: usize, task: &Task<'_>, since: Instant) {
        let place = &self.places[number];
        let changes = place.changes.load(Ordering::Relaxed);
        place.changes.store(changes.wrapping_add(1), Ordering::Relaxed);
        // Whoever sees one of the stores below sees the odd number too.
        fence(Ordering::Release);
        place.state.store(ProcessState::Working as u64, Ordering::Relaxed);
        let held_since = since.saturating_duration_since(self.began);
        place.held_since_ns.store(u64::try_from(held_since.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        place.method.write(task.method);
        place.path.write(task.path);
        place.user.write(task.user());
        place.changes.store(changes.wrapping_add(2), Ordering::Release);
    }

    /// Changes the state of work process `number` for the same request. Called only by its holder.
    pub(crate) fn change(&self, number: usize, state: ProcessState) {
        self.places[number].state.store(state as u64, Ordering::Relaxed);
    }

    /// Clears work process `number` after its request. Called only by its holder, before giving it up.
    pub(crate) fn leave(&self, number: usize) {
        let place = &self.places[number];
        place.served.store(place.served.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        place.state.store(ProcessState::Free as u64, Ordering::Relaxed);
    }
}

impl BoardSlot {
    fn read(&self, began: Instant, now: Instant) -> Seen {
        for _ in 0..LOOKS_MAX {
            let before = self.changes.load(Ordering::Acquire);
            // Read with the request: a state of later would tell of a request that is done, or was none yet, as of a held one.
            let state = self.state();
            let held_since = began + Duration::from_nanos(self.held_since_ns.load(Ordering::Relaxed));
            let request = SeenRequest {
                method: self.method.read(),
                path: self.path.read(),
                user: self.user.read(),
                held: now.saturating_duration_since(held_since),
            };
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) && self.changes.load(Ordering::Relaxed) == before {
                let held = matches!(state, ProcessState::Working | ProcessState::WaitingForDatabase);
                return Seen { state, request: held.then_some(request), served: self.served() };
            }
            std::hint::spin_loop();
        }
        Seen { state: self.state(), request: None, served: self.served() }
    }

    fn state(&self) -> ProcessState {
        ProcessState::from_code(self.state.load(Ordering::Relaxed))
    }

    fn served(&self) -> u64 {
        self.served.load(Ordering::Relaxed)
    }
}

impl<const WORDS: usize> Text<WORDS> {
    fn write(&self, text: &str) {
        let text = text.as_bytes();
        self.bytes.store(text.len() as u64, Ordering::Relaxed);
        let (whole, rest) = text[..text.len().min(WORDS * 8)].as_chunks::<8>();
        for (word, chunk) in self.words.iter().zip(whole) {
            word.store(u64::from_le_bytes(*chunk), Ordering::Relaxed);
        }
        if let Some(word) = self.words.get(whole.len()) {
            let rest = rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            word.store(rest, Ordering::Relaxed);
        }
    }

    fn read(&self) -> String {
        let bytes = usize::try_from(self.bytes.load(Ordering::Relaxed)).unwrap_or(usize::MAX);
        let words = self.words.iter().take(bytes.div_ceil(8));
        let mut text: Vec<u8> = words.flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
        text.truncate(bytes);
        match String::from_utf8_lossy(&text) {
            whole if bytes <= WORDS * 8 => whole.into_owned(),
            cut => format!("{}…", cut.trim_end_matches(char::REPLACEMENT_CHARACTER)),
        }
    }
}

impl<const WORDS: usize> Default for Text<WORDS> {
    fn default() -> Text<WORDS> {
        Text { bytes: AtomicU64::new(0), words: std::array::from_fn(|_| AtomicU64::new(0)) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    fn task<'r>(method: &'r str, path: &'r str, client: &'r Client) -> Task<'r> {
        Task { method, path, client, asked: Instant::now() }
    }

    fn user(name: &str) -> Client {
        Client::User(name.into())
    }

    fn shown(board: &Board, number: usize) -> (ProcessState, Option<(String, String, String)>, u64) {
        let seen = board.read().swap_remove(number);
        (seen.state, seen.request.map(|request| (request.method, request.path, request.user)), seen.served)
    }

    #[test]
    fn a_work_process_shows_its_request_while_it_is_held_and_what_it_served_afterwards() {
        let board = Board::new(2);
        assert_eq!(shown(&board, 1), (ProcessState::Free, None, 0));
        board.take(1, &task("GET", "/rest/carriers/AA", &user("berta")), Instant::now());
        let request = Some(("GET".to_owned(), "/rest/carriers/AA".to_owned(), "berta".to_owned()));
        assert_eq!(shown(&board, 1), (ProcessState::Working, request.clone(), 0));
        board.change(1, ProcessState::WaitingForDatabase);
        assert_eq!(shown(&board, 1), (ProcessState::WaitingForDatabase, request, 0));
        board.leave(1);
        assert_eq!(shown(&board, 1), (ProcessState::Free, None, 1));
        assert_eq!(shown(&board, 0), (ProcessState::Free, None, 0));
    }

    #[test]
    fn what_is_longer_than_its_place_is_cut_between_two_characters() {
        for (length, expected) in [(0, 0), (7, 7), (8, 8), (9, 9), (127, 127), (128, 128), (129, 131), (300, 131)] {
            let board = Board::new(1);
            let path = "x".repeat(length);
            board.take(0, &task("DELETE", &path, &Client::at([192, 0, 2, 1].into())), Instant::now());
            let (_, request, _) = shown(&board, 0);
            let (method, shown, user) = request.unwrap();
            assert_eq!((method.as_str(), shown.len(), user.as_str()), ("DELETE", expected, ""), "{length}");
            assert_eq!(shown.ends_with('…'), length > 128);
        }
        let board = Board::new(1);
        let name = format!("{}ü{}", "u".repeat(31), "r".repeat(40));
        board.take(0, &task("GET", "/", &user(&name)), Instant::now());
        assert_eq!(shown(&board, 0).1.unwrap().2, format!("{}…", "u".repeat(31)));
    }

    #[test]
    fn a_reader_never_sees_half_of_one_request_and_half_of_another() {
        let (short, long) = ("/a".repeat(4), "/b".repeat(60));
        let [first, second] = ["a", "b"].map(user);
        // Many boards, since the first request of one is the one that was none before.
        for _ in 0..200 {
            let board = Board::new(1);
            let ended = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..100 {
                        board.take(0, &task("GET", &short, &first), Instant::now());
                        board.leave(0);
                        board.take(0, &task("DELETE", &long, &second), Instant::now());
                        board.leave(0);
                    }
                    ended.store(true, Ordering::Release);
                });
                while !ended.load(Ordering::Acquire) {
                    let (_, Some((method, path, user)), _) = shown(&board, 0) else { continue };
                    let whole = [("GET", &short, "a"), ("DELETE", &long, "b")];
                    assert!(whole.contains(&(&method, &path, &user)), "{method} {path} {user}");
                }
            });
            assert_eq!(shown(&board, 0), (ProcessState::Free, None, 200));
        }
    }
}

//! One user of a scenario: its rows, variables and cookies, their use in requests, and the values taken from answers.
//!
//! Values are written into buffers that the user keeps, so requests allocate no memory once these have grown. It does
//! not decide when to send.

use std::cell::{Cell, RefCell};
use std::io::Write;
use std::ops::Range;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tollgate_net::http1::client::{Collect, RequestTemplate, ResponseHead, Target};

use super::cookies::Cookies;
use super::find::find;
use super::pauses;
use super::program::Ready;
use super::{Performance, Play, mixed};
use crate::load::answer::content::contains;
use crate::load::answer::failure::{self, ErrorClass, Failure};
use crate::load::record::recorder::Recorder;
use crate::load::user::{Answer, Asking, User};
use crate::secret;
use crate::traffic::feed::{Feed, Order, Way};
use crate::traffic::model::Pace;
use crate::traffic::scenario::{BUILT_IN, Condition, Fed, Part, Text, Think, is_address};

/// Bytes of an answer that are searched.
const BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes of an answer in which nothing is looked for that are kept for the words of a failure.
const WORDS_BYTES_MAX: usize = 1024;
/// Characters of a text that is shown in a failure.
const SHOWN_MAX: usize = 80;
/// Part of the seed for think times: apart from rows, whose feeds have the numbers from 0 on.
pub(super) const THINK_SEED: u64 = u64::MAX;

/// A user playing a scenario.
pub(super) struct Player {
    pub(super) shared: Rc<Performance>,
    /// Its number among the users of its worker.
    pub(super) number: usize,
    /// Whether its setup went well.
    pub(super) takes_part: bool,
    pub(super) user: User,
    /// Its positions in the feeds, across iterations.
    ways: Vec<Way>,
    thinking: ChaCha8Rng,
    /// Iterations begun.
    pub(super) iterations: u64,
    /// Its next step.
    pub(super) next: usize,
    /// Think time left before that step.
    pub(super) left: Duration,
    /// Time spent waiting for answers in this iteration.
    pub(super) answered: Duration,
    /// Values of all variables.
    values: Vec<Vec<u8>>,
    cookies: Cookies,
    request: Vec<u8>,
    /// Escaped values of a request, concatenated; `spans` has their positions.
    escaped: Vec<u8>,
    spans: Vec<Range<usize>>,
    body: Collect,
    /// The beginning of an answer in which nothing is looked for.
    words: Collect,
    /// Values of the fields that the step uses, in its order.
    fields: Vec<Option<Vec<u8>>>,
    found: Vec<u8>,
}

/// A user between two trials, amid an iteration.
pub(in crate::load) struct Resting {
    user: User,
    values: Vec<Vec<u8>>,
    cookies: Cookies,
    next: usize,
    left: Duration,
    answered: Duration,
}

impl Resting {
    /// The user.
    pub(in crate::load) fn user(&mut self) -> &mut User {
        &mut self.user
    }

    /// Returns the user, at whatever step it was.
    pub(super) fn into_user(self) -> User {
        self.user
    }
}

impl Player {
    /// Creates a player that continues where it rested.
    pub(super) fn again(shared: &Rc<Performance>, resting: Resting, number: usize) -> Player {
        let Resting { user, values, cookies, next, left, answered } = resting;
        Player { values, cookies, next, left, answered, ..Player::new(shared, user, number) }
    }

    /// Rests until the next trial.
    pub(super) fn rest(self) -> Resting {
        let Player { user, values, cookies, next, left, answered, .. } = self;
        Resting { user, values, cookies, next, left, answered }
    }

    /// Creates a player that is found amid an iteration.
    pub(super) fn on_its_way(shared: &Rc<Performance>, user: User, number: usize) -> Player {
        let mut player = Player::new(shared, user, number);
        player.left = pauses::left(shared.play.program.pauses(), &mut player.thinking);
        player.left += shared.play.load.comes_after(number);
        player
    }

    /// Creates a player at its first step, with its number among the users of its worker.
    pub(super) fn new(shared: &Rc<Performance>, user: User, number: usize) -> Player {
        let Play { conduct, load, program, .. } = &shared.play;
        let played = &program.played;
        let mut values = vec![Vec::new(); played.scenario.variables.len()];
        for (variable, value) in &played.constants {
            values[*variable] = value.clone().into_bytes();
        }
        let way = |fed: &Fed| {
            // Feeds of one trial draw apart from each other.
            let (seed, end) = (mixed(conduct.seed, fed.feed.seed), conduct.behind_rows.unwrap_or(fed.feed.end));
            let mut feed = Feed { seed, end, ..fed.feed.clone() };
            // At a rate a user is whoever is free: no rows are its own.
            if feed.order == Order::InOrder && matches!(load.pace, Pace::Open(_)) {
                feed.order = Order::Unique;
            }
            Way::new(&feed, load.lane, number)
        };
        let mut thinking = ChaCha8Rng::seed_from_u64(mixed(conduct.seed, THINK_SEED));
        thinking.set_stream((u64::from(load.lane.index) << 32) | number as u64);
        Player {
            shared: Rc::clone(shared),
            number,
            takes_part: true,
            user,
            ways: played.scenario.feeds.iter().map(way).collect(),
            thinking,
            iterations: 0,
            next: 0,
            left: Duration::ZERO,
            answered: Duration::ZERO,
            values,
            cookies: Cookies::default(),
            request: Vec::new(),
            escaped: Vec::new(),
            spans: Vec::new(),
            body: Collect::up_to(BODY_BYTES_MAX),
            words: Collect::up_to(WORDS_BYTES_MAX),
            fields: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Sets the built-in variables of an iteration.
    pub(super) fn begin(&mut self, iteration: u64, unique: u64) {
        let user = self.shared.play.load.lane.user(self.number);
        let numbers: [u64; BUILT_IN.len()] = [user as u64, iteration, unique];
        for (value, number) in self.values.iter_mut().zip(numbers) {
            value.clear();
            write!(value, "{number}").expect("memory takes it");
        }
    }

    /// Takes a row of each feed; `None` if one has none left. `taken` counts the rows of each that the lane has taken.
    pub(super) fn take_rows(&mut self, feeds: &[Fed], taken: &[Cell<u64>]) -> Option<()> {
        for ((way, fed), taken) in self.ways.iter_mut().zip(feeds).zip(taken) {
            let (row, table) = (way.next(taken)?, &fed.feed.table);
            for (column, value) in self.values[fed.first..][..table.columns.len()].iter_mut().enumerate() {
                value.clear();
                value.extend_from_slice(table.value(row as usize, column));
            }
        }
        Some(())
    }

    /// Draws the think time after a step.
    pub(super) fn think(&mut self, think: Option<Think>) -> Duration {
        think.map_or(Duration::ZERO, |think| pauses::drawn(think, &mut self.thinking))
    }

    /// Sends a step's request, checks the answer and extracts values for later steps. A failure names the step, the
    /// request and the expectation.
    pub(super) async fn play(
        &mut self,
        ready: &Ready,
        asking: &Asking,
        recorder: &RefCell<Recorder>,
    ) -> Result<Answer, Failure> {
        let played = self.try_to_play(ready, asking, recorder).await;
        played.map_err(|failure| {
            let asked = self.asked();
            let text = match failure.class {
                ErrorClass::Status(_) => {
                    let body = if ready.reads_body { &self.body } else { &self.words };
                    let words = failure::words(&body.bytes).map_or_else(String::new, |words| format!(": {words}"));
                    format!("{asked} {}, {} was wanted{words}", failure.text, ready.step.statuses)
                }
                _ if asked.is_empty() => failure.text,
                _ => format!("{asked}: {}", failure.text),
            };
            Failure { text: format!("step `{}`: {text}", ready.step.name), ..failure }
        })
    }

    /// Returns method and target of the last request, without secrets; empty if it could not be written.
    fn asked(&self) -> String {
        let line = self.request.split(|byte| *byte == b'\r').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let Some((method, target)) = line.strip_suffix(" HTTP/1.1").and_then(|line| line.split_once(' ')) else {
            return String::new();
        };
        // A secret is known by its place in a URL.
        let hidden = secret::hide(&format!("://{target}"));
        format!("{method} {}", cut(hidden.trim_start_matches("://")))
    }

    async fn try_to_play(
        &mut self,
        ready: &Ready,
        asking: &Asking,
        recorder: &RefCell<Recorder>,
    ) -> Result<Answer, Failure> {
        self.render(ready, &asking.target.target)?;
        self.body.clear();
        self.words.clear();
        let (cookies, fields) = (&mut self.cookies, &mut self.fields);
        let on_head = |head: &ResponseHead| {
            let value = |name: &String| head.header(name).map(|text| text.as_bytes().to_vec());
            fields.clear();
            fields.extend(ready.fields.iter().map(value));
            for (name, value) in head.headers() {
                if name.eq_ignore_ascii_case("set-cookie") {
                    cookies.keep(value, SystemTime::now());
                }
            }
        };
        let (user, request, manner) = (&mut self.user, &self.request, ready.manner());
        let answer = match ready.reads_body {
            true => user.ask_as(asking, request, &mut self.body, recorder, manner, on_head).await?,
            false => user.ask_as(asking, request, &mut self.words, recorder, manner, on_head).await?,
        };
        if self.body.is_cut() {
            return Err(Failure::content(format!("more than {BODY_BYTES_MAX} bytes came, which are not searched")));
        }
        self.judge(ready)?;
        self.extract(ready)?;
        Ok(answer)
    }

    fn render(&mut self, ready: &Ready, target: &Target) -> Result<(), Failure> {
        self.request.clear();
        self.escaped.clear();
        self.spans.clear();
        let step = &ready.step;
        // The folder's own place, if there is one.
        self.spans.extend(ready.folder.iter().map(|_| 0..0));
        if step.path.fixed().is_none() {
            let first_end = self.write_slot(&step.path, "path", RequestTemplate::is_target_text)?;
            if let Some(folder) = &ready.folder {
                self.lead(folder, target, first_end)?;
            }
        }
        for (_, text) in step.headers.iter().filter(|(_, text)| text.fixed().is_none()) {
            self.write_slot(text, "header", RequestTemplate::is_field_text)?;
        }
        let mut template = &ready.plain;
        if !self.cookies.text().is_empty() {
            template = &ready.with_cookies;
            let start = self.escaped.len();
            self.escaped.extend_from_slice(self.cookies.text());
            self.spans.push(start..self.escaped.len());
        }
        let head = self.spans.len();
        let parts = step.body.as_ref().map_or(&[][..], |body| &body.0);
        for part in parts.iter().filter(|part| matches!(part, Part::Value(..))) {
            let start = self.escaped.len();
            part.write(&self.values, &mut self.escaped);
            self.spans.push(start..self.escaped.len());
        }
        let escaped = &self.escaped;
        let (head, rest) = self.spans.split_at(head);
        let mut rest = rest.iter();
        let body = parts.iter().map(move |part| match part {
            Part::Fixed(text) => text.as_bytes(),
            Part::Value(..) => rest.next().map_or(&[][..], |span| &escaped[span.clone()]),
        });
        template.render_with(head.iter().map(|span| &escaped[span.clone()]), body, &mut self.request);
        Ok(())
    }

    /// Appends another text of the head, and returns the end of its first part. Its values must be valid there.
    fn write_slot(&mut self, text: &Text, place: &str, fits: fn(&[u8]) -> bool) -> Result<usize, Failure> {
        let start = self.escaped.len();
        let mut first_end = None;
        for part in &text.0 {
            let begin = self.escaped.len();
            part.write(&self.values, &mut self.escaped);
            let written = &self.escaped[begin..];
            if matches!(part, Part::Value(..)) && !fits(written) {
                let text = format!("a value cannot stand in the {place}: {}", quoted(written));
                return Err(Failure::new(ErrorClass::Extraction, text));
            }
            first_end.get_or_insert(self.escaped.len());
        }
        self.spans.push(start..self.escaped.len());
        Ok(first_end.unwrap_or(start))
    }

    /// Completes a path that begins with a value, which ends at `first_end`: the folder goes in front unless it begins
    /// with a slash. Of an absolute URL on the target's host only the path is taken.
    fn lead(&mut self, folder: &str, target: &Target, first_end: usize) -> Result<(), Failure> {
        let path = &mut self.spans[1];
        let value = &self.escaped[path.start..first_end];
        if is_address(value) {
            let Some(start) = path_of_address(value, target) else {
                let text = format!(
                    "{} leads to another host than the variant's url: take the path out of it by `regex`",
                    quoted(value)
                );
                return Err(Failure::new(ErrorClass::Extraction, text));
            };
            path.start += start;
        }
        if !self.escaped[path.clone()].starts_with(b"/") {
            let start = self.escaped.len();
            self.escaped.extend_from_slice(folder.as_bytes());
            self.spans[0] = start..self.escaped.len();
        }
        Ok(())
    }

    fn judge(&mut self, ready: &Ready) -> Result<(), Failure> {
        let failed = |text: String| Failure::new(ErrorClass::Assertion, text);
        for assertion in &ready.step.assertions {
            let source = &assertion.source;
            self.found.clear();
            if !find(source, &self.body.bytes, (&ready.fields, &self.fields), &mut self.found).map_err(failed)? {
                return Err(failed(format!("{source} is not there")));
            }
            for condition in &assertion.conditions {
                let found = &self.found;
                if let Condition::Equals(text) | Condition::Contains(text) = condition {
                    self.escaped.clear();
                    text.write(&self.values, &mut self.escaped);
                }
                let (holds, wanted) = match condition {
                    Condition::Equals(_) => (*found == self.escaped, "is not what it should equal"),
                    Condition::Contains(_) => (contains(found, &self.escaped), "does not contain what it should"),
                    Condition::Matches(pattern) => (pattern.is_match(found), "does not match"),
                    Condition::BytesMin(bytes) => (found.len() as u64 >= *bytes, "has less than"),
                    Condition::BytesMax(bytes) => (found.len() as u64 <= *bytes, "has more than"),
                };
                if !holds {
                    let what = match condition {
                        Condition::Equals(_) | Condition::Contains(_) => quoted(&self.escaped),
                        Condition::Matches(pattern) => format!("`{}`", pattern.as_str()),
                        Condition::BytesMin(bytes) | Condition::BytesMax(bytes) => format!("{bytes} bytes"),
                    };
                    return Err(failed(format!("{source} {wanted} {what}: {}", quoted(found))));
                }
            }
        }
        Ok(())
    }

    fn extract(&mut self, ready: &Ready) -> Result<(), Failure> {
        let failed = |text: String| Failure::new(ErrorClass::Extraction, text);
        for extract in &ready.step.extracts {
            let value = &mut self.values[extract.variable];
            value.clear();
            if !find(&extract.source, &self.body.bytes, (&ready.fields, &self.fields), value).map_err(failed)? {
                return Err(failed(format!("{} is not there", extract.source)));
            }
        }
        Ok(())
    }
}

/// Returns the position of the path in an absolute URL; absent if it is not on the target's host.
fn path_of_address(address: &[u8], target: &Target) -> Option<usize> {
    let text = std::str::from_utf8(address).ok()?;
    let named = Target::parse(text).ok()?;
    let is_own = named.scheme() == target.scheme()
        && named.port() == target.port()
        && named.host().eq_ignore_ascii_case(target.host());
    let authority = text.find("://")? + "://".len();
    is_own.then(|| text[authority..].find('/').map_or(text.len(), |path| authority + path))
}

fn quoted(text: &[u8]) -> String {
    format!("{:?}", cut(&String::from_utf8_lossy(text)))
}

/// Shortens a text for display.
fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(SHOWN_MAX).map_or(text.len(), |(end, _)| end);
    &text[..end]
}

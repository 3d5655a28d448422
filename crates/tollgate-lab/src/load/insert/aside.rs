//! Requests outside the measurement, on a connection of their own and past any link: reading the metadata, counting,
//! reading and deleting rows.
//!
//! None of them is in a figure.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tollgate_net::http1::client::{Collect, Connector, ResponseHead};

use super::super::REQUEST_TIMEOUT;
use super::super::target::{LoadTarget, Manner, resolve};
use super::super::user::{Asking, User};
use super::answers::Standing;
use super::described::{self, Described, Said};
use super::records::Records;
use super::render;
use super::settle::OTHERS_READ_MAX;
use super::{Beside, Emptying};
use crate::load::answer::failure::{ErrorClass, Failure};
use crate::load::answer::odata_batch::each_answer;
use crate::load::record::recorder::Recorder;
use crate::load::scenario::cookies::Cookies;
use crate::traffic::places::OwnRecord;

/// Bytes of one page of rows that are read.
const PAGE_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Pages of rows, at most: a server whose list never ends is stopped here.
const PAGES_MAX: usize = 100_000;
/// Rows deleted by one batch; servers allow at least this many.
const DELETED_PER_BATCH: usize = 50;
/// Number of checks for abandoned records; between two of them the server has time to finish its work.
const FORGOTTEN_LOOKS: u32 = 10;
const FORGOTTEN_PAUSE: Duration = Duration::from_millis(200);
/// The field in which an SAP server issues a token and expects it back.
const TOKEN: &str = "X-CSRF-Token";

/// A client for requests outside the measurement.
pub(super) struct Aside<'a> {
    user: &'a mut User,
    beside: &'a Beside,
    connector: Rc<Connector>,
    reading: Rc<Asking>,
    /// Recorder of these requests; it is never read.
    recorder: RefCell<Recorder>,
    answer: Collect,
}

impl<'a> Aside<'a> {
    /// Creates the client.
    pub(super) fn new(user: &'a mut User, connector: &Rc<Connector>, beside: &'a Beside) -> Aside<'a> {
        let (recorder, answer) = (RefCell::default(), Collect::up_to(PAGE_BYTES_MAX));
        let reading = asking(connector, &beside.reading);
        Aside { user, beside, connector: Rc::clone(connector), reading, recorder, answer }
    }

    /// Counts the rows.
    ///
    /// # Errors
    /// The reason why they cannot be counted.
    pub(super) async fn count(&mut self) -> Result<u64, Failure> {
        let path = self.beside.places.count_path();
        let asked = self.read(&path).await;
        asked.map_err(|failure| because(&format!("the rows cannot be counted at {path}"), failure))?;
        let text = String::from_utf8_lossy(&self.answer.bytes);
        // A byte order mark before the number is allowed (OData URL conventions, 4.8).
        let number = text.trim().trim_start_matches('\u{feff}').parse();
        number.map_err(|_| Failure::content(format!("`{text}` is no number of rows")))
    }

    /// Reads all rows that the server lists, passes each to `each`, and returns their number.
    ///
    /// # Errors
    /// The reason why they cannot be read.
    pub(super) async fn read_all(&mut self, mut each: impl FnMut(&Value)) -> Result<u64, Failure> {
        let mut next = Some(self.beside.places.entity_path());
        let (mut pages, mut read) = (0, 0);
        while let Some(path) = next {
            pages += 1;
            if pages > PAGES_MAX {
                return Err(Failure::content(format!("the rows have more than {PAGES_MAX} pages")));
            }
            let (rows, link) = self.page(&path).await?;
            read += rows.len() as u64;
            rows.iter().for_each(&mut each);
            next = link.map(|link| resolve(&path, &link));
        }
        Ok(read)
    }

    /// Reads a page of rows, and the link to the next one.
    async fn page(&mut self, path: &str) -> Result<(Vec<Value>, Option<String>), Failure> {
        let asked = self.read(path).await;
        asked.map_err(|failure| because("the rows cannot be read", failure))?;
        let page: Value = serde_json::from_slice(&self.answer.bytes)
            .map_err(|error| Failure::content(format!("the rows cannot be read: {error}")))?;
        page_of(page).ok_or_else(|| Failure::content("the rows cannot be read: the answer is no list of OData"))
    }

    /// Empties the table as far as permitted, and returns the number of foreign rows in it.
    ///
    /// # Errors
    /// Foreign rows in the way, or the reason why it cannot be counted or emptied.
    pub(super) async fn make_empty(&mut self) -> Result<u64, Failure> {
        match self.beside.permission {
            Emptying::AllRows => self.delete_all().await.map(|()| 0),
            Emptying::OnlyOwnRows => match self.count().await? {
                0 => Ok(0),
                rows => Err(Failure::content(format!("{rows} rows of others stand in the table, and may not go"))),
            },
            Emptying::OwnKeys => self.count().await,
        }
    }

    /// Deletes the records left by an earlier transfer: nobody else owns them.
    ///
    /// # Errors
    /// The reason why they still cannot be deleted.
    pub(super) async fn delete_left(&mut self, records: &Records) -> Result<(), Failure> {
        let state = Arc::clone(&self.beside.state);
        let left = state.left.load(Ordering::Relaxed);
        if self.beside.permission == Emptying::OwnKeys && left > 0 {
            let keys: Vec<&str> = (0..left).filter_map(|serial| records.key(serial)).collect();
            self.delete_keys(&keys).await?;
            state.left.store(0, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Checks, once for the same records, that no foreign row has one of their keys. With very many foreign rows none
    /// is read: keys are drawn from so many values that a collision is unlikely.
    ///
    /// # Errors
    /// A key that is taken, or rows that cannot all be read.
    pub(super) async fn look_for_keys(&mut self, records: &Records, others: u64) -> Result<(), Failure> {
        let state = Arc::clone(&self.beside.state);
        let (Some(first), true) = (records.key(0), (1..=OTHERS_READ_MAX).contains(&others)) else { return Ok(()) };
        let which = format!("{first} {}", records.count());
        if state.looked_for.lock().is_ok_and(|known| known.contains(&which)) {
            return Ok(());
        }
        let mut taken = None;
        let read = self.read_all(|row| taken = taken.or_else(|| Some(records.is_same(row)?.0))).await?;
        if let Some(key) = taken.and_then(|serial| records.key(serial)) {
            return Err(Failure::content(format!("a row has the key {key} already: another --seed draws others")));
        }
        if read < others {
            // A server may cut its list without a link to the rest.
            return Err(Failure::content(format!(
                "$count says {others} rows, and the list of them ends after {read} without a link to more: one that it leaves \
                 out could have the key of a record"
            )));
        }
        if let Ok(mut known) = state.looked_for.lock() {
            known.push(which);
        }
        Ok(())
    }

    /// Deletes all records that a transfer may have stored, by key or with the whole table; `others` foreign rows must
    /// be left.
    ///
    /// # Errors
    /// The reason why they cannot be deleted.
    pub(super) async fn delete(
        &mut self,
        records: &Records,
        standing: &[Standing],
        others: u64,
    ) -> Result<(), Failure> {
        if self.beside.permission != Emptying::OwnKeys {
            return self.delete_all().await;
        }
        let keys = |is_left: &dyn Fn(Standing) -> bool| -> Vec<&str> {
            let left = (0..).zip(standing).filter(|(_, standing)| is_left(**standing));
            left.filter_map(|(serial, _)| records.key(serial)).collect()
        };
        self.delete_keys(&keys(&|standing| standing != Standing::Absent)).await?;
        let mut rows = self.count().await?;
        if rows != others {
            // A gateway may say 502 of what was stored. Nobody else has these keys.
            self.delete_keys(&keys(&|standing| standing == Standing::Absent)).await?;
            rows = self.count().await?;
        }
        if rows != others {
            let told = format!("{rows} rows are there once the records are deleted, and {others} were there before");
            return Err(Failure::content(told));
        }
        self.beside.state.left.store(0, Ordering::Relaxed);
        Ok(())
    }

    /// Deletes the entities with these keys; a missing one is not an error.
    async fn delete_keys(&mut self, keys: &[&str]) -> Result<(), Failure> {
        let state = Arc::clone(&self.beside.state);
        let mut first = 0;
        while first < keys.len() && !state.refuses_batches.load(Ordering::Relaxed) {
            let some = &keys[first..keys.len().min(first + DELETED_PER_BATCH)];
            let batching = asking(&self.connector, &self.beside.batching);
            let wants_match = state.wants_match.load(Ordering::Relaxed);
            let request = render::deleting(&batching.target, &self.beside.places, some, wants_match);
            let is_answered = self.ask(&batching, &request).await.is_ok();
            match deleted(&self.answer.bytes, some.len()) {
                Deleted::All if is_answered => first += some.len(),
                Deleted::WithoutMatch if is_answered && !wants_match => {
                    state.wants_match.store(true, Ordering::Relaxed)
                }
                _ => state.refuses_batches.store(true, Ordering::Relaxed),
            }
        }
        while first < keys.len() {
            let wants_match = state.wants_match.load(Ordering::Relaxed);
            let Beside { deleting, deleting_any, places, .. } = self.beside;
            let deleting = asking(&self.connector, if wants_match { deleting_any } else { deleting });
            let mut request = Vec::new();
            deleting.target.render(&format!("{}{}", places.entity_path(), keys[first]), &mut request);
            match self.ask(&deleting, &request).await {
                Ok(()) => first += 1,
                Err(Failure { class: ErrorClass::Status(412 | 428), .. }) if !wants_match => {
                    state.wants_match.store(true, Ordering::Relaxed);
                }
                // Where it is to match anything, what is not there does not match.
                Err(Failure { class: ErrorClass::Status(404 | 412), .. }) => first += 1,
                Err(failure) => return Err(because("the records cannot be deleted", failure)),
            }
        }
        Ok(())
    }

    async fn delete_all(&mut self) -> Result<(), Failure> {
        let Some(path) = &self.beside.places.delete_all else {
            return Err(Failure::content("the table cannot be emptied: nobody says how"));
        };
        let emptying = asking(&self.connector, &self.beside.emptying);
        let mut request = Vec::new();
        emptying.target.render(path, &mut request);
        let asked = self.ask(&emptying, &request).await;
        asked.map_err(|failure| because("the table cannot be emptied", failure))
    }

    /// Reads the description of the entity set, and fetches a value for each property that must name another entity.
    async fn described(&mut self, own: &OwnRecord) -> Result<Described, Failure> {
        let places = Arc::clone(&self.beside.places);
        let describing = asking(&self.connector, &self.beside.describing);
        let (mut request, path) = (Vec::new(), format!("{}$metadata", places.service));
        describing.target.render(&path, &mut request);
        let asked = self.ask(&describing, &request).await;
        asked.map_err(|failure| because(&format!("{path} cannot be read"), failure))?;
        let read = described::read(&self.answer.bytes, &places.entity_set, own);
        let mut set = read.map_err(|why| Failure::content(format!("{path}: {why}")))?;
        for property in set.properties.iter_mut().filter(|property| property.said.is_none()) {
            let Some(refers) = &property.refers else { continue };
            let path = format!("{}{}?$top=1&$select={}", places.service, refers.set, refers.property);
            let (rows, _) = self.page(&path).await.map_err(|failure| because(&path, failure))?;
            let found = rows.first().and_then(|row| row.get(&refers.property)).cloned();
            property.said = Some(Said::OfAll(found.ok_or_else(|| {
                let (name, set) = (&property.name, &refers.set);
                Failure::content(format!("`{name}` names an entity of `{set}`, and there is none: give its value"))
            })?));
        }
        Ok(set)
    }

    /// Fetches the header fields with a CSRF token and its cookies; none if the service does not require them.
    async fn token(&mut self) -> Result<Vec<(String, String)>, Failure> {
        let describing = asking(&self.connector, &self.beside.describing);
        let (target, mut request) = (&describing.target, Vec::new());
        target.render(&format!("{}$metadata", self.beside.places.service), &mut request);
        let (method, statuses) = (&*target.shape.method, &target.checks.statuses);
        let manner = Manner { answers: target.answers(), method, statuses };
        let (mut token, mut cookies) = (None, Cookies::default());
        let on_head = |head: &ResponseHead| {
            token = head.header(TOKEN).map(str::to_owned);
            for (name, value) in head.headers() {
                if name.eq_ignore_ascii_case("set-cookie") {
                    cookies.keep(value, SystemTime::now());
                }
            }
        };
        self.answer.clear();
        let asked = self.user.ask_as(&describing, &request, &mut self.answer, &self.recorder, manner, on_head).await;
        asked.map_err(|failure| because("the service cannot be asked", failure.in_words_of(&self.answer.bytes)))?;
        let Some(token) = token.filter(|token| !token.eq_ignore_ascii_case("Required")) else { return Ok(Vec::new()) };
        let mut fields = vec![(TOKEN.to_owned(), token)];
        if !cookies.text().is_empty() {
            fields.push(("Cookie".to_owned(), String::from_utf8_lossy(cookies.text()).into_owned()));
        }
        Ok(fields)
    }

    async fn read(&mut self, path: &str) -> Result<(), Failure> {
        let (reading, mut request) = (Rc::clone(&self.reading), Vec::new());
        reading.target.render(path, &mut request);
        self.ask(&reading, &request).await
    }

    async fn ask(&mut self, asking: &Asking, request: &[u8]) -> Result<(), Failure> {
        self.answer.clear();
        match self.user.ask(asking, request, &mut self.answer, &self.recorder).await {
            Ok(_) if self.answer.is_cut() => Err(Failure::content("the answer is too long")),
            Ok(_) => Ok(()),
            Err(failure) => Err(failure.in_words_of(&self.answer.bytes)),
        }
    }
}

fn asking(connector: &Rc<Connector>, target: &Arc<LoadTarget>) -> Rc<Asking> {
    let (connector, target) = (Rc::clone(connector), Arc::clone(target));
    Rc::new(Asking { connector, target, closing: Rc::default(), addresses: Default::default() })
}

/// Outcome of a batch that deletes.
#[derive(Debug, PartialEq, Eq)]
enum Deleted {
    /// All succeeded.
    All,
    /// `If-Match` is missing (RFC 6585, section 3; older servers say 412).
    WithoutMatch,
    /// Another failure.
    NotAll,
}

/// Reads the outcome from the answer to a multipart batch of `requests` requests.
fn deleted(body: &[u8], requests: usize) -> Deleted {
    let (mut done, mut unmatched) = (0, 0);
    let answered = each_answer(false, body, |_, answer| {
        done += usize::from(answer.status < 300);
        unmatched += usize::from(matches!(answer.status, 412 | 428));
    });
    match answered {
        Ok(answered) if answered == requests && done == requests => Deleted::All,
        Ok(_) if unmatched > 0 => Deleted::WithoutMatch,
        _ => Deleted::NotAll,
    }
}

/// The rows of a page and the link to the next one, as V4 has them or as V2 does.
fn page_of(mut page: Value) -> Option<(Vec<Value>, Option<String>)> {
    let link = |page: &Value, names: &[&str]| names.iter().find_map(|name| page.get(name)?.as_str()).map(str::to_owned);
    if let Some(inner) = page.get_mut("d") {
        let mut inner = inner.take();
        let next = link(&inner, &["__next"]);
        let rows = if inner.is_array() { inner } else { inner.get_mut("results")?.take() };
        let Value::Array(rows) = rows else { return None };
        return Some((rows, next));
    }
    let next = link(&page, &["@odata.nextLink", "@nextLink"]);
    let Value::Array(rows) = page.get_mut("value")?.take() else { return None };
    Some((rows, next))
}

fn because(what: &str, failure: Failure) -> Failure {
    Failure { text: format!("{what}: {}", failure.text), ..failure }
}

/// Counts the rows of a table before anything is changed.
///
/// # Errors
/// The reason why they cannot be counted.
pub fn count(beside: &Beside) -> Result<u64, String> {
    at_once(beside, async |aside| aside.count().await)
}

/// Reads from the service which properties a record has, beside those that the user gives.
///
/// # Errors
/// A missing description, or a property that cannot be generated.
pub(crate) fn described(beside: &Beside, own: &OwnRecord) -> Result<Described, String> {
    at_once(beside, async |aside| aside.described(own).await)
}

/// Fetches the header fields that writing requests need: a CSRF token and its cookies, if the service issues one.
///
/// # Errors
/// A service that cannot be asked.
pub(crate) fn token(beside: &Beside) -> Result<Vec<(String, String)>, String> {
    at_once(beside, async |aside| aside.token().await)
}

/// Deletes what an abandoned transfer may have left.
///
/// # Errors
/// The number of records that may be left, where, and why.
pub(crate) fn forgotten(beside: &Beside, records: &Records) -> Result<(), String> {
    let left = beside.state.left.swap(0, Ordering::Relaxed);
    let keys: Vec<&str> = (0..left).filter_map(|serial| records.key(serial)).collect();
    if keys.is_empty() || beside.permission != Emptying::OwnKeys {
        return Ok(());
    }
    let others = beside.state.others.load(Ordering::Relaxed);
    let gone = at_once(beside, async |aside| {
        let mut rows = others;
        for _ in 0..FORGOTTEN_LOOKS {
            aside.delete_keys(&keys).await?;
            rows = aside.count().await?;
            // The server may still be busy with a request whose answer nobody waits for.
            tokio::time::sleep(FORGOTTEN_PAUSE).await;
        }
        if rows <= others { Ok(()) } else { Err(Failure::content(format!("{rows} rows are there, {others} before"))) }
    });
    gone.map_err(|why| {
        let (target, set) = (&beside.deleting.target, beside.places.entity_path());
        let (first, last) = (keys[0], keys[keys.len() - 1]);
        format!("up to {left} records may be left in {}{set}, from {first} to {last}: {why}", target.authority())
    })
}

/// Sends requests while nothing is measured, and waits for the result.
fn at_once<T>(beside: &Beside, what: impl AsyncFnOnce(&mut Aside<'_>) -> Result<T, Failure>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("no runtime to ask with: {error}"))?;
    let connector = Rc::new(Connector::new(beside.reading.tls.clone()).exchange_timeout(REQUEST_TIMEOUT));
    let mut user = User::default();
    let mut aside = Aside::new(&mut user, &connector, beside);
    runtime.block_on(what(&mut aside)).map_err(|failure| failure.text)
}

#[cfg(test)]
mod tests {
    use tollgate_net::http1::client::Target;
    use tollgate_wire::edm::{Primitive, Version};

    use super::super::described::{Kind, Property};
    use super::*;
    use crate::load::target::Connection;
    use crate::testing::{self, TestServer};
    use crate::traffic::places::{InsertPlaces, Record};

    /// An entity set of the server.
    fn beside(server: &TestServer, set: &str) -> Beside {
        let target = Target::parse(&server.url("/")).unwrap();
        let target = Arc::new(LoadTarget::new(target, testing::get(), &[], Connection::KeepAlive).unwrap());
        let all = || Arc::clone(&target);
        let (entity_set, record) = (set.to_owned(), Record::Published);
        let places = InsertPlaces { service: "/".to_owned(), entity_set, insert_all: None, delete_all: None, record };
        Beside {
            places: Arc::new(places),
            reading: all(),
            emptying: all(),
            batching: all(),
            deleting: all(),
            deleting_any: all(),
            describing: all(),
            permission: Emptying::OwnKeys,
            state: Arc::default(),
        }
    }

    /// Three records that consist of a key only.
    fn records() -> Records {
        let kind = Kind::Plain(Primitive::String { length_max: 0 });
        let property = Property { name: "id".to_owned(), kind, is_key: true, said: None, refers: None };
        Records::of(Described { version: Version::V4, properties: vec![property] }, None, 1, 3).unwrap()
    }

    #[test]
    fn rows_of_others_are_looked_through_for_the_keys_of_records() {
        let server = TestServer::start();
        let check = |set: &str, others: u64, expected: Result<(), &str>| {
            let (beside, records) = (beside(&server, set), records());
            for _ in 0..2 {
                let found = at_once(&beside, async |aside| aside.look_for_keys(&records, others).await);
                assert_eq!(found.as_ref().map_err(String::as_str).copied(), expected, "{set} {others}");
            }
        };
        // The last rows stand on another page.
        check("paged", testing::ITEMS, Ok(()));
        let records = records();
        let key = records.key(2).unwrap();
        let taken = format!("a row has the key {key} already: another --seed draws others");
        check(&format!("only/{}", key.trim_matches(['(', ')', '\''])), 1, Err(&taken));
        // Nobody is asked of rows that there are none of, or more than are read.
        for others in [0, OTHERS_READ_MAX + 1] {
            check("growing", others, Ok(()));
        }
        let unread = at_once(&beside(&server, "growing"), async |aside| aside.look_for_keys(&records, 1).await);
        assert!(unread.unwrap_err().starts_with("the rows cannot be read"));
    }

    #[test]
    fn rows_that_are_counted_and_not_listed_end_the_run() {
        let server = TestServer::start();
        let look = |set: &str, others: u64| {
            at_once(&beside(&server, set), async |aside| aside.look_for_keys(&records(), others).await)
        };
        for set in ["items", "paged"] {
            assert_eq!(look(set, testing::ITEMS), Ok(()));
            let told = look(set, testing::ITEMS + 1).unwrap_err();
            assert!(told.starts_with("$count says 8 rows, and the list of them ends after 7 without a link"), "{told}");
        }
    }

    #[test]
    fn an_answer_to_a_batch_that_deletes_says_whether_a_state_must_be_told() {
        let check = |statuses: &[u16], requests: usize, expected: Deleted| {
            let part = |status: &u16| {
                format!(
                    "--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 {status} -\r\nContent-Length: 0\r\n\r\n\r\n"
                )
            };
            let body = statuses.iter().map(part).collect::<String>() + "--b--\r\n";
            assert_eq!(deleted(body.as_bytes(), requests), expected, "{statuses:?}");
        };
        check(&[204, 204], 2, Deleted::All);
        check(&[204], 2, Deleted::NotAll);
        check(&[204, 404], 2, Deleted::NotAll);
        check(&[428], 2, Deleted::WithoutMatch);
        check(&[204, 412], 2, Deleted::WithoutMatch);
        assert_eq!(deleted(b"no batch", 1), Deleted::NotAll);
    }

    #[test]
    fn rows_are_found_in_lists_of_both_versions() {
        let check = |json: &str, expected: Option<(usize, Option<&str>)>| {
            let found = page_of(serde_json::from_str(json).unwrap()).map(|(rows, next)| (rows.len(), next));
            assert_eq!(found, expected.map(|(rows, next)| (rows, next.map(str::to_owned))), "{json}");
        };
        check(r#"{"value":[{},{}],"@odata.nextLink":"S?x"}"#, Some((2, Some("S?x"))));
        check(r#"{"d":{"results":[{}],"__next":"http://h/S?x"}}"#, Some((1, Some("http://h/S?x"))));
        check(r#"{"d":[{}]}"#, Some((1, None)));
        check(r#"{"d":{"ID":1}}"#, None);
        check(r#"{"error":{}}"#, None);
    }
}

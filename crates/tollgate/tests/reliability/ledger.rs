//! The client's own record: requests acknowledged, requests sent and never answered, and whether the server has them.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::client::{Answer, Client};

/// The records service.
pub(crate) const SERVICE: &str = "/odata/v4/refsvc";
/// Records of one change set.
pub(crate) const SET_RECORDS: u64 = 10;

/// Everything that was sent. Each unit (a record by itself, or a change set) has a number of its own.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    next: AtomicU64,
    units: Mutex<BTreeMap<u64, Unit>>,
}

#[derive(Debug, Clone, Copy)]
struct Unit {
    records: u64,
    fate: Fate,
}

/// The client's knowledge of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// The server reported success.
    Acknowledged,
    /// It was refused.
    Refused,
    /// No answer came.
    Unknown,
}

/// The report on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Account {
    pub(crate) acknowledged: u64,
    pub(crate) refused: u64,
    pub(crate) unanswered: u64,
    /// Units without an answer that the server has all the same.
    pub(crate) unanswered_stored: u64,
    /// Records of acknowledged units that the server does not have.
    pub(crate) lost: u64,
    /// Records that the server has more than once.
    pub(crate) doubled: u64,
    /// Change sets with some, but not all, of their records on the server.
    pub(crate) torn: u64,
    /// Records of units that were refused.
    pub(crate) refused_stored: u64,
}

impl Ledger {
    /// Sends one record; false where the connection broke.
    pub(crate) fn send_record(&self, client: &mut Client) -> bool {
        let number = self.open(1);
        let answer = client.post_json(&format!("{SERVICE}/TestRecords"), &record(number, 0));
        let is_done = answer.as_ref().ok().filter(|answer| !is_in_doubt(answer)).map(|answer| answer.status == 201);
        self.close(number, is_done);
        answer.is_ok()
    }

    /// Sends one change set; false where the connection broke.
    pub(crate) fn send_set(&self, client: &mut Client) -> bool {
        let number = self.open(SET_RECORDS);
        let answer = client.post_json(&format!("{SERVICE}/$batch"), &change_set(number));
        let is_done = answer.as_ref().ok().filter(|answer| !is_in_doubt(answer)).map(|answer| {
            // 200 is the batch's own; each request of it has a status too.
            let created = answer.text().matches("\"status\":201").count() as u64;
            assert!(created == 0 || created == SET_RECORDS, "half a change set is told: {}", answer.text());
            answer.status == 200 && created == SET_RECORDS
        });
        self.close(number, is_done);
        answer.is_ok()
    }

    /// Records that were acknowledged so far.
    pub(crate) fn acknowledged(&self) -> u64 {
        let units = self.units.lock().unwrap();
        units.values().filter(|unit| unit.fate == Fate::Acknowledged).map(|unit| unit.records).sum()
    }

    /// Reads all records of the server and settles the account.
    pub(crate) fn settle(&self, url: &str) -> Account {
        let mut stored: BTreeMap<(u64, u64), u64> = BTreeMap::new();
        for name in names(url) {
            let (unit, place) = name.split_once('/').expect("the test alone writes records");
            *stored.entry((unit.parse().unwrap(), place.parse().unwrap())).or_default() += 1;
        }
        let mut account =
            Account { doubled: stored.values().filter(|count| **count > 1).count() as u64, ..Account::default() };
        for (number, unit) in &*self.units.lock().unwrap() {
            let found = stored.range((*number, 0)..(*number + 1, 0)).count() as u64;
            account.torn += u64::from(found != 0 && found != unit.records);
            match unit.fate {
                Fate::Acknowledged => {
                    account.acknowledged += unit.records;
                    account.lost += unit.records - found;
                }
                Fate::Refused => {
                    account.refused += 1;
                    account.refused_stored += found;
                }
                Fate::Unknown => {
                    account.unanswered += 1;
                    account.unanswered_stored += u64::from(found == unit.records);
                }
            }
        }
        account
    }

    fn open(&self, records: u64) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        // Written down before it is sent: whatever comes then, the book knows of it.
        self.units.lock().unwrap().insert(number, Unit { records, fate: Fate::Unknown });
        number
    }

    fn close(&self, number: u64, is_done: Option<bool>) {
        let fate = match is_done {
            Some(true) => Fate::Acknowledged,
            Some(false) => Fate::Refused,
            None => Fate::Unknown,
        };
        self.units.lock().unwrap().entry(number).and_modify(|unit| unit.fate = fate);
    }
}

impl Account {
    /// Panics if records were lost, doubled, torn, or stored after a refusal.
    pub(crate) fn check(&self) {
        let broken = (self.lost, self.doubled, self.torn, self.refused_stored);
        assert_eq!(broken, (0, 0, 0, 0), "lost, doubled, torn, refused and yet stored: {self:?}");
    }
}

/// Whether the server does not know the outcome itself: the database went away during the commit.
fn is_in_doubt(answer: &Answer) -> bool {
    answer.status == 500 && answer.text().contains("InDoubt")
}

/// A record whose name contains its unit and its place in it.
fn record(unit: u64, place: u64) -> String {
    format!(
        r#"{{"stringField":"{unit}/{place}","largeStringField":"{:x<200}","booleanField":true,"integerField":{place}}}"#,
        "padding "
    )
}

fn change_set(unit: u64) -> String {
    let request = |place: u64| {
        format!(
            r#"{{"id":"{place}","method":"POST","url":"TestRecords","atomicityGroup":"g","headers":{{"content-type":"application/json"}},"body":{}}}"#,
            record(unit, place)
        )
    };
    let requests: Vec<String> = (0..SET_RECORDS).map(request).collect();
    format!(r#"{{"requests":[{}]}}"#, requests.join(","))
}

/// The names of all records, page after page.
fn names(url: &str) -> Vec<String> {
    let mut client = Client::new(url);
    let mut names = Vec::new();
    let mut next = Some(format!("{SERVICE}/TestRecords?$select=stringField"));
    while let Some(path) = next {
        let answer = client.get(&path).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
        let page = answer.json();
        let records = page["value"].as_array().unwrap();
        names.extend(records.iter().map(|record| record["stringField"].as_str().unwrap().to_owned()));
        let link = page["@odata.nextLink"].as_str();
        next = link.map(|link| link.strip_prefix(url).map_or_else(|| format!("{SERVICE}/{link}"), str::to_owned));
    }
    names
}

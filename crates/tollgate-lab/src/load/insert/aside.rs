//! What is asked beside the measured requests, on a connection of its own and past any link: how many rows there are,
//! what they hold, and that they go.
//!
//! Nothing of it is in a figure.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use serde::Deserialize;
use tollgate_net::http1::client::{Collect, Connector};

use super::super::REQUEST_TIMEOUT;
use super::super::target::{LoadTarget, resolve};
use super::super::user::{Asking, User};
use super::records::Row;
use super::{Beside, Emptying};
use crate::load::answer::failure::Failure;
use crate::load::record::recorder::Recorder;

/// Bytes of one page of rows that are read.
const PAGE_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Pages of rows: a server that never ends its list is stopped here.
const PAGES_MAX: usize = 100_000;

/// One who asks beside the measurement.
pub(super) struct Aside<'a> {
    user: &'a mut User,
    beside: &'a Beside,
    reading: Rc<Asking>,
    emptying: Rc<Asking>,
    /// Where these requests are written down: nobody reads it.
    recorder: RefCell<Recorder>,
    answer: Collect,
}

#[derive(Deserialize)]
struct Page {
    value: Vec<Row>,
    #[serde(rename = "@odata.nextLink", alias = "@nextLink")]
    next: Option<String>,
}

impl<'a> Aside<'a> {
    /// One who asks all that.
    pub(super) fn new(user: &'a mut User, connector: &Rc<Connector>, beside: &'a Beside) -> Aside<'a> {
        let asking = |target: &Arc<LoadTarget>| {
            let (connector, target) = (Rc::clone(connector), Arc::clone(target));
            Rc::new(Asking { connector, target, closing: Rc::default(), addresses: Default::default() })
        };
        let (recorder, answer) = (RefCell::default(), Collect::up_to(PAGE_BYTES_MAX));
        let (reading, emptying) = (asking(&beside.reading), asking(&beside.emptying));
        Aside { user, beside, reading, emptying, recorder, answer }
    }

    /// How many rows there are.
    ///
    /// # Errors
    /// That they cannot be counted, and why.
    pub(super) async fn count(&mut self) -> Result<u64, Failure> {
        let path = self.beside.places.count_path();
        let asked = self.ask(Rc::clone(&self.reading), &path).await;
        asked.map_err(|failure| because("the rows cannot be counted", failure))?;
        let text = String::from_utf8_lossy(&self.answer.bytes);
        // A byte order mark before the number is allowed (OData URL conventions, 4.8).
        let number = text.trim().trim_start_matches('\u{feff}').parse();
        number.map_err(|_| Failure::content(format!("`{text}` is no number of rows")))
    }

    /// Reads all rows and hands each to `each`.
    ///
    /// # Errors
    /// That they cannot be read, and why.
    pub(super) async fn read_all(&mut self, mut each: impl FnMut(&Row)) -> Result<(), Failure> {
        let mut next = Some(self.beside.places.entity_path());
        let mut pages = 0;
        while let Some(path) = next {
            pages += 1;
            if pages > PAGES_MAX {
                return Err(Failure::content(format!("the rows have more than {PAGES_MAX} pages")));
            }
            let asked = self.ask(Rc::clone(&self.reading), &path).await;
            asked.map_err(|failure| because("the rows cannot be read", failure))?;
            let page: Page = serde_json::from_slice(&self.answer.bytes)
                .map_err(|error| Failure::content(format!("the rows cannot be read: {error}")))?;
            page.value.iter().for_each(&mut each);
            next = page.next.map(|link| resolve(&path, &link));
        }
        Ok(())
    }

    /// Sees to it that the table is empty, as far as it may.
    ///
    /// # Errors
    /// That it holds rows of others; that it cannot be counted or emptied, and why.
    pub(super) async fn make_empty(&mut self) -> Result<(), Failure> {
        match self.beside.permission {
            Emptying::AllRows => self.delete_all().await,
            Emptying::OnlyOwnRows => match self.count().await? {
                0 => Ok(()),
                rows => Err(Failure::content(format!("{rows} rows of others stand in the table, and may not go"))),
            },
        }
    }

    /// Empties the table.
    ///
    /// # Errors
    /// That it cannot be emptied, and why.
    pub(super) async fn delete_all(&mut self) -> Result<(), Failure> {
        let asked = self.ask(Rc::clone(&self.emptying), &self.beside.places.delete_all).await;
        asked.map_err(|failure| because("the table cannot be emptied", failure))
    }

    async fn ask(&mut self, asking: Rc<Asking>, path: &str) -> Result<(), Failure> {
        let mut request = Vec::new();
        asking.target.render(path, &mut request);
        self.answer.clear();
        match self.user.ask(&asking, &request, &mut self.answer, &self.recorder).await {
            Ok(_) if self.answer.is_cut() => Err(Failure::content("the answer is too long")),
            Ok(_) => Ok(()),
            Err(failure) => Err(failure.in_words_of(&self.answer.bytes)),
        }
    }
}

fn because(what: &str, failure: Failure) -> Failure {
    Failure { text: format!("{what}: {}", failure.text), ..failure }
}

/// Counts the rows that stand in a table before anything is done to it.
///
/// # Errors
/// That they cannot be counted, and why.
pub fn count(beside: &Beside) -> Result<u64, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("no runtime to ask with: {error}"))?;
    let connector = Rc::new(Connector::new(beside.reading.tls.clone()).exchange_timeout(REQUEST_TIMEOUT));
    let mut user = User::default();
    let mut aside = Aside::new(&mut user, &connector, beside);
    runtime.block_on(aside.count()).map_err(|failure| failure.text)
}

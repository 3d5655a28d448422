//! The batch over tables that are not ours, killed again and again, begun twice at once, and stopped: every document is
//! stored exactly once. Their table of results has no constraint, so that a second result would be counted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::Duration;

use rustix::process::Signal;

use crate::cluster::{Cluster, cluster};
use crate::helper::{Finished, Running, tollgate, wait_for};
use crate::restart::TURN;
use crate::{Form, form};

const STYLESHEET: &str = r#"<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="text"/>
  <xsl:param name="key"/>
  <xsl:template match="/order">
    <xsl:value-of select="concat($key, ': ', sum(//size), ' of ')"/>
    <xsl:for-each select="part">
      <xsl:value-of select="document(concat('part/', @name))/part/@title"/>
    </xsl:for-each>
    <xsl:for-each select="document('note')/note/row"><xsl:value-of select="concat(' ', text)"/></xsl:for-each>
    <xsl:if test="@refused"><xsl:message terminate="yes">refused</xsl:message></xsl:if>
  </xsl:template>
</xsl:stylesheet>"#;

const CONFIGURATION: &str = r#"
[generate]
stylesheet = "order.xsl"

[generate.source]
table = "orders"
key = "number"
document = "body"
STATE

[[generate.dependency]]
name = "part"
table = "parts"
key = "name"
reference = "/order/part/@name"
content = "content"

[[generate.dependency]]
name = "note"
table = "notes"
key = "order_number"
columns = ["text"]

[generate.target]
table = "results"
key = "number"
result = "content"
"#;

/// The place of the states of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum States {
    /// In a column of the documents' table: null while they wait.
    Column,
    /// In the table that the batch makes.
    Claims,
}

/// A database with orders in it.
pub(crate) enum Orders<'c> {
    Sqlite(PathBuf),
    Postgres(&'c Cluster, String),
}

/// Runs `check` on each kind of database that there is.
pub(crate) fn on_each(orders: u32, check: impl Fn(&Orders<'_>, &Path)) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("order.xsl"), STYLESHEET).unwrap();
    let sqlite = Orders::Sqlite(folder.path().join("orders.db"));
    sqlite.make(orders);
    check(&sqlite, folder.path());
    let Some(cluster) = cluster() else {
        eprintln!("skipped: generate on PostgreSQL, which is not installed");
        return;
    };
    // Other tests restart the server.
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let postgres = Orders::Postgres(cluster, cluster.new_schema());
    postgres.make(orders);
    check(&postgres, folder.path());
}

impl Orders<'_> {
    pub(crate) fn url(&self) -> String {
        match self {
            Orders::Sqlite(path) => format!("sqlite:{}", path.display()),
            Orders::Postgres(cluster, schema) => cluster.url(&format!("schema={schema}")),
        }
    }

    pub(crate) fn run(&self, sql: &str) {
        match self {
            Orders::Sqlite(_) => self.sqlite().execute_batch(sql).unwrap(),
            Orders::Postgres(cluster, schema) => cluster.run(&format!("SET search_path = {schema}; {sql}")),
        }
    }

    fn sqlite(&self) -> rusqlite::Connection {
        let Orders::Sqlite(path) = self else { panic!("it is another kind of database") };
        let connection = rusqlite::Connection::open(path).unwrap();
        connection.pragma_update(None, "journal_mode", "WAL").unwrap();
        connection.busy_timeout(Duration::from_secs(30)).unwrap();
        connection
    }

    /// The result of a query for two text columns.
    pub(crate) fn pairs(&self, sql: &str) -> Vec<(String, String)> {
        match self {
            Orders::Sqlite(_) => {
                let connection = self.sqlite();
                let mut statement = connection.prepare(sql).unwrap();
                let rows = statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
                rows.map(Result::unwrap).collect()
            }
            Orders::Postgres(cluster, schema) => {
                let mut client = cluster.client();
                client.batch_execute(&format!("SET search_path = {schema}")).unwrap();
                client.query(sql, &[]).unwrap().iter().map(|row| (row.get(0), row.get(1))).collect()
            }
        }
    }

    fn count(&self) -> u32 {
        self.counter()()
    }

    /// Counts the results, repeatedly on one connection: opening one may take longer than a batch.
    pub(crate) fn counter(&self) -> Box<dyn FnMut() -> u32> {
        const COUNT: &str = "SELECT count(*) FROM results";
        match self {
            Orders::Sqlite(_) => {
                let connection = self.sqlite();
                Box::new(move || connection.query_row(COUNT, (), |row| row.get(0)).unwrap())
            }
            Orders::Postgres(cluster, schema) => {
                let mut client = cluster.client();
                client.batch_execute(&format!("SET search_path = {schema}")).unwrap();
                Box::new(move || u32::try_from(client.query_one(COUNT, &[]).unwrap().get::<_, i64>(0)).unwrap())
            }
        }
    }

    fn make(&self, orders: u32) {
        self.run(
            "CREATE TABLE orders (number bigint PRIMARY KEY, body text, state text, error varchar(60));
             CREATE TABLE parts (name text PRIMARY KEY, content text);
             CREATE TABLE notes (order_number bigint, text text);
             CREATE TABLE results (number bigint, content text CHECK (content NOT LIKE '%forbidden%'));
             INSERT INTO parts VALUES ('a', '<part title=\"A\"/>'), ('b', '<part title=\"B\"/>')",
        );
        let rows: Vec<String> = (1..=orders)
            .map(|number| {
                format!("({number}, '<order><part name=\"a\"/><part name=\"b\"/><size>{number}</size></order>')")
            })
            .collect();
        self.run(&format!("INSERT INTO orders (number, body) VALUES {}", rows.join(", ")));
        self.run("INSERT INTO notes VALUES (1, 'with <care>')");
    }

    /// Checks all results against the orders: each exists once, with its own content.
    pub(crate) fn check_each_once(&self, orders: u32, without: &[u32]) {
        let mut results: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for (number, content) in self.pairs("SELECT CAST(number AS text), content FROM results") {
            results.entry(number.parse().unwrap()).or_default().push(content);
        }
        for number in (1..=orders).filter(|number| !without.contains(number)) {
            let note = if number == 1 { " with <care>" } else { "" };
            let expected = [format!("{number}: {number} of AB{note}")];
            assert_eq!(results.remove(&number).unwrap_or_default(), expected, "order {number}");
        }
        assert!(results.is_empty(), "{results:?}");
    }
}

/// The configuration in a file, and its name.
pub(crate) fn configured(folder: &Path, states: States) -> String {
    let state = match states {
        States::Column => "state = \"state\"\nerror = \"error\"",
        States::Claims => "",
    };
    let path = folder.join("generate.toml");
    std::fs::write(&path, CONFIGURATION.replace("STATE", state)).unwrap();
    path.display().to_string()
}

pub(crate) fn start(config: &str, database: &str, processes: &str) -> Running {
    tollgate(["generate", config, "--database", database, "--processes", processes, "--json"]).start()
}

/// The figures of a batch.
pub(crate) fn figures(finished: &Finished) -> serde_json::Value {
    serde_json::from_str(&finished.out).unwrap_or_else(|error| panic!("{error}: {finished:?}"))
}

#[test]
fn a_batch_that_is_killed_again_and_again_stores_every_document_exactly_once() {
    for states in [States::Column, States::Claims] {
        let (kills, orders) = match (form(), states) {
            (Form::Short, _) => (3, 1500),
            (Form::Long, States::Column) => (20, 3000),
            (Form::Long, States::Claims) => (5, 800),
        };
        on_each(orders, |database, folder| {
            let config = configured(folder, states);
            let mut within = 0;
            for kill in 0..kills {
                let mut count = database.counter();
                let before = count();
                let mut batch = start(&config, &database.url(), "3");
                // At a moment of its own after it began to store: so many results further on.
                let further = 1 + (moment(kill) % u64::from(orders / kills / 2)) as u32;
                wait_for("result", || (batch.has_ended() || count() >= before + further).then_some(()));
                // However it is dropped, it is killed.
                drop(batch);
                within += u32::from(count() < orders);
            }
            assert!(within > 0, "every batch was done before it was killed");
            let last = start(&config, &database.url(), "3").finish();
            assert_eq!((last.code, figures(&last)["left"].as_u64()), (0, Some(0)), "{last:?}");
            database.check_each_once(orders, &[]);
            if form() == Form::Long {
                eprintln!(
                    "kill -9 of a batch, {states:?}: {kills} kills, {within} of them within it; {orders} documents, each once"
                );
            }
        });
    }
}

#[test]
fn two_batches_at_once_store_every_document_exactly_once() {
    let orders = 200;
    for states in [States::Column, States::Claims] {
        on_each(orders, |database, folder| {
            let config = configured(folder, states);
            let batches = ["2", "3"].map(|processes| start(&config, &database.url(), processes));
            let finished = batches.map(Running::finish);
            let stored: Vec<u64> = finished.iter().map(|batch| figures(batch)["stored"].as_u64().unwrap()).collect();
            assert_eq!(stored.iter().sum::<u64>(), u64::from(orders), "{finished:?}");
            database.check_each_once(orders, &[]);
        });
    }
}

#[test]
fn two_batches_that_both_find_no_table_of_claims_make_one() {
    on_each(8, |database, folder| {
        let config = configured(folder, States::Claims);
        for _ in 0..4 {
            database.run("DROP TABLE IF EXISTS tollgate_claim; DELETE FROM results");
            let batches = ["1", "1"].map(|processes| start(&config, &database.url(), processes));
            for batch in batches {
                batch.finish().check(0, "\"left\": 0", "");
            }
            database.check_each_once(8, &[]);
        }
    });
}

#[test]
fn a_batch_that_is_interrupted_says_what_is_left_and_goes_on_the_next_time() {
    let orders = 400;
    on_each(orders, |database, folder| {
        let config = configured(folder, States::Column);
        let batch = start(&config, &database.url(), "2");
        let mut count = database.counter();
        wait_for("result", || (count() > 0).then_some(()));
        batch.signal(Signal::INT);
        let batch = batch.finish();
        let (done, left) = (figures(&batch)["stored"].as_u64().unwrap(), figures(&batch)["left"].as_u64().unwrap());
        // It may have been at its end already.
        if left > 0 {
            batch.check(130, "\"ended\": \"interrupted\"", &format!("{left} documents are left"));
        }
        assert_eq!((done + left, done), (u64::from(orders), u64::from(database.count())), "{batch:?}");
        start(&config, &database.url(), "2").finish().check(0, "\"left\": 0", "");
        database.check_each_once(orders, &[]);
    });
}

/// A moment that differs from kill to kill and from run to run.
fn moment(kill: u32) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(kill)
}

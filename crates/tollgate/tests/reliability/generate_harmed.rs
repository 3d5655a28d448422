//! The batch with faults: in documents, in the configuration, in its connections. And its count of round trips,
//! compared with that of a relay between it and the server.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use crate::cluster::cluster;
use crate::generate::{Orders, States, configured, figures, on_each, start};
use crate::helper::{tollgate, wait_for};
use crate::restart::TURN;

/// Number of orders that keeps a batch from finishing before its fault, also where the test has to wait for a core.
const FAR_FROM_DONE: u32 = 1_500;

#[test]
fn a_document_with_which_something_is_wrong_is_set_aside_and_the_rest_goes_on() {
    let orders = 12;
    for states in [States::Column, States::Claims] {
        on_each(orders, |database, folder| {
            let config = configured(folder, states);
            let wrong = [
                (3, "'<order'", "the document cannot be read"),
                (5, "'<order><part name=\"gone\"/></order>'", "part: there is no `gone`"),
                (6, "NULL", "there is no document"),
                (7, "'<order refused=\"yes\"/>'", "the stylesheet failed"),
                (9, "'<order><part name=\"f\"/></order>'", "the result cannot be stored"),
            ];
            database.run("INSERT INTO parts VALUES ('f', '<part title=\"forbidden\"/>')");
            for (number, body, _) in &wrong {
                database.run(&format!("UPDATE orders SET body = {body} WHERE number = {number}"));
            }
            let batch = start(&config, &database.url(), "3").finish();
            batch.check(0, "\"set_aside\": 5", "").check(0, "\"stored\": 7", "");
            database.check_each_once(orders, &wrong.map(|(number, ..)| number));
            let (table, key) = match states {
                States::Column => ("orders", "number"),
                States::Claims => ("tollgate_claim", "key"),
            };
            let errors = format!("SELECT CAST({key} AS text), error FROM {table} WHERE state = 'failed'");
            let errors = database.pairs(&errors);
            assert_eq!(errors.len(), wrong.len(), "{errors:?}");
            for (number, _, expected) in wrong {
                let found = errors.iter().find(|(key, _)| *key == number.to_string()).map(|(_, error)| &**error);
                assert!(found.is_some_and(|error| error.contains(expected)), "{number}: {found:?}");
                assert!(batch.out.contains(expected), "{batch:?}");
            }
        });
    }
}

#[test]
fn what_the_configuration_names_and_the_database_does_not_have_is_told_with_its_line() {
    on_each(1, |database, folder| {
        let config = configured(folder, States::Column);
        let right = std::fs::read_to_string(&config).unwrap();
        database.run("CREATE TABLE untold (number bigint, body text, state text, error text)");
        for (from, to, expected) in [
            ("table = \"orders\"", "table = \"oders\"", "unknown table `oders`"),
            ("document = \"body\"", "document = \"boddy\"", "unknown column of orders `boddy`"),
            ("columns = [\"text\"]", "columns = [\"txt\"]", "did you mean `text`?"),
            ("table = \"orders\"", "table = \"untold\"", "expected a column that tells rows apart by itself"),
            ("order.xsl", "none.xsl", "cannot read"),
            ("key = \"name\"", "kye = \"name\"", "unknown key `kye`"),
            ("reference = \"/order/part/@name\"", "reference = \"/order[\"", "this XPath cannot be used"),
            ("state = \"state\"", "waiting = \"new\"", "there is no `state`"),
        ] {
            assert!(right.contains(from), "{from}");
            std::fs::write(&config, right.replacen(from, to, 1)).unwrap();
            start(&config, &database.url(), "1").finish().check(2, "", expected).check(2, "", "generate.toml:");
        }
    });
    tollgate(["generate", "--database", "sqlite::memory:"]).finish().check(
        2,
        "",
        "a database in memory has no documents",
    );
    tollgate(["generate", "--database", "sqlite:/nonexistent/x.db"]).finish().check(1, "", "/nonexistent/x.db");
    tollgate(["generate"]).finish().check(2, "", "which database?");
}

#[test]
fn a_configuration_that_would_harm_every_document_is_refused_and_harms_none() {
    on_each(3, |database, folder| {
        let config = configured(folder, States::Column);
        let right = std::fs::read_to_string(&config).unwrap();
        database.run(
            "CREATE TABLE demanding (number bigint, content text, must text NOT NULL);
             CREATE TABLE counted (number bigint PRIMARY KEY, body text, state varchar(3), error text);
             CREATE TABLE named (number text PRIMARY KEY, body text, state text, error text)",
        );
        let everywhere = [
            ("error = \"error\"", "error = \"body\"", "`body` is named twice"),
            ("error = \"error\"", "error = \"state\"", "`state` is named twice"),
            ("state = \"state\"", "state = \"number\"", "`number` is named twice"),
            ("result = \"content\"", "result = \"number\"", "`number` is named twice"),
            ("columns = [\"text\"]", "columns = [\"text\", \"text\"]", "`text` is named twice"),
            ("table = \"results\"", "table = \"orders\"", "the documents come from this table"),
            ("table = \"results\"", "table = \"demanding\"", "`must` must not be null there"),
        ];
        let on_a_server = [
            ("table = \"orders\"", "table = \"counted\"", "`done` does not fit: this column holds 3 characters"),
            ("table = \"orders\"", "table = \"named\"", "expected a column for the keys of documents, which are text"),
        ];
        let is_server = matches!(database, Orders::Postgres(..));
        for (from, to, expected) in everywhere.iter().chain(on_a_server.iter().filter(|_| is_server)) {
            assert!(right.contains(from), "{from}");
            std::fs::write(&config, right.replacen(from, to, 1)).unwrap();
            start(&config, &database.url(), "1").finish().check(2, "", expected).check(2, "", "generate.toml:");
        }
        let whole = "SELECT CAST(count(body) AS text), CAST(count(state) AS text) FROM orders";
        assert_eq!(database.pairs(whole), [("3".to_owned(), "0".to_owned())]);
    });
}

#[test]
fn a_state_that_the_database_refuses_ends_the_batch_and_sets_no_document_aside() {
    on_each(3, |database, folder| {
        let config = configured(folder, States::Column);
        database.run(
            "CREATE TABLE strict (number bigint PRIMARY KEY, body text, state text CHECK (state <> 'done'), error text);
             INSERT INTO strict (number, body) SELECT number, body FROM orders",
        );
        let right = std::fs::read_to_string(&config).unwrap();
        std::fs::write(&config, right.replacen("\"orders\"", "\"strict\"", 1)).unwrap();
        let batch = start(&config, &database.url(), "2").finish();
        batch.check(1, "\"set_aside\": 0", "cannot be changed").check(1, "\"left\": 3", "nothing is lost");
        let untouched = "SELECT CAST(count(*) AS text), CAST(count(state) AS text) FROM strict";
        assert_eq!(database.pairs(untouched), [("3".to_owned(), "0".to_owned())]);
    });
}

#[test]
fn what_the_server_says_of_a_value_stands_with_the_document() {
    on_each(2, |database, folder| {
        let Orders::Postgres(..) = database else { return };
        let config = configured(folder, States::Claims);
        database.run("CREATE TABLE short (number bigint, content varchar(4))");
        let right = std::fs::read_to_string(&config).unwrap();
        std::fs::write(&config, right.replacen("\"results\"", "\"short\"", 1)).unwrap();
        let batch = start(&config, &database.url(), "1").finish();
        batch.check(0, "\"set_aside\": 2", "").check(0, "(4)", "");
    });
}

#[test]
fn a_document_that_another_session_holds_is_no_complete_batch_and_is_taken_when_it_is_let_go() {
    let orders = 6;
    on_each(orders, |database, folder| {
        let Orders::Postgres(cluster, schema) = database else { return };
        let config = configured(folder, States::Column);
        let hold = format!("BEGIN; SELECT 1 FROM {schema}.orders WHERE number <= 2 FOR UPDATE");
        let mut holder = cluster.client();
        holder.batch_execute(&hold).unwrap();
        let batch = start(&config, &database.url(), "2").finish();
        batch.check(1, "\"ended\": \"held-elsewhere\"", "2 documents wait still").check(1, "\"left\": 2", "");
        let batch = start(&config, &database.url(), "2");
        holder.batch_execute("ROLLBACK").unwrap();
        batch.finish().check(0, "\"ended\": \"complete\"", "").check(0, "\"left\": 0", "");
        database.check_each_once(orders, &[]);
    });
}

#[test]
fn a_table_that_this_user_may_not_read_is_told_from_one_that_is_not_there() {
    on_each(1, |database, folder| {
        let Orders::Postgres(_, schema) = database else { return };
        let config = configured(folder, States::Column);
        let user = format!("reader_of_{schema}");
        database.run(&format!(
            "CREATE ROLE {user} LOGIN PASSWORD 'word'; GRANT USAGE ON SCHEMA {schema} TO {user};
             GRANT SELECT ON parts, notes TO {user}"
        ));
        let url = database.url();
        let (_, place) = url.split_once('@').unwrap();
        let url = format!("postgres://{user}:word@{}", place.rsplit_once('@').map_or(place, |(_, place)| place));
        let batch = start(&config, &url, "1").finish();
        batch.check(2, "", "orders: it is left out: this user may not read it").check(2, "", "generate.toml:");
    });
}

#[test]
fn keys_that_are_no_keys_are_told_before_the_batch_begins() {
    on_each(1, |database, folder| {
        let Orders::Sqlite(_) = database else { return };
        database.run(
            "CREATE TABLE loose (number text PRIMARY KEY, body text, state text, error text);
             INSERT INTO loose (number, body) VALUES (NULL, '<order/>'), ('a', '<order/>'), (x'00', '<order/>')",
        );
        for states in [States::Column, States::Claims] {
            let config = configured(folder, states);
            let right = std::fs::read_to_string(&config).unwrap();
            std::fs::write(&config, right.replacen("\"orders\"", "\"loose\"", 1)).unwrap();
            let batch = start(&config, &database.url(), "1").finish();
            batch.check(2, "", "2 documents have a key that is neither text nor integer").check(
                2,
                "",
                "generate.toml:",
            );
        }
    });
}

#[test]
fn a_lost_connection_is_opened_again_and_no_document_is_lost_with_it() {
    let orders = FAR_FROM_DONE;
    on_each(orders, |database, folder| {
        let Orders::Postgres(cluster, schema) = database else { return };
        let config = configured(folder, States::Column);
        let (mut client, mut stored) = (cluster.client(), database.counter());
        let batch = start(&config, &database.url(), "3");
        wait_for("result", || (stored() > 0).then_some(()));
        // Those that hold something of this test's tables.
        let end = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tollgate' AND pid IN \
             (SELECT pid FROM pg_locks WHERE relation IN \
             (SELECT oid FROM pg_class WHERE relnamespace = '{schema}'::regnamespace))"
        );
        let ended = wait_for("connection in use", || {
            let ended = client.query(&end, &[]).unwrap().len();
            (ended > 0).then_some(ended)
        });
        let batch = batch.finish();
        batch.check(0, "\"left\": 0", "");
        assert!(figures(&batch)["reconnects"].as_u64().unwrap() >= ended as u64, "{ended} ended: {batch:?}");
        database.check_each_once(orders, &[]);
    });
}

#[test]
fn a_database_that_does_not_come_back_ends_the_batch_with_nothing_lost() {
    let orders = FAR_FROM_DONE;
    on_each(orders, |database, folder| {
        let Orders::Postgres(..) = database else { return };
        let config = configured(folder, States::Column);
        let relay = Relay::start(&database.url());
        let mut stored = database.counter();
        let batch = start(&config, &relay.url, "2");
        wait_for("result", || (stored() > 0).then_some(()));
        relay.end();
        let batch = batch.finish();
        batch.check(1, "\"ended\": \"failed\"", "attempts in a row").check(1, "", "nothing is lost");
        start(&config, &database.url(), "2").finish().check(0, "\"left\": 0", "");
        database.check_each_once(orders, &[]);
    });
}

#[test]
fn the_round_trips_that_are_counted_are_those_that_a_relay_sees() {
    let Some(cluster) = cluster() else {
        eprintln!("skipped: round trips of generate, since PostgreSQL is not installed");
        return;
    };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let url = cluster.url(&format!("schema={}", cluster.new_schema()));
    let seen = [4, 9].map(|documents: u64| {
        let count = documents.to_string();
        // It is made without the relay, and not generated from.
        let made =
            tollgate(["generate", "--database", &url, "--sample", &count, "--processes", "1", "--json"]).finish();
        assert_eq!(figures(&made)["round_trips"], 10 * documents, "{made:?}");
        let schema = url.rsplit("schema=").next().unwrap();
        cluster.run(&format!(
            "SET search_path = {schema}; UPDATE tollgate_document SET state = 'waiting'; TRUNCATE tollgate_result"
        ));
        let relay = Relay::start(&url);
        let batch = tollgate(["generate", "--database", &relay.url, "--processes", "1", "--json"]).finish();
        batch.check(0, "\"round_trips_per_document\": 10.0", "");
        assert_eq!(figures(&batch)["round_trips"], 10 * documents, "{batch:?}");
        let trips = relay.turns.load(Ordering::SeqCst);
        relay.end();
        trips
    });
    // What connects and prepares is the same for both.
    assert_eq!(seen[1] - seen[0], 10 * 5, "{seen:?}");
}

/// Relays between a client and a server, and counts the times that the server reported all requests answered.
struct Relay {
    url: String,
    turns: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    address: std::net::SocketAddr,
    open: Arc<std::sync::Mutex<Vec<TcpStream>>>,
}

impl Relay {
    fn start(url: &str) -> Relay {
        let (before, behind) = url.split_once("@127.0.0.1:").unwrap();
        let (port, rest) = behind.split_once('/').unwrap();
        let server: u16 = port.parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let relay = Relay {
            url: format!("{before}@127.0.0.1:{}/{rest}", address.port()),
            turns: Arc::default(),
            over: Arc::default(),
            address,
            open: Arc::default(),
        };
        let (turns, over, open) = (Arc::clone(&relay.turns), Arc::clone(&relay.over), Arc::clone(&relay.open));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let (client, server) = (client.unwrap(), TcpStream::connect(("127.0.0.1", server)).unwrap());
                client.set_nodelay(true).unwrap();
                server.set_nodelay(true).unwrap();
                open.lock().unwrap().extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
                let (to_server, from_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                pass(from_client, to_server, |_| ());
                let (turns, mut messages) = (Arc::clone(&turns), Messages::default());
                pass(server, client, move |piece| {
                    turns.fetch_add(messages.ready(piece), Ordering::SeqCst);
                });
            }
        });
        relay
    }

    /// Ends all connections, and accepts no more.
    fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// The messages of a server, in pieces of any size: a letter, four bytes of length that count themselves, and the rest.
#[derive(Default)]
struct Messages {
    has_begun: bool,
    head: Vec<u8>,
    /// Bytes of the message that are still to come.
    left: usize,
}

impl Messages {
    /// Number of `ReadyForQuery` messages in a piece.
    fn ready(&mut self, piece: &[u8]) -> u64 {
        let mut times = 0;
        for byte in piece {
            // Alone, it says that there is no TLS.
            let is_refusal = !std::mem::replace(&mut self.has_begun, true) && *byte == b'N';
            if self.left > 0 {
                self.left -= 1;
            } else if !is_refusal {
                self.head.push(*byte);
            }
            if let [letter, length @ ..] = self.head.as_slice()
                && let Ok(length) = <[u8; 4]>::try_from(length)
            {
                times += u64::from(*letter == b'Z');
                self.left = u32::from_be_bytes(length) as usize - length.len();
                self.head.clear();
            }
        }
        times
    }
}

/// Passes bytes on, each piece after a call of `each`.
fn pass(mut from: TcpStream, mut to: TcpStream, mut each: impl FnMut(&[u8]) + Send + 'static) {
    std::thread::spawn(move || {
        let mut piece = [0; 16 * 1024];
        while let Ok(length @ 1..) = from.read(&mut piece) {
            each(&piece[..length]);
            if to.write_all(&piece[..length]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}

//! kill -9 under load, repeatedly on the same database: no acknowledged record is lost, no change set is half stored.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::Signal;

use crate::client::Client;
use crate::helper::serving;
use crate::ledger::Ledger;
use crate::{Form, form};

/// Number of concurrent writers.
const CLIENTS: usize = 4;

#[test]
fn nothing_acknowledged_is_lost_and_no_change_set_is_torn_when_the_gateway_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    kill_again_and_again(&format!("sqlite:{}", folder.path().join("records.db").display()), "SQLite, WAL, FULL");
    assert!(folder.path().join("records.db").exists());
}

pub(crate) fn kill_again_and_again(database: &str, what: &str) {
    let kills = match form() {
        Form::Short => 4,
        Form::Long => 50,
    };
    let ledger = Ledger::default();
    for kill in 0..kills {
        let gateway = serving(&["--records", database]);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for number in 0..CLIENTS {
                let (ledger, is_over, url) = (&ledger, &is_over, &gateway.url);
                scope.spawn(move || {
                    let mut client = Client::new(url);
                    let send = if number % 2 == 0 { Ledger::send_record } else { Ledger::send_set };
                    while !is_over.load(Ordering::Relaxed) && send(ledger, &mut client) {}
                });
            }
            std::thread::park_timeout(Duration::from_millis(60 + moment(kill)));
            gateway.running.signal(Signal::KILL);
            is_over.store(true, Ordering::Relaxed);
        });
    }
    let gateway = serving(&["--records", database]);
    let account = ledger.settle(&gateway.url);
    if form() == Form::Long {
        eprintln!("kill -9, {what}: {kills} kills, {account:?}");
    }
    assert!(account.acknowledged > 0 && account.unanswered > 0, "no load was killed: {account:?}");
    account.check();
}

/// A moment that differs from kill to kill and from run to run.
fn moment(kill: u64) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(kill) % 400
}

/// A path that cannot be a database is refused before anything listens.
#[test]
fn a_database_that_cannot_be_opened_is_told_at_the_start() {
    let nowhere = Path::new("/nonexistent/records.db");
    let told = crate::helper::tollgate(
        ["serve", "--listen", "127.0.0.1:0", "--records"]
            .into_iter()
            .chain([format!("sqlite:{}", nowhere.display()).as_str()]),
    )
    .finish();
    assert!(told.code == 1 && told.err.contains("records.db"), "{told:?}");
}

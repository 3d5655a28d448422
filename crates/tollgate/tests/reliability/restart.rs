//! PostgreSQL stops during a load and comes back: errors only while it is away, nothing lost, nothing doubled.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::client::Client;
use crate::cluster::{Cluster, cluster};
use crate::helper::{serving, wait_for};
use crate::kill::kill_again_and_again;
use crate::ledger::{Ledger, SERVICE};
use crate::{Form, form};

/// Number of concurrent writers.
const CLIENTS: u64 = 4;

/// The tests share the server, and one restarts it: they take turns.
pub(crate) static TURN: Mutex<()> = Mutex::new(());

#[test]
fn a_database_that_restarts_in_mid_load_loses_and_doubles_nothing() {
    let Some(cluster) = cluster_or_reason() else { return };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let restarts = match form() {
        Form::Short => 1,
        Form::Long => 20,
    };
    let gateway = serving(&["--records", &own_schema(cluster)]);
    let ledger = Ledger::default();
    let (is_over, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut away_ms = Vec::new();
    std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (ledger, is_over, answered, url) = (&ledger, &is_over, &answered, &gateway.url);
            scope.spawn(move || {
                let mut client = Client::new(url);
                let send = if number % 2 == 0 { Ledger::send_record } else { Ledger::send_set };
                while !is_over.load(Ordering::Relaxed) {
                    assert!(send(ledger, &mut client), "the gateway itself went away");
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for _ in 0..restarts {
            let before = answered.load(Ordering::Relaxed);
            wait_for("load", || (answered.load(Ordering::Relaxed) > before + 50).then_some(()));
            cluster.crash_and_restart();
            let is_back = Instant::now();
            let mut client = Client::new(&gateway.url);
            wait_for("answer", || {
                let answer = client.get(&format!("{SERVICE}/TestRecords/$count")).ok()?;
                (answer.status == 200).then_some(())
            });
            away_ms.push(is_back.elapsed().as_secs_f64() * 1e3);
        }
        let acknowledged = ledger.acknowledged();
        wait_for("success after the restart", || (ledger.acknowledged() > acknowledged + CLIENTS).then_some(()));
        is_over.store(true, Ordering::Relaxed);
    });
    let account = ledger.settle(&gateway.url);
    if form() == Form::Long {
        let most = away_ms.iter().copied().fold(0.0, f64::max);
        eprintln!(
            "PostgreSQL: {restarts} crashes in mid-load, {account:?}, at most {most:.0} ms to the first answer after it was up"
        );
    }
    account.check();
}

#[test]
fn nothing_acknowledged_is_lost_over_postgres_when_the_gateway_is_killed() {
    let Some(cluster) = cluster_or_reason() else { return };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    kill_again_and_again(&own_schema(cluster), "PostgreSQL");
}

fn cluster_or_reason() -> Option<&'static Cluster> {
    let cluster = cluster();
    if cluster.is_none() {
        eprintln!("skipped: no initdb on the path or in /usr/lib/postgresql (apt-get install postgresql)");
    }
    cluster
}

fn own_schema(cluster: &Cluster) -> String {
    cluster.url(&format!("schema={}", cluster.new_schema()))
}

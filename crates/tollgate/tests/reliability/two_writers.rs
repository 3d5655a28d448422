//! Two gateways write the same file at once: both wait for each other, without any client noticing.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::client::Client;
use crate::helper::serving;
use crate::ledger::Ledger;
use crate::{Form, form};

#[test]
fn two_gateways_on_one_file_never_tell_a_client_that_the_database_is_busy() {
    let folder = tempfile::tempdir().unwrap();
    let database = format!("sqlite:{}", folder.path().join("records.db").display());
    let units = match form() {
        Form::Short => 40,
        Form::Long => 5_000,
    };
    let gateways = [serving(&["--records", &database]), serving(&["--records", &database])];
    let (ledger, left) = (Ledger::default(), AtomicU64::new(units));
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (ledger, left, url) = (&ledger, &left, &gateways[number % 2].url);
            scope.spawn(move || {
                let mut client = Client::new(url);
                while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
                    let is_answered =
                        if number < 4 { ledger.send_record(&mut client) } else { ledger.send_set(&mut client) };
                    assert!(is_answered, "a connection broke");
                }
            });
        }
    });
    let account = ledger.settle(&gateways[0].url);
    if form() == Form::Long {
        eprintln!("two gateways on one file: {account:?}");
    }
    assert_eq!((account.refused, account.unanswered), (0, 0), "{account:?}");
    account.check();
}

//! A disk that runs full: the client gets an error, reads go on, and writes succeed again once there is room.
//!
//! The disk is a small tmpfs in a mount namespace of its own; where the machine does not allow one, the test says so.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::client::Client;
use crate::helper::{Serving, serving_by};
use crate::ledger::{Ledger, SERVICE};

/// Bytes of the disk, and of the file on it that is deleted to make room.
const DISK_BYTES: u64 = 6 << 20;
const BALLAST_BYTES: u64 = 2 << 20;
/// Records that cannot fit.
const RECORDS_MAX: u64 = 20_000;

#[test]
fn a_full_disk_is_told_and_reads_go_on_and_writes_too_once_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let Some(gateway) = serving_on_a_small_disk(folder.path()) else {
        eprintln!("skipped: no mount namespace can be made here (unshare --mount), so no disk can be filled");
        return;
    };
    let ledger = Ledger::default();
    let mut client = Client::new(&gateway.url);
    let is_full = |client: &mut Client| {
        let before = ledger.settle(&gateway.url).refused;
        (0..RECORDS_MAX / 100).any(|_| {
            (0..100).for_each(|_| assert!(ledger.send_record(client), "the gateway is gone"));
            ledger.settle(&gateway.url).refused > before
        })
    };
    assert!(is_full(&mut client), "the disk took {RECORDS_MAX} records");
    let refused = client.post_json(&format!("{SERVICE}/TestRecords"), r#"{"stringField":"0/0"}"#).unwrap();
    assert!([503, 507].contains(&refused.status), "{} {}", refused.status, refused.text());
    ledger.settle(&gateway.url).check();

    let ballast = format!("/proc/{}/root{}/ballast", gateway.running.process(), folder.path().display());
    std::fs::remove_file(ballast).unwrap();
    let before = ledger.settle(&gateway.url).acknowledged;
    assert!(ledger.send_record(&mut client) && ledger.send_set(&mut client));
    let account = ledger.settle(&gateway.url);
    assert!(account.acknowledged > before, "there is room again: {account:?}");
    account.check();
}

fn serving_on_a_small_disk(folder: &Path) -> Option<Serving> {
    let namespace: &[&str] = match rustix::process::geteuid().is_root() {
        true => &["--mount"],
        false => &["--user", "--map-root-user", "--mount"],
    };
    let mut trial = Command::new("unshare");
    trial.args(namespace).args(["sh", "-c", "mount -t tmpfs none /mnt"]).stderr(Stdio::null());
    if !trial.status().is_ok_and(|status| status.success()) {
        return None;
    }
    let script = format!(
        "mount -t tmpfs -o size={DISK_BYTES} none \"$0\" && head -c {BALLAST_BYTES} /dev/zero >\"$0/ballast\" && exec \"$@\""
    );
    let mut command = Command::new("unshare");
    command.args(namespace).args(["sh", "-c", &script]).arg(folder).arg(env!("CARGO_BIN_EXE_tollgate"));
    Some(serving_by(command, &["--records", &format!("sqlite:{}", folder.join("records.db").display())]))
}

//! Batches at the same time, in memory and on a disk: they wait for each other, and no client gets an error for a busy
//! database.

use super::*;

const THREADS: usize = 4;
const BATCHES: usize = 10;
const RECORDS: usize = 5;

fn check(config: &str) {
    let gateway = &Running::start(config);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for batch in 0..BATCHES {
                    let first = (thread * BATCHES + batch) * RECORDS;
                    let sent = (first..first + RECORDS).map(|number| create_part("c", &number.to_string(), number));
                    let read = part("b", "", "GET TestRecords/$count HTTP/1.1", "");
                    let body = [change_set(&sent.collect::<Vec<_>>()), read, "--b--".to_owned()].concat();
                    let answer = gateway.batch(V4, &[MULTIPART], &body);
                    let created = (first..first + RECORDS).map(|number| format!("{number}=201"));
                    let expected = format!("[{}] -=200", created.collect::<Vec<_>>().join(" "));
                    assert_eq!(outline(&answer), expected, "{}", answer.text());
                }
            });
        }
    });
    assert_eq!(gateway.records(), (THREADS * BATCHES * RECORDS) as u64);
}

#[test]
fn batches_in_memory_wait_for_each_other() {
    check("[listen]\nthreads = 2\n[[service]]\nkind = \"records\"\n");
}

#[test]
fn batches_in_a_file_wait_for_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("records.db");
    check(&format!(
        "[listen]\nthreads = 2\n[[service]]\nkind = \"records\"\ndatabase = \"sqlite:{}\"\n",
        file.display()
    ));
}

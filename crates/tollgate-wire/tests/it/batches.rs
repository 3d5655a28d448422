//! Invariants of every batch: the bodies of the fuzz targets, and the replay of their corpus as a plain test.

use tollgate_wire::batch::{BatchError, Dependency, Outgoing, Request, Requests, Step, json, multipart};

const REQUESTS_MAX: usize = 50;

/// A batch, or the answer to one, as `multipart/mixed` with the boundary `b`.
pub(crate) fn multipart(bytes: &[u8]) {
    read(Requests::multipart(bytes, "b", REQUESTS_MAX), bytes.len());
    for response in multipart::responses(bytes, "b") {
        match response {
            Ok(response) => assert!((100..600).contains(&response.status) && response.body.len() <= bytes.len()),
            Err(error) => check_error(&error, bytes.len()),
        }
    }
}

/// A batch, or the answer to one, as JSON. Each is written and reads the same again.
pub(crate) fn json(bytes: &[u8]) {
    let found = read(Requests::json(bytes, REQUESTS_MAX), bytes.len());
    let mut written = Vec::new();
    let mut writer = json::RequestWriter::new(&mut written);
    for request in &found {
        let headers: Vec<(&str, &str)> = request.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        let named: Vec<String> = request.depends_on.iter().map(|dependency| name_of(*dependency, &found)).collect();
        let depends_on: Vec<&str> = named.iter().map(String::as_str).collect();
        let Request { id, method, target, body, group, .. } = request;
        writer.request(&Outgoing {
            id: id.as_deref(),
            method,
            target,
            headers: &headers,
            body,
            group: group.as_deref(),
            depends_on: &depends_on,
        });
    }
    writer.finish();
    // A body of JSON was not looked at yet, so what is no JSON in it may break the batch that it is written into.
    let mut again = Requests::json(&written, REQUESTS_MAX);
    let mut expected = found.iter();
    loop {
        match again.next() {
            Ok(Step::End) => break assert_eq!(expected.next(), None),
            Ok(Step::GroupBegin | Step::GroupEnd) => {}
            Ok(Step::Request) => {
                let (again, expected) = (again.request(), expected.next().expect("as many as were written"));
                assert_eq!(
                    (&again.id, &again.method, &again.target),
                    (&expected.id, &expected.method, &expected.target)
                );
                assert_eq!((&again.group, &again.depends_on), (&expected.group, &expected.depends_on));
                assert_eq!(again.body, expected.body);
            }
            Err(error) => break assert!(found.iter().any(|request| !request.body.is_empty()), "{error}"),
        }
    }
    for response in json::responses(bytes) {
        match response {
            Ok(response) => assert!((100..600).contains(&response.status) && response.body.len() <= bytes.len()),
            Err(error) => check_error(&error, bytes.len()),
        }
    }
}

/// Checks that groups begin and end in turn, requests count up, and the limit holds. Returns them, up to an error.
fn read(mut requests: Requests<'_>, length: usize) -> Vec<Request<'_>> {
    let mut found: Vec<Request<'_>> = Vec::new();
    let mut in_group = false;
    let mut groups = 0;
    loop {
        match requests.next() {
            Ok(Step::End) => {
                assert!(!in_group);
                return found;
            }
            Ok(Step::GroupBegin) => {
                assert!(!in_group);
                in_group = true;
                groups += 1;
            }
            Ok(Step::GroupEnd) => {
                assert!(in_group);
                in_group = false;
            }
            Ok(Step::Request) => {
                let request = requests.request();
                assert!(request.index == found.len() && request.index < REQUESTS_MAX && request.position <= length);
                assert!(request.depends_on.iter().all(|dependency| match dependency {
                    Dependency::Request(index) => *index < request.index,
                    Dependency::Group(group) => *group < groups,
                }));
                found.push(request.clone());
            }
            Err(error) => {
                check_error(&error, length);
                return found;
            }
        }
    }
}

fn name_of(dependency: Dependency, found: &[Request<'_>]) -> String {
    match dependency {
        Dependency::Request(index) => found[index].id.as_deref().unwrap_or_default().to_owned(),
        Dependency::Group(group) => {
            let mut names: Vec<&str> = found.iter().filter_map(|request| request.group.as_deref()).collect();
            names.dedup();
            names[group].to_owned()
        }
    }
}

fn check_error(error: &BatchError, length: usize) {
    assert!(error.position <= length && !error.message.is_empty(), "{error}");
}

#[cfg(test)]
mod replay {
    use super::*;
    use crate::corpus;
    use proptest::prelude::*;

    const TARGETS: &[&str] = &["batch_multipart", "batch_json"];

    fn run(target: &str, bytes: &[u8]) {
        match target {
            "batch_multipart" => multipart(bytes),
            "batch_json" => json(bytes),
            _ => panic!("no target {target}"),
        }
    }

    #[test]
    fn the_corpus_of_batches_holds() {
        for target in TARGETS {
            corpus::files(target).iter().for_each(|bytes| run(target, bytes));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn damaged_batches_are_read_or_refused((target, bytes) in corpus::damaged(TARGETS)) {
            run(target, &bytes);
        }
    }
}

//! Batches as `multipart/mixed`, in both versions.

use proptest::prelude::*;

use super::*;

/// Sends parts to a gateway of its own and compares the outline of the answer, and the number of records afterwards,
/// with the expected ones.
fn check(root: &str, headers: &[(&str, &str)], parts: &[String], expected: &str, records: u64) {
    let gateway = Running::start("");
    let headers = [&[MULTIPART], headers].concat();
    let answer = gateway.batch(root, &headers, &(parts.concat() + "--b--"));
    let status = if root == V2 { 202 } else { 200 };
    assert_eq!((answer.status, outline(&answer).as_str()), (status, expected), "{}", answer.text());
    assert_eq!(gateway.records(), records);
}

const CONTINUE: (&str, &str) = ("Prefer", "odata.continue-on-error");

#[test]
fn the_answer_mirrors_the_batch() {
    let get = part("b", "", "GET TestRecords?$top=1 HTTP/1.1\r\nAccept: application/json", "");
    let parts =
        [change_set(&[create_part("c", "1", 1), create_part("c", "2", 2)]), get.clone(), create_part("b", "x", 3), get];
    check(V4, &[], &parts, "[1=201 2=201] -=200 x=201 -=200", 3);
    check(V2, &[], &parts, "[1=201 2=201] -=200 x=201 -=200", 3);
    check(V4, &[], &[], "", 0);
    check(V4, &[], &[change_set(&[])], "[]", 0);
}

#[test]
fn the_first_error_ends_a_sequence_of_v4_unless_the_client_wants_to_go_on() {
    let parts = [create_part("b", "1", 1), create_part("b", "2", 1), create_part("b", "3", 2)];
    check(V4, &[], &parts, "1=201 2=409", 1);
    check(V4, &[CONTINUE], &parts, "1=201 2=409 3=201", 2);
    check(V4, &[("Prefer", "continue-on-error=false")], &parts, "1=201 2=409", 1);
    check(V2, &[], &parts, "1=201 2=409 3=201", 2);
}

#[test]
fn a_failed_change_set_is_one_answer_and_nothing_of_it_is_stored() {
    let failing = change_set(&[create_part("c", "1", 1), create_part("c", "2", 1), create_part("c", "3", 2)]);
    let parts = [failing, create_part("b", "4", 3)];
    check(V4, &[], &parts, "2=409", 0);
    check(V4, &[CONTINUE], &parts, "2=409 4=201", 1);
    check(V2, &[], &parts, "2=409 4=201", 1);
}

#[test]
fn a_change_set_that_reads_fails() {
    let get = part("c", "Content-ID: 2\r\n", "GET TestRecords HTTP/1.1", "");
    check(V4, &[], &[change_set(&[create_part("c", "1", 1), get.clone()])], "2=400", 0);
    check(V2, &[], &[change_set(&[create_part("c", "1", 1), get])], "2=400", 0);
}

#[test]
fn a_multipart_batch_may_be_answered_in_json() {
    let json = ("Accept", "application/json");
    let failing = change_set(&[create_part("c", "4", 4), create_part("c", "5", 1)]);
    let parts = [change_set(&[create_part("c", "1", 1), create_part("c", "2", 2)]), create_part("b", "3", 3), failing];
    check(V4, &[json], &parts, "changeset_1:1=201 changeset_1:2=201 3=201 changeset_2:4=424 changeset_2:5=409", 3);
    // What has no Content-ID is named after its place.
    let get = part("b", "", "GET TestRecords HTTP/1.1", "");
    check(V4, &[json], &[get.clone(), create_part("b", "3", 3), get.clone()], "request_1=200 3=201 request_3=200", 1);
    // Multipart stays where it is as welcome.
    for accept in ["application/json, text/plain, */*", "application/json, multipart/*"] {
        check(V4, &[("Accept", accept)], std::slice::from_ref(&get), "-=200", 0);
    }
}

#[test]
fn a_malformed_batch_is_refused_before_any_of_it_is_done() {
    let gateway = Running::start("");
    let good = create_part("b", "1", 1);
    for (body, message) in [
        (good.clone(), "the delimiter behind the last part is missing"),
        (format!("{good}--b\r\n\r\n\r\n--b--"), "a part must be application/http"),
        (String::new(), "the delimiter of the first part is missing"),
    ] {
        for root in [V2, V4] {
            gateway.batch(root, &[MULTIPART], &body).expect(400, message);
        }
    }
    let unbounded = ("Content-Type", "multipart/mixed");
    gateway.batch(V4, &[unbounded], &good).expect(400, "expected a boundary");
    assert_eq!(gateway.records(), 0);
    assert_eq!(gateway.ask("GET", &format!("{V4}$batch")).status, 405);
}

#[test]
fn each_error_is_told_in_the_format_of_its_own_request() {
    let gateway = Running::start("");
    let get = |accept: &str| part("b", "", &format!("GET TestRecords?$top=x HTTP/1.1\r\n{accept}"), "");
    let body = [get("Accept: application/json"), get("Accept: application/atom+xml"), "--b--".to_owned()].concat();
    let text = gateway.batch(V2, &[MULTIPART], &body).text();
    let (json, xml) = (text.find("{\"error\":").unwrap(), text.find("<error ").unwrap());
    assert!(json < xml, "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_violated_constraint_at_any_place_undoes_its_change_set_and_nothing_else(
        lengths in proptest::collection::vec(1..6usize, 1..5),
        place in any::<(proptest::sample::Index, proptest::sample::Index)>(),
        root in proptest::sample::select(vec![V2, V4]),
        goes_on in any::<bool>(),
    ) {
        let gateway = Running::start("");
        gateway.batch(V4, &[JSON], &requests(&[create("0", 0, "")])).expect(200, "201");
        let (culprit_set, culprit) = (place.0.index(lengths.len()), place.1.index(lengths[place.0.index(lengths.len())]));
        let mut number = 0;
        let mut body = String::new();
        let mut expected = Vec::new();
        let mut stored = 1;
        let goes_on_anyway = goes_on || root == V2;
        for (set, length) in lengths.iter().enumerate() {
            let mut parts = Vec::new();
            let mut told = Vec::new();
            for member in 0..*length {
                number += 1;
                let fails = (set, member) == (culprit_set, culprit);
                parts.push(create_part("c", &number.to_string(), if fails { 0 } else { number }));
                told.push(format!("{number}={}", if fails { 409 } else { 201 }));
            }
            body += &change_set(&parts);
            if set <= culprit_set || goes_on_anyway {
                if set == culprit_set {
                    expected.push(told[culprit].clone());
                } else {
                    expected.push(format!("[{}]", told.join(" ")));
                    stored += *length as u64;
                }
            }
        }
        let mut headers = vec![MULTIPART];
        if goes_on {
            headers.push(CONTINUE);
        }
        let answer = gateway.batch(root, &headers, &(body + "--b--"));
        prop_assert_eq!(outline(&answer), expected.join(" "));
        prop_assert_eq!(gateway.records(), stored);
    }
}

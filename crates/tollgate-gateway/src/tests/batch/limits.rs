//! Limits of a batch: at the limit and one above.

use super::*;

fn limited(limits: &str) -> Running {
    Running::start(&format!("[[service]]\nkind = \"records\"\nlimits = {{ {limits} }}\n"))
}

#[test]
fn as_many_requests_as_may_be_are_done_and_one_more_is_413_with_nothing_done() {
    let gateway = limited("batch_requests_max = 3");
    let sent = |count: usize, from: usize| (0..count).map(|n| create(&n.to_string(), from + n, "")).collect::<Vec<_>>();
    gateway.batch(V4, &[JSON], &requests(&sent(4, 10))).expect(413, "more than 3 requests");
    let parts: String = (0..4).map(|number| create_part("b", &number.to_string(), 20 + number)).collect();
    gateway.batch(V2, &[MULTIPART], &(parts + "--b--")).expect(413, "more than 3 requests");
    assert_eq!(gateway.records(), 0);
    gateway.batch(V4, &[JSON], &requests(&sent(3, 30))).expect(200, "");
    assert_eq!(gateway.records(), 3);
}

#[test]
fn as_many_bytes_as_may_be_are_taken_and_one_more_is_413_at_once() {
    let body = requests(&[create("1", 1, "")]);
    let gateway = limited(&format!("batch_bytes_max = {}", body.len()));
    gateway.batch(V4, &[JSON], &body).expect(200, "201");
    // Nothing of the body is sent: the declared length is enough.
    let mut client = gateway.connect();
    let length = (body.len() + 1).to_string();
    client.send("POST", &format!("{V4}$batch"), &[JSON, ("Content-Length", &length)]);
    client.read("POST").expect(413, &format!("more than {} bytes", body.len()));
    // Nor is the end of a chunked body waited for.
    let mut client = gateway.connect();
    client.send("POST", &format!("{V4}$batch"), &[JSON, ("Transfer-Encoding", "chunked")]);
    client.send_raw(&format!("{:x}\r\n{body} \r\n", body.len() + 1));
    client.read("POST").expect(413, &format!("more than {} bytes", body.len()));
    assert_eq!(gateway.records(), 1);
}

#[test]
fn an_answer_that_grows_too_large_undoes_the_batch() {
    let sent = [create("1", 1, ""), create("2", 2, "")];
    // Times of creation stand in the answers, with as many digits as they need.
    let length = limited("").batch(V4, &[JSON], &requests(&sent)).body.len();
    let gateway = limited(&format!("batch_answer_bytes_max = {}", length - 200));
    gateway.batch(V4, &[JSON], &requests(&sent)).expect(413, "the answer to the batch would have more than");
    assert_eq!(gateway.records(), 0);
    let gateway = limited(&format!("batch_answer_bytes_max = {}", length + 200));
    gateway.batch(V4, &[JSON], &requests(&sent)).expect(200, "201");
}

#[test]
fn a_body_that_is_too_large_for_a_single_request_is_so_in_a_batch() {
    let gateway = limited("body_bytes_max = 100");
    let sized = |id: &str, number: usize, length: usize| {
        let more = format!(r#","stringField":"{}"}}"#, "x".repeat(length));
        create(id, number, "")
            .replace(&format!(r#""integerField":{number}}}"#), &format!(r#""integerField":{number}{more}"#))
    };
    let length = sized("1", 1, 0).split("\"body\":").nth(1).unwrap().len() - 1;
    let sent = [sized("1", 1, 100 - length), sized("2", 2, 101 - length), sized("3", 3, 0)];
    let answer = gateway.batch(V4, &[JSON], &requests(&sent));
    assert_eq!(outline(&answer), "1=201 2=413 3=201", "{}", answer.text());
}

#[test]
fn a_batch_that_takes_too_long_is_undone() {
    // A thousand records take a hundred times as long.
    let gateway = limited("batch_ms_max = 1");
    let sent: Vec<_> = (0..1000).map(|number| create(&number.to_string(), number, "")).collect();
    gateway.batch(V4, &[JSON], &requests(&sent)).expect(503, "more than 1 ms");
    assert_eq!(gateway.records(), 0);
}

#[test]
fn a_batch_of_a_million_parts_is_refused_before_it_was_sent_to_its_end() {
    let gateway = Running::start("");
    let piece = "--b\nContent-Type: application/http\n\nGET A\n\n".repeat(1000);
    let mut client = gateway.connect();
    client.send("POST", &format!("{V4}$batch"), &[MULTIPART, ("Transfer-Encoding", "chunked")]);
    // So much as three times the limit, of a body that never ends.
    for _ in 0..60 {
        if client.try_send_raw(&format!("{:x}\r\n{piece}\r\n", piece.len())).is_err() {
            break;
        }
    }
    client.read("POST").expect(413, "more than 20000 requests");
}

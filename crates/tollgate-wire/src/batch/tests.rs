//! Tests of both formats: what was written is read again, on both sides; what is wrong is refused with its place.

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;

const MAX: usize = 100;

/// The steps of a batch, one a line, up to its end or its error.
fn steps(mut requests: Requests<'_>) -> String {
    let mut lines = String::new();
    loop {
        let line = match requests.next() {
            Ok(Step::End) => return lines + "end",
            Ok(Step::GroupBegin) => "begin".to_owned(),
            Ok(Step::GroupEnd) => "end of group".to_owned(),
            Ok(Step::Request) => {
                let Request { index, position, id, method, target, headers, body, group, depends_on, condition } =
                    requests.request();
                let mut line = format!("{index}@{position} {} {method} {target}", id.as_deref().unwrap_or("-"));
                for (name, value) in headers {
                    line += &format!(" [{name}: {value}]");
                }
                if let Some(group) = group {
                    line += &format!(" in {group}");
                }
                if !depends_on.is_empty() {
                    line += &format!(" after {depends_on:?}");
                }
                if *condition == Condition::Present {
                    line += " if";
                }
                line + &format!(" {:?}", String::from_utf8_lossy(body))
            }
            Err(error) => return format!("{lines}{:?}: {error}", error.kind),
        };
        lines += &line;
        lines.push('\n');
    }
}

fn multipart_steps(body: &str) -> String {
    steps(Requests::multipart(body.as_bytes(), "b", MAX))
}

fn json_steps(body: &str) -> String {
    steps(Requests::json(body.as_bytes(), MAX))
}

/// A batch as UI5 sends it, with further forms that RFC 2046 and OData allow.
const MULTIPART: &str = "preamble\r\n--b\r\nContent-Type:application/http\r\nContent-Transfer-Encoding:binary\r\n\r\n\
    GET Flights?$top=1 HTTP/1.1\r\nAccept:application/json;odata.metadata=minimal\r\n\r\n\r\n--b\r\n\
    Content-Type: multipart/mixed;boundary=\"b c\"\r\nContent-Length: 7\r\n\r\n--b c\r\nContent-Type:application/http\r\n\
    Content-ID: 0.0\r\n\r\nPOST /base/Flights HTTP/1.1\r\nHost: x:1\r\nContent-Type:application/json\r\n\r\n{\"a\":1}\r\n\
    --b c\ncontent-type: Application/HTTP\n\nPATCH $0.0\nContent-ID: 2\nContent-Length: 2\n\n{}\n\n--b c--\r\n--b\r\n\
    Content-Type: application/http\r\n\r\nDELETE http://x/base/Flights(1)\r\n\r\n--b-- \r\nepilogue";

#[test]
fn a_multipart_batch_is_read_step_by_step() {
    assert_snapshot!(multipart_steps(MULTIPART), @r#"
    0@82 - GET Flights?$top=1 [Accept: application/json;odata.metadata=minimal] ""
    begin
    1@292 0.0 POST /base/Flights [Host: x:1] [Content-Type: application/json] "{\"a\":1}"
    2@412 2 PATCH $0.0 [Content-ID: 2] [Content-Length: 2] "{}"
    end of group
    3@508 - DELETE http://x/base/Flights(1) ""
    end
    "#);
}

#[test]
fn what_is_wrong_in_multipart_is_told_with_its_place() {
    let http = "--b\r\nContent-Type: application/http\r\n\r\n";
    for (body, expected) in [
        ("", "Malformed: the delimiter of the first part is missing: --b (at byte 0)"),
        ("--b--", "end"),
        ("--b\r\n\r\n\r\n--b--", "Malformed: a part must be application/http or multipart/mixed, not \"\" (at byte 5)"),
        (&format!("{http}GET\r\n--b--"), "Malformed: expected a request line, not \"GET\" (at byte 39)"),
        (
            &format!("{http}GET a b HTTP/1.1\r\n--b--"),
            "Malformed: expected a request line, not \"GET a b HTTP/1.1\" (at byte 39)",
        ),
        (
            &format!("{http}GET a\r\nno header\r\n\r\n--b--"),
            "Malformed: expected a header, not \"no header\" (at byte 46)",
        ),
        (
            &format!("{http}PUT a\r\nContent-Length: 3\r\n\r\n{{}}\r\n--b--"),
            "Malformed: Content-Length says 3 bytes, but only 2 stand there (at byte 67)",
        ),
        (&format!("{http}GET a\r\n"), "Malformed: the delimiter behind the last part is missing: --b (at byte 46)"),
        (
            "--b\r\nContent-Type: multipart/mixed\r\n\r\n--b--",
            "Malformed: a change set has no right boundary in its Content-Type (at byte 5)",
        ),
        (
            "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: base64\r\n\r\n--b--",
            "Malformed: a part is encoded as \"base64\", only binary is read (at byte 5)",
        ),
    ] {
        assert_eq!(multipart_steps(body).replace('\n', "; "), expected, "{body:?}");
    }
    let nested = "--b\nContent-Type: multipart/mixed;boundary=c\n\n--c\nContent-Type: multipart/mixed;boundary=d\n\n--d--\n--c--\n--b--";
    assert_eq!(multipart_steps(nested), "begin\nMalformed: a change set cannot stand in a change set (at byte 92)");
    let part = "--c\nContent-Type: application/http\nContent-ID: 1\n\nPOST A\n\n\n";
    let twice = format!("--b\nContent-Type: multipart/mixed;boundary=c\n\n{part}{part}--c--\n--b--");
    let expected = format!("the Content-ID \"1\" stands there twice (at byte {})", twice.rfind("POST").unwrap());
    assert!(multipart_steps(&twice).ends_with(&expected));
}

#[test]
fn a_length_that_counts_characters_for_bytes_cuts_nothing_off() {
    let part = "--b\nContent-Type: application/http\n\nPOST A\nContent-Length: 6\n\n{\"ü\":1}\n--b--";
    assert!(multipart_steps(part).contains(r#""{\"ü\":1}""#));
}

#[test]
fn a_length_that_counts_surrogates_for_characters_misses_nothing() {
    // OpenUI5's V2 model says six bytes for a character beyond U+FFFF, which takes four.
    let part =
        |length| format!("--b\nContent-Type: application/http\n\nPOST A\nContent-Length: {length}\n\n\"🚀\"\n--b--");
    assert!(multipart_steps(&part(8)).contains(r#""\"🚀\"""#), "{}", multipart_steps(&part(8)));
    for length in [7, 9] {
        assert!(multipart_steps(&part(length)).contains("but only 6 stand there"), "{length}");
    }
}

#[test]
fn a_json_batch_is_read_step_by_step() {
    let body = r#" {"@a":{"b":[1]},"requests":[
        {"id":"0","method":"get","url":"Flights(1)","headers":{}},
        {"id":"1","atomicityGroup":"g","dependsOn":["0"],"method":"post","url":"Flights","body": {"a":[1,"}"]} },
        {"body":"aGk","id":"2","atomicityGroup":"g","method":"put","url":"$1/$value","dependsOn":["1"],"headers":{"content-type":"image/png"}},
        {"id":"3","atomicityGroup":"h","dependsOn":["g"],"if":{"x":true},"method":"DELETE","url":"/base/A","body":null},
        {"id":"4","dependsOn":["h","3"],"method":"PUT","url":"\u0041","headers":{"Content-Type":"text/plain"},"body":"a\nb","x@y":1}
    ]}"#;
    assert_snapshot!(json_steps(body), @r#"
    0@38 0 get Flights(1) ""
    begin
    1@105 1 post Flights in g after [Request(0)] "{\"a\":[1,\"}\"]}"
    2@219 2 put $1/$value [content-type: image/png] in g after [Request(1)] "hi"
    end of group
    begin
    3@363 3 DELETE /base/A in h after [Group(0)] if ""
    end of group
    4@484 4 PUT A [Content-Type: text/plain] after [Group(1), Request(3)] "a\nb"
    end
    "#);
}

#[test]
fn what_is_wrong_in_json_is_told_with_its_place() {
    let request = |more: &str| format!(r#"{{"id":"1","method":"get","url":"A"{more}}}"#);
    let batch = |requests: &str| format!("{{\"requests\":[{requests}]}}");
    let one = request("");
    for (body, expected) in [
        ("[]".to_owned(), "Malformed: a batch is an object (at byte 0)"),
        ("{}".to_owned(), "Malformed: the batch has no \"requests\" (at byte 2)"),
        (r#"{"requests":{}}"#.to_owned(), "Malformed: \"requests\" must be an array (at byte 1)"),
        (r#"{"x":1,"requests":[]}"#.to_owned(), "Malformed: a batch has no member \"x\" (at byte 1)"),
        (r#"{"requests":[],"requests":[]}"#.to_owned(), "Malformed: \"requests\" stands there twice (at byte 27)"),
        (batch(""), "end"),
        (batch("1"), "Malformed: \"requests\" holds something else than objects (at byte 14)"),
        (batch(r#"{"id":"1","method":"get"}"#), "Malformed: a request has no \"url\" (at byte 13)"),
        (batch(&request(r#","id":"2""#)), "Malformed: the member stands there twice (at byte 47)"),
        (batch(&request(r#","Url":"2""#)), "Malformed: a request has no member \"Url\" (at byte 47)"),
        (
            batch(&request(r#","headers":{"a":"1","A":"2"}"#)),
            "Malformed: the header \"A\" stands there twice (at byte 66)",
        ),
        (
            batch(&request(r#","dependsOn":["2"]"#)),
            "Malformed: it depends on \"2\", which stands not before it (at byte 61)",
        ),
        (
            batch(&request(r#","atomicityGroup":"g","dependsOn":["g"]"#)),
            "begin; Malformed: it depends on its own group \"g\" (at byte 82)",
        ),
        (batch(&request(r#","atomicityGroup":"1""#)), "Malformed: \"1\" names a group and a request (at byte 13)"),
        (
            batch(&request(r#","atomicityGroup":"a b""#)),
            "Malformed: \"a b\" cannot name a request or a group (at byte 13)",
        ),
        (
            batch(&request(r#","headers":{"content-type":"image/png"},"body":"???""#)),
            "Malformed: a body of type \"image/png\" is no base64url (at byte 94)",
        ),
        (
            batch(&request(r#","headers":{"content-type":"text/plain"},"body":{}"#)),
            "Malformed: a body of type \"text/plain\" must be a string (at byte 95)",
        ),
    ] {
        assert_eq!(json_steps(&body).replace('\n', "; "), expected, "{body}");
    }
    for (second, expected) in [
        (one.clone(), "the id \"1\" stands there twice (at byte 49)"),
        (
            request(r#","atomicityGroup":"1""#).replace(r#""id":"1""#, r#""id":"2""#),
            "\"1\" names a group and a request (at byte 49)",
        ),
    ] {
        assert!(json_steps(&batch(&format!("{one},{second}"))).ends_with(expected), "{second}");
    }
    let grouped =
        |id: u8, group: &str| format!(r#"{{"id":"{id}","atomicityGroup":"{group}","method":"get","url":"A"}}"#);
    let apart = batch(&[grouped(1, "g"), grouped(2, "h"), grouped(3, "g")].join(","));
    let expected = format!("the group \"g\" do not stand together (at byte {})", apart.rfind("{\"id").unwrap());
    assert!(json_steps(&apart).ends_with(&expected));
    let half = batch(&one);
    assert!(json_steps(&half[..half.len() - 2]).contains("Malformed: expected ',' or ']'"));
}

#[test]
fn as_many_requests_as_may_be_are_read_and_one_more_is_refused_where_it_stands() {
    for count in [MAX, MAX + 1] {
        let mut body = Vec::new();
        let mut writer = json::RequestWriter::new(&mut body);
        let ids: Vec<String> = (0..count).map(|id| id.to_string()).collect();
        let outgoing = |id| Outgoing { id: Some(id), method: "GET", target: "A", ..Outgoing::default() };
        ids.iter().for_each(|id| writer.request(&outgoing(id)));
        writer.finish();
        let read = steps(Requests::json(&body, MAX));
        assert_eq!(read.ends_with("end"), count == MAX, "{read}");
        let mut body = Vec::new();
        let mut writer = multipart::RequestWriter::new(&mut body, "b");
        ids.iter().for_each(|id| writer.request(&outgoing(id)));
        writer.finish();
        let read = steps(Requests::multipart(&body, "b", MAX));
        assert_eq!(read.ends_with("end"), count == MAX, "{read}");
        assert_eq!(read.contains("TooMany: the batch has more than 100 requests"), count > MAX, "{read}");
        let mut body = Vec::new();
        let mut writer = multipart::RequestWriter::new(&mut body, "b");
        for _ in 0..count {
            writer.begin_change_set();
            writer.end_change_set();
        }
        writer.finish();
        let read = steps(Requests::multipart(&body, "b", MAX));
        assert_eq!(read.contains("TooMany: the batch has more than 100 change sets"), count > MAX, "{read}");
    }
}

#[test]
fn a_target_is_below_the_root_in_all_three_forms() {
    for (target, expected) in [
        ("Flights(1)?$select=a", Some("Flights(1)?$select=a")),
        ("$1/Bookings", Some("$1/Bookings")),
        ("", Some("")),
        ("/base/svc/Flights", Some("Flights")),
        ("/base/svc", Some("")),
        ("/base/Flights", None),
        ("/base/svcs", None),
        ("http://any:1/base/svc/Flights?a=/b", Some("Flights?a=/b")),
        ("HTTPS://any/base/svc/", Some("")),
        ("http://any", None),
        ("http://any?/base/svc/", None),
    ] {
        assert_eq!(below_root(target, "/base/svc/"), expected, "{target}");
    }
}

/// A request of a random batch.
#[derive(Debug, Clone)]
struct Made {
    method: String,
    target: String,
    header: String,
    body: Vec<u8>,
}

fn made(body: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Made> {
    ("(GET|POST|X-A|merge)", "[!-~ü]{1,12}", "[!-~]?[ -~ü]{0,8}[!-~]?", body)
        .prop_map(|(method, target, header, body)| Made { method, target, header: header.trim().to_owned(), body })
}

/// Units: one request by itself, or the requests of a change set.
fn units(request: impl Strategy<Value = Made>) -> impl Strategy<Value = Vec<(bool, Vec<Made>)>> {
    let unit =
        (any::<bool>(), proptest::collection::vec(request, 0..4)).prop_map(|(is_group, requests)| match is_group {
            true => (true, requests),
            false => (false, requests.into_iter().take(1).collect()),
        });
    proptest::collection::vec(unit, 0..6)
}

proptest! {
    #[test]
    fn a_written_multipart_batch_is_read_again(units in units(made(proptest::collection::vec(any::<u8>(), 0..30)))) {
        let mut requests = Vec::new();
        let mut responses = Vec::new();
        let mut writer = multipart::RequestWriter::new(&mut requests, "long-and-by-chance");
        let mut answers = multipart::ResponseWriter::new("long-and-by-chance");
        let mut expected = Vec::new();
        let mut change_sets = 0;
        for (is_group, members) in &units {
            if *is_group {
                writer.begin_change_set();
                answers.begin_change_set(&mut responses);
                change_sets += 1;
            }
            for member in members {
                let id = format!("i{}", expected.len());
                let headers = [("X-Y", member.header.as_str())];
                let Made { method, target, body, .. } = member;
                writer.request(&Outgoing { id: Some(&id), method, target, headers: &headers, body, ..Outgoing::default() });
                answers.response(&mut responses, Some(&id), (200, "OK"), [("X-Y", member.header.as_bytes())], body);
                let unit = if *is_group { Unit::ChangeSet(change_sets - 1) } else { Unit::Single };
                expected.push((id, member, unit));
            }
            if *is_group {
                writer.end_change_set();
                answers.end_change_set(&mut responses);
            }
        }
        writer.finish();
        answers.finish(&mut responses);
        let mut reader = multipart::RequestReader::new(&requests, "long-and-by-chance", MAX);
        let mut found = 0;
        let mut groups = 0;
        loop {
            match reader.next().unwrap() {
                Step::End => break,
                Step::GroupBegin => groups += 1,
                Step::GroupEnd => {}
                Step::Request => {
                    let (id, member, _) = &expected[found];
                    let request = reader.request();
                    prop_assert_eq!(request.id.as_deref(), Some(id.as_str()));
                    prop_assert_eq!((&*request.method, &*request.target), (&*member.method, &*member.target));
                    prop_assert_eq!(request.header("x-y"), Some(member.header.as_str()));
                    prop_assert_eq!(&request.body[..], &member.body[..]);
                    found += 1;
                }
            }
        }
        prop_assert_eq!((found, groups), (expected.len(), change_sets));
        let mut read = multipart::responses(&responses, "long-and-by-chance");
        for (id, member, unit) in &expected {
            let response = read.next().unwrap().unwrap();
            prop_assert_eq!((response.id.as_deref(), response.status), (Some(id.as_str()), 200));
            prop_assert_eq!((&response.unit, response.body), (unit, &member.body[..]));
        }
        prop_assert_eq!(read.next(), None);
    }

    #[test]
    fn a_written_json_batch_is_read_again(
        units in units(made(proptest::collection::vec(any::<u8>(), 0..30))),
        types in proptest::collection::vec(proptest::sample::select(vec!["application/json;a=b", "text/plain", "image/png"]), 24),
    ) {
        let mut requests = Vec::new();
        let mut responses = Vec::new();
        let mut writer = json::RequestWriter::new(&mut requests);
        let mut answers = json::ResponseWriter::new(&mut responses);
        let mut expected = Vec::new();
        for (number, (is_group, members)) in units.iter().enumerate() {
            for member in members {
                let id = expected.len().to_string();
                let group = is_group.then(|| format!("g{number}"));
                let media_type = types[expected.len() % types.len()];
                let body = match media_type {
                    "image/png" => member.body.clone(),
                    "text/plain" => String::from_utf8_lossy(&member.body).into_owned().into_bytes(),
                    _ => format!("{{\"a\":{}}}", member.body.len()).into_bytes(),
                };
                let headers = [("content-type", media_type), ("x-y", member.header.as_str())];
                let Made { method, target, .. } = member;
                let before = expected.len().checked_sub(1).map(|before| before.to_string());
                let depends_on: Vec<&str> = before.iter().map(String::as_str).collect();
                let (id, group) = (Some(id.as_str()), group.as_deref());
                writer.request(&Outgoing { id, method, target, headers: &headers, body: &body, group, depends_on: &depends_on });
                let told = headers.iter().map(|(name, value)| (*name, value.as_bytes()));
                answers.response(&mut responses, id, group, 200, told, &body);
                expected.push((id.map(str::to_owned), group.map(str::to_owned), member, body));
            }
        }
        writer.finish();
        answers.finish(&mut responses);
        let mut reader = json::RequestReader::new(&requests, MAX);
        let mut found = 0;
        loop {
            match reader.next().unwrap() {
                Step::End => break,
                Step::GroupBegin | Step::GroupEnd => {}
                Step::Request => {
                    let (id, group, member, body) = &expected[found];
                    let request = reader.request();
                    prop_assert_eq!((request.id.as_deref(), request.group.as_deref()), (id.as_deref(), group.as_deref()));
                    prop_assert_eq!((&*request.method, &*request.target), (&*member.method, &*member.target));
                    prop_assert_eq!(request.header("x-y"), Some(member.header.as_str()));
                    prop_assert_eq!(&request.body[..], &body[..]);
                    let before = found.checked_sub(1).map(Dependency::Request);
                    prop_assert_eq!(&request.depends_on[..], before.as_slice());
                    found += 1;
                }
            }
        }
        prop_assert_eq!(found, expected.len());
        let mut read = json::responses(&responses);
        for (id, group, ..) in &expected {
            let response = read.next().unwrap().unwrap();
            let unit = group.as_deref().map_or(Unit::Single, |group| Unit::Group(group.into()));
            prop_assert_eq!((response.id.as_deref(), response.status, response.unit), (id.as_deref(), 200, unit));
        }
        prop_assert_eq!(read.next(), None);
    }
}

#[test]
fn a_failed_group_is_taken_back() {
    let mut out = Vec::new();
    let mut multipart = multipart::ResponseWriter::new("b");
    multipart.begin_change_set(&mut out);
    multipart.response(&mut out, None, (204, "No Content"), [], b"");
    multipart.abandon_change_set(&mut out);
    multipart.response(&mut out, None, (400, "Bad Request"), [], b"no");
    multipart.finish(&mut out);
    let read: Vec<_> = multipart::responses(&out, "b").map(Result::unwrap).collect();
    assert_eq!(read, [Response { id: None, status: 400, body: b"no", unit: Unit::Single }]);
    let mut out = Vec::new();
    let mut json = json::ResponseWriter::new(&mut out);
    json.begin_group(&out);
    json.response(&mut out, Some("1"), Some("g"), 204, std::iter::empty(), b"");
    json.abandon_group(&mut out);
    json.response(&mut out, Some("1"), Some("g"), 424, std::iter::empty(), b"");
    json.finish(&mut out);
    assert_eq!(out, br#"{"responses":[{"id":"1","atomicityGroup":"g","status":424}]}"#);
}

#[test]
fn no_line_of_a_change_set_begins_as_the_delimiter_of_its_batch() {
    // Olingo's client would take it for that, as RFC 2046 (5.1.1) lets it.
    let mut out = Vec::new();
    let mut answers = multipart::ResponseWriter::new("batch");
    answers.begin_change_set(&mut out);
    answers.response(&mut out, Some("1"), (204, "No Content"), [], b"");
    answers.end_change_set(&mut out);
    answers.finish(&mut out);
    let text = String::from_utf8(out).unwrap();
    let delimiters: Vec<_> = text.lines().filter(|line| line.starts_with("--batch")).collect();
    assert_eq!(delimiters, ["--batch", "--batch--"]);
}

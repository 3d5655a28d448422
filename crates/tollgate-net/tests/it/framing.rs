//! Strict framing: what two parsers could read in two ways is refused, by the codec and by the server alike.

use tollgate_net::http1::chunked::ChunkLimits;
use tollgate_net::http1::{BodyDecoder, Fault, RequestHead};
use tollgate_net::limits::Limits;

use super::support::Running;

/// Requests that are refused, and for what.
const REFUSED: &[(&str, Fault)] = &[
    // Two lengths.
    (
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        Fault::LengthWithTransferEncoding,
    ),
    (
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        Fault::LengthWithTransferEncoding,
    ),
    (
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        Fault::LengthWithTransferEncoding,
    ),
    (
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        Fault::DuplicateContentLength,
    ),
    (
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\ncontent-length: 6\r\n\r\nhello",
        Fault::DuplicateContentLength,
    ),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\nhello", Fault::BadContentLength),
    // Lengths that are none.
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello", Fault::BadContentLength),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\nhello", Fault::BadContentLength),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5\r\n\r\nhello", Fault::BadContentLength),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5 5\r\n\r\nhello", Fault::BadContentLength),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5.0\r\n\r\nhello", Fault::BadContentLength),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\nhello", Fault::BadContentLength),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: \"5\"\r\n\r\nhello", Fault::BadContentLength),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551616\r\n\r\nhello", Fault::BadContentLength),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 000000000000000000005\r\n\r\nhello", Fault::BadContentLength),
    // Transfer codings that are not chunked, once.
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n", Fault::BadTransferEncoding),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", Fault::BadTransferEncoding),
    (
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        Fault::BadTransferEncoding,
    ),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", Fault::BadTransferEncoding),
    (
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        Fault::BadTransferEncoding,
    ),
    (
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        Fault::BadTransferEncoding,
    ),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", Fault::BadTransferEncoding),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n", Fault::BadTransferEncoding),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n", Fault::BadTransferEncoding),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked,\r\n\r\n0\r\n\r\n", Fault::BadTransferEncoding),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n", Fault::BadTransferEncoding),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n", Fault::BadTransferEncoding),
    ("POST /echo HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", Fault::BadTransferEncoding),
    (
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        Fault::UnsupportedTransferEncoding,
    ),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", Fault::BadFieldValue),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n", Fault::BadFieldName),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n", Fault::BadFieldName),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding\r\n: chunked\r\n\r\n0\r\n\r\n", Fault::BadFieldName),
    // Hosts.
    ("GET / HTTP/1.1\r\n\r\n", Fault::MissingHost),
    ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", Fault::DuplicateHost),
    ("GET / HTTP/1.0\r\nHost: a\r\nhost: b\r\n\r\n", Fault::DuplicateHost),
    ("GET / HTTP/1.1\r\nHost:\r\n\r\n", Fault::BadHost),
    ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", Fault::BadHost),
    ("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", Fault::BadHost),
    ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", Fault::BadHost),
    ("GET / HTTP/1.1\r\nHost: user@a\r\n\r\n", Fault::BadHost),
    ("GET / HTTP/1.1\r\nHost: a:b\r\n\r\n", Fault::BadHost),
    ("GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n", Fault::BadHost),
    ("GET / HTTP/1.1\r\nHost: <script>\r\n\r\n", Fault::BadHost),
    ("GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n", Fault::BadHost),
    ("GET http://user@a/x HTTP/1.1\r\nHost: a\r\n\r\n", Fault::BadHost),
    // Folded lines, white space, bare line ends, control bytes.
    ("GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n", Fault::BadFieldName),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n\tc\r\n\r\n", Fault::BadFieldName),
    ("GET / HTTP/1.1\r\n Host: a\r\n\r\n", Fault::BadFieldName),
    ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", Fault::BadFieldName),
    ("GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", Fault::BadFieldName),
    ("GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", Fault::BadFieldName),
    ("GET / HTTP/1.1\r\nHost: a\r\nX\0: b\r\n\r\n", Fault::BadFieldName),
    ("GET / HTTP/1.1\r\nHost: a\r\nX(: b\r\n\r\n", Fault::BadFieldName),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: b\rc\r\n\r\n", Fault::BadFieldValue),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n", Fault::BadFieldValue),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: b\x7fc\r\n\r\n", Fault::BadFieldValue),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: b\x1bc\r\n\r\n", Fault::BadFieldValue),
    ("GET / HTTP/1.1\nHost: a\r\n\r\n", Fault::BadLineEnd),
    ("GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", Fault::BadLineEnd),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: b\n\r\n", Fault::BadLineEnd),
    ("GET / HTTP/1.1\r\nHost: a\r\nX:\n\r\n", Fault::BadLineEnd),
    ("GET / HTTP/1.1\r\nHost: a\r\n\n", Fault::BadLineEnd),
    ("GET / HTTP/1.1\r\nHost: a\r\n\rX: b\r\n\r\n", Fault::BadLineEnd),
    ("GET / HTTP/1.1\rHost: a\r\n\r\n", Fault::BadLineEnd),
    // Targets.
    ("GET /a\x01b HTTP/1.1\r\nHost: a\r\n\r\n", Fault::BadTarget),
    ("GET /a\x7fb HTTP/1.1\r\nHost: a\r\n\r\n", Fault::BadTarget),
    ("GET /a\tb HTTP/1.1\r\nHost: a\r\n\r\n", Fault::BadTarget),
    ("GET /\u{fc} HTTP/1.1\r\nHost: a\r\n\r\n", Fault::BadTarget),
    ("GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", Fault::BadTarget),
    ("GET a/b HTTP/1.1\r\nHost: a\r\n\r\n", Fault::BadTarget),
    ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", Fault::BadTarget),
    ("GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", Fault::BadTarget),
    ("GET http:// HTTP/1.1\r\nHost: a\r\n\r\n", Fault::BadTarget),
    // Request lines.
    ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", Fault::BadStartLine),
    ("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", Fault::BadLineEnd),
    ("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", Fault::BadStartLine),
    (" GET / HTTP/1.1\r\nHost: a\r\n\r\n", Fault::BadStartLine),
    ("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", Fault::BadStartLine),
    ("\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", Fault::BadStartLine),
    ("\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", Fault::BadStartLine),
    ("GET /\r\n\r\n", Fault::BadStartLine),
    ("GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", Fault::BadStartLine),
    ("G@T / HTTP/1.1\r\nHost: a\r\n\r\n", Fault::BadStartLine),
    ("\x16\x03\x01\x02\0\x01", Fault::BadStartLine),
    ("GET / http/1.1\r\nHost: a\r\n\r\n", Fault::BadStartLine),
    ("GET / HTTP/11\r\nHost: a\r\n\r\n", Fault::UnsupportedVersion),
    ("GET / HTTP/1.2\r\nHost: a\r\n\r\n", Fault::UnsupportedVersion),
    ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Fault::UnsupportedVersion),
    ("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", Fault::UnsupportedMethod),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\nContent-Length: 1\r\n\r\nx", Fault::UnsupportedExpectation),
    // Chunks.
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nG\r\n", Fault::BadChunkSize),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n", Fault::BadChunkSize),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n", Fault::BadChunkSize),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n", Fault::BadChunkSize),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n 5\r\nhello\r\n", Fault::BadChunkSize),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n", Fault::BadChunkSize),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n", Fault::BadChunkSize),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\rhello\r\n", Fault::BadChunkSize),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", Fault::BadChunkSize),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n;x\r\n", Fault::BadChunkSize),
    (
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000005\r\nhello\r\n",
        Fault::BadChunkSize,
    ),
    (
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n00000000000000005\r\nhello\r\n",
        Fault::BadChunkSize,
    ),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a\nb\r\nhello\r\n", Fault::BadChunkSize),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a\0b\r\nhello\r\n", Fault::BadChunkSize),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n", Fault::BadChunkEnd),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\n0\r\n\r\n", Fault::BadChunkEnd),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r0\r\n\r\n", Fault::BadChunkEnd),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n a: b\r\n\r\n", Fault::BadTrailer),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\na b: c\r\n\r\n", Fault::BadTrailer),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\na\r\n\r\n", Fault::BadTrailer),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\na: b\n\r\n", Fault::BadTrailer),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\na: b\0\r\n\r\n", Fault::BadTrailer),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\n", Fault::BadTrailer),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\rX", Fault::BadTrailer),
    (
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\nhello",
        Fault::ClosedInBody,
    ),
    // The end of the connection where it must not be.
    ("GET / HTTP/1.1\r\nHost: a\r\n", Fault::ClosedInHead),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell", Fault::ClosedInBody),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", Fault::ClosedInBody),
];

/// Requests that are taken, and what `/echo` or `/request` answers.
const TAKEN: &[(&str, &str)] = &[
    ("GET /request HTTP/1.1\r\nHost: a\r\n\r\n", "GET /request a"),
    ("\r\nGET /request HTTP/1.1\r\nHost: a\r\n\r\n", "GET /request a"),
    ("\r\n\r\nGET /request HTTP/1.1\r\nHost: a\r\n\r\n", "GET /request a"),
    ("GET /request HTTP/1.0\r\n\r\n", "GET /request -"),
    ("PURGE /request HTTP/1.1\r\nHost: a:80\r\n\r\n", "PURGE /request a:80"),
    ("MERGE /request?a=b?c HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "MERGE /request?a=b?c [::1]:80"),
    ("GET http://b:1/request?x HTTP/1.1\r\nHost: a\r\n\r\n", "GET /request?x b:1"),
    ("GET HTTPS://b/request HTTP/1.1\r\nHost: a\r\n\r\n", "GET /request b"),
    (
        "GET /request HTTP/1.1\r\nhOsT:\t a \t\r\nX:\r\nY: \t\r\nZ: b\tc\r\n!#$%&'*+-.^_`|~9: \"\u{fc}\"\r\n\r\n",
        "GET /request a",
    ),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 005\r\n\r\nhello", "hello"),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", ""),
    ("POST /echo HTTP/1.1\r\nHost: a\r\n\r\n", ""),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "hello"),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTRANSFER-ENCODING: CHUNKED\r\n\r\n2\r\nhe\r\n03\r\nllo\r\n00\r\n\r\n", "hello"),
    (
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nA;x=\"y z\"\r\n0123456789\r\n0;end\r\nT: u\r\nV:\r\n\r\n",
        "0123456789",
    ),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ""),
];

/// Runs a request through the codec alone, up to the end of its body.
fn by_codec(request: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut head = RequestHead::default();
    let used = head.parse(request, &Limits::default())?.ok_or(Fault::ClosedInHead)?;
    let (mut decoder, mut body, mut rest) =
        (BodyDecoder::new(head.framing(), ChunkLimits::default()), Vec::new(), &request[used..]);
    while !decoder.is_done() {
        if rest.is_empty() {
            return Err(Fault::ClosedInBody);
        }
        let step = decoder.decode(rest)?;
        body.extend_from_slice(&rest[step.skipped..step.used()]);
        rest = &rest[step.used()..];
    }
    assert!(rest.is_empty(), "each case is one request");
    Ok(body)
}

#[test]
fn the_codec_refuses_what_could_be_read_in_two_ways() {
    let outcomes: Vec<_> = REFUSED.iter().map(|(request, _)| (*request, by_codec(request.as_bytes()))).collect();
    let expected: Vec<_> = REFUSED.iter().map(|(request, fault)| (*request, Err(*fault))).collect();
    let differing: Vec<_> = outcomes.iter().zip(&expected).filter(|(outcome, expected)| outcome != expected).collect();
    assert!(differing.is_empty(), "{differing:#?}");
}

#[test]
fn the_server_refuses_it_with_the_right_status_and_closes() {
    for (request, fault) in REFUSED {
        let server = Running::start(Limits::default());
        // A second request behind each: it must never be answered.
        let answer = server.converse(format!("{request}{}", if is_cut(*fault) { "" } else { SMUGGLED }));
        let status = format!("HTTP/1.1 {} ", fault.status());
        assert!(answer.starts_with(&status), "{request:?}: {answer:?}");
        assert!(answer.contains("\r\nConnection: close\r\n"), "{request:?}: {answer:?}");
        assert_eq!(answer.matches("\r\nDate: ").count(), 1, "{request:?}: {answer:?}");
        let counters = server.join();
        assert_eq!(counters.faults(*fault), 1, "{request:?}");
        assert_eq!(Fault::ALL.iter().map(|fault| counters.faults(*fault)).sum::<u64>(), 1, "{request:?}");
    }
}

const SMUGGLED: &str = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

/// Whether the case is about the connection's end, or cannot be distinguished from one.
fn is_cut(fault: Fault) -> bool {
    matches!(fault, Fault::ClosedInHead | Fault::ClosedInBody)
}

#[test]
fn the_codec_takes_what_has_one_meaning() {
    for (request, _) in TAKEN {
        assert!(by_codec(request.as_bytes()).is_ok(), "{request:?}: {:?}", by_codec(request.as_bytes()));
    }
}

#[test]
fn the_server_takes_it_whole_or_byte_by_byte() {
    let server = Running::start(Limits::default());
    for (request, body) in TAKEN {
        let whole = server.converse(request);
        assert!(whole.starts_with("HTTP/1.1 200 OK\r\n"), "{request:?}: {whole:?}");
        assert!(whole.ends_with(&format!("\r\n\r\n{body}")), "{request:?}: {whole:?}");
        let mut client = server.connect();
        for byte in request.as_bytes() {
            client.send([*byte]);
        }
        client.end();
        assert_eq!(client.rest(), whole, "{request:?}");
    }
}

#[test]
fn every_refused_head_is_refused_for_every_split() {
    for (request, fault) in REFUSED {
        if is_cut(*fault) {
            continue;
        }
        // The reader parses whenever more has come; the first verdict counts.
        let verdict = (1..=request.len()).find_map(|end| match by_codec(&request.as_bytes()[..end]) {
            Err(Fault::ClosedInHead | Fault::ClosedInBody) => None,
            verdict => Some(verdict),
        });
        assert_eq!(verdict, Some(Err(*fault)), "{request:?}");
    }
}

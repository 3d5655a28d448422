//! Invariants for any bytes: the bodies of the fuzz targets, which the corpus test replays.

use tollgate_net::http1::chunked::{ChunkLimits, ChunkedDecoder, LAST_CHUNK, write_chunk};
use tollgate_net::http1::client::Answers;
use tollgate_net::http1::{Fault, RequestHead, ResponseHead};
use tollgate_net::limits::Limits;

/// A request's head: what was understood is written and understood the same again; no beginning of it is refused.
pub(crate) fn request_head(bytes: &[u8]) {
    let limits = Limits::default();
    let (mut first, mut second) = (RequestHead::default(), RequestHead::default());
    let Ok(Some(used)) = first.parse(bytes, &limits) else { return };
    for end in [used - 1, used / 2, 0] {
        assert_eq!(second.parse(&bytes[..end], &limits), Ok(None));
    }
    assert!(first.target().bytes().all(|byte| (0x21..=0x7e).contains(&byte)));
    let mut written = Vec::new();
    first.write(&mut written);
    // The written form may be longer by a space a field and by a host field, and so go beyond a limit that was kept.
    let roomy = Limits { head_bytes_max: limits.head_bytes_max * 2, headers_max: limits.headers_max + 1, ..limits };
    assert_eq!(second.parse(&written, &roomy), Ok(Some(written.len())));
    assert_eq!((first.method(), first.method_text()), (second.method(), second.method_text()));
    assert_eq!((first.target(), first.path(), first.query()), (second.target(), second.path(), second.query()));
    assert_eq!((first.host(), first.version()), (second.host(), second.version()));
    assert_eq!((first.framing(), first.keep_alive()), (second.framing(), second.keep_alive()));
    assert_eq!(first.expects_continue(), second.expects_continue());
    // The host is written first and once; all other fields come back byte for byte and in their order.
    let is_other = |field: &(&str, &[u8])| !field.0.eq_ignore_ascii_case("host");
    assert!(first.headers().filter(is_other).eq(second.headers().filter(is_other)));
}

/// An answer's head: the same, for an ordinary answer and for one to HEAD.
pub(crate) fn response_head(bytes: &[u8]) {
    let limits = Limits::default();
    for answers in [Answers::Ordinary, Answers::Head] {
        let (mut first, mut second) = (ResponseHead::default(), ResponseHead::default());
        let Ok(Some(used)) = first.parse(bytes, answers, &limits) else { return };
        for end in [used - 1, used / 2, 0] {
            assert_eq!(second.parse(&bytes[..end], answers, &limits), Ok(None));
        }
        let mut written = format!("{} {} \r\n", first.version(), first.status()).into_bytes();
        for (name, value) in first.headers() {
            written.extend_from_slice(name.as_bytes());
            written.extend_from_slice(b": ");
            written.extend_from_slice(value);
            written.extend_from_slice(b"\r\n");
        }
        written.extend_from_slice(b"\r\n");
        let roomy = Limits { head_bytes_max: limits.head_bytes_max * 2, ..limits.clone() };
        assert_eq!(second.parse(&written, answers, &roomy), Ok(Some(written.len())));
        assert_eq!((first.status(), first.version()), (second.status(), second.version()));
        assert_eq!((first.framing(), first.keep_alive()), (second.framing(), second.keep_alive()));
        assert_eq!(first.content_length(), second.content_length());
        assert!(first.headers().eq(second.headers()));
    }
}

/// A chunked body: the same whole, byte by byte and in two pieces; what was read is written and read the same again.
pub(crate) fn chunked(bytes: &[u8]) {
    let whole = decode(std::iter::once(bytes));
    assert_eq!(decode(bytes.chunks(1)), whole);
    let (head, tail) = bytes.split_at(bytes.len() / 2);
    assert_eq!(decode([head, tail].into_iter()), whole);
    let Ok((data, used, done)) = whole else { return };
    assert!(used <= bytes.len() && (done || used == bytes.len()));
    if done {
        let mut written = Vec::new();
        for chunk in data.chunks(7) {
            write_chunk(&mut written, chunk);
        }
        written.extend_from_slice(LAST_CHUNK);
        let length = written.len();
        assert_eq!(decode(std::iter::once(written.as_slice())), Ok((data, length, true)));
    }
}

/// Reads a chunked body in pieces; returns the data, the bytes used, and whether it ended.
pub(crate) fn decode<'b>(pieces: impl Iterator<Item = &'b [u8]>) -> Result<(Vec<u8>, usize, bool), Fault> {
    let (mut decoder, mut data, mut used) = (ChunkedDecoder::new(ChunkLimits::default()), Vec::new(), 0);
    for piece in pieces {
        let mut rest = piece;
        while !rest.is_empty() && !decoder.is_done() {
            let step = decoder.decode(rest)?;
            data.extend_from_slice(&rest[step.skipped..step.used()]);
            used += step.used();
            rest = &rest[step.used()..];
        }
    }
    Ok((data, used, decoder.is_done()))
}

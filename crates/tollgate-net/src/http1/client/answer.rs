//! Reads one answer from bytes, in reads of any size; no socket here.
//!
//! Interim answers (1xx) are skipped. Only the beginning of a head that came in pieces is kept.

use super::super::body::BodyDecoder;
use super::super::chunked::ChunkLimits;
use super::super::error::Fault;
use super::super::head::{Answers, ResponseHead};
use super::sink::BodySink;
use crate::limits::Limits;

/// Reads answers, one after the other.
#[derive(Debug)]
pub(super) struct AnswerReader {
    head: ResponseHead,
    answers: Answers,
    limits: Limits,
    chunk_limits: ChunkLimits,
    /// The beginning of a head whose end has not come yet.
    partial_head: Vec<u8>,
    /// Set once the head is read.
    body: Option<BodyDecoder>,
    counts: Counts,
}

/// Size of an answer so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) head_bytes: u64,
    pub(super) body_bytes: u64,
    pub(super) framing_bytes: u64,
    /// Bytes behind the end, which were not requested.
    pub(super) surplus_bytes: u64,
}

/// Whether an answer is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Complete,
    Incomplete,
}

impl AnswerReader {
    pub(super) fn new() -> AnswerReader {
        AnswerReader {
            head: ResponseHead::default(),
            answers: Answers::Ordinary,
            limits: Limits::default().within_ceilings(),
            chunk_limits: ChunkLimits::default(),
            partial_head: Vec::new(),
            body: None,
            counts: Counts::default(),
        }
    }

    /// Forgets the last answer and begins the next.
    pub(super) fn begin(&mut self, answers: Answers) {
        self.answers = answers;
        self.partial_head.clear();
        self.body = None;
        self.counts = Counts::default();
    }

    pub(super) fn head(&self) -> &ResponseHead {
        &self.head
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// Whether the end of the connection would be the end of this answer.
    pub(super) fn ends_with_connection(&self) -> bool {
        self.body.as_ref().is_some_and(BodyDecoder::ends_with_connection)
    }

    /// Uses the next bytes.
    ///
    /// # Errors
    /// The fault in the answer; nothing more can be read then.
    pub(super) fn take<B: BodySink>(&mut self, bytes: &[u8], sink: &mut B) -> Result<Answer, Fault> {
        if self.body.is_some() {
            return self.take_body(bytes, sink);
        }
        if self.partial_head.is_empty() {
            let used = self.take_heads(bytes)?;
            if self.body.is_none() {
                self.partial_head.extend_from_slice(&bytes[used..]);
            }
            return self.take_body(&bytes[used..], sink);
        }
        let mut partial = std::mem::take(&mut self.partial_head);
        partial.extend_from_slice(bytes);
        let used = self.take_heads(&partial)?;
        let answer = self.take_body(&partial[used..], sink);
        if self.body.is_some() {
            partial.clear();
        } else {
            partial.drain(..used);
        }
        self.partial_head = partial;
        answer
    }

    /// Parses heads up to the final one and returns how many bytes they took.
    fn take_heads(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        let mut used = 0;
        while let Some(length) = self.head.parse(&bytes[used..], self.answers, &self.limits)? {
            used += length;
            self.counts.head_bytes += length as u64;
            match self.head.status() {
                // Nothing was asked for that would switch protocols.
                101 => return Err(Fault::BadStartLine),
                100..=199 => {}
                _ => {
                    self.body = Some(BodyDecoder::new(self.head.framing(), self.chunk_limits));
                    break;
                }
            }
        }
        Ok(used)
    }

    /// Hands the body's data among `bytes` on.
    fn take_body<B: BodySink>(&mut self, bytes: &[u8], sink: &mut B) -> Result<Answer, Fault> {
        let Some(decoder) = &mut self.body else { return Ok(Answer::Incomplete) };
        let mut rest = bytes;
        while !rest.is_empty() && !decoder.is_done() {
            let step = decoder.decode(rest)?;
            if step.data > 0 {
                sink.part(&rest[step.skipped..step.used()]);
            }
            self.counts.body_bytes += step.data as u64;
            self.counts.framing_bytes += step.skipped as u64;
            rest = &rest[step.used()..];
        }
        if !decoder.is_done() {
            return Ok(Answer::Incomplete);
        }
        self.counts.surplus_bytes += rest.len() as u64;
        Ok(Answer::Complete)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads `pieces` and returns the outcome, the body, the status and the counts.
    fn read(pieces: &[&[u8]], answers: Answers) -> (Result<Answer, Fault>, Vec<u8>, u16, Counts) {
        let (mut reader, mut body) = (AnswerReader::new(), Vec::new());
        reader.begin(answers);
        let mut outcome = Ok(Answer::Incomplete);
        for piece in pieces {
            outcome = reader.take(piece, &mut body);
            if outcome != Ok(Answer::Incomplete) {
                break;
            }
        }
        (outcome, body, reader.head().status(), reader.counts())
    }

    const ANSWERS: &[&str] = &[
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\nA: b\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n",
        "HTTP/1.1 299\r\nContent-Length: 0\r\n\r\n",
    ];

    #[test]
    fn any_cut_in_two_gives_the_same_answer() {
        for text in ANSWERS {
            let whole = read(&[text.as_bytes()], Answers::Ordinary);
            assert_eq!(whole.0, Ok(Answer::Complete), "{text}");
            for at in 0..text.len() {
                let (head, tail) = text.as_bytes().split_at(at);
                assert_eq!(read(&[head], Answers::Ordinary).0, Ok(Answer::Incomplete), "{text} cut at {at}");
                assert_eq!(read(&[head, tail], Answers::Ordinary), whole, "{text} cut at {at}");
            }
        }
    }

    #[test]
    fn each_kind_of_byte_is_counted_where_it_belongs() {
        let counts = |text: &str| read(&[text.as_bytes()], Answers::Ordinary).3;
        let expected = Counts { head_bytes: 38, body_bytes: 5, framing_bytes: 0, surplus_bytes: 0 };
        assert_eq!(counts(ANSWERS[0]), expected);
        assert_eq!(counts(ANSWERS[1]), Counts { head_bytes: 47, framing_bytes: 10, ..expected });
        let late = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1";
        assert_eq!(counts(late), Counts { surplus_bytes: 8, ..expected });
    }

    #[test]
    fn an_answer_to_head_ends_with_its_head() {
        let (outcome, body, _, _) = read(&[b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"], Answers::Head);
        assert_eq!((outcome, body.len()), (Ok(Answer::Complete), 0));
    }

    #[test]
    fn an_answer_without_length_goes_on_until_the_connection_ends() {
        let mut reader = AnswerReader::new();
        reader.begin(Answers::Ordinary);
        assert_eq!(reader.take(b"HTTP/1.1 200 OK\r\n\r\nabc", &mut Vec::new()), Ok(Answer::Incomplete));
        assert!(reader.ends_with_connection());
        assert!(!reader.head().keep_alive());
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_malformed() {
        let check = |text: &str, fault| {
            assert_eq!(read(&[text.as_bytes()], Answers::Ordinary).0, Err(fault), "{text:?}");
        };
        check(
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            Fault::LengthWithTransferEncoding,
        );
        check("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", Fault::DuplicateContentLength);
        check("HTTP/1.1 200 OK\r\nContent-Length: 1,1\r\n\r\n", Fault::BadContentLength);
        check("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", Fault::BadTransferEncoding);
        check("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", Fault::UnsupportedTransferEncoding);
        check("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", Fault::BadTransferEncoding);
        check("HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n", Fault::BadFieldName);
        check("HTTP/1.1 200 OK\r\nX : a\r\n\r\n", Fault::BadFieldName);
        check("HTTP/1.1 200 OK\r\nX: a\0\r\n\r\n", Fault::BadFieldValue);
        check("HTTP/1.1 200 OK\nX: a\r\n\r\n", Fault::BadLineEnd);
        check("HTTP/1.1 200 OK\r\nX: a\nY: b\r\n\r\n", Fault::BadLineEnd);
        check("HTTP/1.1 200 OK\r\nX: a\r\n\n", Fault::BadLineEnd);
        check("\r\nHTTP/1.1 200 OK\r\n\r\n", Fault::BadLineEnd);
        check("HTTP/2.0 200 OK\r\n\r\n", Fault::UnsupportedVersion);
        check("HTTP/1.1 20 OK\r\n\r\n", Fault::BadStartLine);
        check("HTTP/1.1 099 Low\r\n\r\n", Fault::BadStartLine);
        check("HTTP/1.1 600 High\r\n\r\n", Fault::BadStartLine);
        check("HTTP/1.1 101 Switching Protocols\r\n\r\n", Fault::BadStartLine);
        check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n", Fault::BadChunkSize);
    }

    #[test]
    fn a_head_is_taken_at_the_limit_and_refused_one_above() {
        let limits = Limits::default();
        let head = |bytes: usize| {
            let start = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ";
            format!("{start}{}\r\n\r\n", "x".repeat(bytes - start.len() - 4))
        };
        assert_eq!(read(&[head(limits.head_bytes_max).as_bytes()], Answers::Ordinary).0, Ok(Answer::Complete));
        let above = head(limits.head_bytes_max + 1);
        assert_eq!(read(&[above.as_bytes()], Answers::Ordinary).0, Err(Fault::HeadTooLarge));
        // Even when its end never comes.
        let endless = &above.as_bytes()[..limits.head_bytes_max];
        assert_eq!(read(&[&endless[..99], &endless[99..]], Answers::Ordinary).0, Err(Fault::HeadTooLarge));
        let fields = |count: usize| format!("HTTP/1.1 204 No Content\r\n{}\r\n", "A: b\r\n".repeat(count));
        assert_eq!(read(&[fields(limits.headers_max).as_bytes()], Answers::Ordinary).0, Ok(Answer::Complete));
        assert_eq!(read(&[fields(limits.headers_max + 1).as_bytes()], Answers::Ordinary).0, Err(Fault::TooManyHeaders));
    }

    proptest! {
        #[test]
        fn any_cuts_of_any_answer_give_the_same(
            index in 0..ANSWERS.len(),
            cuts in proptest::collection::vec(0_usize..200, 0..8),
        ) {
            let text = ANSWERS[index].as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % text.len()).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            prop_assert_eq!(read(&pieces, Answers::Ordinary), read(&[text], Answers::Ordinary));
        }

        #[test]
        fn no_bytes_make_it_panic(pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..4)) {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let _ = read(&pieces, Answers::Ordinary);
        }
    }
}

//! Properties of the codec: what is written is read again, however the reads split it, and nothing makes it panic.

use proptest::prelude::*;
use tollgate_net::http1::chunked::{LAST_CHUNK, write_chunk};
use tollgate_net::http1::{Framing, RequestHead};
use tollgate_net::limits::Limits;

use super::fuzzed::{self, decode};

fn cut<'b>(bytes: &'b [u8], cuts: &[prop::sample::Index]) -> Vec<&'b [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

/// A head, valid or nearly so.
fn head() -> impl Strategy<Value = String> {
    let field = prop_oneof![
        "[A-Za-z!#$%&'*+.^_`|~0-9-]{1,12}: {0,2}[ -~]{0,20}",
        Just("Content-Length: 12".to_owned()),
        Just("Transfer-Encoding: chunked".to_owned()),
        Just("Connection: close".to_owned()),
        Just("Expect: 100-continue".to_owned()),
        "Host: [a-z.]{1,8}(:[0-9]{1,4})?",
    ];
    let method = prop_oneof![Just("GET".to_owned()), Just("POST".to_owned()), "[A-Z]{1,8}"];
    let target = prop_oneof!["/[!-~]{0,30}", "http://[a-z.]{1,9}(:[0-9]{1,4})?(/[!-~]{0,9})?", "[!-~]{1,9}"];
    (method, target, prop_oneof![Just("HTTP/1.1"), Just("HTTP/1.0")], prop::collection::vec(field, 0..8)).prop_map(
        |(method, target, version, fields)| {
            let fields: String = fields.into_iter().map(|field| field + "\r\n").collect();
            format!("{method} {target} {version}\r\nHost: a\r\n{fields}\r\n")
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_written_in_chunks_is_read_again_from_any_pieces(
        chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..6),
        trailer in prop_oneof![Just(""), Just("A: b\r\n"), Just("A:\r\nBc: \td\r\n")],
        behind in prop::collection::vec(any::<u8>(), 0..9),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
    ) {
        let mut bytes = Vec::new();
        for chunk in &chunks {
            write_chunk(&mut bytes, chunk);
        }
        bytes.extend_from_slice(&LAST_CHUNK[..3]);
        bytes.extend_from_slice(trailer.as_bytes());
        bytes.extend_from_slice(&LAST_CHUNK[3..]);
        let length = bytes.len();
        bytes.extend_from_slice(&behind);
        let data: Vec<u8> = chunks.concat();
        prop_assert_eq!(decode(cut(&bytes, &cuts).into_iter()), Ok((data, length, true)));
    }

    #[test]
    fn any_bytes_mean_the_same_to_the_chunked_decoder_in_any_pieces(
        bytes in prop::collection::vec(prop_oneof![
            Just(b'\r'), Just(b'\n'), Just(b'0'), Just(b'1'), Just(b';'), Just(b':'), Just(b'a'), any::<u8>(),
        ], 0..60),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
    ) {
        prop_assert_eq!(decode(cut(&bytes, &cuts).into_iter()), decode(std::iter::once(bytes.as_slice())));
    }

    #[test]
    fn a_head_that_was_understood_is_written_and_understood_the_same_again(text in head()) {
        fuzzed::request_head(text.as_bytes());
    }

    #[test]
    fn the_beginning_of_a_good_head_is_incomplete_and_never_refused(text in head()) {
        let mut head = RequestHead::default();
        if head.parse(text.as_bytes(), &Limits::default()) == Ok(Some(text.len())) {
            for end in 0..text.len() {
                prop_assert_eq!(head.parse(&text.as_bytes()[..end], &Limits::default()), Ok(None), "{}", end);
            }
        }
    }

    #[test]
    fn no_bytes_make_the_head_parser_panic(
        bytes in prop::collection::vec(prop_oneof![Just(b'\r'), Just(b'\n'), Just(b' '), Just(b':'), any::<u8>()], 0..80),
        text in head(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut head = RequestHead::default();
        let _ = head.parse(&bytes, &Limits::default());
        let mut changed = text.into_bytes();
        let place = place.index(changed.len());
        changed[place] = byte;
        if let Ok(Some(used)) = head.parse(&changed, &Limits::default()) {
            prop_assert!(used <= changed.len());
            prop_assert!(head.target().bytes().all(|byte| (0x21..=0x7e).contains(&byte)));
            prop_assert!(head.framing() != Framing::UntilClose);
        }
    }
}

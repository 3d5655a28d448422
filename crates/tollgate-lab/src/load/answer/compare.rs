//! A body's bytes held against those of an earlier answer while they arrive: what is equal to an answer that was read
//! and found right is right too, for the price of a comparison (about 50 ns for 2.5 KB). Only what differs is kept.

use tollgate_net::http1::client::BodySink;

/// Most bytes of one answer that are kept for reading.
pub(crate) const KEPT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Compares, and keeps what differs.
pub(crate) struct Compare<'a> {
    known: &'a [u8],
    equal_bytes: usize,
    kept: Option<&'a mut Vec<u8>>,
    scratch: Option<&'a mut Vec<u8>>,
    overflow: bool,
}

/// What an answer's body turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Compared<'a> {
    /// The known bytes.
    Equal,
    /// These bytes.
    Different(&'a [u8]),
    /// More than [`KEPT_BYTES_MAX`].
    TooLong,
}

impl<'a> Compare<'a> {
    /// Compares with `known`; a body that differs is gathered in `scratch`.
    pub(crate) fn new(known: &'a [u8], scratch: &'a mut Vec<u8>) -> Compare<'a> {
        Compare { known, equal_bytes: 0, kept: None, scratch: Some(scratch), overflow: false }
    }

    /// What came.
    pub(crate) fn finish(mut self) -> Compared<'a> {
        if self.overflow {
            return Compared::TooLong;
        }
        if self.kept.is_none() {
            // An empty body is equal to nothing known: the first answer has to be read whatever it is.
            if self.equal_bytes == self.known.len() && !self.known.is_empty() {
                return Compared::Equal;
            }
            self.differ();
        }
        Compared::Different(self.kept.map_or(&[], |kept| kept))
    }

    fn differ(&mut self) {
        if let Some(scratch) = self.scratch.take() {
            scratch.clear();
            scratch.extend_from_slice(&self.known[..self.equal_bytes]);
            self.kept = Some(scratch);
        }
    }
}

impl BodySink for Compare<'_> {
    fn part(&mut self, bytes: &[u8]) {
        if self.kept.is_none() {
            let end = self.equal_bytes + bytes.len();
            if self.known.get(self.equal_bytes..end) == Some(bytes) {
                self.equal_bytes = end;
                return;
            }
            self.differ();
        }
        let Some(kept) = &mut self.kept else { return };
        if kept.len() + bytes.len() > KEPT_BYTES_MAX {
            self.overflow = true;
        } else {
            kept.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn whatever_the_parts_the_body_is_found_equal_or_kept_whole(
            known in proptest::collection::vec(0_u8..3, 0..20),
            body in proptest::collection::vec(0_u8..3, 0..20),
            same: bool,
            cut in 0_usize..20,
        ) {
            let body = if same { known.clone() } else { body };
            let mut scratch = vec![9; 3];
            let mut compare = Compare::new(&known, &mut scratch);
            let (front, back) = body.split_at(cut.min(body.len()));
            compare.part(front);
            compare.part(back);
            match compare.finish() {
                Compared::Equal => prop_assert_eq!(&body, &known),
                Compared::Different(kept) => {
                    prop_assert_eq!(kept, &body[..]);
                    prop_assert!(body != known || body.is_empty());
                }
                Compared::TooLong => prop_assert!(false),
            }
        }
    }
}

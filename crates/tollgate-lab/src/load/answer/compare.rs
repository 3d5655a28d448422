//! A body's bytes held against those of an earlier answer while they arrive: what is equal to an answer that was read
//! and found right is right too, for the price of a comparison (about 50 ns for 2.5 KB). Only what differs is kept.

use tollgate_net::http1::client::BodySink;

use super::failure::Failure;

/// Most bytes of one answer that are kept for reading.
pub(crate) const KEPT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Compares, and keeps what differs.
pub(crate) struct Compare<'a> {
    known: &'a [u8],
    equal_bytes: usize,
    kept: &'a mut Vec<u8>,
    came: Came,
}

/// What came of an answer's body so far.
#[derive(PartialEq, Eq)]
enum Came {
    Equal,
    Different,
    TooLong,
}

impl<'a> Compare<'a> {
    /// Compares with `known`; a body that differs is gathered in `kept`.
    pub(crate) fn new(known: &'a [u8], kept: &'a mut Vec<u8>) -> Compare<'a> {
        Compare { known, equal_bytes: 0, kept, came: Came::Equal }
    }

    /// The body that came; `None` if it was the known one.
    ///
    /// # Errors
    /// It has more than [`KEPT_BYTES_MAX`].
    pub(crate) fn finish(mut self) -> Result<Option<&'a [u8]>, Failure> {
        // An empty body is equal to nothing known: the first answer has to be read whatever it is.
        if self.came == Came::Equal && (self.equal_bytes < self.known.len() || self.known.is_empty()) {
            self.differ();
        }
        match self.came {
            Came::Equal => Ok(None),
            Came::Different => Ok(Some(self.kept)),
            Came::TooLong => Err(Failure::content(format!("the answer is longer than {KEPT_BYTES_MAX} bytes"))),
        }
    }

    fn differ(&mut self) {
        self.came = Came::Different;
        self.kept.clear();
        self.kept.extend_from_slice(&self.known[..self.equal_bytes]);
    }
}

impl BodySink for Compare<'_> {
    fn part(&mut self, bytes: &[u8]) {
        if self.came == Came::Equal {
            let end = self.equal_bytes + bytes.len();
            if self.known.get(self.equal_bytes..end) == Some(bytes) {
                self.equal_bytes = end;
                return;
            }
            self.differ();
        }
        if self.kept.len() + bytes.len() > KEPT_BYTES_MAX {
            self.came = Came::TooLong;
        } else {
            self.kept.extend_from_slice(bytes);
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
            match compare.finish().unwrap() {
                None => prop_assert_eq!(&body, &known),
                Some(kept) => {
                    prop_assert_eq!(kept, &body[..]);
                    prop_assert!(body != known || body.is_empty());
                }
            }
        }
    }
}

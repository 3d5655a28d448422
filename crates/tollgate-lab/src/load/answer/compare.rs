//! Comparison of a body with an earlier answer while it arrives: a body equal to one that was read and found right is
//! right too, at the cost of a comparison (about 50 ns for 2.5 KB). Only what differs is kept.

use tollgate_net::http1::client::BodySink;

use super::failure::Failure;

/// Most bytes of one answer that are kept for reading.
pub(crate) const KEPT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Compares a body and keeps what differs.
pub(crate) struct Compare<'a> {
    known: &'a [u8],
    kept: &'a mut Vec<u8>,
    came_bytes: usize,
    /// Whether everything received so far is equal.
    is_equal: bool,
}

impl<'a> Compare<'a> {
    /// Compares with `known`; a body that differs is gathered in `kept`.
    pub(crate) fn new(known: &'a [u8], kept: &'a mut Vec<u8>) -> Compare<'a> {
        Compare { known, kept, came_bytes: 0, is_equal: true }
    }

    /// Returns the body; `None` if it was the known one.
    ///
    /// # Errors
    /// A body of more than [`KEPT_BYTES_MAX`].
    pub(crate) fn finish(mut self) -> Result<Option<&'a [u8]>, Failure> {
        // An empty body is equal to nothing known: the first answer has to be read whatever it is.
        if self.is_equal && (self.came_bytes < self.known.len() || self.known.is_empty()) {
            self.differ(self.came_bytes);
        }
        match self.came_bytes {
            _ if self.is_equal => Ok(None),
            0..=KEPT_BYTES_MAX => Ok(Some(self.kept)),
            _ => Err(Failure::content(format!("the answer is longer than {KEPT_BYTES_MAX} bytes"))),
        }
    }

    /// Begins to keep the body, which differs from the known one after `equal_bytes`.
    fn differ(&mut self, equal_bytes: usize) {
        self.is_equal = false;
        self.kept.clear();
        self.kept.extend_from_slice(&self.known[..equal_bytes]);
    }
}

impl BodySink for Compare<'_> {
    fn part(&mut self, bytes: &[u8]) {
        let before = self.came_bytes;
        self.came_bytes += bytes.len();
        if self.is_equal {
            if self.known.get(before..self.came_bytes) == Some(bytes) {
                return;
            }
            self.differ(before);
        }
        if self.came_bytes <= KEPT_BYTES_MAX {
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

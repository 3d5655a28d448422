//! Elements of DER one after the other, as far as a certificate needs them (X.690).
//!
//! It checks lengths, and no values: the certificate's signature was verified before, or it was made here.

/// The universal tags that a certificate uses, and the bit that marks a context's own constructed tags.
pub(super) const BOOLEAN: u8 = 0x01;
pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(super) const UTC_TIME: u8 = 0x17;
pub(super) const GENERALIZED_TIME: u8 = 0x18;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const CONTEXT: u8 = 0xa0;

/// Bytes of a length beyond its first: a certificate over 16 MiB is none.
const LENGTH_BYTES_MAX: usize = 3;

/// The rest to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

/// One element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element<'a> {
    pub(super) tag: u8,
    pub(super) content: &'a [u8],
    /// The element with its tag and length.
    pub(super) whole: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    /// Reads the next element; `None` at the end, or where what comes is none.
    pub(super) fn next(&mut self) -> Option<Element<'a>> {
        let (&tag, behind_tag) = self.rest.split_first()?;
        if tag & 0x1f == 0x1f {
            // A tag of several bytes: no certificate has one.
            return None;
        }
        let (&first, behind_first) = behind_tag.split_first()?;
        let (length, content) = if first < 0x80 {
            (usize::from(first), behind_first)
        } else {
            let count = usize::from(first & 0x7f);
            if count == 0 || count > LENGTH_BYTES_MAX {
                return None;
            }
            let (digits, content) = behind_first.split_at_checked(count)?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), content)
        };
        let (content, rest) = content.split_at_checked(length)?;
        let whole = &self.rest[..self.rest.len() - rest.len()];
        self.rest = rest;
        Some(Element { tag, content, whole })
    }

    /// Reads the next element, which must have this tag.
    pub(super) fn expect(&mut self, tag: u8) -> Option<Element<'a>> {
        self.next().filter(|element| element.tag == tag)
    }

    /// Reads the next element if it has this tag.
    pub(super) fn optional(&mut self, tag: u8) -> Option<Element<'a>> {
        let mut ahead = *self;
        let element = ahead.expect(tag)?;
        *self = ahead;
        Some(element)
    }
}

impl<'a> Element<'a> {
    /// The content of the element.
    pub(super) fn inside(&self) -> Reader<'a> {
        Reader::new(self.content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: Option<(u8, usize)>) {
        let found = Reader::new(bytes).next().map(|element| (element.tag, element.content.len()));
        assert_eq!(found, expected, "{bytes:02x?}");
    }

    #[test]
    fn lengths_are_short_or_long_and_never_longer_than_what_is_there() {
        check(&[0x04, 0x02, 1, 2, 9], Some((0x04, 2)));
        check(&[0x04, 0x81, 0x02, 1, 2], Some((0x04, 2)));
        check(&[0x04, 0x82, 0x00, 0x01, 1], Some((0x04, 1)));
        check(&[0x04, 0x02, 1], None);
        check(&[0x04, 0x80, 0, 0], None);
        check(&[0x04, 0x84, 0, 0, 0, 0], None);
        check(&[0x1f, 0x01, 0], None);
        check(&[0x04], None);
        check(&[], None);
    }

    #[test]
    fn what_is_optional_stays_where_it_is_not_there() {
        let mut reader = Reader::new(&[0x02, 0x01, 7, 0x04, 0x00]);
        assert!(reader.optional(OCTET_STRING).is_none());
        assert_eq!(reader.optional(INTEGER).unwrap().whole, [0x02, 0x01, 7]);
        assert!(reader.expect(OCTET_STRING).is_some() && reader.next().is_none());
    }
}

//! Destinations of an answer's body: nowhere, or memory; a caller may bring another.

/// Takes the body of an answer as it comes.
pub trait BodySink {
    /// Takes the next bytes of the body, decoded; their division into parts has no meaning.
    fn part(&mut self, bytes: &[u8]);
}

/// Drops the body; its bytes are counted all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discard;

/// Keeps the body up to a bound. Clear it before the next exchange: it only ever adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collect {
    /// The bytes kept.
    pub bytes: Vec<u8>,
    bytes_max: usize,
    cut: bool,
}

impl Collect {
    /// Keeps at most `bytes_max` bytes.
    #[must_use]
    pub fn up_to(bytes_max: usize) -> Collect {
        Collect { bytes: Vec::new(), bytes_max, cut: false }
    }

    /// Whether bytes beyond the bound were dropped.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Forgets the bytes; the memory stays.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.cut = false;
    }
}

impl BodySink for Discard {
    #[inline]
    fn part(&mut self, _bytes: &[u8]) {}
}

impl BodySink for Collect {
    fn part(&mut self, bytes: &[u8]) {
        let room = self.bytes_max - self.bytes.len();
        self.cut |= bytes.len() > room;
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

impl BodySink for Vec<u8> {
    fn part(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

impl<S: BodySink + ?Sized> BodySink for &mut S {
    #[inline]
    fn part(&mut self, bytes: &[u8]) {
        (**self).part(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collecting_stops_at_the_bound_and_says_so() {
        let mut sink = Collect::up_to(4);
        sink.part(b"abc");
        assert!(!sink.is_cut());
        sink.part(b"d");
        assert!(!sink.is_cut());
        sink.part(b"e");
        assert_eq!((sink.bytes.as_slice(), sink.is_cut()), (&b"abcd"[..], true));
        sink.clear();
        assert_eq!((sink.bytes.len(), sink.is_cut()), (0, false));
    }
}

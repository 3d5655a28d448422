//! The names of TLS messages, as far as the headers of records and of handshake messages say them (RFC 8446 section
//! 5.1, RFC 5246 section 7.4).
//!
//! It decrypts nothing and keeps nothing of what it read but how much of a message is still to come.

/// Bytes of a record's header: type, version, length.
const RECORD_HEAD: usize = 5;
/// Bytes of a handshake message's header: type, length.
const MESSAGE_HEAD: usize = 4;

const CHANGE_CIPHER_SPEC: u8 = 20;
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;

/// The name of records that cannot be read.
pub(super) const ENCRYPTED: &str = "encrypted";

/// Names the records of one side, in their order.
#[derive(Debug, Default)]
pub(super) struct Namer {
    /// From here on nothing of this side can be read (TLS 1.2).
    is_encrypted: bool,
    /// Bytes of a handshake message that are in the next records.
    left: usize,
}

impl Namer {
    /// The length of the first record, if all of it is there.
    pub(super) fn first_record(bytes: &[u8]) -> Option<usize> {
        let &[_, _, _, high, low, ..] = bytes else { return None };
        let length = RECORD_HEAD + usize::from(u16::from_be_bytes([high, low]));
        (bytes.len() >= length).then_some(length)
    }

    /// Names the content of a whole record.
    pub(super) fn name(&mut self, record: &[u8], is_1_3: bool) -> String {
        let Some((head, body)) = record.split_at_checked(RECORD_HEAD) else { return ENCRYPTED.to_owned() };
        match head[0] {
            CHANGE_CIPHER_SPEC => {
                // In TLS 1.3 it means nothing and changes nothing.
                self.is_encrypted |= !is_1_3;
                "ChangeCipherSpec".to_owned()
            }
            ALERT => "Alert".to_owned(),
            HANDSHAKE if !self.is_encrypted => self.messages(body),
            _ => ENCRYPTED.to_owned(),
        }
    }

    fn messages(&mut self, mut body: &[u8]) -> String {
        let mut names = Vec::new();
        loop {
            let continued = self.left.min(body.len());
            (self.left, body) = (self.left - continued, &body[continued..]);
            let Some((head, rest)) = body.split_at_checked(MESSAGE_HEAD) else { break };
            names.push(message(head[0]));
            self.left = usize::from(head[1]) << 16 | usize::from(head[2]) << 8 | usize::from(head[3]);
            body = rest;
        }
        if names.is_empty() { "continued".to_owned() } else { names.join(", ") }
    }
}

fn message(kind: u8) -> &'static str {
    match kind {
        0 => "HelloRequest",
        1 => "ClientHello",
        2 => "ServerHello",
        4 => "NewSessionTicket",
        8 => "EncryptedExtensions",
        11 => "Certificate",
        12 => "ServerKeyExchange",
        13 => "CertificateRequest",
        14 => "ServerHelloDone",
        15 => "CertificateVerify",
        16 => "ClientKeyExchange",
        20 => "Finished",
        22 => "CertificateStatus",
        _ => "unknown message",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut record = vec![kind, 3, 3, (body.len() >> 8) as u8, body.len() as u8];
        record.extend_from_slice(body);
        record
    }

    #[test]
    fn messages_are_named_until_they_are_encrypted() {
        let mut names = Namer::default();
        let mut check =
            |kind, body: &[u8], expected: &str| assert_eq!(names.name(&record(kind, body), false), expected);
        check(HANDSHAKE, &[2, 0, 0, 1, 9, 14, 0, 0, 0], "ServerHello, ServerHelloDone");
        check(HANDSHAKE, &[11, 0, 0, 3, 1], "Certificate");
        check(HANDSHAKE, &[2, 2], "continued");
        check(HANDSHAKE, &[12, 0, 0, 0], "ServerKeyExchange");
        check(ALERT, &[1, 0], "Alert");
        check(CHANGE_CIPHER_SPEC, &[1], "ChangeCipherSpec");
        check(HANDSHAKE, &[20, 0, 0, 0], "encrypted");
        check(23, &[20, 0, 0, 0], "encrypted");
    }

    #[test]
    fn in_tls_1_3_changing_the_cipher_changes_nothing() {
        let mut names = Namer::default();
        assert_eq!(names.name(&record(CHANGE_CIPHER_SPEC, &[1]), true), "ChangeCipherSpec");
        assert_eq!(names.name(&record(HANDSHAKE, &[1, 0, 0, 0]), true), "ClientHello");
    }

    #[test]
    fn a_record_is_first_once_it_is_whole() {
        let whole = record(23, b"abc");
        let check = |bytes: &[u8], expected| assert_eq!(Namer::first_record(bytes), expected);
        check(&whole[..4], None);
        check(&whole[..7], None);
        check(&whole, Some(8));
        check(&[whole.as_slice(), &[22]].concat(), Some(8));
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_name(records in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..8)) {
            let mut names = Namer::default();
            for bytes in records {
                prop_assert!(!names.name(&bytes, false).is_empty());
                if let Some(length) = Namer::first_record(&bytes) {
                    prop_assert!(length <= bytes.len());
                }
            }
        }
    }
}

//! A certificate's statements about its owner: names, public key, and validity.
//!
//! It verifies nothing; rustls has done that where it matters, before anybody asks here.

use std::net::IpAddr;
use std::time::SystemTime;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use ring::digest::{SHA256, digest};

use super::der::{
    BIT_STRING, BOOLEAN, CONTEXT, Element, GENERALIZED_TIME, INTEGER, OBJECT_IDENTIFIER, OCTET_STRING, Reader,
    SEQUENCE, UTC_TIME,
};

/// `id-ce-subjectAltName`, 2.5.29.17 (RFC 5280 section 4.2.1.6).
const SUBJECT_ALTERNATIVE_NAME: &[u8] = &[0x55, 0x1d, 0x11];

/// `rsaEncryption`, 1.2.840.113549.1.1.1 (RFC 3279 section 2.3.1).
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
/// `id-ecPublicKey`, 1.2.840.10045.2.1, and the curves that TLS has (RFC 5480 section 2.1.1).
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const CURVES: [(&[u8], PublicKey); 3] = [
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07], PublicKey::P256),
    (&[0x2b, 0x81, 0x04, 0x00, 0x22], PublicKey::P384),
    (&[0x2b, 0x81, 0x04, 0x00, 0x23], PublicKey::P521),
];
/// `id-Ed25519`, 1.3.101.112 (RFC 8410 section 3).
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];

/// Names that are read of one certificate; those of real ones are a few dozen at most.
const NAMES_MAX: usize = 1000;

/// A peer's certificate, verified when its connection was opened and read once then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerCertificate {
    der: Box<[u8]>,
    facts: Facts,
}

/// The content of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The owner's name in DER.
    pub(crate) subject: Box<[u8]>,
    pub(crate) alternative_names: Vec<AlternativeName>,
    pub(crate) public_key_sha256: [u8; 32],
    pub(crate) not_before: SystemTime,
    pub(crate) not_after: SystemTime,
}

/// The kind of a public key with its size, as `tollgate cert` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PublicKey {
    /// RSA, with the bits of its modulus.
    Rsa(u16),
    /// ECDSA on P-256.
    P256,
    /// ECDSA on P-384.
    P384,
    /// ECDSA on P-521.
    P521,
    /// Ed25519.
    Ed25519,
    /// Another kind.
    Other,
}

impl std::fmt::Display for PublicKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = match self {
            PublicKey::Rsa(bits) => return write!(formatter, "rsa-{bits}"),
            PublicKey::P256 => "p256",
            PublicKey::P384 => "p384",
            PublicKey::P521 => "p521",
            PublicKey::Ed25519 => "ed25519",
            PublicKey::Other => "another kind",
        };
        formatter.write_str(name)
    }
}

/// One of the names that a certificate is for (RFC 5280 section 4.2.1.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlternativeName {
    /// The name of a host.
    Dns(String),
    /// A mail address.
    Email(String),
    /// A URI.
    Uri(String),
    /// The address of a host.
    Address(IpAddr),
}

impl PeerCertificate {
    /// Reads a certificate.
    ///
    /// # Errors
    /// `None` when it is none.
    #[must_use]
    pub fn parse(der: &[u8]) -> Option<PeerCertificate> {
        Some(PeerCertificate { facts: facts(der)?, der: der.into() })
    }

    /// The certificate as it came.
    #[must_use]
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// The names that it is for, in its own order.
    #[must_use]
    pub fn alternative_names(&self) -> &[AlternativeName] {
        &self.facts.alternative_names
    }

    /// SHA-256 of the public key with its algorithm (`SubjectPublicKeyInfo`): it stays when a certificate is renewed
    /// with its key.
    #[must_use]
    pub fn public_key_sha256(&self) -> &[u8; 32] {
        &self.facts.public_key_sha256
    }

    /// Start and end of its validity.
    #[must_use]
    pub fn validity(&self) -> (SystemTime, SystemTime) {
        (self.facts.not_before, self.facts.not_after)
    }
}

impl AlternativeName {
    /// The name as people write it.
    #[must_use]
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        match self {
            AlternativeName::Dns(text) | AlternativeName::Email(text) | AlternativeName::Uri(text) => text.into(),
            AlternativeName::Address(address) => address.to_string().into(),
        }
    }
}

/// Reads the content of a certificate (RFC 5280 section 4.1); `None` if it is none.
pub(crate) fn facts(der: &[u8]) -> Option<Facts> {
    let mut body = Reader::new(der).expect(SEQUENCE)?.inside().expect(SEQUENCE)?.inside();
    // The version, which only old certificates leave out.
    body.optional(CONTEXT);
    body.expect(INTEGER)?;
    let _algorithm = body.expect(SEQUENCE)?;
    let _issuer = body.expect(SEQUENCE)?;
    let mut validity = body.expect(SEQUENCE)?.inside();
    let (not_before, not_after) = (time(validity.next()?)?, time(validity.next()?)?);
    let subject = body.expect(SEQUENCE)?.whole.into();
    let public_key = body.expect(SEQUENCE)?;
    let mut public_key_sha256 = [0; 32];
    public_key_sha256.copy_from_slice(digest(&SHA256, public_key.whole).as_ref());
    // The two unique identifiers of old certificates stand between key and extensions.
    let mut alternative_names = Vec::new();
    while let Some(element) = body.next() {
        if element.tag == CONTEXT | 3 {
            alternative_names = names(element)?;
        }
    }
    Some(Facts { subject, alternative_names, public_key_sha256, not_before, not_after })
}

/// The kind of the public key of a certificate; `None` when it is none. It allocates nothing.
pub(crate) fn public_key(der: &[u8]) -> Option<PublicKey> {
    let mut body = Reader::new(der).expect(SEQUENCE)?.inside().expect(SEQUENCE)?.inside();
    body.optional(CONTEXT);
    body.expect(INTEGER)?;
    // Algorithm, issuer, validity and subject stand before it.
    for _ in 0..4 {
        body.expect(SEQUENCE)?;
    }
    let mut key = body.expect(SEQUENCE)?.inside();
    let mut algorithm = key.expect(SEQUENCE)?.inside();
    let kind = algorithm.expect(OBJECT_IDENTIFIER)?.content;
    if kind == EC {
        let curve = algorithm.optional(OBJECT_IDENTIFIER)?.content;
        return Some(CURVES.iter().find(|(known, _)| *known == curve).map_or(PublicKey::Other, |(_, key)| *key));
    }
    if kind != RSA {
        return Some(if kind == ED25519 { PublicKey::Ed25519 } else { PublicKey::Other });
    }
    // The first byte says how many bits of the last one are unused: none.
    let bits = key.expect(BIT_STRING)?.content.get(1..)?;
    let modulus = Reader::new(bits).expect(SEQUENCE)?.inside().expect(INTEGER)?.content;
    let zeros = modulus.iter().take_while(|byte| **byte == 0).count();
    let (first, rest) = modulus[zeros..].split_first()?;
    let bits = u32::BITS - u32::from(*first).leading_zeros() + 8 * u32::try_from(rest.len()).ok()?;
    Some(PublicKey::Rsa(u16::try_from(bits).ok()?))
}

/// The alternative names among the extensions.
fn names(extensions: Element<'_>) -> Option<Vec<AlternativeName>> {
    let mut found = Vec::new();
    let mut extensions = extensions.inside().expect(SEQUENCE)?.inside();
    while let Some(extension) = extensions.next() {
        let mut parts = extension.inside();
        if parts.expect(OBJECT_IDENTIFIER)?.content != SUBJECT_ALTERNATIVE_NAME {
            continue;
        }
        parts.optional(BOOLEAN);
        let mut names = parts.expect(OCTET_STRING)?.inside().expect(SEQUENCE)?.inside();
        while let Some(name) = names.next()
            && found.len() < NAMES_MAX
        {
            found.extend(alternative_name(name));
        }
    }
    Some(found)
}

/// A name of a kind that we know. One that is not what its kind says is none: it must match nothing.
fn alternative_name(name: Element<'_>) -> Option<AlternativeName> {
    // IA5String: ASCII, and without the control bytes that could make two names look alike.
    let text = || {
        let text = std::str::from_utf8(name.content).ok()?;
        text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ').then(|| text.to_owned())
    };
    match name.tag {
        0x81 => text().map(AlternativeName::Email),
        0x82 => text().map(AlternativeName::Dns),
        0x86 => text().map(AlternativeName::Uri),
        0x87 => {
            let address = <[u8; 4]>::try_from(name.content).map(IpAddr::from);
            let address = address.or_else(|_| <[u8; 16]>::try_from(name.content).map(IpAddr::from));
            address.ok().map(AlternativeName::Address)
        }
        _ => None,
    }
}

/// `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ` (RFC 5280 section 4.1.2.5).
fn time(element: Element<'_>) -> Option<SystemTime> {
    let digits = element.content.strip_suffix(b"Z")?;
    let expected = match element.tag {
        UTC_TIME => 12,
        GENERALIZED_TIME => 14,
        _ => return None,
    };
    if digits.len() != expected || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = |digits: &[u8]| digits.iter().fold(0_i16, |number, digit| number * 10 + i16::from(digit - b'0'));
    let (year, rest) = digits.split_at(expected - 10);
    let year = match (element.tag, number(year)) {
        (UTC_TIME, year @ 50..) => 1900 + year,
        (UTC_TIME, year) => 2000 + year,
        (_, year) => year,
    };
    let mut parts = rest.chunks_exact(2).map(|pair| number(pair) as i8);
    let mut part = || parts.next();
    let civil = DateTime::new(year, part()?, part()?, part()?, part()?, part()?, 0).ok()?;
    let stamp = TimeZone::UTC.to_timestamp(civil).ok()?;
    Some(stamp.into())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn element(tag: u8, content: &[u8]) -> Element<'_> {
        Element { tag, content, whole: content }
    }

    #[test]
    fn times_are_read_in_both_forms() {
        let check = |tag, text: &str, expected: Option<u64>| {
            let found = time(element(tag, text.as_bytes()));
            assert_eq!(found, expected.map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)), "{text}");
        };
        check(UTC_TIME, "700101000000Z", Some(0));
        check(UTC_TIME, "491231235959Z", Some(2_524_607_999));
        check(GENERALIZED_TIME, "20500101000000Z", Some(2_524_608_000));
        for wrong in ["491331235959Z", "491231235959", "49123123595Z", "4912312359xxZ", ""] {
            check(UTC_TIME, wrong, None);
        }
        check(INTEGER, "700101000000Z", None);
    }

    #[test]
    fn names_that_are_not_what_their_kind_says_are_none() {
        let check = |tag, content: &[u8], expected: Option<&str>| {
            let found = alternative_name(element(tag, content));
            assert_eq!(found.as_ref().map(AlternativeName::text).as_deref(), expected, "{content:?}");
        };
        check(0x82, b"db.example.org", Some("db.example.org"));
        check(0x81, b"me@example.org", Some("me@example.org"));
        check(0x86, b"spiffe://example.org/me", Some("spiffe://example.org/me"));
        check(0x87, &[127, 0, 0, 1], Some("127.0.0.1"));
        check(0x87, &[0; 16], Some("::"));
        check(0x87, &[1, 2, 3], None);
        check(0x82, b"db.example.org\0.evil.example", None);
        check(0x82, "d\u{fc}.example".as_bytes(), None);
        check(0x84, b"directory", None);
    }

    #[test]
    fn bytes_that_are_no_certificate_are_none() {
        for bytes in [&b""[..], b"\x30", b"\x30\x03\x02\x01\x01", &[0x30; 100]] {
            assert_eq!(PeerCertificate::parse(bytes), None);
        }
    }
}

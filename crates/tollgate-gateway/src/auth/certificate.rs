//! Maps a client's certificate to a user: by a name in it, or by its public key, exactly as in a rule.
//!
//! TLS has already verified the certificate's authority and that the client has the key. The subject's distinguished
//! name is ignored, since implementations read it differently.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use tollgate_net::tls::{AlternativeName, PeerCertificate};

use super::caller::{Caller, User};
use super::users::Users;
use super::verified::Edition;

/// Certificates that one loop remembers at once.
const KEPT_MAX: usize = 1_024;

/// Rule that maps certificates to a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateUser {
    /// Certificates that match.
    pub mark: Mark,
    /// The user's name.
    pub user: String,
}

/// Feature that identifies a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    /// A subject alternative name.
    Name(AlternativeName),
    /// SHA-256 of the public key with its algorithm.
    PublicKey([u8; 32]),
}

impl Mark {
    /// Parses a name: an address, a URI, a mail address or, else, the name of a host.
    ///
    /// # Errors
    /// States what was expected.
    pub fn name(text: &str) -> Result<Mark, String> {
        let plain = !text.is_empty() && text.chars().all(|character| character.is_ascii_graphic());
        if !plain || text.contains('*') {
            return Err(
                "expected an exact name such as host.example, me@host.example, spiffe://host/me or 10.0.0.1".to_owned()
            );
        }
        let owned = text.to_owned();
        Ok(Mark::Name(match text.parse::<IpAddr>() {
            Ok(address) => AlternativeName::Address(address),
            Err(_) if text.contains(':') => AlternativeName::Uri(owned),
            Err(_) if text.contains('@') => AlternativeName::Email(owned),
            Err(_) => AlternativeName::Dns(owned),
        }))
    }

    /// Parses a public key, given as 64 hexadecimal digits with or without colons.
    ///
    /// # Errors
    /// States what was expected.
    pub fn public_key(text: &str) -> Result<Mark, String> {
        let digits: Option<Vec<u8>> = text
            .bytes()
            .filter(|byte| *byte != b':')
            .map(|digit| char::from(digit).to_digit(16).map(|value| value as u8))
            .collect();
        let mut hash = [0; 32];
        match digits {
            Some(digits) if digits.len() == 2 * hash.len() => {
                for (byte, pair) in hash.iter_mut().zip(digits.chunks(2)) {
                    *byte = pair[0] << 4 | pair[1];
                }
                Ok(Mark::PublicKey(hash))
            }
            _ => Err("expected SHA-256 of the public key as 64 hexadecimal digits, with or without colons".to_owned()),
        }
    }

    fn is_of(&self, certificate: &PeerCertificate) -> bool {
        match self {
            Mark::Name(name) => certificate.alternative_names().iter().any(|other| same(name, other)),
            Mark::PublicKey(hash) => certificate.public_key_sha256() == hash,
        }
    }
}

/// Compares two names: hosts ignoring case (RFC 5280, section 7.2), everything else exactly.
fn same(left: &AlternativeName, right: &AlternativeName) -> bool {
    match (left, right) {
        (AlternativeName::Dns(left), AlternativeName::Dns(right)) => left.eq_ignore_ascii_case(right),
        (left, right) => left == right,
    }
}

/// Owner of `certificate`, by the first rule that matches: one of `users`, or a user of that name without groups.
pub(super) fn owner(rules: &[CertificateUser], users: &Users, certificate: &PeerCertificate) -> Caller {
    let Some(rule) = rules.iter().find(|rule| rule.mark.is_of(certificate)) else { return Caller::anonymous() };
    let user = match users.user(&rule.user) {
        // A copy for this loop alone: counting its holders then disturbs no other core.
        Some(user) => User::clone(user),
        None => User { name: rule.user.as_str().into(), groups: Box::new([]) },
    };
    Caller::known(Arc::new(user))
}

/// The owners of certificates that one loop has seen. A connection sends many requests with the same one.
#[derive(Debug, Default)]
pub(super) struct Owners(HashMap<[u8; 32], Owner>);

#[derive(Debug)]
struct Owner {
    /// The whole certificate: two may have the same key, and different names.
    der: Box<[u8]>,
    edition: Edition,
    caller: Caller,
}

impl Owners {
    /// Owner of `certificate`, determined by `find` if not known for this edition of the users.
    pub(super) fn of(
        &mut self,
        certificate: &PeerCertificate,
        edition: Edition,
        find: impl FnOnce() -> (Caller, Edition),
    ) -> Caller {
        let key = certificate.public_key_sha256();
        let known = self.0.get(key).filter(|owner| owner.edition == edition && *owner.der == *certificate.der());
        if let Some(owner) = known {
            return owner.caller.clone();
        }
        let (caller, edition) = find();
        if self.0.len() >= KEPT_MAX {
            self.0.clear();
        }
        self.0.insert(*key, Owner { der: certificate.der().into(), edition, caller: caller.clone() });
        caller
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_by_their_shape() {
        let check = |text: &str, expected: AlternativeName| assert_eq!(Mark::name(text), Ok(Mark::Name(expected)));
        check("host.example", AlternativeName::Dns("host.example".to_owned()));
        check("me@host.example", AlternativeName::Email("me@host.example".to_owned()));
        check("spiffe://host/me@x", AlternativeName::Uri("spiffe://host/me@x".to_owned()));
        check("::1", AlternativeName::Address("::1".parse().unwrap()));
        for text in ["", "*.host.example", "a b", "h\u{f6}st"] {
            assert!(Mark::name(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_public_key_is_64_hexadecimal_digits() {
        let plain = "00ff".repeat(16);
        let colons = plain.as_bytes().chunks(2).map(|pair| String::from_utf8_lossy(pair)).collect::<Vec<_>>().join(":");
        let expected: Vec<u8> = [0, 255].repeat(16);
        for text in [plain.to_uppercase(), plain.clone(), colons] {
            assert_eq!(Mark::public_key(&text), Ok(Mark::PublicKey(expected.clone().try_into().unwrap())));
        }
        for text in [&plain[1..], "", "xx", &format!("{plain}0")] {
            assert!(Mark::public_key(text).is_err(), "{text}");
        }
    }

    #[test]
    fn hosts_are_the_same_in_any_case_and_nothing_else_is() {
        let (dns, email) =
            (|text: &str| AlternativeName::Dns(text.to_owned()), |text: &str| AlternativeName::Email(text.to_owned()));
        assert!(same(&dns("Host.example"), &dns("host.EXAMPLE")));
        assert!(!same(&email("Me@host"), &email("me@host")));
        assert!(!same(&dns("me@host"), &email("me@host")));
    }
}

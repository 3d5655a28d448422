//! A certificate authority for development and tests: it makes keys, and certificates for servers and clients.
//!
//! It writes no files, revokes nothing, and nobody should trust it beyond a machine of one's own.

use std::fmt;
use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PublicKeyData, SanType, date_time_ymd,
};
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use rsa::pkcs8::EncodePrivateKey;
use rsa::rand_core::{CryptoRng, Error as RandomError, RngCore};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};

use super::certificate;

/// Intermediate certificates between authority and leaf at most.
pub const INTERMEDIATES_MAX: u8 = 2;

/// Days that an authority and its intermediates are valid at least.
const AUTHORITY_DAYS: u32 = 3650;

/// A kind of key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// ECDSA over NIST P-256.
    P256,
    /// RSA of 2,048 bits.
    Rsa2048,
    /// RSA of 4,096 bits; making one takes seconds.
    Rsa4096,
}

/// Validity of a certificate, in whole days: from the midnight before `from`, to that before `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// It is not valid before.
    pub from: SystemTime,
    /// It is not valid afterwards.
    pub to: SystemTime,
}

/// An authority.
pub struct Authority {
    certificate: String,
    key_pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate with its key, both in PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct Issued {
    /// The certificate, and the intermediate ones behind it.
    pub certificate: String,
    /// The private key (PKCS #8).
    pub key: String,
}

/// The reason why a certificate could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorityError(String);

/// The purpose of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Server,
    Client,
}

impl Validity {
    /// From the day before `now`, so that a clock which is a little behind sees it too, to the midnight that ends the
    /// last of `days`: a year counted like this is no longer than recommended for servers.
    #[must_use]
    pub fn days(now: SystemTime, days: u32) -> Validity {
        let day = Duration::from_secs(24 * 3600);
        Validity { from: now - day, to: now + day * days }
    }
}

impl Authority {
    /// Makes an authority with a key of its own, valid for ten years from `now`.
    ///
    /// # Errors
    /// When the machine gives no random numbers.
    pub fn new(kind: KeyKind, now: SystemTime) -> Result<Authority, AuthorityError> {
        let key = key(kind)?;
        let params = authority_params(name_of(&key), Validity::days(now, AUTHORITY_DAYS), None)?;
        let key_pem = key.serialize_pem();
        let made = CertifiedIssuer::self_signed(params.clone(), key).map_err(failed)?;
        let certificate = made.pem();
        let key = read_key(&key_pem)?;
        Ok(Authority { certificate, key_pem, issuer: Issuer::new(params, key) })
    }

    /// Restores an authority that was made here before.
    ///
    /// # Errors
    /// When key and certificate are not PEM, or are not of each other, or of somebody else's authority.
    pub fn from_pem(certificate: &str, key_pem: &str) -> Result<Authority, AuthorityError> {
        let key = read_key(key_pem)?;
        let der = CertificateDer::from_pem_slice(certificate.as_bytes())
            .map_err(|error| AuthorityError(format!("the authority's certificate is not PEM: {error}")))?;
        let params = authority_params(name_of(&key), Validity::days(SystemTime::UNIX_EPOCH, 1), None)?;
        let again = params.self_signed(&key).map_err(failed)?;
        let (found, own) = (certificate::facts(&der), certificate::facts(again.der()));
        match (found, own) {
            (Some(found), Some(own)) if found.public_key_sha256 != own.public_key_sha256 => {
                Err(AuthorityError("the authority's key is not that of its certificate".to_owned()))
            }
            (Some(found), Some(own)) if found.subject == own.subject => {
                let (certificate, key_pem) = (certificate.to_owned(), key_pem.to_owned());
                Ok(Authority { certificate, key_pem, issuer: Issuer::new(params, key) })
            }
            _ => Err(AuthorityError("the authority was not made by tollgate".to_owned())),
        }
    }

    /// Its certificate in PEM, for clients to trust.
    #[must_use]
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Its private key in PEM.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key_pem
    }

    /// Makes a key and a certificate for a server with `names` (of hosts, or addresses), below a number of intermediate
    /// authorities, each with a key of the same kind.
    ///
    /// # Errors
    /// When a name is none, or there are more intermediates than [`INTERMEDIATES_MAX`].
    pub fn server(
        &self,
        kind: KeyKind,
        names: &[String],
        intermediates: u8,
        validity: Validity,
    ) -> Result<Issued, AuthorityError> {
        let names = names.iter().map(|name| server_name(name)).collect::<Result<Vec<_>, _>>()?;
        if names.is_empty() {
            return Err(AuthorityError("a server's certificate needs a name".to_owned()));
        }
        self.issue(kind, Purpose::Server, "tollgate server", names, intermediates, validity)
    }

    /// Makes a key and a certificate for a client of that name, which is entered as what it looks like: a mail address,
    /// a URI, or else a host's name.
    ///
    /// # Errors
    /// When the name is none of these.
    pub fn client(&self, kind: KeyKind, name: &str, validity: Validity) -> Result<Issued, AuthorityError> {
        self.issue(kind, Purpose::Client, name, vec![client_name(name)?], 0, validity)
    }

    fn issue(
        &self,
        kind: KeyKind,
        purpose: Purpose,
        common_name: &str,
        names: Vec<SanType>,
        intermediates: u8,
        validity: Validity,
    ) -> Result<Issued, AuthorityError> {
        if intermediates > INTERMEDIATES_MAX {
            return Err(AuthorityError(format!(
                "expected at most {INTERMEDIATES_MAX} intermediate certificates, found {intermediates}"
            )));
        }
        let mut params = params(common_name, validity)?;
        params.subject_alt_names = names;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![match purpose {
            Purpose::Server => ExtendedKeyUsagePurpose::ServerAuth,
            Purpose::Client => ExtendedKeyUsagePurpose::ClientAuth,
        }];
        let mut above: Vec<CertifiedIssuer<'static, KeyPair>> = Vec::new();
        for below in (0..intermediates).rev() {
            let key = key(kind)?;
            let name = format!("tollgate development intermediate {}", fingerprint(&key));
            let params = authority_params(name, validity, Some(below))?;
            let made = match above.last() {
                Some(issuer) => CertifiedIssuer::signed_by(params, key, issuer),
                None => CertifiedIssuer::signed_by(params, key, &self.issuer),
            };
            above.push(made.map_err(failed)?);
        }
        let key = key(kind)?;
        let leaf = match above.last() {
            Some(issuer) => params.signed_by(&key, issuer),
            None => params.signed_by(&key, &self.issuer),
        };
        let mut certificate = leaf.map_err(failed)?.pem();
        for issuer in above.iter().rev() {
            certificate.push_str(&issuer.pem());
        }
        Ok(Issued { certificate, key: key.serialize_pem() })
    }
}

fn params(common_name: &str, validity: Validity) -> Result<CertificateParams, AuthorityError> {
    let mut params = CertificateParams::default();
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common_name);
    params.distinguished_name = name;
    let (from, to) = (date(validity.from)?, date(validity.to)?);
    params.not_before = date_time_ymd(from.0, from.1, from.2);
    params.not_after = date_time_ymd(to.0, to.1, to.2);
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

/// Parameters of an authority with as many others below it as `path_length` says.
fn authority_params(
    name: String,
    validity: Validity,
    path_length: Option<u8>,
) -> Result<CertificateParams, AuthorityError> {
    let mut params = params(&name, validity)?;
    params.is_ca = IsCa::Ca(path_length.map_or(BasicConstraints::Unconstrained, BasicConstraints::Constrained));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}

/// The authority's name follows from its key: taken up again, it issues under the same one, and two never share theirs.
fn name_of(key: &KeyPair) -> String {
    format!("tollgate development authority {}", fingerprint(key))
}

fn fingerprint(key: &KeyPair) -> String {
    let hash = digest(&SHA256, &key.subject_public_key_info());
    hash.as_ref()[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Year, month and day.
fn date(time: SystemTime) -> Result<(i32, u8, u8), AuthorityError> {
    let stamp = Timestamp::try_from(time).map_err(|error| AuthorityError(error.to_string()))?;
    let date = TimeZone::UTC.to_datetime(stamp).date();
    Ok((i32::from(date.year()), date.month().unsigned_abs(), date.day().unsigned_abs()))
}

fn server_name(name: &str) -> Result<SanType, AuthorityError> {
    if let Ok(address) = name.parse::<IpAddr>() {
        return Ok(SanType::IpAddress(address));
    }
    host_name(name)
}

fn client_name(name: &str) -> Result<SanType, AuthorityError> {
    let text = |name: &str| name.try_into().map_err(|_| AuthorityError(format!("`{name}` is not ASCII")));
    match name {
        _ if name.contains("://") => text(name).map(SanType::URI),
        _ if name.contains('@') => text(name).map(SanType::Rfc822Name),
        _ => host_name(name),
    }
}

fn host_name(name: &str) -> Result<SanType, AuthorityError> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let is_label = |label: &str| (1..=63).contains(&label.len()) && label.bytes().all(is_letter);
    let plain = name.strip_prefix("*.").unwrap_or(name);
    if name.len() > 253 || !plain.split('.').all(is_label) {
        return Err(AuthorityError(format!("expected the name of a host or an address, found `{name}`")));
    }
    name.try_into().map(SanType::DnsName).map_err(|_| AuthorityError(format!("`{name}` is not ASCII")))
}

fn key(kind: KeyKind) -> Result<KeyPair, AuthorityError> {
    let bits = match kind {
        KeyKind::P256 => return KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).map_err(failed),
        KeyKind::Rsa2048 => 2048,
        KeyKind::Rsa4096 => 4096,
    };
    let made = rsa::RsaPrivateKey::new(&mut Random(SystemRandom::new()), bits)
        .map_err(|error| AuthorityError(format!("no RSA key could be made: {error}")))?;
    let der = made.to_pkcs8_der().map_err(|error| AuthorityError(format!("no RSA key could be written: {error}")))?;
    let der = PrivatePkcs8KeyDer::from(der.as_bytes());
    KeyPair::from_pkcs8_der_and_sign_algo(&der, &rcgen::PKCS_RSA_SHA256).map_err(failed)
}

fn read_key(pem: &str) -> Result<KeyPair, AuthorityError> {
    KeyPair::from_pem(pem).map_err(|error| AuthorityError(format!("the authority's key cannot be read: {error}")))
}

fn failed(error: rcgen::Error) -> AuthorityError {
    AuthorityError(format!("no certificate could be made: {error}"))
}

/// The machine's own random numbers, as the RSA crate wants them.
struct Random(SystemRandom);

impl RngCore for Random {
    fn next_u32(&mut self) -> u32 {
        rsa::rand_core::impls::next_u32_via_fill(self)
    }

    fn next_u64(&mut self) -> u64 {
        rsa::rand_core::impls::next_u64_via_fill(self)
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        self.0.fill(bytes).expect("a machine that runs has random numbers");
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), RandomError> {
        self.0.fill(bytes).map_err(|_| RandomError::new("the machine gives no random numbers"))
    }
}

impl CryptoRng for Random {}

impl fmt::Debug for Authority {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Authority").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

impl fmt::Debug for Issued {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Issued").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

impl fmt::Display for AuthorityError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for AuthorityError {}

#[cfg(test)]
mod tests {
    use super::super::certificate::PeerCertificate;
    use super::*;

    fn chain(pem: &str) -> Vec<PeerCertificate> {
        let ders = CertificateDer::pem_slice_iter(pem.as_bytes());
        ders.map(|der| PeerCertificate::parse(&der.unwrap()).unwrap()).collect()
    }

    #[test]
    fn a_server_is_certified_for_its_names_below_as_many_intermediates_as_asked_for() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let authority = Authority::new(KeyKind::P256, now).unwrap();
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned(), "*.example.org".to_owned()];
        for intermediates in 0..=INTERMEDIATES_MAX {
            let issued = authority.server(KeyKind::P256, &names, intermediates, Validity::days(now, 30)).unwrap();
            let chain = chain(&issued.certificate);
            assert_eq!(chain.len(), usize::from(intermediates) + 1);
            let found: Vec<_> = chain[0].alternative_names().iter().map(|name| name.text().into_owned()).collect();
            assert_eq!(found, names);
            let (from, to) = chain[0].validity();
            let day = Duration::from_secs(24 * 3600);
            assert!(from < now && to > now + day * 29 && to <= now + day * 30);
        }
        assert!(authority.server(KeyKind::P256, &names, INTERMEDIATES_MAX + 1, Validity::days(now, 1)).is_err());
        for wrong in ["", "a..b", "with space", "\u{fc}ber"] {
            assert!(
                authority.server(KeyKind::P256, &[wrong.to_owned()], 0, Validity::days(now, 1)).is_err(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_clients_name_stands_in_its_certificate_as_what_it_looks_like() {
        use super::super::certificate::AlternativeName as Name;
        let now = SystemTime::UNIX_EPOCH;
        let authority = Authority::new(KeyKind::P256, now).unwrap();
        for (name, expected) in [
            ("alice", Name::Dns("alice".to_owned())),
            ("alice@example.org", Name::Email("alice@example.org".to_owned())),
            ("spiffe://example.org/alice", Name::Uri("spiffe://example.org/alice".to_owned())),
        ] {
            let issued = authority.client(KeyKind::P256, name, Validity::days(now, 1)).unwrap();
            assert_eq!(chain(&issued.certificate)[0].alternative_names(), [expected]);
        }
    }

    #[test]
    fn an_authority_is_taken_up_again_and_somebody_elses_is_refused() {
        let now = SystemTime::UNIX_EPOCH;
        let [first, second] = [0, 1].map(|_| Authority::new(KeyKind::P256, now).unwrap());
        let again = Authority::from_pem(first.certificate(), first.key()).unwrap();
        again.client(KeyKind::P256, "alice", Validity::days(now, 1)).unwrap();
        let wrong = |certificate: &str, key: &str| Authority::from_pem(certificate, key).unwrap_err().to_string();
        assert!(wrong(first.certificate(), second.key()).contains("not that of its certificate"));
        let issued = first.server(KeyKind::P256, &["localhost".to_owned()], 0, Validity::days(now, 1)).unwrap();
        assert!(wrong(&issued.certificate, &issued.key).contains("not made by tollgate"));
        assert!(wrong("nothing", first.key()).contains("not PEM"));
        assert!(wrong(first.certificate(), "nothing").contains("cannot be read"));
    }

    #[test]
    fn rsa_keys_are_made_and_signed_by() {
        let now = SystemTime::UNIX_EPOCH;
        let authority = Authority::new(KeyKind::Rsa2048, now).unwrap();
        let issued = authority.client(KeyKind::P256, "alice", Validity::days(now, 1)).unwrap();
        assert_eq!(chain(&issued.certificate).len(), 1);
    }
}

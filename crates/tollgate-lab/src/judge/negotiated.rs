//! The rule about negotiated parameters: a figure whose label names a version of TLS, a key or a cipher is refused
//! where its own connections negotiated another one.
//!
//! A label is a level's keys, and the words of titles and names of level and variant. What no label names is not
//! checked.

use std::fmt;

use super::seen::LoadSeen;
use crate::experiment::{Experiment, Variant};
use tollgate_facts::results::{Encryption, NamedLevel, Negotiated};
use tollgate_facts::rules::{Finding, refused};

/// Words of texts that may be about another connection, or about what is absent: such texts are not read.
const OF_OTHERS: [&str; 8] = ["backend", "upstream", "behind", "exchange", "without", "no", "not", "off"];

const REMEDY: &str = "name it as it is, or set the server up as it is named";

/// Claims of an experiment about the encryption of a cell's connections.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claims(Vec<Claim>);

/// The claim of one text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Claim {
    /// The text, as a report shows it.
    label: String,
    said: Said,
}

/// A claim about a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Said {
    /// The version of TLS, such as `1.3`.
    Version(String),
    /// The server's key, such as `rsa-2048`.
    Key(String),
    /// Number of certificates that the server sends.
    Certificates(u32),
    /// A part of the name of the cipher suite, such as `AES128`.
    Cipher(&'static str),
}

impl fmt::Display for Said {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Said::Version(version) => write!(formatter, "TLS {version}"),
            Said::Key(key) => write!(formatter, "key {key}"),
            Said::Certificates(1) => write!(formatter, "1 certificate"),
            Said::Certificates(count) => write!(formatter, "{count} certificates"),
            Said::Cipher(cipher) => write!(formatter, "cipher {cipher}"),
        }
    }
}

impl Said {
    /// Whether these connections agree with the claim. A key that could not be read agrees with every claim.
    fn holds(&self, found: &Negotiated) -> bool {
        match self {
            Said::Version(version) => found.version == *version,
            Said::Key(key) => found.key.as_ref().is_none_or(|found| found == key),
            Said::Certificates(count) => found.certificates == *count,
            Said::Cipher(cipher) => plain(&found.suite).contains(cipher),
        }
    }
}

impl Claims {
    /// The claims of an experiment about a variant at a level.
    pub(crate) fn of(experiment: &Experiment, variant: &Variant, level: u64) -> Claims {
        let named = experiment.named_levels.iter().find(|named| named.level == level);
        let mut claims = Claims::default();
        if let Some(NamedLevel { title, tls, key, chain, .. }) = named {
            let said = [
                (!tls.is_empty()).then(|| Said::Version(tls.clone())),
                (!key.is_empty()).then(|| Said::Key(key.clone())),
                (*chain > 0).then_some(Said::Certificates(*chain)),
            ];
            said.into_iter().flatten().for_each(|said| claims.add(title, said));
            claims.read(title);
        }
        claims.read(&variant.title);
        claims.read(&variant.name);
        claims
    }

    fn add(&mut self, label: &str, said: Said) {
        let claim = Claim { label: label.to_owned(), said };
        if !self.0.contains(&claim) {
            self.0.push(claim);
        }
    }

    /// Adds the claims in a text. A text that names two of a kind claims neither for all connections.
    fn read(&mut self, text: &str) {
        let words: Vec<String> = text
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '.')
            .map(|word| word.trim_matches('.').to_ascii_lowercase())
            .filter(|word| !word.is_empty())
            .collect();
        if words.iter().any(|word| OF_OTHERS.contains(&word.as_str())) {
            return;
        }
        let behind = |place: usize| words.get(place + 1).map_or("", String::as_str);
        let (mut versions, mut keys, mut ciphers) = (Vec::new(), Vec::new(), Vec::new());
        for (place, word) in words.iter().enumerate() {
            // Written apart, as `TLS 1.3` and `RSA-2048`, or in one word, as `TLSv1.3` and `RSA2048`.
            let number_behind = |name: &str| match word.strip_prefix(name) {
                Some("" | "v") => Some(behind(place)),
                Some(rest) => Some(rest.strip_prefix('v').unwrap_or(rest)),
                None => None,
            };
            versions.extend(number_behind("tls").filter(|number| ["1.0", "1.1", "1.2", "1.3"].contains(number)));
            versions.extend(match word.as_str() {
                "tls12" => Some("1.2"),
                "tls13" => Some("1.3"),
                _ => None,
            });
            let rsa = number_behind("rsa").filter(|number| number.len() == 4 && number.parse::<u16>().is_ok());
            keys.extend(rsa.map(|bits| format!("rsa-{bits}")));
            let curve = number_behind("p").filter(|number| ["256", "384", "521"].contains(number));
            keys.extend(curve.map(|bits| format!("p{bits}")));
            keys.extend((word == "ed25519").then(|| word.clone()));
            ciphers.extend(number_behind("aes").and_then(|bits| match bits {
                _ if bits.starts_with("128") => Some("AES128"),
                _ if bits.starts_with("256") => Some("AES256"),
                _ => None,
            }));
            ciphers.extend(word.starts_with("chacha20").then_some("CHACHA20"));
        }
        let alone = |said: &mut Vec<Said>| {
            said.dedup();
            if let [only] = &said[..] { Some(only.clone()) } else { None }
        };
        let mut all = [
            versions.into_iter().map(|version| Said::Version(version.to_owned())).collect::<Vec<Said>>(),
            keys.into_iter().map(Said::Key).collect(),
            ciphers.into_iter().map(Said::Cipher).collect(),
        ];
        all.iter_mut().filter_map(alone).for_each(|said| self.add(text, said));
    }
}

/// The name of a suite without its separators: `TLS_AES_128_GCM_SHA256` and `ECDHE-RSA-AES128-GCM-SHA256` alike.
fn plain(suite: &str) -> String {
    suite.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// Refuses connections that are not what their label says.
pub(super) fn otherwise(seen: &LoadSeen<'_>) -> Option<Finding> {
    let all: u64 = seen.negotiated.iter().map(|found| found.connections).sum();
    let encryption = seen.evidence.connecting.map(|connecting| connecting.encryption);
    let without_handshake = seen.handshakes.is_none_or(|(full, resumed)| full + resumed == 0);
    match encryption {
        Some(Encryption::Off) if all > 0 => {
            let words = seen.negotiated.first().map(Negotiated::words).unwrap_or_default();
            let reason = format!("the variant is one without encryption, but its connections negotiated {words}");
            return Some(refused(reason, REMEDY, (all as f64, 0.0)));
        }
        Some(Encryption::Full | Encryption::Resumed) if all == 0 && without_handshake && seen.answered > 0 => {
            let reason = format!("the variant is one with TLS, but its {} answers came without", seen.answered);
            return Some(refused(reason, REMEDY, (seen.answered as f64, 0.0)));
        }
        _ => {}
    }
    let Claims(claims) = seen.evidence.claims;
    let is_other = |found: &&Negotiated| claims.iter().any(|claim| !claim.said.holds(found));
    let other: Vec<&Negotiated> = seen.negotiated.iter().filter(is_other).collect();
    let first = other.first()?;
    let broken: Vec<&Claim> = claims.iter().filter(|claim| !claim.said.holds(first)).collect();
    let label = &broken.first()?.label;
    let said: Vec<String> =
        broken.iter().filter(|claim| claim.label == *label).map(|claim| claim.said.to_string()).collect();
    let count: u64 = other.iter().map(|found| found.connections).sum();
    // A connection is counted in each trial that used it: what stands is their share.
    let share = match count == all {
        true => "its connections".to_owned(),
        false => format!("{:.1} % of its connections", count as f64 / all as f64 * 100.0),
    };
    let reason = format!("`{label}` says {}, but {share} negotiated {}", said.join(" and "), first.words());
    Some(refused(reason, REMEDY, (count as f64, 0.0)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{evidence, sound};
    use super::super::{Evidence, judge};
    use super::*;
    use tollgate_facts::results::{Connecting, ConnectionUse, Verdict};

    fn found(version: &str, key: &str, suite: &str, connections: u64) -> Negotiated {
        Negotiated {
            version: version.to_owned(),
            suite: suite.to_owned(),
            key: Some(key.to_owned()),
            certificates: 1,
            group: Some("x25519".to_owned()),
            protocol: Some("http/1.1".to_owned()),
            connections,
        }
    }

    /// The reasons to refuse a cell of these connections under this label.
    fn reasons(label: &str, negotiated: &[Negotiated], encryption: Encryption) -> Vec<String> {
        let mut cell = sound();
        cell.negotiated = negotiated.to_vec();
        cell.connected = Some(ConnectionUse::default());
        let mut claims = Claims::default();
        claims.read(label);
        let connecting = Some(Connecting { requests_per_connection: None, encryption });
        let judged = judge(&Evidence { claims: &claims, connecting, ..evidence(&cell) });
        let refused = judged.into_iter().filter(|doubt| doubt.rule == "negotiated");
        refused.inspect(|doubt| assert_eq!(doubt.verdict, Verdict::Refused)).map(|doubt| doubt.reason).collect()
    }

    const OLD: (&str, &str, &str) = ("1.2", "p256", "ECDHE-ECDSA-AES128-GCM-SHA256");

    #[test]
    fn a_label_that_the_connections_contradict_refuses_its_cell_and_names_both() {
        let (version, key, suite) = OLD;
        let reason = reasons("TLS 1.3, RSA-2048", &[found(version, key, suite, 40)], Encryption::Full).concat();
        assert_eq!(
            reason,
            "`TLS 1.3, RSA-2048` says TLS 1.3 and key rsa-2048, but its connections negotiated TLS 1.2, \
             ECDHE-ECDSA-AES128-GCM-SHA256, key p256, 1 certificate, x25519, ALPN http/1.1"
        );
        // One of a hundred is one too many.
        let mixed = [found("1.3", "p256", "TLS_AES_128_GCM_SHA256", 99), found(version, key, suite, 1)];
        assert!(
            reasons("TLS 1.3", &mixed, Encryption::Full)
                .concat()
                .contains("but 1.0 % of its connections negotiated TLS 1.2")
        );
        assert_eq!(reasons("TLS, kept", &mixed, Encryption::Full), [""; 0]);
    }

    #[test]
    fn what_is_called_plain_or_encrypted_has_to_be_so() {
        let (version, key, suite) = OLD;
        let encrypted = [found(version, key, suite, 7)];
        assert!(reasons("", &encrypted, Encryption::Off).concat().contains("without encryption, but its connections"));
        assert!(reasons("", &[], Encryption::Full).concat().contains("answers came without"));
        assert_eq!(reasons("", &[], Encryption::Off), [""; 0]);
        assert_eq!(reasons("", &encrypted, Encryption::Resumed), [""; 0]);
    }

    #[test]
    fn texts_say_versions_keys_and_ciphers_in_many_ways() {
        let check = |text: &str, expected: &[&str]| {
            let mut claims = Claims::default();
            claims.read(text);
            assert_eq!(claims.0.iter().map(|claim| claim.said.to_string()).collect::<Vec<_>>(), expected, "{text}");
        };
        check("TLS 1.3, RSA-2048", &["TLS 1.3", "key rsa-2048"]);
        check("TLSv1.2 with ECDSA P-256.", &["TLS 1.2", "key p256"]);
        check("https-tls1.3-rsa4096", &["TLS 1.3", "key rsa-4096"]);
        check("TLS 1.3, AES-256-GCM, ed25519", &["TLS 1.3", "key ed25519", "cipher AES256"]);
        check("TLS_CHACHA20_POLY1305_SHA256", &["cipher CHACHA20"]);
        // Not what it looks like, or of two kinds.
        check("https-tls12", &["TLS 1.2"]);
        check("http-256k, 1.3 times, rsa", &[]);
        check("TLS, 13 users", &[]);
        check("TLS 1.2 or TLS 1.3", &[]);
        check("nginx, TLS 1.2 to the backend", &[]);
        check("TLS 1.3, key exchange P-256", &[]);
        check("without TLS 1.3", &[]);
        check("tls, a new connection each", &[]);
    }

    #[test]
    fn suites_of_both_versions_are_known_by_their_cipher() {
        let check = |cipher, suite: &str, expected: bool| {
            assert_eq!(Said::Cipher(cipher).holds(&found("1.3", "p256", suite, 1)), expected, "{cipher} {suite}");
        };
        check("AES128", "TLS_AES_128_GCM_SHA256", true);
        check("AES128", "ECDHE-RSA-AES128-GCM-SHA256", true);
        check("AES128", "TLS_AES_256_GCM_SHA384", false);
        check("CHACHA20", "ECDHE-ECDSA-CHACHA20-POLY1305", true);
    }

    #[test]
    fn of_the_shipped_experiment_each_level_says_its_version_key_and_chain_alone() {
        let experiment = Experiment::builtin("encryption").unwrap();
        let of = |level| {
            let claims = Claims::of(&experiment, &experiment.variants[3], level);
            claims.0.into_iter().map(|claim| claim.said.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(of(2), ["TLS 1.3", "key rsa-2048", "1 certificate"]);
        assert_eq!(of(5), ["TLS 1.3", "key rsa-4096", "3 certificates"]);
    }
}

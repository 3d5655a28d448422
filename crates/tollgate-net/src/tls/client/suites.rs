//! The cipher suites that a client can offer, by the names that users of OpenSSL and of the standards know.
//!
//! It does not rate them; those that rustls does not have are not available.

use std::fmt;
use std::str::FromStr;

use rustls::CipherSuite;

/// A cipher suite that a client can offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suite(pub(super) CipherSuite);

/// Each with its bits, the name that OpenSSL has for it, and that of the standard.
const SUITES: &[(CipherSuite, u16, &str, &str)] = &[
    (CipherSuite::TLS13_AES_128_GCM_SHA256, 128, "TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"),
    (CipherSuite::TLS13_AES_256_GCM_SHA384, 256, "TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
    (CipherSuite::TLS13_CHACHA20_POLY1305_SHA256, 256, "TLS_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256"),
    (
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        128,
        "ECDHE-ECDSA-AES128-GCM-SHA256",
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    ),
    (
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        256,
        "ECDHE-ECDSA-AES256-GCM-SHA384",
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    ),
    (
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        256,
        "ECDHE-ECDSA-CHACHA20-POLY1305",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    ),
    (
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        128,
        "ECDHE-RSA-AES128-GCM-SHA256",
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    ),
    (
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        256,
        "ECDHE-RSA-AES256-GCM-SHA384",
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    ),
    (
        CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        256,
        "ECDHE-RSA-CHACHA20-POLY1305",
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    ),
];

impl Suite {
    /// Bits of its key, and the name that OpenSSL has for it.
    #[must_use]
    pub fn facts(self) -> (u16, &'static str) {
        let known = SUITES.iter().find(|suite| suite.0 == self.0);
        known.map_or((0, "unknown"), |(_, bits, name, _)| (*bits, name))
    }
}

impl fmt::Display for Suite {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.facts().1)
    }
}

impl FromStr for Suite {
    type Err = String;

    fn from_str(name: &str) -> Result<Suite, String> {
        let is_it = |known: &&str| known.eq_ignore_ascii_case(name);
        let found = SUITES.iter().find(|(_, _, short, long)| [short, long].into_iter().any(is_it));
        found.map(|suite| Suite(suite.0)).ok_or_else(|| {
            let names: Vec<&str> = SUITES.iter().map(|suite| suite.2).collect();
            format!("`{name}` is no cipher suite that there is; there are {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_known_by_both_of_its_names() {
        for name in ["ECDHE-RSA-AES128-GCM-SHA256", "tls_ecdhe_rsa_with_aes_128_gcm_sha256"] {
            let suite: Suite = name.parse().unwrap();
            assert_eq!((suite.facts().0, suite.to_string().as_str()), (128, "ECDHE-RSA-AES128-GCM-SHA256"));
        }
        assert!("AES128-SHA".parse::<Suite>().unwrap_err().starts_with("`AES128-SHA` is no cipher suite"));
    }
}

//! Reasons of failed handshakes: the causes by which failures are counted, and the cause of each of rustls's errors.
//!
//! The words are for an operator; a client learns of it by an alert, or not at all.

use std::fmt;

use rustls::{AlertDescription, Error, PeerIncompatible};

macro_rules! failures {
    ($($(#[doc = $sentence:literal])+ $variant:ident: $name:literal, $message:literal;)+) => {
        /// The reason why a handshake failed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum HandshakeFailure {
            $($(#[doc = $sentence])+ $variant,)+
        }

        impl HandshakeFailure {
            /// Every cause, in the order of the enum.
            pub const ALL: &[HandshakeFailure] = &[$(HandshakeFailure::$variant,)+];

            /// The stable name, in kebab case: a metric's label.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(HandshakeFailure::$variant => $name,)+
                }
            }

            fn message(self) -> &'static str {
                match self {
                    $(HandshakeFailure::$variant => $message,)+
                }
            }
        }
    };
}

failures! {
    /// It was not through in time.
    Timeout: "timeout", "the handshake was not through in time";
    /// The client went away in the middle of it.
    Closed: "closed", "the client closed the connection within the handshake";
    /// The client asked without TLS.
    PlainRequest: "plain-request", "a request came without TLS";
    /// The first bytes are neither TLS nor a request.
    NotTls: "not-tls", "the first bytes are not of TLS";
    /// No version in common: most often a client of TLS 1.1 or older.
    Version: "version", "client and server have no version of TLS in common";
    /// No cipher suite, group or signature scheme in common.
    Cipher: "cipher", "client and server have no cipher suite, group or signature scheme in common";
    /// The client wants other protocols than HTTP/1.1 only.
    Protocol: "protocol", "the client speaks none of the protocols inside TLS that the server does";
    /// A certificate is required, and the client has none.
    CertificateMissing: "certificate-missing", "the client showed no certificate, and one is required";
    /// The client's certificate is not accepted.
    CertificateRejected: "certificate-rejected", "the client's certificate was not accepted";
    /// The client does not accept our certificate.
    RefusedByClient: "refused-by-client", "the client refused the server's certificate or gave up by an alert";
    /// The client breaks the rules of the protocol.
    Misbehaved: "misbehaved", "the client's messages break the rules of TLS";
    /// Unfinished handshakes occupy more memory than allowed.
    MemoryFull: "memory-full", "unfinished handshakes hold too much memory";
    /// It is our own fault.
    Internal: "internal", "the server failed within the handshake";
}

impl HandshakeFailure {
    /// The cause behind rustls's error.
    pub(crate) fn of(error: &Error) -> HandshakeFailure {
        use PeerIncompatible as Incompatible;
        match error {
            Error::PeerIncompatible(
                Incompatible::Tls12NotOffered
                | Incompatible::Tls12NotOfferedOrEnabled
                | Incompatible::SupportedVersionsExtensionRequired
                | Incompatible::ServerTlsVersionIsDisabledByOurConfig
                | Incompatible::ServerDoesNotSupportTls12Or13
                // Only clients of before TLS 1.2 name no signatures; rustls looks for those before it looks at the version.
                | Incompatible::SignatureAlgorithmsExtensionRequired,
            ) => HandshakeFailure::Version,
            Error::PeerIncompatible(_) => HandshakeFailure::Cipher,
            Error::NoApplicationProtocol => HandshakeFailure::Protocol,
            Error::NoCertificatesPresented => HandshakeFailure::CertificateMissing,
            Error::InvalidCertificate(_) | Error::InvalidCertRevocationList(_) => HandshakeFailure::CertificateRejected,
            Error::AlertReceived(AlertDescription::ProtocolVersion) => HandshakeFailure::Version,
            Error::AlertReceived(_) => HandshakeFailure::RefusedByClient,
            Error::General(_) | Error::FailedToGetCurrentTime | Error::FailedToGetRandomBytes | Error::EncryptError => {
                HandshakeFailure::Internal
            }
            _ => HandshakeFailure::Misbehaved,
        }
    }
}

impl fmt::Display for HandshakeFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.message())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_of_before_tls_1_2_is_told_by_its_version_however_rustls_notices() {
        for noticed in [
            PeerIncompatible::Tls12NotOffered,
            PeerIncompatible::SupportedVersionsExtensionRequired,
            PeerIncompatible::SignatureAlgorithmsExtensionRequired,
        ] {
            assert_eq!(HandshakeFailure::of(&Error::PeerIncompatible(noticed)), HandshakeFailure::Version);
        }
        let suites = Error::PeerIncompatible(PeerIncompatible::NoCipherSuitesInCommon);
        assert_eq!(HandshakeFailure::of(&suites), HandshakeFailure::Cipher);
    }

    #[test]
    fn every_cause_has_a_name_of_its_own_and_stands_at_its_place() {
        let mut names: Vec<_> = HandshakeFailure::ALL.iter().map(|failure| failure.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), HandshakeFailure::ALL.len());
        assert!(HandshakeFailure::ALL.iter().enumerate().all(|(index, failure)| *failure as usize == index));
    }
}

//! What an experiment about encryption says beyond others: ways of encrypting as levels, users who all levels share,
//! how their connections live, and the rate that all variants of a level are offered.
//!
//! What it deliberately does not do: make a certificate or open a connection (see [`crate::run`]).

use std::time::Duration;

use toml::Spanned;

use super::checker::Checker;
use super::error::ExperimentError;
use super::file::{
    AuthenticationName, ConnectionFile, EqualRateFile, FactorFile, FactorName, LevelFile, TlsName, VariantFile,
    WorkloadFile, WorkloadKind,
};
use tollgate_facts::results::{Arrivals, Connecting, Encryption, distance_words};

/// Most ways of encrypting in one experiment: each is a listener and a certificate.
const LEVELS_MAX: usize = 16;
/// Most users: above it the ports of one address run short.
const USERS_MAX: u32 = 10_000;
/// Longest ramp-up in milliseconds: the published one took 25 s.
const RAMP_UP_MS_MAX: u32 = 60_000;
/// Most requests on one connection.
const REQUESTS_MAX: u32 = 1_000_000;
/// Most certificates of a chain.
const CHAIN_MAX: u32 = 3;
/// Users where the file says nothing.
const USERS_DEFAULT: u32 = 50;
/// Largest share of the least throughput that may be offered: above it queues, not layers, are measured.
const SHARE_MAX: f64 = 0.9;
/// Longest round trip of a level in milliseconds.
const ROUND_TRIP_MS_MAX: f64 = 1_000.0;
/// Longest title of a level.
const TITLE_LENGTH_MAX: usize = 64;

/// What is swept when encryption is.
#[derive(Debug, Clone, PartialEq)]
pub struct Encrypting {
    /// The ways of encrypting: the first one is level 1.
    pub levels: Vec<EncryptionLevel>,
    /// Users at every level.
    pub users: u32,
    /// Over which time they come before anything counts.
    pub ramp_up: Duration,
    /// Whether they say who they are.
    pub authentication: Authentication,
    /// What is offered at equal rate; absent: nothing.
    pub equal_rate: Option<EqualRateShape>,
}

/// One way of encrypting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncryptionLevel {
    /// A few words for people.
    pub title: String,
    /// The version of TLS; absent where the server chooses.
    pub version: Option<TlsVersion>,
    /// The kind of the server's key; absent where it has what it has.
    pub key: Option<KeyKind>,
    /// Certificates that the server sends.
    pub chain: u32,
    /// How far away the subject is, over a line of packets; absent: on this machine without a line.
    pub round_trip: Option<Duration>,
}

/// The versions of TLS that can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
pub enum TlsVersion {
    /// TLS 1.2 (RFC 5246).
    #[serde(rename = "1.2")]
    Tls12,
    /// TLS 1.3 (RFC 8446).
    #[serde(rename = "1.3")]
    Tls13,
}

/// The kinds of a server's key that can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
pub enum KeyKind {
    /// ECDSA on P-256.
    #[serde(rename = "p256")]
    P256,
    /// RSA with 2048 bits.
    #[serde(rename = "rsa-2048")]
    Rsa2048,
    /// RSA with 4096 bits.
    #[serde(rename = "rsa-4096")]
    Rsa4096,
}

/// Whether users say who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Authentication {
    /// No.
    #[default]
    Anonymous,
    /// By name and password with every request, without being asked.
    Basic,
}

/// What is offered at equal rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EqualRateShape {
    /// The rate as a share of the least throughput that the closed load found among the variants of the level.
    pub share: f64,
    /// How the intended starts lie.
    pub arrivals: Arrivals,
}

impl Encrypting {
    /// Whether the subjects are far away: all levels say how far, or none does.
    pub fn is_afar(&self) -> bool {
        self.levels.iter().any(|level| level.round_trip.is_some())
    }
}

impl EncryptionLevel {
    /// Whether one listener serves both: they differ in their distance at most.
    pub fn is_alike(&self, other: &EncryptionLevel) -> bool {
        (self.version, self.key, self.chain) == (other.version, other.key, other.chain)
    }

    /// What a server that is there already offers.
    pub fn of_server() -> EncryptionLevel {
        EncryptionLevel {
            title: "the server's own TLS".to_owned(),
            version: None,
            key: None,
            chain: 0,
            round_trip: None,
        }
    }
}

impl TlsVersion {
    /// The name in files and results.
    pub fn name(self) -> &'static str {
        match self {
            TlsVersion::Tls12 => "1.2",
            TlsVersion::Tls13 => "1.3",
        }
    }
}

impl KeyKind {
    /// The name in files, in results, and for `tollgate cert`.
    pub fn name(self) -> &'static str {
        match self {
            KeyKind::P256 => "p256",
            KeyKind::Rsa2048 => "rsa-2048",
            KeyKind::Rsa4096 => "rsa-4096",
        }
    }
}

impl Checker<'_> {
    /// What is swept when encryption is; `None` for other factors.
    pub(super) fn encrypting(
        &self,
        factor: &FactorFile,
        workload: &Spanned<WorkloadFile>,
        equal_rate: Option<&Spanned<EqualRateFile>>,
    ) -> Result<Option<Encrypting>, ExperimentError> {
        let file = workload.as_ref();
        if *factor.name.as_ref() != FactorName::Encryption {
            let help = "it goes with the factor `encryption`";
            let is_ladder = *factor.name.as_ref() == FactorName::WorkProcesses;
            let own = [
                ("path", file.path.as_ref().map(Spanned::span)),
                ("users", file.users.as_ref().filter(|_| !is_ladder).map(Spanned::span)),
                ("ramp_up_ms", file.ramp_up_ms.as_ref().map(Spanned::span)),
                ("authentication", file.authentication.as_ref().map(Spanned::span)),
                ("equal_rate", equal_rate.map(Spanned::span)),
                ("level", factor.ways.first().map(|level| level.title.span())),
            ];
            let misplaced = own.into_iter().find_map(|(key, span)| Some((key, span?)));
            return match misplaced {
                Some((key, span)) => Err(self.fault(span, &format!("`{key}` has no meaning here"), help)),
                None => Ok(None),
            };
        }
        if file.kind != WorkloadKind::Request {
            let help = "write `kind = \"request\"`";
            return Err(self.fault(workload.span(), "encryption is measured with single requests", help));
        }
        self.bounded(file.users.as_ref(), USERS_MAX, "users")?;
        if let Some(ramp_up) = &file.ramp_up_ms
            && *ramp_up.as_ref() > RAMP_UP_MS_MAX
        {
            let message = format!("`ramp_up_ms` is {}", ramp_up.as_ref());
            return Err(self.fault(ramp_up.span(), &message, &format!("it is at most {RAMP_UP_MS_MAX}")));
        }
        Ok(Some(Encrypting {
            levels: self.ways(factor)?,
            users: file.users.as_ref().map_or(USERS_DEFAULT, |users| *users.as_ref()),
            ramp_up: Duration::from_millis(file.ramp_up_ms.as_ref().map_or(0, |value| u64::from(*value.as_ref()))),
            authentication: match file.authentication.as_ref().map(Spanned::as_ref) {
                Some(AuthenticationName::Basic) => Authentication::Basic,
                None => Authentication::Anonymous,
            },
            equal_rate: equal_rate.map(|file| self.equal_rate(file)).transpose()?,
        }))
    }

    fn ways(&self, factor: &FactorFile) -> Result<Vec<EncryptionLevel>, ExperimentError> {
        if let Some(levels) = &factor.levels {
            let help = "write a `[[factor.level]]` with `title`, `tls` and `key` for each";
            return Err(self.fault(levels.span(), "ways of encrypting are no numbers", help));
        }
        if factor.ways.is_empty() {
            let help = "add a `[[factor.level]]` with `title`, `tls` and `key`";
            return Err(self.fault(factor.name.span(), "there is no level", help));
        }
        let mut ways: Vec<EncryptionLevel> = Vec::with_capacity(factor.ways.len());
        for LevelFile { title, tls, key, chain, round_trip_ms } in &factor.ways {
            let text = title.as_ref().trim();
            let round_trip = self.round_trip_of_level(round_trip_ms.as_ref())?;
            if ways.first().is_some_and(|first| first.round_trip.is_some() != round_trip.is_some()) {
                let help = "write `round_trip_ms` in every level or in none";
                return Err(self.fault(title.span(), &format!("`{text}` is not where the other levels are"), help));
            }
            if text.is_empty() || text.chars().count() > TITLE_LENGTH_MAX || ways.len() == LEVELS_MAX {
                let help =
                    format!("a title has at most {TITLE_LENGTH_MAX} characters, an experiment {LEVELS_MAX} levels");
                return Err(self.fault(title.span(), &format!("`{text}` is no title of a level"), &help));
            }
            let text = match round_trip_ms {
                Some(round_trip_ms) => format!("{text}{}", distance_words(*round_trip_ms.as_ref())),
                None => text.to_owned(),
            };
            if ways.iter().any(|known| known.title == text) {
                let message = format!("level `{text}` stands twice");
                return Err(self.fault(title.span(), &message, "give each level a title of its own"));
            }
            self.bounded(chain.as_ref(), CHAIN_MAX, "chain")?;
            ways.push(EncryptionLevel {
                title: text,
                version: Some(*tls),
                key: Some(*key),
                chain: chain.as_ref().map_or(1, |chain| *chain.as_ref()),
                round_trip,
            });
        }
        Ok(ways)
    }

    fn round_trip_of_level(&self, file: Option<&Spanned<f64>>) -> Result<Option<Duration>, ExperimentError> {
        let Some(file) = file else { return Ok(None) };
        let milliseconds = *file.as_ref();
        if !(milliseconds > 0.0 && milliseconds <= ROUND_TRIP_MS_MAX) {
            let help = format!("it is above 0 and at most {ROUND_TRIP_MS_MAX}");
            return Err(self.fault(file.span(), &format!("`round_trip_ms` is {milliseconds}"), &help));
        }
        Ok(Some(Duration::from_secs_f64(milliseconds / 1e3)))
    }

    fn equal_rate(&self, file: &Spanned<EqualRateFile>) -> Result<EqualRateShape, ExperimentError> {
        let EqualRateFile { share, arrivals } = file.as_ref();
        let value = *share.as_ref();
        if !(value > 0.0 && value <= SHARE_MAX) {
            let help = format!("it is above 0 and at most {SHARE_MAX}, of the least throughput of the level");
            return Err(self.fault(share.span(), &format!("`share` is {value}"), &help));
        }
        Ok(EqualRateShape { share: value, arrivals: arrivals.unwrap_or_default() })
    }

    /// How the users of a variant connect; `None` where that is no part of the question.
    pub(super) fn connecting(
        &self,
        file: &VariantFile,
        factor: FactorName,
    ) -> Result<Option<Connecting>, ExperimentError> {
        if factor != FactorName::Encryption {
            let help = "it goes with the factor `encryption`";
            let spans = [
                ("connection", file.connection.as_ref().map(Spanned::span)),
                ("tls", file.tls.as_ref().map(Spanned::span)),
            ];
            let misplaced = spans.into_iter().find_map(|(key, span)| Some((key, span?)));
            return match misplaced {
                Some((key, span)) => Err(self.fault(span, &format!("`{key}` has no meaning here"), help)),
                None => Ok(None),
            };
        }
        let requests_per_connection = match file.connection.as_ref().map(|connection| (connection.as_ref(), connection))
        {
            None => None,
            Some((ConnectionFile::Named(name), _)) => name.requests(),
            Some((ConnectionFile::Counted(counted), connection)) => {
                let requests = counted.requests;
                if requests == 0 || requests > REQUESTS_MAX {
                    let help = format!("it is from 1 to {REQUESTS_MAX}");
                    return Err(self.fault(connection.span(), &format!("`requests` is {requests}"), &help));
                }
                Some(requests)
            }
        };
        let encryption = match file.tls.as_ref().map(Spanned::as_ref) {
            None | Some(TlsName::Off) => Encryption::Off,
            Some(TlsName::Full) => Encryption::Full,
            Some(TlsName::Resumed) => Encryption::Resumed,
        };
        if let (Some(tls), Encryption::Resumed, None) = (&file.tls, encryption, requests_per_connection) {
            let help = "add `connection = \"new\"`, or `connection = { requests = 10 }`";
            return Err(self.fault(tls.span(), "who keeps his connection resumes nothing", help));
        }
        Ok(Some(Connecting { requests_per_connection, encryption }))
    }
}

/// A few words for people about how users connect.
pub(super) fn title(connecting: Connecting) -> String {
    let handshake = match connecting.encryption {
        Encryption::Off => "plain",
        Encryption::Full => "TLS, full handshakes",
        Encryption::Resumed => "TLS, sessions resumed",
    };
    match connecting.requests_per_connection {
        None => format!("{handshake}, connections kept"),
        Some(1) => format!("{handshake}, a new connection each"),
        Some(requests) => format!("{handshake}, {requests} requests a connection"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    const GOOD: &str = r#"name = "mine"
question = "What does it cost?"

[factor]
name = "encryption"

[[factor.level]]
title = "TLS 1.3"
tls = "1.3"
key = "p256"

[[factor.level]]
title = "TLS 1.2"
tls = "1.2"
key = "rsa-2048"
chain = 3

[workload]
kind = "request"
path = "/x"
users = 7

[equal_rate]
share = 0.5

[[variant]]
name = "plain"
connection = "new"

[[variant]]
name = "encrypted"
baseline = "plain"
connection = { requests = 10 }
tls = "full"
"#;

    #[test]
    fn levels_are_numbered_in_their_order_and_users_stay_the_same() {
        let experiment = Experiment::parse(GOOD, "mine.toml").unwrap();
        assert_eq!((experiment.levels.as_slice(), experiment.users(2)), (&[1, 2][..], 7));
        let named = experiment.named_levels();
        assert_eq!((named[1].title.as_str(), named[1].key.as_str(), named[1].chain), ("TLS 1.2", "rsa-2048", 3));
        let connecting = |position: usize| experiment.variants[position].connecting.unwrap();
        assert_eq!(connecting(0), Connecting { requests_per_connection: Some(1), encryption: Encryption::Off });
        assert_eq!(connecting(1).requests_per_connection, Some(10));
        assert_eq!(experiment.variants[1].title, "TLS, full handshakes, 10 requests a connection");
    }

    #[test]
    fn a_level_afar_says_so_in_its_title() {
        let near = "key = \"p256\"\n";
        let text = GOOD.replacen(near, &format!("{near}round_trip_ms = 10\n"), 1);
        let text = text.replacen("chain = 3", "round_trip_ms = 0.5", 1);
        let encrypting = Experiment::parse(&text, "mine.toml").unwrap().encrypting.unwrap();
        assert!(encrypting.is_afar());
        let titles: Vec<&str> = encrypting.levels.iter().map(|level| level.title.as_str()).collect();
        assert_eq!(titles, ["TLS 1.3, 10 ms away", "TLS 1.2, 0.5 ms away"]);
        assert_eq!(encrypting.levels[1].round_trip, Some(Duration::from_micros(500)));
    }

    #[test]
    fn what_is_wrong_about_encryption_is_said_with_its_place() {
        let check = |from: &str, to: &str, expected: &str| {
            assert!(GOOD.contains(from), "the good file has no `{from}`");
            let error = Experiment::parse(&GOOD.replacen(from, to, 1), "mine.toml").unwrap_err();
            assert_eq!(error.message, expected);
            assert!(error.span.is_some(), "{error}");
        };
        check("name = \"encryption\"", "name = \"encryption\"\nlevels = [1]", "ways of encrypting are no numbers");
        check("title = \"TLS 1.2\"", "title = \"TLS 1.3\"", "level `TLS 1.3` stands twice");
        check("title = \"TLS 1.2\"", "title = \" \"", "`` is no title of a level");
        check("chain = 3", "chain = 4", "`chain` is 4");
        check("chain = 3", "round_trip_ms = 0", "`round_trip_ms` is 0");
        check("chain = 3", "round_trip_ms = 1001", "`round_trip_ms` is 1001");
        check("chain = 3", "round_trip_ms = 10", "`TLS 1.2` is not where the other levels are");
        check("kind = \"request\"", "kind = \"walk\"", "encryption is measured with single requests");
        check("users = 7", "users = 0", "`users` is 0");
        check("users = 7", "ramp_up_ms = 60001", "`ramp_up_ms` is 60001");
        check("share = 0.5", "share = 0.95", "`share` is 0.95");
        check("{ requests = 10 }", "{ requests = 0 }", "`requests` is 0");
        check("{ requests = 10 }", "\"keep\"", "expected `\"keep-alive\"`, `\"new\"` or `{ requests = N }`");
        check(
            "connection = { requests = 10 }\ntls = \"full\"",
            "tls = \"resumed\"",
            "who keeps his connection resumes nothing",
        );
        let number = "name = \"concurrency\"\nlevels = [1]";
        check("name = \"encryption\"", number, "`path` has no meaning here");
    }
}
